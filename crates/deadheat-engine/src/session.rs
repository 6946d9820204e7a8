//! The loop: schedule a block, run it, record it, ask whether to go on.

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
    /// Nanoseconds since this was last asked that went into what serves several benchmarks, and is
    /// no time of the one that runs.
    fn shared_ns(&mut self) -> u64 {
        0
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
    /// The pilot of a benchmark begins: its number, counted from 1, and the number of pilots.
    fn pilot_begins(&mut self, _benchmark: &str, _number: (usize, usize)) {}
    /// The pilots are over, and this number of benchmarks race, which usually takes `forecast`.
    fn race_begins(&mut self, _benchmarks: usize, _forecast: Duration) {}
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
            // Whichever comes first.
            let deadline = share.into_iter().chain(own).min();
            let opened = self.contenders.open(benchmark);
            let left = &mut warm_up_left_ns;
            let raced =
                opened.and_then(|()| self.one_benchmark(run, &plan, benchmark, (deadline, left)));
            // Also after a failure: what half of a setup did must be undone.
            let closed = self.contenders.close(benchmark);
            let raced = raced.and_then(|raced| closed.map(|()| raced));
            // A rerun may be cut: no verdict waits for it.
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

    /// Takes down how a benchmark ended, and returns that; `Err` where its failure ends the race.
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

    /// Races these benchmarks in rounds: a replicate of each that is still open, then the next of
    /// each, so that each is spread over the whole time.
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
            // A run that was cut off in its last replicate has no further one.
            if row.next < row.end && !self.is_settled(run, plan, benchmark) {
                rows.push(row);
            }
        }
        let mut rounds = Rounds::new(rows);
        let mut raced = self.all_rounds(run, plan, (&mut rounds, end_ns), reason);
        // Without time or after an error, which is the cause of all that follow it.
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

    /// Races the next replicate of a benchmark. Returns how the benchmark ended, if it is over.
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
            alike: open.len() as u64,
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

    /// The time that the turn of a benchmark has taken so far.
    fn took(&self, row: &Row) -> u64 {
        self.clock.elapsed_ns().saturating_sub(row.turn_began_ns)
    }

    /// Runs the blocks of a replicate; returns whether a limit cut it short.
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
            // Where the first block took the samples of all, what is left
            // is to write them down.
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

    /// Runs the launches before the first block that are thrown away, as far as there is time for
    /// them; returns the contender of the last.
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

    /// A benchmark at the beginning of this session.
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
            end_ns: None,
            to_come: in_order(plan)
                .skip_while(|place| *place != benchmark)
                .skip(1)
                .collect(),
            alike: shares_to_come(plan, benchmark) as u64,
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
        if let Some(deadline) = limits.deadline.into_iter().chain(own).min() {
            // Every benchmark to come may take as long as this one. Reruns take what is left.
            let share = deadline.saturating_sub(now);
            left_at_most_ns = left_at_most_ns.min(share.saturating_mul(limits.alike));
        }
        if let Some(end) = limits.end_ns {
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

/// What bounds a replicate, and what is known of the benchmarks to come.
struct Limits {
    /// No block of it begins after this.
    deadline: Option<u64>,
    /// No block of it begins once its turn has taken this many nanoseconds.
    left_ns: Option<u64>,
    /// The time at which all benchmarks of `to_come` must be over; `None` if there is no such time.
    end_ns: Option<u64>,
    /// The benchmarks that race besides or after it.
    to_come: Vec<usize>,
    /// The number of benchmarks that may each take as long as this one still may.
    alike: u64,
}

/// Returns true as long as nothing is measured: a budget that measures nothing is of no use.
fn owes_block(run: &Run, plan: &Plan) -> bool {
    let mut raced = plan.benchmarks.iter().zip(&run.benchmarks);
    raced.all(|(of, samples)| of.rerun.is_some() || samples.blocks().is_empty())
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
