//! The commands `deadheat` and `cargo deadheat`. The executable of each calls one function of this
//! crate.
//!
//! On systems other than Linux, `deadheat` has only the commands that measure nothing.

#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        reason = "commands that measure also call what reading does not need"
    )
)]

mod bare_race;
#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod build_options;
#[cfg(target_os = "linux")]
mod calibrate;
#[cfg(target_os = "linux")]
mod cargo_deadheat;
#[cfg(target_os = "linux")]
mod clean;
mod committed_links;
mod compare;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(target_os = "linux")]
mod environments;
mod file_roles;
mod foreign_options;
mod help;
#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
mod load;
mod manual;
#[cfg_attr(not(target_os = "linux"), path = "measuring_elsewhere.rs")]
mod measuring;
mod misread;
mod modes;
mod normalise;
#[cfg(target_os = "linux")]
mod pack;
#[cfg(target_os = "linux")]
mod plan;
mod program;
mod recorded;
#[cfg(target_os = "linux")]
mod rev;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod suite_race;
mod synonyms;
mod usage_error;

#[cfg(target_os = "linux")]
pub use cargo_deadheat::cargo_deadheat;
#[cfg(not(target_os = "linux"))]
pub use measuring::cargo_deadheat;
pub use program::deadheat;
