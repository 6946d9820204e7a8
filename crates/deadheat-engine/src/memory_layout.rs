//! Where things come to lie in the memory of a process, and the pages of its program, drawn per
//! replicate: a lucky alignment must not belong to one side for good.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{File, Metadata, metadata, read_link, read_to_string};
use std::hint::black_box;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{io, iter, mem};

#[cfg(target_os = "linux")]
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
#[cfg(target_os = "linux")]
use nix::sys::personality::{self, Persona};
use nix::unistd::{Pid, SysconfVar, sysconf};
use rand_core::Rng;

use crate::observed::FileId;
use crate::random::{below, shuffle};

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

/// Bytes from the start of a program whose pages are drawn anew; debug information lies at the end.
const REDRAWN: u64 = 16 << 20;

/// The most pages that are read back at once; their number is drawn.
const PIECE: u64 = 64;
const PAGE: u64 = 4096;
/// Bytes of an entry of `/proc/PID/pagemap`.
const ENTRY: u64 = 8;

/// The longest that reading pages back may take; where it takes longer once, they stay.
const SLOW: Duration = Duration::from_millis(100);

/// Draws of where the pages of programs lie in memory.
///
/// Where the pages of a file lie is drawn when it comes into the cache, and then stays, for all
/// replicates and races to come. Two copies of a program that made fifty short strings differed by 1
/// to 3 % for as long as neither was dropped, always the same way round; two names of one file did not
/// differ. To drop the files and read each from its start is no draw: the system gives back the very pages
/// that it took, and the copies differed as before.
///
/// Most pages of a program of 5 MB are read back for nothing, which took two of them 14 ms in every
/// replicate, and 7 ms for those pages alone that a process of each was seen to have mapped. The others
/// stay in the cache: a page that is missing would be read from the disk within a sample.
#[derive(Debug, Default)]
pub(crate) struct PageDraws {
    /// Files of which it is known what processes use.
    used: RefCell<BTreeMap<FileId, Used>>,
    /// True once the disk was found too slow.
    given_up: Cell<bool>,
}

/// The pages of a file that processes had mapped.
#[derive(Debug, Default)]
struct Used {
    /// Where they begin.
    pages: BTreeSet<u64>,
    /// True once the file was read back in pieces none of which has pages of both kinds. The system
    /// drops only whole pieces of those that it holds together.
    is_apart: bool,
}

impl Used {
    /// The parts of the file that are drawn: at first all of it, those in use and the others apart,
    /// and from then on those in use.
    fn drawn(&mut self, length: u64) -> Vec<Range<u64>> {
        let was_apart = mem::replace(&mut self.is_apart, true);
        let pages: Vec<u64> = (0..length).step_by(PAGE as usize).collect();
        let is_used = |page: &u64| self.pages.contains(page);
        let parts = pages.chunk_by(|one, next| is_used(one) == is_used(next));
        let drawn = parts.filter(|part| is_used(&part[0]) || !was_apart);
        drawn
            .map(|part| part[0]..length.min(part[part.len() - 1] + PAGE))
            .collect()
    }
}

impl PageDraws {
    /// Takes down which pages of its executable this process has mapped. Where the system does not
    /// tell, all of the file is drawn.
    pub(crate) fn note_used(&self, pid: Pid) {
        if let Ok((file, pages)) = mapped_pages(pid) {
            let mut used = self.used.borrow_mut();
            let used = used.entry(file).or_default();
            used.pages.extend(pages);
            used.is_apart = false;
        }
    }

