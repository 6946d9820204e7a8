//! Result files of other tools, each read into [`Results`], and recordings of deadheat itself: which
//! tool wrote a file, by its content, and what it holds.

mod benchmark_dotnet;
mod criterion;
mod go;
mod google_benchmark;
mod hyperfine;
mod jmh;
mod json;
mod pyperf;
mod pytest_benchmark;
mod rows;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::SystemTime;

use deadheat_model::{
    Benchmark, Identity, Metric, QualifierPlace, QualifierShown, ResultBenchmark, ResultState,
    Results, Run, name_together,
};

pub use criterion::{files_in, read_criterion, read_criterion_set};

use crate::content::{self, Bounded, is_packed, read_content, unpacked};
use crate::error::{FileProblem, FormatError, cannot_read};
use crate::import::csv::read_csv_from;
use crate::import::recording::RecordingPlan;
use crate::run_file::{BUFFER, read_run_from};
use json::{end_of_string, without_mark};

/// Reads a file of results, known by its content; `-` is standard input, and
/// what gzip or zstd packed is unpacked.
pub fn read_results(path: impl AsRef<Path>) -> Result<Results, FormatError> {
    let path = path.as_ref();
    let mut results = match in_pieces(path) {
        Some(results) => of_file(path, results),
        None => read_results_from(path, &read_content(path)?)?,
    };
    results.facts.modified = modified(path);
    Ok(results)
}

/// The results of a plain file that need not be held as a whole, as Google Benchmark writes it. A
/// pipe cannot be read twice, should the first time be in vain.
fn in_pieces(path: &Path) -> Option<Results> {
    let plain = path != Path::new("-") && fs::metadata(path).is_ok_and(|about| about.is_file());
    let file = plain.then(|| content::open(path).ok())??;
    google_benchmark::read_pieces(file)
}

/// What a reader found in this file: it knows the text alone.
fn of_file(file: &Path, mut results: Results) -> Results {
    results.source = file.display().to_string();
    let date = results.facts.date.as_deref();
    results.facts.moment = date.and_then(rows::moment).or(results.facts.moment);
    name_together(&mut [std::slice::from_mut(&mut results)]);
    results.facts.digest = Some(results.digest());
    results
}

/// When a file or folder was written last, in seconds since 1970; `None` of
/// what is neither, such as a pipe.
fn modified(path: &Path) -> Option<f64> {
    let about = fs::metadata(path).ok()?;
    let known = about.is_file() || about.is_dir();
    let since = about.modified().ok().filter(|_| known)?;
    let since = since.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64())
}

