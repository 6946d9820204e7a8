//! The workload of a contender: a command, a function in a worker process, or a program that holds
//! benchmarks. For a command, also what is launched, its files, and the hooks around each launch.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::metric::Metric;

/// The workload of a contender when its turn comes.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// A process is launched.
    Command(Box<CommandLine>),
    /// A function of the program that races is called inside a worker process.
    Function(FunctionCalls),
    /// A function of another program is called inside a worker process.
    Worker(Box<WorkerCalls>),
    /// An executable of a harness that knows nothing of deadheat is launched.
    Harness(Box<HarnessCalls>),
    /// Nothing: its samples were read from a file.
    Recording,
}

impl Workload {
    /// The calls of a function, when this is one.
    pub fn calls(&self) -> Option<FunctionCalls> {
        match self {
            Workload::Function(calls) => Some(*calls),
            Workload::Worker(worker) => Some(worker.calls),
            Workload::Command(_) | Workload::Harness(_) | Workload::Recording => None,
        }
    }

    /// The same, to be changed.
    pub fn calls_mut(&mut self) -> Option<&mut FunctionCalls> {
        match self {
            Workload::Function(calls) => Some(calls),
            Workload::Worker(worker) => Some(&mut worker.calls),
            Workload::Command(_) | Workload::Harness(_) | Workload::Recording => None,
        }
    }
}

/// The calls of a function in each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionCalls {
    /// Calls in a sample by each thread, the same for all contenders of a benchmark.
    pub iterations: u64,
    /// Threads that call it at the same time.
    pub threads: u32,
}

impl Default for FunctionCalls {
    /// One call by one thread.
    fn default() -> Self {
        Self {
            iterations: 1,
            threads: 1,
        }
    }
}

/// An executable and what it is told, as it is started for every replicate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The executable, or a script that names its interpreter.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder in which it runs; that of deadheat when `None`.
    pub directory: Option<PathBuf>,
}

/// A function of a program that speaks the worker protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerCalls {
    /// The program that is started.
    pub program: Program,
    /// The process of the replicate that calls it: contenders of a benchmark with the same number
    /// share one, which has this program.
    pub process: usize,
    /// The benchmark, by which the program knows it.
    pub benchmark: String,
    /// The contender, by which the program knows it.
    pub contender: String,
    /// Its calls.
    pub calls: FunctionCalls,
}

/// A harness whose executables are raced as they are, launch by launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Harness {
    /// Google Benchmark, of C++.
    #[default]
    GoogleBenchmark,
    /// criterion, of Rust.
    Criterion,
    /// divan, of Rust.
    Divan,
    /// The test executables of Go, which hold benchmarks too.
    Go,
    /// JMH, of Java.
    Jmh,
    /// pyperf, of Python.
    Pyperf,
}

impl Harness {
    /// All of them, in the order in which programs are asked.
    pub const ALL: [Self; 6] = [
        Self::GoogleBenchmark,
        Self::Criterion,
        Self::Divan,
        Self::Go,
        Self::Jmh,
        Self::Pyperf,
    ];

    /// The name of the harness, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::GoogleBenchmark => "Google Benchmark",
            Self::Criterion => "criterion",
            Self::Divan => "divan",
            Self::Go => "Go",
            Self::Jmh => "JMH",
            Self::Pyperf => "pyperf",
        }
    }

    /// The word for it in files and options.
    pub fn key(self) -> &'static str {
        match self {
            Self::GoogleBenchmark => "google_benchmark",
            Self::Criterion => "criterion",
            Self::Divan => "divan",
            Self::Go => "go",
            Self::Jmh => "jmh",
            Self::Pyperf => "pyperf",
        }
    }
}

/// A benchmark of an executable of a harness.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HarnessCalls {
    /// The harness.
    pub harness: Harness,
    /// The program that is launched.
    pub program: Program,
    /// The benchmark, by which the program knows it.
    pub benchmark: String,
    /// The length of each repetition.
    pub length: RepetitionLength,
    /// Repetitions at the beginning of a launch that are not counted, as what is called then is
    /// still warming up.
    pub warm_up: u32,
    /// The number of iterations of a repetition, over all threads, that the pilot saw; `None` if it
    /// differs between the repetitions of a launch, and in files of older releases.
    pub planned_iterations: Option<u64>,
    /// Repetitions in a launch behind these, each a sample.
    pub repetitions: u32,
    /// Threads that the benchmark runs on.
    pub threads: u32,
    /// True if the program starts itself again at fixed addresses, as Google Benchmark does from
    /// 1.9.3 on. Then all sides are started at fixed addresses, so none of them
    /// starts itself again.
    pub fixes_addresses: bool,
}

