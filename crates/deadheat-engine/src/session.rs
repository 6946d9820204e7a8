//! The loop: schedule a block, run it, record it, ask whether to go on.

use std::time::Duration;

use deadheat_model::{
    BenchmarkFailure, Block, BlockRecord, Decision, EndReason, Metric, Observed, Placed, Plan,
    RecordSink, RerunKind, Run, RunEnd, Slot, Standing, StoppingRule,
};

use crate::clock::Clock;
use crate::error::EngineError;
use crate::interrupt::Interrupts;
use crate::order::Schedule;

/// The contenders of a plan, ready to be run. The session drives them; it
/// does not know what they are.
pub trait Contenders {
    /// The metrics of every sample, in column order.
    fn metrics(&self) -> &[Metric];
    /// Gets a benchmark ready: its setup hooks.
    fn open(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }
    /// Runs these slots and forgets what they took; nothing where every process
    /// warms up for itself.
    fn warm_up(&mut self, _benchmark: usize, _slots: &[Slot]) -> Result<(), EngineError> {
        Ok(())
    }
    /// Runs a block and fills in the samples and values of `record`, whose
    /// buffers are empty. The session fills in the rest.
    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError>;
    /// Where the code lies in the replicate that has just begun, once for each
    /// replicate whose placement was drawn. Asked after its first block.
    fn placed(&mut self) -> Option<Placed> {
        None
    }
    /// Returns the changes in what was observed of the processes since the last call. Called after
    /// every block.
    fn observed(&mut self) -> Vec<Observed> {
        Vec::new()
    }
    /// Processes launched since this was last asked.
    fn launched(&mut self) -> u64 {
        0
    }
    /// Leaves a benchmark: its cleanup hooks. Called once for every `open`,
    /// also after a failure.
    fn close(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }
}

/// Asked before every block whether a signal wants the run to end.
pub trait StopRequest {
    /// The signal, if one came.
    fn requested(&self) -> Option<i32>;
}

impl StopRequest for Interrupts {
    fn requested(&self) -> Option<i32> {
        Interrupts::requested(self)
    }
}

/// Nobody ever asks to stop.
#[derive(Clone, Copy, Debug)]
pub struct NeverStop;

impl StopRequest for NeverStop {
    fn requested(&self) -> Option<i32> {
        None
    }
}

/// The state of a race after a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress<'a> {
    /// The benchmark's name.
    pub benchmark: &'a str,
    /// Its place among all, or that of the benchmark that it reruns.
    pub index: usize,
    /// The number of benchmarks without reruns.
    pub benchmarks: usize,
    /// The kind of rerun, if it is one.
    pub rerun: Option<RerunKind>,
    /// Blocks completed in this benchmark.
    pub blocks: u64,
    /// Blocks it takes at most.
    pub blocks_at_most: u64,
    /// Nanoseconds since the run began.
    pub elapsed_ns: u64,
    /// Where it stands.
    pub standing: Option<Standing>,
    /// Nanoseconds the whole run may still take at most.
    pub left_at_most_ns: u64,
}

/// Someone who watches the race, between blocks.
pub trait Watcher {
    /// Returns whether anyone looks: a standing is only worked out for those who do.
    fn watching(&self) -> bool;
    /// Returns whether it is time to look again, so many nanoseconds into the run.
    fn due(&self, _elapsed_ns: u64) -> bool {
        true
    }
    /// A block was completed and recorded.
    fn block_done(&mut self, progress: &Progress<'_>);
    /// A benchmark came to its end, one way or the other.
    fn benchmark_done(&mut self, _run: &Run, _benchmark: usize) {}
}

/// Nobody watches.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn watching(&self) -> bool {
        false
    }

    fn block_done(&mut self, _progress: &Progress<'_>) {}
}

/// Warm-ups may take one of so many parts of a budget.
const WARM_UP_PART: u64 = 4;

