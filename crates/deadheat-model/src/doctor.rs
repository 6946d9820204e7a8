//! The checkup of `deadheat doctor`: facts about a machine, and its findings.
//!
//! Facts are reported by the system, topic by topic. Facts that it does not report are `None` or
//! empty.

use crate::Pinning;

named! {
    /// The topics of a checkup, in the order in which problems should be fixed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Topic: name(self) {
        /// Containers, and their limits on processor time.
        Container = "container",
        /// Steal time: CPU time that the hypervisor gives to other virtual machines.
        Steal = "steal",
        /// Other running tasks.
        Load = "load",
        /// Processor temperature.
        Thermal = "thermal",
        /// Swap, memory moved to disk.
        Swap = "swap",
        /// Interrupts on the measuring core.
        Interrupts = "interrupts",
        /// How the kernel shares a core between two tasks.
        Sharing = "sharing",
        /// Cores of unequal speed.
        Speeds = "speeds",
        /// The frequency governor.
        Governor = "governor",
        /// Turbo, frequencies above the nominal one.
        Turbo = "turbo",
        /// Simultaneous multithreading: hardware threads that share a core.
        Smt = "smt",
        /// Address-space layout randomisation.
        Aslr = "aslr",
        /// The clock that times samples.
        Clock = "clock",
        /// Huge pages of 2 MiB.
        HugePages = "huge-pages",
        /// Cores isolated from other tasks.
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

/// The device interrupt that fires most often on the measuring core.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyLine {
    /// The number of the interrupt.
    pub label: String,
    /// The name of the device or of its queue, such as `nvme0q1`.
    pub name: String,
    /// Interrupts per second.
    pub per_second: f64,
}

/// A temperature sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// The name of the sensor.
    pub name: String,
    /// Temperature in degrees Celsius.
    pub celsius: f64,
    /// Temperature at which the machine switches itself off, in degrees Celsius, if known.
    pub critical: Option<f64>,
}

/// The host that the system runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// Real hardware, as far as can be seen.
    Hardware,
    /// A virtual machine, with its make if known.
    VirtualMachine(Option<String>),
    /// The system does not report whether it is virtual.
    Unknown,
}

/// The CPU quota of a control group.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// CPU time per unit of real time: 1.5 is one core and half of another.
    pub cores: f64,
    /// Length of a quota period in milliseconds.
    pub period_ms: f64,
    /// The file that sets the quota.
    pub file: String,
}

/// The reason why hardware counters cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// This process lacks the permission.
    NotPermitted,
    /// The machine has no counters, or hides them, as most virtual machines do.
    NotThere,
    /// The kernel was built without support for counters.
    NotBuilt,
    /// Another reason, in the words of the system.
    Other(String),
}

named! {
    /// The scheduler of ordinary tasks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scheduler: name(self) {
        /// The completely fair scheduler, up to Linux 6.5.
        Cfs = "cfs",
        /// Earliest eligible virtual deadline first, from Linux 6.6 on.
        Eevdf = "eevdf",
        /// A scheduler loaded into the kernel as a BPF program.
        SchedExt = "sched-ext",
    }
}

named! {
    /// The scheduling policy of a task, which commands inherit from deadheat.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Policy: name(self) {
        /// The default policy of ordinary tasks.
        Other = "other",
        /// Real-time tasks that run until they wait (first in, first out).
        Fifo = "fifo",
        /// Real-time tasks that take turns (round robin).
        RoundRobin = "rr",
        /// Ordinary tasks that never preempt others when they wake up.
        Batch = "batch",
        /// Tasks that run when nothing else does.
        Idle = "idle",
        /// Real-time tasks with a deadline.
        Deadline = "deadline",
    }
}

impl Policy {
    /// Returns true if tasks with this policy run before all ordinary tasks.
    pub fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo | Self::RoundRobin | Self::Deadline)
    }
}

named! {
    /// A problem that makes comparisons of commands side by side on one core unreliable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SharingFlaw: name(self) {
        /// deadheat runs with a real-time policy.
        RealTime = "real-time",
        /// Two loops that started together ran one after the other.
        OneAfterTheOther = "one-after-the-other",
        /// One of two equal loops uses more CPU time than the other in most pairs of loops.
        Biased = "biased",
        /// The difference of the CPU times of two equal loops varies from pair to pair of loops.
        Scattered = "scattered",
        /// deadheat has a nice value above 0, so other tasks get more of the core.
        Nice = "nice",
    }
}

