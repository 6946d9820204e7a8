//! What programs execute. perf takes samples of it, by instructions where the machine counts them, else
//! by the clock: how it is started around commands, launches and workers, and what it prints of them.
//! Beside it what perf and callgrind have in common: a worker that is asked for samples, and a launch of
//! Google Benchmark.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deadheat_model::{CommandLine, ExitPolicy, HarnessCalls, WorkerCalls};

use crate::clock::SampleClock;
use crate::contender::{START_UP, filter, startable};
use crate::counters::{Counters, opens_a_clock};
use crate::executable::GOOGLE_BENCHMARK_VARIABLES;
use crate::executable::find_executable;
use crate::function_failure::FunctionError;
use crate::interrupt::Interrupts;
use crate::launch_folder::LaunchFolder;
use crate::subprocess::{Answer, run_captured};
use crate::valgrind::{
    Collect, Counted, Dump, ProfileError, Under, Valgrind, around_worker, ask_version, checked,
    dumps_of_samples, run,
};
use crate::worker::{
    BlockRequest, PrepareRequest, Problem, Reply, ReplyLimits, Request, WaitError, WorkerProcess,
    WorkerProgram, WorkerStart, await_all,
};

/// Bytes of printed samples at most.
const MOST_BYTES: u64 = 1 << 30;

/// Samples that the baseline should have. Each takes a copy of the stack, eight thousand bytes long.
const SAMPLES: u64 = 10_000;
/// Instructions, and nanoseconds, between two samples at least: more often the kernel holds them back.
const LEAST_INSTRUCTIONS: u64 = 100_000;
const LEAST_NS: u64 = 100_000;

/// The files in a folder: what was recorded, what was printed of it, and a count.
const RECORDED: &str = "perf.data";
const PRINTED: &str = "samples.0";
const COUNT: &str = "count.0";

/// The way perf gets at a stack: a copy of its top, unwound by the tables that every program has.
/// Frame pointers would take less, and most programs are built without.
const CALL_GRAPH: &str = "dwarf,8192";

/// perf, as it is found on this machine, and what it samples by.
#[derive(Clone, Debug)]
pub struct Perf {
    program: PathBuf,
    version: String,
    /// True where it samples by instructions, and not by the clock.
    by_instructions: bool,
}

impl Perf {
    /// Finds it in `PATH`, asks its version, and finds out by what it can sample here.
    pub fn find(interrupts: &Interrupts) -> Result<Self, ProfileError> {
        let program = find_executable("perf").ok_or(ProfileError::NoPerf)?;
        let said = ask_version(&program, interrupts)?;
        // Ubuntu has a script of this name, which fails where the real one is not installed.
        if said.ending.is_some() {
            return Err(ProfileError::NoPerf);
        }
        let version = String::from_utf8_lossy(&said.output);
        let version = version.trim().replace("perf version ", "perf-");
        let by_instructions = Self::counts_instructions();
        if !by_instructions {
            opens_a_clock().map_err(|reason| ProfileError::NoSamples { reason })?;
        }
        Ok(Self {
            program,
            version,
            by_instructions,
        })
    }

    /// Returns whether this machine has counters of instructions, by which perf can sample.
    pub fn counts_instructions() -> bool {
        Counters::open().is_ok()
    }

    /// Name and version, such as `perf-6.1.187`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns whether it samples by instructions, and not by the clock.
    pub fn is_by_instructions(&self) -> bool {
        self.by_instructions
    }

    /// The instructions, or nanoseconds, between two samples of a program that takes so many in all.
    pub fn period(&self, whole: u64) -> u64 {
        // Odd, so that it keeps step with few loops.
        (whole / SAMPLES).max(self.least()) | 1
    }

    /// The shortest period.
    fn least(&self) -> u64 {
        if self.by_instructions {
            LEAST_INSTRUCTIONS
        } else {
            LEAST_NS
        }
    }

