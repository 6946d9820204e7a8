//! The checkup of `deadheat doctor`: facts about a machine, and its findings.
//!
//! Facts are what the system tells of itself, thing by thing. What it does not tell is `None` or
//! empty.

use crate::Pinning;

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
        /// How the kernel shares a core between two tasks.
        Sharing = "sharing",
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
pub struct Sensor {
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
    /// Scheduling policies, which commands inherit from deadheat.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Policy: name(self) {
        /// The default.
        Other = "other",
        /// Real-time tasks that run until they wait.
        Fifo = "fifo",
        /// Real-time tasks that take turns.
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
    /// True if such tasks run before all ordinary ones.
    pub fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo | Self::RoundRobin | Self::Deadline)
    }
}

named! {
    /// Reasons why commands that run side by side on one core would be compared badly.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SharingFlaw: name(self) {
        /// deadheat has a real-time policy.
        RealTime = "real-time",
        /// Two loops that started together ran one after the other.
        OneAfterTheOther = "one-after-the-other",
        /// One of two equal loops uses more CPU time than the other in most pairs.
        Biased = "biased",
        /// The CPU time of two equal loops differs from pair to pair.
        Scattered = "scattered",
        /// deadheat has a nice value above 0, so other tasks get more of the core.
        Nice = "nice",
    }
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
    /// How the kernel shares a core between two tasks.
    Sharing {
        /// The core that two loops shared; `None` if none could be chosen.
        core: Option<u32>,
        /// CPU time of each loop, in milliseconds.
        loop_ms: f64,
        /// The scheduler, judged by the version of the kernel.
        scheduler: Option<Scheduler>,
        /// True if a task may choose its time slice, as it may from Linux 6.12 on.
        slices: bool,
        /// True if the kernel shares a core between sessions before it shares it between tasks.
        autogroup: Option<bool>,
        /// The nice value of deadheat, which commands inherit.
        nice: Option<i32>,
        /// The scheduling policy of deadheat, which commands inherit.
        policy: Option<Policy>,
        /// Share of the time that real-time tasks may take before the kernel stops them.
        real_time_share: Option<f64>,
        /// What is wrong, the worst first.
        flaws: Vec<SharingFlaw>,
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
        hottest: Option<Sensor>,
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

/// Time lost on the measuring core from which a machine is poor, as a share.
const POOR_LOST: f64 = 0.05;

named! {
    /// The fitness of a machine for measuring.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fitness: name(self) {
        /// Nothing disturbs.
        Good = "good",
        /// Something disturbs; races take longer for the same answer.
        Fair = "fair",
        /// So much is lost that small differences are not found.
        Poor = "poor",
    }
}

/// Everything `deadheat doctor` found out.
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
    /// Cores that are running; empty where the system does not tell.
    pub online: Vec<u32>,
    /// Cores deadheat may use; empty where the system does not tell.
    pub allowed: Vec<u32>,
    /// The cores that were asked for.
    pub pinning: Pinning,
    /// The cores that were watched, in order.
    pub cores: Vec<CoreWatch>,
    /// The core all else was measured on; `None` where the scheduler decided.
    pub measured_on: Option<u32>,
    /// Seconds that all of it took.
    pub seconds: f64,
    /// Findings, in the order of [`Topic`].
    pub findings: Vec<Finding>,
    /// Which cores to race on.
    pub advice: PinAdvice,
}

impl Checkup {
    /// The finding about a topic.
    pub fn finding(&self, topic: Topic) -> Option<&Finding> {
        self.findings.iter().find(|one| one.topic() == topic)
    }

    /// The findings in this state, what to mend first coming first.
    pub fn in_state(&self, state: State) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |one| one.state == state)
    }

    /// The topic to mend first; `None` when nothing disturbs.
    pub fn first(&self) -> Option<&Finding> {
        self.in_state(State::Disturbs).next()
    }

    /// The core all else was measured on, as it was watched.
    pub fn watch(&self) -> Option<&CoreWatch> {
        let mut cores = self.cores.iter();
        cores.find(|watch| watch.core == self.measured_on)
    }

    /// The fitness of the machine for measuring.
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
    /// The state of a thing, for races in pairs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State: name(self) {
        /// Nothing to mend.
        Fine = "fine",
        /// It shows, but pairs cancel it, it costs little, or what it lacks is not needed for a
        /// verdict.
        Minor = "minor",
        /// It makes answers less precise, or wrong.
        Disturbs = "disturbs",
        /// The system does not tell, and nothing could be measured.
        Unknown = "unknown",
    }
}

named! {
    /// The reason why there is no number.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NotMeasured: name(self) {
        /// It takes a second core.
        OneCore = "one-core",
        /// It takes the other thread of the core, which deadheat may not use.
        SiblingNotAllowed = "sibling-not-allowed",
        /// The system hides what it would take.
        Hidden = "hidden",
        /// There is too little memory to try.
        TooLittleMemory = "too-little-memory",
        /// The kernel gave no huge pages when asked.
        NoHugePages = "no-huge-pages",
        /// It takes many processes, which a race has and a checkup has not.
        TakesProcesses = "takes-processes",
        /// Other tasks had the core for so much of the time that too little got done.
        TooBusy = "too-busy",
    }
}

