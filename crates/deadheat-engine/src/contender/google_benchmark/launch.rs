//! One launch of a Google Benchmark executable, and its report.

use std::io::pipe;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_model::{Program, RepetitionLength};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use rand_core::Rng;

use super::arguments::GoogleBenchmarkOptions;
use super::report::{Repetition, repetitions};
use crate::affinity::Cores;
use crate::command_failure::{GoogleBenchmarkCause, GoogleBenchmarkError};
use crate::error::EngineError;
use crate::executable::{PLACEMENTS_VARIABLE, Variant};
use crate::function_failure::{FunctionError, FunctionFailure};
use crate::interrupt::Interrupts;
use crate::memory_layout::PathPadding;
use crate::order::Moment;
use crate::random::{Purpose, stream};
use crate::subprocess::{Answer, Ending, run_captured};

/// Variables by which Google Benchmark takes flags that would break a launch.
const VARIABLES: [&str; 3] = [
    "BENCHMARK_LIST_TESTS",
    "BENCHMARK_DRY_RUN",
    "BENCHMARK_FORMAT",
];

/// Seconds of iterations before the first repetition when their number is
/// fixed: otherwise finding that number is what warms up.
const WARM_UP_SECONDS: f64 = 0.003;
const WARM_UP_FLAG: &str = "--benchmark_min_warmup_time=";

/// The program, the benchmark and the surroundings of a launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch<'a> {
    /// The benchmark, the contender and the moment, for the message should it
    /// fail.
    pub(super) position: (&'a str, &'a str, Moment),
    pub(super) program: &'a Program,
    /// By which the program knows it.
    pub(super) benchmark: &'a str,
    pub(super) length: RepetitionLength,
    pub(super) repetitions: u32,
    /// A neutral link of the program, started instead under the same name.
    pub(super) variant: Option<&'a Variant>,
    /// The padding of its path beside that of the other side.
    pub(super) path_padding: Option<PathPadding>,
    /// Bytes of padding in the environment.
    pub(super) padding: usize,
}

/// Everything it takes to launch.
pub(super) struct Launcher<'a> {
    pub(super) options: GoogleBenchmarkOptions,
    pub(super) interrupts: &'a Interrupts,
    pub(super) cores: Cores,
    /// Processes started since somebody last asked.
    pub(super) launched: u64,
}

impl<'a> Launcher<'a> {
    pub(super) fn new(
        options: GoogleBenchmarkOptions,
        interrupts: &'a Interrupts,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            cores: Cores::new(&options.pinning)?,
            options,
            interrupts,
            launched: 0,
        })
    }

    /// Random numbers for one purpose at one place of the run.
    pub(super) fn stream(&self, purpose: Purpose, place: [u64; 3]) -> impl Rng + use<> {
        stream(self.options.seed, purpose, place)
    }

    /// Settles on the core of this place, or on none when several threads need
    /// more than one.
    pub(super) fn settle(&self, place: [u64; 3], threads: u32) -> Result<(), EngineError> {
        let draw = self.stream(Purpose::Core, place).next_u64();
        Ok(self.cores.settle(draw, threads)?)
    }

    /// Launches it and reads its report: all repetitions of the benchmark, at
    /// least one.
    pub(super) fn launch(&mut self, launch: &Launch<'_>) -> Result<Vec<Repetition>, EngineError> {
        let failure = |problem| failure(launch, problem);
        let not_started = |error: std::io::Error| {
            failure(GoogleBenchmarkError::Process {
                ending: Ending::NotStarted(error.to_string()),
                stderr_tail: String::new(),
            })
        };
        let (here, there) = pipe().map_err(not_started)?;
        fcntl(&there, FcntlArg::F_SETFD(FdFlag::empty()))
            .map_err(|errno| not_started(errno.into()))?;
        let own = startable(&launch.program.executable);
        let image = launch.variant.map_or(&own, |v| &v.executable);
        let (started, named) = match &launch.path_padding {
            None => (image.clone(), own.clone()),
            Some(path_padding) => (path_padding.started(image), path_padding.named(&own)),
        };
        let mut command = Command::new(started);
        command
            .arg0(named)
            .args(arguments(launch))
            .arg(format!(
                "--benchmark_out=/proc/self/fd/{}",
                there.as_raw_fd()
            ))
            .arg("--benchmark_out_format=json")
            .env_remove(PLACEMENTS_VARIABLE)
            .env("DEADHEAT_PADDING", "x".repeat(launch.padding));
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        let shown = self.options.shown;
        let answer = Answer::Piped { here, there, shown };
        let patience = self.options.timeout;
        let captured = run_captured(command, answer, None, patience, self.interrupts)?;
        self.launched += 1;
        let stderr_tail = captured.stderr_tail;
        if let Some(ending) = captured.ending {
            return Err(failure(GoogleBenchmarkError::Process {
                ending,
                stderr_tail,
            }));
        }
        let text = String::from_utf8_lossy(&captured.output);
        if text.trim().is_empty() {
            // Older releases begin no report at all then.
            return Err(failure(if stderr_tail.contains("match any benchmarks") {
                GoogleBenchmarkError::Missing
            } else {
                GoogleBenchmarkError::NoReport { stderr_tail }
            }));
        }
        repetitions(&text, launch.benchmark).map_err(failure)
    }
}

