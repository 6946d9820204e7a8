//! The binomial distribution, and confidence intervals for the true share behind a count.

use super::incomplete::beta_lower;
use super::normal_cdf;

/// Outcomes that are likelier than the observed one by at most this share count as equally likely,
/// because equal probabilities on the two sides of a symmetric distribution differ by rounding.
const TIE: f64 = 1e-7;

/// Beyond this many trials the normal limit is used.
const MANY_TRIALS: u64 = 10_000_000_000;

/// P(X ≤ `k`) for X of Binomial(`n`, `p`): I_{1−p}(n − k, k + 1) (DLMF 8.17.5). `k` above `n`
/// counts as `n`.
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    let p = if p.is_nan() { 0.5 } else { p.clamp(0.0, 1.0) };
    let (trials, hits) = (n as f64, k as f64);
    if n > MANY_TRIALS {
        let sd = (trials * p * (1.0 - p)).sqrt();
        return normal_cdf((hits - trials * p) / sd.max(f64::MIN_POSITIVE));
    }
    beta_lower((n - k) as f64, hits + 1.0, 1.0 - p, p)
}

/// The two-sided exact binomial p-value: the total probability of all outcomes of Binomial(`n`,
/// `p`) that are no more likely than `k` (Clopper & Pearson's test as `scipy.stats.binomtest`
/// defines its two-sided form).
///
/// Sums outwards from the mode, which costs O(√n) steps. `k` above `n` counts as `n`. Beyond 10¹⁰
/// trials the normal limit is used.
pub fn binomial_two_sided_p(k: u64, n: u64, p: f64) -> f64 {
    let p = if p.is_nan() { 0.5 } else { p.clamp(0.0, 1.0) };
    let k = k.min(n);
    if p > 0.5 {
        return binomial_two_sided_p(n - k, n, 1.0 - p);
    }
    if n > MANY_TRIALS {
        let (trials, hits) = (n as f64, k as f64);
        let sd = (trials * p * (1.0 - p)).sqrt();
        let z = (hits - trials * p).abs() / sd.max(f64::MIN_POSITIVE);
        return (2.0 * normal_cdf(-z)).min(1.0);
    }
    let mode = (((n + 1) as f64 * p).floor() as u64).min(n);
    let observed = if k >= mode {
        walk_up(mode, n, p).nth((k - mode) as usize)
    } else {
        walk_down(mode, n, p).nth((mode - k) as usize)
    };
    let threshold = observed.unwrap_or(0.0) * (1.0 + TIE);
    let weights = || walk_up(mode, n, p).chain(walk_down(mode, n, p).skip(1));
    let total: f64 = weights().sum();
    let extreme: f64 = weights().filter(|&w| w <= threshold).sum();
    (extreme / total).min(1.0)
}

/// Binomial probabilities of mode, mode + 1, … relative to that of the mode, until they vanish.
fn walk_up(mode: u64, n: u64, p: f64) -> impl Iterator<Item = f64> {
    let odds = p / (1.0 - p);
    std::iter::successors(Some((mode, 1.0)), move |&(k, w)| {
        let next = w * odds * (n - k) as f64 / (k + 1) as f64;
        (k < n && goes_on(w, next)).then(|| (k + 1, next))
    })
    .map(|(_, w)| w)
}

/// Binomial probabilities of mode, mode − 1, … relative to that of the mode, until they vanish.
fn walk_down(mode: u64, n: u64, p: f64) -> impl Iterator<Item = f64> {
    let odds = p / (1.0 - p);
    std::iter::successors(Some((mode, 1.0)), move |&(k, w)| {
        let next = w * k as f64 / (((n - k) as f64 + 1.0) * odds);
        (k > 0 && goes_on(w, next)).then(|| (k - 1, next))
    })
    .map(|(_, w)| w)
}

/// Returns true if the sum outwards must continue. The smallest representable numbers, multiplied
/// by a ratio above ½, round to themselves, so without this test the sum would continue for a sixth
/// of all trials.
fn goes_on(w: f64, next: f64) -> bool {
    next >= f64::MIN_POSITIVE || (next < w && next > 0.0)
}

/// The number of bisections after which doubles in the unit interval cannot be divided further.
const HALVINGS: usize = 64;

/// The exact confidence interval of Clopper & Pearson (1934) for a share, after `hits` in `trials`.
///
/// If the true share is the lower end of the interval, the probability of `hits` or more hits is (1
/// − `confidence`)/2; if it is the upper end, this is the probability of `hits` or fewer. With 0
/// hits the lower end is 0, with `trials` hits the upper end is 1. The interval is (0, 1) without
/// trials and for a confidence outside (0, 1). `hits` above `trials` count as `trials`.
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
        // P(X ≥ hits) is computed as P(X' ≤ trials − hits) of the misses, so that small tails keep
        // their digits.
        _ => last_below(|p| binomial_cdf(trials - hits, trials, 1.0 - p) < tail),
    };
    let high = if hits == trials {
        1.0
    } else {
        last_below(|p| binomial_cdf(hits, trials, p) > tail)
    };
    (low, high)
}

