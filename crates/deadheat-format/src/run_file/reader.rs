//! A run file, read line by line.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use deadheat_model::{Benchmark, BlockRecord, Metric, Run, RunHeader, Sample, Samples};
use serde::Deserialize;
use serde_json::Value;

use super::decode::{decode_compact, decode_json};
use super::placed::{PlacedLine, PlacedLines};
use super::schema::check_schema;
use super::wire::{EndLine, FailedLine, Header};
use super::written::SCHEMA;
use crate::bounded::{self, read_line};
use crate::error::{FormatError, cannot_read};

/// Bytes asked of the system at once.
pub(crate) const BUFFER: usize = 1 << 16;

/// Reads a run file. A file that stops in the middle of a line, or whose last
/// line is garbage, is a valid, shorter run.
///
/// Errors name the file, and the line where one is to blame.
pub fn read_run(path: impl AsRef<Path>) -> Result<Run, FormatError> {
    let path = path.as_ref();
    let file = bounded::open(path).map_err(cannot_read(path))?;
    read_run_from(BufReader::with_capacity(BUFFER, file), path)
}

/// Reads the first line of a run file only: what was known before the first
/// sample.
pub fn read_header(path: impl AsRef<Path>) -> Result<RunHeader, FormatError> {
    let path = path.as_ref();
    let mut line = Vec::new();
    let file = bounded::open(path).map_err(cannot_read(path))?;
    read_line(&mut BufReader::new(file), &mut line).map_err(cannot_read(path))?;
    Ok(read_run_from(line.as_slice(), path)?.header)
}

/// Reads a run file from anywhere; `name` stands for the file in errors.
pub fn read_run_from(reader: impl BufRead, name: impl AsRef<Path>) -> Result<Run, FormatError> {
    Ok(scan(reader, name.as_ref())?.run)
}

/// A run and the part of its file that holds it.
pub(super) struct Scan {
    pub(super) run: Run,
    /// Bytes up to the end of the last line that could be read.
    pub(super) len: u64,
    /// Whether that line lacks its newline.
    pub(super) unterminated: bool,
}

/// Reads a run and notes how far its file is whole. Holds one line at a time.
pub(super) fn scan(mut reader: impl BufRead, name: &Path) -> Result<Scan, FormatError> {
    let mut line = Vec::new();
    let mut len = next_line(&mut reader, &mut line).map_err(cannot_read(name))?;
    if len == 0 {
        return Err(FormatError::Empty {
            file: name.to_owned(),
        });
    }
    let mut unterminated = !line.ends_with(b"\n");
    let mut reading = Reading::begin(name, &line)?;
    // Garbage is forgiven only in the last line, and which line is the last is
    // known when nothing follows.
    let mut garbage = None;
    loop {
        // Most lines lie whole in the reader's buffer and need no copy. An
        // error here comes again below, where it is told.
        let ahead = reader.fill_buf().unwrap_or_default();
        if garbage.is_none()
            && let Some(bytes) = reading.take_compact(ahead)?
        {
            reader.consume(bytes);
            len += bytes as u64;
            unterminated = false;
            continue;
        }
        let bytes = next_line(&mut reader, &mut line).map_err(cannot_read(name))?;
        if bytes == 0 {
            break;
        }
        if line.trim_ascii().is_empty() && garbage.is_some() {
            continue;
        }
        if let Some(error) = garbage {
            return Err(error);
        }
        match reading.take(&line) {
            Ok(()) => {
                len += bytes;
                unterminated = !line.ends_with(b"\n");
            }
            Err(Refusal::Garbage(problem)) => garbage = Some(reading.error(problem)),
            Err(Refusal::Error(error)) => return Err(error),
        }
    }
    Ok(Scan {
        run: reading.finish(),
        len,
        unterminated,
    })
}

/// Reads the next line into `line` and gives back its length; 0 at the end.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
    line.clear();
    Ok(read_line(reader, line)? as u64)
}

