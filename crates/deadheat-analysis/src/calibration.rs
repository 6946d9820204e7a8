//! Conclusions of a calibration: the error rates and the noise of one kind of race on a machine,
//! from races of a program against itself and races with a known difference.

use deadheat_model::{
    CalibratedKind, CalibrationRace, Comparison, Detectable, Found, KnownDifference, LogRatio,
    NoiseFloor, RaceKind, ReplicateCost, Share, Tally,
};
use deadheat_stats::summary::{median, quantile};
use deadheat_stats::{
    Spending, minimum_detectable_effect, planned_standard_error, replicates_within, share_bounds,
};

/// The confidence of the interval for each share of races, such as the share with a wrong verdict.
const CONFIDENCE: f64 = 0.95;
/// The noise floor is this quantile of the absolute estimates.
const FLOOR: f64 = 0.95;
/// Time budgets in seconds for which the detectable change is reported.
const BUDGETS: [f64; 3] = [1.0, 10.0, 60.0];

/// The terms that all races of a calibration were judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationTerms {
    /// The accepted probability of a wrong verdict, α.
    pub alpha: f64,
    /// The largest number of replicates of a race.
    pub max_replicates: u32,
}

/// Converts a comparison to a race of a calibration; `None` if the race was cut off before its end,
/// so that its verdict is unknown.
///
/// `blocks_per_replicate` is the planned number, and `replicates` is the number of complete
/// replicates.
pub fn calibration_race(
    comparison: &Comparison,
    (kind, change): (RaceKind, f64),
    (blocks_per_replicate, replicates): (u32, u32),
    seconds: f64,
    terms: CalibrationTerms,
) -> Option<CalibrationRace> {
    let verdict = comparison.verdict?;
    let estimate = comparison.estimate?;
    let open = verdict == deadheat_model::Verdict::Inconclusive;
    if open && replicates < terms.max_replicates {
        return None;
    }
    let variances = comparison.aspects.spreads.map(|spreads| {
        let between = spreads.process.unwrap_or(0.0);
        (between.powi(2), spreads.block.powi(2))
    });
    Some(CalibrationRace {
        kind,
        change,
        verdict,
        effect: estimate.effect,
        interval: estimate.interval,
        variances,
        blocks_per_replicate,
        replicates,
        seconds,
        baseline_ns: comparison.baseline.median,
    })
}

/// Computes the calibration of one kind of race. `planned` is the planned number of races of a
/// program against itself; `problem` is the reason if there were fewer.
pub fn calibrated_kind(
    kind: RaceKind,
    planned: u64,
    problem: Option<String>,
    races: &[CalibrationRace],
    terms: CalibrationTerms,
) -> CalibratedKind {
    let of_kind = || races.iter().filter(|race| race.kind == kind);
    let same: Vec<&CalibrationRace> = of_kind().filter(|race| race.change == 0.0).collect();
    let mut calls = Tally::default();
    same.iter().for_each(|race| calls.count(race.verdict));
    let false_calls = share(calls.called(), calls.races());
    let all: Vec<&CalibrationRace> = of_kind().collect();
    let cost = cost(&all);
    let known = known(kind, &all);
    let coverage = coverage(kind, all.iter().filter(|race| race.change != 0.0));
    CalibratedKind {
        kind,
        problem,
        planned,
        baseline_ns: median(&figures(&same, |race| Some(race.baseline_ns))),
        calls,
        false_calls,
        promise: false_calls.at_most(terms.alpha),
        noise: noise(kind, &same),
        cost,
        detectable: cost
            .map(|cost| detectable(&all, cost, terms))
            .unwrap_or_default(),
        known,
        coverage,
        coverage_promise: coverage.map(|coverage| coverage.at_least(1.0 - terms.alpha)),
    }
}

fn share(hits: u64, of: u64) -> Share {
    let (low, high) = share_bounds(hits, of, CONFIDENCE);
    Share {
        hits,
        of,
        low,
        high,
    }
}

