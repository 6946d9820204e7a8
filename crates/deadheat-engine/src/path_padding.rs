//! Paths of two programs, padded to the same length.
//!
//! A program is told its own path, keeps a copy on its heap and one on its
//! stack, and all it allocates later comes to lie elsewhere. One program, once
//! by a path of 4 to 7 bytes and once by one of 43 or 58, was up to 1 % apart
//! from itself in a benchmark that allocates, in every process: 22 of 28 races
//! called it faster or slower.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Bytes of the paths that programs are started by at least: neutral links lie
/// in folders of their own, which nobody sees.
const STARTED: usize = 512;
/// Bytes that a padded path is longer than the plain one, at least: `/.`.
const LEAST: usize = 2;

/// Bytes that a replicate may lengthen its paths by.
pub(crate) const MOST_PATH_PADDING: u64 = 64;

/// The lengths that the paths of a replicate's programs are padded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathPadding {
    named: usize,
    started: usize,
}

impl PathPadding {
    /// So many bytes more than the longest of these paths needs, drawn anew for
    /// every replicate: that two are equally long should not make one length
    /// count for all.
    pub(crate) fn of<'a>(paths: impl IntoIterator<Item = &'a Path>, more: usize) -> Self {
        let lengths = paths.into_iter().map(|path| whole(path).as_os_str().len());
        let longest = lengths.max().unwrap_or(0);
        Self {
            named: longest + LEAST + more,
            started: STARTED + more,
        }
    }

    /// What a program is told that it is called.
    pub(crate) fn named(&self, path: &Path) -> PathBuf {
        spelled(path, self.named)
    }

    /// What it is started by.
    pub(crate) fn started(&self, path: &Path) -> PathBuf {
        spelled(path, self.started)
    }
}

/// The path from the root; as it is where that cannot be known.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The same path in so many bytes, if it needs fewer: `/././/bin/true`.
fn spelled(path: &Path, length: usize) -> PathBuf {
    let path = whole(path);
    let bytes = path.as_os_str().as_bytes();
    let missing = length.saturating_sub(bytes.len());
    if missing < LEAST || !bytes.starts_with(b"/") {
        return path;
    }
    let mut longer = b"/.".repeat(missing / 2);
    longer.extend(std::iter::repeat_n(b'/', missing % 2));
    longer.extend_from_slice(bytes);
    PathBuf::from(OsString::from_vec(longer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_paths_are_spelled_equally_long_and_lead_where_they_led() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "longer", "longest of all"].map(|name| folder.path().join(name));
        for path in &paths {
            std::fs::write(path, path.as_os_str().as_bytes()).unwrap();
        }
        for more in [0, 1, 2, 63] {
            let path_padding = PathPadding::of(paths.iter().map(PathBuf::as_path), more);
            let length = |path: PathBuf| path.as_os_str().len();
            for path in &paths {
                let text = std::fs::read(path_padding.named(path)).unwrap();
                assert_eq!(text, path.as_os_str().as_bytes());
                assert_eq!(std::fs::read(path_padding.started(path)).unwrap(), text);
                let named = length(path_padding.named(&paths[2]));
                assert_eq!(length(path_padding.named(path)), named);
                assert_eq!(length(path_padding.started(path)), STARTED + more);
            }
        }
    }

    #[test]
    fn a_relative_path_is_spelled_from_the_root_and_a_long_one_left_as_it_is() {
        assert_eq!(spelled(Path::new("/a"), 7), Path::new("/././/a"));
        assert_eq!(spelled(Path::new("/a"), 7).as_os_str(), "/././/a");
        assert_eq!(spelled(Path::new("/a/b"), 4).as_os_str(), "/a/b");
        let relative = spelled(Path::new("a"), 4_000);
        assert_eq!(relative.as_os_str().len(), 4_000);
        assert!(relative.is_absolute());
    }
}
