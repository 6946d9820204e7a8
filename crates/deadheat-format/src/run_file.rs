//! The run file: JSON Lines, written block by block during a run. This module creates and resumes
//! run files.

mod block;
#[cfg(feature = "read")]
mod indexed;
mod lines;
#[cfg(feature = "read")]
mod merge;
mod plan;
#[cfg(feature = "read")]
mod reader;

#[cfg(feature = "read")]
pub use indexed::IndexedRun;
pub use lines::SCHEMA;
pub(crate) use lines::header_line;
#[cfg(feature = "read")]
pub use merge::merge_parts;
#[cfg(feature = "read")]
pub use reader::{
    has_only_header, line_that_breaks_off, read_header, read_run, read_run_from, refuse_plan,
};

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use deadheat_model::{
    BenchmarkFailure, BlockRecord, Json, Metric, Observed, Placed, RecordSink, RunEnd, RunHeader,
    Samples, SinkError,
};

#[cfg(feature = "read")]
use crate::content;
#[cfg(feature = "read")]
use crate::error::cannot_read;
use crate::error::{FileProblem, FormatError, cannot_write, create_folder_of};
use crate::output::{Journal, lock};
use crate::wire::Wire;
use block::encode;

/// Returns the first line of a run file as text, without the line end.
pub fn header_text(header: &RunHeader) -> String {
    header_line(header).to_string()
}
#[cfg(feature = "read")]
use deadheat_model::Object;
#[cfg(feature = "read")]
use reader::scan;

/// The path of a run that is not recorded.
pub const NOWHERE: &str = "/dev/null";

/// Writes a run file. Every block is written before the next one starts.
///
/// Each block is one line and one unbuffered write, so a killed process loses at most the current
/// block. Blocks that a reader would refuse are refused. While the writer lives, no other process
/// can write to the same file.
#[derive(Debug)]
pub struct RunFileWriter {
    path: PathBuf,
    journal: Journal,
    /// The text of the current line; reused to save allocations.
    line: Vec<u8>,
    /// The metrics of each benchmark.
    columns: Vec<Vec<Metric>>,
    /// Number of contenders of each benchmark.
    racing: Vec<usize>,
}

impl RunFileWriter {
    /// Creates a run file and the folders above it.
    ///
    /// Fails if the file exists already, because a run is never overwritten.
    pub fn create(path: impl AsRef<Path>, header: &RunHeader) -> Result<Self, FormatError> {
        let path = path.as_ref();
        create_folder_of(path)?;
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(|source| match source.kind() {
                io::ErrorKind::AlreadyExists => FileProblem::AlreadyExists.of(path),
                _ => cannot_write(path)(source),
            })?;
        lock(&file, path)?;
        Self::begin(file, path, header).inspect_err(|_| {
            // A file without a whole header is not a run and would block the next try.
            let _ = fs::remove_file(path);
        })
    }

    /// Starts a run that is not recorded; all writes go to [`NOWHERE`].
    pub fn unrecorded(header: &RunHeader) -> Result<Self, FormatError> {
        let path = Path::new(NOWHERE);
        let file = OpenOptions::new().append(true).open(path);
        Self::begin(file.map_err(cannot_write(path))?, path, header)
    }

    /// Removes the run file. A run without a block is not worth keeping, and its file would block
    /// the next attempt.
    pub fn discard(self) -> Result<(), FormatError> {
        if self.path == Path::new(NOWHERE) {
            return Ok(());
        }
        fs::remove_file(&self.path).map_err(cannot_write(&self.path))
    }

