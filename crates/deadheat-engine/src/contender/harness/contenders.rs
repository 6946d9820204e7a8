//! Races the benchmarks of harness executables, launch by launch.

use std::ops::Range;

use deadheat_model::{
    Block, BlockRecord, Contender, Flags, HarnessCalls, Metric, NeutralLinks, Observed, Pinning,
    Placed, Plan, Sample, Workload,
};

use super::super::witness::Witness;
use super::adapter::Repetition;
use super::adapter_of;
use super::launch::{HarnessOptions, Launch, Launcher, failure, problem_of};
use super::pilot::{HarnessPilot, HarnessSide, IterationSupport, Piloting};
use crate::command_failure::HarnessError;
use crate::error::EngineError;
use crate::executable::Variant;
use crate::interrupt::Interrupts;
use crate::memory_layout::{MOST_PATH_PADDING, PathPadding};
use crate::order::Moment;
use crate::page_draws::PageDraws;
use crate::placement::{Flaw, Placements, StartsFrom};
use crate::random::{Purpose, below};
use crate::session::Contenders;

/// The metrics of every repetition. Only the first is used if a harness of the race reports no CPU
/// time.
const METRICS: [Metric; 2] = [Metric::Wall, Metric::Cpu];

/// A benchmark of the plan.
#[derive(Debug)]
struct Entered {
    name: String,
    contenders: Vec<(String, HarnessCalls)>,
    counters: Vec<Metric>,
    /// True if the contenders are launched at the same moment on one core.
    is_side_by_side: bool,
    /// For each contender, true if its neutral link gets its own path as `argv[0]`.
    named_by_link: Vec<bool>,
}

struct Measured {
    benchmark: usize,
    replicate: u32,
    slots: Vec<Vec<Repetition>>,
}

/// The random draws that all launches of a replicate share.
#[derive(Clone, Copy)]
struct Drawn {
    path_padding: PathPadding,
    hash_seed: u32,
}

/// The benchmarks of harness executables. A replicate launches each slot of a block once; the
/// repetitions of these launches are the samples of its blocks.
pub struct HarnessContenders<'a> {
    pub(super) launcher: Launcher<'a>,
    metrics: &'static [Metric],
    iteration_support: IterationSupport,
    benchmarks: Vec<Entered>,
    placements: Placements,
    page_draws: PageDraws,
    /// The current neutral link of each contender; `None` for the user's own executable.
    links: Vec<Option<Variant>>,
    placed: Option<Placed>,
    measured: Option<Measured>,
    witness: Witness,
}

impl<'a> HarnessContenders<'a> {
    /// Finds the cores without starting a process.
    pub fn new(options: HarnessOptions, interrupts: &'a Interrupts) -> Result<Self, EngineError> {
        let mut harnesses = options.harnesses.iter();
        let told = harnesses.all(|harness| adapter_of(*harness).tells_cpu_time());
        let mut harnesses = options.harnesses.iter();
        let pinned = harnesses.all(|harness| adapter_of(*harness).may_be_pinned());
        let mut options = options;
        if !pinned {
            options.pinning = Pinning::Inherit;
        }
        Ok(Self {
            metrics: if told { &METRICS } else { &METRICS[..1] },
            launcher: Launcher::new(options, interrupts)?,
            iteration_support: IterationSupport::default(),
            benchmarks: Vec::new(),
            placements: Placements::default(),
            page_draws: PageDraws::default(),
            links: Vec::new(),
            placed: None,
            measured: None,
            witness: Witness::default(),
        })
    }

    /// Returns the cores that replicates are drawn from; empty if they are not pinned.
    pub fn pinned(&self) -> &[u32] {
        self.launcher.cores.choices()
    }