    /// The event in words of perf: without what the kernel does, which not everybody may see.
    fn event(&self) -> &'static str {
        if self.by_instructions {
            "instructions:u"
        } else {
            "cpu-clock:u"
        }
    }

    /// Runs a command once, and returns its instructions, or its nanoseconds on processors, with those
    /// of all it started.
    pub fn measure_command(
        &self,
        line: &CommandLine,
        interrupts: &Interrupts,
    ) -> Result<u64, ProfileError> {
        match Counted::of_command(line)? {
            Some(counted) => self.measure(counted, interrupts),
            None => Ok(0),
        }
    }

    /// Runs a command once, and returns its samples and those of all it started, one in each period.
    pub fn sample_command(
        &self,
        line: &CommandLine,
        period: u64,
        interrupts: &Interrupts,
    ) -> Result<Vec<Dump>, ProfileError> {
        match Counted::of_command(line)? {
            Some(counted) => Ok(vec![self.sample(counted, period, interrupts)?]),
            None => Ok(Vec::new()),
        }
    }

    /// Runs a program once, and returns its instructions, or its nanoseconds on processors.
    fn measure(&self, counted: Counted<'_>, interrupts: &Interrupts) -> Result<u64, ProfileError> {
        let folder = LaunchFolder::new().map_err(ProfileError::Folder)?;
        let mut command = self.command();
        let options = ["stat", "-x", ",", "-e", self.event(), "-o"];
        command.args(options).arg(folder.path().join(COUNT));
        self.run(command, counted, interrupts)?;
        let counts = folder.numbered("count.", MOST_BYTES);
        let counts = counts.map_err(ProfileError::Folder)?;
        let lines = counts.iter().flat_map(|count| count.text.lines());
        // A clock is in milliseconds. Processors with two kinds of cores have a line for each.
        let scale = if self.by_instructions { 1.0 } else { 1e6 };
        let field = |line: &str| line.split(',').next()?.parse::<f64>().ok();
        let found: f64 = lines.filter_map(field).sum();
        Ok((found * scale) as u64)
    }

    /// Runs a program once, and returns what perf prints of its samples.
    fn sample(
        &self,
        counted: Counted<'_>,
        period: u64,
        interrupts: &Interrupts,
    ) -> Result<Dump, ProfileError> {
        let folder = LaunchFolder::new().map_err(ProfileError::Folder)?;
        let mut command = self.command();
        command.args(self.record(period, &folder));
        self.run(command, counted, interrupts)?;
        self.printed(&folder, interrupts)
    }

    fn run(
        &self,
        mut command: Command,
        counted: Counted<'_>,
        interrupts: &Interrupts,
    ) -> Result<(), ProfileError> {
        command.arg("--");
        let (program, patience, policy) = (counted.program, counted.patience, counted.policy);
        counted.hand_to(&mut command)?;
        let captured = run(command, patience, interrupts)?;
        checked(program, Under::Perf, &captured, policy)
    }

    /// perf, without the habits of whoever uses it.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("PERF_CONFIG", "/dev/null").stdin(Stdio::null());
        command
    }

    /// The arguments that record into the folder, in front of a program and its own.
    fn record(&self, period: u64, folder: &LaunchFolder) -> Vec<OsString> {
        let period = period.to_string();
        let options = ["record", "-q", "-B", "-c", &period, "-e", self.event()];
        let options = options
            .into_iter()
            .chain(["--call-graph", CALL_GRAPH, "-o"]);
        let mut arguments: Vec<OsString> = options.map(OsString::from).collect();
        arguments.push(folder.path().join(RECORDED).into());
        arguments
    }

    /// A worker as perf starts it, which records into `folder`.
    fn around_worker(&self, program: &WorkerProgram, folder: &LaunchFolder) -> WorkerProgram {
        let mut arguments = self.record(self.least(), folder);
        arguments.push("--".into());
        around_worker(&self.program, arguments, program)
    }

    /// What perf prints of what it recorded in the folder.
    fn printed(
        &self,
        folder: &LaunchFolder,
        interrupts: &Interrupts,
    ) -> Result<Dump, ProfileError> {
        let file = folder.create(PRINTED).map_err(ProfileError::Folder)?;
        let mut command = self.command();
        command
            .args(["script", "-F", "event,period,ip,sym,dso", "--inline", "-i"])
            .arg(folder.path().join(RECORDED))
            // What has no symbols here is not asked for on any network.
            .env_remove("DEBUGINFOD_URLS");
        let captured = run_captured(command, Answer::Filed(file.into()), None, None, interrupts)?;
        checked("perf script", Under::Perf, &captured, &ExitPolicy::ZeroOnly)?;
        folder.clear(RECORDED);
        let printed = folder.numbered("samples.", MOST_BYTES);
        let printed = printed.map_err(ProfileError::Folder)?.pop();
        Ok(Dump {
            name: "perf script".to_owned(),
            text: printed.map(|file| file.text).unwrap_or_default(),
        })
    }
}

