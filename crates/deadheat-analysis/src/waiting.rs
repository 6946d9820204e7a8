//! Scheduling delay, the time that contenders waited for a core, and its subtraction from wall
//! time.
//!
//! A contender with one thread and one process cannot wait for itself, so its delay has external
//! causes. If all cores are busy, a third of the wall time of a long function is delay. Every block
//! then has some, so dropping blocks would leave nothing, but without the delay blocks scatter as
//! on a quiet machine. Other waiting, such as for input, output and locks, is not subtracted.
//!
//! At most the wall time without CPU time is subtracted. The delay is read outside of the timed
//! section. If the thread loses its core between reading the delay and reading the clock, the delay
//! also includes time outside of the sample.

use deadheat_model::{
    BlockRecord, ContenderId, Flags, Metric, RunHeader, Sample, Samples, Waiting,
};

/// The share of delay in wall time that is negligible. Delay is subtracted only if a contender has
/// more.
pub(crate) const LEAST_SHARE: f64 = 0.01;

/// A sample with at least this CPU time, in nanoseconds, no longer counts as preempted once its
/// delay is subtracted: filling the caches again, some 20 µs, is a small part of it. A shorter
/// sample still counts as preempted.
const LONG_NS: f64 = 200_000.0;

/// The flags of samples whose delay must be kept. One such sample keeps the delay of the whole
/// benchmark.
const KEEP: [Flags; 2] = [Flags::CONCURRENT, Flags::DELAY_UNREAD];

/// The columns from which the delay of a sample is computed.
#[derive(Clone, Copy)]
pub(crate) struct WaitingColumns<'a> {
    wall: &'a [f64],
    cpu: &'a [f64],
    delay: &'a [f64],
}

impl<'a> WaitingColumns<'a> {
    /// Returns the columns of the samples; `None` if scheduling delay was not recorded.
    pub(crate) fn of(samples: &'a Samples) -> Option<Self> {
        Some(Self {
            wall: samples.column(&Metric::Wall)?,
            cpu: samples.column(&Metric::Cpu)?,
            delay: samples.column(&Metric::RunDelay)?,
        })
    }

    /// Returns the delay within the wall time of a sample, in nanoseconds.
    fn waited(&self, index: usize) -> f64 {
        let idle = (self.wall[index] - self.cpu[index]).max(0.0);
        self.delay[index].min(idle)
    }

    fn share(&self, samples: &[Sample], contender: ContenderId) -> f64 {
        let (mut waited, mut wall) = (0.0, 0.0);
        for (index, sample) in samples.iter().enumerate() {
            if sample.contender == contender {
                waited += self.waited(index);
                wall += self.wall[index];
            }
        }
        if wall > 0.0 { waited / wall } else { 0.0 }
    }

    /// Returns true if delay is subtracted from all of these samples.
    fn is_taken_out(&self, samples: &[Sample]) -> bool {
        let is_kept = |sample: &Sample| KEEP.iter().any(|flag| sample.flags.holds(*flag));
        if samples.iter().any(is_kept) {
            return false;
        }
        let last = samples.iter().map(|sample| sample.contender.0).max();
        (0..=last.unwrap_or(0)).any(|id| self.share(samples, ContenderId(id)) > LEAST_SHARE)
    }

    /// Returns the wall time and the flags of a sample without its delay.
    fn without(&self, sample: &Sample, index: usize) -> (f64, Flags) {
        let flags = if self.cpu[index] >= LONG_NS {
            sample.flags.without(Flags::PREEMPTED)
        } else {
            sample.flags
        };
        (self.wall[index] - self.waited(index), flags)
    }
}

/// Returns true if the plan allows subtracting scheduling delay from a benchmark: it is judged by
/// wall time, and the delay was recorded.
pub(crate) fn may_be_taken_out(header: &RunHeader, benchmark: usize) -> bool {
    let recorded = |metric| header.metrics.contains(&metric);
    header.plan.design.waiting == Waiting::Auto
        && *header.plan.judged(benchmark) == Metric::Wall
        && recorded(Metric::RunDelay)
        && recorded(Metric::Cpu)
}

/// Decides from the first `seen` samples whether delay is subtracted. Later samples are ignored, so
/// that a look gives the same result if it is judged again later.
pub(crate) fn is_taken_out(samples: &Samples, seen: usize) -> bool {
    let columns = WaitingColumns::of(samples);
    columns.is_some_and(|columns| columns.is_taken_out(&samples.samples()[..seen]))
}

/// Adds to `to` the blocks of `samples` that it lacks, without their delay. `to` may have fewer
/// metrics.
pub(crate) fn extend_without(to: &mut Samples, samples: &Samples) {
    let Some(columns) = WaitingColumns::of(samples) else {
        return;
    };
    let metrics = to.metrics().to_vec();
    let values: Vec<&[f64]> = metrics
        .iter()
        .filter_map(|metric| samples.column(metric))
        .collect();
    let mut record = BlockRecord::default();
    for span in &samples.blocks()[to.blocks().len()..] {
        record.replicate = span.replicate;
        record.index = span.index;
        record.samples.clear();
        record.values.clear();
        for index in span.range() {
            let sample = &samples.samples()[index];
            let (wall, flags) = columns.without(sample, index);
            record.samples.push(Sample { flags, ..*sample });
            for (metric, column) in metrics.iter().zip(&values) {
                record.values.push(match metric {
                    Metric::Wall => wall,
                    _ => column[index],
                });
            }
        }
        // A valid block stays valid without its delay, so this cannot fail.
        if to.push(&record).is_err() {
            return;
        }
    }
}

