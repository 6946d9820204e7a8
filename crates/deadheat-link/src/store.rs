//! Stores copies of the files that were linked into one folder. An index records which files are
//! stored, so that an unchanged file is not read again.
//!
//! A thin archive, whose members are separate files, is stored as a normal archive.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use object::archive::{MAGIC, THIN_MAGIC};
use object::read::archive::{ArchiveFile, ArchiveMember};
use serde::{Deserialize, Serialize};

use crate::align::{Problem, Survey, align};
use crate::record::{Digest, LinkRecord, Stamp, record_file};
use crate::tracked::refuse_tracked;

/// The longest time to wait for another link into the same folder.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, thiserror::Error)]
#[error("{file}: {problem}")]
pub(crate) struct StoreError {
    pub(crate) file: PathBuf,
    pub(crate) problem: io::Error,
}

fn at(file: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |problem| StoreError {
        file: file.to_owned(),
        problem,
    }
}

#[derive(Debug, PartialEq)]
pub(crate) enum Kept {
    /// The file is in the store under this name.
    Stored(String, Survey),
    /// The file is a shared library or a program, which is not stored. Neutral links use the
    /// original.
    Linked,
    /// The file cannot be aligned, for this reason, and is not stored.
    Unknown(String),
}

/// The stored inputs of all links into one folder. The store is locked until this value is dropped.
#[derive(Debug)]
pub(crate) struct Store {
    home: PathBuf,
    index: Index,
    _lock: File,
}

impl Store {
    /// Opens the store for links into `folder`; waits for other processes that use it.
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        let home = LinkRecord::home(folder);
        let base = home.parent().unwrap_or(&home);
        refuse_tracked(&home).map_err(|error| at(&home)(io::Error::other(error.to_string())))?;
        match fs::create_dir(base) {
            Ok(()) => {
                let ignore = base.join(".gitignore");
                fs::write(&ignore, "*\n").map_err(|error| {
                    // An incomplete `.gitignore` is removed together with the folder, because a
                    // later process writes the file only if it creates the folder.
                    let _ = fs::remove_file(&ignore);
                    let _ = fs::remove_dir(base);
                    at(&ignore)(error)
                })?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(at(base)(error)),
        }
        let inputs = home.join("inputs");
        fs::create_dir_all(&inputs).map_err(at(&inputs))?;
        let lock = locked(&home)?;
        // An unreadable index is rebuilt.
        let index = fs::read(home.join("index"))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        Ok(Self {
            home,
            index,
            _lock: lock,
        })
    }

    /// Stores a copy of `file`. In the copy, function sections are aligned, and sections that no
    /// link reads are set to zero.
    pub(crate) fn keep(&mut self, file: &Path) -> Result<Kept, StoreError> {
        let now = SystemTime::now();
        let mut opened = File::open(file).map_err(at(file))?;
        let stamp = Stamp::of(&opened.metadata().map_err(at(file))?);
        if let Some(name) = self.index.name_of(file, &stamp)
            && let Some(survey) = self.index.inputs.get(name)
            && self.holds(name)
        {
            return Ok(Kept::Stored(name.to_owned(), survey.clone()));
        }
        let mut bytes = Vec::new();
        opened.read_to_end(&mut bytes).map_err(at(file))?;
        let is_thin = is_thin(&bytes);
        if is_thin {
            match gathered(&bytes, file.parent().unwrap_or(file)) {
                Ok(whole) => bytes = whole,
                Err(problem) => return Ok(Kept::Unknown(problem)),
            }
        }
        let mut name = Digest::of(&bytes).0;
        if let Some(extension) = file.extension().and_then(|extension| extension.to_str()) {
            name = format!("{name}.{extension}");
        }
        let survey = match self.index.inputs.get(&name) {
            Some(survey) if self.holds(&name) => survey.clone(),
            _ => {
                let survey = match align("", &mut bytes) {
                    Ok(survey) => survey,
                    // A linker script or a list of symbols.
                    Err(Problem::Foreign) if !bytes.contains(&0) => Survey::default(),
                    Err(Problem::Linked) => return Ok(Kept::Linked),
                    Err(problem) => return Ok(Kept::Unknown(problem.to_string())),
                };
                write_whole(&self.home.join("inputs").join(&name), &bytes)?;
                self.index.inputs.insert(name.clone(), survey.clone());
                survey
            }
        };
        // The stamp of a thin archive does not change if its members do.
        if !is_thin {
            self.index.remember(file, stamp, now, &name);
        }
        Ok(Kept::Stored(name, survey))
    }

