//! Many comparisons, one promise: p-values that pay for each other.
//!
//! The p-value of a race judged at any time is 1/E, and Benjamini–Hochberg on
//! those is the e-BH procedure, valid however the races depend on each other.

use deadheat_stats::{benjamini_hochberg, holm};

/// Holm over the candidates of each benchmark, then Benjamini–Hochberg over
/// the benchmarks, candidate by candidate.
pub(crate) fn pay_for_the_suite(p_values: &mut [Vec<Option<f64>>]) {
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

/// Adjusts those p-values that exist, among themselves.
fn adjust(mut values: Vec<&mut Option<f64>>, method: fn(&[f64]) -> Vec<f64>) {
    let known: Vec<f64> = values.iter().filter_map(|value| **value).collect();
    let adjusted = method(&known);
    let slots = values.iter_mut().filter(|value| value.is_some());
    for (slot, value) in slots.zip(adjusted) {
        **slot = Some(value);
    }
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
        // Holm makes .02 and .04 of the first two; each column then pays as a family of two.
        let close = |got: Option<f64>, want: f64| (got.unwrap() - want).abs() < 1e-12;
        assert!(close(p_values[0][0], 0.03) && close(p_values[1][0], 0.03));
        assert!(close(p_values[0][1], 0.04) && close(p_values[2][1], 0.04));
        assert_eq!((p_values[1][1], p_values[2][0]), (None, None));
    }
}
