//! The cache of neutral links, by record, linker and seed.
//!
//! ```text
//! .deadheat/links/placements/making-RANDOM/      files that a process is writing
//! .deadheat/links/placements/DIGEST/linker.json  the linker that was chosen for this record
//! .deadheat/links/placements/DIGEST/direct-LINKER.json  the linker's call without the driver
//! .deadheat/links/placements/DIGEST/output.json  the state of the executable when it was last read
//! .deadheat/links/placements/DIGEST/sections-LINKER.json  the function sections that the linker keeps
//! .deadheat/links/placements/DIGEST/LINKER/SEED  a neutral link
//! .deadheat/links/placements/DIGEST/LINKER/SEED.json  its hash and length; the time of the file is that of the last use
//! ```
//!
//! [`StoredLinks`] lists all files kept for the links into one folder, to measure or remove them.

use std::collections::BTreeSet;
use std::fs::{self, File, metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use deadheat_model::under_new_name;
use serde::{Deserialize, Serialize};

use crate::linker::{Family, Linker, Program};
use crate::matched::{Layout, SectionTable};
use crate::neutral_link::DirectCall;
use crate::record::{Digest, LinkRecord, Stamp};
use crate::store::{alone_in, lock_file};

/// The limits on the total size of the neutral links in one folder `.deadheat/links`, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The limit while a race runs. A race reuses its links for every benchmark.
    pub(crate) racing: u64,
    /// The limit while no race runs. The next race draws other seeds, and reuses links only if the
    /// user repeats the seed of an earlier race: a dozen benchmarks left 264 MB of unused links.
    pub(crate) idle: u64,
}

impl Limits {
    /// The limits on the cache of neutral links if `DEADHEAT_CACHE_LIMIT` is not set.
    pub(crate) const DEFAULT: Self = Self {
        racing: 1 << 30,
        idle: 32 << 20,
    };
}

/// A neutral link in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) executable: PathBuf,
    /// The first 16 hexadecimal digits of the SHA-256 of the neutral link.
    pub(crate) hash: String,
}

/// The stored description of a neutral link, so that the link itself need not be read.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    hash: String,
    length: u64,
}

/// The call of a linker without the compiler driver, and the programs with which it was tested. The
/// call is `None` if it does not make the same link as the driver.
#[derive(Debug, Serialize, Deserialize)]
struct TriedCall {
    programs: Vec<Program>,
    call: Option<DirectCall>,
}

/// The file stamp of an executable whose digest matched its link record when it was last read.
#[derive(Debug, Serialize, Deserialize)]
struct SeenOutput {
    stamp: Stamp,
    digest: Digest,
}

/// The prefix of the names of folders in which a process makes a neutral link.
const MAKING: &str = "making-";

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    home: PathBuf,
}

impl Cache {
    pub(crate) fn new(home: PathBuf) -> Self {
        Self { home }
    }

    fn placements(&self) -> PathBuf {
        self.home.join("placements")
    }

    /// Returns the cache entry for the neutral links of a record by a linker. Links that are
    /// matched to other builds by a layout have a separate entry.
    pub(crate) fn entry(
        &self,
        record: &Digest,
        linker: &Linker,
        layout: Option<&Layout>,
    ) -> CacheEntry {
        let mut name = name_of_linker(linker);
        if let Some(layout) = layout {
            name = format!("{name}-{}", &layout.digest().0[..16]);
        }
        CacheEntry {
            cache: self.clone(),
            folder: self.placements().join(&record.0).join(name),
        }
    }

    fn sections(&self, record: &Digest, linker: &Linker) -> PathBuf {
        let name = format!("sections-{}.json", name_of_linker(linker));
        self.placements().join(&record.0).join(name)
    }

    /// Returns the cached table of the function sections that `linker` keeps when it links
    /// `record`; `None` if no table is cached.
    pub(crate) fn known_sections(&self, record: &Digest, linker: &Linker) -> Option<SectionTable> {
        serde_json::from_slice(&fs::read(self.sections(record, linker)).ok()?).ok()
    }

