//! Conclusions from all benchmarks together: adjusted p-values, the mean change over all
//! benchmarks, and outliers among the rows of saved results.
//!
//! A race that is judged by the anytime rule has an e-value E; its p-value is 1/E, at most 1.
//! Benjamini–Hochberg on such p-values is the e-BH procedure, which is valid however the races
//! depend on each other.
//!
//! The mean of the effects is the logarithm of the geometric mean of the ratios. In a race, the
//! interval of this mean is computed from the spread of the effects. This interval is about the
//! mean of all similar benchmarks; it treats the raced benchmarks as a random sample of them.
//!
//! In saved results, the interval is about the mean of exactly the recorded benchmarks. If each
//! side has several files, the files are the observations, paired if they were recorded in turns.
//! If one side has a single file, the variation between recordings is unknown, and an interval
//! cannot be computed.
//!
//! One recording per side gives no verdict. If it holds many benchmarks, most of which did not
//! change, the scatter of their effects shows by how much two recordings of the same code differ. A
//! row far beyond this scatter should be raced first. The rule for such rows was fixed before any
//! data were examined: at least ten rows, and the distance of the row's effect from the median of
//! all effects is above 3.5 scaled median absolute deviations (Iglewicz and Hoaglin 1993) and above
//! the margin.

use std::collections::HashMap;
use std::iter::repeat;

use deadheat_model::{
    Aspects, Better, Comparison, Control, Estimate, Evidence, InSuite, Interval, LogRatio, Origin,
    Overall, Population, Run, Settling, Verdict, Warning,
};
#[cfg(feature = "recordings")]
use deadheat_model::{ContenderId, Samples};
use deadheat_stats::dist::t_critical;
use deadheat_stats::summary::std_dev;
#[cfg(feature = "recordings")]
use deadheat_stats::summary::{median, scaled_mad};
use deadheat_stats::{benjamini_hochberg, holm};
#[cfg(feature = "recordings")]
use deadheat_stats::{hodges_lehmann, student_paired, welch};

use crate::aspects::{Separation, seconds_to_settle, separation};
use crate::raced::Part;
#[cfg(feature = "recordings")]
use crate::recordings::turns;

/// The results of all benchmarks, in flat lists. With one list per benchmark, the results of 50,000
/// benchmarks were in memory twice while they were collected.
pub(crate) struct Answers {
    comparisons: Vec<Comparison>,
    /// The number of comparisons of each benchmark.
    counts: Vec<usize>,
    p_values: Vec<Vec<Option<f64>>>,
    controls: Vec<Option<f64>>,
}

impl Answers {
    pub(crate) fn for_benchmarks(benchmarks: usize) -> Self {
        Self {
            comparisons: Vec::with_capacity(benchmarks),
            counts: Vec::with_capacity(benchmarks),
            p_values: Vec::with_capacity(benchmarks),
            controls: Vec::with_capacity(benchmarks),
        }
    }

