//! Failures of commands and of launches of harness executables.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

use deadheat_model::{HELP, Harness, QUOTE, UNNAMED, before_help, in_one_line, words_of_system};

use crate::executable::{Variant, on_link};
use crate::interrupt::signal_name;
use crate::order::Moment;
use crate::subprocess::Ending;

/// The failure of a contender, with its place in the race.
#[derive(Debug)]
pub struct ContenderFailure {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The text of the command, as the user wrote it.
    pub command: String,
    /// The moment of the failure in the race.
    pub moment: Moment,
    /// The error of the command.
    pub cause: CommandError,
    /// The neutral link that was started, or `None` if it was the user's own executable.
    pub link: Option<Variant>,
    /// The standard error of the command.
    pub standard_error: StandardError,
}

/// The standard error of a failed command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StandardError {
    /// The last lines of the standard error.
    Kept(Vec<String>),
    /// The command wrote to the terminal, so the user has already seen it.
    Shown,
    /// The standard error was discarded, because the launch was measured.
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
    /// Returns the error message of this failure on one line, without the name of the benchmark.
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

    /// Returns the command and, in parentheses, the moment of its launch.
    fn launch(&self) -> String {
        let command = shortened(&self.command);
        match self.moment {
            Moment::Around => format!("command '{command}'"),
            moment => format!("command '{command}' ({moment})"),
        }
    }

    /// Returns true if the command exited or was killed by a signal, so its standard error may give
    /// the reason.
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

/// Describes a process that `signal` stopped; 0 means that a child of the process was stopped.
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

pub(crate) const ILLEGAL_INSTRUCTION: &str = "was killed by signal 4 (SIGILL), usually because \
                                              Valgrind does not know an instruction\nhelp: build \
                                              both sides for an older processor (-C \
                                              target-cpu=x86-64-v2 for Rust, -march=x86-64-v2 for \
                                              C and C++), or install a newer Valgrind";

const RELATIVE: &str = "relative paths start at the current folder";

fn advice_on_signal(signal: i32) -> Option<&'static str> {
    match signal {
        libc::SIGKILL => Some(
            "the kernel sends this signal if memory runs out (see `dmesg`), and so does `kill -9`",
        ),
        libc::SIGSEGV | libc::SIGBUS | libc::SIGABRT | libc::SIGFPE => {
            Some("it crashed: start it by itself, under a debugger if it crashes only sometimes")
        }
        libc::SIGILL => Some(
            "it was probably built for a newer processor: build it on this machine, or without \
             -march=native or -C target-cpu=native",
        ),
        libc::SIGTERM | libc::SIGINT | libc::SIGHUP => Some(
            "another process sent this signal: look for a `kill` or a time limit in this program \
             and in those that it starts",
        ),
        libc::SIGPIPE => Some("it wrote to a pipe that its reader had closed"),
        libc::SIGXCPU | libc::SIGXFSZ => Some("it reached a limit of the shell: see `ulimit -a`"),
        _ => None,
    }
}

/// Returns a clause that says when the hook of the option `flag` runs.
fn run_when(flag: &str) -> &'static str {
    match flag {
        "--setup" => "--setup runs before the first launch",
        "--prepare" => "--prepare runs before every launch",
        "--conclude" => "--conclude runs after every launch",
        _ => "--cleanup runs after the last launch",
    }
}

