//! Reads run files line by line.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use deadheat_model::{
    Benchmark, BenchmarkFailure, BlockRecord, HELP, Json, Metric, Object, Observed, Placed, Run,
    RunEnd, RunHeader, Sample, Samples,
};

use super::block::{decode_compact, decode_json};
use super::lines::SCHEMA;
use crate::content::{self, BUFFER, is_packed, kind_of_bytes};
use crate::error::{FileProblem, FormatError, cannot_read};
use crate::limits::{Allowance, read_line, refuse_many_benchmarks};
use crate::wire::{Wire, major_version};

/// Reads a run file. A file that ends in the middle of a line, or whose last line is garbage, is a
/// valid, shorter run.
///
/// Errors name the file and, if known, the line.
pub fn read_run(path: impl AsRef<Path>) -> Result<Run, FormatError> {
    let path = path.as_ref();
    let file = content::open(path).map_err(cannot_read(path))?;
    read_run_from(BufReader::with_capacity(BUFFER, file), path)
}

/// Reads only the first line of a run file, which was written before the first sample. Refuses a
/// pipe, because the rest of the file is read later.
pub fn read_header(path: impl AsRef<Path>) -> Result<RunHeader, FormatError> {
    let path = path.as_ref();
    let mut line = Vec::new();
    let file = content::open_repeatedly(path).map_err(cannot_read(path))?;
    read_line(&mut BufReader::new(file), &mut line).map_err(cannot_read(path))?;
    Ok(read_run_from(line.as_slice(), path)?.header)
}

/// Returns true if a run file ends with its header, as a plan does, because nothing was raced.
///
/// # Errors
///
/// The file cannot be read.
pub fn has_only_header(path: impl AsRef<Path>) -> Result<bool, FormatError> {
    let path = path.as_ref();
    let file = content::open_repeatedly(path).map_err(cannot_read(path))?;
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    let mut next_length = || read_line(&mut reader, &mut line).map_err(cannot_read(path));
    next_length()?;
    Ok(next_length()? == 0)
}

/// Fails if the file is a plan, which has no samples; `header` is the header of the file.
///
/// # Errors
///
/// The file is a plan that was not raced yet, or it cannot be read.
pub fn refuse_plan(path: impl AsRef<Path>, header: &RunHeader) -> Result<(), FormatError> {
    let path = path.as_ref();
    // Only plans and parts of races record the boot id.
    let may_be_plan = header.environment.boot.is_some() && header.plan.design.shard.is_none();
    if !may_be_plan || !has_only_header(path)? {
        return Ok(());
    }
    let problem = format!(
        "is a plan that has not been raced yet{HELP}deadheat run --plan {} races it",
        path.display()
    );
    Err(FormatError::whole(path, problem))
}

/// Returns the number of the last line of a run file if its line break is missing; `None` for a pipe,
/// which cannot be read again, and for a file that cannot be read.
pub fn line_that_breaks_off(path: impl AsRef<Path>) -> Option<usize> {
    let path = path.as_ref();
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let text = std::fs::read(path).ok()?;
    let breaks_off = text.last().is_some_and(|last| *last != b'\n');
    breaks_off.then(|| text.split(|byte| *byte == b'\n').count())
}

/// Reads a run from a reader; `name` is the name of the file in errors.
pub fn read_run_from(reader: impl BufRead, name: impl AsRef<Path>) -> Result<Run, FormatError> {
    Ok(scan(reader, name.as_ref())?.run)
}

pub(super) struct Scan {
    pub(super) run: Run,
    /// Length in bytes up to the end of the last line that could be read.
    pub(super) len: u64,
    /// True if the last line that could be read lacks its newline.
    pub(super) unterminated: bool,
}

/// Reads a run and determines how much of its file is valid. Holds one line at a time.
pub(super) fn scan(mut reader: impl BufRead, name: &Path) -> Result<Scan, FormatError> {
    let mut line = Vec::new();
    let mut len = next_line(&mut reader, &mut line).map_err(cannot_read(name))?;
    if len == 0 {
        return Err(FileProblem::Empty.of(name));
    }
    let mut unterminated = !line.ends_with(b"\n");
    let mut reading = Reading::begin(name, &line)?;
    // Garbage is allowed only in the last line, so the error is returned only if another line
    // follows.
    let mut garbage = None;
    loop {
        // Most lines are whole in the buffer and need no copy. `next_line` reads again after an
        // interruption.
        let ahead = match reader.fill_buf() {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(cannot_read(name)(error));
            }
            ahead => ahead.unwrap_or_default(),
        };
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

pub(super) fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
    line.clear();
    Ok(read_line(reader, line)? as u64)
}

