//! The whole way of a calibration: round by round, until it is done or told to
//! stop.

use deadheat_analysis::{CalibrationTerms, calibrated_kind};
use deadheat_engine::{
    Clock, EngineError, Interrupts, OsClock, environment, machine, unix_seconds,
};
use deadheat_model::{Calibration, CalibrationEnd, CalibrationRace, RaceKind};
use deadheat_report::CalibrationStanding;

use super::batches::{Batch, Field, MAX_REPLICATES};
use super::spec::{CalibrationSpec, Effort};
use crate::exit::Failure;
use crate::race::RaceError;

/// Calibrates this machine. What a signal or the budget leaves undone is left
/// out of the answer, which says so; a kind that cannot be raced here is one
/// that the answer is without. After every race `race_done` hears where the calibration stands.
///
/// # Errors
///
/// When nothing can be raced: the request makes no sense, or there is no folder
/// for temporary files.
pub fn calibrate(
    spec: &CalibrationSpec,
    race_done: &mut dyn FnMut(&CalibrationStanding),
) -> Result<Calibration, Failure> {
    spec.check()?;
    // Held all the while: no signal between two races is lost, or fatal.
    let interrupts = Interrupts::install()
        .map_err(|errno| RaceError::NotStarted(EngineError::Signals(errno)))?;
    let started_at = unix_seconds();
    // Before deadheat settles on one core and takes that for the machine.
    let here = machine(&environment());
    let mut rounds = Rounds {
        spec,
        clock: OsClock::start(),
        field: Field::new(spec)?,
        kinds: RaceKind::ALL.map(Kind::new),
        races: Vec::new(),
    };
    let ending = rounds.race(&interrupts, race_done)?;
    let terms = CalibrationTerms {
        alpha: spec.settings.alpha(),
        max_replicates: MAX_REPLICATES,
    };
    let kinds = rounds.kinds.iter().map(|kind| {
        let planned = spec.effort.planned(kind.kind);
        let problem = kind.problem.clone();
        calibrated_kind(kind.kind, planned, problem, &rounds.races, terms)
    });
    Ok(Calibration {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        machine: here,
        seed: spec.settings.seed(),
        alpha: spec.settings.alpha(),
        margin: spec.settings.margin(),
        max_replicates: MAX_REPLICATES,
        quick: spec.quick,
        debug_build: cfg!(debug_assertions),
        kinds: kinds.collect(),
        elapsed_seconds: rounds.clock.elapsed_ns() as f64 / 1e9,
        ending,
    })
}

/// One kind of race so far.
struct Kind {
    kind: RaceKind,
    /// The reason why it is not raced any further.
    problem: Option<String>,
    /// Races started.
    races: u64,
    /// Seconds that these took.
    seconds: f64,
    /// Seconds that a race took on average in the longest batch.
    longest: f64,
}

impl Kind {
    fn new(kind: RaceKind) -> Self {
        Self {
            kind,
            problem: None,
            races: 0,
            seconds: 0.0,
            longest: 0.0,
        }
    }

    /// Seconds that a race takes; `None` before the first.
    fn race_seconds(&self) -> Option<f64> {
        (self.races > 0).then(|| self.seconds / self.races as f64)
    }

    /// Returns the number of races that would surely end in so many seconds. Before the first one
    /// nobody knows, and there is no other way to find out.
    fn that_fit(&self, seconds: f64) -> usize {
        match self.races {
            _ if seconds <= 0.0 => 0,
            0 => usize::MAX,
            _ => (seconds / self.longest) as usize,
        }
    }
}

struct Rounds<'a> {
    spec: &'a CalibrationSpec,
    clock: OsClock,
    field: Field<'a>,
    kinds: [Kind; 3],
    races: Vec<CalibrationRace>,
}

