//! Comparison of recordings without blocks, which gives a weaker verdict. The difference is judged
//! by Welch's test, or by a test of pairs of neighbours if files were recorded in turns.
//!
//! Any drift between the recordings of the two sides counts as a change, because no formula can
//! separate it. As in a race, everything that was drawn once is one observation.
//!
//! In saved results, an observation is a file. The samples of one process do not show the variation
//! between processes, and the processes of one hour do not show the variation between hours: on an
//! idle machine, two files of an unchanged suite differed in 32 of 45 rows by their samples, and
//! two files of pyperf in 46 % by their processes. So one file per side gets no verdict. Files that
//! were recorded in turns are compared with their neighbour in time, like the blocks of a race.
//!
//! A user's own table may name its processes, which then are the observations. Otherwise a sample
//! is an observation, and the interval allows for one memory layout.

use std::collections::HashMap;

use deadheat_model::{
    AllZero, Aspects, Benchmark, Better, Comparison, ContenderId, Estimate, Evidence, Interval,
    LogRatio, Metric, MetricComparison, Observation, Run, RunHeader, Samples, Side, Terms, Verdict,
    Warning,
};
use deadheat_stats::dist::{t_critical, t_two_sided_p};
use deadheat_stats::summary::{mean, std_dev};
use deadheat_stats::{
    Clusters, Floor, Formula, LAYOUT_ALLOWANCE, MIN_REPLICATES_FOR_VERDICT, agreement_p,
    hodges_lehmann, pooled_huber, separation_p,
};

use crate::all_zero::Agreement;
use crate::effects::{excludes_zero, verdict_of};
use crate::figures::Figured;
use crate::measurement::{Drawn, Judgement, Measurement};
use crate::raced::{
    MOST_ZEROS, Members, Options, Part, Raced, Typical, metric_rows, side, tick, ticks_per_sample,
    zero_as,
};
use crate::recordings::turns;
use crate::warnings::{self, FEW_TICKS, Traces};

/// Compares every candidate with the baseline.
pub(crate) fn unpaired(
    raced: &Raced<'_>,
    members: &Members,
    (judged_by, baseline, baseline_values): (Terms, Side, &[f64]),
    (figured, options): (Option<&Figured>, Options),
) -> Part {
    let Raced {
        run,
        index,
        samples,
        ..
    } = *raced;
    let header = &run.header;
    let benchmark = &header.plan.benchmarks[index];
    let metrics = samples.metrics().iter();
    let recordings = Recordings {
        run,
        index,
        samples,
        members,
        baselines: metrics
            .map(|metric| Logs::of((header, benchmark), samples, metric, ContenderId::BASELINE))
            .collect(),
    };
    let compared = |id: ContenderId| {
        let mut values = members.values(samples, &judged_by.metric, id);
        let name = &recordings.benchmark().contenders[id.index()].name;
        let candidate = side(name, &mut values, Typical::Location)?;
        let sides = (baseline.clone(), candidate);
        let values = (baseline_values, values.as_slice());
        let points = options.plots;
        let drawn = figured.map(|figured| figured.against(id, None, points));
        recordings.compared(
            id,
            (judged_by.clone(), sides),
            values,
            Drawn::of(drawn, options),
        )
    };
    let candidates = recordings.benchmark().candidates();
    let comparisons: Vec<Comparison> = candidates.filter_map(compared).collect();
    let p_value = |one: &Comparison| one.evidence.p_looks;
    Part {
        p_values: comparisons.iter().map(p_value).collect(),
        comparisons,
        control: None,
    }
}

struct Recordings<'a> {
    run: &'a Run,
    index: usize,
    samples: &'a Samples,
    members: &'a Members,
    /// The values of the baseline in each metric.
    baselines: Vec<Option<Logs>>,
}

