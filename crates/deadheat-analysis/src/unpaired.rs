//! Recordings without blocks: two samples side by side, and a weaker verdict.
//!
//! Whatever drifts while one side runs and then the other counts as change
//! here, and no formula can tell it apart. What can be kept is the rule that
//! what was drawn once is one observation: where processes are named, each is
//! one value. Where they are not, the layout of memory was drawn once per side
//! as far as anyone knows, and the interval allows for it. Without either, two
//! copies of one function in one process were called different in 46–51 % of
//! rank tests at α = 5 %.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use deadheat_model::{
    Better, ContenderId, Estimate, Interval, LogRatio, Metric, Observation, RunHeader, Samples,
    Warning,
};
use deadheat_stats::dist::{normal_cdf, normal_quantile};
use deadheat_stats::{
    Call, MIN_BLOCKS, call, hodges_lehmann, hodges_lehmann_shift, mann_whitney_p,
    shift_interval_at, shift_order,
};

use crate::doubts::FEW_TICKS;
use crate::effects::{MOST_ZEROS, tick, ticks_per_sample, zero_as};
use crate::scatter::Scatter;

/// ln of the values per iteration of one contender, process by process.
pub(crate) struct Logs {
    processes: Vec<Vec<f64>>,
    values: usize,
    zeros: usize,
}

impl Logs {
    /// The samples of one contender; `None` when the metric was not recorded.
    pub(crate) fn of(
        header: &RunHeader,
        samples: &Samples,
        metric: &Metric,
        contender: ContenderId,
    ) -> Option<Logs> {
        let column = samples.column(metric)?;
        let zero_as = zero_as(column, tick(metric, header));
        let mut logs = Logs {
            processes: Vec::new(),
            values: 0,
            zeros: 0,
        };
        let mut place_of = HashMap::new();
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
                let next = logs.processes.len();
                let place = *place_of.entry(block.replicate).or_insert(next);
                if place == next {
                    logs.processes.push(Vec::new());
                }
                logs.processes[place].push(value.ln());
            }
        }
        Some(logs)
    }

    /// One value per observation.
    fn observations(&self, each: Observation) -> Vec<f64> {
        match each {
            Observation::Process => {
                let locations = self.processes.iter().map(|logs| hodges_lehmann(logs));
                locations.flatten().collect()
            }
            Observation::Sample => self.processes.concat(),
        }
    }
}

/// Orders of interval ends by the sizes of two samples, each counted once: to
/// count those of 30 against 30 takes longer than to find the interval.
#[derive(Default)]
pub(crate) struct Orders {
    known: Mutex<HashMap<(usize, usize, u64), Option<usize>>>,
}

impl Orders {
    fn of(&self, first: usize, second: usize, level: f64) -> Option<usize> {
        let sizes = (first, second, level.to_bits());
        // Whoever panicked left a map that is whole.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&sizes).copied();
        // Counted outside of the lock: two threads may count the same.
        found.unwrap_or_else(|| {
            let order = shift_order(first, second, level);
            known().insert(sizes, order);
            order
        })
    }
}

/// What is worked out once for all benchmarks of a recording.
#[derive(Default)]
pub(crate) struct Ranking {
    pub(crate) orders: Orders,
    pub(crate) scatter: Scatter,
}

/// How sure an interval is to be, and what it must allow for.
pub(crate) struct Level<'a> {
    pub(crate) two_sided: f64,
    /// The standard deviation of effects between recordings of one process
    /// each, beyond what their samples show.
    pub(crate) allowance: f64,
    pub(crate) orders: &'a Orders,
    /// Smallest relative change worth acting on.
    pub(crate) margin: f64,
}

/// Two contenders of an unpaired recording in one metric.
pub(crate) struct Unpaired {
    /// `None` where zeros forbid ratios, or one side has no values.
    pub(crate) judged: Option<UnpairedJudgement>,
    each: Observation,
    zero_share: f64,
    /// Ticks of the clock in a typical sample, where it is known.
    ticks: Option<f64>,
}

impl Unpaired {
    /// What may be said of a metric that is only shown: nothing where nobody
    /// told which way it improves.
    pub(crate) fn call_of_the_table(&self, metric: &Metric) -> Option<Call> {
        let call = self.judged.as_ref()?.call?;
        (metric.better() != Better::Unknown).then_some(call)
    }
}

/// What an unpaired recording says.
pub(crate) struct UnpairedJudgement {
    shift: f64,
    pub(crate) interval: Option<(f64, f64)>,
    confidence: f64,
    p_value: Option<f64>,
    /// `None` where only an estimate is allowed.
    pub(crate) call: Option<Call>,
    /// Observations of baseline and candidate.
    counts: (usize, usize),
    /// Observations of each side that a verdict at this level needs.
    need: usize,
    /// The smallest p-value that so many observations can reach.
    least_p: Option<f64>,
    /// The observations show no scatter.
    timer_limited: bool,
}

