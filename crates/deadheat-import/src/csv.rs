//! Reads tidy CSV: one row per sample.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use csv::{ErrorKind, ReaderBuilder, StringRecord};
use deadheat_model::{
    FIXED_COLUMNS, Flags, HELP, Metric, Role, Run, metric_of_csv_column, suggestion, text_of_cell,
};

use super::csv_rows::{Kept, Place, Recording, RecordingPlan, Row};
use deadheat_format::limits::{Allowance, FewCells, refuse_long_name, refuse_many_benchmarks};
use deadheat_format::{FileProblem, FormatError, cannot_read};

/// Reads tidy CSV; `name` is the name of the file in errors.
///
/// The columns `benchmark`, `contender` and `wall_ns` are required. With `replicate`, `block` and
/// `slot`, the recording is paired, and its rows may be in any order; otherwise it is unpaired.
/// Other numeric columns become metrics. A column that is empty in all rows of a benchmark counts
/// only for the other benchmarks. An incomplete last block of a benchmark is left out; any other
/// inconsistency is an error that names its place.
pub fn read_csv_from(
    reader: impl Read,
    name: impl AsRef<Path>,
    plan: &RecordingPlan,
) -> Result<Run, FormatError> {
    let file = name.as_ref();
    let reader = FewCells::new(reader, b',').map_err(cannot_read(file))?;
    let mut reader = ReaderBuilder::new().from_reader(reader);
    let header = reader.headers().map_err(|error| explain(file, error))?;
    if header.is_empty() {
        return Err(FileProblem::Empty.of(file));
    }
    let header: Vec<Cow<'_, str>> = header.iter().map(text_of_cell).collect();
    let header: Vec<&str> = header.iter().map(AsRef::as_ref).collect();
    refuse_other_separators(file, &header)?;
    let columns = Columns::find(file, &header)?;
    let mut recording = Recording::new(columns.are_paired(), columns.metrics.len());
    let mut foreign = ForeignColumns::of(&columns.metrics);
    let mut record = StringRecord::new();
    let mut memory = Allowance::of_memory().map_err(cannot_read(file))?;
    while reader
        .read_record(&mut record)
        .map_err(|error| explain(file, error))?
    {
        let known = recording.benchmarks.len();
        read_row(file, &columns, &record, &mut foreign, &mut recording)?;
        let new = recording.benchmarks.len() > known;
        if new {
            refuse_many_benchmarks(known + 1).map_err(cannot_read(file))?;
        }
        if let Some(benchmark) = recording.benchmarks.get(known) {
            refuse_long_name(&benchmark.name).map_err(cannot_read(file))?;
        }
        let held = memory_of_row(columns.metrics.len(), new);
        memory.take(held).map_err(cannot_read(file))?;
    }
    let kept = foreign.settle(file, &recording, &columns.metrics)?;
    let metrics = columns
        .metrics
        .into_iter()
        .map(|column| column.metric)
        .collect();
    recording.into_run(file, metrics, &kept, plan)
}

/// Returns the estimated memory of a row in bytes; the first row of a benchmark needs more.
pub(super) fn memory_of_row(columns: usize, of_new_benchmark: bool) -> u64 {
    // A row has a value for each column; a benchmark has statistics for each column.
    let (row, benchmark) = (64 + 8 * columns as u64, 256 + 40 * columns as u64);
    row + if of_new_benchmark { benchmark } else { 0 }
}

