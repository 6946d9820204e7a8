//! Writes whole files, such as reports, and appends whole lines to others, such as run files.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use deadheat_model::under_new_name;

use crate::error::{FileProblem, FormatError, cannot_write, create_folder_of};
use crate::named_pipe::{is_pipe, open_to_write};
use crate::platform;

/// Renames a file to the first free name of `NAME.before`, `NAME.before-2` and so on, so that a new
/// file can take its name. Returns the new path.
pub fn set_aside(path: &Path) -> Result<PathBuf, FormatError> {
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(match number {
            1 => ".before".to_owned(),
            more => format!(".before-{more}"),
        });
        PathBuf::from(name)
    };
    let mut names = (1..).map(named);
    let kept = names.find(|name| !name.exists()).unwrap_or_default();
    fs::rename(path, &kept).map_err(cannot_write(&kept))?;
    Ok(kept)
}

/// Writes a text file, replacing an older one.
pub fn write_text(path: impl AsRef<Path>, text: &str) -> Result<(), FormatError> {
    write_bytes(path, text.as_bytes())
}

/// Writes a text file, replacing an older one. `text` writes it piece by piece, so that a page of
/// many megabytes need not be held in memory.
pub fn write_text_by(
    path: impl AsRef<Path>,
    text: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result,
) -> Result<(), FormatError> {
    let path = path.as_ref();
    replace(path, |out| {
        let mut out = TextWriter { out, problem: None };
        let made = text(&mut out);
        let written = match (made, out.problem) {
            (Err(fmt::Error), Some(problem)) => Err(problem),
            (Err(fmt::Error), None) => Err(io::Error::other("the text could not be made")),
            (Ok(()), _) => Ok(()),
        };
        written.map_err(cannot_write(path))
    })
}

/// Writes text to a file and keeps the I/O error of a failed write, which [`fmt::Error`] cannot
/// hold.
struct TextWriter<'w> {
    out: &'w mut BufWriter<File>,
    problem: Option<io::Error>,
}

impl fmt::Write for TextWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|problem| {
            self.problem = Some(problem);
            fmt::Error
        })
    }
}

/// Returns the path of a file to be written into a folder. If a symbolic link has this name,
/// removes the link, because following it could overwrite any file.
pub fn path_in(folder: &Path, name: &str) -> Result<PathBuf, FormatError> {
    let path = folder.join(name);
    if path.is_symlink() {
        fs::remove_file(&path).map_err(cannot_write(&path))?;
    }
    Ok(path)
}

/// Writes a file, replacing an older one.
pub fn write_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), FormatError> {
    let path = path.as_ref();
    replace(path, |out| out.write_all(bytes).map_err(cannot_write(path)))
}

/// Writes a file through `write`, replacing an older one, and creates the folders above it.
pub fn write_export(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let path = path.as_ref();
    create_folder_of(path)?;
    replace(path, write)
}

/// Creates a folder and the folders above it, unless they exist.
pub fn ensure_folder(path: impl AsRef<Path>) -> Result<(), FormatError> {
    let path = path.as_ref();
    if path.exists() && !path.is_dir() {
        let problem = "it is a file\nhelp: name a folder";
        let problem = io::Error::new(io::ErrorKind::NotADirectory, problem);
        return Err(cannot_write(path)(problem));
    }
    fs::create_dir_all(path).map_err(cannot_write(path))
}

/// Checks before a race that a file can be written. Leaves an existing file unchanged and creates
/// none.
///
/// # Errors
///
/// The file cannot be written, or it is a program: `--export-csv /bin/true 'true 1'` once replaced
/// `/bin/true`.
pub fn ensure_writable(path: impl AsRef<Path>) -> Result<(), FormatError> {
    let path = path.as_ref();
    if is_program(path) {
        let problem = "it is a program\nhelp: name another file";
        let error = io::Error::new(io::ErrorKind::AlreadyExists, problem);
        return Err(cannot_write(path)(error));
    }
    // Opening and closing a pipe would end it for its reader.
    if is_pipe(path) {
        return Ok(());
    }
    let missing = !path.exists();
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map_err(cannot_write(path))?;
    if missing {
        // The path may be a link to the file that was missing.
        let created = path.canonicalize().map_err(cannot_write(path))?;
        fs::remove_file(created).map_err(cannot_write(path))?;
    }
    Ok(())
}

