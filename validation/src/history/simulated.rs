//! Simulated histories: what is true of every commit, what races of pairs of commits measure of it,
//! and what one run a commit does on the machine of the day.

use std::ops::Range;

use deadheat_examples::random::SplitMix64;
use deadheat_history::Edge;
use deadheat_validation::made_run::{normal, uniform};

/// Commits of a history: 1,000 links from the first to the last.
pub const COMMITS: usize = 1_001;
/// Commits to which steps are added, those of exactly 1% among them.
pub const STEPS: usize = 20;
pub const OF_ONE_PERCENT: usize = 8;
/// The least distance between steps, so that one that is found is one of them.
const APART: usize = 6;
/// Commits that a machine serves, and that the broken runner does.
pub const OF_A_MACHINE: usize = 200;
pub const OF_THE_BROKEN: usize = 50;
/// How many times larger the errors of the broken runner are than it says, and of one that is sound.
pub const BROKEN_BY: f64 = 4.0;
pub const SOUND: f64 = 1.0;
/// Creep, of each commit, and its commits.
pub const CREEP: f64 = 0.0002;
pub const CREEPING: usize = 200;
/// The typical standard error of a race, and the spread of its logarithm.
pub const SE: f64 = 0.0025;
const SE_SPREAD: f64 = 0.25;
pub const NOISE: f64 = 0.005;
/// The spread of how far machines drift while they serve.
pub const DRIFT: f64 = 0.01;

/// The number of the runner that is broken where one is; machines have those below it.
pub const BROKEN: usize = COMMITS;

#[derive(Clone, Copy)]
pub struct Step {
    pub at: usize,
    /// Its size as a log ratio.
    pub size: f64,
}

pub struct History {
    seed: u64,
    /// The log level of each commit.
    pub truth: Vec<f64>,
    pub steps: Vec<Step>,
    pub creep: Range<usize>,
    pub broken: Range<usize>,
}

fn between(random: &mut SplitMix64, low: f64, high: f64) -> f64 {
    low + (high - low) * uniform(random)
}

impl History {
    pub fn draw(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut steps: Vec<Step> = Vec::new();
        while steps.len() < STEPS {
            let at = 1 + random.index_below(COMMITS - 1);
            if steps.iter().any(|step| step.at.abs_diff(at) < APART) {
                continue;
            }
            let percent = if steps.len() < OF_ONE_PERCENT {
                1.0
            } else {
                between(&mut random, 0.5f64.ln(), 5f64.ln()).exp()
            };
            let sign = if random.bits() >> 63 == 0 { 1.0 } else { -1.0 };
            steps.push(Step { at, size: sign * (percent / 100.0).ln_1p() });
        }
        let start = |random: &mut SplitMix64, length| 1 + random.index_below(COMMITS - length);
        let creep = start(&mut random, CREEPING);
        let broken = start(&mut random, OF_THE_BROKEN);
        let creep = creep..creep + CREEPING;
        let mut truth = vec![0.0; COMMITS];
        for commit in 1..COMMITS {
            let here = steps.iter().filter(|step| step.at == commit);
            let crept = if creep.contains(&commit) { CREEP } else { 0.0 };
            truth[commit] = truth[commit - 1] + here.map(|step| step.size).sum::<f64>() + crept;
        }
        Self { seed, truth, steps, creep, broken: broken..broken + OF_THE_BROKEN }
    }

    /// Races of pairs of commits, each by the runner of the later one. The errors of one runner are
    /// `broken_by` times what it says; the same numbers are drawn whatever that is.
    ///
    /// The true error of a race is about .25%, what it says of itself is estimated from 6 to 40
    /// replicates. What machine it ran on is in both sides alike.
    pub fn races(&self, links: &[(usize, usize)], broken_by: f64) -> Vec<Edge> {
        let mut random = SplitMix64::new(self.seed ^ 0x5eed_0001);
        let race = |(from, to): &(usize, usize)| {
            let se = SE * (SE_SPREAD * normal(&mut random)).exp();
            let df = 5 + random.index_below(35);
            let squares: f64 = (0..df).map(|_| normal(&mut random).powi(2)).sum();
            let mut error = se * normal(&mut random);
            let by_broken = self.broken.contains(to);
            if by_broken {
                error *= broken_by;
            }
            Edge {
                from: *from,
                to: *to,
                effect: self.truth[*to] - self.truth[*from] + error,
                se: se * (squares / df as f64).sqrt(),
                df: df as f64,
                host: if by_broken { BROKEN } else { (to - 1) / OF_A_MACHINE },
                run: None,
            }
        };
        links.iter().map(race).collect()
    }

    /// One run of each commit: its level on the machine of the day, which differs from the last by
    /// −30 to +50% and drifts, with noise; or all on one machine that never changes.
    pub fn series(&self, one_machine: bool) -> Vec<f64> {
        let mut random = SplitMix64::new(self.seed ^ 0x5eed_0002);
        let (mut machine, mut drift) = (0.0, 0.0);
        let mut series = Vec::with_capacity(COMMITS);
        for (commit, truth) in self.truth.iter().enumerate() {
            let age = commit % OF_A_MACHINE;
            if age == 0 {
                machine += between(&mut random, 0.7f64.ln(), 1.5f64.ln());
                drift = DRIFT * normal(&mut random);
            }
            let moved = machine + drift * age as f64 / OF_A_MACHINE as f64;
            let machine = if one_machine { 0.0 } else { moved };
            series.push(truth + machine + NOISE * normal(&mut random));
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_has_its_steps_and_its_creep_and_is_drawn_again_by_its_seed() {
        let history = History::draw(3);
        let moved = history.truth.windows(2).filter(|pair| (pair[1] - pair[0]).abs() > 0.004);
        assert_eq!(moved.count(), STEPS);
        let all: f64 = history.steps.iter().map(|step| step.size).sum();
        let crept = CREEP * CREEPING as f64;
        assert!((history.truth[COMMITS - 1] - all - crept).abs() < 1e-9);
        assert_eq!(History::draw(3).series(false), history.series(false));
        assert_ne!(History::draw(4).truth, history.truth);
    }

    #[test]
    fn a_new_machine_puts_a_step_into_a_series_and_nothing_into_races() {
        let history = History::draw(5);
        let jump = |series: &[f64]| (series[400] - series[399]).abs();
        assert!(jump(&history.series(false)) > 2.0 * jump(&history.series(true)));
        let links: Vec<_> = (1..COMMITS).map(|to| (to - 1, to)).collect();
        for race in history.races(&links, SOUND) {
            let truth = history.truth[race.to] - history.truth[race.from];
            assert!((race.effect - truth).abs() < 0.03, "{race:?}");
        }
    }
}
