//! Code layout: neutral links of an executable, made before each interim analysis, so that no
//! linker runs while samples are taken.
//!
//! The engine links nothing itself. It starts a program that replies with lines of JSON
//! ([`helper`]), with the arguments `placements EXECUTABLE SEED… --beside OTHER…`.

mod helper;
mod placer;

pub use helper::LinkProgram;
pub(crate) use helper::{Helper, Links};

#[cfg(feature = "commands")]
use std::path::{Path, PathBuf};

#[cfg(feature = "commands")]
use deadheat_model::{Benchmark, Block, ContenderId, NeutralLinks, RerunKind, Workload};
use deadheat_model::{Placed, Placing, Plan, RefusedLink};

use crate::error::EngineError;
#[cfg(feature = "commands")]
use crate::executable::program_paths;
use crate::executable::{Executable, Variant};
use crate::interrupt::Interrupts;
use placer::Placer;

/// Contenders that can be started from neutral links of their executables.
#[cfg(feature = "commands")]
pub(crate) trait StartsFrom {
    /// Makes later launches of a contender use `link`, or the user's executable if `link` is
    /// `None`.
    fn start_from(
        &mut self,
        benchmark: usize,
        contender: usize,
        link: Option<&Variant>,
    ) -> Result<(), EngineError>;

    /// Launches a contender once from a link before `block` and discards the timing, because the
    /// new file is not in the page cache yet. Returns what is wrong with the link, unless the
    /// user's executable fails in the same way.
    fn flaw(
        &mut self,
        block: &Block,
        contender: usize,
        link: &Variant,
    ) -> Result<Option<Flaw>, EngineError>;
}

#[cfg(feature = "commands")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// This link fails; a link with another seed may work.
    OfLink(String),
    /// The program executes another file, whichever link it is started from.
    OfProgram(String),
}

#[cfg(feature = "commands")]
impl Flaw {
    /// Returns the flaw of a contender that executes `file` instead of the link it was started
    /// from.
    pub(crate) fn leaves_link(contender: &str, file: &Path) -> Self {
        Self::OfProgram(format!(
            "'{contender}' starts itself again: a process started from a neutral link then executed \
             '{}'",
            file.display()
        ))
    }
}

/// Identifies an executable that has neutral links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) placer: usize,
    /// The index of the executable among the builds whose links are matched.
    pub(crate) side: usize,
}

/// The neutral links of each contender of a plan.
#[derive(Debug, Default)]
pub struct Placements {
    /// One placer per executable with neutral links, or per group of matched builds.
    placers: Vec<Placer>,
    /// The place of each contender's executable, by benchmark and contender; `None` if it has no
    /// neutral links.
    places: Vec<Vec<Option<Place>>>,
    #[cfg(feature = "commands")]
    facts: Vec<NeutralLinks>,
}

impl Placements {
    /// Adds an executable, or several builds that are `matched`, and returns the [`Place`] of the
    /// first. Each build comes with the helper's facts about its links.
    pub(crate) fn add(
        &mut self,
        helper: &Helper,
        builds: Vec<(Executable, Result<Links, String>)>,
        plan: &Plan,
        drawn: [u64; 3],
        matched: bool,
    ) -> Place {
        let lost = builds.iter().find_map(|(_, links)| links.clone().err());
        let with_record = |(executable, links): (Executable, Result<Links, String>)| {
            (
                executable,
                links.map_or(String::new(), |links| links.record),
            )
        };
        let executables = builds.into_iter().map(with_record).collect();
        let (helper, looks) = (helper.clone(), plan.all_looks());
        let placer = Placer::new(helper, executables, looks, (plan.seed, drawn), matched);
        self.placers.push(match lost {
            None => placer,
            Some(reason) => placer.without_links(reason),
        });
        Place {
            placer: self.placers.len() - 1,
            side: 0,
        }
    }

    /// Adds the next benchmark of the plan with the place of each contender, which is `None` if the
    /// contender runs as the user linked it.
    pub(crate) fn add_benchmark(&mut self, places: Vec<Option<Place>>) {
        self.places.push(places);
    }

