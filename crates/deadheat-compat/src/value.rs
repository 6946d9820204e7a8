//! Values of Python as its JSON reader makes them, and how Python spells them.

use std::borrow::Cow;

/// A string of Python, in UTF-8 in which a lone surrogate takes three bytes like any other code
/// point of its size.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Text<'a>(Cow<'a, [u8]>);

impl<'a> Text<'a> {
    /// A string of these bytes, which came from the file as they are or were put together from
    /// escapes.
    pub(crate) fn new(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes; UTF-8 unless there are lone surrogates.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number of code points: `len` of Python.
    pub fn width(&self) -> usize {
        self.0.iter().filter(|b| **b & 0xc0 != 0x80).count()
    }

    /// The text for standard output. `None` when it has lone surrogates, which Python refuses to
    /// print.
    pub fn printable(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The text for an expression to search; lone surrogates are replaced.
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// The code points, surrogates included.
    pub(crate) fn scalars(&self) -> impl Iterator<Item = u32> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let first = *self.0.get(at)?;
            let (long, head) = match first {
                0..=0x7f => (1, u32::from(first)),
                0x80..=0xdf => (2, u32::from(first & 0x1f)),
                0xe0..=0xef => (3, u32::from(first & 0x0f)),
                _ => (4, u32::from(first & 0x07)),
            };
            let rest = self.0.get(at + 1..at + long).unwrap_or_default();
            at += long;
            Some(
                rest.iter()
                    .fold(head, |sum, b| sum << 6 | u32::from(b & 0x3f)),
            )
        })
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }
}

/// Appends a code point, surrogate or not.
pub(crate) fn push_scalar(bytes: &mut Vec<u8>, scalar: u32) {
    if let Some(c) = char::from_u32(scalar) {
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        bytes.extend([
            0xe0 | (scalar >> 12 & 0x0f) as u8,
            0x80 | (scalar >> 6 & 0x3f) as u8,
            0x80 | (scalar & 0x3f) as u8,
        ]);
    }
}

/// A number, which keeps its digits where it is a whole one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number<'a> {
    /// Without a point and an exponent.
    Whole(i64),
    /// The same with more digits than that, as it was written: a dump repeats it.
    Digits(&'a str),
    /// Anything with a fraction or an exponent, and NaN and the infinities.
    Float(f64),
}

impl Number<'_> {
    /// The number as a float; infinite where it is too large for one.
    pub fn float(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Digits(digits) => digits.parse().unwrap_or(f64::NAN),
            Self::Float(number) => number,
        }
    }
}

/// A value as Python's `json` reads it. Lists and dictionaries that no report looks into are
/// checked and forgotten.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `None`.
    Null,
    /// `True` or `False`.
    Bool(bool),
    /// An int or a float.
    Number(Number<'a>),
    /// A string.
    Text(Text<'a>),
    /// A list.
    List,
    /// A dictionary.
    Dict,
}

impl<'a> Value<'a> {
    /// Python's name of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "NoneType",
            Self::Bool(_) => "bool",
            Self::Number(Number::Whole(_) | Number::Digits(_)) => "int",
            Self::Number(Number::Float(_)) => "float",
            Self::Text(_) => "str",
            Self::List => "list",
            Self::Dict => "dict",
        }
    }

    /// The number that it is; truth values are 1 and 0.
    pub fn number(&self) -> Option<Number<'a>> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Bool(yes) => Some(Number::Float(f64::from(u8::from(*yes)))),
            _ => None,
        }
    }

    /// `str` of the value.
    pub(crate) fn spelled(&self) -> String {
        match self {
            Self::Null => "None".to_owned(),
            Self::Bool(yes) => if *yes { "True" } else { "False" }.to_owned(),
            Self::Number(Number::Whole(number)) => number.to_string(),
            Self::Number(Number::Digits(digits)) => (*digits).to_owned(),
            Self::Number(Number::Float(number)) => spelled_float(*number),
            Self::Text(text) => text.lossy().into_owned(),
            Self::List => "[…]".to_owned(),
            Self::Dict => "{…}".to_owned(),
        }
    }
}

/// `repr` of a float: as few digits as tell it from all others, an exponent below 1e-4 and from
/// 1e16 on.
pub(crate) fn spelled_float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = number.to_string();
    if number.is_infinite() || plain.contains('.') {
        plain
    } else {
        plain + ".0"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_one_code_point_that_cannot_be_printed() {
        let mut bytes = b"a\xc3\xa4".to_vec();
        push_scalar(&mut bytes, 0xd800);
        push_scalar(&mut bytes, 0x1f600);
        let text = Text::new(bytes);
        assert_eq!(text.width(), 4);
        assert_eq!(text.printable(), None);
        assert_eq!(
            text.scalars().collect::<Vec<_>>(),
            [0x61, 0xe4, 0xd800, 0x1f600]
        );
    }

    #[test]
    fn floats_are_spelled_as_python_spells_them() {
        for (number, spelling) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1.25e300, "1.25e+300"),
            (5e-324, "5e-324"),
            (0.5, "0.5"),
            (2.75, "2.75"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(spelled_float(number), spelling);
        }
    }
}
