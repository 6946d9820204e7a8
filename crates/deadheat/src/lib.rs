//! Compares the speed of two functions: is B faster than A, by how much, and with what confidence?
//!
//! A bench target needs `harness = false` and one call of [`main`]:
//!
//! ```no_run
//! fn main() {
//!     deadheat::main(|suite| {
//!         suite
//!             .benchmark("number to text")
//!             .input(|seed| seed)
//!             .baseline("format", |number| format!("{number}"))
//!             .candidate("to_string", |number| number.to_string())
//!             .check_outputs();
//!     });
//! }
//! ```
//!
//! `cargo bench` races the two. Every replicate runs in a fresh process. The two functions take
//! turns in random ABBA or BAAB blocks, and each block has a new input. The race ends at the first
//! planned look, an interim analysis, that settles the verdict. The answer is one of four verdicts
//! (faster, slower, a dead heat, too close to call), with a confidence interval that stays valid
//! however many looks were taken.
//!
//! - [`main`] is the harness, and a [`Suite`] holds the benchmarks that it
//!   races. A [`suite::Benchmark`] sets how the input is made, how many threads
//!   call a function, or which [`AsyncExecutor`] drives it.
//! - [`compare`] and [`Compare`] race two functions inside a program or a
//!   test. With one process the verdict is provisional.
//! - [`CountingAllocator`] makes allocations a metric that is compared.
//!
//! ```
//! use std::time::Duration;
//!
//! let text = "a dead heat".repeat(100);
//! let analysis = deadheat::Compare::new()
//!     .budget(Duration::from_millis(50))
//!     .names("chars", "bytes")
//!     .run(|| text.chars().count(), || text.bytes().count());
//! assert_eq!(analysis.comparisons.len(), 1);
//! ```
//!
//! The [`Analysis`] of a race contains a [`Comparison`] for every candidate. A comparison has a
//! [`Verdict`], an estimate with its interval, and warnings.
//!
//! Functions race on Linux. On other systems, this crate has only what reads recorded results, for
//! deadheat's own programs.
//!
//! # Features
//!
//! No feature is enabled by default, and no feature changes a verdict.
//!
//! | feature | adds | costs |
//! | --- | --- | --- |
//! | `reports` | `--html`, `--markdown`, `--junit`, `--export-markdown`, `--export-hdr`, `--figures`, `--plot` and the formats `markdown` and `paired` of a bench target; the calibration of the machine, quoted | no crate, some ten seconds of building |
//! | `commands` | `reports`, and what the program `deadheat` needs in addition: races of commands and of Google Benchmark executables, hardware counters, run files read back | some twenty more crates |

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "races also call what reading does not need")
)]
#![allow(
    clippy::needless_doctest_main,
    reason = "a bench target is a `main` and nothing else"
)]

mod answer;
#[cfg(all(target_os = "linux", feature = "commands"))]
mod calibration;
#[cfg(all(target_os = "linux", feature = "commands"))]
mod command_race;
mod exit;
#[cfg(feature = "commands")]
mod families;
#[cfg(target_os = "linux")]
mod harness;
#[cfg(all(target_os = "linux", feature = "commands"))]
mod pairing;
#[cfg(target_os = "linux")]
mod race;
mod repetition;
#[cfg(feature = "reports")]
mod report_files;
mod rules;
#[cfg(feature = "commands")]
mod scheduler;
mod second_race;
mod settings;
#[cfg(target_os = "linux")]
pub mod suite;
mod system;
mod terminal;

#[cfg(target_os = "linux")]
pub use deadheat_engine::{AsyncExecutor, CountingAllocator};
pub use deadheat_model::{Analysis, Comparison, Verdict};
#[cfg(target_os = "linux")]
pub use harness::{Compare, compare, compare_with, main};
#[cfg(target_os = "linux")]
pub use suite::Suite;

/// The internal API for deadheat's own programs: re-exported crates, and the modules that connect
/// them. This module has no stability promise; it changes with the programs.
#[doc(hidden)]
pub mod parts {
    pub use deadheat_analysis as analysis;
    #[cfg(target_os = "linux")]
    pub use deadheat_engine as engine;
    pub use deadheat_format as format;
    pub use deadheat_model as model;
    pub use deadheat_report as report;

    #[cfg(target_os = "linux")]
    pub use crate::race::{
        BenchmarkRace, Entries, RaceError, RaceOutcome, Raced, SecondRace, race_benchmarks,
        refuse_old_confirmation,
    };
    #[cfg(all(target_os = "linux", feature = "commands"))]
    pub use crate::race::{
        PlannedPart, RaceOptions, Resumable, ResumeOptions, StartedFile, begun_part, finish_part,
        harness_benchmark, inspect_program, is_made_here, note_made_file, overrun, race_commands,
        race_planned, read_plan, resume_race, starts, take_over_signals,
    };
    #[cfg(feature = "reports")]
    pub use crate::report_files::{ReportFiles, check_file, refuse_another_kind};
    #[cfg(feature = "commands")]
    pub use crate::scheduler::settle_shard;
    #[cfg(feature = "commands")]
    pub use crate::second_race::with_second_race_of;
    pub use crate::second_race::{second_race_path, with_second_analysis};
    pub use crate::settings::PlanUse;
    #[cfg(all(target_os = "linux", feature = "commands"))]
    pub use crate::terminal::{LiveProgress, StatusLine};

    /// Printing of answers, and their exit status.
    pub mod answer {
        pub use crate::answer::*;
    }

    /// Calibration: the rates of wrong verdicts on this machine.
    #[cfg(all(target_os = "linux", feature = "commands"))]
    pub mod calibration {
        pub use crate::calibration::*;
    }

    /// Races of whole commands: from the request to the plan.
    #[cfg(all(target_os = "linux", feature = "commands"))]
    pub mod command_race {
        pub use crate::command_race::*;
    }

    /// Exit codes.
    pub mod exit {
        pub use crate::exit::*;
    }

    /// Pairs of benchmarks by two filters.
    #[cfg(feature = "commands")]
    pub mod families {
        pub use crate::families::*;
    }

    /// The harness of a bench target, for benchmarks that are not registered in a `Suite`.
    #[cfg(target_os = "linux")]
    pub mod harness {
        pub use crate::harness::run_planned;
        pub use crate::race::Planned;
    }

    /// Pairs of benchmarks of two builds.
    #[cfg(all(target_os = "linux", feature = "commands"))]
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

    /// The parsing of setting values, shared by all front ends.
    pub mod settings {
        pub use crate::settings::*;
    }

    /// The operating system: signals, programs, the time and the terminal.
    pub mod system {
        pub use crate::system::*;
    }

    /// The terminal: width, colours, messages and progress.
    pub mod terminal {
        pub use crate::terminal::*;
    }
}
