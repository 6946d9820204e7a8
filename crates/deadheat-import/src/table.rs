//! Reads large tables whose rows are in the order in which they were taken. Several threads read
//! parts of the file line by line and store the rows as compact columns; samples are made for one
//! benchmark at a time.
//!
//! Two million rows take 26 MB; as rows in any order they take 180 MB, and their samples 90 MB.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

use csv::ReaderBuilder;
use deadheat_model::{BlockRecord, ContenderId, Flags, Metric, Run, Sample, Samples, text_of_cell};
use memchr::{memchr, memchr_iter, memchr2};

use super::csv::{
    Columns, memory_of_row, parse_flags, parse_iterations, parse_number, parse_role, parse_value,
    unsound,
};
use super::csv_rows::{Extent, Kept, RecordedBenchmark, RecordingPlan, header};
use super::readers::{SavedFormat, begins_a_table, saved_format};
use deadheat_format::content::{self, BUFFER, Lines, is_packed};
use deadheat_format::limits::{self, Allowance, refuse_long_name, refuse_many_benchmarks};
use deadheat_format::number::Scanner;

/// A table of samples whose rows are stored compactly. Samples are made on request, benchmark by
/// benchmark, from any number of threads.
///
/// Supports only tables without quotes whose rows are ordered within each benchmark. For any other
/// file, and for a file with an error, the functions return `None`;
/// [`read_csv_from`](crate::read_csv_from) then reads the file or reports the error.
#[derive(Debug)]
pub struct RecordedTable {
    run: Run,
    paired: bool,
    kept: Kept,
    /// The rows of each benchmark, until they are taken.
    rows: Vec<Mutex<Option<Rows>>>,
    ids: Vec<Vec<ContenderId>>,
}

impl RecordedTable {
    /// Reads a file with one thread per core. Returns `None` if this type does not support the
    /// file: standard input (`-`), a pipe, a packed file, or anything but a plain table.
    pub fn open(path: impl AsRef<Path>, given: &RecordingPlan) -> Option<Self> {
        let path = path.as_ref();
        Self::open_with(path, given, content::worthwhile_parts(path)?)
    }

    /// Reads a file as [`RecordedTable::open`] does, with this number of threads; 0 means 1.
    pub fn open_with(
        path: impl AsRef<Path>,
        given: &RecordingPlan,
        threads: usize,
    ) -> Option<Self> {
        let path = path.as_ref();
        // Checked before opening, because bytes that were read from a pipe are lost.
        let about = fs::metadata(path).ok()?;
        if path == Path::new("-") || !about.is_file() || !limits::holds(about.len()) {
            return None;
        }
        let mut beginning = Vec::new();
        let file = File::open(path).ok()?;
        let begins = (&file).take(BUFFER as u64).read_to_end(&mut beginning);
        begins.ok()?;
        let of_table = matches!(saved_format(path, &beginning), Ok(SavedFormat::TidyCsv));
        if is_packed(&beginning) || !of_table || !begins_a_table(&beginning) {
            return None;
        }
        let first = &beginning[..=memchr(b'\n', &beginning)?];
        let (columns, width) = columns(path, first)?;
        let lines = (first.len() as u64, about.len());
        let read = |lines: Lines<'_>| Reading::of(&columns, width)?.part(lines);
        let read = content::in_parts(&file, lines, threads, read)?;
        let mut parts = read.into_iter();
        let first = parts.next()?;
        let read = parts.try_fold(first, Reading::joined)?;
        Self::of(read, path, given)
    }

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
        refuse_many_benchmarks(header.plan.contender_count()).ok()?;
        Some(Self {
            run: Run::new(header),
            paired,
            kept,
            rows: read.rows.into_iter().map(Some).map(Mutex::new).collect(),
            ids,
        })
    }

    /// Returns the run without its samples.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the run without its samples, to apply rules to it.
    pub fn run_mut(&mut self) -> &mut Run {
        &mut self.run
    }

    /// Converts this table into the run without its samples.
    pub fn into_run(self) -> Run {
        self.run
    }

    /// Makes the samples of a benchmark and drops its rows. Returns `None` if they were taken
    /// before, or if the benchmark does not exist.
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
            // In an unpaired table, every row is a block.
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