    pub(crate) fn keep_sections(
        &self,
        record: &Digest,
        linker: &Linker,
        table: &SectionTable,
        work_folder: &WorkFolder,
    ) -> io::Result<()> {
        let text = serde_json::to_vec(table)?;
        self.keep_note(record, &text, &self.sections(record, linker), work_folder)
    }

    /// Writes a file with facts about a record into the folder of the record's neutral links.
    fn keep_note(
        &self,
        record: &Digest,
        text: &[u8],
        file: &Path,
        work_folder: &WorkFolder,
    ) -> io::Result<()> {
        let made = work_folder.folder.join("note.json");
        fs::write(&made, text)?;
        let _lock = self.lock()?;
        fs::create_dir_all(self.placements().join(&record.0))?;
        fs::rename(made, file)
    }

    fn direct(&self, record: &Digest, linker: &Linker) -> PathBuf {
        let name = format!("direct-{}.json", name_of_linker(linker));
        self.placements().join(&record.0).join(name)
    }

    /// Returns the cached result of a test: whether a direct call of the linker makes the same link
    /// as the compiler driver. `Some(Some(call))` if it does, `Some(None)` if it does not, and `None`
    /// if this driver and linker were not tested.
    pub(crate) fn known_direct_call(
        &self,
        record: &Digest,
        linker: &Linker,
    ) -> Option<Option<DirectCall>> {
        let text = fs::read(self.direct(record, linker)).ok()?;
        let tried: TriedCall = serde_json::from_slice(&text).ok()?;
        (tried.programs == linker.programs).then_some(tried.call)
    }

    pub(crate) fn keep_direct_call(
        &self,
        record: &Digest,
        linker: &Linker,
        call: Option<DirectCall>,
        work_folder: &WorkFolder,
    ) -> io::Result<()> {
        let programs = linker.programs.clone();
        let text = serde_json::to_vec(&TriedCall { programs, call })?;
        self.keep_note(record, &text, &self.direct(record, linker), work_folder)
    }

    /// Returns the path of the file that stores the linker chosen for `record`, among all linkers
    /// or among those of the family `forced`.
    fn choice(&self, record: &Digest, forced: Option<Family>) -> PathBuf {
        let name = forced.map_or("linker.json".to_owned(), |family| {
            format!("linker-{}.json", family.name())
        });
        self.placements().join(&record.0).join(name)
    }

