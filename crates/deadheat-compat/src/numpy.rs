//! The logarithm and the exponential function as NumPy computes them on processors with AVX-512: its geometric mean
//! differs in the last bit from that of the C library in one of twenty cases.
//!
//! Both reduce their argument with a table of sixteen numbers, evaluate a polynomial in a fixed order with fused
//! multiplications, and add the parts from small to large. Table entries of the exponential function are 2^(j/16) and
//! what rounding took from them; of the logarithm −ln of sixteen reciprocals, rounded, and the rest.
//!
//! Source of the coefficients and of the order in which they are used: the vector functions of Intel (SVML) that NumPy
//! carries for such processors, by Intel Corporation under the BSD 3-Clause licence, as they are in NumPy 2.4.6. They are
//! figures of that one library, and good for nothing but to agree with its last bit.

/// Beyond this NumPy takes another way.
const LARGEST: f64 = 707.703_271_351_704_2;

const LOG2_E: f64 = f64::from_bits(0x3ff7_1547_652b_82fe);
const LN_2: f64 = f64::from_bits(0x3fe6_2e42_fefa_39ef);
const LN_2_REST: f64 = f64::from_bits(0x3c7a_bc9e_3b39_803f);
/// ln 2 with zeros behind, so that products with exponents are exact; and the rest.
const SHORT_LN_2: f64 = f64::from_bits(0x3fe6_2e42_fefa_0000);
const SHORT_LN_2_REST: f64 = f64::from_bits(0x3d7c_f79a_bc9e_0000);

/// (e^r − 1)/r for r in [0, ln 2/16): the highest power first.
const EXP: [f64; 6] = [
    f64::from_bits(0x3f57_4118_3694_0c04),
    f64::from_bits(0x3f81_101c_bbc2_65c0),
    f64::from_bits(0x3fa5_5557_242d_68fe),
    f64::from_bits(0x3fc5_5555_5393_9732),
    f64::from_bits(0x3fe0_0000_0000_d008),
    f64::from_bits(0x3fef_ffff_ffff_ff70),
];

/// (ln(1 + r) − r)/r² for |r| < 1/32: the highest power first.
const LOG: [f64; 8] = [
    f64::from_bits(0x3fbc_81cd_309d_7c70),
    f64::from_bits(0xbfc0_0735_7e93_af62),
    f64::from_bits(0x3fc2_4922_9cee_81ef),
    f64::from_bits(0xbfc5_5553_fb28_db06),
    f64::from_bits(0x3fc9_9999_99cc_9f5c),
    f64::from_bits(0xbfd0_0000_000c_05bd),
    f64::from_bits(0x3fd5_5555_5555_5466),
    f64::from_bits(0xbfdf_ffff_ffff_ffc6),
];

const EXP_TABLE: [(u64, u64); 16] = [
    (0x3ff0_0000_0000_0000, 0x0000_0000_0000_0000),
    (0x3ff0_b558_6cf9_890f, 0x3c97_9aa6_5d83_7b6d),
    (0x3ff1_72b8_3c7d_517b, 0xbc80_1b15_eaa5_9348),
    (0x3ff2_387a_6e75_6238, 0x3c96_8efd_e3a8_a894),
    (0x3ff3_06fe_0a31_b715, 0x3c83_4d75_4db0_abb6),
    (0x3ff3_dea6_4c12_3422, 0x3c85_9f48_a72a_4c6d),
    (0x3ff4_bfda_d536_2a27, 0x3c76_90ce_bb7a_afb0),
    (0x3ff5_ab07_dd48_5429, 0x3c90_63e1_e21c_5409),
    (0x3ff6_a09e_667f_3bcd, 0xbc93_b3ef_bf5e_2228),
    (0x3ff7_a114_73eb_0187, 0xbc7b_32dc_b94d_a51d),
    (0x3ff8_ace5_422a_a0db, 0x3c8d_b72f_c1f0_eab4),
    (0x3ff9_c491_82a3_f090, 0x3c71_affc_2b91_ce27),
    (0x3ffa_e89f_995a_d3ad, 0x3c8c_1a77_92cb_3387),
    (0x3ffc_199b_dd85_529c, 0x3c73_6eae_30af_0cb3),
    (0x3ffd_5818_dcfb_a487, 0x3c74_a385_a63d_07a7),
    (0x3ffe_a4af_a2a4_90da, 0xbc8f_f712_8fd3_91f0),
];

const LOG_TABLE: [(u64, u64); 16] = [
    (0x0000_0000_0000_0000, 0x0000_0000_0000_0000),
    (0xbfaf_0a30_c012_0000, 0x3d53_ab33_d066_d1d2),
    (0xbfbe_2707_6e2b_0000, 0x3d2a_342c_2af0_003c),
    (0xbfc5_ff30_70a7_8000, 0xbd43_d3c8_73e2_0a07),
    (0xbfcc_8ff7_c79a_8000, 0xbd4a_21ac_25d8_1ef3),
    (0xbfd1_675c_abab_c000, 0x3d59_f1fc_6338_2a8f),
    (0xbfd4_618b_c21c_4000, 0xbd5e_c27d_0b7b_37b3),
    (0xbfd7_39d7_f6bb_c000, 0xbd50_069c_e24c_53fb),
    (0x3fd2_6962_1134_c000, 0x3d5b_9278_3beb_7677),
    (0x3fcf_991c_6cb3_8000, 0x3d59_bcbe_cca0_cdf3),
    (0x3fca_93ed_3c8b_0000, 0xbd53_0e48_6a0a_c42d),
    (0x3fc5_bf40_6b54_0000, 0x3d5e_d8fd_c149_767e),
    (0x3fc1_178e_8228_0000, 0xbd4b_8421_cc74_be04),
    (0x3fb9_335e_5d59_0000, 0x3d52_622b_8757_a8fb),
    (0x3fb0_8598_b59e_0000, 0x3d4d_0344_51fe_cdfb),
    (0x3fa0_415d_89e8_0000, 0xbd57_7771_fd18_7145),
];

