//! Which blocks may be dropped, on evidence from outside the code under test and never on their value.

use crate::dist::binomial_two_sided_p;

/// Flag rates of the two sides that differ at this level mean that the flag is not innocent.
pub const RATES_DIFFER_P: f64 = 0.01;

/// No more than this share of the blocks may go.
pub const MOST_DROPPED: f64 = 0.2;

/// How many slots of a block carry evidence of disturbance (pre-empted, migrated), by role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockFlags {
    /// Flagged slots of the baseline.
    pub baseline_flagged: u32,
    /// Flagged slots of the candidate.
    pub candidate_flagged: u32,
    /// All slots of the baseline.
    pub baseline_slots: u32,
    /// All slots of the candidate.
    pub candidate_slots: u32,
}

/// Which blocks to leave out.
#[derive(Debug, Clone, PartialEq)]
pub enum Dropping {
    /// No block was flagged.
    None,
    /// These blocks, by index, ascending.
    Drop(Vec<usize>),
    /// Blocks were flagged, but leaving them out could bias the result.
    KeepAll(KeepReason),
}

/// Why flagged blocks stay in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeepReason {
    /// One side is flagged more often than the other: the flag may be an effect of the code.
    RatesDiffer {
        /// The exact binomial p-value, two-sided.
        p: f64,
    },
    /// More than a fifth of the blocks would go.
    TooMany {
        /// The share that would.
        share: f64,
    },
}

/// Drops every block with a flagged slot, whole, so that the rest stay paired; unless the two sides were flagged at
/// different rates (exact binomial test of the candidate's flags given all flags, p < 0.01) or more than 20 % of the
/// blocks would go.
pub fn keep_or_drop(flags: &[BlockFlags]) -> Dropping {
    let flagged: Vec<usize> = (0..flags.len())
        .filter(|&block| flags[block].baseline_flagged > 0 || flags[block].candidate_flagged > 0)
        .collect();
    if flagged.is_empty() {
        return Dropping::None;
    }
    let total = |count: fn(&BlockFlags) -> u32| {
        flags
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
    let share = flagged.len() as f64 / flags.len() as f64;
    if share > MOST_DROPPED {
        return Dropping::KeepAll(KeepReason::TooMany { share });
    }
    Dropping::Drop(flagged)
}

/// The exact two-sided p-value that two rates are equal, given the number of events on both sides together: the
/// candidate's are then Binomial(all, its share of the chances). `None` when there was no event or a side had no chance.
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

#[cfg(test)]
mod tests {
    use super::*;

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
        // Three times the slots, three times the flags: the rates are equal.
        assert_eq!(rates_differ_p(30, 10, 300, 100), Some(1.0));
        assert!(rates_differ_p(10, 30, 300, 100).unwrap() < 1e-6);
        assert_eq!(rates_differ_p(0, 0, 300, 100), None);
        assert_eq!(rates_differ_p(5, 0, 300, 0), None);
    }
}
