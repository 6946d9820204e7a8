//! Random numbers from several distributions. The caller passes the stream: same seed, same
//! numbers.

use rand_core::Rng;

use crate::dist::normal_quantile;

/// A uniform number strictly between 0 and 1, on a grid of 2⁻⁵³.
pub fn uniform(rng: &mut impl Rng) -> f64 {
    const GRID: f64 = 1.0 / (1_u64 << 53) as f64;
    ((rng.next_u64() >> 11) as f64 + 0.5) * GRID
}

/// Returns true or false with equal probability.
pub fn coin(rng: &mut impl Rng) -> bool {
    // The top bit is used, because the low bits of weak generators are the least random.
    rng.next_u64() >> 63 == 1
}

/// A standard normal number, by inversion: exactly one draw from the stream.
pub fn normal(rng: &mut impl Rng) -> f64 {
    normal_quantile(uniform(rng))
}

/// A χ² random number with `df` degrees of freedom, 0 for `df` = 0.
///
/// One and two degrees are drawn directly. From three on, twice a gamma number of shape `df`/2 is
/// drawn by the squeeze method of Marsaglia & Tsang (2000), which accepts over 95% of its
/// proposals.
pub fn chi_squared(df: u32, rng: &mut impl Rng) -> f64 {
    match df {
        0 => 0.0,
        1 => normal(rng).powi(2),
        2 => -2.0 * uniform(rng).ln(),
        _ => {
            let d = 0.5 * f64::from(df) - 1.0 / 3.0;
            loop {
                let z = normal(rng);
                let v = (1.0 + z / (9.0 * d).sqrt()).powi(3);
                if v > 0.0 && uniform(rng).ln() < 0.5 * z * z + d * (1.0 - v + v.ln()) {
                    return 2.0 * d * v;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    const DRAWS: usize = 40_000;

    fn moments(mut draw: impl FnMut(&mut Xoshiro256PlusPlus) -> f64) -> (f64, f64) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let values: Vec<f64> = (0..DRAWS).map(|_| draw(&mut rng)).collect();
        let mean = values.iter().sum::<f64>() / DRAWS as f64;
        (
            mean,
            values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / DRAWS as f64,
        )
    }

    /// Five standard errors of the mean of [`DRAWS`] draws.
    fn bound(variance: f64) -> f64 {
        5.0 * (variance / DRAWS as f64).sqrt()
    }

    #[test]
    fn uniform_numbers_fill_the_unit_interval_without_its_ends() {
        let (mean, variance) = moments(uniform);
        assert!((mean - 0.5).abs() < bound(1.0 / 12.0));
        assert!((variance - 1.0 / 12.0).abs() < bound(1.0 / 180.0));
    }

    #[test]
    fn normal_numbers_have_mean_nought_and_variance_one() {
        let (mean, variance) = moments(normal);
        assert!(mean.abs() < bound(1.0));
        assert!((variance - 1.0).abs() < bound(2.0));
    }

    #[test]
    fn chi_squared_numbers_have_their_degrees_of_freedom_as_mean_and_half_the_variance() {
        for df in [1, 2, 3, 8, 61] {
            let (mean, variance) = moments(|rng| chi_squared(df, rng));
            let k = f64::from(df);
            assert!((mean - k).abs() < bound(2.0 * k), "{df}: {mean}");
            // Var of (X − k)² is 8k² + 48k.
            assert!(
                (variance - 2.0 * k).abs() < bound(8.0 * k * k + 48.0 * k),
                "{df}: {variance}"
            );
        }
    }

    #[test]
    fn a_coin_is_fair_and_the_same_seed_tosses_the_same_way() {
        let (mean, _) = moments(|rng| f64::from(u8::from(coin(rng))));
        assert!((mean - 0.5).abs() < bound(0.25));
        let toss = || {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
            (0..64).map(|_| coin(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(toss(), toss());
    }
}
