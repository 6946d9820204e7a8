//! Calibration of this machine: measures the rates of wrong verdicts by many races, between equal
//! sides and between sides with a known difference. These races have the default settings of users'
//! races.

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

/// The request for a calibration: its program, its number of races, and their settings.
#[derive(Clone, Debug)]
pub struct CalibrationSpec {
    /// The executable that deadheat starts as a contender, with the argument `role` and further
    /// words. With these arguments, it must call [`do_work`](do_work).
    pub program: PathBuf,
    /// The first argument with which deadheat starts the executable as a contender.
    pub role: &'static str,
    /// The function that contenders run. Its argument is the number of rounds; every round takes
    /// the same time.
    pub work: Work,
    /// The number of races, and their time budget.
    pub effort: Effort,
    /// True for a quick calibration, with fewer races than the default.
    pub quick: bool,
    /// The settings of all races. If they do not set the pinning, each kind of race has its
    /// default. `effort.budget` replaces their time budget.
    pub settings: RaceSettings,
}

impl CalibrationSpec {
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

    pub(super) fn seed_of(&self, batch: u64) -> u64 {
        derived_seed(self.settings.seed(), batch)
    }
}

/// The known differences between the sides, as shares of the work. Successive rounds use them in
/// rotation.
pub(super) const CHANGES: [f64; 6] = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1];

/// The number of races of one kind in one round of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerRound {
    /// The number of races between equal sides (A/A races).
    pub same: u32,
    /// The number of races between sides with a known difference.
    pub known: u32,
}

/// The number of races of a calibration, and its time budget. A calibration runs in rounds with
/// races of all kinds, so that a change of the machine affects all kinds equally, and an early end
/// leaves none of them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The maximum number of rounds.
    pub rounds: u32,
    /// The number of races per round between functions that share a process.
    pub functions: PerRound,
    /// The number of races per round between functions in two copies of an executable.
    pub builds: PerRound,
    /// The number of races per round between commands.
    pub commands: PerRound,
    /// The time budget of the calibration. A race does not start if it would probably exceed this
    /// budget.
    pub budget: Duration,
}

impl Effort {
    /// The default effort, of about four minutes. Races of commands have the most false positives,
    /// one or two in a hundred races between equal sides; 240 races show that their rate is below
    /// 5%.
    pub const FULL: Effort = Effort {
        rounds: 30,
        functions: PerRound { same: 10, known: 6 },
        builds: PerRound { same: 5, known: 1 },
        commands: PerRound { same: 8, known: 1 },
        budget: Duration::from_secs(300),
    };
    /// The effort of a quick calibration, of about 25 seconds.
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
    /// The minimum effort, with which tests check that a calibration works.
    pub const LEAST: Effort = Effort {
        rounds: 1,
        functions: PerRound { same: 2, known: 1 },
        builds: PerRound { same: 1, known: 1 },
        commands: PerRound { same: 1, known: 1 },
        budget: Duration::from_secs(300),
    };

    /// Returns the number of races of this kind in one round.
    pub fn per_round(&self, kind: RaceKind) -> PerRound {
        match kind {
            RaceKind::Functions => self.functions,
            RaceKind::Builds => self.builds,
            RaceKind::Commands => self.commands,
        }
    }

    /// Returns the planned number of races of this kind between equal sides.
    pub(super) fn planned(&self, kind: RaceKind) -> u64 {
        u64::from(self.rounds) * u64::from(self.per_round(kind).same)
    }

    /// Returns the difference between the sides for each race of this kind in this round, as a
    /// share of the work; 0 for equal sides.
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