fn read_row(
    file: &Path,
    columns: &Columns,
    record: &StringRecord,
    foreign: &mut ForeignColumns,
    recording: &mut Recording,
) -> Result<(), FormatError> {
    let name = text_of_cell(&record[columns.benchmark]);
    let mut place = Place {
        file,
        line: record.position().map_or(0, csv::Position::line),
        benchmark: &name,
        replicate: None,
        block: None,
        slot: None,
    };
    let number = |place: &Place<'_>, column, name| cell(place, record, column, name, parse_number);
    place.replicate = number(&place, columns.replicate, "replicate")?;
    if recording.paired {
        place.block = number(&place, columns.block, "block")?;
        place.slot = number(&place, columns.slot, "slot")?;
    }
    let iterations = columns.iterations;
    let iterations = cell(&place, record, iterations, "iterations", parse_iterations)?;
    let flags = cell(&place, record, columns.flags, "flags", parse_flags)?;
    let role = cell(&place, record, columns.role, "role", parse_role)?.flatten();
    let benchmark = recording.benchmark(place.benchmark);
    let contender = recording.benchmarks[benchmark]
        .contender(&text_of_cell(&record[columns.contender]), role)
        .map_err(|(column, problem)| place.cell(column, problem))?;
    for (index, column) in columns.metrics.iter().enumerate() {
        let cell = &record[column.place];
        let value = parse_value(cell);
        if column.metric == Metric::Wall {
            let problem = match value {
                Some(value) => unsound(cell, value),
                None => Some(not_a_number(cell)),
            };
            if let Some(problem) = problem {
                return Err(place.cell(&column.name, problem));
            }
        } else {
            foreign.note(index, benchmark, cell, value, recording.rows.len());
        }
        recording.values.push(value.unwrap_or(0.0));
    }
    recording.rows.push(Row {
        benchmark: benchmark as u32,
        contender: contender as u16,
        flags: flags.unwrap_or(Flags::NONE),
        replicate: place.replicate,
        block: place.block.unwrap_or(0),
        slot: place.slot.unwrap_or(0),
        line: place.line,
        iterations: iterations.unwrap_or(1),
    });
    Ok(())
}

/// Parses a cell of a row. Returns `None` if the table does not have the column.
fn cell<T>(
    place: &Place<'_>,
    record: &StringRecord,
    column: Option<usize>,
    name: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, FormatError> {
    let value = column.map(|column| parse(&record[column])).transpose();
    value.map_err(|problem| place.cell(name, problem))
}

/// Statistics of the columns that may be metrics. After the last row, these statistics determine
/// which columns are metrics.
struct ForeignColumns(Vec<Seen>);

#[derive(Default)]
struct Seen {
    numbers: bool,
    text: Option<(usize, String)>,
    /// For each benchmark: true if any of its cells holds a number, and the row of its first empty
    /// cell.
    of_benchmarks: Vec<(bool, Option<usize>)>,
    /// The first number that cannot be a measurement: its row and the reason.
    unsound: Option<(usize, String)>,
}

impl ForeignColumns {
    fn of(columns: &[MetricColumn]) -> Self {
        ForeignColumns(columns.iter().map(|_| Seen::default()).collect())
    }

    fn note(
        &mut self,
        column: usize,
        benchmark: usize,
        cell: &str,
        value: Option<f64>,
        row: usize,
    ) {
        let seen = &mut self.0[column];
        if seen.of_benchmarks.len() <= benchmark {
            seen.of_benchmarks.resize(benchmark + 1, (false, None));
        }
        let (numbers, empty) = &mut seen.of_benchmarks[benchmark];
        match value {
            Some(value) => {
                seen.numbers = true;
                *numbers = true;
                if seen.unsound.is_none() {
                    seen.unsound = unsound(cell, value).map(|problem| (row, problem));
                }
            }
            None if cell.is_empty() => {
                empty.get_or_insert(row);
            }
            None if seen.text.is_none() => {
                seen.text = Some((row, not_a_number(cell)));
            }
            None => {}
        }
    }

    /// Returns the columns that are metrics, by their index in `columns`. A custom column with text
    /// is not a metric. A column that deadheat itself defines must hold only numbers or only text.
    /// Empty cells count as text, unless all cells of a benchmark are empty.
    fn settle(
        self,
        file: &Path,
        recording: &Recording,
        columns: &[MetricColumn],
    ) -> Result<Kept, FormatError> {
        let mut kept = Kept::none(recording.benchmarks.len());
        for (index, (seen, column)) in self.0.into_iter().zip(columns).enumerate() {
            let gap = |(numbers, empty): &(bool, Option<usize>)| empty.filter(|_| *numbers);
            let gap = seen.of_benchmarks.iter().find_map(gap);
            let gap = gap.map(|row| (row, "'' is not a number".to_owned()));
            // Wall times are always numbers, because any other cell was an error.
            let seen_any = column.metric == Metric::Wall || seen.numbers;
            let problem = match seen.text.or(gap) {
                None if !seen_any => continue,
                Some(_) if !column.must_be_numeric() || !seen.numbers => continue,
                Some(text) => Some(text),
                None => seen.unsound,
            };
            if let Some((row, problem)) = problem {
                return Err(recording.place(file, row).cell(&column.name, problem));
            }
            let wall = column.metric == Metric::Wall;
            let has = |(numbers, _): &(bool, Option<usize>)| wall || *numbers;
            let mut has: Vec<bool> = seen.of_benchmarks.iter().map(has).collect();
            has.resize(recording.benchmarks.len(), wall);
            kept.keep(index, &has);
        }
        Ok(kept)
    }
}

/// Turns an error of the CSV library into an error that names its place.
fn explain(file: &Path, error: csv::Error) -> FormatError {
    let line = error.position().map_or(1, csv::Position::line);
    let text = error.to_string();
    let problem = match error.into_kind() {
        ErrorKind::Io(source) => return cannot_read(file)(source),
        ErrorKind::Utf8 { err, .. } => {
            let column = err.field() + 1;
            format!(
                "column {column} is not UTF-8\nhelp: save the file as UTF-8, \
                 as `iconv -f LATIN1 -t UTF-8` does"
            )
        }
        ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            // A number such as 12,5 takes two cells.
            let comma = if len > expected_len {
                "; numbers are written as 12.5, and text with a comma in quotes"
            } else {
                ""
            };
            format!("the row has {len} cells, but the header has {expected_len}{comma}")
        }
        _ => text,
    };
    FormatError::at(file, line, problem)
}

