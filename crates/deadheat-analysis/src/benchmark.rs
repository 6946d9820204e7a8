//! The answer about one benchmark, before it pays for the others: the verdict of every candidate with
//! all that stands beside it, among that every other metric on the same pairs.

use deadheat_model::{
    BlockDiagnostics, Comparison, ContenderId, Estimate, LogRatio, Metric, Origin, RunHeader,
    Samples, Scope, Verdict,
};
use deadheat_stats::{
    Level, agreement_p, minimum_detectable_effect, replicates_to_settle, sign_flip_p,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::decision::{BenchmarkState, ControlComparison, FinalDecision};
use crate::effects::{EffectEstimate, Effects, estimate, excludes_zero, verdict_of};
use crate::figures::Figured;
use crate::hosts::{across_hosts, dropped_blocks, estimate_over_hosts};
use crate::placement::{Placement, spreads};
use crate::raced::{Members, Options, Part, Raced, Typical, metric_rows, side};
use crate::side_by_side::SideBySide;
#[cfg(feature = "recordings")]
use crate::unpaired::unpaired;
use crate::warnings::Traces;
use crate::{all_zero, waiting, warm_up, warnings};

/// Beyond so many replicates the sign-flip test says nothing new and its 9,999 draws take longer
/// than everything else together.
const MOST_SIGN_FLIP_REPLICATES: usize = 2_048;

/// Every comparison of one benchmark, and for each its p-value before it pays for the suite; and
/// that of its control.
pub(crate) fn benchmark(raced: &Raced<'_>, options: Options) -> Part {
    let header = &raced.run.header;
    if !waiting::may_be_taken_out(header, raced.index) || header.origin == Origin::UnpairedRecording
    {
        return answer(raced, options, None);
    }
    let (state, decision) = FinalDecision::of(raced.run, raced.index, raced.samples, options);
    let recorded = Recorded {
        samples: raced.samples,
        seen: state.samples_seen(raced.samples, decision.used),
        state: &state,
        decision: &decision,
    };
    if waiting::is_taken_out(raced.samples, recorded.seen) {
        // Everything that is told speaks of the same times.
        let samples = waiting::without(raced.samples);
        let raced = Raced {
            samples: &samples,
            ..*raced
        };
        answer(&raced, options, Some(recorded))
    } else {
        answer(raced, options, Some(recorded))
    }
}

/// A benchmark as it was recorded, waiting included, and what was decided of it.
struct Recorded<'a> {
    samples: &'a Samples,
    /// The samples looked at.
    seen: usize,
    state: &'a BenchmarkState,
    decision: &'a FinalDecision,
}

impl Recorded<'_> {
    /// Notes the share of waiting, what the estimate of the candidate in this place would be with
    /// it, and the doubts about it.
    fn note_waiting(
        &self,
        comparison: &mut Comparison,
        raced: &Raced<'_>,
        candidate: Option<(usize, ContenderId)>,
    ) {
        let header = &raced.run.header;
        let seen = (self.samples, self.seen);
        let id = candidate.map(|(_, id)| id);
        let Some(mut share) = waiting::share(header, raced.index, seen, id) else {
            return;
        };
        let kept = candidate
            .filter(|_| share.taken_out)
            .and_then(|(place, _)| {
                let judged = self.decision.effect_estimates[place].as_ref()?;
                estimate_over_hosts(
                    &self.state.candidates[place],
                    self.samples,
                    judged.replicates,
                    judged.asked,
                )
            });
        share.verdict_kept = kept.as_ref().and_then(|kept| {
            let better = comparison.metric.better();
            Some(verdict_of(better, kept.interval?, comparison.margin))
        });
        share.kept = kept.as_ref().map(estimate);
        let benchmark = &header.plan.benchmarks[raced.index];
        comparison
            .warnings
            .extend(waiting::doubts(benchmark, seen, &share));
        comparison.waiting = Some(share);
    }
}

