//! What a file is, by its content and not by its name.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use deadheat_model::Run;

use crate::bounded::{self, Bounded, read_line};
use crate::error::{FormatError, cannot_read};
use crate::import::{RecordingPlan, read_csv_from};
use crate::run_file::{BUFFER, read_header_line, read_run_from};

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A run recorded by deadheat, with its plan.
    RunFile,
    /// A table of samples, which carries no plan. Known in every build, read
    /// with the feature `csv`.
    TidyCsv,
}

/// Tells what a file is, by its first line.
///
/// A run file of a later version, or JSON that is no run, is an error.
pub fn detect(path: impl AsRef<Path>) -> Result<Source, FormatError> {
    let (mut reader, source) = open(path.as_ref())?;
    if source == Source::RunFile {
        let mut first = Vec::new();
        read_line(&mut reader, &mut first).map_err(cannot_read(path.as_ref()))?;
        read_header_line(path.as_ref(), &first)?;
    }
    Ok(source)
}

/// Reads a run file or tidy CSV, whichever it is; `plan` is for the latter,
/// which without the feature `csv` is [`FormatError::CsvLeftOut`].
///
/// The file is opened once and read forwards, so it may be a pipe.
pub fn read_any(path: impl AsRef<Path>, plan: &RecordingPlan) -> Result<Run, FormatError> {
    let path = path.as_ref();
    match open(path)? {
        (reader, Source::RunFile) => read_run_from(reader, path),
        (reader, Source::TidyCsv) => read_csv_from(reader, path, plan),
    }
}

/// Opens a file and guesses its format by the first byte that is not blank:
/// no header line of a table begins like JSON.
fn open(path: &Path) -> Result<(BufReader<Bounded<File>>, Source), FormatError> {
    let file = bounded::open(path).map_err(cannot_read(path))?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let start = reader.fill_buf().map_err(cannot_read(path))?;
    if start.is_empty() {
        return Err(FormatError::Empty {
            file: path.to_owned(),
        });
    }
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let source = match text.trim_ascii_start().first() {
        Some(b'{' | b'[') => Source::RunFile,
        _ => Source::TidyCsv,
    };
    Ok((reader, source))
}