/// Returns the point in the unit interval at which `holds` changes from true to false.
fn last_below(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if holds(middle) {
            low = middle
        } else {
            high = middle
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::close;

    #[test]
    fn a_binomial_outcome_at_the_mode_is_no_evidence_at_all() {
        assert_eq!(binomial_two_sided_p(5, 10, 0.5), 1.0);
        assert_eq!(binomial_two_sided_p(0, 0, 0.5), 1.0);
        assert_eq!(binomial_two_sided_p(0, 9, 0.0), 1.0);
        assert_eq!(binomial_two_sided_p(9, 9, 1.0), 1.0);
        assert_eq!(binomial_two_sided_p(1, 9, 0.0), 0.0);
    }

    #[test]
    fn a_fair_coin_counts_both_tails() {
        close(binomial_two_sided_p(1, 10, 0.5), 22.0 / 1024.0, 1e-13);
        close(binomial_two_sided_p(9, 10, 0.5), 22.0 / 1024.0, 1e-13);
        close(
            binomial_two_sided_p(0, 40, 0.5),
            2.0 / 2.0_f64.powi(40),
            1e-12,
        );
    }

    #[test]
    fn the_cumulative_probabilities_of_few_trials_are_sums_of_their_terms() {
        for (k, sum) in [(0, 81.0), (1, 189.0), (2, 243.0), (3, 255.0), (4, 256.0)] {
            close(binomial_cdf(k, 4, 0.25), sum / 256.0, 1e-14);
        }
        assert_eq!(binomial_cdf(9, 4, 0.25), 1.0);
        assert_eq!(binomial_cdf(3, 4, 0.0), 1.0);
        assert_eq!(binomial_cdf(3, 4, 1.0), 0.0);
    }

    /// The expected value is a sum of single terms, computed with 40 digits. `scipy.special.bdtr`
    /// has an error of 1.7e-9 here.
    #[test]
    fn a_million_trials_cost_no_digits() {
        let want = 0.269_709_516_156_898_73;
        close(binomial_cdf(980, 1_000_000, 0.001), want, 1e-12);
    }

    #[test]
    fn more_trials_than_can_be_walked_have_the_normal_limit() {
        // n·p = 10¹⁰ and sd 5·10⁴·√3: two standard deviations above and below.
        let n = 4 * MANY_TRIALS;
        let two_sd = (2.0 * (n as f64 * 0.25 * 0.75).sqrt()).round() as u64;
        for k in [n / 4 + two_sd, n / 4 - two_sd] {
            close(binomial_two_sided_p(k, n, 0.25), 0.0455002639, 1e-4);
        }
        close(binomial_cdf(n / 4 - two_sd, n, 0.25), 0.0227501319, 1e-4);
        close(binomial_cdf(n / 4 + two_sd, n, 0.25), 0.9772498681, 1e-6);
        assert_eq!(binomial_two_sided_p(n / 4, n, 0.25), 1.0);
        // At the limit both methods must agree.
        let k = MANY_TRIALS / 2 + 100_000;
        let walked = binomial_two_sided_p(k, MANY_TRIALS, 0.5);
        let limit = binomial_two_sided_p(k, MANY_TRIALS + 1, 0.5);
        close(walked, limit, 1e-4);
    }

    #[test]
    fn arguments_outside_the_domain_still_give_finite_answers() {
        for p in [-1.0, 0.0, 5e-324, 1.0, 2.0, f64::NAN] {
            for (k, n) in [(7, 5), (0, 0), (3, u64::MAX), (u64::MAX, u64::MAX)] {
                assert!(binomial_two_sided_p(k, n, p).is_finite(), "{k} {n} {p}");
                assert!(binomial_cdf(k, n, p).is_finite(), "{k} {n} {p}");
            }
        }
    }

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-9, "{got} is not {want}");
    }

    #[test]
    fn none_and_all_have_bounds_in_closed_form() {
        // (1 − p)^n = 0.025, and p^n = 0.025.
        for n in [1_u64, 20, 300] {
            let root = 0.025_f64.powf(1.0 / n as f64);
            assert_eq!(share_bounds(0, n, 0.95).0, 0.0);
            near(share_bounds(0, n, 0.95).1, 1.0 - root);
            near(share_bounds(n, n, 0.95).0, root);
            assert_eq!(share_bounds(n, n, 0.95).1, 1.0);
        }
    }

    #[test]
    fn the_bounds_are_those_of_tables() {
        let (low, high) = share_bounds(1, 300, 0.95);
        near(low, 8.438_9e-5);
        assert!((high - 0.018_43).abs() < 1e-5, "{high}");
        let (low, high) = share_bounds(3, 10, 0.9);
        assert!((low - 0.087_264).abs() < 1e-6 && (high - 0.606_624).abs() < 1e-6);
    }

    #[test]
    fn share_bounds_without_trials_are_0_and_1() {
        assert_eq!(share_bounds(0, 0, 0.95), (0.0, 1.0));
        assert_eq!(share_bounds(1, 2, 1.0), (0.0, 1.0));
        assert_eq!(share_bounds(9, 2, 0.95), share_bounds(2, 2, 0.95));
    }
}
