//! The comparisons of one benchmark, before the p-values are adjusted over the suite: the verdict
//! on each candidate, its evidence, and every other metric on the same pairs of samples.

use deadheat_model::{
    AllZero, Aspects, Benchmark, Comparison, ContenderId, Estimate, Evidence, LogRatio, Metric,
    MetricComparison, Origin, Plots, RunHeader, Samples, Side, Terms, Verdict, Warning,
};
use deadheat_stats::{agreement_p, minimum_detectable_effect, sign_flip_p};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::all_zero::Agreement;
use crate::decision::{ControlComparison, FinalDecision};
use crate::effects::{EffectEstimate, Effects, estimate, excludes_zero};
use crate::figures::Figured;
use crate::hosts::{dropped_blocks, estimate_over_hosts};
use crate::inputs::{Inputs, Pair, Recorded};
use crate::measurement::{Drawn, Judgement, Measurement, terms};
use crate::placement::Placement;
use crate::raced::{Members, Options, Part, Raced, Typical, metric_rows, side};
use crate::side_by_side::SideBySide;
#[cfg(feature = "recordings")]
use crate::unpaired::unpaired;
use crate::{aspects, waiting, warnings};

/// The largest number of replicates for which the sign-flip test runs. With more it adds nothing,
/// and its 9,999 draws take longer than the rest of the analysis.
const MOST_SIGN_FLIP_REPLICATES: usize = 2_048;

/// Returns every comparison of one benchmark, and the p-values of its candidates and its control,
/// not yet adjusted over the suite.
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
        // All results use the same samples, those without scheduling delay.
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

/// Returns the comparisons of one benchmark. If scheduling delay is to be excluded, the samples of
/// `raced` are already without it. `recorded` holds the samples with the delay included.
fn answer(raced: &Raced<'_>, options: Options, recorded: Option<Recorded<'_>>) -> Part {
    let (header, index, samples) = (&raced.run.header, raced.index, raced.samples);
    let benchmark = &header.plan.benchmarks[index];
    let members = Members::of(samples, benchmark.contenders.len());
    let members = members.without(samples, &cut_short_blocks(header, index, samples));
    let terms = terms(&header.plan, index);
    let mut baseline_values = members.values(samples, &terms.metric, ContenderId::BASELINE);
    let name = &benchmark.contenders[ContenderId::BASELINE.index()].name;
    let Some(baseline) = side(name, &mut baseline_values, Typical::of(terms.quantile)) else {
        // Without samples of the judged metric a row cannot be filled in.
        return Part::default();
    };
    // Plots use the data of the figures.
    let figured = if options.without_figures && options.plots.is_none() {
        None
    } else {
        Figured::of(header, index, samples, &members)
    };
    let sides = Sides {
        raced,
        options,
        recorded,
        members: &members,
        terms,
        baseline,
        baseline_values: &baseline_values,
        figured,
        side_by_side: SideBySide::of(raced),
    };
    if benchmark.rivals() == 1 {
        return sides.of_baseline_alone();
    }
    #[cfg(feature = "recordings")]
    if header.origin == Origin::UnpairedRecording {
        return unpaired(
            raced,
            &members,
            (sides.terms, sides.baseline, &baseline_values),
            (sides.figured.as_ref(), options),
        );
    }
    sides.of_candidates()
}

/// The data that all comparisons of a benchmark share.
struct Sides<'a> {
    raced: &'a Raced<'a>,
    options: Options,
    /// The samples with scheduling delay included; `None` if it may not be subtracted.
    recorded: Option<Recorded<'a>>,
    members: &'a Members,
    terms: Terms,
    baseline: Side,
    /// The values of the baseline in the judged metric, per iteration.
    baseline_values: &'a [f64],
    figured: Option<Figured<'a>>,
    side_by_side: Option<SideBySide<'a>>,
}

