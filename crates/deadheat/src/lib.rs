//! Races too close to call: is B faster than A, by how much, how sure?
//!
//! A bench target with `harness = false` and one call:
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
//! `cargo bench` races the two: every replicate in a fresh process, both
//! functions taking turns in random ABBA or BAAB blocks, each block on an
//! input of its own, until a planned look settles the matter. The answer is
//! one of four verdicts (faster, slower, a dead heat, too close to call) with
//! an interval that holds however often was looked.
//!
//! - [`main`] is the harness and [`Suite`] what it races; a
//!   [`suite::Benchmark`] says how it gets its input, how many threads call
//!   it, or which [`AsyncExecutor`] drives it.
//! - [`compare`] and [`Compare`] race two functions inside a program or a
//!   test; with one process the verdict is provisional.
//! - [`CountingAllocator`] adds allocations to what is compared.
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
//! The [`Analysis`] of a race holds a [`Comparison`] for every candidate, each
//! with its [`Verdict`], its estimate and the doubts about it.
//!
//! # Features
//!
//! None is on by default, and none changes a verdict.
//!
//! | feature | adds | costs |
//! | --- | --- | --- |
//! | `reports` | `--html`, `--markdown`, `--junit`, `--export-markdown`, `--export-hdr`, `--figures`, `--plot` and the formats `markdown` and `paired` of a bench target; the calibration of the machine, quoted | no crate, some ten seconds of building |
//! | `commands` | `reports`, and what the program `deadheat` needs beside: races of commands and of Google Benchmark executables, hardware counters, run files read back | some twenty more crates |

#![allow(
    clippy::needless_doctest_main,
    reason = "a bench target is a `main` and nothing else"
)]

mod answer;
#[cfg(feature = "commands")]
mod calibration;
#[cfg(feature = "commands")]
mod command_race;
mod exit;
mod harness;
#[cfg(feature = "commands")]
mod pairing;
mod race;
mod repetition;
#[cfg(feature = "reports")]
mod report_files;
mod rules;
mod settings;
pub mod suite;
mod terminal;

pub use deadheat_engine::{AsyncExecutor, CountingAllocator};
pub use deadheat_model::{Analysis, Comparison, Verdict};
pub use harness::{Compare, compare, compare_with, main};
pub use suite::Suite;

/// The parts that deadheat's own programs are made of: the rooms under their names, and what puts
/// them together. No promise holds for what lies here; it changes as the programs do.
#[doc(hidden)]
pub mod parts {
    pub use deadheat_analysis as analysis;
    pub use deadheat_engine as engine;
    pub use deadheat_format as format;
    pub use deadheat_model as model;
    pub use deadheat_report as report;

    pub use crate::race::{
        BenchmarkRace, Entries, PlanUse, RaceError, RaceOutcome, Raced, SecondRace,
        race_benchmarks, refuse_old_confirmation, second_race_path, with_second_analysis,
    };
    #[cfg(feature = "commands")]
    pub use crate::race::{
        PlannedPart, RaceOptions, Resumable, ResumeOptions, StartedFile, begun_part, finish_part,
        harness_benchmark, inspect_program, is_made_here, note_made_file, overrun, race_commands,
        race_planned, read_plan, resume_race, settle_shard, starts, take_over_signals,
        with_second_race_of,
    };
    #[cfg(feature = "reports")]
    pub use crate::report_files::{ReportFiles, check_file, refuse_another_kind};
    #[cfg(feature = "commands")]
    pub use crate::terminal::{LiveProgress, StatusLine};

    /// Answers, printed.
    pub mod answer {
        pub use crate::answer::*;
    }

    /// The machine's own error rate.
    #[cfg(feature = "commands")]
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

    /// The harness of a bench target, for benchmarks that are registered in another way.
    pub mod harness {
        pub use crate::harness::run_planned;
        pub use crate::race::Planned;
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

    /// The meaning of settings, for every front.
    pub mod settings {
        pub use crate::settings::*;
    }

    /// The terminal.
    pub mod terminal {
        pub use crate::terminal::*;
    }
}