/// Refuses a table whose columns are separated by semicolons, tabs or bars. Programs write semicolons
/// in countries with a decimal comma.
fn refuse_other_separators(file: &Path, header: &[&str]) -> Result<(), FormatError> {
    let separator = match header {
        [only] => only.chars().find(|c| SEPARATORS.contains(c)),
        // A column's name may contain a comma.
        _ if NEEDED.iter().any(|needed| header.contains(needed)) => None,
        _ => SEPARATORS.into_iter().find(|separator| {
            let of_cell = |cell: &&str| cell.matches(*separator).count();
            header.iter().map(of_cell).sum::<usize>() >= header.len() - 1
        }),
    };
    match separator {
        Some(separator) => Err(other_separator(file, 1, &header.join(","), separator)),
        None => Ok(()),
    }
}

/// Characters that separate columns in tables of other programs.
const SEPARATORS: [char; 3] = [';', '\t', '|'];

/// Returns the error for a text that is a table with another separator: its first lines, at least
/// two, have the same number of columns. Returns `None` for any other text.
pub(super) fn table_of_another_separator(file: &Path, text: &[u8]) -> Option<FormatError> {
    const MOST_SEARCHED: usize = 1 << 16;
    const MOST_LINES: usize = 5;
    let text = String::from_utf8_lossy(&text[..text.len().min(MOST_SEARCHED)]);
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let lines: Vec<(usize, &str)> = lines.take(MOST_LINES).collect();
    let [(at, header), rows @ ..] = &lines[..] else {
        return None;
    };
    let separator = SEPARATORS.into_iter().find(|separator| {
        let count = |line: &str| line.matches(*separator).count();
        let of_header = count(header);
        of_header > 0 && !rows.is_empty() && rows.iter().all(|(_, row)| count(row) == of_header)
    })?;
    Some(other_separator(file, *at as u64 + 1, header, separator))
}

