//! Warnings about a comparison, including disagreement between wall time and CPU time.

use deadheat_model::{
    Aspects, Benchmark, Better, ClockCause, Contender, ContenderId, CounterAccess, Flags, LogRatio,
    Metric, MetricComparison, Origin, RunHeader, Samples, Side, Verdict, Warning, Workload,
};
use deadheat_stats::summary::mean;
use deadheat_stats::{
    DEFAULT_G, Formula, Level, MIN_BLOCKS, MIN_REPLICATES_FOR_VERDICT, fewest_at_any_time,
    is_bimodal, mean_of_replicate_locations, replicates_that_agree, tail_rate,
};

use crate::decision::FinalDecision;
use crate::effects::{EffectEstimate, Effects, excludes_zero};
use crate::inputs::{Inputs, Pair};
use crate::measurement::Measurement;
use crate::observed::Observations;
use crate::raced::Members;
use crate::{aspects, warm_up};

/// The duration of a sample in steps of the clock below which the resolution of the clock affects
/// the result.
pub(crate) const FEW_TICKS: f64 = 100.0;
/// The number of single-block replicates below which the coverage of the plain interval is less
/// than the stated 0.95: it is 0.922 at 6, 0.936 at 11 and 0.948 at 22.
const FEW_SINGLE_BLOCKS: usize = 22;
/// The share of exact ties among the blocks above which a warning is given.
const MANY_TIES: f64 = 0.10;
/// The level of the test that compares the tail rates of the two sides.
const TAIL_P: f64 = 0.01;
/// A warning requires that the change of the means differs from the robust change by more than this
/// many standard errors. Without this condition, noisy A/A races would cause false warnings: with
/// 80 samples that scatter by 10 % the means differ by more than 1 % half of the time.
const TAIL_Z: f64 = 2.576;
/// The wall time in nanoseconds below which a command mostly measures the start of its process.
const SHORT_COMMAND_NS: f64 = 5e6;
/// The time of a call in nanoseconds below which the compiler has removed it. The fastest
/// processors need 0.16 ns for a cycle and most 0.2 to 0.5 ns. A loop that only counts takes one
/// cycle per round, and a call that does anything takes several.
const BELOW_A_CYCLE_NS: f64 = 0.3;

/// Returns the number of replicates that a verdict at this level requires. `do_agree` is true if
/// all replicates show the same effect and the resolution of the clock is unknown.
fn replicates_needed(level: Level, do_agree: bool) -> usize {
    let by_level = match level {
        _ if do_agree => replicates_that_agree(level.stated()),
        Level::Anytime(alpha) => fewest_at_any_time(alpha, DEFAULT_G),
        Level::Nominal(_) => 0,
    };
    by_level.max(MIN_REPLICATES_FOR_VERDICT)
}

/// Returns all warnings about a candidate that was measured in the same blocks as its baseline.
pub(crate) fn about_a_pair(
    inputs: &Inputs<'_>,
    pair: &Pair<'_>,
    aspects: &Aspects,
) -> Vec<Warning> {
    let (header, benchmark) = (inputs.header(), inputs.benchmark());
    let (raced, measurement) = (inputs.raced, inputs.measurement);
    let margin = measurement.terms.margin;
    let traces = Traces {
        benchmark,
        samples: raced.samples,
        members: inputs.members,
        candidate: pair.id,
    };
    let mut all = about_the_estimate(pair.effects, raced.samples, pair.estimate, margin);
    all.extend(about_the_tails(pair.values, measurement));
    all.extend(traces.doubts(measurement));
    all.extend(about_the_code(measurement, header, benchmark));
    all.extend(about_the_race(
        measurement,
        header,
        raced.index,
        Some(pair.decision),
    ));
    all.extend(about_exit_codes(raced.samples, pair.id));
    all.extend(warm_up::doubt(benchmark, raced.samples, pair.id, margin));
    all.extend(aspects::doubts_about_the_code(inputs, aspects));
    all.extend(about_the_counters(header));
    keep_those_about_counts(&mut all, header);
    let mut warnings: Vec<Warning> = aspects::turns_apart(inputs).into_iter().collect();
    warnings.append(&mut all);
    warnings.extend(aspects::doubts_about_waiting(inputs, aspects));
    warnings
}

