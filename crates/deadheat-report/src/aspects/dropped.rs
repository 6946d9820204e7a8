//! Blocks that were excluded from the estimate.

use deadheat_model::{Comparison, Warning};

use crate::cost::{cost_of, effect_in_cost};
use crate::glyphs::Glyphs;
use crate::units::{counted, effect};

/// Returns a sentence with the number of excluded blocks and the change that includes them.
pub(super) fn sentence(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let left_out = comparison.aspects.dropped?;
    let interval = cost_of(comparison).and_then(|cost| cost.interval);
    let with_them = effect_in_cost(&comparison.terms.metric, left_out.effect_with_them?);
    let change = effect(with_them, interval.as_ref(), glyphs);
    let cause = cause_of_dropping(comparison);
    Some(dropped(left_out.blocks, cause, &change))
}

pub(crate) const DISTURBED: &str = "disturbed by other work on the machine";

pub(crate) fn cause_of_dropping(comparison: &Comparison) -> &'static str {
    let cause = |warning: &Warning| match warning {
        Warning::CutShort { .. } => Some("cut short by the harness"),
        Warning::GpuClock { .. } => Some("disturbed by the GPU's clock"),
        _ => None,
    };
    let mut causes = comparison.warnings.iter().filter_map(cause);
    causes.next().unwrap_or(DISTURBED)
}

pub(crate) fn dropped(blocks: usize, cause: &str, change: &str) -> String {
    format!(
        "{} left out ({cause}); with {}, the change is {change}",
        counted(blocks as u64, "block was", "blocks were"),
        if blocks == 1 { "it" } else { "them" },
    )
}
