//! The blocks that were left out, and what they would change.

use deadheat_model::{CutShortKept, DroppedBlocks, LogRatio, Samples, Verdict, Warning};
use deadheat_stats::KeepReason;

use crate::effects::{EffectEstimate, Effects, WithDropped};
use crate::inputs::Inputs;

pub(super) fn from_inputs(inputs: &Inputs<'_>) -> Option<DroppedBlocks> {
    let estimate = inputs.pair?.estimate?;
    let with_dropped = estimate.with_dropped;
    (estimate.dropped > 0 || with_dropped.is_some()).then(|| DroppedBlocks {
        blocks: estimate.dropped,
        effect_with_them: with_dropped.map(|all| LogRatio(all.theta)),
    })
}

/// Warnings about blocks that were left out, or that should have been.
pub(crate) fn doubts(
    effects: &Effects,
    samples: &Samples,
    estimate: &EffectEstimate,
    margin: f64,
) -> Vec<Warning> {
    let replicates = estimate.replicates;
    if let Some(counted) = effects.cut_short(samples, replicates) {
        vec![cut_short(estimate, counted)]
    } else if let Some(counted) = effects.gpu_clock(samples, replicates) {
        vec![gpu_clock(estimate, counted)]
    } else {
        about_disturbed_blocks(estimate, margin).collect()
    }
}

/// The warning that `count` repetitions `of` all were cut short. Every answer has it, because nothing
/// else shows that the harness did not do what was planned.
fn cut_short(effect_estimate: &EffectEstimate, (count, of): (usize, usize)) -> Warning {
    Warning::CutShort {
        count,
        of,
        blocks: effect_estimate.dropped,
        kept: kept(effect_estimate),
    }
}

/// The warning that the GPU's clock was not steady in `count` samples `of` all. Every answer has it,
/// because the clock decides the times.
fn gpu_clock(effect_estimate: &EffectEstimate, (count, of): (usize, usize)) -> Warning {
    Warning::GpuClock {
        count,
        of,
        blocks: effect_estimate.dropped,
        kept: kept(effect_estimate),
    }
}

/// The reason, if any, why flagged blocks were kept.
fn kept(effect_estimate: &EffectEstimate) -> Option<CutShortKept> {
    effect_estimate.kept_because.map(|reason| match reason {
        KeepReason::RatesDiffer { p } => CutShortKept::OneSided { p },
        KeepReason::TooMany { share } => CutShortKept::TooMany { share },
    })
}

/// Doubts about the blocks with evidence of disturbance.
fn about_disturbed_blocks(
    effect_estimate: &EffectEstimate,
    margin: f64,
) -> impl Iterator<Item = Warning> {
    let kept = effect_estimate.kept_because.map(|reason| match reason {
        KeepReason::RatesDiffer { p } => Warning::DisturbedUnevenly { p },
        KeepReason::TooMany { share } => Warning::DisturbedTooOften { share },
    });
    let decisive = effect_estimate
        .with_dropped
        .filter(|with_dropped| tells_another_story(effect_estimate, *with_dropped, margin));
    let dropped = decisive.map(|with_dropped| Warning::BlocksDropped {
        count: effect_estimate.dropped,
        change_with_all: LogRatio(with_dropped.theta).change(),
        verdict_with_all: with_dropped.verdict,
    });
    kept.into_iter().chain(dropped)
}

/// True where the dropped blocks decide something: the verdict, or on which side of the margin the
/// change lies. Told of every race that dropped any, it was read past: in 13 of 14 benchmarks of a
/// suite it stood there, and in none of them did it matter.
fn tells_another_story(
    effect_estimate: &EffectEstimate,
    with_dropped: WithDropped,
    margin: f64,
) -> bool {
    let margin = LogRatio::from_change(margin).0;
    let side = |theta: f64| (theta < -margin, theta > margin);
    let told = effect_estimate.verdict;
    if told != with_dropped.verdict {
        return true;
    }
    // An open race is as open on either side of the margin.
    told != Some(Verdict::Inconclusive)
        && side(effect_estimate.pooled.theta) != side(with_dropped.theta)
}
