//! A run file that is taken up again.

use std::fs::OpenOptions;
use std::io::BufReader;
use std::path::Path;

use super::journal::Journal;
use super::reader::scan;
use super::writer::{RunFileWriter, lock};
use super::written;
use crate::bounded;
use crate::error::{FormatError, cannot_read, cannot_write};

impl RunFileWriter {
    /// Takes up a run that stopped: cuts off a torn last line, and notes which
    /// deadheat goes on and when (in seconds since 1970-01-01 UTC).
    ///
    /// Nothing that was recorded is rewritten. The caller lets `elapsed_ns` and
    /// `launches` grow from where the run left them.
    pub fn resume(
        path: impl AsRef<Path>,
        tool_version: &str,
        started_at: Option<u64>,
    ) -> Result<Self, FormatError> {
        let path = path.as_ref();
        let recorded = bounded::open(path).map_err(cannot_read(path))?;
        let file = OpenOptions::new()
            .append(true)
            .open(path)
            .map_err(cannot_write(path))?;
        lock(&file, path)?;
        let found = scan(BufReader::new(recorded), path)?;
        let mut writer = Self::new(Journal::new(file, found.len, true), path, &found.run.header);
        if found.unterminated {
            writer.line.push(b'\n');
        }
        writer
            .append_json(&written::resumed(tool_version, started_at))
            .map_err(cannot_write(path))?;
        Ok(writer)
    }
}