    /// Launches every side of a benchmark to find out how to race it. `index` is its place in the
    /// future plan. The calling thread is not pinned when it returns. A benchmark that skips itself
    /// returns [`HarnessError::Skipped`].
    pub fn pilot(
        &mut self,
        index: usize,
        benchmark: &str,
        sides: &[HarnessSide<'_>],
    ) -> Result<HarnessPilot, EngineError> {
        let hash_seed = self.launcher.hash_seed([index as u64, u64::MAX, 0]);
        self.launcher.notes_files = true;
        let piloting = Piloting {
            launcher: &mut self.launcher,
            page_draws: &self.page_draws,
            iteration_support: &mut self.iteration_support,
            benchmark,
            sides,
            hash_seed,
            fixes_addresses: Vec::new(),
        };
        let found = piloting.pilot(index);
        self.launcher.notes_files = false;
        self.launcher.cores.release();
        found
    }

    /// Applies the plan that resulted from the calibration runs, and the neutral links of its
    /// executables.
    pub fn enter(&mut self, plan: &Plan, placements: Placements) -> Result<(), EngineError> {
        let mut benchmarks = Vec::new();
        for (index, benchmark) in plan.benchmarks.iter().enumerate() {
            if let Some(rerun) = benchmark.rerun {
                self.page_draws.copy_libraries(index, rerun.of);
            }
            let calls = |contender: &Contender| match &contender.workload {
                Workload::Harness(calls) => {
                    Ok((contender.name.clone(), HarnessCalls::clone(calls)))
                }
                _ => Err(EngineError::NotRunnable {
                    benchmark: benchmark.name.clone(),
                    contender: contender.name.clone(),
                }),
            };
            let contenders = benchmark.contenders.iter().map(calls);
            benchmarks.push(Entered {
                name: benchmark.name.clone(),
                named_by_link: vec![false; benchmark.contenders.len()],
                contenders: contenders.collect::<Result<_, _>>()?,
                counters: benchmark.counters.clone(),
                is_side_by_side: benchmark.side_by_side.is_some(),
            });
        }
        self.benchmarks = benchmarks;
        self.placements = placements;
        Ok(())
    }

    /// Returns the facts about all neutral links; empty if the user requested none.
    pub fn neutral_links(&self) -> &[NeutralLinks] {
        self.placements.neutral_links()
    }

    fn enter_replicate(&mut self, block: &Block) -> Result<(), EngineError> {
        self.measured = None;
        let contenders = &self.benchmarks[block.benchmark].contenders;
        let threads = contenders.iter().map(|(_, calls)| calls.threads).max();
        let place = [block.benchmark as u64, u64::from(block.replicate), 0];
        if self.benchmarks[block.benchmark].is_side_by_side {
            self.launcher.settle_to_share(place)?;
        } else {
            self.launcher.settle(place, threads.unwrap_or(1))?;
        }
        self.links = vec![None; self.benchmarks[block.benchmark].contenders.len()];
        if self.placements.concerns(block.benchmark) {
            let mut placements = std::mem::take(&mut self.placements);
            let placed = placements.enter_replicate(block, self, self.launcher.interrupts);
            self.placements = placements;
            self.placed = Some(placed?);
        } else {
            let contenders = self.benchmarks[block.benchmark].contenders.iter();
            let programs: Vec<_> = (contenders.enumerate())
                .map(|(contender, (_, calls))| {
                    let side = (block.benchmark, contender);
                    let other = self.witness.other_file(side);
                    (
                        side,
                        other.unwrap_or_else(|| calls.program.executable.clone()),
                    )
                })
                .collect();
            let sides = programs.iter().map(|(side, path)| (*side, path.as_path()));
            let files = self.page_draws.own_files(sides);
            let mut draw = self.launcher.stream(Purpose::Pages, place);
            self.page_draws.redraw(&files, &mut draw);
        }
        if let Some(prime) = block.prime {
            let contender = prime.contender.index();
            let variant = self.links[contender].clone();
            self.once(block, contender, variant.as_ref(), prime.padding.into())?;
        }
        // The number of slots that start at the same moment.
        let at_once = if self.benchmarks[block.benchmark].is_side_by_side {
            self.benchmarks[block.benchmark].contenders.len()
        } else {
            1
        };
        let mut slots = Vec::new();
        while slots.len() < block.slots.len() {
            let end = block.slots.len().min(slots.len() + at_once);
            slots.extend(self.slots(block, slots.len()..end)?);
        }
        self.measured = Some(Measured {
            benchmark: block.benchmark,
            replicate: block.replicate,
            slots,
        });
        Ok(())
    }

    /// Launches a contender once with the fewest possible repetitions, and discards the result.
    fn once(
        &mut self,
        block: &Block,
        contender: usize,
        variant: Option<&Variant>,
        padding: usize,
    ) -> Result<(), EngineError> {
        let benchmark = &self.benchmarks[block.benchmark];
        let drawn = self.drawn(block);
        let moment = Moment::of(block, None);
        let launch = benchmark.launch(contender, moment, variant, drawn, padding);
        let (least, _) = launch.adapter.repetitions_of_a_launch();
        let launch = Launch {
            warm_up: 0,
            repetitions: least,
            is_side_by_side: false,
            ..launch
        };
        self.launcher.launch(&launch).map(|_| ())
    }

    fn drawn(&self, block: &Block) -> Drawn {
        let place = [block.benchmark as u64, u64::from(block.replicate), 0];
        let mut draw = self.launcher.stream(Purpose::PathPadding, place);
        let more = below(&mut draw, MOST_PATH_PADDING) as usize;
        let contenders = self.benchmarks[block.benchmark].contenders.iter();
        let paths = contenders.map(|(_, calls)| calls.program.executable.as_path());
        Drawn {
            path_padding: PathPadding::of(paths, more),
            hash_seed: self.launcher.hash_seed(place),
        }
    }

    /// Launches the slots of a range at the same moment, and checks that their repetitions are
    /// complete.
    fn slots(
        &mut self,
        block: &Block,
        slots: Range<usize>,
    ) -> Result<Vec<Vec<Repetition>>, EngineError> {
        let drawn = self.drawn(block);
        let (benchmark, links) = (&self.benchmarks[block.benchmark], &self.links);
        let launches: Vec<Launch<'_>> = slots
            .map(|index| {
                let slot = block.slots[index];
                let contender = slot.contender.index();
                benchmark.launch(
                    contender,
                    Moment::of(block, Some(index)),
                    links[contender].as_ref(),
                    drawn,
                    slot.padding.into(),
                )
            })
            .collect();
        let all = self.launcher.launch_together(&launches)?;
        for (launch, watched) in launches.iter().zip(&self.launcher.watched) {
            let of = (block.benchmark, launch.contender);
            self.witness.note(of, block.replicate, watched.noticed());
        }
        for (launch, repetitions) in launches.iter().zip(&all) {
            benchmark.check(launch, repetitions)?;
        }
        Ok(all)
    }
}

impl Entered {
    fn check(&self, launch: &Launch<'_>, repetitions: &[Repetition]) -> Result<(), EngineError> {
        let (found, expected) = (repetitions.len(), launch.repetitions);
        if found != expected as usize {
            let problem = HarnessError::Repetitions { found, expected };
            return Err(failure(launch, problem));
        }
        for (repetition, row) in repetitions.iter().enumerate() {
            for counter in &self.counters {
                let counter = counter.name();
                if let Err(found) = row.counter(counter) {
                    let problem = HarnessError::Counter {
                        counter: counter.to_owned(),
                        repetition,
                        found,
                    };
                    return Err(failure(launch, problem));
                }
            }
        }
        Ok(())
    }

