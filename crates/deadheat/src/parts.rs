//! The parts that deadheat's own programs are made of: the rooms under their names, and what puts
//! them together. No promise holds for what lies here; it changes as the programs do.

pub use deadheat_analysis as analysis;
pub use deadheat_engine as engine;
pub use deadheat_format as format;
pub use deadheat_model as model;
pub use deadheat_report as report;

#[cfg(feature = "commands")]
pub use crate::progress::{LiveProgress, StatusLine};
pub use crate::race::{
    BenchmarkRace, Entries, PlanUse, RaceError, RaceOutcome, Raced, SecondRace,
    add_second_analysis, race_benchmarks, refuse_old_confirmation,
};
#[cfg(feature = "commands")]
pub use crate::race::{
    PlannedPart, RaceOptions, Resumable, ResumeOptions, begun_part, finish_part, harness_benchmark,
    inspect_program, race_commands, race_planned, read_plan, resume_race, settle_shard,
};
#[cfg(feature = "commands")]
pub use crate::recorded::Recorded;
#[cfg(feature = "reports")]
pub use crate::report_files::{ReportFiles, check_file};

/// Answers, printed.
pub mod answer {
    pub use crate::answer::*;
}

/// Searches for the commit that changed the time.
#[cfg(feature = "commands")]
pub mod bisect {
    pub use crate::bisect::*;
    pub use deadheat_analysis::BisectSearch;
    pub use deadheat_model::bisect::*;
}

/// The machine's own error rate.
#[cfg(feature = "reports")]
pub mod calibration {
    pub use crate::calibration::*;
}

/// Races of whole commands, from what was asked for to a plan.
#[cfg(feature = "commands")]
pub mod command_race {
    pub use crate::command_race::*;
}

/// Exit codes.
pub mod exit {
    pub use crate::exit::*;
}

/// Where the time went.
#[cfg(feature = "commands")]
pub mod explain {
    pub use crate::explain::*;
}

/// The harness of a bench target, for benchmarks that are registered in another way.
pub mod harness {
    pub use crate::harness::run_planned;
    pub use crate::race::Planned;
}

/// Histories of commits.
#[cfg(feature = "commands")]
pub mod history {
    pub use crate::history::*;
}

/// Pairs of benchmarks of two builds.
#[cfg(feature = "commands")]
pub mod pairing {
    pub use crate::pairing::*;
}

/// The command that runs a race again.
pub mod repetition {
    pub use crate::repetition::*;
}

/// Rules of `deadheat.toml` and of command lines.
pub mod rules {
    pub use crate::rules::*;
}

/// Saved results of other tools, set side by side.
#[cfg(feature = "commands")]
pub mod saved {
    pub use crate::saved::*;
}

/// The meaning of settings, for every front.
pub mod settings {
    pub use crate::settings::*;
}

/// The terminal.
pub mod terminal {
    pub use crate::terminal::*;
}
