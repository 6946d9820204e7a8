//! Wall time and CPU time side by side: whether they tell different stories,
//! and why.

use deadheat_model::{
    Benchmark, ClockCause, Comparison, ContenderId, Flags, LogRatio, Metric, MetricComparison,
    Samples, Side, Warning,
};

use crate::side::Members;

/// A robust estimate hardly moves when fewer of a side's samples than this
/// were switched away from.
const OFTEN: f64 = 0.10;

/// Where CPU time leaves out more than this share of wall time, the contender
/// did not run all the time.
const MUCH_OF_WALL: f64 = 0.20;

/// Where CPU time is less than this share of wall time, a command mostly waits.
const LITTLE_OF_WALL: f64 = 0.25;

/// What two contenders of a benchmark left behind.
pub(crate) struct Traces<'a> {
    pub(crate) benchmark: &'a Benchmark,
    pub(crate) samples: &'a Samples,
    pub(crate) members: &'a Members,
    pub(crate) candidate: ContenderId,
}

impl Traces<'_> {
    /// Doubts that come from looking at wall time and CPU time together.
    pub(crate) fn doubts(&self, comparison: &Comparison, margin: f64) -> Option<Warning> {
        let interval_of = |metric: &Metric| {
            let estimate = row(comparison, metric)?.estimate.as_ref()?;
            Some((estimate.effect, estimate.interval?))
        };
        let (wall, wall_interval) = interval_of(&Metric::Wall)?;
        let (cpu, cpu_interval) = interval_of(&Metric::Cpu)?;
        let disjoint =
            wall_interval.high < cpu_interval.low || cpu_interval.high < wall_interval.low;
        let apart = (wall.0 - cpu.0).abs() > LogRatio::from_change(margin).0;
        let is_doubt = disjoint && apart && !self.both_mostly_wait(comparison);
        is_doubt.then(|| Warning::ClocksDisagree {
            wall: wall.change(),
            cpu: cpu.change(),
            cause: self.cause(comparison),
        })
    }

    /// True for two commands that compute for a small part of their time.
    /// Theirs are two stories by nature: every race of `sleep` against `sleep`
    /// was told to trust CPU time. To look like this, a command that computes
    /// would have to share its core with three others.
    fn both_mostly_wait(&self, comparison: &Comparison) -> bool {
        let waits = |side: fn(&MetricComparison) -> Option<&Side>| {
            let median = |metric| Some(side(row(comparison, &metric)?)?.median);
            let (wall, cpu) = (median(Metric::Wall)?, median(Metric::Cpu)?);
            Some(cpu < LITTLE_OF_WALL * wall)
        };
        let both = [ContenderId::BASELINE, self.candidate];
        !both.into_iter().any(|id| self.is_function(id))
            && waits(|row| Some(&row.baseline)) == Some(true)
            && waits(|row| row.candidate.as_ref()) == Some(true)
    }

    /// Why the clocks disagree, as far as the samples tell.
    fn cause(&self, comparison: &Comparison) -> ClockCause {
        let both = [ContenderId::BASELINE, self.candidate];
        // A process that is launched is switched away from and waits on its
        // way from start to end on any machine, which proves nothing.
        if !both.into_iter().all(|id| self.is_function(id)) {
            return ClockCause::Unknown;
        }
        if both.into_iter().any(|id| self.share_preempted(id) >= OFTEN) {
            return ClockCause::Preempted;
        }
        let idle = |side: fn(&MetricComparison) -> Option<&Side>| {
            let median = |metric| Some(side(row(comparison, &metric)?)?.median);
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
        match waited {
            true => ClockCause::Waited,
            false => ClockCause::Unknown,
        }
    }

    fn is_function(&self, id: ContenderId) -> bool {
        let contender = self.benchmark.contenders.get(id.index());
        contender.is_some_and(|contender| contender.workload.calls().is_some())
    }

    /// Share of a contender's samples during which another task had its core.
    fn share_preempted(&self, id: ContenderId) -> f64 {
        let samples = self.samples.samples();
        let flagged =
            |index: &&u32| samples[**index as usize].flags.bits() & Flags::PREEMPTED.bits() != 0;
        let indices = self.members.indices(id);
        let flagged = share(indices.iter().filter(flagged).count(), indices.len());
        flagged.max(self.share_above_zero(&Metric::InvoluntarySwitches, id))
    }

    /// Share of a contender's samples in which the metric is not zero.
    fn share_above_zero(&self, metric: &Metric, id: ContenderId) -> f64 {
        let values = self.members.values(self.samples, metric, id);
        let above = values.iter().filter(|value| **value > 0.0).count();
        share(above, values.len())
    }
}

fn row<'a>(comparison: &'a Comparison, metric: &Metric) -> Option<&'a MetricComparison> {
    comparison.metrics.iter().find(|row| row.metric == *metric)
}

fn share(count: usize, of: usize) -> f64 {
    match of {
        0 => 0.0,
        of => count as f64 / of as f64,
    }
}
