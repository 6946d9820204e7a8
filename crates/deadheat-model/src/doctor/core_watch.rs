//! How often a core was taken away.

/// A core that a loop span on without pause, reading the clock: every gap
/// between two readings is time that somebody else had the core.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreWatch {
    /// The core; `None` where the scheduler moved the loop as it liked.
    pub core: Option<u32>,
    /// How long it was watched, in seconds.
    pub seconds: f64,
    /// Gaps per second.
    pub taken_away: f64,
    /// The longest gap, in nanoseconds; 0 without any.
    pub longest_ns: f64,
    /// Share of the time that lies in gaps, from 0 to 1.
    pub lost: f64,
    /// Share of the time that the loop could have run and another task did, or
    /// a quota kept it waiting, as the scheduler counts it.
    pub waiting: Option<f64>,
    /// Share of the time that the hypervisor gave to others, as the kernel
    /// counts it, in steps of its clock.
    pub stolen: Option<f64>,
    /// Interrupts per second; `None` where the system does not tell.
    pub interrupts: Option<f64>,
    /// Whether the kernel keeps other tasks away from it.
    pub isolated: bool,
}

impl CoreWatch {
    /// Share of the time lost to anything but waiting tasks: interrupts, the
    /// hypervisor, the firmware. Where waiting is unknown, all that was lost.
    pub fn lost_to_interrupts(&self) -> f64 {
        (self.lost - self.waiting.unwrap_or(0.0)).max(0.0)
    }
}
