//! The code placement of a comparison: the scope of the verdict, the result on the user's own link,
//! the observed processes, and the standard deviations that placement, process and block
//! contribute. `placement.rs` of this crate computes them.

use deadheat_model::{Aspects, Estimate, ObservedProcess, Origin, Scope, Spreads, Warning};

use crate::inputs::Inputs;
use crate::placement::spreads;

pub(crate) fn scope(inputs: &Inputs<'_>) -> Scope {
    inputs.pair.map_or(Scope::Binary, |pair| {
        pair.placement
            .scope(inputs.raced.samples, pair.id, pair.replicates)
    })
}

pub(super) fn own_link(inputs: &Inputs<'_>) -> Option<Estimate> {
    let pair = inputs.pair?;
    pair.placement.own_link(pair.place)
}

pub(super) fn is_matched(inputs: &Inputs<'_>) -> bool {
    inputs.pair.is_some_and(|pair| {
        pair.placement
            .is_matched(inputs.raced.samples, pair.id, pair.replicates)
    })
}

pub(super) fn processes(inputs: &Inputs<'_>) -> Vec<ObservedProcess> {
    let samples = inputs.raced.samples;
    inputs.pair.map_or_else(Vec::new, |pair| {
        pair.placement.processes(samples, pair.id, pair.replicates)
    })
}

pub(super) fn spreads_from_inputs(inputs: &Inputs<'_>) -> Option<Spreads> {
    let pair = inputs
        .pair
        .filter(|_| inputs.header().origin == Origin::Race)?;
    spreads(
        pair.placement,
        inputs.benchmark(),
        inputs.raced.samples,
        (pair.place, pair.effects),
        pair.replicates,
        scope(inputs),
    )
}

pub(crate) fn doubts(inputs: &Inputs<'_>, aspects: &Aspects) -> Vec<Warning> {
    let known = (inputs.measurement, aspects, scope(inputs));
    inputs
        .pair
        .map_or_else(Vec::new, |pair| pair.placement.doubts(known, pair.id))
}
