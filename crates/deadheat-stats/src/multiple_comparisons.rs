//! Adjusted p-values for many benchmarks that share one error rate.

/// p-values adjusted by Holm's step-down procedure (1979), in the order given. Rejecting those ≤ α
/// keeps the probability of *any* false rejection within α. p_(i) becomes max_{j ≤ i} min(1, (m − j
/// + 1)·p_(j)).
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len();
    let mut adjusted = vec![0.0; m];
    let mut largest = 0.0_f64;
    for (rank, index) in ascending(p_values).into_iter().enumerate() {
        largest = largest
            .max((m - rank) as f64 * probability(p_values[index]))
            .min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

/// p-values adjusted by the step-up procedure of Benjamini & Hochberg (1995), in the order given.
/// Rejecting those ≤ α keeps the expected share of false rejections within α. p_(i) becomes min_{j
/// ≥ i} min(1, m/j·p_(j)).
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len();
    let mut adjusted = vec![0.0; m];
    let mut smallest = 1.0_f64;
    for (rank, index) in ascending(p_values).into_iter().enumerate().rev() {
        smallest = smallest.min(m as f64 / (rank + 1) as f64 * probability(p_values[index]));
        adjusted[index] = smallest;
    }
    adjusted
}

/// Indices in ascending order of value.
fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

/// Clamps a p-value to [0, 1]; NaN becomes 1.
fn probability(p: f64) -> f64 {
    if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_close(got: &[f64], want: &[f64]) {
        assert_eq!(got.len(), want.len());
        assert!(
            got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-15),
            "{got:?} is not {want:?}"
        );
    }

    #[test]
    fn holm_multiplies_the_smallest_by_all_and_the_largest_by_one() {
        all_close(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
    }

    #[test]
    fn benjamini_and_hochberg_divide_by_rank() {
        all_close(
            &benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005]),
            &[0.02, 0.04, 0.04, 0.02],
        );
    }

    #[test]
    fn a_single_p_value_is_left_as_it_is() {
        assert_eq!(
            (holm(&[0.3]), benjamini_hochberg(&[0.3])),
            (vec![0.3], vec![0.3])
        );
        assert_eq!((holm(&[]), benjamini_hochberg(&[])), (vec![], vec![]));
    }

    #[test]
    fn absurd_p_values_stay_within_nought_and_one() {
        assert_eq!(holm(&[-1.0, f64::NAN, 7.0]), [0.0, 1.0, 1.0]);
        assert_eq!(benjamini_hochberg(&[f64::NAN]), [1.0]);
    }
}
