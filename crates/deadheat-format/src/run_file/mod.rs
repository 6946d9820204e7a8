//! The run file: JSON Lines, written block by block while a run is measured.

mod block;
#[cfg(feature = "read")]
mod command;
#[cfg(feature = "read")]
mod decode;
#[cfg(feature = "read")]
mod environment;
#[cfg(feature = "read")]
mod index;
#[cfg(feature = "read")]
mod indexed;
mod journal;
#[cfg(feature = "read")]
mod part;
#[cfg(feature = "read")]
mod placed;
#[cfg(feature = "read")]
mod plan;
#[cfg(feature = "read")]
mod program;
#[cfg(feature = "read")]
mod reader;
#[cfg(feature = "read")]
mod resume;
#[cfg(feature = "read")]
mod scanner;
#[cfg(feature = "read")]
mod schema;
#[cfg(feature = "read")]
mod wire;
mod writer;
mod written;
mod written_plan;

#[cfg(feature = "read")]
pub use indexed::IndexedRun;
#[cfg(feature = "read")]
pub use reader::{read_header, read_run, read_run_from};
pub use writer::RunFileWriter;
pub use written::SCHEMA;
#[cfg(feature = "reports")]
pub(crate) use written::share;

#[cfg(feature = "read")]
pub(crate) use reader::BUFFER;
#[cfg(feature = "read")]
pub(crate) use schema::check_schema;
