//! The pilots of a race: each completes its benchmark before the plan is frozen.

use std::time::Duration;

use deadheat_engine::{EngineError, Watcher};
use deadheat_model::{Benchmark, BenchmarkFailure, LeftOut, LeftOutReason, Plan, RaceSettings};

use super::entries::PilotedContenders;

/// The reason why a benchmark is left out if the time budget ends before its pilot.
const NOT_REACHED: &str = "the time budget ended before it was reached";

/// The results of the pilots so far.
pub(super) struct Pilots {
    /// By benchmark of the plan: nanoseconds of a replicate; `None` after a failed pilot, and for a
    /// benchmark that another part of the race runs.
    pub(super) costs_ns: Vec<Option<f64>>,
    /// Benchmarks whose pilot failed.
    pub(super) failures: Vec<BenchmarkFailure>,
    /// Benchmarks that have no place in the plan.
    pub(super) left_out: Vec<LeftOut>,
}

impl Pilots {
    /// Before the first pilot, with the benchmarks that are left out already.
    pub(super) fn new(left_out: Vec<LeftOut>) -> Self {
        Self {
            costs_ns: Vec::new(),
            failures: Vec::new(),
            left_out,
        }
    }

    /// Pilots these benchmarks and adds them to the plan. `spent` returns the time that counts for
    /// the budget.
    pub(super) fn run(
        &mut self,
        benchmarks: Vec<Benchmark>,
        plan: &mut Plan,
        contenders: &mut dyn PilotedContenders,
        settings: &RaceSettings,
        (watcher, spent): (&mut dyn Watcher, &dyn Fn() -> Duration),
    ) -> Result<(), EngineError> {
        let total = benchmarks.iter().filter(|one| plan.races(one)).count();
        let mut more = total;
        for mut benchmark in benchmarks {
            if !plan.races(&benchmark) {
                // It keeps its place, so that all parts have one plan.
                self.costs_ns.push(None);
                plan.benchmarks.push(benchmark);
                continue;
            }
            more -= 1;
            let is_used_up = settings.budget.is_some_and(|budget| spent() >= budget);
            if is_used_up && self.has_one_to_race() && plan.design.shard.is_none() {
                let reason = LeftOutReason::Skipped(NOT_REACHED.to_owned());
                self.leave_out(benchmark, reason);
                continue;
            }
            watcher.pilot_begins(&benchmark.name, (total - more, total));
            let index = plan.benchmarks.len();
            let cost_ns = match contenders.pilot(index, &mut benchmark, settings, more) {
                Ok(cost_ns) => cost_ns,
                Err(error) if error.is_of_a_contender() => {
                    if let Some(reason) = contenders.reason_to_leave_out(&error) {
                        self.leave_out(benchmark, reason);
                        continue;
                    }
                    self.failures.push(BenchmarkFailure {
                        benchmark: index,
                        message: error.within_benchmark(),
                    });
                    None
                }
                Err(error) => return Err(error),
            };
            self.costs_ns.push(cost_ns);
            plan.benchmarks.push(benchmark);
        }
        Ok(())
    }

    /// Returns true if a pilot has succeeded: a benchmark races even if its pilot, and those that
    /// failed before it, have used up the budget.
    fn has_one_to_race(&self) -> bool {
        self.costs_ns.iter().any(Option::is_some)
    }

    fn leave_out(&mut self, benchmark: Benchmark, reason: LeftOutReason) {
        self.left_out.push(LeftOut {
            benchmark: benchmark.name,
            reason,
        });
    }
}