/// Compares two contenders: the Hodges–Lehmann shift of ln values, the
/// interval of the Mann–Whitney test at a two-sided level, and its p-value.
pub(crate) fn compare(
    header: &RunHeader,
    samples: &Samples,
    metric: &Metric,
    baseline: &Logs,
    candidate: (ContenderId, &Logs),
    level: &Level<'_>,
) -> Unpaired {
    let (id, candidate) = candidate;
    let several = baseline.processes.len() > 1 || candidate.processes.len() > 1;
    let each = match several {
        true => Observation::Process,
        false => Observation::Sample,
    };
    let ticks = tick(metric, header).and_then(|tick| {
        let column = samples.column(metric)?;
        ticks_per_sample(tick, column, samples.samples(), id)
    });
    let (zeros, values) = (
        baseline.zeros + candidate.zeros,
        baseline.values + candidate.values,
    );
    let zero_share = zeros as f64 / values.max(1) as f64;
    let judged = (zero_share <= MOST_ZEROS)
        .then(|| {
            let (first, second) = (baseline.observations(each), candidate.observations(each));
            let terms = Terms {
                each,
                level,
                better: metric.better(),
                relative_tick: ticks.map(f64::recip),
            };
            judge(&first, &second, &terms)
        })
        .flatten();
    Unpaired {
        judged,
        each,
        zero_share,
        ticks,
    }
}

/// By what two samples are judged.
struct Terms<'a> {
    each: Observation,
    level: &'a Level<'a>,
    better: Better,
    /// A tick of the clock as a share of a typical sample.
    relative_tick: Option<f64>,
}

impl Terms<'_> {
    /// What may be said of an interval, which for a throughput reads the other
    /// way round.
    fn call(&self, (low, high): (f64, f64)) -> Call {
        match self.better {
            Better::More => call((-high, -low), self.level.margin),
            Better::Less | Better::Unknown => call((low, high), self.level.margin),
        }
    }
}

fn judge(first: &[f64], second: &[f64], terms: &Terms<'_>) -> Option<UnpairedJudgement> {
    let Terms { each, level, .. } = *terms;
    let shift = hodges_lehmann_shift(first, second)?;
    let fewer = first.len().min(second.len());
    let Level {
        two_sided: level,
        allowance,
        orders,
        ..
    } = *level;
    let order = orders.of(first.len(), second.len(), level);
    let by_rank = order.and_then(|order| shift_interval_at(first, second, order));
    let timer_limited = by_rank.is_some_and(|(low, high)| low == high);
    let widening = match each {
        Observation::Process => 0.0,
        Observation::Sample => -normal_quantile(0.5 * level) * allowance,
    };
    let interval = by_rank
        .map(|(low, high)| {
            // No scatter at all is the clock's doing, not certainty.
            let least = terms.relative_tick.filter(|_| timer_limited);
            let least = least.unwrap_or(0.0);
            let half = |end: f64| (end - shift).hypot(widening).max(least);
            (shift - half(low), shift + half(high))
        })
        .filter(|(low, high)| low < high && low.is_finite() && high.is_finite());
    let p_value = mann_whitney_p(first, second).map(|p| match each {
        Observation::Process => p,
        Observation::Sample => with_allowance(p, shift, allowance),
    });
    let mut need = fewest_for(level);
    if by_rank.is_none() {
        need = need.max(fewer + 1);
    }
    let least_p = least_p(first.len(), second.len());
    Some(UnpairedJudgement {
        shift,
        // Four a side can reach a level, yet so few carry no verdict.
        call: interval
            .filter(|_| fewer >= MIN_BLOCKS)
            .map(|interval| terms.call(interval)),
        interval,
        confidence: 1.0 - level,
        p_value,
        counts: (first.len(), second.len()),
        need,
        least_p,
        timer_limited,
    })
}

/// The fewest observations of each side with which a rank test can reach a
/// level: the smallest n from 6 with 2/C(2n, n) ≤ level.
fn fewest_for(level: f64) -> usize {
    // C(2n, n) grows by 2(2n − 1)/n with each n.
    let (mut n, mut p) = (1.0, 1.0);
    while p > level && n < 100.0 {
        n += 1.0;
        p *= n / (2.0 * (2.0 * n - 1.0));
    }
    (n as usize).max(MIN_BLOCKS)
}

/// The smallest two-sided p-value of a rank test on so many observations:
/// 2/C(n + m, n), all of one side below all of the other.
fn least_p(first: usize, second: usize) -> Option<f64> {
    let fewer = first.min(second) as u64;
    let all = (first + second) as u64;
    // Beyond so many it is too small to be of interest, or to be a number.
    (fewer <= 100).then(|| {
        let ways: f64 = (0..fewer)
            .map(|i| (all - i) as f64 / (fewer - i) as f64)
            .product();
        (2.0 / ways).min(1.0)
    })
}