/// The same of a text that is in memory; `file` is for errors.
pub fn read_results_from(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    let read = match saved_format(file, text)? {
        SavedFormat::RunFile => return Ok(of_file(file, read_run(file, text)?)),
        SavedFormat::TidyCsv => return Ok(of_file(file, read_table(file, text)?)),
        SavedFormat::GoogleBenchmark => google_benchmark::read(text),
        SavedFormat::Hyperfine => hyperfine::read(text),
        SavedFormat::Pyperf => pyperf::read(text),
        SavedFormat::PytestBenchmark => pytest_benchmark::read(text),
        SavedFormat::Jmh => jmh::read(text),
        SavedFormat::Go => go::read(text),
        SavedFormat::BenchmarkDotNet => benchmark_dotnet::read(text),
    };
    let results = read.map_err(|problem| problem.of(file))?;
    Ok(of_file(file, results))
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Recording {
    /// A run, or a table that was made one.
    Run(Box<Run>),
    /// Results of another tool.
    Results(Box<Results>),
}

/// Reads a file, known by its content; `-` is standard input, and what gzip or
/// zstd packed is unpacked. `plan` is for tables, which carry none.
///
/// Run files and tables are read as they come and need no more memory than what is in them.
pub fn read_recording(
    path: impl AsRef<Path>,
    plan: &RecordingPlan,
) -> Result<Recording, FormatError> {
    let path = path.as_ref();
    if path == Path::new("-") {
        let input = Bounded::new(std::io::stdin()).map_err(cannot_read(path))?;
        from(BufReader::with_capacity(BUFFER, input), path, plan)
    } else {
        let file = content::open(path).map_err(cannot_read(path))?;
        from(BufReader::with_capacity(BUFFER, file), path, plan)
    }
}

/// Returns true where the first line is that of a table for certain: a comma may also
/// stand in the first line of Go's text, whose benchmarks come later.
pub(super) fn begins_a_table(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let column = b"contender";
    first.windows(column.len()).any(|word| word == column)
}

fn from(
    mut reader: BufReader<impl Read>,
    path: &Path,
    plan: &RecordingPlan,
) -> Result<Recording, FormatError> {
    let beginning = reader.fill_buf().map_err(cannot_read(path))?;
    if !is_packed(beginning) {
        let run = match saved_format(path, beginning) {
            Ok(SavedFormat::RunFile) => Some(read_run_from(reader.by_ref(), path)?),
            Ok(SavedFormat::TidyCsv) if begins_a_table(beginning) => {
                Some(read_csv_from(reader.by_ref(), path, plan)?)
            }
            // Of another tool, or known only by what comes later.
            _ => None,
        };
        if let Some(run) = run {
            return Ok(Recording::Run(Box::new(run)));
        }
    }
    let mut content = Vec::new();
    reader
        .read_to_end(&mut content)
        .map_err(cannot_read(path))?;
    let content = unpacked(path, content)?;
    Ok(match saved_format(path, &content)? {
        SavedFormat::RunFile => Recording::Run(Box::new(read_run_from(&content[..], path)?)),
        SavedFormat::TidyCsv => Recording::Run(Box::new(read_csv_from(&content[..], path, plan)?)),
        _ => Recording::Results(Box::new(read_results_from(path, &content)?)),
    })
}

/// A format that results are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedFormat {
    /// A run recorded by deadheat.
    RunFile,
    /// A table of samples.
    TidyCsv,
    /// The JSON of Google Benchmark.
    GoogleBenchmark,
    /// The JSON of hyperfine.
    Hyperfine,
    /// The JSON of pyperf.
    Pyperf,
    /// The JSON of pytest-benchmark.
    PytestBenchmark,
    /// The JSON of the Java Microbenchmark Harness.
    Jmh,
    /// The text that Go's `testing` prints.
    Go,
    /// The full JSON of BenchmarkDotNet.
    BenchmarkDotNet,
}

/// Tells which tool wrote a text, by its first line or by the fields of its outermost object.
pub fn saved_format(file: &Path, text: &[u8]) -> Result<SavedFormat, FormatError> {
    let text = without_mark(text).trim_ascii_start();
    match text.first() {
        None => Err(FileProblem::Empty.of(file)),
        Some(b'{') => of_object(text).ok_or_else(|| unknown(file, "JSON of a shape unknown here")),
        Some(b'[') => of_array(text).ok_or_else(|| unknown(file, "a JSON list unknown here")),
        Some(_) => of_lines(text).ok_or_else(|| unknown(file, "neither JSON nor a table")),
    }
}

/// A file or folder that holds results of no tool that is known.
fn unknown(file: &Path, found: &str) -> FormatError {
    FormatError::unknown(
        file,
        format!(
            "is {found}; deadheat reads results of Google Benchmark, hyperfine, criterion (its \
             folder), pyperf, pytest-benchmark, JMH, Go, BenchmarkDotNet, tidy CSV and its own \
             run files"
        ),
    )
}

/// An object, by its fields in the order in which they come. What has been cut
/// off is known by what is left.
fn of_object(text: &[u8]) -> Option<SavedFormat> {
    let mut benchmarks = false;
    for key in Keys::of(text) {
        match key {
            b"schema" => return Some(SavedFormat::RunFile),
            b"context" => return Some(SavedFormat::GoogleBenchmark),
            b"results" => return Some(SavedFormat::Hyperfine),
            b"machine_info" | b"commit_info" => return Some(SavedFormat::PytestBenchmark),
            b"Title" | b"HostEnvironmentInfo" | b"Benchmarks" => {
                return Some(SavedFormat::BenchmarkDotNet);
            }
            b"metadata" if benchmarks => return Some(SavedFormat::Pyperf),
            b"version" if benchmarks && !contains(text, b"\"fullname\"") => {
                return Some(SavedFormat::Pyperf);
            }
            b"datetime" if benchmarks => return Some(SavedFormat::PytestBenchmark),
            b"benchmarks" => benchmarks = true,
            _ => {}
        }
    }
    // Only the list itself is left to tell whose it is.
    benchmarks.then_some(())?;
    if contains(text, b"\"runs\"") {
        Some(SavedFormat::Pyperf)
    } else if contains(text, b"\"fullname\"") {
        Some(SavedFormat::PytestBenchmark)
    } else {
        Some(SavedFormat::GoogleBenchmark)
    }
}

