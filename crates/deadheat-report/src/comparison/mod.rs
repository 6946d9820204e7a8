//! Saved results against each other: one table for all benchmarks, whatever
//! became of them, and what there is to doubt.

mod answer;
mod csv;
mod rows;
mod sides;
mod tables;
mod words;

pub use answer::{to_comparison, to_comparison_markdown};
pub use csv::to_comparison_csv;
pub use rows::{ComparisonOptions, Sort};