/// Any line after the first that is not a block.
#[derive(Debug)]
enum Line {
    /// A block in a shape the fast scanner does not know.
    Block(Value),
    Resume,
    Placed(PlacedLine),
    Failed(FailedLine),
    End(EndLine),
    /// A header, which has no place below the first line.
    Header,
    /// A kind of a later minor version.
    Unknown,
}

impl Line {
    /// Tells the kind of a line by its first known key. `Err` says in words
    /// why the line is none.
    fn from_json(json: Value) -> Result<Self, String> {
        let is = |key| json.get(key).is_some();
        let kind = if is("block") {
            return Ok(Line::Block(json));
        } else if is("resume") {
            Ok(Line::Resume)
        } else if is("placed") {
            PlacedLine::deserialize(json).map(Line::Placed)
        } else if is("failed") {
            FailedLine::deserialize(json).map(Line::Failed)
        } else if is("end") {
            EndLine::deserialize(json).map(Line::End)
        } else if is("schema") {
            Ok(Line::Header)
        } else {
            Ok(Line::Unknown)
        };
        kind.map_err(|error| error.to_string())
    }
}

/// Why a line could not be taken.
pub(super) enum Refusal {
    /// It is no JSON object: perhaps what a kill left behind.
    Garbage(String),
    /// It is one, and says something that cannot be.
    Error(FormatError),
}

/// A sample of somebody who does not race in this benchmark.
pub(super) fn stranger<'a>(block: &'a BlockRecord, benchmark: &Benchmark) -> Option<&'a Sample> {
    let racing = benchmark.contenders.len();
    let mut samples = block.samples.iter();
    samples.find(|sample| sample.contender.index() >= racing)
}

/// A run as far as it was read.
pub(super) struct Reading<'a> {
    name: &'a Path,
    /// The last line taken or refused, counted from 1.
    line: u64,
    pub(super) run: Run,
    placed: PlacedLines,
    /// The last block taken, or what was last mistaken for one.
    pub(super) block: BlockRecord,
    widths: Widths,
    /// Launches since the beginning or the last end line.
    launches: u64,
}

/// How many values the samples of each benchmark have.
#[derive(Debug)]
pub(super) struct Widths {
    of: Vec<usize>,
}

impl Widths {
    pub(super) fn of(header: &RunHeader) -> Self {
        let benchmarks = header.plan.benchmarks.iter();
        let columns = |counters: &[Metric]| header.metrics.len() + counters.len();
        Self {
            of: benchmarks.map(|one| columns(&one.counters)).collect(),
        }
    }

    /// Those in a benchmark; one that the plan does not have is refused
    /// whatever it holds.
    pub(super) fn in_benchmark(&self, benchmark: usize) -> usize {
        let width = self.of.get(benchmark).or(self.of.first());
        width.map_or(0, |width| *width)
    }
}

impl<'a> Reading<'a> {
    /// From the first line.
    pub(super) fn begin(name: &'a Path, first: &[u8]) -> Result<Self, FormatError> {
        check_schema(name, first)?;
        let error = |problem| FormatError::Line {
            file: name.to_owned(),
            line: 1,
            problem,
        };
        let header: Header = serde_json::from_slice(first)
            .map_err(|problem| error(format!("the header does not hold: {problem}")))?;
        let header = header.into_model().map_err(error)?;
        header.plan.validate().map_err(|source| FormatError::Plan {
            file: name.to_owned(),
            source,
        })?;
        Ok(Reading {
            name,
            line: 1,
            widths: Widths::of(&header),
            run: Run::new(header),
            placed: PlacedLines::default(),
            block: BlockRecord::default(),
            launches: 0,
        })
    }

    fn error(&self, problem: String) -> FormatError {
        FormatError::Line {
            file: self.name.to_owned(),
            line: self.line,
            problem,
        }
    }

    /// Takes the line that `ahead` begins with, when it is a block as deadheat
    /// writes it, and gives back its length.
    fn take_compact(&mut self, ahead: &[u8]) -> Result<Option<usize>, FormatError> {
        let Some(len) = decode_compact(ahead, |of| self.widths.in_benchmark(of), &mut self.block)
        else {
            return Ok(None);
        };
        self.line += 1;
        self.take_block()?;
        Ok(Some(len))
    }