/// Returns the error for a table whose columns are separated by `separator`, with the names of its
/// columns.
fn other_separator(file: &Path, line: u64, header: &str, separator: char) -> FormatError {
    let name = match separator {
        ';' => "semicolons",
        '\t' => "tabs",
        _ => "bars",
    };
    let before = header.chars().take_while(|c| *c != separator);
    let column = before.count() as u64 + 1;
    let names = header
        .split(separator)
        .map(|name| name.trim().trim_matches('"'));
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let also = if NEEDED.iter().all(|needed| names.contains(needed)) {
        ", as tidy CSV requires".to_owned()
    } else {
        format!("; {}", columns_and_needed(&names))
    };
    let problem = format!(
        "the columns are separated by {name}{HELP}separate them by commas, and write numbers as \
         12.5{also}"
    );
    FormatError::at(
        file,
        deadheat_format::Place::Character(line, column),
        problem,
    )
}

/// Returns the error text for a cell that should be a number. Suggests the number that was probably
/// meant if the cell has a decimal comma or groups of digits.
pub(super) fn not_a_number(cell: &str) -> String {
    let grouping = |c: char| c.is_whitespace() || ['\'', '\u{2019}', '_'].contains(&c);
    let digits: String = cell.chars().filter(|c| !grouping(*c)).collect();
    let meant = match (digits.rfind(','), digits.rfind('.')) {
        (Some(comma), Some(point)) if comma < point => digits.replace(',', ""),
        (Some(_), _) if digits.matches(',').count() > 1 => digits.replace(',', ""),
        (Some(_), _) => digits.replace('.', "").replace(',', "."),
        (None, _) if digits.matches('.').count() > 1 => digits.replace('.', ""),
        _ => digits,
    };
    let plain = meant.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match meant.parse::<f64>() {
        Ok(_) if plain => {
            format!("'{cell}' is not written as a number\nhelp: write {meant}")
        }
        _ => format!("'{cell}' is not a number"),
    }
}

/// The index of each column of tidy CSV; `None` if the table does not have it.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) benchmark: usize,
    pub(super) contender: usize,
    pub(super) replicate: Option<usize>,
    pub(super) block: Option<usize>,
    pub(super) slot: Option<usize>,
    pub(super) role: Option<usize>,
    pub(super) iterations: Option<usize>,
    pub(super) flags: Option<usize>,
    pub(super) metrics: Vec<MetricColumn>,
}

#[derive(Debug)]
pub(super) struct MetricColumn {
    pub(super) place: usize,
    pub(super) name: String,
    pub(super) metric: Metric,
}

impl MetricColumn {
    /// Returns true if the column must hold numbers. A custom column may hold text as well.
    pub(super) fn must_be_numeric(&self) -> bool {
        !matches!(self.metric, Metric::Custom(_))
    }
}

/// The columns that every table must have.
const NEEDED: [&str; 3] = ["benchmark", "contender", "wall_ns"];

/// Returns the advice for a missing column: the existing columns and the required ones.
fn named_here(missing: &str, header: &[&str]) -> String {
    let meant = suggestion(missing, header.iter().copied());
    let meant = meant.map_or_else(String::new, |name| format!("rename '{name}'? "));
    format!("{meant}{}", columns_and_needed(header))
}

const MOST_LISTED: usize = 12;

/// Returns a text that lists the existing columns and the required ones.
fn columns_and_needed(header: &[&str]) -> String {
    let listed: Vec<String> = header
        .iter()
        .take(MOST_LISTED)
        .map(|name| name.chars().take(40).flat_map(char::escape_debug).collect())
        .collect();
    let more = if header.len() > MOST_LISTED {
        ", …"
    } else {
        ""
    };
    format!(
        "the columns are {}{more}; tidy CSV needs benchmark, contender and wall_ns \
         (docs/formats.md)",
        listed.join(", ")
    )
}

