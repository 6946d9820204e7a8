//! JSON, built as a tree and written, or read into one, or scanned without.

mod read;
#[cfg(feature = "scan")]
mod scan;
mod value;

pub use read::JsonError;
#[cfg(feature = "scan")]
pub use scan::{JsonScalar, JsonScan};
pub use value::{Json, Object};
