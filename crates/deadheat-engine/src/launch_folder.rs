//! A temporary folder for one launch, where benchmark harnesses and Valgrind write their results.

use std::fs;
use std::io::{Read, Result};
use std::path::{Path, PathBuf};

use deadheat_model::under_new_name;

/// The maximum number of bytes that are read of a result file.
const MOST_BYTES: u64 = 4 << 20;
/// The maximum depth of nested folders. Criterion needs four: group, function, parameter and sample
/// set.
const DEEPEST: usize = 8;

/// A file whose name ends in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedFile {
    /// The numbers in the name of the file, such as 7 and 2 in `dump.7.2`.
    pub numbers: Vec<u64>,
    /// The file name.
    pub name: String,
    /// The content of the file.
    pub text: String,
}

/// A temporary folder, which is removed when this value is dropped.
#[derive(Debug)]
pub struct LaunchFolder(PathBuf);

impl LaunchFolder {
    /// Creates a folder in the system's temporary folder, readable only by this user.
    pub fn new() -> Result<Self> {
        use std::os::unix::fs::DirBuilderExt;

        // All names have the same length, because the environment of the launch contains them and
        // its size moves the stack.
        let name = |random: u64| format!("deadheat-launch-{random:016x}");
        let created = under_new_name(&std::env::temp_dir(), name, |path| {
            fs::DirBuilder::new().mode(0o700).create(path)
        });
        created
            .map(|(path, ())| Self(path))
            .map_err(|(_, error)| error)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Creates a file directly in the folder; fails if it exists.
    pub(crate) fn create(&self, name: &str) -> Result<fs::File> {
        fs::File::create_new(self.0.join(name))
    }

    /// Reads the files with these names in the folder and its subfolders, and returns their
    /// relative paths and contents, sorted by path. Does not follow symbolic links.
    pub(crate) fn files(&self, names: &[&str]) -> Result<Vec<(PathBuf, String)>> {
        let mut found = Vec::new();
        self.look(&self.0, names, 0, &mut found)?;
        found.sort();
        Ok(found)
    }

    /// Reads at most `most_bytes` of each file named `{beginning}N`, in order of N.
    pub fn numbered(&self, beginning: &str, most_bytes: u64) -> Result<Vec<NumberedFile>> {
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

    /// Removes the files whose names start with `beginning`.
    pub fn clear(&self, beginning: &str) {
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
