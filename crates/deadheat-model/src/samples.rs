//! Recorded samples of one benchmark, column by column.

use std::collections::HashMap;

use crate::benchmark::ContenderId;
use crate::metric::Metric;

/// Evidence that something outside of the contender disturbed a sample, and facts about its waiting
/// for a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No evidence of disturbance.
    pub const NONE: Flags = Flags(0);
    /// The contender was taken off its core by another task.
    pub const PREEMPTED: Flags = Flags(1);
    /// The contender was moved to another core.
    pub const MIGRATED: Flags = Flags(2);
    /// The contender may have waited for a core because of its own actions: its threads or child
    /// processes ran at the same time as the timed thread, or its priority differed from that of
    /// deadheat.
    pub const CONCURRENT: Flags = Flags(4);
    /// The time that the contender waited for a core could not be read.
    pub const DELAY_UNREAD: Flags = Flags(8);
    /// The GPU was throttled, or its clock frequency changed.
    pub const GPU_CLOCK: Flags = Flags(16);

    /// Returns flags from their bits in a file; unknown bits are dropped.
    pub fn from_bits(bits: u8) -> Flags {
        Flags(bits & 31)
    }

    /// Returns the bits as written to files.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Returns true if there is any evidence of disturbance.
    pub fn any(self) -> bool {
        self.0 & (Flags::PREEMPTED.0 | Flags::MIGRATED.0 | Flags::GPU_CLOCK.0) != 0
    }

    /// Returns true if all flags of `other` are set.
    pub fn holds(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns these flags without those of `other`.
    pub fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// Returns the union of both sets of flags.
    pub fn and(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One timed batch of iterations of one contender. Its metric values are in the columns of
/// [`Samples`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The contender that ran.
    pub contender: ContenderId,
    /// Evidence of disturbance.
    pub flags: Flags,
    /// The exit code of the process, if the sample was a launch.
    pub exit_code: Option<i32>,
    /// Number of iterations in the batch, at least 1.
    pub iterations: u64,
}

/// One completed block as measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockRecord {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The replicate, counted from 0.
    pub replicate: u32,
    /// Index of the block in its replicate, counted from 0.
    pub index: u32,
    /// True if a discarded launch preceded the first slot.
    pub primed: bool,
    /// Nanoseconds from the start of the run to the end of this block.
    pub elapsed_ns: u64,
    /// One entry per slot, in the order run.
    pub samples: Vec<Sample>,
    /// Metric values, slot by slot, and within a slot in column order.
    pub values: Vec<f64>,
}

/// The position of a block's samples in [`Samples`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSpan {
    /// The replicate of the block.
    pub replicate: u32,
    /// Index of the block in its replicate.
    pub index: u32,
    /// Index of the block's first sample.
    pub first: usize,
    /// Number of samples in the block.
    pub len: usize,
}

impl BlockSpan {
    /// Returns the indices of the block's samples.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.len
    }
}

/// The error for a block whose samples cannot have been measured.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleError {
    /// The replicate.
    pub replicate: u32,
    /// Index of the block in its replicate.
    pub block: u32,
    /// The problem with the samples of the block.
    pub problem: SampleProblem,
}

/// The problem with the samples of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleProblem {
    /// A value is negative, infinite or not a number.
    BadValue {
        /// The metric.
        metric: Metric,
        /// Index of the slot in the block.
        slot: usize,
        /// The rejected value.
        value: f64,
    },
    /// The number of values is not samples × metrics.
    WrongShape {
        /// The expected number of values: samples × metrics.
        expected: usize,
        /// The number of values that the block has.
        found: usize,
    },
    /// The sample in this slot has zero iterations.
    NoIterations(usize),
}

impl std::fmt::Display for SampleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = format!("replicate {}, block {}", self.replicate, self.block);
        match &self.problem {
            SampleProblem::BadValue {
                metric,
                slot,
                value,
            } => write!(
                f,
                "{metric} of {place}, slot {slot} (counted from 0) is {value}; it must be finite and not negative"
            ),
            SampleProblem::WrongShape { expected, found } => {
                write!(
                    f,
                    "{place} has {found} values where {expected} were expected"
                )
            }
            SampleProblem::NoIterations(slot) => {
                write!(
                    f,
                    "{place}, slot {slot} (counted from 0) is a sample of 0 iterations"
                )
            }
        }
    }
}

impl std::error::Error for SampleError {}

/// Up to this number of metrics, a linear search is faster than building a map.
const FEW_METRICS: usize = 16;

/// All samples of one benchmark in the order they were taken.
///
/// Values are stored in one column per metric: reading one metric touches one contiguous slice, and
/// 100,000 samples of 13 metrics take about 12 MB.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    metrics: Vec<Metric>,
    /// Column index by metric; empty if there are few metrics.
    places: HashMap<Metric, usize>,
    samples: Vec<Sample>,
    columns: Vec<Vec<f64>>,
    blocks: Vec<BlockSpan>,
}

