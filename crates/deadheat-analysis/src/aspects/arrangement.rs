//! Launches side by side, and whether the same race in turns contradicts them.

use deadheat_model::{RacedSideBySide, Warning};

use crate::inputs::Inputs;

pub(super) fn from_inputs(inputs: &Inputs<'_>) -> Option<RacedSideBySide> {
    let pair = inputs.pair?;
    Some(inputs.side_by_side?.summary((pair.place, pair.id)))
}

/// The warning that the race in turns contradicts the one side by side, whose verdict is then open.
pub(crate) fn turns_apart(inputs: &Inputs<'_>) -> Option<Warning> {
    let measurement = inputs.measurement;
    let estimate = measurement.estimate.as_ref()?;
    let place = inputs.pair?.place;
    let apart = inputs
        .side_by_side?
        .apart_from_turns(place, estimate, measurement.terms.margin)?;
    Some(Warning::TurnsApart { apart })
}
