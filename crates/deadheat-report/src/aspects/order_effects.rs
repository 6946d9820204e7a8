//! The effects of the order within a block.

use deadheat_model::{Aspects, BlockDiagnostics, Object};

use crate::json_parts::relative;

pub(crate) fn to_json(aspects: &Aspects) -> Option<Object> {
    aspects.order_effects.as_ref().map(diagnostics)
}

fn diagnostics(diagnostics: &BlockDiagnostics) -> Object {
    Object::new()
        .with("drift", relative(diagnostics.drift))
        .with("carry_over", relative(diagnostics.carry_over))
        .with("second_position", relative(diagnostics.second_position))
}
