//! Many changes of one thing, in a few numbers.

/// Changes in percent: their range and how they spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub least: f64,
    pub most: f64,
    /// Standard deviation; 0 of a single change.
    pub sd: f64,
}

impl Summary {
    pub fn of(changes: impl IntoIterator<Item = f64>) -> Self {
        let changes: Vec<f64> = changes.into_iter().collect();
        assert!(!changes.is_empty(), "changes to sum up");
        let count = changes.len() as f64;
        let mean = changes.iter().sum::<f64>() / count;
        let squares: f64 = changes.iter().map(|one| (one - mean).powi(2)).sum();
        Self {
            least: changes.iter().copied().fold(f64::INFINITY, f64::min),
            most: changes.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            sd: (squares / (count - 1.0).max(1.0)).sqrt(),
        }
    }

    pub fn farthest(&self, from: f64) -> f64 {
        (self.least - from).abs().max((self.most - from).abs())
    }

    /// `-15.02 to +14.80`
    pub fn range(&self) -> String {
        format!("{:+.2} to {:+.2}", self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_range_and_standard_deviation() {
        let summary = Summary::of([1.0, -3.0, 2.0]);
        assert_eq!(summary.range(), "-3.00 to +2.00");
        assert!((summary.sd - 7f64.sqrt()).abs() < 1e-12);
        assert_eq!(summary.farthest(0.0), 3.0);
        assert_eq!(summary.farthest(-3.0), 5.0);
        assert_eq!(Summary::of([0.5]).sd, 0.0);
    }
}