fn of_array(text: &[u8]) -> Option<SavedFormat> {
    let first = text[1..].trim_ascii_start();
    let jmh = first.starts_with(b"{")
        && Keys::of(first).any(|key| matches!(key, b"primaryMetric" | b"jmhVersion"));
    // Of no benchmarks at all JMH, too, writes an empty list.
    (jmh || first.starts_with(b"]") || first.is_empty()).then_some(SavedFormat::Jmh)
}

/// A text that is no JSON: a table has the columns of one in its first line,
/// Go's has lines that begin with `Benchmark`.
fn of_lines(text: &[u8]) -> Option<SavedFormat> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let first = lines.clone().next()?;
    if lines.any(|line| line.starts_with(b"Benchmark")) {
        return Some(SavedFormat::Go);
    }
    // Which of its columns are missing is for its reader to tell.
    first.contains(&b',').then_some(SavedFormat::TidyCsv)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    // Such words come early; a whole file need not be searched for them.
    let beginning = &text[..text.len().min(1 << 20)];
    beginning.windows(part.len()).any(|window| window == part)
}

/// The keys of the outermost object of a text, which need not be whole.
struct Keys<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Keys<'a> {
    /// `text` begins with a brace.
    fn of(text: &'a [u8]) -> Self {
        Keys { text, at: 1 }
    }
}

impl<'a> Iterator for Keys<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let mut depth = 0_usize;
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'"' => {
                    let begin = self.at;
                    self.at = end_of_string(self.text, begin);
                    let rest = self.text[self.at..].trim_ascii_start();
                    if depth == 0 && rest.first() == Some(&b':') {
                        return self.text.get(begin + 1..self.at - 1);
                    }
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        None
    }
}

/// Reads a run file of deadheat itself.
fn read_run(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    Ok(contenders_of(file, &read_run_from(text, file)?, "deadheat"))
}

/// Reads a table of samples.
fn read_table(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    // Nothing is decided here.
    let plan = RecordingPlan {
        margin: 0.01,
        alpha: 0.05,
        judged: Metric::Wall,
    };
    Ok(contenders_of(
        file,
        &read_csv_from(text, file, &plan)?,
        "tidy CSV",
    ))
}

/// Every contender by itself. Which samples were taken together is forgotten:
/// it means nothing beside another file.
fn contenders_of(file: &Path, run: &Run, tool: &str) -> Results {
    let version = Some(&run.header.tool_version).filter(|version| !version.is_empty());
    let mut results = Results::new(file.to_string_lossy(), rows::tool(tool, version));
    let environment = &run.header.environment;
    results.facts.system = Some(environment.system.clone()).filter(|system| !system.is_empty());
    results.facts.cpu.clone_from(&environment.cpu);
    results.facts.cores = environment.cores;
    results.facts.debug_build = environment.debug_build.then_some(true);
    results.facts.moment = run.header.started_at.map(|seconds| seconds as f64);
    for (index, planned) in run.header.plan.benchmarks.iter().enumerate() {
        if planned.rerun.is_some() {
            continue;
        }
        let failed = run.failures.iter().find(|failed| failed.benchmark == index);
        for contender in 0..planned.rivals() {
            // What was measured before it failed stands for nothing.
            let measured = match failed {
                Some(failed) => ResultBenchmark {
                    state: ResultState::Failed(failed.message.clone()),
                    ..ResultBenchmark::default()
                },
                None => samples_of(run, index, contender),
            };
            results.push(ResultBenchmark {
                identity: identity(planned, contender),
                parameters: planned.parameters.clone(),
                ..measured
            });
        }
    }
    results
}

