//! The normal distribution as the Cephes library computes it (Moshier 1989), and SciPy with it: the same rational
//! approximations of the error function in the same order of operations, so that results agree to the last bit.

use std::f64::consts::FRAC_1_SQRT_2;

/// e^−x is no number of double precision from here on.
const LARGEST_EXPONENT: f64 = 709.782712893384;

// Highest power first. A denominator begins with an x to the power of its length that is not written.
const TAIL_NUMERATOR: [f64; 9] = [
    2.461_969_814_735_305_2E-10,
    5.641_895_648_310_689E-1,
    7.463_210_564_422_699,
    4.863_719_709_856_813_7E1,
    1.965_208_329_560_771E2,
    5.264_451_949_954_773E2,
    9.345_285_271_719_576E2,
    1.027_551_886_895_157_2E3,
    5.575_353_353_693_993E2,
];
const TAIL_DENOMINATOR: [f64; 8] = [
    1.322_819_511_547_449_9E1,
    8.670_721_408_859_897E1,
    3.549_377_788_878_199E2,
    9.757_085_017_432_055E2,
    1.823_909_166_879_097_4E3,
    2.246_337_608_187_109_8E3,
    1.656_663_091_941_613_4E3,
    5.575_353_408_177_277E2,
];
const FAR_NUMERATOR: [f64; 6] = [
    5.641_895_835_477_551E-1,
    1.275_366_707_599_781,
    5.019_050_422_511_805,
    6.160_210_979_930_536,
    7.409_742_699_504_489,
    2.978_866_653_721_002_4,
];
const FAR_DENOMINATOR: [f64; 6] = [
    2.260_528_632_201_172_8,
    9.396_035_249_380_014,
    1.204_895_398_080_966_6E1,
    1.708_144_507_475_659E1,
    9.608_968_090_632_859,
    3.369_076_451_000_815,
];
const CENTRE_NUMERATOR: [f64; 5] = [
    9.604_973_739_870_516,
    9.002_601_972_038_427E1,
    2.232_005_345_946_843E3,
    7.003_325_141_128_051E3,
    5.559_230_130_103_949_6E4,
];
const CENTRE_DENOMINATOR: [f64; 5] = [
    3.356_171_416_475_031E1,
    5.213_579_497_801_527E2,
    4.594_323_829_709_801E3,
    2.262_900_006_138_909_6E4,
    4.926_739_426_086_359E4,
];

/// Φ(z), with the very bits of `scipy.special.ndtr`.
pub(crate) fn cephes_normal_cdf(z: f64) -> f64 {
    let x = z * FRAC_1_SQRT_2;
    if x.abs() < 1.0 {
        return 0.5 + 0.5 * error_function(x);
    }
    let tail = 0.5 * upper_tail(x.abs());
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// erf x for |x| ≤ 1.
fn error_function(x: f64) -> f64 {
    let square = x * x;
    x * polynomial(square, 0.0, &CENTRE_NUMERATOR) / polynomial(square, 1.0, &CENTRE_DENOMINATOR)
}

/// erfc x = 1 − erf x for x ≥ 1.
fn upper_tail(x: f64) -> f64 {
    let exponent = -x * x;
    if exponent < -LARGEST_EXPONENT {
        return 0.0;
    }
    let (above, below) = if x < 8.0 {
        (
            polynomial(x, 0.0, &TAIL_NUMERATOR),
            polynomial(x, 1.0, &TAIL_DENOMINATOR),
        )
    } else {
        (
            polynomial(x, 0.0, &FAR_NUMERATOR),
            polynomial(x, 1.0, &FAR_DENOMINATOR),
        )
    };
    exponent.exp() * above / below
}

/// By Horner's rule.
fn polynomial(x: f64, leading: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().fold(leading, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normal_cdf;

    #[test]
    fn both_ways_of_computing_it_agree() {
        for step in -3_700..=3_700 {
            let z = f64::from(step) / 100.0;
            let (got, want) = (cephes_normal_cdf(z), normal_cdf(z));
            assert!((got - want).abs() <= 1e-12 * want, "{z}: {got} {want}");
        }
    }

    #[test]
    fn the_edges_have_the_values_they_must_have() {
        assert_eq!(cephes_normal_cdf(0.0), 0.5);
        assert_eq!(cephes_normal_cdf(f64::INFINITY), 1.0);
        assert_eq!(cephes_normal_cdf(f64::NEG_INFINITY), 0.0);
        assert_eq!(cephes_normal_cdf(-40.0), 0.0);
    }
}