/// The failure of a launch.
pub(super) fn failure(launch: &Launch<'_>, problem: GoogleBenchmarkError) -> EngineError {
    let (benchmark, contender, moment) = launch.position;
    let cause = GoogleBenchmarkCause {
        what: problem,
        launch: again(launch),
    };
    EngineError::Function(Box::new(FunctionFailure {
        benchmark: benchmark.to_owned(),
        contender: Some(contender.to_owned()),
        moment,
        cause: FunctionError::GoogleBenchmark(Box::new(cause)),
        link: launch.variant.cloned(),
        stderr_tail: None,
    }))
}

/// The error, if it was a launch that failed.
pub(super) fn problem_of(error: &EngineError) -> Option<&GoogleBenchmarkError> {
    if let EngineError::Function(failure) = error
        && let FunctionError::GoogleBenchmark(cause) = &failure.cause
    {
        Some(&cause.what)
    } else {
        None
    }
}

/// The user's arguments, and behind them ours, which win.
fn arguments(launch: &Launch<'_>) -> Vec<String> {
    let mut arguments = launch.program.arguments.clone();
    let warms_up = arguments.iter().any(|a| a.starts_with(WARM_UP_FLAG));
    arguments.push(format!("--benchmark_filter={}", filter(launch.benchmark)));
    arguments.push(format!("--benchmark_repetitions={}", launch.repetitions));
    match launch.length {
        RepetitionLength::Iterations(count) => {
            arguments.push(format!("--benchmark_min_time={count}x"));
            if !warms_up {
                arguments.push(format!("{WARM_UP_FLAG}{WARM_UP_SECONDS}"));
            }
        }
        // Without a unit: releases before 1.8 know none.
        RepetitionLength::Seconds(seconds) => {
            arguments.push(format!("--benchmark_min_time={seconds}"));
        }
        RepetitionLength::Own => {}
    }
    arguments.push("--benchmark_report_aggregates_only=false".to_owned());
    arguments
}

/// A file beside us is started from there and not looked for in `PATH`.
pub(super) fn startable(executable: &Path) -> PathBuf {
    match executable.components().count() {
        1 => Path::new(".").join(executable),
        _ => executable.to_owned(),
    }
}

