//! What kind of program it is, and what it can race: found out by starting it
//! once.

use std::io::{PipeReader, Read, pipe};
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::{Duration, Instant};

use deadheat_model::Metric;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::workers::START_UP;
use crate::error::EngineError;
use crate::interrupt::Interrupts;
use crate::worker::{
    FunctionCause, Inspected, PROTOCOL, Reply, Request, Silence, WorkerListing, WorkerProcess,
    WorkerProgram, WorkerStart, adopt_orphans, hear,
};

/// What makes a Google Benchmark executable print its benchmarks and leave.
/// Workers pay no attention to arguments.
const LIST_TESTS: &str = "--benchmark_list_tests=true";
/// Bytes shown of what a program prints that is neither.
const SHOWN: usize = 200;
/// Bytes kept of what it prints: the names of some million benchmarks.
const MOST_PRINTED: usize = 64 << 20;

/// A program could not be inspected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{program}' {cause}")]
pub struct InspectionFailure {
    /// The program.
    pub program: String,
    /// What is wrong with it.
    pub cause: FunctionCause,
}

/// The metrics of a worker that says hello in this version of the protocol.
pub(super) fn greeted(hello: &Reply) -> Result<&[Metric], FunctionCause> {
    match hello {
        Reply::Hello {
            protocol: PROTOCOL,
            metrics,
            ..
        } => match metrics.contains(&Metric::Wall) {
            true => Ok(metrics),
            false => Err(FunctionCause::Protocol(
                "its hello names no metric wall_ns".to_owned(),
            )),
        },
        Reply::Hello { protocol, .. } => Err(FunctionCause::OtherProtocol {
            theirs: *protocol,
            ours: PROTOCOL,
        }),
        other => Err(FunctionCause::Protocol(format!(
            "it says {other:?} instead of hello"
        ))),
    }
}