fn figures(
    races: &[&CalibrationRace],
    figure: impl Fn(&CalibrationRace) -> Option<f64>,
) -> Vec<f64> {
    races.iter().filter_map(|race| figure(race)).collect()
}

fn half_width(race: &CalibrationRace) -> Option<f64> {
    let interval = race.interval?;
    Some((interval.high.0 - interval.low.0) / 2.0)
}

/// Returns the noise floor, the change that races report although nothing differs; `None` without
/// races of identical programs.
fn noise(kind: RaceKind, same: &[&CalibrationRace]) -> Option<NoiseFloor> {
    let mut sizes = figures(same, |race| Some(race.effect.0.abs()));
    sizes.sort_unstable_by(f64::total_cmp);
    // The median, so that a single race disturbed by another program does not decide.
    let spread = |part: fn((f64, f64)) -> f64| {
        let variances = figures(same, |race| race.variances.map(part));
        median(&variances).map(|variance| LogRatio(variance.sqrt()))
    };
    Some(NoiseFloor {
        estimate: LogRatio(quantile(&sizes, FLOOR)?),
        half_width: median(&figures(same, half_width)).map(LogRatio),
        process: match kind {
            RaceKind::Commands => None,
            RaceKind::Functions | RaceKind::Builds => spread(|(between, _)| between),
        },
        block: spread(|(_, within)| within),
    })
}

fn cost(races: &[&CalibrationRace]) -> Option<ReplicateCost> {
    let seconds: f64 = races.iter().map(|race| race.seconds).sum();
    let replicates: f64 = races.iter().map(|race| f64::from(race.replicates)).sum();
    let blocks = median(&figures(races, |race| {
        Some(f64::from(race.blocks_per_replicate))
    }))?;
    (replicates > 0.0 && seconds > 0.0).then(|| ReplicateCost {
        seconds: seconds / replicates,
        blocks: blocks.round() as u32,
    })
}

/// Returns the change that each budget detects, from the median variance and the mean cost of a
/// replicate.
fn detectable(
    races: &[&CalibrationRace],
    cost: ReplicateCost,
    terms: CalibrationTerms,
) -> Vec<Detectable> {
    // Variances of one replicate can be compared between races with different numbers of blocks.
    let variances = figures(races, |race| {
        let (between, within) = race.variances?;
        let error = planned_standard_error(within, between, race.blocks_per_replicate, 1);
        Some(error.powi(2))
    });
    let Some(variance) = median(&variances) else {
        return Vec::new();
    };
    let found = |max_replicates: usize, bought: usize| {
        let spending = Spending::plan(max_replicates, terms.alpha).ok()?;
        let look = spending.last_completed(bought)?;
        let (replicates, level) = (spending.looks[look], spending.levels[look]);
        if replicates < deadheat_stats::MIN_REPLICATES_FOR_VERDICT {
            return None;
        }
        let error = (variance / replicates as f64).sqrt();
        let effect = minimum_detectable_effect(error, (replicates - 1) as f64, level);
        Some(Found {
            replicates: replicates as u32,
            effect: LogRatio(effect),
        })
    };
    let of_budget = |budget: f64| {
        let bought = replicates_within(budget, cost.seconds);
        Detectable {
            budget_seconds: budget,
            at_defaults: found(terms.max_replicates as usize, bought),
            at_most: found(bought, bought),
        }
    };
    BUDGETS.map(of_budget).to_vec()
}

