//! The contenders of a calibration: the arguments with which they are started, and the work that
//! their processes do.
//!
//! All contenders run the same function at the same address, with a number of rounds as the
//! argument. In a race between equal sides, both sides pass the same number, so code layout cannot
//! cause a difference. (`docs/placement.md` covers the effects of code layout.) In a race with a
//! known difference, one side passes a larger number, so the difference has exactly the stated
//! size. Two builds are two copies of one executable: two files and two processes with the same
//! code layout.

use std::ffi::{OsStr, OsString};
use std::hint::black_box;
use std::process::ExitCode;

use deadheat_engine::{Clock, OsClock, WorkerPipes, serve};

use crate::exit::Failure;
use crate::suite::Suite;

/// A function that does the work of a contender. Its argument is the number of rounds, each of
/// which takes the same time.
pub type Work = fn(u32) -> [u32; 8];

/// The argument that selects functions that race in one process.
const FUNCTIONS: &str = "functions";
/// The argument that selects one side of a race of two builds.
const BUILD: &str = "build";
/// The argument that selects a command.
const COMMAND: &str = "command";

/// The numbers of rounds are multiples of this, so that even a difference of 0.1% is a whole number
/// of rounds.
const UNIT: u32 = 1_000;
/// The target time of a function, in nanoseconds. It is long compared with a clock reading, and
/// short compared with the time between two interrupts.
const FUNCTION_NS: f64 = 50_000.0;
/// The target time of the work of a command, in nanoseconds. Starting the command takes about as
/// long again.
const COMMAND_NS: f64 = 1_000_000.0;
/// The number of times that the work is timed; the shortest time counts.
const ATTEMPTS: u32 = 50;

/// The numbers of rounds with which the work takes the target times on this machine. Both are
/// multiples of [`UNIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rounds {
    pub(super) function: u32,
    pub(super) command: u32,
}

impl Rounds {
    pub(super) fn measured(work: Work) -> Self {
        let attempt = |_| {
            let clock = OsClock::start();
            black_box(work(black_box(UNIT)));
            clock.elapsed_ns().max(1)
        };
        let least = (0..ATTEMPTS).map(attempt).min().unwrap_or(1);
        Self::lasting(least as f64)
    }

    fn lasting(unit_ns: f64) -> Self {
        // Limited to a million units, so that the product with `UNIT` fits into a `u32`.
        let units = |ns: f64| (ns / unit_ns).round().clamp(1.0, 1e6) as u32;
        Self {
            function: UNIT * units(FUNCTION_NS),
            command: UNIT * units(COMMAND_NS),
        }
    }
}

/// Returns `rounds` increased by the share `change`. The result is exact for all differences in
/// `CHANGES`.
pub(super) fn more(rounds: u32, change: f64) -> u32 {
    rounds + (f64::from(rounds) * change).round() as u32
}

/// Formats a number of rounds as an argument. All numbers have the same length, because the length
/// of the arguments moves the heap of a process.
fn word(rounds: u32) -> String {
    format!("{rounds:010}")
}

fn words(role: &str, what: &str, rounds: impl IntoIterator<Item = u32>) -> Vec<String> {
    let first = [role.to_owned(), what.to_owned()];
    first
        .into_iter()
        .chain(rounds.into_iter().map(word))
        .collect()
}

/// Returns the arguments for a process with one benchmark per candidate. `baseline` and
/// `candidates` are numbers of rounds.
pub(super) fn functions_words(role: &str, baseline: u32, candidates: &[u32]) -> Vec<String> {
    words(
        role,
        FUNCTIONS,
        [baseline].into_iter().chain(candidates.iter().copied()),
    )
}

/// Returns the arguments for a process with one benchmark per entry of `contenders`, each with a
/// single contender that does this number of rounds.
pub(super) fn build_words(role: &str, contenders: &[u32]) -> Vec<String> {
    words(role, BUILD, contenders.iter().copied())
}

