//! One thing a checkup looked at.

use super::effect::{Effect, EffectKind};
use super::facts::{Facts, Topic};

/// How a thing stands, for races in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing to mend.
    Fine,
    /// It shows, but pairs cancel it, it costs little, or what it lacks is not
    /// needed for a verdict.
    Minor,
    /// It makes answers less precise, or wrong.
    Disturbs,
    /// The system does not tell, and nothing could be measured.
    Unknown,
}

impl State {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Minor => "minor",
            Self::Disturbs => "disturbs",
            Self::Unknown => "unknown",
        }
    }
}

/// Why there is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotMeasured {
    /// It takes a second core.
    OneCore,
    /// It takes the other thread of the core, which deadheat may not use.
    SiblingNotAllowed,
    /// The system hides what it would take.
    Hidden,
    /// There is too little memory to try.
    TooLittleMemory,
    /// The kernel gave no huge pages when asked.
    NoHugePages,
    /// It takes many processes, which a race has and a checkup has not.
    TakesProcesses,
}

impl NotMeasured {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneCore => "one-core",
            Self::SiblingNotAllowed => "sibling-not-allowed",
            Self::Hidden => "hidden",
            Self::TooLittleMemory => "too-little-memory",
            Self::NoHugePages => "no-huge-pages",
            Self::TakesProcesses => "takes-processes",
        }
    }
}

/// One thing a checkup looked at: what is, and what it does here.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What the system says.
    pub facts: Facts,
    /// How it stands.
    pub state: State,
    /// What was measured.
    pub effects: Vec<Effect>,
    /// Why something was not, where it could have been.
    pub not_measured: Option<NotMeasured>,
}

impl Finding {
    /// What it is about.
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
