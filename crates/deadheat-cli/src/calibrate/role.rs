//! What the program does when it is itself what races.

use std::ffi::OsString;
use std::hint::black_box;
use std::process::ExitCode;

use deadheat::calibration::do_work;
use sha2::block_api::compress256;

/// The word that makes this program a contender. It is no subcommand: reading
/// those would take longer than many a command that is raced.
pub const ROLE: &str = "calibration-work";

/// The state that SHA-256 begins with.
const BEGINNING: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Takes the same block into the state of SHA-256 so many times: a chain in
/// which every round needs the one before, so that time grows in proportion to
/// the rounds. The block is that of a message without content, so after one
/// round the state is its digest.
#[inline(never)]
pub fn sha256(rounds: u32) -> [u32; 8] {
    let mut block = [0; 64];
    block[0] = 0x80;
    // Unknown to the compiler: else it could do equal work once for all.
    let mut state = black_box(BEGINNING);
    for _ in 0..rounds {
        compress256(&mut state, &[block]);
    }
    state
}

/// Races, if that is what this process was started for.
pub fn role(mut command_line: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let word = command_line.nth(1)?;
    (word == ROLE).then(|| do_work(&command_line.collect::<Vec<_>>(), sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_takes_another_block_into_the_digest() {
        assert_eq!(sha256(0), BEGINNING);
        // The published digest of nothing.
        let digest: Vec<String> = sha256(1).iter().map(|word| format!("{word:08x}")).collect();
        assert_eq!(
            digest.concat(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        let mut seen = std::collections::BTreeSet::new();
        assert!((0..100).all(|rounds| seen.insert(sha256(rounds))));
    }

    #[test]
    fn only_its_word_makes_the_program_a_contender() {
        let line = |words: &[&str]| {
            role(
                words
                    .iter()
                    .map(OsString::from)
                    .collect::<Vec<_>>()
                    .into_iter(),
            )
        };
        assert!(line(&["deadheat", "run", ROLE]).is_none());
        assert!(line(&["deadheat"]).is_none());
        assert!(line(&["deadheat", ROLE, "command", "0000000001"]).is_some());
    }
}
