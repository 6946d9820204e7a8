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
//! Behind these stand the rooms of deadheat, re-exported for everything else.
//! `command_race` is the way of a race of commands, from what the user asked
//! for to a recorded run; [`settings`], [`answer`] and [`exit`] are what every
//! front shares: the meaning of options, printing an answer, and exit codes.
//!
//! # Features
//!
//! None is on by default, and none changes a verdict.
//!
//! | feature | adds | costs |
//! | --- | --- | --- |
//! | `reports` | `--html`, `--markdown`, `--junit`, `--export-markdown`, `--export-hdr`, `--figures`, `--plot` and the formats `markdown` and `paired` of a bench target; the calibration of the machine, quoted | no crate, some ten seconds of building |
//! | `commands` | `reports`; `command_race`, `race_commands` and `resume_race`; `race_google_benchmark`; `engine::CommandContenders` with hardware counters; reading run files back; tidy CSV; the JSON of hyperfine | some twenty more crates |

#![allow(
    clippy::needless_doctest_main,
    reason = "a bench target is a `main` and nothing else"
)]

pub mod answer;
#[cfg(feature = "reports")]
pub mod calibration;
#[cfg(feature = "commands")]
pub mod command_race;
pub mod exit;
mod harness;
mod names;
#[cfg(feature = "commands")]
pub mod pairing;
mod race;
#[cfg(feature = "commands")]
mod recorded;
pub mod repetition;
#[cfg(feature = "reports")]
mod report_files;
pub mod rules;
#[cfg(feature = "commands")]
pub mod saved;
pub mod settings;
pub mod suite;
pub mod terminal;

pub use deadheat_analysis as analysis;
pub use deadheat_engine as engine;
pub use deadheat_format as format;
pub use deadheat_model as model;
pub use deadheat_report as report;

pub use deadheat_engine::{AsyncExecutor, CountingAllocator};
pub use harness::{Compare, compare, compare_with, main};
pub use race::{BenchmarkRace, Entries, RaceError, RaceOutcome, race_benchmarks};
#[cfg(feature = "commands")]
pub use race::{
    RaceOptions, Resumable, ResumeOptions, google_benchmark, inspect_program, race_commands,
    resume_race,
};
#[cfg(feature = "commands")]
pub use recorded::Recorded;
#[cfg(feature = "reports")]
pub use report_files::ReportFiles;
pub use suite::Suite;
