//! Effects of the run order within a block: drift, carry-over and second position.

use deadheat_model::BlockDiagnostics;

use crate::inputs::Inputs;

pub(super) fn from_inputs(inputs: &Inputs<'_>) -> Option<BlockDiagnostics> {
    let found = inputs.pair?.effects.order_effects()?;
    Some(BlockDiagnostics {
        drift: found.drift,
        carry_over: found.carry_over,
        second_position: found.second_position,
    })
}
