//! Numbers in files: whole numbers are written as integers, others with the fewest digits that read
//! back to the same value.
//!
//! [`push_integer`] and [`push_value`] write numbers; a [`Scanner`] reads them.

use std::io::Write as _;

/// Every whole number up to 2⁵³ is exactly a float. Larger floats are not written as integers,
/// because their last digits would be arbitrary.
const LARGEST_EXACT: u64 = 1 << 53;

/// Appends an integer in decimal.
#[inline]
pub fn push_integer(out: &mut Vec<u8>, mut number: u64) {
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
#[inline]
pub fn push_value(out: &mut Vec<u8>, value: f64) {
    if value <= LARGEST_EXACT as f64 && value.fract() == 0.0 {
        push_integer(out, value as u64);
    } else {
        // The debug form of a float switches to an exponent for large and
        // small values, where the plain one prints hundreds of digits.
        write!(out, "{value:?}").expect("a Vec takes every write");
    }
}

/// Powers of ten that fit into 64 bits. Each of them is exactly a float, too.
const POWERS_OF_TEN: [u64; 20] = {
    let mut powers = [1; 20];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = 10 * powers[exponent - 1];
        exponent += 1;
    }
    powers
};

/// Reads numbers and fixed text from the front of a slice of bytes.
pub struct Scanner<'a> {
    /// The bytes that were not read yet.
    pub rest: &'a [u8],
}

// The functions are inlined: calls across modules made reading a run take 13% longer.
impl<'a> Scanner<'a> {
    /// Steps over `literal`. Returns `None` and does not move if the bytes differ.
    #[inline(always)]
    pub fn expect<const LEN: usize>(&mut self, literal: &[u8; LEN]) -> Option<()> {
        // Arrays of a fixed length are compared without a function call.
        let (first, rest) = self.rest.split_first_chunk::<LEN>()?;
        (first == literal).then(|| self.rest = rest)
    }

    /// Steps over one byte. Returns `None` and does not move if the byte differs.
    #[inline(always)]
    pub fn byte(&mut self, byte: u8) -> Option<()> {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                Some(())
            }
            _ => None,
        }
    }

    /// Steps over digits. Returns their number and their value, which is right for at most 19
    /// digits.
    ///
    /// Reads eight bytes at a time, because a loop over single digits mispredicts its end once per
    /// number, which costs more time than this whole function.
    #[inline(always)]
    fn digits(&mut self) -> (usize, u64) {
        let (mut rest, mut number) = (self.rest, 0u64);
        while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
            let (digits, part) = leading_digits(*eight);
            if digits < 8 {
                number = number
                    .wrapping_mul(POWERS_OF_TEN[digits])
                    .wrapping_add(part);
                let count = self.rest.len() - rest.len() + digits;
                self.rest = &rest[digits..];
                return (count, number);
            }
            number = number.wrapping_mul(100_000_000).wrapping_add(part);
            rest = tail;
        }
        // Fewer than eight bytes are left.
        while let [byte @ b'0'..=b'9', tail @ ..] = rest {
            number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            rest = tail;
        }
        let count = self.rest.len() - rest.len();
        self.rest = rest;
        (count, number)
    }

    /// Reads an integer of at most 19 digits, without leading zeros, which JSON forbids.
    #[inline(always)]
    pub fn integer(&mut self) -> Option<u64> {
        let leading_zero = self.rest.first() == Some(&b'0');
        let (digits, number) = self.digits();
        ((1..=19).contains(&digits) && !(leading_zero && digits > 1)).then_some(number)
    }

    /// Reads a finite number that is not negative, by the grammar of JSON.
    #[inline(always)]
    pub fn value(&mut self) -> Option<f64> {
        let start = self.rest;
        if let [b'0', b',' | b']', ..] = start {
            // Most counts are 0.
            self.rest = &start[1..];
            return Some(0.0);
        }
        let leading_zero = start.first() == Some(&b'0');
        let (digits, number) = self.digits();
        if digits == 0 || leading_zero && digits > 1 {
            return None;
        }
        match self.rest.first() {
            Some(b'.') if digits <= 18 => self.fraction(start, digits, number),
            Some(b'.' | b'e' | b'E') => self.long_value(start),
            // Up to 19 digits, `number` has not overflowed, and the conversion rounds once.
            _ if digits <= 19 => Some(number as f64),
            _ => self.long_value(start),
        }
    }

    /// Reads the fraction of a number after its integer part; the next byte is the point.
    #[inline(always)]
    fn fraction(&mut self, start: &'a [u8], digits: usize, number: u64) -> Option<f64> {
        let point = self.rest;
        self.rest = &point[1..];
        let (places, part) = self.digits();
        let goes_on = matches!(self.rest.first(), Some(b'e' | b'E'));
        // More than 19 digits may overflow.
        if places == 0 || digits + places > 19 || goes_on {
            self.rest = point;
            return self.long_value(start);
        }
        let scale = POWERS_OF_TEN[places];
        Some(quotient(number * scale + part, scale))
    }

    /// Parses the number that begins at `start` with the standard library, which takes longer.
    /// `rest` begins after its integer part.
    #[cold]
    fn long_value(&mut self, start: &'a [u8]) -> Option<f64> {
        let some_digits = |scanner: &mut Self| (scanner.digits().0 > 0).then_some(());
        if self.byte(b'.').is_some() {
            some_digits(self)?;
        }
        if self.byte(b'e').or_else(|| self.byte(b'E')).is_some() {
            let _sign = self.byte(b'+').or_else(|| self.byte(b'-'));
            some_digits(self)?;
        }
        let text = &start[..start.len() - self.rest.len()];
        let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        value.is_finite().then_some(value)
    }
}