/// The beginning of the name that workers in Python give themselves.
const IN_PYTHON: &str = "deadheat for Python";

/// The profiler that a worker runs under.
#[derive(Clone, Copy, Debug)]
pub enum WorkerProfiler<'a> {
    /// callgrind.
    Callgrind(&'a Valgrind),
    /// perf.
    Perf(&'a Perf),
}

impl WorkerProfiler<'_> {
    fn under(self) -> Under {
        match self {
            Self::Callgrind(_) => Under::Valgrind,
            Self::Perf(_) => Under::Perf,
        }
    }

    fn around_worker(self, program: &WorkerProgram, folder: &LaunchFolder) -> WorkerProgram {
        match self {
            Self::Callgrind(valgrind) => valgrind.around_worker(program, folder),
            Self::Perf(perf) => perf.around_worker(program, folder),
        }
    }
}

/// Time that perf may take to write what it has of a worker that is gone.
const WRITE: Duration = Duration::from_secs(60);

/// A worker that runs one contender of a benchmark under a profiler; killed when dropped.
#[derive(Debug)]
pub struct CountedWorker<'a> {
    profiler: WorkerProfiler<'a>,
    worker: WorkerProcess,
    folder: LaunchFolder,
    program: String,
    patience: Option<Duration>,
    interrupts: &'a Interrupts,
    /// Samples that the worker takes for a reply.
    samples: u32,
    /// Dumps that were read already.
    read: usize,
}

impl<'a> CountedWorker<'a> {
    /// Starts the worker and gets its benchmark ready. `patience` is how long making an input and
    /// taking a sample may take, each for itself.
    pub fn start(
        profiler: WorkerProfiler<'a>,
        calls: &WorkerCalls,
        patience: Option<Duration>,
        interrupts: &'a Interrupts,
    ) -> Result<Self, ProfileError> {
        let folder = LaunchFolder::new().map_err(ProfileError::Folder)?;
        let program = calls.program.executable.display().to_string();
        let plain = WorkerProgram {
            executable: calls.program.executable.clone(),
            arguments: calls.program.arguments.iter().map(Into::into).collect(),
            directory: calls.program.directory.clone(),
            shown: false,
        };
        let wrapped = profiler.around_worker(&plain, &folder);
        let worker = WorkerProcess::start(WorkerStart {
            program: &wrapped,
            variant: None,
            path_padding: None,
            padding: 0,
            hash_seed: None,
            fixed_addresses: true,
            baton: None,
            probe: None,
            mask: interrupts.original_mask(),
        });
        let worker = worker.map_err(|cause| ProfileError::Worker {
            program: program.clone(),
            under: profiler.under(),
            cause,
            stderr_tail: None,
        })?;
        let mut counted = Self {
            profiler,
            worker,
            folder,
            program,
            patience,
            interrupts,
            samples: 2,
            read: 0,
        };
        match counted.reply(counted.patience.map(|patience| patience.max(START_UP)))? {
            Reply::Hello { worker, .. } if worker.starts_with(IN_PYTHON) => {
                let program = counted.program.clone();
                return Err(ProfileError::Interpreted { program });
            }
            Reply::Hello { .. } => {}
            other => return Err(counted.unexpected(&other)),
        }
        let prepare = PrepareRequest {
            benchmark: calls.benchmark.clone(),
            contender: Some(calls.contender.clone()),
            clock: SampleClock::for_counts().to_words(),
            cpu_overhead_ns: 0.0,
            heap_bytes: 0,
            stack_bytes: 0,
            callgrind: matches!(profiler, WorkerProfiler::Callgrind(_)),
            input_per_call: false,
        };
        match counted.ask(&Request::Prepare(prepare))? {
            Reply::Prepared { .. } => Ok(counted),
            other => Err(counted.unexpected(&other)),
        }
    }

