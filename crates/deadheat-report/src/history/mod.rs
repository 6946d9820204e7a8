//! A history of commits in words, as blocks, and for programs. Its page lies with the other page.

mod answer;
mod json;
mod words;

pub use answer::{HistoryTextOptions, to_history_markdown, to_history_text};
pub use json::to_history_json;
pub use words::{accepting, bisecting, check_lines};
pub(crate) use words::{changed, closure, creeping, heading, level, named, remarks, sized};
