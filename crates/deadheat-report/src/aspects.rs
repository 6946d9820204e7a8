//! Sentences and JSON about the circumstances of a comparison: placement, hosts, scheduling delay
//! and others. Each has a separate file; this file defines their order in an answer.

pub(crate) mod control;
pub(crate) mod dropped;
pub(crate) mod hosts;
pub(crate) mod order_effects;
pub(crate) mod placement;
pub(crate) mod side_by_side;
pub(crate) mod waiting;

use deadheat_model::{Aspects, Comparison, Object, TurnsReason};

use crate::glyphs::Glyphs;
use crate::sentences::level_of_the_look;
use crate::units::{MOST_SPREAD, two_digits};

pub use placement::sentence as about_the_placement;

/// Returns the sentences below a verdict. Without `full`, only those about hosts and about a race
/// side by side.
pub(crate) fn details(comparison: &Comparison, full: bool, glyphs: Glyphs) -> Vec<String> {
    let mut details = hosts::sentences(comparison, glyphs);
    details.extend(side_by_side::sentence(comparison, glyphs));
    if full {
        details.extend(side_by_side::why_turns(comparison));
        details.extend(hosts::found(comparison, glyphs));
        details.extend(placement::sentence(comparison, glyphs));
        details.extend(design(comparison, glyphs));
    }
    details
}

pub(crate) fn details_for_junit(comparison: &Comparison, glyphs: Glyphs) -> Vec<String> {
    let mut details: Vec<String> = Vec::new();
    details.extend(side_by_side::sentence(comparison, glyphs));
    details.extend(placement::sentence(comparison, glyphs));
    details.extend(control::noise_floor(comparison, glyphs));
    details.extend(design(comparison, glyphs));
    details
}

/// Returns a sentence about the confidence level of the last look, the smallest change that this
/// design finds, and excluded blocks; `None` if there is nothing to report.
fn design(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(level_of_the_look(comparison));
    let smallest = comparison.evidence.minimum_detectable_effect;
    // Larger percentages are not meaningful, so the sentence omits them.
    let percent = smallest.map(|smallest| smallest.change() * 100.0);
    if let Some(percent) = percent.filter(|percent| *percent <= MOST_SPREAD) {
        parts.push(format!(
            "this design finds changes of {}% or more with 80% power",
            two_digits(percent)
        ));
    }
    parts.extend(dropped::sentence(comparison, glyphs));
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

/// Adds most fields of `aspects` to the JSON object of a comparison. The caller writes the other
/// fields of `aspects`.
pub(crate) fn with_json(object: Object, aspects: &Aspects) -> Object {
    object
        .with_some(
            "own_link",
            aspects.own_link.as_ref().map(placement::own_link_json),
        )
        .with_some(
            "turns_because",
            aspects.turns_because.map(TurnsReason::name),
        )
        .with_some(
            "side_by_side",
            aspects.side_by_side.as_ref().map(side_by_side::to_json),
        )
        .with_some("control", aspects.control.as_ref().map(control::to_json))
        .with_some("hosts", aspects.hosts.as_ref().map(hosts::to_json))
        .with_some(
            "spreads",
            aspects.spreads.as_ref().map(placement::spreads_json),
        )
        .with_some("waiting", aspects.waiting.as_ref().map(waiting::to_json))
}