    pub(crate) fn add(&mut self, part: Part) {
        self.counts.push(part.comparisons.len());
        self.comparisons.extend(part.comparisons);
        self.p_values.push(part.p_values);
        self.controls.push(part.control);
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = usize> {
        self.counts.iter().copied()
    }

    fn groups(&self) -> Vec<&[Comparison]> {
        let mut rest = &self.comparisons[..];
        let group = |count: &usize| {
            let (some, others) = rest.split_at(*count);
            rest = others;
            some
        };
        self.counts.iter().map(group).collect()
    }
}

/// Fills in the results of each comparison that depend on all comparisons of the run.
pub(crate) fn in_suite(run: &Run, answers: Answers) -> Vec<Comparison> {
    let mut paid = answers.p_values.clone();
    pay_for_the_suite(&mut paid);
    let design = &run.header.plan.design;
    let Separation { separated, warning } =
        separation(&answers.groups(), &answers.controls, design.alpha);
    let held = what_holds(&answers.comparisons);
    let stands_out = stands_out(&answers.comparisons);
    let seconds = match run.header.origin {
        Origin::Race => seconds_to_settle(&answers.comparisons, run.elapsed_ns as f64 / 1e9),
        _ => vec![None; answers.comparisons.len()],
    };
    let of_benchmark = |(benchmark, count): (usize, usize)| {
        let p_values = paid[benchmark].iter().copied().chain(repeat(None));
        p_values.zip(repeat(separated[benchmark])).take(count)
    };
    let counts = answers.counts.into_iter().enumerate();
    let of_all = held.into_iter().zip(stands_out).zip(seconds);
    let comparisons = answers.comparisons.into_iter();
    let placed = comparisons.zip(counts.flat_map(of_benchmark)).zip(of_all);
    placed
        .map(
            |((one, (p_adjusted, separated)), ((holds, stands_out), seconds))| {
                let place = Place {
                    p_adjusted,
                    holds,
                    separated,
                    stands_out,
                    seconds,
                };
                place.of(one, warning.as_ref())
            },
        )
        .collect()
}

/// The results of one comparison that depend on all comparisons of the run.
struct Place {
    p_adjusted: Option<f64>,
    holds: bool,
    /// True if the control of the comparison's benchmark separated (found a difference).
    separated: bool,
    stands_out: Option<Warning>,
    seconds: Option<f64>,
}

impl Place {
    /// Returns the comparison with these results filled in. `control` is the warning about controls
    /// that separated (found a difference).
    fn of(self, one: Comparison, control: Option<&Warning>) -> Comparison {
        let aspects = Aspects {
            control: one.aspects.control.map(|control| Control {
                separated: self.separated,
                ..control
            }),
            settling: one.aspects.settling.map(|settling| Settling {
                seconds: self.seconds,
                ..settling
            }),
            ..one.aspects
        };
        let warnings = control.cloned().into_iter().chain(one.warnings);
        Comparison {
            evidence: Evidence {
                provisional: one.evidence.provisional
                    || (control.is_some() && one.verdict.is_some()),
                ..one.evidence
            },
            aspects,
            suite: InSuite {
                p_adjusted: self.p_adjusted,
                holds: self.holds,
                ..one.suite
            },
            warnings: warnings.chain(self.stands_out).collect(),
            ..one
        }
    }
}

/// Adjusts p-values: by Holm over the candidates of each benchmark, then by Benjamini–Hochberg over
/// the benchmarks, separately for each candidate.
fn pay_for_the_suite(p_values: &mut [Vec<Option<f64>>]) {
    for of_benchmark in p_values.iter_mut() {
        adjust(of_benchmark.iter_mut().collect(), holm);
    }
    let most = p_values.iter().map(Vec::len).max().unwrap_or(0);
    for candidate in 0..most {
        let column = p_values
            .iter_mut()
            .filter_map(|list| list.get_mut(candidate))
            .collect();
        adjust(column, benjamini_hochberg);
    }
}

/// Adjusts the p-values that exist, as one family.
fn adjust(mut values: Vec<&mut Option<f64>>, method: fn(&[f64]) -> Vec<f64>) {
    let known: Vec<f64> = values.iter().filter_map(|value| **value).collect();
    let adjusted = method(&known);
    let slots = values.iter_mut().filter(|value| value.is_some());
    for (slot, value) in slots.zip(adjusted) {
        **slot = Some(value);
    }
}

/// Returns, for each comparison of a family, true if its change holds when the whole family shares
/// α. This is Holm's step-down over the p-values that are adjusted for the looks: with `m`
/// comparisons the smallest of them must be at most α/m.
///
/// At look j, such a p-value is α·p_j/level_j, where p_j is the p-value and level_j the level of this
/// look. So if nothing changed, each of the m comparisons passes α/m at look j, in a given direction,
/// with a probability of at most level_j/(2m), and the whole family reports a change in this
/// direction with a probability of at most Σ level_j/2 over the looks. This is below α for plans of
/// up to 40 replicates. For the 31 looks of a plan of 200 replicates it is 1.45 α, but the
/// looks depend on each other: in a simulation of 1.2 million runs with normal effects, families of
/// 1, 20 and 100 comparisons had false positives at rates of 0.50 α, 0.68 α and 0.79 α.
///
/// If benchmarks have different α, the smallest α applies to all: the p-value of a benchmark is
/// multiplied by the smallest α and divided by its own. A single comparison always holds,
/// because its p-value is adjusted already. A comparison without a p-value, for example because a
/// timer always shows the same time, counts as p = 0: its interval alone decides.
pub fn hold_together(family: &[&Comparison]) -> Vec<bool> {
    let strictest = family.iter().map(|one| one.terms.alpha).reduce(f64::min);
    let Some(strictest) = strictest.filter(|_| family.len() > 1) else {
        return vec![true; family.len()];
    };
    let scaled =
        |one: &&Comparison| one.evidence.p_looks.unwrap_or(0.0) * strictest / one.terms.alpha;
    let adjusted = holm(&family.iter().map(scaled).collect::<Vec<f64>>());
    adjusted.into_iter().map(|p| p <= strictest).collect()
}

/// Returns the relative change that a comparison would detect with 80 % power as one of `family`
/// comparisons: (t at level/`family` + 0.84)·SE, if none of the others changed.
pub fn detectable_together(comparison: &Comparison, family: usize) -> Option<f64> {
    let estimate = comparison.estimate.as_ref()?;
    let interval = estimate.interval?;
    // In a merged run the hosts are the observations.
    let hosts = comparison
        .aspects
        .hosts
        .as_ref()
        .filter(|hosts| hosts.like_these);
    let observations = hosts.map_or(estimate.replicates, |across| across.kept().count());
    let df = observations.checked_sub(1).filter(|df| *df > 0)? as f64;
    let level = 1.0 - interval.confidence;
    let own = t_critical(level, df);
    let se = 0.5 * (interval.high.0 - interval.low.0) / own;
    let effect = se * (t_critical(level / family.max(1) as f64, df) + POWER_80);
    Some(LogRatio(effect).change()).filter(|change| change.is_finite())
}

/// The 80 % quantile of the standard normal distribution, for a power of 80 %.
const POWER_80: f64 = 0.841_621_233_572_914_3;

/// Returns, for every comparison, true if its change holds after the correction for all judged
/// comparisons. A comparison without a change always holds.
fn what_holds(comparisons: &[Comparison]) -> Vec<bool> {
    let judged = |one: &&Comparison| one.candidate.is_some() && one.verdict.is_some();
    let family: Vec<&Comparison> = comparisons.iter().filter(judged).collect();
    let mut held = hold_together(&family).into_iter();
    let holds = |one: &Comparison| {
        let changed = matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower));
        !judged(&one) || held.next().unwrap_or(true) || !changed
    };
    comparisons.iter().map(holds).collect()
}

