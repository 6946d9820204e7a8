//! The histogram agrees with the crate that ports the original.

use deadheat_stats::hdr::{Histogram, Recorded};
use proptest::prelude::*;

/// With a larger maximum the other crate rejects few digits.
const HIGHEST: u64 = 1 << 62;

/// Values of all sizes, not only the large ones that dominate uniform draws, and often powers of
/// two, at which buckets begin, and their neighbours.
fn value() -> impl Strategy<Value = u64> {
    let anywhere = (any::<u64>(), 2u32..64).prop_map(|(bits, shift)| bits >> shift);
    let edge = (0u32..62, -2i64..3).prop_map(|(power, beside)| {
        let near = (1i64 << power) + beside;
        near.max(0).cast_unsigned()
    });
    prop_oneof![3 => anywhere, 1 => edge]
}

fn recorded() -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::vec((value(), 1u64..1000), 1..60)
}

fn both(digits: u8, values: &[(u64, u64)]) -> (Histogram, hdrhistogram::Histogram<u64>) {
    let largest = values.iter().map(|(value, _)| *value).max().unwrap_or(0);
    let highest = largest.clamp(2, HIGHEST);
    let mut own = Histogram::new(highest, digits).unwrap();
    let mut other = hdrhistogram::Histogram::new_with_bounds(1, highest, digits).unwrap();
    for (value, count) in values {
        own.record_many(*value, *count);
        other.record_n(*value, *count).unwrap();
    }
    (own, other)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_count_stands_in_the_same_place(digits in 1u8..=5, values in recorded()) {
        let (own, other) = both(digits, &values);
        prop_assert_eq!(own.len(), other.len());
        let mut all: Vec<u64> = other.iter_all().map(|bucket| bucket.count_at_value()).collect();
        all.truncate(1 + all.iter().rposition(|count| *count > 0).unwrap());
        prop_assert!(own.counts() == all, "{} counts, {} expected", own.counts().len(), all.len());
    }

    #[test]
    fn the_same_values_count_as_one(digits in 1u8..=5, value in value()) {
        let (own, other) = both(digits, &[(value, 1), (HIGHEST, 1)]);
        prop_assert_eq!(own.lowest_equivalent(value), other.lowest_equivalent(value));
        prop_assert_eq!(own.median_equivalent(value), other.median_equivalent(value));
        prop_assert_eq!(own.highest_equivalent(value), other.highest_equivalent(value));
    }

    #[test]
    fn the_same_buckets_hold_something(digits in 1u8..=5, values in recorded()) {
        let (own, other) = both(digits, &values);
        let own: Vec<Recorded> = own.iter_recorded().collect();
        let other: Vec<Recorded> = other
            .iter_recorded()
            .map(|bucket| Recorded {
                lowest: other.lowest_equivalent(bucket.value_iterated_to()),
                highest: other.highest_equivalent(bucket.value_iterated_to()),
                count: bucket.count_at_value(),
            })
            .collect();
        prop_assert_eq!(own, other);
    }
}
