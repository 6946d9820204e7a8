//! What `compare.py` of Google Benchmark prints, to the last character.
//!
//! JSON texts and arguments in; lines, a dump and an exit code out. Nothing here opens a file, starts a process or reads
//! a clock.
//!
//! ```text
//! arguments ─▶ Arguments        text ─▶ Document ─filter, sort─▶ Results ─family─▶ Results
//!                                                                          │ two sides
//!                                              table · dump ◀── Report ◀───┘
//! ```
//!
//! Where the original ends in a traceback, a function gives back a [`Problem`] that says what was met and where. The
//! version that is followed is that of Google Benchmark 1.9.4 and later, with Python 3 and SciPy 1.17.

#![forbid(unsafe_code)]

mod arguments;
mod difference;
mod document;
mod dump;
mod flags;
mod geomean;
mod json;
mod number;
mod numpy;
mod parser;
mod partition;
mod pattern;
mod print;
mod problem;
mod row;
mod spelling;
mod text;
mod usage;
mod value;

pub use arguments::{Arguments, Mode, Stop};
pub use difference::Report;
pub use document::{Document, Refusal, Results};
pub use flags::{flag, refused_format, warning_about_output, warnings_about_json};
pub use json::JsonError;
pub use print::Layout;
pub use problem::Problem;
