//! What kind of program it is, and what it can race: found out by starting it
//! once.

use std::io::{PipeReader, Read, pipe};
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::worker_session::greeted;
use super::workers::START_UP;
use crate::error::EngineError;
use crate::interrupt::Interrupts;
use crate::worker::{
    FunctionCause, Inspected, ListedBenchmark, Reply, Request, WaitError, WorkerListing,
    WorkerProcess, WorkerProgram, WorkerStart, adopt_orphans, in_one_line,
};

/// What makes a Google Benchmark executable print its benchmarks and leave.
/// Workers pay no attention to arguments.
const LIST_TESTS: &str = "--benchmark_list_tests=true";
/// Bytes shown of what a program prints that is neither.
const SHOWN: usize = 200;
/// Bytes kept of what it prints: the names of some hundred thousand
/// benchmarks. The rest is read and forgotten.
const MOST_PRINTED: usize = 64 << 20;
/// Bytes of the name of a benchmark or contender at most.
const LONGEST_NAME: usize = 4_096;

/// A program could not be inspected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionFailure {
    /// The program.
    pub program: String,
    /// What is wrong with it.
    pub cause: FunctionCause,
    /// What it printed on standard error last, in one line, where nobody saw
    /// it.
    pub stderr_tail: Option<String>,
}

impl std::fmt::Display for InspectionFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            program,
            cause,
            stderr_tail,
        } = self;
        write!(
            f,
            "'{program}' {cause}{}",
            cause.with_last_words(stderr_tail.as_deref())
        )
    }
}

impl std::error::Error for InspectionFailure {}

/// Starts a program and asks what it can race. `patience` is how long it may
/// take, from its start to its last answer.
pub fn inspect(
    program: &WorkerProgram,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Inspected, EngineError> {
    adopt_orphans();
    let patience = patience.map(|patience| patience.max(START_UP));
    let looked = Look::at(program, patience, interrupts).and_then(Look::find_out);
    looked.map_err(|unfound| match unfound.why {
        WaitError::Interrupted => EngineError::Interrupted,
        WaitError::Cause { cause, .. } => EngineError::Inspection(Box::new(InspectionFailure {
            program: program.executable.display().to_string(),
            cause,
            stderr_tail: unfound.stderr_tail,
        })),
    })
}

/// Why nothing was found out.
struct Unfound {
    why: WaitError,
    stderr_tail: Option<String>,
}

impl From<WaitError> for Unfound {
    fn from(why: WaitError) -> Self {
        Self {
            why,
            stderr_tail: None,
        }
    }
}

impl From<FunctionCause> for Unfound {
    fn from(cause: FunctionCause) -> Self {
        WaitError::Cause { worker: 0, cause }.into()
    }
}

/// A program that was started to see what it does.
struct Look<'a> {
    worker: WorkerProcess,
    printed: Printed,
    patience: Option<Duration>,
    interrupts: &'a Interrupts,
}

impl<'a> Look<'a> {
    fn at(
        program: &WorkerProgram,
        patience: Option<Duration>,
        interrupts: &'a Interrupts,
    ) -> Result<Self, Unfound> {
        let (printed, output) =
            pipe().map_err(|error| FunctionCause::NotStarted(error.to_string()))?;
        let worker = WorkerProcess::start(WorkerStart {
            program,
            variant: None,
            path_padding: None,
            padding: 0,
            baton: None,
            // Started once, and never without this: a test executable of Go
            // that gets no argument runs its whole suite.
            probe: Some(LIST_TESTS),
            output: Some(Stdio::from(output)),
            mask: interrupts.original_mask(),
        })?;
        Ok(Self {
            worker,
            printed: Printed {
                pipe: Some(printed),
                text: Vec::new(),
            },
            patience,
            interrupts,
        })
    }

    fn find_out(mut self) -> Result<Inspected, Unfound> {
        let found = match self.hear() {
            Ok(hello) => self.ask_for_benchmarks(&hello),
            Err(WaitError::Cause { cause, .. }) if cause.is_death() => self.of_the_ended(cause),
            Err(WaitError::Cause {
                cause: FunctionCause::TimedOut(patience),
                ..
            }) => Err(self.neither(format!("goes on for {patience:?}")).into()),
            Err(why) => Err(why.into()),
        };
        match found {
            Ok(found) => {
                self.worker.leave();
                Ok(found)
            }
            Err(mut unfound) => {
                unfound.stderr_tail = self.worker.stderr_tail();
                if let WaitError::Cause {
                    cause: FunctionCause::Neither { instead, .. },
                    ..
                } = &mut unfound.why
                {
                    *instead = unfound.stderr_tail.as_deref().and_then(other_harness);
                }
                Err(unfound)
            }
        }
    }

