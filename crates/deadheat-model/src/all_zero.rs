//! Values that are all zero, of which there are no ratios.

use crate::analysis::Side;
use crate::estimate::Verdict;
use crate::metric::{Better, Metric, Unit};

/// The sides whose values are all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllZero {
    /// The baseline alone: the candidate has something where there was nothing.
    Baseline,
    /// The candidate alone.
    Candidate,
    /// Both.
    Both,
}

impl AllZero {
    /// The sides of a metric that are all zero. `None` if neither is, or if the other one is zero at
    /// times. Times are never zero, except that of collecting garbage: a clock that says so did not
    /// see the work.
    pub fn of(metric: &Metric, baseline: &Side, candidate: &Side) -> Option<AllZero> {
        if metric.unit() == Unit::Nanoseconds && *metric != Metric::GcTime {
            return None;
        }
        let is_zero = |side: &Side| side.min >= 0.0 && side.max <= 0.0;
        let is_above = |side: &Side| side.min > 0.0;
        match (is_zero(baseline), is_zero(candidate)) {
            (true, true) => Some(AllZero::Both),
            (true, false) => is_above(candidate).then_some(AllZero::Baseline),
            (false, true) => is_above(baseline).then_some(AllZero::Candidate),
            (false, false) => None,
        }
    }

    /// The verdict that follows, where enough observations agree. `None` where nobody told which way
    /// the metric improves.
    pub fn verdict(self, better: Better) -> Option<Verdict> {
        match (self, better) {
            (AllZero::Both, _) => Some(Verdict::Equivalent),
            (_, Better::Unknown) => None,
            (AllZero::Baseline, Better::Less) | (AllZero::Candidate, Better::More) => {
                Some(Verdict::Slower)
            }
            (AllZero::Candidate, Better::Less) | (AllZero::Baseline, Better::More) => {
                Some(Verdict::Faster)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(min: f64, max: f64) -> Side {
        Side {
            name: "a".to_owned(),
            typical: None,
            median: min,
            mean: min,
            min,
            max,
            std_dev: Some(0.0),
            samples: 6,
        }
    }

    #[test]
    fn a_side_without_anything_has_a_verdict_by_the_way_a_metric_improves() {
        let found = |metric: &Metric, [old, new]: [(f64, f64); 2]| {
            AllZero::of(metric, &side(old.0, old.1), &side(new.0, new.1))?.verdict(metric.better())
        };
        let (none, some) = ((0.0, 0.0), (48.0, 64.0));
        let bytes = Metric::AllocatedBytes;
        assert_eq!(found(&bytes, [none, some]), Some(Verdict::Slower));
        assert_eq!(found(&bytes, [some, none]), Some(Verdict::Faster));
        assert_eq!(found(&bytes, [none, none]), Some(Verdict::Equivalent));
        assert_eq!(found(&bytes, [some, some]), None);
        assert_eq!(found(&bytes, [none, (0.0, 48.0)]), None, "at times");
        assert_eq!(found(&Metric::Wall, [none, some]), None);
        let hits = Metric::foreign("hits", Unit::Count, Better::More);
        assert_eq!(found(&hits, [none, some]), Some(Verdict::Faster));
        let unknown = Metric::foreign("cache", Unit::Count, Better::Unknown);
        assert_eq!(found(&unknown, [none, some]), None);
        assert_eq!(found(&unknown, [none, none]), Some(Verdict::Equivalent));
    }
}