    pub(crate) fn chosen_linker(&self, record: &Digest, forced: Option<Family>) -> Option<Linker> {
        let text = fs::read(self.choice(record, forced)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub(crate) fn choose_linker(
        &self,
        record: &Digest,
        forced: Option<Family>,
        linker: &Linker,
        work_folder: &WorkFolder,
    ) -> io::Result<()> {
        let text = serde_json::to_vec(linker)?;
        self.keep_note(record, &text, &self.choice(record, forced), work_folder)
    }

    fn output(&self, record: &LinkRecord) -> PathBuf {
        self.placements().join(&record.digest.0).join("output.json")
    }

    /// Returns true if the record's executable has not changed since it was last checked. If all
    /// requested neutral links are cached, `deadheat placements` takes 8 ms, of which it would
    /// spend 5 ms on reading and hashing an executable of 3.4 MB.
    pub(crate) fn has_seen_output(&self, record: &LinkRecord) -> bool {
        let seen = || -> Option<SeenOutput> {
            serde_json::from_slice(&fs::read(self.output(record)).ok()?).ok()
        };
        let stamp = metadata(&record.output).map(|about| Stamp::of(&about));
        seen().is_some_and(|seen| {
            seen.digest == record.output_digest && stamp.is_ok_and(|stamp| stamp == seen.stamp)
        })
    }

    pub(crate) fn keep_seen_output(
        &self,
        record: &LinkRecord,
        stamp: Stamp,
        work_folder: &WorkFolder,
    ) -> io::Result<()> {
        let digest = record.output_digest.clone();
        let text = serde_json::to_vec(&SeenOutput { stamp, digest })?;
        self.keep_note(&record.digest, &text, &self.output(record), work_folder)
    }

    /// Waits for the lock on changes below `home`, which is held until the returned file is
    /// dropped.
    fn lock(&self) -> io::Result<File> {
        let file = lock_file(&self.home)?;
        file.lock()?;
        Ok(file)
    }

    /// Creates a work folder, which is removed with its content when dropped. Also removes work
    /// folders of killed processes.
    pub(crate) fn work_folder(&self) -> io::Result<WorkFolder> {
        let _lock = self.lock()?;
        let placements = self.placements();
        fs::create_dir_all(&placements)?;
        for entry in fs::read_dir(&placements)? {
            let entry = entry?;
            let is_making = entry.file_name().to_string_lossy().starts_with(MAKING);
            if is_making && is_abandoned(&entry.path()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let name = |random: u64| format!("{MAKING}{random:016x}");
        let created = under_new_name(&placements, name, |path| fs::create_dir(path));
        let (folder, ()) = created.map_err(|(_, error)| error)?;
        let busy = File::create_new(folder.join("busy"))?;
        busy.lock()?;
        Ok(WorkFolder {
            folder,
            _busy: busy,
        })
    }

    /// If the neutral links exceed the limit, removes links until three quarters of the limit are
    /// left: first those of removed records, then the least recently used. Links in `spared` stay.
    /// While no race runs, links of removed records are always removed.
    pub(crate) fn trim(&self, limits: Limits, spared: &BTreeSet<PathBuf>) -> io::Result<()> {
        let _lock = self.lock()?;
        // Held until the end, so that no race starts with links about to be removed.
        let idle = alone_in(&self.home)?;
        let limit = match &idle {
            Some(_) => {
                self.remove_unrecorded()?;
                limits.idle
            }
            None => limits.racing,
        };
        let mut kept = self.kept_variants()?;
        let mut total: u64 = kept.iter().map(|variant| variant.length).sum();
        if total <= limit {
            return Ok(());
        }
        let records = self.records()?;
        kept.sort_by_key(|variant| (records.contains(&variant.record), variant.used));
        // More than the excess is removed, so that not every new link causes a removal.
        let room = limit - limit / 4;
        for variant in kept {
            if total <= room {
                break;
            }
            if spared.contains(&variant.path) {
                continue;
            }
            total -= variant.length;
            fs::remove_file(note_path(&variant.path)).or_else(ignore_missing)?;
            fs::remove_file(&variant.path).or_else(ignore_missing)?;
            // `remove_dir` removes only an empty folder, so a folder that still contains links
            // stays.
            if let Some(of_linker) = variant.path.parent()
                && fs::remove_dir(of_linker).is_ok()
                && let Some(folder) = of_linker.parent()
                && !records.contains(&variant.record)
            {
                fs::remove_dir_all(folder).or_else(ignore_missing)?;
            }
        }
        Ok(())
    }

    /// Removes the neutral links of removed records, which cannot be requested any more.
    fn remove_unrecorded(&self) -> io::Result<()> {
        let records = self.records()?;
        for folder in subfolders(&self.placements())? {
            let name = name_of(&folder);
            if Digest::is_spelled(&name) && !records.contains(&name) {
                fs::remove_dir_all(folder).or_else(ignore_missing)?;
            }
        }
        Ok(())
    }

    fn kept_variants(&self) -> io::Result<Vec<Kept>> {
        let mut kept = Vec::new();
        for record in subfolders(&self.placements())? {
            let name = name_of(&record);
            if name.starts_with(MAKING) {
                continue;
            }
            for of_linker in subfolders(&record)? {
                for entry in fs::read_dir(&of_linker)? {
                    let entry = entry?;
                    let path = entry.path();
                    if path.extension().is_some() {
                        continue;
                    }
                    let about = entry.metadata()?;
                    let used = fs::metadata(note_path(&path)).and_then(|note| note.modified());
                    kept.push(Kept {
                        record: name.clone(),
                        path,
                        length: about.len(),
                        used: used.unwrap_or(SystemTime::UNIX_EPOCH),
                    });
                }
            }
        }
        Ok(kept)
    }

    fn records(&self) -> io::Result<BTreeSet<String>> {
        let mut digests = BTreeSet::new();
        for entry in fs::read_dir(&self.home)? {
            let path = entry?.path();
            if path.extension() == Some("json".as_ref())
                && let Ok(text) = fs::read(&path)
                && let Ok(record) = serde_json::from_slice::<LinkRecord>(&text)
            {
                digests.insert(record.digest.0);
            }
        }
        Ok(digests)
    }
}

#[derive(Debug)]
struct Kept {
    record: String,
    path: PathBuf,
    length: u64,
    used: SystemTime,
}

/// The cached neutral links of a link record by a given linker.
#[derive(Clone, Debug)]
pub(crate) struct CacheEntry {
    cache: Cache,
    folder: PathBuf,
}

impl CacheEntry {
    /// Returns true if the folder of this cache entry exists, which the first neutral link creates.
    pub(crate) fn is_begun(&self) -> bool {
        self.folder.is_dir()
    }

    pub(crate) fn path(&self, seed: u32) -> PathBuf {
        self.folder.join(seed.to_string())
    }

    /// Returns the neutral link for this seed, if cached, and marks it as used now.
    pub(crate) fn find(&self, seed: u32) -> Option<Variant> {
        let executable = self.path(seed);
        let note: Note = serde_json::from_slice(&fs::read(note_path(&executable)).ok()?).ok()?;
        if fs::metadata(&executable).ok()?.len() != note.length {
            return None;
        }
        // Without write permission the link is still usable.
        let _ = File::options()
            .append(true)
            .open(note_path(&executable))
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(Variant {
            executable,
            hash: note.hash,
        })
    }

    /// Moves the new neutral link `made`, whose content is `bytes`, into the cache.
    pub(crate) fn keep(&self, seed: u32, made: &Path, bytes: &[u8]) -> io::Result<Variant> {
        let executable = self.path(seed);
        let Digest(mut hash) = Digest::of(bytes);
        hash.truncate(16);
        let note = Note {
            hash: hash.clone(),
            length: bytes.len() as u64,
        };
        let made_note = note_path(made);
        fs::write(&made_note, serde_json::to_vec(&note)?)?;
        let _lock = self.cache.lock()?;
        fs::create_dir_all(&self.folder)?;
        fs::rename(made, &executable)?;
        fs::rename(made_note, note_path(&executable))?;
        Ok(Variant { executable, hash })
    }
}

#[derive(Debug)]
pub(crate) struct WorkFolder {
    pub(crate) folder: PathBuf,
    /// The file `busy` in the folder, which this process keeps locked. Other processes remove a
    /// folder whose file `busy` is missing or not locked.
    _busy: File,
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // If the removal fails, the next process removes the folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_abandoned(folder: &Path) -> bool {
    match File::open(folder.join("busy")) {
        Ok(busy) => busy.try_lock().is_ok(),
        Err(_) => true,
    }
}

fn name_of_linker(linker: &Linker) -> String {
    let identity = format!("{} {:?}", linker.version, linker.selection);
    let Digest(digest) = Digest::of(identity.as_bytes());
    format!("{}-{}", linker.family.name(), &digest[..8])
}

fn note_path(executable: &Path) -> PathBuf {
    executable.with_extension("json")
}

/// Returns true for a folder in `placements` that contains neutral links, or files of a killed
/// process.
pub(crate) fn is_of_neutral_links(entry: &Path) -> bool {
    let name = name_of(entry);
    Digest::is_spelled(&name) || (name.starts_with(MAKING) && is_abandoned(entry))
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn subfolders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry?;
        folders.extend(entry.file_type()?.is_dir().then(|| entry.path()));
    }
    Ok(folders)
}

fn ignore_missing(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

/// The stored files in a folder `.deadheat/links`. The methods list only files that deadheat wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLinks {
    home: PathBuf,
}

impl StoredLinks {
    /// Returns the list of the stored files in `home`, a folder `.deadheat/links`.
    pub fn at(home: PathBuf) -> Self {
        Self { home }
    }

    /// Returns the folder `.deadheat/links`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the neutral links. The next race that draws the same seeds makes them again.
    pub fn neutral_links(&self) -> Vec<PathBuf> {
        let placements = self.home.join("placements");
        entries(&placements, |entry, _| is_of_neutral_links(entry))
    }

    /// Returns the link records and the objects that the links were made from. The next link of the
    /// program stores them again.
    pub fn records(&self) -> Vec<PathBuf> {
        let mut known = entries(&self.home.join("inputs"), |_, name| {
            let name = name.strip_suffix(".new").unwrap_or(name);
            Digest::is_spelled(name.split('.').next().unwrap_or(name))
        });
        known.extend(entries(&self.home, |entry, name| {
            let is_record = name.ends_with(".json") && LinkRecord::is_at(entry);
            is_record || ["index", "index.new", "lock"].contains(&name)
        }));
        known
    }

    /// Locks the folder so that it can be removed: while the locks live, no race or link can use
    /// it. `None` if a race or a link is using it.
    ///
    /// # Errors
    ///
    /// The error of a lock that fails for another reason.
    pub fn unused(&self) -> io::Result<Option<[File; 2]>> {
        let Some(races) = alone_in(&self.home)? else {
            return Ok(None);
        };
        let links = lock_file(&self.home)?;
        match links.try_lock() {
            Ok(()) => Ok(Some([races, links])),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Returns the files and folders in a folder for which `is_known` is true; empty if the folder is a
/// symbolic link.
fn entries(folder: &Path, is_known: impl Fn(&Path, &str) -> bool) -> Vec<PathBuf> {
    if fs::symlink_metadata(folder).is_ok_and(|about| about.is_symlink()) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_known = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| is_known(path, name))
    };
    paths.filter(is_known).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::lock_folder;

    fn linker(version: &str) -> Linker {
        Linker {
            family: Family::Lld,
            selection: Vec::new(),
            version: version.to_owned(),
            programs: Vec::new(),
        }
    }

    fn record(cache: &Cache, name: &str) -> Digest {
        let digest = Digest::of(name.as_bytes());
        let record = LinkRecord {
            schema: LinkRecord::SCHEMA.to_owned(),
            driver: "cc".to_owned(),
            directory: "/".into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            output: "/x".into(),
            output_digest: Digest(String::new()),
            digest: digest.clone(),
            obstacle: None,
            unsectioned: Vec::new(),
        };
        let file = cache.home.join(format!("{name}.json"));
        fs::write(file, serde_json::to_vec(&record).unwrap()).unwrap();
        digest
    }

    fn put(entry: &CacheEntry, seed: u32, length: usize, unused_for: u64) -> PathBuf {
        let work_folder = entry.cache.work_folder().unwrap();
        let made = work_folder.folder.join("out");
        fs::write(&made, vec![seed as u8; length]).unwrap();
        let bytes = fs::read(&made).unwrap();
        let variant = entry.keep(seed, &made, &bytes).unwrap();
        let when = SystemTime::now() - Duration::from_secs(unused_for);
        let note = File::options()
            .append(true)
            .open(note_path(&variant.executable))
            .unwrap();
        note.set_modified(when).unwrap();
        variant.executable
    }

    fn there(paths: &[PathBuf]) -> Vec<bool> {
        paths
            .iter()
            .map(|path| path.exists() && note_path(path).exists())
            .collect()
    }

    /// Locks the folder as a race does. Other races can lock it too, but it cannot be removed.
    fn shared(home: &Path) -> io::Result<Option<File>> {
        lock_folder(home, File::try_lock_shared)
    }

    fn limits(bytes: u64) -> Limits {
        Limits {
            racing: bytes,
            idle: bytes,
        }
    }

    #[test]
    fn a_variant_is_found_again_with_its_hash_until_it_is_damaged() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path().to_owned());
        let entry = cache.entry(&record(&cache, "a"), &linker("LLD 14"), None);
        assert_eq!(entry.find(1), None);
        let path = put(&entry, 1, 3, 0);
        let found = entry.find(1).unwrap();
        assert_eq!(found.executable, path);
        // `sha256sum` of three bytes 01.
        assert_eq!(found.hash, "75c8fd04ad916aec");
        fs::write(&path, b"torn by somebody").unwrap();
        assert_eq!(entry.find(1), None);
        assert_eq!(
            cache
                .entry(&Digest::of(b"a"), &linker("LLD 15"), None)
                .find(1),
            None
        );
    }

    #[test]
    fn trim_removes_the_least_recently_used_and_spares_the_request() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path().to_owned());
        let entry = cache.entry(&record(&cache, "a"), &linker("LLD 14"), None);
        let paths: Vec<_> = (1..=4)
            .map(|seed| put(&entry, seed, 100, 100 * u64::from(seed)))
            .collect();
        let spared = BTreeSet::from([paths[3].clone()]);
        cache.trim(limits(400), &spared).unwrap();
        assert_eq!(there(&paths), [true, true, true, true]);
        // Two links fit into three quarters of the limit.
        cache.trim(limits(270), &spared).unwrap();
        assert_eq!(there(&paths), [true, false, false, true]);
        cache.trim(limits(0), &spared).unwrap();
        assert_eq!(there(&paths), [false, false, false, true]);
    }