/// The facts that the system reports about one topic.
#[derive(Clone, Debug, PartialEq)]
pub enum Facts {
    /// The clock that times samples.
    Clock {
        /// The clock that times samples of functions: `tsc`, `cntvct` or `os`.
        source: String,
        /// The reason why the processor's own counter does not time the samples; `None` if it does.
        fallback: Option<String>,
        /// The clock source of the kernel.
        kernel: Option<String>,
        /// All clock sources that the kernel could use.
        available: Vec<String>,
    },
    /// Cores of unequal speed.
    Speeds {
        /// The cores that deadheat may use, without the slow ones.
        fast: Vec<u32>,
        /// The slow cores that deadheat may use.
        slow: Vec<u32>,
        /// Speed of the slowest core that deadheat may use, as a share of the speed of the fastest;
        /// `None` if no core is slow.
        slowest: Option<f64>,
        /// True if races without a choice of cores (`--pin`) avoid the slow cores. This needs a
        /// kernel that reports the capacity of cores.
        avoided: bool,
    },
    /// The frequency governor.
    Governor {
        /// The distinct governors of the cores that deadheat may use.
        governors: Vec<String>,
        /// The frequency driver.
        driver: Option<String>,
        /// The lowest and the highest frequency of the measuring core, in kHz.
        range_khz: Option<(u64, u64)>,
    },
    /// Turbo, frequencies above the nominal one.
    Turbo {
        /// True if frequencies above the nominal one are allowed.
        on: Option<bool>,
        /// The file that turns frequencies above the nominal one on and off.
        switch: Option<TurboSwitch>,
        /// Another core that was kept busy, to see if its load slows the measuring core down.
        other_core: Option<u32>,
    },
    /// Simultaneous multithreading: hardware threads that share a core.
    Smt {
        /// True if hardware threads share cores.
        active: Option<bool>,
        /// The other hardware threads of the measuring core.
        siblings: Vec<u32>,
        /// Share of the time in which other tasks used the busiest sibling thread of the measuring
        /// core.
        siblings_busy: Option<f64>,
    },
    /// Steal time: CPU time that the hypervisor gives to other virtual machines.
    Steal {
        /// Stolen share of the time since the system started.
        since_start: Option<f64>,
    },
    /// Other running tasks.
    Load {
        /// Load average over the last minute: tasks that ran or waited to run.
        one_minute: Option<f64>,
        /// Number of tasks that wanted to run when doctor started, including itself.
        running: Option<u32>,
        /// Share of the last ten seconds in which at least one task waited for a core.
        pressure: Option<f64>,
        /// Number of cores.
        cores: u32,
    },
    /// Cores isolated from other tasks.
    Isolation {
        /// Cores without ordinary scheduling (`isolcpus`, cpusets).
        isolated: Vec<u32>,
        /// Cores without a timer tick while a single task runs (`nohz_full`).
        tickless: Vec<u32>,
        /// True if this process may use at least one of the isolated cores.
        reachable: bool,
    },
    /// Interrupts on the measuring core.
    Interrupts {
        /// The device interrupt that fires most often on the measuring core.
        busiest: Option<BusyLine>,
        /// Another core that could handle the busiest device interrupt.
        other_core: Option<u32>,
    },
    /// How the kernel shares a core between two tasks.
    Sharing {
        /// The core that two loops shared; `None` if none could be chosen.
        core: Option<u32>,
        /// CPU time of each of the two loops, in milliseconds.
        loop_ms: f64,
        /// The scheduler, derived from the version of the kernel.
        scheduler: Option<Scheduler>,
        /// True if a task may choose its time slice, which Linux supports from 6.12 on.
        slices: bool,
        /// True if commands start by `fork`, because the system refuses the flags of `clone` that
        /// would start them faster.
        forks: bool,
        /// True if the kernel divides a core among sessions first, and then among the tasks of
        /// each.
        autogroup: Option<bool>,
        /// The nice value of deadheat, which commands inherit.
        nice: Option<i32>,
        /// The scheduling policy of deadheat, which commands inherit.
        policy: Option<Policy>,
        /// Share of the time that real-time tasks may use before the kernel stops them.
        real_time_share: Option<f64>,
        /// The problems found, the worst first.
        flaws: Vec<SharingFlaw>,
    },
    /// Address-space layout randomisation.
    Aslr {
        /// The setting of the kernel (`randomize_va_space`): 0, 1 or 2.
        setting: Option<u8>,
        /// True if this process was started without random addresses, as by `setarch -R`.
        switched_off: bool,
    },
    /// Huge pages of 2 MiB.
    HugePages {
        /// The setting of the kernel: `always`, `madvise` or `never`.
        enabled: Option<String>,
        /// The setting of the kernel for compacting memory to make huge pages.
        defrag: Option<String>,
    },
    /// Swap, memory moved to disk.
    Swap {
        /// Bytes of swap space; 0 without any.
        total: Option<u64>,
        /// Bytes of swap space in use.
        used: Option<u64>,
    },
    /// Processor temperature.
    Thermal {
        /// The hottest sensor.
        hottest: Option<Sensor>,
        /// Number of times the processor throttled itself since the system started.
        throttled: Option<u64>,
    },
    /// Virtual machines.
    Virtualisation {
        /// The host that the system runs on.
        host: Host,
    },
    /// Containers, and their limits on processor time.
    Container {
        /// `docker`, `podman` or another kind of container; `None` outside of containers.
        kind: Option<String>,
        /// Version of the control groups of this process: 1 or 2.
        version: Option<u8>,
        /// The tightest quota of all control groups that contain this process.
        quota: Option<Quota>,
    },
    /// Hardware counters.
    Counters {
        /// The setting of the kernel (`perf_event_paranoid`).
        paranoid: Option<i32>,
        /// The reason why counters could not be opened; `None` if they could.
        refused: Option<Refused>,
    },
    /// The build of deadheat itself.
    Build {
        /// True if deadheat was built with debug assertions.
        debug_assertions: bool,
    },
}

