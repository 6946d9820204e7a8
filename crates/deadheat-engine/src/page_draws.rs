//! Draws new physical pages for the programs and libraries of a race.
//!
//! The kernel chooses the physical pages of a file when it reads the file into the page cache, and
//! keeps them for all replicates and later races. Two copies of a program that made fifty short
//! strings differed by 1 to 3%, always in the same direction, until one of them was dropped from
//! the cache. Two copies of a Python extension module (orjson) differed by 1.2% for one of eight
//! choices of pages.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{iter, mem};

#[cfg(target_os = "linux")]
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use rand_core::Rng;

use crate::executable::{FileId, file_id};
use crate::mapped_files::{MappedFile, PAGE};
use crate::random::{below, shuffle};

/// Bytes at the start of a file that get new pages; debug information lies at the end.
const REDRAWN: u64 = 16 << 20;
/// The maximum number of bytes of libraries that get new pages, over all sides together. A
/// framework such as PyTorch has gigabytes.
const MOST_OF_LIBRARIES: u64 = 128 << 20;
/// The maximum number of pages in one read.
const PIECE: u64 = 64;
/// If reading all files back takes longer than this, they keep their pages for the rest of the
/// race.
const SLOW: Duration = Duration::from_millis(100);

/// A side of a race, identified by two numbers that the caller chooses: benchmark and contender, or
/// program and 0.
pub(crate) type Side = (usize, usize);

/// Draws new physical pages, and remembers which pages processes use.
///
/// Reading two whole programs of 5 MB took 14 ms in every replicate; reading only the pages in use
/// took 7 ms. The other pages stay in the cache, because a missing page would be read from the disk
/// within a sample.
#[derive(Debug, Default)]
pub(crate) struct PageDraws {
    used: RefCell<BTreeMap<FileId, Used>>,
    libraries: RefCell<BTreeMap<Side, BTreeMap<FileId, PathBuf>>>,
    is_too_slow: Cell<bool>,
}

/// The pages of a file that processes had mapped.
#[derive(Debug, Default)]
struct Used {
    /// Offsets of the pages in the file, in bytes.
    pages: BTreeSet<u64>,
    /// True if the file was read back in pieces that contain either only used pages or only unused
    /// ones. The kernel holds pages in groups, and drops only whole groups.
    is_apart: bool,
}

impl Used {
    /// Returns the byte ranges, among the first `length` bytes of the file, that get new pages, and
    /// sets `is_apart`. If it was already true, these are only the pages that processes used, and
    /// otherwise all pages. No range contains both used and unused pages.
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
    /// Adds the files that a process of this side has mapped, and their pages in use.
    pub(crate) fn note(&self, side: Side, mapped: Vec<MappedFile>) {
        let mut used = self.used.borrow_mut();
        let mut libraries = self.libraries.borrow_mut();
        let libraries = libraries.entry(side).or_default();
        for file in mapped {
            let used = used.entry(file.id).or_default();
            used.pages.extend(file.pages);
            used.is_apart = false;
            libraries.insert(file.id, file.path);
        }
    }

    /// Copies the recorded libraries of each side of benchmark `other` to `benchmark`, which is its
    /// rerun.
    #[cfg(feature = "commands")]
    pub(crate) fn copy_libraries(&self, benchmark: usize, other: usize) {
        let mut libraries = self.libraries.borrow_mut();
        let of_other = libraries.range((other, 0)..(other + 1, 0));
        let like = of_other.map(|((_, contender), files)| ((benchmark, *contender), files.clone()));
        let like: Vec<_> = like.collect();
        libraries.extend(like);
    }

