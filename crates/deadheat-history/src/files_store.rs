//! Run files on disk, with the two hashes by which an index identifies each file.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use deadheat::parts::format::{FormatError, cannot_read, read_content, read_run_from, unpacked};
use deadheat::parts::model::Run;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// The bytes of a run file, with their hashes. The content is not parsed yet.
///
/// The first line of the file is written when a race begins and never changes, so its hash
/// identifies the run. If the run is continued, lines are appended.
#[derive(Debug)]
pub struct StoredRun {
    pub path: PathBuf,
    /// The SHA-256 of the first line of the run file.
    pub identity: String,
    /// The SHA-256 of the complete lines of the unpacked file.
    pub content: String,
    bytes: Vec<u8>,
}

impl StoredRun {
    /// Reads a run file, compressed or not.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        Ok(Self::of(path, read_content(path)?))
    }

    /// Takes the bytes of a run file from elsewhere, such as a git branch. `path` is the name in
    /// messages.
    ///
    /// # Errors
    ///
    /// Fails if compressed bytes cannot be unpacked.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        Ok(Self::of(path, unpacked(path, bytes)?))
    }

    fn of(path: &Path, bytes: Vec<u8>) -> Self {
        let first = bytes.split(|byte| *byte == b'\n').next();
        Self {
            path: path.to_owned(),
            identity: hash(first.unwrap_or_default()),
            content: hash(complete_lines(&bytes)),
            bytes,
        }
    }

    /// Returns the complete lines. The last line of a killed run may be truncated.
    pub fn complete(&self) -> &[u8] {
        complete_lines(&self.bytes)
    }

    /// Returns true if the file begins with complete lines of this length and hash; more may
    /// follow.
    pub fn continues(&self, length: u64, content: &str) -> bool {
        let begin = self
            .bytes
            .get(..usize::try_from(length).unwrap_or(usize::MAX));
        begin.is_some_and(|begin| hash(begin) == content)
    }

    /// Parses the run.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a run file. If a line is invalid, the error gives its number.
    pub fn run(&self) -> Result<Run, FormatError> {
        read_run_from(&*self.bytes, &self.path)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

const ENDINGS: [&str; 3] = [".jsonl", ".jsonl.gz", ".jsonl.zst"];

pub fn is_run_name(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns all files in a folder and its subfolders that have the extension of a run file, sorted
/// by path.
///
/// # Errors
///
/// Fails if a folder cannot be read.
pub fn files_of_runs(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>, FormatError> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.as_ref().to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).map_err(cannot_read(&folder))? {
            let entry = entry.map_err(cannot_read(&folder))?;
            let kind = entry.file_type().map_err(cannot_read(&folder))?;
            let name = entry.file_name();
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if name.to_str().is_some_and(is_run_name) && entry.path().is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Compresses bytes with gzip. Equal bytes have equal results.
pub fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer
        .write_all(bytes)
        .and_then(|()| packer.finish())
        .expect("memory takes what it is given")
}

fn complete_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    &bytes[..end.map_or(0, |end| end + 1)]
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
