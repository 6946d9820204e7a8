//! Moves the stack, heap and paths of a process by amounts that are drawn for each replicate, so
//! that a lucky alignment does not favour one side in all replicates.

use std::ffi::OsString;
use std::hint::black_box;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use nix::sys::personality::{self, Persona};

/// The minimum number of stack bytes per recursion step.
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
    // This use after the call keeps the array on the stack during the call.
    black_box(&step);
    result
}

/// Recursive part of [`with_stack_offset`]. The closure is boxed, because otherwise every step
/// would wrap it in another closure type.
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

/// Allocates `bytes` on the heap. The caller keeps them until the process ends, so that later
/// allocations lie elsewhere.
pub(crate) fn hold_heap(bytes: usize) -> Vec<u8> {
    black_box(vec![1; bytes])
}

/// Calls `start`. If `fixed`, the processes that it starts have program, stack and libraries at the
/// same addresses every time. If the system forbids that, as the system call filters of many
/// containers do, the addresses stay random.
///
/// Placing the shared code of two builds equally far into a page is not enough, because branch
/// predictors use the rest of the address, too. For a branchy function among 300 others, the
/// confidence intervals of such builds were 0.87 times as wide as those of independent links at
/// random addresses, and 0.5 times as wide at equal addresses (20 races each, random order in every
/// block).
pub(crate) fn at_fixed_addresses<T>(fixed: bool, start: impl FnOnce() -> T) -> T {
    // The personality belongs to the calling thread; processes that it starts inherit it.
    let before = fixed.then(fix_addresses).flatten();
    let started = start();
    restore_addresses(before);
    started
}

pub(crate) fn addresses_can_be_fixed() -> bool {
    let before = fix_addresses();
    restore_addresses(before);
    before.is_some()
}

/// Turns off address space randomization for processes that this thread starts. Returns the
/// previous personality; `None` if that fails.
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

/// The minimum length of the path by which a program is started, in bytes. It leaves space for the
/// paths of neutral links, which lie in other folders than the executables.
const STARTED: usize = 512;
/// The smallest padding of a path, in bytes: that of `/.`.
const LEAST: usize = 2;

/// Upper bound, exclusive, of the random padding of paths in a replicate, in bytes.
pub(crate) const MOST_PATH_PADDING: u64 = 64;

/// The lengths that the paths of a replicate's programs are padded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathPadding {
    named: usize,
    started: usize,
}

impl PathPadding {
    /// Computes the padded lengths: the longest of `paths`, or the fixed minimum length, plus
    /// `more` bytes. `more` is drawn for every replicate, because with one length for all
    /// replicates one alignment would affect all of them.
    pub(crate) fn of<'a>(paths: impl IntoIterator<Item = &'a Path>, more: usize) -> Self {
        let lengths = paths.into_iter().map(|path| whole(path).as_os_str().len());
        let longest = lengths.max().unwrap_or(0);
        Self {
            named: longest + LEAST + more,
            started: STARTED + more,
        }
    }

    /// Returns the padded path that a program gets as its name (`argv[0]`).
    pub(crate) fn named(&self, path: &Path) -> PathBuf {
        spelled(path, self.named)
    }

    /// Returns the padded path by which deadheat starts the program.
    pub(crate) fn started(&self, path: &Path) -> PathBuf {
        spelled(path, self.started)
    }
}

/// Returns the absolute path, or `path` itself if the working directory is unknown.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Lengthens an absolute path to `length` bytes without changing its meaning, as in
/// `/././/bin/true`. A path that is too long or only one byte too short stays unchanged.
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
        // Two random addresses are rarely equal.
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