pub(crate) fn about_a_contender_alone(inputs: &Inputs<'_>, aspects: &Aspects) -> Vec<Warning> {
    let (header, benchmark) = (inputs.header(), inputs.benchmark());
    let measurement = inputs.measurement;
    let mut warnings = about_the_race(measurement, header, inputs.raced.index, None);
    warnings.extend(about_the_counters(header));
    warnings.extend(about_the_code(measurement, header, benchmark));
    let observations = Observations::of(inputs.raced.run, inputs.raced.index);
    warnings.extend(observations.left_behind(&[ContenderId::BASELINE], &benchmark.contenders));
    warnings.extend(aspects::doubts_about_waiting(inputs, aspects));
    warnings
}

fn about_the_estimate(
    effects: &Effects,
    samples: &Samples,
    effect_estimate: Option<&EffectEstimate>,
    margin: f64,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let used = effect_estimate.map_or(effects.replicates(), |effect_estimate| {
        effect_estimate.replicates
    });
    if effects.too_many_zeros(used) {
        warnings.push(Warning::TooManyZeros {
            share: effects.zero_share(used),
        });
        return warnings;
    }
    if effects.zero_share(used) > 0.0 {
        warnings.push(Warning::ZeroTimes {
            share: effects.zero_share(used),
        });
    }
    let ticks = effects.ticks_per_sample(samples, used);
    if let Some(ticks) = ticks.filter(|ticks| *ticks < FEW_TICKS) {
        warnings.push(Warning::CoarseClock { ticks });
    }
    let Some(effect_estimate) = effect_estimate else {
        if used == 0 && effects.blocks_each() > 1 {
            warnings.push(Warning::FewReplicates {
                have: 0,
                need: MIN_REPLICATES_FOR_VERDICT,
            });
        }
        return warnings;
    };
    let pooled = &effect_estimate.pooled;
    let agreement = pooled.p_of_agreement();
    if pooled.timer_limited && pooled.blocks > 1 {
        warnings.extend(agreement.is_none().then_some(Warning::TimerLimited));
    } else if effects.tie_share() > MANY_TIES {
        warnings.push(Warning::Ties {
            share: effects.tie_share(),
        });
    }
    if pooled.replicates == 1 && pooled.blocks >= MIN_BLOCKS {
        warnings.push(Warning::Provisional);
    } else if effect_estimate.verdict.is_none() {
        warnings.push(Warning::FewReplicates {
            have: pooled.replicates,
            need: replicates_needed(effect_estimate.asked, agreement.is_some()),
        });
    }
    let single = pooled.replicates == pooled.blocks && pooled.replicates > 1;
    if single && effects.formula() == Formula::Plain && pooled.replicates < FEW_SINGLE_BLOCKS {
        warnings.push(Warning::SingleBlocks {
            replicates: pooled.replicates,
        });
    }
    if pooled.replicates >= MIN_REPLICATES_FOR_VERDICT {
        let mut kept = Default::default();
        let clusters = effects.kept_clusters(effect_estimate.replicates, &mut kept);
        let location = if single {
            trimmed_mean(clusters.effects(), pooled.theta)
        } else {
            mean_of_replicate_locations(&clusters)
        };
        if is_bimodal(location, pooled, LogRatio::from_change(margin).0) {
            warnings.push(Warning::Bimodal);
        }
    }
    warnings.extend(aspects::doubts_about_dropped_blocks(
        effects,
        samples,
        effect_estimate,
        margin,
    ));
    warnings
}

/// Returns the mean of single blocks without the tenth of them (at least one) that is farthest from
/// `theta`. A single block has no robust location: one slow launch among six made the plain mean
/// report two groups of blocks.
fn trimmed_mean(effects: &[f64], theta: f64) -> f64 {
    let mut sorted = effects.to_vec();
    sorted.sort_by(|a, b| (a - theta).abs().total_cmp(&(b - theta).abs()));
    sorted.truncate(effects.len() - effects.len().div_ceil(10));
    mean(&sorted).unwrap_or(theta)
}