impl Recordings<'_> {
    fn benchmark(&self) -> &Benchmark {
        &self.run.header.plan.benchmarks[self.index]
    }

    fn conditions(&self, baseline: &str, candidate: &str) -> Conditions {
        let plan = &self.run.header.plan;
        let files = &self.run.sides;
        let candidates = self.benchmark().contenders.len().saturating_sub(1);
        let saved = |name: &str| files.iter().find(|side| side.name == name);
        let sides = saved(baseline).zip(saved(candidate));
        Conditions {
            // As for pairs, all intervals together have the stated confidence.
            level: plan.alpha(self.index) / candidates.max(1) as f64,
            margin: plan.margin(self.index),
            each: observation(self.run, self.samples),
            single_files: !files.is_empty() && files.iter().all(|side| side.files.len() == 1),
            turns: sides.and_then(|(first, second)| turns(first, second)),
        }
    }

    /// Returns the comparison of a candidate with the baseline; `None` if a side lacks values.
    fn compared(
        &self,
        id: ContenderId,
        (judged_by, (baseline, candidate)): (Terms, (Side, Side)),
        values: (&[f64], &[f64]),
        drawn: Drawn,
    ) -> Option<Comparison> {
        let conditions = self.conditions(&baseline.name, &candidate.name);
        let found = self.judge(&judged_by.metric, id, &conditions)?;
        let sides = (&baseline, Some((id, &candidate)));
        let rows = self.rows(sides, &judged_by.metric, &found, &conditions);
        let judged = found.judged.as_ref();
        let (observations, p) = found.agreement;
        let agreement = Agreement {
            observations,
            p,
            level: conditions.level,
        };
        let measurement = Measurement::new(
            judged_by,
            (baseline, Some(candidate)),
            agreement.judge_rows(rows),
            (found.estimate(), judged.and_then(|judged| judged.verdict)),
        );
        let mut warnings = self.doubts(&measurement, (id, &found), values);
        let zeros = agreement.judge(&measurement);
        if zeros.is_some() {
            // The verdict needs no ratio.
            warnings.retain(|one| !matches!(one, Warning::TooManyZeros { .. }));
        }
        let verdict = zeros.map(|(_, verdict)| verdict).or(measurement.verdict);
        let interval = judged.and_then(|judged| judged.interval);
        let judgement = Judgement {
            verdict,
            evidence: Evidence {
                excludes_zero: zeros
                    .map_or(excludes_zero(interval), |(zeros, _)| zeros != AllZero::Both),
                provisional: verdict.is_some(),
                p_looks: judged.and_then(|judged| judged.p_value),
                ..Evidence::default()
            },
            aspects: Aspects::default(),
            warnings,
        };
        Some(measurement.judged(self.benchmark(), judgement, drawn))
    }

    fn are_same(&self, candidate: ContenderId) -> bool {
        let benchmark = self.benchmark();
        let name = &benchmark.contenders[candidate.index()].name;
        let saved = benchmark.saved.as_ref();
        saved.is_some_and(|saved| saved.same.contains(name))
    }

    /// Compares a candidate with the baseline in one metric; `None` if a side lacks values in it.
    fn judge(&self, metric: &Metric, id: ContenderId, conditions: &Conditions) -> Option<Unpaired> {
        let (header, samples) = (&self.run.header, self.samples);
        let place = samples.place(metric)?;
        let baseline = self.baselines[place].as_ref()?;
        let candidate = Logs::of((header, self.benchmark()), samples, metric, id)?;
        let ticks = tick(metric, header, self.benchmark()).and_then(|tick| {
            let column = samples.column(metric)?;
            ticks_per_sample(tick, column, samples.samples(), id)
        });
        let found = Unpaired::of(baseline, &candidate, metric, ticks, conditions);
        Some(if self.are_same(id) {
            found.of_same_recordings()
        } else {
            found
        })
    }

    /// Returns a row for every metric of two sides. `found` is the result in the judged metric.
    fn rows(
        &self,
        sides: (&Side, Option<(ContenderId, &Side)>),
        judged: &Metric,
        found: &Unpaired,
        conditions: &Conditions,
    ) -> Vec<MetricComparison> {
        let (run, samples) = (self.run, self.samples);
        metric_rows(run, samples, self.index, self.members, sides, |metric| {
            if metric == judged {
                return Some((found.estimate()?, found.judged.as_ref()?.verdict));
            }
            let other = self.judge(metric, sides.1?.0, conditions)?;
            let estimate = other.estimate_of_the_table()?;
            let verdict = estimate.interval.and(other.verdict_of_the_table(metric));
            Some((estimate, verdict))
        })
    }

    fn doubts(
        &self,
        measurement: &Measurement,
        (candidate, found): (ContenderId, &Unpaired),
        values: (&[f64], &[f64]),
    ) -> Vec<Warning> {
        let run = self.run;
        let header = &run.header;
        let benchmark = self.benchmark();
        let mut warnings = if self.are_same(candidate) {
            vec![same_recordings(run)]
        } else {
            found.doubts()
        };
        let summary = benchmark.saved.as_ref().and_then(|s| s.summary.clone());
        warnings.extend(summary.map(|statistic| Warning::OnlySummaries { statistic }));
        warnings.extend(warnings::about_the_tails(values, measurement));
        let traces = Traces {
            benchmark,
            samples: self.samples,
            members: self.members,
            candidate,
        };
        warnings.extend(traces.doubts(measurement));
        warnings.extend(warnings::about_the_code(measurement, header, benchmark));
        warnings.extend(warnings::about_the_race(
            measurement,
            header,
            self.index,
            None,
        ));
        if is_of_linked_programs(run) && measurement.verdict.is_some() {
            warnings.push(Warning::PlacementFixed { reason: None });
        }
        warnings.extend(warnings::about_the_counters(header));
        // There may be many comparisons with a few warnings each, so unused capacity matters.
        warnings.shrink_to_fit();
        warnings
    }
}