impl Sides<'_> {
    fn benchmark(&self) -> &Benchmark {
        &self.raced.run.header.plan.benchmarks[self.raced.index]
    }

    fn inputs<'a>(
        &'a self,
        measurement: &'a Measurement,
        control: Option<&'a ControlComparison>,
        pair: Option<Pair<'a>>,
    ) -> Inputs<'a> {
        Inputs {
            raced: self.raced,
            recorded: self.recorded.as_ref(),
            members: self.members,
            control,
            side_by_side: self.side_by_side.as_ref(),
            measurement,
            pair,
        }
    }

    fn metrics(
        &self,
        candidate: Option<(ContenderId, &Side)>,
        found: impl Fn(&Metric) -> Option<(Estimate, Option<Verdict>)>,
    ) -> Vec<MetricComparison> {
        let Raced {
            run,
            index,
            samples,
            ..
        } = *self.raced;
        let sides = (&self.baseline, candidate);
        let rows = metric_rows(run, samples, index, self.members, sides, found);
        match &self.side_by_side {
            Some(side_by_side) => side_by_side.replace_rows(rows, candidate.map(|(id, _)| id)),
            None => rows,
        }
    }

    fn of_baseline_alone(&self) -> Part {
        let Raced {
            run,
            index,
            samples,
            ..
        } = *self.raced;
        let benchmark = self.benchmark();
        let sides = (self.baseline.clone(), None);
        let metrics = self.metrics(None, |_| None);
        let measurement = Measurement::new(self.terms.clone(), sides, metrics, (None, None));
        let decision = benchmark
            .control()
            .map(|_| FinalDecision::of(run, index, samples, self.options));
        let control =
            decision.and_then(|(_, decision)| ControlComparison::new(self.raced, &decision));
        let inputs = self.inputs(&measurement, control.as_ref(), None);
        let aspects = aspects::from_inputs(&inputs);
        let judgement = Judgement {
            verdict: None,
            evidence: Evidence::default(),
            warnings: warnings::about_a_contender_alone(&inputs, &aspects),
            aspects,
        };
        let figured = self.figured.as_ref();
        let drawn = figured.map(|figured| figured.alone(self.options.plots));
        let drawn = Drawn::of(drawn, self.options);
        Part {
            comparisons: vec![measurement.judged(benchmark, judgement, drawn)],
            p_values: vec![None],
            control: control.and_then(|control| control.p_value),
        }
    }

    fn of_candidates(&self) -> Part {
        let Raced {
            run,
            index,
            samples,
            ..
        } = *self.raced;
        let decided;
        let (state, decision) = match &self.recorded {
            Some(recorded) => (recorded.state, recorded.decision),
            None => {
                decided = FinalDecision::of(run, index, samples, self.options);
                (&decided.0, &decided.1)
            }
        };
        let recorded = self.recorded.as_ref();
        let recorded = recorded.map_or(samples, |recorded| recorded.samples);
        let (candidates, _) = state.judged(recorded, decision.used);
        let control = ControlComparison::new(self.raced, decision);
        let placement = Placement::of(self.raced);
        let candidate = |(place, id): (usize, ContenderId)| {
            let mut values = self.members.values(samples, &self.terms.metric, id);
            let estimate = decision.effect_estimates[place].as_ref();
            let typical = Typical::of_candidate(self.terms.quantile, estimate.is_some());
            let name = &self.benchmark().contenders[id.index()].name;
            let summary = side(name, &mut values, typical)?;
            let effects = &candidates[place];
            let pair = Pair {
                place,
                id,
                values: (self.baseline_values, &values),
                effects,
                estimate,
                replicates: estimate.map_or(effects.replicates(), |one| one.replicates),
                decision,
                placement: &placement,
            };
            Some(self.compared(pair, summary, control.as_ref()))
        };
        let candidates = self.benchmark().candidates().enumerate();
        Part {
            comparisons: candidates.filter_map(candidate).collect(),
            p_values: decision.p_values.clone(),
            control: control.and_then(|control| control.p_value),
        }
    }

    fn compared(
        &self,
        pair: Pair<'_>,
        candidate: Side,
        control: Option<&ControlComparison>,
    ) -> Comparison {
        let metrics = self.metrics(Some((pair.id, &candidate)), |metric| {
            on_the_same_pairs(self.raced, pair.id, metric, pair.estimate?)
        });
        let agreement = Agreement {
            observations: pair.replicates,
            p: agreement_p(pair.replicates),
            level: pair.decision.level.stated() / pair.candidates() as f64,
        };
        let measurement = Measurement::new(
            self.terms.clone(),
            (self.baseline.clone(), Some(candidate)),
            agreement.judge_rows(metrics),
            (
                pair.estimate.map(estimate),
                pair.estimate.and_then(|one| one.verdict),
            ),
        );
        let inputs = self.inputs(&measurement, control, Some(pair));
        let judgement = judged(&inputs, &pair, agreement);
        let figured = self.figured.as_ref().map(|figured| {
            let paired = Some((pair.effects, pair.replicates));
            let (figures, plots) = figured.against(pair.id, paired, self.options.plots);
            let looks = |plots: Box<Plots>| Plots {
                looks: pair.decision.looks_at(pair.place),
                ..*plots
            };
            (figures, plots.map(|plots| Box::new(looks(plots))))
        });
        measurement.judged(
            self.benchmark(),
            judgement,
            Drawn::of(figured, self.options),
        )
    }
}