/// Returns one entry per candidate that at least two benchmarks compare with the baseline.
pub(crate) fn overall(run: &Run, comparisons: &[Comparison]) -> Vec<Overall> {
    #[cfg(feature = "recordings")]
    if !run.sides.is_empty() {
        return of_saved_results(run, comparisons);
    }
    of_a_race(comparisons, run.header.plan.design.alpha)
}

/// Returns one entry per candidate that at least two benchmarks of a race compare with the
/// baseline. If every benchmark has one candidate, all of them count as the same candidate, even if
/// their names differ.
fn of_a_race(comparisons: &[Comparison], alpha: f64) -> Vec<Overall> {
    let raced = comparisons.iter().filter_map(|one| {
        let effect = sign(one.terms.metric.better())? * one.estimate.as_ref()?.effect.0;
        Some((one, one.candidate.as_ref()?.name.as_str(), effect))
    });
    let raced: Vec<(&Comparison, &str, f64)> = raced.collect();
    let one_each = raced
        .windows(2)
        .all(|pair| !pair[0].0.is_of_one_benchmark_with(pair[1].0));
    let mut groups: Vec<(&str, Vec<f64>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (_, name, effect) in &raced {
        let key = if one_each { "" } else { name };
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, effects)) => effects.push(*effect),
            None => groups.push((name, vec![*effect])),
        }
    }
    groups.retain(|(_, effects)| effects.len() > 1);
    let level = alpha / groups.len().max(1) as f64;
    let overall = groups.into_iter().map(|(name, effects)| {
        let count = effects.len() as f64;
        let effect = effects.iter().sum::<f64>() / count;
        let half = std_dev(&effects).map(|sd| t_critical(level, count - 1.0) * sd / count.sqrt());
        Overall {
            candidate: name.to_owned(),
            benchmarks: effects.len(),
            estimate: estimate(effect, half, level, 0),
            population: Population::LikeThese,
        }
    });
    overall.collect()
}

