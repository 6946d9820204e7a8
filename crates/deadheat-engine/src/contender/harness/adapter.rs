//! The trait that every harness adapter implements, with its input and output types.

use std::path::{Path, PathBuf};

use deadheat_model::{Harness, Program, RepetitionLength};

use crate::command_failure::HarnessError;
use crate::error::EngineError;
use crate::subprocess::Captured;

/// The part of a race that depends on the harness: recognises its programs, builds the arguments of
/// a launch and parses the results.
pub(crate) trait HarnessAdapter: Sync {
    /// Returns arguments with which a program of this harness only prints a text that identifies
    /// it. Empty if the program cannot be of this harness, or if its file already identifies it.
    fn question(&self, _program: &Program) -> &'static [&'static str] {
        &["--help"]
    }

    /// Returns texts that only this harness prints in reply to `question`, on standard output or
    /// error. They must not occur in the question, because programs echo their arguments.
    fn marks(&self) -> &'static [&'static str];

    fn recognises(&self, answer: &str) -> bool {
        self.marks().iter().all(|mark| answer.contains(mark))
    }

    /// Returns the arguments of a second attempt if `answer` is how a release of this harness
    /// rejects `question`; `None` otherwise. [`Self::recognises_list`] judges the second answer.
    fn question_after(&self, _answer: &str) -> Option<&'static [&'static str]> {
        None
    }

    /// Returns true if `printed`, the standard output of a successful second attempt, identifies
    /// this harness.
    fn recognises_list(&self, _printed: &str) -> bool {
        false
    }

    /// Returns the command in front of the path of a file that the system cannot execute directly,
    /// such as a jar; empty for an executable.
    fn starter(&self, _executable: &Path) -> Vec<String> {
        Vec::new()
    }

    /// Returns the arguments that list the benchmarks; they follow the user's arguments.
    fn listing(&self) -> Question;

    /// Returns the benchmarks of a program, or the reason why it does not list them.
    fn benchmarks(
        &self,
        ask: &mut dyn FnMut(&Question) -> Result<Captured, EngineError>,
    ) -> Result<Result<Vec<String>, String>, EngineError> {
        let captured = ask(&self.listing())?;
        Ok(match captured.problem() {
            Some(problem) => Err(problem),
            None => Ok(self.listed(&String::from_utf8_lossy(&captured.output))),
        })
    }

    /// Parses the names of the benchmarks in a listing, in order. A name that occurs twice cannot
    /// be raced.
    fn listed(&self, printed: &str) -> Vec<String>;

    /// Returns the display name of a listed benchmark, which may be shorter than the program's own
    /// name for it.
    fn name_of<'a>(&self, benchmark: &'a str) -> &'a str {
        benchmark
    }

    fn requested_repetitions(
        &self,
        arguments: &[String],
    ) -> Result<RequestedRepetitions, ArgumentError>;

    fn results(&self) -> ResultsBy;

    /// Returns the arguments that follow the user's. Messages contain only these, so that the user
    /// can repeat the launch.
    fn arguments(&self, ask: &LaunchRequest<'_>) -> Vec<String>;

    /// Returns the arguments that direct the results to `path`, the path of a file descriptor.
    fn arguments_for_results(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns environment variables to set or to remove (`None`). `folder` is the folder for
    /// results, if the harness writes some.
    fn environment(&self, _folder: &str) -> Vec<(&'static str, Option<String>)> {
        Vec::new()
    }

    /// Parses the repetitions of a successful launch in the order they ran, at least one.
    fn repetitions(
        &self,
        ask: &LaunchRequest<'_>,
        yielded: &LaunchOutput,
    ) -> Result<Vec<Repetition>, HarnessError>;

    fn printed_error(&self, _printed: &str) -> Option<HarnessError> {
        None
    }

    fn tells_cpu_time(&self) -> bool {
        false
    }

    fn repetitions_of_a_launch(&self) -> (u32, u32) {
        (1, u32::MAX)
    }

    /// Returns the repetitions per launch if the user sets none; `None` if a calibration run
    /// determines them.
    fn usual_repetitions(&self) -> Option<u32> {
        None
    }

    /// Returns the seconds per repetition if the user sets none: a thousand times the resolution of
    /// any clock. Longer repetitions gain little, because launches differ from each other by more
    /// than a thousandth: 21 benchmarks of identical executables took 57 s at 3 ms and 29 s at 1
    /// ms, with equally many dead heats.
    fn repetition_seconds(&self) -> f64 {
        0.001
    }

    /// Returns true if a launch accepts a number of iterations; `None` if only some releases do, so
    /// deadheat tries it.
    fn counts_iterations(&self) -> Option<bool>;

    /// Returns true if the name of the benchmark shows that its source sets the length of a
    /// repetition.
    fn has_own_length(&self, _benchmark: &str) -> bool {
        false
    }

    /// Returns the repetitions that the source of the benchmark sets, parsed from its name.
    fn own_repetitions(&self, _benchmark: &str) -> Option<u32> {
        None
    }

    /// Returns true if the name of the benchmark shows that its source fixes the iterations.
    fn fixes_iterations(&self, _benchmark: &str) -> bool {
        false
    }

    /// Returns true if the name of the benchmark shows that its source measures wall time instead
    /// of CPU time.
    fn is_timed_by_wall(&self, _benchmark: &str) -> bool {
        false
    }

    /// Returns the number of threads that the benchmark runs on, derived from the user's own
    /// arguments and its name.
    fn threads(&self, _own: &[String], _benchmark: &str) -> u32 {
        1
    }

    fn may_be_pinned(&self) -> bool {
        true
    }

    /// Returns true if a launch with the user's arguments `own` reports its repetitions without a
    /// warm-up. The calibration run then finds how many of the first ones to discard. Other
    /// harnesses warm up before the first repetition.
    fn shows_warm_up(&self, _own: &[String]) -> bool {
        false
    }
}

/// The arguments and variables of a launch that only prints information.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

impl Question {
    pub(crate) fn by(arguments: &[&str]) -> Self {
        Self {
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            variables: &[],
        }
    }
}

/// Returns a regular expression that matches only `text`, in the syntax of Rust, Go and Java.
pub(crate) fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for sign in text.chars() {
        if sign.is_ascii_punctuation() && sign != '_' {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern
}

/// Returns the names in a listing in libtest's terse format, with lines of the form `NAME:
/// benchmark`.
pub(crate) fn tersely_listed(printed: &str) -> Vec<&str> {
    let lines = printed.lines();
    lines
        .filter_map(|line| line.strip_suffix(": benchmark"))
        .collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultsBy {
    /// The program writes to a file, whose path leads to a pipe.
    Pipe,
    StandardOutput,
    /// The program writes files into a temporary folder of the launch. Only files with these names
    /// are read.
    Folder(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchRequest<'a> {
    /// The user's own arguments.
    pub(crate) own: &'a [String],
    /// The name of the benchmark, as the program knows it.
    pub(crate) benchmark: &'a str,
    pub(crate) length: RepetitionLength,
    pub(crate) repetitions: u32,
}

impl LaunchRequest<'_> {
    /// Returns true if the user gave this option, alone or with a value after `=`.
    pub(crate) fn is_given(&self, option: &str) -> bool {
        value_of(self.own, option).is_some()
    }
}

/// The error text for an option that changes what a launch measures or reports.
pub(crate) const LEAVE_AWAY: &str = "a race launches each benchmark separately and reads all its \
                                     measurements; leave this option out";

/// Returns an error if the arguments contain one of `options`, which change what a launch measures
/// or reports.
pub(crate) fn refuse(arguments: &[String], options: &[&'static str]) -> Result<(), ArgumentError> {
    match options.iter().find(|it| value_of(arguments, it).is_some()) {
        None => Ok(()),
        Some(refused) => Err(ArgumentError::new(*refused, LEAVE_AWAY)),
    }
}

/// Returns the value of the last occurrence of an option: the text after `=`, the next argument, or
/// an empty text. `None` if the option is missing.
pub(crate) fn value_of<'a>(arguments: &'a [String], option: &str) -> Option<&'a str> {
    let mut found = None;
    for (at, argument) in arguments.iter().enumerate() {
        if let Some(rest) = argument.strip_prefix(option) {
            match rest.strip_prefix('=') {
                Some(value) => found = Some(value),
                None if rest.is_empty() => {
                    found = Some(arguments.get(at + 1).map_or("", String::as_str));
                }
                None => {}
            }
        }
    }
    found
}

/// Returns the number after an option, or an error with the text `problem` if it is below `least`
/// or not a number. `None` if the option is missing.
pub(crate) fn number_of(
    arguments: &[String],
    option: &'static str,
    least: u32,
    problem: &str,
) -> Result<Option<u32>, ArgumentError> {
    match value_of(arguments, option).map(str::parse) {
        None => Ok(None),
        Some(Ok(number)) if number >= least => Ok(Some(number)),
        Some(_) => Err(ArgumentError::new(option, problem)),
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct LaunchOutput {
    /// The text from the pipe or from standard output.
    pub(crate) text: String,
    /// The end of standard error, on one line.
    pub(crate) stderr_tail: String,
    /// The requested files, with paths relative to the folder of the launch.
    pub(crate) files: Vec<(PathBuf, String)>,
}

impl LaunchOutput {
    /// Returns the text of the report, or an error if it is empty.
    pub(crate) fn report(&self, harness: Harness) -> Result<&str, HarnessError> {
        if self.text.trim().is_empty() {
            return Err(HarnessError::NoReport {
                harness,
                stderr_tail: self.stderr_tail.clone(),
            });
        }
        Ok(&self.text)
    }

    pub(crate) fn file(&self, path: &Path) -> Option<&str> {
        let mut files = self.files.iter();
        let file = files.find(|(file, _)| file == path);
        file.map(|(_, content)| content.as_str())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repetition {
    /// The number of iterations of all threads of the repetition together.
    pub(crate) iterations: u64,
    /// The number of iterations that a launch must request to get a repetition like this one. It is
    /// smaller than `iterations` if each of several threads runs the requested number, or if the
    /// harness runs several iterations for each requested one.
    pub(crate) told: u64,
    /// Nanoseconds per iteration.
    pub(crate) wall_ns: f64,
    /// CPU nanoseconds per iteration, if the harness reports them.
    pub(crate) cpu_ns: Option<f64>,
    pub(crate) threads: u32,
    /// Values of user-defined counters, possibly negative; `None` if the value is not a number.
    pub(crate) counters: Vec<(String, Option<f64>)>,
}

impl Repetition {
    /// Creates a single-threaded repetition without counters from its iterations and their total
    /// nanoseconds. `index` is its place in the launch, for the error if a number is impossible.
    pub(crate) fn timed(index: usize, iterations: f64, took_ns: f64) -> Result<Self, HarnessError> {
        let no = |field, found: f64| HarnessError::Number {
            field,
            repetition: index,
            found: found.to_string(),
        };
        if !(1.0..=MOST_NS).contains(&iterations) {
            return Err(no("iterations", iterations));
        }
        if !(0.0..=MOST_NS).contains(&took_ns) {
            return Err(no("time", took_ns));
        }
        Ok(Self {
            iterations: iterations as u64,
            told: iterations as u64,
            wall_ns: took_ns / iterations,
            cpu_ns: None,
            threads: 1,
            counters: Vec::new(),
        })
    }

    /// Returns the value of a counter, or an error text if it cannot be recorded.
    pub(crate) fn counter(&self, name: &str) -> Result<f64, String> {
        let mut counters = self.counters.iter();
        match counters.find(|(known, _)| known == name) {
            Some((_, Some(value))) if *value >= 0.0 => Ok(*value),
            Some((_, Some(value))) => Err(value.to_string()),
            Some((_, None)) => Err("no finite number".to_owned()),
            None => Err("it is missing".to_owned()),
        }
    }

    pub(crate) fn took_ns(&self) -> f64 {
        self.wall_ns * self.iterations as f64
    }
}

/// The CPU time of one side of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationUsage {
    /// The smallest CPU time of an iteration among all repetitions, in nanoseconds.
    pub cpu_ns: f64,
    /// CPU time as a share of the wall time, in the repetition that took the least wall time.
    pub busy: f64,
}

impl IterationUsage {
    /// Returns the usage, or `None` without repetitions or if the harness reports no CPU time.
    pub(crate) fn of(repetitions: &[Repetition]) -> Option<Self> {
        let cpu_ns = repetitions.iter().map(|row| row.cpu_ns);
        let cpu_ns = cpu_ns.collect::<Option<Vec<f64>>>()?;
        let walls = repetitions.iter().map(|row| row.wall_ns);
        let (wall_ns, cpu_of_it) = walls
            .zip(cpu_ns.iter())
            .min_by(|(one, _), (other, _)| one.total_cmp(other))?;
        Some(Self {
            cpu_ns: cpu_ns.iter().copied().fold(f64::INFINITY, f64::min),
            busy: cpu_of_it / wall_ns,
        })
    }
}

/// The maximum nanoseconds of a repetition, about 584 years. Larger numbers are invalid.
pub(crate) const MOST_NS: f64 = u64::MAX as f64;

/// The repetitions that the user's own arguments request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestedRepetitions {
    /// The requested length of a repetition.
    pub length: Option<RepetitionLength>,
    /// The requested number of repetitions per launch.
    pub repetitions: Option<u32>,
}

/// A user's argument that a race does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// The name of the argument.
    pub flag: String,
    /// The problem with the argument, and advice.
    pub problem: String,
}

impl ArgumentError {
    pub(crate) fn new(flag: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            flag: flag.into(),
            problem: problem.into(),
        }
    }
}

impl std::fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { flag, problem } = self;
        write!(f, "{flag}: {problem}")
    }
}

impl std::error::Error for ArgumentError {}
