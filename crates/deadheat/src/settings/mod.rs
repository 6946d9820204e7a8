//! The meaning of the values of settings, wherever they were written: on a command line, in the
//! arguments of a benchmark, in the environment.
//!
//! Every reader takes the text as it was typed and answers with the value or
//! with a sentence for whoever typed it.

#[cfg(feature = "commands")]
mod program;
mod selection;

pub use deadheat_model::{
    FailOn, Front, Placement, RaceSettings, Setting, TimeLimit, ValueKind, duration, fraction,
};
#[cfg(feature = "commands")]
pub use program::{is_program, program};
pub(crate) use selection::distinct;
pub use selection::{Ignored, Selection, nothing_selected};

pub use crate::repetition::random_seed;
pub use crate::terminal::Color;
