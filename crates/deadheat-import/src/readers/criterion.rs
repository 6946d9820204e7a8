//! Reads a folder of criterion: finds the sets of results in it and reads their files.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Better, Metric, Unit};
use serde::Deserialize;
use serde_json::Value;

use super::json::{Number, from_json, lenient, without_mark};
use super::rows::{Rows, failed, summarised};
use super::{modified, unknown};
use deadheat_format::content;
use deadheat_format::limits::{Allowance, FewCells};
use deadheat_format::{FileProblem, FormatError, cannot_read};

/// Name of the set with the latest measurement.
const NEWEST: &str = "new";

/// Maximum depth of folders to search: group, function, parameter and set, and a few above them.
/// The limit bounds the time if the user names the root of a disk.
const DEEPEST: usize = 8;

/// Reads a set of results from `target/criterion`, from a folder below it, or from the folder of a
/// single set. Without a name, the set is `new`, which holds the latest measurement; otherwise it
/// is the baseline of that name.
///
/// Does not follow links to folders. The folder may still hold benchmarks that were removed from
/// the source.
pub fn read_criterion(
    folder: impl AsRef<Path>,
    baseline: Option<&str>,
) -> Result<Results, FormatError> {
    let folder = folder.as_ref();
    let found = Found::below(folder)?;
    let wanted = baseline.unwrap_or(NEWEST);
    let of_name: Vec<&Set> = found.sets.iter().filter(|set| set.name == wanted).collect();
    let chosen = match (&found.sets[..], &of_name[..]) {
        // If the user named the folder of a single set, its name does not matter.
        ([only], []) if baseline.is_none() && only.folder == folder => vec![only],
        ([], _) => return Err(found.nothing(folder)),
        (_, []) => return Err(no_such(folder, wanted, &found.names())),
        _ => of_name,
    };
    let written = chosen.iter().filter_map(|set| modified(&set.folder));
    let modified = written.reduce(f64::max);
    let mut memory = Allowance::of_results().map_err(cannot_read(folder))?;
    let mut read_sets: Vec<(Id, ResultBenchmark)> = Vec::with_capacity(chosen.len());
    for set in chosen {
        let read = set.read().unwrap_or_else(|error| set.failed(folder, error));
        memory.take(read.1.memory()).map_err(cannot_read(folder))?;
        read_sets.push(read);
    }
    read_sets.sort_by(|(a, _), (b, _)| in_order(a, b));
    let mut results = Results::new(folder.display().to_string(), "criterion");
    results.facts.modified = modified;
    results.unread = found
        .nameless
        .iter()
        .map(|folder| {
            let below = folder.strip_prefix(&results.source).unwrap_or(folder);
            format!(
                "{} was skipped: it has samples, but no benchmark.json",
                below.display()
            )
        })
        .collect();
    for (_, benchmark) in read_sets {
        results.push(benchmark);
    }
    results.facts.digest = Some(results.digest());
    Ok(results)
}

