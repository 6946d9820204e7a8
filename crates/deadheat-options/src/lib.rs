//! Options that several subcommands share, and the races they ask for: of builds, and of commits.
//!
//! `deadheat-cli` and the crates of single subcommands use these options, so that an option means
//! the same everywhere.
//!
//! | module | content |
//! | --- | --- |
//! | [`age`] | ages of stored files |
//! | [`answer`] | how a race is judged, how its answer is printed, and the files next to it |
//! | [`races`] | the steps that all races share: answer, resume, run again |
//! | [`bench_options`], [`build_race`] | races of two builds, benchmark by benchmark |
//! | [`recipe`], [`commit_race`] | what is built of a commit, and races of commits |
//! | [`library_option`] | the benchmark library that a suite is compiled with |
//! | [`repository`] | the repository around the user, and its commits |

pub mod age;
pub mod answer;
pub mod bench_options;
pub mod build_race;
pub mod cargo_arguments;
pub mod changed_suite;
pub mod commit_command;
pub mod commit_race;
pub mod library_option;
mod node;
mod pyperf;
pub mod races;
pub mod recipe;
pub mod repository;
pub mod saved_plan;
