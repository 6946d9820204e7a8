//! Turns the rows of a table, in any order, into a run.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use deadheat_model::{
    Benchmark, BlockRecord, Contender, ContenderId, Design, Environment, Flags, Looks, Metric,
    Origin, Plan, Role, Run, RunHeader, Sample, Workload,
};

use deadheat_format::limits::refuse_many_benchmarks;
use deadheat_format::{FormatError, cannot_read};

/// The settings for a recording, which contains no plan.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingPlan {
    /// Smallest relative change worth acting on; 0.01 is 1%.
    pub margin: f64,
    /// The accepted probability of any wrong verdict, from 0 to 1.
    pub alpha: f64,
    /// The metric that the verdict is about.
    pub judged: Metric,
}

/// One sample without its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) benchmark: u32,
    /// Index of the contender in its benchmark, in order of appearance.
    pub(super) contender: u16,
    pub(super) flags: Flags,
    pub(super) replicate: Option<u32>,
    pub(super) block: u32,
    pub(super) slot: u32,
    pub(super) line: u64,
    pub(super) iterations: u64,
}

/// The columns that are metrics, by their index in a row of values.
#[derive(Debug)]
pub(super) struct Kept {
    /// The metrics that all benchmarks have.
    pub(super) everywhere: Vec<usize>,
    /// For each benchmark, the metrics that not all benchmarks have.
    pub(super) counters: Vec<Vec<usize>>,
}

impl Kept {
    pub(super) fn none(benchmarks: usize) -> Self {
        Kept {
            everywhere: Vec::new(),
            counters: vec![Vec::new(); benchmarks],
        }
    }

    /// Adds a metric to the benchmarks for which `has` is true.
    pub(super) fn keep(&mut self, column: usize, has: &[bool]) {
        if has.iter().all(|has| *has) {
            self.everywhere.push(column);
            return;
        }
        let counters = self.counters.iter_mut().zip(has);
        let counters = counters.filter(|(_, has)| **has);
        counters.for_each(|(counters, _)| counters.push(column));
    }
}

/// All rows of a table before they are ordered.
#[derive(Debug)]
pub(super) struct Recording {
    /// True if every row has a block and a slot.
    pub(super) paired: bool,
    pub(super) benchmarks: Vec<RecordedBenchmark>,
    pub(super) rows: Vec<Row>,
    /// The values of all rows, row by row, `width` values each.
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

    /// Returns the index of the benchmark of this name, in order of appearance; adds it if it is
    /// new.
    pub(super) fn benchmark(&mut self, name: &str) -> usize {
        if let Some(index) = self.by_name.get(name) {
            return *index;
        }
        self.benchmarks.push(RecordedBenchmark::new(name));
        let index = self.benchmarks.len() - 1;
        self.by_name.insert(name.to_owned(), index);
        index
    }

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

    /// Orders the rows and converts them to a run with the metrics `kept`.
    pub(super) fn into_run(
        mut self,
        file: &Path,
        metrics: Vec<Metric>,
        kept: &Kept,
        given: &RecordingPlan,
    ) -> Result<Run, FormatError> {
        if self.rows.is_empty() {
            return Err(FormatError::unknown(file, "has a header line but no rows"));
        }
        if !self.paired {
            self.number_unpaired_rows();
        }
        let order = self.order(file)?;
        let blocks = self.blocks(file, &order)?;
        let ids: Vec<Vec<ContenderId>> = self
            .benchmarks
            .iter()
            .map(|benchmark| benchmark.ids(file))
            .collect::<Result<_, _>>()?;
        let extent = Extent::of(&blocks);
        let benchmarks: Vec<&RecordedBenchmark> = self.benchmarks.iter().collect();
        let header = header(
            self.paired,
            &benchmarks,
            &ids,
            extent,
            &metrics,
            kept,
            given,
        );
        let sound = header.plan.validate();
        sound.map_err(|error| FormatError::whole(file, error))?;
        refuse_many_benchmarks(header.plan.contender_count()).map_err(cannot_read(file))?;
        let mut run = Run::new(header);
        for block in &blocks {
            let record = self.record(block, &ids[block.benchmark], kept);
            let taken = run.benchmarks[block.benchmark].push(&record);
            taken.map_err(|error| {
                let name = &self.benchmarks[block.benchmark].name;
                let line = self.row(block.rows[0]).line;
                FormatError::at(file, line, format!("benchmark '{name}': {error}"))
            })?;
        }
        Ok(run)
    }

    fn row(&self, index: u32) -> &Row {
        &self.rows[index as usize]
    }

    /// Makes every row a block. Without a replicate column, all rows are in one replicate: nothing
    /// shows that they come from different processes, and rows of one process are not independent.
    fn number_unpaired_rows(&mut self) {
        let mut blocks_of = HashMap::new();
        for row in &mut self.rows {
            let replicate = *row.replicate.get_or_insert(0);
            let block = blocks_of.entry((row.benchmark, replicate)).or_insert(0);
            row.block = *block;
            *block += 1;
        }
    }

