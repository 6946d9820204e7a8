//! The aspects of a comparison, in words and as JSON: one file for each, and here the order in which
//! an answer has them.

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

/// The sentences below a verdict; those that only `full` answers have are among them.
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

/// The same for JUnit, which has the noise floor of each comparison.
pub(crate) fn details_for_junit(comparison: &Comparison, glyphs: Glyphs) -> Vec<String> {
    let mut details: Vec<String> = Vec::new();
    details.extend(side_by_side::sentence(comparison, glyphs));
    details.extend(placement::sentence(comparison, glyphs));
    details.extend(control::noise_floor(comparison, glyphs));
    details.extend(design(comparison, glyphs));
    details
}

/// The smallest change that the design finds, and what was left out; `None` where there is nothing
/// to tell.
fn design(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(level_of_the_look(comparison));
    let smallest = comparison.evidence.minimum_detectable_effect;
    // Nobody looks for changes beyond what a number of percent can tell.
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

/// The object of a comparison with its aspects. Its older fields have places of their own in the
/// document.
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