impl Facts {
    /// Returns the topic of these facts.
    pub fn topic(&self) -> Topic {
        match self {
            Self::Clock { .. } => Topic::Clock,
            Self::Speeds { .. } => Topic::Speeds,
            Self::Governor { .. } => Topic::Governor,
            Self::Turbo { .. } => Topic::Turbo,
            Self::Smt { .. } => Topic::Smt,
            Self::Steal { .. } => Topic::Steal,
            Self::Load { .. } => Topic::Load,
            Self::Isolation { .. } => Topic::Isolation,
            Self::Interrupts { .. } => Topic::Interrupts,
            Self::Sharing { .. } => Topic::Sharing,
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

/// Measurements of one core by a loop that reads the clock without pause. Every gap between two
/// readings is time in which something else had the core.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreWatch {
    /// The core; `None` if the scheduler chose the cores of the loop.
    pub core: Option<u32>,
    /// Duration of the measurement in seconds.
    pub seconds: f64,
    /// Number of times per second that something else had the core.
    pub taken_away: f64,
    /// Longest time in nanoseconds for which something else had the core; 0 if it never happened.
    pub longest_ns: f64,
    /// Share of the time, from 0 to 1, in which something else had the core.
    pub lost: f64,
    /// Share of the time in which the loop was ready to run, but another task had the core or a
    /// quota stopped the loop, as counted by the scheduler.
    pub waiting: Option<f64>,
    /// Share of the time that the hypervisor gave to other virtual machines, as counted by the
    /// kernel at its timer interrupts.
    pub stolen: Option<f64>,
    /// Interrupts per second; `None` if the system does not report them.
    pub interrupts: Option<f64>,
    /// True if the kernel keeps other tasks away from the core.
    pub isolated: bool,
}

impl CoreWatch {
    /// Returns the share of the time lost to interrupts, the hypervisor and the firmware. If the
    /// share of waiting for other tasks is unknown, returns the share of all lost time.
    pub fn lost_to_interrupts(&self) -> f64 {
        (self.lost - self.waiting.unwrap_or(0.0)).max(0.0)
    }
}

/// A machine is rated poor if at least this share of the time on the measuring core is lost.
const POOR_LOST: f64 = 0.05;

named! {
    /// The fitness of a machine for measuring.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fitness: name(self) {
        /// Nothing disturbs measurements.
        Good = "good",
        /// Something disturbs measurements, so races need more time for the same precision.
        Fair = "fair",
        /// So much time is lost that small differences are not detected.
        Poor = "poor",
    }
}

/// All results of `deadheat doctor`.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkup {
    /// The version of deadheat.
    pub tool_version: String,
    /// Operating system and architecture, such as `linux x86_64`.
    pub system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Cores that are online; empty if the system does not report them.
    pub online: Vec<u32>,
    /// Cores that deadheat may use; empty if the system does not report them.
    pub allowed: Vec<u32>,
    /// The cores that the user asked for.
    pub pinning: Pinning,
    /// Measurements of the watched cores, in order.
    pub cores: Vec<CoreWatch>,
    /// The core on which all facts and effects except `cores` were measured; `None` if the
    /// scheduler chose it.
    pub measured_on: Option<u32>,
    /// Duration of the checkup in seconds.
    pub seconds: f64,
    /// Findings, in the order of [`Topic`].
    pub findings: Vec<Finding>,
    /// Advice on the cores to race on.
    pub advice: PinAdvice,
}