/// Tools that measure code of an interpreter or a virtual machine.
const UNLINKED: [&str; 8] = [
    "pyperf",
    "pytest-benchmark",
    "JMH",
    "BenchmarkDotNet",
    "Vitest",
    "tinybench",
    "mitata",
    "bench-node",
];

/// Returns true unless a file comes from an interpreter or a virtual machine.
fn is_of_linked_programs(run: &Run) -> bool {
    let tools = run.sides.iter().flat_map(|side| &side.files);
    tools
        .map(|file| file.tool.as_str())
        .all(|tool| !UNLINKED.iter().any(|name| tool.starts_with(name)))
}

fn same_recordings(run: &Run) -> Warning {
    let mut files = run.sides.iter().flat_map(|side| &side.files);
    Warning::SameRecordings {
        by_criterion: files.all(|file| file.tool == "criterion"),
    }
}

/// Returns the unit that counts as one observation: a file or a process in saved results, a process
/// or a sample in a user's own table.
fn observation(run: &Run, samples: &Samples) -> Observation {
    let mut replicates = samples.blocks().iter().map(|block| block.replicate);
    let first = replicates.next();
    let several = replicates.any(|other| Some(other) != first);
    match (run.sides.is_empty(), several) {
        (false, true) => Observation::File,
        (false, false) | (true, true) => Observation::Process,
        (true, false) => Observation::Sample,
    }
}

/// The logarithms of the values per iteration of one contender, grouped by replicate: a process or
/// a file.
struct Logs {
    replicates: Vec<Vec<f64>>,
    /// The number of each replicate.
    numbers: Vec<u32>,
    values: usize,
    zeros: usize,
}

impl Logs {
    /// Collects the samples of one contender; `None` if the metric was not recorded.
    fn of(
        (header, benchmark): (&RunHeader, &Benchmark),
        samples: &Samples,
        metric: &Metric,
        contender: ContenderId,
    ) -> Option<Logs> {
        let column = samples.column(metric)?;
        let zero_as = zero_as(column, tick(metric, header, benchmark));
        let mut logs = Logs {
            replicates: Vec::new(),
            numbers: Vec::new(),
            values: 0,
            zeros: 0,
        };
        let mut place_of = HashMap::new();
        // Consecutive blocks are mostly of the same replicate, so its place is kept.
        let mut last: Option<(u32, usize)> = None;
        for block in samples.blocks() {
            for at in block.range() {
                let sample = &samples.samples()[at];
                if sample.contender != contender {
                    continue;
                }
                let mut value = column[at];
                logs.values += 1;
                if value <= 0.0 {
                    logs.zeros += 1;
                    value = zero_as;
                }
                if metric.adds_up() && sample.iterations != 1 {
                    value /= sample.iterations as f64;
                }
                let place = match last {
                    Some((replicate, place)) if replicate == block.replicate => place,
                    _ => {
                        let next = logs.replicates.len();
                        let place = *place_of.entry(block.replicate).or_insert(next);
                        if place == next {
                            logs.replicates.push(Vec::new());
                            logs.numbers.push(block.replicate);
                        }
                        place
                    }
                };
                last = Some((block.replicate, place));
                logs.replicates[place].push(value.ln());
            }
        }
        Some(logs)
    }

