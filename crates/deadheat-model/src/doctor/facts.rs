//! Facts that the system tells of itself, thing by thing. What it does not tell is `None` or empty.

use crate::named::named;

named! {
    /// The things a checkup looks at, in the order they are mended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Topic: name(self) {
        /// Containers, and how much of the processor they may use.
        Container = "container",
        /// Time that a hypervisor gives to others.
        Steal = "steal",
        /// Other tasks that run.
        Load = "load",
        /// Heat.
        Thermal = "thermal",
        /// Memory moved to disk.
        Swap = "swap",
        /// Interrupts on the measuring core.
        Interrupts = "interrupts",
        /// The governor that chooses the frequency.
        Governor = "governor",
        /// Frequencies above the nominal one.
        Turbo = "turbo",
        /// Threads that share a core.
        Smt = "smt",
        /// Random addresses.
        Aslr = "aslr",
        /// The clock.
        Clock = "clock",
        /// Pages of 2 MiB.
        HugePages = "huge-pages",
        /// Cores set apart.
        Isolation = "isolation",
        /// Hardware counters.
        Counters = "counters",
        /// Virtual machines.
        Virtualisation = "virtualisation",
        /// The build of deadheat itself.
        Build = "build",
    }
}

/// The file that turns frequencies above the nominal one on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurboSwitch {
    /// `intel_pstate/no_turbo`: 1 is off.
    NoTurbo,
    /// `cpufreq/boost`: 0 is off.
    Boost,
    /// `cpuN/cpufreq/boost`, one for each core: 0 is off.
    BoostOfCores,
}

/// The busiest interrupt of a device on the measuring core.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyLine {
    /// Its number.
    pub label: String,
    /// The switch that raises it.
    pub name: String,
    /// Times a second.
    pub per_second: f64,
}

/// A sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// Its name.
    pub name: String,
    /// Degrees Celsius.
    pub celsius: f64,
    /// Where the machine would switch itself off.
    pub critical: Option<f64>,
}

/// The host that the system runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// Real hardware, as far as can be seen.
    Hardware,
    /// A virtual machine, of this make where it is known.
    VirtualMachine(Option<String>),
    /// The system does not tell.
    Unknown,
}

/// The share of the processors that a control group may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// Cores' worth of time: 1.5 is one core and half of another.
    pub cores: f64,
    /// After how many milliseconds it is counted anew.
    pub period_ms: f64,
    /// The file that sets it.
    pub file: String,
}

/// The reason why hardware counters cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// This process may not.
    NotPermitted,
    /// The machine has none, or hides them as most virtual machines do.
    NotThere,
    /// The kernel was built without them.
    NotBuilt,
    /// Something else, in the words of the system.
    Other(String),
}

