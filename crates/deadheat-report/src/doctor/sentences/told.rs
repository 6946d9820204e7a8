//! What is said of one thing.

use deadheat_model::doctor::{Checkup, Finding, Topic};

use super::{does, is, matters};
use crate::glyphs::Glyphs;

/// What is said of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::doctor) struct WarningText {
    /// What is.
    pub(in crate::doctor) is: String,
    /// What it does here, measured, or why that could not be measured.
    pub(in crate::doctor) does: Option<String>,
    /// What that means for races in pairs; `None` where there is nothing to say.
    pub(in crate::doctor) matters: Option<String>,
}

/// How a thing is called.
pub(in crate::doctor) fn title(topic: Topic) -> &'static str {
    match topic {
        Topic::Container => "CPU quota",
        Topic::Steal => "steal time",
        Topic::Load => "load",
        Topic::Thermal => "heat",
        Topic::Swap => "swap",
        Topic::Interrupts => "interrupts",
        Topic::Governor => "frequency",
        Topic::Turbo => "turbo",
        Topic::Smt => "SMT",
        Topic::Aslr => "ASLR",
        Topic::Clock => "clock",
        Topic::HugePages => "huge pages",
        Topic::Isolation => "isolated cores",
        Topic::Counters => "counters",
        Topic::Virtualisation => "machine",
        Topic::Build => "this program",
    }
}

/// Whether the title of a topic takes a verb in the plural.
pub(super) fn is_plural(topic: Topic) -> bool {
    matches!(
        topic,
        Topic::Interrupts | Topic::HugePages | Topic::Isolation | Topic::Counters
    )
}

/// What is said of a finding.
pub(in crate::doctor) fn told(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> WarningText {
    WarningText {
        is: is::is(finding, checkup, glyphs),
        does: does::does(finding, checkup, glyphs),
        matters: matters::matters(finding).map(str::to_owned),
    }
}

/// The core everything was measured on, at the head of a sentence.
pub(super) fn this_core(checkup: &Checkup) -> String {
    match checkup.measured_on {
        Some(core) => format!("Core {core}"),
        None => "The core".to_owned(),
    }
}
