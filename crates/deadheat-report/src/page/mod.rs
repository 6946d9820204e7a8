//! The answer as a page: one file that needs no network, with everything there is to see of a run.

mod axis;
#[cfg(feature = "commands")]
mod bisect;
mod charts;
mod columns;
mod data;
#[cfg(feature = "commands")]
mod history;
mod hosts;
mod html;
mod overview;
mod write;

#[cfg(feature = "commands")]
pub use bisect::to_bisect_page;
#[cfg(feature = "commands")]
pub use history::{HistoryLinks, to_history_page};
#[cfg(feature = "commands")]
pub(crate) use html::{GLYPHS, Text, blocks};
#[cfg(feature = "commands")]
pub(crate) use write::STYLE;
pub use write::{to_page, write_page};
