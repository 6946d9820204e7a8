//! The workload of a contender: a command, a function in a worker process, or a program that
//! contains benchmarks. For a command, also its program, its files, and the hooks around each
//! launch.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::metric::Metric;

/// The work that a contender does in a slot.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// deadheat launches a command.
    Command(Box<CommandLine>),
    /// A worker process of the racing program calls a function.
    Function(FunctionCalls),
    /// A worker process of another program calls a function.
    Worker(Box<WorkerCalls>),
    /// deadheat launches an executable of another benchmark harness.
    Harness(Box<HarnessCalls>),
    /// Nothing is run, because the samples were read from a file.
    Recording,
}

impl Workload {
    /// Returns the calls, if the workload is a function.
    pub fn calls(&self) -> Option<FunctionCalls> {
        match self {
            Workload::Function(calls) => Some(*calls),
            Workload::Worker(worker) => Some(worker.calls),
            Workload::Command(_) | Workload::Harness(_) | Workload::Recording => None,
        }
    }

    /// Returns the calls for changes, if the workload is a function.
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
    /// Calls per sample and thread, the same for all contenders of a benchmark.
    pub iterations: u64,
    /// Number of threads that call the function at the same time.
    pub threads: u32,
}

impl Default for FunctionCalls {
    /// Returns one call by one thread.
    fn default() -> Self {
        Self {
            iterations: 1,
            threads: 1,
        }
    }
}

/// An executable with its arguments, which is started for every replicate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The executable, or a script that names its interpreter.
    pub executable: PathBuf,
    /// Arguments of the executable.
    pub arguments: Vec<String>,
    /// The working folder; `None` for that of deadheat.
    pub directory: Option<PathBuf>,
}

/// The first argument of this program as the worker of a race of servers.
pub const LOAD_WORKER: &str = "load-worker";

impl Program {
    /// Returns the command of the server, if the program is the worker of a race of servers.
    pub fn server(&self) -> Option<&str> {
        let (first, rest) = self.arguments.split_first()?;
        let mut rest = rest.iter().take_while(|word| *word != "--");
        let found = rest.find_map(|word| word.strip_prefix("--server="));
        found.filter(|_| first == LOAD_WORKER)
    }
}

/// A function of a program that speaks the worker protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerCalls {
    /// The program that is started.
    pub program: Program,
    /// The number of the worker process that calls the function. Contenders of a benchmark with the
    /// same number share one process.
    pub process: usize,
    /// The program's name for the benchmark.
    pub benchmark: String,
    /// The program's name for the contender.
    pub contender: String,
    /// Number of calls and threads per sample.
    pub calls: FunctionCalls,
}

/// A harness whose executables are raced unchanged, launch by launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Harness {
    /// Google Benchmark, of C++.
    #[default]
    GoogleBenchmark,
    /// criterion, of Rust.
    Criterion,
    /// divan, of Rust.
    Divan,
    /// Test executables of Go, which can contain benchmarks.
    Go,
    /// JMH, of Java.
    Jmh,
    /// pyperf, of Python.
    Pyperf,
}

impl Harness {
    /// All harnesses, in the order in which a program is tested for them.
    pub const ALL: [Self; 6] = [
        Self::GoogleBenchmark,
        Self::Criterion,
        Self::Divan,
        Self::Go,
        Self::Jmh,
        Self::Pyperf,
    ];

    /// Returns the name of the harness for people.
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

    /// Returns the name of the harness in files and options.
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

/// One benchmark in an executable of a harness.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HarnessCalls {
    /// The harness.
    pub harness: Harness,
    /// The program that is launched.
    pub program: Program,
    /// The program's name for the benchmark.
    pub benchmark: String,
    /// The length of each repetition.
    pub length: RepetitionLength,
    /// Repetitions at the beginning of a launch that are discarded as warm-up.
    pub warm_up: u32,
    /// The number of iterations of a repetition, over all threads, in the pilot (a short trial
    /// before the race). `None` if it differs between the repetitions of a launch, and in files of
    /// older releases.
    pub planned_iterations: Option<u64>,
    /// Repetitions of a launch after the warm-up, each of them a sample.
    pub repetitions: u32,
    /// Number of threads that the benchmark runs on.
    pub threads: u32,
    /// True if the program starts itself again at fixed addresses, as Google Benchmark does from
    /// 1.9.3 on. All sides are then started at fixed addresses, so that none of them starts itself
    /// again.
    pub fixes_addresses: bool,
}