    fn launch<'c>(
        &'c self,
        contender: usize,
        moment: Moment,
        variant: Option<&'c Variant>,
        drawn: Drawn,
        padding: usize,
    ) -> Launch<'c> {
        let (name, calls) = &self.contenders[contender];
        Launch {
            position: (&self.name, name, moment),
            contender,
            adapter: adapter_of(calls.harness),
            program: &calls.program,
            benchmark: &calls.benchmark,
            length: calls.length,
            warm_up: calls.warm_up,
            repetitions: calls.repetitions,
            is_side_by_side: self.is_side_by_side,
            variant,
            path_padding: Some(drawn.path_padding),
            padding,
            hash_seed: drawn.hash_seed,
            fixed_addresses: self.contenders.iter().any(|(_, c)| c.fixes_addresses),
            named_by_link: self.named_by_link[contender],
        }
    }
}

impl Contenders for HarnessContenders<'_> {
    fn metrics(&self) -> &[Metric] {
        self.metrics
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        let is_of = |measured: &Measured| {
            (measured.benchmark, measured.replicate) == (block.benchmark, block.replicate)
        };
        if !self.measured.as_ref().is_some_and(is_of) {
            self.enter_replicate(block)?;
        }
        let counters = &self.benchmarks[block.benchmark].counters;
        let measured = self.measured.iter().flat_map(|measured| &measured.slots);
        for (slot, repetitions) in block.slots.iter().zip(measured) {
            let Some(row) = repetitions.get(block.index as usize) else {
                continue;
            };
            record.samples.push(Sample {
                contender: slot.contender,
                flags: Flags::NONE,
                exit_code: None,
                iterations: row.iterations,
            });
            let iterations = row.iterations as f64;
            let times = [Some(row.wall_ns), row.cpu_ns].into_iter().flatten();
            let times = times.take(self.metrics.len());
            record.values.extend(times.map(|time| time * iterations));
            // Counters are not divided by the iterations: only the author of a counter knows if it
            // adds up, and the harness offers a flag to divide it.
            let counted = counters.iter().map(|counter| row.counter(counter.name()));
            record.values.extend(counted.flatten());
        }
        Ok(())
    }

    fn placed(&mut self) -> Option<Placed> {
        self.placed.take()
    }

    fn observed(&mut self) -> Vec<Observed> {
        self.witness.take()
    }

    fn launched(&mut self) -> u64 {
        std::mem::take(&mut self.launcher.launched)
    }

    fn close(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        self.measured = None;
        Ok(())
    }
}

