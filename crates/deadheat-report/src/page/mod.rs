//! The answer as a page: one file that needs no network, with everything there
//! is to see of a run.

mod axis;
mod benchmark;
mod charts;
mod data;
mod facts;
mod forest;
mod head;
mod html;
mod overview;
mod policy;
mod tables;
mod write;

pub use write::{to_page, write_page};