fn judged(inputs: &Inputs<'_>, pair: &Pair<'_>, agreement: Agreement) -> Judgement {
    let measurement = inputs.measurement;
    let aspects = aspects::from_inputs(inputs);
    let mut warnings = warnings::about_a_pair(inputs, pair, &aspects);
    let zeros = agreement.judge(measurement);
    if zeros.is_some() {
        // The verdict follows from the zeros alone and needs no ratio, so this warning does not
        // apply.
        warnings.retain(|one| !matches!(one, Warning::TooManyZeros { .. }));
    }
    let contradicted = measurement.verdict.is_some() && aspects::turns_apart(inputs).is_some();
    let verdict = match zeros {
        Some((_, verdict)) => Some(verdict),
        None if contradicted => Some(Verdict::Inconclusive),
        None => measurement.verdict,
    };
    Judgement {
        verdict,
        evidence: evidence(inputs, pair, zeros.map(|(zeros, _)| zeros), &aspects),
        aspects,
        warnings,
    }
}

/// Returns the evidence for the verdict on a pair. `zeros` is set if the verdict follows from
/// zeros.
fn evidence(
    inputs: &Inputs<'_>,
    pair: &Pair<'_>,
    zeros: Option<AllZero>,
    aspects: &Aspects,
) -> Evidence {
    let scope = aspects::scope(inputs);
    let p_value = pair.decision.p_values.get(pair.place).copied().flatten();
    let Some(estimate) = pair.estimate else {
        return Evidence {
            excludes_zero: zeros.is_some_and(|zeros| zeros != AllZero::Both),
            scope,
            p_looks: p_value,
            ..Evidence::default()
        };
    };
    let pooled = &estimate.pooled;
    let detectable = || {
        let detectable = minimum_detectable_effect(pooled.se, pooled.df, estimate.plain_level);
        // An effect can be so large that its relative change overflows.
        Some(LogRatio(detectable)).filter(|effect| effect.change().is_finite())
    };
    let has_error = pooled.replicates >= 2 && pooled.se > 0.0;
    let seed = inputs.header().plan.seed;
    Evidence {
        excludes_zero: excludes_zero(estimate.interval),
        provisional: pooled.replicates == 1 && estimate.verdict.is_some(),
        scope,
        p_looks: pair.decision.p_looks[pair.place].or(p_value),
        // In a run of several hosts, the hosts are the observations instead of the replicates.
        p_sign_flip: match &aspects.hosts {
            None => confirm(pair.effects, estimate, seed),
            Some(_) => None,
        },
        minimum_detectable_effect: has_error.then(detectable).flatten(),
    }
}

/// Returns the indices of the blocks that a benchmark of a harness drops because a repetition was
/// disturbed or cut short. Means and maxima that include them would measure interruptions: 1
/// repetition of 640 made the mean of a side 68 times as large.
fn cut_short_blocks(header: &RunHeader, index: usize, samples: &Samples) -> Vec<usize> {
    let benchmark = &header.plan.benchmarks[index];
    let mut places = Vec::new();
    if !benchmark.keeps_order() {
        return places;
    }
    for candidate in benchmark.candidates() {
        let mut effects = Effects::new(header.plan.judged(index), candidate, header, index);
        effects.extend(samples);
        // Every block of launches holds all contenders, so the index of an effect is that of its
        // block.
        places.extend(dropped_blocks(&effects, effects.replicates()));
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// Returns the p-value of the sign-flip test, with random draws from the seed of the run.
fn confirm(effects: &Effects, effect_estimate: &EffectEstimate, seed: u64) -> Option<f64> {
    let mut kept = Default::default();
    let clusters = effects.kept_clusters(effect_estimate.replicates, &mut kept);
    if clusters.replicates() > MOST_SIGN_FLIP_REPLICATES {
        return None;
    }
    sign_flip_p(&clusters, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
}

/// Returns the estimate of a metric from the replicates by which the judged metric is judged, and
/// the verdict that this estimate would give.
fn on_the_same_pairs(
    raced: &Raced<'_>,
    candidate: ContenderId,
    metric: &Metric,
    judged: &EffectEstimate,
) -> Option<(Estimate, Option<Verdict>)> {
    let (header, benchmark, samples) = (&raced.run.header, raced.index, raced.samples);
    if metric == header.plan.judged(benchmark) {
        return Some((estimate(judged), judged.verdict));
    }
    // A metric that is always zero cannot form ratios.
    if samples.column(metric)?.iter().all(|value| *value <= 0.0) {
        return None;
    }
    let mut effects = Effects::new(metric, candidate, header, benchmark);
    effects.extend(samples);
    let effect_estimate = estimate_over_hosts(&effects, samples, judged.replicates, judged.asked)?;
    let estimate = of_the_table(&effect_estimate, &effects, samples);
    // Without an interval in the table there must be no verdict either.
    let verdict = estimate.interval.and(effect_estimate.verdict);
    Some((estimate, verdict))
}

/// Returns the estimate of a metric that is shown but not judged. If small counts are equal in all
/// blocks, the interval is removed, because it would only show the resolution of the counter: 2
/// context switches against 2 would read ±50 %.
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
