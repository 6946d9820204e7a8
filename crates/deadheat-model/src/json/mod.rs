//! JSON, built as a tree and written, or read into one.

mod read;
mod value;
mod write;

pub use read::JsonError;
pub use value::{Json, Object};
