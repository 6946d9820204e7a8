//! The answer as a page: one file that needs no network, with everything there is to see of a run.

mod axis;
mod charts;
mod data;
mod hosts;
mod html;
mod overview;
mod write;

pub use write::{to_page, write_page};