impl Columns {
    pub(super) fn find(file: &Path, header: &[&str]) -> Result<Self, FormatError> {
        let mut places = HashMap::with_capacity(header.len());
        for (place, name) in header.iter().enumerate() {
            if let Some(first) = places.insert(*name, place) {
                let (first, place) = (first + 1, place + 1);
                let problem = format!("columns {first} and {place} are both named '{name}'");
                return Err(FormatError::at(file, 1, problem));
            }
        }
        let optional = |name: &str| places.get(name).copied();
        let required = |name: &'static str| {
            optional(name).ok_or_else(|| {
                let problem = format!("column {name} is missing{HELP}{}", named_here(name, header));
                FormatError::at(file, 1, problem)
            })
        };
        required("wall_ns")?;
        let metrics = header
            .iter()
            .enumerate()
            .filter(|(_, name)| !FIXED_COLUMNS.contains(name))
            .map(|(place, name)| MetricColumn {
                place,
                name: (*name).to_owned(),
                metric: metric_of_csv_column(name),
            })
            .collect();
        Ok(Columns {
            benchmark: required("benchmark")?,
            contender: required("contender")?,
            replicate: optional("replicate"),
            block: optional("block"),
            slot: optional("slot"),
            role: optional("role"),
            iterations: optional("iterations"),
            flags: optional("flags"),
            metrics,
        })
    }

    /// Returns true if the table records the block and slot of every sample.
    pub(super) fn are_paired(&self) -> bool {
        self.replicate.is_some() && self.block.is_some() && self.slot.is_some()
    }
}

/// Parses the number of a replicate, block or slot.
pub(super) fn parse_number(cell: &str) -> Result<u32, String> {
    let max = u32::MAX;
    cell.trim()
        .parse()
        .map_err(|_| format!("'{cell}' is not a whole number from 0 to {max}"))
}

pub(super) fn parse_iterations(cell: &str) -> Result<u64, String> {
    match cell.trim().parse() {
        Ok(0) => Err("a sample needs at least one iteration".to_owned()),
        Ok(iterations) => Ok(iterations),
        Err(_) => Err(format!("'{cell}' is not a whole number")),
    }
}

/// Parses flags: an empty cell, a number whose bits are the flags, or names joined by `|`.
pub(super) fn parse_flags(cell: &str) -> Result<Flags, String> {
    let cell = cell.trim();
    if let Ok(bits) = cell.parse::<u64>() {
        return Ok(Flags::from_bits((bits & 0xff) as u8));
    }
    let mut bits = 0;
    for word in cell
        .split('|')
        .map(str::trim)
        .filter(|word| !word.is_empty())
    {
        bits |= match word {
            "preempted" => Flags::PREEMPTED.bits(),
            "migrated" => Flags::MIGRATED.bits(),
            "concurrent" => Flags::CONCURRENT.bits(),
            "delay-unread" => Flags::DELAY_UNREAD.bits(),
            "gpu-clock" => Flags::GPU_CLOCK.bits(),
            _ => {
                return Err(format!(
                    "'{word}' is not one of 'preempted', 'migrated', 'concurrent', 'delay-unread', \
                     'gpu-clock'"
                ));
            }
        };
    }
    Ok(Flags::from_bits(bits))
}

/// Parses a role; returns `None` for an empty cell.
pub(super) fn parse_role(cell: &str) -> Result<Option<Role>, String> {
    match cell.trim() {
        "" => Ok(None),
        "baseline" => Ok(Some(Role::Baseline)),
        "candidate" => Ok(Some(Role::Candidate)),
        other => Err(format!("'{other}' is neither 'baseline' nor 'candidate'")),
    }
}

/// Parses any number, even a negative or infinite one; returns `None` for other text.
pub(super) fn parse_value(cell: &str) -> Option<f64> {
    cell.trim().parse().ok()
}

