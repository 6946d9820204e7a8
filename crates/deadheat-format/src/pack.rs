//! Packs: a plan and the files that it races in one archive, so that every machine races the same
//! bytes.
//!
//! The archive is a tar file in one zstd frame. It holds `plan.json`, which is the header of a run,
//! and every file under its name in the plan. It records neither times nor owners, so the same
//! files give the same archive.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead as _, Read, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use deadheat_model::{RunHeader, is_inner_path};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tar::{Archive, Builder, EntryType, Header};

use crate::content::{self, ZSTD};
use crate::error::{FileProblem, FormatError, cannot_read, cannot_write};
use crate::limits::{Allowance, Bounded, refuse_larger};
use crate::output::write_bytes;
use crate::run_file::header_line;

const PLAN: &str = "plan.json";

/// Maximum length of a path in an archive, in bytes. Linux cannot open a longer path.
const MOST_OF_A_PATH: u64 = 4096;

const DEEPEST_FOLDER: usize = 64;

/// A file or a folder to be packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedFile {
    /// Path of the file on this machine. A folder includes all files below it.
    pub source: PathBuf,
    /// Path in the pack, relative to the folder into which the pack is unpacked.
    pub name: PathBuf,
}

/// Returns true if a file begins like a pack, not like a plan.
///
/// # Errors
///
/// The file cannot be read.
pub fn is_pack(path: &Path) -> Result<bool, FormatError> {
    let mut first = Vec::new();
    let file = content::open_repeatedly(path).map_err(cannot_read(path))?;
    let read = file.take(ZSTD.len() as u64).read_to_end(&mut first);
    read.map_err(cannot_read(path))?;
    Ok(first == ZSTD)
}

/// Writes a plan and its files into a new archive and returns its size in bytes.
///
/// # Errors
///
/// A file cannot be read, or the archive exists already or cannot be written.
pub fn write_pack(
    plan: &RunHeader,
    files: &[PackedFile],
    target: &Path,
) -> Result<u64, FormatError> {
    let mut archive = Builder::new(Vec::new());
    let plan = format!("{}\n", header_line(plan));
    let broken = |problem| cannot_write(target)(problem);
    let mut about = about(plan.len(), false);
    let appended = archive.append_data(&mut about, PLAN, plan.as_bytes());
    appended.map_err(broken)?;
    for file in files {
        for plain in contents(file)? {
            append(&mut archive, &plain)?;
        }
    }
    let bytes = archive.into_inner().map_err(broken)?;
    let packed = compress_to_vec(&bytes[..], CompressionLevel::Fastest);
    if target.exists() {
        return Err(FileProblem::AlreadyExists.of(target));
    }
    write_bytes(target, &packed)?;
    Ok(packed.len() as u64)
}

