//! One benchmark of a run with its samples: the contenders, the machines and the clock resolution
//! of the samples, and a summary of each side. Also the options of an analysis.
//!
//! Medians and means over all samples use other estimators than the verdict. In races of 100 µs
//! with a change of 1 % they contradicted it in 18 of 100. The report therefore shows the
//! baseline's location by the estimator of the verdict, and for the candidate this location times
//! the estimated ratio.

use std::collections::{HashMap, HashSet};

use deadheat_model::{
    Benchmark, Comparison, ContenderId, Estimate, Host, Merged, Metric, MetricComparison,
    RerunKind, Run, RunHeader, Sample, Samples, Side, Verdict,
};
use deadheat_stats::summary::{max, mean, median_in_place, min, quantile_in_place, std_dev};
use deadheat_stats::{Clusters, Floor, pooled_huber};

/// The options of an analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// If true, the looks are replayed over a recording without a plan, instead of judging it once.
    pub replay_looks: bool,
    /// If true, the secondary figures are not computed. They take most of the time, and a
    /// simulation of thousands of races does not need them. A build without the feature `figures`
    /// never computes them.
    pub without_figures: bool,
    /// The largest number of points in each series of the plots; `None` computes no plots. A build
    /// without the feature `figures` never computes them.
    pub plots: Option<usize>,
}

