//! Run → Analysis.

use deadheat_model::{
    Analysis, BlockDiagnostics, Comparison, ContenderId, LogRatio, Origin, Run, Scope, Verdict,
};
use deadheat_stats::{Call, minimum_detectable_effect, replicates_to_settle, sign_flip_p};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::clocks::Traces;
use crate::control::Against;
use crate::doubts;
use crate::effects::Effects;
use crate::figures::Figured;
use crate::judge::Judgement;
use crate::metrics::{metric_rows, on_the_same_pairs};
use crate::one_by_one::{OneByOne, Part, Raced};
use crate::placement::Placement;
use crate::rule::estimate;
use crate::ruling::Ruling;
use crate::side::{Members, side};
use crate::spreads::spreads;
#[cfg(feature = "recordings")]
use crate::unpaired::unpaired;

/// Choices of someone who analyses a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Replay the looks over a recording that carries no plan, instead of
    /// judging it once.
    pub replay_looks: bool,
    /// Leave out the secondary figures, which a simulation of thousands of
    /// races has no use for: they are most of the work. A build without the
    /// feature `figures` has none.
    pub without_figures: bool,
    /// Work out what there is to draw, with at most so many points in each
    /// series; `None` where nobody draws. A build without the feature
    /// `figures` works out nothing.
    pub plots: Option<usize>,
}

/// Beyond so many replicates the sign-flip test says nothing new and its
/// 9,999 draws take longer than everything else together.
const MOST_SIGN_FLIP_REPLICATES: usize = 2_048;

/// Analyses a run. Pure: the same run gives the same analysis.
pub fn analyse(run: &Run, options: Options) -> Analysis {
    let one_by_one = OneByOne::new(run, options);
    let part = |index: usize| {
        let samples = |index: usize| &run.benchmarks[index];
        let own_link = run.header.plan.own_link_of(index).map(samples);
        one_by_one.benchmark(index, samples(index), own_link)
    };
    let answered = (0..run.benchmarks.len()).filter(|index| one_by_one.has_answer(*index));
    one_by_one.gather(answered.map(part).collect())
}

