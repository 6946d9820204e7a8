//! Values as they are kept: a million rows are a gigabyte as trees of Python, and 60 MB so.

use std::hash::{BuildHasher, RandomState};

use crate::value::{Number, Text, Value};

/// A value in 16 bytes. Texts, and whole numbers of many digits, stand in [`Texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Kept {
    /// The field is not there.
    #[default]
    Missing,
    Null,
    Bool(bool),
    Whole(i64),
    /// The digits of a whole number that is larger than those.
    Digits(u32),
    Float(f64),
    Text(u32),
    List,
    Dict,
}

impl Kept {
    /// Keeps a value; `like` is what the last row had in its place.
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

    /// The value; `None` for a field that is not there.
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

/// Values side by side, in nine bytes each.
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

/// Texts, each once, one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Numbers of texts by their hashes, counted from 1; 0 where there is none. At most half full.
    slots: Vec<u32>,
    state: RandomState,
}

impl Texts {
    /// The text of this number.
    pub(crate) fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let begin = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[begin..self.ends[id]]
    }

    /// The number of them.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of a text that is among them.
    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        self.slots.get(self.slot(text)?)?.checked_sub(1)
    }

    /// The number of a text, new or known.
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

    /// The slot of a text, or the free one where it belongs; `None` without any slots.
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
