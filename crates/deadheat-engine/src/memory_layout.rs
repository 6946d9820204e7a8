//! Draws where the stack and the paths of a process lie in memory, for each replicate: a lucky
//! alignment must not belong to one side in all of them.

use std::ffi::OsString;
use std::hint::black_box;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use nix::sys::personality::{self, Persona};

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

/// Calls `start` such that the processes it starts have program, stack and libraries at the same
/// addresses every time, if `fixed`. Where the system forbids that, as the system call filter of
/// many containers does, they have random ones as ever.
///
/// Two builds whose shared code lies equally far into a page still differ by what the rest of the
/// address does to branch predictors: when a coin drew the order of every block, intervals of a
/// branchy function among 300 others were .87 times as wide as of independent links at random
/// addresses, and .5 at equal ones (20 races each).
pub(crate) fn at_fixed_addresses<T>(fixed: bool, start: impl FnOnce() -> T) -> T {
    // That of the calling thread; what it starts inherits it.
    let before = fixed.then(fix_addresses).flatten();
    let started = start();
    restore_addresses(before);
    started
}

/// Returns true if the system lets processes be started at fixed addresses.
pub(crate) fn addresses_can_be_fixed() -> bool {
    let before = fix_addresses();
    restore_addresses(before);
    before.is_some()
}

/// Has processes that this thread starts loaded at fixed addresses, and returns what was before;
/// `None` where that cannot be.
#[cfg(target_os = "linux")]
fn fix_addresses() -> Option<Persona> {
    let before = personality::get().ok()?;
    personality::set(before | Persona::ADDR_NO_RANDOMIZE).ok()?;
    Some(before)
}

#[cfg(target_os = "linux")]
fn restore_addresses(before: Option<Persona>) {
    if let Some(before) = before {
        let _ = personality::set(before);
    }
}

#[cfg(not(target_os = "linux"))]
fn fix_addresses() -> Option<()> {
    None
}

#[cfg(not(target_os = "linux"))]
fn restore_addresses(_: Option<()>) {}

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

    /// The path by which deadheat starts the program.
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
    use std::path::PathBuf;

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
    #[cfg(target_os = "linux")]
    fn processes_started_at_fixed_addresses_have_the_same_ones_and_others_their_own() {
        let stack = |fixed| {
            let maps = at_fixed_addresses(fixed, || {
                std::process::Command::new("cat")
                    .arg("/proc/self/maps")
                    .output()
            });
            let maps = String::from_utf8(maps.unwrap().stdout).unwrap();
            let stack = maps.lines().find(|line| line.ends_with("[stack]"));
            let (_, end) = stack
                .unwrap()
                .split(' ')
                .next()
                .unwrap()
                .split_once('-')
                .unwrap();
            end.to_owned()
        };
        if addresses_can_be_fixed() {
            assert_eq!(stack(true), stack(true));
        }
        // Once in a great many times two random ones are equal.
        assert!((0..4).any(|_| stack(false) != stack(false)));
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