    /// Has the pages of these programs placed anew: drops them from the page cache and reads them back
    /// in pieces of drawn sizes, in an order drawn from `rng` among the pieces of all of them. Programs of one
    /// file share their pages, and so there is nothing to be drawn for them alone.
    ///
    /// Programs that another process runs keep their pages, as do those in a file system of memory.
    /// That is no failure.
    pub(crate) fn redraw<'a>(
        &self,
        programs: impl IntoIterator<Item = &'a Path>,
        rng: &mut impl Rng,
    ) {
        if self.given_up.get() {
            return;
        }
        let open = |path: &Path| -> io::Result<(FileId, (File, u64))> {
            let file = File::open(path)?;
            let about = file.metadata()?;
            Ok((id_of(&about), (file, about.len().min(REDRAWN))))
        };
        let files: Result<BTreeMap<_, _>, _> = programs.into_iter().map(open).collect();
        let files = match files {
            Ok(files) if files.len() > 1 => files,
            _ => return,
        };
        let mut used = self.used.borrow_mut();
        let mut pieces = Vec::new();
        for (id, (file, length)) in &files {
            let drawn = used.get_mut(id).map_or_else(
                || iter::once(0..*length).collect(),
                |used| used.drawn(*length),
            );
            drop_pages(file, &drawn);
            for range in drawn {
                pieces.extend(pieces_of(range, rng).into_iter().map(|piece| (file, piece)));
            }
        }
        shuffle(rng, &mut pieces);
        let begun = Instant::now();
        for (file, piece) in &pieces {
            ask_for(file, piece);
        }
        // Until all of it is there.
        let mut bytes = vec![0; (PIECE * PAGE) as usize];
        for (file, piece) in &pieces {
            let size = (piece.end - piece.start) as usize;
            let _ = file.read_at(&mut bytes[..size], piece.start);
        }
        self.given_up.set(begun.elapsed() > SLOW);
    }
}

fn id_of(about: &Metadata) -> FileId {
    (about.dev(), about.ino())
}