/// Returns an estimate with the interval `effect` ± `half`, or without an interval if `half` is
/// unknown, zero or not finite.
fn estimate(effect: f64, half: Option<f64>, level: f64, replicates: usize) -> Estimate {
    let interval = half
        .filter(|half| *half > 0.0 && (effect.abs() + half).is_finite())
        .map(|half| Interval {
            low: LogRatio(effect - half),
            high: LogRatio(effect + half),
            confidence: 1.0 - level,
        });
    Estimate {
        effect: LogRatio(effect),
        interval,
        p_value: None,
        replicates,
        blocks: 0,
    }
}

#[cfg(feature = "recordings")]
fn of_saved_results(run: &Run, comparisons: &[Comparison]) -> Vec<Overall> {
    let candidates = run.sides.len().saturating_sub(1);
    let level = run.header.plan.design.alpha / candidates.max(1) as f64;
    let of_candidate = |place: usize| {
        let name = &run.sides[place].name;
        let compared: Vec<(f64, &Comparison, &Estimate)> = comparisons
            .iter()
            .filter(|one| {
                one.candidate
                    .as_ref()
                    .is_some_and(|side| side.name == *name)
            })
            .filter_map(|one| {
                let sign = sign(one.terms.metric.better())?;
                Some((sign, one, one.estimate.as_ref()?))
            })
            .collect();
        if compared.len() < 2 {
            return None;
        }
        let count = compared.len() as f64;
        let costs = compared
            .iter()
            .map(|(sign, _, estimate)| sign * estimate.effect.0);
        let effect = costs.sum::<f64>() / count;
        let pooled = [&run.sides[0], &run.sides[place]].map(|side| side.files.len());
        let same = |one: &Warning| matches!(one, Warning::SameRecordings { .. });
        let same = |(_, one, _): &(f64, &Comparison, &Estimate)| one.warnings.iter().any(same);
        let half = match pooled {
            [1, _] | [_, 1] => None,
            _ if compared.iter().all(same) => None,
            files => by_files(run, name, files, level),
        };
        Some(Overall {
            candidate: name.clone(),
            benchmarks: compared.len(),
            estimate: estimate(effect, half, level, pooled.iter().sum()),
            population: Population::These,
        })
    };
    (1..run.sides.len()).filter_map(of_candidate).collect()
}

/// Returns the sign of a change in cost for a metric that rises; `None` if it is unknown which
/// direction is better, so that a mean over benchmarks cannot contain the metric.
fn sign(better: Better) -> Option<f64> {
    match better {
        Better::Less => Some(1.0),
        Better::More => Some(-1.0),
        Better::Unknown => None,
    }
}

/// Returns half the width of the interval, from the mean of each file over all benchmarks; `None`
/// if a file lacks a benchmark.
#[cfg(feature = "recordings")]
fn by_files(run: &Run, candidate: &str, files: [usize; 2], level: f64) -> Option<f64> {
    let mut sums = files.map(|count| vec![0.0; count]);
    let mut count = 0.0;
    let plan = &run.header.plan;
    for (index, (benchmark, samples)) in plan.benchmarks.iter().zip(&run.benchmarks).enumerate() {
        let place = benchmark
            .contenders
            .iter()
            .position(|contender| contender.name == candidate)
            .filter(|_| !samples.blocks().is_empty());
        let Some(place) = place else {
            continue;
        };
        let metric = plan.judged(index);
        let Some(sign) = sign(metric.better()) else {
            continue;
        };
        count += 1.0;
        let column = samples.column(metric)?;
        let sides = [ContenderId::BASELINE, ContenderId(place as u8)];
        for (sums, side) in sums.iter_mut().zip(sides) {
            let centres = centres(samples, column, side, sums.len())?;
            for (sum, centre) in sums.iter_mut().zip(centres) {
                *sum += sign * centre;
            }
        }
    }
    let means = sums.map(|sums| sums.iter().map(|sum| sum / count).collect::<Vec<f64>>());
    let side = |name: &str| run.sides.iter().find(|side| side.name == name);
    let tested = match turns(run.sides.first()?, side(candidate)?) {
        Some(turns) => {
            let [old, new] = &means;
            let difference = |(a, b): &(u32, u32)| new[*b as usize] - old[*a as usize];
            student_paired(&turns.iter().map(difference).collect::<Vec<f64>>())
        }
        None => welch(&means[0], &means[1]),
    };
    let (low, high) = tested?.interval(level)?;
    Some(0.5 * (high - low))
}

