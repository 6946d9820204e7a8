//! The seeds of neutral links, in the order a run draws them.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::by_replicate::ByReplicate;
use crate::random::{Purpose, below, stream};

/// Seeds lie between 1 and this: so many that no two runs draw the same, so
/// few that people can read them.
///
/// Once all runs drew from the same 64, so that links of earlier runs were
/// found again. A program raced against itself eleven times was then slower
/// five times: its 64 places were .33 % off the mean of all places, and every
/// run saw the same 64.
const LARGEST: u64 = 999_999_999;

/// Which seed a replicate has.
#[derive(Clone, Debug)]
pub(super) struct Seeds {
    rng: Xoshiro256PlusPlus,
    /// Of the planned replicates, from the beginning.
    planned: Vec<u32>,
    /// The seeds that replicates have now.
    given: ByReplicate<u32>,
    /// Seeds that are or were somebody's, rising.
    used: Vec<u32>,
}

impl Seeds {
    /// Those of one executable, which `place` tells from the others of the
    /// run: two builds draw independently.
    pub(super) fn new(seed: u64, place: [u64; 3], max_replicates: u32) -> Self {
        let mut seeds = Self {
            rng: stream(seed, Purpose::Placement, place),
            planned: Vec::new(),
            given: ByReplicate::new(),
            used: Vec::new(),
        };
        for _ in 0..max_replicates {
            let next = seeds.draw();
            seeds.planned.push(next);
        }
        seeds
    }

    /// The seed of a replicate.
    pub(super) fn of(&mut self, replicate: u32) -> u32 {
        if let Some(seed) = self.given.get(replicate) {
            return *seed;
        }
        let planned = self.planned.get(replicate as usize).copied();
        let seed = planned
            .filter(|seed| !self.is_used(*seed))
            .unwrap_or_else(|| self.draw());
        self.give(replicate, seed);
        seed
    }

    /// Another seed for a replicate, which nobody has had yet.
    pub(super) fn replace(&mut self, replicate: u32) {
        let seed = self.draw();
        self.give(replicate, seed);
    }

    /// A replicate has this seed, and nobody else will.
    pub(super) fn give(&mut self, replicate: u32, seed: u32) {
        self.given.insert(replicate, seed);
        self.use_up(seed);
    }

    /// Nobody will have this seed.
    #[cfg(feature = "commands")]
    pub(super) fn strike(&mut self, seed: u32) {
        self.use_up(seed);
    }

    fn is_used(&self, seed: u32) -> bool {
        self.used.binary_search(&seed).is_ok()
    }

    fn use_up(&mut self, seed: u32) {
        if let Err(place) = self.used.binary_search(&seed) {
            self.used.insert(place, seed);
        }
    }

    /// A seed that is nobody's and that no replicate waits for.
    fn draw(&mut self) -> u32 {
        loop {
            let seed = 1 + below(&mut self.rng, LARGEST) as u32;
            if !self.is_used(seed) && !self.planned.contains(&seed) {
                return seed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn first(seeds: &mut Seeds, count: u32) -> Vec<u32> {
        (0..count).map(|replicate| seeds.of(replicate)).collect()
    }

    #[test]
    fn every_replicate_has_a_seed_and_no_two_the_same() {
        for most in [6, 40, 64, 100] {
            let seeds = first(&mut Seeds::new(7, [0, 0, 0], most), most);
            let distinct: BTreeSet<u32> = seeds.iter().copied().collect();
            assert_eq!(distinct.len(), most as usize);
            let largest = LARGEST as u32;
            assert!(distinct.iter().all(|seed| (1..=largest).contains(seed)));
        }
    }

    #[test]
    fn the_seed_of_the_run_decides_and_executables_draw_independently() {
        let draw = |seed, place| first(&mut Seeds::new(seed, place, 40), 40);
        assert_eq!(draw(7, [0, 0, 0]), draw(7, [0, 0, 0]));
        for other in [draw(8, [0, 0, 0]), draw(7, [0, 1, 0])] {
            let ours = draw(7, [0, 0, 0]);
            assert!(ours.iter().all(|seed| !other.contains(seed)));
        }
    }

    #[test]
    fn a_replaced_seed_takes_nobody_elses_place() {
        let untouched = first(&mut Seeds::new(7, [0, 0, 0], 40), 40);
        let mut seeds = Seeds::new(7, [0, 0, 0], 40);
        let refused = seeds.of(3);
        seeds.replace(3);
        let seeds = first(&mut seeds, 40);
        for (replicate, seed) in untouched.iter().enumerate() {
            assert_eq!(seeds[replicate] == *seed, replicate != 3);
        }
        assert!(!seeds.contains(&refused));
    }

    #[test]
    fn seeds_never_run_out() {
        let mut seeds = Seeds::new(7, [0, 0, 0], 64);
        let mut seen: BTreeSet<u32> = first(&mut seeds, 64).into_iter().collect();
        for _ in 0..100 {
            seeds.replace(5);
            assert!(seen.insert(seeds.of(5)));
        }
        assert!(seen.insert(seeds.of(64)), "a replicate nobody planned");
    }

    #[cfg(feature = "commands")]
    #[test]
    fn what_an_earlier_sitting_used_is_not_drawn_again() {
        let mut seeds = Seeds::new(7, [0, 0, 0], 40);
        let theirs = seeds.clone().of(1);
        seeds.give(0, theirs);
        seeds.strike(seeds.clone().of(2));
        let seeds = first(&mut seeds, 40);
        assert_eq!(seeds[0], theirs);
        let distinct: BTreeSet<u32> = seeds.iter().copied().collect();
        assert_eq!(distinct.len(), 40);
    }
}
