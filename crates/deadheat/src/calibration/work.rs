//! The work that races, from both sides: the words that ask for it, and the
//! process that does it.
//!
//! All contenders run one and the same function, at one address, with a number
//! that says how often it goes round. A thing against itself is that function
//! twice with the same number, so placement, which a calibration is not about
//! and which `docs/placement.md` deals with, cannot make a difference. A known
//! difference is another number, and so exactly as large as it says. Two builds
//! are two copies of one executable: two files and two processes, whose code
//! lies alike.

use std::ffi::{OsStr, OsString};
use std::hint::black_box;
use std::process::ExitCode;

use deadheat_engine::{Clock, OsClock, WorkerPipes, serve};

use crate::exit::Failure;
use crate::suite::Suite;

/// The work: so many rounds, each of which takes as long as the others.
pub type Work = fn(u32) -> [u32; 8];

/// A word for contenders that race in one process.
const FUNCTIONS: &str = "functions";
/// A word for one side of two builds.
const BUILD: &str = "build";
/// A word for a command.
const COMMAND: &str = "command";

/// Rounds are counted by the thousand, of which even 0.1 % is whole.
const UNIT: u32 = 1_000;
/// The time of a function, in nanoseconds: long beside reading the clock, short beside the pauses
/// between interrupts.
const FUNCTION_NS: f64 = 50_000.0;
/// The time of a command, beside being started, which takes as long.
const COMMAND_NS: f64 = 1_000_000.0;
/// The least of so many attempts is what the work takes.
const ATTEMPTS: u32 = 50;

/// Rounds of the work on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rounds {
    /// Of a function.
    pub(super) function: u32,
    /// Of a command.
    pub(super) command: u32,
}

impl Rounds {
    /// As many as last about as long as they should here.
    pub(super) fn measured(work: Work) -> Self {
        let attempt = |_| {
            let clock = OsClock::start();
            black_box(work(black_box(UNIT)));
            clock.elapsed_ns().max(1)
        };
        let least = (0..ATTEMPTS).map(attempt).min().unwrap_or(1);
        Self::lasting(least as f64)
    }

    /// The same, where a unit of them takes so many nanoseconds.
    fn lasting(unit_ns: f64) -> Self {
        // `as` saturates, and far below the number that would not fit.
        let units = |ns: f64| (ns / unit_ns).round().clamp(1.0, 1e6) as u32;
        Self {
            function: UNIT * units(FUNCTION_NS),
            command: UNIT * units(COMMAND_NS),
        }
    }
}

/// So many rounds and a share of them more: exactly, for every difference that
/// is raced.
pub(super) fn more(rounds: u32, change: f64) -> u32 {
    rounds + (f64::from(rounds) * change).round() as u32
}

/// A number as a word. All are equally long: what a process is told moves its
/// heap.
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

/// Returns the words that make a process hold a benchmark for each of these candidates.
pub(super) fn functions_words(role: &str, baseline: u32, candidates: &[u32]) -> Vec<String> {
    words(
        role,
        FUNCTIONS,
        [baseline].into_iter().chain(candidates.iter().copied()),
    )
}

/// Returns the words that make a process hold a benchmark for each of these, with a contender.
pub(super) fn build_words(role: &str, contenders: &[u32]) -> Vec<String> {
    words(role, BUILD, contenders.iter().copied())
}

/// Returns the words that make a process do the work and leave.
pub(super) fn command_words(role: &str, rounds: u32) -> Vec<String> {
    words(role, COMMAND, [rounds])
}

/// The contender of so many rounds.
fn contender(work: Work, rounds: u32) -> impl FnMut() -> [u32; 8] + 'static {
    // Unknown to the compiler, so that it cannot make code of its own for one.
    move || work(black_box(rounds))
}

/// A suite with a benchmark for each candidate, named by its place.
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

/// A suite with a benchmark for each contender, named by its place.
fn build(work: Work, contenders: &[u32]) -> Suite {
    let mut suite = Suite::new();
    for (place, rounds) in contenders.iter().enumerate() {
        let _ = suite
            .benchmark(place.to_string())
            .baseline("work", contender(work, *rounds));
    }
    suite
}

/// Does the work that the words behind the role ask for, as a worker or as a
/// command: all there is to do for a process that was started to race. To be
/// called first of all in `main`.
pub fn do_work(words: &[OsString], work: Work) -> ExitCode {
    let what = words.first().and_then(|word| word.to_str());
    // Whoever inspects a program may add a word that is no number.
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
            let text = "this is what `deadheat calibrate` races, and no command";
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
