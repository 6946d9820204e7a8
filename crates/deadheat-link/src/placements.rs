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

/// The environment variable that restricts linkers to one family: `lld`, `mold` or `gnu`.
const LINKER_VARIABLE: &str = "DEADHEAT_NEUTRAL_LINKER";

const LIMIT_VARIABLE: &str = "DEADHEAT_CACHE_LIMIT";

/// A line of the output of `deadheat placements`, which makes neutral links of an executable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// Neutral links are possible. This is the first line.
    Links {
        /// The name of the executable's file.
        executable: String,
        /// The linker that makes the links, with its version.
        linker: String,
        /// The first 16 hexadecimal digits of the record's digest.
        record: String,
        /// Objects with several functions in one section, which neutral links can move only
        /// together.
        unsectioned: Vec<String>,
        /// True if the code that this build shares with the other builds is at the same places in
        /// all of them.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        matched: bool,
        /// The reason why the links are not matched, if other builds were named.
        #[serde(skip_serializing_if = "Option::is_none")]
        unmatched: Option<String>,
    },
    /// Neutral links are impossible; this is the only line.
    Impossible {
        /// The reason, with advice.
        reason: String,
    },
    /// A neutral link that is ready to run.
    Placed {
        /// The seed that the function sections are shuffled with.
        seed: u32,
        /// The absolute path of the neutral link.
        executable: PathBuf,
        /// The first 16 hexadecimal digits of the executable's SHA-256.
        hash: String,
    },
    /// A neutral link that failed. Links with other seeds may succeed.
    Refused {
        /// The seed that the function sections are shuffled with.
        seed: u32,
        /// The failure, with a command that reproduces it.
        reason: String,
    },
}

impl fmt::Display for Line {
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
/// If `beside` names other builds of the same program, the links of one seed are matched: the
/// sections of all builds are in one order, and shared sections are at the same distance from the
/// start of `.text` in each. If that is impossible, the first line has the reason, and the links
/// are not matched.
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

/// An executable whose neutral links are possible, with the linker and the layout that make them.
#[derive(Debug)]
struct Request {
    link: RecordedLink,
    limits: Limits,
    linker: Linker,
    /// The linker's call without the driver, if it makes the same links.
    direct: Option<DirectCall>,
    /// The layout of matched links: `None` if no other builds were named, `Err` if they cannot be
    /// matched.
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

    /// Makes each link once, on all cores, and reports the links in the order of `seeds`.
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

    fn refusal(&self, failure: &LinkFailure, seed: u32) -> String {
        let mut again = format!("{} {seed}", self.link.executable.display());
        for other in &self.beside {
            again += &format!(" --beside {}", other.display());
        }
        format!("{failure}\n(`deadheat placements {again}` links it again)")
    }

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

    /// Makes one neutral link, and passes its file and bytes to `then` before the file is removed.
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

    /// Returns the linker that was chosen before or, if there is none, the first that makes a
    /// neutral link for the seed `first`. The choice is stored.
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
                // Without this update of the stored choice, every call of `deadheat placements`
                // would ask the driver for its linker again.
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
                "{LINKER_VARIABLE} selects {}, which cannot make neutral links here ({})",
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

    /// Returns the linker's call without the driver, if it makes the same link as the driver for
    /// the seed `first`, byte for byte. That is tested once, with an extra link.
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
            // A failure for this seed is not conclusive, because another seed may work.
            Some(None) => return None,
            Some(Some(true)) => call,
            _ => None,
        };
        let _ = self
            .cache
            .keep_direct_call(digest, linker, call.clone(), &self.work_folder);
        call
    }

    /// Returns the linker for matched links, and the layout that matches its links to those of the
    /// builds `others`.
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
                "; {} would take too long with a linker script for this many functions; \
                 {LINKER_VARIABLE}=gnu uses GNU ld with a script",
                linker.version
            );
        }
        Err(refused)
    }

    /// Returns the linker for matched links, which must be able to set the address of each section.
    /// If neither `forced` nor the user's own link selects a linker, GNU ld is preferred, because
    /// starting lld can take as long as linking a small program with GNU ld.
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

    /// Returns the linker for matched links, and the sections that it keeps.
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

    /// Checks that a linker can make neutral links, matched ones if a layout is given. A failure
    /// for one seed is accepted if another seed works.
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

/// Checks that the stored inputs exist, because the linker's own message would not help the user.
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