/// The answer from samples whose waiting is taken out already where it is.
fn answer(raced: &Raced<'_>, options: Options, recorded: Option<Recorded<'_>>) -> Part {
    let Raced {
        run,
        index,
        samples,
        ..
    } = *raced;
    let header = &run.header;
    let plan = &header.plan;
    let benchmark = &plan.benchmarks[index];
    let (judged, quantile) = (plan.judged(index), plan.quantile(index));
    let name = |id: ContenderId| benchmark.contenders[id.index()].name.as_str();
    let members = Members::of(samples, benchmark.contenders.len());
    let members = members.without(samples, &cut_short_blocks(header, index, samples));
    let mut baseline_values = members.values(samples, judged, ContenderId::BASELINE);
    let typical = Typical::of(quantile);
    let Some(baseline) = side(name(ContenderId::BASELINE), &mut baseline_values, typical) else {
        // Nothing was measured, or not this metric: no row can be filled in.
        return Part::default();
    };
    let saved = benchmark.saved.as_ref();
    let empty = Comparison {
        margin: plan.margin(index),
        alpha: plan.alpha(index),
        plots: None,
        gate: None,
        is_unjudged: false,
        benchmark: benchmark.name.clone(),
        parameters: benchmark.parameters.clone(),
        label: saved.and_then(|saved| saved.label.clone()),
        threads: saved.and_then(|saved| saved.threads),
        throughput: benchmark.throughput,
        metric: judged.clone(),
        quantile,
        baseline,
        candidate: None,
        verdict: None,
        excludes_zero: false,
        provisional: false,
        scope: Scope::Binary,
        estimate: None,
        p_adjusted: None,
        p_looks: None,
        holds_in_suite: true,
        confirmation: None,
        p_sign_flip: None,
        minimum_detectable_effect: None,
        matched: false,
        processes: Vec::new(),
        own_link: None,
        turns_because: benchmark.turns_because,
        side_by_side: None,
        control: None,
        hosts: None,
        spreads: None,
        waiting: None,
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
    let figured = if options.without_figures && options.plots.is_none() {
        None
    } else {
        Figured::of(header, index, samples, &members)
    };
    if benchmark.rivals() == 1 {
        let judged = (&empty.baseline, None);
        let mut metrics = metric_rows(run, samples, index, &members, judged, |_| None);
        if let Some(side_by_side) = SideBySide::of(raced) {
            side_by_side.replace_rows(&mut metrics, None);
        }
        let (figures, plots) = figured.map(|figured| figured.alone(options.plots)).unzip();
        let mut alone = Comparison {
            metrics,
            figures: figures.filter(|_| !options.without_figures).map(Box::new),
            plots: plots.flatten(),
            ..empty
        };
        let final_decision = benchmark
            .control()
            .map(|_| FinalDecision::of(run, index, samples, options));
        let control_comparison = final_decision
            .and_then(|(_, final_decision)| ControlComparison::new(raced, &final_decision));
        alone.control = control_comparison.as_ref().map(ControlComparison::control);
        alone.warnings = warnings::about_the_race(&alone, header, index, 0, false, false);
        let counters = warnings::about_the_counters(header);
        let code = warnings::about_the_code(&alone, header, benchmark);
        alone.warnings.extend(counters.into_iter().chain(code));
        if let Some(recorded) = &recorded {
            recorded.note_waiting(&mut alone, raced, None);
        }
        return Part {
            comparisons: vec![alone],
            p_values: vec![None],
            control: control_comparison.and_then(|control_comparison| control_comparison.p_value),
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
    let decided;
    let (benchmark_state, final_decision) = match &recorded {
        Some(recorded) => (recorded.state, recorded.decision),
        None => {
            decided = FinalDecision::of(run, index, samples, options);
            (&decided.0, &decided.1)
        }
    };
    let used = final_decision.used;
    let (candidates, _) =
        benchmark_state.judged(recorded.as_ref().map_or(samples, |r| r.samples), used);
    let control_comparison = ControlComparison::new(raced, final_decision);
    let empty = Comparison {
        control: control_comparison.as_ref().map(ControlComparison::control),
        ..empty
    };
    let placement = Placement::of(raced);
    let side_by_side = SideBySide::of(raced);
    let mut comparisons = Vec::new();
    for (place, id) in benchmark.candidates().enumerate() {
        let effects = &candidates[place];
        let effect_estimate = final_decision.effect_estimates[place].as_ref();
        let mut candidate_values = members.values(samples, judged, id);
        let typical = Typical::of_candidate(quantile, effect_estimate.is_some());
        let Some(candidate) = side(name(id), &mut candidate_values, typical) else {
            continue;
        };
        let judged = (&empty.baseline, Some((id, &candidate)));
        let mut metrics = metric_rows(run, samples, index, &members, judged, |metric| {
            on_the_same_pairs(header, samples, (index, id), metric, effect_estimate?)
        });
        if let Some(side_by_side) = &side_by_side {
            side_by_side.replace_rows(&mut metrics, Some(id));
        }
        let mut comparison = Comparison {
            candidate: Some(candidate),
            metrics,
            ..empty.clone()
        };
        if let Some(effect_estimate) = effect_estimate {
            fill_in(&mut comparison, effect_estimate);
            comparison.p_looks = final_decision.p_looks[place];
            let alpha = comparison.alpha / candidates.len().max(1) as f64;
            let seen = recorded.as_ref().map_or(samples, |r| r.samples);
            comparison.hosts = across_hosts(effects, seen, effect_estimate, alpha);
            if comparison.hosts.is_none() {
                comparison.p_sign_flip = confirm(effects, effect_estimate, plan.seed);
            } else {
                // More replicates settle nothing between hosts.
                comparison.replicates_to_settle = None;
            }
        }
        let judged = effect_estimate.map_or(effects.replicates(), |j| j.replicates);
        comparison.scope = placement.scope(samples, id, judged);
        comparison.matched = placement.is_matched(samples, id, judged);
        comparison.processes = placement.processes(samples, id, judged);
        comparison.own_link = placement.own_link(place);
        comparison.side_by_side = side_by_side
            .as_ref()
            .map(|raced| raced.summary((place, id)));
        if header.origin == Origin::Race {
            let effects = (place, effects);
            let scope = comparison.scope;
            comparison.spreads = spreads(&placement, benchmark, samples, effects, judged, scope);
        }
        if let Some(figured) = &figured {
            let paired = Some((effects, judged));
            let (figures, plots) = figured.against(id, paired, options.plots);
            comparison.figures = (!options.without_figures).then(|| Box::new(figures));
            comparison.plots = plots.map(|mut plots| {
                plots.looks = final_decision.looks_at(place);
                plots
            });
        }
        comparison.diagnostics = effects.order_effects().map(|d| BlockDiagnostics {
            drift: d.drift,
            carry_over: d.carry_over,
            second_position: d.second_position,
        });
        let margin = comparison.margin;
        let mut warnings = warnings::about_the_estimate(effects, samples, effect_estimate, margin);
        warnings.extend(warnings::about_the_tails(
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
        warnings.extend(warnings::about_the_code(&comparison, header, benchmark));
        warnings.extend(warnings::about_the_race(
            &comparison,
            header,
            index,
            final_decision.used,
            matches!(final_decision.level, Level::Anytime(_)),
            final_decision.budget_spent,
        ));
        warnings.extend(warm_up::doubt(benchmark, samples, id, margin));
        warnings.extend(placement.doubts(&comparison, id));
        warnings.extend(warnings::about_the_counters(header));
        warnings::keep_those_about_counts(&mut warnings, header);
        comparison.warnings = warnings;
        if let Some(side_by_side) = &side_by_side {
            side_by_side.hold_against_turns(&mut comparison, place);
        }
        if let Some(recorded) = &recorded {
            recorded.note_waiting(&mut comparison, raced, Some((place, id)));
        }
        let level = final_decision.level.stated() / candidates.len().max(1) as f64;
        all_zero::judge(&mut comparison, judged, agreement_p(judged), level);
        comparisons.push(comparison);
    }
    Part {
        comparisons,
        p_values: final_decision.p_values.clone(),
        control: control_comparison.and_then(|control_comparison| control_comparison.p_value),
    }
}

/// The places of the blocks that are left out because a repetition was cut short. A mean or a slowest
/// sample with them would speak of interruptions: 1 repetition of 640 made the mean of a side 68 times
/// as large.
fn cut_short_blocks(header: &RunHeader, index: usize, samples: &Samples) -> Vec<usize> {
    let benchmark = &header.plan.benchmarks[index];
    let mut places = Vec::new();
    if !benchmark.keeps_order() {
        return places;
    }
    for candidate in benchmark.candidates() {
        let mut effects = Effects::new(header.plan.judged(index), candidate, header, index);
        effects.extend(samples);
        // Every block of launches holds all contenders, so its effect has its place.
        places.extend(dropped_blocks(&effects, effects.replicates()));
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// Copies what was judged into the answer.
fn fill_in(comparison: &mut Comparison, effect_estimate: &EffectEstimate) {
    let pooled = &effect_estimate.pooled;
    comparison.estimate = Some(estimate(effect_estimate));
    comparison.dropped_blocks = effect_estimate.dropped;
    let with_dropped = effect_estimate.with_dropped;
    comparison.effect_with_dropped = with_dropped.map(|all| LogRatio(all.theta));
    comparison.provisional = pooled.replicates == 1 && effect_estimate.verdict.is_some();
    comparison.excludes_zero = excludes_zero(effect_estimate.interval);
    comparison.verdict = effect_estimate.verdict;
    if pooled.replicates < 2 || pooled.se <= 0.0 {
        return;
    }
    let detectable = minimum_detectable_effect(pooled.se, pooled.df, effect_estimate.plain_level);
    // A change too large for a number is no change anyone looks for.
    comparison.minimum_detectable_effect =
        Some(LogRatio(detectable)).filter(|effect| effect.change().is_finite());
    if comparison.verdict == Some(Verdict::Inconclusive) {
        comparison.replicates_to_settle = replicates_to_settle(
            pooled.theta,
            pooled.se,
            pooled.replicates,
            LogRatio::from_change(comparison.margin).0,
            effect_estimate.plain_level,
        );
    }
}

/// The sign-flip test, drawn from the seed of the run.
fn confirm(effects: &Effects, effect_estimate: &EffectEstimate, seed: u64) -> Option<f64> {
    let mut kept = Default::default();
    let clusters = effects.kept_clusters(effect_estimate.replicates, &mut kept);
    if clusters.replicates() > MOST_SIGN_FLIP_REPLICATES {
        return None;
    }
    sign_flip_p(&clusters, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
}

/// The estimate of a metric on the same replicates as the judged one, and the verdict had this one
/// been judged.
fn on_the_same_pairs(
    header: &RunHeader,
    samples: &Samples,
    (benchmark, candidate): (usize, ContenderId),
    metric: &Metric,
    judged: &EffectEstimate,
) -> Option<(Estimate, Option<Verdict>)> {
    if metric == header.plan.judged(benchmark) {
        return Some((estimate(judged), judged.verdict));
    }
    // Nothing was ever counted, and of zeros no ratio can be formed.
    if samples.column(metric)?.iter().all(|value| *value <= 0.0) {
        return None;
    }
    let mut effects = Effects::new(metric, candidate, header, benchmark);
    effects.extend(samples);
    let effect_estimate = estimate_over_hosts(&effects, samples, judged.replicates, judged.asked)?;
    let estimate = of_the_table(&effect_estimate, &effects, samples);
    // Where no interval is shown, none decides.
    let verdict = estimate.interval.and(effect_estimate.verdict);
    Some((estimate, verdict))
}

/// The estimate of a metric that is only shown. When all blocks agree to the count, an interval of
/// half a tick says more about the counter's unit than about the contenders: 2 context switches
/// against 2 would read ±50 %.
fn of_the_table(
    effect_estimate: &EffectEstimate,
    effects: &Effects,
    samples: &Samples,
) -> Estimate {
    let mut estimate = estimate(effect_estimate);
    let coarse = effects
        .ticks_per_sample(samples, effect_estimate.replicates)
        .is_some_and(|ticks| ticks < warnings::FEW_TICKS);
    if effect_estimate.pooled.timer_limited && coarse {
        estimate.interval = None;
    }
    estimate
}