    /// Returns the centre of the observations with its standard error; `None` without values.
    fn centre(&self, conditions: &Conditions, floor: Floor) -> Option<Centre> {
        if conditions.each == Observation::Sample {
            return Centre::of_samples(&self.replicates.concat(), floor);
        }
        let centre = Centre::of_locations(&self.locations()?)?;
        Some(if conditions.single_files {
            // The processes of one file show only one hour of the machine.
            Centre {
                count: 1,
                sure: None,
                ..centre
            }
        } else {
            centre
        })
    }

    /// Returns the number of observations that are independent of each other.
    fn observations(&self, conditions: &Conditions) -> usize {
        match conditions.each {
            // The dependence between the samples of one process is unknown.
            Observation::Sample => 1,
            _ if conditions.single_files => 1,
            _ => self.replicates.len(),
        }
    }

    fn locations(&self) -> Option<Vec<f64>> {
        let locations = self.replicates.iter().map(|logs| hodges_lehmann(logs));
        locations.collect()
    }

    /// Returns the differences between files that are neighbours in time, for the pairs in which
    /// both have values.
    fn differences(&self, candidate: &Logs, turns: &[(u32, u32)]) -> Option<Vec<f64>> {
        let (first, second) = (self.locations()?, candidate.locations()?);
        let by_number = |logs: &Logs, locations: &[f64]| -> HashMap<u32, f64> {
            let numbers = logs.numbers.iter().copied();
            numbers.zip(locations.iter().copied()).collect()
        };
        let (first, second) = (by_number(self, &first), by_number(candidate, &second));
        let difference = |(old, new): &(u32, u32)| Some(second.get(new)? - first.get(old)?);
        Some(turns.iter().filter_map(difference).collect())
    }
}

/// The centre of the observations of one side, on the log scale.
#[derive(Clone, Copy)]
struct Centre {
    at: f64,
    count: usize,
    /// Standard error and degrees of freedom; `None` for a single observation.
    sure: Option<(f64, f64)>,
}

impl Centre {
    /// Computes the mean of robust locations, as Welch's test requires.
    fn of_locations(locations: &[f64]) -> Option<Self> {
        let count = locations.len();
        // Rounding could make the mean differ from numbers that are all equal.
        let only = locations
            .first()
            .filter(|first| locations.iter().all(|one| one == *first));
        let spread = match only {
            Some(_) => (count > 1).then_some(0.0),
            None => std_dev(locations),
        };
        let error = spread.map(|sd| sd / (count as f64).sqrt());
        Some(Self {
            at: only.copied().or_else(|| mean(locations))?,
            count,
            sure: error.map(|error| (error, count as f64 - 1.0)),
        })
    }

    /// Computes Huber's location of single samples, because spikes are common among them.
    fn of_samples(logs: &[f64], floor: Floor) -> Option<Self> {
        let pooled = pooled_huber(&Clusters::singletons(logs), floor).ok()?;
        Some(Self {
            at: pooled.theta,
            count: logs.len(),
            sure: (logs.len() > 1).then_some((pooled.se, pooled.df)),
        })
    }
}

struct Conditions {
    /// The two-sided level of an interval: 1 − confidence.
    level: f64,
    margin: f64,
    each: Observation,
    /// True if each side is one file, regardless of the number of its processes.
    single_files: bool,
    /// The files that are neighbours in time, if the files were recorded in turns.
    turns: Option<Vec<(u32, u32)>>,
}

/// Two contenders of an unpaired recording in one metric.
struct Unpaired {
    /// The estimate and the verdict; `None` if there are too many zeros, or a side lacks values.
    judged: Option<Judged>,
    each: Observation,
    /// True if files were recorded in turns and compared with their neighbours.
    in_turns: bool,
    zero_share: f64,
    /// The number of observations of the side that has fewer, and the probability that chance makes
    /// all observations agree within each side and differ between the sides.
    agreement: (usize, f64),
    /// The duration of a typical sample, in steps of the clock; `None` if unknown.
    ticks: Option<f64>,
}

struct Judged {
    shift: f64,
    interval: Option<(f64, f64)>,
    confidence: f64,
    p_value: Option<f64>,
    /// The verdict; `None` if there is too little data for one.
    verdict: Option<Verdict>,
    /// The numbers of observations of baseline and candidate.
    counts: (usize, usize),
    /// True if the observations do not vary, so that only the clock limits the interval.
    timer_limited: bool,
}

