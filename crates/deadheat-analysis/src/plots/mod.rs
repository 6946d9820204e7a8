//! What there is to draw of the judged metric: points and curves, thinned.
//!
//! Like the secondary figures they are worked out once, when the answer is
//! given, and from the same sorted samples.

mod blocks;
mod differences;
mod distribution;
mod pairs;
mod quantiles;
mod replicates;
mod thinning;
mod together;

pub(crate) use distribution::Sorted;
pub(crate) use together::{Material, Paired, Rival, plots};
