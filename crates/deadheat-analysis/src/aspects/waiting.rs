//! The share of scheduling delay (waiting for a core) in the wall time, and the verdict with the
//! delay included. The module `crate::waiting` subtracts the delay from the
//! samples.

use deadheat_model::{Aspects, Flags, Sample, Verdict, WaitingShare, Warning};

use crate::effects::{EffectEstimate, estimate, verdict_of};
use crate::hosts::estimate_over_hosts;
use crate::inputs::Inputs;
use crate::waiting::{self, LEAST_SHARE};

pub(super) fn from_inputs(inputs: &Inputs<'_>) -> Option<WaitingShare> {
    let recorded = inputs.recorded?;
    let seen = (recorded.samples, recorded.seen);
    let id = inputs.pair.map(|pair| pair.id);
    let index = inputs.raced.index;
    let shares = waiting::shares(inputs.header(), index, seen, id)?;
    let kept = estimate_with_waiting(inputs).filter(|_| shares.taken_out);
    let terms = &inputs.measurement.terms;
    let verdict = |kept: &EffectEstimate| -> Option<Verdict> {
        Some(verdict_of(
            terms.metric.better(),
            kept.interval?,
            terms.margin,
        ))
    };
    Some(WaitingShare {
        baseline: shares.baseline,
        candidate: shares.candidate,
        taken_out: shares.taken_out,
        verdict_kept: kept.as_ref().and_then(verdict),
        kept: kept.as_ref().map(estimate),
    })
}

fn estimate_with_waiting(inputs: &Inputs<'_>) -> Option<EffectEstimate> {
    let (recorded, place) = (inputs.recorded?, inputs.pair?.place);
    let judged = recorded.decision.effect_estimates[place].as_ref()?;
    estimate_over_hosts(
        &recorded.state.candidates[place],
        recorded.samples,
        judged.replicates,
        judged.asked,
    )
}

/// Returns warnings about scheduling delay that could not be subtracted.
pub(crate) fn doubts(inputs: &Inputs<'_>, aspects: &Aspects) -> Vec<Warning> {
    let Some((recorded, share)) = inputs.recorded.zip(aspects.waiting.as_ref()) else {
        return Vec::new();
    };
    let benchmark = inputs.benchmark();
    let samples = &recorded.samples.samples()[..recorded.seen];
    let part = |flag: Flags, of: &dyn Fn(&Sample) -> bool| {
        let all = samples.iter().filter(|sample| of(sample)).count();
        let flagged = |sample: &&Sample| of(sample) && sample.flags.holds(flag);
        samples.iter().filter(flagged).count() as f64 / all.max(1) as f64
    };
    let mut warnings = Vec::new();
    let unread = part(Flags::DELAY_UNREAD, &|_| true);
    if unread > 0.0 {
        warnings.push(Warning::WaitingUnread { share: unread });
    }
    let matters = share.baseline.max(share.candidate.unwrap_or(0.0)) > LEAST_SHARE;
    let mut contenders = Vec::new();
    let mut most = 0.0_f64;
    for (index, contender) in benchmark.contenders.iter().enumerate() {
        // Several threads are expected if the user asked for them.
        let planned = (contender.workload.calls()).is_some_and(|calls| calls.threads > 1);
        let part = part(Flags::CONCURRENT, &|sample| {
            sample.contender.index() == index
        });
        if part > 0.0 && !planned && (matters || part < 1.0) {
            contenders.push(contender.name.clone());
            most = most.max(part);
        }
    }
    if !contenders.is_empty() {
        warnings.push(Warning::WaitingOfItsOwn {
            contenders,
            share: most,
        });
    }
    warnings
}
