//! The commands `deadheat` and `cargo deadheat`. The executable of each calls one function of this
//! crate.

mod bare_race;
mod bench;
mod build_options;
mod calibrate;
mod cargo_deadheat;
mod clean;
mod committed_links;
mod compare;
mod doctor;
mod environments;
mod file_roles;
mod foreign_options;
mod help;
mod link;
mod manual;
mod misread;
mod modes;
mod normalise;
mod pack;
mod plan;
mod program;
mod recorded;
mod rev;
mod run;
mod suite_race;
mod synonyms;
mod usage_error;

pub use cargo_deadheat::cargo_deadheat;
pub use program::deadheat;
