//! Reads result files of other tools, and recordings of deadheat itself, into [`Results`].
//! Recognises the tool that wrote a file by the file's content.

mod asv;
mod bench_node;
mod benchmark_dotnet;
mod criterion;
mod go;
mod google_benchmark;
mod hyperfine;
mod jmh;
mod json;
mod mitata;
mod nanobench;
mod nvbench;
mod others;
mod pyperf;
mod pytest_benchmark;
mod rows;
mod tinybench;
mod triton;
mod vitest;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::SystemTime;

use crate::identity::{Identity, QualifierPlace, QualifierShown};
use crate::naming::name_together;
use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Benchmark, HELP, Metric, Run};

pub use criterion::{files_in, read_criterion, read_criterion_set};

use crate::csv::{read_csv_from, table_of_another_separator};
use crate::csv_rows::RecordingPlan;
use deadheat_format::content::{
    self, BUFFER, is_packed, kind_of_bytes, read_content, unpacked, unpacking,
};
use deadheat_format::limits::{
    Bounded, refuse_large_names, refuse_long_name, refuse_many_benchmarks, refuse_many_parameters,
};
use deadheat_format::{FileProblem, FormatError, cannot_read, read_run_from};
use json::{SEARCHED, contains, end_of_string, without_mark};

/// Reads a file of results, or standard input for `-`. Recognises the tool by the content, and
/// decompresses gzip and zstd.
pub fn read_results(path: impl AsRef<Path>) -> Result<Results, FormatError> {
    let path = path.as_ref();
    let mut results = match in_pieces(path) {
        Some(results) => of_file(path, results)?,
        None => read_results_from(path, &read_content(path)?)?,
    };
    results.facts.modified = modified(path);
    Ok(results)
}

/// Reads a plain file of Google Benchmark without holding it as a whole. Returns `None` for any
/// other file, and for a pipe, which could not be read again if this attempt fails.
fn in_pieces(path: &Path) -> Option<Results> {
    let plain = path != Path::new("-") && fs::metadata(path).is_ok_and(|about| about.is_file());
    let file = plain.then(|| content::open(path).ok())??;
    google_benchmark::read_pieces(file)
}

/// Completes the results that a reader made from the text alone: names, date, digest and source.
fn of_file(file: &Path, mut results: Results) -> Result<Results, FormatError> {
    for fact in results.facts.texts_mut() {
        shorten_fact(fact);
    }
    results.source = file.display().to_string();
    let date = results.facts.date.as_deref();
    results.facts.moment = date.and_then(rows::moment).or(results.facts.moment);
    results.refuse_too_large().map_err(cannot_read(file))?;
    refuse_large_names(results.bytes_of_names).map_err(cannot_read(file))?;
    refuse_many_benchmarks(results.benchmarks.len()).map_err(cannot_read(file))?;
    for benchmark in &results.benchmarks {
        let parameters = benchmark.identity.qualifiers.len();
        refuse_many_parameters(parameters).map_err(cannot_read(file))?;
    }
    name_together(&mut [std::slice::from_mut(&mut results)]);
    refuse_large_names(results.bytes_of_names).map_err(cannot_read(file))?;
    for benchmark in &results.benchmarks {
        refuse_long_name(&benchmark.name).map_err(cannot_read(file))?;
    }
    results.facts.digest = Some(results.digest());
    Ok(results)
}

/// Shortens a fact about the machine to 1,000 characters, because every recording of a file has a
/// copy.
fn shorten_fact(fact: &mut String) {
    const MOST: usize = 1000;
    if let Some((end, _)) = fact.char_indices().nth(MOST) {
        fact.truncate(end);
        fact.push('…');
    }
}

/// Returns the modification time of a file or folder, in seconds since 1970; `None` for anything
/// else, such as a pipe.
fn modified(path: &Path) -> Option<f64> {
    let about = fs::metadata(path).ok()?;
    let known = about.is_file() || about.is_dir();
    let since = about.modified().ok().filter(|_| known)?;
    let since = since.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64())
}

