//! The machine's own error rate: things raced against themselves and against
//! known differences, by the same races that users start.

mod calibrate;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use deadheat_model::{RaceKind, RaceSettings, ShareRange};

use crate::exit::Failure;
use crate::repetition::derived_seed;

pub use crate::race::{CALIBRATION_VARIABLE, calibration_file};
pub use calibrate::calibrate;
pub use work::{Work, do_work};

/// A calibration as asked for.
#[derive(Clone, Debug)]
pub struct CalibrationSpec {
    /// The executable that races: started with `role` and words behind it, it
    /// must come to [`do_work`](do_work).
    pub program: PathBuf,
    /// The word that makes it a contender.
    pub role: &'static str,
    /// The work: so many rounds, each of which takes as long as the others.
    pub work: Work,
    /// The number of races, and the time they may take.
    pub effort: Effort,
    /// True if that is less than usual.
    pub quick: bool,
    /// The settings by which everything is raced and judged; each kind of race has a pinning of its
    /// own where they name none. The budget is that of the effort.
    pub settings: RaceSettings,
}

impl CalibrationSpec {
    /// Refuses what no race would accept, before the first one starts.
    pub(super) fn check(&self) -> Result<(), Failure> {
        for (flag, value, range) in [
            ("--margin", self.settings.margin(), ShareRange::MARGIN),
            ("--alpha", self.settings.alpha(), ShareRange::ALPHA),
        ] {
            if !range.holds(value) {
                let text = format!("{flag} must be {}, not {value}", range.words);
                return Err(Failure::Usage(text));
            }
        }
        Ok(())
    }

    /// The seed of one batch.
    pub(super) fn seed_of(&self, batch: u64) -> u64 {
        derived_seed(self.settings.seed(), batch)
    }
}

/// Differences of work that are raced, in turn.
pub(super) const CHANGES: [f64; 6] = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1];

/// Races of one kind in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerRound {
    /// Of things against themselves.
    pub same: u32,
    /// Of known differences.
    pub known: u32,
}

/// The races of a calibration: so many rounds, in each of which all kinds take their turn. A
/// machine that changes meanwhile changes for all of them, and whatever round is the last, all have
/// had their share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Rounds.
    pub rounds: u32,
    /// Functions that share a process.
    pub functions: PerRound,
    /// Functions of two copies of an executable.
    pub builds: PerRound,
    /// Commands.
    pub commands: PerRound,
    /// No race starts that would hardly end within this time.
    pub budget: Duration,
}

impl Effort {
    /// Some four minutes. Commands are called most often, in one or two of a
    /// hundred races against themselves: 240 show that to be below 5 %.
    pub const FULL: Effort = Effort {
        rounds: 30,
        functions: PerRound { same: 10, known: 6 },
        builds: PerRound { same: 5, known: 1 },
        commands: PerRound { same: 8, known: 1 },
        budget: Duration::from_secs(300),
    };
    /// Some twenty-five seconds.
    pub const QUICK: Effort = Effort {
        rounds: 3,
        functions: PerRound {
            same: 20,
            known: 12,
        },
        builds: PerRound { same: 3, known: 2 },
        commands: PerRound { same: 4, known: 2 },
        budget: Duration::from_secs(30),
    };
    /// As little as still is a calibration, to see that one works.
    pub const LEAST: Effort = Effort {
        rounds: 1,
        functions: PerRound { same: 2, known: 1 },
        builds: PerRound { same: 1, known: 1 },
        commands: PerRound { same: 1, known: 1 },
        budget: Duration::from_secs(300),
    };

    /// Races of this kind in one round.
    pub fn per_round(&self, kind: RaceKind) -> PerRound {
        match kind {
            RaceKind::Functions => self.functions,
            RaceKind::Builds => self.builds,
            RaceKind::Commands => self.commands,
        }
    }

    /// Races of this kind against themselves, in all.
    pub(super) fn planned(&self, kind: RaceKind) -> u64 {
        u64::from(self.rounds) * u64::from(self.per_round(kind).same)
    }

    /// The differences of work that race in this round, 0 where a thing races
    /// against itself.
    pub(super) fn changes(&self, kind: RaceKind, round: u32) -> Vec<f64> {
        let PerRound { same, known } = self.per_round(kind);
        let turn = (round * known) as usize;
        let known = (turn..turn + known as usize).map(|turn| CHANGES[turn % CHANGES.len()]);
        vec![0.0; same as usize].into_iter().chain(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_has_its_turn_as_often_as_the_others() {
        for effort in [Effort::FULL, Effort::QUICK] {
            for kind in RaceKind::ALL {
                let mut counts = [0; CHANGES.len()];
                let mut same = 0;
                for round in 0..effort.rounds {
                    for change in effort.changes(kind, round) {
                        match CHANGES.iter().position(|known| *known == change) {
                            Some(place) => counts[place] += 1,
                            None => same += 1,
                        }
                    }
                }
                assert!(
                    counts.iter().all(|n| *n == counts[0] && *n > 0),
                    "{counts:?}"
                );
                assert_eq!(same, effort.planned(kind));
            }
        }
        assert_eq!(Effort::FULL.planned(RaceKind::Functions), 300);
    }
}
