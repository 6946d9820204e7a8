//! Launches side by side, and the check whether a rerun in turns contradicts their result.

use deadheat_model::{RacedSideBySide, Warning};

use crate::inputs::Inputs;

pub(super) fn from_inputs(inputs: &Inputs<'_>) -> Option<RacedSideBySide> {
    let pair = inputs.pair?;
    Some(inputs.side_by_side?.summary((pair.place, pair.id)))
}

/// Returns the warning that the rerun in turns contradicts the race side by side. The verdict is
/// then inconclusive.
pub(crate) fn turns_apart(inputs: &Inputs<'_>) -> Option<Warning> {
    let measurement = inputs.measurement;
    let estimate = measurement.estimate.as_ref()?;
    let place = inputs.pair?.place;
    let apart = inputs
        .side_by_side?
        .apart_from_turns(place, estimate, measurement.terms.margin)?;
    Some(Warning::TurnsApart { apart })
}