/// Reads results from a text in memory; `file` is the name of the file in errors. Skips lines of a
/// log before and after JSON.
pub fn read_results_from(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    let (begin, format) = placed_format(file, text)?;
    let mut text = Cow::Borrowed(text);
    let mut log = Vec::new();
    if begin > 0 {
        log.push((1, line_of(&text[..begin]) - 1));
        // Lines of a log before the JSON become blanks, so that line numbers in errors stay right.
        let before = text.to_mut()[..begin].iter_mut();
        before
            .filter(|byte| **byte != b'\n')
            .for_each(|byte| *byte = b' ');
    }
    let mut read = read_as(format, file, &text);
    if read.as_ref().is_err_and(json::is_of_the_end)
        && let Some((end, behind)) = before_a_log(&text)
    {
        log.push((line_of(&text[..behind]), line_of(text.trim_ascii_end())));
        read = read_as(format, file, &text[..end]);
    }
    let mut results = read?;
    for (first, last) in log {
        let lines = match first == last {
            true => format!("line {first} is"),
            false => format!("lines {first} to {last} are"),
        };
        let problem = format!("{lines} skipped: not part of the results");
        results.unread.push(problem);
    }
    Ok(results)
}

fn line_of(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').count()
}

/// Returns the format of a text and the position where the results begin.
fn placed_format(file: &Path, text: &[u8]) -> Result<(usize, SavedFormat), FormatError> {
    let format = saved_format(file, text);
    let sure = |format: &SavedFormat| *format != SavedFormat::TidyCsv || begins_a_table(text);
    match format.as_ref().is_ok_and(sure) {
        true => format.map(|format| (0, format)),
        // A log line may also contain a comma, so the first line may belong to a log.
        false => match behind_a_log(text) {
            Some(found) => Ok(found),
            None => format.map(|format| (0, format)),
        },
    }
}

/// Maximum number of bytes that the search for JSON after a log examines, in multiples of the
/// length of the text.
const MOST_LOOKS: usize = 64;

/// Returns the position where the JSON of a tool begins after lines that a program printed.
fn behind_a_log(text: &[u8]) -> Option<(usize, SavedFormat)> {
    if text.contains(&0) {
        return None;
    }
    let mut begin = 0;
    // If a line opens an object that never ends, the search runs to the end of the file. A log of
    // 100,000 such lines would take minutes.
    let mut left = MOST_LOOKS * text.len();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let rest = &text[begin..];
        let mut words = Words::of(rest);
        let format = match line.first() {
            Some(b'{') if begin > 0 && left > 0 => of_object(rest, &mut words),
            Some(b'[') if begin > 0 && left > 0 => of_array(rest, &mut words),
            _ => None,
        };
        left = left.saturating_sub(words.looked_at);
        if let Some(format) = format.filter(|format| *format != SavedFormat::RunFile) {
            return Some((begin, format));
        }
        begin += line.len();
    }
    None
}

/// Returns the end of the JSON and the beginning of the text after it; `None` if that text is JSON,
/// too.
fn before_a_log(text: &[u8]) -> Option<(usize, usize)> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at = match byte {
            b'"' => end_of_string(text, at),
            _ => at + 1,
        };
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    break;
                }
            }
            _ => {}
        }
    }
    let behind = at
        + text
            .get(at..)?
            .iter()
            .position(|byte| !byte.is_ascii_whitespace())?;
    let is_json = matches!(text[behind], b'{' | b'[' | b',' | b'}' | b']');
    (!is_json).then_some((at, behind))
}