/// One thing a checkup looked at: what is, and what it does here.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Facts that the system tells.
    pub facts: Facts,
    /// Its state.
    pub state: State,
    /// Measured effects.
    pub effects: Vec<Effect>,
    /// The reason why something was not, where it could have been.
    pub not_measured: Option<NotMeasured>,
}

impl Finding {
    /// Its topic.
    pub fn topic(&self) -> Topic {
        self.facts.topic()
    }

    /// The number of this kind, where it was measured.
    pub fn effect(&self, kind: EffectKind) -> Option<f64> {
        let mut effects = self.effects.iter();
        effects
            .find(|effect| effect.kind == kind)
            .map(|effect| effect.value)
    }
}

named! {
    /// Measured effects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub listed enum EffectKind: name(self) {
        /// Smallest step of the clock of samples.
        ClockResolution = "clock-resolution",
        /// The noise of an empty sample.
        ClockCost = "clock-cost",
        /// One reading of the clock of the operating system.
        SystemClockCost = "system-clock-cost",
        /// A fixed piece of work, again and again: the middle 80 % of its times, relative to their
        /// median.
        WorkSpread = "work-spread",
        /// The change of its median from the first to the last quarter.
        WorkDrift = "work-drift",
        /// The change of its time with the other thread of the core busy.
        SiblingSlowdown = "sibling-slowdown",
        /// The change of its time with another core busy.
        OtherSlowdown = "other-core-slowdown",
        /// Share of the time that the hypervisor gave to others.
        Stolen = "stolen",
        /// Share of the time that other tasks had the core.
        Waiting = "waiting",
        /// Number of times the core was taken away.
        TakenAway = "taken-away",
        /// The longest time it was gone.
        LongestAway = "longest-away",
        /// Share of the time it was gone.
        TimeLost = "time-lost",
        /// Interrupts of every kind.
        Interrupts = "interrupts",
        /// Those of the timer among them.
        TimerInterrupts = "timer-interrupts",
        /// Those of devices among them.
        DeviceInterrupts = "device-interrupts",
        /// One random read from memory in small pages.
        SmallPageRead = "small-page-read",
        /// One random read from memory in huge pages.
        HugePageRead = "huge-page-read",
        /// Pages moved to and from swap while everything was measured.
        SwappedPages = "swapped-pages",
        /// Number of times the processor slowed itself down for heat meanwhile.
        ThrottleEvents = "throttle-events",
        /// Share of the measuring time in which the CPU quota throttled the control group.
        QuotaThrottled = "quota-throttled",
        /// Pairs of equal loops that shared a core.
        SharingPairs = "sharing-pairs",
        /// CPU time of the first loop relative to the second, as a mean over the pairs.
        SharingDifference = "sharing-difference",
        /// The standard error of that mean.
        SharingError = "sharing-error",
        /// The standard deviation of the pairs.
        SharingScatter = "sharing-scatter",
        /// CPU time of the loop that ended first, as a share of what both had used by then.
        SharingFirst = "sharing-first",
        /// Switches between the loops per second of CPU time, while both ran.
        SharingSwitches = "sharing-switches",
        /// CPU time that a loop got in one go, on average.
        SharingTurn = "sharing-turn",
    }
}

named! {
    /// The unit of an effect.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EffectUnit: name(self) {
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// A part of the time, from 0 to 1.
        Share = "share",
        /// A relative change: 0.01 is one per cent more.
        Change = "change",
        /// So many a second.
        PerSecond = "1/s",
        /// So many in all.
        Count = "count",
    }
}

impl EffectKind {
    /// The unit of its values.
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

/// One number that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Of what.
    pub kind: EffectKind,
    /// Its size, in the unit of its kind; always finite.
    pub value: f64,
}

impl Effect {
    /// The effect, or `None` for a number that is not finite.
    pub fn new(kind: EffectKind, value: f64) -> Option<Self> {
        value.is_finite().then_some(Self { kind, value })
    }
}

/// The reason why these cores and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinReason {
    /// The kernel keeps other work away from them.
    Isolated,
    /// They were taken away the least.
    Quietest,
    /// No core was quieter than the others.
    Alike,
    /// There is only one.
    OnlyOne,
    /// Cores were not compared, as was asked for.
    NotCompared,
}

/// Which cores to race on, and the option that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinAdvice {
    /// The value for `--pin`.
    pub pinning: Pinning,
    /// The cores this comes down to for a race of commands; empty where the scheduler decides.
    pub cores: Vec<u32>,
    /// The reason why these.
    pub reason: PinReason,
    /// Cores that deadheat has to be started with, because it is not given the advised ones as it
    /// is started now; empty when it is.
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
