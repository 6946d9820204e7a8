//! Static plots for papers: what an analysis holds to draw, as SVG and PNG.

mod axis;
mod canvas;
mod differences;
mod distributions;
mod forest;
mod frame;
mod gallery;
#[cfg(feature = "png")]
mod png;
mod scene;

pub(crate) use axis::Axis;
pub use gallery::to_pictures;
#[cfg(feature = "png")]
pub use png::PictureError;
pub use scene::Picture;
