//! Pictures made of characters: scales, the forest of a table, histograms and the series of
//! differences.
//!
//! Points become columns and rows here, and nothing else: what there is to draw was worked out by
//! the analysis.

mod change_scale;
#[cfg(feature = "reports")]
mod charts;
mod forest;
mod paint;

#[cfg(feature = "reports")]
pub(crate) use charts::pictures;
#[cfg(feature = "reports")]
pub(crate) use forest::intervals;
pub(crate) use forest::{ForestRow, beside};
#[cfg(feature = "reports")]
pub(crate) use paint::Scenery;
pub(crate) use paint::color_of;
