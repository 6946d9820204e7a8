//! Makes the command that repeats a race: the user's command line, with the seed of the race added,
//! and without `--save`, because the run file already exists.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// Returns a random seed of 32 bits, because some JSON readers lose integers beyond 2^53.
pub fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

/// Derives the 32-bit seed of race number `place` from `seed`, for races that share one seed: the
/// batches of a calibration, and the second race of a gate. The result depends only on the
/// arguments. SplitMix64 mixes the bits, so that races with consecutive numbers do not make the
/// same random choices.
pub fn derived_seed(seed: u64, place: u64) -> u64 {
    let mut mixed = seed.wrapping_add(place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) >> 32
}

/// The position of the options of a race in a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Options {
    /// Before the first `--`, as for `deadheat`.
    BeforeDashes,
    /// After the first `--`, as for `cargo bench` and `cargo deadheat`.
    BehindDashes,
}

/// Returns the command that repeats a race: `words`, with `--seed` added unless they contain it,
/// and without `--save`, because deadheat never overwrites a run file.
pub fn repeating(words: &[String], options: Options, seed: u64) -> Vec<String> {
    let dashes = words.iter().position(|word| word == "--");
    let (head, tail) = words.split_at(dashes.unwrap_or(words.len()));
    let (ours, others) = match options {
        Options::BeforeDashes => (head, tail),
        Options::BehindDashes => (tail.get(1..).unwrap_or_default(), head),
    };
    let mut ours = without_save(ours);
    let seeded = |word: &String| word == "--seed" || word.starts_with("--seed=");
    if !ours.iter().any(seeded) {
        ours.extend(["--seed".to_owned(), seed.to_string()]);
    }
    match options {
        Options::BeforeDashes => [ours, others.to_vec()].concat(),
        Options::BehindDashes => [others.to_vec(), vec!["--".to_owned()], ours].concat(),
    }
}

/// Returns the path of the running program. On Linux this is `/proc/self/exe`, which is the started
/// executable even if its file was replaced since. With the path of the file, later replicates of
/// the race would run another build.
pub fn this_program() -> Result<PathBuf, Failure> {
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe().map_err(|error| {
        Failure::Internal(format!("cannot find the path of this program: {error}"))
    })
}

/// Returns the command line of this process.
pub fn words_of_this_process() -> Vec<String> {
    let words = std::env::args_os();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

fn without_save(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--save" => {
                words.next();
            }
            word if word.starts_with("--save=") => {}
            _ => kept.push(word.clone()),
        }
    }
    kept
}

/// Returns the command that runs this bench target again: a cargo command if cargo started it,
/// otherwise the program itself. `words` are the command line of the process, `package` is the
/// value of `CARGO_PKG_NAME`, and `placed` is true if `cargo deadheat` started the bench target.
pub(crate) fn of_a_bench_target(
    words: &[String],
    package: Option<&str>,
    placed: bool,
    seed: u64,
) -> Vec<String> {
    let own = words.first().map(Path::new).and_then(Path::file_stem);
    let target = own.and_then(|stem| stem.to_str()?.rsplit_once('-'));
    let (Some(package), Some((target, _hash))) = (package, target) else {
        // Cargo did not start the program, so all options belong to the race.
        return repeating(words, Options::BeforeDashes, seed);
    };
    let verb = if placed { "deadheat" } else { "bench" };
    let cargo = ["cargo", verb, "-p", package, "--bench", target, "--"];
    let cargo = cargo.iter().map(|word| (*word).to_owned());
    // Cargo adds `--bench` to the arguments itself, so the command must not contain it.
    let race = words[1..].iter().filter(|word| *word != "--bench").cloned();
    let words: Vec<String> = cargo.chain(race).collect();
    repeating(&words, Options::BehindDashes, seed)
}

#[cfg(test)]
mod tests {
    use super::Options::{BeforeDashes, BehindDashes};
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_seed_stands_where_the_options_of_the_race_stand() {
        for (line, options, expected) in [
            (
                "deadheat run a b",
                BeforeDashes,
                "deadheat run a b --seed 7",
            ),
            (
                "deadheat run -- a --seed",
                BeforeDashes,
                "deadheat run --seed 7 -- a --seed",
            ),
            (
                "deadheat run --seed 3 -- a",
                BeforeDashes,
                "deadheat run --seed 3 -- a",
            ),
            (
                "deadheat run --seed=3 -- a",
                BeforeDashes,
                "deadheat run --seed=3 -- a",
            ),
            (
                "cargo deadheat main",
                BehindDashes,
                "cargo deadheat main -- --seed 7",
            ),
            (
                "cargo deadheat main -- sum",
                BehindDashes,
                "cargo deadheat main -- sum --seed 7",
            ),
        ] {
            assert_eq!(repeating(&words(line), options, 7).join(" "), expected);
        }
    }

    #[test]
    fn the_file_of_the_run_is_left_out_because_it_is_there() {
        let line = "deadheat run --save run.jsonl --save=x -q -- a --save b";
        assert_eq!(
            repeating(&words(line), BeforeDashes, 7).join(" "),
            "deadheat run -q --seed 7 -- a --save b"
        );
    }

    #[test]
    fn a_bench_target_is_started_by_cargo_where_cargo_started_it() {
        let typed = words("target/release/deps/text_a-0123456789abcdef sum --alpha 1% --bench");
        let again = |package, placed| of_a_bench_target(&typed, package, placed, 7).join(" ");
        assert_eq!(
            again(Some("words"), false),
            "cargo bench -p words --bench text_a -- sum --alpha 1% --seed 7"
        );
        assert_eq!(
            again(Some("words"), true),
            "cargo deadheat -p words --bench text_a -- sum --alpha 1% --seed 7"
        );
        assert_eq!(
            again(None, false),
            "target/release/deps/text_a-0123456789abcdef sum --alpha 1% --bench --seed 7"
        );
        assert_eq!(
            of_a_bench_target(&[], Some("words"), false, 7),
            ["--seed", "7"]
        );
    }

    #[test]
    fn seeds_differ_and_are_small_enough_for_any_reader() {
        let seeds: Vec<u64> = (0..8).map(|_| random_seed()).collect();
        assert!(seeds.iter().all(|seed| *seed < 1 << 53), "{seeds:?}");
        assert!(seeds.iter().any(|seed| *seed != seeds[0]), "{seeds:?}");
    }
}