    /// What it is, after it ended without a hello.
    fn of_the_ended(&mut self, cause: FunctionCause) -> Result<Inspected, Unfound> {
        self.printed.rest();
        let text = String::from_utf8_lossy(&self.printed.text);
        let names: Vec<String> = text.lines().map(str::to_owned).collect();
        if cause == FunctionCause::Exited(0) && looks_like_names(&names) {
            return Ok(Inspected::GoogleBenchmark(names));
        }
        Err(self.neither(cause.to_string()).into())
    }

    fn neither(&self, ended: String) -> FunctionCause {
        let beginning = &self.printed.text[..self.printed.text.len().min(SHOWN)];
        FunctionCause::Neither {
            ended,
            printed: in_one_line(&String::from_utf8_lossy(beginning)).unwrap_or_default(),
            instead: None,
        }
    }

    /// The next line of a worker. Reads what it prints meanwhile: with that
    /// pipe closed it could die of it, and with the pipe full it would wait.
    fn hear(&mut self) -> Result<Reply, WaitError> {
        let wait_error = |cause| WaitError::Cause { worker: 0, cause };
        let began = Instant::now();
        loop {
            if let Some(reply) = self.worker.attend().map_err(wait_error)? {
                return Ok(reply);
            }
            if self.interrupts.requested().is_some() {
                return Err(WaitError::Interrupted);
            }
            let left = self
                .patience
                .map(|patience| patience.saturating_sub(began.elapsed()));
            if let (Some(Duration::ZERO), Some(patience)) = (left, self.patience) {
                return Err(wait_error(FunctionCause::TimedOut(patience)));
            }
            let forgotten = self.worker.forget_most();
            let printing = self.printed.pipe.as_ref().map(AsFd::as_fd);
            let (news, asked_again) = self.worker.news();
            let pause = [left, asked_again, forgotten].into_iter().flatten().min();
            let mut fds: Vec<PollFd<'_>> = printing
                .into_iter()
                .chain(news)
                .map(|end| PollFd::new(end, PollFlags::POLLIN))
                .collect();
            let mask = Some(*self.interrupts.original_mask());
            // Interrupted or too early: the next round finds out.
            let _ = ppoll(&mut fds, pause.map(TimeSpec::from_duration), mask);
            if printing.is_some() && fds[0].any() == Some(true) {
                self.printed.read();
            }
        }
    }

    fn ask_for_benchmarks(&mut self, hello: &Reply) -> Result<Inspected, Unfound> {
        let metrics = greeted(hello)?.to_vec();
        let Reply::Hello { worker: name, .. } = hello else {
            unreachable!("greeted above");
        };
        self.worker.ask(&Request::List);
        let listed = self.hear()?;
        let Reply::Listed(benchmarks) = listed else {
            let said = format!("it says {} when asked for its benchmarks", listed.said());
            return Err(FunctionCause::Protocol(said).into());
        };
        makes_sense(&benchmarks).map_err(FunctionCause::Protocol)?;
        Ok(Inspected::Worker(WorkerListing {
            worker: name.clone(),
            metrics,
            benchmarks,
        }))
    }
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
                if self.text.len() < MOST_PRINTED {
                    self.text.extend_from_slice(&buffer[..bytes]);
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

/// The harness that complains in these words of an argument it does not know,
/// and how its benchmarks are raced.
fn other_harness(words: &str) -> Option<&'static str> {
    if words.contains("-test.v") {
        return Some(
            "a test executable of Go; record its benchmarks with -test.bench=. -test.count=10, \
             and deadheat compare sets two such files side by side",
        );
    }
    // The second of clap, whose first line may be out of sight already.
    let refusals = [
        "unexpected argument",
        "as a value, use",
        "Unrecognized option",
    ];
    let refuses = refusals.iter().any(|refusal| words.contains(refusal));
    (refuses && words.contains("benchmark_list_tests")).then_some(
        "a benchmark or test of another harness, such as criterion, divan or libtest; what \
         criterion keeps in target/criterion is read by deadheat compare (docs/ways/criterion.md)",
    )
}

/// What is wrong with a list of benchmarks, if anything.
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

/// Whether these are the names of benchmarks, and not what another program
/// makes of an argument it does not know.
fn looks_like_names(lines: &[String]) -> bool {
    let odd = |line: &String| line.trim().is_empty() || line.contains(LIST_TESTS);
    !lines.is_empty() && !lines.iter().any(odd)
}