/// The p-value with the layout allowance added to the standard error that
/// the test implies, so that it fits the interval: 2Φ(−|θ|/√(SE² + τ²)) with
/// SE = |θ|/z.
fn with_allowance(p: f64, shift: f64, allowance: f64) -> f64 {
    if p >= 1.0 {
        return 1.0;
    }
    let z = -normal_quantile(0.5 * p);
    let se = if z > 0.0 { shift.abs() / z } else { f64::MAX };
    (2.0 * normal_cdf(-(shift.abs() / se.hypot(allowance)))).max(p)
}

impl Unpaired {
    /// The estimate in the words of the model.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
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

    /// The estimate of a metric that is only shown: as for pairs, where all
    /// values agree to the count an interval speaks of the counter's unit.
    pub(crate) fn estimate_of_the_table(&self) -> Option<Estimate> {
        let mut estimate = self.estimate()?;
        let coarse = self.ticks.is_some_and(|ticks| ticks < FEW_TICKS);
        if coarse && self.judged.as_ref()?.timer_limited {
            estimate.interval = None;
        }
        Some(estimate)
    }

    /// Doubts about how the effect was come by.
    pub(crate) fn doubts(&self) -> Vec<Warning> {
        let mut warnings = vec![Warning::Unpaired { each: self.each }];
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
        if judged.timer_limited {
            warnings.push(Warning::TimerLimited);
        } else if judged.call.is_none() {
            warnings.push(Warning::FewObservations {
                baseline: judged.counts.0,
                candidate: judged.counts.1,
                need: judged.need,
                each: self.each,
                least_p: judged.least_p,
            });
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_stats::LAYOUT_ALLOWANCE;

    fn terms(each: Observation, relative_tick: Option<f64>) -> Terms<'static> {
        Terms {
            each,
            level: Box::leak(Box::new(Level {
                two_sided: 0.05,
                allowance: LAYOUT_ALLOWANCE,
                orders: Box::leak(Box::default()),
                margin: 0.01,
            })),
            better: Better::Less,
            relative_tick,
        }
    }

    #[test]
    fn more_of_a_throughput_is_faster() {
        let first: Vec<f64> = (0..8).map(|i| f64::from(i) * 1e-3).collect();
        let second: Vec<f64> = first.iter().map(|x| x + 0.2).collect();
        let mut terms = terms(Observation::Process, None);
        let call = |terms: &Terms<'_>| judge(&first, &second, terms).unwrap().call;
        assert_eq!(call(&terms), Some(Call::Slower));
        terms.better = Better::More;
        assert_eq!(call(&terms), Some(Call::Faster));
    }

    #[test]
    fn four_a_side_have_an_interval_and_no_verdict() {
        let first = [0.0, 0.001, 0.002, 0.003];
        let second = first.map(|x| x + 0.2);
        let found = judge(&first, &second, &terms(Observation::Process, None)).unwrap();
        assert!(found.interval.is_some() && found.call.is_none());
        assert!((found.least_p.unwrap() - 2.0 / 70.0).abs() < 1e-15);
    }

    #[test]
    fn six_a_side_reach_five_percent_and_stricter_levels_ask_for_more() {
        assert_eq!(fewest_for(0.05), 6);
        assert_eq!(fewest_for(0.0022), 6, "2/924 = 0.00216");
        assert_eq!(fewest_for(0.002), 7);
        assert_eq!(fewest_for(0.0005), 8, "2/12870");
        assert!(fewest_for(0.0) <= 100);
    }

    #[test]
    fn the_allowance_keeps_the_p_value_and_the_interval_together() {
        let first: Vec<f64> = (0..200).map(|i| f64::from(i % 20) * 1e-3).collect();
        for shift in [0.0, 0.004, 0.008, 0.0105, 0.02, 0.2] {
            let second: Vec<f64> = first.iter().map(|x| x + shift).collect();
            let found = judge(&first, &second, &terms(Observation::Sample, None)).unwrap();
            let (low, high) = found.interval.unwrap();
            assert!(low < found.shift && found.shift < high);
            assert!(high - low > 2.0 * 1.959 * LAYOUT_ALLOWANCE);
            assert_eq!(low > 0.0, found.p_value.unwrap() < 0.05, "{shift}");
        }
    }

    #[test]
    fn the_allowance_survives_every_p_value() {
        for p in [0.0, 5e-324, 1e-300, 0.5, 0.999_999_999, 1.0] {
            for shift in [0.0, -1e-300, 0.01, 700.0, -1400.0] {
                let found = with_allowance(p, shift, LAYOUT_ALLOWANCE);
                assert!((p..=1.0).contains(&found), "{p} {shift}: {found}");
            }
        }
    }

    #[test]
    fn observations_without_scatter_are_as_uncertain_as_one_tick() {
        let flat = [3.0; 8];
        let each = Observation::Process;
        let ticking = judge(&flat, &flat, &terms(each, Some(0.25))).unwrap();
        assert_eq!(ticking.interval, Some((-0.25, 0.25)));
        let unknown = judge(&flat, &flat, &terms(each, None)).unwrap();
        assert!(unknown.interval.is_none() && unknown.call.is_none() && unknown.timer_limited);
    }
}
