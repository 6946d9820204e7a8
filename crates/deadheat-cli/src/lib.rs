//! The commands `deadheat` and `cargo deadheat`: each of their programs calls
//! one function here.

mod analyze;
mod answering;
pub mod bench;
mod calibrate;
mod cargo_deadheat;
mod clean;
mod compare;
mod completions;
mod doctor;
mod exports;
mod link;
mod man;
mod options;
mod placements;
mod program;
mod progress;
mod recorded;
mod report;
mod reports;
mod resume;
mod rev;
mod run;
mod typed;

pub use cargo_deadheat::cargo_deadheat;
pub use program::deadheat;
