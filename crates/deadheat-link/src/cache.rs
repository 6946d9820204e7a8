//! Neutral links that were made before, by record, linker and seed.
//!
//! ```text
//! .deadheat/links/placements/making-PID-N/       what a process is just making
//! .deadheat/links/placements/DIGEST/linker.json  the linker that was chosen for this record
//! .deadheat/links/placements/DIGEST/direct-LINKER.json  its call without the driver
//! .deadheat/links/placements/DIGEST/output.json  the executable as it was when it was last read
//! .deadheat/links/placements/DIGEST/sections-LINKER.json  the function sections it keeps
//! .deadheat/links/placements/DIGEST/LINKER/SEED  a neutral link
//! .deadheat/links/placements/DIGEST/LINKER/SEED.json  what is known of it; its time is that of the last use
//! ```
//!
//! [`StoredLinks`] names all that is kept of the links into one folder, for those who measure it or
//! clear it away.

use std::collections::BTreeSet;
use std::fs::{self, File, metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::linker::{Family, Linker, Program};
use crate::matched::{Layout, SectionTable};
use crate::neutral_link::DirectCall;
use crate::record::{Digest, LinkRecord, Stamp};
use crate::store::{alone_in, lock_file};

/// The bytes of neutral links that one `.deadheat/links` keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// While a race runs, which comes back to its links for every benchmark.
    pub(crate) racing: u64,
    /// While none does. The next race draws other seeds, and finds a link again only where it is
    /// given the seed of an earlier one: a dozen benchmarks left 264 MB that nobody asked for.
    pub(crate) idle: u64,
}

impl Limits {
    /// The bounds unless `DEADHEAT_CACHE_LIMIT` says otherwise.
    pub(crate) const DEFAULT: Self = Self {
        racing: 1 << 30,
        idle: 32 << 20,
    };
}

/// A neutral link that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) executable: PathBuf,
    /// The first 16 hexadecimal digits of its SHA-256.
    pub(crate) hash: String,
}

/// The facts known of a variant without reading it.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    hash: String,
    length: u64,
}

/// The direct call of a linker, if it links as the driver does by these programs.
#[derive(Debug, Serialize, Deserialize)]
struct TriedCall {
    programs: Vec<Program>,
    call: Option<DirectCall>,
}

/// An executable that was read and found to be the one that was linked.
#[derive(Debug, Serialize, Deserialize)]
struct SeenOutput {
    stamp: Stamp,
    digest: Digest,
}

/// The beginning of the names of folders in which a process makes something.
const MAKING: &str = "making-";

/// The neutral links of one folder `.deadheat/links`.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    home: PathBuf,
}

impl Cache {
    /// That of `home`, the folder `.deadheat/links`.
    pub(crate) fn new(home: PathBuf) -> Self {
        Self { home }
    }

    fn placements(&self) -> PathBuf {
        self.home.join("placements")
    }

    /// The variants of a record by a linker; those that are matched to other builds by a layout
    /// are apart.
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

    /// The file of the sections that a linker keeps.
    fn sections(&self, record: &Digest, linker: &Linker) -> PathBuf {
        let name = format!("sections-{}.json", name_of_linker(linker));
        self.placements().join(&record.0).join(name)
    }

    /// The sections that a linker was seen to keep before.
    pub(crate) fn known_sections(&self, record: &Digest, linker: &Linker) -> Option<SectionTable> {
        serde_json::from_slice(&fs::read(self.sections(record, linker)).ok()?).ok()
    }

    /// Remembers them.
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

    /// Puts a file beside the variants of a record.
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

    /// The file of the direct call of a linker.
    fn direct(&self, record: &Digest, linker: &Linker) -> PathBuf {
        let name = format!("direct-{}.json", name_of_linker(linker));
        self.placements().join(&record.0).join(name)
    }

