//! JSON values as Python's module `json` reads them, their text form in Python, and their compact
//! storage. A million rows take a gigabyte as Python objects, and 60 MB in this storage.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

/// A Python string, stored as UTF-8, except that a lone surrogate is encoded in three bytes like
/// any other code point from U+0800 to U+FFFF.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Text<'a>(Cow<'a, [u8]>);

impl<'a> Text<'a> {
    pub(crate) fn new(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes, which are UTF-8 unless there are lone surrogates.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the number of code points, as Python's `len` does.
    pub fn width(&self) -> usize {
        self.0.iter().filter(|b| **b & 0xc0 != 0x80).count()
    }

    /// Returns the text for standard output; `None` if it has lone surrogates, which Python refuses
    /// to print.
    pub fn printable(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns the text for a search by regular expression, with lone surrogates replaced.
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Returns the code points, including surrogates.
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

/// A JSON number. Integers that exceed 64 bits keep their digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number<'a> {
    /// An integer that fits into 64 bits.
    Whole(i64),
    /// An integer that does not fit into 64 bits. Its digits are kept as in the file, because the
    /// JSON dump (`-d`) repeats them.
    Digits(&'a str),
    /// A number with a fraction or an exponent, NaN, or an infinity.
    Float(f64),
}

impl Number<'_> {
    /// Returns the number as a float, which is infinite if the number is too large.
    pub fn float(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Digits(digits) => digits.parse().unwrap_or(f64::NAN),
            Self::Float(number) => number,
        }
    }
}

/// A JSON value as Python's module `json` reads it. The contents of lists and dictionaries are
/// discarded, because reports do not use them.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Python's `None`.
    Null,
    /// Python's `True` or `False`.
    Bool(bool),
    /// A Python `int` or `float`.
    Number(Number<'a>),
    /// A Python `str`.
    Text(Text<'a>),
    /// A Python `list`, without its contents.
    List,
    /// A Python `dict`, without its contents.
    Dict,
}

impl<'a> Value<'a> {
    /// Returns the name of the value's Python type.
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

    /// Returns the value as a number, with true as 1 and false as 0; `None` if it is neither a
    /// number nor a boolean.
    pub fn number(&self) -> Option<Number<'a>> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Bool(yes) => Some(Number::Float(f64::from(u8::from(*yes)))),
            _ => None,
        }
    }

    /// Formats the value as Python's `str` does, but shows `…` for the contents of lists and
    /// dictionaries.
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

/// Formats a float like Python's `repr`: the fewest digits that identify the float, and an exponent
/// below 1e-4 and from 1e16 on.
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

/// A value stored in 16 bytes. Strings and the digits of large integers are stored in [`Texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Kept {
    #[default]
    Missing,
    Null,
    Bool(bool),
    Whole(i64),
    /// An integer that exceeds 64 bits: the number of the text in [`Texts`] that contains its
    /// digits.
    Digits(u32),
    Float(f64),
    Text(u32),
    List,
    Dict,
}

impl Kept {
    /// Stores a value. `like` is the value of the same field in the previous row; an equal text is
    /// reused without a hash lookup.
    pub(crate) fn of(value: &Value<'_>, like: Kept, texts: &mut Texts) -> Kept {
        match value {
            Value::Null => Kept::Null,
            Value::Bool(yes) => Kept::Bool(*yes),
            Value::Number(Number::Whole(number)) => Kept::Whole(*number),
            Value::Number(Number::Digits(digits)) => Kept::Digits(texts.id(digits.as_bytes())),
            Value::Number(Number::Float(number)) => Kept::Float(*number),
            Value::Text(text) => match like {
                Kept::Text(id) if texts.get(id) == text.as_bytes() => like,
                _ => Kept::Text(texts.id(text.as_bytes())),
            },
            Value::List => Kept::List,
            Value::Dict => Kept::Dict,
        }
    }

    pub(crate) fn value(self, texts: &Texts) -> Option<Value<'_>> {
        Some(match self {
            Kept::Missing => return None,
            Kept::Null => Value::Null,
            Kept::Bool(yes) => Value::Bool(yes),
            Kept::Whole(number) => Value::Number(Number::Whole(number)),
            Kept::Digits(id) => {
                let digits = std::str::from_utf8(texts.get(id)).unwrap_or_default();
                Value::Number(Number::Digits(digits))
            }
            Kept::Float(number) => Value::Number(Number::Float(number)),
            Kept::Text(id) => Value::Text(Text::new(texts.get(id))),
            Kept::List => Value::List,
            Kept::Dict => Value::Dict,
        })
    }
}

/// An array of values that takes nine bytes per value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Packed<const N: usize> {
    bits: [u64; N],
    kinds: [u8; N],
}

