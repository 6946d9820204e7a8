//! Makes neutral links of one executable on demand, many in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::{env, fmt, io, thread};

use deadheat_model::byte_size;
use serde::Serialize;

use crate::cache::{Cache, CacheEntry, Limits, Variant, WorkFolder};
use crate::linker::{Family, LinkFailure, Linker, candidates, chosen_linker, failure_of};
use crate::matched::{Layout, SectionTable, Way};
use crate::neutral_link::{DirectCall, Order, Recipe, cores};
use crate::record::{Digest, LinkRecord, StoredInput};

/// The variable that restricts linkers to one family: `lld`, `mold` or `gnu`.
const LINKER_VARIABLE: &str = "DEADHEAT_NEUTRAL_LINKER";

/// The variable with the limit of the cache of neutral links.
const LIMIT_VARIABLE: &str = "DEADHEAT_CACHE_LIMIT";

/// One line of the answer to a request for neutral links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// Neutral links are possible. This is the first line.
    Links {
        /// The name of the executable's file.
        executable: String,
        /// The linker that makes them, with its version.
        linker: String,
        /// The first 16 hexadecimal digits of the record's digest.
        record: String,
        /// Objects whose functions share one section.
        unsectioned: Vec<String>,
        /// True if the code that this build shares with the other builds is at the same places in
        /// all of them.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        matched: bool,
        /// The reason why it is not, if other builds were named.
        #[serde(skip_serializing_if = "Option::is_none")]
        unmatched: Option<String>,
    },
    /// Neutral links are impossible; this is the only line.
    Impossible {
        /// The reason, and what to do.
        reason: String,
    },
    /// A neutral link that is ready to run.
    Placed {
        /// The seed of the shuffle of its function sections.
        seed: u32,
        /// Its absolute path.
        executable: PathBuf,
        /// The first 16 hexadecimal digits of its SHA-256.
        hash: String,
    },
    /// A neutral link that failed. Links with other seeds may succeed.
    Refused {
        /// The seed of the shuffle.
        seed: u32,
        /// The failure, and how to see it again.
        reason: String,
    },
}

impl fmt::Display for Line {
    /// Writes the line as JSON.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A path that is not Unicode cannot be written as JSON.
        let json = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        formatter.write_str(&json)
    }
}

/// Makes neutral links of `executable`, one for each seed, on all cores. Reports first whether
/// neutral links are possible, then each link in the order of the seeds. Links in the cache are
/// reused. At the end the cache is trimmed to its limit, except for these links.
///
/// The variable `DEADHEAT_NEUTRAL_LINKER` (`lld`, `mold` or `gnu`) restricts the choice of the
/// linker. `DEADHEAT_CACHE_LIMIT` (bytes, with `K`, `M` or `G`) limits what is kept below
/// `.deadheat/links`; the default is 1 GiB during a race and 32 MiB after it.
///
/// With `beside`, other builds of the same program, the links of one seed are matched: the sections
/// of all builds are in one order, and shared sections are at the same distance from the start of
/// `.text` in each. If that is impossible, the first line says why, and the links are made without
/// it.
///
/// Failures are not returned as errors, but reported as lines of the answer. If `tell` breaks, no
/// further link is started.
pub fn placements(
    executable: &Path,
    beside: &[PathBuf],
    seeds: &[u32],
    mut tell: impl FnMut(Line) -> ControlFlow<()>,
) {
    match Request::new(executable, beside, seeds) {
        Ok(request) => request.answer(seeds, &mut tell),
        Err(reason) => {
            // The last line, so a break has no effect.
            let _ = tell(Line::Impossible { reason });
        }
    }
}

