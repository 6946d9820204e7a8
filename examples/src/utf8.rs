//! Five ways to learn how many characters a text has: one clever, two plain, and two that stop early.
//!
//! On a text of [`LENGTH`] characters all but [`std_4925`] give the same answer, and [`std_4925`] does 1.5 % less work than
//! [`std_5000`]: a small difference that is known to be there. [`std_count`] and [`std_count_rev`] differ by direction alone, and
//! [`mod@std`] shows what one gains by not decoding at all.

use std::hint::black_box;

use crate::random::SplitMix64;

/// The characters of the text for which [`std_5000`] and [`std_4925`] are named.
pub const LENGTH: usize = 5_000;

/// The answer of the standard library, which counts the bytes that begin a character, many at once.
#[inline(never)]
pub fn std(text: &str) -> usize {
    text.chars().count()
}

/// Decodes every character, from the front.
#[inline(never)]
pub fn std_count(text: &str) -> usize {
    let mut chars = text.chars();
    let mut count = 0;
    while chars.next().is_some() {
        count += 1;
    }
    count
}

/// Decodes every character, from the back.
#[inline(never)]
pub fn std_count_rev(text: &str) -> usize {
    let mut chars = text.chars().rev();
    let mut count = 0;
    while chars.next().is_some() {
        count += 1;
    }
    count
}

/// Counts no further than 5,000 characters.
pub fn std_5000(text: &str) -> usize {
    at_most(text, black_box(5_000))
}

/// Counts no further than 4,925 characters.
pub fn std_4925(text: &str) -> usize {
    at_most(text, black_box(4_925))
}

/// Both run this very code. Compiled twice, the two loops lie where the linker puts them, and that alone made the one with
/// less to do 25 % faster in one build and 18 % slower in the next: the branches of a decoder depend on their addresses.
#[inline(never)]
fn at_most(text: &str, characters: usize) -> usize {
    text.chars().take(characters).count()
}

/// A text of `length` characters, of which about a quarter each take one, two, three and four bytes.
///
/// The widths follow one another without a pattern, so a decoder that branches on them cannot have its branches foretold.
pub fn text(seed: u64, length: usize) -> String {
    let mut random = SplitMix64::new(seed);
    let mut text = String::with_capacity(4 * length);
    text.extend((0..length).map(|_| character(&mut random)));
    text
}

/// One character; its width is drawn first, then the character among those of that width.
fn character(random: &mut SplitMix64) -> char {
    /// Code points that are set aside for UTF-16 and no characters.
    const SURROGATES: std::ops::Range<u64> = 0xD800..0xE000;

    let mut among = |from: u64, to: u64| from + random.below(to - from);
    let code_point = match among(1, 5) {
        1 => among(0x20, 0x7F),
        2 => among(0x80, 0x800),
        3 => {
            let drawn = among(0x800, 0x1_0000 - (SURROGATES.end - SURROGATES.start));
            if drawn < SURROGATES.start {
                drawn
            } else {
                drawn + (SURROGATES.end - SURROGATES.start)
            }
        }
        _ => among(0x1_0000, 0x11_0000),
    };
    // Below 0x11_0000 and no surrogate: the replacement is never needed.
    u32::try_from(code_point)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Counter = fn(&str) -> usize;

    const WHOLE: [Counter; 3] = [std, std_count, std_count_rev];

    #[test]
    fn every_function_counts_the_characters_of_random_text() {
        for (seed, length) in [(1, 0), (2, 1), (3, 17), (4, 4_924), (5, LENGTH)] {
            let text = text(seed, length);
            for count in WHOLE {
                assert_eq!(count(&text), length);
            }
            assert_eq!(std_5000(&text), length);
            assert_eq!(std_4925(&text), length.min(4_925));
        }
    }

    #[test]
    fn functions_with_a_limit_stop_at_it() {
        let text = text(6, 6_000);
        assert_eq!(std_5000(&text), 5_000);
        assert_eq!(std_4925(&text), 4_925);
        for count in WHOLE {
            assert_eq!(count(&text), 6_000);
        }
    }

    #[test]
    fn a_text_is_decided_by_its_seed() {
        assert_eq!(text(7, 100), text(7, 100));
        assert_ne!(text(7, 100), text(8, 100));
    }

    #[test]
    fn a_text_mixes_characters_of_all_four_widths_evenly() {
        let mut counts = [0; 4];
        for character in text(9, 10_000).chars() {
            counts[character.len_utf8() - 1] += 1;
        }
        assert!(
            counts.iter().all(|count| (2_250..2_750).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn characters_come_from_both_sides_of_the_surrogates_and_are_never_stand_ins() {
        let text = text(10, 100_000);
        assert!(text.chars().any(|c| ('\u{C000}'..='\u{D7FF}').contains(&c)));
        assert!(text.chars().any(|c| ('\u{E000}'..'\u{F000}').contains(&c)));
        // One in 250,000 would be drawn by chance; this seed draws none.
        assert!(!text.contains(char::REPLACEMENT_CHARACTER));
    }
}
