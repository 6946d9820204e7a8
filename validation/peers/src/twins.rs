//! One function that branches on its data, twice: the same instructions at two addresses.

const WORDS: usize = 1024;

/// Words that take about 25 µs.
pub const WORDS_FOR_25_MICROSECONDS: u64 = 12_000;

pub type Words = [u64; WORDS];

pub static RANDOM: Words = random();

const fn random() -> Words {
    let mut words = [0; WORDS];
    let (mut at, mut state) = (0, 0_u64);
    while at < WORDS {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        words[at] = word ^ (word >> 31);
        at += 1;
    }
    words
}

/// Reads every seventh word, and adds or takes away as the word has it. The
/// words are handed over, for code that names their address would not be the
/// same at two places.
#[inline(always)]
fn branching(words: &Words, count: u64) -> u64 {
    let (mut sum, mut apart) = (0_u64, 0_u64);
    for step in 0..count {
        let word = words[(step.wrapping_mul(7) % WORDS as u64) as usize];
        if word & 3 == 0 {
            sum = sum.wrapping_add(word);
        } else if word & 24 == 8 {
            sum = sum.wrapping_sub(word >> 3);
            apart = apart.wrapping_add(sum);
        } else {
            sum = (sum ^ word).wrapping_add(3);
        }
    }
    sum.wrapping_add(apart)
}

// Compilers fold functions that are equal into one. Those in sections of
// different names stay two.

#[unsafe(link_section = ".text.peers_twin_one")]
#[unsafe(export_name = "peers_twin_one")]
#[inline(never)]
pub extern "C" fn one(words: &Words, count: u64) -> u64 {
    branching(words, count)
}

#[unsafe(link_section = ".text.peers_twin_two")]
#[unsafe(export_name = "peers_twin_two")]
#[inline(never)]
pub extern "C" fn two(words: &Words, count: u64) -> u64 {
    branching(words, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_agree_at_two_addresses() {
        assert_ne!(one as *const () as usize, two as *const () as usize);
        for count in [0, 1, 1_000, WORDS_FOR_25_MICROSECONDS] {
            assert_eq!(one(&RANDOM, count), two(&RANDOM, count));
        }
        assert_ne!(one(&RANDOM, 1_000), one(&RANDOM, 1_001));
    }
}
