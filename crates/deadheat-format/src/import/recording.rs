//! From rows in any order to blocks in theirs.

use std::collections::HashMap;
use std::path::Path;

use deadheat_model::{
    BlockRecord, ContenderId, Design, Environment, Flags, Looks, Metric, Origin, Plan, Run,
    RunHeader, Sample,
};

use super::benchmark::RecordedBenchmark;
use super::recording_plan::RecordingPlan;
use super::table::Place;
use crate::error::FormatError;

/// One sample, its values aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) benchmark: u32,
    /// Among the benchmark's contenders, in order of appearance.
    pub(super) contender: u16,
    pub(super) flags: Flags,
    pub(super) replicate: Option<u32>,
    pub(super) block: u32,
    pub(super) slot: u32,
    pub(super) line: u64,
    pub(super) iterations: u64,
}

/// The columns that are metrics, by their places in a row of values.
#[derive(Debug)]
pub(super) struct Kept {
    /// Of all benchmarks.
    pub(super) everywhere: Vec<usize>,
    /// Of each benchmark beside those.
    pub(super) counters: Vec<Vec<usize>>,
}

/// All rows of a table, before anything is known of their order.
#[derive(Debug)]
pub(super) struct Recording {
    /// Whether every row names its block and slot.
    pub(super) paired: bool,
    pub(super) benchmarks: Vec<RecordedBenchmark>,
    pub(super) rows: Vec<Row>,
    /// Row by row, `width` of them each.
    pub(super) values: Vec<f64>,
    width: usize,
    by_name: HashMap<String, usize>,
}

impl Recording {
    pub(super) fn new(paired: bool, width: usize) -> Self {
        Recording {
            paired,
            benchmarks: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
            width,
            by_name: HashMap::new(),
        }
    }

    /// The benchmark of that name, new or known, by order of appearance.
    pub(super) fn benchmark(&mut self, name: &str) -> usize {
        if let Some(index) = self.by_name.get(name) {
            return *index;
        }
        self.benchmarks.push(RecordedBenchmark::new(name));
        let index = self.benchmarks.len() - 1;
        self.by_name.insert(name.to_owned(), index);
        index
    }

    /// The place of a row, for errors.
    pub(super) fn place<'a>(&'a self, file: &'a Path, row: usize) -> Place<'a> {
        let row = &self.rows[row];
        Place {
            file,
            line: row.line,
            benchmark: &self.benchmarks[row.benchmark as usize].name,
            replicate: row.replicate,
            block: self.paired.then_some(row.block),
            slot: self.paired.then_some(row.slot),
        }
    }

    /// Orders the rows and makes a run of them that has the metrics `kept`.
    pub(super) fn into_run(
        mut self,
        file: &Path,
        metrics: Vec<Metric>,
        kept: &Kept,
        judged_by: &RecordingPlan,
    ) -> Result<Run, FormatError> {
        if self.rows.is_empty() {
            return Err(FormatError::NoRows {
                file: file.to_owned(),
            });
        }
        if !self.paired {
            self.number_unpaired_rows();
        }
        let order = self.order(file)?;
        let blocks = self.blocks(file, &order)?;
        let seats: Vec<Vec<ContenderId>> = self
            .benchmarks
            .iter()
            .map(|benchmark| benchmark.seats(file))
            .collect::<Result<_, _>>()?;
        let metrics_at = |places: &[usize]| -> Vec<Metric> {
            places.iter().map(|place| metrics[*place].clone()).collect()
        };
        let mut plan = self.plan(&seats, &blocks, judged_by);
        for (benchmark, counters) in plan.benchmarks.iter_mut().zip(&kept.counters) {
            benchmark.counters = metrics_at(counters);
        }
        let header = RunHeader {
            command: Vec::new(),
            tool_version: String::new(),
            started_at: None,
            origin: if self.paired {
                Origin::PairedRecording
            } else {
                Origin::UnpairedRecording
            },
            plan,
            environment: Environment::default(),
            metrics: metrics_at(&kept.everywhere),
            tick_ns: None,
            left_out: Vec::new(),
        };
        header.plan.validate().map_err(|source| FormatError::Plan {
            file: file.to_owned(),
            source,
        })?;
        let mut run = Run::new(header);
        for block in &blocks {
            let record = self.record(block, &seats[block.benchmark], kept);
            run.benchmarks[block.benchmark]
                .push(&record)
                .map_err(|source| FormatError::Sample {
                    file: file.to_owned(),
                    line: self.row(block.rows[0]).line,
                    benchmark: self.benchmarks[block.benchmark].name.clone(),
                    source,
                })?;
        }
        Ok(run)
    }

    fn row(&self, index: u32) -> &Row {
        &self.rows[index as usize]
    }

    /// Gives every row a block of its own. Where no replicate is recorded, all
    /// rows share one: nothing says that a process was started anew, and to
    /// claim it would let rows of one process pass for independent ones.
    fn number_unpaired_rows(&mut self) {
        let mut blocks_of = HashMap::new();
        for row in &mut self.rows {
            let replicate = *row.replicate.get_or_insert(0);
            let block = blocks_of.entry((row.benchmark, replicate)).or_insert(0);
            row.block = *block;
            *block += 1;
        }
    }