/// Returns a copy of all samples, with the scheduling delay of each sample subtracted from its wall
/// time.
pub(crate) fn without(samples: &Samples) -> Samples {
    let mut without = Samples::new(samples.metrics().to_vec());
    extend_without(&mut without, samples);
    without
}

/// The shares of scheduling delay in the wall times of the two sides.
pub(crate) struct Shares {
    pub(crate) baseline: f64,
    /// The share for the candidate; `None` for a benchmark without candidates.
    pub(crate) candidate: Option<f64>,
    /// True if the delay is subtracted from every sample.
    pub(crate) taken_out: bool,
}

/// Returns the shares of delay in the first `seen` samples. `None` if delay was not recorded, or
/// wall time is not the judged metric.
pub(crate) fn shares(
    header: &RunHeader,
    benchmark: usize,
    (samples, seen): (&Samples, usize),
    candidate: Option<ContenderId>,
) -> Option<Shares> {
    if *header.plan.judged(benchmark) != Metric::Wall {
        return None;
    }
    let columns = WaitingColumns::of(samples)?;
    let of = |id| columns.share(&samples.samples()[..seen], id);
    Some(Shares {
        baseline: of(ContenderId::BASELINE),
        candidate: candidate.map(of),
        taken_out: may_be_taken_out(header, benchmark) && is_taken_out(samples, seen),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ContenderId = ContenderId(0);
    const B: ContenderId = ContenderId(1);

    /// Returns samples of both contenders in turn. Each row is wall time, CPU time and delay in
    /// milliseconds.
    fn samples(rows: &[([f64; 3], Flags)]) -> Samples {
        let metrics = vec![
            Metric::Wall,
            Metric::Cpu,
            Metric::RunDelay,
            Metric::MinorFaults,
        ];
        let mut samples = Samples::new(metrics);
        for (index, pair) in rows.chunks(2).enumerate() {
            let sample = |contender, flags| Sample {
                contender,
                flags,
                exit_code: None,
                iterations: 1,
            };
            let record = BlockRecord {
                replicate: index as u32,
                samples: vec![sample(A, pair[0].1), sample(B, pair[1].1)],
                values: pair
                    .iter()
                    .flat_map(|(row, _)| row.map(|ms| ms * 1e6).into_iter().chain([7.0]))
                    .collect(),
                ..BlockRecord::default()
            };
            samples.push(&record).unwrap();
        }
        samples
    }

    #[test]
    fn the_wait_comes_out_but_never_more_than_was_not_run() {
        let samples = samples(&[
            ([20.0, 13.0, 5.0], Flags::NONE),
            // The thread lost its core between the readings of delay and of time.
            ([20.0, 13.0, 9.0], Flags::NONE),
            // A clock that shows more CPU time than wall time.
            ([13.0, 13.1, 1.0], Flags::NONE),
            // Sleep is not subtracted.
            ([50.0, 13.0, 0.0], Flags::NONE),
        ]);
        let out = without(&samples);
        assert_eq!(
            out.column(&Metric::Wall),
            Some(&[15e6, 13e6, 13e6, 50e6][..])
        );
        for metric in [Metric::Cpu, Metric::RunDelay, Metric::MinorFaults] {
            assert_eq!(out.column(&metric), samples.column(&metric));
        }
        assert_eq!(out.blocks(), samples.blocks());
    }

    #[test]
    fn more_than_a_hundredth_on_either_side_counts_as_much() {
        let little = [20.0, 19.0, 0.2];
        let more = [20.0, 19.0, 0.21];
        let taken =
            |rows: [[f64; 3]; 2]| is_taken_out(&samples(&rows.map(|row| (row, Flags::NONE))), 2);
        assert!(!taken([little, little]));
        assert!(taken([little, more]) && taken([more, little]));
    }

    #[test]
    fn one_thread_of_its_own_keeps_all_waiting_from_the_first_sample_on() {
        let row = [20.0, 13.0, 5.0];
        for flag in KEEP {
            let all = [
                (row, Flags::NONE),
                (row, Flags::NONE),
                (row, flag),
                (row, Flags::NONE),
            ];
            let samples = samples(&all);
            // A look before the flagged sample keeps its result.
            assert!(is_taken_out(&samples, 2) && !is_taken_out(&samples, 4));
        }
    }

    #[test]
    fn a_long_sample_is_not_dropped_for_a_switch_whose_wait_is_out_and_a_short_one_is() {
        let moved = Flags::PREEMPTED.and(Flags::MIGRATED);
        let out = without(&samples(&[
            ([20.0, 13.0, 5.0], moved),
            ([20.0, 0.1, 5.0], Flags::PREEMPTED),
        ]));
        let flags: Vec<Flags> = out.samples().iter().map(|sample| sample.flags).collect();
        assert_eq!(flags, [Flags::MIGRATED, Flags::PREEMPTED]);
    }

    #[test]
    fn what_was_not_recorded_is_not_taken_out() {
        let mut plain = Samples::new(vec![Metric::Wall]);
        plain.push(&BlockRecord::default()).unwrap();
        assert!(!is_taken_out(&plain, 0));
    }
}
