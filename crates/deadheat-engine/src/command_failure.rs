//! Failures of commands, and of launches of executables of harnesses.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

use deadheat_model::{HELP, Harness, QUOTE, UNNAMED, before_help, in_one_line, words_of_system};

use crate::executable::{Variant, on_link};
use crate::interrupt::signal_name;
use crate::order::Moment;
use crate::subprocess::Ending;

/// A contender failed, and where.
#[derive(Debug)]
pub struct ContenderFailure {
    /// The benchmark.
    pub benchmark: String,
    /// The command, as the user wrote it.
    pub command: String,
    /// When it happened.
    pub moment: Moment,
    /// The error.
    pub cause: CommandError,
    /// The neutral link it was started from, if it was one.
    pub link: Option<Variant>,
    /// Its standard error.
    pub standard_error: StandardError,
}

/// The standard error of a command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StandardError {
    /// Its last lines.
    Kept(Vec<String>),
    /// The user saw it.
    Shown,
    /// It was not kept, because the launch was measured.
    Dropped,
}

impl fmt::Display for ContenderFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = on_link(&self.link);
        if self.benchmark != UNNAMED {
            write!(f, "benchmark '{}', ", shortened(&self.benchmark))?;
        }
        write!(f, "{} ", self.launch())?;
        let why = before_help(&self.cause.to_string(), &link);
        match &self.standard_error {
            StandardError::Kept(lines) if self.has_died() && !lines.is_empty() => {
                f.write_str("failed; its standard error ends:")?;
                for line in lines {
                    write!(f, "\n{QUOTE}{line}")?;
                }
                write!(f, "\n  it {why}")
            }
            _ => f.write_str(&before_help(&why, self.about_silence())),
        }?;
        if self.has_died() && self.standard_error == StandardError::Dropped {
            write!(f, "{HELP}--show-output shows its standard error")?;
        }
        Ok(())
    }
}

impl ContenderFailure {
    /// The message in one line, for a reader who knows which benchmark it is about.
    pub fn within_benchmark(&self) -> String {
        let (cause, link) = (&self.cause, on_link(&self.link));
        let errors = match &self.standard_error {
            StandardError::Kept(lines) if self.has_died() && !lines.is_empty() => {
                format!("; its standard error ends: {}", lines.join(" | "))
            }
            StandardError::Dropped if self.has_died() => {
                "; --show-output shows its standard error".to_owned()
            }
            _ => self.about_silence().to_owned(),
        };
        let cause = in_one_line(&before_help(&cause.to_string(), &link));
        format!("{} {cause}{errors}", self.launch())
    }

    /// The command and, in parentheses, the moment of its launch.
    fn launch(&self) -> String {
        let command = shortened(&self.command);
        match self.moment {
            Moment::Around => format!("command '{command}'"),
            moment => format!("command '{command}' ({moment})"),
        }
    }

    /// Returns true if the command ended by itself, so that its standard error may tell why.
    fn has_died(&self) -> bool {
        matches!(
            self.cause,
            CommandError::Exited(_) | CommandError::Signalled(_)
        )
    }

    fn about_silence(&self) -> &'static str {
        match &self.standard_error {
            StandardError::Kept(lines) if self.has_died() && lines.is_empty() => {
                " and wrote nothing to standard error"
            }
            _ => "",
        }
    }
}

/// Shortens a long text to its beginning and its end, for a message.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 400;
    const END: usize = 100;
    let count = text.chars().count();
    if count <= LONGEST {
        return Cow::Borrowed(text);
    }
    let beginning: String = text.chars().take(LONGEST - END).collect();
    let end: String = text.chars().skip(count - END).collect();
    Cow::Owned(format!("{beginning}…{end}"))
}

/// The words for a process that this signal stopped; 0 stands for a stop of a process that it
/// started.
pub(crate) fn stopped_by(signal: i32) -> String {
    const WANTS: &str = "it needs the terminal, which deadheat does not share\nhelp: enter \
     passwords \
         before the race, as with sudo -v, or start it with setsid -w";
    match signal {
        0 => format!("was killed because one of its child processes was stopped: {WANTS}"),
        libc::SIGTTIN | libc::SIGTTOU => {
            let name = signal_name(signal);
            format!("was stopped by signal {signal}{name} and killed: {WANTS}")
        }
        _ => {
            let name = signal_name(signal);
            format!("was stopped by signal {signal}{name}, did not continue, and was killed")
        }
    }
}

