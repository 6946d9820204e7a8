//! Numbers as they stand in files: whole ones as integers, others with the
//! fewest digits that read back to the same value.

use std::io::Write as _;

/// Above this not every whole number is a float, and integers stop saying
/// what was measured.
const LAST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Appends an integer in decimal.
pub(crate) fn push_integer(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

/// Appends a finite, non-negative value so that JSON and CSV readers get the
/// same bits back.
pub(crate) fn push_value(out: &mut Vec<u8>, value: f64) {
    if value <= LAST_EXACT && value.fract() == 0.0 {
        push_integer(out, value as u64);
    } else {
        // The debug form of a float switches to an exponent for large and
        // small values, where the plain one prints hundreds of digits.
        write!(out, "{value:?}").expect("a Vec takes every write");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: f64) -> String {
        let mut out = Vec::new();
        push_value(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn whole_numbers_are_written_as_integers() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1417.0, "1417"),
            (1e15, "1000000000000000"),
            (9_007_199_254_740_992.0, "9007199254740992"),
        ] {
            assert_eq!(text(value), expected);
        }
    }

    #[test]
    fn other_numbers_are_written_with_the_fewest_digits() {
        for (value, expected) in [(0.1, "0.1"), (1e300, "1e300"), (2.5e-9, "2.5e-9")] {
            assert_eq!(text(value), expected);
        }
    }

    proptest! {
        #[test]
        fn every_value_reads_back_to_itself(value in 0.0..f64::MAX) {
            prop_assert_eq!(text(value).parse::<f64>().unwrap(), value);
            let json: f64 = serde_json::from_str(&text(value)).unwrap();
            prop_assert_eq!(json, value);
        }

        #[test]
        fn every_integer_is_written_as_the_standard_library_does(number: u64) {
            let mut out = Vec::new();
            push_integer(&mut out, number);
            prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }
}