fn is_program(path: &Path) -> bool {
    let is_executable =
        fs::metadata(path).is_ok_and(|about| about.is_file() && platform::is_executable(&about));
    let mut beginning = Vec::new();
    is_executable
        && File::open(path)
            .and_then(|file| file.take(4).read_to_end(&mut beginning))
            .is_ok()
        && [&b"\x7fELF"[..], b"#!", b"MZ"]
            .iter()
            .any(|sign| beginning.starts_with(sign))
}

/// Writes a file through `write`. An older file stays unchanged until the new one is on the disk,
/// so that a full disk does not cost the user the earlier report.
///
/// Follows a link, and keeps the permissions of the older file. Writes in place if the file cannot
/// be replaced: a device or pipe, a file of another user, or a file in a folder that is not
/// writable.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let beside = match Beside::create(path, &target) {
        Ok(beside) => beside,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && target.exists() => None,
        Err(error) => return Err(cannot_write(path)(error)),
    };
    let Some((beside, file)) = beside else {
        let file = open_to_write(path).map_err(cannot_write(path))?;
        let mut out = BufWriter::with_capacity(1 << 16, file);
        write(&mut out)?;
        return out.flush().map_err(cannot_write(path));
    };
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    let kept = out
        .into_inner()
        .map_err(io::IntoInnerError::into_error)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&beside.path, &target));
    kept.map_err(cannot_write(path))
}

/// A new file in the folder of the file that it will replace. Removed on drop if it was not
/// renamed.
struct Beside {
    path: PathBuf,
}

impl Beside {
    /// Creates the new file; returns `None` if `target` must be written in place.
    fn create(path: &Path, target: &Path) -> io::Result<Option<(Self, File)>> {
        // `/dev/stdout` may lead to a plain file that other processes hold open.
        if path.starts_with("/dev") || path.starts_with("/proc") {
            return Ok(None);
        }
        let older = match fs::metadata(target) {
            Ok(older) if !older.is_file() => return Ok(None),
            Ok(older) => Some(older),
            // A link whose target does not exist.
            Err(_) if target.is_symlink() => return Ok(None),
            Err(_) => None,
        };
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let name = |random: u64| format!(".deadheat-{random:016x}");
        let created = under_new_name(folder, name, |path| {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            // Until it has the permissions of the older file, only this user may read the new one.
            if older.is_some() {
                platform::for_this_user(&mut options);
            }
            options.open(path)
        });
        let (path, file) = created.map_err(|(_, error)| error)?;
        let beside = Self { path };
        if let Some(older) = older {
            let new = file.metadata()?;
            if !platform::have_one_owner(&older, &new) {
                return Ok(None);
            }
            file.set_permissions(older.permissions())?;
            // Fails if the user may not write to the older file.
            OpenOptions::new().write(true).open(target)?;
        }
        Ok(Some((beside, file)))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Fails without harm after the rename, because no file has this name then.
        let _ = fs::remove_file(&self.path);
    }
}

pub(crate) trait Disk: Write {
    /// Truncates the file to `len` bytes.
    fn cut(&mut self, len: u64) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
}