    /// Returns the indexes of the rows in the order in which they ran, as far as the file records
    /// it.
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
                let place = self.place(file, pair[1] as usize);
                let first = self.row(pair[0]).line;
                Err(place.error(format!("{place} was already given on line {first}")))
            }
        }
    }

    /// Groups the ordered rows into blocks. Leaves out the last block of a benchmark if it is
    /// incomplete.
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
                        let mut place = self.place(file, rows[0] as usize);
                        place.slot = None;
                        return Err(place.error(format!("{place} has no sample of '{contender}'")));
                    }
                }
                blocks.push(block);
            }
        }
        Ok(blocks)
    }

    fn missing(&self, block: &RecordedBlock<'_>) -> Option<&str> {
        let present = block
            .rows
            .iter()
            .fold(0u64, |present, row| present | 1 << self.row(*row).contender);
        self.benchmarks[block.benchmark].missing_from(present)
    }

    fn record(&self, block: &RecordedBlock<'_>, ids: &[ContenderId], kept: &Kept) -> BlockRecord {
        let sample = |row: &u32| {
            let row = self.row(*row);
            Sample {
                contender: ids[usize::from(row.contender)],
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

/// Returns the header of a recording, with a plan that analyses the data once, at the end.
pub(super) fn header(
    paired: bool,
    benchmarks: &[&RecordedBenchmark],
    ids: &[Vec<ContenderId>],
    extent: Extent,
    metrics: &[Metric],
    kept: &Kept,
    given: &RecordingPlan,
) -> RunHeader {
    let metrics_at = |places: &[usize]| -> Vec<Metric> {
        places.iter().map(|place| metrics[*place].clone()).collect()
    };
    let planned = benchmarks.iter().zip(ids).zip(&kept.counters);
    let planned = planned.map(|((recorded, ids), counters)| Benchmark {
        counters: metrics_at(counters),
        ..recorded.planned(ids)
    });
    RunHeader {
        command: Vec::new(),
        tool_version: String::new(),
        started_at: None,
        origin: if paired {
            Origin::PairedRecording
        } else {
            Origin::UnpairedRecording
        },
        plan: Plan {
            design: Design {
                margin: given.margin,
                alpha: given.alpha,
                looks: Looks {
                    at: vec![extent.replicates],
                    levels: vec![given.alpha],
                    weights: vec![1.0],
                },
                blocks_per_replicate: extent.blocks,
                judged: given.judged.clone().as_in(metrics),
                ..Design::default()
            },
            seed: 0,
            benchmarks: planned.collect(),
        },
        environment: Environment::default(),
        metrics: metrics_at(&kept.everywhere),
        tick_ns: None,
        left_out: Vec::new(),
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The largest number of replicates of any benchmark.
    pub(super) replicates: u32,
    /// The largest number of blocks in any replicate.
    pub(super) blocks: u32,
}

impl Extent {
    fn of(blocks: &[RecordedBlock<'_>]) -> Self {
        let mut blocks_of = HashMap::new();
        for block in blocks {
            *blocks_of
                .entry((block.benchmark, block.replicate))
                .or_insert(0) += 1;
        }
        let mut replicates = HashMap::new();
        for (benchmark, _) in blocks_of.keys() {
            *replicates.entry(*benchmark).or_insert(0) += 1;
        }
        Extent {
            replicates: replicates.into_values().max().unwrap_or(0),
            blocks: blocks_of.into_values().max().unwrap_or(0),
        }
    }
}

struct RecordedBlock<'a> {
    benchmark: usize,
    replicate: u32,
    index: u32,
    rows: &'a [u32],
}

#[derive(Debug)]
pub(super) struct RecordedBenchmark {
    pub(super) name: String,
    contenders: Vec<RecordedContender>,
}

#[derive(Debug)]
struct RecordedContender {
    name: String,
    role: Option<Role>,
}

impl RecordedBenchmark {
    pub(super) fn new(name: &str) -> Self {
        RecordedBenchmark {
            name: name.to_owned(),
            contenders: Vec::new(),
        }
    }

    /// Returns the index of the contender of this name, in order of appearance; adds it if it is
    /// new. An error consists of the name of the wrong column and the reason.
    pub(super) fn contender(
        &mut self,
        name: &str,
        role: Option<Role>,
    ) -> Result<usize, (&'static str, String)> {
        let known = self.contenders.iter().position(|c| c.name == name);
        let max = Plan::MAX_CONTENDERS;
        if known.is_none() && self.contenders.len() == max {
            let problem = format!("'{name}' exceeds the limit of {max} contenders");
            return Err(("contender", problem));
        }
        let index = known.unwrap_or_else(|| {
            self.contenders.push(RecordedContender {
                name: name.to_owned(),
                role,
            });
            self.contenders.len() - 1
        });
        let contender = &mut self.contenders[index];
        match (contender.role, role) {
            (Some(before), Some(now)) if before != now => {
                let (now, before) = (now.name(), before.name());
                let problem = format!("'{name}' is {now} here and {before} in an earlier row");
                Err(("role", problem))
            }
            _ => {
                contender.role = contender.role.or(role);
                Ok(index)
            }
        }
    }

    pub(super) fn contenders(&self) -> impl Iterator<Item = (&str, Option<Role>)> {
        self.contenders
            .iter()
            .map(|one| (one.name.as_str(), one.role))
    }

    /// Returns the index of the baseline, in order of appearance: the first contender if no row has
    /// a role.
    fn baseline(&self, file: &Path) -> Result<usize, FormatError> {
        if self.contenders.iter().all(|c| c.role.is_none()) {
            return Ok(0);
        }
        let is_baseline = |c: &RecordedContender| c.role == Some(Role::Baseline);
        let claims: Vec<usize> = (0..self.contenders.len())
            .filter(|index| is_baseline(&self.contenders[*index]))
            .collect();
        let found = match claims[..] {
            [one] => return Ok(one),
            [] => "no row has the role 'baseline'".to_owned(),
            [one, other, ..] => format!(
                "both '{}' and '{}' have the role 'baseline'",
                self.contenders[one].name, self.contenders[other].name
            ),
        };
        Err(FormatError::whole(
            file,
            format!("benchmark '{}' needs one baseline; {found}", self.name),
        ))
    }

    /// Returns the id of each contender, in order of appearance. The baseline has the first id; the
    /// others keep their order.
    pub(super) fn ids(&self, file: &Path) -> Result<Vec<ContenderId>, FormatError> {
        let baseline = self.baseline(file)?;
        let id = |index: usize| match index {
            index if index == baseline => ContenderId::BASELINE,
            index if index < baseline => ContenderId(index as u8 + 1),
            index => ContenderId(index as u8),
        };
        Ok((0..self.contenders.len()).map(id).collect())
    }

    /// Returns the name of the first contender whose bit in `present` is not set; the bits are in
    /// order of appearance.
    pub(super) fn missing_from(&self, present: u64) -> Option<&str> {
        let absent = |index: &usize| present & 1 << index == 0;
        let index = (0..self.contenders.len()).find(absent)?;
        Some(&self.contenders[index].name)
    }

    /// Returns the benchmark for the plan, with its contenders in the order of their ids.
    pub(super) fn planned(&self, ids: &[ContenderId]) -> Benchmark {
        let mut in_order: Vec<_> = ids.iter().zip(&self.contenders).collect();
        in_order.sort_by_key(|(id, _)| **id);
        let contender = |(_, recorded): (&ContenderId, &RecordedContender)| Contender {
            name: recorded.name.clone(),
            workload: Workload::Recording,
        };
        Benchmark {
            name: self.name.clone(),
            parameters: Vec::new(),
            contenders: in_order.into_iter().map(contender).collect(),
            ..Benchmark::default()
        }
    }
}

/// The place of a row for errors, as far as its cells were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) file: &'a Path,
    pub(super) line: u64,
    pub(super) benchmark: &'a str,
    pub(super) replicate: Option<u32>,
    pub(super) block: Option<u32>,
    pub(super) slot: Option<u32>,
}

impl Place<'_> {
    pub(super) fn cell(&self, column: &str, problem: impl fmt::Display) -> FormatError {
        self.error(format!("{column} of {self}: {problem}"))
    }

    fn error(&self, problem: String) -> FormatError {
        FormatError::at(self.file, self.line, problem)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "benchmark '{}'", self.benchmark)?;
        let numbers = [
            ("replicate", self.replicate),
            ("block", self.block),
            ("slot", self.slot),
        ];
        for (word, number) in numbers {
            if let Some(number) = number {
                write!(f, ", {word} {number}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_sits_first_and_the_others_keep_their_order() {
        let mut benchmark = RecordedBenchmark::new("b");
        for (name, role) in [
            ("x", Role::Candidate),
            ("y", Role::Baseline),
            ("z", Role::Candidate),
        ] {
            benchmark.contender(name, Some(role)).unwrap();
        }
        let ids = benchmark.ids(Path::new("a.csv")).unwrap();
        assert_eq!(ids, [1, 0, 2].map(ContenderId));
        let planned = benchmark.planned(&ids);
        let names: Vec<_> = planned.contenders.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["y", "x", "z"]);
    }

    #[test]
    fn a_contender_that_is_missing_is_named() {
        let mut benchmark = RecordedBenchmark::new("b");
        for name in ["x", "y"] {
            benchmark.contender(name, None).unwrap();
        }
        assert_eq!(benchmark.missing_from(0b01), Some("y"));
        assert_eq!(benchmark.missing_from(0b11), None);
    }

    #[test]
    fn a_place_is_named_as_far_as_it_is_known() {
        let mut place = Place {
            file: Path::new("a.csv"),
            line: 7,
            benchmark: "sort",
            replicate: Some(3),
            block: Some(0),
            slot: Some(2),
        };
        let error = |place: &Place<'_>| place.cell("wall_ns", "'-1' is negative").to_string();
        assert_eq!(
            error(&place),
            "a.csv:7: wall_ns of benchmark 'sort', replicate 3, block 0, slot 2: '-1' is negative"
        );
        (place.replicate, place.block, place.slot) = (None, None, None);
        assert_eq!(
            error(&place),
            "a.csv:7: wall_ns of benchmark 'sort': '-1' is negative"
        );
    }
}