/// Returns the tar header of a file, without its time and owner.
fn about(size: usize, executable: bool) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(size as u64);
    header.set_mode(if executable { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header
}

/// Returns all plain files in a file or folder, in the order of their names.
///
/// # Errors
///
/// A file cannot be read or is not a plain file, a link leads out of the folder to be packed, or a
/// link leads to a folder that contains it.
pub fn contents(file: &PackedFile) -> Result<Vec<PackedFile>, FormatError> {
    let root = file.source.canonicalize();
    let mut walk = Walk {
        root: root.map_err(cannot_read(&file.source))?,
        above: Vec::new(),
        found: Vec::new(),
    };
    walk.take(file)?;
    Ok(walk.found)
}

struct Walk {
    /// The file or folder to be packed, with links resolved.
    root: PathBuf,
    /// The folders above the current file, with links resolved.
    above: Vec<PathBuf>,
    found: Vec<PackedFile>,
}

impl Walk {
    fn take(&mut self, file: &PackedFile) -> Result<(), FormatError> {
        let source = &file.source;
        let unreadable = || cannot_read(source);
        let place = source.canonicalize().map_err(unreadable())?;
        if !place.starts_with(&self.root) {
            let problem = format!(
                "leads to {}, which is outside of the packed folder\nhelp: put a copy of the file \
                 in place of the link, or remove the link",
                place.display()
            );
            return Err(FormatError::whole(source, problem));
        }
        if self.above.contains(&place) {
            let problem = "leads to a folder that contains this link\nhelp: remove the link";
            return Err(FormatError::whole(source, problem));
        }
        let found = fs::metadata(source).map_err(unreadable())?;
        if found.is_file() {
            self.found.push(file.clone());
            return Ok(());
        }
        if !found.is_dir() {
            return Err(FormatError::whole(source, "is neither a file nor a folder"));
        }
        let entries = fs::read_dir(source).map_err(unreadable())?;
        let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        let names: io::Result<Vec<_>> = names.collect();
        let mut names = names.map_err(unreadable())?;
        names.sort();
        self.above.push(place);
        for inner in names {
            self.take(&PackedFile {
                source: source.join(&inner),
                name: file.name.join(&inner),
            })?;
        }
        self.above.pop();
        Ok(())
    }
}

fn append(archive: &mut Builder<Vec<u8>>, file: &PackedFile) -> Result<(), FormatError> {
    let unreadable = || cannot_read(&file.source);
    let found = fs::metadata(&file.source).map_err(unreadable())?;
    let bytes = content::all_bytes(&file.source).map_err(unreadable())?;
    let mut about = about(bytes.len(), found.permissions().mode() & 0o111 != 0);
    let appended = archive.append_data(&mut about, &file.name, &bytes[..]);
    // A larger pack could not be unpacked.
    appended
        .and_then(|()| refuse_larger(archive.get_ref().len() as u64))
        .map_err(unreadable())
}

/// Copies a pack into `folder`, which only this user can write, and returns the path of the copy.
/// If the pack itself were unpacked, the owner of a shared folder could replace it after the check
/// of its digest.
///
/// # Errors
///
/// The pack cannot be read, or the copy cannot be written.
pub fn copy_pack(pack: &Path, folder: &Path) -> Result<PathBuf, FormatError> {
    let copy = folder.join("pack");
    let mut from = content::open(pack).map_err(cannot_read(pack))?;
    let mut to = File::create_new(&copy).map_err(cannot_write(&copy))?;
    copy_all((&mut from, pack), (&mut to, &copy))?;
    Ok(copy)
}

/// Copies the rest of a file. An error names the file that caused it.
fn copy_all(
    (from, source): (&mut impl Read, &Path),
    (to, target): (&mut File, &Path),
) -> Result<(), FormatError> {
    let mut bytes = vec![0; 64 << 10];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(count) => to
                .write_all(&bytes[..count])
                .map_err(cannot_write(target))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(cannot_read(source)(error)),
        }
    }
}

/// Unpacks an archive into a folder and returns the path of the plan in it.
///
/// # Errors
///
/// The archive cannot be read, holds anything but plain files, or holds a path outside the folder.
pub fn unpack(pack: &Path, folder: &Path) -> Result<PathBuf, FormatError> {
    let unreadable = || cannot_read(pack);
    let file = content::open(pack).map_err(unreadable())?;
    let mut file = io::BufReader::new(file);
    let frame = StreamingDecoder::new(&mut file);
    let frame = frame.map_err(|problem| FormatError::whole(pack, problem.to_string()))?;
    let mut archive = Archive::new(Bounded::new(frame).map_err(unreadable())?);
    let mut allowed = Allowance::of_files().map_err(unreadable())?;
    let mut long_name = None;
    // Raw mode, because otherwise the library reads long names and extended headers without a
    // limit.
    let entries = archive.entries().map_err(unreadable())?.raw(true);
    for entry in entries {
        let mut entry = entry.map_err(unreadable())?;
        let kind = entry.header().entry_type();
        if kind == EntryType::GNULongName && long_name.is_none() {
            long_name = Some(read_long_name(&mut entry).map_err(unreadable())?);
            continue;
        }
        let name = match long_name.take() {
            Some(name) => name,
            None => entry.path().map_err(unreadable())?.into_owned(),
        };
        if !is_inner_path(&name) || kind != EntryType::Regular {
            let shown = name.display().to_string();
            let shown: String = shown.chars().take(MOST_SHOWN).collect();
            let problem = format!("holds '{shown}', which does not belong in a pack");
            return Err(FormatError::whole(pack, problem));
        }
        let depth = name.components().count();
        if depth > DEEPEST_FOLDER {
            let problem = format!("holds a file more than {DEEPEST_FOLDER} folders deep");
            return Err(FormatError::whole(pack, problem));
        }
        allowed.take(depth as u64).map_err(unreadable())?;
        let executable = entry.header().mode().map_err(unreadable())? & 0o111 != 0;
        put((&mut entry, pack), executable, &folder.join(name))?;
    }
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(unreadable())?;
    if !file.fill_buf().map_err(unreadable())?.is_empty() {
        return Err(FormatError::whole(pack, "has bytes after its end"));
    }
    let plan = folder.join(PLAN);
    if !plan.is_file() {
        return Err(FormatError::whole(pack, "holds no plan"));
    }
    Ok(plan)
}