impl std::error::Error for ContenderFailure {}

/// What is said of a program that died under Valgrind of an instruction.
pub(crate) const ILLEGAL_INSTRUCTION: &str = "was killed by signal 4 (SIGILL): mostly an instruction \
     that Valgrind does not know\nhelp: build both sides for an older processor (-C target-cpu=x86-64-v2 \
     for Rust, -march=x86-64-v2 for C and C++), or install a newer Valgrind";

const RELATIVE: &str = "relative paths begin at the current folder";

/// The advice on a command that this signal killed, if there is any.
fn advice_on_signal(signal: i32) -> Option<&'static str> {
    match signal {
        libc::SIGKILL => {
            Some("the kernel does this if memory runs out (see `dmesg`), and so does `kill -9`")
        }
        libc::SIGSEGV | libc::SIGBUS | libc::SIGABRT | libc::SIGFPE => {
            Some("it crashed: start it by itself, under a debugger if it crashes only sometimes")
        }
        libc::SIGILL => Some(
            "it was probably built for a newer processor: build it on this machine, or without \
             -march=native or -C target-cpu=native",
        ),
        libc::SIGTERM | libc::SIGINT | libc::SIGHUP => {
            Some("another process ended it: look for a `kill` or a time limit in what it starts")
        }
        libc::SIGPIPE => Some("it wrote to a pipe that its reader had closed"),
        libc::SIGXCPU | libc::SIGXFSZ => Some("it reached a limit of the shell: see `ulimit -a`"),
        _ => None,
    }
}

/// The moment at which a hook runs.
fn run_when(flag: &str) -> &'static str {
    match flag {
        "--setup" => "--setup runs before the first launch",
        "--prepare" => "--prepare runs before every launch",
        "--conclude" => "--conclude runs after every launch",
        _ => "--cleanup runs after the last launch",
    }
}