/// The family of linkers and the cache limits that the environment sets.
fn settings() -> Result<(Option<Family>, Limits), String> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let forced = match set(LINKER_VARIABLE) {
        None => None,
        Some(name) => Some(name.to_str().and_then(Family::from_name).ok_or_else(|| {
            let name = name.display();
            format!("{LINKER_VARIABLE} is `{name}`; it takes `lld`, `mold` or `gnu`")
        })?),
    };
    let limits = match set(LIMIT_VARIABLE) {
        None => Limits::DEFAULT,
        Some(size) => {
            let bytes = size.to_str().and_then(byte_size).ok_or_else(|| {
                let size = size.display();
                format!("{LIMIT_VARIABLE} is `{size}`; it takes bytes, as in `500M` or `2G`")
            })?;
            Limits {
                racing: bytes,
                idle: bytes,
            }
        }
    };
    Ok((forced, limits))
}

/// A request for neutral links, after checking that they are possible.
#[derive(Debug)]
struct Request {
    link: RecordedLink,
    limits: Limits,
    linker: Linker,
    /// The linker's call without the driver, if it makes the same links.
    direct: Option<DirectCall>,
    /// `None` if no other builds were named, `Err` if they cannot be matched.
    layout: Option<Result<Layout, String>>,
    beside: Vec<PathBuf>,
    entry: CacheEntry,
}

impl Request {
    /// # Errors
    ///
    /// The reason why neutral links of this executable are impossible.
    fn new(executable: &Path, beside: &[PathBuf], seeds: &[u32]) -> Result<Self, String> {
        let (forced, limits) = settings()?;
        let link = RecordedLink::of(executable)?;
        let first = seeds.first().copied().unwrap_or(1);
        let beside_them = (!beside.is_empty()).then(|| link.beside(beside, forced, first));
        let (linker, layout) = match beside_them {
            Some(Ok((linker, layout))) => (linker, Some(Ok(layout))),
            Some(Err(reason)) => (link.choose_linker(forced, first)?, Some(Err(reason))),
            None => (link.choose_linker(forced, first)?, None),
        };
        let matched = layout.as_ref().and_then(|layout| layout.as_ref().ok());
        let direct = seeds
            .first()
            .and_then(|first| link.direct_call(&linker, matched, *first));
        Ok(Self {
            direct,
            entry: link.cache.entry(&link.record.digest, &linker, matched),
            link,
            limits,
            linker,
            layout,
            beside: beside.to_owned(),
        })
    }

    fn answer(&self, seeds: &[u32], tell: &mut impl FnMut(Line) -> ControlFlow<()>) {
        let name = self.link.executable.file_name().unwrap_or_default();
        let first = Line::Links {
            executable: name.to_string_lossy().into_owned(),
            linker: self.linker.version.clone(),
            record: self.link.record.digest.0.chars().take(16).collect(),
            unsectioned: self.link.record.unsectioned.clone(),
            matched: matches!(self.layout, Some(Ok(_))),
            unmatched: self.layout.clone().and_then(Result::err),
        };
        if tell(first).is_break() {
            return;
        }
        if !seeds.is_empty() {
            self.place_all(seeds, tell);
        }
        let spared = seeds.iter().map(|&seed| self.entry.path(seed)).collect();
        // A cache above its limit does not prevent an answer.
        let _ = self.link.cache.trim(self.limits, &spared);
    }

