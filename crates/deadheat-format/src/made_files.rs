//! The list of files with commands that this user's deadheat wrote on this machine: run files,
//! plans, packs and records of `deadheat bisect`. The list holds digests, so a file stays in the
//! list when it is moved, but not when its commands are changed.

use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use deadheat_model::{Json, RunHeader};
use sha2::{Digest as _, Sha256};

use crate::content;
use crate::error::{FormatError, cannot_read};
use crate::run_file::header_line;

/// SHA-256 digest of the commands in a file, or of a whole pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDigest(String);

impl FileDigest {
    /// Returns the digest of a run file or a plan, computed from the header, because only the
    /// header names programs.
    pub fn of_run(header: &RunHeader) -> Self {
        Self::of_line(&header_line(header))
    }

    /// Returns the digest of a JSON Lines file in which only this line names programs.
    pub fn of_line(line: &Json) -> Self {
        Self::new(Sha256::digest(line.to_string().as_bytes()))
    }

    /// Returns the digest of a pack, computed from the whole file, because a pack contains its
    /// programs.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn of_pack(path: &Path) -> Result<Self, FormatError> {
        let unreadable = || cannot_read(path);
        let mut file = content::open(path).map_err(unreadable())?;
        let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer).map_err(unreadable())? {
                0 => return Ok(Self::new(digest.finalize())),
                read => digest.update(&buffer[..read]),
            }
        }
    }

    fn new(bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref().iter();
        Self(bytes.map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for FileDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The list of digests, in its own folder. Files and folders are used only if this user owns them,
/// and if no other user can write or replace them.
#[derive(Clone, Debug)]
pub struct MadeFiles {
    folder: PathBuf,
    user: u32,
}

const LIST: &str = "list";
/// File name of the previous list, which is kept when a new list begins.
const EARLIER: &str = "list.before";
/// Size of a full list in bytes: 65,536 digests. A full list replaces the earlier list, and a new
/// list begins.
const FULL: u64 = 65 * (1 << 16);
/// Permission bits that let the group or others write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Permission bit of a folder in which only owners remove and rename entries.
const STICKY: u32 = 0o1000;

impl MadeFiles {
    /// Returns the list of `user` in `folder`.
    pub fn new(folder: PathBuf, user: u32) -> Self {
        Self { folder, user }
    }

    /// Adds the digest of a file that was just written.
    ///
    /// # Errors
    ///
    /// The list cannot be written, or another user owns it or can write it.
    pub fn add(&self, digest: &FileDigest) -> io::Result<()> {
        self.check_path()?;
        if !self.folder.exists() {
            self.create_folder()?;
        }
        self.check(&self.folder, &fs::metadata(&self.folder)?)?;
        let list = self.folder.join(LIST);
        if let Ok(found) = fs::symlink_metadata(&list) {
            if !found.is_file() {
                // Opening a named pipe would wait forever.
                return Err(io::Error::other("the list is not a file"));
            }
            if found.len() >= FULL {
                fs::rename(&list, self.folder.join(EARLIER))?;
            }
        }
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&list)?;
        self.check(&list, &file.metadata()?)?;
        // One write, so that lines of concurrent processes do not mix.
        file.write_all(format!("{digest}\n").as_bytes())
    }

    /// Returns true if the file with this digest is in the list.
    ///
    /// # Errors
    ///
    /// The list cannot be read, or another user owns or can write it or a folder above it.
    pub fn has(&self, digest: &FileDigest) -> io::Result<bool> {
        self.check_path()?;
        match fs::metadata(&self.folder) {
            Ok(found) => self.check(&self.folder, &found)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(self.lists(LIST, digest)? || self.lists(EARLIER, digest)?)
    }

    fn lists(&self, list: &str, digest: &FileDigest) -> io::Result<bool> {
        let path = self.folder.join(list);
        // Opening a named pipe would wait forever.
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            return Ok(false);
        }
        let file = File::open(&path)?;
        self.check(&path, &file.metadata()?)?;
        let mut lines = BufReader::new(file.take(2 * FULL))
            .lines()
            .map_while(Result::ok);
        Ok(lines.any(|line| line == digest.0))
    }

    /// Creates the folder. Fails if the folder above it belongs to another user, because `sudo
    /// deadheat` would leave folders of root in a user's home.
    fn create_folder(&self) -> io::Result<()> {
        let mut around = self.folder.ancestors().skip(1);
        if let Some(around) = around.find(|folder| folder.exists())
            && fs::metadata(around)?.uid() != self.user
        {
            return Err(not_safe(around));
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
    }

    /// Fails if another user can replace the folder, or a folder or link on the way to it. With
    /// `HOME=/tmp`, another user could make the folder a link to one of this user's checkouts, which
    /// may contain a file named like the list.
    fn check_path(&self) -> io::Result<()> {
        let path = std::path::absolute(&self.folder)?;
        let resolved = path.canonicalize().unwrap_or_default();
        for place in path.ancestors().chain(resolved.ancestors()) {
            let Ok(found) = fs::symlink_metadata(place) else {
                continue;
            };
            // In a folder with the sticky bit, such as /tmp, only owners replace entries. The group
            // of root and a user's own group, which has the user's number, have no other members.
            let is_sticky = found.mode() & STICKY != 0 || found.is_symlink();
            let is_own_group = [0, self.user].contains(&found.gid());
            let writable = found.mode()
                & if is_own_group {
                    0o002
                } else {
                    WRITABLE_BY_OTHERS
                };
            if ![0, self.user].contains(&found.uid()) || (writable != 0 && !is_sticky) {
                return Err(not_safe(place));
            }
        }
        Ok(())
    }

    fn check(&self, path: &Path, found: &Metadata) -> io::Result<()> {
        if found.uid() == self.user && found.mode() & WRITABLE_BY_OTHERS == 0 {
            return Ok(());
        }
        Err(not_safe(path))
    }
}

fn not_safe(path: &Path) -> io::Error {
    let why = format!("another user owns or can write {}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn digest(text: &str) -> FileDigest {
        FileDigest::of_line(&Json::from(text))
    }

    fn list_in(folder: &Path) -> MadeFiles {
        let user = fs::metadata(folder).unwrap().uid();
        MadeFiles::new(folder.join("state/made"), user)
    }

    fn has(list: &MadeFiles, name: &str) -> bool {
        list.has(&digest(name)).unwrap_or(false)
    }

    #[test]
    fn only_added_files_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let list = list_in(folder.path());
        assert!(!has(&list, "a"), "before there is a list");
        list.add(&digest("a")).unwrap();
        list.add(&digest("b")).unwrap();
        assert!(has(&list, "a") && has(&list, "b"));
        assert!(!has(&list, "c"));
        let file = fs::metadata(list.folder.join(LIST)).unwrap();
        assert_eq!(file.mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&list.folder).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_list_that_another_user_can_write_or_owns_lists_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let list = list_in(folder.path());
        list.add(&digest("a")).unwrap();
        let rights = |path: &Path, mode: u32| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let file = list.folder.join(LIST);
        for (path, open, closed) in [(&file, 0o622, 0o600), (&list.folder, 0o777, 0o700)] {
            rights(path, open);
            assert!(!has(&list, "a"), "{}", path.display());
            assert!(list.add(&digest("b")).is_err(), "{}", path.display());
            rights(path, closed);
            assert!(has(&list, "a"), "{}", path.display());
        }
        let other = MadeFiles::new(list.folder.clone(), list.user + 1);
        assert!(!has(&other, "a"));
        assert!(other.add(&digest("b")).is_err());
        let elsewhere = MadeFiles::new(folder.path().join("new/made"), list.user + 1);
        assert!(elsewhere.add(&digest("b")).is_err());
        assert!(!folder.path().join("new").exists());
    }

    #[test]
    fn a_list_that_another_user_can_replace_lists_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let list = list_in(folder.path());
        list.add(&digest("a")).unwrap();
        let state = folder.path().join("state");
        for (mode, is_safe) in [(0o777, false), (0o1777, true), (0o755, true)] {
            fs::set_permissions(&state, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(has(&list, "a"), is_safe, "{mode:o}");
            assert_eq!(list.add(&digest("b")).is_ok(), is_safe, "{mode:o}");
        }
        // A link in a folder that others can write leads to a folder that only this user can write.
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        std::os::unix::fs::symlink(&list.folder, open.join("made")).unwrap();
        let linked = MadeFiles::new(open.join("made"), list.user);
        assert!(has(&linked, "a"));
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!has(&linked, "a"));
    }

    #[test]
    fn a_pipe_in_the_place_of_the_list_lists_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let list = list_in(folder.path());
        list.add(&digest("a")).unwrap();
        let file = list.folder.join(LIST);
        fs::remove_file(&file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status();
        assert!(made.unwrap().success());
        assert!(!has(&list, "a") && list.add(&digest("b")).is_err());
    }

    #[test]
    fn a_full_list_makes_place_for_the_next_and_is_still_read() {
        let folder = tempfile::tempdir().unwrap();
        let list = list_in(folder.path());
        for (round, name) in ["a", "b", "c"].into_iter().enumerate() {
            list.add(&digest(name)).unwrap();
            let known = ["a", "b", "c"].map(|name| has(&list, name));
            let expected = [round < 2, round > 0, round > 1];
            assert_eq!(known, expected, "{round}");
            let file = OpenOptions::new().write(true).open(list.folder.join(LIST));
            file.unwrap().set_len(FULL).unwrap();
        }
    }

    #[test]
    fn the_digest_of_a_pack_covers_all_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let of = |bytes: &[u8]| {
            let path = folder.path().join("pack");
            fs::write(&path, bytes).unwrap();
            FileDigest::of_pack(&path).unwrap()
        };
        let long = vec![7; 200_000];
        assert_eq!(of(&long), of(&long));
        assert_ne!(of(&long), of(&long[1..]));
        // The published SHA-256 digest of empty input.
        assert_eq!(of(b"").0[..16], *"e3b0c44298fc1c14");
    }
}
