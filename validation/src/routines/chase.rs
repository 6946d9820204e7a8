//! Pointer chasing through far more memory than the nearer caches hold, in
//! lanes that need not wait for one another.
//!
//! Every place has a cache line of its own, so that a lap through all of them
//! asks for every line of the array once, in an order nobody foresees. A walk
//! goes on where the last one ended: were it to begin anew, its way would
//! soon lie in a cache.

use std::sync::{Mutex, OnceLock, PoisonError};

use deadheat_examples::random::SplitMix64;

/// The array, in MiB.
pub const MIB: usize = 256;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Steps of a walk: a quarter of a lap, which takes one lane a fraction of a
/// second.
pub const STEPS: usize = MIB * (1 << 20) / LINE / 4;

/// The numbers of lanes that are measured.
pub const LANES: [usize; 10] = [1, 2, 3, 5, 8, 12, 16, 20, 25, 30];

/// The name of a chase in so many lanes.
pub fn name(lanes: usize) -> String {
    match lanes {
        1 => "chase, 1 lane".to_owned(),
        _ => format!("chase, {lanes} lanes"),
    }
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Place {
    next: u32,
}

/// Places that point to one another in a single random cycle.
pub struct Ring {
    places: Vec<Place>,
    /// For each number of lanes of [`LANES`]: where they are. They begin
    /// equally far apart along the cycle, so that in a lap they come together
    /// by every place.
    lanes: Vec<Mutex<Vec<u32>>>,
}

impl Ring {
    /// A cycle through so many places, decided by the seed.
    pub fn new(seed: u64, size: usize) -> Self {
        assert!(size_of::<Place>() == LINE && size > 0);
        let mut random = SplitMix64::new(seed);
        let mut order: Vec<u32> = (0..size).map(|place| place as u32).collect();
        for last in (1..size).rev() {
            order.swap(last, random.index_below(last + 1));
        }
        let mut places = vec![Place { next: 0 }; size];
        for (index, place) in order.iter().enumerate() {
            places[*place as usize].next = order[(index + 1) % size];
        }
        let apart = |lanes: usize| (0..lanes).map(|lane| order[lane * size / lanes]).collect();
        let lanes = LANES.into_iter().map(apart).map(Mutex::new).collect();
        Self { places, lanes }
    }

    /// The ring of this process: made once, when it is first asked for.
    pub fn of_this_process() -> &'static Self {
        static RING: OnceLock<Ring> = OnceLock::new();
        RING.get_or_init(|| Self::new(256, MIB * (1 << 20) / LINE))
    }

    /// Takes so many steps, divided among the lanes, from where these are, and
    /// answers with the sum of where they end.
    ///
    /// # Panics
    ///
    /// If `lanes` is none of [`LANES`].
    #[inline(never)]
    pub fn walk(&self, lanes: usize, steps: usize) -> u64 {
        let index = LANES.iter().position(|own| *own == lanes);
        let index = index.unwrap_or_else(|| panic!("no loop of {lanes} lanes"));
        let lanes = self.lanes[index].lock();
        let mut lanes = lanes.unwrap_or_else(PoisonError::into_inner);
        WALKS[index](self, &mut lanes, steps);
        lanes.iter().map(|lane| u64::from(*lane)).sum()
    }

    fn walk_in<const N: usize>(&self, all: &mut [u32], steps: usize) {
        let mut lanes = [0_u32; N];
        lanes.copy_from_slice(all);
        for _ in 0..steps / N {
            for lane in &mut lanes {
                *lane = self.places[*lane as usize].next;
            }
        }
        for lane in &mut lanes[..steps % N] {
            *lane = self.places[*lane as usize].next;
        }
        all.copy_from_slice(&lanes);
    }
}

/// A compiled loop for each number of lanes, so that positions can stay in
/// registers.
const WALKS: [fn(&Ring, &mut [u32], usize); LANES.len()] = [
    Ring::walk_in::<1>,
    Ring::walk_in::<2>,
    Ring::walk_in::<3>,
    Ring::walk_in::<5>,
    Ring::walk_in::<8>,
    Ring::walk_in::<12>,
    Ring::walk_in::<16>,
    Ring::walk_in::<20>,
    Ring::walk_in::<25>,
    Ring::walk_in::<30>,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_one_cycle_through_every_place() {
        for size in [1, 2, 3, 64, 1_000] {
            let ring = Ring::new(11, size);
            let mut visited = vec![false; size];
            let mut place = 0;
            for _ in 0..size {
                assert!(!visited[place], "{size}: back at {place} too early");
                visited[place] = true;
                place = ring.places[place].next as usize;
            }
            assert_eq!(place, 0);
        }
    }

    fn sum(ring: &Ring, index: usize) -> u64 {
        let lanes = ring.lanes[index].lock().unwrap();
        lanes.iter().map(|lane| u64::from(*lane)).sum()
    }

    #[test]
    fn a_lap_in_several_walks_ends_where_the_next_lane_began() {
        let ring = Ring::new(12, 1_200);
        for (index, lanes) in LANES.into_iter().enumerate() {
            if 1_200 % (4 * lanes) == 0 {
                let begun = sum(&ring, index);
                for _ in 0..3 {
                    assert_ne!(ring.walk(lanes, 300), begun, "{lanes} lanes");
                }
                assert_eq!(ring.walk(lanes, 300), begun, "{lanes} lanes");
            }
        }
    }

    #[test]
    fn lanes_take_all_steps_where_they_do_not_divide_evenly() {
        let ring = Ring::new(14, 1_000);
        let begun = ring.lanes[2].lock().unwrap().clone();
        let step = |place: u32| ring.places[place as usize].next;
        let expected: u64 = begun
            .iter()
            .zip([34, 33, 33])
            .map(|(start, steps)| (0..steps).fold(*start, |place, _| step(place)))
            .map(u64::from)
            .sum();
        assert_eq!(ring.walk(3, 100), expected);
    }
}
