//! Which true shares a count speaks for.

use crate::dist::binomial_cdf;

/// So many halvings leave nothing of the unit interval that a double could tell apart.
const HALVINGS: usize = 64;

/// The exact interval of Clopper & Pearson (1934) for a share of which `hits` of `trials` were seen.
///
/// Below its lower end so many hits or more, above its upper end so many or fewer, come about in no more than half of
/// 1 − `confidence`; from 0 hits on it begins at 0, and with `trials` hits it ends at 1. Of no trials it is (0, 1), and
/// so it is for a confidence outside (0, 1). `hits` above `trials` count as `trials`.
///
/// ```
/// use deadheat_stats::share_bounds;
///
/// let (low, high) = share_bounds(5, 100, 0.95);
/// assert!((low - 0.01643188).abs() < 1e-8 && (high - 0.11283491).abs() < 1e-8);
/// ```
pub fn share_bounds(hits: u64, trials: u64, confidence: f64) -> (f64, f64) {
    if trials == 0 || !(confidence > 0.0 && confidence < 1.0) {
        return (0.0, 1.0);
    }
    let hits = hits.min(trials);
    let tail = (1.0 - confidence) / 2.0;
    let low = match hits {
        0 => 0.0,
        // P(X ≥ hits), as P(X' ≤ trials − hits) of the misses: small tails keep their digits.
        _ => last_below(|p| binomial_cdf(trials - hits, trials, 1.0 - p) < tail),
    };
    let high = match hits == trials {
        true => 1.0,
        false => last_below(|p| binomial_cdf(hits, trials, p) > tail),
    };
    (low, high)
}

/// Where in the unit interval something ceases to hold that holds at its beginning.
fn last_below(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match holds(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-9, "{got} is not {want}");
    }

    #[test]
    fn none_and_all_have_bounds_in_closed_form() {
        // (1 − p)^n = 0.025, and p^n = 0.025.
        for n in [1_u64, 20, 300] {
            let root = 0.025_f64.powf(1.0 / n as f64);
            assert_eq!(share_bounds(0, n, 0.95).0, 0.0);
            close(share_bounds(0, n, 0.95).1, 1.0 - root);
            close(share_bounds(n, n, 0.95).0, root);
            assert_eq!(share_bounds(n, n, 0.95).1, 1.0);
        }
    }

    #[test]
    fn the_bounds_are_those_of_tables() {
        let (low, high) = share_bounds(1, 300, 0.95);
        close(low, 8.438_9e-5);
        assert!((high - 0.018_43).abs() < 1e-5, "{high}");
        let (low, high) = share_bounds(3, 10, 0.9);
        assert!((low - 0.087_264).abs() < 1e-6 && (high - 0.606_624).abs() < 1e-6);
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        assert_eq!(share_bounds(0, 0, 0.95), (0.0, 1.0));
        assert_eq!(share_bounds(1, 2, 1.0), (0.0, 1.0));
        assert_eq!(share_bounds(9, 2, 0.95), share_bounds(2, 2, 0.95));
    }
}