    /// Calls the contender so many times on the input of this seed, which it has met once before, and
    /// returns what callgrind counted of these calls.
    pub fn sample(&mut self, seed: u64, iterations: u64) -> Result<Dump, ProfileError> {
        let block = BlockRequest {
            seed,
            iterations,
            turns: vec![Some(0); 2],
            // The first call fills what others find filled.
            unrecorded: 1,
            unrecorded_iterations: 1,
        };
        self.block(block)?;
        let mut dumps = dumps_of_samples(&self.folder)?;
        let written = dumps.len().saturating_sub(self.read);
        self.read = dumps.len();
        match (written, dumps.pop()) {
            (2, Some(last)) => Ok(last),
            _ => Err(ProfileError::NoMarks {
                program: self.program.clone(),
            }),
        }
    }

    /// Calls the contender so many times in each of so many samples, and returns the time that all
    /// took, making inputs and checking outputs included.
    pub fn calls(
        &mut self,
        seed: u64,
        iterations: u64,
        samples: u32,
    ) -> Result<Duration, ProfileError> {
        let since = Instant::now();
        self.block(BlockRequest {
            seed,
            iterations,
            turns: vec![Some(0); samples as usize],
            unrecorded: 0,
            unrecorded_iterations: 1,
        })?;
        Ok(since.elapsed())
    }

    /// Lets the worker go, and returns what perf prints of it; nothing under another profiler.
    pub fn sampled(mut self) -> Result<Option<Dump>, ProfileError> {
        let WorkerProfiler::Perf(perf) = self.profiler else {
            return Ok(None);
        };
        if !self.worker.leaves_within(WRITE) {
            return Err(self.failed(FunctionError::TimedOut(WRITE)));
        }
        perf.printed(&self.folder, self.interrupts).map(Some)
    }

    /// Lets the worker go and waits until it is gone.
    pub fn leave(self) {
        self.worker.leave();
    }

    fn block(&mut self, block: BlockRequest) -> Result<(), ProfileError> {
        self.samples = block.turns.len() as u32;
        match self.ask(&Request::Block(block))? {
            Reply::Block { .. } => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, ProfileError> {
        self.worker.ask(request);
        self.reply(self.patience)
    }

    fn reply(&mut self, each: Option<Duration>) -> Result<Reply, ProfileError> {
        let patience = ReplyLimits {
            each,
            samples: self.samples,
            whatever_is_noted: false,
        };
        let workers = &mut [&mut self.worker];
        match await_all(workers, None, patience, self.interrupts) {
            Ok(mut replies) => match replies.pop().flatten() {
                Some(reply) => Ok(reply),
                None => Err(self.failed(FunctionError::Protocol("it says nothing".to_owned()))),
            },
            Err(WaitError::Interrupted) => Err(ProfileError::Interrupted),
            Err(WaitError::Cause { cause, .. }) => Err(self.failed(cause)),
        }
    }

    fn failed(&self, cause: FunctionError) -> ProfileError {
        let program = &self.program;
        let unknown = match self.profiler {
            WorkerProfiler::Callgrind(valgrind) => {
                valgrind.unknown_instruction(program, &self.folder)
            }
            WorkerProfiler::Perf(_) => None,
        };
        let under = self.profiler.under();
        match (unknown, cause) {
            (Some(unknown), _) => unknown,
            (None, FunctionError::TimedOut(patience)) => ProfileError::TimedOut {
                program: program.clone(),
                under,
                patience,
            },
            (None, cause) => ProfileError::Worker {
                program: program.clone(),
                under,
                cause,
                stderr_tail: self.worker.stderr_tail.message(),
            },
        }
    }

    fn unexpected(&self, reply: &Reply) -> ProfileError {
        self.failed(match reply {
            Reply::Failed { problem, .. } => match problem {
                Problem::Panicked(message) => FunctionError::Panicked(message.clone()),
                Problem::Skipped(reason) => FunctionError::Skipped(reason.clone()),
                Problem::Raised(error) => FunctionError::Raised(error.clone()),
                Problem::Refused(reason) => FunctionError::Refused(reason.clone()),
                Problem::OutputVaries(detail) => FunctionError::OutputVaries(detail.clone()),
                _ => FunctionError::Protocol(format!("it answers {}", reply.said())),
            },
            other => FunctionError::Protocol(format!("it answers {}", other.said())),
        })
    }
}

/// The length of a launch of Google Benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchLength {
    /// So many iterations, which releases from 1.8 on understand.
    Iterations(u64),
    /// As few as there can be: one, unless the benchmark itself says how many.
    Shortest,
}

/// The words of a launch.
struct Launch {
    program: String,
    arguments: Vec<String>,
}

impl Launch {
    fn of(calls: &HarnessCalls, iterations: LaunchLength) -> Self {
        let length = match iterations {
            LaunchLength::Iterations(count) => format!("{count}x"),
            LaunchLength::Shortest => "0.000000001".to_owned(),
        };
        let mut arguments = calls.program.arguments.clone();
        arguments.extend([
            format!("--benchmark_filter={}", filter(&calls.benchmark)),
            "--benchmark_repetitions=1".to_owned(),
            format!("--benchmark_min_time={length}"),
        ]);
        let program = startable(&calls.program.executable);
        Self {
            program: program.to_string_lossy().into_owned(),
            arguments,
        }
    }

