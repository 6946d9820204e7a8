//! Counts that are read before and after everything else.

use super::control_group::Groups;
use super::memory::swapped_pages;
use super::root::Root;
use super::thermal::throttled;

/// What the kernel has counted so far.
pub(super) struct Totals {
    pub(super) swapped: Option<u64>,
    pub(super) throttled: Option<u64>,
    /// Nanoseconds.
    pub(super) held_back: Option<u64>,
}

impl Totals {
    pub(super) fn now(root: &Root, cores: &[u32], groups: Option<&Groups>) -> Self {
        let held_back = groups.and_then(|groups| groups.held_back(root));
        Self {
            swapped: root
                .text("proc/vmstat")
                .and_then(|text| swapped_pages(&text)),
            throttled: throttled(root, cores),
            held_back: held_back.map(|held| held.nanoseconds),
        }
    }
}

/// By how much a count has grown, where it was read both times.
pub(super) fn grown(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    let (before, after) = before.zip(after)?;
    Some(after.saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use super::super::root::fake::machine;
    use super::*;

    #[test]
    fn counts_grow_and_those_that_are_hidden_stay_so() {
        assert_eq!(grown(Some(3), Some(10)), Some(7));
        assert_eq!(grown(Some(3), Some(1)), Some(0), "it began anew");
        assert_eq!(grown(None, Some(1)), None);
        let (_folder, root) = machine(&[("proc/vmstat", "pswpin 1\npswpout 2\n")]);
        let totals = Totals::now(&root, &[0], None);
        assert_eq!(totals.swapped, Some(3));
        assert_eq!((totals.throttled, totals.held_back), (None, None));
    }
}