impl Checkup {
    /// Returns the finding about a topic.
    pub fn finding(&self, topic: Topic) -> Option<&Finding> {
        self.findings.iter().find(|one| one.topic() == topic)
    }

    /// Returns the findings in this state, in the order in which they should be fixed.
    pub fn in_state(&self, state: State) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |one| one.state == state)
    }

    /// Returns the finding to fix first; `None` if nothing disturbs measurements.
    pub fn first(&self) -> Option<&Finding> {
        self.in_state(State::Disturbs).next()
    }

    /// Returns the measurements of the core on which the effects were measured.
    pub fn watch(&self) -> Option<&CoreWatch> {
        let mut cores = self.cores.iter();
        cores.find(|watch| watch.core == self.measured_on)
    }

    /// Returns the fitness of the machine for measuring.
    pub fn fitness(&self) -> Fitness {
        let lost = self.watch().map_or(0.0, |watch| watch.lost);
        match self.first() {
            _ if lost >= POOR_LOST => Fitness::Poor,
            Some(_) => Fitness::Fair,
            None => Fitness::Good,
        }
    }
}

named! {
    /// The state of a topic, rated by its influence on paired comparisons.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State: name(self) {
        /// There is nothing to fix.
        Fine = "fine",
        /// A problem that pairing the samples cancels or that costs little, or a missing feature
        /// that a verdict does not need.
        Minor = "minor",
        /// A problem that makes results less precise, or wrong.
        Disturbs = "disturbs",
        /// The system does not report the facts, and they could not be measured.
        Unknown = "unknown",
    }
}

named! {
    /// The reason why an effect was not measured.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NotMeasured: name(self) {
        /// The measurement needs a second core.
        OneCore = "one-core",
        /// The measurement needs the other thread of the core, which deadheat may not use.
        SiblingNotAllowed = "sibling-not-allowed",
        /// The system hides information that the measurement needs.
        Hidden = "hidden",
        /// There is too little memory for the measurement.
        TooLittleMemory = "too-little-memory",
        /// The kernel gave no huge pages when asked.
        NoHugePages = "no-huge-pages",
        /// The measurement needs many processes, which a checkup does not start.
        TakesProcesses = "takes-processes",
        /// Other tasks used the core so much that too little could be measured.
        TooBusy = "too-busy",
    }
}

/// One topic of a checkup: its facts and its measured effects.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Facts that the system reports.
    pub facts: Facts,
    /// The state of the topic.
    pub state: State,
    /// Measured effects.
    pub effects: Vec<Effect>,
    /// The reason why an effect was not measured; `None` if all were.
    pub not_measured: Option<NotMeasured>,
}

impl Finding {
    /// Returns the topic of the finding.
    pub fn topic(&self) -> Topic {
        self.facts.topic()
    }

