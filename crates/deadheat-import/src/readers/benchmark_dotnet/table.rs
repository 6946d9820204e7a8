//! Reads the CSV of BenchmarkDotNet. A row is a method with its job, its parameters and statistics
//! of its times, formatted for people; the units are in the cells or in the header.

use crate::identity::{Identity, QualifierPlace, QualifierShown};
use crate::results::{ResultBenchmark, ResultState, Results};
use csv::{ReaderBuilder, StringRecord};
use deadheat_model::Metric;

use super::super::json::without_mark;
use super::super::rows::{Rows, broken_row, few_cells, summarised};
use deadheat_format::limits::refuse_many_benchmarks;

use super::{NOTHING_MEASURED, of_method, unquoted, with_job};
use deadheat_format::FileProblem;

/// The last column of a job's settings, which the parameters follow: in tables of release 0.10 and
/// later, and in older tables.
const LAST_OF_JOB: [&str; 2] = ["WarmupCount", "Affinity"];

/// Columns that name the method or the job. The other columns before the statistics are parameters.
const NOT_PARAMETERS: [&str; 11] = [
    "Method",
    "Namespace",
    "Type",
    "Job",
    "Runtime",
    "Toolchain",
    "IterationCount",
    "LaunchCount",
    "RunStrategy",
    "UnrollFactor",
    "Categories",
];

pub(crate) fn is_table(text: &[u8]) -> bool {
    let header = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let header = String::from_utf8_lossy(header);
    let columns = header.split([',', ';']).map(|column| split_unit(column).0);
    let columns: Vec<&str> = columns.collect();
    let has = |name: &str| columns.contains(&name);
    has("Method") && (has("Mean") || has("Median")) && !has("benchmark")
}

/// Reads the table. Each row is a summary, because the file has no samples.
pub(crate) fn read_table(text: &[u8]) -> Result<Results, FileProblem> {
    let text = without_mark(text);
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let separator = if first.contains(&b';') { b';' } else { b',' };
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .flexible(true)
        .from_reader(few_cells(text, separator)?);
    let header = reader.headers().map_err(broken_row)?.clone();
    let mut records = Vec::new();
    for record in reader.records() {
        records.push(record.map_err(broken_row)?);
        refuse_many_benchmarks(records.len()).map_err(FileProblem::CannotRead)?;
    }
    let table = Table::of(&header, &records);
    let mut results = Results::new("", "BenchmarkDotNet");
    for record in &records {
        if let Some(method) = table.text(record, "Method") {
            results.push(table.benchmark(record, unquoted(method)));
        }
        if results.are_full() {
            break;
        }
    }
    Ok(results)
}

/// The layout of a table: the indices of its columns, and the format of its numbers.
struct Table<'a> {
    columns: Vec<&'a str>,
    units: Vec<Option<&'a str>>,
    statistic: usize,
    parameters: Vec<usize>,
    decimal: char,
}

impl<'a> Table<'a> {
    fn of(header: &'a StringRecord, records: &[StringRecord]) -> Self {
        let (columns, units): (Vec<&str>, Vec<_>) = header.iter().map(split_unit).unzip();
        let place = |name: &str| columns.iter().position(|column| *column == name);
        let statistic = place("Mean").or(place("Median")).unwrap_or(columns.len());
        let ends = LAST_OF_JOB.iter().filter_map(|name| place(name));
        let job_end = ends.filter(|end| *end < statistic).max();
        let begin = job_end.map_or(0, |end| end + 1);
        let parameters = (begin..statistic)
            .filter(|at| !NOT_PARAMETERS.contains(&columns[*at]))
            .collect();
        // Every time has at least one decimal, so in a locale with a decimal comma every cell has a
        // comma.
        let ends_in_point = |record: &StringRecord| {
            let mark = record.get(statistic)?.rfind(['.', ','])?;
            Some(record[statistic][mark..].starts_with('.'))
        };
        let points = records.iter().filter_map(ends_in_point);
        let mut points = points.peekable();
        let decimal = match points.peek().is_none() || points.any(|point| point) {
            true => '.',
            false => ',',
        };
        Self {
            columns,
            units,
            statistic,
            parameters,
            decimal,
        }
    }

