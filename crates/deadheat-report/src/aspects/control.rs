//! The baseline against a second copy of itself.

use deadheat_model::{Comparison, Control, Object};

use crate::glyphs::Glyphs;
use crate::json_parts::estimated as estimate_json;
use crate::units::estimated;

/// The baseline against a second copy of itself, which is what the race makes of no difference;
/// `None` without a control.
pub fn noise_floor(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let control = comparison.aspects.control?;
    let [change, interval] = estimated(&control.estimate, comparison.coverage(), glyphs);
    let doubt = if control.separated {
        "; this control separated"
    } else {
        ""
    };
    Some(format!(
        "baseline against itself: {change} ({interval}){doubt}."
    ))
}

/// The baseline against a second copy of itself.
pub(super) fn to_json(control: &Control) -> Object {
    estimate_json(Object::new(), &control.estimate).with("separated", control.separated)
}
