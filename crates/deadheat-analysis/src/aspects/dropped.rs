//! The blocks that were dropped, and the result with them included.

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

/// Returns warnings about blocks that were dropped, or that were kept although they were flagged.
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

/// Returns the warning that `count` of `of` repetitions were cut short. It is always shown, because
/// nothing else shows that the harness did not run the planned iterations.
fn cut_short(effect_estimate: &EffectEstimate, (count, of): (usize, usize)) -> Warning {
    Warning::CutShort {
        count,
        of,
        blocks: effect_estimate.dropped,
        kept: kept(effect_estimate),
    }
}

/// Returns the warning that the GPU's clock was not steady in `count` of `of` samples. It is always
/// shown, because the measured times depend on the clock.
fn gpu_clock(effect_estimate: &EffectEstimate, (count, of): (usize, usize)) -> Warning {
    Warning::GpuClock {
        count,
        of,
        blocks: effect_estimate.dropped,
        kept: kept(effect_estimate),
    }
}

/// Returns the reason why flagged blocks were kept, if they were.
fn kept(effect_estimate: &EffectEstimate) -> Option<CutShortKept> {
    effect_estimate.kept_because.map(|reason| match reason {
        KeepReason::RatesDiffer { p } => CutShortKept::OneSided { p },
        KeepReason::TooMany { share } => CutShortKept::TooMany { share },
    })
}

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

/// Returns true if including the dropped blocks would change the verdict or move the effect across
/// the margin. Without this condition 13 of 14 benchmarks of a suite had the warning, none of them
/// needed it, and users ignored it.
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
    // Both verdicts are inconclusive, so the position of the effect does not matter.
    told != Some(Verdict::Inconclusive)
        && side(effect_estimate.pooled.theta) != side(with_dropped.theta)
}
