//! From a frozen plan to a recorded run, for races that outlive the failure of
//! a benchmark.

use std::path::Path;

use deadheat_analysis::PlannedRule;
use deadheat_engine::{Contenders, EngineError, Interrupts, OsClock, Session, Watcher};
use deadheat_model::{BenchmarkFailure, RecordSink, Run, RunHeader};

use super::outcome::{RaceError, RaceOutcome, blocks, finish, record};

/// Where a race is recorded, and who looks on.
pub(super) struct Recorded<'a> {
    /// The run file; `None` for a new one below `.deadheat/runs`.
    pub(super) save: Option<&'a Path>,
    /// The folder that `.deadheat` is looked for in.
    pub(super) folder: &'a Path,
    pub(super) interrupts: &'a Interrupts,
    pub(super) watcher: &'a mut dyn Watcher,
}

impl Recorded<'_> {
    /// Races by the plan of this header; what failed in its pilot already is
    /// recorded first.
    pub(super) fn race(
        self,
        header: RunHeader,
        failures: Vec<BenchmarkFailure>,
        contenders: &mut dyn Contenders,
    ) -> Result<RaceOutcome, RaceError> {
        let (path, mut writer) = record(self.save, self.folder, &header)?;
        let mut rule = PlannedRule::new(&header);
        let max_replicates = header.plan.design.looks.max_replicates();
        let budget = header.plan.design.budget;
        let mut run = Run::new(header);
        for failure in failures {
            writer
                .failed(&failure)
                .map_err(|error| RaceError::NotStarted(EngineError::Sink(error)))?;
            run.failures.push(failure);
        }
        let raced = Session {
            contenders,
            clock: &OsClock::start(),
            rule: &mut rule,
            sink: &mut writer,
            watcher: self.watcher,
            stop: self.interrupts,
            max_replicates,
            budget,
            outlive_failures: true,
        }
        .race(&mut run);
        if raced.is_err() && blocks(&run) == 0 {
            // That it cannot be removed either changes nothing about the cause.
            let _ = writer.discard();
        }
        finish(raced, run, path)
    }
}
