//! Reproduces the output of Google Benchmark's `compare.py` exactly.
//!
//! This crate converts two JSON texts to the table and the JSON dump of `compare.py`. It opens no
//! file, starts no process and reads no clock.
//!
//! ```text
//! text ─▶ Document ─filter, sort─▶ Results ─family─▶ Results
//!                                             │ two sides
//!                 table · dump ◀── Report ◀───┘
//! ```
//!
//! If `compare.py` would end in a traceback, the functions return a [`Problem`] with the reason and
//! the place in the JSON. The reference is Google Benchmark 1.9.4 and later, with Python 3 and
//! SciPy 1.17.

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
