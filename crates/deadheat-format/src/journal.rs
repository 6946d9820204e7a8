//! A file that only grows, and only by whole lines.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use crate::error::{FileProblem, FormatError};

/// The operations that a journal needs of its file.
pub(crate) trait Disk: Write {
    /// Cuts the file to `len` bytes.
    fn cut(&mut self, len: u64) -> io::Result<()>;
    /// Waits until everything written is on the device.
    fn sync(&mut self) -> io::Result<()>;
}

/// Must be open for appending, so that writing goes on where a cut left off.
impl Disk for File {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Appends lines so that a killed process loses at most the last of them, and
/// a full disk none but the one that did not fit.
#[derive(Debug)]
pub(crate) struct Journal<D = File> {
    disk: D,
    /// Bytes up to the end of the last whole line.
    len: u64,
    /// Something may stand behind `len`.
    torn: bool,
}

impl<D: Disk> Journal<D> {
    /// Goes on behind the first `len` bytes; what stands after them is cut off
    /// before the first line is written.
    pub(crate) fn new(disk: D, len: u64, torn: bool) -> Self {
        Journal { disk, len, torn }
    }

    /// Appends one line, newline included, in a single write.
    pub(crate) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.mend()?;
        // Marked beforehand: a write that fails may have left a part.
        self.torn = true;
        if let Err(error) = self.disk.write_all(line) {
            // Should this fail too, the next line tries again, and until then
            // a reader passes over the torn last line.
            let _ = self.mend();
            return Err(error);
        }
        self.torn = false;
        self.len += line.len() as u64;
        Ok(())
    }

    /// Waits until every line is on the device.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.disk.sync()
    }

    fn mend(&mut self) -> io::Result<()> {
        if self.torn {
            self.disk.cut(self.len)?;
            self.torn = false;
        }
        Ok(())
    }
}

/// Keeps two processes from recording into one file, where their lines would
/// mingle. A file system without locks has to do without.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), FormatError> {
    // Elsewhere a lock would also shut out whoever only wants to read.
    if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(FileProblem::InUse.of(path));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes up to `room` bytes, a few at a time.
    struct SmallDisk {
        bytes: Vec<u8>,
        room: usize,
        can_be_cut: bool,
    }

    impl Write for SmallDisk {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            let fits = data.len().min(self.room - self.bytes.len()).min(3);
            if fits == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.bytes.extend_from_slice(&data[..fits]);
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Disk for SmallDisk {
        fn cut(&mut self, len: u64) -> io::Result<()> {
            if !self.can_be_cut {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            self.bytes.truncate(len as usize);
            Ok(())
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn journal(room: usize, can_be_cut: bool) -> Journal<SmallDisk> {
        let disk = SmallDisk {
            bytes: Vec::new(),
            room,
            can_be_cut,
        };
        Journal::new(disk, 0, false)
    }

    #[test]
    fn a_line_that_does_not_fit_leaves_no_part_of_itself() {
        let mut journal = journal(12, true);
        journal.append(b"first\n").unwrap();
        let error = journal.append(b"too long\n").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(journal.disk.bytes, b"first\n");
        journal.append(b"short\n").unwrap();
        assert_eq!(journal.disk.bytes, b"first\nshort\n");
    }

    #[test]
    fn nothing_is_written_behind_a_torn_line_that_cannot_be_cut() {
        let mut journal = journal(12, false);
        journal.append(b"first\n").unwrap();
        journal.append(b"too long\n").unwrap_err();
        let error = journal.append(b"x\n").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(journal.disk.bytes, b"first\ntoo lo");
        journal.disk.can_be_cut = true;
        journal.append(b"x\n").unwrap();
        assert_eq!(journal.disk.bytes, b"first\nx\n");
    }
}