    /// Returns what the helper reported about each executable; empty if it examined none.
    #[cfg(feature = "commands")]
    pub fn neutral_links(&self) -> &[NeutralLinks] {
        &self.facts
    }

    /// Returns true if every contender of a benchmark has neutral links.
    #[cfg(feature = "commands")]
    pub fn possible(&self, benchmark: usize) -> bool {
        let places = self.places.get(benchmark);
        places.is_some_and(|places| places.iter().all(Option::is_some))
    }

    /// Restores the seeds of a resumed run: replicates keep their seeds, and no seed is drawn
    /// twice.
    #[cfg(feature = "commands")]
    pub fn remember(&mut self, run: &[Placed]) {
        for placed in run {
            for (contender, placing) in placed.contenders.iter().enumerate() {
                let Some((placer, _)) = self.placer(placed.benchmark, contender) else {
                    continue;
                };
                if let Placing::Neutral(link) = placing {
                    placer.remember(placed.replicate, link.seed);
                }
                for refused in &placed.refused {
                    placer.strike(refused.seed);
                }
            }
        }
    }

    /// Returns true if any contender of a benchmark has neutral links.
    pub(crate) fn concerns(&self, benchmark: usize) -> bool {
        let places = self.places.get(benchmark);
        places.is_some_and(|places| places.iter().any(Option::is_some))
    }

    fn placer(&mut self, benchmark: usize, contender: usize) -> Option<(&mut Placer, usize)> {
        let place = (*self.places.get(benchmark)?.get(contender)?)?;
        Some((self.placers.get_mut(place.placer)?, place.side))
    }

    /// Returns the link of a contender in a replicate. If the link does not exist yet, this makes
    /// it and all missing links of the replicates up to the next interim analysis.
    pub(crate) fn link(
        &mut self,
        benchmark: usize,
        contender: usize,
        replicate: u32,
        interrupts: &Interrupts,
    ) -> Result<Option<Variant>, EngineError> {
        match self.placer(benchmark, contender) {
            Some((placer, side)) => placer.link(replicate, side, interrupts),
            None => Ok(None),
        }
    }

    /// Discards the link of a contender; the replicate then gets another seed.
    pub(crate) fn refuse(
        &mut self,
        benchmark: usize,
        contender: usize,
        replicate: u32,
        reason: String,
    ) {
        if let Some((placer, side)) = self.placer(benchmark, contender) {
            placer.refuse(replicate, side, reason);
        }
    }

    /// Returns the record of the links of a benchmark in a replicate. `render` adds the contender
    /// to the reason for a refusal.
    pub(crate) fn placed(
        &mut self,
        benchmark: usize,
        replicate: u32,
        links: &[Option<&Variant>],
        render: impl Fn(usize, &str) -> String,
    ) -> Placed {
        let placing = |link: &Option<&Variant>| match link {
            Some(variant) => Placing::Neutral(variant.link.clone()),
            None => Placing::Own,
        };
        let mut placed = Placed {
            benchmark,
            replicate,
            contenders: links.iter().map(placing).collect(),
            refused: Vec::new(),
            fallen_back: None,
        };
        for (contender, link) in links.iter().enumerate() {
            let Some((placer, side)) = self.placer(benchmark, contender) else {
                continue;
            };
            let refused = placer.take_refused(replicate, side).into_iter();
            placed.refused.extend(refused.map(|refused| RefusedLink {
                reason: render(contender, &refused.reason),
                ..refused
            }));
            if link.is_none() && placed.fallen_back.is_none() {
                let reason = placer.fallen_back();
                placed.fallen_back = reason.map(|reason| render(contender, reason));
            }
        }
        placed
    }