    /// Makes each link once, on all cores, and reports them in the order of the request.
    fn place_all(&self, seeds: &[u32], tell: &mut impl FnMut(Line) -> ControlFlow<()>) {
        let mut seen = BTreeSet::new();
        let first = |seed: &u32| seen.insert(*seed);
        let distinct: Vec<u32> = seeds.iter().copied().filter(first).collect();
        let at_once = cores().min(distinct.len());
        let recipe = Recipe::new(&self.link.record, &self.link.home, &self.linker, at_once)
            .by(self.direct.as_ref());
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (report, reports) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..at_once {
                let report = report.clone();
                let (next, stopped, distinct, recipe) = (&next, &stopped, &distinct, &recipe);
                scope.spawn(move || {
                    while !stopped.load(Ordering::Relaxed) {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&seed) = distinct.get(index) else {
                            break;
                        };
                        // After a break, the receiver is gone.
                        let _ = report.send((seed, self.place(seed, recipe)));
                    }
                });
            }
            drop(report);
            let mut done = BTreeMap::new();
            for seed in seeds {
                while !done.contains_key(seed) {
                    let Ok((seed, line)) = reports.recv() else {
                        return;
                    };
                    done.insert(seed, line);
                }
                if tell(done[seed].clone()).is_break() {
                    stopped.store(true, Ordering::Relaxed);
                    return;
                }
            }
        });
    }

    /// The failure with a command that reproduces it.
    fn refusal(&self, failure: &LinkFailure, seed: u32) -> String {
        let mut again = format!("{} {seed}", self.link.executable.display());
        for other in &self.beside {
            again += &format!(" --beside {}", other.display());
        }
        format!("{failure}\n(`deadheat placements {again}` links it again)")
    }

    /// The layout, if the links are matched to those of other builds.
    fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()?.as_ref().ok()
    }

    fn place(&self, seed: u32, recipe: &Recipe<'_>) -> Line {
        let found = self.entry.find(seed).map_or_else(
            || self.link.make(recipe, &self.entry, self.layout(), seed),
            Ok,
        );
        match found {
            Ok(Variant { executable, hash }) => Line::Placed {
                seed,
                executable,
                hash,
            },
            Err(failure) => Line::Refused {
                seed,
                reason: self.refusal(&failure, seed),
            },
        }
    }
}

/// An executable with a record, and all that is needed to link it again.
#[derive(Debug)]
struct RecordedLink {
    executable: PathBuf,
    record: LinkRecord,
    home: PathBuf,
    cache: Cache,
    work_folder: WorkFolder,
}

impl RecordedLink {
    fn of(executable: &Path) -> Result<Self, String> {
        let executable = executable
            .canonicalize()
            .map_err(|error| format!("{}: {error}", executable.display()))?;
        let record = LinkRecord::found(&executable).map_err(|error| error.to_string())?;
        let home = LinkRecord::home(executable.parent().unwrap_or(Path::new("/")));
        let cache = Cache::new(home.clone());
        let newly_seen = if cache.has_seen_output(&record) {
            None
        } else {
            let checked = record.checked(&executable);
            checked.map_err(|error| error.to_string())?
        };
        if let Some(obstacle) = &record.obstacle {
            return Err(obstacle.to_string());
        }
        check_store(&record, &home, &executable)?;
        let work_folder = cache
            .work_folder()
            .map_err(|error| failure_of(&error, &home).to_string())?;
        if let Some(stamp) = newly_seen {
            // If this fails, the executable is read again next time.
            let _ = cache.keep_seen_output(&record, stamp, &work_folder);
        }
        Ok(Self {
            executable,
            record,
            home,
            cache,
            work_folder,
        })
    }

    /// Links one variant and moves it into the cache.
    fn make(
        &self,
        recipe: &Recipe<'_>,
        entry: &CacheEntry,
        layout: Option<&Layout>,
        seed: u32,
    ) -> Result<Variant, LinkFailure> {
        self.link(recipe, layout, seed, |made, bytes| {
            entry.keep(seed, made, bytes)
        })
    }

    /// Links one variant, and passes its file and bytes to `then` before the file is removed.
    fn link<T>(
        &self,
        recipe: &Recipe<'_>,
        layout: Option<&Layout>,
        seed: u32,
        then: impl FnOnce(&Path, &[u8]) -> io::Result<T>,
    ) -> Result<T, LinkFailure> {
        let order = match layout {
            Some(layout) => Order::Matched(layout, seed),
            None => Order::Shuffled(seed),
        };
        let scratch = self.work_folder.folder.join(seed.to_string());
        let broken = |error: io::Error| failure_of(&error, &self.home);
        std::fs::create_dir_all(&scratch).map_err(broken)?;
        let made = scratch.join("linked");
        let done = recipe
            .link(order, &made, &scratch)
            .and_then(|bytes| then(&made, &bytes).map_err(broken));
        // Frees space for the next link; errors do not matter, because the work folder is removed
        // anyway.
        let _ = std::fs::remove_dir_all(&scratch);
        done
    }

