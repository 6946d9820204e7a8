//! The number of wrong verdicts that chance allows.

use deadheat_stats::dist::binomial_cdf;
pub use deadheat_stats::share_bounds;

pub fn binomial_bound(n: u64, p: f64, confidence: f64) -> u64 {
    (0..n).find(|k| binomial_cdf(*k, n, p) >= confidence).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_the_first_count_that_chance_seldom_exceeds() {
        assert_eq!(binomial_bound(300, 0.05, 0.99), 24);
        assert_eq!(binomial_bound(10, 0.0, 0.99), 0);
    }

    #[test]
    fn the_interval_agrees_with_tables() {
        let (low, high) = share_bounds(5, 100, 0.95);
        assert!((low - 0.01643).abs() < 1e-4 && (high - 0.11284).abs() < 1e-4);
        assert_eq!(share_bounds(0, 20, 0.95).0, 0.0);
        assert!((share_bounds(0, 20, 0.95).1 - 0.16843).abs() < 1e-4);
        assert_eq!(share_bounds(20, 20, 0.95).1, 1.0);
    }
}