pub(super) enum Refusal {
    /// The line is not a JSON object, perhaps because the process was killed.
    Garbage(String),
    /// The line is a JSON object with impossible content.
    Error(FormatError),
}

/// Returns the first sample whose contender is not in the benchmark.
pub(super) fn unknown_contender<'a>(
    block: &'a BlockRecord,
    benchmark: &Benchmark,
) -> Option<&'a Sample> {
    let racing = benchmark.contenders.len();
    let mut samples = block.samples.iter();
    samples.find(|sample| sample.contender.index() >= racing)
}

/// Returns the JSON of a first line; fails if its schema is not supported.
fn read_header_line(name: &Path, first: &[u8]) -> Result<Json, FormatError> {
    let json = std::str::from_utf8(first).ok().and_then(Json::parse);
    let schema = json.as_ref().and_then(Json::as_object);
    let schema = schema.and_then(|header| Some(header.get("schema")?.as_text()?.to_owned()));
    let (Some(json), Some(schema)) = (json, schema) else {
        // If the run was killed while the header was written, the beginning still identifies it.
        if first.starts_with(b"{\"schema\":\"deadheat.run/") {
            let problem = "the header is cut off, so the file holds no run";
            return Err(FormatError::at(name, 1, problem));
        }
        return Err(foreign(
            name,
            kind_of_bytes(first).unwrap_or(match first.trim_ascii_start().first() {
                Some(b'{' | b'[') => "JSON without the header of a run",
                _ if is_packed(first) => "a packed file (unpack it first: gzip -d or zstd -d)",
                _ => "text without the header of a run",
            }),
        ));
    };
    match major_version(&schema, "deadheat.run/") {
        Some(1) => Ok(json),
        Some(2..) => Err(FormatError::unknown(
            name,
            format!("has schema {schema}: it needs a later deadheat; this one reads {SCHEMA}"),
        )),
        _ => Err(foreign(name, &format!("JSON of schema {schema}"))),
    }
}

fn foreign(file: &Path, found: &str) -> FormatError {
    FormatError::unknown(
        file,
        format!(
            "is not a run file, but {found}{HELP}races write run files ({SCHEMA}) with --save \
             and into .deadheat/runs; deadheat compare OLD NEW reads results of other tools"
        ),
    )
}

pub(super) struct Reading<'a> {
    name: &'a Path,
    /// Number of the last line read, from 1.
    line: u64,
    pub(super) run: Run,
    /// Line number of each placement, by benchmark and replicate, to refuse duplicates. A resumed
    /// run places its current replicate again, because workers and links do not outlive a run.
    placed_on: HashMap<(usize, u32), u64>,
    /// A buffer that is reused for every block: the last block read, or what was decoded of a line
    /// before it turned out not to be a block.
    pub(super) block: BlockRecord,
    widths: Widths,
    /// Number of process launches since the beginning of the file, or since its last end line.
    launches: u64,
    /// Memory for the header and all other lines that are not blocks.
    memory: Allowance,
}

/// Number of values per sample, by benchmark.
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

    /// Returns the number of values per sample. The result does not matter for a benchmark that the
    /// plan does not have, because its blocks are refused.
    pub(super) fn in_benchmark(&self, benchmark: usize) -> usize {
        let width = self.of.get(benchmark).or(self.of.first());
        width.map_or(0, |width| *width)
    }
}