    fn holds(&self, name: &str) -> bool {
        self.home.join("inputs").join(name).exists()
    }

    /// Writes the record, and removes inputs that no link needs any more.
    pub(crate) fn finish(mut self, record: &LinkRecord) -> Result<(), StoreError> {
        save(record)?;
        // The record is already written. If clearing fails, the next link tries again.
        let _ = self.clear(Shared::Stay);
        Ok(())
    }

    /// Removes records whose output is gone, and inputs without a record.
    pub(crate) fn clear(&mut self, shared: Shared) -> Result<(), StoreError> {
        let mut needed = self.drop_records_without_output()?;
        let inputs = self.home.join("inputs");
        for entry in fs::read_dir(&inputs).map_err(at(&inputs))? {
            let entry = entry.map_err(at(&inputs))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if needed.contains(&name) {
                continue;
            }
            let has_another_name = || entry.metadata().is_ok_and(|about| about.nlink() > 1);
            if shared == Shared::Stay && has_another_name() {
                needed.insert(name);
            } else {
                let _ = fs::remove_file(entry.path());
            }
        }
        self.index.retain(|name| needed.contains(name));
        let index = serde_json::to_vec(&self.index).unwrap_or_default();
        write_whole(&self.home.join("index"), &index)
    }

    /// Removes records whose output is gone, and returns the names of the inputs that the remaining
    /// records need.
    fn drop_records_without_output(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut needed = BTreeSet::new();
        let folder = self.home.ancestors().nth(2).unwrap_or(&self.home);
        for entry in fs::read_dir(&self.home).map_err(at(&self.home))? {
            let path = entry.map_err(at(&self.home))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            // This process holds the lock, so the process that was writing the file was killed.
            if name.is_some_and(|name| name.ends_with(UNFINISHED)) {
                let _ = fs::remove_file(&path);
            }
            let Some(output) = name.and_then(|name| name.strip_suffix(".json")) else {
                continue;
            };
            if path == self.home.join("index") {
                continue;
            }
            let record = folder.join(output).exists().then(|| read(&path)).flatten();
            let Some(record) = record else {
                let _ = fs::remove_file(&path);
                continue;
            };
            needed.extend(record.inputs().map(|input| input.name.clone()));
        }
        Ok(needed)
    }
}

/// Whether to keep inputs that no record needs, but that another store shares by a hard link. They
/// take no extra space, and an unfinished build of a commit may need them: its store begins with
/// hard links to the inputs of the working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shared {
    Stay,
    Go,
}

/// Removes the stored inputs that no recorded link with its output in `folder` needs. Call it when all links
/// are finished.
///
/// # Errors
///
/// The store cannot be opened or changed.
pub fn drop_unneeded(folder: &Path) -> io::Result<()> {
    let cleared = Store::open(folder).and_then(|mut store| store.clear(Shared::Go));
    cleared.map_err(|error| error.problem)
}

/// Atomically writes the record to its place next to the executable.
fn save(record: &LinkRecord) -> Result<(), StoreError> {
    let failed = |problem| StoreError {
        file: record.output.clone(),
        problem,
    };
    let file = record_file(&record.output)
        .ok_or_else(|| failed(io::Error::other("its name is not Unicode")))?;
    let mut text = serde_json::to_vec_pretty(record).map_err(|error| failed(error.into()))?;
    text.push(b'\n');
    write_whole(&file, &text)
}

