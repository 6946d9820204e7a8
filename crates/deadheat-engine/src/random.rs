//! Every random choice of a run, drawn from its one seed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The use of a stream of random numbers. Separate streams keep one
/// choice from shifting all others when a block is added or left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Order = 1,
    Padding = 2,
    WarmUp = 3,
    #[cfg(feature = "simulated")]
    Noise = 4,
    Input = 5,
    Process = 6,
    Core = 7,
    Placement = 8,
    Loading = 9,
    PathPadding = 10,
    Pages = 11,
    HashSeed = 12,
}

/// Returns the random number generator for one purpose at one place of the run, such as a block.
///
/// The numbers depend only on the seed, the purpose and the place. So block 1,000 can be drawn
/// without the 999 before it, and a resumed run continues as if it had never stopped.
pub(crate) fn stream(seed: u64, purpose: Purpose, place: [u64; 3]) -> Xoshiro256PlusPlus {
    let mut state = mix(seed ^ 0x6465_6164_6865_6174); // "deadheat"
    state = mix(state ^ purpose as u64);
    for coordinate in place {
        state = mix(state.rotate_left(17) ^ coordinate);
    }
    Xoshiro256PlusPlus::seed_from_u64(state)
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): each input bit
/// flips about half of the output bits.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(crate) fn coin(rng: &mut impl Rng) -> bool {
    rng.next_u64() >> 63 == 1
}

/// Returns a uniform random integer below `bound`, drawn by rejection and therefore without bias.
pub(crate) fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    debug_assert!(bound > 0);
    let limit = u64::MAX - u64::MAX % bound;
    loop {
        let draw = rng.next_u64();
        if draw < limit {
            return draw % bound;
        }
    }
}

/// Shuffles `items` in place; all permutations are equally likely (Fisher and Yates).
pub(crate) fn shuffle<T>(rng: &mut impl Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        let other = below(rng, last as u64 + 1) as usize;
        items.swap(last, other);
    }
}

/// Returns a uniform random number in the open interval (0, 1).
#[cfg(feature = "simulated")]
pub(crate) fn unit(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Returns a random number from the standard normal distribution (Box and Muller 1958).
#[cfg(feature = "simulated")]
pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    let radius = (-2.0 * unit(rng).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(rng)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_place_draws_the_same_numbers_and_another_place_others() {
        let draw = |seed, purpose, place| stream(seed, purpose, place).next_u64();
        let first = draw(7, Purpose::Order, [0, 1, 2]);
        assert_eq!(first, draw(7, Purpose::Order, [0, 1, 2]));
        assert_ne!(first, draw(8, Purpose::Order, [0, 1, 2]));
        assert_ne!(first, draw(7, Purpose::Padding, [0, 1, 2]));
        assert_ne!(first, draw(7, Purpose::Order, [0, 2, 1]));
    }

    #[test]
    fn a_shuffle_reaches_every_permutation_about_equally_often() {
        let mut rng = stream(3, Purpose::Order, [0, 0, 0]);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            shuffle(&mut rng, &mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|n| (850..1150).contains(n)),
            "{counts:?}"
        );
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut rng = stream(3, Purpose::Noise, [0, 0, 0]);
        let draws: Vec<f64> = (0..40_000).map(|_| normal(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / 40_000.0;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 40_000.0;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03);
    }
}
