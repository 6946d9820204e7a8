//! JSON Lines logs that deadheat's commands write: one line per event, on the disk before the next
//! event, so that a killed process loses at most the last line.

use std::fs::{self, OpenOptions};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use deadheat_model::Json;

use crate::content;
use crate::error::{FileProblem, FormatError, cannot_read, cannot_write, create_folder_of};
use crate::limits::{Allowance, read_line};
use crate::output::{Journal, lock};

/// Appends lines to a file. While the writer lives, no other process can append to the file.
#[derive(Debug)]
pub struct JsonLinesWriter {
    path: PathBuf,
    journal: Journal,
}

impl JsonLinesWriter {
    /// Creates the file with its first line, and creates the folders above it.
    ///
    /// # Errors
    ///
    /// The file exists already or cannot be written. A file whose first line could not be written
    /// is removed.
    pub fn create(path: &Path, first: &Json) -> Result<Self, FormatError> {
        create_folder_of(path)?;
        let opened = OpenOptions::new().append(true).create_new(true).open(path);
        let file = opened.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => FileProblem::AlreadyExists.of(path),
            _ => cannot_write(path)(source),
        })?;
        lock(&file, path)?;
        let mut writer = Self {
            path: path.to_owned(),
            journal: Journal::new(file, 0, false),
        };
        writer.append(first).inspect_err(|_| {
            let _ = fs::remove_file(path);
        })?;
        Ok(writer)
    }

    /// Opens a file to append to it, after [`read_json_lines`] has passed its lines to `take`.
    /// Removes an incomplete last line.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written, another process appends to it, or `take` refuses a line.
    pub fn reopen(
        path: &Path,
        take: impl FnMut(u64, Option<Json>) -> Result<(), FormatError>,
    ) -> Result<Self, FormatError> {
        let opened = OpenOptions::new().append(true).open(path);
        let file = opened.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => cannot_read(path)(source),
            _ => cannot_write(path)(source),
        })?;
        lock(&file, path)?;
        let len = read_json_lines(path, take)?;
        Ok(Self {
            path: path.to_owned(),
            journal: Journal::new(file, len, true),
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line. When this returns, the line is on the disk.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn append(&mut self, value: &Json) -> Result<(), FormatError> {
        let line = format!("{value}\n");
        let written = self.journal.append(line.as_bytes());
        let kept = written.and_then(|()| self.journal.sync());
        kept.map_err(cannot_write(&self.path))
    }
}

/// Calls `take` with the number of each line, from 1, and with its JSON, or `None` if the line is
/// not JSON. Skips an incomplete last line. Returns the length in bytes up to the end of the last
/// whole line.
///
/// # Errors
///
/// The file cannot be read or is empty, or `take` refuses a line.
pub fn read_json_lines(
    path: &Path,
    mut take: impl FnMut(u64, Option<Json>) -> Result<(), FormatError>,
) -> Result<u64, FormatError> {
    let file = content::open(path).map_err(cannot_read(path))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut memory = Allowance::of_lines().map_err(cannot_read(path))?;
    let mut len = 0;
    for number in 1.. {
        line.clear();
        let bytes = read_line(&mut reader, &mut line).map_err(cannot_read(path))?;
        if number == 1 && bytes == 0 {
            return Err(FileProblem::Empty.of(path));
        }
        // An incomplete first line is passed on, because `take` recognises the kind of file by the
        // first line.
        if number > 1 && !line.ends_with(b"\n") {
            break;
        }
        let kept = memory.memory_of_line(&line).map_err(cannot_read(path))?;
        memory.take(kept).map_err(cannot_read(path))?;
        let text = std::str::from_utf8(&line).ok();
        take(number, text.and_then(Json::parse))?;
        len += bytes as u64;
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn lines(path: &Path) -> Result<Vec<Option<Json>>, FormatError> {
        let mut lines = Vec::new();
        read_json_lines(path, |number, json| {
            lines.push(json);
            assert_eq!(lines.len() as u64, number);
            Ok(())
        })?;
        Ok(lines)
    }

    #[test]
    fn a_line_that_was_cut_off_is_removed_before_the_next_is_appended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").join("b.jsonl");
        let mut writer = JsonLinesWriter::create(&path, &Json::from("first")).unwrap();
        writer.append(&2u64.into()).unwrap();
        drop(writer);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"torn\":").unwrap();
        assert_eq!(
            lines(&path).unwrap(),
            [Some("first".into()), Some(2u64.into())]
        );
        let mut writer = JsonLinesWriter::reopen(&path, |_, _| Ok(())).unwrap();
        writer.append(&3u64.into()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "\"first\"\n2\n3\n");
    }

    #[test]
    fn one_process_appends_at_a_time_and_no_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let writer = JsonLinesWriter::create(&path, &1u64.into()).unwrap();
        let reopened = JsonLinesWriter::reopen(&path, |_, _| Ok(()));
        assert!(matches!(reopened.unwrap_err().problem, FileProblem::InUse));
        drop(writer);
        let created = JsonLinesWriter::create(&path, &1u64.into());
        let problem = created.unwrap_err().problem;
        assert!(matches!(problem, FileProblem::AlreadyExists));
    }

    #[test]
    fn an_empty_file_is_refused_and_a_line_that_is_not_json_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "").unwrap();
        assert!(matches!(
            lines(&path).unwrap_err().problem,
            FileProblem::Empty
        ));
        fs::write(&path, b"1\n\xff\n{\n").unwrap();
        assert_eq!(lines(&path).unwrap(), [Some(1u64.into()), None, None]);
        fs::write(&path, "first").unwrap();
        assert_eq!(lines(&path).unwrap(), [None]);
    }
}