/// Reads a record of this schema version; `None` if the file holds anything else.
fn read(file: &Path) -> Option<LinkRecord> {
    let record: LinkRecord = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    (record.schema == LinkRecord::SCHEMA && record.strange_name().is_none()).then_some(record)
}

/// Opens the file that a process locks while it changes anything in `home`, a folder
/// `.deadheat/links`.
pub(crate) fn lock_file(home: &Path) -> io::Result<File> {
    open_lock(&home.join("lock"))
}

/// Opens a file for a lock, and creates it if it is missing.
///
/// # Errors
///
/// The path is not a regular file. An unpacked archive may contain a named pipe, or a symbolic link
/// through which this function would create a file elsewhere.
pub fn open_lock(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(io::Error::other("it is not a file, so it cannot be locked"));
    }
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    options.open(path)
}

/// Locks a folder `.deadheat/links` exclusively. Returns `None` while a race runs, because the
/// engine locks the folder during a race, and if the folder was replaced in the meantime.
pub(crate) fn alone_in(home: &Path) -> io::Result<Option<File>> {
    lock_folder(home, File::try_lock)
}

pub(crate) fn lock_folder(
    home: &Path,
    attempt: fn(&File) -> Result<(), TryLockError>,
) -> io::Result<Option<File>> {
    let folder = File::open(home)?;
    match attempt(&folder) {
        Err(TryLockError::WouldBlock) => return Ok(None),
        attempted => attempted?,
    }
    // The folder may have been removed and created again in between.
    let (ours, there) = (folder.metadata()?, fs::metadata(home)?);
    let is_there = (ours.dev(), ours.ino()) == (there.dev(), there.ino());
    Ok(is_there.then_some(folder))
}

/// Waits for the lock, but not forever, because a build must not hang.
fn locked(home: &Path) -> Result<File, StoreError> {
    let file = &home.join("lock");
    let lock = lock_file(home).map_err(at(file))?;
    let begin = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(error)) => return Err(at(file)(error)),
            Err(TryLockError::WouldBlock) if begin.elapsed() > PATIENCE => {
                let seconds = PATIENCE.as_secs();
                let held = format!("another process has locked it for {seconds} s");
                return Err(at(file)(io::Error::other(held)));
            }
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(2)),
        }
    }
}

const UNFINISHED: &str = ".new";

/// Writes a new file with holes instead of pages of zeros.
fn write_sparse(file: &Path, bytes: &[u8]) -> io::Result<()> {
    const PAGE: usize = 4096;
    // A killed process may have left a file here, and a symbolic link must not be followed.
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let opened = File::create_new(file)?;
    opened.set_len(bytes.len() as u64)?;
    let is_blank = |page: &[u8]| page.iter().all(|byte| *byte == 0);
    let mut position = 0;
    let alike = |one: &[u8], next: &[u8]| is_blank(one) == is_blank(next);
    let pages: Vec<&[u8]> = bytes.chunks(PAGE).collect();
    for run in pages.chunk_by(|one, next| alike(one, next)) {
        let end = bytes.len().min(position + run.len() * PAGE);
        if !is_blank(run[0]) {
            opened.write_all_at(&bytes[position..end], position as u64)?;
        }
        position = end;
    }
    Ok(())
}

/// Writes a file atomically. Only the process that holds the lock may call it.
pub(crate) fn write_whole(file: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(UNFINISHED);
    let new = file.with_file_name(name);
    write_sparse(&new, bytes)
        .and_then(|()| fs::rename(&new, file))
        .map_err(|error| {
            let _ = fs::remove_file(&new);
            at(file)(error)
        })
}

/// Files below this many bytes are read again, because that costs less than to index them.
const SMALL: u64 = 16 * 1024;

/// The files that were read, and the surveys of the stored files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Index {
    files: BTreeMap<String, Seen>,
    /// The surveys of the stored files, by name in the store. They do not contain the original file
    /// names.
    pub(crate) inputs: BTreeMap<String, Survey>,
}

/// The state of a file when it was read, and its name in the store.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Seen {
    stamp: Stamp,
    name: String,
}

