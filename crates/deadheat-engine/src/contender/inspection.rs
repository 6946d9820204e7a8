//! Detects the kind of a program (worker or harness) and its benchmarks by starting it.

use std::time::Duration;

use deadheat_model::{Harness, Metric, Program};

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

/// The error of a script that uses argparse, such as one of pyperf, if it rejects the probe.
const REFUSED_BY_PYTHON: &str = "unrecognized arguments: --benchmark_list_tests";
/// The maximum number of bytes that messages show of a program's output or of a name.
const SHOWN: usize = 200;
/// Maximum length in bytes of the name of a benchmark or contender.
const LONGEST_NAME: usize = 4_096;

/// The largest number of benchmarks that a program may list. A race of 900,000 took 4.5 GB.
const MOST_BENCHMARKS: usize = 100_000;

/// Starts a program and lists its benchmarks, waiting at most `patience` for each reply. If the
/// user names the `harness`, this lists the benchmarks without detecting the kind of the program.
///
/// # Errors
///
/// [`EngineError::Inspection`] if the program lists no benchmarks, [`EngineError::Interrupted`] if
/// the user interrupts.
pub fn inspect(
    program: &WorkerProgram,
    harness: Option<Harness>,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Inspected, EngineError> {
    let found = listing(program, harness, patience, interrupts)?;
    let listed = match &found {
        Inspected::Worker(listing) => listing.benchmarks.len(),
        Inspected::Harness(listing) => listing.names.len(),
    };
    if listed <= MOST_BENCHMARKS {
        return Ok(found);
    }
    let cause = FunctionError::TooMany { listed };
    Err(EngineError::Inspection(Box::new(InspectionFailure {
        program: named_in(&cause, program),
        cause,
        stderr_tail: None,
    })))
}

fn listing(
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
    // A jar needs `java`, and the only harness of jars is JMH.
    if is_jar(&program.executable) {
        let harness = Harness::Jmh;
        if holds_benchmarks_of_jmh(&program.executable) {
            return listed(harness);
        }
        let problem =
            "it has no META-INF/BenchmarkList, so it holds no benchmarks of JMH".to_owned();
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
        // Workers ignore this argument, but a test executable of Go without arguments would run its
        // whole suite.
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
            look.worker.leave(interrupts);
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
            // A shown standard error goes to the terminal, so its words cannot be read here.
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

/// Returns the name of a program for its error: the Python file rather than the interpreter, unless
/// the interpreter lacks a package.
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

struct Look<'a> {
    worker: WorkerProcess,
    patience: ReplyLimits,
    interrupts: &'a Interrupts,
    /// True once the program exited with a code other than 0.
    failed: bool,
    ended_well: bool,
    /// The output of the program if it exited with code 0. For Google Benchmark, this is a list of
    /// benchmarks.
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
            }) => Err(self.no_benchmarks(format!("runs for more than {patience:?}"))),
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
            wrote: with_the_question(match (last_words, in_one_line(&beginning)) {
                (Some(words), _) => format!("its standard error ends: {words}"),
                (None, Some(printed)) => format!("it prints '{printed}'"),
                (None, None) => "it prints nothing".to_owned(),
            }),
        })
    }

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
            let said = format!("it answers {} when asked for its benchmarks", listed.said());
            return Err(wait_error(FunctionError::Protocol(said)));
        };
        makes_sense(&benchmarks, &metrics)
            .map_err(|said| wait_error(FunctionError::Protocol(said)))?;
        Ok(Inspected::Worker(WorkerListing {
            worker: name.clone(),
            metrics,
            benchmarks,
        }))
    }
}

/// Explains the argument of deadheat if a program's words contain it.
fn with_the_question(mut wrote: String) -> String {
    if wrote.contains("benchmark_list_tests") {
        wrote += &format!("; deadheat asked for its benchmarks with the argument {LIST_TESTS}");
    }
    wrote
}

fn wait_error(cause: FunctionError) -> WaitError {
    WaitError::Cause { worker: 0, cause }
}

/// The description of a Python interpreter without the `deadheat` package, for errors.
pub const PYTHON_WITHOUT_PACKAGE: &str =
    "a Python without the package deadheat: install the package there as well (docs/python.md)";

/// Recognises a program without benchmarks by its standard error, and returns its description with
/// advice.
fn known_by(words: &str) -> Option<&'static str> {
    if words.contains("No module named 'deadheat'") {
        return Some(PYTHON_WITHOUT_PACKAGE);
    }
    (refuses(words) && words.contains("benchmark_list_tests")).then_some(
        "a benchmark or test of an unknown harness, such as libtest\nhelp: docs/suites.md lists \
         the \
         known harnesses; in a cargo package, cargo deadheat builds and races the benchmarks",
    )
}

/// Returns true if a program refuses an unknown argument with these words.
fn refuses(words: &str) -> bool {
    // The kept tail may lack the first of clap's two phrases, and Go's error above its usage text.
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

/// Returns an error that describes the problem if a list of benchmarks is invalid for a worker with
/// these metrics.
fn makes_sense(benchmarks: &[ListedBenchmark], metrics: &[Metric]) -> Result<(), String> {
    if let Some(name) = twice(benchmarks.iter().map(|b| b.name.as_str())) {
        return Err(format!("it lists two benchmarks named '{name}'"));
    }
    for benchmark in benchmarks {
        let contenders = || benchmark.contenders.iter().map(String::as_str);
        let long = |name: &str| name.len() > LONGEST_NAME;
        let mut judged = benchmark.judged.iter();
        let problem = if let Some(name) = twice(contenders()) {
            format!("has two contenders named '{name}'")
        } else if benchmark.contenders.is_empty() {
            "has no contender".to_owned()
        } else if benchmark.threads == 0 {
            "has 0 threads".to_owned()
        } else if benchmark.name.is_empty() || contenders().any(str::is_empty) {
            "has an empty name, or one of its contenders has".to_owned()
        } else if long(&benchmark.name) || contenders().any(long) {
            format!("has a name of more than {LONGEST_NAME} bytes, or one of its contenders has")
        } else if let Some(metric) = judged.find(|metric| !metrics.contains(metric)) {
            let metric: String = metric.name().chars().take(SHOWN).collect();
            format!("is to be judged by the metric '{metric}', which the worker does not have")
        } else {
            continue;
        };
        let name: String = benchmark.name.chars().take(SHOWN).collect();
        return Err(format!("in its list, benchmark '{name}' {problem}"));
    }
    Ok(())
}

fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(twice[0])
}