/// An error of a command.
#[derive(Debug)]
pub enum CommandError {
    /// There is no such program, or it may not be executed.
    NotStarted(io::Error),
    /// It exited with a code that does not count as success.
    Exited(i32),
    /// It was killed by a signal.
    Signalled(i32),
    /// An instruction killed it that Valgrind, which counts it, does not know.
    IllegalInstruction,
    /// A signal stopped it, and it did not go on.
    Stopped(i32),
    /// It ran longer than `--timeout`.
    TimedOut(Duration),
    /// Its input file cannot be opened.
    NoInput {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Its output cannot be opened.
    NoOutput {
        /// The file, when it is one.
        path: Option<PathBuf>,
        /// The error of the system.
        error: io::Error,
    },
    /// The file of its values cannot be removed before a launch, or read after it.
    NoValueFile {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// It wrote more than values are looked for in.
    TooMuchOutput {
        /// The file it wrote to; `None` for standard output.
        file: Option<PathBuf>,
        /// The most bytes that are read.
        most: u64,
    },
    /// A value is missing, or no number to race by.
    NoValue {
        /// The name of the value.
        name: String,
        /// The problem, in words.
        problem: String,
        /// The file it should stand in; `None` for standard output.
        file: Option<PathBuf>,
        /// The lines there, quoted, shortened and few; empty where there are none.
        printed: String,
    },
    /// A hook failed.
    Hook {
        /// The flag that set it.
        flag: &'static str,
        /// The hook's words.
        hook: String,
        /// Its end, in words.
        ended: String,
        /// The end of what it wrote to its standard error.
        errors: String,
    },
    /// It printed something else than the baseline.
    OutputDiffers {
        /// The baseline's command.
        baseline: String,
        /// The first differing line, counted from 1.
        line: usize,
        /// The baseline's line, quoted; `None` when its output ends before.
        expected: Option<String>,
        /// The candidate's line, quoted; `None` when its output ends before.
        found: Option<String>,
    },
    /// It exited unlike the baseline.
    ExitDiffers {
        /// The baseline's command.
        baseline: String,
        /// The baseline's exit code.
        expected: i32,
        /// The candidate's exit code.
        found: i32,
    },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(inner) => write!(f, "cannot be started: {inner}"),
            Self::Exited(inner) => {
                write!(f, "exited with code {inner}")?;
                if *inner == 127 {
                    return write!(
                        f,
                        "{HELP}a shell returns 127 if it finds no program of this name"
                    );
                }
                write!(
                    f,
                    "{HELP}-i accepts every exit code, -i={inner} only this one"
                )
            }
            Self::IllegalInstruction => f.write_str(ILLEGAL_INSTRUCTION),
            Self::Signalled(signal) => {
                let name = signal_name(*signal);
                write!(f, "was killed by signal {signal}{name}")?;
                let advice = advice_on_signal(*signal);
                advice.map_or(Ok(()), |advice| write!(f, "{HELP}{advice}"))
            }
            Self::Stopped(signal) => f.write_str(&stopped_by(*signal)),
            Self::TimedOut(inner) => {
                write!(
                    f,
                    "did not end within {inner:?} (--timeout) and was killed{HELP}--timeout TIME sets \
                     a longer limit; without it a command may take any time"
                )
            }
            Self::NoInput { path, error } if error.raw_os_error() == Some(libc::ESPIPE) => write!(
                f,
                "cannot read its --input '{}': it is a pipe, which the first launch would empty{HELP}write \
                 its content to a file, and name that as --input",
                path.display()
            ),
            Self::NoInput { path, error } => {
                let why = words_of_system(error);
                let path = path.display();
                write!(f, "cannot read its --input '{path}': {why}{HELP}{RELATIVE}")
            }
            Self::NoOutput {
                path: Some(path),
                error,
            } if error.raw_os_error() == Some(libc::ENXIO) => write!(
                f,
                "cannot write its --output '{}': it is a FIFO that no process reads{HELP}start its reader \
                 first, or name a file",
                path.display()
            ),
            Self::NoOutput { path, error } => {
                let why = words_of_system(error);
                match path {
                    Some(path) => {
                        let path = path.display();
                        write!(
                            f,
                            "cannot write its --output '{path}': {why}{HELP}{RELATIVE}"
                        )
                    }
                    None => write!(f, "cannot write its output: {why}"),
                }
            }
            Self::NoValueFile { path, error } => match error.raw_os_error() {
                Some(libc::ENOENT) => write!(
                    f,
                    "wrote no --value-file '{}'; deadheat removed the old file before the launch",
                    path.display()
                ),
                Some(libc::EINVAL) => write!(
                    f,
                    "has a --value-file '{}' that is not a plain file, so deadheat did not touch \
                     it",
                    path.display()
                ),
                _ => write!(
                    f,
                    "has a --value-file '{}' that cannot be replaced: {}",
                    path.display(),
                    words_of_system(error)
                ),
            },
            Self::TooMuchOutput { file, most } => write!(
                f,
                "{} more than the {} MiB in which values are looked for{}",
                wrote(file),
                most >> 20,
                match file {
                    None => "\nhelp: let it write them to a file, and name that with --value-file",
                    Some(_) => "",
                }
            ),
            Self::NoValue {
                name,
                problem,
                file,
                printed,
            } => {
                write!(f, "gives no value '{name}' (--value): {problem}; it ")?;
                let printed = if printed.is_empty() {
                    "nothing"
                } else {
                    printed
                };
                write!(f, "{} {printed}", wrote(file))
            }
            Self::Hook {
                flag,
                hook,
                ended,
                errors,
            } => {
                let ended = before_help(ended, &said(": ", errors));
                write!(f, "has a {flag} hook '{}' that {ended}", shortened(hook))?;
                if ended.contains(HELP.trim_start()) {
                    return Ok(());
                }
                write!(
                    f,
                    "{HELP}a race needs its hooks to succeed; {}",
                    run_when(flag)
                )
            }
            Self::OutputDiffers {
                baseline,
                line,
                expected,
                found,
            } => write!(
                f,
                "prints other output than '{baseline}' (--check-output): line {line} {}, the \
                 baseline's {}",
                reads(found),
                reads(expected)
            ),
            Self::ExitDiffers {
                baseline,
                expected,
                found,
            } => write!(
                f,
                "exits with code {found}, but '{baseline}' exits with {expected} (--check-output)"
            ),
        }
    }
}