/// Everything a race needs, injected: it knows neither what the contenders
/// are, nor how verdicts come about, nor where records go.
pub struct Session<'a> {
    /// The contenders.
    pub contenders: &'a mut dyn Contenders,
    /// The clock of the run, started.
    pub clock: &'a dyn Clock,
    /// When to stop.
    pub rule: &'a mut dyn StoppingRule,
    /// Where raw samples go.
    pub sink: &'a mut dyn RecordSink,
    /// The watcher.
    pub watcher: &'a mut dyn Watcher,
    /// The source of requests to stop.
    pub stop: &'a dyn StopRequest,
    /// Replicates per benchmark at most, those already in the run included.
    pub max_replicates: u32,
    /// No block starts when this much time has passed in this session.
    pub budget: Option<Duration>,
    /// True if the race goes on with the next benchmark when a contender of
    /// one fails.
    pub outlive_failures: bool,
}

impl Session<'_> {
    /// Races every benchmark of `run`'s plan, going on after what it already
    /// holds, and records how it ended. An interruption is a way to end, not
    /// an error; after an error the record holds what was measured until then.
    pub fn race(mut self, run: &mut Run) -> Result<(), EngineError> {
        let outcome = self.all_benchmarks(run);
        let (reason, error) = match outcome {
            Ok(reason) => (reason, None),
            Err(EngineError::Interrupted) => (
                EndReason::Interrupted(self.stop.requested().unwrap_or(libc::SIGINT)),
                None,
            ),
            Err(error) => (EndReason::Failed(error.to_string()), Some(error)),
        };
        let end = RunEnd {
            reason,
            launches: run.launches,
            elapsed_ns: self.clock.elapsed_ns(),
        };
        let kept = self.sink.end(&end);
        run.end = Some(end);
        match error {
            // The first failure is the cause; that the end could not be noted
            // either is its consequence.
            Some(error) => Err(error),
            None => Ok(kept?),
        }
    }

    fn all_benchmarks(&mut self, run: &mut Run) -> Result<EndReason, EngineError> {
        let plan = run.header.plan.clone();
        let mut reason = EndReason::Finished;
        let end_ns = self.budget.map(|budget| self.after(budget));
        let mut warm_up_left_ns = self
            .budget
            .map(|budget| budget.as_nanos() as u64 / WARM_UP_PART);
        for benchmark in in_order(&plan) {
            let rerun = plan.benchmarks[benchmark].rerun;
            // A benchmark that failed needs no rerun.
            let failed = run.failures.iter().any(|failure| {
                failure.benchmark == benchmark
                    || rerun.is_some_and(|rerun| rerun.of == failure.benchmark)
            });
            let samples = &run.benchmarks[benchmark];
            let is_over = !samples.blocks().is_empty()
                && self.rule.decide(benchmark, samples) == Decision::Stop;
            if failed || is_over || !plan.races(&plan.benchmarks[benchmark]) {
                continue;
            }
            let share = end_ns.map(|end| self.share(end, shares_to_come(&plan, benchmark)));
            let own = plan.budget(benchmark).map(|budget| self.after(budget));
            // Whichever comes first.
            let deadline = share.into_iter().chain(own).min();
            let opened = self.contenders.open(benchmark);
            let left = &mut warm_up_left_ns;
            let raced =
                opened.and_then(|()| self.one_benchmark(run, &plan, benchmark, (deadline, left)));
            // Also after a failure: what half of a setup did must be undone.
            let closed = self.contenders.close(benchmark);
            match raced.and_then(|raced| closed.map(|()| raced)) {
                // A rerun may be cut: no verdict waits for it.
                Ok(EndReason::Budget) if rerun.is_none() => reason = EndReason::Budget,
                Ok(_) => {}
                Err(error)
                    if (self.outlive_failures || rerun.is_some()) && error.is_of_a_contender() =>
                {
                    let failure = BenchmarkFailure {
                        benchmark,
                        message: error.within_benchmark(),
                    };
                    self.sink.failed(&failure)?;
                    run.failures.push(failure);
                }
                Err(error) => return Err(error),
            }
            self.watcher.benchmark_done(run, benchmark);
        }
        Ok(reason)
    }

    /// When so much time from now will have passed.
    fn after(&self, budget: Duration) -> u64 {
        let budget = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
        self.clock.elapsed_ns().saturating_add(budget)
    }

    /// When a benchmark's share of the time until `end_ns` is used up: what
    /// is left, divided evenly among the benchmarks still to come.
    fn share(&self, end_ns: u64, to_come: usize) -> u64 {
        let now = self.clock.elapsed_ns();
        now + end_ns.saturating_sub(now) / to_come as u64
    }

    fn is_over(&self, deadline: Option<u64>) -> bool {
        deadline.is_some_and(|deadline| self.clock.elapsed_ns() >= deadline)
    }

    fn one_benchmark(
        &mut self,
        run: &mut Run,
        plan: &Plan,
        benchmark: usize,
        (deadline, warm_up_left_ns): (Option<u64>, &mut Option<u64>),
    ) -> Result<EndReason, EngineError> {
        let schedule = Schedule::new(plan);
        let blocks_per_replicate = plan.blocks_per_replicate(benchmark);
        let keeps_order = plan.benchmarks[benchmark].keeps_order();
        let started_ns = self.clock.elapsed_ns();
        let warm_up = schedule.warm_up(benchmark);
        let contenders = plan.benchmarks[benchmark].contenders.len().max(1);
        // A budget that measures nothing is of no use to anybody.
        let mut raced = plan.benchmarks.iter().zip(&run.benchmarks);
        let mut owes_block = plan.benchmarks[benchmark].rerun.is_none()
            && raced.all(|(of, samples)| of.rerun.is_some() || samples.blocks().is_empty());
        if self.is_over(deadline) && !owes_block {
            return Ok(EndReason::Budget);
        }
        let warm_until = warm_up_left_ns.map(|left| started_ns.saturating_add(left));
        for round in warm_up.chunks(contenders) {
            if self.stop.requested().is_some() {
                return Err(EngineError::Interrupted);
            }
            if self.is_over(warm_until) || self.is_over(deadline) {
                break;
            }
            self.contenders.warm_up(benchmark, round)?;
            run.launches += self.contenders.launched();
        }
        if let Some(left) = warm_up_left_ns {
            *left = left.saturating_sub(self.clock.elapsed_ns() - started_ns);
        }
        let mut previous = warm_up.last().map(|slot| slot.contender);
        let first_of_part = plan.design.shard.map_or(0, |part| part.first_replicate());
        let last = run.benchmarks[benchmark].blocks().last();
        let first = last.map_or(first_of_part, |last| last.replicate + 1);
        let end = first_of_part.saturating_add(self.max_replicates);
        let mut record = BlockRecord {
            benchmark,
            ..BlockRecord::default()
        };
        for replicate in first..end {
            for index in 0..blocks_per_replicate {
                // Where the first block took the samples of all, what is left
                // is to write them down.
                let measured = keeps_order && index > 0;
                if !measured && self.stop.requested().is_some() {
                    return Err(EngineError::Interrupted);
                }
                if !measured && !owes_block && self.is_over(deadline) {
                    return Ok(EndReason::Budget);
                }
                owes_block = false;
                let block = schedule.block(benchmark, replicate, index, previous);
                record.replicate = replicate;
                record.index = index;
                record.primed = block.prime.is_some();
                record.samples.clear();
                record.values.clear();
                self.contenders.run(&block, &mut record)?;
                record.elapsed_ns = self.clock.elapsed_ns();
                if let Some(placed) = self.contenders.placed() {
                    self.sink.placed(&placed)?;
                    run.placed.push(placed);
                }
                for observed in self.contenders.observed() {
                    self.sink.observed(&observed)?;
                    run.observed.push(observed);
                }
                self.sink.block(&record)?;
                previous = block.slots.last().map(|slot| slot.contender);
                run.benchmarks[benchmark]
                    .push(&record)
                    .map_err(|source| EngineError::Sample {
                        benchmark: plan.benchmarks[benchmark].name.clone(),
                        source,
                    })?;
                run.launches += self.contenders.launched();
                run.elapsed_ns = record.elapsed_ns;
                if self.watcher.watching() && self.watcher.due(run.elapsed_ns) {
                    self.report(run, plan, benchmark, started_ns, first, deadline);
                }
            }
            if self.rule.decide(benchmark, &run.benchmarks[benchmark]) == Decision::Stop {
                break;
            }
        }
        Ok(EndReason::Finished)
    }

    fn report(
        &mut self,
        run: &Run,
        plan: &Plan,
        benchmark: usize,
        started_ns: u64,
        first: u32,
        deadline: Option<u64>,
    ) {
        let samples = &run.benchmarks[benchmark];
        let per_replicate = u64::from(plan.blocks_per_replicate(benchmark));
        let blocks = samples.blocks().len() as u64;
        let done = blocks
            .saturating_sub(u64::from(first) * per_replicate)
            .max(1);
        let now = run.elapsed_ns;
        let block_ns = (now - started_ns.min(now)) / done;
        let at_most = |benchmark: usize| match plan.benchmarks[benchmark].rerun {
            Some(rerun) => u64::from(rerun.replicates) * per_replicate,
            // Taken up again, a run goes on beyond its plan.
            None if self.max_replicates > plan.max_replicates() => {
                u64::from(self.max_replicates) * per_replicate
            }
            None => {
                let planned = plan.looks(benchmark).max_replicates();
                u64::from(planned.min(self.max_replicates)) * per_replicate
            }
        };
        let blocks_at_most = at_most(benchmark);
        let to_come = in_order(plan).skip_while(|place| *place != benchmark);
        let blocks_to_come: u64 = to_come.skip(1).map(at_most).sum();
        let blocks_left = blocks_at_most.saturating_sub(blocks) + blocks_to_come;
        let mut left_at_most_ns = blocks_left.saturating_mul(block_ns);
        if let Some(deadline) = deadline {
            // Every benchmark to come may take as long as this one. Reruns take what is left.
            let share = deadline.saturating_sub(now);
            let alike = shares_to_come(plan, benchmark) as u64;
            left_at_most_ns = left_at_most_ns.min(share.saturating_mul(alike));
        }
        let standing = self.rule.standing(benchmark, samples);
        let rerun = plan.benchmarks[benchmark].rerun;
        self.watcher.block_done(&Progress {
            benchmark: &plan.benchmarks[benchmark].name,
            index: rerun.map_or(benchmark, |rerun| rerun.of),
            benchmarks: plan.benchmarks.iter().filter(|b| b.rerun.is_none()).count(),
            rerun: rerun.map(|rerun| rerun.kind),
            blocks,
            blocks_at_most,
            elapsed_ns: now,
            standing,
            left_at_most_ns,
        });
    }
}