/// Returns a warning if the tails of the two sides differ, so that a single number does not
/// describe the change. A judged quantile gets no warning, because the user chose it.
pub(crate) fn about_the_tails(
    (baseline, candidate): (&[f64], &[f64]),
    measurement: &Measurement,
) -> Option<Warning> {
    let other = measurement.candidate.as_ref()?;
    if measurement.terms.quantile.is_some() {
        return None;
    }
    let (base_mean, other_mean) = (measurement.baseline.mean, other.mean);
    let effect = measurement.estimate.as_ref()?.effect;
    if base_mean <= 0.0 || other_mean <= 0.0 {
        return None;
    }
    // The candidate is divided by the estimated change. Without this, all samples of a candidate
    // that takes four times as long would be beyond three times the common median.
    let undo = (-effect.0).exp();
    let aligned: Vec<f64> = candidate.iter().map(|value| value * undo).collect();
    let tail = tail_rate(baseline, &aligned);
    let mean_effect = (other_mean / base_mean).ln();
    let relative_variance = |side: &deadheat_model::Side| {
        let deviation = side.std_dev.unwrap_or(0.0) / side.mean;
        deviation * deviation / side.samples as f64
    };
    let error = (relative_variance(&measurement.baseline) + relative_variance(other)).sqrt();
    let apart = (mean_effect - effect.0).abs();
    let means_leave =
        apart > LogRatio::from_change(measurement.terms.margin).0 && apart > TAIL_Z * error;
    let rates_differ = tail.p.is_some_and(|p| p < TAIL_P);
    (means_leave || rates_differ).then(|| Warning::TailDiffers {
        baseline: share(tail.baseline_count, tail.baseline_n),
        candidate: share(tail.candidate_count, tail.candidate_n),
        mean_change: (other_mean / base_mean - 1.0).min(f64::MAX),
    })
}

/// Returns a warning if the two sides failed in different shares of their launches, because then
/// they may not have done the same work.
fn about_exit_codes(samples: &Samples, candidate: ContenderId) -> Option<Warning> {
    let failing = |contender: ContenderId| {
        let launches = samples.samples().iter();
        let launches = launches.filter(|sample| sample.contender == contender);
        let (mut failed, mut all) = (0, 0);
        for code in launches.filter_map(|sample| sample.exit_code) {
            failed += usize::from(code != 0);
            all += 1;
        }
        share(failed, all)
    };
    let (baseline, candidate) = (failing(ContenderId::BASELINE), failing(candidate));
    (baseline != candidate).then_some(Warning::ExitCodesDiffer {
        baseline,
        candidate,
    })
}

fn share(count: usize, of: usize) -> f64 {
    if of == 0 {
        0.0
    } else {
        count as f64 / of as f64
    }
}

/// The largest number of worker notes that become warnings of a benchmark. Only a malicious file
/// has more, and comparing all warnings with each other would then take too long.
const MOST_NOTES: usize = 64;

/// Returns warnings about the measured code: notes of the worker, a debug build, a call that the
/// compiler removed, and a fallback clock.
pub(crate) fn about_the_code(
    measurement: &Measurement,
    header: &RunHeader,
    benchmark: &Benchmark,
) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = (benchmark.notes.iter().take(MOST_NOTES).cloned())
        .map(|note| Warning::WorkerNote { note })
        .collect();
    let metric = &measurement.terms.metric;
    let interval = measurement.estimate.as_ref().and_then(|one| one.interval);
    let has_changed = excludes_zero(interval.map(|one| (one.low.0, one.high.0)));
    if metric.better() == Better::Unknown && measurement.verdict.is_none() && has_changed {
        warnings.push(Warning::DirectionUnknown {
            metric: metric.name().to_owned(),
        });
    }
    // The flag describes the program that raced, not executables that other tools built.
    let ours = |contender: &Contender| matches!(contender.workload, Workload::Function(_));
    if header.environment.debug_build && benchmark.contenders.iter().any(ours) {
        warnings.push(Warning::DebugBuild);
    }
    let wall = measurement.metrics.iter();
    let wall = wall.filter(|row| row.metric == Metric::Wall);
    for side in wall.flat_map(|row| [Some(&row.baseline), row.candidate.as_ref()]) {
        if let Some(side) = side.filter(|_| is_called(benchmark))
            && side.median < BELOW_A_CYCLE_NS
        {
            warnings.push(Warning::OptimisedAway {
                contender: side.name.clone(),
                ns: side.median,
            });
        }
    }
    if let Some(reason) = header
        .environment
        .clock
        .as_ref()
        .and_then(|clock| clock.fallback.as_ref())
    {
        warnings.push(Warning::ClockFallback {
            reason: reason.clone(),
        });
    }
    warnings
}