/// Every whole number up to 2⁵³ is exactly a float.
const LARGEST_EXACT: u64 = 1 << 53;

/// Parses the header line. Returns the columns and the number of cells, or `None` if the line may
/// not be the whole header.
fn columns(path: &Path, line: &[u8]) -> Option<(Columns, usize)> {
    if line.contains(&b'"') {
        return None;
    }
    let mut reader = ReaderBuilder::new().from_reader(line);
    let header = reader.headers().ok().filter(|header| !header.is_empty())?;
    let header: Vec<Cow<'_, str>> = header.iter().map(text_of_cell).collect();
    let header: Vec<&str> = header.iter().map(AsRef::as_ref).collect();
    Some((Columns::find(path, &header).ok()?, header.len()))
}

struct Reading<'a> {
    columns: &'a Columns,
    rows: Vec<Rows>,
    by_name: HashMap<String, usize>,
    /// For each column that may be a metric, true if it contains text.
    texts: Vec<bool>,
    /// Index of the benchmark of the previous row.
    benchmark: usize,
    /// Name of the benchmark of the previous row, as spelled in the file.
    name: String,
    width: usize,
    /// Positions of the commas in a row.
    commas: Vec<usize>,
    memory: Allowance,
}

impl<'a> Reading<'a> {
    fn of(columns: &'a Columns, width: usize) -> Option<Self> {
        Some(Reading {
            columns,
            rows: Vec::new(),
            by_name: HashMap::new(),
            texts: vec![false; columns.metrics.len()],
            benchmark: 0,
            name: String::new(),
            width,
            commas: Vec::new(),
            memory: Allowance::of_memory().ok()?,
        })
    }

    fn part(mut self, lines: Lines<'_>) -> Option<Self> {
        lines.each(|line, _| self.line(line))?;
        self.rows.iter_mut().for_each(Rows::shrink);
        Some(self)
    }