/// Starts a program and asks what it can race. `patience` is how long it may
/// take, from its start to its last answer.
pub fn inspect(
    program: &WorkerProgram,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Inspected, EngineError> {
    adopt_orphans();
    let patience = patience.map(|patience| patience.max(START_UP));
    let looked = look(program, Some(LIST_TESTS), patience, interrupts);
    let looked = match looked {
        // It may not like the argument.
        Err(Silence::Cause {
            cause: FunctionCause::Exited(1..),
            ..
        }) => look(program, None, patience, interrupts),
        other => other,
    };
    looked.map_err(|silence| match silence {
        Silence::Interrupted => EngineError::Interrupted,
        Silence::Cause { cause, .. } => EngineError::Inspection(Box::new(InspectionFailure {
            program: program.executable.display().to_string(),
            cause,
        })),
    })
}

fn look(
    program: &WorkerProgram,
    probe: Option<&str>,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Inspected, Silence> {
    let silence = |cause| Silence::Cause { worker: 0, cause };
    let not_started = |error: std::io::Error| silence(FunctionCause::NotStarted(error.to_string()));
    let (printed, output) = pipe().map_err(not_started)?;
    let start = WorkerStart {
        program,
        variant: None,
        padding: 0,
        baton: None,
        probe,
        output: Some(Stdio::from(output)),
        mask: interrupts.original_mask(),
    };
    let mut worker = WorkerProcess::start(start).map_err(silence)?;
    let mut printed = Printed {
        pipe: Some(printed),
        text: Vec::new(),
    };
    let hello = first_words(&mut worker, &mut printed, patience, interrupts)?;
    let Some(hello) = hello else {
        printed.rest();
        let text = String::from_utf8_lossy(&printed.text);
        let names: Vec<String> = text.lines().map(str::to_owned).collect();
        if probe.is_some() && looks_like_names(&names) {
            return Ok(Inspected::GoogleBenchmark(names));
        }
        return Err(silence(FunctionCause::NoBenchmarks {
            printed: text.chars().take(SHOWN).collect(),
        }));
    };
    let metrics = greeted(&hello).map_err(silence)?.to_vec();
    // What it prints from now on is nobody's business; with the pipe closed it
    // could die of it, so it is read to the end of the inspection.
    worker.ask(&Request::List);
    let listed = hear(&mut worker, patience, Some(interrupts))?;
    let Reply::Listed(benchmarks) = listed else {
        let said = format!("it answers {listed:?} when it is asked for its benchmarks");
        return Err(silence(FunctionCause::Protocol(said)));
    };
    let mut names: Vec<&str> = benchmarks.iter().map(|b| b.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let said = format!("it lists two benchmarks named '{}'", twice[0]);
        return Err(silence(FunctionCause::Protocol(said)));
    }
    for benchmark in &benchmarks {
        let mut contenders = benchmark.contenders.clone();
        contenders.sort_unstable();
        let problem = match contenders.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(twice) => format!("has two contenders named '{}'", twice[0]),
            None if contenders.is_empty() => "has no contender".to_owned(),
            None if benchmark.threads == 0 => "is called by no thread".to_owned(),
            None => continue,
        };
        let said = format!("benchmark '{}' of its list {problem}", benchmark.name);
        return Err(silence(FunctionCause::Protocol(said)));
    }
    let Reply::Hello { worker: name, .. } = hello else {
        unreachable!("greeted above");
    };
    worker.leave();
    Ok(Inspected::Worker(WorkerListing {
        worker: name,
        metrics,
        benchmarks,
    }))
}

/// What a program prints, as far as it was read.
struct Printed {
    /// `None` at its end.
    pipe: Option<PipeReader>,
    text: Vec<u8>,
}

impl Printed {
    /// Reads what is there.
    fn read(&mut self) {
        let mut buffer = [0; 4096];
        match self.pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
            Some(Ok(bytes @ 1..)) => {
                self.text.extend_from_slice(&buffer[..bytes]);
                if self.text.len() > MOST_PRINTED {
                    self.pipe = None;
                }
            }
            _ => self.pipe = None,
        }
    }

    /// Reads what a program that has ended left behind. What it started may
    /// hold the pipe open for as long as it lives.
    fn rest(&mut self) {
        while let Some(pipe) = &self.pipe {
            let mut fds = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
            let at_once = Some(TimeSpec::from_duration(Duration::ZERO));
            match ppoll(&mut fds, at_once, None) {
                Ok(1..) => self.read(),
                _ => return,
            }
        }
    }
}

/// The first line of a worker; `None` when it ends in peace without one. Reads
/// what it prints meanwhile.
fn first_words(
    worker: &mut WorkerProcess,
    printed: &mut Printed,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Option<Reply>, Silence> {
    let silence = |cause| Silence::Cause { worker: 0, cause };
    let end = patience.map(|patience| (Instant::now() + patience, patience));
    loop {
        match worker.attend() {
            Ok(Some(reply)) => return Ok(Some(reply)),
            Ok(None) => {}
            Err(FunctionCause::Exited(0)) => return Ok(None),
            Err(cause) => return Err(silence(cause)),
        }
        if interrupts.requested().is_some() {
            return Err(Silence::Interrupted);
        }
        let left = end.map(|(end, _)| end.saturating_duration_since(Instant::now()));
        if let (Some(Duration::ZERO), Some((_, patience))) = (left, end) {
            return Err(silence(FunctionCause::NoHello(patience)));
        }
        let pause = [left, worker.pause()].into_iter().flatten().min();
        let printing = printed.pipe.as_ref().map(AsFd::as_fd);
        if worker.wait_beside(printing, pause, interrupts) {
            printed.read();
        }
    }
}

/// Whether these are the names of benchmarks, and not what another program
/// makes of an argument it does not know.
fn looks_like_names(lines: &[String]) -> bool {
    let odd = |line: &String| line.trim().is_empty() || line.contains(LIST_TESTS);
    !lines.is_empty() && !lines.iter().any(odd)
}
