//! Parts of a table, read line by line and put together.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use csv::ReaderBuilder;
use deadheat_model::{Flags, Metric, text_of_cell};
use memchr::{memchr, memchr_iter, memchr2};

use super::super::csv::{
    Columns, parse_flags, parse_iterations, parse_number, parse_role, parse_value, unsound,
};
use super::super::recording::Kept;
use super::rows::{Rows, Stretch};
use crate::number::Scanner;

/// Bytes that are read at once, unless a line is longer.
const STEP: usize = 1 << 18;

/// Whole numbers up to this one are floats.
const LARGEST_EXACT: u64 = 1 << 53;

/// The columns that the first line names, and how many cells it has; `None` where it is not for sure
/// all of the header.
pub(super) fn columns(path: &Path, line: &[u8]) -> Option<(Columns, usize)> {
    if line.contains(&b'"') {
        return None;
    }
    let mut reader = ReaderBuilder::new().from_reader(line);
    let header = reader.headers().ok().filter(|header| !header.is_empty())?;
    let header: Vec<&str> = header.iter().map(text_of_cell).collect();
    Some((Columns::find(path, &header).ok()?, header.len()))
}

/// Where the first line at or behind a place begins.
pub(super) fn next_line(path: &Path, place: u64) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    let before = file.seek(SeekFrom::Start(place.checked_sub(1)?)).ok()?;
    Some(before + BufReader::new(file).skip_until(b'\n').ok()? as u64)
}

/// The rows that are read of a part of the file.
pub(super) struct Reading<'a> {
    pub(super) columns: &'a Columns,
    pub(super) rows: Vec<Rows>,
    by_name: HashMap<String, usize>,
    /// By column that may be a metric: text was seen in it.
    texts: Vec<bool>,
    /// The benchmark of the row before, and how its name stands there.
    benchmark: usize,
    name: String,
    /// Cells of a row.
    width: usize,
    /// Where the commas of a row stand.
    commas: Vec<usize>,
}

impl<'a> Reading<'a> {
    pub(super) fn of(columns: &'a Columns, width: usize) -> Self {
        Reading {
            columns,
            rows: Vec::new(),
            by_name: HashMap::new(),
            texts: vec![false; columns.metrics.len()],
            benchmark: 0,
            name: String::new(),
            width,
            commas: Vec::new(),
        }
    }

    /// Reads the lines that begin at `from` or later and before `to`.
    pub(super) fn part(mut self, path: &Path, (from, to): (u64, u64)) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        file.seek(SeekFrom::Start(from)).ok()?;
        let part = file.take(to.saturating_sub(from));
        let mut reader = BufReader::with_capacity(STEP, part);
        let mut long = Vec::new();
        loop {
            let ahead = reader.fill_buf().ok()?;
            match memchr(b'\n', ahead) {
                Some(end) => {
                    self.line(&ahead[..end])?;
                    reader.consume(end + 1);
                }
                None => {
                    long.clear();
                    if reader.read_until(b'\n', &mut long).ok()? == 0 {
                        self.rows.iter_mut().for_each(Rows::shrink);
                        return Some(self);
                    }
                    self.line(long.strip_suffix(b"\n").unwrap_or(&long))?;
                }
            }
        }
    }

    /// Takes a row.
    fn line(&mut self, line: &[u8]) -> Option<()> {
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
        if self.name != name || self.rows.is_empty() {
            name.clone_into(&mut self.name);
            let (rows, by_name) = (&mut self.rows, &mut self.by_name);
            self.benchmark = of_name(rows, by_name, text_of_cell(name), columns.metrics.len());
        }
        let rows = &mut self.rows[self.benchmark];
        let contender = text_of_cell(cell(columns.contender));
        let contender = rows.benchmark.contender(contender, role).ok()?;
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

    /// Both parts, the other one behind this.
    pub(super) fn joined(mut self, other: Self) -> Option<Self> {
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

    /// The columns that are metrics; `None` where one must be and is not.
    pub(super) fn kept(&self) -> Option<Kept> {
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

/// The rows of the benchmark of that name, new or known.
fn of_name(
    rows: &mut Vec<Rows>,
    by_name: &mut HashMap<String, usize>,
    name: &str,
    columns: usize,
) -> usize {
    if let Some(known) = by_name.get(name) {
        return *known;
    }
    // Most tables have one benchmark after the other.
    rows.last_mut().into_iter().for_each(Rows::shrink);
    by_name.insert(name.to_owned(), rows.len());
    rows.push(Rows::new(name, columns));
    rows.len() - 1
}

/// The number of a replicate, block or slot, as those of any table are read.
fn number(cell: &str) -> Option<u32> {
    match integer(cell).map(u32::try_from) {
        Some(Ok(number)) => Some(number),
        _ => parse_number(cell).ok(),
    }
}

/// Calls in a batch, where they are a float as well.
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

/// Any number, sound or not.
fn value(cell: &str) -> Option<f64> {
    let mut scanner = Scanner {
        rest: cell.as_bytes(),
    };
    let plain = scanner.value().filter(|_| scanner.rest.is_empty());
    plain.or_else(|| parse_value(cell))
}