    /// Returns the value of an effect, if it was measured.
    pub fn effect(&self, kind: EffectKind) -> Option<f64> {
        let mut effects = self.effects.iter();
        effects
            .find(|effect| effect.kind == kind)
            .map(|effect| effect.value)
    }
}

named! {
    /// A kind of measured effect.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub listed enum EffectKind: name(self) {
        /// Smallest step of the clock that times samples.
        ClockResolution = "clock-resolution",
        /// Median duration of an empty sample.
        ClockCost = "clock-cost",
        /// Time of one reading of the operating system's clock.
        SystemClockCost = "system-clock-cost",
        /// Spread of the times of a repeated fixed piece of work: the width of the middle 80%,
        /// relative to the median.
        WorkSpread = "work-spread",
        /// Relative change of the median time of a repeated fixed piece of work, from the first to
        /// the last quarter of the repetitions.
        WorkDrift = "work-drift",
        /// Relative change of the time of a fixed piece of work while the other hardware thread of
        /// the core is busy.
        SiblingSlowdown = "sibling-slowdown",
        /// Relative change of the time of a fixed piece of work while another core is busy.
        OtherSlowdown = "other-core-slowdown",
        /// Share of the time that the hypervisor gave to other virtual machines.
        Stolen = "stolen",
        /// Share of the time in which other tasks had the core.
        Waiting = "waiting",
        /// Number of times per second that the core was taken away from the measuring loop.
        TakenAway = "taken-away",
        /// Longest time for which the core was taken away from the measuring loop.
        LongestAway = "longest-away",
        /// Share of the time for which the core was taken away from the measuring loop.
        TimeLost = "time-lost",
        /// Interrupts of every kind per second.
        Interrupts = "interrupts",
        /// Timer interrupts per second.
        TimerInterrupts = "timer-interrupts",
        /// Device interrupts per second.
        DeviceInterrupts = "device-interrupts",
        /// Time of one random read from memory in small pages.
        SmallPageRead = "small-page-read",
        /// Time of one random read from memory in huge pages.
        HugePageRead = "huge-page-read",
        /// Pages moved to and from swap during the checkup.
        SwappedPages = "swapped-pages",
        /// Number of times the processor throttled itself during the checkup.
        ThrottleEvents = "throttle-events",
        /// Share of the measuring time in which the CPU quota throttled the control group.
        QuotaThrottled = "quota-throttled",
        /// Number of pairs of equal loops that shared a core.
        SharingPairs = "sharing-pairs",
        /// Relative difference of the CPU times of two equal loops that shared a core, first to
        /// second, averaged over the pairs.
        SharingDifference = "sharing-difference",
        /// Standard error of `SharingDifference`.
        SharingError = "sharing-error",
        /// Standard deviation of the relative difference of the CPU times of two equal loops, over
        /// the pairs of loops.
        SharingScatter = "sharing-scatter",
        /// CPU time of the loop that ended first, as a share of the CPU time that both loops had
        /// used until then.
        SharingFirst = "sharing-first",
        /// Context switches between two loops that share a core, per second of CPU time, while both
        /// ran.
        SharingSwitches = "sharing-switches",
        /// Average CPU time of a loop between two context switches.
        SharingTurn = "sharing-turn",
    }
}

named! {
    /// The unit of an effect.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EffectUnit: name(self) {
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// A share of the time, from 0 to 1.
        Share = "share",
        /// A relative change; 0.01 is 1% more.
        Change = "change",
        /// A rate per second.
        PerSecond = "1/s",
        /// A total number, for example of events or pages.
        Count = "count",
    }
}

impl EffectKind {
    /// Returns the unit of this effect's values.
    pub fn unit(self) -> EffectUnit {
        match self {
            Self::ClockResolution
            | Self::ClockCost
            | Self::SystemClockCost
            | Self::LongestAway
            | Self::SharingTurn
            | Self::SmallPageRead
            | Self::HugePageRead => EffectUnit::Nanoseconds,
            Self::WorkSpread
            | Self::WorkDrift
            | Self::SiblingSlowdown
            | Self::OtherSlowdown
            | Self::SharingDifference
            | Self::SharingError
            | Self::SharingScatter => EffectUnit::Change,
            Self::Stolen
            | Self::Waiting
            | Self::TimeLost
            | Self::QuotaThrottled
            | Self::SharingFirst => EffectUnit::Share,
            Self::TakenAway
            | Self::Interrupts
            | Self::TimerInterrupts
            | Self::DeviceInterrupts
            | Self::SharingSwitches => EffectUnit::PerSecond,
            Self::SwappedPages | Self::ThrottleEvents | Self::SharingPairs => EffectUnit::Count,
        }
    }
}

