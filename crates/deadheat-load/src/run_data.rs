//! The folder of a server, with its copy of the folder of `--data`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use deadheat::parts::exit::Failure;
use deadheat::parts::format::{FormatError, ScratchFolder, cannot_read, cannot_write};
use deadheat::parts::model::HELP;
use nix::errno::Errno;
use nix::sys::statvfs::statvfs;
use nix::unistd::{Whence, lseek};

/// The number of links in a path that the system follows.
const MOST_LINKS: u32 = 40;

/// The folder for one start of a server. It is removed with all its contents on drop.
pub(crate) struct ServerFolder(PathBuf);

impl ServerFolder {
    /// Creates `folder`, and in it `data`: a copy of `source`, or an empty folder. An error is the
    /// rest of a sentence that begins with the name of the side.
    pub(crate) fn create(folder: PathBuf, source: Option<&Path>) -> Result<Self, String> {
        let cannot = |error: FormatError| format!("was not started: {error}");
        fs::create_dir(&folder).map_err(|error| cannot(cannot_write(&folder)(error)))?;
        let made = Self(folder);
        let data = made.data();
        match source {
            None => fs::create_dir(&data).map_err(|error| cannot(cannot_write(&data)(error)))?,
            Some(source) if is_inside(&made.0, source) => {
                return Err(format!(
                    "was not started: --data {} contains the folder for temporary files, so deadheat would \
                     copy the folder into itself; choose another folder, or set TMPDIR",
                    source.display()
                ));
            }
            Some(source) => copy_folder(source, Path::new(""), &data)
                .map_err(|why| format!("was not started: --data {}: {why}", source.display()))?,
        }
        Ok(made)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for ServerFolder {
    fn drop(&mut self) {
        // A destructor cannot report the error.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Checks that the folder for temporary files can be written, and that it has enough space for both
/// copies of the folder of `--data`.
///
/// # Errors
///
/// Fails if the folder cannot be written, or if the space is too small.
pub(crate) fn check_room(data: Option<&Path>) -> Result<(), Failure> {
    const COPIES: u64 = 2;
    let scratch = ScratchFolder::create_large();
    let scratch = scratch.map_err(|error| Failure::Internal(error.to_string()))?;
    let (Some(data), Ok(system)) = (data, statvfs(scratch.path())) else {
        return Ok(());
    };
    let folder = scratch.path().parent().unwrap_or(scratch.path());
    let free = system.blocks_available() * system.fragment_size();
    let needed = COPIES * used_bytes(data);
    if needed <= free {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(Failure::Internal(format!(
        "--data {}: cannot write {}: the two copies need {} MiB, and {} MiB are free{HELP}set TMPDIR to a \
         folder with more space",
        data.display(),
        folder.display(),
        mib(needed),
        free >> 20
    )))
}

/// Returns the number of bytes that a folder with its files uses on the disk.
fn used_bytes(folder: &Path) -> u64 {
    const UNIT: u64 = 512;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let used = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => used_bytes(&entry.path()),
        // A compressed file uses less space than its copy, and a sparse file less than its length.
        Ok(about) if about.is_file() => about.blocks() * UNIT,
        _ => 0,
    });
    used.sum()
}

/// Returns true if `folder` is below `other`.
fn is_inside(folder: &Path, other: &Path) -> bool {
    let both = folder.canonicalize().ok().zip(other.canonicalize().ok());
    both.is_some_and(|(folder, other)| folder.starts_with(other))
}

/// Copies the folder `inner` of `root` with its files and links. Leaves out sockets, named pipes and
/// devices, as a stopped server leaves them behind. The links of the copy must not lead to files that
/// both servers would share.
fn copy_folder(root: &Path, inner: &Path, to: &Path) -> Result<(), String> {
    let from = root.join(inner);
    let reading = |error| cannot_read(&from)(error).to_string();
    let writing = |error| cannot_write(to)(error).to_string();
    fs::create_dir(to).map_err(writing)?;
    for entry in fs::read_dir(&from).map_err(reading)? {
        let entry = entry.map_err(reading)?;
        let kind = entry.file_type().map_err(reading)?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(root, &inner.join(entry.file_name()), &copy)?;
        } else if kind.is_symlink() {
            let target =
                fs::read_link(&path).map_err(|error| cannot_read(&path)(error).to_string())?;
            if leads_out(root, inner, &target) {
                return Err(format!(
                    "the link {} leads out of the copy, to {}, which both servers would share; \
                     replace it by a copy of its target",
                    path.display(),
                    target.display()
                ));
            }
            symlink(target, &copy).map_err(|error| cannot_write(&copy)(error).to_string())?;
        } else if kind.is_file() {
            copy_file(&path, &copy).map_err(|error| error.to_string())?;
        }
    }
    // A read-only folder could not be removed.
    let mode = fs::metadata(&from).map_err(reading)?.permissions().mode() | 0o700;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).map_err(writing)
}

/// Returns true if a link in the folder `inner` of `root` leads out of `root`: by its own words, or
/// through another link. Follows the path as the system would follow it in the copy, because a link
/// whose target is missing in `root` may lead to an existing file there.
fn leads_out(root: &Path, inner: &Path, target: &Path) -> bool {
    let words = |path: &Path| -> Vec<OsString> {
        let words = path.components().rev();
        words.map(|word| word.as_os_str().to_owned()).collect()
    };
    let mut place = inner.to_owned();
    // The rest of the path, the next word last.
    let mut rest = words(target);
    let mut links = 0;
    while let Some(word) = rest.pop() {
        match Path::new(&word).components().next() {
            Some(Component::Normal(name)) => place.push(name),
            Some(Component::ParentDir) if !place.pop() => return true,
            Some(Component::RootDir | Component::Prefix(_)) => return true,
            _ => continue,
        }
        let Ok(next) = fs::read_link(root.join(&place)) else {
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            // The system does not follow it either.
            return false;
        }
        place.pop();
        rest.extend(words(&next));
    }
    false
}

/// Copies a file with its permissions and its holes. Databases reserve files that consist mostly of
/// holes.
fn copy_file(from: &Path, to: &Path) -> Result<(), FormatError> {
    let mut source = File::open(from).map_err(cannot_read(from))?;
    let about = source.metadata().map_err(cannot_read(from))?;
    let mut copy = File::create_new(to).map_err(cannot_write(to))?;
    let copied = copy_parts(&mut source, &mut copy)
        .and_then(|()| copy.set_len(about.len()))
        .and_then(|()| copy.set_permissions(about.permissions()));
    copied.map_err(cannot_write(to))
}

fn copy_parts(source: &mut File, copy: &mut File) -> io::Result<()> {
    let mut at = 0;
    loop {
        let start = match lseek(&*source, at, Whence::SeekData) {
            Ok(start) => start,
            // No data follow.
            Err(Errno::ENXIO) => return Ok(()),
            Err(_) => {
                // This file system does not report holes.
                source.rewind()?;
                copy.rewind()?;
                return io::copy(source, copy).map(|_| ());
            }
        };
        let end = lseek(&*source, start, Whence::SeekHole)?;
        let place = SeekFrom::Start(start.cast_unsigned());
        source.seek(place)?;
        copy.seek(place)?;
        let bytes = (end - start).cast_unsigned();
        io::copy(&mut Read::by_ref(source).take(bytes), copy)?;
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_out_by_its_own_words_or_through_another_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("d/e")).unwrap();
        fs::write(root.join("file"), "").unwrap();
        symlink("../..", root.join("d/e/up")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        for (inner, target, expected) in [
            ("", "file", false),
            ("", "missing/../file", false),
            ("d", "../file", false),
            ("d", "../../file", true),
            ("d/e", "up/file", false),
            ("d/e", "up/../file", true),
            ("d/e", "up/d/e/up/missing", false),
            ("d/e", "up/d/e/up/../missing", true),
            ("", "/etc/passwd", true),
            ("", "./.././file", true),
            ("", "loop", false),
        ] {
            let found = leads_out(root, Path::new(inner), Path::new(target));
            assert_eq!(found, expected, "{inner}/link -> {target}");
        }
    }

    #[test]
    fn a_copy_has_the_contents_the_permissions_and_the_holes_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        let mut file = File::create(&from).unwrap();
        let far = 64 << 20;
        file.seek(SeekFrom::Start(far)).unwrap();
        io::Write::write_all(&mut file, b"middle").unwrap();
        file.set_len(2 * far).unwrap();
        file.set_permissions(fs::Permissions::from_mode(0o440))
            .unwrap();
        copy_file(&from, &to).unwrap();
        let about = fs::metadata(&to).unwrap();
        assert_eq!(about.len(), 2 * far);
        assert_eq!(about.permissions().mode() & 0o777, 0o440);
        assert!(fs::read(&from).unwrap() == fs::read(&to).unwrap());
        let source_blocks = fs::metadata(&from).unwrap().blocks();
        assert!(about.blocks() <= source_blocks + 16, "{about:?}");
    }
}
