//! What a thing does on this machine, as a number.

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// Smallest step of the clock of samples.
    ClockResolution,
    /// What an empty sample shows.
    ClockCost,
    /// One reading of the clock of the operating system.
    SystemClockCost,
    /// A fixed piece of work, again and again: the middle 80 % of its times,
    /// relative to their median.
    WorkSpread,
    /// The change of its median from the first to the last quarter.
    WorkDrift,
    /// The change of its time with the other thread of the core busy.
    SiblingSlowdown,
    /// The change of its time with another core busy.
    OtherSlowdown,
    /// Share of the time that the hypervisor gave to others.
    Stolen,
    /// Share of the time that other tasks had the core.
    Waiting,
    /// How often the core was taken away.
    TakenAway,
    /// The longest time it was gone.
    LongestAway,
    /// Share of the time it was gone.
    TimeLost,
    /// Interrupts of every kind.
    Interrupts,
    /// Those of the timer among them.
    TimerInterrupts,
    /// Those of devices among them.
    DeviceInterrupts,
    /// One random read from memory in small pages.
    SmallPageRead,
    /// One random read from memory in huge pages.
    HugePageRead,
    /// Pages moved to and from swap while everything was measured.
    SwappedPages,
    /// How often the processor slowed itself down for heat meanwhile.
    ThrottleEvents,
    /// Share of the time that the quota held the group back meanwhile.
    QuotaThrottled,
}

/// The unit of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// A part of the time, from 0 to 1.
    Share,
    /// A relative change: 0.01 is one per cent more.
    Change,
    /// So many a second.
    PerSecond,
    /// So many in all.
    Count,
}

impl EffectUnit {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Share => "share",
            Self::Change => "change",
            Self::PerSecond => "1/s",
            Self::Count => "count",
        }
    }
}

impl EffectKind {
    /// Every kind there is.
    pub const ALL: [Self; 20] = [
        Self::ClockResolution,
        Self::ClockCost,
        Self::SystemClockCost,
        Self::WorkSpread,
        Self::WorkDrift,
        Self::SiblingSlowdown,
        Self::OtherSlowdown,
        Self::Stolen,
        Self::Waiting,
        Self::TakenAway,
        Self::LongestAway,
        Self::TimeLost,
        Self::Interrupts,
        Self::TimerInterrupts,
        Self::DeviceInterrupts,
        Self::SmallPageRead,
        Self::HugePageRead,
        Self::SwappedPages,
        Self::ThrottleEvents,
        Self::QuotaThrottled,
    ];

    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClockResolution => "clock-resolution",
            Self::ClockCost => "clock-cost",
            Self::SystemClockCost => "system-clock-cost",
            Self::WorkSpread => "work-spread",
            Self::WorkDrift => "work-drift",
            Self::SiblingSlowdown => "sibling-slowdown",
            Self::OtherSlowdown => "other-core-slowdown",
            Self::Stolen => "stolen",
            Self::Waiting => "waiting",
            Self::TakenAway => "taken-away",
            Self::LongestAway => "longest-away",
            Self::TimeLost => "time-lost",
            Self::Interrupts => "interrupts",
            Self::TimerInterrupts => "timer-interrupts",
            Self::DeviceInterrupts => "device-interrupts",
            Self::SmallPageRead => "small-page-read",
            Self::HugePageRead => "huge-page-read",
            Self::SwappedPages => "swapped-pages",
            Self::ThrottleEvents => "throttle-events",
            Self::QuotaThrottled => "quota-throttled",
        }
    }

    /// What its values are counted in.
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
    /// How much, in the unit of its kind; always finite.
    pub value: f64,
}

impl Effect {
    /// The effect, or `None` for a number that is not finite.
    pub fn new(kind: EffectKind, value: f64) -> Option<Self> {
        value.is_finite().then_some(Self { kind, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
