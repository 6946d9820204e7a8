//! Saved results against each other: one table for all benchmarks, whatever
//! became of them, and what there is to doubt.

mod csv;
mod grid;
mod head;
mod judged;
mod labels;
mod markdown;
mod options;
mod others;
mod rows;
mod sheet;
mod text;
mod warnings;
mod words;

pub use csv::to_comparison_csv;
pub use markdown::to_comparison_markdown;
pub use options::{ComparisonOptions, Sort};
pub use text::to_comparison;
