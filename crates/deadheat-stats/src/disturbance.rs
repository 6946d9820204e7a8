//! Evidence of disturbance: which blocks may be dropped, how often each side is very slow, and
//! whether peaks prefer one direction.
//!
//! Blocks are dropped on evidence from outside the code under test, never because of their value.
//! The slow samples and the peaks are only reported, and drop no block. A disturbance from outside
//! the code, such as an interrupt, hits either side of a pair with equal probability, so it raises
//! the difference as often as it lowers it. Peaks that prefer one direction therefore come from the
//! code. How often a side is very slow is reported because a robust estimate rightly ignores it,
//! but a reader should know.

use crate::dist::binomial_two_sided_p;
use crate::summary::{all_finite, median, scaled_mad};

/// The significance level at which the two sides count as disturbed at different rates. The code
/// itself may then cause the disturbance, so all blocks are kept.
pub const RATES_DIFFER_P: f64 = 0.01;

/// The largest share of the blocks that may be dropped because of disturbance.
pub const MOST_DROPPED: f64 = 0.2;

/// Numbers of slots of a block with evidence of disturbance (pre-emption, migration), by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockFlags {
    /// Number of slots of the baseline with evidence of disturbance.
    pub baseline_flagged: u32,
    /// Number of slots of the candidate with evidence of disturbance.
    pub candidate_flagged: u32,
    /// Number of all slots of the baseline.
    pub baseline_slots: u32,
    /// Number of all slots of the candidate.
    pub candidate_slots: u32,
}

/// The decision on which blocks to drop.
#[derive(Debug, Clone, PartialEq)]
pub enum Dropping {
    /// No block was flagged.
    None,
    /// The blocks with these indices are dropped; ascending.
    Drop(Vec<usize>),
    /// Blocks were flagged as disturbed, but they are kept, because dropping them could bias the
    /// result.
    KeepAll(KeepReason),
}

/// The reason why blocks that were flagged as disturbed are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeepReason {
    /// One side is flagged more often than the other: the flag may be an effect of the code.
    RatesDiffer {
        /// The exact two-sided binomial p-value of equal rates.
        p: f64,
    },
    /// More than a fifth of the blocks would be dropped.
    TooMany {
        /// The share of the blocks that would be dropped.
        share: f64,
    },
}

/// Drops every block with a flagged slot, whole, so that the remaining blocks stay paired. Keeps
/// all blocks if the two sides were flagged at different rates (exact binomial test of the
/// candidate's flags given all flags, p < 0.01) or if more than 20% of the blocks would be dropped.
pub fn keep_or_drop(flags: &[BlockFlags]) -> Dropping {
    let flagged = flagged_blocks(flags);
    if flagged.is_empty() {
        return Dropping::None;
    }
    decide(flagged, flags.len(), flags)
}

/// [`keep_or_drop`] for launches. A launch takes one slot in every block of its replicate, and
/// `sizes` are the numbers of blocks of the replicates. A launch that is flagged in all its blocks
/// counts as one event. Otherwise a single disturbed launch of eight blocks would count as eight
/// events of one side, and the rates of the two sides would seem to differ.
pub fn keep_or_drop_launches(flags: &[BlockFlags], sizes: &[usize]) -> Dropping {
    let mut rest = flags;
    let mut replicates = Vec::with_capacity(sizes.len());
    for size in sizes {
        let (blocks, others) = rest.split_at(rest.len().min(*size));
        rest = others;
        let most = |count: fn(&BlockFlags) -> u32| blocks.iter().map(count).max().unwrap_or(0);
        replicates.push(BlockFlags {
            baseline_flagged: most(|block| block.baseline_flagged),
            candidate_flagged: most(|block| block.candidate_flagged),
            baseline_slots: most(|block| block.baseline_slots),
            candidate_slots: most(|block| block.candidate_slots),
        });
    }
    match flagged_blocks(flags) {
        flagged if flagged.is_empty() => Dropping::None,
        flagged => decide(flagged, flags.len(), &replicates),
    }
}

fn flagged_blocks(flags: &[BlockFlags]) -> Vec<usize> {
    (0..flags.len())
        .filter(|&block| flags[block].baseline_flagged > 0 || flags[block].candidate_flagged > 0)
        .collect()
}