    #[test]
    fn finding_a_variant_marks_it_as_used() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path().to_owned());
        let entry = cache.entry(&record(&cache, "a"), &linker("LLD 14"), None);
        let paths = [put(&entry, 1, 100, 500), put(&entry, 2, 100, 400)];
        entry.find(1).unwrap();
        cache.trim(limits(150), &BTreeSet::new()).unwrap();
        assert_eq!(there(&paths), [true, false]);
    }

    #[test]
    fn trim_removes_variants_of_removed_records_first() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path().to_owned());
        let [kept, gone] = ["kept", "gone"]
            .map(|name| cache.entry(&record(&cache, name), &linker("LLD 14"), None));
        let paths = [put(&kept, 1, 100, 900), put(&gone, 1, 100, 0)];
        fs::remove_file(home.path().join("gone.json")).unwrap();
        let racing = shared(home.path()).unwrap().unwrap();
        cache.trim(limits(150), &BTreeSet::new()).unwrap();
        assert_eq!(there(&paths), [true, false]);
        let Digest(folder) = Digest::of(b"gone");
        assert!(!home.path().join("placements").join(folder).exists());
        drop(racing);
        // Also below the limit, if no race runs.
        let path = put(&gone, 2, 100, 0);
        cache.trim(limits(1000), &BTreeSet::new()).unwrap();
        assert_eq!(there(&[path]), [false]);
    }

    #[test]
    fn a_race_keeps_its_links_and_most_of_them_go_when_it_is_over() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path().to_owned());
        let entry = cache.entry(&record(&cache, "a"), &linker("LLD 14"), None);
        let paths: Vec<_> = (1..=4)
            .map(|seed| put(&entry, seed, 100, 100 * u64::from(seed)))
            .collect();
        let limits = Limits {
            racing: 400,
            idle: 200,
        };
        let race = shared(home.path()).unwrap().unwrap();
        cache.trim(limits, &BTreeSet::new()).unwrap();
        assert_eq!(there(&paths), [true, true, true, true]);
        drop(race);
        cache.trim(limits, &BTreeSet::new()).unwrap();
        assert_eq!(there(&paths), [true, false, false, false]);
    }

    #[test]
    fn removes_work_folders_of_killed_processes_only() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path().to_owned());
        let busy = cache.work_folder().unwrap();
        let abandoned = home.path().join("placements/making-1-0");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join("busy"), b"").unwrap();
        fs::write(abandoned.join("7"), b"half a link").unwrap();
        let other = cache.work_folder().unwrap();
        assert!(!abandoned.exists());
        assert!(busy.folder.exists() && other.folder.exists());
        let folder = busy.folder.clone();
        drop(busy);
        assert!(!folder.exists());
    }

    #[test]
    fn races_share_a_folder_and_block_its_removal() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let races = [shared(home), shared(home)].map(|hold| hold.unwrap().unwrap());
        assert!(alone_in(home).unwrap().is_none());
        drop(races);
        let alone = alone_in(home).unwrap().unwrap();
        assert!(shared(home).unwrap().is_none());
        drop(alone);
        assert!(shared(home).unwrap().is_some());
        assert!(shared(&home.join("gone")).is_err());
    }
}
