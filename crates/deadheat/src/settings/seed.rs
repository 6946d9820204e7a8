//! The seed of a run for which nobody chose one.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A seed nobody chose. Small enough to survive any JSON reader, which may
/// know no integers beyond 2^53.
pub fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ_and_are_small_enough_for_any_reader() {
        let seeds: Vec<u64> = (0..8).map(|_| random_seed()).collect();
        assert!(seeds.iter().all(|seed| *seed < 1 << 53), "{seeds:?}");
        assert!(seeds.iter().any(|seed| *seed != seeds[0]), "{seeds:?}");
    }
}