impl StartsFrom for HarnessContenders<'_> {
    fn start_from(
        &mut self,
        _benchmark: usize,
        contender: usize,
        link: Option<&Variant>,
    ) -> Result<(), EngineError> {
        self.links[contender] = link.cloned();
        Ok(())
    }

    /// Launches as few repetitions as the harness allows. If the program executes another file than
    /// the link, it is launched again with the path of the link as `argv[0]`.
    fn flaw(
        &mut self,
        block: &Block,
        contender: usize,
        link: &Variant,
    ) -> Result<Option<Flaw>, EngineError> {
        let error = loop {
            let launched = self.once(block, contender, Some(link), 0);
            if let Err(error) = launched {
                break error;
            }
            let named_by_link = &mut self.benchmarks[block.benchmark].named_by_link[contender];
            match self.launcher.watched[0].left_for() {
                None => return Ok(None),
                Some(_) if !*named_by_link => *named_by_link = true,
                Some(file) => {
                    *named_by_link = false;
                    let (name, _) = &self.benchmarks[block.benchmark].contenders[contender];
                    return Ok(Some(Flaw::leaves_link(name, &file)));
                }
            }
        };
        let Some(problem) = problem_of(&error) else {
            return Err(error);
        };
        if let Err(own) = self.once(block, contender, None, 0)
            && problem_of(&own).is_none_or(|own| own.is_like(problem))
        {
            return Err(own);
        }
        let (name, _) = &self.benchmarks[block.benchmark].contenders[contender];
        let file = link.executable.display();
        Ok(Some(Flaw::OfLink(format!(
            "'{name}' {problem}; this does not happen with your own link; see {file}"
        ))))
    }
}
