//! The outcomes of many races of one setting.

use std::ops::Range;
use std::thread;

use deadheat::parts::analysis::looks_taken;
use deadheat::parts::model::{Estimate, Verdict};

use super::race::{Setting, race};

/// The outcome of one race: the verdict on its first candidate, and the coverage of its intervals.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    verdict: Option<Verdict>,
    /// The estimate minus the truth, both log-ratios.
    off: f64,
    replicates: usize,
    /// True if the intervals at the end contained the true effects.
    held_at_the_end: bool,
    /// True if the intervals at every look contained them.
    held_always: bool,
}

impl Outcome {
    fn of(setting: &Setting, seed: u64) -> Self {
        let (run, analysis) = race(setting, seed);
        let rows = &analysis.comparisons;
        let estimate = rows[0].estimate.expect("a race gives an estimate");
        let held = |estimates: &[Option<Estimate>]| {
            let all = estimates.iter().zip(&setting.effects);
            all.fold(true, |held, (estimate, truth)| {
                // An interval that does not exist has not held the truth.
                let interval = estimate.and_then(|estimate| estimate.interval);
                held && interval.is_some_and(|i| i.low.0 <= *truth && *truth <= i.high.0)
            })
        };
        let last: Vec<_> = rows.iter().map(|row| row.estimate).collect();
        let looks = looks_taken(&run, 0);
        Self {
            verdict: rows[0].verdict,
            off: estimate.effect.0 - setting.effects[0],
            replicates: estimate.replicates,
            held_at_the_end: held(&last),
            held_always: looks.iter().all(|look| held(&look.estimates)),
        }
    }
}

/// Counts and means over races of one setting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub races: u32,
    pub faster: u32,
    pub slower: u32,
    pub equivalent: u32,
    /// Races whose last intervals contained the true effects.
    pub held_at_the_end: u32,
    /// Races in which the intervals at every look contained them.
    pub held_always: u32,
    /// Mean of estimate minus truth, as a log-ratio.
    pub mean_off: f64,
    /// Standard error of `mean_off`.
    pub mean_off_error: f64,
    /// Median of estimate minus truth, as a log-ratio.
    pub median_off: f64,
    /// Mean number of replicates used.
    pub replicates: f64,
}

impl Tally {
    /// Races `setting` once for every seed, on this many threads. The result does not depend on the
    /// number of threads.
    pub fn of(setting: &Setting, seeds: Range<u64>, threads: usize) -> Self {
        let share = (seeds.end - seeds.start).div_ceil(threads.max(1) as u64);
        let outcomes: Vec<Outcome> = thread::scope(|scope| {
            let shares = seeds.clone().step_by(share.max(1) as usize).map(|first| {
                let mine = first..(first + share).min(seeds.end);
                let outcome = |seed| Outcome::of(setting, seed);
                scope.spawn(move || mine.map(outcome).collect::<Vec<_>>())
            });
            let running: Vec<_> = shares.collect();
            let done = running.into_iter();
            done.flat_map(|thread| thread.join().expect("no race panics"))
                .collect()
        });
        Self::of_outcomes(&outcomes)
    }

    fn of_outcomes(outcomes: &[Outcome]) -> Self {
        let count =
            |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| is(o)).count() as u32;
        let mean = |of: &dyn Fn(&Outcome) -> f64| {
            outcomes.iter().map(of).sum::<f64>() / outcomes.len().max(1) as f64
        };
        let mut offs: Vec<f64> = outcomes.iter().map(|o| o.off).collect();
        offs.sort_by(f64::total_cmp);
        let mean_off = mean(&|o| o.off);
        let variance = mean(&|o| (o.off - mean_off).powi(2));
        Self {
            races: outcomes.len() as u32,
            faster: count(&|o| o.verdict == Some(Verdict::Faster)),
            slower: count(&|o| o.verdict == Some(Verdict::Slower)),
            equivalent: count(&|o| o.verdict == Some(Verdict::Equivalent)),
            held_at_the_end: count(&|o| o.held_at_the_end),
            held_always: count(&|o| o.held_always),
            mean_off,
            mean_off_error: (variance / outcomes.len().max(1) as f64).sqrt(),
            median_off: offs.get(offs.len() / 2).copied().unwrap_or(0.0),
            replicates: mean(&|o| o.replicates as f64),
        }
    }

    /// Returns the number of false verdicts if the first candidate's effect is `truth`.
    pub fn wrong(&self, truth: f64, margin: f64) -> u32 {
        let mut wrong = 0;
        if truth >= 0.0 {
            wrong += self.faster;
        }
        if truth <= 0.0 {
            wrong += self.slower;
        }
        if truth.abs() >= margin.ln_1p() {
            wrong += self.equivalent;
        }
        wrong
    }
}

/// The largest count that a true rate of at most `rate` exceeds less than
/// once in 10,000 such rows (normal approximation).
pub fn at_most(races: u32, rate: f64) -> u32 {
    let n = f64::from(races);
    (n * rate + 3.72 * (n * rate * (1.0 - rate)).sqrt()).ceil() as u32
}
