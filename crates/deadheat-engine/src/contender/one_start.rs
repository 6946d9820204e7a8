//! One start for many benchmarks: workers that import once and fork for each benchmark of their
//! replicate. Of a row of two Pythons whose calls took 0.3 s, their starts and imports took 0.8 s.

use std::collections::BTreeMap;
use std::time::Duration;

use super::process_layout::ProcessLayout;
use super::worker_session::WorkerSession;
use crate::worker::Relay;

/// What is known of the programs of a race that may serve many benchmarks from one start.
#[derive(Debug, Default)]
pub(super) struct OneStart {
    /// By program, the benchmarks that race from one start of it: of those that race alone there
    /// are none.
    pub(super) suites: BTreeMap<usize, Vec<String>>,
    /// By program that says it forks, the reason why it does not, if it does not.
    pub(super) forking: BTreeMap<usize, Option<String>>,
    /// Processes between two benchmarks of a replicate.
    pub(super) kept: Vec<KeptTeam>,
    /// Time that starts and imports took so far.
    pub(super) spent: Duration,
    /// The same of the last team that was started.
    pub(super) last_start: Duration,
}

/// The processes of a replicate whose benchmark is over, which serve the next.
#[derive(Debug)]
pub(super) struct KeptTeam {
    pub(super) replicate: u64,
    pub(super) programs: Vec<usize>,
    pub(super) team: Vec<WorkerSession>,
    pub(super) relay: Option<Relay>,
}

impl OneStart {
    /// Learns which benchmarks are to race, by the programs that hold them.
    pub(super) fn expect<'a>(&mut self, layouts: impl Iterator<Item = &'a ProcessLayout>) {
        self.suites.clear();
        for layout in layouts {
            for slot in &layout.process_slots {
                let suite = self.suites.entry(slot.program).or_default();
                if !suite.contains(&slot.benchmark) {
                    suite.push(slot.benchmark.clone());
                }
            }
        }
        self.suites.retain(|_, suite| suite.len() > 1);
    }

    pub(super) fn suite(&self, program: usize) -> Option<&Vec<String>> {
        self.suites.get(&program)
    }

    /// Returns true if all programs of a benchmark serve it from a start that others share.
    pub(super) fn serves(&self, layout: &ProcessLayout) -> bool {
        let mut programs = layout.process_slots.iter().map(|slot| slot.program);
        let forks = |program| matches!(self.forking.get(&program), Some(None));
        programs.all(|program| forks(program) && self.suites.contains_key(&program))
    }

    /// The programs that could fork and do not, each with the reason.
    pub(super) fn unforked(&self) -> impl Iterator<Item = (usize, &str)> {
        let forking = self.forking.iter();
        forking.filter_map(|(program, reason)| Some((*program, reason.as_deref()?)))
    }

    /// The part of one benchmark in the start of its processes.
    pub(super) fn share(&self, layout: &ProcessLayout) -> Duration {
        let programs = layout.process_slots.iter().map(|slot| slot.program);
        let sharers = programs
            .filter_map(|program| self.suite(program))
            .map(Vec::len);
        self.last_start / sharers.min().unwrap_or(1).max(1) as u32
    }

    /// Time that starts and imports took so far.
    pub(super) fn spent(&self) -> Duration {
        self.spent
    }
}
