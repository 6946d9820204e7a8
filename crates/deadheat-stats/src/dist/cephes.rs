//! The normal distribution as the Cephes library computes it (Moshier 1989), and SciPy with it: the
//! same rational approximations of the error function in the same order of operations, so that
//! results agree to the last bit.

use std::f64::consts::FRAC_1_SQRT_2;

/// e^−x is no number of double precision from here on.
const LARGEST_EXPONENT: f64 = 709.782712893384;

// Highest power first. A denominator begins with an x to the power of its length that is not
// written.
const TAIL_NUMERATOR: [f64; 9] = [
    2.461969814735305e-10,
    0.564_189_564_831_068_9,
    7.463_210_564_422_699,
    48.637_197_098_568_14,
    196.520_832_956_077_1,
    526.445_194_995_477_3,
    934.528_527_171_957_6,
    1_027.551_886_895_157_2,
    557.535_335_369_399_4,
];
const TAIL_DENOMINATOR: [f64; 8] = [
    13.228_195_115_474_499,
    86.707_214_088_598_97,
    354.937_778_887_819_9,
    975.708_501_743_205_5,
    1_823.909_166_879_097_3,
    2_246.337_608_187_109_7,
    1_656.663_091_941_613_4,
    557.535_340_817_727_7,
];
const FAR_NUMERATOR: [f64; 6] = [
    0.564_189_583_547_755_1,
    1.275_366_707_599_781,
    5.019_050_422_511_805,
    6.160_210_979_930_536,
    7.409_742_699_504_489_5,
    2.978_866_653_721_002_2,
];
const FAR_DENOMINATOR: [f64; 6] = [
    2.260_528_632_201_172_6,
    9.396_035_249_380_015,
    12.048_953_980_809_666,
    17.081_445_074_756_59,
    9.608_968_090_632_859,
    3.369_076_451_000_815,
];
const CENTRE_NUMERATOR: [f64; 5] = [
    9.604_973_739_870_516,
    90.026_019_720_384_27,
    2_232.005_345_946_843,
    7_003.325_141_128_051,
    55_592.301_301_039_49,
];
const CENTRE_DENOMINATOR: [f64; 5] = [
    33.561_714_164_750_31,
    521.357_949_780_152_7,
    4_594.323_829_709_801,
    22_629.000_061_389_095,
    49_267.394_260_863_59,
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
