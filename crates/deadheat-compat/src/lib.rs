//! The words of Google Benchmark's `compare.py`, to the last character.
//!
//! JSON texts in; lines and a dump out. Nothing here opens a file, starts a process or reads a
//! clock.
//!
//! ```text
//! text ─▶ Document ─filter, sort─▶ Results ─family─▶ Results
//!                                             │ two sides
//!                 table · dump ◀── Report ◀───┘
//! ```
//!
//! Where the original ends in a traceback, a function gives back a [`Problem`] that says what was
//! met and where. The version that is followed is that of Google Benchmark 1.9.4 and later, with
//! Python 3 and SciPy 1.17.

#![forbid(unsafe_code)]

mod difference;
mod document;
mod json;
mod pattern;
mod print;
mod problem;
mod value;

pub use difference::Report;
pub use document::{Document, Results};
pub use json::JsonError;
pub use print::Layout;
pub use problem::{Problem, Refusal};
