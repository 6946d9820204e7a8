//! Numbers as they stand in files: whole ones as integers, others with the
//! fewest digits that read back to the same value.
//!
//! [`push_integer`] and [`push_value`] write them, a [`Scanner`] reads them back.

use std::io::Write as _;

/// Every whole number up to this one is a float; above it integers stop saying what was measured.
const LARGEST_EXACT: u64 = 1 << 53;

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

/// Appends a finite, non-negative value so that JSON and CSV readers get the same bits back.
pub(crate) fn push_value(out: &mut Vec<u8>, value: f64) {
    if value <= LARGEST_EXACT as f64 && value.fract() == 0.0 {
        push_integer(out, value as u64);
    } else {
        // The debug form of a float switches to an exponent for large and
        // small values, where the plain one prints hundreds of digits.
        write!(out, "{value:?}").expect("a Vec takes every write");
    }
}

/// Powers of ten that are floats, as far as they fit into 64 bits.
#[cfg(feature = "read")]
const POWERS_OF_TEN: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];

/// The rest of some bytes that are read from the front.
#[cfg(feature = "read")]
pub(crate) struct Scanner<'a> {
    pub(crate) rest: &'a [u8],
}

#[cfg(feature = "read")]
// Its functions are inlined: called across modules, they made reading a run take 13 % longer.
impl<'a> Scanner<'a> {
    /// Steps over `literal`, or stays where it is.
    #[inline]
    pub(crate) fn expect(&mut self, literal: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(literal)?;
        Some(())
    }

    /// Steps over digits: how many, and their number when there are at most
    /// 19, which cannot overflow.
    #[inline]
    fn digits(&mut self) -> (usize, u64) {
        let mut rest = self.rest;
        let mut number = 0u64;
        while let [byte @ b'0'..=b'9', tail @ ..] = rest {
            number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            rest = tail;
        }
        let count = self.rest.len() - rest.len();
        self.rest = rest;
        (count, number)
    }

    /// An integer that fits. JSON has no leading zeros.
    #[inline]
    pub(crate) fn integer(&mut self) -> Option<u64> {
        let leading_zero = self.rest.first() == Some(&b'0');
        let (digits, number) = self.digits();
        ((1..=19).contains(&digits) && !(leading_zero && digits > 1)).then_some(number)
    }

    /// A number that is not negative, by the grammar of JSON.
    #[inline]
    pub(crate) fn value(&mut self) -> Option<f64> {
        let start = self.rest;
        let leading_zero = start.first() == Some(&b'0');
        let (digits, number) = self.digits();
        if digits == 0 || leading_zero && digits > 1 {
            return None;
        }
        // Up to 15 digits every integer is a float.
        let short = digits <= 15;
        match self.rest.first() {
            Some(b'.') if short => self.fraction(start, digits, number),
            Some(b'.' | b'e' | b'E') => self.long_value(start),
            _ if short => Some(number as f64),
            _ => self.long_value(start),
        }
    }

    /// Goes on behind the integer part of a number, where a point stands. Where all of its digits
    /// make up a float, so does the power of ten that they must be divided by, and one division
    /// rounds as the number should be (Clinger 1990).
    #[inline]
    fn fraction(&mut self, start: &'a [u8], digits: usize, number: u64) -> Option<f64> {
        let point = self.rest;
        self.rest = &point[1..];
        let (places, part) = self.digits();
        let scale = POWERS_OF_TEN.get(places).filter(|_| places > 0);
        let goes_on = matches!(self.rest.first(), Some(b'e' | b'E'));
        // Nineteen digits cannot overflow.
        let fits = digits + places <= 19 && !goes_on;
        let all = number.wrapping_mul(scale.map_or(0, |scale| *scale as u64));
        let all = all.wrapping_add(part);
        match scale {
            Some(scale) if fits && all <= LARGEST_EXACT => Some(all as f64 / scale),
            _ => {
                self.rest = point;
                self.long_value(start)
            }
        }
    }

    /// Goes on with a number whose integer part was stepped over.
    #[cold]
    fn long_value(&mut self, start: &'a [u8]) -> Option<f64> {
        let some_digits = |scanner: &mut Self| (scanner.digits().0 > 0).then_some(());
        if self.expect(b".").is_some() {
            some_digits(self)?;
        }
        if self.expect(b"e").or_else(|| self.expect(b"E")).is_some() {
            let _sign = self.expect(b"+").or_else(|| self.expect(b"-"));
            some_digits(self)?;
        }
        let text = &start[..start.len() - self.rest.len()];
        let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        value.is_finite().then_some(value)
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

    #[inline]
    fn value(text: &str) -> Option<f64> {
        let mut scanner = Scanner {
            rest: text.as_bytes(),
        };
        scanner.value().filter(|_| scanner.rest.is_empty())
    }

    #[test]
    fn numbers_are_read_to_the_last_bit() {
        for text in [
            "0",
            "7",
            "0.1",
            "1e300",
            "2.5E-9",
            "119210.7452153215",
            "0.1234567890123456",
            "9007199254.740992",
            "9007199254.740993",
            "9007199254.7409930000",
            "0.0000000000000000001",
            "0.00000000000000000001",
            "1.50e3",
            "123456789012345.6",
            "1234567890123456.7",
            "0.30000000000000004",
            "9007199254740993",
            "123456789012345678901",
        ] {
            assert_eq!(value(text), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_not_json_are_refused() {
        for number in [
            "01", "1.", "1.e5", "12.5e", "1.5.5", ".5", "1e", "+1", "-1", "1e999", "NaN", "0x1", "",
        ] {
            assert_eq!(value(number), None, "{number}");
        }
    }
}
