//! The coverage of shift intervals, by seeded simulation of samples with a known shift.
//!
//! Sizes up to 40 use the exact distribution of U; 80 against 80 uses the approximation. The bounds
//! are binomial: the coverage of n runs may be three standard errors below the promise.

use deadheat_stats::rng::{normal, uniform};
use deadheat_stats::shift_interval;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const RUNS: usize = 3_000;
const LEVEL: f64 = 0.05;

/// A multiple of every grid below, so that shifted values stay on the grid.
const SHIFT: f64 = -1.0;

type Draw = fn(&mut Xoshiro256PlusPlus) -> f64;

fn bell(rng: &mut Xoshiro256PlusPlus) -> f64 {
    normal(rng)
}

/// Waiting times: positive, with a long tail.
fn skewed(rng: &mut Xoshiro256PlusPlus) -> f64 {
    -uniform(rng).ln()
}

/// A grid with steps of half a standard deviation.
fn grid(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (2.0 * normal(rng)).round() / 2.0
}

/// Three values, mostly the middle one.
fn coarse(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (0.8 * normal(rng)).round().clamp(-1.0, 1.0)
}

/// The number of runs in which the interval covers the shift.
fn held(n: usize, m: usize, draw: Draw, level: f64) -> usize {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64((100 * n + m) as u64);
    let holds = |_: &usize| {
        let first: Vec<f64> = (0..n).map(|_| draw(&mut rng)).collect();
        let second: Vec<f64> = (0..m).map(|_| draw(&mut rng) + SHIFT).collect();
        let (low, high) = shift_interval(&first, &second, level).expect("a level within reach");
        // Shifted values have the rounding error of the addition.
        low <= SHIFT + 1e-12 && SHIFT - 1e-12 <= high
    };
    (0..RUNS).filter(holds).count()
}

fn three_standard_errors(share: f64) -> f64 {
    3.0 * (RUNS as f64 * share * (1.0 - share)).sqrt()
}

#[test]
fn the_interval_keeps_its_promise_at_every_size_and_for_every_shape() {
    let promised = RUNS as f64 * (1.0 - LEVEL);
    for (n, m) in [
        (4, 4),
        (4, 11),
        (6, 5),
        (9, 9),
        (14, 20),
        (40, 4),
        (40, 40),
        (80, 80),
    ] {
        for (draw, name) in [
            (bell as Draw, "bell"),
            (skewed, "skewed"),
            (grid, "grid"),
            (coarse, "coarse"),
        ] {
            let held = held(n, m, draw, LEVEL) as f64;
            let least = promised - three_standard_errors(LEVEL);
            assert!(held >= least, "{name} {n} against {m}: {held} of {RUNS}");
        }
    }
}

#[test]
fn without_ties_it_promises_no_more_than_it_must() {
    // 4 against 4 exclude one of 70 arrangements on each side; larger samples get close to the
    // level.
    for (n, m, outside) in [(4, 4, 2.0 / 70.0), (40, 40, LEVEL), (80, 80, LEVEL)] {
        let held = held(n, m, skewed, LEVEL) as f64;
        let most =
            RUNS as f64 * (1.0 - outside) + three_standard_errors(outside) + 1e-3 * RUNS as f64;
        assert!(held <= most, "{n} against {m}: {held} of {RUNS}");
    }
}