/// Returns the reason why a value cannot be a measurement; `None` if it can.
pub(super) fn unsound(cell: &str, value: f64) -> Option<String> {
    if !value.is_finite() {
        Some(format!("'{cell}' is not finite"))
    } else if value < 0.0 {
        Some(format!("'{cell}' is negative"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_from_bits_and_from_words() {
        let both = Flags::from_bits(3);
        for (cell, expected) in [
            ("", Flags::NONE),
            ("0", Flags::NONE),
            ("1", Flags::PREEMPTED),
            ("3", both),
            ("259", both),
            ("migrated", Flags::MIGRATED),
            ("preempted|migrated", both),
            ("concurrent|delay-unread", Flags::from_bits(12)),
        ] {
            assert_eq!(parse_flags(cell), Ok(expected), "{cell}");
        }
        assert!(parse_flags("preempt").is_err());
    }

    #[test]
    fn numbers_of_other_locales_come_with_the_number_meant() {
        for (cell, meant) in [
            ("12,5", "12.5"),
            ("6,114.79", "6114.79"),
            ("6.114,79", "6114.79"),
            ("1.234.567", "1234567"),
            ("1,234,567", "1234567"),
            ("1 234,5", "1234.5"),
            ("1\u{202f}234,5", "1234.5"),
            ("1'234.5", "1234.5"),
            ("-0,5", "-0.5"),
        ] {
            let told = not_a_number(cell);
            assert!(told.ends_with(&format!("\nhelp: write {meant}")), "{told}");
        }
        for cell in ["", "fast", ",", "1,2,x", "12.5 ns", "nan,"] {
            assert_eq!(not_a_number(cell), format!("'{cell}' is not a number"));
        }
    }

    fn refused(table: &[u8]) -> String {
        let plan = RecordingPlan {
            margin: 0.01,
            alpha: 0.05,
            judged: Metric::Wall,
        };
        let read = read_csv_from(table, "a.csv", &plan);
        read.unwrap_err().to_string()
    }

    #[test]
    fn tables_of_other_locales_are_refused_with_their_place() {
        for (separator, name) in [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")] {
            let table = "benchmark,contender,wall_ns\nsort,old,12\n".replace(',', separator);
            assert_eq!(
                refused(table.as_bytes()),
                format!(
                    "a.csv:1:10: the columns are separated by {name}\nhelp: separate them by \
                     commas, and write numbers as 12.5, as tidy CSV requires"
                )
            );
        }
        let quoted = "benchmark,contender,wall_ns\nsort,old,12\nsort,new,\"12,5\"\n";
        assert_eq!(
            refused(quoted.as_bytes()),
            "a.csv:3: wall_ns of benchmark 'sort': '12,5' is not written as a number\n\
             help: write 12.5"
        );
        assert_eq!(
            refused("Messung (ms, Mittel);Alt;Neu\n1;12,3;11,9\n".as_bytes()),
            "a.csv:1:21: the columns are separated by semicolons\nhelp: separate them by commas, and \
             write numbers as 12.5; the columns are Messung (ms, Mittel), Alt, Neu; tidy CSV needs \
             benchmark, contender and wall_ns (docs/formats.md)"
        );
        let plain = refused(b"benchmark,contender,wall_ns\nsort,old,12,5\n");
        assert!(plain.starts_with("a.csv:2: "), "{plain}");
        assert!(plain.contains("numbers are written as 12.5"), "{plain}");
        let latin = refused(b"benchmark,contender,wall_ns\ns\xf6rt,old,12\n");
        assert!(latin.starts_with("a.csv:2: "), "{latin}");
        assert!(latin.contains("save the file as UTF-8"), "{latin}");
    }

    #[test]
    fn two_columns_of_one_name_are_refused() {
        let header = ["benchmark", "contender", "wall_ns", "x", "x"];
        let error = Columns::find(Path::new("a.csv"), &header).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.csv:1: columns 4 and 5 are both named 'x'"
        );
    }
}