    /// Makes the links of a replicate, launches each once as a trial, and returns their record. No
    /// linker runs after this returns.
    #[cfg(feature = "commands")]
    pub(crate) fn enter_replicate(
        &mut self,
        first: &Block,
        contenders: &mut impl StartsFrom,
        interrupts: &Interrupts,
    ) -> Result<Placed, EngineError> {
        let (benchmark, replicate) = (first.benchmark, first.replicate);
        let count = self.places[benchmark].len();
        let mut links: Vec<Option<Variant>> = vec![None; count];
        let mut tried = links.clone();
        // A block without an unrecorded first launch assumes that its first contender ran last.
        let last = first.slots.first().map_or(0, |slot| slot.contender.index());
        let order: Vec<usize> = (0..count).filter(|c| *c != last).chain([last]).collect();
        'again: loop {
            for (contender, link) in links.iter_mut().enumerate() {
                *link = self.link(benchmark, contender, replicate, interrupts)?;
                contenders.start_from(benchmark, contender, link.as_ref())?;
            }
            for contender in order.iter().copied() {
                let Some(link) = &links[contender] else {
                    continue;
                };
                if tried[contender].as_ref() == Some(link) {
                    continue;
                }
                match contenders.flaw(first, contender, link)? {
                    None => tried[contender] = Some(link.clone()),
                    Some(Flaw::OfLink(reason)) => {
                        self.refuse(benchmark, contender, replicate, reason);
                        continue 'again;
                    }
                    Some(Flaw::OfProgram(reason)) => {
                        if let Some((placer, _)) = self.placer(benchmark, contender) {
                            placer.fall_back(replicate, reason);
                        }
                        continue 'again;
                    }
                }
            }
            let links: Vec<Option<&Variant>> = links.iter().map(Option::as_ref).collect();
            return Ok(self.placed(benchmark, replicate, &links, |_, reason| reason.to_owned()));
        }
    }
}