/// The benchmarks in the order of their races. Turns come before the same side by side, so that
/// they are there also where that is interrupted. Own links come last, so that they cost the others
/// nothing of a budget.
fn in_order(plan: &Plan) -> impl Iterator<Item = usize> + '_ {
    let places = 0..plan.benchmarks.len();
    let kind = |place: &usize| plan.benchmarks[*place].rerun.map(|rerun| rerun.kind);
    let itself = places.clone().filter(move |place| kind(place).is_none());
    let with_turns = itself.flat_map(|place| {
        let turns = plan.rerun(place, RerunKind::Turns);
        turns.into_iter().chain([place])
    });
    let own_links = places.filter(move |place| kind(place) == Some(RerunKind::OwnLink));
    with_turns.chain(own_links)
}

/// Turns get this part of what the same side by side may take.
const TURNS_PART: usize = 3;

/// The number of equal shares that the rest of a budget has when a benchmark begins, which gets one
/// of them.
fn shares_to_come(plan: &Plan, benchmark: usize) -> usize {
    let kind = plan.benchmarks[benchmark].rerun.map(|rerun| rerun.kind);
    if let (Some(RerunKind::Turns), Some(rerun)) = (kind, plan.benchmarks[benchmark].rerun) {
        return TURNS_PART * shares_to_come(plan, rerun.of);
    }
    let to_come = plan.benchmarks[benchmark..].iter();
    to_come
        .filter(|other| other.rerun.map(|rerun| rerun.kind) == kind)
        .count()
}
