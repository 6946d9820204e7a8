//! Reads a file in the library's own layout row by row, without holding it as a whole.

use std::borrow::Cow;
use std::io::Read;

use crate::results::Results;
use deadheat_model::{JsonPieces, JsonScalar, JsonScan};

use super::{Families, Row, RunType, read_whole, without_benchmarks};
use crate::readers::json::{Number, without_mark};
use deadheat_format::FileProblem;
use deadheat_format::limits::Allowance;

/// Reads a text row by row if possible, otherwise as a whole.
pub(crate) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    read_pieces(text).map_or_else(|| read_whole(text), Ok)
}

/// Reads a file row by row. Returns `None` for a file with an error, of a release that does not
/// mark aggregates, or of another tool.
pub(crate) fn read_pieces(input: impl Read) -> Option<Results> {
    let mut pieces = JsonPieces::new(input);
    let (mut results, mut families) = (None, None);
    pieces.scan(|scan| {
        // A byte-order mark may precede the JSON.
        let mark = scan.rest().len() - without_mark(scan.rest()).len();
        scan.advance(mark);
        scan.take(b'{').then_some(())
    })?;
    loop {
        let is_context = pieces.scan(|scan| {
            let is_context = match scan.text()?.as_ref() {
                "context" => true,
                "benchmarks" => false,
                _ => return None,
            };
            scan.take(b':').then_some(is_context)
        })?;
        if is_context && results.is_none() {
            let context = pieces.scan(|scan| {
                let mut values = serde_json::Deserializer::from_slice(scan.rest()).into_iter();
                let context = values.next()?.ok()?;
                let end = values.byte_offset();
                // serde skips unknown fields without checking that they are UTF-8.
                std::str::from_utf8(&scan.rest()[..end]).ok()?;
                scan.advance(end);
                Some(context)
            })?;
            results = Some(without_benchmarks(context).ok()?);
        } else if !is_context && families.is_none() {
            families = Some(rows(&mut pieces)?);
        } else {
            return None;
        }
        let goes_on = pieces.scan(|scan| match scan.peek()? {
            b',' => Some(scan.take(b',')),
            b'}' => Some(!scan.take(b'}')),
            _ => None,
        })?;
        if !goes_on {
            break;
        }
    }
    let mut results = results.filter(|_| pieces.is_at_end())?;
    families?.give_to(&mut results);
    Some(results)
}

/// Estimated memory in bytes for a benchmark with one row and its report.
const MEMORY_OF_BENCHMARK: u64 = 1024;

fn rows<R: Read>(pieces: &mut JsonPieces<R>) -> Option<Families> {
    let mut families = Families::default();
    let is_empty = pieces.scan(|scan| {
        let begins = scan.take(b'[') && scan.peek().is_some();
        begins.then(|| scan.take(b']'))
    })?;
    let mut ended = is_empty;
    while !ended {
        ended = pieces.scan(|scan| all_rows(scan, &mut families))?;
        // The reader of whole files reports the error if there are too many.
        let mut memory = Allowance::of_memory().ok()?;
        let held = MEMORY_OF_BENCHMARK * families.benchmarks.len() as u64;
        memory.take(held).ok()?;
    }
    (!families.broken).then_some(families)
}

/// Reads as many rows as are complete in one piece. Returns true if the list ends after them, and
/// `None` if the piece holds less than a row.
fn all_rows(scan: &mut JsonScan<'_>, families: &mut Families) -> Option<bool> {
    let mut values = [const { None }; NAMES.len()];
    let mut others = Vec::new();
    let mut row = Row::default();
    let mut any = None;
    loop {
        let begin = scan.clone();
        let read = scan.object(&NAMES, &mut values, &mut others).is_some();
        let behind = scan.peek();
        if !read || !(scan.take(b',') || scan.take(b']')) {
            *scan = begin;
            return any;
        }
        any = Some(behind == Some(b']'));
        let plain = row.fill(&mut values, &mut others);
        if plain.is_none() || families.take(&mut row).is_err() {
            families.broken = true;
            return Some(true);
        }
        if behind == Some(b']') {
            return any;
        }
    }
}

