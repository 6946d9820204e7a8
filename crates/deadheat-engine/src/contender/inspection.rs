//! The kind of a program, and the benchmarks it can race: found out by starting it
//! once.

use std::time::Duration;

use deadheat_model::{Harness, Program};

use super::harness::{LIST_TESTS, ListingRequest};
use super::python_file::{python_file, what_python_did};
use super::worker_session::greeted;
use super::workers::START_UP;
use crate::error::EngineError;
use crate::executable::{holds_benchmarks_of_jmh, is_jar};
use crate::function_failure::{FunctionError, InspectionFailure};
use crate::interrupt::Interrupts;
use crate::subprocess::in_one_line;
use crate::worker::{
    Inspected, ListedBenchmark, Reply, ReplyLimits, Request, WaitError, WorkerListing,
    WorkerProcess, WorkerProgram, WorkerStart, await_all,
};

/// A script whose arguments argparse reads refuses that one so: it may be one of pyperf.
const REFUSED_BY_PYTHON: &str = "unrecognized arguments: --benchmark_list_tests";
/// Bytes shown of what a program prints that is neither.
const SHOWN: usize = 200;
/// Bytes of the name of a benchmark or contender at most.
const LONGEST_NAME: usize = 4_096;

/// Starts a program and asks what it can race. `patience` is how long each of its answers may take.
/// Of a program whose `harness` the user names nothing is found out but its benchmarks.
pub fn inspect(
    program: &WorkerProgram,
    harness: Option<Harness>,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Inspected, EngineError> {
    let failure = |cause, stderr_tail| {
        EngineError::Inspection(Box::new(InspectionFailure {
            program: named_in(&cause, program),
            cause,
            stderr_tail,
        }))
    };
    let arguments = program.arguments.iter();
    let launched = Program {
        executable: program.executable.clone(),
        arguments: arguments
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect(),
        directory: program.directory.clone(),
    };
    let asked = ListingRequest {
        program: &launched,
        patience: patience.map(|patience| patience.max(START_UP)),
        interrupts,
    };
    let listed = |harness| match asked.benchmarks(harness)? {
        Ok(listing) => Ok(Inspected::Harness(listing)),
        Err(problem) => Err(failure(FunctionError::Unlisted { harness, problem }, None)),
    };
    if let Some(harness) = harness {
        return listed(harness);
    }
    // A jar is started by another program, and for nothing but its benchmarks.
    if is_jar(&program.executable) {
        let harness = Harness::Jmh;
        if holds_benchmarks_of_jmh(&program.executable) {
            return listed(harness);
        }
        let problem = "it has no META-INF/BenchmarkList".to_owned();
        let cause = FunctionError::Unlisted { harness, problem };
        return Err(failure(cause, None));
    }
    let worker = WorkerProcess::start(WorkerStart {
        program,
        variant: None,
        path_padding: None,
        padding: 0,
        hash_seed: None,
        fixed_addresses: false,
        baton: None,
        // Workers pay no attention to it. Never without it: a test executable of
        // Go that gets no argument runs its whole suite.
        probe: Some(LIST_TESTS),
        mask: interrupts.original_mask(),
    });
    let mut look = Look {
        worker: worker.map_err(|cause| failure(cause, None))?,
        patience: ReplyLimits {
            each: patience.map(|patience| patience.max(START_UP)),
            samples: 1,
            whatever_is_noted: true,
        },
        interrupts,
        failed: false,
        ended_well: false,
        listed: None,
    };
    match look.find_out() {
        Ok(found) => {
            look.worker.leave();
            Ok(found)
        }
        Err(WaitError::Interrupted) => Err(EngineError::Interrupted),
        Err(WaitError::Cause { mut cause, .. }) => {
            if let Some(printed) = &look.listed
                && let Some(listing) = asked.google_benchmarks(printed)?
            {
                return Ok(Inspected::Harness(listing));
            }
            let stderr_tail = look.worker.stderr_tail.message();
            // If its standard error is shown, it is not read here.
            let words = look.worker.stderr_tail.text();
            let refuses = program.shown || refuses(&words) || words.contains(REFUSED_BY_PYTHON);
            if look.failed
                && refuses
                && let Some(harness) = asked.harness_that_refuses()?
            {
                return listed(harness);
            }
            if let FunctionError::NoBenchmarks { instead: None, .. } = cause
                && python_file(program).is_some()
            {
                cause = what_python_did(&words, look.ended_well).unwrap_or(cause);
            }
            Err(failure(cause, stderr_tail))
        }
    }
}

/// The name of a program in its failure: a file of Python rather than its interpreter, unless it is
/// the interpreter that lacks something.
fn named_in(cause: &FunctionError, program: &WorkerProgram) -> String {
    let lacks = matches!(
        cause,
        FunctionError::NoBenchmarks {
            instead: Some(_),
            ..
        }
    );
    let file = if lacks { None } else { python_file(program) };
    file.unwrap_or_else(|| program.executable.display().to_string())
}

/// A program that was started to see what it does.
struct Look<'a> {
    worker: WorkerProcess,
    patience: ReplyLimits,
    interrupts: &'a Interrupts,
    /// True once it ended by itself with another exit code than 0.
    failed: bool,
    /// True once it ended by itself with exit code 0.
    ended_well: bool,
    /// What it printed if it ended with exit code 0: benchmarks, if it is of Google Benchmark.
    listed: Option<String>,
}

