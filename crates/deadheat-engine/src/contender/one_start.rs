//! One start for many benchmarks: a worker imports once and forks for each benchmark of a
//! replicate. Without this, two Pythons took 0.8 s to start and import for 0.3 s of calls.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::process_layout::ProcessLayout;
use super::worker_session::WorkerSession;
use crate::worker::Relay;

/// The state of programs that can serve many benchmarks from one start.
#[derive(Debug, Default)]
pub(super) struct OneStart {
    /// By program, the benchmarks that share one start. Programs with a single benchmark are left
    /// out.
    pub(super) suites: BTreeMap<usize, Vec<String>>,
    /// For each program that offers to fork: `None` if it forks, or the reason why it cannot.
    pub(super) forking: BTreeMap<usize, Option<String>>,
    /// Processes that wait for the next benchmark of their replicate.
    pub(super) kept: Vec<KeptTeam>,
    /// The total time of starts and imports of shared processes so far.
    pub(super) spent: Duration,
    /// The time that the start and the imports of the last team took.
    pub(super) last_start: Duration,
}

/// Processes of a replicate that have finished one benchmark and can serve the next.
#[derive(Debug)]
pub(super) struct KeptTeam {
    pub(super) replicate: u64,
    pub(super) programs: Vec<usize>,
    pub(super) team: Vec<WorkerSession>,
    pub(super) relay: Option<Relay>,
}

impl OneStart {
    pub(super) fn expect<'a>(&mut self, layouts: impl Iterator<Item = &'a ProcessLayout>) {
        self.suites.clear();
        let mut seen = HashSet::new();
        for layout in layouts {
            for slot in &layout.process_slots {
                if seen.insert((slot.program, &slot.benchmark)) {
                    let suite = self.suites.entry(slot.program).or_default();
                    suite.push(slot.benchmark.clone());
                }
            }
        }
        self.suites.retain(|_, suite| suite.len() > 1);
    }

    pub(super) fn suite(&self, program: usize) -> Option<&Vec<String>> {
        self.suites.get(&program)
    }

    /// Returns true if all programs of a benchmark serve it from a shared start.
    pub(super) fn serves(&self, layout: &ProcessLayout) -> bool {
        let mut programs = layout.process_slots.iter().map(|slot| slot.program);
        let forks = |program| matches!(self.forking.get(&program), Some(None));
        programs.all(|program| forks(program) && self.suites.contains_key(&program))
    }

    pub(super) fn unforked(&self) -> impl Iterator<Item = (usize, &str)> {
        let forking = self.forking.iter();
        forking.filter_map(|(program, reason)| Some((*program, reason.as_deref()?)))
    }

    /// Returns the share of one benchmark in the time of the last start.
    pub(super) fn share(&self, layout: &ProcessLayout) -> Duration {
        let programs = layout.process_slots.iter().map(|slot| slot.program);
        let sharers = programs
            .filter_map(|program| self.suite(program))
            .map(Vec::len);
        self.last_start / sharers.min().unwrap_or(1).max(1) as u32
    }

    pub(super) fn spent(&self) -> Duration {
        self.spent
    }
}