/// Returns the results of the races with each known difference, the smallest difference first.
fn known(kind: RaceKind, races: &[&CalibrationRace]) -> Vec<KnownDifference> {
    let mut changes = figures(races, |race| (race.change != 0.0).then_some(race.change));
    changes.sort_unstable_by(f64::total_cmp);
    changes.dedup();
    let of_change = |change: f64| {
        let races: Vec<&CalibrationRace> = races
            .iter()
            .filter(|race| race.change == change)
            .copied()
            .collect();
        let mut calls = Tally::default();
        races.iter().for_each(|race| calls.count(race.verdict));
        let side = |right: bool| {
            let beyond = |race: &&&CalibrationRace| {
                let up = change > 0.0;
                race.interval.is_some_and(|interval| {
                    if up == right {
                        interval.low.0 > 0.0
                    } else {
                        interval.high.0 < 0.0
                    }
                })
            };
            races.iter().filter(beyond).count() as u64
        };
        KnownDifference {
            change,
            calls,
            right: share(side(true), calls.races()),
            wrong: side(false),
            covered: coverage(kind, races.iter()),
            estimate: median(&figures(&races, |race| Some(race.effect.0))).map(LogRatio),
        }
    };
    changes.into_iter().map(of_change).collect()
}

/// Returns the share of intervals that contain the true change; `None` if the true change is not
/// known exactly, or without intervals.
fn coverage<'a>(
    kind: RaceKind,
    races: impl Iterator<Item = &'a &'a CalibrationRace>,
) -> Option<Share> {
    if !kind.is_exact() {
        return None;
    }
    let (mut hits, mut of) = (0, 0);
    for race in races {
        let Some(interval) = race.interval else {
            continue;
        };
        let truth = LogRatio::from_change(race.change).0;
        of += 1;
        hits += u64::from((interval.low.0..=interval.high.0).contains(&truth));
    }
    (of > 0).then(|| share(hits, of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{Interval, Promise, Verdict};

    const TERMS: CalibrationTerms = CalibrationTerms {
        alpha: 0.05,
        max_replicates: 40,
    };

    fn race(change: f64, effect: f64, half_width: f64) -> CalibrationRace {
        let (low, high) = (effect - half_width, effect + half_width);
        CalibrationRace {
            kind: RaceKind::Functions,
            change,
            verdict: match (low > 0.0, high < 0.0) {
                (true, _) => Verdict::Slower,
                (_, true) => Verdict::Faster,
                _ => Verdict::Equivalent,
            },
            effect: LogRatio(effect),
            interval: Some(Interval {
                low: LogRatio(low),
                high: LogRatio(high),
                confidence: 0.95,
            }),
            variances: Some((0.0, 1e-4)),
            blocks_per_replicate: 25,
            replicates: 10,
            seconds: 1.0,
            baseline_ns: 50_000.0,
        }
    }

    fn functions(races: &[CalibrationRace]) -> CalibratedKind {
        calibrated_kind(RaceKind::Functions, 100, None, races, TERMS)
    }

    #[test]
    fn every_faster_or_slower_of_a_thing_against_itself_is_false() {
        let races = [
            race(0.0, 0.001, 0.002),
            race(0.0, -0.004, 0.002),
            race(0.0, 0.003, 0.002),
            race(0.1, 0.095, 0.01),
        ];
        let found = functions(&races);
        assert_eq!((found.calls.faster, found.calls.slower), (1, 1));
        assert_eq!((found.false_calls.hits, found.false_calls.of), (2, 3));
        assert!(found.false_calls.low > 0.05, "two of three are too many");
        assert_eq!(found.promise, Promise::Broken);
        assert_eq!(found.known.len(), 1);
    }

    #[test]
    fn few_races_leave_the_promise_open_and_many_keep_it() {
        let same = vec![race(0.0, 0.0, 0.002); 100];
        assert_eq!(functions(&same[..10]).promise, Promise::Open);
        assert_eq!(functions(&same).promise, Promise::Kept);
        assert_eq!(functions(&[]).promise, Promise::Open);
    }

    #[test]
    fn the_noise_floor_is_the_95th_percentile_of_what_the_estimates_say() {
        let same: Vec<CalibrationRace> = (0..=100)
            .map(|i| race(0.0, f64::from(i - 50) * 2e-5, 0.002))
            .collect();
        let noise = functions(&same).noise.unwrap();
        assert!((noise.estimate.0 - 0.00096).abs() < 2e-5, "{noise:?}");
        assert!((noise.half_width.unwrap().0 - 0.002).abs() < 1e-15);
        assert!((noise.block.unwrap().0 - 0.01).abs() < 1e-12);
        assert_eq!(noise.process, Some(LogRatio(0.0)));
        assert_eq!(functions(&[]).noise, None);
    }

    #[test]
    fn known_differences_are_told_by_size_direction_and_whether_the_truth_is_held() {
        let truth = 0.01_f64.ln_1p();
        let races = [
            race(0.01, truth, 0.002),
            race(0.01, truth + 0.003, 0.002),
            race(0.01, -0.009, 0.002),
            race(0.001, 0.0, 0.002),
        ];
        let found = functions(&races);
        let changes: Vec<f64> = found.known.iter().map(|known| known.change).collect();
        assert_eq!(changes, [0.001, 0.01]);
        let one = found.known[1];
        assert_eq!((one.right.hits, one.right.of, one.wrong), (2, 3, 1));
        assert_eq!(
            one.covered.map(|share| (share.hits, share.of)),
            Some((1, 3))
        );
        assert_eq!(
            found.coverage.map(|share| (share.hits, share.of)),
            Some((2, 4))
        );
        assert_eq!(found.coverage_promise, Some(Promise::Broken));
    }

    #[test]
    fn a_candidate_with_less_work_is_right_on_the_other_side() {
        let found = functions(&[race(-0.02, -0.02, 0.001)]);
        assert_eq!((found.known[0].right.hits, found.known[0].wrong), (1, 0));
    }

    #[test]
    fn of_commands_the_truth_is_not_known_exactly() {
        let command = |change| CalibrationRace {
            kind: RaceKind::Commands,
            ..race(change, 0.05, 0.01)
        };
        let races = [command(0.0), command(0.1)];
        let found = calibrated_kind(RaceKind::Commands, 1, None, &races, TERMS);
        assert_eq!(found.coverage, None);
        assert_eq!(
            (found.known[0].covered, found.known[0].right.hits),
            (None, 1)
        );
        assert_eq!(found.noise.unwrap().process, None);
    }

    #[test]
    fn a_longer_budget_finds_less_until_the_replicates_of_the_default_are_used_up() {
        // A replicate takes a tenth of a second.
        let found = functions(&[race(0.0, 0.0, 0.002)]).detectable;
        let replicates = |of: fn(&Detectable) -> Option<Found>| -> Vec<u32> {
            found
                .iter()
                .map(|one| of(one).unwrap().replicates)
                .collect()
        };
        assert_eq!(replicates(|one| one.at_defaults), [8, 40, 40]);
        assert_eq!(replicates(|one| one.at_most), [10, 100, 600]);
        let at_most = |place: usize| found[place].at_most.unwrap().effect.0;
        assert!(at_most(0) > at_most(1) && at_most(1) > at_most(2));
        // ±1 % from block to block, 25 blocks, 40 replicates, the last level of seven.
        let error = 0.01 / 1000.0_f64.sqrt() / 0.8664;
        let expected = (2.265 + 0.84) * error;
        let default = found[2].at_defaults.unwrap().effect.0;
        assert!(
            (default / expected - 1.0).abs() < 0.01,
            "{default} {expected}"
        );
    }

    #[test]
    fn a_budget_that_ends_before_the_first_look_finds_nothing() {
        let slow = CalibrationRace {
            seconds: 50.0,
            ..race(0.0, 0.0, 0.002)
        };
        let found = functions(&[slow]).detectable;
        assert_eq!((found[0].at_defaults, found[0].at_most), (None, None));
        assert!(found[2].at_defaults.is_some(), "12 replicates in a minute");
    }
}
