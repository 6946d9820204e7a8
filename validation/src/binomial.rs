//! How many wrong verdicts chance allows.

/// P(X <= k) for X binomial(n, p).
fn at_most(k: u64, n: u64, p: f64) -> f64 {
    if p >= 1.0 {
        return if k >= n { 1.0 } else { 0.0 };
    }
    // In logarithms: (1 − p)^n of a long run is smaller than any double.
    let mut log_probability = n as f64 * (1.0 - p).ln();
    let mut cumulative = log_probability.exp();
    for count in 0..k.min(n) {
        log_probability += ((n - count) as f64 / (count + 1) as f64 * p / (1.0 - p)).ln();
        cumulative += log_probability.exp();
    }
    cumulative.min(1.0)
}

/// The smallest k with P(X <= k) >= confidence for X binomial(n, p).
pub fn binomial_bound(n: u64, p: f64, confidence: f64) -> u64 {
    (0..n)
        .find(|k| at_most(*k, n, p) >= confidence)
        .unwrap_or(n)
}

/// The shares that k out of n speak for, by the exact bounds of Clopper and
/// Pearson.
pub fn binomial_interval(k: u64, n: u64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    // `below(p)` holds up to the bound and no longer.
    let bisect = |below: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if below(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low + high) / 2.0
    };
    let low = match k {
        0 => 0.0,
        _ => bisect(&|p| 1.0 - at_most(k - 1, n, p) < tail),
    };
    let high = match k {
        _ if k >= n => 1.0,
        _ => bisect(&|p| at_most(k, n, p) > tail),
    };
    (low, high)
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
        let (low, high) = binomial_interval(5, 100, 0.95);
        assert!((low - 0.01643).abs() < 1e-4 && (high - 0.11284).abs() < 1e-4);
        assert_eq!(binomial_interval(0, 20, 0.95).0, 0.0);
        assert!((binomial_interval(0, 20, 0.95).1 - 0.16843).abs() < 1e-4);
        assert_eq!(binomial_interval(20, 20, 0.95).1, 1.0);
    }
}