fn read_as(format: SavedFormat, file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    let read = match format {
        SavedFormat::RunFile => return of_file(file, read_run(file, text)?),
        SavedFormat::TidyCsv => return of_file(file, read_table(file, text)?),
        SavedFormat::GoogleBenchmark => google_benchmark::read(text),
        SavedFormat::Hyperfine => hyperfine::read(text),
        SavedFormat::Pyperf => pyperf::read(text),
        SavedFormat::PytestBenchmark => pytest_benchmark::read(text),
        SavedFormat::Jmh => jmh::read(text),
        SavedFormat::Go => go::read(text),
        SavedFormat::GoEvents => go::read(&go::text_of_events(text)),
        SavedFormat::BenchmarkDotNet => benchmark_dotnet::read(text),
        SavedFormat::BenchmarkDotNetTable => benchmark_dotnet::read_table(text),
        SavedFormat::Asv => asv::read(text),
        SavedFormat::Nanobench => nanobench::read(text),
        SavedFormat::Nvbench => nvbench::read(text, file.parent().unwrap_or(Path::new(""))),
        SavedFormat::TritonTable => triton::read(text),
        SavedFormat::Mitata => mitata::read(text),
        SavedFormat::Vitest => vitest::read(text),
        SavedFormat::VitestReport => vitest::read_report(text),
        SavedFormat::Tinybench => tinybench::read(text),
        SavedFormat::TinybenchTable => tinybench::read_table(text),
        SavedFormat::BenchNode => bench_node::read(text),
        SavedFormat::BenchNodeTable => bench_node::read_table(text),
    };
    of_file(file, read.map_err(|problem| problem.of(file))?)
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Recording {
    /// A run from a run file or from a table of samples.
    Run(Box<Run>),
    /// The results of another tool.
    Results(Box<Results>),
}

/// Reads a file, or standard input for `-`. Recognises the tool by the content, and decompresses
/// gzip and zstd. `plan` has the settings for tables, which contain no plan.
///
/// Run files and tables are parsed while they are read, so that their text is not held in memory.
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

/// Returns true if the first line is certainly the header of a table. A comma alone is not enough,
/// because the text of Go may begin with a line that contains one.
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
            // Results of another tool, or a format that only later lines reveal.
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
    if is_packed(&content) {
        let unpacking = unpacking(&content).map_err(cannot_read(path))?;
        let mut reader = BufReader::with_capacity(BUFFER, unpacking);
        let beginning = reader.fill_buf().map_err(cannot_read(path))?;
        if let Ok(SavedFormat::RunFile) = saved_format(path, beginning) {
            return Ok(Recording::Run(Box::new(read_run_from(reader, path)?)));
        }
    }
    let content = unpacked(path, content)?;
    Ok(match placed_format(path, &content)? {
        (_, SavedFormat::RunFile) => Recording::Run(Box::new(read_run_from(&content[..], path)?)),
        (_, SavedFormat::TidyCsv) => {
            Recording::Run(Box::new(read_csv_from(&content[..], path, plan)?))
        }
        _ => Recording::Results(Box::new(read_results_from(path, &content)?)),
    })
}

/// A supported format of results.
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
    /// The text of Go's `testing` in the events that `go test -json` prints.
    GoEvents,
    /// The full JSON of BenchmarkDotNet.
    BenchmarkDotNet,
    /// The CSV of BenchmarkDotNet.
    BenchmarkDotNetTable,
    /// The JSON of asv.
    Asv,
    /// The JSON of nanobench.
    Nanobench,
    /// The JSON of nvbench.
    Nvbench,
    /// The CSV of `triton.testing.perf_report`.
    TritonTable,
    /// The JSON of mitata.
    Mitata,
    /// The JSON of `vitest bench --outputJson`.
    Vitest,
    /// The JSON of Vitest's reporter `json`, with benchmarks.
    VitestReport,
    /// The results of tinybench's tasks, as JSON.
    Tinybench,
    /// tinybench's `bench.table()`, as JSON.
    TinybenchTable,
    /// The JSON of bench-node.
    BenchNode,
    /// The CSV of bench-node.
    BenchNodeTable,
}

/// Returns the format of a text, recognised by its first line or by the fields of its outermost
/// object.
pub fn saved_format(file: &Path, text: &[u8]) -> Result<SavedFormat, FormatError> {
    let whole = without_mark(text);
    let text = whole.trim_ascii_start();
    match text.first() {
        None => Err(FileProblem::Empty.of(file)),
        // A program may log JSON before the results.
        Some(b'{') => of_object(text, &mut Words::of(text))
            .or_else(|| of_go(text))
            .ok_or_else(|| match (others::json(text), json::broken(text)) {
                (None, Some((problem, _))) => problem.of(file),
                (known, _) => unknown(file, known, "JSON of an unknown tool"),
            }),
        Some(b'[') => of_array(text, &mut Words::of(text))
            .or_else(|| of_go(text))
            .ok_or_else(|| {
                match (others::json(text), json::broken(text)) {
                    (None, Some((problem, true))) => problem.of(file),
                    // Text such as a settings file may begin with a bracket.
                    (None, Some((_, false))) => not_json(file, whole),
                    (known, _) => unknown(file, known, "a JSON list of an unknown tool"),
                }
            }),
        Some(_) => of_lines(text).ok_or_else(|| not_json(file, whole)),
    }
}