impl Samples {
    /// Returns an empty table with columns for these metrics.
    pub fn new(metrics: Vec<Metric>) -> Self {
        let columns = metrics.iter().map(|_| Vec::new()).collect();
        let mut places = HashMap::new();
        if metrics.len() > FEW_METRICS {
            for (place, metric) in metrics.iter().enumerate() {
                places.entry(metric.clone()).or_insert(place);
            }
        }
        Self {
            metrics,
            places,
            samples: Vec::new(),
            columns,
            blocks: Vec::new(),
        }
    }

    /// Appends a completed block.
    pub fn push(&mut self, block: &BlockRecord) -> Result<(), SampleError> {
        if let Some(problem) = self.problem(block) {
            return Err(SampleError {
                replicate: block.replicate,
                block: block.index,
                problem,
            });
        }
        self.blocks.push(BlockSpan {
            replicate: block.replicate,
            index: block.index,
            first: self.samples.len(),
            len: block.samples.len(),
        });
        self.samples.extend_from_slice(&block.samples);
        for row in block.values.chunks_exact(self.metrics.len().max(1)) {
            for (column, value) in self.columns.iter_mut().zip(row) {
                column.push(*value);
            }
        }
        Ok(())
    }

    /// Returns the last block if `block` does not come after it. A race measures each block once, in
    /// ascending order.
    pub fn not_before(&self, block: &BlockRecord) -> Option<BlockSpan> {
        let last = *self.blocks.last()?;
        ((block.replicate, block.index) <= (last.replicate, last.index)).then_some(last)
    }

    /// Appends rows that were recorded without blocks. Each row becomes a block with one sample of
    /// one iteration of `contender`. `replicates` has one entry per row, and `values` is row by
    /// row. `places` has one entry per column: the index of its value within a row.
    pub fn push_rows(
        &mut self,
        contender: ContenderId,
        replicates: &[u32],
        values: &[f64],
        places: &[usize],
    ) -> Result<(), SampleError> {
        let rows = replicates.len();
        let width = values.len() / rows.max(1);
        let refused = |row: usize, problem| SampleError {
            replicate: replicates[row],
            block: row as u32,
            problem,
        };
        if rows > 0 && (places.len() != self.metrics.len() || places.iter().any(|at| *at >= width))
        {
            let (expected, found) = (self.metrics.len(), places.len().min(width));
            return Err(refused(0, SampleProblem::WrongShape { expected, found }));
        }
        for (metric, place) in self.metrics.iter().zip(places) {
            let mut column = values.iter().skip(*place).step_by(width);
            if let Some(row) = column.position(|value| !value.is_finite() || *value < 0.0) {
                let problem = SampleProblem::BadValue {
                    metric: metric.clone(),
                    slot: 0,
                    value: values[row * width + place],
                };
                return Err(refused(row, problem));
            }
        }
        let first = self.samples.len();
        let block = |(row, replicate): (usize, &u32)| BlockSpan {
            replicate: *replicate,
            index: row as u32,
            first: first + row,
            len: 1,
        };
        self.blocks.reserve_exact(rows);
        self.blocks.extend(replicates.iter().enumerate().map(block));
        let sample = Sample {
            contender,
            flags: Flags::NONE,
            exit_code: None,
            iterations: 1,
        };
        self.samples.reserve_exact(rows);
        self.samples.extend(std::iter::repeat_n(sample, rows));
        for (column, place) in self.columns.iter_mut().zip(places) {
            column.reserve_exact(rows);
            column.extend(values.iter().skip(*place).step_by(width.max(1)));
        }
        Ok(())
    }

    /// Reserves memory for additional blocks and samples, if the caller knows their number.
    pub fn reserve(&mut self, blocks: usize, samples: usize) {
        self.blocks.reserve_exact(blocks);
        self.samples.reserve_exact(samples);
        for column in &mut self.columns {
            column.reserve_exact(samples);
        }
    }

    fn problem(&self, block: &BlockRecord) -> Option<SampleProblem> {
        let width = self.metrics.len();
        let (expected, found) = (block.samples.len() * width, block.values.len());
        if found != expected {
            return Some(SampleProblem::WrongShape { expected, found });
        }
        // NaN is rejected as well, because comparisons with NaN are false.
        let possible = |value: f64| (0.0..f64::INFINITY).contains(&value);
        // The whole block is checked first, because nearly every block is valid.
        let counted = block.samples.iter().all(|sample| sample.iterations > 0);
        let measured = block.values.iter().fold(true, |all, v| all & possible(*v));
        if counted && measured {
            return None;
        }
        block.samples.iter().enumerate().find_map(|(slot, sample)| {
            if sample.iterations == 0 {
                return Some(SampleProblem::NoIterations(slot));
            }
            let row = &block.values[slot * width..(slot + 1) * width];
            let column = row.iter().position(|value| !possible(*value))?;
            Some(SampleProblem::BadValue {
                metric: self.metrics[column].clone(),
                slot,
                value: row[column],
            })
        })
    }

