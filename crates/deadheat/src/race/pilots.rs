//! Makes the calibration runs (pilots), which set the calls and blocks of each benchmark before the
//! plan is frozen.

use std::time::Duration;

use deadheat_engine::{EngineError, Watcher};
use deadheat_model::{Benchmark, BenchmarkFailure, LeftOut, LeftOutReason, Plan, RaceSettings};

use super::entries::PilotedContenders;

const NOT_REACHED: &str = "the time budget is too short to calibrate and race it";

/// The replicates of each benchmark for which the calibration runs leave time. An interval needs
/// several.
const LEAST_REPLICATES: f64 = 6.0;

pub(super) struct Pilots {
    /// The time of a replicate in nanoseconds, for each benchmark of the plan. `None` if the
    /// calibration run failed, or if another part of the race runs the benchmark.
    pub(super) costs_ns: Vec<Option<f64>>,
    pub(super) failures: Vec<BenchmarkFailure>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Pilots {
    pub(super) fn new(left_out: Vec<LeftOut>) -> Self {
        Self {
            costs_ns: Vec::new(),
            failures: Vec::new(),
            left_out,
        }
    }

    /// Makes the calibration runs of these benchmarks, and adds the benchmarks to the plan. `spent`
    /// returns the used part of the budget.
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
                // All parts of a race share one plan, so the benchmark must keep its index although
                // another part runs it.
                self.costs_ns.push(None);
                plan.benchmarks.push(benchmark);
                continue;
            }
            more -= 1;
            let is_used_up = settings
                .budget
                .is_some_and(|budget| self.ends(budget, spent()));
            if is_used_up && plan.design.shard.is_none() {
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

    /// Returns true if no calibration run may begin any more. Calibration runs leave enough of the
    /// budget for [`LEAST_REPLICATES`] of each benchmark. Until one calibration run has succeeded,
    /// others may begin within twice the budget, so that at least one benchmark races; but not later,
    /// because 8 benchmarks that hang took 160 s of a budget of one second.
    fn ends(&self, budget: Duration, spent: Duration) -> bool {
        let costs_ns: Vec<f64> = self.costs_ns.iter().copied().flatten().collect();
        if costs_ns.is_empty() {
            return spent >= budget * 2;
        }
        let race_ns = LEAST_REPLICATES * costs_ns.iter().sum::<f64>();
        spent.as_nanos() as f64 + race_ns >= budget.as_nanos() as f64
    }

    fn leave_out(&mut self, benchmark: Benchmark, reason: LeftOutReason) {
        self.left_out.push(LeftOut {
            benchmark: benchmark.name,
            reason,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_runs_end_with_the_budget_or_after_twice_of_it_if_none_succeeded() {
        let seconds = Duration::from_secs;
        let mut pilots = Pilots::new(Vec::new());
        assert!(!pilots.ends(seconds(10), seconds(19)));
        assert!(pilots.ends(seconds(10), seconds(20)));
        pilots.costs_ns.push(None);
        assert!(!pilots.ends(seconds(10), seconds(19)), "one failed");
        assert!(pilots.ends(seconds(10), seconds(20)));
        pilots.costs_ns.push(Some(1.0));
        assert!(!pilots.ends(seconds(10), seconds(9)));
        assert!(pilots.ends(seconds(10), seconds(10)));
    }

    #[test]
    fn calibration_runs_leave_time_for_six_replicates_of_each_benchmark() {
        let seconds = Duration::from_secs;
        let mut pilots = Pilots::new(Vec::new());
        pilots.costs_ns = vec![Some(1e9), None, Some(0.5e9)];
        assert!(!pilots.ends(seconds(20), seconds(10)));
        assert!(pilots.ends(seconds(20), seconds(11)));
    }
}
