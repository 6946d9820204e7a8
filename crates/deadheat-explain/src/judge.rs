//! Judges what a change of counts means for a change of time.

use deadheat::parts::model::Verdict;

use crate::explanation::{Finding, WallChange};
use crate::profile::ProfileUnit;

/// The smallest share of a change of time that the change of work must explain to count as its
/// cause. Both changes are logarithms.
const WORK: f64 = 0.5;
/// The smallest share of a change of time that the change of work must explain to count as a part
/// of its cause. Both changes are logarithms.
const NOT_WORK: f64 = 0.25;

/// The logarithm of a change of work that a race cannot detect. Even the length of a program's name
/// changes the number of instructions.
const HARDLY: f64 = 0.000_1;

/// Returns what the total counts of both sides mean for the change of time.
pub fn finding(totals: [u64; 2], unit: ProfileUnit, wall: Option<&WallChange>) -> Finding {
    let differ = unit.differ(totals);
    let Some(wall) = wall else {
        return if differ {
            Finding::OtherWork
        } else {
            Finding::SameWork
        };
    };
    let work = match totals {
        _ if !differ => 0.0,
        [0, 0] => 0.0,
        [0, _] => f64::INFINITY,
        [_, 0] => f64::NEG_INFINITY,
        [old, new] => (new as f64 / old as f64).ln(),
    };
    if !matches!(wall.verdict, Verdict::Faster | Verdict::Slower) {
        return if work.abs() < HARDLY {
            Finding::Nothing
        } else {
            Finding::NotSeenInTime
        };
    }
    let time = wall.change.ln_1p();
    if unit.is_sampled() && !differ {
        // Three standard deviations of the logarithm of the ratio of these counts.
        let [old, new] = totals.map(|total| 1.0 / total as f64);
        if 3.0 * (old + new).sqrt() >= NOT_WORK * time.abs() {
            return Finding::Unclear;
        }
    }
    match work / time {
        share if share >= WORK => Finding::Work,
        share if share >= NOT_WORK => Finding::PartlyWork,
        share if share > -NOT_WORK => Finding::NotWork,
        _ => Finding::AgainstWork,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meaning_depends_on_how_much_of_the_time_the_work_accounts_for() {
        let wall = |change, verdict| WallChange {
            change,
            interval: None,
            verdict,
        };
        let slower = wall(0.041, Verdict::Slower);
        for (totals, wall, expected) in [
            ([100, 100], None, Finding::SameWork),
            ([100, 101], None, Finding::OtherWork),
            ([10_000, 10_002], Some(slower), Finding::NotWork),
            ([10_000, 10_400], Some(slower), Finding::Work),
            ([10_000, 20_000], Some(slower), Finding::Work),
            ([10_000, 10_150], Some(slower), Finding::PartlyWork),
            ([10_000, 9_000], Some(slower), Finding::AgainstWork),
            ([0, 5], Some(slower), Finding::Work),
            ([5, 0], Some(slower), Finding::AgainstWork),
            ([0, 0], Some(slower), Finding::NotWork),
            ([100, 90], Some(wall(-0.1, Verdict::Faster)), Finding::Work),
            (
                [100, 120],
                Some(wall(-0.1, Verdict::Faster)),
                Finding::AgainstWork,
            ),
            (
                [100, 120],
                Some(wall(0.0, Verdict::Equivalent)),
                Finding::NotSeenInTime,
            ),
            (
                [1_000_000, 1_000_014],
                Some(wall(0.0, Verdict::Inconclusive)),
                Finding::Nothing,
            ),
        ] {
            assert_eq!(
                finding(totals, ProfileUnit::Instructions, wall.as_ref()),
                expected,
                "{totals:?} {wall:?}"
            );
        }
    }

    #[test]
    fn samples_tell_a_cause_only_where_they_are_enough_for_it() {
        let wall = |change, verdict| WallChange {
            change,
            interval: None,
            verdict,
        };
        let slower = wall(0.2, Verdict::Slower);
        for (totals, wall, expected) in [
            ([1000, 1100], None, Finding::SameWork),
            ([1000, 1200], None, Finding::OtherWork),
            ([1000, 1100], Some(slower), Finding::Unclear),
            ([0, 0], Some(slower), Finding::Unclear),
            ([100_000, 100_100], Some(slower), Finding::NotWork),
            ([1000, 1200], Some(slower), Finding::Work),
            ([1000, 800], Some(slower), Finding::AgainstWork),
            (
                [1000, 1100],
                Some(wall(0.0, Verdict::Equivalent)),
                Finding::Nothing,
            ),
        ] {
            let found = finding(totals, ProfileUnit::InstructionSamples, wall.as_ref());
            assert_eq!(found, expected, "{totals:?} {wall:?}");
        }
    }
}
