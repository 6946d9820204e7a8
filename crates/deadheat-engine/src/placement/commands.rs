//! The neutral links of what a plan launches.

use std::path::{Path, PathBuf};

use deadheat_model::{Benchmark, ContenderId, NeutralLinks, Placed, Placing, Plan, Workload};

use super::executable::Executable;
use super::helper::{Helper, LinkProgram};
use super::placer::Placer;
use super::variant::Variant;
use crate::error::EngineError;
use crate::interrupt::Interrupts;
use crate::launcher::image::program_paths;

/// Which commands and Google Benchmark executables of a plan have neutral links.
#[derive(Debug, Default)]
pub struct CommandPlacements {
    /// One per executable that has some.
    placers: Vec<Placer>,
    /// Per benchmark and contender, its executable among the placers.
    places: Vec<Vec<Option<usize>>>,
    facts: Vec<NeutralLinks>,
}

impl CommandPlacements {
    /// Asks this program about every executable of the plan that a record of
    /// its link lies beside; about none where there is no program. To be called
    /// before deadheat settles on one core.
    ///
    /// A run that is taken up again tells what it knew `before` of neutral
    /// links, and goes on with those.
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
        let helper = Helper::new(program);
        // Commands of the same executable share its links, so that a race of
        // two of its functions is one of functions. A Google Benchmark
        // executable is a build, and each side draws for itself, also when it
        // is raced against itself. A control draws for itself where somebody
        // else does.
        let mut known: Vec<(PathBuf, Option<usize>, Option<usize>)> = Vec::new();
        for (index, benchmark) in plan.benchmarks.iter().enumerate() {
            let mut places = vec![None; benchmark.contenders.len()];
            let places_drawn = match benchmark.own_link {
                Some(_) => &mut [],
                None => places.as_mut_slice(),
            };
            for (contender, place) in places_drawn.iter_mut().enumerate() {
                let Some(named) = program_of(benchmark, contender) else {
                    continue;
                };
                let had = |links: &NeutralLinks| links.executable == named && links.made_by.is_ok();
                if before.is_some_and(|before| !before.iter().any(had)) {
                    continue;
                }
                let side = match &benchmark.contenders[contender].workload {
                    Workload::GoogleBenchmark(_) => Some(contender),
                    _ => is_a_build_again(benchmark, contender).then_some(contender),
                };
                let candidates = program_paths(Path::new(named));
                let Some(executable) = Executable::among(candidates) else {
                    continue;
                };
                let same = known
                    .iter()
                    .find(|(path, of, _)| *path == executable.path && *of == side);
                if let Some((.., same)) = same {
                    *place = *same;
                    continue;
                }
                let links = match (executable.has_record(), before) {
                    (true, _) => helper.ask(&executable, &[], interrupts)?.links,
                    (false, Some(_)) => Err(format!(
                        "no record of its link lies beside '{named}' any more"
                    )),
                    (false, None) => continue,
                };
                let path = executable.path.clone();
                let drawn = [index as u64, contender as u64, 0];
                let record = links.as_ref().map_or("", |links| &links.record);
                let (looks, seed) = (plan.all_looks(), plan.seed);
                let placer = Placer::new(helper.clone(), executable, record, looks, seed, drawn);
                let placer = match (&links, before) {
                    (Ok(_), _) => Some(placer),
                    (Err(reason), Some(_)) => Some(placer.without_links(reason.clone())),
                    (Err(_), None) => None,
                };
                *place = placer.map(|placer| {
                    found.placers.push(placer);
                    found.placers.len() - 1
                });
                known.push((path, side, *place));
                let (made_by, unsectioned) = match links {
                    Ok(links) => (Ok(links.linker), links.unsectioned),
                    Err(reason) => (Err(reason), Vec::new()),
                };
                if !found.facts.iter().any(|facts| facts.executable == named) {
                    found.facts.push(NeutralLinks {
                        executable: named.to_owned(),
                        made_by,
                        unsectioned,
                    });
                }
            }
            found.places.push(places);
        }
        Ok(found)
    }

    /// What is known of neutral links; empty when there was nobody to ask
    /// about.
    pub fn neutral_links(&self) -> &[NeutralLinks] {
        &self.facts
    }

    /// Whether every contender of a benchmark has neutral links.
    pub fn possible(&self, benchmark: usize) -> bool {
        let places = self.places.get(benchmark);
        places.is_some_and(|places| places.iter().all(Option::is_some))
    }

    /// Goes on after what a run holds: replicates keep the seeds they had in
    /// other benchmarks, and nobody draws one a second time.
    pub fn remember(&mut self, run: &[Placed]) {
        for placed in run {
            let Some(places) = self.places.get(placed.benchmark) else {
                continue;
            };
            let placers: Vec<(usize, &Placing)> = places
                .iter()
                .zip(&placed.contenders)
                .filter_map(|(place, placing)| Some(((*place)?, placing)))
                .collect();
            for (placer, placing) in placers {
                if let Placing::Neutral(link) = placing {
                    self.placers[placer].remember(placed.replicate, link.seed);
                }
                for refused in &placed.refused {
                    self.placers[placer].strike(refused.seed);
                }
            }
        }
    }

    /// Whether anybody in this benchmark has links.
    pub(crate) fn concerns(&self, benchmark: usize) -> bool {
        let places = self.places.get(benchmark);
        places.is_some_and(|places| places.iter().any(Option::is_some))
    }

    /// The link of one contender in one replicate, made now with others if it
    /// is not there yet.
    pub(crate) fn link(
        &mut self,
        benchmark: usize,
        contender: usize,
        replicate: u32,
        interrupts: &Interrupts,
    ) -> Result<Option<Variant>, EngineError> {
        match self.places[benchmark][contender] {
            Some(placer) => self.placers[placer].link(replicate, interrupts),
            None => Ok(None),
        }
    }

    /// The link of one contender came to nothing.
    pub(crate) fn refuse(
        &mut self,
        benchmark: usize,
        contender: usize,
        replicate: u32,
        reason: String,
    ) {
        if let Some(placer) = self.places[benchmark][contender] {
            self.placers[placer].refuse(replicate, reason);
        }
    }

    /// Where the code of this benchmark lies in this replicate.
    pub(crate) fn placed(
        &mut self,
        benchmark: usize,
        replicate: u32,
        variants: &[Option<Variant>],
    ) -> Placed {
        let mut placed = Placed {
            benchmark,
            replicate,
            contenders: variants
                .iter()
                .map(|variant| match variant {
                    Some(variant) => Placing::Neutral(variant.link.clone()),
                    None => Placing::Own,
                })
                .collect(),
            refused: Vec::new(),
            fallen_back: None,
        };
        for (place, variant) in self.places[benchmark].iter().zip(variants) {
            let Some(placer) = place.map(|place| &mut self.placers[place]) else {
                continue;
            };
            placed.refused.extend(placer.take_refused(replicate));
            if variant.is_none() && placed.fallen_back.is_none() {
                placed.fallen_back = placer.fallen_back().map(str::to_owned);
            }
        }
        placed
    }
}

/// Whether this is the control of a benchmark in which somebody launches
/// another executable than the baseline, or nobody else launches any.
fn is_a_build_again(benchmark: &Benchmark, contender: usize) -> bool {
    let control = benchmark.control().map(ContenderId::index);
    let baseline = program_of(benchmark, 0);
    let mut candidates = benchmark.candidates();
    control == Some(contender)
        && (benchmark.rivals() == 1
            || candidates.any(|id| program_of(benchmark, id.index()) != baseline))
}

/// The program that is launched, as it was named.
fn program_of(benchmark: &Benchmark, contender: usize) -> Option<&str> {
    match &benchmark.contenders[contender].workload {
        Workload::Command(command) => command.words.first().map(String::as_str),
        Workload::GoogleBenchmark(calls) => calls.program.executable.to_str(),
        _ => None,
    }
}