pub(super) fn command_words(role: &str, rounds: u32) -> Vec<String> {
    words(role, COMMAND, [rounds])
}

fn contender(work: Work, rounds: u32) -> impl FnMut() -> [u32; 8] + 'static {
    // The number is hidden from the compiler, so that it cannot generate special code for one
    // contender.
    move || work(black_box(rounds))
}

/// Returns a suite with one benchmark per candidate. The name of a benchmark is its index.
pub(super) fn functions(work: Work, baseline: u32, candidates: &[u32]) -> Suite {
    let mut suite = Suite::new();
    for (place, candidate) in candidates.iter().enumerate() {
        suite
            .benchmark(place.to_string())
            .baseline("baseline", contender(work, baseline))
            .candidate("candidate", contender(work, *candidate));
    }
    suite
}

/// Returns a suite with one benchmark per contender. The name of a benchmark is its index.
fn build(work: Work, contenders: &[u32]) -> Suite {
    let mut suite = Suite::new();
    for (place, rounds) in contenders.iter().enumerate() {
        let _ = suite
            .benchmark(place.to_string())
            .baseline("work", contender(work, *rounds));
    }
    suite
}

/// Runs this process as a contender of a calibration: as a worker, or as a command that does the
/// work once. `words` are the arguments after the role. `main` must call this function before
/// anything else.
pub fn do_work(words: &[OsString], work: Work) -> ExitCode {
    let what = words.first().and_then(|word| word.to_str());
    // A program that inspects this one may add a word that is not a number.
    let number = |word: &OsString| OsStr::to_str(word)?.parse::<u32>().ok();
    let rounds: Vec<u32> = words.iter().skip(1).filter_map(number).collect();
    if let (Some(COMMAND), [rounds]) = (what, &rounds[..]) {
        black_box(work(black_box(*rounds)));
        return ExitCode::SUCCESS;
    }
    let suite = match (what, &rounds[..]) {
        (Some(FUNCTIONS), [baseline, candidates @ ..]) => functions(work, *baseline, candidates),
        (Some(BUILD), contenders) => build(work, contenders),
        _ => Suite::new(),
    };
    match WorkerPipes::inherited() {
        Some(pipes) => {
            serve(pipes, suite);
            ExitCode::SUCCESS
        }
        None => {
            let text = "only `deadheat calibrate` starts this, as a contender of its races";
            Failure::Usage(text.to_owned()).report().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::CHANGES;

    #[test]
    fn every_known_difference_is_exact() {
        for rounds in [1_000, 2_000, 17_000, 40_000_000] {
            for change in CHANGES {
                let exact = f64::from(rounds) * change;
                let more = more(rounds, change) - rounds;
                assert!((f64::from(more) - exact).abs() < 1e-6, "{rounds} {change}");
            }
            assert_eq!(more(rounds, 0.0), rounds);
        }
    }

    #[test]
    fn work_lasts_about_as_long_as_it_should_and_is_counted_by_the_thousand() {
        let fast = Rounds::lasting(20_000.0);
        assert_eq!((fast.function, fast.command), (3_000, 50_000));
        let slow = Rounds::lasting(1e9);
        assert_eq!((slow.function, slow.command), (1_000, 1_000));
        let none = Rounds::lasting(1e-9);
        assert!(more(none.command, 0.1) > none.command);
    }

    #[test]
    fn both_sides_are_told_by_words_of_one_length() {
        let lengths = |words: Vec<String>| words.iter().map(String::len).collect::<Vec<_>>();
        assert_eq!(
            lengths(build_words("role", &[1_000, 1_000])),
            lengths(build_words("role", &[999_999_000, 1_100]))
        );
    }

    #[test]
    fn a_benchmark_for_every_candidate() {
        let work: Work = |_| [0; 8];
        let suite = functions(work, 1_000, &[1_000, 1_001]);
        assert_eq!(suite.names().collect::<Vec<_>>(), ["0", "1"]);
        assert_eq!(build(work, &[1, 2, 3]).names().count(), 3);
    }
}
