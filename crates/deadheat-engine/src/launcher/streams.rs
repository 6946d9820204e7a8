//! Whole messages through pipes, and memory files used again.

use std::os::fd::BorrowedFd;

use nix::errno::Errno;
use nix::unistd::{Whence, ftruncate, lseek, read, write};

/// Reads until the buffer is full; false at the end of the file or an error.
pub(super) fn read_exact(file: BorrowedFd<'_>, buffer: &mut [u8]) -> bool {
    let mut done = 0;
    while done < buffer.len() {
        match read(file, &mut buffer[done..]) {
            Ok(0) => return false,
            Ok(count) => done += count,
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Writes everything; false when the other side is gone.
pub(super) fn write_all(file: BorrowedFd<'_>, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match write(file, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Makes a memory file as good as new.
pub(super) fn empty(file: BorrowedFd<'_>) {
    let _ = ftruncate(file, 0);
    let _ = lseek(file, 0, Whence::SeekSet);
}