    /// Returns the recorded metrics, in column order.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// Returns all samples, in the order taken.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Returns the completed blocks, in the order run.
    pub fn blocks(&self) -> &[BlockSpan] {
        &self.blocks
    }

    /// Returns the values of one metric, one for each of [`Samples::samples`], not divided by
    /// iterations. `None` if the metric was not recorded.
    pub fn column(&self, metric: &Metric) -> Option<&[f64]> {
        Some(&self.columns[self.place(metric)?])
    }

    /// Returns the index of a metric in [`Samples::metrics`].
    pub fn place(&self, metric: &Metric) -> Option<usize> {
        match self.metrics.len() {
            ..=FEW_METRICS => self.metrics.iter().position(|own| own == metric),
            _ => self.places.get(metric).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(values: Vec<f64>) -> BlockRecord {
        let sample = |contender| Sample {
            contender: ContenderId(contender),
            flags: Flags::NONE,
            exit_code: Some(0),
            iterations: 1,
        };
        BlockRecord {
            benchmark: 0,
            replicate: 3,
            index: 1,
            primed: false,
            elapsed_ns: 10,
            samples: vec![sample(0), sample(1)],
            values,
        }
    }

    #[test]
    fn values_are_found_again_in_the_column_of_their_metric() {
        let mut samples = Samples::new(vec![Metric::Wall, Metric::Cpu]);
        samples.push(&block(vec![1.0, 2.0, 3.0, 4.0])).unwrap();
        samples.push(&block(vec![5.0, 6.0, 7.0, 8.0])).unwrap();
        assert_eq!(
            samples.column(&Metric::Wall),
            Some(&[1.0, 3.0, 5.0, 7.0][..])
        );
        assert_eq!(
            samples.column(&Metric::Cpu),
            Some(&[2.0, 4.0, 6.0, 8.0][..])
        );
        assert_eq!(samples.column(&Metric::Cycles), None);
        assert_eq!(samples.blocks()[1].range(), 2..4);
    }

    #[test]
    fn an_impossible_value_is_refused_and_its_place_is_named() {
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            let mut samples = Samples::new(vec![Metric::Wall, Metric::Cpu]);
            let error = samples.push(&block(vec![1.0, 2.0, 3.0, bad])).unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains("cpu of replicate 3, block 1, slot 1"),
                "{text}"
            );
            assert!(samples.samples().is_empty(), "nothing half-written");
        }
    }

    #[test]
    fn rows_without_blocks_are_pushed_as_blocks_of_one() {
        let metrics = vec![Metric::Cpu, Metric::Wall];
        let values = [1.0, 9.0, 2.0, 3.0, 9.0, 4.0];
        let (mut at_once, mut one_by_one) = (Samples::new(metrics.clone()), Samples::new(metrics));
        for contender in [ContenderId(0), ContenderId(1)] {
            let pushed = at_once.push_rows(contender, &[0, 5], &values, &[2, 0]);
            pushed.unwrap();
            for (index, replicate) in [0, 5].into_iter().enumerate() {
                let row = &values[index * 3..];
                let mut record = block(vec![row[2], row[0]]);
                record.samples.truncate(1);
                record.samples[0].contender = contender;
                record.samples[0].exit_code = None;
                (record.replicate, record.index) = (replicate, index as u32);
                one_by_one.push(&record).unwrap();
            }
        }
        assert_eq!(at_once, one_by_one);
        at_once.push_rows(ContenderId(0), &[], &[], &[]).unwrap();
        let bad = [1.0, 9.0, 2.0, 3.0, 9.0, -4.0];
        let refused = at_once.push_rows(ContenderId(0), &[0, 5], &bad, &[2, 0]);
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("cpu of replicate 5, block 1, slot 0"),
            "{text}"
        );
        for places in [&[0][..], &[0, 3]] {
            let refused = at_once.push_rows(ContenderId(0), &[0, 5], &values, places);
            assert!(refused.is_err(), "{places:?}");
        }
        assert_eq!(at_once, one_by_one, "nothing half-written");
    }

    #[test]
    fn a_row_of_the_wrong_width_is_refused() {
        let mut samples = Samples::new(vec![Metric::Wall, Metric::Cpu]);
        let error = samples.push(&block(vec![1.0, 2.0, 3.0])).unwrap_err();
        let (expected, found) = (4, 3);
        assert_eq!(error.problem, SampleProblem::WrongShape { expected, found });
    }
}
