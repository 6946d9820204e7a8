//! The commands `deadheat` and `cargo deadheat`: each of their programs calls
//! one function here.

pub mod bench;
mod bisect;
mod build_options;
mod calibrate;
mod cargo_arguments;
mod cargo_deadheat;
mod clean;
mod compare;
mod doctor;
mod explain;
mod exports;
mod history;
mod history_index;
mod link;
mod manual;
mod merge;
mod options;
mod pack;
mod plan;
mod program;
mod pytest_options;
mod races;
mod recorded;
mod rev;
mod run;
mod rustc;

pub use cargo_deadheat::cargo_deadheat;
pub use program::deadheat;