/// The file must be open for appending, so that writes continue at the end after a cut.
impl Disk for File {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Appends lines to a file. A killed process loses at most the last line; a full disk loses only
/// the line that did not fit.
#[derive(Debug)]
pub(crate) struct Journal<D = File> {
    disk: D,
    /// Length in bytes up to the end of the last whole line.
    len: u64,
    /// True if bytes of an incomplete line may follow after `len`.
    torn: bool,
}

impl<D: Disk> Journal<D> {
    /// Continues a file after its first `len` bytes. If `torn`, the rest is cut off before the next
    /// line.
    pub(crate) fn new(disk: D, len: u64, torn: bool) -> Self {
        Journal { disk, len, torn }
    }

    /// Appends one line, newline included, in a single write.
    pub(crate) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.mend()?;
        // Set before the write, because a failed write may leave a part of the line.
        self.torn = true;
        if let Err(error) = self.disk.write_all(line) {
            // If this fails too, the next line tries again. Until then, readers skip the incomplete
            // last line.
            let _ = self.mend();
            return Err(error);
        }
        self.torn = false;
        self.len += line.len() as u64;
        Ok(())
    }

    pub(crate) fn sync(&mut self) -> io::Result<()> {
        match self.disk.sync() {
            // Devices such as `/dev/null` cannot be synced.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            done => done,
        }
    }

    fn mend(&mut self) -> io::Result<()> {
        if self.torn {
            self.disk.cut(self.len)?;
            self.torn = false;
        }
        Ok(())
    }
}

/// Fails if another process appends to the file.
///
/// # Errors
///
/// The file is in use.
pub fn refuse_file_in_use(path: &Path) -> Result<(), FormatError> {
    if !path.is_file() {
        return Ok(());
    }
    match OpenOptions::new().append(true).open(path) {
        Ok(file) => lock(&file, path),
        // The error is reported later, when the file is opened for writing.
        Err(_) => Ok(()),
    }
}