/// The length of a repetition in a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RepetitionLength {
    /// This many iterations, whatever their duration.
    Iterations(u64),
    /// As many iterations as take at least this many seconds. The executable determines the number
    /// again in every launch; criterion, and Google Benchmark before 1.8, support no other way.
    Seconds(f64),
    /// The length set in the source of the benchmark.
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
    /// The working folder of the program and its hooks; `None` for that of deadheat. If the path of
    /// the program is relative, it is relative to this folder. The paths of input and output files
    /// are relative to deadheat's own working folder.
    pub directory: Option<PathBuf>,
    /// The source of standard input.
    pub input: Input,
    /// The destination of standard output.
    pub output: Output,
    /// The time limit of one launch.
    pub timeout: Option<Duration>,
    /// The exit codes that count as success.
    pub exit_policy: ExitPolicy,
    /// Commands run before and after the launches, untimed.
    pub hooks: Hooks,
}

impl CommandLine {
    /// Returns the program as a path that is valid in deadheat's own working folder, or as a name
    /// to be searched in `PATH`; `None` for an empty command.
    pub fn program(&self) -> Option<PathBuf> {
        let program = self.words.first()?;
        Some(match program.contains('/') {
            true => self.within(Path::new(program)),
            false => Path::new(program).to_owned(),
        })
    }

    /// Returns a path in the working folder of the command as a path that is valid in deadheat's
    /// own working folder.
    pub fn within(&self, path: &Path) -> PathBuf {
        match &self.directory {
            Some(directory) => directory.join(path),
            None => path.to_owned(),
        }
    }
}

/// The source of a command's standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// `/dev/null`.
    #[default]
    Null,
    /// A file, opened again for every launch.
    File(PathBuf),
}

/// The destination of a command's standard output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe that is read and discarded, because some programs do less work if they detect
    /// `/dev/null`.
    Pipe,
    /// deadheat's own standard output and error.
    Inherit,
    /// A file, truncated before every launch.
    File(PathBuf),
    /// The output is kept for one block and compared between the contenders.
    Compared,
    /// The output is kept for one block, and the values of the plan are read from it.
    Read,
}

/// The numbers that commands report themselves, each a metric of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The numbers, in column order.
    pub read: Vec<Value>,
    /// The file to which every launch writes the numbers; `None` for standard output.
    pub file: Option<PathBuf>,
}

/// A number that a command reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The metric that the number becomes.
    pub metric: Metric,
    /// The place of the number in the output: a JSON pointer if the text begins with `/`, else a
    /// regular expression whose first group is the number.
    pub pattern: String,
}

/// The exit codes that count as success.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExitPolicy {
    /// Only 0.
    #[default]
    ZeroOnly,
    /// Every exit code; being killed by a signal is still a failure.
    Any,
    /// 0 and these exit codes.
    Also(Vec<i32>),
}

impl ExitPolicy {
    /// Returns true if the exit code counts as success.
    pub fn accepts(&self, code: i32) -> bool {
        code == 0
            || match self {
                ExitPolicy::ZeroOnly => false,
                ExitPolicy::Any => true,
                ExitPolicy::Also(codes) => codes.contains(&code),
            }
    }
}

/// Commands run before and after the launches of a contender; each is a list of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// The command that is run once, before the first launch of the benchmark.
    pub setup: Option<Vec<String>>,
    /// The command that is run before every launch, including warm-ups.
    pub prepare: Option<Vec<String>>,
    /// The command that is run after every launch.
    pub conclude: Option<Vec<String>>,
    /// The command that is run once, after the last launch of the benchmark.
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
