//! `deadheat explain`: find the functions whose work differs between two programs.
//!
//! The subcommand is [`ExplainArgs`] with [`explain`]. This crate contains all of it, and the name
//! of a file shows what the file may do:
//!
//! | file | content | may |
//! | --- | --- | --- |
//! | `profile` | the counts of a program, function by function | |
//! | `explanation` | the result: two profiles side by side, and what they mean | |
//! | `wire_callgrind`, `wire_perf` | the output of the profilers as profiles | return errors of files |
//! | `call_graph` | functions paired by name, and call trees | |
//! | `judge` | what a change of counts means for a change of time | |
//! | `words`, `page`, `flame_graph`, `json` | the answer for people and programs | |
//! | `command` | the arguments | use clap |
//! | `run`, `run_pairs`, `run_count` | the subcommand; the pairs to explain; their profiles | ask programs, read run files, print |
//! | `run_profiler`, `run_callgrind`, `run_perf` | the profilers | start processes through the engine |
//! | `run_program`, `run_worker`, `run_error` | commands, launches and workers under a profiler; their errors | start processes through the engine |

mod call_graph;
mod command;
mod explanation;
mod flame_graph;
mod json;
mod judge;
mod page;
mod profile;
mod run;
mod run_callgrind;
mod run_count;
mod run_error;
mod run_pairs;
mod run_perf;
mod run_profiler;
mod run_program;
mod run_worker;
mod wire_callgrind;
mod wire_perf;
mod words;

pub use call_graph::{paired_functions, paired_stacks};
pub use command::{EXAMPLES, ExplainArgs};
pub use explanation::*;
pub use json::to_explanation_json;
pub use page::{to_explanation_markdown, to_explanation_page, to_explanation_text};
pub use profile::{Place, Profile, ProfileUnit};
pub use run::explain;
pub use wire_callgrind::read_callgrind;
pub use wire_perf::read_perf_script;
