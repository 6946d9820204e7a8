//! `deadheat calibrate`: this machine's own error rate.

mod arguments;
mod command;
mod progress;
mod role;

pub use arguments::{CalibrateArgs, EXAMPLES};
pub use command::calibrate;
pub use role::role;
