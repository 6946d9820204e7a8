//! Run files on disk, with the two hashes that an index knows each by.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use deadheat::parts::format::{FormatError, cannot_read, read_content, read_run_from, unpacked};
use deadheat::parts::model::Run;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// A run file, of which nothing but its hashes is known yet.
///
/// The first line is written when a race begins and never changes, so its hash identifies the run:
/// a run that went on since has the same identity and another content.
#[derive(Debug)]
pub struct StoredRun {
    /// The file.
    pub path: PathBuf,
    /// The SHA-256 of its first line.
    pub identity: String,
    /// The SHA-256 of all of it, unpacked.
    pub content: String,
    bytes: Vec<u8>,
}

impl StoredRun {
    /// Reads a file, packed or not.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        Ok(Self::of(path, read_content(path)?))
    }

    /// The same of bytes that lie elsewhere; `path` is what they are called.
    ///
    /// # Errors
    ///
    /// Packed bytes that cannot be unpacked.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        Ok(Self::of(path, unpacked(path, bytes)?))
    }

    fn of(path: &Path, bytes: Vec<u8>) -> Self {
        let first = bytes.split(|byte| *byte == b'\n').next();
        Self {
            path: path.to_owned(),
            identity: hash(first.unwrap_or_default()),
            content: hash(&bytes),
            bytes,
        }
    }

    /// The run in it.
    ///
    /// # Errors
    ///
    /// What is no run file, and the line of one that does not hold.
    pub fn run(&self) -> Result<Run, FormatError> {
        read_run_from(&*self.bytes, &self.path)
    }

    /// All of it, unpacked.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The endings of run files, packed or not.
const ENDINGS: [&str; 3] = [".jsonl", ".jsonl.gz", ".jsonl.zst"];

/// Returns true for a name that ends as those of run files do.
pub fn is_run_name(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Files in a folder and those below it that are called as run files are, in the order of their
/// paths.
///
/// # Errors
///
/// A folder that cannot be read.
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

/// The bytes packed by gzip, always in the same way.
pub fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer
        .write_all(bytes)
        .and_then(|()| packer.finish())
        .expect("memory takes what it is given")
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
