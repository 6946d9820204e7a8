//! A string of Python: code points, lone surrogates among them.

use std::borrow::Cow;

/// A string of Python, in UTF-8 in which a lone surrogate takes three bytes like any other code point of its size. The
/// order of the bytes is that of the code points.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text<'a>(Cow<'a, [u8]>);

impl<'a> Text<'a> {
    /// Bytes that came from the file as they are, or were put together from escapes.
    pub(crate) fn new(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes; UTF-8 unless there are lone surrogates.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// How many code points it has: `len` of Python.
    pub fn len(&self) -> usize {
        code_points(&self.0)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text without lone surrogates, which Python refuses to print. `None` when it has some.
    pub fn printable(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The text for an expression to search; lone surrogates are replaced.
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }
}

/// Bytes that begin a code point.
fn code_points(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| **b & 0xc0 != 0x80).count()
}

/// The code points of a text, surrogates included.
pub(crate) fn scalars(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = *bytes.get(at)?;
        let (long, head) = match first {
            0..=0x7f => (1, u32::from(first)),
            0x80..=0xdf => (2, u32::from(first & 0x1f)),
            0xe0..=0xef => (3, u32::from(first & 0x0f)),
            _ => (4, u32::from(first & 0x07)),
        };
        let rest = bytes.get(at + 1..at + long).unwrap_or_default();
        at += long;
        Some(
            rest.iter()
                .fold(head, |sum, b| sum << 6 | u32::from(b & 0x3f)),
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_one_code_point_that_cannot_be_printed() {
        let mut bytes = b"a\xc3\xa4".to_vec();
        push_scalar(&mut bytes, 0xd800);
        push_scalar(&mut bytes, 0x1f600);
        let text = Text::new(bytes);
        assert_eq!(text.len(), 4);
        assert_eq!(text.printable(), None);
        assert_eq!(
            scalars(text.as_bytes()).collect::<Vec<_>>(),
            [0x61, 0xe4, 0xd800, 0x1f600]
        );
    }
}