/// Locks a file so that two processes cannot mix their lines in it. A file system without locks
/// gets no such protection.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), FormatError> {
    // On other systems, a lock would also keep out readers.
    if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(FileProblem::InUse.of(path));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_in_a_folder_of_outputs_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("source.c");
        let pictures = folder.path().join("pictures");
        fs::create_dir(&pictures).unwrap();
        fs::write(&outside, "mine").unwrap();
        symlink("../source.c", pictures.join("a.svg")).unwrap();
        write_bytes(path_in(&pictures, "a.svg").unwrap(), b"new").unwrap();
        assert_eq!(fs::read(&outside).unwrap(), b"mine");
        assert_eq!(fs::read(pictures.join("a.svg")).unwrap(), b"new");
    }

    #[test]
    fn asking_whether_a_file_is_writable_leaves_its_content_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer.md");
        ensure_writable(&path).unwrap();
        assert!(!path.exists(), "nothing was written yet");
        let link = folder.path().join("link.md");
        symlink("answer.md", &link).unwrap();
        ensure_writable(&link).unwrap();
        assert!(!path.exists() && link.is_symlink());
        write_text(&path, "old").unwrap();
        ensure_writable(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn refuses_to_write_over_programs_and_not_over_other_executable_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &[u8], mode| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        for path in [
            file("program", b"\x7fELF\x02", 0o755),
            file("script", b"#!/bin/sh\n", 0o744),
        ] {
            let error = ensure_writable(&path).unwrap_err().to_string();
            assert!(error.contains("it is a program"), "{error}");
        }
        // File systems without rights show all files as executable.
        ensure_writable(file("page.html", b"<!DOCTYPE html>", 0o777)).unwrap();
        ensure_writable(file("sources.sh", b"#!/bin/sh\n", 0o644)).unwrap();
    }

    #[test]
    fn a_text_is_written_as_it_is_made_and_a_full_disk_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        write_text(&path, "an older and longer page").unwrap();
        write_text_by(&path, |out| {
            out.write_str("a")?;
            write!(out, "{}", 7)
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a7");
        // A device that is always full, which Linux has.
        let error = write_text_by("/dev/full", |out| out.write_str(&"x".repeat(1 << 20)));
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("/dev/full") && text.contains("the disk is full"),
            "{text}"
        );
        let error = write_text_by(&path, |_| Err(fmt::Error)).unwrap_err();
        assert!(error.to_string().contains("page.html"));
    }

    #[test]
    fn a_folder_is_made_once_and_a_file_in_its_place_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = folder.path().join("a").join("pictures");
        ensure_folder(&pictures).unwrap();
        ensure_folder(&pictures).unwrap();
        write_bytes(pictures.join("x.png"), &[1, 2]).unwrap();
        let error = ensure_folder(pictures.join("x.png")).unwrap_err();
        assert!(error.is_write_error());
        assert!(error.to_string().contains("x.png"), "{error}");
    }

    #[test]
    fn a_file_in_no_folder_cannot_be_written_and_is_named() {
        let error = ensure_writable("/no/such/folder/x.md").unwrap_err();
        assert!(error.is_write_error());
        assert!(error.to_string().contains("/no/such/folder/x.md"));
    }

    fn put(path: &Path, text: &str) -> Result<(), FormatError> {
        replace(path, |out| {
            out.write_all(text.as_bytes()).map_err(cannot_write(path))
        })
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_cannot_be_written_to_its_end_leaves_the_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.md");
        put(&path, "yesterday").unwrap();
        let full = replace(&path, |out| {
            out.write_all(b"to").map_err(cannot_write(&path))?;
            out.flush().map_err(cannot_write(&path))?;
            Err(cannot_write(&path)(io::ErrorKind::StorageFull.into()))
        });
        assert!(full.unwrap_err().is_write_error());
        assert_eq!(fs::read_to_string(&path).unwrap(), "yesterday");
        assert_eq!(names(folder.path()), ["report.md"]);
        put(&path, "today").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "today");
        assert_eq!(names(folder.path()), ["report.md"]);
    }

    #[test]
    fn links_under_the_names_that_temporary_files_had_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        let process = std::process::id();
        let links =
            (0..4).map(|number| folder.path().join(format!(".deadheat-{process}-{number}")));
        let links: Vec<PathBuf> = links.collect();
        links
            .iter()
            .for_each(|link| symlink(&precious, link).unwrap());
        for name in ["page.html", "results.csv", "pack.tar.zst"] {
            let path = folder.path().join(name);
            put(&path, name).unwrap();
            assert!(!path.is_symlink());
            assert_eq!(fs::read_to_string(&path).unwrap(), name);
        }
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
        assert!(links.iter().all(|link| link.is_symlink()));
    }

    #[test]
    fn nobody_else_can_read_a_private_file_while_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("private.csv");
        put(&path, "1").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        replace(&path, |out| {
            let modes = fs::read_dir(folder.path()).unwrap().map(|entry| {
                let about = entry.unwrap().metadata().unwrap();
                about.permissions().mode() & 0o777
            });
            assert_eq!(modes.collect::<Vec<_>>(), [0o600, 0o600]);
            out.write_all(b"2").map_err(cannot_write(&path))
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "2");
    }

    #[test]
    fn links_and_rights_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, early] = ["file", "link", "early"].map(|name| folder.path().join(name));
        put(&file, "1").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        put(&link, "2").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "2");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        symlink("late", &early).unwrap();
        put(&early, "3").unwrap();
        assert!(early.is_symlink());
        assert_eq!(fs::read_to_string(folder.path().join("late")).unwrap(), "3");
    }

    #[test]
    fn a_device_is_written_to_and_stays_one() {
        put(Path::new("/dev/null"), "x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let error = put(Path::new("/dev/full"), "x").unwrap_err();
        assert!(error.to_string().contains("/dev/full"), "{error}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named_with_the_file() {
        let error = put(Path::new("/no/such/folder/x.md"), "x").unwrap_err();
        assert!(
            error.to_string().contains("/no/such/folder/x.md"),
            "{error}"
        );
    }

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