    fn counted<'a>(&'a self, calls: &'a HarnessCalls, patience: Option<Duration>) -> Counted<'a> {
        Counted {
            program: &self.program,
            arguments: &self.arguments,
            directory: calls.program.directory.as_deref(),
            hidden: &GOOGLE_BENCHMARK_VARIABLES,
            stdin: Stdio::null(),
            patience,
            policy: &ExitPolicy::ZeroOnly,
        }
    }
}

impl Perf {
    /// Launches an executable of Google Benchmark for one benchmark and so many iterations, and
    /// returns the instructions, or the nanoseconds on processors, of the launch.
    pub fn measure_launch(
        &self,
        calls: &HarnessCalls,
        iterations: u64,
        patience: Option<Duration>,
        interrupts: &Interrupts,
    ) -> Result<u64, ProfileError> {
        let launch = Launch::of(calls, LaunchLength::Iterations(iterations));
        self.measure(launch.counted(calls, patience), interrupts)
    }

    /// Launches it once more, and returns the samples of the launch, one in each period.
    pub fn sample_launch(
        &self,
        calls: &HarnessCalls,
        iterations: u64,
        period: u64,
        patience: Option<Duration>,
        interrupts: &Interrupts,
    ) -> Result<Dump, ProfileError> {
        let launch = Launch::of(calls, LaunchLength::Iterations(iterations));
        self.sample(launch.counted(calls, patience), period, interrupts)
    }
}

impl Valgrind {
    /// Launches an executable of Google Benchmark for one benchmark and so many iterations. Only what
    /// runs below the benchmark's function is counted if `below` it.
    pub fn count_launch(
        &self,
        calls: &HarnessCalls,
        iterations: LaunchLength,
        below: bool,
        patience: Option<Duration>,
        interrupts: &Interrupts,
    ) -> Result<Vec<Dump>, ProfileError> {
        let launch = Launch::of(calls, iterations);
        let counted = launch.counted(calls, patience);
        let functions = functions_of(&calls.benchmark);
        let collect = if below {
            Collect::Below(&functions)
        } else {
            Collect::Everything
        };
        self.count(counted, collect, interrupts)
    }
}

/// The names of the function that a benchmark of Google Benchmark may be: a plain one, one in a
/// namespace, a template, or a method of a fixture.
fn functions_of(benchmark: &str) -> Vec<String> {
    let mut parts = benchmark.split('/');
    let name = parts.next().unwrap_or_default();
    let family = name.split('<').next().unwrap_or_default();
    let mut functions = vec![
        format!("{family}(benchmark::State&*"),
        format!("*::{family}(benchmark::State&*"),
        format!("* {family}<*>(benchmark::State&*"),
    ];
    functions.extend(
        parts.next().map(|method| {
            format!("*{family}_{method}_Benchmark::BenchmarkCase(benchmark::State&*")
        }),
    );
    functions
}

#[cfg(test)]
mod tests {
    use super::functions_of;

    #[test]
    fn a_benchmark_of_google_benchmark_may_be_a_function_a_template_or_a_method() {
        assert_eq!(
            functions_of("BM_sum<int>/64"),
            [
                "BM_sum(benchmark::State&*",
                "*::BM_sum(benchmark::State&*",
                "* BM_sum<*>(benchmark::State&*",
                "*BM_sum_64_Benchmark::BenchmarkCase(benchmark::State&*",
            ]
        );
    }
}
