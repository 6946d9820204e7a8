//! The answer as a comment on a pull request.

mod blocks;
mod machine;
mod write;

pub use write::{CommentOptions, to_comment};
