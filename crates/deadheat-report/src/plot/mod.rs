//! Pictures made of characters: scales, the forest of a table, histograms and
//! the series of differences.
//!
//! Points become columns and rows here, and nothing else: what there is to
//! draw was worked out by the analysis.

mod change_scale;
mod forest;
#[cfg(feature = "reports")]
mod histogram;
mod paint;
#[cfg(feature = "reports")]
mod pictures;
#[cfg(feature = "reports")]
mod series;

pub(crate) use forest::{ForestRow, beside};
pub(crate) use paint::color_of;
#[cfg(feature = "reports")]
pub(crate) use pictures::{Scenery, intervals, pictures};