    /// Returns the files whose pages may make one side faster: the programs and libraries that some
    /// but not all sides use. Libraries come last, the smallest first, up to 128 MiB.
    pub(crate) fn own_files<'a>(
        &self,
        sides: impl IntoIterator<Item = (Side, &'a Path)>,
    ) -> Vec<PathBuf> {
        let libraries = self.libraries.borrow();
        let (mut programs, mut mapped) = (BTreeMap::new(), BTreeMap::new());
        let mut files_of_sides = Vec::new();
        for (side, program) in sides {
            let of_side = libraries.get(&side).into_iter().flatten();
            let mut files: BTreeSet<FileId> = of_side.clone().map(|(id, _)| *id).collect();
            mapped.extend(of_side.map(|(id, path)| (*id, path.clone())));
            if let Some(id) = file_id(program) {
                files.insert(id);
                programs.insert(id, program.to_owned());
            }
            files_of_sides.push(files);
        }
        let is_own = |id: &FileId| files_of_sides.iter().any(|files| !files.contains(id));
        let own_programs: Vec<PathBuf> = (programs.iter())
            .filter(|(id, _)| is_own(id))
            .map(|(_, path)| path.clone())
            .collect();
        let mut own_libraries: Vec<(u64, PathBuf)> = (mapped.into_iter())
            .filter(|(id, _)| is_own(id) && !programs.contains_key(id))
            .filter_map(|(_, path)| Some((path.metadata().ok()?.len().min(REDRAWN), path)))
            .collect();
        own_libraries.sort();
        let mut room = MOST_OF_LIBRARIES;
        let fitting = own_libraries.into_iter().map_while(|(length, path)| {
            room = room.checked_sub(length)?;
            Some(path)
        });
        own_programs.into_iter().chain(fitting).collect()
    }

    /// Drops the pages of these files from the page cache, and reads them back in pieces of random
    /// sizes, in a random order over all files. Reading each file from its start did not help: the
    /// kernel returned the same pages.
    ///
    /// Files that cannot be read, that another process has mapped or that are in a memory file
    /// system (tmpfs) keep their pages.
    pub(crate) fn redraw(&self, files: &[PathBuf], rng: &mut impl Rng) {
        if self.is_too_slow.get() {
            return;
        }
        let files: BTreeMap<_, _> = files.iter().filter_map(open).collect();
        let mut used = self.used.borrow_mut();
        let mut is_first = false;
        let mut pieces = Vec::new();
        for (id, (file, length)) in &files {
            let drawn = if let Some(used) = used.get_mut(id) {
                is_first |= !used.is_apart;
                used.drawn(*length)
            } else {
                iter::once(0..*length).collect()
            };
            drop_pages(file, &drawn);
            for range in drawn {
                pieces.extend(pieces_of(range, rng).into_iter().map(|piece| (file, piece)));
            }
        }
        shuffle(rng, &mut pieces);
        let begun = Instant::now();
        // Sends all requests to the disk at once, and then waits for each piece.
        for (file, piece) in &pieces {
            request(file, piece);
        }
        let mut bytes = vec![0; (PIECE * PAGE) as usize];
        for (file, piece) in &pieces {
            let size = (piece.end - piece.start) as usize;
            let _ = file.read_at(&mut bytes[..size], piece.start);
        }
        // The first draw reads whole files, later ones only the pages in use.
        self.is_too_slow.set(!is_first && begun.elapsed() > SLOW);
    }
}

fn open(path: &PathBuf) -> Option<(FileId, (File, u64))> {
    let file = File::open(path).ok()?;
    let about = file.metadata().ok().filter(|about| about.is_file())?;
    let length = about.len().min(REDRAWN);
    Some(((about.dev(), about.ino()), (file, length)))
}

/// Divides a range that starts at a page into pieces of random sizes, in ascending order.
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

/// Asks the kernel to read a piece of a file, without waiting for it.
#[cfg(target_os = "linux")]
fn request(file: &File, piece: &Range<u64>) {
    let (start, size) = (piece.start as i64, (piece.end - piece.start) as i64);
    let _ = posix_fadvise(file, start, size, PosixFadviseAdvice::POSIX_FADV_WILLNEED);
}

#[cfg(not(target_os = "linux"))]
fn request(_: &File, _: &Range<u64>) {}