impl Index {
    /// Returns the name of `file` in the store, if it has not changed since it was read.
    pub(crate) fn name_of(&self, file: &Path, stamp: &Stamp) -> Option<&str> {
        let seen = self.files.get(file.to_str()?)?;
        (seen.stamp == *stamp).then_some(&*seen.name)
    }

    /// Records that `file` was read in the state of `stamp`. `now` is the time just before the
    /// stamp was taken.
    pub(crate) fn remember(&mut self, file: &Path, stamp: Stamp, now: SystemTime, name: &str) {
        if let Some(file) = file.to_str()
            && stamp.size >= SMALL
            && stamp.is_settled(now)
        {
            let name = name.to_owned();
            self.files.insert(file.to_owned(), Seen { stamp, name });
        }
    }

    /// Removes index entries of files that no longer exist, and surveys of inputs for which `kept`
    /// returns false.
    pub(crate) fn retain(&mut self, kept: impl Fn(&str) -> bool) {
        self.inputs.retain(|name, _| kept(name));
        self.files
            .retain(|file, seen| kept(&seen.name) && Path::new(file).exists());
    }
}

/// Returns true if the archive is thin: its members are separate files.
pub(crate) fn is_thin(bytes: &[u8]) -> bool {
    bytes.starts_with(&THIN_MAGIC)
}

/// Converts the thin archive in `folder` to a normal archive, with the same members, names and
/// symbols in the same order.
///
/// # Errors
///
/// A message about the problem.
pub(crate) fn gathered(thin: &[u8], folder: &Path) -> Result<Vec<u8>, String> {
    let broken = |error: object::read::Error| format!("this thin archive is broken ({error})");
    let archive = ArchiveFile::parse(thin).map_err(broken)?;
    let path_of = |member: &ArchiveMember<'_>| String::from_utf8_lossy(member.name()).into_owned();
    let mut members = Vec::new();
    let mut by_path = HashMap::new();
    for member in archive.members() {
        let path = path_of(&member.map_err(broken)?);
        let data = fs::read(folder.join(&path))
            .map_err(|error| format!("a thin archive, whose member {path}: {error}"))?;
        by_path.insert(path.clone(), members.len());
        members.push((path, data));
    }
    // The index of the member that defines each symbol.
    let mut symbols = Vec::new();
    for symbol in archive.symbols().map_err(broken)?.into_iter().flatten() {
        let symbol = symbol.map_err(broken)?;
        let member = archive.member(symbol.offset()).map_err(broken)?;
        if let Some(&index) = by_path.get(&path_of(&member)) {
            symbols.push((index, symbol.name()));
        }
    }
    whole_archive(&members, &symbols)
        .ok_or_else(|| "a thin archive with more than 4 GiB".to_owned())
}

/// Builds an archive in the format of GNU ar; `None` if it is too large for its symbol table.
fn whole_archive(members: &[(String, Vec<u8>)], symbols: &[(usize, &[u8])]) -> Option<Vec<u8>> {
    let mut names = Vec::new();
    let mut name_fields = Vec::new();
    for (path, _) in members {
        name_fields.push(format!("/{}", names.len()));
        let name = path.rsplit('/').next().unwrap_or(path);
        names.extend_from_slice(name.as_bytes());
        names.extend_from_slice(b"/\n");
    }
    let text: usize = symbols.iter().map(|(_, name)| name.len() + 1).sum();
    let table_size = 4 + 4 * symbols.len() + text;
    // The position of every member.
    let mut position = MAGIC.len() + 2 * MEMBER_HEADER + even(table_size) + even(names.len());
    let mut positions = Vec::new();
    for (_, data) in members {
        positions.push(u32::try_from(position).ok()?);
        position += MEMBER_HEADER + even(data.len());
    }
    let mut table = Vec::with_capacity(table_size);
    table.extend_from_slice(&u32::try_from(symbols.len()).ok()?.to_be_bytes());
    for (member, _) in symbols {
        table.extend_from_slice(&positions[*member].to_be_bytes());
    }
    for (_, name) in symbols {
        table.extend_from_slice(name);
        table.push(0);
    }
    let mut whole = MAGIC.to_vec();
    append_member(&mut whole, "/", &table);
    append_member(&mut whole, "//", &names);
    for (name, (_, data)) in name_fields.iter().zip(members) {
        append_member(&mut whole, name, data);
    }
    Some(whole)
}

