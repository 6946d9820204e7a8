//! Two samples, walked from their smallest value up together: once for all that asks which of them
//! lies where.

use std::borrow::Cow;

use crate::summary::{all_finite, ascending};

/// The most values of a sample: so many against as many are pairs that 63 bits count.
const MOST_VALUES: usize = 1 << 31;

/// Two samples that are independent of each other, in order.
#[derive(Debug, Clone)]
pub struct TwoSamples {
    /// Ascending; no two groups of one value.
    pub(crate) groups: Vec<Group>,
    /// Values in the first sample, at least 1.
    pub(crate) n: usize,
    /// Values in the second sample, at least 1.
    pub(crate) m: usize,
}

/// Equal values: how many each sample has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Group {
    pub(crate) value: f64,
    pub(crate) first: u32,
    pub(crate) second: u32,
}

impl TwoSamples {
    /// In O(n log n), and in O(n) for samples that ascend. `None` when one is empty, when a value is
    /// not finite, or where there are more than 2³¹ of one.
    pub fn new(first: &[f64], second: &[f64]) -> Option<Self> {
        let (n, m) = (first.len(), second.len());
        let countable = n.min(m) > 0 && n.max(m) <= MOST_VALUES;
        if !countable || !all_finite(first) || !all_finite(second) {
            return None;
        }
        let (x, y): (Cow<[f64]>, Cow<[f64]>) = (in_order(first), in_order(second));
        let at = |sample: &[f64], place: usize| sample.get(place).copied().unwrap_or(f64::INFINITY);
        // Room for all: a list that may grow keeps the numbers of this loop in memory.
        let mut groups = vec![Group::default(); n + m];
        let (mut i, mut j, mut group) = (0, 0, 0);
        groups[0].value = at(&x, 0).min(at(&y, 0));
        let mut value = groups[0].value;
        while i < n || j < m {
            let (a, b) = (at(&x, i), at(&y, j));
            let next = if a < b { a } else { b };
            if next != value {
                value = next;
                group += 1;
                groups[group].value = value;
            }
            // Which of them is smaller is no branch: no processor would guess it.
            let (of_first, of_second) = (usize::from(a <= b), usize::from(b <= a));
            groups[group].first += of_first as u32;
            groups[group].second += of_second as u32;
            i += of_first;
            j += of_second;
        }
        groups.truncate(group + 1);
        Some(Self { groups, n, m })
    }

    /// The median of all values together.
    pub fn median(&self) -> f64 {
        let half = (self.n + self.m) / 2;
        let mut seen = 0;
        let mut lower = f64::NAN;
        for group in &self.groups {
            seen += group.first as usize + group.second as usize;
            // An odd number has one in the middle; of an even one both are here, or one is.
            if seen > half {
                let both = (self.n + self.m) % 2 == 1 || lower.is_nan();
                return if both {
                    group.value
                } else {
                    lower.midpoint(group.value)
                };
            }
            if seen == half {
                lower = group.value;
            }
        }
        lower
    }
}

/// The values in ascending order: themselves where they are already.
fn in_order(values: &[f64]) -> Cow<'_, [f64]> {
    if values.is_sorted_by(|a, b| a.total_cmp(b).is_le()) {
        Cow::Borrowed(values)
    } else {
        Cow::Owned(ascending(values))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::summary::median;

    proptest! {
        #[test]
        fn every_value_is_in_one_group_and_groups_ascend(
            first in prop::collection::vec(-9i8..9, 1..40),
            second in prop::collection::vec(-9i8..9, 1..40),
        ) {
            let [first, second] = [first, second]
                .map(|values| values.into_iter().map(f64::from).collect::<Vec<f64>>());
            let both = TwoSamples::new(&first, &second).unwrap();
            prop_assert!(both.groups.is_sorted_by(|a, b| a.value < b.value));
            for group in &both.groups {
                let count = |of: &[f64]| of.iter().filter(|value| **value == group.value).count();
                let counted = [group.first, group.second].map(|count| count as usize);
                prop_assert_eq!([count(&first), count(&second)], counted);
            }
            let all: u32 = both.groups.iter().map(|g| g.first + g.second).sum();
            prop_assert_eq!(all as usize, first.len() + second.len());
        }

        #[test]
        fn the_median_is_that_of_all_values(
            first in prop::collection::vec(-9e9..9e9, 1..40),
            second in prop::collection::vec(-9e9..9e9, 1..40),
            grid in prop::bool::ANY,
        ) {
            let step = if grid { 3e9 } else { 1.0 };
            let [first, second]: [Vec<f64>; 2] = [first, second]
                .map(|values: Vec<f64>| values.iter().map(|x| (x / step).round() * step).collect());
            let all = [first.as_slice(), &second].concat();
            let both = TwoSamples::new(&first, &second).unwrap();
            prop_assert_eq!(Some(both.median()), median(&all));
        }
    }
}
