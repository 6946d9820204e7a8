//! Bytes read from the front: literals, and numbers by the grammar of JSON.

/// What is left of the bytes while they are read from the front.
pub(super) struct Scanner<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Scanner<'a> {
    /// Steps over `literal`, or stays where it is.
    pub(super) fn expect(&mut self, literal: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(literal)?;
        Some(())
    }

    /// Steps over digits: how many, and their number when there are at most
    /// 19, which cannot overflow.
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
    pub(super) fn integer(&mut self) -> Option<u64> {
        let leading_zero = self.rest.first() == Some(&b'0');
        let (digits, number) = self.digits();
        ((1..=19).contains(&digits) && !(leading_zero && digits > 1)).then_some(number)
    }

    /// A number that is not negative, by the grammar of JSON.
    pub(super) fn value(&mut self) -> Option<f64> {
        let start = self.rest;
        let leading_zero = start.first() == Some(&b'0');
        let (digits, number) = self.digits();
        if digits == 0 || leading_zero && digits > 1 {
            return None;
        }
        let plain = !matches!(self.rest.first(), Some(b'.' | b'e' | b'E'));
        // Up to 15 digits every integer is a float.
        if plain && digits <= 15 {
            return Some(number as f64);
        }
        self.long_value(start)
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
            "9007199254740993",
            "123456789012345678901",
        ] {
            assert_eq!(value(text), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_not_json_are_left_to_serde() {
        for number in [
            "01", "1.", ".5", "1e", "+1", "-1", "1e999", "NaN", "0x1", "",
        ] {
            assert_eq!(value(number), None, "{number}");
        }
    }
}