fn not_json(file: &Path, whole: &[u8]) -> FormatError {
    let text = whole.trim_ascii_start();
    if let Some(kind) = kind_of_bytes(text).filter(|_| others::text(text).is_none()) {
        return unknown(file, None, &format!("{kind}, not a file of results"));
    }
    let known = others::text(text);
    let found = match text.trim_ascii_end() {
        b"null" => "JSON that holds nothing but null",
        _ if text.contains(&0) => "neither text nor packed by gzip or zstd",
        _ => match table_of_another_separator(file, whole).filter(|_| known.is_none()) {
            Some(error) => return error,
            None => "in no format that deadheat knows",
        },
    };
    unknown(file, known, found)
}

/// Returns the error for a file or folder without results of a supported tool. The error has the
/// description of the format if it is `known`, otherwise the kind of content that was `found`.
fn unknown(file: &Path, known: Option<String>, found: &str) -> FormatError {
    let told = known.unwrap_or_else(|| {
        format!(
            "is {found}{HELP}deadheat reads results of Google Benchmark, hyperfine, criterion (its \
             folder), pyperf, pytest-benchmark, JMH, Go, BenchmarkDotNet, asv, nanobench, nvbench, \
             triton.testing, Vitest, tinybench, mitata, bench-node, its own run files, and CSV with the \
             columns benchmark, contender and wall_ns; deadheat run OLD NEW measures two commands"
        )
    });
    FormatError::unknown(file, told)
}

/// Recognises the format of an object by its fields, in their order. A truncated file is recognised
/// by the fields that are left.
fn of_object(text: &[u8], words: &mut Words<'_>) -> Option<SavedFormat> {
    let mut keys = Keys::of(text);
    let found = of_keys(&mut keys, words);
    words.looked_at += keys.at;
    match found? {
        Told::Format(format) => return Some(format),
        Told::Benchmarks => {}
    }
    // Without other known keys, only the content of the list can identify the tool.
    words.looked_at += others::MOST_SEARCHES * text.len().min(SEARCHED);
    if others::json(text).is_some() {
        None
    } else if words.has("\"runs\"") {
        Some(SavedFormat::Pyperf)
    } else if words.has("\"fullname\"") {
        Some(SavedFormat::PytestBenchmark)
    } else {
        Some(SavedFormat::GoogleBenchmark)
    }
}

enum Told {
    Format(SavedFormat),
    /// The object has a list of benchmarks, but no key that identifies the tool.
    Benchmarks,
}

/// Recognises the format by the keys of an object; returns `None` if none of them is known.
fn of_keys(keys: &mut Keys<'_>, words: &mut Words<'_>) -> Option<Told> {
    let mut benchmarks = false;
    for key in keys {
        match key {
            b"schema" => return Some(Told::Format(SavedFormat::RunFile)),
            b"meta" | b"devices" if words.has("\"nvbench\"") => {
                return Some(Told::Format(SavedFormat::Nvbench));
            }
            b"Action" => return Some(Told::Format(SavedFormat::GoEvents)),
            b"commit_hash" | b"env_name" if words.has("\"results\"") => {
                return Some(Told::Format(SavedFormat::Asv));
            }
            b"layout" if words.has("\"benchmarks\"") && words.has("\"runs\"") => {
                return Some(Told::Format(SavedFormat::Mitata));
            }
            b"context" if words.has("\"stats\"") && !words.has("\"real_time\"") => {
                return Some(Told::Format(SavedFormat::Mitata));
            }
            b"context" => return Some(Told::Format(SavedFormat::GoogleBenchmark)),
            b"results" if words.has("\"result_columns\"") => {
                return Some(Told::Format(SavedFormat::Asv));
            }
            b"results" if words.has("\"elapsed\"") && !words.has("\"command\"") => {
                return Some(Told::Format(SavedFormat::Nanobench));
            }
            b"results" => return Some(Told::Format(SavedFormat::Hyperfine)),
            b"files" if words.has("\"filepath\"") && words.has("\"groups\"") => {
                return Some(Told::Format(SavedFormat::Vitest));
            }
            b"testResults" if words.has("\"assertionResults\"") && words.has("\"benchmarks\"") => {
                return Some(Told::Format(SavedFormat::VitestReport));
            }
            b"machine_info" | b"commit_info" => {
                return Some(Told::Format(SavedFormat::PytestBenchmark));
            }
            b"Title" | b"HostEnvironmentInfo" | b"Benchmarks" => {
                return Some(Told::Format(SavedFormat::BenchmarkDotNet));
            }
            b"metadata" if benchmarks => return Some(Told::Format(SavedFormat::Pyperf)),
            b"version" if benchmarks && !words.has("\"fullname\"") => {
                return Some(Told::Format(SavedFormat::Pyperf));
            }
            b"datetime" if benchmarks => return Some(Told::Format(SavedFormat::PytestBenchmark)),
            b"benchmarks" => benchmarks = true,
            _ => {}
        }
    }
    benchmarks.then_some(Told::Benchmarks)
}