impl<'a> Reading<'a> {
    /// Reads the header from `first`, the first line of a file.
    pub(super) fn begin(name: &'a Path, first: &[u8]) -> Result<Self, FormatError> {
        let mut memory = Allowance::of_lines().map_err(cannot_read(name))?;
        let kept = memory.memory_of_line(first).map_err(cannot_read(name))?;
        memory.take(kept).map_err(cannot_read(name))?;
        let json = read_header_line(name, first)?;
        let header = RunHeader::from_json(&json).map_err(|error| {
            let prefix = if error.is_sentence() {
                ""
            } else {
                "the header is invalid: "
            };
            FormatError::at(name, 1, format!("{prefix}{error}"))
        })?;
        let sound = header.plan.validate();
        sound.map_err(|error| FormatError::whole(name, error))?;
        // An answer of 640,000 benchmarks that were left out took 0.9 GB.
        let benchmarks = header.plan.contender_count() + header.left_out.len();
        refuse_many_benchmarks(benchmarks).map_err(cannot_read(name))?;
        Ok(Reading {
            name,
            line: 1,
            widths: Widths::of(&header),
            run: Run::new(header),
            placed_on: HashMap::new(),
            block: BlockRecord::default(),
            launches: 0,
            memory,
        })
    }

    fn error(&self, problem: impl fmt::Display) -> FormatError {
        FormatError::at(self.name, self.line, problem)
    }

    /// Reads the line at the beginning of `ahead` if it is a block as deadheat writes it, and
    /// returns its length in bytes.
    fn take_compact(&mut self, ahead: &[u8]) -> Result<Option<usize>, FormatError> {
        let Some(len) = decode_compact(ahead, |of| self.widths.in_benchmark(of), &mut self.block)
        else {
            return Ok(None);
        };
        self.line += 1;
        self.take_block()?;
        Ok(Some(len))
    }

    pub(super) fn take(&mut self, line: &[u8]) -> Result<(), Refusal> {
        if self.take_compact(line).map_err(Refusal::Error)?.is_some() {
            return Ok(());
        }
        self.line += 1;
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let too_large = |error| Refusal::Error(cannot_read(self.name)(error));
        let kept = self.memory.memory_of_line(line).map_err(too_large)?;
        let garbage = |problem| Refusal::Garbage(format!("not JSON: {problem}"));
        let text = std::str::from_utf8(line).map_err(|_| garbage("not UTF-8".to_owned()))?;
        let json = Json::read(text).map_err(|error| garbage(error.to_string()))?;
        let Some(fields) = json.as_object() else {
            return Err(Refusal::Garbage("not a JSON object".to_owned()));
        };
        if fields.get("block").is_none() {
            self.memory.take(kept).map_err(too_large)?;
        }
        self.take_fields(fields).map_err(Refusal::Error)
    }

    /// Reads the fields of a line. The first known field name determines the kind of line. Lines
    /// without one come from a later minor version and are ignored.
    fn take_fields(&mut self, fields: &Object) -> Result<(), FormatError> {
        if fields.get("block").is_some() {
            decode_json(fields, |of| self.widths.in_benchmark(of), &mut self.block)
                .map_err(|error| self.error(error))?;
            self.take_block()?;
        } else if fields.get("resume").is_some() {
            self.run.resume();
            self.placed_on.clear();
        } else if let Some(json) = fields.get("placed") {
            let placed = Placed::from_json(json).map_err(|error| self.error(error))?;
            self.take_placed(placed)?;
        } else if let Some(json) = fields.get("observed") {
            let observed = Observed::from_json(json).map_err(|error| self.error(error))?;
            self.take_observed(observed)?;
        } else if let Some(json) = fields.get("failed") {
            let failure = BenchmarkFailure::from_json(json).map_err(|error| self.error(error))?;
            self.check_benchmark(failure.benchmark, "a failure")?;
            self.run.failures.push(failure);
        } else if let Some(json) = fields.get("end") {
            let end = RunEnd::from_json(json).map_err(|error| self.error(error))?;
            self.run.launches = end.launches;
            self.launches = 0;
            self.run.end = Some(end);
        } else if fields.get("schema").is_some() {
            return Err(self.error(format!(
                "a second header: a file of schema {SCHEMA} holds one run"
            )));
        }
        Ok(())
    }

    fn take_placed(&mut self, placed: Placed) -> Result<(), FormatError> {
        self.check_benchmark(placed.benchmark, "a placement")?;
        let benchmark = &self.run.header.plan.benchmarks[placed.benchmark];
        let place = format!(
            "benchmark '{}', replicate {}",
            benchmark.name, placed.replicate
        );
        let (racing, count) = (benchmark.contenders.len(), placed.contenders.len());
        if count != racing {
            return Err(self.error(format!(
                "{place}: a placement of {count} contenders, but the plan has {racing}"
            )));
        }
        let key = (placed.benchmark, placed.replicate);
        if let Some(first) = self.placed_on.insert(key, self.line) {
            return Err(self.error(format!(
                "{place}: its placement was already given on line {first}"
            )));
        }
        self.run.placed.push(placed);
        Ok(())
    }

