//! Pictures made of characters: scales, the forest of a table, histograms and
//! the series of differences.
//!
//! Points become columns and rows here, and nothing else: what there is to
//! draw was worked out by the analysis.

mod change_scale;
mod forest;
mod histogram;
mod paint;
mod pictures;
mod series;

pub(crate) use forest::{ForestRow, beside};
pub(crate) use paint::color_of;
pub(crate) use pictures::{Scenery, intervals, pictures};