impl<const N: usize> Packed<N> {
    pub(crate) fn new(values: &[Kept; N]) -> Self {
        let mut packed = Self {
            bits: [0; N],
            kinds: [0; N],
        };
        for (place, value) in values.iter().enumerate() {
            let (kind, bits) = match *value {
                Kept::Missing => (0, 0),
                Kept::Null => (1, 0),
                Kept::Bool(yes) => (2, u64::from(yes)),
                Kept::Whole(number) => (3, number as u64),
                Kept::Digits(id) => (4, u64::from(id)),
                Kept::Float(number) => (5, number.to_bits()),
                Kept::Text(id) => (6, u64::from(id)),
                Kept::List => (7, 0),
                Kept::Dict => (8, 0),
            };
            packed.kinds[place] = kind;
            packed.bits[place] = bits;
        }
        packed
    }

    pub(crate) fn get(&self, place: usize) -> Kept {
        let bits = self.bits[place];
        match self.kinds[place] {
            0 => Kept::Missing,
            1 => Kept::Null,
            2 => Kept::Bool(bits != 0),
            3 => Kept::Whole(bits as i64),
            4 => Kept::Digits(bits as u32),
            5 => Kept::Float(f64::from_bits(bits)),
            6 => Kept::Text(bits as u32),
            7 => Kept::List,
            _ => Kept::Dict,
        }
    }

    pub(crate) fn all(&self) -> [Kept; N] {
        std::array::from_fn(|place| self.get(place))
    }
}

/// A table of distinct texts, numbered from 0 and stored one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// A hash table from texts to their numbers. A slot contains the number plus 1; 0 is a free
    /// slot. The table is at most half full.
    slots: Vec<u32>,
    state: RandomState,
}

impl Texts {
    pub(crate) fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let begin = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[begin..self.ends[id]]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of a text; `None` if the text is not in the table.
    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        self.slots.get(self.slot(text)?)?.checked_sub(1)
    }

    /// Returns the number of a text. Adds the text if it is not in the table.
    pub(crate) fn id(&mut self, text: &[u8]) -> u32 {
        if self.slots.len() <= 2 * self.len() {
            self.slots = vec![0; (4 * self.len()).next_power_of_two().max(64)];
            for id in 0..self.len() as u32 {
                let slot = self.slot(self.get(id)).unwrap_or_default();
                self.slots[slot] = id + 1;
            }
        }
        let slot = self.slot(text).unwrap_or_default();
        match self.slots[slot].checked_sub(1) {
            Some(id) => id,
            None => {
                self.bytes.extend_from_slice(text);
                self.ends.push(self.bytes.len());
                self.slots[slot] = self.len() as u32;
                self.slots[slot] - 1
            }
        }
    }

    /// Returns the slot of a text, or the free slot where it belongs; `None` if the table is empty.
    fn slot(&self, text: &[u8]) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut slot = self.state.hash_one(text) as usize & last;
        loop {
            match self.slots[slot].checked_sub(1) {
                Some(id) if self.get(id) != text => slot = (slot + 1) & last,
                _ => return Some(slot),
            }
        }
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

    #[test]
    fn every_value_is_kept_and_comes_back() {
        let mut texts = Texts::default();
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Bool(false),
            Value::Number(Number::Whole(-7)),
            Value::Number(Number::Digits("123456789012345678901")),
            Value::Number(Number::Float(-0.5)),
            Value::Text("ä".into()),
            Value::List,
            Value::Dict,
        ];
        let kept = values
            .each_ref()
            .map(|value| Kept::of(value, Kept::Missing, &mut texts));
        let packed = Packed::new(&kept);
        assert_eq!(packed.all(), kept);
        let back = packed.all().map(|kept| kept.value(&texts).unwrap());
        assert_eq!(back, values);
        assert_eq!(Kept::Missing.value(&texts), None);
        assert_eq!(Packed::new(&[Kept::Missing]).get(0), Kept::Missing);
    }

    #[test]
    fn a_text_has_one_number_however_often_it_comes() {
        let mut texts = Texts::default();
        assert_eq!(texts.find(b"a"), None);
        for round in 0..2 {
            for number in 0..1_000_u32 {
                let text = format!("name {number}");
                assert_eq!(texts.id(text.as_bytes()), number, "{round}");
                assert_eq!(texts.get(number), text.as_bytes());
                assert_eq!(texts.find(text.as_bytes()), Some(number));
            }
        }
        assert_eq!(texts.len(), 1_000);
        assert_eq!(texts.id(b""), 1_000);
        assert_eq!(texts.find(b"other"), None);
    }
}