    /// The direct call of a linker that was found to link as its driver does, or that there is none;
    /// `None` while nobody has tried with this driver and linker.
    pub(crate) fn known_direct_call(
        &self,
        record: &Digest,
        linker: &Linker,
    ) -> Option<Option<DirectCall>> {
        let text = fs::read(self.direct(record, linker)).ok()?;
        let tried: TriedCall = serde_json::from_slice(&text).ok()?;
        (tried.programs == linker.programs).then_some(tried.call)
    }

    /// Remembers it.
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

    /// The file of the choice of a linker, among all or of one family.
    fn choice(&self, record: &Digest, forced: Option<Family>) -> PathBuf {
        let name = forced.map_or("linker.json".to_owned(), |family| {
            format!("linker-{}.json", family.name())
        });
        self.placements().join(&record.0).join(name)
    }

    /// The linker chosen for a record before.
    pub(crate) fn chosen_linker(&self, record: &Digest, forced: Option<Family>) -> Option<Linker> {
        let text = fs::read(self.choice(record, forced)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Remembers it.
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

    /// The file of what is known of the executable that a record is of.
    fn output(&self, record: &LinkRecord) -> PathBuf {
        self.placements().join(&record.digest.0).join("output.json")
    }

    /// Returns true if the executable of a record has the stamp by which it was found to be what was
    /// linked. To read and digest one of 3.4 MB takes 5 ms of the 8 of a request that links nothing.
    pub(crate) fn has_seen_output(&self, record: &LinkRecord) -> bool {
        let seen = || -> Option<SeenOutput> {
            serde_json::from_slice(&fs::read(self.output(record)).ok()?).ok()
        };
        let stamp = metadata(&record.output).map(|about| Stamp::of(&about));
        seen().is_some_and(|seen| {
            seen.digest == record.output_digest && stamp.is_ok_and(|stamp| stamp == seen.stamp)
        })
    }

    /// Remembers it.
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

    /// Waits until nobody else changes anything in the home, and keeps it so for as long as the
    /// file lives.
    fn lock(&self) -> io::Result<File> {
        let file = lock_file(&self.home)?;
        file.lock()?;
        Ok(file)
    }

    /// A folder to make things in, which is removed with what is in it. Those of processes that
    /// were killed are cleared away.
    pub(crate) fn work_folder(&self) -> io::Result<WorkFolder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
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
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = placements.join(format!("{MAKING}{}-{number}", std::process::id()));
            match fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    let busy = File::create(folder.join("busy"))?;
                    busy.lock()?;
                    return Ok(WorkFolder {
                        folder,
                        _busy: busy,
                    });
                }
            }
        }
    }

    /// Does nothing until variants take more bytes than they may; then removes them until there is
    /// room for some more: first those of records that are gone, then the longest unused. Those in
    /// `spared` stay. Where nobody races, those of records that are gone go in any case.
    pub(crate) fn trim(&self, limits: Limits, spared: &BTreeSet<PathBuf>) -> io::Result<()> {
        let _lock = self.lock()?;
        // Held until the end: no race begins with links that are about to go.
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
        // Removing one for each that is made would cost every request.
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
            // A folder that is not empty yet stays.
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

    /// Removes the variants of records that are gone: nobody can ask for them.
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

    /// The digests of all records that are there.
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

/// The variants of one record by one linker.
#[derive(Clone, Debug)]
pub(crate) struct CacheEntry {
    cache: Cache,
    folder: PathBuf,
}

impl CacheEntry {
    /// Returns true if any variant was made here since the folder was last emptied.
    pub(crate) fn is_begun(&self) -> bool {
        self.folder.is_dir()
    }

    pub(crate) fn path(&self, seed: u32) -> PathBuf {
        self.folder.join(seed.to_string())
    }

    /// The variant, if it was made before; it counts as used now.
    pub(crate) fn find(&self, seed: u32) -> Option<Variant> {
        let executable = self.path(seed);
        let note: Note = serde_json::from_slice(&fs::read(note_path(&executable)).ok()?).ok()?;
        if fs::metadata(&executable).ok()?.len() != note.length {
            return None;
        }
        // Who cannot write here still has the variant.
        let _ = File::options()
            .append(true)
            .open(note_path(&executable))
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(Variant {
            executable,
            hash: note.hash,
        })
    }

    /// Puts what was made, which holds these bytes, into its place.
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

/// A folder that somebody is making things in.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    pub(crate) folder: PathBuf,
    /// Locked for as long as somebody works there.
    _busy: File,
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What cannot be removed now is cleared away by the next process.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_abandoned(folder: &Path) -> bool {
    match File::open(folder.join("busy")) {
        Ok(busy) => busy.try_lock().is_ok(),
        Err(_) => true,
    }
}

/// The family of a linker, and what tells it from others.
fn name_of_linker(linker: &Linker) -> String {
    let identity = format!("{} {:?}", linker.version, linker.selection);
    let Digest(digest) = Digest::of(identity.as_bytes());
    format!("{}-{}", linker.family.name(), &digest[..8])
}

fn note_path(executable: &Path) -> PathBuf {
    executable.with_extension("json")
}

/// Returns true for an entry of the folder `placements` with neutral links, or with what a process
/// left there that was killed while it made some.
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

/// A folder `.deadheat/links`. What is not known to be deadheat's is never named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLinks {
    home: PathBuf,
}

impl StoredLinks {
    /// The files in `home`, a folder `.deadheat/links`.
    pub fn at(home: PathBuf) -> Self {
        Self { home }
    }

    /// The folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Neutral links: they are made again with the next race that draws their seed.
    pub fn neutral_links(&self) -> Vec<PathBuf> {
        let placements = self.home.join("placements");
        entries(&placements, |entry, _| is_of_neutral_links(entry))
    }

    /// Records of links, and the objects they were made from: they are made again with the next
    /// link.
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

    /// Takes the folder for whoever clears it away: as long as the locks live, nobody uses it, and
    /// nobody begins to. `None` while a race or a link does.
    ///
    /// # Errors
    ///
    /// A lock that cannot be had for another reason.
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

/// Files and folders in a folder whose names are known; none where it leads elsewhere.
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

    /// The same whether somebody races or nobody does.
    /// Lets others hold the folder too, and nobody clear it away, as the engine does.
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
        // sha256sum of three bytes 01.
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
    fn the_longest_unused_go_first_and_none_of_the_request_in_hand() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path().to_owned());
        let entry = cache.entry(&record(&cache, "a"), &linker("LLD 14"), None);
        let paths: Vec<_> = (1..=4)
            .map(|seed| put(&entry, seed, 100, 100 * u64::from(seed)))
            .collect();
        let spared = BTreeSet::from([paths[3].clone()]);
        cache.trim(limits(400), &spared).unwrap();
        assert_eq!(there(&paths), [true, true, true, true]);
        // Three quarters of it hold two.
        cache.trim(limits(270), &spared).unwrap();
        assert_eq!(there(&paths), [true, false, false, true]);
        cache.trim(limits(0), &spared).unwrap();
        assert_eq!(there(&paths), [false, false, false, true]);
    }

    #[test]
    fn what_was_found_counts_as_used() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path().to_owned());
        let entry = cache.entry(&record(&cache, "a"), &linker("LLD 14"), None);
        let paths = [put(&entry, 1, 100, 500), put(&entry, 2, 100, 400)];
        entry.find(1).unwrap();
        cache.trim(limits(150), &BTreeSet::new()).unwrap();
        assert_eq!(there(&paths), [true, false]);
    }

    #[test]
    fn variants_of_records_that_are_gone_go_before_all_others() {
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
        // Where there is room, too, once nobody races.
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
    fn what_a_killed_process_left_is_cleared_away_and_what_another_makes_is_not() {
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
    fn races_hold_a_folder_together_and_keep_out_who_clears_it_away() {
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
