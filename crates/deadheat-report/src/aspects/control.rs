//! Sentences and JSON about the control, a second copy of the baseline that takes part in the race.

use deadheat_model::{Comparison, Control, Object};

use crate::cost::in_cost;
use crate::glyphs::Glyphs;
use crate::json_parts::estimated as estimate_json;
use crate::units::estimated;

/// Returns the change that the race measures between the baseline and a second copy of it, which is
/// the noise floor; `None` without a control.
pub fn noise_floor(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let control = comparison.aspects.control?;
    let estimate = in_cost(&comparison.terms.metric, &control.estimate);
    let [change, interval] = estimated(&estimate, comparison.coverage(), glyphs);
    let doubt = if control.separated {
        "; the control separated"
    } else {
        ""
    };
    Some(format!(
        "baseline against itself: {change} ({interval}){doubt}."
    ))
}

pub(super) fn to_json(control: &Control) -> Object {
    estimate_json(Object::new(), &control.estimate).with("separated", control.separated)
}
