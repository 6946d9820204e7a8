//! perf, which takes samples: by instructions where the machine counts them, else by the clock. How it
//! is started around commands, launches and workers, and what it prints of them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use deadheat_model::{CommandLine, ExitPolicy};

use crate::counters::{Counters, opens_a_clock};
use crate::executable::find_executable;
use crate::interrupt::Interrupts;
use crate::launch_folder::LaunchFolder;
use crate::subprocess::{Answer, run_captured};
use crate::valgrind::{Counted, Dump, ProfileError, Under, checked, run};
use crate::worker::WorkerProgram;

/// Time that perf may take to say its version.
const VERSION: Duration = Duration::from_secs(30);
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
        let mut command = Command::new(&program);
        command.arg("--version").stdin(Stdio::null());
        let said = run_captured(command, Answer::Printed, None, Some(VERSION), interrupts)?;
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
    pub(super) fn measure(
        &self,
        counted: Counted<'_>,
        interrupts: &Interrupts,
    ) -> Result<u64, ProfileError> {
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
    pub(super) fn sample(
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
    pub(super) fn around_worker(
        &self,
        program: &WorkerProgram,
        folder: &LaunchFolder,
    ) -> WorkerProgram {
        let mut arguments = self.record(self.least(), folder);
        arguments.push("--".into());
        arguments.push(program.executable.clone().into());
        arguments.extend(program.arguments.iter().cloned());
        WorkerProgram {
            executable: self.program.clone(),
            arguments,
            ..program.clone()
        }
    }

    /// What perf prints of what it recorded in the folder.
    pub(super) fn printed(
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