/// Decides whether to drop the `flagged` blocks among `blocks` blocks, from the events of both
/// sides.
fn decide(flagged: Vec<usize>, blocks: usize, events: &[BlockFlags]) -> Dropping {
    let total = |count: fn(&BlockFlags) -> u32| {
        events
            .iter()
            .map(|block| u64::from(count(block)))
            .sum::<u64>()
    };
    let p = rates_differ_p(
        total(|block| block.baseline_flagged),
        total(|block| block.candidate_flagged),
        total(|block| block.baseline_slots),
        total(|block| block.candidate_slots),
    );
    if let Some(p) = p.filter(|&p| p < RATES_DIFFER_P) {
        return Dropping::KeepAll(KeepReason::RatesDiffer { p });
    }
    let share = flagged.len() as f64 / blocks as f64;
    if share > MOST_DROPPED {
        return Dropping::KeepAll(KeepReason::TooMany { share });
    }
    Dropping::Drop(flagged)
}

/// The exact two-sided p-value of equal rates of events. `baseline_chances` and `candidate_chances`
/// are the numbers of observations. Given the total number of events, the candidate's number is
/// Binomial(total, candidate's share of the observations). `None` without events, or if a side has
/// no observations.
pub(crate) fn rates_differ_p(
    baseline_events: u64,
    candidate_events: u64,
    baseline_chances: u64,
    candidate_chances: u64,
) -> Option<f64> {
    let events = baseline_events + candidate_events;
    if events == 0 || baseline_chances == 0 || candidate_chances == 0 {
        return None;
    }
    let share = candidate_chances as f64 / (baseline_chances as f64 + candidate_chances as f64);
    Some(binomial_two_sided_p(candidate_events, events, share))
}

/// A sample is in the tail (very slow) if it takes longer than this many medians of all samples of
/// both sides.
pub const TAIL_FACTOR: f64 = 3.0;

/// Numbers of very slow samples of the two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// Number of very slow samples of the baseline.
    pub baseline_count: usize,
    /// Number of very slow samples of the candidate.
    pub candidate_count: usize,
    /// Number of all samples of the baseline.
    pub baseline_n: usize,
    /// Number of all samples of the candidate.
    pub candidate_n: usize,
    /// Exact two-sided binomial p-value of equal rates of very slow samples; `None` if there are
    /// none, a side is empty or a time is not finite.
    pub p: Option<f64>,
}

/// Counts the times beyond three times the pooled median of both sides, and compares the two rates
/// by the exact binomial test given the total (Przyborowski & Wilenski 1940). Times may be in any
/// one unit.
pub fn tail_rate(baseline: &[f64], candidate: &[f64]) -> Tail {
    let pooled: Vec<f64> = baseline.iter().chain(candidate).copied().collect();
    let limit = median(&pooled).map_or(f64::INFINITY, |middle| TAIL_FACTOR * middle);
    let slow = |times: &[f64]| times.iter().filter(|&&time| time > limit).count();
    let (baseline_count, candidate_count) = (slow(baseline), slow(candidate));
    let (baseline_n, candidate_n) = (baseline.len(), candidate.len());
    let p = rates_differ_p(
        baseline_count as u64,
        candidate_count as u64,
        baseline_n as u64,
        candidate_n as u64,
    );
    Tail {
        baseline_count,
        candidate_count,
        baseline_n,
        candidate_n,
        p: p.filter(|_| all_finite(&pooled)),
    }
}

/// A difference more than this many scaled MADs from the median is a peak; of normal differences,
/// one in 1.7 million is.
pub const PEAK_SCALES: f64 = 5.0;

/// The numbers of peaks among paired differences, by direction. A peak is a difference far from the
/// median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OppositePeaks {
    /// Differences far below the median: a disturbance hit the first of the pair.
    pub below: usize,
    /// Differences far above the median: a disturbance hit the second of the pair.
    pub above: usize,
    /// Exact two-sided binomial p-value of peaks being equally likely in both directions; `None`
    /// without peaks.
    pub p: Option<f64>,
}