/// Returns the number of digits at the beginning of eight bytes, and the value of these digits.
#[inline(always)]
fn leading_digits(eight: [u8; 8]) -> (usize, u64) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // The first byte is the lowest. A digit becomes its value. Any other byte has a bit set in its
    // upper half, at once or after 6 is added. A carry out of such a byte does not matter: digits
    // produce no carry, and only the lowest byte that is not a digit counts.
    let values = u64::from_le_bytes(eight) ^ (b'0' as u64 * EACH);
    let others = (values | values.wrapping_add(6 * EACH)) & (0xf0 * EACH);
    let digits = others.trailing_zeros() as usize / 8;
    // Shifts out the bytes after the digits and fills with zeros in front of them.
    let values = values.checked_shl(64 - 8 * digits as u32).unwrap_or(0);
    // Combines neighbouring digits to numbers of two digits, then of four, then of eight.
    let twos = values.wrapping_mul(10).wrapping_add(values >> 8) & (0x00ff_00ff_00ff_00ff);
    let fours = twos.wrapping_mul(100).wrapping_add(twos >> 16) & 0x0000_ffff_0000_ffff;
    let eights = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    (digits, eights)
}

/// Returns `number` divided by `power`, a power of ten that is exactly a float; rounds once.
#[inline(always)]
fn quotient(number: u64, power: u64) -> f64 {
    if number <= LARGEST_EXACT {
        // The quotient of two exact floats is rounded correctly (Clinger 1990).
        number as f64 / power as f64
    } else {
        long_quotient(number, power)
    }
}

/// Returns `number` divided by `power` if `number` is not exactly a float. Computes 63 or 64 bits
/// of the quotient and sets the last bit if there is a remainder, so that the conversion to a float
/// rounds correctly.
#[inline]
fn long_quotient(number: u64, power: u64) -> f64 {
    let (up, up_power) = (number.leading_zeros(), power.leading_zeros());
    let (dividend, divisor) = (
        u128::from(number << up) << 63,
        u128::from(power << up_power),
    );
    // Between 2⁶² and 2⁶⁴.
    let whole = (dividend / divisor) as u64;
    let lost = dividend != u128::from(whole) * divisor;
    let exponent = i64::from(up_power) - i64::from(up) - 63;
    let unit = f64::from_bits(((1023 + exponent) as u64) << 52);
    (whole | u64::from(lost)) as f64 * unit
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

    proptest! {
        #[test]
        fn every_spelling_of_a_number_is_read_as_the_standard_library_reads_it(
            whole in prop_oneof![Just("0".to_owned()), "[1-9][0-9]{0,20}"],
            places in prop_oneof![Just(String::new()), "\\.[0-9]{1,20}"],
            exponent in prop_oneof![4 => Just(String::new()), 1 => "[eE][+-]?[0-9]{1,2}"],
            behind in "[,\\]} x]{0,9}",
        ) {
            let number = format!("{whole}{places}{exponent}");
            let text = format!("{number}{behind}");
            let mut scanner = Scanner { rest: text.as_bytes() };
            let found = scanner.value().map(f64::to_bits);
            prop_assert_eq!(found, Some(number.parse::<f64>().unwrap().to_bits()));
            prop_assert_eq!(scanner.rest, behind.as_bytes());
        }

        #[test]
        fn halfway_between_two_floats_the_even_one_is_read(mantissa in 1u64 << 52..1 << 53) {
            // An odd number above 2⁵³ is halfway between two floats; a tenth less or more is not.
            let half = 2 * mantissa + 1;
            for number in [10 * half - 1, 10 * half, 10 * half + 1] {
                let text = format!("{}.{}", number / 10, number % 10);
                prop_assert_eq!(value(&text), text.parse().ok(), "{}", text);
            }
        }

        #[test]
        fn any_eight_bytes_begin_with_the_digits_they_begin_with(bytes: [u8; 8], digits in 0usize..9) {
            let mut bytes = bytes;
            bytes[..digits].iter_mut().for_each(|byte| *byte = b'0' + *byte % 10);
            let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let text = std::str::from_utf8(&bytes[..count]).unwrap();
            prop_assert_eq!(leading_digits(bytes), (count, text.parse().unwrap_or(0)));
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
