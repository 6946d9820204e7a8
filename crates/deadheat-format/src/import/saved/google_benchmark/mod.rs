//! The JSON of Google Benchmark, of all releases so far.
//!
//! A file as the library writes it is read row by row, and no more of it is held than a piece. Any
//! other is read as a whole.

mod results;
mod row_by_row;
mod whole;

pub(super) use row_by_row::read_pieces;
pub(super) use whole::read;
