//! How many of the ways to deal values out to two samples give a U so small.

/// Without ties: no more pairs than this are counted.
const MOST_PAIRS: usize = 1_000_000;

/// Without ties: no more arrangements than this are counted, so that every sum of counts is a whole number of 128 bits.
const MOST_ARRANGEMENTS: f64 = 1.7e38;

/// With ties: no more pairs than this are counted; the work grows with their square.
const MOST_TIED_PAIRS: usize = 65 * 65;

/// The ways to choose which n of n + m values are the first sample's: (n + m)!/(n! m!). Exact below 2⁵³, an infinity
/// for the largest samples.
pub(super) fn arrangements(n: usize, m: usize) -> f64 {
    let (few, many) = (n.min(m), n.max(m));
    let mut ways = 1.0;
    for i in 1..=few {
        ways *= (many + i) as f64 / i as f64;
        if ways.is_infinite() {
            break;
        }
        // Every partial product is a binomial coefficient itself.
        if ways < 1e15 {
            ways = ways.round();
        }
    }
    ways
}

/// The number of arrangements of n + m different values with U = 0, 1, …, `most`, which is at most nm/2 or so. `None`
/// where they are too many to count.
///
/// Their generating function is the Gaussian binomial coefficient ∏(1 − q^{m+i})/(1 − q^i), i = 1 … n (Mann & Whitney
/// 1947): one pass for each factor. Intermediate values may leave 128 bits, but the arithmetic is modulo 2¹²⁸, in which
/// 1 − q^i has an inverse, and the result is smaller than that: nothing is rounded, so that small tails are exact.
pub(super) fn count_untied(n: usize, m: usize, most: usize) -> Option<Vec<u128>> {
    let (few, many) = (n.min(m), n.max(m));
    let pairs = few.checked_mul(many)?;
    if pairs > MOST_PAIRS || arrangements(n, m) > MOST_ARRANGEMENTS {
        return None;
    }
    let mut counts = vec![0_u128; most.min(pairs) + 1];
    counts[0] = 1;
    for i in 1..=few {
        for u in (many + i..counts.len()).rev() {
            counts[u] = counts[u].wrapping_sub(counts[u - many - i]);
        }
        for u in i..counts.len() {
            counts[u] = counts[u].wrapping_add(counts[u - i]);
        }
    }
    Some(counts)
}

/// The number of arrangements with 2U ≤ `twice_most`, for values that come in groups of equal ones of the given sizes,
/// from the end at which U is small. `None` where they are too many to count.
///
/// Goes through the groups in order and keeps, for each number of values dealt to the first sample so far and each 2U,
/// the number of ways to come there. Only positive numbers are added, so that small tails keep their digits.
pub(super) fn count_tied(
    groups: impl Iterator<Item = usize>,
    n: usize,
    m: usize,
    twice_most: usize,
) -> Option<f64> {
    if n.checked_mul(m)? > MOST_TIED_PAIRS {
        return None;
    }
    let width = twice_most + 1;
    let mut ways = vec![0.0; (n + 1) * width];
    ways[0] = 1.0;
    let mut seen = 0_usize;
    for size in groups {
        // From the top, so that what a row passes on is what it held before this group.
        for dealt in (seen.saturating_sub(m)..=seen.min(n)).rev() {
            let other = seen - dealt;
            // 2U is 2·dealt·other at most, and will grow by 2·(n − dealt)·other at least.
            let Some(most) = twice_most.checked_sub(2 * (n - dealt) * other) else {
                continue;
            };
            let reached = most.min(2 * dealt * other) + 1;
            let mut choices = 1.0;
            for more in 1..=size.min(n - dealt) {
                choices *= (size - more + 1) as f64 / more as f64;
                // `more` values above `other` ones of the second sample, and half above those of their own group.
                let step = more * (2 * other + size - more);
                let (here, there) = ways.split_at_mut((dealt + more) * width);
                let row = &here[dealt * width..][..reached];
                let to = &mut there[step.min(width)..width];
                to.iter_mut().zip(row).for_each(|(t, w)| *t += choices * w);
            }
        }
        seen += size;
    }
    Some(ways[n * width..].iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_counting_agree_where_nothing_is_tied() {
        for (n, m) in [(1, 1), (1, 9), (4, 4), (7, 12), (12, 7), (30, 30), (65, 65)] {
            for most in [0, 1, n * m / 3, n * m / 2] {
                let counts = count_untied(n, m, most).unwrap();
                let by_group = count_tied((0..n + m).map(|_| 1), n, m, 2 * most).unwrap();
                let sum = counts.into_iter().sum::<u128>() as f64;
                assert!((sum / by_group - 1.0).abs() < 1e-13, "{n} {m} {most}");
            }
        }
    }

    #[test]
    fn all_counts_together_are_all_arrangements() {
        for (n, m) in [
            (1, 1),
            (3, 5),
            (20, 20),
            (65, 65),
            (8, 5_000),
            (1, 1_000_000),
        ] {
            let all: u128 = count_untied(n, m, n * m).unwrap().into_iter().sum();
            assert!(
                (all as f64 / arrangements(n, m) - 1.0).abs() < 1e-13,
                "{n} {m}"
            );
        }
    }

    #[test]
    fn what_is_too_much_is_refused_before_it_is_begun() {
        assert_eq!(count_untied(66, 66, 10), None);
        assert_eq!(count_untied(2, 500_001, 10), None);
        assert_eq!(count_untied(usize::MAX, 2, 10), None);
        assert_eq!(count_tied([132].into_iter(), 66, 66, 10), None);
        assert!(arrangements(100_000, 100_000).is_infinite());
    }
}
