//! Where the pages of programs lie in memory, drawn per replicate.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata, metadata, read_link, read_to_string};
use std::io;
use std::iter;
use std::mem;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::unistd::{Pid, SysconfVar, sysconf};
use rand_core::Rng;

use crate::random::{below, shuffle};

/// Bytes from the start of a program whose pages are drawn anew; debug information lies at the end.
const REDRAWN: u64 = 16 << 20;

/// The most pages that are read back at once; their number is drawn.
const PIECE: u64 = 64;
const PAGE: u64 = 4096;
/// Bytes of an entry of `/proc/PID/pagemap`.
const ENTRY: u64 = 8;

/// A file, by its device and its inode.
type FileId = (u64, u64);

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
    use std::path::PathBuf;

    use super::*;
    use crate::random::{Purpose, stream};

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
