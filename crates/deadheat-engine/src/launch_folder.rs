//! The folder of one launch, for the results of harnesses and of Valgrind, which write files.

use std::fs;
use std::io::{ErrorKind, Read, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a file of results at most.
const MOST_BYTES: u64 = 4 << 20;
/// Folders below each other at most: group, function, parameter and set of criterion are four.
const DEEPEST: usize = 8;

/// A file of a folder, known by the numbers at the end of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberedFile {
    pub(crate) numbers: Vec<u64>,
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A folder of its own, gone when this is dropped.
#[derive(Debug)]
pub(crate) struct LaunchFolder(PathBuf);

impl LaunchFolder {
    /// Makes a folder below that of the system for temporary files, which nobody else can read.
    pub(crate) fn new() -> Result<Self> {
        use std::os::unix::fs::DirBuilderExt;

        static MADE: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            // Names of one length, which are in the environment of the launch.
            let name = format!("deadheat-launch-{process:010}-{number:010}");
            let path = std::env::temp_dir().join(name);
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // That of a process of the same number, which was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes a file in the folder itself, for a process to write into.
    pub(crate) fn create(&self, name: &str) -> Result<fs::File> {
        fs::File::create(self.0.join(name))
    }

    /// Reads the files of these names, in the order of their paths below the folder. Links are
    /// not followed.
    pub(crate) fn files(&self, names: &[&str]) -> Result<Vec<(PathBuf, String)>> {
        let mut found = Vec::new();
        self.look(&self.0, names, 0, &mut found)?;
        found.sort();
        Ok(found)
    }

    /// Reads the files in the folder itself whose names begin so, in the order of their numbers, of
    /// each at most so many bytes.
    pub(crate) fn numbered(&self, beginning: &str, most_bytes: u64) -> Result<Vec<NumberedFile>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(numbers) = name.strip_prefix(beginning) else {
                continue;
            };
            let numbers: Vec<u64> = numbers.split('.').flat_map(str::parse).collect();
            let mut bytes = Vec::new();
            fs::File::open(entry.path())?
                .take(most_bytes)
                .read_to_end(&mut bytes)?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            found.push(NumberedFile {
                numbers,
                name,
                text,
            });
        }
        found.sort_by(|one, other| one.numbers.cmp(&other.numbers));
        Ok(found)
    }

    /// Removes the files in the folder itself whose names begin so.
    pub(crate) fn clear(&self, beginning: &str) {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        for entry in
            entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(beginning))
        {
            let _ = fs::remove_file(entry.path());
        }
    }

    fn look(
        &self,
        folder: &Path,
        names: &[&str],
        depth: usize,
        found: &mut Vec<(PathBuf, String)>,
    ) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() && depth < DEEPEST {
                self.look(&path, names, depth + 1, found)?;
            } else if kind.is_file() && names.iter().any(|name| entry.file_name() == *name) {
                let mut bytes = Vec::new();
                fs::File::open(&path)?
                    .take(MOST_BYTES)
                    .read_to_end(&mut bytes)?;
                let below = path.strip_prefix(&self.0).unwrap_or(&path).to_owned();
                found.push((below, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
        Ok(())
    }
}

impl Drop for LaunchFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_what_was_written_and_is_gone_with_its_launch() {
        let folder = LaunchFolder::new().unwrap();
        let other = LaunchFolder::new().unwrap();
        assert_ne!(folder.path(), other.path());
        let set = folder.path().join("sum").join("new");
        fs::create_dir_all(&set).unwrap();
        fs::write(set.join("sample.json"), "{}").unwrap();
        fs::write(set.join("tukey.json"), "[]").unwrap();
        let found = folder.files(&["sample.json", "benchmark.json"]).unwrap();
        assert_eq!(found, [("sum/new/sample.json".into(), "{}".to_owned())]);
        for name in ["dump.12.10", "dump.12.9", "dump.12", "log.12"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let dumps = folder.numbered("dump.", 6).unwrap();
        let read: Vec<&str> = dumps.iter().map(|dump| &*dump.text).collect();
        assert_eq!(read, ["dump.1"; 3]);
        assert_eq!(dumps[2].numbers, [12, 10]);
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists() && other.path().exists());
    }
}