    fn line(&mut self, line: &[u8]) -> Option<()> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Some(());
        }
        if memchr2(b'"', b'\r', line).is_some() {
            return None;
        }
        let line = std::str::from_utf8(line).ok()?;
        self.commas.clear();
        self.commas.extend(memchr_iter(b',', line.as_bytes()));
        if self.commas.len() + 1 != self.width {
            return None;
        }
        let (columns, commas) = (self.columns, &self.commas);
        let cell = |place: usize| {
            let from = place.checked_sub(1).map_or(0, |before| commas[before] + 1);
            &line[from..commas.get(place).copied().unwrap_or(line.len())]
        };
        let number = |place: Option<usize>| match place {
            Some(place) => number(cell(place)),
            None => Some(0),
        };
        let paired = columns.are_paired();
        let mut stretch = Stretch {
            replicate: number(columns.replicate)?,
            block: 0,
            blocks: 1,
            rows: 1,
        };
        let mut slot = 0;
        if paired {
            (stretch.block, slot) = (number(columns.block)?, number(columns.slot)?);
        }
        let iterations = match columns.iterations {
            Some(place) => iterations(cell(place))?,
            None => 1.0,
        };
        let flags = match columns.flags {
            Some(place) => parse_flags(cell(place)).ok()?,
            None => Flags::NONE,
        };
        let role = match columns.role {
            Some(place) => parse_role(cell(place)).ok()?,
            None => None,
        };
        let name = cell(columns.benchmark);
        let known = self.rows.len();
        if self.name != name || self.rows.is_empty() {
            name.clone_into(&mut self.name);
            let (rows, by_name) = (&mut self.rows, &mut self.by_name);
            self.benchmark = of_name(rows, by_name, &text_of_cell(name), columns.metrics.len());
        }
        let new = self.rows.len() > known;
        if new {
            refuse_many_benchmarks(self.rows.len()).ok()?;
            refuse_long_name(name).ok()?;
        }
        let held = memory_of_row(columns.metrics.len(), new);
        self.memory.take(held).ok()?;
        let rows = &mut self.rows[self.benchmark];
        let contender = text_of_cell(cell(columns.contender));
        let contender = rows.benchmark.contender(&contender, role).ok()?;
        rows.extend(stretch, (slot, slot), paired)?;
        rows.contenders.push(contender as u8);
        rows.flags.push(flags.bits().into());
        rows.iterations.push(iterations);
        for (place, column) in columns.metrics.iter().enumerate() {
            let cell = cell(column.place);
            let value = value(cell);
            match value {
                Some(value) if unsound(cell, value).is_some() => return None,
                None if column.metric == Metric::Wall => return None,
                Some(_) => rows.seen[place].numbers = true,
                None if cell.is_empty() => rows.seen[place].empty = true,
                None => self.texts[place] = true,
            }
            rows.values[place].push(value.unwrap_or(0.0));
        }
        Some(())
    }

    fn joined(mut self, other: Self) -> Option<Self> {
        for (text, other) in self.texts.iter_mut().zip(other.texts) {
            *text |= other;
        }
        for rows in other.rows {
            match self.by_name.get(rows.benchmark.name.as_str()) {
                Some(known) => {
                    self.rows[*known].append(rows, self.columns.are_paired())?;
                    self.rows[*known].shrink();
                }
                None => {
                    let name = rows.benchmark.name.clone();
                    self.by_name.insert(name, self.rows.len());
                    self.rows.push(rows);
                }
            }
        }
        Some(self)
    }

    /// Returns the columns that are metrics; `None` if a column that must be numeric contains text.
    fn kept(&self) -> Option<Kept> {
        let mut kept = Kept::none(self.rows.len());
        for (place, column) in self.columns.metrics.iter().enumerate() {
            let seen = || self.rows.iter().map(|rows| rows.seen[place]);
            let numbers = seen().any(|seen| seen.numbers);
            let text = self.texts[place] || seen().any(|seen| seen.numbers && seen.empty);
            if numbers && text && column.must_be_numeric() {
                return None;
            }
            if numbers && !text {
                let has: Vec<bool> = seen().map(|seen| seen.numbers).collect();
                kept.keep(place, &has);
            }
        }
        Some(kept)
    }
}

/// Returns the index of the benchmark of this name; adds it if it is new.
fn of_name(
    rows: &mut Vec<Rows>,
    by_name: &mut HashMap<String, usize>,
    name: &str,
    columns: usize,
) -> usize {
    if let Some(known) = by_name.get(name) {
        return *known;
    }
    // In most tables, the rows of a benchmark are contiguous, so that the previous benchmark is
    // complete.
    rows.last_mut().into_iter().for_each(Rows::shrink);
    by_name.insert(name.to_owned(), rows.len());
    rows.push(Rows::new(name, columns));
    rows.len() - 1
}

/// Parses the number of a replicate, block or slot.
fn number(cell: &str) -> Option<u32> {
    match integer(cell).map(u32::try_from) {
        Some(Ok(number)) => Some(number),
        _ => parse_number(cell).ok(),
    }
}

/// Parses the number of iterations; returns `None` if it is not exactly a float.
fn iterations(cell: &str) -> Option<f64> {
    let plain = integer(cell).filter(|number| *number > 0);
    let number = plain.or_else(|| parse_iterations(cell).ok());
    let number = number.filter(|number| *number <= LARGEST_EXACT);
    number.map(|number| number as f64)
}

fn integer(cell: &str) -> Option<u64> {
    let mut scanner = Scanner {
        rest: cell.as_bytes(),
    };
    scanner.integer().filter(|_| scanner.rest.is_empty())
}

fn value(cell: &str) -> Option<f64> {
    let mut scanner = Scanner {
        rest: cell.as_bytes(),
    };
    let plain = scanner.value().filter(|_| scanner.rest.is_empty());
    plain.or_else(|| parse_value(cell))
}