/// Pieces that cover these bytes, which begin with a page, in ascending order.
fn pieces_of(range: Range<u64>, rng: &mut impl Rng) -> Vec<Range<u64>> {
    let mut pieces = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let end = range.end.min(start + (1 + below(rng, PIECE)) * PAGE);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// The executable of a process, and where the pages of it begin that the process has mapped.
///
/// A bit in an entry of `/proc/PID/pagemap` says so, for which one needs no privilege. The system maps
/// pages around one that was missing, so that these are more than were touched.
///
/// # Errors
///
/// Where `/proc` does not tell, and where pages have another size.
fn mapped_pages(pid: Pid) -> io::Result<(FileId, Vec<u64>)> {
    if sysconf(SysconfVar::PAGE_SIZE)? != Some(PAGE as i64) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let executable = format!("/proc/{pid}/exe");
    let (file, path) = (id_of(&metadata(&executable)?), read_link(&executable)?);
    let maps = read_to_string(format!("/proc/{pid}/maps"))?;
    let entries = File::open(format!("/proc/{pid}/pagemap"))?;
    let mut mapped = Vec::new();
    for line in maps
        .lines()
        .filter(|line| Path::new(mapped_file(line)) == path)
    {
        let (addresses, offset) = addresses_and_offset(line).ok_or(io::ErrorKind::InvalidData)?;
        let mut bytes = vec![0; ((addresses.end - addresses.start) / PAGE * ENTRY) as usize];
        entries.read_exact_at(&mut bytes, addresses.start / PAGE * ENTRY)?;
        let entries = bytes.chunks_exact(ENTRY as usize);
        let pages = (offset..).step_by(PAGE as usize).zip(entries);
        let present = |entry: &[u8]| {
            entry
                .try_into()
                .is_ok_and(|entry| u64::from_ne_bytes(entry) >> 63 == 1)
        };
        mapped.extend(
            pages
                .filter(|(_, entry)| present(entry))
                .map(|(page, _)| page),
        );
    }
    Ok((file, mapped))
}

/// The file that a line of `/proc/PID/maps` is of; empty where it is of none.
fn mapped_file(line: &str) -> &str {
    line.splitn(6, ' ').nth(5).unwrap_or_default().trim_start()
}

/// The addresses of a line of `/proc/PID/maps`, and where in the file they begin.
fn addresses_and_offset(line: &str) -> Option<(Range<u64>, u64)> {
    let hexadecimal = |word: &str| u64::from_str_radix(word, 16).ok();
    let mut words = line.split(' ');
    let (start, end) = words.next()?.split_once('-')?;
    let offset = hexadecimal(words.nth(1)?)?;
    Some((hexadecimal(start)?..hexadecimal(end)?, offset))
}

/// Has a piece of a file read, without waiting for it, so that the disk has all of them at once.
#[cfg(target_os = "linux")]
fn ask_for(file: &File, piece: &Range<u64>) {
    let (start, size) = (piece.start as i64, (piece.end - piece.start) as i64);
    let _ = posix_fadvise(file, start, size, PosixFadviseAdvice::POSIX_FADV_WILLNEED);
}

#[cfg(not(target_os = "linux"))]
fn ask_for(_: &File, _: &Range<u64>) {}

#[cfg(target_os = "linux")]
fn drop_pages(file: &File, parts: &[Range<u64>]) {
    // What is not on the disk yet is not dropped.
    let _ = file.sync_data();
    for adjoining in parts.chunk_by(|one, next| one.end == next.start) {
        let (start, end) = (adjoining[0].start, adjoining[adjoining.len() - 1].end);
        let (start, size) = (start as i64, (end - start) as i64);
        let _ = posix_fadvise(file, start, size, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    }
}

#[cfg(not(target_os = "linux"))]
fn drop_pages(_: &File, _: &[Range<u64>]) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
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

    #[test]
    fn pieces_cover_a_program_without_a_gap_and_are_drawn() {
        let of = |range, seed| pieces_of(range, &mut stream(seed, Purpose::Pages, [0; 3]));
        let drawn = |seed| of(2 * PAGE..1_000_000, seed);
        for pieces in (0..20).map(drawn) {
            let mut next = 2 * PAGE;
            for piece in pieces {
                assert_eq!(piece.start, next);
                assert!((1..=PIECE).contains(&(piece.end - piece.start).div_ceil(PAGE)));
                next = piece.end;
            }
            assert_eq!(next, 1_000_000);
        }
        assert_ne!(drawn(1), drawn(2));
        assert!(of(0..0, 1).is_empty());
    }

    #[test]
    fn programs_are_read_back_as_they_were_and_what_cannot_be_read_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("deadheat-pages-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let paths = ["one", "other"].map(|name| folder.join(name));
        for path in &paths {
            std::fs::write(path, vec![7; 100_000]).unwrap();
        }
        let redraw = |paths: &[PathBuf]| {
            let paths = paths.iter().map(PathBuf::as_path);
            PageDraws::default().redraw(paths, &mut stream(1, Purpose::Pages, [0; 3]));
        };
        redraw(&paths);
        for path in &paths {
            assert_eq!(std::fs::read(path).unwrap(), vec![7; 100_000]);
        }
        redraw(&[paths[0].clone(), folder.join("gone")]);
        redraw(&[paths[0].clone(), folder.clone()]);
        redraw(&[]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn all_of_a_file_is_drawn_at_first_and_then_what_is_used() {
        let mut used = Used {
            pages: BTreeSet::from([0, PAGE, 3 * PAGE, 4 * PAGE, 900 * PAGE]),
            is_apart: false,
        };
        let length = 4 * PAGE + 100;
        let in_use = [0..2 * PAGE, 3 * PAGE..length];
        let gap = 2 * PAGE..3 * PAGE;
        let all = [in_use[0].clone(), gap, in_use[1].clone()];
        assert_eq!(used.drawn(length), all);
        assert_eq!(used.drawn(length), in_use);
        assert_eq!(used.drawn(length), in_use);
        assert!(Used::default().drawn(0).is_empty());
    }

    #[test]
    fn lines_of_maps_tell_addresses_offset_and_file_whatever_its_name() {
        let line = "55e4-55e8 r-xp 0001a000 fe:00 1835 /a folder/of (deleted) programs";
        assert_eq!(addresses_and_offset(line), Some((0x55e4..0x55e8, 0x1a000)));
        assert_eq!(mapped_file(line), "/a folder/of (deleted) programs");
        let padded = "7ffc-7ffd rw-p 00000000 00:00 0                [stack]";
        assert_eq!(mapped_file(padded), "[stack]");
        let nameless = "7f00-7f01 rw-p 00000000 00:00 0";
        assert_eq!(mapped_file(nameless), "");
        for odd in [
            "",
            "no line",
            "55e4 r-xp 0 fe:00 1 /x",
            "55e4-xyz r-xp 0 fe:00 1 /x",
        ] {
            assert_eq!(addresses_and_offset(odd), None, "{odd}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_has_mapped_pages_of_its_executable() {
        let draws = PageDraws::default();
        draws.note_used(Pid::this());
        let own = id_of(&metadata(std::env::current_exe().unwrap()).unwrap());
        let used = draws.used.borrow();
        assert!(used[&own].pages.contains(&0), "its header");
        assert!(used[&own].pages.iter().all(|page| page % PAGE == 0));
        // Of one that is not there nothing is known.
        draws.note_used(Pid::from_raw(i32::MAX));
        assert_eq!(used.len(), 1);
    }
}
