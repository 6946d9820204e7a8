//! Where the code lies: neutral links of an executable, made by another
//! process ahead of each look, so that no linker runs while samples are taken.
//!
//! deadheat itself links nothing here. It starts a program that understands
//! `placements EXECUTABLE SEED…` and answers in lines of JSON ([`answer`]).

mod answer;
mod by_replicate;
#[cfg(feature = "commands")]
mod commands;
mod executable;
mod helper;
mod placer;
mod seeds;
mod variant;

#[cfg(feature = "commands")]
pub use commands::CommandPlacements;
pub(crate) use executable::Executable;
pub use executable::is_executable;
#[cfg(feature = "commands")]
pub use executable::{find_executable, rewritten_since};
pub use helper::LinkProgram;
pub(crate) use helper::{Helper, Links};
pub(crate) use placer::Placer;
pub(crate) use variant::on_link;
pub use variant::{PLACEMENTS_VARIABLE, Variant};
