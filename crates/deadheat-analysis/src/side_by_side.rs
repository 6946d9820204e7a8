//! Races side by side: the results of their reruns in turns, and the check whether a rerun
//! contradicts the race.

use deadheat_model::{
    ContenderId, Estimate, LogRatio, Metric, MetricComparison, RacedSideBySide, RerunKind, Samples,
};
use deadheat_stats::summary::median_in_place;

use crate::raced::{Members, Raced, Typical, metric_rows, side};
use crate::rerun::RerunEffects;

/// The level of the interval of the rerun in turns that can contradict the race. At the level of
/// the race, chance would make one in twenty dead heats inconclusive, because the rerun has few
/// replicates.
const CONTRADICTION: f64 = 0.01;

/// A race side by side and, if it has enough replicates, its rerun in turns.
pub(crate) struct SideBySide<'a> {
    raced: Raced<'a>,
    turns: Option<RerunEffects<'a>>,
}

impl<'a> SideBySide<'a> {
    /// Returns the race, if its contenders ran side by side, and its rerun in turns, if that has
    /// enough replicates. `None` if the contenders of the race took turns.
    pub(crate) fn of(raced: &Raced<'a>) -> Option<Self> {
        let benchmark = &raced.run.header.plan.benchmarks[raced.index];
        benchmark.side_by_side?;
        Some(Self {
            turns: RerunEffects::of(raced, RerunKind::Turns),
            raced: *raced,
        })
    }

    /// Returns the summary of the candidate with this index among the candidates and this id.
    pub(crate) fn summary(&self, (place, id): (usize, ContenderId)) -> RacedSideBySide {
        let Raced {
            run,
            index,
            samples,
            ..
        } = self.raced;
        let benchmark = &run.header.plan.benchmarks[index];
        // A sample of a harness is a repetition, which does not tell when its launch ended.
        let group = benchmark
            .launches_commands()
            .then_some(benchmark.contenders.len());
        RacedSideBySide {
            in_turns: self.turns.as_ref().and_then(|turns| turns.estimate(place)),
            alone: group.map_or(0.0, |group| alone(samples, group, id)),
        }
    }

    /// Replaces the rows of metrics that depend on other processes on the same core by the rows of
    /// the rerun in turns. Without a rerun, removes them.
    pub(crate) fn replace_rows(
        &self,
        rows: Vec<MetricComparison>,
        candidate: Option<ContenderId>,
    ) -> Vec<MetricComparison> {
        let of_turns = self.rows_of_turns(candidate);
        let replaced = |row: MetricComparison| {
            if !row.metric.changes_by_sharing() {
                return Some(row);
            }
            let mut of_turns = of_turns.iter();
            of_turns.find(|other| other.metric == row.metric).cloned()
        };
        rows.into_iter().filter_map(replaced).collect()
    }

    /// Returns the change in turns minus the change side by side, if the rerun in turns contradicts
    /// `estimate`, the estimate of the race side by side. `place` is the index of the candidate
    /// among the candidates.
    pub(crate) fn apart_from_turns(
        &self,
        place: usize,
        estimate: &Estimate,
        margin: f64,
    ) -> Option<f64> {
        let turns = self.turns.as_ref()?;
        let in_turns = turns.estimate_at(place, CONTRADICTION)?;
        apart(estimate, &in_turns, margin)
    }

    fn rows_of_turns(&self, candidate: Option<ContenderId>) -> Vec<MetricComparison> {
        let Some(turns) = &self.turns else {
            return Vec::new();
        };
        let Raced { run, index, .. } = self.raced;
        let contenders = &run.header.plan.benchmarks[index].contenders;
        let members = Members::of(turns.samples, contenders.len());
        let judged = run.header.plan.judged(index);
        let summary = |id: ContenderId| {
            let mut values = members.values(turns.samples, judged, id);
            side(&contenders[id.index()].name, &mut values, Typical::Location)
        };
        let Some(baseline) = summary(ContenderId::BASELINE) else {
            return Vec::new();
        };
        let candidate = candidate.and_then(|id| Some((id, summary(id)?)));
        let judged = (&baseline, candidate.as_ref().map(|(id, side)| (*id, side)));
        metric_rows(run, turns.samples, index, &members, judged, |_| None)
    }
}