/// Returns true if a sample consists of calls: of a function in a worker, or of the iterations of a
/// harness.
fn is_called(benchmark: &Benchmark) -> bool {
    // A harness launch supplies all blocks of a replicate.
    benchmark.calls_functions() || benchmark.keeps_order()
}

/// Returns a warning if files of the benchmark differ between the sides, because they may cause the
/// change.
fn about_the_benchmark(header: &RunHeader, benchmark: &Benchmark) -> Option<Warning> {
    let files = &benchmark.changed_files;
    (!files.is_empty()).then(|| Warning::BenchmarkDiffers {
        files: files.clone(),
        benches_from: header.environment.surroundings.benches_from.clone(),
    })
}

pub(crate) fn about_the_race(
    measurement: &Measurement,
    header: &RunHeader,
    index: usize,
    decision: Option<&FinalDecision>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(about_the_benchmark(header, &header.plan.benchmarks[index]));
    let used = decision.map_or(0, |decision| decision.used);
    let judged_anytime = decision.is_some_and(|one| matches!(one.level, Level::Anytime(_)));
    let budget_spent = decision.is_some_and(|one| one.budget_spent);
    let planned = header.plan.looks(index).max_replicates() as usize;
    if judged_anytime {
        warnings.push(Warning::JudgedAnytime);
    } else if budget_spent {
        warnings.push(Warning::BudgetSpent {
            replicates: used,
            planned,
        });
    }
    let directed = matches!(measurement.verdict, Some(Verdict::Faster | Verdict::Slower));
    if header.origin == Origin::Race && directed && !judged_anytime && used < planned {
        warnings.push(Warning::EarlyStop {
            replicates: used,
            planned,
        });
    }
    let launched = header.origin == Origin::Race && !is_called(&header.plan.benchmarks[index]);
    if launched && measurement.terms.metric == Metric::Wall {
        let slower = measurement
            .candidate
            .as_ref()
            .map_or(measurement.baseline.median, |c| {
                c.median.max(measurement.baseline.median)
            });
        if slower < SHORT_COMMAND_NS {
            warnings.push(Warning::ShortCommand { median_ns: slower });
        }
    }
    warnings
}

/// Removes warnings that do not apply to counts of instructions: these are usually the same in
/// every block, and do not depend on where the linker places the code.
fn keep_those_about_counts(warnings: &mut Vec<Warning>, header: &RunHeader) {
    let of_times = |warning: &Warning| {
        matches!(
            warning,
            Warning::TimerLimited
                | Warning::Ties { .. }
                | Warning::CoarseClock { .. }
                | Warning::SingleBlocks { .. }
                | Warning::PlacementFixed { .. }
                | Warning::Unsectioned { .. }
                | Warning::StillWarming { .. }
        )
    };
    if header.plan.design.callgrind {
        warnings.retain(|warning| !of_times(warning));
    }
}

/// Returns a warning if hardware counters are missing, or Callgrind counted instead.
pub(crate) fn about_the_counters(header: &RunHeader) -> Option<Warning> {
    if header.plan.design.callgrind {
        return Some(Warning::CountedByCallgrind);
    }
    match &header.environment.counters {
        Some(CounterAccess::Unavailable(reason)) => Some(Warning::NoCounters {
            reason: reason.clone(),
        }),
        _ => None,
    }
}

/// The share of preempted samples of a side below which a robust estimate hardly changes.
const OFTEN: f64 = 0.10;

/// The share of wall time without CPU time above which a function counts as waiting.
const MUCH_OF_WALL: f64 = 0.20;

/// The ratio of CPU time to wall time below which a command mostly waits.
const LITTLE_OF_WALL: f64 = 0.25;

/// The samples of two contenders, in which wall time and CPU time are compared.
pub(crate) struct Traces<'a> {
    pub(crate) benchmark: &'a Benchmark,
    pub(crate) samples: &'a Samples,
    pub(crate) members: &'a Members,
    pub(crate) candidate: ContenderId,
}

