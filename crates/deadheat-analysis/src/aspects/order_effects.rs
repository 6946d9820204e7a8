//! The effects of the order within a block.

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
