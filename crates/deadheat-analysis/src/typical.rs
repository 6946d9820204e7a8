//! Typical times: figures of the two sides that agree with the estimate.
//!
//! Medians and means over all samples are robust, or not, in their own way,
//! and beside a change of 1 % at 100 µs they contradicted it in 18 of 100
//! races. So what stands beside a verdict is the baseline's location by the
//! same estimator, and the candidate's is that times the ratio found.

use deadheat_model::{Comparison, Estimate, Side};
use deadheat_stats::{Clusters, Floor, pooled_huber};

/// More zeros than this among the values, and there is no typical one: zeros
/// have no logarithm, and the rest alone would not be typical.
const MOST_ZEROS: f64 = 0.01;

/// The Huber location of the values in logarithms; `None` where there are
/// none, or too many are zero.
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
