//! `deadheat bisect`: find the commit that changed the time, by races.
//!
//! The subcommand is [`BisectArgs`] with [`bisect`]. Only some files have effects outside of the
//! process:
//!
//! | file | content | effects |
//! | --- | --- | --- |
//! | `log` | the question, the events and the state of a search | |
//! | `wire` | the lines of its record, `deadheat.bisect/1` | |
//! | `log_store` | the record on the disk | reads and writes files |
//! | [`culprit`] | the probability of each commit, and the most informative race | |
//! | `judge` | the state of a search after the events of a record | |
//! | `session` | the loop of builds and races, by the trait [`BisectSides`] | |
//! | `raced` | the effects of a race, from its run | |
//! | `words`, `story`, `page`, `json`, `advice` | the answer and the story, as text and data | |
//! | `command` | the arguments | reads records |
//! | `run`, `run_commits` | the subcommand | builds, races, reads clocks, prints |

mod advice;
mod command;
pub mod culprit;
mod json;
mod judge;
mod log;
mod log_store;
mod page;
mod raced;
mod run;
mod run_commits;
mod session;
mod story;
mod wire;
mod words;

pub use command::{BisectArgs, EXAMPLES, REFUSED, SHORT_HELP};
pub use json::to_bisect_json;
pub use judge::{BisectSearch, NextStep};
pub use log::*;
pub use log_store::{
    BisectLogWriter, bisect_log_path, create_bisect_folder, is_bisect_log_name, latest_bisect_log,
    read_bisect_log,
};
pub use page::{to_bisect_markdown, to_bisect_page, to_bisect_text};
pub use run::bisect;
pub use session::{
    BisectNews, BisectSides, RaceEnd, RaceOfCommits, RaceResults, RacedBenchmark, SideBuilt,
    search_commits,
};
pub use story::{building, racing, story, story_line, was_cut};
pub use wire::BISECT_SCHEMA;