/// The rows of one benchmark, in order.
#[derive(Debug)]
struct Rows {
    benchmark: RecordedBenchmark,
    stretches: Vec<Stretch>,
    /// Slots of the first row and of the last row.
    slots: (u32, u32),
    /// Index of the contender of each row, in order of appearance.
    contenders: Vec<u8>,
    flags: Column,
    iterations: Column,
    /// The columns that may be metrics.
    values: Vec<Column>,
    seen: Vec<Seen>,
}

/// Consecutive blocks of one replicate, all with the same number of rows. The last stretch of a
/// benchmark has only one block. In an unpaired table, each stretch is stored as one block, whose
/// rows are consecutive rows of a replicate.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    replicate: u32,
    /// Number of the first block.
    block: u32,
    blocks: u32,
    /// Number of rows in each block.
    rows: u32,
}

impl Stretch {
    fn place(&self) -> (u32, u32) {
        (self.replicate, self.block)
    }

    fn all_rows(&self) -> usize {
        self.blocks as usize * self.rows as usize
    }

    /// Appends `next` if it continues this stretch. Returns true if it did.
    fn takes(&mut self, next: &Stretch) -> bool {
        let follows = self.replicate == next.replicate
            && self.rows == next.rows
            && self.block.checked_add(self.blocks) == Some(next.block);
        if follows {
            self.blocks += next.blocks;
        }
        follows
    }
}

/// The kinds of cells in a column, in the rows of one benchmark.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    numbers: bool,
    empty: bool,
}

impl Rows {
    fn new(name: &str, columns: usize) -> Self {
        Rows {
            benchmark: RecordedBenchmark::new(name),
            stretches: Vec::new(),
            slots: (0, 0),
            contenders: Vec::new(),
            flags: Column::default(),
            iterations: Column::default(),
            values: vec![Column::default(); columns],
            seen: vec![Seen::default(); columns],
        }
    }

    /// Appends a stretch, with the slots of its first and last row. Returns `None` if it does not
    /// come after all other rows.
    fn extend(&mut self, stretch: Stretch, slots: (u32, u32), paired: bool) -> Option<()> {
        match self.stretches.last_mut() {
            None => self.slots.0 = slots.0,
            Some(last) if paired && (last.place(), self.slots.1) >= (stretch.place(), slots.0) => {
                return None;
            }
            Some(last) if last.place() == stretch.place() => {
                // If the stretch has several blocks, the first would get more rows than the others.
                let one = stretch.blocks == 1;
                last.rows = last.rows.checked_add(stretch.rows).filter(|_| one)?;
                self.slots.1 = slots.1;
                return Some(());
            }
            // The previous block is complete now.
            Some(_) if paired => self.fold(),
            Some(_) => {}
        }
        self.slots.1 = slots.1;
        self.stretches.push(stretch);
        Some(())
    }

    /// Merges the last two stretches if the last one continues the one before it.
    fn fold(&mut self) {
        if let [.., before, last] = self.stretches.as_mut_slice()
            && before.takes(last)
        {
            self.stretches.pop();
        }
    }

    fn shrink(&mut self) {
        self.stretches.shrink_to_fit();
        self.contenders.shrink_to_fit();
        let columns = self.values.iter_mut();
        let columns = columns.chain([&mut self.flags, &mut self.iterations]);
        columns.for_each(Column::shrink);
    }

    fn blocks(&self, paired: bool) -> usize {
        if paired {
            self.stretches.iter().map(|one| one.blocks as usize).sum()
        } else {
            self.contenders.len()
        }
    }