/// Returns the change in turns minus the change side by side, if their intervals are further apart
/// than the margin.
fn apart(side_by_side: &Estimate, in_turns: &Estimate, margin: f64) -> Option<f64> {
    let (one, other) = (side_by_side.interval?, in_turns.interval?);
    let gap = (other.low.0 - one.high.0).max(one.low.0 - other.high.0);
    let apart = in_turns.effect.change() - side_by_side.effect.change();
    (gap > LogRatio::from_change(margin).0 && apart.is_finite()).then_some(apart)
}

/// Returns how long the slower of the baseline and a candidate ran alone, after the other had
/// ended, as a share of its wall time: the absolute value of the median over all groups of `group`
/// samples. Returns 0 if wall times were not recorded.
fn alone(samples: &Samples, group: usize, candidate: ContenderId) -> f64 {
    let Some(wall) = samples.column(&Metric::Wall) else {
        return 0.0;
    };
    let groups = samples.samples().chunks(group).zip(wall.chunks(group));
    let lead = groups.filter_map(|(samples, wall)| {
        let of = |id| {
            let place = samples.iter().position(|sample| sample.contender == id)?;
            wall.get(place).copied().filter(|wall| *wall > 0.0)
        };
        let (baseline, candidate) = (of(ContenderId::BASELINE)?, of(candidate)?);
        Some((candidate - baseline) / candidate.max(baseline))
    });
    median_in_place(&mut lead.collect::<Vec<f64>>()).map_or(0.0, f64::abs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{BlockRecord, Flags, Interval, Sample};

    fn estimate(effect: f64, half: f64) -> Estimate {
        Estimate {
            effect: LogRatio(effect),
            interval: Some(Interval {
                low: LogRatio(effect - half),
                high: LogRatio(effect + half),
                confidence: 0.95,
            }),
            p_value: None,
            replicates: 6,
            blocks: 6,
        }
    }

    #[test]
    fn turns_contradict_when_the_intervals_are_further_apart_than_the_margin() {
        let side_by_side = estimate(0.0, 0.003);
        assert_eq!(apart(&side_by_side, &estimate(0.05, 0.04), 0.01), None);
        assert_eq!(apart(&side_by_side, &estimate(0.05, 0.038), 0.01), None);
        let found = apart(&side_by_side, &estimate(0.05, 0.03), 0.01).unwrap();
        assert!((found - 0.0513).abs() < 1e-3, "{found}");
        assert!(apart(&side_by_side, &estimate(-0.05, 0.03), 0.01).unwrap() < 0.0);
    }

    #[test]
    fn the_time_alone_is_what_the_longer_side_runs_after_the_other_one() {
        let of = |blocks: &[[f64; 4]]| {
            let mut samples = Samples::new(vec![Metric::Wall]);
            for walls in blocks {
                let mut record = BlockRecord {
                    replicate: samples.blocks().len() as u32,
                    values: walls.to_vec(),
                    ..BlockRecord::default()
                };
                for contender in [0, 1, 1, 0] {
                    record.samples.push(Sample {
                        contender: ContenderId(contender),
                        flags: Flags::NONE,
                        exit_code: Some(0),
                        iterations: 1,
                    });
                }
                samples.push(&record).unwrap();
            }
            alone(&samples, 2, ContenderId(1))
        };
        let longer = of(&[[80.0, 100.0, 100.0, 80.0], [80.0, 100.0, 100.0, 80.0]]);
        assert!((longer - 0.2).abs() < 1e-12, "{longer}");
        // The sides alternate in ending a slice later.
        assert_eq!(
            of(&[[80.0, 100.0, 80.0, 100.0], [100.0, 80.0, 100.0, 80.0]]),
            0.0
        );
        let none = Samples::new(vec![Metric::Cpu]);
        assert_eq!(alone(&none, 2, ContenderId(1)), 0.0);
    }
}
