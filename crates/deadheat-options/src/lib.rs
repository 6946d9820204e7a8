//! Options that several subcommands share, and the races they ask for: of builds, and of commits.
//!
//! `deadheat-cli` and the crates of single subcommands use these options, so that an option means
//! the same everywhere.
//!
//! On systems other than Linux, only the options of commands that measure nothing exist.
//!
//! | module | content |
//! | --- | --- |
//! | [`age`] | ages of stored files |
//! | [`answer`] | how a race is judged, how its answer is printed, and the files next to it |
//! | [`races`] | the steps that all races share: answer, resume, run again |
//! | [`bench_options`], [`build_race`] | races of two builds, benchmark by benchmark |
//! | [`recipe`], [`commit_race`] | how a commit is built, and races of commits |
//! | [`load`] | servers under load |
//! | [`library_option`] | the benchmark library that a suite is compiled with |
//! | [`own_path`] | the path of this program |
//! | [`repository`] | the git repository of the current folder, and its commits |

pub mod age;
pub mod answer;
pub mod bench_options;
#[cfg(target_os = "linux")]
mod bench_race;
#[cfg(target_os = "linux")]
pub mod build_race;
#[cfg(target_os = "linux")]
pub mod cargo_arguments;
#[cfg(target_os = "linux")]
pub mod changed_suite;
#[cfg(target_os = "linux")]
pub mod commit_command;
#[cfg(target_os = "linux")]
pub mod commit_race;
#[cfg(target_os = "linux")]
pub mod library_option;
#[cfg(target_os = "linux")]
pub mod load;
#[cfg(target_os = "linux")]
mod node;
#[cfg(target_os = "linux")]
pub mod own_path;
#[cfg(target_os = "linux")]
mod pyperf;
#[cfg(target_os = "linux")]
pub mod races;
#[cfg(target_os = "linux")]
pub mod recipe;
pub mod repository;
pub mod saved_plan;
