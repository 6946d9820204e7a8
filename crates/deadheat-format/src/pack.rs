//! A plan with the files that it races, in one archive, so that every machine races the same bytes.
//!
//! The archive is a tar file in one zstd frame: `plan.json`, which is the header of a run, and every
//! file under the name that the plan has for it. It tells nothing of when and by whom it was made,
//! so the same files make the same archive.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use deadheat_model::RunHeader;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tar::{Archive, Builder, EntryType, Header};

use crate::content::{self, Bounded, ZSTD};
use crate::error::{FileProblem, FormatError, cannot_read, cannot_write};
use crate::output::write_bytes;
use crate::run_file::header_line;

/// The name of the plan in a pack.
const PLAN: &str = "plan.json";

/// A file of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedFile {
    /// Where its bytes are; those of a folder are all that lies below.
    pub source: PathBuf,
    /// Its path from the folder that the pack is unpacked into.
    pub name: PathBuf,
}

/// Returns true for a file that begins as a pack does, and not as a plan.
///
/// # Errors
///
/// When it cannot be read.
pub fn is_pack(path: &Path) -> Result<bool, FormatError> {
    let mut first = Vec::new();
    let file = content::open(path).map_err(cannot_read(path))?;
    let read = file.take(ZSTD.len() as u64).read_to_end(&mut first);
    read.map_err(cannot_read(path))?;
    Ok(first == ZSTD)
}

/// Writes a plan and its files into a new archive, and gives back the number of its bytes.
///
/// # Errors
///
/// A file that cannot be read, or an archive that is there already or cannot be written.
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
        append(&mut archive, file)?;
    }
    let bytes = archive.into_inner().map_err(broken)?;
    let packed = compress_to_vec(&bytes[..], CompressionLevel::Fastest);
    if target.exists() {
        return Err(FileProblem::AlreadyExists.of(target));
    }
    write_bytes(target, &packed)?;
    Ok(packed.len() as u64)
}

/// What the archive says of a file; nothing of its time and owner.
fn about(size: usize, executable: bool) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(size as u64);
    header.set_mode(if executable { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header
}

/// Appends a file, or all that lies in a folder, in the order of names.
fn append(archive: &mut Builder<Vec<u8>>, file: &PackedFile) -> Result<(), FormatError> {
    let PackedFile { source, name } = file;
    let unreadable = || cannot_read(source);
    let found = fs::metadata(source).map_err(unreadable())?;
    if found.is_dir() {
        let entries = fs::read_dir(source).map_err(unreadable())?;
        let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        let mut names = names
            .collect::<io::Result<Vec<_>>>()
            .map_err(unreadable())?;
        names.sort();
        for inner in names {
            append(
                archive,
                &PackedFile {
                    source: source.join(&inner),
                    name: name.join(&inner),
                },
            )?;
        }
        return Ok(());
    }
    if !found.is_file() {
        return Err(FormatError::whole(source, "is neither a file nor a folder"));
    }
    let bytes = fs::read(source).map_err(unreadable())?;
    let mut about = about(bytes.len(), found.permissions().mode() & 0o111 != 0);
    let appended = archive.append_data(&mut about, name, &bytes[..]);
    appended.map_err(unreadable())
}

/// Unpacks an archive into a folder, and says where in it the plan is.
///
/// # Errors
///
/// An archive that cannot be read, that holds other things than files, or files elsewhere than below
/// the folder.
pub fn unpack(pack: &Path, folder: &Path) -> Result<PathBuf, FormatError> {
    let unreadable = || cannot_read(pack);
    let file = content::open(pack).map_err(unreadable())?;
    let frame = StreamingDecoder::new(io::BufReader::new(file));
    let frame = frame.map_err(|problem| FormatError::whole(pack, problem.to_string()))?;
    let mut archive = Archive::new(Bounded::new(frame).map_err(unreadable())?);
    for entry in archive.entries().map_err(unreadable())? {
        let mut entry = entry.map_err(unreadable())?;
        let name = entry.path().map_err(unreadable())?.into_owned();
        let below = name
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !below || entry.header().entry_type() != EntryType::Regular {
            let problem = format!("holds '{}', which is no file of a pack", name.display());
            return Err(FormatError::whole(pack, problem));
        }
        let executable = entry.header().mode().map_err(unreadable())? & 0o111 != 0;
        put(&mut entry, executable, &folder.join(name)).map_err(unreadable())?;
    }
    let plan = folder.join(PLAN);
    if !plan.is_file() {
        return Err(FormatError::whole(pack, "holds no plan"));
    }
    Ok(plan)
}

/// Writes a file of a pack. It has the time of one that is older than any race: a part that goes on is
/// refused where a program was written since it began.
fn put(bytes: &mut impl Read, executable: bool, file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut written = File::create_new(file)?;
    io::copy(bytes, &mut written)?;
    let mode = if executable { 0o755 } else { 0o644 };
    written.set_permissions(fs::Permissions::from_mode(mode))?;
    written.set_modified(std::time::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_testing::runs::{benchmark, command, contenders, design, header, one_look};

    /// An archive of one entry of this name and kind.
    fn archive(folder: &Path, name: &str, kind: EntryType) -> PathBuf {
        let mut about = about(4, false);
        about.set_entry_type(kind);
        // Not by `set_path`, which refuses what this is about.
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
            assert!(told.contains("no file of a pack"), "{name}: {told}");
            assert!(!absolute.exists());
        }
        let pack = archive(base.path(), "old", EntryType::Regular);
        let told = unpack(&pack, &folder).unwrap_err().to_string();
        assert!(told.contains("holds no plan"), "{told}");
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
