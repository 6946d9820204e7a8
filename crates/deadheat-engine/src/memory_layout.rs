//! Where things come to lie in the memory of a worker process, drawn per replicate: a lucky
//! alignment must not belong to one side for good.

use std::ffi::OsString;
use std::hint::black_box;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Bytes of the stack one step takes.
const STEP: usize = 64;

/// Runs `body` with the stack moved down by about `bytes`.
#[inline(never)]
pub(crate) fn with_stack_offset<T>(bytes: usize, body: impl FnOnce() -> T) -> T {
    let mut step = [0u8; STEP];
    black_box(&mut step);
    let result = match bytes.checked_sub(STEP) {
        Some(left) => with_boxed_offset(left, Box::new(body)),
        None => body(),
    };
    // The step must outlive the call, or it would be no step.
    black_box(&step);
    result
}

/// Boxed, for a closure around a closure would be another type at every step.
fn with_boxed_offset<T>(bytes: usize, body: Box<dyn FnOnce() -> T + '_>) -> T {
    let mut step = [0u8; STEP];
    black_box(&mut step);
    let result = match bytes.checked_sub(STEP) {
        Some(left) => with_boxed_offset(left, body),
        None => body(),
    };
    black_box(&step);
    result
}

/// A piece of the heap that is held until the end of the process, so that
/// what is allocated after it lies elsewhere.
pub(crate) fn hold_heap(bytes: usize) -> Vec<u8> {
    black_box(vec![1; bytes])
}

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

    /// The path that a program is told as its name.
    pub(crate) fn named(&self, path: &Path) -> PathBuf {
        spelled(path, self.named)
    }

    /// The path that it is started by.
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
    fn the_stack_moves_by_at_least_what_was_asked() {
        let address = |bytes| {
            with_stack_offset(bytes, || {
                let here = 0u8;
                black_box(&raw const here) as usize
            })
        };
        let (near, far) = (address(0), address(4_000));
        assert!(near - far >= 3_900, "{near:x} {far:x}");
    }

    #[test]
    fn the_answer_of_the_body_comes_back() {
        assert_eq!(with_stack_offset(1_000, || 7), 7);
    }

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
