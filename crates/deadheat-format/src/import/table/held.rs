//! A table of many rows that stand in the order they were taken: parts of the file are read at once
//! and held as columns, of which the samples are made benchmark by benchmark.
//!
//! Of two million rows that takes 26 MB, where rows in any order take 180 and their samples 90.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use deadheat_model::{BlockRecord, ContenderId, Flags, Metric, Run, Sample, Samples};
use memchr::memchr;

use super::super::recording::{Extent, Kept, RecordedBenchmark, RecordingPlan, header};
use super::super::saved::{SavedFormat, begins_a_table, saved_format};
use super::reading::{Reading, columns, next_line};
use super::rows::{Column, Rows};
use crate::bounded;
use crate::content::is_packed;
use crate::run_file::BUFFER;

/// Parts of a file smaller than this are not worth a thread.
const LEAST_PART: u64 = 1 << 20;

/// A table of samples of which the rows are held in little room, and made samples when they are
/// asked for, benchmark by benchmark and from any number of threads.
///
/// It knows tables without quotes, whose rows have their order within each benchmark. Where it does
/// not know what to make of a file, or something in it cannot hold, it says `None`, and
/// [`read_csv_from`](crate::read_csv_from) reads it or says what is wrong.
#[derive(Debug)]
pub struct RecordedTable {
    /// With everything but its samples.
    run: Run,
    paired: bool,
    kept: Kept,
    /// By benchmark, until they are taken.
    rows: Vec<Mutex<Option<Rows>>>,
    ids: Vec<Vec<ContenderId>>,
}

impl RecordedTable {
    /// Reads a file with as many threads as there are cores. `None` where it must be read in one
    /// go: standard input (`-`), a pipe, a packed file, anything but a plain table.
    pub fn open(path: impl AsRef<Path>, given: &RecordingPlan) -> Option<Self> {
        let path = path.as_ref();
        let worth_it = fs::metadata(path).ok()?.len() / LEAST_PART;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self::open_with(path, given, cores.min(worth_it as usize))
    }

    /// The same with so many threads, and one at least.
    pub fn open_with(
        path: impl AsRef<Path>,
        given: &RecordingPlan,
        threads: usize,
    ) -> Option<Self> {
        let path = path.as_ref();
        // Asked before it is opened: what is taken from a pipe is gone.
        let about = fs::metadata(path).ok()?;
        if path == Path::new("-") || !about.is_file() || !bounded::holds(about.len()) {
            return None;
        }
        let mut beginning = Vec::new();
        let file = File::open(path).ok()?;
        file.take(BUFFER as u64).read_to_end(&mut beginning).ok()?;
        let of_table = matches!(saved_format(path, &beginning), Ok(SavedFormat::TidyCsv));
        if is_packed(&beginning) || !of_table || !begins_a_table(&beginning) {
            return None;
        }
        let first = &beginning[..=memchr(b'\n', &beginning)?];
        let (columns, width) = columns(path, first)?;
        let parts = threads.max(1) as u64;
        let (from, to) = (first.len() as u64, about.len());
        let border = |part: u64| match part {
            0 => Some(from),
            part if part == parts => Some(to),
            part => next_line(path, from + (to - from) / parts * part),
        };
        let read = thread::scope(|scope| {
            let mut read = Vec::new();
            for part in 0..parts {
                let (columns, lines) = (&columns, (border(part)?, border(part + 1)?));
                read.push(scope.spawn(move || Reading::of(columns, width).part(path, lines)));
            }
            let read = read.into_iter().map(|part| part.join().ok()?);
            read.collect::<Option<Vec<_>>>()
        })?;
        let mut parts = read.into_iter();
        let first = parts.next()?;
        let read = parts.try_fold(first, Reading::joined)?;
        Self::of(read, path, given)
    }

    /// Orders what was read, if it holds.
    fn of(mut read: Reading<'_>, path: &Path, given: &RecordingPlan) -> Option<Self> {
        let paired = read.columns.are_paired();
        if read.rows.is_empty() {
            return None;
        }
        if paired {
            read.rows.iter_mut().try_for_each(Rows::cut)?;
        }
        let kept = read.kept()?;
        let ids = read.rows.iter().map(|rows| rows.benchmark.ids(path).ok());
        let ids: Vec<Vec<ContenderId>> = ids.collect::<Option<_>>()?;
        let extents: Vec<(u32, u32)> = read.rows.iter().map(|rows| rows.extent(paired)).collect();
        let benchmarks: Vec<&RecordedBenchmark> =
            read.rows.iter().map(|rows| &rows.benchmark).collect();
        let extent = Extent {
            replicates: extents.iter().map(|extent| extent.0).max()?,
            blocks: extents.iter().map(|extent| extent.1).max()?,
        };
        let metrics = read.columns.metrics.iter();
        let metrics: Vec<Metric> = metrics.map(|column| column.metric.clone()).collect();
        let header = header(paired, &benchmarks, &ids, extent, &metrics, &kept, given);
        header.plan.validate().ok()?;
        Some(Self {
            run: Run::new(header),
            paired,
            kept,
            rows: read.rows.into_iter().map(Some).map(Mutex::new).collect(),
            ids,
        })
    }

    /// The run, with everything but its samples: each benchmark has none.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The same, to be given rules.
    pub fn run_mut(&mut self) -> &mut Run {
        &mut self.run
    }

    /// The run without its samples.
    pub fn into_run(self) -> Run {
        self.run
    }

    /// Makes the samples of a benchmark, whose rows are held no longer. `None` where they were taken
    /// before, or there is no such benchmark.
    pub fn take_samples(&self, benchmark: usize) -> Option<Samples> {
        let rows = self.rows.get(benchmark)?.lock().ok()?.take()?;
        let ids = &self.ids[benchmark];
        let places = self.kept.everywhere.iter();
        let places = places.chain(&self.kept.counters[benchmark]);
        let values: Vec<&Column> = places.map(|place| &rows.values[*place]).collect();
        let mut samples = Samples::new(self.run.header.metrics_of(benchmark));
        samples.reserve(rows.blocks(self.paired), rows.contenders.len());
        let mut block = BlockRecord {
            benchmark,
            ..BlockRecord::default()
        };
        let mut push = |block: &mut BlockRecord, rows_of_block: Range<usize>| {
            block.samples.clear();
            block.values.clear();
            for row in rows_of_block {
                block.samples.push(Sample {
                    contender: ids[usize::from(rows.contenders[row])],
                    flags: Flags::from_bits(rows.flags.at(row) as u8),
                    exit_code: None,
                    iterations: rows.iterations.at(row) as u64,
                });
                block
                    .values
                    .extend(values.iter().map(|column| column.at(row)));
            }
            samples.push(block).ok()
        };
        let mut blocks_of = HashMap::new();
        let mut from = 0;
        for stretch in &rows.stretches {
            block.replicate = stretch.replicate;
            // Where nothing is paired every row is a block.
            let (first, blocks, of_rows) = if self.paired {
                (stretch.block, stretch.blocks, stretch.rows)
            } else {
                let next: &mut u32 = blocks_of.entry(stretch.replicate).or_default();
                let first = *next;
                *next += stretch.rows;
                (first, stretch.rows, 1)
            };
            for number in 0..blocks {
                block.index = first + number;
                let to = from + of_rows as usize;
                push(&mut block, from..to)?;
                from = to;
            }
        }
        Some(samples)
    }
}