/// Every comparison of one benchmark, and for each its p-value before it pays
/// for the suite; and that of its control.
pub(crate) fn benchmark(raced: &Raced<'_>, options: Options) -> Part {
    let Raced {
        run,
        index,
        samples,
        ..
    } = *raced;
    let header = &run.header;
    let plan = &header.plan;
    let benchmark = &plan.benchmarks[index];
    let judged = plan.judged(index);
    let name = |id: ContenderId| benchmark.contenders[id.index()].name.as_str();
    let members = Members::of(samples, benchmark.contenders.len());
    let mut baseline_values = members.values(samples, judged, ContenderId::BASELINE);
    let Some(baseline) = side(name(ContenderId::BASELINE), &mut baseline_values) else {
        // Nothing was measured, or not this metric: no row can be filled in.
        return Part::default();
    };
    let saved = benchmark.saved.as_ref();
    let empty = Comparison {
        margin: plan.margin(index),
        alpha: plan.alpha(index),
        plots: None,
        gate: None,
        benchmark: benchmark.name.clone(),
        parameters: benchmark.parameters.clone(),
        label: saved.and_then(|saved| saved.label.clone()),
        threads: saved.and_then(|saved| saved.threads),
        throughput: benchmark.throughput,
        metric: judged.clone(),
        baseline,
        candidate: None,
        verdict: None,
        excludes_zero: false,
        provisional: false,
        scope: Scope::Binary,
        estimate: None,
        p_adjusted: None,
        p_sign_flip: None,
        minimum_detectable_effect: None,
        own_link: None,
        control: None,
        spreads: None,
        replicates_to_settle: None,
        seconds_to_settle: None,
        dropped_blocks: 0,
        effect_with_dropped: None,
        diagnostics: None,
        figures: None,
        metrics: Vec::new(),
        warnings: Vec::new(),
    };
    // What is drawn is made of what the figures were worked out from.
    let figured = match options.without_figures && options.plots.is_none() {
        true => None,
        false => Figured::of(header, index, samples, &members),
    };
    if benchmark.rivals() == 1 {
        let metrics = metric_rows(run, samples, index, &members, None, |_| None);
        let (figures, plots) = figured.map(|figured| figured.alone(options.plots)).unzip();
        let mut alone = Comparison {
            metrics,
            figures: figures.filter(|_| !options.without_figures),
            plots: plots.flatten(),
            ..empty
        };
        let ruling = benchmark
            .control()
            .map(|_| Ruling::of(run, index, samples, options));
        let against = ruling.and_then(|(_, ruling)| Against::itself(raced, &ruling));
        alone.control = against.as_ref().map(Against::control);
        alone.warnings = doubts::about_the_race(&alone, header, benchmark, 0, false, false);
        let counters = doubts::about_the_counters(header);
        let code = doubts::about_the_code(&alone, header, benchmark);
        alone.warnings.extend(counters.into_iter().chain(code));
        return Part {
            comparisons: vec![alone],
            p_values: vec![None],
            control: against.and_then(|against| against.p_value),
        };
    }
    #[cfg(feature = "recordings")]
    if header.origin == Origin::UnpairedRecording {
        let figured = figured.as_ref();
        let (comparisons, p_values) = unpaired(
            run,
            (index, samples, &members),
            empty,
            &baseline_values,
            (figured, options),
        );
        return Part {
            comparisons,
            p_values,
            control: None,
        };
    }
    let (bench, ruling) = Ruling::of(run, index, samples, options);
    let against = Against::itself(raced, &ruling);
    let empty = Comparison {
        control: against.as_ref().map(Against::control),
        ..empty
    };
    let placement = Placement::of(raced);
    let mut comparisons = Vec::new();
    for (place, id) in benchmark.candidates().enumerate() {
        let effects = &bench.candidates[place];
        let judgement = ruling.judgements[place].as_ref();
        let mut candidate_values = members.values(samples, judged, id);
        let Some(candidate) = side(name(id), &mut candidate_values) else {
            continue;
        };
        let mut comparison = Comparison {
            candidate: Some(candidate),
            metrics: metric_rows(run, samples, index, &members, Some(id), |metric| {
                on_the_same_pairs(header, samples, (index, id), metric, judgement?)
            }),
            ..empty.clone()
        };
        if let Some(judgement) = judgement {
            fill_in(&mut comparison, judgement);
            comparison.p_sign_flip = confirm(effects, judgement, plan.seed);
        }
        let judged = judgement.map_or(effects.replicates(), |j| j.replicates);
        comparison.scope = placement.scope(samples, id, judged);
        comparison.own_link = placement.own_link(place);
        if header.origin == Origin::Race {
            let effects = (place, effects);
            let scope = comparison.scope;
            comparison.spreads = spreads(&placement, benchmark, samples, effects, judged, scope);
        }
        if let Some(figured) = &figured {
            let paired = Some((effects, judged));
            let (figures, plots) = figured.against(id, paired, options.plots);
            comparison.figures = Some(figures).filter(|_| !options.without_figures);
            comparison.plots = plots.map(|mut plots| {
                plots.looks = ruling.looks_at(place);
                plots
            });
        }
        comparison.diagnostics = effects.order_effects().map(|d| BlockDiagnostics {
            drift: d.drift,
            carry_over: d.carry_over,
            second_position: d.second_position,
        });
        let margin = comparison.margin;
        let mut warnings = doubts::about_the_estimate(effects, samples, judgement, margin);
        warnings.extend(doubts::about_the_tails(
            &baseline_values,
            &candidate_values,
            &comparison,
            margin,
        ));
        let traces = Traces {
            benchmark,
            samples,
            members: &members,
            candidate: id,
        };
        warnings.extend(traces.doubts(&comparison, margin));
        warnings.extend(doubts::about_the_code(&comparison, header, benchmark));
        warnings.extend(doubts::about_the_race(
            &comparison,
            header,
            benchmark,
            ruling.used,
            ruling.anytime,
            ruling.budget_spent,
        ));
        warnings.extend(placement.doubts(&comparison));
        warnings.extend(doubts::about_the_counters(header));
        comparison.warnings = warnings;
        comparisons.push(comparison);
    }
    Part {
        comparisons,
        p_values: ruling.p_values,
        control: against.and_then(|against| against.p_value),
    }
}

/// Copies what was judged into the answer.
fn fill_in(comparison: &mut Comparison, judgement: &Judgement) {
    let pooled = &judgement.pooled;
    comparison.estimate = Some(estimate(judgement));
    comparison.dropped_blocks = judgement.dropped;
    let with_dropped = judgement.with_dropped;
    comparison.effect_with_dropped = with_dropped.map(|all| LogRatio(all.theta));
    comparison.provisional = pooled.replicates == 1 && judgement.call.is_some();
    comparison.excludes_zero = excludes_zero(judgement.interval);
    comparison.verdict = judgement.call.map(verdict);
    if pooled.replicates < 2 || pooled.se <= 0.0 {
        return;
    }
    let detectable = minimum_detectable_effect(pooled.se, pooled.df, judgement.plain_level);
    // A change too large for a number is no change anyone looks for.
    comparison.minimum_detectable_effect =
        Some(LogRatio(detectable)).filter(|effect| effect.change().is_finite());
    if comparison.verdict == Some(Verdict::Inconclusive) {
        comparison.replicates_to_settle = replicates_to_settle(
            pooled.theta,
            pooled.se,
            pooled.replicates,
            LogRatio::from_change(comparison.margin).0,
            judgement.plain_level,
        );
    }
}

pub(crate) fn excludes_zero(interval: Option<(f64, f64)>) -> bool {
    interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

pub(crate) fn verdict(call: Call) -> Verdict {
    match call {
        Call::Equivalent { .. } => Verdict::Equivalent,
        Call::Faster => Verdict::Faster,
        Call::Slower => Verdict::Slower,
        Call::Undecided => Verdict::Inconclusive,
    }
}

/// The sign-flip test, drawn from the seed of the run.
fn confirm(effects: &Effects, judgement: &Judgement, seed: u64) -> Option<f64> {
    let clusters = effects.clusters(judgement.replicates);
    if clusters.replicates() > MOST_SIGN_FLIP_REPLICATES {
        return None;
    }
    sign_flip_p(&clusters, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
}
