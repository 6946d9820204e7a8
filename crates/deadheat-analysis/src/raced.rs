//! One benchmark of a run with its samples, its sides in a few plain figures, and the choices of an
//! analysis.
//!
//! Medians and means over all samples are robust, or not, in their own way, and beside a change of
//! 1 % at 100 µs they contradicted it in 18 of 100 races. So what stands beside a verdict is the
//! baseline's location by the same estimator, and the candidate's is that times the ratio found.

use deadheat_model::{Comparison, ContenderId, Estimate, Metric, Run, Samples, Side};
use deadheat_stats::summary::{max, mean, median_in_place, min, quantile_in_place, std_dev};
use deadheat_stats::{Clusters, Floor, pooled_huber};

/// Choices of someone who analyses a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Replay the looks over a recording that carries no plan, instead of judging it once.
    pub replay_looks: bool,
    /// Leave out the secondary figures, which a simulation of thousands of races has no use for:
    /// they are most of the work. A build without the feature `figures` has none.
    pub without_figures: bool,
    /// Work out what there is to draw, with at most so many points in each series; `None` where
    /// nobody draws. A build without the feature `figures` works out nothing.
    pub plots: Option<usize>,
}

/// One benchmark of a run with its samples.
#[derive(Clone, Copy)]
pub(crate) struct Raced<'a> {
    /// Whose samples are not looked at.
    pub(crate) run: &'a Run,
    /// The place of the benchmark in the plan.
    pub(crate) index: usize,
    pub(crate) samples: &'a Samples,
    /// Those of the benchmark that is the same on the user's own link.
    pub(crate) own_link: Option<&'a Samples>,
}

/// The answer about one benchmark, before it pays for the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    pub(crate) comparisons: Vec<Comparison>,
    /// One per candidate, paid for the looks and for nothing else.
    pub(crate) p_values: Vec<Option<f64>>,
    /// That of its control, if it has one that can be judged.
    pub(crate) control: Option<f64>,
}

/// Which samples belong to whom, looked up once for all metrics.
pub(crate) struct Members {
    of: Vec<Vec<u32>>,
}

impl Members {
    pub(crate) fn of(samples: &Samples, contenders: usize) -> Self {
        let mut counts = vec![0; contenders];
        for sample in samples.samples() {
            if let Some(count) = counts.get_mut(sample.contender.index()) {
                *count += 1;
            }
        }
        let mut of: Vec<Vec<u32>> = counts.into_iter().map(Vec::with_capacity).collect();
        for (index, sample) in samples.samples().iter().enumerate() {
            if let Some(list) = of.get_mut(sample.contender.index()) {
                list.push(index as u32);
            }
        }
        Self { of }
    }

    /// The samples of one contender, in the order taken.
    pub(crate) fn indices(&self, contender: ContenderId) -> &[u32] {
        self.of.get(contender.index()).map_or(&[], Vec::as_slice)
    }

    /// Values of one contender in one metric, per iteration.
    pub(crate) fn values(
        &self,
        samples: &Samples,
        metric: &Metric,
        contender: ContenderId,
    ) -> Vec<f64> {
        let Some(column) = samples.column(metric) else {
            return Vec::new();
        };
        let all = samples.samples();
        let divide = metric.adds_up();
        let value = |index: &u32| {
            let index = *index as usize;
            match all[index].iterations {
                iterations if divide && iterations != 1 => column[index] / iterations as f64,
                _ => column[index],
            }
        };
        self.of[contender.index()].iter().map(value).collect()
    }
}

/// The typical value of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Typical {
    /// Where the values lie together.
    Location,
    /// The quantile that is judged.
    Quantile(f64),
    /// Left open, as [`follow_the_estimates`] will give it: half of a summary is to find it.
    Follows,
}

impl Typical {
    /// That of a benchmark of which this quantile is judged, if one is.
    pub(crate) fn of(quantile: Option<f64>) -> Self {
        quantile.map_or(Self::Location, Self::Quantile)
    }