/// One measured effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The kind of effect.
    pub kind: EffectKind,
    /// The value in the unit of its kind; always finite.
    pub value: f64,
}

impl Effect {
    /// Returns the effect; `None` if `value` is not finite.
    pub fn new(kind: EffectKind, value: f64) -> Option<Self> {
        value.is_finite().then_some(Self { kind, value })
    }
}

/// The reason for the choice of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinReason {
    /// The kernel keeps other work away from the chosen cores.
    Isolated,
    /// The chosen cores lost the least time to other work.
    Quietest,
    /// No core was quieter than the others.
    Alike,
    /// There is only one core.
    OnlyOne,
    /// Cores were not compared, for example because the user chose the core.
    NotCompared,
}

/// Advice on the cores to race on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinAdvice {
    /// The value for `--pin`.
    pub pinning: Pinning,
    /// The cores that a race of commands uses with the advised `--pin`; empty if the scheduler
    /// decides.
    pub cores: Vec<u32>,
    /// The reason why these cores are advised.
    pub reason: PinReason,
    /// Cores that the user must start deadheat on, for example with `taskset`, so that deadheat may
    /// use the advised cores; empty if it may already use them.
    pub start_with: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{Facts, PinReason};

    fn checkup(states: [State; 2], lost: f64) -> Checkup {
        let facts = [
            Facts::Steal { since_start: None },
            Facts::Build {
                debug_assertions: true,
            },
        ];
        let findings = states.into_iter().zip(facts).map(|(state, facts)| Finding {
            facts,
            state,
            effects: Vec::new(),
            not_measured: None,
        });
        Checkup {
            tool_version: "0.1.0".to_owned(),
            system: "linux".to_owned(),
            kernel: None,
            cpu: None,
            online: Vec::new(),
            allowed: vec![0],
            pinning: Pinning::Auto,
            cores: vec![CoreWatch {
                core: Some(0),
                seconds: 1.0,
                taken_away: 1.0,
                longest_ns: 1.0,
                lost,
                waiting: None,
                stolen: None,
                interrupts: None,
                isolated: false,
            }],
            measured_on: Some(0),
            seconds: 1.0,
            findings: findings.collect(),
            advice: PinAdvice {
                pinning: Pinning::Auto,
                cores: vec![0],
                reason: PinReason::OnlyOne,
                start_with: Vec::new(),
            },
        }
    }

    #[test]
    fn a_machine_is_as_good_as_what_disturbs_it() {
        let quiet = checkup([State::Minor, State::Unknown], 0.001);
        assert_eq!((quiet.fitness(), quiet.first()), (Fitness::Good, None));
        let disturbed = checkup([State::Fine, State::Disturbs], 0.001);
        assert_eq!(disturbed.fitness(), Fitness::Fair);
        assert_eq!(disturbed.first().map(Finding::topic), Some(Topic::Build));
        let both = checkup([State::Disturbs, State::Disturbs], 0.2);
        assert_eq!(both.fitness(), Fitness::Poor);
        assert_eq!(both.first().map(Finding::topic), Some(Topic::Steal));
    }

    #[test]
    fn what_interrupts_took_is_what_no_task_did() {
        let watch = CoreWatch {
            waiting: Some(0.03),
            ..checkup([State::Fine; 2], 0.05).cores[0].clone()
        };
        assert!((watch.lost_to_interrupts() - 0.02).abs() < 1e-12);
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        let mut names = EffectKind::ALL.map(EffectKind::name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn what_is_no_number_is_no_effect() {
        assert_eq!(Effect::new(EffectKind::Waiting, f64::NAN), None);
        assert!(Effect::new(EffectKind::Waiting, 0.5).is_some());
    }
}
