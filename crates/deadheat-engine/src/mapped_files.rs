//! The programs and shared libraries that a process has mapped, with the pages in use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, metadata, read_to_string};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::executable::FileId;

pub(crate) const PAGE: u64 = 4096;
/// Bytes of an entry of `/proc/PID/pagemap`.
const ENTRY: u64 = 8;

/// A file from which a process executes code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MappedFile {
    pub(crate) id: FileId,
    pub(crate) path: PathBuf,
    /// Offsets of the pages that are in the page table of the process. The kernel maps the
    /// neighbours of a page together with it, so these are more pages than the process touched.
    pub(crate) pages: BTreeSet<u64>,
}

/// Returns the files that a process has mapped as executable. Deleted files are left out.
///
/// # Errors
///
/// If `/proc` cannot be read, or if pages are not of [`PAGE`] bytes.
pub(crate) fn mapped_files(pid: Pid) -> io::Result<Vec<MappedFile>> {
    if sysconf(SysconfVar::PAGE_SIZE)? != Some(PAGE as i64) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let maps = read_to_string(format!("/proc/{pid}/maps"))?;
    let mut mappings = BTreeMap::<&str, Vec<Mapping>>::new();
    for line in maps.lines() {
        let path = path_in(line);
        if path.starts_with('/') {
            let mapping = mapping_in(line).ok_or(io::ErrorKind::InvalidData)?;
            mappings.entry(path).or_default().push(mapping);
        }
    }
    let page_table = File::open(format!("/proc/{pid}/pagemap"))?;
    let mut files = Vec::new();
    for (path, mappings) in mappings {
        let is_executable = mappings.iter().any(|mapping| mapping.is_executable);
        let Some(about) = metadata(path).ok().filter(|_| is_executable) else {
            continue;
        };
        if !about.is_file() {
            continue;
        }
        let mut pages = BTreeSet::new();
        for mapping in &mappings {
            pages.extend(mapping.present_pages(&page_table)?);
        }
        files.push(MappedFile {
            id: (about.dev(), about.ino()),
            path: path.into(),
            pages,
        });
    }
    Ok(files)
}

/// A line of `/proc/PID/maps`.
#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    addresses: Range<u64>,
    /// Offset of the first page in the file.
    offset: u64,
    is_executable: bool,
}

impl Mapping {
    fn present_pages(&self, page_table: &File) -> io::Result<Vec<u64>> {
        let Range { start, end } = self.addresses;
        let mut bytes = vec![0; ((end - start) / PAGE * ENTRY) as usize];
        page_table.read_exact_at(&mut bytes, start / PAGE * ENTRY)?;
        let is_present = |entry: &[u8]| {
            let entry = entry.try_into().map(u64::from_ne_bytes);
            entry.is_ok_and(|entry| entry >> 63 == 1)
        };
        let entries = bytes.chunks_exact(ENTRY as usize);
        let pages = (self.offset..).step_by(PAGE as usize).zip(entries);
        let present = pages.filter(|(_, entry)| is_present(entry));
        Ok(present.map(|(page, _)| page).collect())
    }
}

/// Returns the path in a line of `/proc/PID/maps`; empty for anonymous memory.
fn path_in(line: &str) -> &str {
    line.splitn(6, ' ').nth(5).unwrap_or_default().trim_start()
}

fn mapping_in(line: &str) -> Option<Mapping> {
    let hexadecimal = |word: &str| u64::from_str_radix(word, 16).ok();
    let mut words = line.split(' ');
    let (start, end) = words.next()?.split_once('-')?;
    let permissions = words.next()?;
    let offset = words.next()?;
    Some(Mapping {
        addresses: hexadecimal(start)?..hexadecimal(end)?,
        offset: hexadecimal(offset)?,
        is_executable: permissions.contains('x'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_addresses_offset_and_path_of_a_mapping_whatever_the_path_contains() {
        let line = "55e4-55e8 r-xp 0001a000 fe:00 1835 /a folder/of (deleted) programs";
        let mapping = Mapping {
            addresses: 0x55e4..0x55e8,
            offset: 0x1a000,
            is_executable: true,
        };
        assert_eq!(mapping_in(line), Some(mapping));
        assert_eq!(path_in(line), "/a folder/of (deleted) programs");
        let padded = "7ffc-7ffd rw-p 00000000 00:00 0                [stack]";
        assert!(!mapping_in(padded).unwrap().is_executable);
        assert_eq!(path_in(padded), "[stack]");
        assert_eq!(path_in("7f00-7f01 rw-p 00000000 00:00 0"), "");
    }

    #[test]
    fn rejects_lines_that_are_not_mappings() {
        for odd in [
            "",
            "not a line",
            "55e4 r-xp 0 fe:00 1 /x",
            "55e4-xyz r-xp 0 fe:00 1 /x",
            "55e4-55e8 r-xp",
        ] {
            assert_eq!(mapping_in(odd), None, "{odd}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn finds_the_executable_of_this_process_and_its_libraries() {
        let files = mapped_files(Pid::this()).unwrap();
        let about = metadata(std::env::current_exe().unwrap()).unwrap();
        let own = files.iter().find(|file| file.id.1 == about.ino()).unwrap();
        assert!(own.pages.contains(&0), "the first page holds the header");
        assert!(own.pages.iter().all(|page| page % PAGE == 0));
        let name = |file: &MappedFile| file.path.to_string_lossy().into_owned();
        assert!(files.iter().any(|file| name(file).contains("/libc.so")));
        assert!(mapped_files(Pid::from_raw(i32::MAX)).is_err());
    }
}
