//! Pointer chasing: every load needs the result of the load before it, so that memory's latency is all there is to see.
//!
//! Several chases at once, in lanes, need not wait for one another. How much is gained by one lane more depends on how many misses
//! the processor keeps in flight, and with many lanes on how many positions fit into registers.

use crate::random::SplitMix64;

/// The most lanes that [`chase`] can interleave.
pub const MOST_LANES: usize = 30;

/// Places that point to one another in a single random cycle; eight bytes each.
#[derive(Debug, Clone)]
pub struct Ring {
    /// Where each place points.
    next: Box<[usize]>,
    /// For each number of lanes, less one: where the lanes begin.
    starts: Vec<Vec<usize>>,
}

impl Ring {
    /// A cycle through `size` places that is decided by the seed.
    ///
    /// # Panics
    ///
    /// If `size` is 0, as an empty ring has nowhere to begin.
    pub fn new(seed: u64, size: usize) -> Self {
        assert!(size > 0, "a ring has at least one place");
        let mut random = SplitMix64::new(seed);
        let mut next: Box<[usize]> = (0..size).collect();
        // Sattolo's shuffle: never swapping a place with itself makes one cycle of all places, each such cycle equally likely.
        for place in (1..size).rev() {
            next.swap(place, random.index_below(place));
        }
        let starts = starts(&next);
        Self { next, starts }
    }

    /// The number of places.
    pub fn size(&self) -> usize {
        self.next.len()
    }
}

/// Where lanes begin, for every number of lanes: equally far apart along the cycle. A lane that trailed another closely would find
/// what it needs already in the cache.
fn starts(next: &[usize]) -> Vec<Vec<usize>> {
    let mut order = Vec::with_capacity(next.len());
    let mut place = 0;
    for _ in next {
        order.push(place);
        place = next[place];
    }
    (1..=MOST_LANES)
        .map(|lanes| {
            (0..lanes)
                .map(|lane| order[lane * order.len() / lanes])
                .collect()
        })
        .collect()
}

/// Follows the ring for `steps` loads altogether, divided among interleaved lanes, and answers with the sum of the places where the
/// lanes end.
///
/// The number of loads is the same for every number of lanes; where it does not divide evenly, the first lanes go one step further.
///
/// Every call begins where the last one began, so it takes the same way again. With as many steps as the ring has places, the lanes
/// together come by all of them; with far fewer, the way may lie in the cache however large the ring is.
///
/// # Panics
///
/// If `lanes` is not from 1 to [`MOST_LANES`].
#[inline(never)]
pub fn chase(ring: &Ring, lanes: usize, steps: usize) -> usize {
    assert!(
        (1..=MOST_LANES).contains(&lanes),
        "{lanes} lanes, where 1 to {MOST_LANES} are possible"
    );
    CHASES[lanes - 1](ring, steps)
}

/// A compiled loop for each number of lanes: a loop over lanes that the compiler does not know would keep all positions in memory, and
/// each load would wait for a store.
const CHASES: [fn(&Ring, usize) -> usize; MOST_LANES] = [
    chase_in::<1>,
    chase_in::<2>,
    chase_in::<3>,
    chase_in::<4>,
    chase_in::<5>,
    chase_in::<6>,
    chase_in::<7>,
    chase_in::<8>,
    chase_in::<9>,
    chase_in::<10>,
    chase_in::<11>,
    chase_in::<12>,
    chase_in::<13>,
    chase_in::<14>,
    chase_in::<15>,
    chase_in::<16>,
    chase_in::<17>,
    chase_in::<18>,
    chase_in::<19>,
    chase_in::<20>,
    chase_in::<21>,
    chase_in::<22>,
    chase_in::<23>,
    chase_in::<24>,
    chase_in::<25>,
    chase_in::<26>,
    chase_in::<27>,
    chase_in::<28>,
    chase_in::<29>,
    chase_in::<30>,
];

fn chase_in<const LANES: usize>(ring: &Ring, steps: usize) -> usize {
    let next = &*ring.next;
    let mut places = [0; LANES];
    places.copy_from_slice(&ring.starts[LANES - 1]);
    for _ in 0..steps / LANES {
        for place in &mut places {
            *place = next[*place];
        }
    }
    for place in &mut places[..steps % LANES] {
        *place = next[*place];
    }
    places.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_one_cycle_through_every_place() {
        for size in [1, 2, 3, 64, 1_000] {
            let ring = Ring::new(11, size);
            assert_eq!(ring.size(), size);
            let mut visited = vec![false; size];
            let mut place = 0;
            for _ in 0..size {
                assert!(!visited[place], "{size}: back at {place} too early");
                visited[place] = true;
                place = ring.next[place];
            }
            assert_eq!(place, 0);
        }
    }

    #[test]
    fn every_cycle_of_four_places_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            *counts.entry(Ring::new(seed, 4).next).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|count| (850..1_150).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn one_lane_is_home_after_as_many_steps_as_there_are_places() {
        let ring = Ring::new(12, 100);
        assert_eq!(chase(&ring, 1, 0), 0);
        assert_ne!(chase(&ring, 1, 99), 0);
        assert_eq!(chase(&ring, 1, 100), 0);
    }

    #[test]
    fn lanes_share_all_steps_among_them() {
        let ring = Ring::new(13, 1_000);
        for lanes in 1..=MOST_LANES {
            for steps in [0, 1, lanes - 1, lanes, lanes + 1, 12_345] {
                let mut expected = 0;
                let mut taken = 0;
                for lane in 0..lanes {
                    let mut place = ring.starts[lanes - 1][lane];
                    for _ in (lane..steps).step_by(lanes) {
                        place = ring.next[place];
                        taken += 1;
                    }
                    expected += place;
                }
                assert_eq!(taken, steps);
                assert_eq!(chase(&ring, lanes, steps), expected, "{lanes} lanes");
            }
        }
    }

    #[test]
    fn lanes_begin_equally_far_apart() {
        let ring = Ring::new(14, 900);
        // Each of thirty lanes reaches the start of the lane before it after 900 / 30 steps.
        let starts = &ring.starts[MOST_LANES - 1];
        for (lane, start) in starts.iter().enumerate() {
            let end = (0..30).fold(*start, |place, _| ring.next[place]);
            assert_eq!(end, starts[(lane + 1) % MOST_LANES]);
        }
    }

    #[test]
    #[should_panic(expected = "31 lanes, where 1 to 30 are possible")]
    fn more_lanes_than_there_are_loops_for_are_refused() {
        chase(&Ring::new(15, 10), 31, 100);
    }

    #[test]
    #[should_panic(expected = "a ring has at least one place")]
    fn an_empty_ring_is_refused() {
        Ring::new(16, 0);
    }
}