    /// Takes any line.
    pub(super) fn take(&mut self, line: &[u8]) -> Result<(), Refusal> {
        if self.take_compact(line).map_err(Refusal::Error)?.is_some() {
            return Ok(());
        }
        self.line += 1;
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let json: Value = serde_json::from_slice(line)
            .map_err(|error| Refusal::Garbage(format!("not JSON: {error}")))?;
        if !json.is_object() {
            return Err(Refusal::Garbage("not a JSON object".to_owned()));
        }
        self.take_json(json).map_err(Refusal::Error)
    }

    fn take_json(&mut self, json: Value) -> Result<(), FormatError> {
        match Line::from_json(json).map_err(|problem| self.error(problem))? {
            Line::Block(json) => {
                decode_json(json, |of| self.widths.in_benchmark(of), &mut self.block)
                    .map_err(|problem| self.error(problem))?;
                self.take_block()
            }
            Line::Resume => {
                self.run.resume();
                self.placed.resume();
                Ok(())
            }
            Line::Placed(placed) => {
                let placed = placed.into_model();
                self.check_benchmark(placed.benchmark, "a placement")?;
                let benchmark = &self.run.header.plan.benchmarks[placed.benchmark];
                self.placed
                    .take(&placed, benchmark, self.line)
                    .map_err(|problem| self.error(problem))?;
                self.run.placed.push(placed);
                Ok(())
            }
            Line::Failed(failed) => {
                let failure = failed.into_model();
                self.check_benchmark(failure.benchmark, "a failure")?;
                self.run.failures.push(failure);
                Ok(())
            }
            Line::End(end) => {
                let end = end.into_model();
                self.run.launches = end.launches;
                self.launches = 0;
                self.run.end = Some(end);
                Ok(())
            }
            Line::Header => Err(self.error(format!(
                "a second header: a file of schema {SCHEMA} holds one run"
            ))),
            Line::Unknown => Ok(()),
        }
    }

    /// Whether the plan has the benchmark that `what` speaks of.
    fn check_benchmark(&self, index: usize, what: &str) -> Result<(), FormatError> {
        let known = self.run.header.plan.benchmarks.len();
        if index < known {
            return Ok(());
        }
        Err(self.error(format!(
            "{what} of benchmark {index}, but the plan has {known}, counted from 0"
        )))
    }

    fn take_block(&mut self) -> Result<(), FormatError> {
        let block = &self.block;
        self.check_benchmark(block.benchmark, "a block")?;
        let benchmark = &self.run.header.plan.benchmarks[block.benchmark];
        if let Some(sample) = stranger(block, benchmark) {
            return Err(self.error(format!(
                "benchmark '{}', replicate {}, block {}: a sample of contender {}, \
                 but the plan has {}, counted from 0",
                benchmark.name,
                block.replicate,
                block.index,
                sample.contender.0,
                benchmark.contenders.len()
            )));
        }
        let samples: &mut Samples = &mut self.run.benchmarks[block.benchmark];
        let launched = match benchmark.processes_per_replicate() {
            // They serve all blocks of the replicate.
            Some(processes) => {
                let last = samples.blocks().last();
                let first = last.is_none_or(|last| last.replicate != block.replicate);
                if first { processes } else { 0 }
            }
            None => block.samples.len() as u64 + u64::from(block.primed),
        };
        samples.push(block).map_err(|source| FormatError::Sample {
            file: self.name.to_owned(),
            line: self.line,
            benchmark: benchmark.name.clone(),
            source,
        })?;
        let elapsed_ns = block.elapsed_ns;
        self.count(launched, elapsed_ns);
        Ok(())
    }

    /// Counts blocks whose samples are not taken here: how many processes were
    /// launched for them, and when the last of them was over.
    pub(super) fn count(&mut self, launched: u64, elapsed_ns: u64) {
        self.launches += launched;
        self.run.elapsed_ns = self.run.elapsed_ns.max(elapsed_ns);
        // An end was not the end when blocks follow it.
        self.run.end = None;
    }

    pub(super) fn finish(mut self) -> Run {
        self.run.launches += self.launches;
        self.run
    }
}