    /// The linker chosen before, or else the first that makes a neutral link for the seed `first`,
    /// which is then remembered.
    fn choose_linker(&self, forced: Option<Family>, first: u32) -> Result<Linker, String> {
        let keep = |linker: &Linker| {
            let digest = &self.record.digest;
            self.cache
                .choose_linker(digest, forced, linker, &self.work_folder)
        };
        if let Some(before) = self.cache.chosen_linker(&self.record.digest, forced)
            && let Some(linker) = before.clone().still_there(&self.record)
        {
            if linker != before {
                // Otherwise every request would ask the driver again.
                let _ = keep(&linker);
            }
            return Ok(linker);
        }
        let mut tried = Vec::new();
        for candidate in candidates(&self.record, forced) {
            let said = match candidate.ask(&self.record) {
                Err(said) => said,
                Ok(linker) => match self.try_out(&linker, None, first) {
                    Ok(()) => {
                        keep(&linker)
                            .map_err(|error| failure_of(&error, &self.home).to_string())?;
                        return Ok(linker);
                    }
                    Err(full @ LinkFailure::NoSpace { .. }) => return Err(full.to_string()),
                    Err(refused) => refused.to_string(),
                },
            };
            let line = said.lines().next().unwrap_or_default().to_owned();
            tried.push(format!("{}: {line}", candidate.name));
        }
        Err(match forced {
            Some(family) => format!(
                "{LINKER_VARIABLE} asks for {}, which cannot make neutral links here ({})",
                family.name(),
                tried.join("; ")
            ),
            None => format!(
                "no linker on this machine can make neutral links ({}); install lld: `apt install \
                 lld`, \
                 `dnf install lld`, `pacman -S lld` or `apk add lld`",
                tried.join("; ")
            ),
        })
    }

    /// The linker's call without the driver, if for the seed `first` it makes the same link as the
    /// driver, byte for byte. That is tested once, with an extra link.
    fn direct_call(
        &self,
        linker: &Linker,
        layout: Option<&Layout>,
        first: u32,
    ) -> Option<DirectCall> {
        let digest = &self.record.digest;
        if let Some(known) = self.cache.known_direct_call(digest, linker) {
            return known;
        }
        let recipe = Recipe::new(&self.record, &self.home, linker, 1);
        let call = recipe.direct_call();
        let same = call.as_ref().map(|call| {
            let entry = self.cache.entry(digest, linker, layout);
            let by_driver = match entry.find(first) {
                Some(variant) => variant,
                None => self.make(&recipe, &entry, layout, first).ok()?,
            };
            let linked = self.link(&recipe.by(Some(call)), layout, first, |_, bytes| {
                Ok(Digest::of(bytes).0)
            });
            Some(linked.ok()?.starts_with(&by_driver.hash))
        });
        let call = match same {
            // Not conclusive: another seed may work.
            Some(None) => return None,
            Some(Some(true)) => call,
            _ => None,
        };
        let _ = self
            .cache
            .keep_direct_call(digest, linker, call.clone(), &self.work_folder);
        call
    }

    /// A linker, and the layout for links that match those of other builds.
    fn beside(
        &self,
        others: &[PathBuf],
        forced: Option<Family>,
        first: u32,
    ) -> Result<(Linker, Layout), String> {
        let (linker, own) = self.sections(forced, first)?;
        let others: Result<Vec<SectionTable>, String> = others
            .iter()
            .map(|other| Ok(RecordedLink::of(other)?.sections(forced, first)?.1))
            .collect();
        let ways = Layout::of(&own, &others?)?.ways(linker.family);
        let entry = |layout| self.cache.entry(&self.record.digest, &linker, Some(layout));
        let mut refused = String::new();
        if let Some(begun) = ways.iter().find(|layout| entry(layout).is_begun()) {
            return Ok((linker.clone(), begun.clone()));
        }
        let is_script_left_out = ways.iter().all(|layout| layout.way() == Way::Symbols);
        for layout in ways {
            match self.try_out(&linker, Some(&layout), first) {
                Ok(()) => return Ok((linker, layout)),
                Err(full @ LinkFailure::NoSpace { .. }) => return Err(full.to_string()),
                Err(failure) => refused = failure.to_string(),
            }
        }
        if is_script_left_out {
            refused += &format!(
                "; a linker script for this many functions takes {} too long; \
                 {LINKER_VARIABLE}=gnu uses GNU ld with one",
                linker.version
            );
        }
        Err(refused)
    }