/// Facts that the system tells, thing by thing.
#[derive(Clone, Debug, PartialEq)]
pub enum Facts {
    /// The clock.
    Clock {
        /// `tsc`, `cntvct` or `os`: what samples of functions are timed by.
        source: String,
        /// The reason why it is not the counter of the processor.
        fallback: Option<String>,
        /// The clock that the kernel keeps time by.
        kernel: Option<String>,
        /// All it could use.
        available: Vec<String>,
    },
    /// The governor that chooses the frequency.
    Governor {
        /// The governors of the cores deadheat may use, each once.
        governors: Vec<String>,
        /// The driver below them.
        driver: Option<String>,
        /// The range of the measuring core, in kHz.
        range_khz: Option<(u64, u64)>,
    },
    /// Frequencies above the nominal one.
    Turbo {
        /// True if they are allowed.
        on: Option<bool>,
        /// The switch that turns them off.
        switch: Option<TurboSwitch>,
        /// The core that was kept busy to see what they share.
        other_core: Option<u32>,
    },
    /// Threads that share a core.
    Smt {
        /// True if cores are shared.
        active: Option<bool>,
        /// The others that share the measuring core.
        siblings: Vec<u32>,
        /// Share of the time that they were busy by themselves.
        siblings_busy: Option<f64>,
    },
    /// Time that a hypervisor gives to others.
    Steal {
        /// Share of the time since the system started.
        since_start: Option<f64>,
    },
    /// Other tasks that run.
    Load {
        /// Tasks that ran or wanted to, on average over the last minute.
        one_minute: Option<f64>,
        /// Tasks that wanted to run when doctor started, itself included.
        running: Option<u32>,
        /// Share of the last ten seconds in which some task waited for a core.
        pressure: Option<f64>,
        /// Cores that are there.
        cores: u32,
    },
    /// Cores set apart.
    Isolation {
        /// Cores that the scheduler leaves alone (`isolcpus`, cpusets).
        isolated: Vec<u32>,
        /// Cores that need no timer while one task runs (`nohz_full`).
        tickless: Vec<u32>,
        /// True if this process may use any of the isolated ones.
        reachable: bool,
    },
    /// Interrupts on the measuring core.
    Interrupts {
        /// The device that interrupts most.
        busiest: Option<BusyLine>,
        /// Another core that could take its interrupts.
        other_core: Option<u32>,
    },
    /// Random addresses.
    Aslr {
        /// The setting of the kernel: 0, 1 or 2.
        setting: Option<u8>,
        /// True if this process was started without them, as `setarch -R` does.
        switched_off: bool,
    },
    /// Pages of 2 MiB.
    HugePages {
        /// `always`, `madvise` or `never`.
        enabled: Option<String>,
        /// The kernel's policy on making them.
        defrag: Option<String>,
    },
    /// Memory moved to disk.
    Swap {
        /// Bytes there are; 0 without any.
        total: Option<u64>,
        /// Bytes in use.
        used: Option<u64>,
    },
    /// Heat.
    Thermal {
        /// The hottest sensor.
        hottest: Option<Heat>,
        /// Number of times the processor slowed itself down since the start.
        throttled: Option<u64>,
    },
    /// Virtual machines.
    Virtualisation {
        /// The host that the system runs on.
        host: Host,
    },
    /// Containers, and how much of the processor they may use.
    Container {
        /// `docker`, `podman` and the like; `None` outside of any.
        kind: Option<String>,
        /// 1 or 2: the control groups that hold this process.
        version: Option<u8>,
        /// The tightest quota above this process.
        quota: Option<Quota>,
    },
    /// Hardware counters.
    Counters {
        /// The setting of the kernel.
        paranoid: Option<i32>,
        /// The reason why they could not be opened; `None` when they could.
        refused: Option<Refused>,
    },
    /// The build of deadheat itself.
    Build {
        /// True if with debug assertions.
        debug_assertions: bool,
    },
}

impl Facts {
    /// Their topic.
    pub fn topic(&self) -> Topic {
        match self {
            Self::Clock { .. } => Topic::Clock,
            Self::Governor { .. } => Topic::Governor,
            Self::Turbo { .. } => Topic::Turbo,
            Self::Smt { .. } => Topic::Smt,
            Self::Steal { .. } => Topic::Steal,
            Self::Load { .. } => Topic::Load,
            Self::Isolation { .. } => Topic::Isolation,
            Self::Interrupts { .. } => Topic::Interrupts,
            Self::Aslr { .. } => Topic::Aslr,
            Self::HugePages { .. } => Topic::HugePages,
            Self::Swap { .. } => Topic::Swap,
            Self::Thermal { .. } => Topic::Thermal,
            Self::Virtualisation { .. } => Topic::Virtualisation,
            Self::Container { .. } => Topic::Container,
            Self::Counters { .. } => Topic::Counters,
            Self::Build { .. } => Topic::Build,
        }
    }
}

/// A core that a loop span on without pause, reading the clock: every gap between two readings is
/// time that somebody else had the core.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreWatch {
    /// The core; `None` where the scheduler moved the loop as it liked.
    pub core: Option<u32>,
    /// Seconds for which it was watched.
    pub seconds: f64,
    /// Gaps per second.
    pub taken_away: f64,
    /// The longest gap, in nanoseconds; 0 without any.
    pub longest_ns: f64,
    /// Share of the time that lies in gaps, from 0 to 1.
    pub lost: f64,
    /// Share of the time that the loop could have run and another task did, or a quota kept it
    /// waiting, as the scheduler counts it.
    pub waiting: Option<f64>,
    /// Share of the time that the hypervisor gave to others, as the kernel counts it, in steps of
    /// its clock.
    pub stolen: Option<f64>,
    /// Interrupts per second; `None` where the system does not tell.
    pub interrupts: Option<f64>,
    /// True if the kernel keeps other tasks away from it.
    pub isolated: bool,
}

impl CoreWatch {
    /// Share of the time lost to anything but waiting tasks: interrupts, the hypervisor, the
    /// firmware. Where waiting is unknown, all that was lost.
    pub fn lost_to_interrupts(&self) -> f64 {
        (self.lost - self.waiting.unwrap_or(0.0)).max(0.0)
    }
}