/// The reruns of a benchmark, each with its index in the plan and its samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct RerunSamples<'a> {
    /// The rerun on the user's own link.
    pub own_link: Option<(usize, &'a Samples)>,
    /// The rerun in turns instead of side by side.
    pub turns: Option<(usize, &'a Samples)>,
}

impl<'a> RerunSamples<'a> {
    pub(crate) fn of(self, kind: RerunKind) -> Option<(usize, &'a Samples)> {
        match kind {
            RerunKind::OwnLink => self.own_link,
            RerunKind::Turns => self.turns,
        }
    }

    /// Removes the reruns that failed.
    pub(crate) fn without(self, failed: &HashSet<usize>) -> Self {
        let ran = |(index, _): &(usize, &Samples)| !failed.contains(index);
        Self {
            own_link: self.own_link.filter(ran),
            turns: self.turns.filter(ran),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Raced<'a> {
    /// The run, possibly without samples: those of this benchmark are in `samples` and `reruns`.
    pub(crate) run: &'a Run,
    /// The index of the benchmark in the plan.
    pub(crate) index: usize,
    pub(crate) samples: &'a Samples,
    pub(crate) reruns: RerunSamples<'a>,
}

/// The comparisons of one benchmark, before p-values are adjusted over the suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    pub(crate) comparisons: Vec<Comparison>,
    /// One p-value per candidate, corrected for the looks of the race but not for other benchmarks.
    pub(crate) p_values: Vec<Option<f64>>,
    /// The p-value of the control, if the benchmark has one that can be judged.
    pub(crate) control: Option<f64>,
}

/// The samples of each contender, looked up once for all metrics.
pub(crate) struct Members {
    of: Vec<Vec<u32>>,
}

impl Members {
    pub(crate) fn of(samples: &Samples, contenders: usize) -> Self {
        let mut counts = vec![0; contenders];
        for sample in samples.samples() {
            if let Some(count) = counts.get_mut(sample.contender.index()) {
                *count += 1;
            }
        }
        let mut of: Vec<Vec<u32>> = counts.into_iter().map(Vec::with_capacity).collect();
        for (index, sample) in samples.samples().iter().enumerate() {
            if let Some(list) = of.get_mut(sample.contender.index()) {
                list.push(index as u32);
            }
        }
        Self { of }
    }

    /// Removes the samples of the blocks `left_out`, which are ascending indices.
    pub(crate) fn without(mut self, samples: &Samples, left_out: &[usize]) -> Self {
        let spans = left_out
            .iter()
            .map(|block| samples.blocks()[*block].range());
        let gone: Vec<usize> = spans.flatten().collect();
        for own in &mut self.of {
            own.retain(|index| gone.binary_search(&(*index as usize)).is_err());
        }
        self
    }

    /// Returns the indices of the samples of one contender, in the order taken.
    pub(crate) fn indices(&self, contender: ContenderId) -> &[u32] {
        self.of.get(contender.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the values of one contender in one metric, per iteration.
    pub(crate) fn values(
        &self,
        samples: &Samples,
        metric: &Metric,
        contender: ContenderId,
    ) -> Vec<f64> {
        let Some(column) = samples.column(metric) else {
            return Vec::new();
        };
        let all = samples.samples();
        let divide = metric.adds_up();
        let value = |index: &u32| {
            let index = *index as usize;
            match all[index].iterations {
                iterations if divide && iterations != 1 => column[index] / iterations as f64,
                _ => column[index],
            }
        };
        self.of[contender.index()].iter().map(value).collect()
    }
}

/// The machines of a merged run whose hosts share the replicates.
#[derive(Clone, Debug)]
pub(crate) struct Machines {
    merged: Merged,
    /// The indices of the hosts of each machine. Parts of the run that share a boot are one
    /// machine.
    places: Vec<Vec<usize>>,
    /// The machine of each part, by the number of the part.
    of_part: HashMap<u32, usize>,
}

impl Machines {
    /// Returns the machines of a merged run. `None` for a run of one host, and for a merged run in
    /// which each benchmark was raced by one host.
    pub(crate) fn of(header: &RunHeader) -> Option<Self> {
        let merged = header.environment.merged.as_ref()?;
        if merged.replicates == 0 {
            return None;
        }
        let places = merged.machines();
        let mut of_part = HashMap::new();
        for (machine, places) in places.iter().enumerate() {
            let parts = places.iter().map(|place| merged.hosts[*place].shard);
            of_part.extend(parts.map(|part| (part, machine)));
        }
        Some(Self {
            merged: merged.clone(),
            places,
            of_part,
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of all parts, including those that the run lacks.
    pub(crate) fn parts(&self) -> u32 {
        self.merged.count
    }

    pub(crate) fn of_replicate(&self, replicate: u32) -> Option<usize> {
        let part = replicate / self.merged.replicates + 1;
        self.of_part.get(&part).copied()
    }

    /// Returns the hosts that the parts of a machine recorded.
    pub(crate) fn hosts(&self, machine: usize) -> impl Iterator<Item = &Host> {
        let places = self.places[machine].iter();
        places.map(|place| &self.merged.hosts[*place])
    }

    /// Returns the numbers of the parts that the run lacks.
    pub(crate) fn missing(&self) -> Vec<u32> {
        self.merged.missing().collect()
    }
}

/// Returns the smallest step of a metric of a benchmark, in the unit of the metric; `None` if it is
/// unknown.
pub(crate) fn tick(metric: &Metric, header: &RunHeader, benchmark: &Benchmark) -> Option<f64> {
    // Other tools save values per iteration, which hide the smallest step.
    if benchmark.saved.is_some() {
        return None;
    }
    match metric {
        Metric::Wall => header.tick_ns,
        // A thread reads its own clock, which counts nanoseconds; so does Google Benchmark.
        Metric::Cpu if benchmark.calls_functions() || benchmark.keeps_order() => Some(1.0),
        // The kernel reports CPU time of processes in microseconds.
        Metric::Cpu | Metric::User | Metric::System => Some(1000.0),
        Metric::PeakRss => Some(4096.0),
        // The resolution of these metrics depends on the device, the benchmark or the file.
        Metric::Gpu | Metric::Manual | Metric::GcTime | Metric::Custom(_) | Metric::Foreign(_) => {
            None
        }
        _ => Some(1.0),
    }
}

/// Returns the value that replaces a zero: half of the smallest step of the metric, `tick`. If it
/// is unknown, half of the smallest positive value.
pub(crate) fn zero_as(column: &[f64], tick: Option<f64>) -> f64 {
    let half_tick = 0.5
        * tick.unwrap_or_else(|| {
            let above_zero = column.iter().copied().filter(|v| *v > 0.0);
            above_zero.fold(f64::INFINITY, f64::min)
        });
    // Half of the smallest positive number would be zero again.
    if half_tick.is_finite() {
        half_tick.max(f64::from_bits(1))
    } else {
        1.0
    }
}

/// Returns the median of the samples of the baseline and this candidate, in units of `tick`; `None`
/// without samples, or if the median is zero.
pub(crate) fn ticks_per_sample(
    tick: f64,
    values: &[f64],
    slots: &[Sample],
    candidate: ContenderId,
) -> Option<f64> {
    let mut values = values.to_vec();
    if slots.iter().any(|s| s.contender.0 > 1) {
        let mut slots = slots.iter();
        values.retain(|_| {
            slots
                .next()
                .is_some_and(|s| s.contender == ContenderId::BASELINE || s.contender == candidate)
        });
    }
    let median = median_in_place(&mut values)?;
    let ticks = median / tick;
    (median > 0.0 && ticks.is_finite()).then_some(ticks)
}

/// The method that gives the typical value of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Typical {
    /// The robust location of the values.
    Location,
    /// The quantile that is judged.
    Quantile(f64),
    /// Not computed, because `Measurement::new` derives the value from the baseline. Computing it
    /// takes half of the time of a summary.
    Follows,
}

impl Typical {
    pub(crate) fn of(quantile: Option<f64>) -> Self {
        quantile.map_or(Self::Location, Self::Quantile)
    }

    /// Returns how the typical value of a candidate is computed. `found` is true if the candidate
    /// has an estimate.
    pub(crate) fn of_candidate(quantile: Option<f64>, found: bool) -> Self {
        match Self::of(quantile) {
            Self::Location if found => Self::Follows,
            other => other,
        }
    }
}

/// Returns the summary of `values`, and reorders them; `None` without values.
pub(crate) fn side(name: &str, values: &mut [f64], of: Typical) -> Option<Side> {
    // Most counters are zero in every sample of a benchmark.
    if !values.is_empty() && values.iter().all(|value| value.to_bits() == 0) {
        return Some(Side {
            name: name.to_owned(),
            typical: None,
            mean: 0.0,
            min: 0.0,
            max: 0.0,
            std_dev: (values.len() > 1).then_some(0.0),
            samples: values.len(),
            median: 0.0,
        });
    }
    Some(Side {
        name: name.to_owned(),
        typical: match of {
            Typical::Location => typical(values),
            Typical::Quantile(quantile) => {
                quantile_in_place(values, quantile).filter(|value| *value > 0.0)
            }
            Typical::Follows => None,
        },
        mean: mean(values)?,
        min: min(values)?,
        max: max(values)?,
        std_dev: std_dev(values),
        samples: values.len(),
        median: median_in_place(values)?,
    })
}

/// The share of zeros above which neither a ratio nor a typical value is computed: zeros do not
/// have a logarithm, and the other values alone would not be typical.
pub(crate) const MOST_ZEROS: f64 = 0.01;

/// Returns the Huber location of the values, computed from their logarithms; `None` without values,
/// or if too many are zero.
pub(crate) fn typical(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    if first > 0.0 && values.iter().all(|value| *value == first) {
        // The logarithm and its inverse would round the value.
        return Some(first);
    }
    let logs: Vec<f64> = values
        .iter()
        .filter(|value| **value > 0.0)
        .map(|value| value.ln())
        .collect();
    let zeros = values.len() - logs.len();
    if zeros as f64 > MOST_ZEROS * values.len() as f64 {
        return None;
    }
    let pooled = pooled_huber(&Clusters::singletons(&logs), Floor::default()).ok()?;
    Some(pooled.theta.exp()).filter(|typical| typical.is_finite())
}

/// Returns a row for every recorded metric, with the estimate and the verdict that `found` returns.
/// `judged` has the sides of the judged metric, which the caller has already computed: the
/// baseline, and the candidate if there is one.
pub(crate) fn metric_rows(
    run: &Run,
    samples: &Samples,
    index: usize,
    members: &Members,
    judged: (&Side, Option<(ContenderId, &Side)>),
    found: impl Fn(&Metric) -> Option<(Estimate, Option<Verdict>)>,
) -> Vec<MetricComparison> {
    let plan = &run.header.plan;
    let (contenders, quantile) = (&plan.benchmarks[index].contenders, plan.quantile(index));
    let summary = |metric: &Metric, id: ContenderId, typical: Typical| {
        side(
            &contenders[id.index()].name,
            &mut members.values(samples, metric, id),
            typical,
        )
    };
    let row = |metric: &Metric| {
        let is_judged = metric == plan.judged(index);
        let baseline = if is_judged {
            judged.0.clone()
        } else {
            summary(metric, ContenderId::BASELINE, Typical::of(quantile))?
        };
        let (estimate, verdict) = found(metric).unzip();
        let candidate = |(id, side): (ContenderId, &Side)| {
            if is_judged {
                return Some(side.clone());
            }
            let typical = Typical::of_candidate(quantile, estimate.is_some());
            summary(metric, id, typical)
        };
        Some(MetricComparison {
            metric: metric.clone(),
            baseline,
            candidate: judged.1.and_then(candidate),
            estimate,
            verdict: verdict.flatten(),
        })
    };
    let mut rows = Vec::with_capacity(samples.metrics().len());
    rows.extend(samples.metrics().iter().filter_map(row));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_far_off_moves_the_typical_one_hardly() {
        let mut values: Vec<f64> = (0..40).map(|step| 100.0 + f64::from(step % 5)).collect();
        let before = typical(&values).unwrap();
        values[7] = 1e6;
        let after = typical(&values).unwrap();
        assert!((after / before - 1.0).abs() < 0.003, "{before} {after}");
    }

    #[test]
    fn of_equal_values_it_is_the_value_to_the_last_digit() {
        assert_eq!(typical(&[0.1; 7]), Some(0.1));
    }

    #[test]
    fn a_few_zeros_are_passed_over_and_many_forbid_it() {
        let mut values = vec![8.0; 200];
        values[3] = 0.0;
        assert!((typical(&values).unwrap() - 8.0).abs() < 1e-12);
        values[..10].fill(0.0);
        assert_eq!(typical(&values), None);
        assert_eq!(typical(&[]), None);
        assert_eq!(typical(&[0.0, 0.0]), None);
    }
}
