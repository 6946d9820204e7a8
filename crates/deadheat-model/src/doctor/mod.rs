//! What `deadheat doctor` finds out about a machine.

mod advice;
mod checkup;
mod core_watch;
mod effect;
mod facts;
mod finding;

pub use advice::{PinAdvice, PinReason};
pub use checkup::{Checkup, Fitness};
pub use core_watch::CoreWatch;
pub use effect::{Effect, EffectKind, EffectUnit};
pub use facts::{BusyLine, Facts, Heat, Host, Quota, Refused, Topic, TurboSwitch};
pub use finding::{Finding, NotMeasured, State};