    /// The rows in the order they were run, as far as the file says.
    fn order(&self, file: &Path) -> Result<Vec<u32>, FormatError> {
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        if !self.paired {
            order.sort_by_key(|row| self.row(*row).benchmark);
            return Ok(order);
        }
        let key = |row: &u32| {
            let row = self.row(*row);
            (row.benchmark, row.replicate, row.block, row.slot)
        };
        order.sort_by_key(key);
        match order.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
            None => Ok(order),
            Some(pair) => {
                let (first, row) = (self.row(pair[0]), self.row(pair[1]));
                Err(FormatError::DuplicateRow {
                    file: file.to_owned(),
                    line: row.line,
                    first_line: first.line,
                    benchmark: self.benchmarks[row.benchmark as usize].name.clone(),
                    replicate: row.replicate.unwrap_or(0),
                    block: row.block,
                    slot: row.slot,
                })
            }
        }
    }

    /// Cuts the ordered rows into blocks. The last block of a benchmark may
    /// have been cut off and is then left out.
    fn blocks<'a>(
        &self,
        file: &Path,
        order: &'a [u32],
    ) -> Result<Vec<RecordedBlock<'a>>, FormatError> {
        let block_of = |row: u32| {
            let row = self.row(row);
            (row.benchmark, row.replicate.unwrap_or(0), row.block)
        };
        let mut blocks: Vec<RecordedBlock<'a>> = Vec::new();
        let same_benchmark = |a: &u32, b: &u32| self.row(*a).benchmark == self.row(*b).benchmark;
        for of_benchmark in order.chunk_by(same_benchmark) {
            let mut rest = of_benchmark.len();
            for rows in of_benchmark.chunk_by(|a, b| block_of(*a) == block_of(*b)) {
                let (benchmark, replicate, index) = block_of(rows[0]);
                let block = RecordedBlock {
                    benchmark: benchmark as usize,
                    replicate,
                    index,
                    rows,
                };
                rest -= rows.len();
                if self.paired {
                    let missing = self.missing(&block);
                    let before = blocks.last().filter(|b| b.benchmark == block.benchmark);
                    let shorter = before.is_some_and(|before| rows.len() < before.rows.len());
                    if rest == 0 && (missing.is_some() || shorter) {
                        continue;
                    }
                    if let Some(contender) = missing {
                        return Err(FormatError::IncompleteBlock {
                            file: file.to_owned(),
                            line: self.row(rows[0]).line,
                            benchmark: self.benchmarks[block.benchmark].name.clone(),
                            replicate,
                            block: index,
                            contender: contender.to_owned(),
                        });
                    }
                }
                blocks.push(block);
            }
        }
        Ok(blocks)
    }

    /// A contender of the benchmark that has no sample in the block.
    fn missing(&self, block: &RecordedBlock<'_>) -> Option<&str> {
        let present = block
            .rows
            .iter()
            .fold(0u64, |present, row| present | 1 << self.row(*row).contender);
        self.benchmarks[block.benchmark].missing_from(present)
    }

    /// The plan a recording would have had: one look, at all of it.
    fn plan(
        &self,
        seats: &[Vec<ContenderId>],
        blocks: &[RecordedBlock<'_>],
        judged_by: &RecordingPlan,
    ) -> Plan {
        let mut blocks_of = HashMap::new();
        for block in blocks {
            *blocks_of
                .entry((block.benchmark, block.replicate))
                .or_insert(0) += 1;
        }
        let mut replicates = vec![0; self.benchmarks.len()];
        for (benchmark, _) in blocks_of.keys() {
            replicates[*benchmark] += 1;
        }
        let planned = self.benchmarks.iter().zip(seats);
        Plan {
            design: Design {
                margin: judged_by.margin,
                alpha: judged_by.alpha,
                looks: Looks {
                    at: vec![replicates.into_iter().max().unwrap_or(0)],
                    levels: vec![judged_by.alpha],
                    weights: vec![1.0],
                },
                blocks_per_replicate: blocks_of.into_values().max().unwrap_or(0),
                judged: judged_by.judged.clone(),
                ..Design::default()
            },
            seed: 0,
            benchmarks: planned
                .map(|(recorded, seats)| recorded.planned(seats))
                .collect(),
        }
    }

    /// A block as the model takes it, with the values that are kept.
    fn record(&self, block: &RecordedBlock<'_>, seats: &[ContenderId], kept: &Kept) -> BlockRecord {
        let sample = |row: &u32| {
            let row = self.row(*row);
            Sample {
                contender: seats[usize::from(row.contender)],
                flags: row.flags,
                exit_code: None,
                iterations: row.iterations,
            }
        };
        let values = |row: &u32| {
            let values = &self.values[*row as usize * self.width..];
            let counters = &kept.counters[block.benchmark];
            let places = kept.everywhere.iter().chain(counters);
            places.map(|place| values[*place])
        };
        BlockRecord {
            benchmark: block.benchmark,
            replicate: block.replicate,
            index: block.index,
            primed: false,
            elapsed_ns: 0,
            samples: block.rows.iter().map(sample).collect(),
            values: block.rows.iter().flat_map(values).collect(),
        }
    }
}

/// The rows of one block, in the order of their slots.
struct RecordedBlock<'a> {
    benchmark: usize,
    replicate: u32,
    index: u32,
    rows: &'a [u32],
}