/// The reason why a command failed.
#[derive(Debug)]
pub enum CommandError {
    /// The program does not exist or cannot be executed.
    NotStarted(io::Error),
    /// The command exited with a code that does not count as success.
    Exited(i32),
    /// A signal with this number killed the command.
    Signalled(i32),
    /// The command ran under Valgrind and executed an instruction that Valgrind does not support.
    IllegalInstruction,
    /// A signal with this number stopped the command, and nothing continued it; 0 if a child
    /// process of the command was stopped.
    Stopped(i32),
    /// The command ran longer than `--timeout`.
    TimedOut(Duration),
    /// The `--input` file of the command cannot be opened.
    NoInput {
        /// The path of the input file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The output of the command cannot be opened or read.
    NoOutput {
        /// The output file; `None` for standard output.
        path: Option<PathBuf>,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The `--value-file` cannot be removed before a launch, or read after it.
    NoValueFile {
        /// The path of the value file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The command wrote more output than deadheat searches for values.
    TooMuchOutput {
        /// The file that the command wrote to; `None` for standard output.
        file: Option<PathBuf>,
        /// The maximum number of bytes that deadheat reads.
        most: u64,
    },
    /// A value is missing or is not a usable number.
    NoValue {
        /// The name of the value.
        name: String,
        /// The description of the problem.
        problem: String,
        /// The file that should contain the value; `None` for standard output.
        file: Option<PathBuf>,
        /// The first and last lines of the output, quoted and shortened; empty if there was no
        /// output.
        printed: String,
    },
    /// A hook failed.
    Hook {
        /// The option that set the hook, such as `--prepare`.
        flag: &'static str,
        /// The command line of the hook.
        hook: String,
        /// The description of how the hook ended.
        ended: String,
        /// The last lines of the hook's standard error.
        errors: String,
    },
    /// The candidate printed other output than the baseline.
    OutputDiffers {
        /// The text of the baseline's command.
        baseline: String,
        /// The number of the first differing line, counted from 1.
        line: usize,
        /// The line in the output of the baseline, quoted; `None` if the output ends earlier.
        expected: Option<String>,
        /// The line in the output of the candidate, quoted; `None` if the output ends earlier.
        found: Option<String>,
    },
    /// The candidate's exit code differs from the baseline's.
    ExitDiffers {
        /// The text of the baseline's command.
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
                    "{HELP}if the failure is expected, -i accepts every exit code, -i={inner} only this one"
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
                "{} more than the {} MiB that deadheat searches for values{}",
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
                "prints different output than '{baseline}' (--check-output): line {line} {}, the \
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

fn wrote(file: &Option<PathBuf>) -> String {
    file.as_ref().map_or("printed".to_owned(), |file| {
        format!("wrote to '{}'", file.display())
    })
}

fn reads(line: &Option<String>) -> String {
    line.as_ref()
        .map_or("is missing".to_owned(), |line| format!("is {line}"))
}

/// Returns `before` followed by `stderr_tail`; empty if `stderr_tail` is empty.
fn said(before: &str, stderr_tail: &str) -> String {
    if stderr_tail.is_empty() {
        String::new()
    } else {
        format!("{before}{stderr_tail}")
    }
}

/// The number of characters of a program's output that a message quotes.
const QUOTED: usize = 80;

/// The error of a launch of a harness executable, with the command line that reproduces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessCause {
    /// The error of the launch.
    pub what: HarnessError,
    /// The command line that launches the benchmark again.
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

/// The reason why a launch of a harness executable failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HarnessError {
    /// The process did not end successfully.
    Process {
        /// The way in which the process ended.
        ending: Ending,
        /// The last lines of the standard error of the process.
        stderr_tail: String,
    },
    /// The launch wrote no report.
    NoReport {
        /// The harness of the executable.
        harness: Harness,
        /// The last lines of the standard error of the launch.
        stderr_tail: String,
    },
    /// The report of the launch cannot be parsed.
    Garbled {
        /// The harness of the executable.
        harness: Harness,
        /// The beginning of the report.
        text: String,
    },
    /// The launch ran no benchmark of the requested name.
    Missing(Harness),
    /// The requested name matches several benchmarks, listed here.
    Several(Vec<String>),
    /// The report contains more or fewer repetitions than planned.
    Repetitions {
        /// The number of repetitions in the report.
        found: usize,
        /// The number of repetitions that deadheat requested.
        expected: u32,
    },
    /// The source of the benchmark asks for JMH's single-call mode (`ss`) on one side only.
    SingleCalls,
    /// The benchmark cannot run side by side, although the user requested it; the text is the
    /// reason.
    InTurns(&'static str),
    /// The source of the benchmark makes it report only aggregates of its repetitions.
    OnlyAggregates,
    /// The two sides cannot be compared sample by sample, because they have different numbers of
    /// repetitions.
    NotAlike {
        /// The number of repetitions that the source of the failing side sets.
        found: u32,
        /// The number of repetitions that the source of the baseline sets.
        baseline: u32,
    },
    /// The benchmark reports this error.
    Error(String),
    /// The benchmark reports that it skipped itself, with this reason.
    Skipped(String),
    /// A number in the report is missing or impossible.
    Number {
        /// The name of the field in the report.
        field: &'static str,
        /// The repetition, counted from 0.
        repetition: usize,
        /// The value of the field, as text.
        found: String,
    },
    /// A counter of the calibration run is missing from a launch, or its value is unusable.
    Counter {
        /// The name of the counter.
        counter: String,
        /// The repetition, counted from 0.
        repetition: usize,
        /// The text of the value, or the problem with it.
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
                "exited with code 0, but {}{}",
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
                "ran no benchmark of this name; only benchmarks that {} lists in every launch can \
                 be raced",
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
                "measures single shots (mode `ss` of JMH) on one side, but not on the other",
            ),
            Self::InTurns(reason) => write!(
                f,
                "cannot run side by side: {reason}; --arrangement auto makes the sides take turns"
            ),
            Self::OnlyAggregates => f.write_str(
                "reports only aggregates of its repetitions; a race needs each of them, so remove \
         ReportAggregatesOnly or Repetitions from the benchmark",
            ),
            Self::NotAlike { found, baseline } => write!(
                f,
                "sets {found} repetitions in its source, but the baseline sets {baseline}"
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
            "wrote no report to --benchmark_out; its main probably returned before \
             RunSpecifiedBenchmarks"
        }
        Harness::Criterion => {
            "left no sample.json in CRITERION_HOME, which criterion writes since version 0.3"
        }
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
    pub(crate) fn garbled(harness: Harness, text: &str) -> Self {
        Self::Garbled {
            harness,
            text: text.trim().chars().take(QUOTED).collect(),
        }
    }

    /// Returns true if two launches failed in the same way. Numbers and quoted output are ignored,
    /// because they may differ every time.
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
        let advice =
            "\nhelp: if the failure is expected, -i accepts every exit code, -i=2 only this one";
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