impl std::error::Error for CommandError {}

/// The verb for output that went to a file, or to standard output.
fn wrote(file: &Option<PathBuf>) -> String {
    file.as_ref().map_or("printed".to_owned(), |file| {
        format!("wrote to '{}'", file.display())
    })
}

fn reads(line: &Option<String>) -> String {
    line.as_ref()
        .map_or("is missing".to_owned(), |line| format!("is {line}"))
}

/// The end of a standard error, behind these words; nothing where there is none.
fn said(before: &str, stderr_tail: &str) -> String {
    if stderr_tail.is_empty() {
        String::new()
    } else {
        format!("{before}{stderr_tail}")
    }
}

/// Characters of what an executable wrote that a message quotes.
const QUOTED: usize = 80;

/// The error of a launch, and how to see it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessCause {
    /// The error.
    pub what: HarnessError,
    /// The command line that launches the same benchmark.
    pub launch: String,
    /// True if all sides ran at the same time.
    pub is_side_by_side: bool,
}

impl fmt::Display for HarnessCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if self.is_side_by_side {
            write!(
                f,
                "{HELP}both sides ran at the same time, which --arrangement turns avoids"
            )?;
        }
        write!(f, "{HELP}to reproduce it: {}", self.launch)
    }
}

/// An error of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HarnessError {
    /// Its process did not end well.
    Process {
        /// The end of it.
        ending: Ending,
        /// The end of its standard error.
        stderr_tail: String,
    },
    /// It wrote nothing where its report belongs.
    NoReport {
        /// Its harness.
        harness: Harness,
        /// The end of its standard error.
        stderr_tail: String,
    },
    /// It wrote something else than a report.
    Garbled {
        /// Its harness.
        harness: Harness,
        /// The beginning of it.
        text: String,
    },
    /// The benchmark is not there.
    Missing(Harness),
    /// The name stands for several benchmarks.
    Several(Vec<String>),
    /// There are more or fewer repetitions than planned.
    Repetitions {
        /// Repetitions in the report.
        found: usize,
        /// Repetitions that were asked for.
        expected: u32,
    },
    /// One side is measured by single calls, as its source says, and the other is not.
    SingleCalls,
    /// It cannot run side by side with the other side, although it should.
    InTurns(&'static str),
    /// The source of the benchmark keeps its repetitions to itself.
    OnlyAggregates,
    /// Two sides cannot be told apart sample by sample.
    NotAlike {
        /// Repetitions in the source of this one.
        found: u32,
        /// Repetitions in the source of the baseline.
        baseline: u32,
    },
    /// The benchmark says that something went wrong.
    Error(String),
    /// The benchmark says that it does not run.
    Skipped(String),
    /// A number is missing or cannot be.
    Number {
        /// Its name in the report.
        field: &'static str,
        /// The repetition, counted from 0.
        repetition: usize,
        /// The text that stands there.
        found: String,
    },
    /// A counter that the pilot found is not there any more.
    Counter {
        /// Its name.
        counter: String,
        /// The repetition, counted from 0.
        repetition: usize,
        /// The text that stands there.
        found: String,
    },
}