/// The size of a member header in bytes.
const MEMBER_HEADER: usize = 60;

fn even(size: usize) -> usize {
    size.next_multiple_of(2)
}

fn append_member(whole: &mut Vec<u8>, name: &str, data: &[u8]) {
    // Name, time, owner, group, mode, size.
    let size = data.len();
    let header = format!("{name:<16}{0:<12}{0:<6}{0:<6}{1:<8}{size:<10}`\n", 0, 644);
    whole.extend_from_slice(header.as_bytes());
    whole.extend_from_slice(data);
    if data.len() % 2 == 1 {
        whole.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TICK;

    #[test]
    fn a_file_is_read_again_once_anything_about_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("big.o");
        fs::write(&file, vec![0; 20_000]).unwrap();
        let later = SystemTime::now() + Duration::from_secs(1);
        let stamp = Stamp::of(&fs::metadata(&file).unwrap());
        let mut index = Index::default();
        index.remember(&file, stamp, later, "D.o");
        assert_eq!(index.name_of(&file, &stamp), Some("D.o"));
        // The same size, with the old time restored.
        let old = fs::metadata(&file).unwrap().modified().unwrap();
        fs::remove_file(&file).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&file, vec![1; 20_000]).unwrap();
        fs::File::open(&file).unwrap().set_modified(old).unwrap();
        let stamp = Stamp::of(&fs::metadata(&file).unwrap());
        assert_eq!(index.name_of(&file, &stamp), None);
    }

    #[test]
    fn a_file_that_changed_a_moment_ago_and_a_small_one_are_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let (file, small) = (folder.path().join("big.o"), folder.path().join("small.o"));
        fs::write(&file, vec![0; 20_000]).unwrap();
        fs::write(&small, "x").unwrap();
        let mut index = Index::default();
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        for (file, now) in [(&file, modified), (&small, modified + 10 * TICK)] {
            let stamp = Stamp::of(&fs::metadata(file).unwrap());
            index.remember(file, stamp, now, "D.o");
            assert_eq!(index.name_of(file, &stamp), None);
        }
    }

    #[test]
    fn what_was_written_is_read_back_with_its_symbols() {
        let members = [
            ("dir/a.o".to_owned(), vec![1; 3]),
            ("b.o".to_owned(), vec![2; 8]),
        ];
        let symbols: [(usize, &[u8]); 3] = [(1, b"bee"), (0, b"a"), (1, b"be")];
        let whole = whole_archive(&members, &symbols).unwrap();
        let archive = ArchiveFile::parse(&*whole).unwrap();
        let read: Vec<_> = archive
            .members()
            .map(|member| member.unwrap())
            .map(|member| (member.name(), member.data(&*whole).unwrap()))
            .collect();
        let expected: [(&[u8], &[u8]); 2] = [(b"a.o", &[1; 3]), (b"b.o", &[2; 8])];
        assert_eq!(read, expected);
        for (symbol, (member, name)) in archive.symbols().unwrap().unwrap().zip(symbols) {
            let symbol = symbol.unwrap();
            assert_eq!(symbol.name(), name);
            let found = archive.member(symbol.offset()).unwrap();
            assert_eq!(found.name(), expected[member].0);
        }
    }

    #[test]
    fn a_member_that_is_gone_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut thin = THIN_MAGIC.to_vec();
        append_member(&mut thin, "//", b"gone.o/\n");
        thin.extend_from_slice(format!("{:<48}{:<10}`\n", "/0", 5).as_bytes());
        assert!(is_thin(&thin));
        let problem = gathered(&thin, folder.path()).unwrap_err();
        assert!(problem.contains("member gone.o: "), "{problem}");
    }
}
