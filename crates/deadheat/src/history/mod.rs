//! Histories of commits: which commits are shown, in which order, and what their races say of them.

mod links;
mod stored;
mod timeline;
mod window;

pub use links::Links;
pub use stored::{NotStored, stored_run};
pub use timeline::{ALPHA, CONFIDENCE, history};
pub use window::{Asked, LineOfCommits, Window, WindowCommit};