/// Computes Welch's interval of the difference of two centres: se² = e₁² + e₂² + τ², df =
/// se⁴/(e₁⁴/df₁ + e₂⁴/df₂). The allowance τ for the memory layout applies if the layout was drawn
/// once for all observations.
fn welch_estimate(
    first: Centre,
    second: Centre,
    conditions: &Conditions,
    better: Better,
    relative_tick: Option<f64>,
) -> Judged {
    let Conditions { level, each, .. } = *conditions;
    let shift = second.at - first.at;
    let allowance = match each {
        Observation::Sample => LAYOUT_ALLOWANCE,
        Observation::Process | Observation::File => 0.0,
    };
    let sure = first.sure.zip(second.sure);
    let timer_limited = sure.is_some_and(|((e1, _), (e2, _))| e1 == 0.0 && e2 == 0.0);
    let tested = sure
        .filter(|_| !timer_limited)
        .map(|((e1, df1), (e2, df2))| {
            let se = e1.hypot(e2).hypot(allowance);
            let part = |e: f64, df: f64| (e / se).powi(4) / df;
            (se, 1.0 / (part(e1, df1) + part(e2, df2)))
        });
    let counts = (first.count, second.count);
    // The dependence between samples of one process is unknown.
    let splits = (timer_limited && each != Observation::Sample)
        .then(|| separation_p(counts.0, counts.1))
        .filter(|_| relative_tick.is_none());
    let half = match tested {
        Some((se, df)) => Some(t_critical(level, df) * se),
        // If the smallest step of the clock is known, it may hide the scatter.
        None => match splits {
            Some(p) => (p <= level).then_some(0.0),
            None => relative_tick.filter(|_| timer_limited),
        },
    };
    let interval = half
        .map(|half| (shift - half, shift + half))
        .filter(|(low, high)| low <= high && low.is_finite() && high.is_finite());
    let p_value = match tested {
        Some((se, df)) => Some(t_two_sided_p(shift / se, df)),
        None => splits.map(|p| if shift == 0.0 { 1.0 } else { p }),
    };
    Judged::new(shift, interval, p_value, counts, (conditions, better)).limited(timer_limited)
}

/// Judges the differences between files that are neighbours in time. The formula is that of races
/// with few blocks, because there are few files; as in blocks, either side may come first.
fn estimate_of_turns(
    differences: &[f64],
    conditions: &Conditions,
    better: Better,
    relative_tick: Option<f64>,
) -> Option<Judged> {
    let floor = Floor { relative_tick };
    let pooled = pooled_huber(&Clusters::singletons(differences), floor).ok()?;
    let interval = Formula::FewBlocks
        .interval(&pooled, differences, conditions.level)
        .filter(|(low, high)| low <= high && low.is_finite() && high.is_finite());
    let p_value = Formula::FewBlocks.p_value(&pooled, differences);
    let counts = (differences.len(), differences.len());
    let judged = Judged::new(
        pooled.theta,
        interval,
        p_value,
        counts,
        (conditions, better),
    );
    Some(judged.limited(pooled.timer_limited))
}

impl Judged {
    fn new(
        shift: f64,
        interval: Option<(f64, f64)>,
        p_value: Option<f64>,
        counts: (usize, usize),
        (conditions, better): (&Conditions, Better),
    ) -> Self {
        let enough = counts.0.min(counts.1) >= MIN_REPLICATES_FOR_VERDICT;
        let verdict = |interval| verdict_of(better, interval, conditions.margin);
        Self {
            shift,
            interval,
            confidence: 1.0 - conditions.level,
            p_value,
            verdict: interval.filter(|_| enough).map(verdict),
            counts,
            timer_limited: false,
        }
    }

    fn limited(self, timer_limited: bool) -> Self {
        Self {
            timer_limited,
            ..self
        }
    }
}

