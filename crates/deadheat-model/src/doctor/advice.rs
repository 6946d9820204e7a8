//! Which cores to race on.

use crate::Pinning;

/// Why these cores and no others.
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
    /// What to give to `--pin`.
    pub pinning: Pinning,
    /// The cores this comes down to for a race of commands; empty where the
    /// scheduler decides.
    pub cores: Vec<u32>,
    /// Why these.
    pub reason: PinReason,
    /// Cores that deadheat has to be started with, because it is not given
    /// the advised ones as it is started now; empty when it is.
    pub start_with: Vec<u32>,
}
