//! The one trait of all harnesses: what an adapter says of its harness, and what it is given.

use std::path::{Path, PathBuf};

use deadheat_model::{Harness, Program, RepetitionLength};

use crate::command_failure::HarnessError;
use crate::error::EngineError;
use crate::subprocess::Captured;

/// A harness, as far as races need to know it: whether a program is of it, what a launch is told,
/// and what the launch yields. Everything else is common to all of them.
pub(crate) trait HarnessAdapter: Sync {
    /// Arguments that make a program of this harness say what it is, and do nothing else; none
    /// if the program cannot be of this harness, or its file says so.
    fn question(&self, _program: &Program) -> &'static [&'static str] {
        &["--help"]
    }

    /// Words that only this harness prints, on standard output or error, as its answer to the
    /// question. They must not be words of the question, because programs echo their arguments.
    fn marks(&self) -> &'static [&'static str];

    /// Returns true if `answer` contains every mark.
    fn recognises(&self, answer: &str) -> bool {
        self.marks().iter().all(|mark| answer.contains(mark))
    }

    /// The words that start a file which the system cannot start by itself, in front of its path;
    /// none for an executable.
    fn starter(&self, _executable: &Path) -> Vec<String> {
        Vec::new()
    }

    /// The question for the benchmarks, behind the arguments of the user.
    fn listing(&self) -> Question;

    /// The benchmarks of a program, or why it does not list them.
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

    /// The benchmarks of such a listing, in its order. A name that stands there twice cannot be
    /// raced.
    fn listed(&self, printed: &str) -> Vec<String>;

    /// The name for people of a benchmark of the listing, which the program may know by more.
    fn name_of<'a>(&self, benchmark: &'a str) -> &'a str {
        benchmark
    }

    /// Reads what the user's own arguments ask for.
    fn requested_repetitions(
        &self,
        arguments: &[String],
    ) -> Result<RequestedRepetitions, ArgumentError>;

    /// The way by which the results of a launch come.
    fn results(&self) -> ResultsBy;

    /// The arguments behind the user's. They alone stand in messages as well, so that anybody can
    /// launch the same benchmark again.
    fn arguments(&self, ask: &LaunchRequest<'_>) -> Vec<String>;

    /// The arguments that say where results go, to a descriptor by its path.
    fn arguments_for_results(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }

    /// Variables of the environment that are set, with `folder` for results where these come in
    /// one, or taken out of it.
    fn environment(&self, _folder: &str) -> Vec<(&'static str, Option<String>)> {
        Vec::new()
    }

    /// Reads the repetitions of a launch that ended well, in the order they ran, at least one.
    fn repetitions(
        &self,
        ask: &LaunchRequest<'_>,
        yielded: &LaunchOutput,
    ) -> Result<Vec<Repetition>, HarnessError>;

    /// The error that a launch which ended with a failure printed on its standard output.
    fn printed_error(&self, _printed: &str) -> Option<HarnessError> {
        None
    }

    /// Returns whether the harness tells the CPU time of its repetitions.
    fn tells_cpu_time(&self) -> bool {
        false
    }

    /// The fewest and the most repetitions that a launch can have.
    fn repetitions_of_a_launch(&self) -> (u32, u32) {
        (1, u32::MAX)
    }

    /// The repetitions of a launch where nobody says; `None` where a pilot finds how many pay.
    fn usual_repetitions(&self) -> Option<u32> {
        None
    }

    /// Seconds that a repetition lasts where nobody says: a thousand times the step of any clock.
    /// Launches differ by more than longer repetitions would tell: at 3 ms, 21 benchmarks of the
    /// same bytes took 57 s, at 1 ms 29 s, with as many dead heats.
    fn repetition_seconds(&self) -> f64 {
        0.001
    }

    /// Returns whether a launch can be told a number of iterations; `None` where some releases
    /// can, which is then tried.
    fn counts_iterations(&self) -> Option<bool>;

    /// Returns whether the source of the benchmark says how long a repetition is, as its name tells.
    fn has_own_length(&self, _benchmark: &str) -> bool {
        false
    }

    /// The repetitions that the source of the benchmark sets, as its name tells.
    fn own_repetitions(&self, _benchmark: &str) -> Option<u32> {
        None
    }

    /// Returns whether the source of the benchmark fixes its iterations, as its name tells.
    fn fixes_iterations(&self, _benchmark: &str) -> bool {
        false
    }

    /// Returns whether the source of the benchmark has it timed by other than its CPU time, as its
    /// name tells.
    fn is_timed_by_wall(&self, _benchmark: &str) -> bool {
        false
    }

    /// The number of threads the benchmark runs on, as far as the user's own arguments and its name
    /// tell.
    fn threads(&self, _own: &[String], _benchmark: &str) -> u32 {
        1
    }

    /// Returns whether launches may be held on one core.
    fn may_be_pinned(&self) -> bool {
        true
    }

    /// Returns whether a launch with these arguments of the user reports its repetitions from the
    /// first on: then the pilot looks how many of them to leave away. Other harnesses warm up
    /// before the first.
    fn shows_warm_up(&self, _own: &[String]) -> bool {
        false
    }
}

/// A question to a program, which answers and ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    pub(crate) arguments: Vec<String>,
    /// Variables of the environment, with their values.
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

impl Question {
    /// A question by arguments alone.
    pub(crate) fn by(arguments: &[&str]) -> Self {
        Self {
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            variables: &[],
        }
    }
}

