//! What the values of settings mean, wherever they were written: on a command
//! line, in the arguments of a benchmark, in the environment.
//!
//! Every reader takes the text as it was typed and answers with the value or
//! with a sentence for whoever typed it.

mod color;
#[cfg(feature = "commands")]
mod program;
mod seed;
mod selection;

pub use color::Color;
pub use deadheat_model::{
    FailOn, Front, Placement, RaceSettings, Setting, TimeLimit, ValueKind, duration, fraction,
};
#[cfg(feature = "commands")]
pub use program::{ProgramError, is_program, program};
pub use seed::random_seed;
pub use selection::{Ignored, Selection};