/// Returns the Hodges–Lehmann location of ln of the values of each file; `None` if a file lacks
/// values, or if a value is not positive.
#[cfg(feature = "recordings")]
fn centres(samples: &Samples, column: &[f64], side: ContenderId, files: usize) -> Option<Vec<f64>> {
    let mut logs = vec![Vec::new(); files];
    for block in samples.blocks() {
        let Some(of_file) = logs.get_mut(block.replicate as usize) else {
            continue;
        };
        for at in block.range() {
            if samples.samples()[at].contender == side {
                of_file.push((column[at] > 0.0).then(|| column[at].ln())?);
            }
        }
    }
    logs.iter().map(|logs| hodges_lehmann(logs)).collect()
}

/// Returns no warnings: without the feature `recordings` rows of single recordings cannot be
/// checked.
#[cfg(not(feature = "recordings"))]
fn stands_out(comparisons: &[Comparison]) -> Vec<Option<Warning>> {
    vec![None; comparisons.len()]
}

/// Returns, for each comparison, the warning that its effect is an outlier among the rows of its
/// candidate. Only rows with an estimate but too few observations for a verdict are checked.
#[cfg(feature = "recordings")]
fn stands_out(comparisons: &[Comparison]) -> Vec<Option<Warning>> {
    /// The smallest number of rows whose effects are searched for outliers; the scatter of fewer is
    /// too uncertain.
    const LEAST_ROWS: usize = 10;

    /// The distance of a row's effect from the median of all effects, in scaled median absolute
    /// deviations, above which the row is an outlier.
    const FAR: f64 = 3.5;

    let mut warnings = vec![None; comparisons.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, one) in comparisons.iter().enumerate() {
        let single = |warning: &Warning| matches!(warning, Warning::FewObservations { .. });
        let candidate = one.candidate.as_ref().filter(|_| one.estimate.is_some());
        let Some(candidate) = candidate.filter(|_| one.warnings.iter().any(single)) else {
            continue;
        };
        let of_name = *places.entry(&candidate.name).or_insert(groups.len());
        match groups.get_mut(of_name) {
            Some(places) => places.push(place),
            None => groups.push(vec![place]),
        }
    }
    for places in groups.iter().filter(|all| all.len() >= LEAST_ROWS) {
        let effect = |place: &usize| comparisons[*place].estimate.as_ref().map(|e| e.effect.0);
        let effects: Vec<f64> = places.iter().filter_map(effect).collect();
        let Some((middle, scale)) = median(&effects).zip(scaled_mad(&effects)) else {
            continue;
        };
        for (place, effect) in places.iter().zip(effects) {
            let apart = (effect - middle).abs();
            // If most rows are equal, the scale is 0 and z is not finite.
            let z = apart / scale;
            if apart > LogRatio::from_change(comparisons[*place].terms.margin).0
                && z > FAR
                && z.is_finite()
            {
                warnings[*place] = Some(Warning::StandsOut { z });
            }
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_pay_by_holm_and_benchmarks_by_benjamini_and_hochberg() {
        let mut p_values = vec![
            vec![Some(0.01), Some(0.04)],
            vec![Some(0.03), None],
            vec![None, Some(0.02)],
        ];
        pay_for_the_suite(&mut p_values);
        // Holm turns the first two into .02 and .04. Benjamini–Hochberg then adjusts each column of
        // two.
        let close = |got: Option<f64>, want: f64| (got.unwrap() - want).abs() < 1e-12;
        assert!(close(p_values[0][0], 0.03) && close(p_values[1][0], 0.03));
        assert!(close(p_values[0][1], 0.04) && close(p_values[2][1], 0.04));
        assert_eq!((p_values[1][1], p_values[2][0]), (None, None));
    }
}