const MOST_SHOWN: usize = 200;

/// Reads the name of the next file, which was too long for its header.
fn read_long_name(entry: &mut impl Read) -> io::Result<PathBuf> {
    let mut name = Vec::new();
    // The name ends with a zero byte.
    entry.take(MOST_OF_A_PATH + 2).read_to_end(&mut name)?;
    let bytes = name.strip_suffix(b"\0").unwrap_or(&name);
    if bytes.len() as u64 > MOST_OF_A_PATH {
        return Err(io::Error::other(format!(
            "the name of a file in it is longer than {MOST_OF_A_PATH} bytes"
        )));
    }
    Ok(PathBuf::from(OsStr::from_bytes(bytes)))
}

/// Writes a file of a pack. Its modification time is 1970, because deadheat refuses to resume a
/// part of a race if one of its programs was modified after the part began.
fn put(from: (&mut impl Read, &Path), executable: bool, file: &Path) -> Result<(), FormatError> {
    use io::ErrorKind::{AlreadyExists, InvalidFilename, NotADirectory};
    let refused = |error: io::Error| match error.kind() {
        AlreadyExists => FormatError::whole(from.1, "holds two files of the same name"),
        NotADirectory => FormatError::whole(from.1, "holds a file inside of another file"),
        InvalidFilename => FormatError::whole(from.1, "holds a file whose name is too long"),
        _ => cannot_write(file)(error),
    };
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    let mut written = File::create_new(file).map_err(refused)?;
    copy_all(from, (&mut written, file))?;
    let mode = if executable { 0o755 } else { 0o644 };
    let finish = || {
        written.set_permissions(fs::Permissions::from_mode(mode))?;
        written.set_modified(std::time::UNIX_EPOCH)
    };
    finish().map_err(cannot_write(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_testing::runs::{benchmark, command, contenders, design, header, one_look};

    fn archive(folder: &Path, name: &str, kind: EntryType) -> PathBuf {
        let mut about = about(4, false);
        about.set_entry_type(kind);
        // Copied, because `set_path` refuses the names to be tested.
        about.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        if kind == EntryType::Symlink {
            about.set_size(0);
            about.set_link_name("/etc/passwd").unwrap();
        }
        about.set_cksum();
        let mut archive = Builder::new(Vec::new());
        archive.append(&about, &b"text"[..]).unwrap();
        let bytes = archive.into_inner().unwrap();
        let file = folder.join("pack");
        fs::write(
            &file,
            compress_to_vec(&bytes[..], CompressionLevel::Fastest),
        )
        .unwrap();
        file
    }

    #[test]
    fn a_hostile_pack_writes_nothing_outside_its_folder() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("inside");
        fs::create_dir(&folder).unwrap();
        let absolute = base.path().join("outside");
        for (name, kind) in [
            ("../outside", EntryType::Regular),
            ("a/../../outside", EntryType::Regular),
            (absolute.to_str().unwrap(), EntryType::Regular),
            ("./plan.json", EntryType::Regular),
            ("plan.json", EntryType::Symlink),
            ("plan.json", EntryType::Fifo),
            ("plan.json", EntryType::Char),
        ] {
            let pack = archive(base.path(), name, kind);
            let told = unpack(&pack, &folder).unwrap_err().to_string();
            assert!(told.contains("does not belong in a pack"), "{name}: {told}");
            assert!(!absolute.exists());
        }
        let pack = archive(base.path(), "plan.json", EntryType::Regular);
        unpack(&pack, &folder).unwrap();
        fs::remove_file(folder.join(PLAN)).unwrap();
        let bytes = fs::read(&pack).unwrap();
        for more in [&b"more"[..], &bytes] {
            fs::write(&pack, [&bytes, more].concat()).unwrap();
            let told = unpack(&pack, &folder).unwrap_err().to_string();
            assert!(told.contains("has bytes after its end"), "{told}");
            fs::remove_file(folder.join(PLAN)).unwrap();
        }
        let pack = archive(base.path(), "old", EntryType::Regular);
        let told = unpack(&pack, &folder).unwrap_err().to_string();
        assert!(told.contains("holds no plan"), "{told}");
    }

    fn names(folder: &Path) -> Result<Vec<PathBuf>, String> {
        let files = contents(&PackedFile {
            source: folder.to_owned(),
            name: "data".into(),
        });
        let names = |files: Vec<PackedFile>| files.into_iter().map(|file| file.name).collect();
        files.map(names).map_err(|error| error.to_string())
    }

    #[test]
    fn links_are_followed_inside_of_the_packed_folder_only() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("data");
        fs::create_dir_all(folder.join("deep")).unwrap();
        fs::create_dir(base.path().join("data-of-others")).unwrap();
        fs::write(folder.join("deep/a"), "a").unwrap();
        fs::write(base.path().join("secret"), "secret").unwrap();
        let link = |to: &Path| {
            let path = folder.join("link");
            let _ = fs::remove_file(&path);
            std::os::unix::fs::symlink(to, path).unwrap();
        };
        link(Path::new("deep/a"));
        assert_eq!(
            names(&folder).unwrap(),
            ["data/deep/a", "data/link"].map(PathBuf::from)
        );
        link(Path::new("deep"));
        assert_eq!(
            names(&folder).unwrap(),
            ["data/deep/a", "data/link/a"].map(PathBuf::from)
        );
        for outside in [
            "../secret",
            "deep/../../secret",
            "../data-of-others",
            "/etc",
            "..",
        ] {
            link(Path::new(outside));
            let told = names(&folder).unwrap_err();
            assert!(
                told.contains("link: leads to") && told.contains("outside"),
                "{told}"
            );
        }
        for around in [".", "deep/.."] {
            link(Path::new(around));
            let told = names(&folder).unwrap_err();
            assert!(told.contains("a folder that contains this link"), "{told}");
        }
        // A link that the user named is followed.
        let named = base.path().join("named");
        fs::remove_file(folder.join("link")).unwrap();
        std::os::unix::fs::symlink(&folder, &named).unwrap();
        assert_eq!(names(&named).unwrap(), ["data/deep/a"].map(PathBuf::from));
    }

    fn raw_archive(folder: &Path, entries: &[(EntryType, &str, &[u8])]) -> PathBuf {
        let mut archive = Builder::new(Vec::new());
        for (kind, name, content) in entries {
            let mut about = about(content.len(), false);
            about.set_entry_type(*kind);
            about.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            about.set_cksum();
            archive.append(&about, *content).unwrap();
        }
        let bytes = archive.into_inner().unwrap();
        let packed = compress_to_vec(&bytes[..], CompressionLevel::Fastest);
        fs::write(folder.join("pack"), packed).unwrap();
        folder.join("pack")
    }

    #[test]
    fn a_long_name_is_read_and_one_that_no_file_can_have_is_refused() {
        let long = EntryType::GNULongName;
        let deep = vec!["a"; DEEPEST_FOLDER + 1].join("/");
        let name = vec!["b".repeat(150); 2].join("/");
        for (bytes, found) in [
            (name.len(), "holds no plan"),
            (4096, "does not belong in a pack"),
            (4097, "longer than 4096 bytes"),
            (1 << 20, "longer than 4096 bytes"),
        ] {
            let base = tempfile::tempdir().unwrap();
            let inside = base.path().join("inside");
            fs::create_dir(&inside).unwrap();
            // Refused for its `..`, before the long name reaches the operating system.
            let name = match bytes {
                4096.. => format!("../{}", "c".repeat(bytes - 3)),
                _ => name.clone(),
            };
            let content = format!("{name}\0");
            let file = (EntryType::Regular, "x", &b"1"[..]);
            let entries = [(long, "././@LongLink", content.as_bytes()), file];
            let told = unpack(&raw_archive(base.path(), &entries), &inside);
            let told = told.unwrap_err().to_string();
            assert!(told.contains(found), "{bytes}: {told}");
            assert!(told.len() < 1000, "{told}");
        }
        let base = tempfile::tempdir().unwrap();
        let content = format!("{deep}\0");
        let file = (EntryType::Regular, "x", &b"1"[..]);
        let entries = [(long, "././@LongLink", content.as_bytes()), file];
        let told = unpack(&raw_archive(base.path(), &entries), base.path());
        let told = told.unwrap_err().to_string();
        assert!(told.contains("more than 64 folders deep"), "{told}");
    }

    #[test]
    fn names_that_cannot_exist_together_make_the_pack_invalid() {
        let name = format!("{}\0", "c".repeat(300));
        let file = |name| (EntryType::Regular, name, &b"1"[..]);
        let long = (EntryType::GNULongName, "././@LongLink", name.as_bytes());
        for (entries, problem) in [
            (vec![file("a"), file("a")], "two files of the same name"),
            (vec![file("a/b"), file("a")], "two files of the same name"),
            (vec![file("a"), file("a/b")], "two files of the same name"),
            (vec![file("a"), file("a/b/c")], "inside of another file"),
            (vec![long, file("x")], "whose name is too long"),
        ] {
            let base = tempfile::tempdir().unwrap();
            let inside = base.path().join("inside");
            fs::create_dir(&inside).unwrap();
            let told = unpack(&raw_archive(base.path(), &entries), &inside).unwrap_err();
            assert!(!told.is_write_error(), "{told}");
            assert!(told.to_string().contains(problem), "{told}");
        }
    }

    #[test]
    fn headers_that_no_pack_has_are_refused_unread() {
        let base = tempfile::tempdir().unwrap();
        let extended = vec![b'1'; 1 << 20];
        for kind in [
            EntryType::XHeader,
            EntryType::XGlobalHeader,
            EntryType::GNULongLink,
            EntryType::GNUSparse,
        ] {
            let file = (EntryType::Regular, "plan.json", &b"{}"[..]);
            let entries = [(kind, "x", &extended[..]), file];
            let told = unpack(&raw_archive(base.path(), &entries), base.path());
            let told = told.unwrap_err().to_string();
            assert!(
                told.contains("does not belong in a pack"),
                "{kind:?}: {told}"
            );
        }
        // Two long names in a row belong to no file.
        let name = (EntryType::GNULongName, "././@LongLink", &b"a\0"[..]);
        let told = unpack(&raw_archive(base.path(), &[name, name]), base.path());
        let told = told.unwrap_err().to_string();
        assert!(told.contains("does not belong in a pack"), "{told}");
    }

    #[test]
    fn what_is_packed_is_unpacked_with_its_rights_and_without_a_time() {
        let base = tempfile::tempdir().unwrap();
        let (source, inside) = (base.path().join("source"), base.path().join("inside"));
        fs::create_dir_all(source.join("deep")).unwrap();
        fs::create_dir(&inside).unwrap();
        fs::write(source.join("deep/old"), "program").unwrap();
        fs::set_permissions(source.join("deep/old"), fs::Permissions::from_mode(0o775)).unwrap();
        let workload = deadheat_model::Workload::Command(Box::new(command(&["deep/old"])));
        let plan = header(
            design(one_look(6)),
            1,
            vec![benchmark("b", contenders(["a", "b"], &workload))],
        );
        let pack = base.path().join("pack");
        let files = [PackedFile {
            source: source.clone(),
            name: "programs".into(),
        }];
        write_pack(&plan, &files, &pack).unwrap();
        assert!(is_pack(&pack).unwrap());
        let read = crate::read_header(unpack(&pack, &inside).unwrap()).unwrap();
        assert_eq!(read.plan, plan.plan);
        let old = inside.join("programs/deep/old");
        assert_eq!(fs::read(&old).unwrap(), b"program");
        let found = fs::metadata(&old).unwrap();
        assert_eq!(found.permissions().mode() & 0o111, 0o111);
        assert!(
            found.modified().unwrap() <= std::time::UNIX_EPOCH + std::time::Duration::from_secs(1)
        );
    }
}
