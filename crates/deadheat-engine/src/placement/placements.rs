//! The neutral links of what a plan launches.

#[cfg(feature = "commands")]
use std::path::{Path, PathBuf};

#[cfg(feature = "commands")]
use deadheat_model::{Benchmark, Block, ContenderId, NeutralLinks, Workload};
use deadheat_model::{Placed, Placing, Plan, RefusedLink};

#[cfg(feature = "commands")]
use super::helper::LinkProgram;
use super::helper::{Helper, Links};
use super::placer::Placer;
use crate::error::EngineError;
#[cfg(feature = "commands")]
use crate::executable::program_paths;
use crate::executable::{Executable, Variant};
use crate::interrupt::Interrupts;

/// Contenders that are started from files, and can be started from neutral
/// links of these.
#[cfg(feature = "commands")]
pub(crate) trait StartsFrom {
    /// Starts a contender from this link from now on, or from its own file.
    fn start_from(
        &mut self,
        benchmark: usize,
        contender: usize,
        link: Option<&Variant>,
    ) -> Result<(), EngineError>;

    /// Launches a contender once from a link, before `block`, and forgets what it
    /// took: a new file has not been read by anybody. Returns what is wrong with
    /// the link, if the contender does not fail in the same way on the user's
    /// own.
    fn flaw(
        &mut self,
        block: &Block,
        contender: usize,
        link: &Variant,
    ) -> Result<Option<String>, EngineError>;
}

/// Which contenders of a plan run on neutral links, and on which.
#[derive(Debug, Default)]
pub struct Placements {
    /// One per executable that has some.
    placers: Vec<Placer>,
    /// Per benchmark and contender, its executable among the placers.
    places: Vec<Vec<Option<usize>>>,
    #[cfg(feature = "commands")]
    facts: Vec<NeutralLinks>,
}

impl Placements {
    /// One more executable, of which this is known; its place among the others.
    pub(crate) fn add(
        &mut self,
        helper: &Helper,
        executable: Executable,
        links: &Result<Links, String>,
        plan: &Plan,
        drawn: [u64; 3],
    ) -> usize {
        let record = links.as_ref().map_or("", |links| &links.record);
        let (helper, looks) = (helper.clone(), plan.all_looks());
        let placer = Placer::new(helper, executable, record, looks, plan.seed, drawn);
        self.placers.push(match links {
            Ok(_) => placer,
            Err(reason) => placer.without_links(reason.clone()),
        });
        self.placers.len() - 1
    }

    /// The next benchmark of the plan: the executable of each contender, by its
    /// place; `None` where it is started as the user linked it.
    pub(crate) fn add_benchmark(&mut self, places: Vec<Option<usize>>) {
        self.places.push(places);
    }

    /// All that is known of neutral links; empty when there was nobody to ask
    /// about.
    #[cfg(feature = "commands")]
    pub fn neutral_links(&self) -> &[NeutralLinks] {
        &self.facts
    }

    /// Returns whether every contender of a benchmark has neutral links.
    #[cfg(feature = "commands")]
    pub fn possible(&self, benchmark: usize) -> bool {
        let places = self.places.get(benchmark);
        places.is_some_and(|places| places.iter().all(Option::is_some))
    }

    /// Goes on after what a run holds: replicates keep the seeds they had in
    /// other benchmarks, and nobody draws one a second time.
    #[cfg(feature = "commands")]
    pub fn remember(&mut self, run: &[Placed]) {
        for placed in run {
            for (contender, placing) in placed.contenders.iter().enumerate() {
                let Some(placer) = self.placer(placed.benchmark, contender) else {
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

    /// Returns whether anybody in this benchmark has links.
    pub(crate) fn concerns(&self, benchmark: usize) -> bool {
        let places = self.places.get(benchmark);
        places.is_some_and(|places| places.iter().any(Option::is_some))
    }

    fn placer(&mut self, benchmark: usize, contender: usize) -> Option<&mut Placer> {
        let place = (*self.places.get(benchmark)?.get(contender)?)?;
        self.placers.get_mut(place)
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
        match self.placer(benchmark, contender) {
            Some(placer) => placer.link(replicate, interrupts),
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
        if let Some(placer) = self.placer(benchmark, contender) {
            placer.refuse(replicate, reason);
        }
    }

    /// Where the code of this benchmark lies in this replicate, for which its
    /// contenders run on these links. `render` words a reason, where it must be
    /// known which contender it is about.
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
            let Some(placer) = self.placer(benchmark, contender) else {
                continue;
            };
            let refused = placer.take_refused(replicate).into_iter();
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

    /// Has the links of a replicate ready and tried, and says where its code
    /// lies. Nothing is linked any more when this returns.
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
        // A block that is not primed counts on its first contender having run
        // last.
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
                if let Some(reason) = contenders.flaw(first, contender, link)? {
                    self.refuse(benchmark, contender, replicate, reason);
                    continue 'again;
                }
                tried[contender] = Some(link.clone());
            }
            let links: Vec<Option<&Variant>> = links.iter().map(Option::as_ref).collect();
            return Ok(self.placed(benchmark, replicate, &links, |_, reason| reason.to_owned()));
        }
    }
}

#[cfg(feature = "commands")]
impl Placements {
    /// Asks this program about every command and Google Benchmark executable of
    /// the plan that a record of its link lies beside; about none where there is
    /// no program. To be called before deadheat settles on one core.
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
                *place = match (&links, before) {
                    (Err(_), None) => None,
                    _ => Some(found.add(&helper, executable, &links, plan, drawn)),
                };
                known.push((path, side, *place));
                if !found.facts.iter().any(|facts| facts.executable == named) {
                    found.facts.push(Links::facts(named.to_owned(), links));
                }
            }
            found.places.push(places);
        }
        Ok(found)
    }
}

/// Returns whether this is the control of a benchmark in which somebody launches
/// another executable than the baseline, or nobody else launches any.
#[cfg(feature = "commands")]
fn is_a_build_again(benchmark: &Benchmark, contender: usize) -> bool {
    let control = benchmark.control().map(ContenderId::index);
    let baseline = program_of(benchmark, 0);
    let mut candidates = benchmark.candidates();
    control == Some(contender)
        && (benchmark.rivals() == 1
            || candidates.any(|id| program_of(benchmark, id.index()) != baseline))
}

/// The program that is launched, as it was named.
#[cfg(feature = "commands")]
fn program_of(benchmark: &Benchmark, contender: usize) -> Option<&str> {
    match &benchmark.contenders[contender].workload {
        Workload::Command(command) => command.words.first().map(String::as_str),
        Workload::GoogleBenchmark(calls) => calls.program.executable.to_str(),
        _ => None,
    }
}
