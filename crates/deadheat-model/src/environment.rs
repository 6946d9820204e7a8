//! Facts about the machine a run was measured on.

use crate::calibration::{CalibrationNote, Machine};
use crate::placement::NeutralLinks;
use crate::shard::{Conditions, Merged};

/// The access to hardware counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterAccess {
    /// They were recorded.
    Available,
    /// They were not, for this reason.
    Unavailable(String),
}

/// The clock that timed the samples of functions.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockFacts {
    /// `tsc`, `cntvct` or `os`.
    pub source: String,
    /// Smallest step seen, in nanoseconds.
    pub resolution_ns: f64,
    /// Nanoseconds that reading it twice takes.
    pub overhead_ns: f64,
    /// The reason why the counter of the processor was not used.
    pub fallback: Option<String>,
}

/// A commit of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its name, all digits of it.
    pub id: String,
    /// The time of the commit in seconds since 1970-01-01 UTC, when known.
    pub committed_at: Option<u64>,
    /// The first line of its message.
    pub subject: String,
}

impl Commit {
    /// The name as people read it.
    pub fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }
}

/// Facts about the machine; a fact that could not be learned is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Operating system and architecture, such as `linux x86_64`.
    pub system: String,
    /// The identity of this boot of the machine, where the race is spread over several.
    pub boot: Option<String>,
    /// The contents of the programs that race, each by its name and SHA-256, where the race is
    /// spread over several machines: all have to race the same.
    pub programs: Vec<(String, String)>,
    /// The conditions that this host measures under, where the race is spread over several.
    pub conditions: Conditions,
    /// The parts that the run was merged of; `None` where it was raced as one.
    pub merged: Option<Merged>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical cores deadheat may use.
    pub cores: Option<u32>,
    /// Frequency governor of the first core.
    pub governor: Option<String>,
    /// Load average over one minute when the run began.
    pub load: Option<f64>,
    /// Cores the contenders were held on; empty when they were not pinned.
    pub pinned: Vec<u32>,
    /// Access to hardware counters; `None` when nobody asked.
    pub counters: Option<CounterAccess>,
    /// The clock of the samples, where it is not the one of the system that times whole processes.
    pub clock: Option<ClockFacts>,
    /// True if the code measured was built with debug assertions.
    pub debug_build: bool,
    /// The executables that neutral links were asked of; empty when nobody asked.
    pub neutral_links: Vec<NeutralLinks>,
    /// The way of each side to be built, the baseline first, where these are two; else empty.
    pub builds: Vec<String>,
    /// The commits that the two sides were built from, the baseline first; empty where a side is no
    /// commit, or is built in a way of its own.
    pub commits: Vec<Commit>,
    /// The short name of this installation, written beside commits: races of one machine are
    /// checked together.
    pub machine: Option<String>,
    /// The calibration of races of this kind on this machine; `None` where it was not calibrated.
    pub calibration: Option<CalibrationNote>,
}

impl Machine {
    /// The machine of these facts.
    pub fn of(environment: &Environment, id: Option<String>) -> Self {
        Self {
            system: environment.system.clone(),
            kernel: environment.kernel.clone(),
            cpu: environment.cpu.clone(),
            cores: environment.cores,
            id,
        }
    }
}
