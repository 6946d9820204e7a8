//! The standard error that a plan expects equals the error of real estimates.

use deadheat_stats::rng::normal;
use deadheat_stats::{
    Clusters, Floor, clamped_components, clamped_variance, planned_standard_error, pooled_huber,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const RUNS: usize = 400;

/// Root-mean-square errors over many runs of P replicates of K blocks: the standard errors that
/// estimates report, their true errors, and those that the plan expects.
fn errors(p: usize, k: usize, between: f64) -> (f64, f64, f64) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64((p * 100 + k) as u64);
    let sizes = vec![k; p];
    let (mut claimed, mut real) = (0.0, 0.0);
    let mut variances = (0.0, 0.0);
    for _ in 0..RUNS {
        let mut effects = Vec::with_capacity(p * k);
        for _ in 0..p {
            let layout = between * normal(&mut rng);
            effects.extend((0..k).map(|_| layout + 0.01 * normal(&mut rng)));
        }
        let clusters = Clusters::new(&effects, &sizes).unwrap();
        let estimate = pooled_huber(&clusters, Floor::default()).unwrap();
        claimed += estimate.se.powi(2);
        real += estimate.theta.powi(2);
        match k {
            1 => variances.0 += clamped_variance(&clusters, &estimate).unwrap(),
            _ => {
                let parts = clamped_components(&clusters, &estimate).unwrap();
                variances.0 += parts.within;
                variances.1 += parts.between;
            }
        }
    }
    let runs = RUNS as f64;
    let (within, between) = (variances.0 / runs, variances.1 / runs);
    let planned = planned_standard_error(within, between, k as u32, p);
    ((claimed / runs).sqrt(), (real / runs).sqrt(), planned)
}

#[test]
fn the_planned_error_is_the_claimed_and_the_real_one() {
    for (p, k, between) in [
        (40, 1, 0.0),
        (11, 1, 0.0),
        (40, 25, 0.0),
        (20, 20, 0.0014),
        (40, 10, 0.01),
    ] {
        let (claimed, real, planned) = errors(p, k, between);
        assert!(
            (planned / claimed - 1.0).abs() < 0.06,
            "{p} × {k}: planned {planned}, claimed {claimed}"
        );
        // The true error is accurate to 1/√(2·400), which is 3.5%.
        assert!(
            (planned / real - 1.0).abs() < 0.15,
            "{p} × {k}: planned {planned}, real {real}"
        );
    }
}
