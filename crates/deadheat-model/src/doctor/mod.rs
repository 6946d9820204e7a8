//! The checkup of `deadheat doctor`: its findings about a machine.

mod checkup;
mod facts;

pub use checkup::{
    Checkup, Effect, EffectKind, EffectUnit, Finding, Fitness, NotMeasured, PinAdvice, PinReason,
    State,
};
pub use facts::{BusyLine, CoreWatch, Facts, Heat, Host, Quota, Refused, Topic, TurboSwitch};
