//! The tools by name, and how often each is asked.

use deadheat_validation::prelude::*;

use crate::programs::{Place, Programs};
use crate::race::{Case, Race};
use crate::tools::{bench_diff, criterion, deadheat, divan, hyperfine, pyperf, tango, zenbench};

/// The chance of a false call that every test here is run with: all tools'
/// default, but tango's, which has a bound of its own.
pub const ALPHA: f64 = 0.05;

words! {
    pub enum Tool {
        /// `cargo bench`.
        Deadheat = "deadheat",
        /// `cargo deadheat`.
        Neutral = "cargo-deadheat",
        Tango = "tango",
        BenchDiff = "bench_diff",
        Zenbench = "zenbench",
        ZenbenchConfirm = "zenbench-confirm",
        Criterion = "criterion",
        Divan = "divan",
        /// `deadheat run`.
        DeadheatRun = "deadheat-run",
        Hyperfine = "hyperfine",
        Pyperf = "pyperf",
    }
}

/// Races of a function or command with itself, of two copies, and with 1% more.
type Counts = [usize; 3];

impl Tool {
    pub fn is_ours(self) -> bool {
        matches!(self, Self::Deadheat | Self::Neutral | Self::DeadheatRun)
    }

    pub fn is_of_commands(self) -> bool {
        matches!(self, Self::DeadheatRun | Self::Hyperfine | Self::Pyperf)
    }

    pub fn wanted(self, condition: Condition, case: Case, quick: bool) -> usize {
        let (idle, loaded): (Counts, Counts) = match (self, quick) {
            (Self::Criterion, false) => ([20, 16, 10], [8, 8, 8]),
            (Self::Divan, false) => ([20, 16, 20], [20, 16, 20]),
            (Self::ZenbenchConfirm, false) => ([20, 16, 20], [6, 8, 6]),
            (Self::DeadheatRun, false) => ([60, 40, 40], [20, 20, 20]),
            (Self::Hyperfine, false) => ([20, 20, 20], [10, 10, 10]),
            (Self::Pyperf, false) => ([10, 10, 10], [5, 5, 5]),
            (_, false) => ([60, 64, 40], [20, 16, 20]),
            (Self::Criterion | Self::Pyperf, true) => ([0, 0, 1], [0, 0, 0]),
            (Self::ZenbenchConfirm | Self::Hyperfine, true) => ([0, 0, 1], [0, 0, 1]),
            (_, true) => ([2, 2, 2], [1, 1, 1]),
        };
        let counts = match condition {
            Condition::Idle => idle,
            Condition::Loaded => loaded,
        };
        match case {
            Case::Same => counts[0],
            Case::Copies => counts[1],
            Case::More => counts[2],
        }
    }

    pub fn run(self, race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
        match self {
            Self::Deadheat => deadheat::functions(race, programs, place),
            Self::Neutral => deadheat::on_neutral_links(race, programs, place),
            Self::Tango => tango::run(race, programs, place),
            Self::BenchDiff => bench_diff::run(race, programs, place),
            Self::Zenbench => zenbench::iterate(race, programs, place),
            Self::ZenbenchConfirm => zenbench::confirm(race, programs, place),
            Self::Criterion => criterion::run(race, programs, place),
            Self::Divan => divan::run(race, programs, place),
            Self::DeadheatRun => deadheat::commands(race, programs, place),
            Self::Hyperfine => hyperfine::run(race, programs, place),
            Self::Pyperf => pyperf::run(race, programs, place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::ORDERS;

    #[test]
    fn copies_meet_every_link_order_equally_often() {
        for tool in Tool::ALL.into_iter().filter(|tool| !tool.is_of_commands()) {
            for condition in Condition::ALL {
                let wanted = tool.wanted(condition, Case::Copies, false);
                assert_eq!(wanted % ORDERS, 0, "{tool:?} {condition:?}");
            }
        }
    }

    #[test]
    fn every_tool_is_asked_and_has_a_key_of_its_own() {
        let mut keys = Tool::ALL.map(Tool::key).to_vec();
        keys.dedup();
        assert_eq!(keys.len(), Tool::ALL.len());
        for tool in Tool::ALL {
            for quick in [false, true] {
                assert!(tool.wanted(Condition::Idle, Case::More, quick) > 0);
            }
        }
    }
}
