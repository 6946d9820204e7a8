//! Where the code lies: neutral links of an executable, made by another
//! process ahead of each look, so that no linker runs while samples are taken.
//!
//! deadheat itself links nothing here. It starts a program that understands
//! `placements EXECUTABLE SEED… --beside OTHER…` and answers in lines of JSON ([`helper`]).

mod helper;
mod placements;
mod placer;

pub use helper::LinkProgram;
pub(crate) use helper::{Helper, Links};
pub use placements::Placements;
#[cfg(feature = "commands")]
pub(crate) use placements::StartsFrom;
pub(crate) use placements::{Place, matched};
