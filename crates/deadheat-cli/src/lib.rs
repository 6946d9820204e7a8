//! The commands `deadheat` and `cargo deadheat`: each of their programs calls
//! one function here.

mod bare_race;
mod bench;
mod bisect;
mod build_options;
mod calibrate;
mod cargo_arguments;
mod cargo_deadheat;
mod changed_suite;
mod clean;
mod compare;
mod doctor;
mod environments;
mod explain;
mod foreign_options;
mod help;
mod history;
mod history_index;
mod link;
mod manual;
mod options;
mod plan;
mod program;
mod races;
mod recorded;
mod repository;
mod rev;
mod run;
mod suite_race;
mod usage_error;

pub use cargo_deadheat::cargo_deadheat;
pub use program::deadheat;
