//! Static plots for papers: what an analysis holds to draw, as SVG and PNG.

mod axis;
mod canvas;
mod densities;
mod differences;
mod ecdf;
mod forest;
mod frame;
mod gallery;
mod histogram;
mod ink;
mod looks;
mod pairs;
mod picture;
#[cfg(feature = "png")]
mod png;
mod quantiles;
mod replicates;
mod scene;
mod violins;

pub use gallery::to_pictures;
pub use picture::Picture;
#[cfg(feature = "png")]
pub use png::PictureError;