#[cfg(feature = "commands")]
impl Placements {
    /// Finds the neutral links of a plan: asks `program` about every command and Google Benchmark
    /// executable that has a record of its link next to it. Without a program, every contender runs
    /// as the user linked it. Call this before deadheat pins itself to one core, because linkers
    /// use all cores.
    ///
    /// A resumed run passes the facts recorded `before` and keeps its neutral links.
    ///
    /// # Errors
    ///
    /// [`EngineError::Interrupted`] if the user interrupts.
    pub fn find(
        program: Option<LinkProgram>,
        plan: &Plan,
        before: Option<&[NeutralLinks]>,
        interrupts: &Interrupts,
    ) -> Result<Self, EngineError> {
        let mut found = Self::default();
        let Some(program) = program else {
            return Ok(found);
        };
        let mut helper = Helper::new(program);
        if before.is_some_and(|before| !before.iter().any(NeutralLinks::is_matched)) {
            helper.draw_independently();
        }
        // Commands of the same executable share its links, so that a race of two of its functions
        // compares only the functions. Matched builds share one seed per replicate. Otherwise each
        // side draws its own seed: a Google Benchmark executable is a build even if raced against
        // itself, and so is a control if another contender of the benchmark is a build.
        let mut known: Vec<(Vec<PathBuf>, Option<usize>, Option<Place>)> = Vec::new();
        for (index, benchmark) in plan.benchmarks.iter().enumerate() {
            let contenders = 0..benchmark.contenders.len();
            let launched: Vec<Option<(String, Executable)>> = contenders
                .map(|contender| {
                    let named = program_of(benchmark, contender)?;
                    let had =
                        |links: &NeutralLinks| links.executable == named && links.made_by.is_ok();
                    if benchmark
                        .rerun
                        .is_some_and(|one| one.kind == RerunKind::OwnLink)
                        || before.is_some_and(|before| !before.iter().any(had))
                    {
                        return None;
                    }
                    let executable = Executable::among(program_paths(Path::new(&named)))?;
                    (executable.has_record() || before.is_some()).then_some((named, executable))
                })
                .collect();
            let mut builds: Vec<(String, Executable)> =
                launched.iter().flatten().cloned().collect();
            let mut seen = Vec::new();
            builds.retain(|(_, build)| {
                let is_new = !seen.contains(&build.path);
                seen.push(build.path.clone());
                is_new
            });
            let mut links = Vec::new();
            for (named, build) in &builds {
                links.push(if build.has_record() {
                    let others = builds.iter().map(|(_, other)| other);
                    let beside = others.filter(|other| helper.matching() && *other != build);
                    helper.ask(build, beside, &[], interrupts)?.links
                } else {
                    Err(format!("the link record next to '{named}' is missing"))
                });
            }
            let matched = matched(&mut links);
            let paths: Vec<&PathBuf> = builds.iter().map(|(_, build)| &build.path).collect();
            let mut places = Vec::new();
            for (contender, launched) in launched.iter().enumerate() {
                let own = launched.as_ref().map(|(_, build)| &build.path);
                let Some(own) = own.and_then(|own| paths.iter().position(|path| *path == own))
                else {
                    places.push(None);
                    continue;
                };
                let (sharing, side, at) = match &benchmark.contenders[contender].workload {
                    _ if matched => (0..builds.len(), None, own),
                    _ if helper.matching() && builds.len() == 1 => (0..1, None, 0),
                    Workload::Harness(_) => (own..own + 1, Some(contender), 0),
                    _ => {
                        let again = is_a_build_again(benchmark, contender);
                        (own..own + 1, again.then_some(contender), 0)
                    }
                };
                let key: Vec<PathBuf> = paths[sharing.clone()].iter().copied().cloned().collect();
                let same = known
                    .iter()
                    .find(|(of, by, _)| *of == key && *by == side)
                    .map(|(.., place)| *place);
                let place = same.unwrap_or_else(|| {
                    let possible = before.is_some() || links[own].is_ok();
                    let place = possible.then(|| {
                        let sides = sharing.map(|at| (builds[at].1.clone(), links[at].clone()));
                        let drawn = [index as u64, contender as u64, 0];
                        found.add(&helper, sides.collect(), plan, drawn, matched)
                    });
                    known.push((key, side, place));
                    place
                });
                places.push(place.map(|place| Place { side: at, ..place }));
            }
            for ((named, _), links) in builds.iter().zip(links) {
                if !found.facts.iter().any(|facts| facts.executable == *named) {
                    found.facts.push(Links::facts((*named).to_owned(), links));
                }
            }
            found.places.push(places);
        }
        Ok(found)
    }
}

/// Returns true if all of several builds are matched. If one build cannot be matched, this marks
/// all of them as unmatched with its reason.
pub(crate) fn matched(builds: &mut [Result<Links, String>]) -> bool {
    let matched = |links: &Result<Links, String>| match links {
        Ok(links) => links.matched.clone(),
        Err(reason) => Some(Err(reason.clone())),
    };
    let reason = builds.iter().filter_map(matched).find_map(Result::err);
    for links in builds.iter_mut().flatten() {
        if let (Some(Ok(())), Some(reason)) = (&links.matched, &reason) {
            links.matched = Some(Err(reason.clone()));
        }
    }
    builds.len() > 1 && builds.iter().all(|links| matched(links) == Some(Ok(())))
}

/// Returns true if this contender is the control of a benchmark that compares builds: some
/// candidate launches another executable than the baseline, or the control is the only candidate.
#[cfg(feature = "commands")]
fn is_a_build_again(benchmark: &Benchmark, contender: usize) -> bool {
    let control = benchmark.control().map(ContenderId::index);
    let baseline = program_of(benchmark, 0);
    let mut candidates = benchmark.candidates();
    control == Some(contender)
        && (benchmark.rivals() == 1
            || candidates.any(|id| program_of(benchmark, id.index()) != baseline))
}

#[cfg(feature = "commands")]
fn program_of(benchmark: &Benchmark, contender: usize) -> Option<String> {
    let program = match &benchmark.contenders[contender].workload {
        Workload::Command(command) => command.program()?,
        Workload::Harness(calls) => calls.program.executable.clone(),
        _ => return None,
    };
    program.into_os_string().into_string().ok()
}
