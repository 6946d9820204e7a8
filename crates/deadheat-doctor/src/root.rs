//! Where the files of the system begin.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The folder that holds `proc` and `sys`. Tests put a machine of their own into one; everything
/// that cannot be read there is simply not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    folder: PathBuf,
}

impl Root {
    /// Of the machine this runs on.
    pub fn real() -> Self {
        Self::at("/")
    }

    /// Of a machine laid out in a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self { folder }
    }

    pub(crate) fn is_real(&self) -> bool {
        self.folder == Path::new("/")
    }

    fn below(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    /// The text of a file; the path may begin with a slash or not.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.below(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The meaning of the text of a file, if there is one.
    pub(crate) fn read<T>(&self, path: &str, meaning: fn(&str) -> Option<T>) -> Option<T> {
        meaning(&self.text(path)?)
    }

    /// The first line of a file, if there is anything in it.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// The number in a file.
    pub(crate) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.line(path)?.parse().ok()
    }

    /// Returns true if there is such a file or folder.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.below(path).exists()
    }

    /// The names in a folder, in order.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let folder = fs::read_dir(self.below(path));
        let entries = folder.into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

#[cfg(test)]
pub(crate) mod fake {
    use std::fs;

    use tempfile::TempDir;

    use super::Root;

    /// A machine that has these files and no others.
    pub(crate) fn machine(files: &[(&str, &str)]) -> (TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::at(folder.path());
        (folder, root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_not_known() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("proc/sys")).unwrap();
        fs::write(folder.path().join("proc/sys/two"), " 2 \nmore\n").unwrap();
        fs::write(folder.path().join("proc/sys/empty"), "\n").unwrap();
        let root = Root::at(folder.path());
        assert_eq!(root.number("proc/sys/two"), Some(2));
        assert_eq!(root.line("/proc/sys/two").as_deref(), Some("2"));
        assert_eq!(root.line("proc/sys/empty"), None);
        assert_eq!(root.text("proc/sys/none"), None);
        assert_eq!(root.names("proc/sys"), ["empty", "two"]);
        assert!(root.names("sys").is_empty() && !root.has("sys") && root.has("proc"));
        assert!(!root.is_real() && Root::real().is_real());
    }
}