/// Returns the files of a folder without results of criterion, ordered by name. Leaves out hidden
/// files and subfolders. Returns `None` if the folder has results of criterion or has no files.
pub fn files_in(folder: impl AsRef<Path>) -> Result<Option<Vec<PathBuf>>, FormatError> {
    let folder = folder.as_ref();
    if !Found::below(folder)?.sets.is_empty() {
        return Ok(None);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot_read(folder))? {
        let entry = entry.map_err(cannot_read(folder))?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok((!files.is_empty()).then_some(files))
}

/// A folder with criterion's results of one benchmark.
struct Set {
    name: String,
    folder: PathBuf,
}

impl Set {
    fn read(&self) -> Result<(Id, ResultBenchmark), FormatError> {
        let text = |name: &str| {
            let file = self.folder.join(name);
            match content::all_bytes(&file) {
                Ok(text) => Ok(Some(text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(cannot_read(&file)(error)),
            }
        };
        let benchmark = text("benchmark.json")?.unwrap_or_default();
        let (sample, estimates) = (text("sample.json")?, text("estimates.json")?);
        let (id, mut read) = read(
            &self.folder,
            &benchmark,
            sample.as_deref(),
            estimates.as_deref(),
        )?;
        let unit = text("raw.csv")?.and_then(|raw| unit_of(&raw));
        if let Some(unit) = unit.filter(|unit| unit != "ns") {
            measures(&mut read, &unit);
        }
        Ok((id, read))
    }
}

fn unit_of(raw: &[u8]) -> Option<String> {
    let mut reader = csv::Reader::from_reader(FewCells::new(raw, b',').ok()?);
    let column = reader.headers().ok()?.iter().position(|it| it == "unit")?;
    let first = reader.records().next()?.ok()?;
    first.get(column).map(str::to_owned)
}

/// Replaces the wall times of a benchmark by values of a custom measurement in this unit. Removes
/// its rates, because they are not rates per second.
fn measures(benchmark: &mut ResultBenchmark, unit: &str) {
    let metrics = benchmark.metrics.len();
    if metrics > 0 {
        let dimension = Unit::of_rate(unit).unwrap_or(Unit::Count);
        benchmark.metrics = vec![Metric::foreign(unit, dimension, Better::Less)];
        benchmark.values = benchmark.values.iter().copied().step_by(metrics).collect();
    }
}

impl Set {
    /// Returns a failed benchmark for a set whose files cannot be read, named after its folder if
    /// necessary.
    fn failed(&self, root: &Path, error: FormatError) -> (Id, ResultBenchmark) {
        let own = content::all_bytes(&self.folder.join("benchmark.json")).unwrap_or_default();
        let id = from_json(&own).unwrap_or_else(|_| {
            let above = self.folder.parent().unwrap_or(&self.folder);
            let name = above.strip_prefix(root).unwrap_or(above);
            let name = name.display().to_string();
            Id {
                group_id: name.clone(),
                function_id: None,
                value_str: None,
                full_id: name,
                throughput: None,
            }
        });
        let benchmark = failed(&id.full_id, error.to_string());
        (id, benchmark)
    }
}

#[derive(Default)]
struct Found {
    sets: Vec<Set>,
    /// Folders with samples but without a file that names the benchmark.
    nameless: Vec<PathBuf>,
    /// True if there are CBOR files, which cargo-criterion writes.
    cbor: bool,
}

impl Found {
    /// Searches a folder for sets. A folder is a set if it has a `benchmark.json`; the folders
    /// `report` and `change` have none.
    fn below(folder: &Path) -> Result<Found, FormatError> {
        let mut found = Found::default();
        // A path such as `.` does not contain the name of the folder.
        let name = match folder.file_name() {
            Some(name) => Some(name.to_owned()),
            None => fs::canonicalize(folder)
                .ok()
                .and_then(|folder| folder.file_name().map(ToOwned::to_owned)),
        };
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        found.look(folder, name, 0)?;
        Ok(found)
    }

    fn look(&mut self, folder: &Path, name: String, depth: usize) -> Result<(), FormatError> {
        let mut folders = BTreeSet::new();
        let (mut set, mut samples) = (false, false);
        for entry in fs::read_dir(folder).map_err(cannot_read(folder))? {
            let entry = entry.map_err(cannot_read(folder))?;
            let name = entry.file_name();
            let kind = entry.file_type().map_err(cannot_read(&entry.path()))?;
            if kind.is_dir() {
                folders.insert(name);
            } else if name == "benchmark.json" {
                set = entry.path().is_file();
            } else {
                samples |= name == "sample.json";
                self.cbor |= Path::new(&name).extension().is_some_and(|it| it == "cbor");
            }
        }
        if set {
            self.sets.push(Set {
                name,
                folder: folder.to_owned(),
            });
        } else if samples {
            self.nameless.push(folder.to_owned());
        }
        if depth < DEEPEST {
            for name in folders {
                let below = folder.join(&name);
                self.look(&below, name.to_string_lossy().into_owned(), depth + 1)?;
            }
        }
        Ok(())
    }

    fn names(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.sets.iter().map(|set| set.name.as_str()).collect();
        names.into_iter().collect()
    }

    fn nothing(&self, folder: &Path) -> FormatError {
        let found = if !self.nameless.is_empty() {
            "a folder whose samples have no name: benchmark.json is missing"
        } else if self.cbor {
            "a folder of cargo-criterion, whose CBOR deadheat does not read (run the benchmarks \
             with `cargo bench`)"
        } else {
            "a folder without files and without results of criterion"
        };
        unknown(folder, None, found)
    }
}

fn no_such(folder: &Path, wanted: &str, names: &[&str]) -> FormatError {
    let others: Vec<&str> = names.iter().copied().filter(|it| *it != NEWEST).collect();
    let problem = match (wanted, &others[..]) {
        (_, []) => "criterion saved no baseline".to_owned(),
        (NEWEST, _) => format!(
            "criterion keeps the last measurement under this name, but it is missing; the folder \
             has {}",
            others.join(", ")
        ),
        _ => format!(
            "criterion saved no baseline of this name; the folder has {}",
            others.join(", ")
        ),
    };
    FormatError::at(folder, format!("baseline '{wanted}'"), problem)
}

/// Orders groups and functions by name, and numeric parameters by size.
fn in_order(a: &Id, b: &Id) -> Ordering {
    let number = |id: &Id| id.value_str.as_ref()?.parse::<f64>().ok();
    let by_size = match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    a.group_id
        .cmp(&b.group_id)
        .then_with(|| a.function_id.cmp(&b.function_id))
        .then(by_size)
        .then_with(|| a.full_id.cmp(&b.full_id))
}

/// The content of `benchmark.json`.
#[derive(Debug, Deserialize)]
struct Id {
    #[serde(default, deserialize_with = "lenient")]
    group_id: String,
    #[serde(default, deserialize_with = "lenient")]
    function_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    value_str: Option<String>,
    full_id: String,
    throughput: Option<Value>,
}

/// Iteration counts and their times in nanoseconds, as in `sample.json` since 0.3.
#[derive(Deserialize)]
struct Sample {
    iters: Vec<Number>,
    times: Vec<Number>,
}

#[derive(Deserialize)]
struct Estimates {
    // Spelled with a capital letter before 0.3.
    #[serde(alias = "Median")]
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: Number,
}

/// Reads the results of one benchmark from the texts of its files; `folder` is the place in errors.
/// Without samples, the result is the median of the estimates. Without estimates as well, the
/// benchmark counts as failed.
pub fn read_criterion_set(
    folder: &Path,
    benchmark: &[u8],
    sample: Option<&[u8]>,
    estimates: Option<&[u8]>,
) -> Result<ResultBenchmark, FormatError> {
    read(folder, benchmark, sample, estimates).map(|(_, benchmark)| benchmark)
}

fn read(
    folder: &Path,
    benchmark: &[u8],
    sample: Option<&[u8]>,
    estimates: Option<&[u8]>,
) -> Result<(Id, ResultBenchmark), FormatError> {
    let in_file = |name| move |problem: FileProblem| problem.of(folder.join(name));
    let id: Id = from_json(benchmark).map_err(in_file("benchmark.json"))?;
    let mut benchmark = ResultBenchmark {
        name: id.full_id.clone(),
        ..ResultBenchmark::default()
    };
    let rates = Rates::of(id.throughput.as_ref());
    let mut rows = Rows::default();
    match (sample, estimates) {
        (Some(text), _) => {
            for nanoseconds in samples(text).map_err(in_file("sample.json"))? {
                rates.add_row(&mut rows, nanoseconds);
            }
        }
        (_, Some(text)) => {
            let median = median(text).map_err(in_file("estimates.json"))?;
            rates.add_row(&mut rows, median);
            benchmark.state = summarised("median");
        }
        _ => {
            let problem = "criterion wrote neither sample.json nor estimates.json";
            benchmark.state = ResultState::Failed(problem.to_owned());
        }
    }
    rows.give_to(&mut benchmark);
    Ok((id, benchmark))
}

/// Returns the median in nanoseconds per iteration, for sets without samples.
fn median(text: &[u8]) -> Result<f64, FileProblem> {
    let estimates: Estimates = from_json(text)?;
    let place = || "median.point_estimate".to_owned();
    estimates.median.point_estimate.measured(1.0, place)
}

/// Returns the nanoseconds per iteration of each sample.
fn samples(text: &[u8]) -> Result<Vec<f64>, FileProblem> {
    // Before 0.3, the file was a list of two lists.
    let old = without_mark(text).trim_ascii_start().starts_with(b"[");
    let (Sample { iters, times }, [iters_at, times_at]) = if old {
        let (iters, times) = from_json(text)?;
        (Sample { iters, times }, ["[0]", "[1]"])
    } else {
        (from_json(text)?, ["iters", "times"])
    };
    if iters.len() != times.len() {
        let (iters, times) = (iters.len(), times.len());
        let problem = format!("{times} times do not match {iters} iteration counts");
        return Err(FileProblem::at(times_at, problem));
    }
    if times.is_empty() {
        return Err(FileProblem::at(times_at, "there are no samples"));
    }
    let mut samples = Vec::with_capacity(times.len());
    for (at, (iters, time)) in iters.into_iter().zip(times).enumerate() {
        let iterations_at = || format!("{iters_at}[{at}]");
        let iterations = iters.measured(1.0, iterations_at)?;
        let time = time.measured(1.0, || format!("{times_at}[{at}]"))?;
        let each = time / iterations;
        if !each.is_finite() {
            let problem = format!("{iterations} iterations cannot have taken {time} ns");
            return Err(FileProblem::at(iterations_at(), problem));
        }
        samples.push(each);
    }
    Ok(samples)
}

/// The work per iteration, such as bytes, from which rates are computed.
#[derive(Default)]
struct Rates(Vec<(Metric, f64)>);

impl Rates {
    /// Reads the throughput of a group. Skips unknown kinds, because new releases add kinds.
    fn of(throughput: Option<&Value>) -> Rates {
        let mut rates = Rates::default();
        for (kind, amount) in throughput.and_then(Value::as_object).into_iter().flatten() {
            match kind.as_str() {
                "Bytes" | "BytesDecimal" => rates.bytes(amount.as_f64()),
                "Bits" => rates.bytes(amount.as_f64().map(|bits| bits / 8.0)),
                "Elements" => rates.elements(amount.as_f64()),
                "ElementsAndBytes" => {
                    rates.elements(amount.get("elements").and_then(Value::as_f64));
                    rates.bytes(amount.get("bytes").and_then(Value::as_f64));
                }
                _ => {}
            }
        }
        rates
    }

    fn bytes(&mut self, amount: Option<f64>) {
        let metric = Metric::foreign("bytes_per_second", Unit::BytesPerSecond, Better::More);
        self.0.extend(amount.map(|amount| (metric, amount)));
    }

    fn elements(&mut self, amount: Option<f64>) {
        let metric = Metric::foreign("elements_per_second", Unit::PerSecond, Better::More);
        self.0.extend(amount.map(|amount| (metric, amount)));
    }

    /// Adds a row with the time and the rates computed from it. All rows are of one process.
    fn add_row(&self, rows: &mut Rows, nanoseconds: f64) {
        rows.begin(0);
        rows.set(&Metric::Wall, nanoseconds);
        for (metric, amount) in &self.0 {
            let rate = amount * 1e9 / nanoseconds;
            if rate.is_finite() && rate >= 0.0 {
                rows.set(metric, rate);
            }
        }
    }
}
