//! A machine looked at as a whole: every thing a checkup looked at, what it does there as a number,
//! and which cores to race on.

use super::facts::{CoreWatch, Facts, Topic};
use crate::Pinning;
use crate::named::named;

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
        /// Share of the time that the quota held the group back meanwhile.
        QuotaThrottled = "quota-throttled",
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
            | Self::SmallPageRead
            | Self::HugePageRead => EffectUnit::Nanoseconds,
            Self::WorkSpread | Self::WorkDrift | Self::SiblingSlowdown | Self::OtherSlowdown => {
                EffectUnit::Change
            }
            Self::Stolen | Self::Waiting | Self::TimeLost | Self::QuotaThrottled => {
                EffectUnit::Share
            }
            Self::TakenAway | Self::Interrupts | Self::TimerInterrupts | Self::DeviceInterrupts => {
                EffectUnit::PerSecond
            }
            Self::SwappedPages | Self::ThrottleEvents => EffectUnit::Count,
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
