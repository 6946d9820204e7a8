//! The main loop of a race: it schedules a block, runs it, records it, and decides if the race
//! continues.

use std::time::Duration;

use deadheat_model::{
    BenchmarkFailure, Block, BlockRecord, ContenderId, Decision, EndReason, Metric, Observed,
    Placed, Plan, RecordSink, RerunKind, Run, RunEnd, Slot, Standing, StoppingRule, in_one_line,
};

use crate::clock::Clock;
use crate::error::EngineError;
use crate::interrupt::Interrupts;
use crate::order::Schedule;
use crate::rounds::{Rounds, Row};

/// The contenders of a plan, ready to be run. The session drives them; it
/// does not know what they are.
pub trait Contenders {
    /// Returns the metrics of every sample, in column order.
    fn metrics(&self) -> &[Metric];
    /// Called once before the first block, with the time after which no block starts.
    fn begin(&mut self, _budget: Option<Duration>) {}
    /// Prepares a benchmark by running its setup hooks.
    fn open(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }
    /// Runs the contenders of `_slots` as a warm-up and discards their times. Does nothing if every
    /// process warms up by itself.
    fn warm_up(&mut self, _benchmark: usize, _slots: &[Slot]) -> Result<(), EngineError> {
        Ok(())
    }
    /// Runs a block and fills in the samples and values of `record`, whose
    /// buffers are empty. The session fills in the rest.
    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError>;
    /// Returns the code placement of the current replicate, once for each replicate whose placement
    /// was drawn. Called after every block.
    fn placed(&mut self) -> Option<Placed> {
        None
    }
    /// Returns the observations of processes (such as the executed file) that have changed since
    /// the last call. Called after every block.
    fn observed(&mut self) -> Vec<Observed> {
        Vec::new()
    }
    /// Returns the nanoseconds since the last call that were spent for several benchmarks and do
    /// not count for the running one.
    fn shared_ns(&mut self) -> u64 {
        0
    }
    /// Returns the number of processes launched since the last call.
    fn launched(&mut self) -> u64 {
        0
    }
    /// Cleans up after a benchmark by running its cleanup hooks. Called once for every `open`, even
    /// after a failure.
    fn close(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }
}

/// A source of requests to stop, which is checked before every block.
pub trait StopRequest {
    /// Returns the signal that asks to stop, if there was one.
    fn requested(&self) -> Option<i32>;
}

impl StopRequest for Interrupts {
    fn requested(&self) -> Option<i32> {
        Interrupts::requested(self)
    }
}

/// A [`StopRequest`] that never asks to stop.
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
    /// The name of the benchmark.
    pub benchmark: &'a str,
    /// The index of the benchmark, or of the benchmark that it reruns.
    pub index: usize,
    /// The number of benchmarks, reruns not included.
    pub benchmarks: usize,
    /// The kind of rerun; `None` if the benchmark is not a rerun.
    pub rerun: Option<RerunKind>,
    /// Blocks completed in this benchmark.
    pub blocks: u64,
    /// The maximum number of blocks of this benchmark.
    pub blocks_at_most: u64,
    /// Nanoseconds since the run began.
    pub elapsed_ns: u64,
    /// The interim result, if there is one.
    pub standing: Option<Standing>,
    /// The maximum number of nanoseconds that the whole run may still take.
    pub left_at_most_ns: u64,
}