/// Counts the paired differences (second − first) more than five scaled MADs below and above their
/// median, and compares the counts by the exact binomial test with ½ (the sign test of Dixon & Mood
/// 1946, on the peaks alone).
///
/// The limits are at equal distances from the median, because only then do differences that are
/// symmetric about it exceed both limits equally often. Tukey's fences follow the quartiles and
/// would turn a skewness of the bulk into a preferred direction of the peaks. Differences may be in
/// any one unit; log ratios are best. Peaks are assumed independent: a disturbance that lasts
/// several blocks makes p too small. Costs O(n).
///
/// `None` for an empty slice, a difference that is not finite, or a MAD of 0 (half of the
/// differences are then equal because the clock is too coarse, and every other difference would
/// count as a peak).
pub fn opposite_peaks(differences: &[f64]) -> Option<OppositePeaks> {
    let centre = median(differences)?;
    let scale = scaled_mad(differences).filter(|&mad| mad > 0.0)?;
    // Halved, because the difference of the largest numbers overflows.
    let limit = 0.5 * PEAK_SCALES * scale;
    let away = |d: &f64| 0.5 * d - 0.5 * centre;
    let below = differences.iter().filter(|d| away(d) < -limit).count();
    let above = differences.iter().filter(|d| away(d) > limit).count();
    let peaks = (below + above) as u64;
    let p = (peaks > 0).then(|| binomial_two_sided_p(above as u64, peaks, 0.5));
    Some(OppositePeaks { below, above, p })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::MAD_TO_SD;

    fn block(baseline_flagged: u32, candidate_flagged: u32) -> BlockFlags {
        BlockFlags {
            baseline_flagged,
            candidate_flagged,
            baseline_slots: 2,
            candidate_slots: 2,
        }
    }

    #[test]
    fn without_flags_there_is_nothing_to_drop() {
        assert_eq!(keep_or_drop(&[]), Dropping::None);
        assert_eq!(keep_or_drop(&[block(0, 0); 9]), Dropping::None);
    }

    #[test]
    fn a_few_flags_on_both_sides_cost_their_blocks() {
        let mut flags = vec![block(0, 0); 20];
        flags[3] = block(1, 0);
        flags[11] = block(0, 2);
        assert_eq!(keep_or_drop(&flags), Dropping::Drop(vec![3, 11]));
    }

    #[test]
    fn flags_that_favour_one_side_cost_nothing() {
        let mut flags = vec![block(0, 0); 100];
        flags[..10].fill(block(0, 1));
        let p = 2.0 / 1024.0;
        match keep_or_drop(&flags) {
            Dropping::KeepAll(KeepReason::RatesDiffer { p: found }) => {
                assert!((found - p).abs() < 1e-12)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_launch_is_one_event_however_many_blocks_it_is_flagged_in() {
        let mut flags = vec![block(0, 0); 80];
        flags[8..16].fill(block(0, 1));
        assert!(matches!(keep_or_drop(&flags), Dropping::KeepAll(_)));
        let dropping = |flags: &[BlockFlags]| keep_or_drop_launches(flags, &[8; 10]);
        assert_eq!(dropping(&flags), Dropping::Drop((8..16).collect()));
        flags[40..48].fill(block(0, 2));
        assert!(
            matches!(dropping(&flags), Dropping::Drop(_)),
            "3 launches of 20"
        );
        flags[72] = block(0, 1);
        assert_eq!(
            dropping(&flags),
            Dropping::KeepAll(KeepReason::TooMany { share: 17.0 / 80.0 })
        );
        assert_eq!(dropping(&[block(0, 0); 80]), Dropping::None);
    }

    #[test]
    fn launches_that_are_flagged_on_one_side_only_are_kept() {
        let mut flags = vec![block(0, 0); 100];
        flags[..8].fill(block(0, 1));
        // Eight launches of 200, all the candidate's.
        let p = 2.0 / 256.0;
        match keep_or_drop_launches(&flags, &[1; 100]) {
            Dropping::KeepAll(KeepReason::RatesDiffer { p: found }) => {
                assert!((found - p).abs() < 1e-12)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_disturbed_machine_keeps_all_its_blocks() {
        let mut flags = vec![block(0, 0); 10];
        flags[..3].fill(block(1, 1));
        assert_eq!(
            keep_or_drop(&flags),
            Dropping::KeepAll(KeepReason::TooMany { share: 0.3 })
        );
        flags[2] = block(0, 0);
        assert_eq!(keep_or_drop(&flags), Dropping::Drop(vec![0, 1]));
    }

    #[test]
    fn unequal_numbers_of_slots_are_allowed_for() {
        // Three times the slots and three times the flags: the rates are equal.
        assert_eq!(rates_differ_p(30, 10, 300, 100), Some(1.0));
        assert!(rates_differ_p(10, 30, 300, 100).unwrap() < 1e-6);
        assert_eq!(rates_differ_p(0, 0, 300, 100), None);
        assert_eq!(rates_differ_p(5, 0, 300, 0), None);
    }

    #[test]
    fn a_side_that_stalls_now_and_then_is_caught() {
        let baseline = [10.0; 100];
        let mut candidate = [10.0; 100];
        candidate[..10].fill(31.0);
        let tail = tail_rate(&baseline, &candidate);
        assert_eq!((tail.baseline_count, tail.candidate_count), (0, 10));
        assert!((tail.p.unwrap() - 2.0 / 1024.0).abs() < 1e-12);
    }

    #[test]
    fn exactly_three_medians_is_not_yet_slow() {
        let tail = tail_rate(&[10.0, 10.0, 30.0], &[10.0, 10.0]);
        assert_eq!((tail.baseline_count, tail.p), (0, None));
    }

    #[test]
    fn sides_with_the_same_tail_do_not_differ() {
        let tail = tail_rate(&[1.0, 1.0, 1.0, 9.0], &[1.0, 9.0, 1.0, 1.0]);
        assert_eq!(
            (tail.baseline_count, tail.candidate_count, tail.p),
            (1, 1, Some(1.0))
        );
    }

    #[test]
    fn missing_and_absurd_times_give_no_p_value() {
        assert_eq!(tail_rate(&[], &[]).p, None);
        assert_eq!(tail_rate(&[1.0], &[]).p, None);
        assert_eq!(tail_rate(&[1.0, 1.0], &[f64::NAN, 99.0]).p, None);
        assert_eq!(tail_rate(&[f64::MAX, f64::MAX], &[f64::MAX]).p, None);
    }

    /// Returns differences with median 0 and MAD 1, followed by a few `peaks`.
    fn quiet(peaks: &[f64]) -> Vec<f64> {
        let bulk = (-20..=20).map(|i| f64::from(i) / 10.0);
        bulk.chain(peaks.iter().copied()).collect()
    }

    #[test]
    fn peaks_in_both_directions_are_innocent() {
        let found = opposite_peaks(&quiet(&[90.0, -80.0, 70.0, -60.0])).unwrap();
        assert_eq!((found.below, found.above, found.p), (2, 2, Some(1.0)));
    }

    #[test]
    fn peaks_in_one_direction_are_the_codes_own() {
        let found = opposite_peaks(&quiet(&[90.0; 10])).unwrap();
        assert_eq!((found.below, found.above), (0, 10));
        assert!((found.p.unwrap() - 2.0 / 1024.0).abs() < 1e-15);
        let mirrored = opposite_peaks(&quiet(&[-90.0; 10])).unwrap();
        assert_eq!(
            (mirrored.below, mirrored.above, mirrored.p),
            (10, 0, found.p)
        );
    }

    #[test]
    fn three_of_one_kind_and_one_of_the_other_say_little() {
        let found = opposite_peaks(&quiet(&[9.0, 9.5, -9.0, 10.0])).unwrap();
        assert!((found.p.unwrap() - 0.625).abs() < 1e-14);
    }

    #[test]
    fn a_peak_lies_beyond_five_scaled_deviations() {
        // Median 0 and MAD 1 with any pair beyond them.
        let at = |away: f64| {
            opposite_peaks(&[
                -1.0,
                -1.0,
                0.0,
                1.0,
                1.0,
                100.0 + away,
                -100.0 - away,
                0.5,
                -0.5,
            ])
        };
        assert_eq!(at(0.0).unwrap().above, 1);
        let limit = 5.0 * MAD_TO_SD;
        let both = |size: f64| {
            let found =
                opposite_peaks(&[-1.0, -1.0, 0.0, 1.0, 1.0, size, -size, 0.5, -0.5]).unwrap();
            (found.below, found.above)
        };
        assert_eq!(both(limit), (0, 0));
        assert_eq!(both(limit * (1.0 + 1e-15)), (1, 1));
    }

    #[test]
    fn the_median_is_the_middle_of_the_count() {
        let shifted: Vec<f64> = quiet(&[90.0, 80.0, -70.0])
            .iter()
            .map(|d| d + 1000.0)
            .collect();
        let found = opposite_peaks(&shifted).unwrap();
        assert_eq!((found.below, found.above), (1, 2));
    }

    #[test]
    fn without_peaks_there_is_no_p_and_without_spread_no_peak() {
        let calm = opposite_peaks(&quiet(&[])).unwrap();
        assert_eq!((calm.below, calm.above, calm.p), (0, 0, None));
        for bad in [
            &[][..],
            &[0.1; 9][..],
            &[0.0, 0.0, 0.0, 7.0][..],
            &[1.0, f64::NAN][..],
            &[1.0, f64::INFINITY][..],
        ] {
            assert_eq!(opposite_peaks(bad), None);
        }
        let huge = [f64::MAX, -f64::MAX, 1.0, 2.0, 3.0, 4.0, 5.0];
        let found = opposite_peaks(&huge).unwrap();
        assert_eq!((found.below, found.above), (1, 1));
    }
}