impl Unpaired {
    fn of(
        baseline: &Logs,
        candidate: &Logs,
        metric: &Metric,
        ticks: Option<f64>,
        conditions: &Conditions,
    ) -> Self {
        let zeros = baseline.zeros + candidate.zeros;
        let values = baseline.values + candidate.values;
        let zero_share = zeros as f64 / values.max(1) as f64;
        let relative_tick = ticks.map(f64::recip);
        let better = metric.better();
        let by_turns = || {
            let differences = baseline.differences(candidate, conditions.turns.as_ref()?)?;
            estimate_of_turns(&differences, conditions, better, relative_tick)
        };
        let side_by_side = || {
            let centre = |logs: &Logs| logs.centre(conditions, Floor { relative_tick });
            let (first, second) = (centre(baseline)?, centre(candidate)?);
            Some(welch_estimate(
                first,
                second,
                conditions,
                better,
                relative_tick,
            ))
        };
        let judged = (zero_share <= MOST_ZEROS).then(|| by_turns().or_else(side_by_side));
        let counts = [baseline, candidate].map(|logs| logs.observations(conditions));
        let least = counts[0].min(counts[1]);
        let agreement = match &conditions.turns {
            Some(turns) => (turns.len(), agreement_p(turns.len())),
            None => (least, separation_p(counts[0], counts[1])),
        };
        Self {
            agreement,
            judged: judged.flatten(),
            in_turns: conditions.turns.is_some(),
            each: conditions.each,
            zero_share,
            ticks,
        }
    }

    /// Returns the result for two sides with the same recordings: a change of exactly 0, without
    /// interval and verdict, because the values are copies and not measurements.
    fn of_same_recordings(self) -> Self {
        let judged = self.judged.map(|judged| Judged {
            shift: 0.0,
            interval: None,
            p_value: None,
            verdict: None,
            timer_limited: false,
            ..judged
        });
        Self { judged, ..self }
    }

    /// Returns the verdict in a metric that is shown but not judged; `None` if it is unknown
    /// whether more of it is better.
    fn verdict_of_the_table(&self, metric: &Metric) -> Option<Verdict> {
        let verdict = self.judged.as_ref()?.verdict?;
        (metric.better() != Better::Unknown).then_some(verdict)
    }

    fn estimate(&self) -> Option<Estimate> {
        let judged = self.judged.as_ref()?;
        Some(Estimate {
            effect: LogRatio(judged.shift),
            interval: judged.interval.map(|(low, high)| Interval {
                low: LogRatio(low),
                high: LogRatio(high),
                confidence: judged.confidence,
            }),
            p_value: judged.p_value,
            replicates: judged.counts.0 + judged.counts.1,
            blocks: 0,
        })
    }

    /// Returns the estimate of a metric that is shown but not judged. If small counts are equal
    /// within each side, the interval is removed, because it would only show the resolution of the
    /// counter.
    fn estimate_of_the_table(&self) -> Option<Estimate> {
        let mut estimate = self.estimate()?;
        let coarse = self.ticks.is_some_and(|ticks| ticks < FEW_TICKS);
        if coarse && self.judged.as_ref()?.timer_limited {
            estimate.interval = None;
        }
        Some(estimate)
    }

