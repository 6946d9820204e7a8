//! Where the pages of programs lie in memory, drawn per replicate.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use rand_core::Rng;

use crate::random::{below, shuffle};

/// Bytes from the start of a program whose pages are drawn anew; debug information lies at the end.
const REDRAWN: u64 = 16 << 20;

/// The most pages that are read back at once; their number is drawn.
const PIECE: u64 = 64;
const PAGE: u64 = 4096;

/// The longest that reading pages back may take; where it takes longer once, they stay.
const SLOW: Duration = Duration::from_millis(100);

/// Draws of where the pages of programs lie in memory.
///
/// Where the pages of a file lie is drawn when it comes into the cache, and then stays, for all
/// replicates and races to come. Two copies of a program that made fifty short strings differed by 1
/// to 3 % for as long as neither was dropped, always the same way round; two names of one file did not
/// differ. To drop the files and read each from its start is no draw: the system gives back the very pages
/// that it took, and the copies differed as before.
#[derive(Debug, Default)]
pub(crate) struct PageDraws {
    /// True once the disk was found too slow.
    given_up: Cell<bool>,
}

impl PageDraws {
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
        let open = |path: &Path| -> io::Result<((u64, u64), File)> {
            let file = File::open(path)?;
            let about = file.metadata()?;
            Ok(((about.dev(), about.ino()), file))
        };
        let files: Result<BTreeMap<_, _>, _> = programs.into_iter().map(open).collect();
        let files: Vec<File> = match files {
            Ok(files) if files.len() > 1 => files.into_values().collect(),
            _ => return,
        };
        let mut pieces = Vec::new();
        for (index, file) in files.iter().enumerate() {
            let length = file.metadata().map_or(0, |about| about.len());
            let of_file = pieces_of(length.min(REDRAWN), rng).into_iter();
            pieces.extend(of_file.map(|(start, size)| (index, start, size)));
            drop_pages(file);
        }
        shuffle(rng, &mut pieces);
        let begun = Instant::now();
        for (index, start, size) in pieces {
            ask_for(&files[index], start, size);
        }
        // Until all of it is there.
        for file in files {
            let _ = io::copy(&mut file.take(REDRAWN), &mut io::sink());
        }
        self.given_up.set(begun.elapsed() > SLOW);
    }
}

/// Beginnings and sizes of pieces that cover so many bytes.
fn pieces_of(length: u64, rng: &mut impl Rng) -> Vec<(u64, u64)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < length {
        let size = (1 + below(rng, PIECE)) * PAGE;
        pieces.push((start, size));
        start += size;
    }
    pieces
}

/// Has a piece of a file read, without waiting for it, so that the disk has all of them at once.
#[cfg(target_os = "linux")]
fn ask_for(file: &File, start: u64, size: u64) {
    let (start, size) = (start as i64, size as i64);
    let _ = posix_fadvise(file, start, size, PosixFadviseAdvice::POSIX_FADV_WILLNEED);
}

#[cfg(not(target_os = "linux"))]
fn ask_for(_: &File, _: u64, _: u64) {}

#[cfg(target_os = "linux")]
fn drop_pages(file: &File) {
    // What is not on the disk yet is not dropped.
    let _ = file.sync_data();
    let first = REDRAWN as i64;
    let _ = posix_fadvise(file, 0, first, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
}

#[cfg(not(target_os = "linux"))]
fn drop_pages(_: &File) {}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn pieces_cover_a_program_without_a_gap_and_are_drawn() {
        let drawn = |seed| pieces_of(1_000_000, &mut stream(seed, Purpose::Pages, [0; 3]));
        for pieces in (0..20).map(drawn) {
            let mut end = 0;
            for (start, size) in pieces {
                assert_eq!(start, end);
                assert!(size % PAGE == 0 && (1..=PIECE).contains(&(size / PAGE)));
                end += size;
            }
            assert!((1_000_000..1_000_000 + PIECE * PAGE).contains(&end));
        }
        assert_ne!(drawn(1), drawn(2));
        assert!(pieces_of(0, &mut stream(1, Purpose::Pages, [0; 3])).is_empty());
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
}