impl fmt::Display for HarnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process {
                ending,
                stderr_tail,
            } => match ending {
                Ending::NotStarted(reason) => write!(f, "cannot be started: {reason}"),
                Ending::Silent(time) => write!(
                    f,
                    "did not end within {time:?} and was killed{HELP}a longer --timeout gives every launch more time"
                ),
                Ending::Endless => {
                    f.write_str("wrote more than any benchmark report contains, and was killed")
                }
                Ending::Exited(code) => write!(
                    f,
                    "ended with exit code {code}{}",
                    said(", saying: ", stderr_tail)
                ),
                Ending::Signalled(signal) => {
                    let name = signal_name(*signal);
                    let errors = said(", saying: ", stderr_tail);
                    write!(f, "was killed by signal {signal}{name}{errors}")?;
                    let advice = advice_on_signal(*signal);
                    advice.map_or(Ok(()), |advice| write!(f, "{HELP}{advice}"))
                }
                Ending::Stopped(signal) => f.write_str(&stopped_by(*signal)),
                Ending::Odd(status) => write!(f, "ended unexpectedly ({status})"),
            },
            Self::NoReport {
                harness,
                stderr_tail,
            } => write!(
                f,
                "ended well but {}{}",
                no_report(*harness),
                said(", saying: ", stderr_tail)
            ),
            Self::Garbled { harness, text } => write!(
                f,
                "wrote a report that is not {}: '{text}'",
                report_of(*harness)
            ),
            Self::Missing(harness) => write!(
                f,
                "ran no benchmark of this name; only what {} lists in every launch can be raced",
                listing_of(*harness)
            ),
            Self::Several(names) => write!(
                f,
                "runs {} benchmarks of this name: {}",
                names.len(),
                names.join(", ")
            ),
            Self::Repetitions { found, expected } => write!(
                f,
                "reports {found} repetitions instead of the planned {expected}; a name that two \
                 benchmarks \
         share, or a benchmark that changes from launch to launch, cannot be raced"
            ),
            Self::SingleCalls => f.write_str(
                "is measured by single calls on one side, as its source says, and not on the other",
            ),
            Self::InTurns(reason) => write!(
                f,
                "cannot run side by side: {reason}; --arrangement auto races it in turns"
            ),
            Self::OnlyAggregates => f.write_str(
                "reports only aggregates of its repetitions; a race needs each of them, so remove \
         ReportAggregatesOnly or Repetitions from the benchmark",
            ),
            Self::NotAlike { found, baseline } => write!(
                f,
                "repeats itself {found} times, as its source says, and the baseline {baseline} times"
            ),
            Self::Error(inner) => write!(f, "reports an error: {inner}"),
            Self::Skipped(inner) => write!(f, "skips itself: {inner}"),
            Self::Number {
                field,
                repetition,
                found,
            } => write!(
                f,
                "reports no usable {field} in repetition {repetition}: {found}"
            ),
            Self::Counter {
                counter,
                repetition,
                found,
            } => write!(
                f,
                "gives no usable number for its counter '{counter}' in repetition {repetition}: {found}; \
         the calibration run found one, so set it in every run of the benchmark, or never"
            ),
        }
    }
}

impl std::error::Error for HarnessError {}

fn no_report(harness: Harness) -> &'static str {
    match harness {
        Harness::GoogleBenchmark => {
            "wrote no report to --benchmark_out; an executable of Google Benchmark does, unless its \
             main returns before RunSpecifiedBenchmarks"
        }
        Harness::Criterion => "left no sample.json in CRITERION_HOME, as criterion does since 0.3",
        Harness::Divan => "printed no table of divan",
        Harness::Go => "printed no result of the benchmark",
        Harness::Jmh => "wrote no results to -rff",
        Harness::Pyperf => "wrote no values to --pipe, probably because the script lacks this task",
    }
}

fn report_of(harness: Harness) -> &'static str {
    match harness {
        Harness::GoogleBenchmark => "the JSON of Google Benchmark",
        Harness::Criterion => "a benchmark.json or sample.json of criterion",
        Harness::Divan => "a table of divan, with a row of median, samples and iters",
        Harness::Go => "a result of Go, such as 'BenchmarkSort-8 1000 2045 ns/op'",
        Harness::Jmh => "the JSON of JMH",
        Harness::Pyperf => "the JSON of pyperf",
    }
}

/// The way to see the list of a harness.
fn listing_of(harness: Harness) -> &'static str {
    match harness {
        Harness::GoogleBenchmark => "--benchmark_list_tests",
        Harness::Criterion => "--bench --list",
        Harness::Divan => "--list",
        Harness::Go => "-test.bench=. -test.v",
        Harness::Jmh => "-lp",
        Harness::Pyperf => "--worker",
    }
}

