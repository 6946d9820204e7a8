//! How often the interval really holds the truth, by seeded simulation of runs whose truth is known.
//!
//! A block's effect is the true effect, plus a draw shared by its replicate (memory layout), plus noise of its own. The
//! bounds are binomial: a simulation of n runs may miss the promised share by four standard errors.

use deadheat_stats::rng::{normal, uniform};
use deadheat_stats::{Clusters, Floor, PooledEstimate, pooled_huber};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const RUNS: usize = 2_000;
const TRUTH: f64 = -0.01;
const LAYOUT_SD: f64 = 0.014;
const BLOCK_SD: f64 = 0.02;
const LEVEL: f64 = 0.05;

/// One block's noise.
type Noise = fn(&mut Xoshiro256PlusPlus) -> f64;

/// The interval in question.
type Interval = fn(&PooledEstimate, f64) -> Option<(f64, f64)>;

/// The interval meant for replicates of so many blocks.
fn interval_for(k: usize) -> Interval {
    if k == 1 {
        PooledEstimate::singleton_interval
    } else {
        PooledEstimate::interval
    }
}

fn quiet(rng: &mut Xoshiro256PlusPlus) -> f64 {
    BLOCK_SD * normal(rng)
}

/// Two slots in a hundred are pre-empted and take ten to a thousand times as long.
fn spiky(rng: &mut Xoshiro256PlusPlus) -> f64 {
    let mut noise = quiet(rng);
    for sign in [1.0, 1.0, -1.0, -1.0] {
        if uniform(rng) < 0.02 {
            noise += 0.5 * sign * (1.0 + 2.0 * uniform(rng)) * std::f64::consts::LN_10;
        }
    }
    noise
}

/// The share of simulated runs of P replicates of K blocks whose 95 % interval holds the truth.
fn coverage(p: usize, k: usize, noise: Noise, interval: Interval) -> f64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64((1_000 * p + k) as u64);
    let sizes = vec![k; p];
    let mut effects = Vec::with_capacity(p * k);
    let mut held = 0;
    for _ in 0..RUNS {
        effects.clear();
        for _ in 0..p {
            let layout = LAYOUT_SD * normal(&mut rng);
            effects.extend((0..k).map(|_| TRUTH + layout + noise(&mut rng)));
        }
        let clusters = Clusters::new(&effects, &sizes).unwrap();
        let found = pooled_huber(&clusters, Floor::default()).unwrap();
        let (low, high) = interval(&found, LEVEL).unwrap();
        held += usize::from(low <= TRUTH && TRUTH <= high);
    }
    held as f64 / RUNS as f64
}

/// Four binomial standard errors below the promise.
fn least(promise: f64) -> f64 {
    promise - 4.0 * (promise * (1.0 - promise) / RUNS as f64).sqrt()
}

#[track_caller]
fn covers(p: usize, k: usize, noise: Noise, promise: f64) {
    let found = coverage(p, k, noise, interval_for(k));
    assert!(
        found >= least(promise),
        "P = {p}, K = {k}: {found} of the intervals hold the truth, not {promise}"
    );
}

#[test]
fn replicates_of_many_blocks_are_covered_as_promised_from_six_on() {
    for p in [6, 11, 22, 40] {
        covers(p, 25, quiet, 1.0 - LEVEL);
    }
}

#[test]
fn preempted_slots_do_not_break_the_promise() {
    for p in [6, 11, 22, 40] {
        covers(p, 25, spiky, 1.0 - LEVEL);
    }
}

#[test]
fn single_blocks_are_covered_as_promised_from_six_on() {
    for p in [6, 8, 11, 22, 40] {
        covers(p, 1, quiet, 1.0 - LEVEL);
        covers(p, 1, spiky, 1.0 - LEVEL);
    }
}

/// Why single blocks have an interval of their own: by the plain one, .92 at six blocks and .936 at eleven.
#[test]
fn by_the_plain_interval_a_handful_of_single_blocks_is_not_covered() {
    for (p, known) in [(6, 0.922), (11, 0.936)] {
        let found = coverage(p, 1, quiet, PooledEstimate::interval);
        let four_errors = 4.0 * (known * (1.0 - known) / RUNS as f64).sqrt();
        assert!((found - known).abs() < four_errors, "P = {p}: {found}");
    }
}
