//! A search for the commit that changed the time: its answer, its story, and what is told on the
//! way.

mod answer;
mod json;
mod story;
mod words;

pub use answer::{BisectTextOptions, to_bisect_markdown, to_bisect_text};
pub(crate) use answer::{answer, title};
pub use json::to_bisect_json;
pub use story::{building, racing, story, story_line, was_cut};