impl HarnessError {
    /// A report that nobody can read.
    pub(crate) fn garbled(harness: Harness, text: &str) -> Self {
        Self::Garbled {
            harness,
            text: text.trim().chars().take(QUOTED).collect(),
        }
    }

    /// Returns whether two launches failed in the same way: numbers and last words may
    /// be different every time.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        use Ending::{Exited, Signalled};
        match (self, other) {
            (Self::Process { ending: one, .. }, Self::Process { ending: other, .. }) => {
                match (one, other) {
                    (Exited(one), Exited(other)) | (Signalled(one), Signalled(other)) => {
                        one == other
                    }
                    (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
                }
            }
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_a_command_shows_its_standard_error_then_its_end_and_advice() {
        let failure = |cause, standard_error| {
            let failure = ContenderFailure {
                benchmark: "run".to_owned(),
                command: "ls".to_owned(),
                moment: Moment::WarmUp,
                cause,
                link: None,
                standard_error,
            };
            failure.to_string()
        };
        let exited = || CommandError::Exited(2);
        let advice = "\nhelp: -i accepts every exit code, -i=2 only this one";
        let kept = |lines: &[&str]| {
            StandardError::Kept(lines.iter().map(|line| (*line).to_owned()).collect())
        };
        let before = "command 'ls' (warm-up)";
        for (standard_error, expected) in [
            (
                kept(&["no", "disk"]),
                "failed; its standard error ends:\n  | no\n  | disk\n  it exited with code 2",
            ),
            (
                kept(&[]),
                "exited with code 2 and wrote nothing to standard error",
            ),
            (StandardError::Shown, "exited with code 2"),
        ] {
            let text = failure(exited(), standard_error);
            assert_eq!(text, format!("{before} {expected}{advice}"));
        }
        let text = failure(CommandError::Signalled(6), StandardError::Dropped);
        assert!(
            text.contains("(SIGABRT)\nhelp: it crashed: ")
                && text.ends_with("\nhelp: --show-output shows its standard error"),
            "{text}"
        );
        let timed_out = CommandError::TimedOut(Duration::from_secs(1));
        let text = failure(timed_out, StandardError::Dropped);
        assert!(
            text.contains("and was killed\nhelp: --timeout TIME"),
            "{text}"
        );
    }

    #[test]
    fn a_stop_is_told_with_its_signal_and_what_to_do() {
        let text = stopped_by(libc::SIGTTOU);
        assert!(
            text.contains("(SIGTTOU)") && text.contains("needs the terminal"),
            "{text}"
        );
        assert!(stopped_by(0).contains("needs the terminal"));
        let text = stopped_by(libc::SIGSTOP);
        assert!(
            text.contains("(SIGSTOP)") && !text.contains("terminal"),
            "{text}"
        );
    }

    #[test]
    fn an_enormous_name_is_cut_in_the_middle() {
        assert_eq!(shortened("echo ä"), "echo ä");
        let long = format!("begin{}end", "ä".repeat(70_000));
        let short = shortened(&long);
        assert_eq!(short.chars().count(), 401);
        assert!(
            short.starts_with("beginä") && short.ends_with("äend"),
            "{short}"
        );
    }

    #[test]
    fn a_cause_ends_with_how_to_see_it_again() {
        let cause = HarnessCause {
            what: HarnessError::Process {
                ending: Ending::Exited(3),
                stderr_tail: "no disk".to_owned(),
            },
            launch: "./bench '--benchmark_filter=^a$'".to_owned(),
            is_side_by_side: false,
        };
        assert_eq!(
            cause.to_string(),
            "ended with exit code 3, saying: no disk\nhelp: to reproduce it: \
             ./bench '--benchmark_filter=^a$'"
        );
    }

    #[test]
    fn the_same_failure_is_known_again_whatever_it_says() {
        let exited = |code, stderr_tail: &str| HarnessError::Process {
            ending: Ending::Exited(code),
            stderr_tail: stderr_tail.to_owned(),
        };
        assert!(exited(1, "at 0x17").is_like(&exited(1, "at 0x18")));
        assert!(!exited(1, "").is_like(&exited(2, "")));
        assert!(!exited(1, "").is_like(&HarnessError::Missing(Harness::GoogleBenchmark)));
    }
}