impl Traces<'_> {
    /// Returns a warning if wall time and CPU time show different changes.
    pub(crate) fn doubts(&self, measurement: &Measurement) -> Option<Warning> {
        let interval_of = |metric: &Metric| {
            let estimate = row(measurement, metric)?.estimate.as_ref()?;
            Some((estimate.effect, estimate.interval?))
        };
        let (wall, wall_interval) = interval_of(&Metric::Wall)?;
        let (cpu, cpu_interval) = interval_of(&Metric::Cpu)?;
        let disjoint =
            wall_interval.high < cpu_interval.low || cpu_interval.high < wall_interval.low;
        let apart = (wall.0 - cpu.0).abs() > LogRatio::from_change(measurement.terms.margin).0;
        let is_doubt = disjoint && apart && !self.both_mostly_wait(measurement);
        is_doubt.then(|| Warning::ClocksDisagree {
            wall: wall.change(),
            cpu: cpu.change(),
            cause: self.cause(measurement),
        })
    }

    /// Returns true if both contenders are commands that compute for a small part of their time.
    /// Their wall time and CPU time differ by nature: without this condition, a warning in every
    /// race of `sleep` against `sleep` advised to trust CPU time. A command that computes all the
    /// time would look like this only if it shared its core with three others.
    fn both_mostly_wait(&self, measurement: &Measurement) -> bool {
        let waits = |side: fn(&MetricComparison) -> Option<&Side>| {
            let median = |metric| Some(side(row(measurement, &metric)?)?.median);
            let (wall, cpu) = (median(Metric::Wall)?, median(Metric::Cpu)?);
            Some(cpu < LITTLE_OF_WALL * wall)
        };
        let both = [ContenderId::BASELINE, self.candidate];
        !both.into_iter().any(|id| self.is_function(id))
            && waits(|row| Some(&row.baseline)) == Some(true)
            && waits(|row| row.candidate.as_ref()) == Some(true)
    }

    fn cause(&self, measurement: &Measurement) -> ClockCause {
        let both = [ContenderId::BASELINE, self.candidate];
        // On any machine a launched process is preempted and waits between start and end, which
        // proves nothing.
        if !both.into_iter().all(|id| self.is_function(id)) {
            return ClockCause::Unknown;
        }
        if both.into_iter().any(|id| self.share_preempted(id) >= OFTEN) {
            return ClockCause::Preempted;
        }
        let idle = |side: fn(&MetricComparison) -> Option<&Side>| {
            let median = |metric| Some(side(row(measurement, &metric)?)?.median);
            let (wall, cpu) = (median(Metric::Wall)?, median(Metric::Cpu)?);
            Some(wall - cpu > MUCH_OF_WALL * wall)
        };
        let idle = [
            idle(|row| Some(&row.baseline)),
            idle(|row| row.candidate.as_ref()),
        ];
        let waited = both.into_iter().zip(idle).any(|(id, idle)| {
            idle == Some(true) && self.share_above_zero(&Metric::VoluntarySwitches, id) >= OFTEN
        });
        if waited {
            ClockCause::Waited
        } else {
            ClockCause::Unknown
        }
    }

    fn is_function(&self, id: ContenderId) -> bool {
        let contender = self.benchmark.contenders.get(id.index());
        contender.is_some_and(|contender| contender.workload.calls().is_some())
    }

    /// Returns the share of a contender's samples during which another task had its core.
    fn share_preempted(&self, id: ContenderId) -> f64 {
        let samples = self.samples.samples();
        let flagged =
            |index: &&u32| samples[**index as usize].flags.bits() & Flags::PREEMPTED.bits() != 0;
        let indices = self.members.indices(id);
        let flagged = share(indices.iter().filter(flagged).count(), indices.len());
        flagged.max(self.share_above_zero(&Metric::InvoluntarySwitches, id))
    }

    fn share_above_zero(&self, metric: &Metric, id: ContenderId) -> f64 {
        let values = self.members.values(self.samples, metric, id);
        let above = values.iter().filter(|value| **value > 0.0).count();
        share(above, values.len())
    }
}

fn row<'a>(measurement: &'a Measurement, metric: &Metric) -> Option<&'a MetricComparison> {
    measurement.metrics.iter().find(|row| row.metric == *metric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_block_makes_no_groups_and_a_third_of_them_does() {
        let mut effects = [0.01, 0.02, 0.0, 0.01, 0.015, 0.9];
        assert!((trimmed_mean(&effects, 0.01) - 0.011).abs() < 1e-12);
        effects[0] = 0.8;
        assert!(trimmed_mean(&effects, 0.01) > 0.15);
    }
}