/// Recognises the format of a list by the fields of its first object.
fn of_array(text: &[u8], words: &mut Words<'_>) -> Option<SavedFormat> {
    let first = text[1..].trim_ascii_start();
    // JMH, too, writes an empty list if nothing was benchmarked.
    if first.starts_with(b"]") || first.is_empty() {
        return Some(SavedFormat::Jmh);
    }
    let mut keys = first.starts_with(b"{").then(|| Keys::of(first))?;
    let found = keys.find_map(|key| match key {
        b"primaryMetric" | b"jmhVersion" => Some(SavedFormat::Jmh),
        b"runsSampled" => Some(SavedFormat::BenchNode),
        b"Task name" | b"Task Name" => Some(SavedFormat::TinybenchTable),
        b"latency" | b"hz" | b"result" | b"state" | b"error" if is_of_tinybench(words) => {
            Some(SavedFormat::Tinybench)
        }
        _ => None,
    });
    words.looked_at += keys.at;
    found
}

/// Returns true if the text contains statistics with the names that tinybench uses in release 2, or
/// since release 3.
fn is_of_tinybench(words: &mut Words<'_>) -> bool {
    words.has("\"rme\"")
        && (words.has("\"latency\"") && words.has("\"throughput\"")
            || words.has("\"totalTime\"") && words.has("\"hz\""))
}

/// Recognises the format of text other than JSON: a table by the columns in its first line, the
/// text of Go by lines that begin with `Benchmark`.
fn of_lines(text: &[u8]) -> Option<SavedFormat> {
    if let Some(go) = of_go(text) {
        return Some(go);
    }
    if kind_of_bytes(text).is_some() {
        return None;
    }
    let first = text.split(|byte| *byte == b'\n').next()?;
    if begins_a_table(text) {
        return Some(SavedFormat::TidyCsv);
    }
    if benchmark_dotnet::is_table(first) {
        return Some(SavedFormat::BenchmarkDotNetTable);
    }
    if triton::is_table(first) {
        return Some(SavedFormat::TritonTable);
    }
    if bench_node::is_table(first) {
        return Some(SavedFormat::BenchNodeTable);
    }
    if others::text(text).is_some() {
        return None;
    }
    // The file has other lines of Go's output. The reader of Go reports what is missing.
    let frame: [&[u8]; 5] = [b"goos: ", b"ok  \t", b"FAIL\t", b"?   \t", b"--- FAIL: "];
    let mut lines = text.split(|byte| *byte == b'\n');
    if lines.any(|line| frame.iter().any(|sign| line.starts_with(sign))) {
        return Some(SavedFormat::Go);
    }
    // The reader of tidy CSV reports which columns are missing.
    first.contains(&b',').then_some(SavedFormat::TidyCsv)
}

/// Returns the format of Go's output, plain or as events, even after other output of a program.
fn of_go(text: &[u8]) -> Option<SavedFormat> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let is_event = |line: &[u8]| {
        line.starts_with(b"{\"") && contains(line, b"\"Action\":") && !contains(line, b"\"schema\"")
    };
    lines.find_map(|line| match line {
        line if go::is_of_benchmark(line) => Some(SavedFormat::Go),
        line if is_event(line) => Some(SavedFormat::GoEvents),
        _ => None,
    })
}

