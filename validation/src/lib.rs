//! Parts that the programs of this workspace share.

pub mod answer;
pub mod bare;
pub mod bars;
pub mod binomial;
pub mod duo;
pub mod google_benchmark_files;
pub mod google_compare;
pub mod kept;
pub mod known;
pub mod launches;
pub mod load;
pub mod machine;
pub mod made_run;
pub mod options;
pub mod page;
pub mod process;
pub mod programs;
pub mod progress;
pub mod python;
pub mod race;
pub mod sample_cost;
pub mod sitting;
pub mod suite_run;
pub mod tally;
pub mod told;
pub mod twins;
pub mod words;
pub mod workers;
pub mod workloads;
pub mod workshop;

/// The names that most programs of this workspace use.
pub mod prelude {
    pub use std::collections::{BTreeMap, BTreeSet};
    pub use std::fmt::Write as _;
    pub use std::fs;
    pub use std::hint::black_box;
    pub use std::io::Write as _;
    pub use std::path::{Path, PathBuf};
    pub use std::process::{Command, Stdio, exit};
    pub use std::time::{Duration, Instant};

    pub use deadheat_examples::random::SplitMix64;
    pub use deadheat_stats::welch;
    pub use serde_json::{Value, json};

    pub use crate::answer::{Change, Race};
    pub use crate::bars::{ALPHA, Bar, Section, fair_spread, fairly, plain_spread, spread, up};
    pub use crate::binomial::{binomial_bound, share_bounds};
    pub use crate::google_benchmark_files::Shape;
    pub use crate::kept::{Kept, Sittings, by_the_end_of};
    pub use crate::load::{Condition, Load, in_every_weather};
    pub use crate::machine::{cores, in_parallel, machine, now_ns, processor, sitting_facts};
    pub use crate::options::Wanted;
    pub use crate::page::{Page, Question, is_quick, publish};
    pub use crate::process::{Cost, cost, median, ratio};
    pub use crate::programs::{built, built_by, done, google_benchmark, text, text_of};
    pub use crate::progress::Progress;
    pub use crate::race::Raced;
    pub use crate::sitting::{Wish, failed, kept_of, shuffle, sit};
    pub use crate::suite_run::{SuiteProgram, SuiteRun, count};
    pub use crate::tally::Tally;
    pub use crate::told::{Call, Told, percent, short};
    pub use crate::words;
    pub use crate::workshop::{Scratch, Workshop, repository};
}