impl Rounds<'_> {
    fn race(
        &mut self,
        interrupts: &Interrupts,
        race_done: &mut dyn FnMut(&CalibrationStanding),
    ) -> Result<CalibrationEnd, Failure> {
        let effort = self.spec.effort;
        let mut done = 0;
        let mut spent = false;
        for round in 0..effort.rounds {
            let mut raced_any = false;
            for place in 0..self.kinds.len() {
                if let Some(signal) = interrupts.requested() {
                    return Ok(CalibrationEnd::Interrupted(signal));
                }
                if self.kinds[place].problem.is_some() {
                    continue;
                }
                let kind = self.kinds[place].kind;
                let mut changes = effort.changes(kind, round);
                let fit = self.kinds[place].that_fit(self.seconds_of_budget());
                spent |= fit < changes.len();
                changes.truncate(fit);
                if changes.is_empty() {
                    continue;
                }
                raced_any = true;
                let batch = u64::from(round) * self.kinds.len() as u64 + place as u64;
                let begun = self.seconds();
                let seconds_left = self.seconds_left(round, place);
                let mut tell = |races: u64| {
                    race_done(&CalibrationStanding {
                        kind,
                        done: done + races,
                        planned: planned(&effort),
                        seconds_left,
                    });
                };
                let raced = self.field.race(kind, &changes, batch, &mut tell);
                let raced = raced.or_else(|error| problem(error, batch == 0))?;
                done += changes.len() as u64;
                let took = self.seconds() - begun;
                let of_kind = &mut self.kinds[place];
                of_kind.races += changes.len() as u64;
                of_kind.seconds += took;
                of_kind.longest = of_kind.longest.max(took / changes.len() as f64);
                of_kind.problem = raced.problem;
                self.races.extend(raced.races);
                if let Some(signal) = raced.signal {
                    return Ok(CalibrationEnd::Interrupted(signal));
                }
            }
            if !raced_any {
                break;
            }
        }
        Ok(if spent {
            CalibrationEnd::Budget
        } else {
            CalibrationEnd::Finished
        })
    }

    fn seconds(&self) -> f64 {
        self.clock.elapsed_ns() as f64 / 1e9
    }

    /// Seconds that are left of the budget; below 0 when it is used up.
    fn seconds_of_budget(&self) -> f64 {
        self.spec.effort.budget.as_secs_f64() - self.seconds()
    }

    /// Seconds until all is raced or the budget used up, before the batch of
    /// this kind in this round; `None` before every kind was raced once.
    fn seconds_left(&self, round: u32, place: usize) -> Option<f64> {
        let effort = &self.spec.effort;
        let mut left = 0.0;
        for (other, kind) in self.kinds.iter().enumerate() {
            if kind.problem.is_some() {
                continue;
            }
            let raced = round + u32::from(other < place);
            let to_come = effort.rounds.saturating_sub(raced);
            let per_round = effort.per_round(kind.kind);
            let races = to_come * (per_round.same + per_round.known);
            left += f64::from(races) * kind.race_seconds()?;
        }
        Some(left.min(self.seconds_of_budget()).max(0.0))
    }
}

/// Races of all kinds that are planned.
fn planned(effort: &Effort) -> u64 {
    let of_kind = |kind| {
        let per_round = effort.per_round(kind);
        u64::from(effort.rounds) * u64::from(per_round.same + per_round.known)
    };
    RaceKind::ALL.into_iter().map(of_kind).sum()
}

/// Turns the error of a batch that could not be raced into its problem. What would be wrong with
/// every race, such as a core that there is not, fails at once.
fn problem(error: RaceError, first: bool) -> Result<Batch, Failure> {
    let text = error.to_string();
    match Failure::from(error) {
        usage @ Failure::Usage(_) if first => Err(usage),
        _ => Ok(Batch {
            problem: Some(text),
            ..Batch::default()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_races_start_as_surely_end_in_time() {
        let mut kind = Kind::new(RaceKind::Builds);
        assert_eq!(kind.that_fit(1.0), usize::MAX, "nobody knows yet");
        assert_eq!(kind.that_fit(-1.0), 0);
        kind.races = 6;
        kind.seconds = 3.0;
        kind.longest = 0.75;
        assert_eq!((kind.that_fit(2.0), kind.that_fit(0.7)), (2, 0));
        assert_eq!(kind.that_fit(0.0), 0);
        assert_eq!(kind.race_seconds(), Some(0.5));
    }

    #[test]
    fn all_races_are_counted_that_are_planned() {
        assert_eq!(planned(&Effort::LEAST), 3 + 2 + 2);
        assert_eq!(planned(&Effort::FULL), 30 * (16 + 6 + 9));
    }

    #[test]
    fn what_would_be_wrong_with_every_race_is_told_by_the_first() {
        let wrong = || RaceError::Design("--pin 99: there is no such core".to_owned());
        assert!(matches!(problem(wrong(), true), Err(Failure::Usage(_))));
        let later = problem(wrong(), false).unwrap();
        assert!(later.problem.unwrap().contains("no such core"));
        let broken = RaceError::NotStarted(EngineError::Interrupted);
        assert!(problem(broken, true).unwrap().problem.is_some());
    }
}
