//! A file of any kind, for somebody who analyses it by itself.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use deadheat_model::{Results, Run};

use super::format::{SavedFormat, saved_format};
use super::read::read_results_from;
use crate::bounded::{self, Bounded};
use crate::content::{is_packed, unpacked};
use crate::error::{FormatError, cannot_read};
use crate::import::{RecordingPlan, read_csv_from};
use crate::run_file::{BUFFER, read_run_from};

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Recording {
    /// A run, or a table that was made one.
    Run(Box<Run>),
    /// Results of another tool.
    Results(Box<Results>),
}

/// Reads a file, told by its content; `-` is standard input, and what gzip or
/// zstd packed is unpacked. `plan` is for tables, which carry none.
///
/// Run files and tables are read as they come and need no more memory than
/// what is in them.
pub fn read_recording(
    path: impl AsRef<Path>,
    plan: &RecordingPlan,
) -> Result<Recording, FormatError> {
    let path = path.as_ref();
    match path == Path::new("-") {
        true => {
            let input = Bounded::new(std::io::stdin()).map_err(cannot_read(path))?;
            from(BufReader::with_capacity(BUFFER, input), path, plan)
        }
        false => {
            let file = bounded::open(path).map_err(cannot_read(path))?;
            from(BufReader::with_capacity(BUFFER, file), path, plan)
        }
    }
}

/// Whether the first line is that of a table for certain: a comma may also
/// stand in the first line of Go's text, whose benchmarks come later.
fn begins_a_table(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let column = b"contender";
    first.windows(column.len()).any(|word| word == column)
}

fn from(
    mut reader: BufReader<impl Read>,
    path: &Path,
    plan: &RecordingPlan,
) -> Result<Recording, FormatError> {
    let beginning = reader.fill_buf().map_err(cannot_read(path))?;
    if !is_packed(beginning) {
        let run = match saved_format(path, beginning) {
            Ok(SavedFormat::RunFile) => Some(read_run_from(reader.by_ref(), path)?),
            Ok(SavedFormat::TidyCsv) if begins_a_table(beginning) => {
                Some(read_csv_from(reader.by_ref(), path, plan)?)
            }
            // Of another tool, or told only by what comes later.
            _ => None,
        };
        if let Some(run) = run {
            return Ok(Recording::Run(Box::new(run)));
        }
    }
    let mut content = Vec::new();
    reader
        .read_to_end(&mut content)
        .map_err(cannot_read(path))?;
    let content = unpacked(path, content)?;
    Ok(match saved_format(path, &content)? {
        SavedFormat::RunFile => Recording::Run(Box::new(read_run_from(&content[..], path)?)),
        SavedFormat::TidyCsv => Recording::Run(Box::new(read_csv_from(&content[..], path, plan)?)),
        _ => Recording::Results(Box::new(read_results_from(path, &content)?)),
    })
}