    fn text<'r>(&self, record: &'r StringRecord, column: &str) -> Option<&'r str> {
        let at = self.columns.iter().position(|name| *name == column)?;
        record
            .get(at)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }

    fn benchmark(&self, record: &StringRecord, method: &str) -> ResultBenchmark {
        let mut benchmark = ResultBenchmark {
            identity: self.identity(record, method),
            ..ResultBenchmark::default()
        };
        let statistic = self.columns[self.statistic];
        let Some(time) = self.value(record, self.statistic, time_unit) else {
            let cell = record.get(self.statistic).unwrap_or_default().trim();
            benchmark.state = ResultState::Failed(match cell {
                "" | "NA" | "-" | "?" => NOTHING_MEASURED.to_owned(),
                cell => format!("{statistic}: '{cell}' is not a time"),
            });
            return benchmark;
        };
        let mut rows = Rows::default();
        rows.begin(0);
        rows.set(&Metric::Wall, time);
        if let Some(bytes) = self.allocated(record) {
            rows.set(&Metric::AllocatedBytes, bytes);
        }
        rows.give_to(&mut benchmark);
        benchmark.state = summarised(&statistic.to_lowercase());
        benchmark
    }

    fn identity(&self, record: &StringRecord, method: &str) -> Identity {
        let mut identity = of_method(self.text(record, "Type"), method);
        if let Some(namespace) = self.text(record, "Namespace") {
            let (place, shown) = (QualifierPlace::Package, QualifierShown::IfSideDiffers);
            identity = identity.with("namespace", namespace, place, shown);
        }
        for at in &self.parameters {
            let (place, shown) = (QualifierPlace::Parameter, QualifierShown::Always);
            match record.get(*at).map(str::trim) {
                None | Some("" | "?") => {}
                Some(value) => {
                    identity = identity.with(self.columns[*at].to_owned(), value, place, shown);
                }
            }
        }
        with_job(identity, self.text(record, "Job"))
    }

    /// Returns the allocated bytes per operation; `-` means 0.
    fn allocated(&self, record: &StringRecord) -> Option<f64> {
        let at = self.columns.iter().position(|name| *name == "Allocated")?;
        match record.get(at)?.trim() {
            "-" => Some(0.0),
            _ => self.value(record, at, size_unit),
        }
    }

    /// Returns the number in a cell, converted to nanoseconds or bytes.
    fn value(
        &self,
        record: &StringRecord,
        at: usize,
        factor: fn(&str) -> Option<f64>,
    ) -> Option<f64> {
        let cell = record.get(at)?.trim();
        let behind = cell.rfind(|c: char| c.is_ascii_digit())? + 1;
        let (number, unit) = cell.split_at(behind);
        let unit = match unit.trim() {
            "" => self.units[at].unwrap_or_default(),
            unit => unit,
        };
        let is_kept = |c: &char| c.is_ascii_digit() || *c == self.decimal || *c == '-';
        let is_grouping = |c: char| c.is_whitespace() || ['.', ',', '\'', '’'].contains(&c);
        if !number.chars().all(|c| is_kept(&c) || is_grouping(c)) {
            return None;
        }
        let digits: String = number.chars().filter(is_kept).collect();
        let value: f64 = digits.replace(self.decimal, ".").parse().ok()?;
        let value = value * factor(unit)?;
        (value.is_finite() && value >= 0.0).then_some(value)
    }
}

/// Splits a column's name from the unit in brackets after it, as in `Mean [us]`.
fn split_unit(column: &str) -> (&str, Option<&str>) {
    let column = column
        .trim()
        .trim_start_matches('\u{feff}')
        .trim_matches('"');
    match column.strip_suffix(']').and_then(|c| c.rsplit_once(" [")) {
        Some((name, unit)) => (name, Some(unit)),
        None => (column, None),
    }
}

fn time_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return None,
    })
}

/// Returns the bytes in a unit of size; in BenchmarkDotNet, 1 KB is 1,024 bytes.
fn size_unit(unit: &str) -> Option<f64> {
    let units = ["B", "KB", "MB", "GB", "TB"];
    let power = units.iter().position(|known| *known == unit)?;
    Some(f64::powi(1024.0, power as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Results {
        assert!(is_table(text.as_bytes()), "{text}");
        read_table(text.as_bytes()).unwrap()
    }

    fn values(text: &str) -> Vec<Vec<f64>> {
        let benchmarks = read(text).benchmarks.into_iter();
        benchmarks.map(|one| one.values).collect()
    }

    #[test]
    fn reads_numbers_as_any_culture_writes_them() {
        let english = "Method,Job,WarmupCount,Mean,Error,Allocated\n\
                       A,DefaultJob,Default,\"1,234.5 ns\",3.10 ns,\"2,048 B\"\n\
                       B,DefaultJob,Default,2.50 \u{3bc}s,3.10 ns,-\n";
        let german = "Method;Job;WarmupCount;Mean;Error;Allocated\n\
                      A;DefaultJob;Default;1.234,5 ns;3,10 ns;2.048 B\n\
                      B;DefaultJob;Default;2,50 us;3,10 ns;-\n";
        let swiss = "Method;Job;WarmupCount;Mean;Error;Allocated\n\
                     A;DefaultJob;Default;1’234.5 ns;3.10 ns;2’048 B\n\
                     B;DefaultJob;Default;2.50 \u{b5}s;3.10 ns;-\n";
        let french = german
            .replace("1.234", "1\u{202f}234")
            .replace("2.048", "2\u{a0}048");
        for text in [english, german, swiss, &french] {
            assert_eq!(values(text), [[1234.5, 2048.0], [2500.0, 0.0]], "{text}");
        }
    }

    #[test]
    fn units_may_be_in_the_header() {
        let text = "Method,WarmupCount,Mean [ms],Allocated [KB]\r\nA,3,\"1,000.25\",1.5\r\n";
        assert_eq!(values(text), [[1_000.25e6, 1536.0]]);
    }

    #[test]
    fn a_row_without_a_time_has_failed() {
        let results = read("Method,WarmupCount,Mean\nA,3,NA\nB,3,2 parsecs\nC,3\nD,3,1.0 ns\n");
        let failed = |at: usize| match &results.benchmarks[at].state {
            ResultState::Failed(why) => why.clone(),
            state => panic!("{state:?}"),
        };
        assert_eq!(failed(0), NOTHING_MEASURED);
        assert_eq!(failed(1), "Mean: '2 parsecs' is not a time");
        assert_eq!(failed(2), NOTHING_MEASURED);
        assert_eq!(results.benchmarks[3].state, summarised("mean"));
    }

    #[test]
    fn other_tables_are_not_taken_for_it() {
        for text in [
            "benchmark,contender,wall_ns\n",
            "Method,Path,Status\nGET,/,200\n",
            "Mean,Error\n",
            "Methods,Mean\n",
        ] {
            assert!(!is_table(text.as_bytes()), "{text}");
        }
    }
}
