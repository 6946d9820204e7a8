//! The run file: JSON Lines, written block by block while a run is measured.

mod block;
mod journal;
mod plan;
mod reader;
mod scanner;
mod wire;
mod writer;

pub use reader::{read_header, read_run, read_run_from};
pub use wire::SCHEMA;
pub use writer::RunFileWriter;

pub(crate) use reader::{BUFFER, check_schema};
