//! Findings of a checkup in words: how a thing is called, what is, what that does here, and what it
//! means for races in pairs.

use deadheat_model::doctor::{Checkup, Facts, Finding, State, Topic};

use super::effects::effect;
use super::facts::fact;
use crate::glyphs::Glyphs;

/// The words about a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FindingText {
    /// The facts, as the system tells them.
    pub(super) fact: String,
    /// The effect here, measured, or why that could not be measured.
    pub(super) effect: Option<String>,
    /// The meaning for races in pairs; `None` where there is nothing to say.
    pub(super) meaning: Option<String>,
}

/// Describes a finding.
pub(super) fn describe(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> FindingText {
    FindingText {
        fact: fact(finding, checkup, glyphs),
        effect: effect(finding, checkup, glyphs),
        meaning: meaning(finding).map(str::to_owned),
    }
}

/// How a thing is called.
pub(super) fn title(topic: Topic) -> &'static str {
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

/// What it means for races in pairs; `None` where there is nothing to say.
fn meaning(finding: &Finding) -> Option<&'static str> {
    let fine = finding.state == State::Fine;
    let unknown = finding.state == State::Unknown;
    Some(match &finding.facts {
        // The one thing that is good and looks bad.
        Facts::Aslr {
            setting,
            switched_off,
        } => match setting {
            _ if *switched_off => ONE_LAYOUT,
            Some(2..) => {
                "That is good: every replicate is a process with addresses of its own, so that no \
                 lucky ones decide."
            }
            None => return None,
            Some(0) => ONE_LAYOUT,
            Some(_) => {
                "The heap of all replicates lies in one place, lucky or not, and pairs do not \
                 cancel that."
            }
        },
        _ if fine => return None,
        Facts::Thermal { .. } if unknown => "Heat shows as drift, which cancels in pairs.",
        Facts::Virtualisation { .. } => {
            "Frequency, heat and neighbours are the host's; they show only in what was measured."
        }
        _ if unknown => return None,
        Facts::Clock { .. } => {
            "Samples are made as long as their clock needs, so verdicts hold; short functions take \
             more calls a sample."
        }
        Facts::Governor { .. } => {
            "What changes more slowly than a block cancels in pairs; what changes faster widens \
             intervals."
        }
        Facts::Turbo { .. } => {
            "A load that stays is the same for both of a pair and cancels; one that comes and goes \
             widens intervals."
        }
        Facts::Smt { .. } => {
            "While the other thread is idle this changes nothing; when its work comes and goes, \
             intervals widen."
        }
        Facts::Steal { .. } => {
            "It hits one of a pair and not the other: intervals widen, verdicts hold."
        }
        Facts::Load { .. } => {
            "It hits one of a pair or the other by chance: intervals widen, verdicts hold. --metric \
             cpu counts a contender's own time alone."
        }
        Facts::Isolation { .. } => "Races do without; on a core set apart they end sooner.",
        Facts::Interrupts { .. } => {
            "They hit both of a pair as often: short samples scatter more, verdicts hold."
        }
        Facts::HugePages { .. } => {
            "Which process gets them is luck, drawn anew for every replicate: intervals widen, no \
             side is favoured."
        }
        Facts::Swap { .. } => "Whoever waits for a page from disk loses a sample to it.",
        Facts::Thermal { .. } => {
            "Slow drift cancels in pairs; a processor that slows down in bursts widens intervals."
        }
        Facts::Container { .. } => {
            "Over its quota a process stands still until the period ends, whichever contender runs: \
             samples of a whole period's length, and wide intervals."
        }
        Facts::Counters { .. } => {
            "Verdicts do without; cycles and instructions are missing beside them."
        }
        Facts::Build { .. } => {
            "Readings on this page are those of a slow build. What is raced is built apart."
        }
    })
}

const ONE_LAYOUT: &str = "Replicates share addresses: a lucky or unlucky layout looks like a \
                          difference of the code, and pairs do not cancel it.";