#[cfg(target_os = "linux")]
fn drop_pages(file: &File, parts: &[Range<u64>]) {
    // The kernel does not drop pages that it has not yet written to the disk.
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

    fn written(folder: &Path, name: &str, size: usize) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, vec![7; size]).unwrap();
        path
    }

    /// Returns the files as if a process had mapped them and used their first pages.
    fn mapped(paths: &[&PathBuf]) -> Vec<MappedFile> {
        let mapped = |path: &&PathBuf| MappedFile {
            id: file_id(path).unwrap(),
            path: (*path).clone(),
            pages: BTreeSet::from([0]),
        };
        paths.iter().map(mapped).collect()
    }

    #[test]
    fn pieces_cover_a_program_without_a_gap_and_are_random() {
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
    fn files_have_the_same_content_after_a_draw_and_unreadable_ones_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["one", "other"].map(|name| written(folder.path(), name, 100_000));
        let redraw = |paths: &[PathBuf]| {
            PageDraws::default().redraw(paths, &mut stream(1, Purpose::Pages, [0; 3]));
        };
        redraw(&paths);
        redraw(&[paths[0].clone(), folder.path().join("gone")]);
        redraw(&[paths[0].clone(), folder.path().to_owned()]);
        redraw(&[]);
        for path in &paths {
            assert_eq!(std::fs::read(path).unwrap(), vec![7; 100_000]);
        }
    }

    #[test]
    fn draws_all_of_a_file_at_first_and_then_the_pages_in_use() {
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
    fn a_program_that_all_sides_execute_has_no_pages_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| written(folder.path(), name, 10));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let draws = PageDraws::default();
        let own = |sides: &[&PathBuf]| {
            let sides = sides.iter().enumerate();
            draws.own_files(sides.map(|(side, path)| ((0, side), path.as_path())))
        };
        assert!(own(&[&one, &link]).is_empty());
        assert!(own(&[]).is_empty());
        let mut both = own(&[&one, &other]);
        both.sort();
        assert_eq!(both, [one.clone(), other.clone()]);
        assert_eq!(own(&[&one, &link, &other]).len(), 2);
    }

    #[test]
    fn libraries_that_one_side_has_alone_are_its_own_the_smallest_first() {
        let folder = tempfile::tempdir().unwrap();
        let library = |name, size| written(folder.path(), name, size);
        let (python, libc) = (library("python", 10), library("libc.so", 10));
        let (old, new, more) = (library("old", 30), library("new", 20), library("more", 40));
        let draws = PageDraws::default();
        draws.note((0, 0), mapped(&[&python, &libc, &old]));
        draws.note((0, 1), mapped(&[&python, &libc]));
        draws.note((0, 1), mapped(&[&python, &new, &more]));
        let sides = |benchmark| [0, 1].map(|side| ((benchmark, side), python.as_path()));
        let own = [new, old, more];
        assert_eq!(draws.own_files(sides(0)), own);
        assert!(draws.own_files(sides(1)).is_empty());
        #[cfg(feature = "commands")]
        {
            draws.copy_libraries(1, 0);
            assert_eq!(draws.own_files(sides(1)), own);
        }
    }

    #[test]
    fn libraries_beyond_the_limit_keep_their_pages() {
        let folder = tempfile::tempdir().unwrap();
        let large = |number: u64| {
            let path = folder.path().join(number.to_string());
            let file = File::create(&path).unwrap();
            file.set_len(REDRAWN + number).unwrap();
            path
        };
        let libraries: Vec<PathBuf> = (0..10).map(large).collect();
        let draws = PageDraws::default();
        draws.note((0, 0), mapped(&libraries.iter().collect::<Vec<_>>()));
        let program = written(folder.path(), "program", 10);
        let sides = [0, 1].map(|side| ((0, side), program.as_path()));
        assert_eq!(draws.own_files(sides).len(), 8);
    }
}
