//! Kinds of races that are calibrated one by one.

use crate::plan::Plan;
use crate::workload::Workload;

/// Kinds of races that have an error rate of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RaceKind {
    /// Functions that share a worker process.
    Functions,
    /// Functions of two builds, each in a process of its own.
    Builds,
    /// Whole commands.
    Commands,
}

impl RaceKind {
    /// All of them, in the order they are told.
    pub const ALL: [RaceKind; 3] = [RaceKind::Functions, RaceKind::Builds, RaceKind::Commands];

    /// The name used in files and JSON.
    pub fn name(self) -> &'static str {
        match self {
            RaceKind::Functions => "functions",
            RaceKind::Builds => "builds",
            RaceKind::Commands => "commands",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What the races of a plan are; `None` for recordings, and for Google
    /// Benchmark executables, which no calibration races.
    pub fn of(plan: &Plan) -> Option<Self> {
        let benchmark = plan.benchmarks.first()?;
        match benchmark.contenders.first()?.workload {
            Workload::Command(_) => Some(RaceKind::Commands),
            Workload::Function(_) => Some(RaceKind::Functions),
            Workload::Worker(_) => Some(match benchmark.processes_per_replicate() {
                Some(1) => RaceKind::Functions,
                _ => RaceKind::Builds,
            }),
            Workload::GoogleBenchmark(_) | Workload::Recording => None,
        }
    }

    /// Whether a known difference of work is one of times as well. Starting a
    /// command takes as long on both sides and makes the ratio smaller.
    pub fn is_exact(self) -> bool {
        self != RaceKind::Commands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_kinds() {
        for kind in RaceKind::ALL {
            assert_eq!(RaceKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(RaceKind::from_name("horses"), None);
    }
}