    fn append(&mut self, other: Rows, paired: bool) -> Option<()> {
        let known = other.benchmark.contenders();
        let known = known.map(|(name, role)| self.benchmark.contender(name, role).ok());
        let known: Vec<usize> = known.collect::<Option<_>>()?;
        for (place, stretch) in other.stretches.iter().enumerate() {
            // The order within the later part was already checked.
            let first = if place == 0 { other.slots.0 } else { 0 };
            self.extend(*stretch, (first, other.slots.1), paired)?;
        }
        let contenders = other.contenders.iter();
        self.contenders
            .extend(contenders.map(|index| known[usize::from(*index)] as u8));
        self.flags.append(&other.flags);
        self.iterations.append(&other.iterations);
        for (column, other) in self.values.iter_mut().zip(&other.values) {
            column.append(other);
        }
        for (seen, other) in self.seen.iter_mut().zip(&other.seen) {
            seen.numbers |= other.numbers;
            seen.empty |= other.empty;
        }
        Some(())
    }

    /// Drops the last block if it is incomplete. Returns `None` if an earlier block is incomplete.
    fn cut(&mut self) -> Option<()> {
        let last = self.stretches.len().checked_sub(1)?;
        let (mut from, mut before) = (0, 0);
        for (place, stretch) in self.stretches.iter().enumerate() {
            let contenders = &self.contenders[from..from + stretch.all_rows()];
            let missing = contenders.chunks(stretch.rows as usize).any(|block| {
                let present = block.iter().fold(0_u64, |present, one| present | 1 << one);
                self.benchmark.missing_from(present).is_some()
            });
            if place == last && (missing || stretch.rows < before) {
                self.stretches.pop();
                break;
            } else if missing {
                return None;
            }
            from += contenders.len();
            before = stretch.rows;
        }
        Some(())
    }

    /// Returns the number of replicates, and the largest number of blocks in a replicate.
    fn extent(&self, paired: bool) -> (u32, u32) {
        let mut blocks_of = HashMap::new();
        for stretch in &self.stretches {
            let blocks = if paired { stretch.blocks } else { stretch.rows };
            *blocks_of.entry(stretch.replicate).or_insert(0) += blocks;
        }
        let replicates = blocks_of.len() as u32;
        (
            replicates,
            blocks_of.into_values().max().unwrap_or_default(),
        )
    }
}

/// The numbers of a column, stored compactly.
#[derive(Clone, Debug)]
enum Column {
    /// One number, and how often it is repeated.
    Same(f64, usize),
    Whole(Vec<u32>),
    Any(Vec<f64>),
}

impl Default for Column {
    fn default() -> Self {
        Column::Same(0.0, 0)
    }
}

impl Column {
    fn push(&mut self, value: f64) {
        match self {
            Column::Any(values) => values.push(value),
            Column::Same(_, 0) => *self = Column::Same(value, 1),
            Column::Same(same, count) if same.to_bits() == value.to_bits() => *count += 1,
            Column::Whole(values) => match whole(value) {
                Some(value) => values.push(value),
                None => {
                    let wide = values.iter().map(|value| f64::from(*value));
                    *self = Column::Any(wide.chain([value]).collect());
                }
            },
            Column::Same(same, count) => {
                *self = match (whole(*same), whole(value)) {
                    (Some(same), Some(_)) => Column::Whole(vec![same; *count]),
                    _ => Column::Any(vec![*same; *count]),
                };
                self.push(value);
            }
        }
    }

    fn append(&mut self, other: &Column) {
        (0..other.len()).for_each(|row| self.push(other.at(row)));
    }

    fn shrink(&mut self) {
        match self {
            Column::Same(..) => {}
            Column::Whole(values) => values.shrink_to_fit(),
            Column::Any(values) => values.shrink_to_fit(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Column::Same(_, count) => *count,
            Column::Whole(values) => values.len(),
            Column::Any(values) => values.len(),
        }
    }

    fn at(&self, row: usize) -> f64 {
        match self {
            Column::Same(same, _) => *same,
            Column::Whole(values) => values[row].into(),
            Column::Any(values) => values[row],
        }
    }
}

/// Returns the number as 32 bits if the conversion is exact, which it is not for −0.
fn whole(value: f64) -> Option<u32> {
    let whole = value as u32;
    (f64::from(whole).to_bits() == value.to_bits()).then_some(whole)
}