    fn take_observed(&mut self, observed: Observed) -> Result<(), FormatError> {
        self.check_benchmark(observed.benchmark, "an observation")?;
        let benchmark = &self.run.header.plan.benchmarks[observed.benchmark];
        let racing = benchmark.contenders.len();
        if observed.contender >= racing {
            return Err(self.error(format!(
                "benchmark '{}': an observation of contender {}, but the plan has {racing}, numbered \
                 from 0",
                benchmark.name, observed.contender
            )));
        }
        self.run.observed.push(observed);
        Ok(())
    }

    fn check_benchmark(&self, index: usize, what: &str) -> Result<(), FormatError> {
        let known = self.run.header.plan.benchmarks.len();
        if index < known {
            return Ok(());
        }
        Err(self.error(format!(
            "{what} of benchmark {index}, but the plan has {known}, numbered from 0"
        )))
    }

    fn take_block(&mut self) -> Result<(), FormatError> {
        let block = &self.block;
        self.check_benchmark(block.benchmark, "a block")?;
        let benchmark = &self.run.header.plan.benchmarks[block.benchmark];
        if let Some(sample) = unknown_contender(block, benchmark) {
            return Err(self.error(format!(
                "benchmark '{}', replicate {}, block {}: a sample of contender {}, \
                 but the plan has {}, numbered from 0",
                benchmark.name,
                block.replicate,
                block.index,
                sample.contender.0,
                benchmark.contenders.len()
            )));
        }
        let samples: &mut Samples = &mut self.run.benchmarks[block.benchmark];
        let launched = match benchmark.processes_per_replicate() {
            // The processes serve all blocks of the replicate.
            Some(processes) => {
                let last = samples.blocks().last();
                let first = last.is_none_or(|last| last.replicate != block.replicate);
                if first { processes } else { 0 }
            }
            None => block.samples.len() as u64 + u64::from(block.primed),
        };
        let name = &benchmark.name;
        if let Some(last) = samples.not_before(block) {
            return Err(self.error(format!(
                "benchmark '{name}': replicate {}, block {} follows replicate {}, block {}; a race \
                 measures each block once, in ascending order",
                block.replicate, block.index, last.replicate, last.index
            )));
        }
        samples
            .push(block)
            .map_err(|error| self.error(format!("benchmark '{name}': {error}")))?;
        let elapsed_ns = block.elapsed_ns;
        self.count(launched, elapsed_ns);
        Ok(())
    }

    /// Adds the launches of some blocks, the last of which ended at `elapsed_ns`.
    pub(super) fn count(&mut self, launched: u64, elapsed_ns: u64) {
        self.launches += launched;
        self.run.elapsed_ns = self.run.elapsed_ns.max(elapsed_ns);
        // If blocks follow an end line, the run was continued.
        self.run.end = None;
    }

    pub(super) fn finish(mut self) -> Run {
        self.run.launches += self.launches;
        self.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_later_major_version_is_too_new() {
        const NEWER: &str = "it needs a later deadheat";
        const FOREIGN: &str = "is not a run file";
        for (schema, problem) in [
            ("deadheat.run/1", None),
            ("deadheat.run/1.7", None),
            ("deadheat.run/2", Some(NEWER)),
            ("deadheat.run/10.1", Some(NEWER)),
            ("deadheat.run/0", Some(FOREIGN)),
            ("deadheat.analysis/1", Some(FOREIGN)),
            ("deadheat.run/one", Some(FOREIGN)),
        ] {
            let line = format!("{{\"schema\":\"{schema}\"}}");
            match (read_header_line(Path::new("a"), line.as_bytes()), problem) {
                (Ok(_), None) => {}
                (Err(error), Some(problem)) => {
                    let error = error.to_string();
                    assert!(error.contains(problem), "{schema}: {error}");
                }
                (read, _) => panic!("{schema}: {read:?}"),
            }
        }
    }
}