/// Field names of a row, in the order in which the library writes them.
const NAMES: [&str; 19] = [
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "aggregate_name",
    "aggregate_unit",
    "repetitions",
    "repetition_index",
    "threads",
    "label",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
];

impl<'t> Row<'t> {
    /// Replaces the fields of this row by `values`, which are in the order of [`NAMES`]. Returns
    /// `None` if the row needs the reader of whole files.
    fn fill(
        &mut self,
        values: &mut [Option<JsonScalar<'t>>; NAMES.len()],
        others: &mut Vec<(Cow<'t, str>, JsonScalar<'t>)>,
    ) -> Option<()> {
        let [
            name,
            family_index,
            per_family_instance_index,
            run_name,
            run_type,
            aggregate_name,
            _aggregate_unit,
            _repetitions,
            _repetition_index,
            threads,
            label,
            error_occurred,
            error_message,
            skipped,
            skip_message,
            _iterations,
            real_time,
            cpu_time,
            time_unit,
        ] = values;
        self.name = text(name)??;
        self.run_name = text(run_name)?;
        // Without this field, only all rows together show which are aggregates.
        self.run_type = Some(match text(run_type)??.as_ref() {
            "iteration" => RunType::Iteration,
            "aggregate" => RunType::Aggregate,
            _ => return None,
        });
        self.aggregate_name = text(aggregate_name)?;
        self.family_index = whole(family_index)?;
        self.per_family_instance_index = whole(per_family_instance_index)?;
        self.threads = whole(threads)?;
        self.label = text(label)?;
        self.error_occurred = truth(error_occurred)?;
        self.error_message = text(error_message)?;
        self.skipped = truth(skipped)?;
        self.skip_message = text(skip_message)?;
        self.real_time = time(real_time)?;
        self.cpu_time = time(cpu_time)?;
        self.time_unit = text(time_unit)?;
        self.counters.clear();
        for (name, value) in others.drain(..) {
            // Only numbers are counters; other values, such as labels, are texts.
            if let JsonScalar::Number(_) = value {
                self.counters.push((name, number(&value)?));
            }
        }
        Some(())
    }
}

/// Returns the text of a field, which may be missing; `None` if the field is of another type.
fn text<'t>(value: &mut Option<JsonScalar<'t>>) -> Option<Option<Cow<'t, str>>> {
    match value.take() {
        None | Some(JsonScalar::Null) => Some(None),
        Some(JsonScalar::Text(text)) => Some(Some(text)),
        _ => None,
    }
}

/// Returns the whole number in a field, which may be missing; `None` if it has a sign, a fraction,
/// an exponent or another type.
fn whole<N: std::str::FromStr>(value: &Option<JsonScalar<'_>>) -> Option<Option<N>> {
    match value {
        None | Some(JsonScalar::Null) => Some(None),
        Some(JsonScalar::Number(digits)) => digits.parse().ok().map(Some),
        _ => None,
    }
}

/// Returns the truth value of a field, false if it is missing; `None` if the field is of another
/// type.
fn truth(value: &Option<JsonScalar<'_>>) -> Option<bool> {
    match value {
        None => Some(false),
        Some(JsonScalar::Bool(yes)) => Some(*yes),
        _ => None,
    }
}

/// Returns the number in a field, which may be missing; `None` if the field is of another type.
fn time(value: &Option<JsonScalar<'_>>) -> Option<Option<Number>> {
    match value {
        None => Some(None),
        Some(value) => number(value).map(Some),
    }
}

/// Returns the number, or an empty [`Number`] for `null` or `NaN`; `None` for another type or a
/// number that is too large.
fn number(value: &JsonScalar<'_>) -> Option<Number> {
    match value {
        JsonScalar::Null | JsonScalar::NoNumber => Some(Number(None)),
        JsonScalar::Number(digits) => {
            let number: f64 = digits.parse().ok()?;
            number.is_finite().then_some(Number(Some(number)))
        }
        _ => None,
    }
}