impl Look<'_> {
    fn find_out(&mut self) -> Result<Inspected, WaitError> {
        match self.reply() {
            Ok(hello) => self.ask_for_benchmarks(&hello),
            Err(WaitError::Cause { cause, .. }) if cause.is_death() => {
                self.ended_well = cause == FunctionError::Exited(0);
                if self.ended_well {
                    let printed = String::from_utf8_lossy(self.worker.printed());
                    self.listed = (!printed.trim().is_empty()).then(|| printed.into_owned());
                }
                self.failed = matches!(cause, FunctionError::Exited(1..));
                Err(self.no_benchmarks(cause.to_string()))
            }
            Err(WaitError::Cause {
                cause: FunctionError::TimedOut(patience),
                ..
            }) => Err(self.no_benchmarks(format!("goes on for {patience:?}"))),
            Err(why) => Err(why),
        }
    }

    fn no_benchmarks(&mut self, ended: String) -> WaitError {
        let last_words = self.worker.stderr_tail.message();
        let printed = self.worker.printed();
        let beginning = String::from_utf8_lossy(&printed[..printed.len().min(SHOWN)]);
        wait_error(FunctionError::NoBenchmarks {
            ended,
            instead: last_words.as_deref().and_then(known_by),
            wrote: match (last_words, in_one_line(&beginning)) {
                (Some(words), _) => format!("its last words on standard error: {words}"),
                (None, Some(printed)) => format!("it prints '{printed}'"),
                (None, None) => "it prints nothing".to_owned(),
            },
        })
    }

    /// The next line of the program.
    fn reply(&mut self) -> Result<Reply, WaitError> {
        let replies = await_all(
            &mut [&mut self.worker],
            None,
            self.patience,
            self.interrupts,
        )?;
        let reply = replies.into_iter().flatten().next();
        Ok(reply.expect("all of one have answered"))
    }

    fn ask_for_benchmarks(&mut self, hello: &Reply) -> Result<Inspected, WaitError> {
        let metrics = greeted(hello).map_err(wait_error)?.to_vec();
        let Reply::Hello { worker: name, .. } = hello else {
            unreachable!("greeted above");
        };
        self.worker.ask(&Request::List);
        let listed = self.reply()?;
        let Reply::Listed(benchmarks) = listed else {
            let said = format!("it says {} when asked for its benchmarks", listed.said());
            return Err(wait_error(FunctionError::Protocol(said)));
        };
        makes_sense(&benchmarks).map_err(|said| wait_error(FunctionError::Protocol(said)))?;
        Ok(Inspected::Worker(WorkerListing {
            worker: name.clone(),
            metrics,
            benchmarks,
        }))
    }
}

fn wait_error(cause: FunctionError) -> WaitError {
    WaitError::Cause { worker: 0, cause }
}

/// The kind of a program that is a Python without the package of deadheat, as errors name it.
pub const PYTHON_WITHOUT_PACKAGE: &str =
    "a Python without the package deadheat: install that there as well (docs/python.md)";

/// The kind of a program that lists no benchmarks and writes these words to standard error, and how
/// its benchmarks are raced.
fn known_by(words: &str) -> Option<&'static str> {
    if words.contains("No module named 'deadheat'") {
        return Some(PYTHON_WITHOUT_PACKAGE);
    }
    (refuses(words) && words.contains("benchmark_list_tests")).then_some(
        "a benchmark or test of a harness that is not known here, such as libtest; those that are \
         known are in docs/suites.md",
    )
}

/// Returns whether these are words by which a program refuses an argument that it does not know.
fn refuses(words: &str) -> bool {
    // Of the two of clap the first may be out of sight already, and of Go's the complaint itself.
    let refusals = [
        "  -test.timeout",
        "unexpected argument",
        "as a value, use",
        "wasn't expected",
        "Unrecognized option",
        "is not a recognized option",
    ];
    refusals.iter().any(|refusal| words.contains(refusal))
}

/// Returns an error that says what is wrong with a list of benchmarks.
fn makes_sense(benchmarks: &[ListedBenchmark]) -> Result<(), String> {
    if let Some(name) = twice(benchmarks.iter().map(|b| b.name.as_str())) {
        return Err(format!("it lists two benchmarks named '{name}'"));
    }
    for benchmark in benchmarks {
        let contenders = || benchmark.contenders.iter().map(String::as_str);
        let long = |name: &str| name.len() > LONGEST_NAME;
        let problem = if let Some(name) = twice(contenders()) {
            format!("has two contenders named '{name}'")
        } else if benchmark.contenders.is_empty() {
            "has no contender".to_owned()
        } else if benchmark.threads == 0 {
            "is called by no thread".to_owned()
        } else if benchmark.name.is_empty() || contenders().any(str::is_empty) {
            "has an empty name, or a contender has".to_owned()
        } else if long(&benchmark.name) || contenders().any(long) {
            format!("has a name of more than {LONGEST_NAME} bytes, or a contender has")
        } else {
            continue;
        };
        let name: String = benchmark.name.chars().take(SHOWN).collect();
        return Err(format!("benchmark '{name}' of its list {problem}"));
    }
    Ok(())
}

/// A name that is there twice.
fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(twice[0])
}
