//! The run file: JSON Lines, written block by block while a run is measured.

mod block;
mod header;
#[cfg(feature = "read")]
mod indexed;
mod lines;
#[cfg(feature = "saved")]
mod merge;
mod plan;
#[cfg(feature = "read")]
mod reader;
mod writer;

pub use header::SCHEMA;
#[cfg(feature = "saved")]
pub(crate) use header::header_line;
#[cfg(feature = "read")]
pub use indexed::IndexedRun;
#[cfg(feature = "saved")]
pub use merge::merge_parts;
#[cfg(feature = "read")]
pub use reader::{read_header, read_run, read_run_from};
pub use writer::RunFileWriter;

#[cfg(feature = "saved")]
pub(crate) use reader::BUFFER;