    /// Returns the path of the run file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn begin(file: File, path: &Path, header: &RunHeader) -> Result<Self, FormatError> {
        let sound = header.plan.validate();
        sound.map_err(|error| FormatError::whole(path, error))?;
        let mut writer = Self::new(Journal::new(file, 0, false), path, header);
        writer
            .append_json(&header_line(header))
            .map_err(cannot_write(path))?;
        Ok(writer)
    }

    fn new(journal: Journal, path: &Path, header: &RunHeader) -> Self {
        let benchmarks = &header.plan.benchmarks;
        RunFileWriter {
            path: path.to_owned(),
            journal,
            line: Vec::new(),
            columns: (0..benchmarks.len())
                .map(|b| header.metrics_of(b))
                .collect(),
            racing: benchmarks.iter().map(|b| b.contenders.len()).collect(),
        }
    }

    /// Appends one line: the text in the field `line`, followed by `json`.
    fn append_json(&mut self, json: &Json) -> io::Result<()> {
        writeln!(self.line, "{json}")?;
        self.append_line()
    }

    fn append_line(&mut self) -> io::Result<()> {
        let result = self.journal.append(&self.line);
        self.line.clear();
        result
    }

    /// Fails if a reader would refuse this block.
    fn check(&self, block: &BlockRecord) -> io::Result<()> {
        let racing = self.racing.get(block.benchmark).copied().unwrap_or(0);
        let known = |contender: usize| contender < racing;
        if !block
            .samples
            .iter()
            .all(|sample| known(sample.contender.index()))
        {
            return Err(invalid(
                "the block names a benchmark or contender that the plan does not have",
            ));
        }
        let sound = block.values.len()
            == block.samples.len() * self.columns_of(block.benchmark).len()
            && block.samples.iter().all(|sample| sample.iterations > 0)
            && block
                .values
                .iter()
                .all(|value| value.is_finite() && *value >= 0.0);
        if sound {
            return Ok(());
        }
        // The model checks the same rules and words the error. It is called only after a failure,
        // because it would allocate memory for every block.
        Samples::new(self.columns_of(block.benchmark).to_vec())
            .push(block)
            .map_err(invalid)
    }

    fn columns_of(&self, benchmark: usize) -> &[Metric] {
        self.columns.get(benchmark).map_or(&[], Vec::as_slice)
    }

    fn sink_error(&self, source: io::Error) -> SinkError {
        SinkError {
            place: self.path.display().to_string(),
            source,
        }
    }
}

impl RecordSink for RunFileWriter {
    fn block(&mut self, block: &BlockRecord) -> Result<(), SinkError> {
        self.check(block)
            .and_then(|()| {
                let width = self.columns_of(block.benchmark).len();
                encode(block, width, &mut self.line);
                self.append_line()
            })
            .map_err(|source| self.sink_error(source))
    }

    fn placed(&mut self, placed: &Placed) -> Result<(), SinkError> {
        let racing = self.racing.get(placed.benchmark).copied();
        let kept = if racing == Some(placed.contenders.len()) {
            self.append_json(&Json::tagged("placed", placed.to_json()))
        } else {
            Err(invalid(
                "a placement names a benchmark or contenders that the plan does not have",
            ))
        };
        kept.map_err(|source| self.sink_error(source))
    }

    fn observed(&mut self, observed: &Observed) -> Result<(), SinkError> {
        let racing = self.racing.get(observed.benchmark).copied();
        let kept = if racing.is_some_and(|racing| observed.contender < racing) {
            self.append_json(&Json::tagged("observed", observed.to_json()))
        } else {
            Err(invalid(
                "an observation names a benchmark or a contender that the plan does not have",
            ))
        };
        kept.map_err(|source| self.sink_error(source))
    }

    fn failed(&mut self, failure: &BenchmarkFailure) -> Result<(), SinkError> {
        let kept = if failure.benchmark < self.racing.len() {
            self.append_json(&Json::tagged("failed", failure.to_json()))
        } else {
            Err(invalid(
                "the failure names a benchmark that the plan does not have",
            ))
        };
        kept.map_err(|source| self.sink_error(source))
    }

    fn end(&mut self, end: &RunEnd) -> Result<(), SinkError> {
        self.append_json(&Json::tagged("end", end.to_json()))
            .and_then(|()| self.journal.sync())
            .map_err(|source| self.sink_error(source))
    }
}