    /// The linker for matched links: the kind that made the user's own link, if it can set the
    /// address of each section.
    ///
    /// lld takes up to as long to start as GNU ld takes to link a small program.
    fn placing_linker(&self, forced: Option<Family>, first: u32) -> Result<Linker, String> {
        let gnu = || self.choose_linker(Some(Family::Gnu), first);
        let chosen_by_user = self
            .record
            .words()
            .any(|word| chosen_linker(word).is_some());
        if forced.is_none()
            && !chosen_by_user
            && let Ok(gnu) = gnu()
        {
            return Ok(gnu);
        }
        let chosen = self.choose_linker(forced, first)?;
        match (chosen.family.takes_scripts(), forced) {
            (true, _) => Ok(chosen),
            // lld is missing or does not work.
            (false, None) => gnu(),
            (false, Some(_)) => Err(format!(
                "{} cannot place sections one by one; lld and GNU ld can",
                chosen.version
            )),
        }
    }

    /// The linker for matched links, and the sections that it keeps.
    fn sections(
        &self,
        forced: Option<Family>,
        first: u32,
    ) -> Result<(Linker, SectionTable), String> {
        let linker = self.placing_linker(forced, first)?;
        let digest = &self.record.digest;
        if let Some(table) = self.cache.known_sections(digest, &linker) {
            return Ok((linker, table));
        }
        let broken = |error: io::Error| failure_of(&error, &self.home).to_string();
        let scratch = self.work_folder.folder.join("map");
        std::fs::create_dir_all(&scratch).map_err(broken)?;
        let (made, map) = (scratch.join("linked"), scratch.join("sections.map"));
        Recipe::new(&self.record, &self.home, &linker, 1)
            .link(Order::AsGiven(&map), &made, &scratch)
            .map_err(|failure| failure.to_string())?;
        let map = std::fs::read(&map).map_err(broken)?;
        let table = SectionTable::read(&String::from_utf8_lossy(&map), linker.family);
        let _ = std::fs::remove_dir_all(&scratch);
        self.cache
            .keep_sections(digest, &linker, &table, &self.work_folder)
            .map_err(broken)?;
        Ok((linker, table))
    }

    /// Checks that a linker can make neutral links, or links by a layout. A failure for one seed is
    /// accepted if another seed works.
    fn try_out(
        &self,
        linker: &Linker,
        layout: Option<&Layout>,
        first: u32,
    ) -> Result<(), LinkFailure> {
        let recipe = Recipe::new(&self.record, &self.home, linker, 1);
        let entry = self.cache.entry(&self.record.digest, linker, layout);
        let attempt = |seed| match entry.find(seed) {
            Some(_) => Ok(()),
            None => self.make(&recipe, &entry, layout, seed).map(|_| ()),
        };
        let refusal = match attempt(first) {
            Err(refusal @ LinkFailure::Refused { .. }) => refusal,
            other => return other,
        };
        let another = if first == 1 { 2 } else { 1 };
        attempt(another).map_err(|failure| match failure {
            LinkFailure::NoSpace { .. } => failure,
            LinkFailure::Refused { .. } => refusal,
        })
    }
}

/// Checks that the stored inputs exist, for a better message than the linker's.
fn check_store(record: &LinkRecord, home: &Path, executable: &Path) -> Result<(), String> {
    let inputs = home.join("inputs");
    let missing = |input: &&StoredInput| !inputs.join(&input.name).is_file();
    record.inputs().find(missing).map_or(Ok(()), |input| {
        Err(format!(
            "{} is damaged: `{}`, the copy of {}, is missing; link {} again",
            home.display(),
            input.name,
            input.original,
            executable.display()
        ))
    })
}