/// `numpy.exp`.
pub(crate) fn exp(x: f64) -> f64 {
    if x.is_nan() || x.abs() >= LARGEST {
        return x.exp();
    }
    // x in sixteenths of ln 2, rounded down as if the product had all its digits.
    let scale = 16.0 * LOG2_E;
    let product = x * scale;
    let mut sixteenths = product.floor();
    if sixteenths == product && x.mul_add(scale, -product) < 0.0 {
        sixteenths -= 1.0;
    }
    let times = sixteenths / 16.0;
    let (table, table_rest) = EXP_TABLE[(sixteenths as i64 & 15) as usize];
    let (table, table_rest) = (f64::from_bits(table), f64::from_bits(table_rest));
    let r = (-times).mul_add(LN_2, x);
    let r = (-times).mul_add(LN_2_REST, r);
    let square = r * r;
    let high = EXP[0].mul_add(r, EXP[1]);
    let middle = EXP[2].mul_add(r, EXP[3]);
    let low = EXP[4].mul_add(r, EXP[5]);
    let polynomial = square.mul_add(high, middle);
    let polynomial = square.mul_add(polynomial, low);
    let polynomial = polynomial.mul_add(r, table_rest);
    let significand = table.mul_add(polynomial, table);
    // The exponent is within ±1022: a normal number.
    let exponent = times.floor() as i64;
    if exponent < -1022 {
        return x.exp();
    }
    significand * f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `numpy.log`.
pub(crate) fn log(x: f64) -> f64 {
    if !(x.is_normal() && x > 0.0) {
        return x.ln();
    }
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as f64 - 1023.0;
    let mantissa = f64::from_bits(bits & (u64::MAX >> 12) | 1023 << 52);
    // To five binary places.
    let reciprocal = (32.0 / mantissa).round_ties_even() / 32.0;
    if reciprocal < 0.75 {
        exponent += 1.0;
    }
    let (table, table_rest) = LOG_TABLE[(reciprocal.to_bits() >> 48 & 15) as usize];
    let r = reciprocal.mul_add(mantissa, -1.0);
    let whole = exponent.mul_add(SHORT_LN_2, f64::from_bits(table));
    let whole_rest = exponent.mul_add(SHORT_LN_2_REST, f64::from_bits(table_rest));
    let square = r * r;
    let highest = LOG[0].mul_add(r, LOG[1]);
    let high = LOG[2].mul_add(r, LOG[3]);
    let low = LOG[4].mul_add(r, LOG[5]);
    let lowest = LOG[6].mul_add(r, LOG[7]);
    let polynomial = square.mul_add(highest, high);
    let other = square.mul_add(low, lowest);
    let polynomial = (square * square).mul_add(polynomial, other);
    let sum = r + whole;
    let lost = r - (sum - whole);
    let small = square.mul_add(polynomial, lost) + whole_rest;
    sum + small
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_functions_that_they_should_be() {
        for step in -70_000..=70_000 {
            let x = f64::from(step) / 100.0;
            let (got, want) = (exp(x), x.exp());
            assert!((got - want).abs() <= 3e-16 * want, "{x}: {got} {want}");
            let (got, want) = (log(want), want.ln());
            assert!(
                (got - want).abs() <= 3e-16 * want.abs(),
                "{x}: {got} {want}"
            );
        }
    }

    #[test]
    fn arguments_at_the_edges_have_the_values_that_they_must_have() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(1e300), f64::INFINITY);
        assert!(exp(f64::NAN).is_nan());
        assert_eq!(log(1.0), 0.0);
        assert_eq!(log(0.0), f64::NEG_INFINITY);
        assert_eq!(log(f64::INFINITY), f64::INFINITY);
        assert!(log(-1.0).is_nan());
        assert_eq!(log(5e-324), 5e-324_f64.ln());
    }

    #[test]
    fn the_last_bit_is_that_of_numpy() {
        // Made by numpy.exp and numpy.log of NumPy 2.4.6 with AVX-512; the C library rounds them differently.
        for (x, want) in [
            (-9.54023316873574, 7.190008085170563e-05),
            (-11.89998843473042, 6.790483340695761e-06),
            (-0.1360578707043274, 0.872792121932365),
            (-10.584969500615607, 2.5293338416028253e-05),
        ] {
            assert_eq!(exp(x), want);
        }
        for (x, want) in [
            (0.9330118444092487, -0.06933738324297427),
            (0.9713298574499785, -0.029089159367547582),
            (0.9555862259147492, -0.0454302777043232),
            (0.9566876637207248, -0.044278310997306426),
        ] {
            assert_eq!(log(x), want);
        }
    }
}
