//! Runs programs under perf, which takes a sample every N instructions if the machine counts them,
//! and otherwise every N nanoseconds.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat::parts::engine::{
    Counters, Interrupts, LaunchFolder, Tool, WorkerProgram, find_executable, opens_a_clock,
};
use deadheat::parts::model::ExitPolicy;

use crate::run_error::{ProfileError, Under};
use crate::run_program::{Ended, Program};

/// The largest size of printed samples, in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// The time limit for `perf --version`.
const VERSION: Duration = Duration::from_secs(30);

/// The number of samples that the baseline should have. Each sample copies 8 kB of the stack.
const SAMPLES: u64 = 10_000;
/// The smallest period between two samples, in instructions. The kernel throttles shorter periods.
const LEAST_INSTRUCTIONS: u64 = 100_000;
/// The smallest period between two samples, in nanoseconds. The kernel throttles shorter periods.
const LEAST_NS: u64 = 100_000;

/// The name of the file with the samples that perf recorded.
const RECORDED: &str = "perf.data";
/// The name of the file with the samples as text.
const PRINTED: &str = "samples.0";
/// The name of the file with the total count.
const COUNT: &str = "count.0";

/// perf copies the top of the stack and unwinds it with tables that every program has. Frame
/// pointers would be cheaper, but most programs are built without them.
const CALL_GRAPH: &str = "dwarf,8192";

/// An environment variable that makes perf ignore the user's configuration.
const UNCONFIGURED: (&str, Option<&str>) = ("PERF_CONFIG", Some("/dev/null"));

#[derive(Clone, Debug)]
pub(crate) struct Perf {
    program: PathBuf,
    version: String,
    /// True if perf samples by instructions, false if by time.
    by_instructions: bool,
}

impl Perf {
    /// Finds perf in `PATH`, reads its version, and determines whether it can sample by
    /// instructions.
    pub(crate) fn find(interrupts: &Interrupts) -> Result<Self, ProfileError> {
        let program = find_executable("perf").ok_or(ProfileError::NoPerf)?;
        let tool = Tool {
            patience: Some(VERSION),
            ..Tool::new(&program, ["--version"])
        };
        let said = tool.read(interrupts)?;
        // Ubuntu has a script named perf, which fails if the real perf is not installed.
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

    /// Returns true if perf can sample by instructions on this machine.
    pub(crate) fn counts_instructions() -> bool {
        Counters::open().is_ok()
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn is_by_instructions(&self) -> bool {
        self.by_instructions
    }

    /// Returns the period between two samples of a program that takes `whole` instructions, or
    /// nanoseconds.
    pub(crate) fn period(&self, whole: u64) -> u64 {
        // An odd period rarely coincides with the period of a loop.
        (whole / SAMPLES).max(self.least()) | 1
    }

    fn least(&self) -> u64 {
        if self.by_instructions {
            LEAST_INSTRUCTIONS
        } else {
            LEAST_NS
        }
    }

    /// Returns perf's name of the event, for user code only, because not every user may sample the
    /// kernel.
    fn event(&self) -> &'static str {
        if self.by_instructions {
            "instructions:u"
        } else {
            "cpu-clock:u"
        }
    }

    /// Runs a program once, and returns its instructions, or its nanoseconds on processors.
    pub(crate) fn measure(
        &self,
        program: Program,
        interrupts: &Interrupts,
    ) -> Result<u64, ProfileError> {
        let folder = LaunchFolder::new().map_err(ProfileError::Folder)?;
        let options = ["stat", "-x", ",", "-e", self.event(), "-o"];
        let mut arguments: Vec<OsString> = options.map(OsString::from).to_vec();
        arguments.push(folder.path().join(COUNT).into());
        self.run(arguments, program, interrupts)?;
        let counts = folder.numbered("count.", MOST_BYTES);
        let counts = counts.map_err(ProfileError::Folder)?;
        let lines = counts.iter().flat_map(|count| count.text.lines());
        // perf prints clocks in milliseconds, and one line for each kind of core.
        let scale = if self.by_instructions { 1.0 } else { 1e6 };
        let field = |line: &str| line.split(',').next()?.parse::<f64>().ok();
        let found: f64 = lines.filter_map(field).sum();
        Ok((found * scale) as u64)
    }

    /// Runs a program once, and returns the samples as text.
    pub(crate) fn sample(
        &self,
        program: Program,
        period: u64,
        interrupts: &Interrupts,
    ) -> Result<String, ProfileError> {
        let folder = LaunchFolder::new().map_err(ProfileError::Folder)?;
        self.run(self.record(period, &folder), program, interrupts)?;
        self.printed(&folder, interrupts)
    }

    fn run(
        &self,
        mut arguments: Vec<OsString>,
        program: Program,
        interrupts: &Interrupts,
    ) -> Result<(), ProfileError> {
        arguments.push("--".into());
        let ended = program.run_under(&self.program, arguments, &[UNCONFIGURED], interrupts)?;
        ended.check(Under::Perf)
    }

    /// Returns the arguments that record into the folder. The program and its arguments follow
    /// them.
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

    /// Returns a worker that runs under perf, which records into `folder`.
    pub(crate) fn around_worker(
        &self,
        program: &WorkerProgram,
        folder: &LaunchFolder,
    ) -> WorkerProgram {
        let mut arguments = self.record(self.least(), folder);
        arguments.push("--".into());
        program.under(&self.program, arguments)
    }

    /// Returns the samples in the folder as text.
    pub(crate) fn printed(
        &self,
        folder: &LaunchFolder,
        interrupts: &Interrupts,
    ) -> Result<String, ProfileError> {
        let options = ["script", "-F", "event,period,ip,sym,dso", "--inline", "-i"];
        let recorded = folder.path().join(RECORDED);
        let arguments = options.map(Path::new).into_iter().chain([&*recorded]);
        let script = Tool {
            // Without this variable perf would look up unknown symbols on the network.
            variables: vec![UNCONFIGURED, ("DEBUGINFOD_URLS", None)],
            ..Tool::new(&self.program, arguments)
        };
        let ended = Ended {
            name: SCRIPT.to_owned(),
            captured: script.write_into(folder, PRINTED, interrupts)?,
            policy: ExitPolicy::ZeroOnly,
        };
        ended.check(Under::Perf)?;
        folder.clear(RECORDED);
        let printed = folder.numbered("samples.", MOST_BYTES);
        let printed = printed.map_err(ProfileError::Folder)?.pop();
        Ok(printed.map(|file| file.text).unwrap_or_default())
    }
}

/// The name of the printed samples in error messages.
pub(crate) const SCRIPT: &str = "perf script";
