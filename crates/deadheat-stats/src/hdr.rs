//! A High Dynamic Range histogram, as described by Gil Tene: bucket widths grow with the values.
//!
//! Values below `2 · 10^digits`, rounded up to a power of two, have a bucket each. Above that,
//! every doubling of the value doubles the width of the buckets, so a bucket is never wider than a
//! `10^digits`-th of its values, whatever their range. Finding the bucket of a value takes a count
//! of leading zeros and two shifts.
//!
//! The order and the bounds of the buckets are those of the HdrHistogram family, so its tools can
//! read the counts.

/// Counts of whole numbers, to a given number of significant decimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    highest: u64,
    significant_digits: u8,
    /// log₂ of half the number of buckets of width 1. The first bucket after these has width 2.
    half_bits: u32,
    /// The count of each bucket, up to the highest bucket that is not empty.
    counts: Vec<u64>,
    len: u64,
}

/// A bucket that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The smallest value of the bucket.
    pub lowest: u64,
    /// The largest value of the bucket.
    pub highest: u64,
    /// The number of values in the bucket, at least 1.
    pub count: u64,
}

/// The error for a number of significant digits that is not between 1 and 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigitsError(pub u8);

impl std::fmt::Display for DigitsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(inner) = self;
        write!(
            f,
            "a histogram keeps 1 to 5 significant digits, not {inner}"
        )
    }
}

impl std::error::Error for DigitsError {}

impl Histogram {
    /// An empty histogram of values up to `highest`, which keeps 1 to 5 significant decimal digits.
    /// Memory grows with the largest recorded value only. A `highest` below 2 counts as 2.
    pub fn new(highest: u64, significant_digits: u8) -> Result<Self, DigitsError> {
        if !(1..=5).contains(&significant_digits) {
            return Err(DigitsError(significant_digits));
        }
        let told_apart = 2 * 10u64.pow(significant_digits.into());
        Ok(Self {
            highest: highest.max(2),
            significant_digits,
            half_bits: told_apart.next_power_of_two().trailing_zeros() - 1,
            counts: Vec::new(),
            len: 0,
        })
    }

    /// Counts a value; larger values than the highest count as the highest.
    pub fn record(&mut self, value: u64) {
        self.record_many(value, 1);
    }

    /// Counts a value `count` times.
    pub fn record_many(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        let index = self.index(value.min(self.highest));
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] = self.counts[index].saturating_add(count);
        self.len = self.len.saturating_add(count);
    }

    /// The number of values counted.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the largest value of the histogram; larger values count as this value.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Significant decimal digits kept, 1 to 5.
    pub fn significant_digits(&self) -> u8 {
        self.significant_digits
    }

    /// The count of every bucket, the lowest first, up to the highest one that is not empty.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The smallest value in the same bucket as `value`.
    pub fn lowest_equivalent(&self, value: u64) -> u64 {
        let shift = self.shift(value);
        value >> shift << shift
    }

    /// The value in the middle of the bucket of `value`; of two middle values the upper one.
    pub fn median_equivalent(&self, value: u64) -> u64 {
        self.lowest_equivalent(value) + ((1 << self.shift(value)) >> 1)
    }

    /// The largest value in the same bucket as `value`.
    pub fn highest_equivalent(&self, value: u64) -> u64 {
        // Sets all bits below the bucket's own, because a sum could overflow.
        value | ((1 << self.shift(value)) - 1)
    }

    /// The buckets that are not empty, the lowest first.
    pub fn iter_recorded(&self) -> impl Iterator<Item = Recorded> + '_ {
        let counted = self.counts.iter().enumerate();
        counted
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| {
                let lowest = self.lowest_at(index);
                Recorded {
                    lowest,
                    highest: self.highest_equivalent(lowest),
                    count: *count,
                }
            })
    }

    /// log₂ of the width of the bucket of a value.
    fn shift(&self, value: u64) -> u32 {
        (u64::BITS - value.leading_zeros()).saturating_sub(self.half_bits + 1)
    }

    /// The index of a value's bucket in the counts.
    fn index(&self, value: u64) -> usize {
        let shift = self.shift(value);
        // Except for the smallest width only the upper half of the buckets is used: smaller values
        // have narrower buckets.
        ((u64::from(shift) << self.half_bits) + (value >> shift)) as usize
    }

    /// The smallest value of the bucket with this index.
    fn lowest_at(&self, index: usize) -> u64 {
        let index = index as u64;
        let shift = (index >> self.half_bits).saturating_sub(1);
        (index - (shift << self.half_bits)) << shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_have_a_bucket_of_their_own() {
        let mut histogram = Histogram::new(1_000_000, 3).unwrap();
        for value in [0, 1, 2_046, 2_047] {
            histogram.record(value);
        }
        let found: Vec<(u64, u64)> = histogram
            .iter_recorded()
            .map(|bucket| (bucket.lowest, bucket.highest))
            .collect();
        assert_eq!(found, [(0, 0), (1, 1), (2_046, 2_046), (2_047, 2_047)]);
        assert_eq!(histogram.counts().len(), 2_048);
    }

    #[test]
    fn a_bucket_doubles_its_width_with_every_doubling_of_its_values() {
        let histogram = Histogram::new(u64::MAX, 3).unwrap();
        for (value, lowest, median, highest) in [
            (2_048, 2_048, 2_049, 2_049),
            (4_095, 4_094, 4_095, 4_095),
            (4_097, 4_096, 4_098, 4_099),
            (1_000_000, 999_936, 1_000_192, 1_000_447),
        ] {
            assert_eq!(histogram.lowest_equivalent(value), lowest);
            assert_eq!(histogram.median_equivalent(value), median);
            assert_eq!(histogram.highest_equivalent(value), highest);
        }
        assert_eq!(histogram.highest_equivalent(u64::MAX), u64::MAX);
    }

    #[test]
    fn no_memory_is_taken_for_values_that_were_not_seen() {
        let mut histogram = Histogram::new(u64::MAX, 5).unwrap();
        assert!(histogram.is_empty() && histogram.counts().is_empty());
        histogram.record_many(7, 0);
        assert!(histogram.counts().is_empty());
        histogram.record_many(7, 3);
        assert_eq!(histogram.counts(), [0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(histogram.len(), 3);
    }

    #[test]
    fn a_value_beyond_the_highest_counts_as_the_highest() {
        let mut histogram = Histogram::new(10_000, 3).unwrap();
        histogram.record(1 << 60);
        let only: Vec<Recorded> = histogram.iter_recorded().collect();
        assert_eq!(only.len(), 1);
        assert!((only[0].lowest..=only[0].highest).contains(&10_000));
    }

    #[test]
    fn digits_that_a_histogram_cannot_keep_are_refused() {
        for digits in [0, 6, 255] {
            assert_eq!(Histogram::new(9, digits), Err(DigitsError(digits)));
        }
    }
}
