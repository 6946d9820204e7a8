//! What can be timed, block by block.

mod command;
mod command_failure;
mod command_images;
mod contenders;
mod output_check;
pub mod simulated;

pub use command::{CommandContenders, CommandOptions};
pub use contenders::Contenders;