/// Searches a text for words, at most once per word: a file may have millions of keys, and each of
/// them may lead to a search.
struct Words<'t> {
    text: &'t [u8],
    known: HashMap<&'static str, bool>,
    looked_at: usize,
}

impl<'t> Words<'t> {
    fn of(text: &'t [u8]) -> Self {
        Self {
            text,
            known: HashMap::new(),
            looked_at: 0,
        }
    }

    fn has(&mut self, word: &'static str) -> bool {
        let (text, looked_at) = (self.text, &mut self.looked_at);
        *self.known.entry(word).or_insert_with(|| {
            *looked_at += text.len().min(SEARCHED);
            contains(text, word.as_bytes())
        })
    }
}

/// Iterates over the keys of the outermost object of a text, which may be truncated.
struct Keys<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Keys<'a> {
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

fn read_run(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    Ok(contenders_of(file, &read_run_from(text, file)?, "deadheat"))
}

fn read_table(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    // Any settings will do, because only the samples are used.
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

/// Makes each contender a benchmark. Drops the pairing of samples, which has no meaning in a
/// comparison with another file.
fn contenders_of(file: &Path, run: &Run, tool: &str) -> Results {
    let version = Some(&run.header.tool_version).filter(|version| !version.is_empty());
    let mut results = Results::new(file.to_string_lossy(), rows::tool(tool, version));
    let environment = &run.header.environment;
    results.facts.system = Some(environment.system.clone()).filter(|system| !system.is_empty());
    results.facts.cpu.clone_from(&environment.cpu);
    results.facts.cores = environment.cores;
    results.facts.debug_build = environment.debug_build.then_some(true);
    results.facts.moment = run.header.started_at.map(|seconds| seconds as f64);
    let first_failures = run.first_failures();
    for (index, planned) in run.header.plan.benchmarks.iter().enumerate() {
        if planned.rerun.is_some() {
            continue;
        }
        let failed = first_failures.get(&index);
        for contender in 0..planned.rivals() {
            // Values that were measured before the failure are dropped.
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

/// Returns the identity of a contender: that of its benchmark, with the name of the contender.
/// Names show the contender only if a file has several contenders of the benchmark.
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

/// Returns the samples of a contender; those in turns, if both sides shared a core in the race. If
/// that race has none in turns, leaves out the metrics that depend on the sharing.
fn samples_of(run: &Run, index: usize, contender: usize) -> ResultBenchmark {
    let plan = &run.header.plan;
    let samples = run.samples_by_themselves(index);
    let shares_core = plan.benchmarks[index].side_by_side.is_some()
        && std::ptr::eq(samples, &run.benchmarks[index]);
    let columns: Vec<(&Metric, &[f64])> = samples
        .metrics()
        .iter()
        .filter(|metric| !shares_core || !metric.changes_by_sharing())
        .filter_map(|metric| Some((metric, samples.column(metric)?)))
        .collect();
    let mut rows = ResultBenchmark {
        metrics: columns
            .iter()
            .map(|(metric, _)| (*metric).clone())
            .collect(),
        ..ResultBenchmark::default()
    };
    for block in samples.blocks() {
        for at in block.range() {
            let sample = &samples.samples()[at];
            if sample.contender.index() != contender {
                continue;
            }
            rows.processes.push(block.replicate);
            rows.exits
                .0
                .extend(sample.exit_code.map(|code| Some(i64::from(code))));
            for (metric, column) in &columns {
                rows.values.push(if metric.adds_up() {
                    column[at] / sample.iterations as f64
                } else {
                    column[at]
                });
            }
        }
    }
    // The metric that the race was judged by becomes the first.
    let judged = plan.judged(index);
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
            (
                r#"{"results":[{"command":"x","parameters":{"elapsed":"1"}}]}"#,
                Hyperfine,
            ),
            (
                r#"{"results":[{"name":"x","measurements":[{"elapsed":1}]}]}"#,
                Nanobench,
            ),
            (r#"{"commit_hash":"0","results":{}}"#, Asv),
            (r#"{"results":{},"result_columns":[]}"#, Asv),
            (r#"{"Time":"","Action":"start"}"#, GoEvents),
            ("# a\n{\"ImportPath\":\"a\",\"Action\":\"build\"}", GoEvents),
            ("{\"msg\":\"ready\"}\nBenchmarkA-8 1 2 ns/op\n", Go),
            ("[INFO] ready\nBenchmarkA-8 1 2 ns/op\n", Go),
            ("ok  \texample.org/a\t0.1s\n", Go),
            ("FAIL\texample.org/a [build failed]\n", Go),
            ("benchmark;contender;wall_ns\n", TidyCsv),
            (r#"{"benchmarks":[],"metadata":{},"version":"1.0"}"#, Pyperf),
            (r#"{"benchmarks":[{"runs":[]}],"version":"1.0"}"#, Pyperf),
            (r#"{"machine_info":{},"benchmarks":[]}"#, PytestBenchmark),
            (
                r#"{"benchmarks":[],"datetime":"","version":"5"}"#,
                PytestBenchmark,
            ),
            (r#"{"Title":"a","Benchmarks":[]}"#, BenchmarkDotNet),
            (r#" [ {"jmhVersion":"1.37"} ]"#, Jmh),
            (
                r#"{"layout":[],"benchmarks":[{"alias":"a","runs":[{"stats":{}}]}],"context":{}}"#,
                Mitata,
            ),
            (
                r#"{"context":{"runtime":"node"},"benchmarks":[{"alias":"a","runs":[{"stats":{}}]}]}"#,
                Mitata,
            ),
            (
                r#"{"files":[{"filepath":"a","groups":[{"benchmarks":[{"hz":1,"rme":1}]}]}]}"#,
                Vitest,
            ),
            (
                r#"{"success":true,"testResults":[{"assertionResults":[{"benchmarks":[]}]}]}"#,
                VitestReport,
            ),
            (
                r#"[{"name":"a","error":{}},{"name":"b","totalTime":1,"hz":1,"rme":1}]"#,
                Tinybench,
            ),
            (
                r#"[{"name":"a","latency":{"rme":1},"throughput":{"rme":1}}]"#,
                Tinybench,
            ),
            (
                r#"[{"bench":{},"name":"a","result":{"totalTime":1,"hz":1,"rme":1}}]"#,
                Tinybench,
            ),
            (r#"[{"Task Name":"a","ops/sec":"1"}]"#, TinybenchTable),
            (r#"[{"Task name":"a","Error":"x"}]"#, TinybenchTable),
            (r#"[{"name":"a","opsSec":1,"runsSampled":9}]"#, BenchNode),
            ("name,ops/sec,samples,plugins,min,max\r\n", BenchNodeTable),
            ("name,total time,samples,plugins,min,max\na", BenchNodeTable),
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
    fn files_of_other_tools_are_named_with_the_way_out() {
        for (text, kind, way) in [
            (
                "\u{80}\u{4}\u{95}torch.utils.benchmark.utils.common\nMeasurement",
                "torch.utils.benchmark",
                "tidy CSV",
            ),
            (
                r#"{"numTotalTests":1,"testResults":{"sort":[{"hz":1,"rme":1,"samples":[1]}]}}"#,
                "Vitest before 1.6",
                "--outputJson FILE",
            ),
            (
                r#"{"numTotalTests":1,"testResults":[{"name":"a","assertionResults":[]}]}"#,
                "tests without benchmarks",
                "--reporter=json",
            ),
            (
                r#"{"benchmarks":[{"name":"a","warmup":true,"baseline":false,"async":false}],"cpu":""}"#,
                "mitata before 1.0",
                "format: 'json'",
            ),
            (
                r#"[{"name":"a","hz":5,"stats":{"moe":1,"rme":1,"mean":0.2},"times":{"period":1}}]"#,
                "Benchmark.js",
                "tidy CSV",
            ),
            (
                r#"[{"Julia":"1"},[["BenchmarkGroup",{}]]]"#,
                "Julia",
                "tidy CSV",
            ),
            (
                r#"{"version":1,"metadata":{"catch2-version":"3.5"}}"#,
                "Catch2",
                "tidy CSV",
            ),
            (
                r#"{"reason":"benchmark-complete","id":"a"}"#,
                "cargo-criterion",
                "target/criterion",
            ),
            (
                r#"{"version":1,"runtime":"Deno/2","benches":[]}"#,
                "deno",
                "tidy CSV",
            ),
            (
                r#"[{"name":"a","unit":"ns","value":1}]"#,
                "trackers",
                "made from",
            ),
            (r#"{"a":{"latency":{"value":1}}}"#, "Bencher", "made from"),
            (
                "2026-03-01\nBenchmark     Time       CPU   Iterations\n---\nBM_a  3 ns  3 ns  10\n",
                "the console output of Google Benchmark",
                "--benchmark_out=FILE",
            ),
            (
                "name,iterations,real_time,cpu_time,time_unit\n",
                "CSV of Google Benchmark",
                "--benchmark_out",
            ),
            (
                "command,mean,stddev,median,user,system,min,max\n",
                "CSV of hyperfine",
                "--export-json",
            ),
            (
                "Benchmark 1: sleep 0\n  Time (mean ± σ):  1 ms\n  Range (min … max): 1 ms\n",
                "hyperfine",
                "--export-json",
            ),
            (
                "Benchmark   Mode  Cnt  Score  Error  Units\na.b  avgt  5  1.0  ns/op\n",
                "JMH",
                "-rf json",
            ),
            (
                "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\"\n",
                "CSV of JMH",
                "-rf json",
            ),
            (
                "| Method |  Mean | Error | StdDev |\n",
                "BenchmarkDotNet",
                "fulljson",
            ),
            (
                "Name (time in us)   Min\n",
                "pytest-benchmark",
                "--benchmark-json",
            ),
            ("sort: Mean +- std dev: 1 us +- 0 us\n", "pyperf", "-o FILE"),
            (
                "fib 10    time:   [1.0 µs 1.1 µs 1.2 µs]\n",
                "criterion",
                "target/criterion",
            ),
            (
                "test a ... bench:  10 ns/iter (+/- 2)\n",
                "libtest",
                "target/criterion",
            ),
            (
                "Timer precision: 10 ns\na  fastest │ slowest\n",
                "divan",
                "tidy CSV",
            ),
            (
                "benchmark name    samples   iterations\nFib 10  100 1\n",
                "Catch2",
                "tidy CSV",
            ),
            (
                "<?xml?>\n<Catch2TestRun name=\"b\"/>",
                "XML of Catch2",
                "tidy CSV",
            ),
            ("|  ns/op |  op/s |  err% |\n", "nanobench", "json()"),
            (
                "     │ old.txt │ new.txt │\n     │ sec/op │ sec/op  vs base │\n",
                "benchstat",
                "made from",
            ),
            ("BenchmarkTools.Trial: 10 samples\n", "Julia", "tidy CSV"),
            (
                "a  x 1,234 ops/sec (9 runs sampled) min..max=(1.00us...2.00us)\n",
                "bench-node",
                "jsonReport",
            ),
            (
                "┌─────────┬───────────┐\n│ (index) │ Task name │ Latency avg (ns) │\n",
                "tinybench",
                "bench.table()",
            ),
            (
                "a x 1,234 ops/sec ±1% (88 runs sampled)\n",
                "Benchmark.js",
                "tidy CSV",
            ),
            ("<!DOCTYPE html>\n", "a web page", "download the raw file"),
            ("sep=;\nbenchmark;contender\n", "Excel", "commas"),
        ] {
            let error = saved_format(Path::new("a.x"), text.as_bytes());
            let told = error.map_err(|error| error.to_string()).expect_err(text);
            assert!(told.contains(kind) && told.contains(way), "{text}: {told}");
            assert!(told.starts_with("a.x "), "{told}");
        }
    }

    #[test]
    fn what_is_nothing_says_so() {
        let told = |text: &[u8]| saved_format(Path::new("a"), text).unwrap_err().to_string();
        assert!(told(b"null\n").contains("nothing but null"));
        assert!(told(b"abc\0\x01").contains("neither text nor packed"));
    }

    #[test]
    fn other_texts_are_nobodys() {
        for text in ["", " \n", "{}", "[1]", "hello", "}]", "{]}"] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