/// A text as a regular expression of Rust, Go or Java that fits nothing else.
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

/// The names in a listing of the form that libtest calls terse: a line each, `NAME: benchmark`.
pub(crate) fn tersely_listed(printed: &str) -> Vec<&str> {
    let lines = printed.lines();
    lines
        .filter_map(|line| line.strip_suffix(": benchmark"))
        .collect()
}

/// The way by which the results of a launch come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultsBy {
    /// The program writes them to a file, for which it is given a pipe.
    Pipe,
    /// It prints them on its standard output.
    StandardOutput,
    /// It writes files into a folder that is made for the launch and removed after it; of these the
    /// ones of these names are read.
    Folder(&'static [&'static str]),
}

/// The request of one launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchRequest<'a> {
    /// The arguments of the user.
    pub(crate) own: &'a [String],
    /// The benchmark, by which the program knows it.
    pub(crate) benchmark: &'a str,
    pub(crate) length: RepetitionLength,
    pub(crate) repetitions: u32,
}

impl LaunchRequest<'_> {
    /// Returns whether the user gave this option, alone or with a value after `=`.
    pub(crate) fn is_given(&self, option: &str) -> bool {
        value_of(self.own, option).is_some()
    }
}

/// The problem with an option that makes of a launch something else.
pub(crate) const LEAVE_AWAY: &str = "a race launches every benchmark by itself and reads all that it measures; leave this option out";

/// Refuses options that make of a launch something else than a measurement that is read here.
pub(crate) fn refuse(arguments: &[String], options: &[&'static str]) -> Result<(), ArgumentError> {
    match options.iter().find(|it| value_of(arguments, it).is_some()) {
        None => Ok(()),
        Some(refused) => Err(ArgumentError::new(*refused, LEAVE_AWAY)),
    }
}

/// The value of an option, the last where it is given several times: behind `=`, the next word, or
/// nothing. `None` where it is not given.
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

/// The number behind an option, which is at least so much; otherwise there is this problem. `None`
/// where the option is not given.
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

/// The yield of a launch that ended well.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaunchOutput {
    /// The text that came through the pipe or on standard output.
    pub(crate) text: String,
    /// The end of standard error, in one line.
    pub(crate) stderr_tail: String,
    /// The files that were asked for, by their paths below the folder of the launch.
    pub(crate) files: Vec<(PathBuf, String)>,
}

impl LaunchOutput {
    /// The text of a report, or the error that this harness wrote none.
    pub(crate) fn report(&self, harness: Harness) -> Result<&str, HarnessError> {
        if self.text.trim().is_empty() {
            return Err(HarnessError::NoReport {
                harness,
                stderr_tail: self.stderr_tail.clone(),
            });
        }
        Ok(&self.text)
    }

    /// The content of a file.
    pub(crate) fn file(&self, path: &Path) -> Option<&str> {
        let mut files = self.files.iter();
        let file = files.find(|(file, _)| file == path);
        file.map(|(_, content)| content.as_str())
    }
}

/// One repetition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repetition {
    /// Iterations of all its threads.
    pub(crate) iterations: u64,
    /// The number that a launch is told to have so many: the iterations of one thread, where the
    /// harness makes no more of it.
    pub(crate) told: u64,
    /// Nanoseconds per iteration.
    pub(crate) wall_ns: f64,
    /// The same of CPU time, where the harness tells it.
    pub(crate) cpu_ns: Option<f64>,
    pub(crate) threads: u32,
    /// Values of the user's counters; `None` where there is no number. A value may be negative.
    pub(crate) counters: Vec<(String, Option<f64>)>,
}

impl Repetition {
    /// A repetition by its iterations and the nanoseconds they took together, on one thread and
    /// without counters. `index` is its place in the launch, for the error where the numbers
    /// cannot be.
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

    /// The value of a counter, when it is one that can be recorded.
    pub(crate) fn counter(&self, name: &str) -> Result<f64, String> {
        let mut counters = self.counters.iter();
        match counters.find(|(known, _)| known == name) {
            Some((_, Some(value))) if *value >= 0.0 => Ok(*value),
            Some((_, Some(value))) => Err(value.to_string()),
            Some((_, None)) => Err("no finite number".to_owned()),
            None => Err("it is not there".to_owned()),
        }
    }

    /// Nanoseconds that the whole repetition took.
    pub(crate) fn took_ns(&self) -> f64 {
        self.wall_ns * self.iterations as f64
    }
}

/// The CPU time of one side of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationUsage {
    /// CPU time of an iteration in the repetition that took least of it, in nanoseconds.
    pub cpu_ns: f64,
    /// CPU time as a share of the wall time, in the repetition that took the least wall time.
    pub busy: f64,
}

impl IterationUsage {
    /// `None` without repetitions, or where these tell no CPU time.
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

/// Nanoseconds that a repetition takes at most, some 584 years: more is no time, and sums of such
/// numbers are none either.
pub(crate) const MOST_NS: f64 = u64::MAX as f64;

/// The repetitions requested in the user's own arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestedRepetitions {
    /// The length of a repetition.
    pub length: Option<RepetitionLength>,
    /// Repetitions in a launch.
    pub repetitions: Option<u32>,
}

/// An argument that a race cannot do with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// The argument.
    pub flag: String,
    /// The problem with it, and what to do.
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