/// The length of a repetition in a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RepetitionLength {
    /// So many iterations, whatever they take.
    Iterations(u64),
    /// As many iterations as take at least so many seconds, which the executable finds anew in
    /// every launch: criterion and Google Benchmark before 1.8 know no other way.
    Seconds(f64),
    /// As the source of the benchmark says.
    #[default]
    Own,
}

/// One command, split into the words that are executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The text as the user wrote it, parameters filled in.
    pub text: String,
    /// Program and arguments; with a shell, the shell's words and the text.
    pub words: Vec<String>,
    /// The folder that the program and the commands around it run in; `None` for that of deadheat.
    /// A program with a slash in its name is looked for from there. Files of input and output are
    /// not.
    pub directory: Option<PathBuf>,
    /// Where standard input comes from.
    pub input: Input,
    /// Where standard output goes.
    pub output: Output,
    /// The time limit of one launch.
    pub timeout: Option<Duration>,
    /// Which exit codes count as success.
    pub exit_policy: ExitPolicy,
    /// Commands run around the launches, untimed.
    pub hooks: Hooks,
}

impl CommandLine {
    /// The program as it is found from deadheat's own folder: a path, or a name to be looked for in
    /// `PATH`.
    pub fn program(&self) -> Option<PathBuf> {
        let program = self.words.first()?;
        Some(match &self.directory {
            Some(directory) if program.contains('/') => directory.join(program),
            _ => Path::new(program).to_owned(),
        })
    }
}

/// Where a command reads from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// `/dev/null`.
    #[default]
    Null,
    /// A file, opened anew for every launch.
    File(PathBuf),
}

/// Where a command writes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe that is read and discarded. Some programs do less work when they see `/dev/null`.
    Pipe,
    /// deadheat's own standard output and error.
    Inherit,
    /// A file, truncated before every launch.
    File(PathBuf),
    /// Kept for the length of a block and compared between the contenders.
    Compared,
    /// Kept for the length of a block, and the values of the plan read from it.
    Read,
}

/// The numbers that commands report of themselves, each a metric of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The numbers, in column order.
    pub read: Vec<Value>,
    /// The file that every launch writes them to; `None` for standard output.
    pub file: Option<PathBuf>,
}

/// A number that a command reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The metric it becomes.
    pub metric: Metric,
    /// The place where it stands: a JSON pointer where the text begins with `/`, else a regular
    /// expression, whose first group is the number.
    pub pattern: String,
}

/// Which exit codes count as success.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExitPolicy {
    /// Only 0.
    #[default]
    ZeroOnly,
    /// Every exit code; a death by signal is still a failure.
    Any,
    /// 0 and these.
    Also(Vec<i32>),
}

impl ExitPolicy {
    /// Returns true if a command that exited with `code` did its work.
    pub fn accepts(&self, code: i32) -> bool {
        code == 0
            || match self {
                ExitPolicy::ZeroOnly => false,
                ExitPolicy::Any => true,
                ExitPolicy::Also(codes) => codes.contains(&code),
            }
    }
}

/// Commands run around the launches of a contender; each is a list of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Once, before the first launch of the benchmark.
    pub setup: Option<Vec<String>>,
    /// Before every launch, warm-ups included.
    pub prepare: Option<Vec<String>>,
    /// After every launch.
    pub conclude: Option<Vec<String>>,
    /// Once, after the last launch of the benchmark.
    pub cleanup: Option<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_a_slash_lies_where_the_command_runs() {
        let program = |word: &str, directory: Option<&str>| {
            let line = CommandLine {
                text: word.to_owned(),
                words: vec![word.to_owned()],
                directory: directory.map(PathBuf::from),
                input: Input::Null,
                output: Output::Null,
                timeout: None,
                exit_policy: ExitPolicy::ZeroOnly,
                hooks: Hooks::default(),
            };
            line.program().unwrap()
        };
        assert_eq!(program("./tool", Some("/old")), Path::new("/old/./tool"));
        assert_eq!(program("/bin/sh", Some("/old")), Path::new("/bin/sh"));
        assert_eq!(program("sh", Some("/old")), Path::new("sh"));
        assert_eq!(program("./tool", None), Path::new("./tool"));
    }

    #[test]
    fn an_exit_policy_always_accepts_zero() {
        for policy in [
            ExitPolicy::ZeroOnly,
            ExitPolicy::Any,
            ExitPolicy::Also(vec![3]),
        ] {
            assert!(policy.accepts(0));
        }
    }

    #[test]
    fn an_exit_policy_accepts_the_listed_codes_and_no_others() {
        let policy = ExitPolicy::Also(vec![1, 3]);
        assert!(policy.accepts(1) && policy.accepts(3));
        assert!(!policy.accepts(2));
    }
}
