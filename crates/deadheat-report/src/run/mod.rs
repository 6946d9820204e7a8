//! The answer about a run: its facts as blocks, and the order in which media have them.

#[cfg(feature = "reports")]
mod about;
mod facts;
#[cfg(feature = "reports")]
mod lists;
mod text;

#[cfg(feature = "reports")]
pub(crate) use about::{about, command, shell};
pub use facts::Detail;
pub(crate) use facts::Run;
#[cfg(feature = "reports")]
pub use lists::{CommentOptions, MarkdownOptions, to_comment, to_markdown, to_markdown_with};
pub use text::{TextOptions, to_text};