#[cfg(feature = "read")]
impl RunFileWriter {
    /// Resumes a run that stopped. Cuts off an incomplete last line, and records the version of
    /// deadheat that continues and the time, in seconds since 1970-01-01 UTC.
    ///
    /// Recorded lines are not rewritten. The caller must go on counting `elapsed_ns` and `launches`
    /// from their last recorded values.
    pub fn resume(
        path: impl AsRef<Path>,
        tool_version: &str,
        started_at: Option<u64>,
    ) -> Result<Self, FormatError> {
        let path = path.as_ref();
        let recorded = content::open(path).map_err(cannot_read(path))?;
        let file = OpenOptions::new()
            .append(true)
            .open(path)
            .map_err(cannot_write(path))?;
        lock(&file, path)?;
        let found = scan(io::BufReader::new(recorded), path)?;
        let mut writer = Self::new(Journal::new(file, found.len, true), path, &found.run.header);
        if found.unterminated {
            writer.line.push(b'\n');
        }
        let note = Object::new()
            .with("tool", Json::tagged("version", tool_version))
            .with("started_at", started_at);
        writer
            .append_json(&Json::tagged("resume", note))
            .map_err(cannot_write(path))?;
        Ok(writer)
    }
}

#[cfg(feature = "read")]
impl RunFileWriter {
    /// Appends the lines of another file, which hold blocks of the same plan.
    pub(super) fn append_lines_of(&mut self, lines: &Path) -> Result<(), FormatError> {
        let file = File::open(lines).map_err(cannot_read(lines))?;
        let mut reader = io::BufReader::with_capacity(1 << 20, file);
        loop {
            let some = io::BufRead::fill_buf(&mut reader).map_err(cannot_read(lines))?;
            if some.is_empty() {
                return Ok(());
            }
            self.journal
                .append(some)
                .map_err(cannot_write(&self.path))?;
            let taken = some.len();
            io::BufRead::consume(&mut reader, taken);
        }
    }
}

fn invalid(problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use deadheat_model::{Benchmark, Contender, Design, Environment, Looks, Origin, Plan};
    use deadheat_model::{ContenderId, EndReason, Flags, Sample, Workload};

    fn header() -> RunHeader {
        RunHeader {
            command: Vec::new(),
            tool_version: "0.1.0".to_owned(),
            started_at: None,
            origin: Origin::Race,
            plan: Plan {
                design: Design {
                    looks: Looks {
                        at: vec![6],
                        levels: vec![0.05],
                        weights: vec![1.0],
                    },
                    ..Design::default()
                },
                seed: 7,
                benchmarks: vec![Benchmark {
                    name: "b".to_owned(),
                    parameters: vec![],
                    contenders: vec![Contender {
                        name: "alone".to_owned(),
                        workload: Workload::Recording,
                    }],
                    ..Benchmark::default()
                }],
            },
            environment: Environment::default(),
            metrics: vec![Metric::Wall],
            tick_ns: None,
            left_out: Vec::new(),
        }
    }

    fn device_that_is_full() -> (File, &'static Path) {
        let path = Path::new("/dev/full");
        (OpenOptions::new().append(true).open(path).unwrap(), path)
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let (file, path) = device_that_is_full();
        let error = RunFileWriter::begin(file, path, &header()).unwrap_err();
        assert!(error.is_write_error());
        assert!(
            error.to_string().starts_with("cannot write /dev/full: "),
            "{error}"
        );
    }

    #[test]
    fn a_disk_that_fills_up_during_the_run_is_an_error_that_names_the_file() {
        let (file, path) = device_that_is_full();
        let mut writer = RunFileWriter::new(Journal::new(file, 0, false), path, &header());
        let block = BlockRecord {
            samples: vec![Sample {
                contender: ContenderId(0),
                flags: Flags::NONE,
                exit_code: None,
                iterations: 1,
            }],
            values: vec![1.0],
            ..BlockRecord::default()
        };
        let error = writer.block(&block).unwrap_err();
        assert_eq!(error.place, "/dev/full");
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
        let end = RunEnd {
            reason: EndReason::Failed("full".to_owned()),
            launches: 1,
            elapsed_ns: 1,
        };
        assert_eq!(writer.end(&end).unwrap_err().place, "/dev/full");
    }
}