/// Where a benchmark has several contenders each of them is one here.
fn identity(benchmark: &Benchmark, contender: usize) -> Identity {
    let contender = &benchmark.contenders[contender].name;
    let (place, shown) = (QualifierPlace::Contender, QualifierShown::IfFileDiffers);
    let identity = Identity::new(&benchmark.name).with("contender", contender, place, shown);
    let parameters = benchmark.parameters.iter();
    parameters.fold(identity, |identity, (key, value)| {
        let (place, shown) = (QualifierPlace::Parameter, QualifierShown::IfSideDiffers);
        identity.with(key.clone(), value, place, shown)
    })
}

fn samples_of(run: &Run, index: usize, contender: usize) -> ResultBenchmark {
    let samples = &run.benchmarks[index];
    let mut rows = ResultBenchmark {
        metrics: samples.metrics().to_vec(),
        ..ResultBenchmark::default()
    };
    for block in samples.blocks() {
        for at in block.range() {
            let sample = &samples.samples()[at];
            if sample.contender.index() != contender {
                continue;
            }
            rows.processes.push(block.replicate);
            for metric in samples.metrics() {
                let value = samples.column(metric).map_or(0.0, |column| column[at]);
                rows.values.push(if metric.adds_up() {
                    value / sample.iterations as f64
                } else {
                    value
                });
            }
        }
    }
    // The metric that the race was judged by comes first.
    let judged = &run.header.plan.design.judged;
    let width = rows.metrics.len();
    if let Some(place) = rows.metrics.iter().position(|metric| metric == judged) {
        rows.metrics[..=place].rotate_right(1);
        for row in rows.values.chunks_exact_mut(width.max(1)) {
            row[..=place].rotate_right(1);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_packed_is_read_as_if_it_were_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(b"{\"results\":[]}").unwrap();
        std::fs::write(&path, packer.finish().unwrap()).unwrap();
        assert_eq!(read_content(&path).unwrap(), b"{\"results\":[]}");
    }

    fn told(text: &str) -> Option<SavedFormat> {
        saved_format(Path::new("a"), text.as_bytes()).ok()
    }

    #[test]
    fn a_file_is_known_by_its_fields_whatever_their_order() {
        use SavedFormat::*;
        for (text, format) in [
            (r#"{"schema":"deadheat.run/1"}"#, RunFile),
            (r#"{"context":{},"benchmarks":[]}"#, GoogleBenchmark),
            (
                r#"{"benchmarks":[{"name":"a"}],"context":{}}"#,
                GoogleBenchmark,
            ),
            (
                r#"{"benchmarks":[{"name":"a","real_time":1}]}"#,
                GoogleBenchmark,
            ),
            (r#"{"results":[]}"#, Hyperfine),
            (r#"{"benchmarks":[],"metadata":{},"version":"1.0"}"#, Pyperf),
            (r#"{"benchmarks":[{"runs":[]}],"version":"1.0"}"#, Pyperf),
            (r#"{"machine_info":{},"benchmarks":[]}"#, PytestBenchmark),
            (
                r#"{"benchmarks":[],"datetime":"","version":"5"}"#,
                PytestBenchmark,
            ),
            (r#"{"Title":"a","Benchmarks":[]}"#, BenchmarkDotNet),
            (r#" [ {"jmhVersion":"1.37"} ]"#, Jmh),
            ("[]", Jmh),
            ("goos: linux\nBenchmarkA 1 2 ns/op\n", Go),
            ("BenchmarkA-8 1 2 ns/op", Go),
            ("benchmark,contender,wall_ns\n", TidyCsv),
            ("\"contender\", \"wall_ns\"\n", TidyCsv),
        ] {
            assert_eq!(told(text), Some(format), "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_is_told_by_what_is_left() {
        assert_eq!(
            told(r#"{"context":{"da"#),
            Some(SavedFormat::GoogleBenchmark)
        );
        assert_eq!(
            told(r#"{"benchmarks":[{"runs":[{"#),
            Some(SavedFormat::Pyperf)
        );
        assert_eq!(told("{"), None);
        assert_eq!(told("{\"a"), None);
        assert_eq!(told("\"\\"), None);
    }

    #[test]
    fn other_texts_are_nobodys() {
        for text in ["", " \n", "{}", "[1]", "hello", "}]", "{]}"] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