/// An observer that is notified of the progress of a race between blocks.
pub trait Watcher {
    /// Called when the calibration run of a benchmark begins. `_number` is the number of this
    /// calibration run, counted from 1, and the number of all calibration runs.
    fn pilot_begins(&mut self, _benchmark: &str, _number: (usize, usize)) {}
    /// Called when the calibration runs are over and `_benchmarks` benchmarks start to race, which
    /// usually takes `_forecast`.
    fn race_begins(&mut self, _benchmarks: usize, _forecast: Duration) {}
    /// Returns true if progress is shown. Interim results are computed only then.
    fn watching(&self) -> bool;
    /// Returns true if progress should be reported now, given the nanoseconds since the run began.
    fn due(&self, _elapsed_ns: u64) -> bool {
        true
    }
    /// Called after a block was completed and recorded.
    fn block_done(&mut self, progress: &Progress<'_>);
    /// Called after a benchmark has ended, successfully or not.
    fn benchmark_done(&mut self, _run: &Run, _benchmark: usize) {}
}

/// A [`Watcher`] that ignores all progress.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn watching(&self) -> bool {
        false
    }

    fn block_done(&mut self, _progress: &Progress<'_>) {}
}

/// The divisor of a time budget that limits the warm-ups: all of them together may take a quarter
/// of the budget.
const WARM_UP_PART: u64 = 4;

/// The parts of a race. The session does not know what the contenders are, how verdicts are
/// computed or where records are stored.
pub struct Session<'a> {
    /// The contenders.
    pub contenders: &'a mut dyn Contenders,
    /// The clock of the run, already started.
    pub clock: &'a dyn Clock,
    /// The rule that decides when a benchmark stops.
    pub rule: &'a mut dyn StoppingRule,
    /// The destination of all records.
    pub sink: &'a mut dyn RecordSink,
    /// The observer of the race.
    pub watcher: &'a mut dyn Watcher,
    /// The source of requests to stop.
    pub stop: &'a dyn StopRequest,
    /// The maximum number of replicates per benchmark, including those already in the run.
    pub max_replicates: u32,
    /// The time in this session after which no further block starts; `None` for no limit.
    pub budget: Option<Duration>,
    /// True if the race continues with the next benchmark when a contender fails.
    pub outlive_failures: bool,
}