    /// That of a candidate, for which an estimate is `found`.
    pub(crate) fn of_candidate(quantile: Option<f64>, found: bool) -> Self {
        match Self::of(quantile) {
            Self::Location if found => Self::Follows,
            other => other,
        }
    }
}

/// The summary of `values`, which are reordered; `None` when there are none.
pub(crate) fn side(name: &str, values: &mut [f64], of: Typical) -> Option<Side> {
    // Of a launch or a call most counts are zero, and then every figure is.
    if !values.is_empty() && values.iter().all(|value| value.to_bits() == 0) {
        return Some(Side {
            name: name.to_owned(),
            typical: None,
            mean: 0.0,
            min: 0.0,
            max: 0.0,
            std_dev: (values.len() > 1).then_some(0.0),
            samples: values.len(),
            median: 0.0,
        });
    }
    Some(Side {
        name: name.to_owned(),
        typical: match of {
            Typical::Location => typical(values),
            Typical::Quantile(quantile) => {
                quantile_in_place(values, quantile).filter(|value| *value > 0.0)
            }
            Typical::Follows => None,
        },
        mean: mean(values)?,
        min: min(values)?,
        max: max(values)?,
        std_dev: std_dev(values),
        samples: values.len(),
        median: median_in_place(values)?,
    })
}

/// More zeros than this among the values, and there is no typical one: zeros have no logarithm, and
/// the rest alone would not be typical.
const MOST_ZEROS: f64 = 0.01;

/// The Huber location of the values in logarithms; `None` where there are none, or too many are
/// zero.
pub(crate) fn typical(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    if first > 0.0 && values.iter().all(|value| *value == first) {
        // As it is: the way through logarithms would round it.
        return Some(first);
    }
    let logs: Vec<f64> = values
        .iter()
        .filter(|value| **value > 0.0)
        .map(|value| value.ln())
        .collect();
    let zeros = values.len() - logs.len();
    if zeros as f64 > MOST_ZEROS * values.len() as f64 {
        return None;
    }
    let pooled = pooled_huber(&Clusters::singletons(&logs), Floor::default()).ok()?;
    Some(pooled.theta.exp()).filter(|typical| typical.is_finite())
}

/// Gives the candidates the typical values that follow from the estimates.
pub(crate) fn follow_the_estimates(comparison: &mut Comparison) {
    follow(
        &comparison.baseline,
        comparison.candidate.as_mut(),
        comparison.estimate.as_ref(),
    );
    for row in &mut comparison.metrics {
        follow(&row.baseline, row.candidate.as_mut(), row.estimate.as_ref());
    }
}

fn follow(baseline: &Side, candidate: Option<&mut Side>, estimate: Option<&Estimate>) {
    let (Some(candidate), Some(estimate)) = (candidate, estimate) else {
        return;
    };
    let typical = baseline
        .typical
        .map(|typical| typical * estimate.effect.0.exp());
    candidate.typical = typical.filter(|typical| typical.is_finite());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_far_off_moves_the_typical_one_hardly() {
        let mut values: Vec<f64> = (0..40).map(|step| 100.0 + f64::from(step % 5)).collect();
        let before = typical(&values).unwrap();
        values[7] = 1e6;
        let after = typical(&values).unwrap();
        assert!((after / before - 1.0).abs() < 0.003, "{before} {after}");
    }

    #[test]
    fn of_equal_values_it_is_the_value_to_the_last_digit() {
        assert_eq!(typical(&[0.1; 7]), Some(0.1));
    }

    #[test]
    fn a_few_zeros_are_passed_over_and_many_forbid_it() {
        let mut values = vec![8.0; 200];
        values[3] = 0.0;
        assert!((typical(&values).unwrap() - 8.0).abs() < 1e-12);
        values[..10].fill(0.0);
        assert_eq!(typical(&values), None);
        assert_eq!(typical(&[]), None);
        assert_eq!(typical(&[0.0, 0.0]), None);
    }
}