    fn doubts(&self) -> Vec<Warning> {
        let mut warnings = vec![if self.in_turns {
            Warning::InTurns
        } else {
            Warning::Unpaired { each: self.each }
        }];
        let share = self.zero_share;
        if share > MOST_ZEROS {
            warnings.push(Warning::TooManyZeros { share });
            return warnings;
        }
        if share > 0.0 {
            warnings.push(Warning::ZeroTimes { share });
        }
        if let Some(ticks) = self.ticks.filter(|ticks| *ticks < FEW_TICKS) {
            warnings.push(Warning::CoarseClock { ticks });
        }
        let Some(judged) = &self.judged else {
            return warnings;
        };
        let by_agreement = self.ticks.is_none() && self.each != Observation::Sample;
        if judged.timer_limited && !by_agreement {
            warnings.push(Warning::TimerLimited);
        } else if judged.verdict.is_none() {
            warnings.push(Warning::FewObservations {
                baseline: judged.counts.0,
                candidate: judged.counts.1,
                need: MIN_REPLICATES_FOR_VERDICT,
                each: self.each,
            });
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(first: &[f64], second: &[f64], each: Observation, tick: Option<f64>) -> Judged {
        let conditions = Conditions {
            level: 0.05,
            margin: 0.01,
            each,
            single_files: false,
            turns: None,
        };
        let centre = |values: &[f64]| match each {
            Observation::Sample => {
                let floor = Floor {
                    relative_tick: tick,
                };
                Centre::of_samples(values, floor).unwrap()
            }
            _ => Centre::of_locations(values).unwrap(),
        };
        welch_estimate(
            centre(first),
            centre(second),
            &conditions,
            Better::Less,
            tick,
        )
    }

    fn eight() -> Vec<f64> {
        (0..8).map(|i| f64::from(i) * 1e-3).collect()
    }

    #[test]
    fn more_of_a_throughput_is_faster() {
        let first = Centre::of_locations(&eight()).unwrap();
        let second = Centre {
            at: first.at + 0.2,
            ..first
        };
        let conditions = Conditions {
            level: 0.05,
            margin: 0.01,
            each: Observation::Process,
            single_files: false,
            turns: None,
        };
        let verdict = |better| welch_estimate(first, second, &conditions, better, None).verdict;
        assert_eq!(verdict(Better::Less), Some(Verdict::Slower));
        assert_eq!(verdict(Better::More), Some(Verdict::Faster));
    }

    #[test]
    fn processes_are_judged_by_the_test_of_welch() {
        let first = [0.0, 0.01, 0.02, 0.005, 0.012, 0.03, 0.001];
        let second = [0.06, 0.04, 0.05, 0.055, 0.042, 0.049];
        let found = found(&first, &second, Observation::Process, None);
        let welch = deadheat_stats::welch(&first, &second).unwrap();
        let ((low, high), (there_low, there_high)) =
            (found.interval.unwrap(), welch.interval(0.05).unwrap());
        assert!((low - there_low).abs() < 1e-12 && (high - there_high).abs() < 1e-12);
        assert!((found.p_value.unwrap() - welch.p_value()).abs() < 1e-12);
        assert_eq!(found.verdict, Some(Verdict::Slower));
    }

    #[test]
    fn five_a_side_have_an_interval_and_no_verdict_and_one_has_neither() {
        let first = [0.0, 0.001, 0.002, 0.003, 0.004];
        let second = first.map(|x| x + 0.2);
        let five = found(&first, &second, Observation::Process, None);
        assert!(five.interval.is_some() && five.verdict.is_none());
        let one = found(&first, &second[..1], Observation::Process, None);
        assert!(one.interval.is_none() && one.verdict.is_none() && one.p_value.is_none());
        assert!((one.shift - 0.198).abs() < 1e-12);
    }

    #[test]
    fn samples_of_nobody_knows_how_many_processes_are_allowed_a_layout() {
        let first: Vec<f64> = (0..200).map(|i| f64::from(i % 20) * 1e-3).collect();
        for shift in [0.0, 0.004, 0.008, 0.0105, 0.02, 0.2] {
            let second: Vec<f64> = first.iter().map(|x| x + shift).collect();
            let found = found(&first, &second, Observation::Sample, None);
            let (low, high) = found.interval.unwrap();
            assert!(low < found.shift && found.shift < high);
            assert!(high - low > 2.0 * 1.959 * LAYOUT_ALLOWANCE);
            assert_eq!(low > 0.0, found.p_value.unwrap() < 0.05, "{shift}");
        }
    }

    #[test]
    fn observations_without_scatter_are_as_uncertain_as_one_tick() {
        let flat = [3.0; 8];
        let each = Observation::Process;
        let ticking = found(&flat, &flat, each, Some(0.25));
        assert_eq!(ticking.interval, Some((-0.25, 0.25)));
        let unknown = found(&flat, &flat, Observation::Sample, None);
        assert!(unknown.interval.is_none() && unknown.verdict.is_none() && unknown.timer_limited);
    }

    #[test]
    fn processes_that_agree_are_as_sure_as_the_ways_to_deal_them_out() {
        let found =
            |first: &[f64], second: &[f64]| found(first, second, Observation::Process, None);
        let more = found(&[3.0; 6], &[3.5; 6]);
        assert_eq!(more.verdict, Some(Verdict::Slower));
        assert_eq!(more.interval, Some((0.5, 0.5)));
        assert!((more.p_value.unwrap() - 2.0 / 924.0).abs() < 1e-12);
        let same = found(&[3.0; 6], &[3.0; 8]);
        assert_eq!(
            (same.verdict, same.p_value),
            (Some(Verdict::Equivalent), Some(1.0))
        );
        let few = found(&[3.0; 3], &[3.5; 3]);
        assert_eq!((few.verdict, few.interval), (None, None));
        assert!((few.p_value.unwrap() - 0.1).abs() < 1e-12);
    }
}