impl Session<'_> {
    /// Races every benchmark of the plan of `run`, continues after the samples that `run` already
    /// has, and records how the run ended. An interruption is a regular end, not an error. After an
    /// error the run keeps the samples measured until then.
    pub fn race(mut self, run: &mut Run) -> Result<(), EngineError> {
        let outcome = self.all_benchmarks(run);
        let (reason, error) = match outcome {
            Ok(reason) => (reason, None),
            Err(EngineError::Interrupted) => (
                EndReason::Interrupted(self.stop.requested().unwrap_or(libc::SIGINT)),
                None,
            ),
            Err(error) => (
                EndReason::Failed(in_one_line(&error.to_string())),
                Some(error),
            ),
        };
        let end = RunEnd {
            reason,
            launches: run.launches,
            elapsed_ns: self.clock.elapsed_ns(),
        };
        let kept = self.sink.end(&end);
        run.end = Some(end);
        match error {
            // The first error is the cause. A failure to store the end is its consequence.
            Some(error) => Err(error),
            None => Ok(kept?),
        }
    }

    fn all_benchmarks(&mut self, run: &mut Run) -> Result<EndReason, EngineError> {
        let plan = run.header.plan.clone();
        let mut reason = EndReason::Finished;
        self.contenders.begin(self.budget);
        let end_ns = self.budget.map(|budget| self.after(budget));
        let mut warm_up_left_ns = self
            .budget
            .map(|budget| budget.as_nanos() as u64 / WARM_UP_PART);
        let in_rounds = |benchmark: &usize| plan.races_in_rounds(*benchmark);
        let (together, one_by_one): (Vec<usize>, Vec<usize>) = in_order(&plan).partition(in_rounds);
        self.race_in_rounds(run, &plan, (together, end_ns), &mut reason)?;
        for benchmark in one_by_one {
            let rerun = plan.benchmarks[benchmark].rerun;
            if self.is_settled(run, &plan, benchmark) {
                continue;
            }
            let share = end_ns.map(|end| self.share(end, shares_to_come(&plan, benchmark)));
            let own = plan.budget(benchmark).map(|budget| self.after(budget));
            // The benchmark ends with its share of the budget or at its own limit, whichever is
            // earlier.
            let deadline = share.into_iter().chain(own).min();
            let opened = self.contenders.open(benchmark);
            let left = &mut warm_up_left_ns;
            let raced = opened
                .and_then(|()| self.one_benchmark(run, &plan, benchmark, [deadline, end_ns], left));
            // Also after a failure, to undo a partial setup.
            let closed = self.contenders.close(benchmark);
            let raced = raced.and_then(|raced| closed.map(|()| raced));
            // A rerun may be cut short, because no verdict depends on it.
            if self.outlived(run, benchmark, raced)? == EndReason::Budget && rerun.is_none() {
                reason = EndReason::Budget;
            }
        }
        Ok(reason)
    }

    /// Returns true if nothing of a benchmark is left to race.
    fn is_settled(&mut self, run: &Run, plan: &Plan, benchmark: usize) -> bool {
        let rerun = plan.benchmarks[benchmark].rerun;
        // A benchmark that failed needs no rerun.
        let failed = run.failures.iter().any(|failure| {
            failure.benchmark == benchmark
                || rerun.is_some_and(|rerun| rerun.of == failure.benchmark)
        });
        let samples = &run.benchmarks[benchmark];
        let is_over =
            !samples.blocks().is_empty() && self.rule.decide(benchmark, samples) == Decision::Stop;
        failed || is_over || !plan.races(&plan.benchmarks[benchmark])
    }

    /// Records how a benchmark ended and returns the reason; `Err` if its failure ends the race.
    fn outlived(
        &mut self,
        run: &mut Run,
        benchmark: usize,
        raced: Result<EndReason, EngineError>,
    ) -> Result<EndReason, EngineError> {
        let is_rerun = run.header.plan.benchmarks[benchmark].rerun.is_some();
        let ended = match raced {
            Ok(ended) => ended,
            Err(error) if (self.outlive_failures || is_rerun) && error.is_of_a_contender() => {
                let failure = BenchmarkFailure {
                    benchmark,
                    message: error.within_benchmark(),
                };
                self.sink.failed(&failure)?;
                run.failures.push(failure);
                EndReason::Finished
            }
            Err(error) => return Err(error),
        };
        self.watcher.benchmark_done(run, benchmark);
        Ok(ended)
    }

    /// Races benchmarks in rounds of one replicate per benchmark, so that each benchmark is spread
    /// over the whole time.
    fn race_in_rounds(
        &mut self,
        run: &mut Run,
        plan: &Plan,
        (benchmarks, end_ns): (Vec<usize>, Option<u64>),
        reason: &mut EndReason,
    ) -> Result<(), EngineError> {
        let mut rows = Vec::new();
        for benchmark in benchmarks {
            let row = self.row(run, plan, benchmark);
            // A resumed run that was cut off in its last replicate has none left to race.
            if row.next < row.end && !self.is_settled(run, plan, benchmark) {
                rows.push(row);
            }
        }
        let mut rounds = Rounds::new(rows);
        let mut raced = self.all_rounds(run, plan, (&mut rounds, end_ns), reason);
        // Benchmarks are still open if time ran out or after an error. The first error is the cause
        // of later ones.
        for row in rounds.open().to_vec() {
            let closed = match row.has_begun {
                true => self.contenders.close(row.benchmark),
                false => Ok(()),
            };
            if raced.is_ok() {
                *reason = EndReason::Budget;
                self.watcher.benchmark_done(run, row.benchmark);
            }
            raced = raced.and(closed);
        }
        raced
    }

    fn all_rounds(
        &mut self,
        run: &mut Run,
        plan: &Plan,
        (rounds, end_ns): (&mut Rounds, Option<u64>),
        reason: &mut EndReason,
    ) -> Result<(), EngineError> {
        loop {
            let now = self.clock.elapsed_ns();
            let left = end_ns.map(|end| end.saturating_sub(now));
            let owes_block = owes_block(run, plan);
            let Some(place) = rounds.next(left.filter(|_| !owes_block)) else {
                return Ok(());
            };
            let benchmark = rounds.row(place).benchmark;
            let others: Vec<usize> = rounds.open().iter().map(|row| row.benchmark).collect();
            let raced = self.turn(run, plan, (rounds.row(place), &others), end_ns);
            let ended = match raced {
                Ok(None) => continue,
                Ok(Some(ended)) => Ok(ended),
                Err(error) => Err(error),
            };
            let is_own = rounds.row(place).has_begun;
            rounds.close(place);
            let closed = match is_own {
                true => self.contenders.close(benchmark),
                false => Ok(()),
            };
            let ended = ended.and_then(|ended| closed.map(|()| ended));
            if self.outlived(run, benchmark, ended)? == EndReason::Budget {
                *reason = EndReason::Budget;
            }
        }
    }

    /// Runs the turn of a benchmark in a round: its setup and warm-up in the first turn, and one
    /// replicate. Returns how the benchmark ended, if it is over.
    fn turn(
        &mut self,
        run: &mut Run,
        plan: &Plan,
        (row, open): (&mut Row, &[usize]),
        end_ns: Option<u64>,
    ) -> Result<Option<EndReason>, EngineError> {
        if !row.has_begun {
            row.has_begun = true;
            self.contenders.open(row.benchmark)?;
            let (mut left, deadline) = (None, end_ns);
            row.previous = self.warm_up(run, plan, row.benchmark, (deadline, &mut left))?;
        }
        let others = open.iter().copied().filter(|other| *other != row.benchmark);
        let one_by_one = in_order(plan).filter(|other| !plan.races_in_rounds(*other));
        let limits = Limits {
            deadline: end_ns,
            left_ns: row.left_ns(),
            end_ns,
            to_come: others.chain(one_by_one).collect(),
        };
        self.replicate(run, plan, row, &limits)
    }

    /// Races the next replicate of a benchmark. Returns how the benchmark ended, if it is over.
    fn replicate(
        &mut self,
        run: &mut Run,
        plan: &Plan,
        row: &mut Row,
        limits: &Limits,
    ) -> Result<Option<EndReason>, EngineError> {
        row.turn_began_ns = self.clock.elapsed_ns();
        let is_cut = self.blocks(run, plan, row, limits)?;
        row.spent_ns += self.took(row);
        row.next += 1;
        if is_cut {
            return Ok(Some(EndReason::Budget));
        }
        let decision = self
            .rule
            .decide(row.benchmark, &run.benchmarks[row.benchmark]);
        let is_over = decision == Decision::Stop || row.next >= row.end;
        Ok(is_over.then_some(EndReason::Finished))
    }

    /// Returns the nanoseconds that the turn of a benchmark has taken so far.
    fn took(&self, row: &Row) -> u64 {
        self.clock.elapsed_ns().saturating_sub(row.turn_began_ns)
    }

    /// Runs the blocks of a replicate. Returns true if a limit cut it short.
    fn blocks(
        &mut self,
        run: &mut Run,
        plan: &Plan,
        row: &mut Row,
        limits: &Limits,
    ) -> Result<bool, EngineError> {
        let schedule = Schedule::new(plan);
        let (benchmark, replicate) = (row.benchmark, row.next);
        let keeps_order = plan.benchmarks[benchmark].keeps_order();
        let may_owe = plan.benchmarks[benchmark].rerun.is_none();
        let mut record = BlockRecord {
            benchmark,
            replicate,
            ..BlockRecord::default()
        };
        for index in 0..plan.blocks_per_replicate(benchmark) {
            // If the first block took the samples of all blocks, the other blocks only record their
            // samples.
            let measured = keeps_order && index > 0;
            if !measured && self.stop.requested().is_some() {
                return Err(EngineError::Interrupted);
            }
            let own = limits.left_ns.is_some_and(|left| self.took(row) >= left);
            let is_over = !measured && (own || self.is_over(limits.deadline));
            if is_over && !(may_owe && owes_block(run, plan)) {
                return Ok(true);
            }
            let block = schedule.block(benchmark, replicate, index, row.previous);
            record.index = index;
            record.primed = block.prime.is_some();
            record.samples.clear();
            record.values.clear();
            self.contenders.run(&block, &mut record)?;
            // Starting a process that several benchmarks share counts against none of them.
            row.turn_began_ns += self.contenders.shared_ns();
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
            row.previous = block.slots.last().map(|slot| slot.contender);
            run.benchmarks[benchmark]
                .push(&record)
                .map_err(|source| EngineError::Sample {
                    benchmark: plan.benchmarks[benchmark].name.clone(),
                    source,
                })?;
            run.launches += self.contenders.launched();
            run.elapsed_ns = record.elapsed_ns;
            if self.watcher.watching() && self.watcher.due(run.elapsed_ns) {
                self.report(run, plan, row, limits);
            }
        }
        Ok(false)
    }

    /// Runs the discarded launches before the first block, as far as time allows. Returns the
    /// contender of the last launch planned.
    fn warm_up(
        &mut self,
        run: &mut Run,
        plan: &Plan,
        benchmark: usize,
        (deadline, left_ns): (Option<u64>, &mut Option<u64>),
    ) -> Result<Option<ContenderId>, EngineError> {
        let started_ns = self.clock.elapsed_ns();
        let warm_up = Schedule::new(plan).warm_up(benchmark);
        let contenders = plan.benchmarks[benchmark].contenders.len().max(1);
        let until = left_ns.map(|left| started_ns.saturating_add(left));
        for round in warm_up.chunks(contenders) {
            if self.stop.requested().is_some() {
                return Err(EngineError::Interrupted);
            }
            if self.is_over(until) || self.is_over(deadline) {
                break;
            }
            self.contenders.warm_up(benchmark, round)?;
            run.launches += self.contenders.launched();
        }
        if let Some(left) = left_ns {
            *left = left.saturating_sub(self.clock.elapsed_ns() - started_ns);
        }
        Ok(warm_up.last().map(|slot| slot.contender))
    }

    /// Returns the progress of a benchmark at the beginning of this session.
    fn row(&self, run: &Run, plan: &Plan, benchmark: usize) -> Row {
        let first_of_part = plan.design.shard.map_or(0, |part| part.first_replicate());
        let last = run.benchmarks[benchmark].blocks().last();
        let first = last.map_or(first_of_part, |last| last.replicate + 1);
        let budget = plan.budget(benchmark);
        Row {
            benchmark,
            first,
            next: first,
            end: first_of_part.saturating_add(self.max_replicates),
            budget_ns: budget.map(|budget| u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX)),
            ..Row::default()
        }
    }

    /// Returns the time on the run's clock, in nanoseconds, at which `budget` from now will have
    /// passed.
    fn after(&self, budget: Duration) -> u64 {
        let budget = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
        self.clock.elapsed_ns().saturating_add(budget)
    }

    /// Returns the time at which a benchmark's share ends. The time left until `end_ns` is divided
    /// evenly among the benchmarks still to come.
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
        [deadline, end_ns]: [Option<u64>; 2],
        warm_up_left_ns: &mut Option<u64>,
    ) -> Result<EndReason, EngineError> {
        let may_owe = plan.benchmarks[benchmark].rerun.is_none();
        if self.is_over(deadline) && !(may_owe && owes_block(run, plan)) {
            return Ok(EndReason::Budget);
        }
        let mut row = self.row(run, plan, benchmark);
        row.spent_ns = self.clock.elapsed_ns();
        row.previous = self.warm_up(run, plan, benchmark, (deadline, warm_up_left_ns))?;
        row.spent_ns = self.clock.elapsed_ns() - row.spent_ns;
        if row.next >= row.end {
            return Ok(EndReason::Finished);
        }
        let limits = Limits {
            deadline,
            left_ns: None,
            end_ns,
            to_come: in_order(plan)
                .skip_while(|place| *place != benchmark)
                .skip(1)
                .collect(),
        };
        loop {
            if let Some(ended) = self.replicate(run, plan, &mut row, &limits)? {
                return Ok(ended);
            }
        }
    }

    fn report(&mut self, run: &Run, plan: &Plan, row: &Row, limits: &Limits) {
        let benchmark = row.benchmark;
        let samples = &run.benchmarks[benchmark];
        let per_replicate = u64::from(plan.blocks_per_replicate(benchmark));
        let blocks = samples.blocks().len() as u64;
        let done = blocks
            .saturating_sub(u64::from(row.first) * per_replicate)
            .max(1);
        let now = run.elapsed_ns;
        let block_ns = (row.spent_ns + now.saturating_sub(row.turn_began_ns)) / done;
        let at_most = |benchmark: usize| {
            let per_replicate = u64::from(plan.blocks_per_replicate(benchmark));
            match plan.benchmarks[benchmark].rerun {
                Some(rerun) => u64::from(rerun.replicates) * per_replicate,
                // A resumed run may continue beyond its plan.
                None if self.max_replicates > plan.max_replicates() => {
                    u64::from(self.max_replicates) * per_replicate
                }
                None => {
                    let planned = plan.looks(benchmark).max_replicates();
                    u64::from(planned.min(self.max_replicates)) * per_replicate
                }
            }
        };
        let left = |benchmark: usize| {
            let blocks = run.benchmarks[benchmark].blocks().len() as u64;
            at_most(benchmark).saturating_sub(blocks)
        };
        let blocks_at_most = at_most(benchmark);
        let blocks_to_come: u64 = limits.to_come.iter().copied().map(left).sum();
        let blocks_left = left(benchmark) + blocks_to_come;
        let mut left_at_most_ns = blocks_left.saturating_mul(block_ns);
        let own = limits
            .left_ns
            .map(|left| row.turn_began_ns.saturating_add(left));
        // Later benchmarks may take what the current one leaves of its share.
        let end = match limits.to_come.is_empty() {
            true => limits.deadline.into_iter().chain(own).min(),
            false => limits.end_ns,
        };
        if let Some(end) = end {
            left_at_most_ns = left_at_most_ns.min(end.saturating_sub(now));
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

/// The time limits of a replicate, and the benchmarks that race after it.
struct Limits {
    /// The time on the run's clock after which no block of the replicate begins, in nanoseconds.
    deadline: Option<u64>,
    /// The rest of the benchmark's own budget, in nanoseconds. No block of the replicate begins once
    /// the benchmark's turn has taken this long.
    left_ns: Option<u64>,
    /// The time on the run's clock, in nanoseconds, at which all benchmarks of `to_come` must be
    /// over; `None` without a budget.
    end_ns: Option<u64>,
    /// The other benchmarks that still race.
    to_come: Vec<usize>,
}

/// Returns true until the first block is measured. That block ignores the budget, because a run
/// without any sample would be useless.
fn owes_block(run: &Run, plan: &Plan) -> bool {
    let mut raced = plan.benchmarks.iter().zip(&run.benchmarks);
    raced.all(|(of, samples)| of.rerun.is_some() || samples.blocks().is_empty())
}

/// Returns the benchmarks in the order of their races. A rerun in turns comes before its race side
/// by side, so that its results exist even if that race is interrupted. Reruns on the user's own
/// links come last, so that they take no time from the others.
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

/// The divisor of time for a rerun in turns: the rerun gets a third of the time that its race side
/// by side gets.
const TURNS_PART: usize = 3;

/// Returns the number of equal shares into which the rest of a budget is divided when a benchmark
/// begins. The benchmark gets one share.
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
