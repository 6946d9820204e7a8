//! The hosts of a merged run. The estimate over all of them is in `hosts.rs` of this crate.

use deadheat_model::AcrossHosts;

use crate::hosts::across_hosts;
use crate::inputs::Inputs;

pub(super) fn from_inputs(inputs: &Inputs<'_>) -> Option<AcrossHosts> {
    let pair = inputs.pair?;
    let alpha = inputs.measurement.terms.alpha / pair.candidates() as f64;
    across_hosts(
        pair.effects,
        inputs.recorded_samples(),
        pair.estimate?,
        alpha,
    )
}
