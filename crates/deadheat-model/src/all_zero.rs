//! Metrics whose values are all zero on one side or both, so that no ratio can be formed.

use crate::analysis::Side;
use crate::estimate::Verdict;
use crate::metric::{Better, Metric, Unit};

/// The sides of a comparison on which all values of a metric are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllZero {
    /// All values of the baseline are zero, and all values of the candidate are above zero.
    Baseline,
    /// All values of the candidate are zero, and all values of the baseline are above zero.
    Candidate,
    /// All values of both sides are zero.
    Both,
}

impl AllZero {
    /// Returns the sides on which all values of `metric` are zero.
    ///
    /// Returns `None` if neither side is all zero, or if one side is all zero and the other has
    /// both zeros and values above zero. It also returns `None` for every time except that of
    /// garbage collection: a clock that shows zero failed to measure the work, but a call without
    /// any garbage collection is possible.
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

    /// Returns the verdict that these zeros imply, given enough observations. Returns `None` if
    /// only one side is all zero and it is unknown whether less or more is better.
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
