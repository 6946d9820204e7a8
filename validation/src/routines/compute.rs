//! Routines that the processor alone bounds: what they read and write fits
//! into the nearest caches.

use std::cell::RefCell;

use deadheat_examples::random::SplitMix64;
use deadheat_examples::utf8::text;

/// Bytes that are encoded; with what comes of them less than half of a cache
/// of the second level, and of many first ones.
const BYTES: usize = 12 << 10;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes, and room for them in base64.
pub struct Base64 {
    bytes: Vec<u8>,
    room: RefCell<Vec<u8>>,
}

impl Default for Base64 {
    /// Always the same random bytes: as many as fill whole groups of three.
    fn default() -> Self {
        let mut random = SplitMix64::new(64);
        let bytes: Vec<u8> = (0..BYTES).map(|_| random.bits() as u8).collect();
        let room = RefCell::new(vec![0; BYTES / 3 * 4]);
        Self { bytes, room }
    }
}

impl Base64 {
    /// Encodes all bytes, so many times over.
    #[inline(never)]
    pub fn encode(&self, times: usize) -> u8 {
        let mut room = self.room.borrow_mut();
        for _ in 0..times {
            encode(&self.bytes, &mut room);
        }
        room[room.len() / 2]
    }
}

#[inline(never)]
fn encode(bytes: &[u8], room: &mut [u8]) {
    for (three, four) in bytes.chunks_exact(3).zip(room.chunks_exact_mut(4)) {
        let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        for (place, letter) in four.iter_mut().enumerate() {
            *letter = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
        }
    }
}

/// A text, and room for it in UTF-16.
pub struct Transcoding {
    text: String,
    room: RefCell<Vec<u16>>,
}

impl Default for Transcoding {
    /// Always the same text, of characters of all widths.
    fn default() -> Self {
        let text = text(16, 5_000);
        let room = RefCell::new(Vec::with_capacity(text.len()));
        Self { text, room }
    }
}

impl Transcoding {
    /// Transcodes the text, and answers with the length of the result.
    #[inline(never)]
    pub fn to_utf_16(&self) -> usize {
        let mut room = self.room.borrow_mut();
        room.clear();
        room.extend(self.text.encode_utf16());
        room.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let mut room = [0; 8];
        encode(b"foobar", &mut room);
        assert_eq!(&room, b"Zm9vYmFy");
        encode(&[0xFB, 0xEF, 0xFF, 0, 0, 0], &mut room);
        assert_eq!(&room, b"++//AAAA");
    }

    #[test]
    fn all_of_the_input_is_worked_through() {
        let work = Base64::default();
        work.encode(2);
        let room = work.room.borrow();
        assert_eq!(room.len(), BYTES / 3 * 4);
        assert!(room.iter().all(|letter| ALPHABET.contains(letter)));
        let work = Transcoding::default();
        assert_eq!(work.to_utf_16(), work.text.encode_utf16().count());
        assert_eq!(String::from_utf16(&work.room.borrow()).unwrap(), work.text);
    }
}