/// The launch as somebody would type it.
fn again(launch: &Launch<'_>) -> String {
    let executable = startable(&launch.program.executable);
    let words = [executable.display().to_string()].into_iter();
    let words = words.chain(arguments(launch)).map(|word| quoted(&word));
    words.collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./=:,+@%".contains(sign);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Signs that mean something in a regular expression, whichever of its dialects
/// the executable was built with.
const SPECIAL: &str = r".[\()*+?{}|^$]";

/// A pattern for `--benchmark_filter` that fits this name and no other.
fn filter(name: &str) -> String {
    let mut pattern = String::from("^");
    for sign in name.chars() {
        if SPECIAL.contains(sign) {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern.push('$');
    pattern
}

/// Returns whether the source of the benchmark says how long a repetition is.
pub(super) fn has_own_length(name: &str) -> bool {
    number(name, "iterations:").is_some() || part(name, "min_time:").is_some()
}

/// The repetitions that the source of the benchmark sets.
pub(super) fn own_repetitions(name: &str) -> Option<u32> {
    number(name, "repeats:")
}

/// The number of threads the benchmark runs on, as far as its name says.
pub(super) fn named_threads(name: &str) -> u32 {
    number(name, "threads:").unwrap_or(1)
}

fn number(name: &str, key: &str) -> Option<u32> {
    part(name, key)?.parse().ok().filter(|number| *number > 0)
}

/// The text behind a key in the part of the name that begins with it.
fn part<'a>(name: &'a str, key: &str) -> Option<&'a str> {
    let mut parts = name.split('/').skip(1);
    parts.find_map(|part| part.strip_prefix(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(length: RepetitionLength, own: &[&str]) -> Vec<String> {
        let program = Program {
            executable: "bench".into(),
            arguments: own.iter().map(|a| (*a).to_owned()).collect(),
        };
        arguments(&Launch {
            position: ("", "", Moment::Pilot),
            program: &program,
            benchmark: "a.b",
            length,
            repetitions: 8,
            variant: None,
            path_padding: None,
            padding: 0,
        })
    }

    #[test]
    fn the_users_arguments_come_first_so_that_ours_win() {
        let own = ["--benchmark_filter=.", "--verbose"];
        assert_eq!(
            words(RepetitionLength::Seconds(0.003), &own),
            [
                "--benchmark_filter=.",
                "--verbose",
                r"--benchmark_filter=^a\.b$",
                "--benchmark_repetitions=8",
                "--benchmark_min_time=0.003",
                "--benchmark_report_aggregates_only=false",
            ]
        );
    }

    #[test]
    fn a_fixed_number_of_iterations_is_warmed_up_unless_the_user_says_how() {
        let words_of = |own: &[&str]| words(RepetitionLength::Iterations(70), own).join(" ");
        let without = words_of(&[]);
        assert!(without.contains("--benchmark_min_time=70x --benchmark_min_warmup_time=0.003"));
        let with = words_of(&["--benchmark_min_warmup_time=1"]);
        assert_eq!(with.matches("warmup").count(), 1, "{with}");
        let own = words(RepetitionLength::Own, &[]).join(" ");
        assert!(!own.contains("min_time"), "{own}");
    }

    #[test]
    fn what_is_typed_again_is_quoted_for_a_shell() {
        assert_eq!(
            quoted("--benchmark_min_time=0.003"),
            "--benchmark_min_time=0.003"
        );
        assert_eq!(
            quoted("--benchmark_filter=^a's$"),
            r"'--benchmark_filter=^a'\''s$'"
        );
        assert_eq!(quoted(""), "''");
        assert_eq!(startable(Path::new("bench")), Path::new("./bench"));
        assert_eq!(startable(Path::new("b/bench")), Path::new("b/bench"));
    }

    #[test]
    fn a_filter_fits_one_name_only() {
        assert_eq!(filter("sum/100"), "^sum/100$");
        assert_eq!(
            filter("BM<std::vector<int>, a.b>/{1}|x*y+(z)?[0]^$\\"),
            r"^BM<std::vector<int>, a\.b>/\{1\}\|x\*y\+\(z\)\?\[0\]\^\$\\$"
        );
    }

    #[test]
    fn names_tell_length_repetitions_and_threads() {
        assert!(has_own_length("a/8/iterations:7"));
        assert!(has_own_length("a/min_time:0.500/threads:2"));
        assert!(!has_own_length("a/8"));
        assert!(!has_own_length("iterations:7"));
        assert_eq!(own_repetitions("a/repeats:3/manual_time"), Some(3));
        assert_eq!(own_repetitions("a/repeats:x"), None);
        assert_eq!(named_threads("a/real_time/threads:4"), 4);
        assert_eq!(named_threads("a"), 1);
    }
}
