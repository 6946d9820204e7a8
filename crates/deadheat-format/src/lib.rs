//! Reads and writes deadheat's own files, and reads other files within limits.
//!
//! | format | read | written |
//! | --- | --- | --- |
//! | run file, `deadheat.run/1` | `read_run`, `IndexedRun`, feature `read` | [`RunFileWriter`] |
//! | calibration of a machine, `deadheat.calibration/1` | [`read_calibration`] | [`write_calibration`] |
//! | rules of a project, `deadheat.toml` | [`find_rules`], [`read_rules`] | |
//! | pack: a plan with its programs, feature `read` | `unpack` | `write_pack` |
//! | list of the files with commands that deadheat wrote, feature `read` | `MadeFiles` | `MadeFiles` |
//! | HDR histogram log, feature `reports` | | [`write_hdr`] |
//!
//! The crate `deadheat-import` reads and writes the files of other tools. It uses [`content`] to
//! open them, [`limits`] to bound them, and [`number`] for their numbers. Other crates of deadheat
//! describe their file types with [`wire`] and keep logs with `JsonLinesWriter` (feature `read`).
//!
//! [`write_export`] creates a file for a log, table or text. No feature is on by default, so a
//! program that only records runs does not compile the readers. `docs/formats.md` describes every
//! format.

#[cfg(feature = "reports")]
mod calibration;
#[cfg(any(feature = "read", feature = "reports"))]
pub mod content;
mod default_path;
mod error;
#[cfg(feature = "reports")]
mod export;
#[cfg(feature = "read")]
mod json_lines;
#[cfg(any(feature = "read", feature = "reports"))]
pub mod limits;
#[cfg(all(unix, feature = "read"))]
mod made_files;
mod named_pipe;
pub mod number;
mod output;
mod output_kind;
mod owner;
#[cfg(all(unix, feature = "read"))]
mod pack;
mod platform;
mod rules;
mod run_file;
mod same_file;
#[cfg(feature = "read")]
mod temporary;
pub mod wire;

#[cfg(feature = "reports")]
pub use calibration::{calibration_json, read_calibration, write_calibration};
#[cfg(feature = "reports")]
pub use content::read_plain_text;
#[cfg(feature = "read")]
pub use content::{
    FileKind, Found, ensure_readable, file_kind, found_at, open_pieces, read_bytes, read_content,
    unpacked,
};
pub use default_path::{
    are_first_runs, create_folder_for, create_own_folder, create_run_folder, default_run_path,
    is_default_run_name, own_folder, time_of_day,
};
pub use error::{FileProblem, FormatError, Place, cannot_read, cannot_write, similar_file};
#[cfg(feature = "reports")]
pub use export::{benchmark_names, distinct_names, ensure_wall_times, with_parameters, write_hdr};
#[cfg(feature = "read")]
pub use json_lines::{JsonLinesWriter, read_json_lines};
#[cfg(all(unix, feature = "read"))]
pub use made_files::{FileDigest, MadeFiles};
pub use output::{
    ensure_folder, ensure_writable, path_in, refuse_file_in_use, set_aside, write_bytes,
    write_export, write_text, write_text_by,
};
pub use output_kind::OutputKind;
pub use owner::{belongs_to_another, is_open_to_others};
#[cfg(all(unix, feature = "read"))]
pub use pack::{PackedFile, contents, copy_pack, is_pack, unpack, write_pack};
pub use platform::canonicalize;
pub use rules::{RULES_FILE, find_rules, read_rules, read_rules_from};
#[cfg(feature = "read")]
pub use run_file::merge_parts;
#[cfg(feature = "read")]
pub use run_file::{
    IndexedRun, has_only_header, line_that_breaks_off, read_header, read_run, read_run_from,
    refuse_plan,
};
pub use run_file::{NOWHERE, RunFileWriter, SCHEMA, header_text};
pub use same_file::{FileIdentity, is_same_file, path_without_links};
#[cfg(feature = "read")]
pub use temporary::{ScratchFolder, TemporaryFile};
