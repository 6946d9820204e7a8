//! A result file of Google Benchmark: read, checked, filtered and sorted. A row is an entry of the
//! list `benchmarks`, with the fields that the report uses.

use std::cmp::Ordering;
use std::io::Read;

use deadheat_model::JsonPieces;

use crate::json::{Broken, JsonError, Reader};
use crate::pattern::Pattern;
use crate::problem::{Problem, Refusal};
use crate::value::{Kept, Number, Packed, Text, Texts, Value};

/// A parsed JSON file. It may lack results; [`Document::results`] then returns the reason.
#[derive(Debug)]
pub struct Document {
    schema: Result<(), Refusal>,
    rows: Result<Rows, Problem>,
}

impl Document {
    fn empty() -> Self {
        Self {
            schema: Ok(()),
            rows: Err(Problem::at("", "there is no \"benchmarks\"")),
        }
    }

    /// Parses a whole JSON text.
    ///
    /// # Errors
    ///
    /// Returns the line and the column of anything that Python's `json.load` refuses.
    pub fn read(text: &[u8]) -> Result<Self, JsonError> {
        Reader::read(text, |reader| {
            let mut read = Self::empty();
            if reader.peek() != Some(b'{') {
                let is = reader.value()?.type_name();
                let what = format!("the file should hold an object but holds a {is}");
                read.rows = Err(Problem::at("", what));
                return Ok(read);
            }
            reader.object(|reader, key| {
                match key.as_bytes() {
                    b"context" => read.schema = schema(reader)?,
                    b"benchmarks" => read.rows = rows(reader)?,
                    _ => reader.skip()?,
                }
                Ok(())
            })?;
            Ok(read)
        })
    }

    /// Parses a JSON text piece by piece, so that only one piece at a time is in memory. Returns
    /// `None` if this fails, for example because `benchmarks` is not a list of objects;
    /// [`Document::read`] then returns the reason.
    pub fn read_pieces(input: impl Read) -> Option<Self> {
        let mut pieces = JsonPieces::new(input);
        let mut read = Self::empty();
        step(&mut pieces, 0, |reader| {
            if reader.take(b'{') {
                Ok(())
            } else {
                reader.wrong("an object is expected here")
            }
        })?;
        loop {
            enum Key {
                Context,
                Benchmarks,
                Other,
            }
            let key = step(&mut pieces, 1, |reader| {
                Ok(match reader.key()?.as_bytes() {
                    b"context" => Key::Context,
                    b"benchmarks" => Key::Benchmarks,
                    _ => Key::Other,
                })
            })?;
            match key {
                Key::Context => read.schema = step(&mut pieces, 1, schema)?,
                Key::Benchmarks => read.rows = Ok(rows_of_pieces(&mut pieces)?),
                Key::Other => step(&mut pieces, 1, |reader| reader.skip())?,
            }
            if step(&mut pieces, 1, |reader| more(reader, b'}'))? {
                continue;
            }
            return pieces.is_at_end().then_some(read);
        }
    }

    /// Returns the rows whose run name, or whose name if the run name is missing, matches the
    /// regular expression `filter`. The rows are sorted by family, instance and repetition, with
    /// the aggregates of each instance last.
    ///
    /// # Errors
    ///
    /// Returns an error if the schema version is not 1, or if `compare.py` would end in a
    /// traceback.
    pub fn results(self, filter: Option<&str>) -> Result<Results, Refusal> {
        self.schema?;
        let mut rows = self.rows?;
        if let Some(filter) = filter {
            keep_wanted(&mut rows, filter)?;
        }
        sort(&mut rows)?;
        Ok(Results { rows })
    }
}

/// Checks the field `json_schema_version` of the object `context`; a missing field is accepted.
fn schema(reader: &mut Reader<'_>) -> Result<Result<(), Refusal>, Broken> {
    if reader.peek() != Some(b'{') {
        let is = reader.value()?.type_name();
        let what = format!("should be an object but is a {is}");
        return Ok(Err(Problem::at("context", what).into()));
    }
    let mut checked = Ok(());
    reader.object(|reader, key| {
        if key.as_bytes() != b"json_schema_version" {
            return reader.skip();
        }
        let version = reader.value()?;
        let is_known = version.number().is_some_and(|number| number.float() == 1.0);
        checked = if is_known {
            Ok(())
        } else {
            Err(Refusal::Schema(version.spelled()))
        };
        Ok(())
    })?;
    Ok(checked)
}

/// Reads the list of rows to its end. Returns a problem with the first entry that is not an object.
fn rows(reader: &mut Reader<'_>) -> Result<Result<Rows, Problem>, Broken> {
    let unlike = |path: String, kind: &str, is: &str| {
        Problem::at(path, format!("should be {kind} but is a {is}"))
    };
    if reader.peek() != Some(b'[') {
        let is = reader.value()?.type_name();
        return Ok(Err(unlike("benchmarks".to_owned(), "a list", is)));
    }
    let (mut rows, mut index, mut problem) = (Rows::default(), 0, None);
    reader.list(|reader| {
        if reader.peek() == Some(b'{') {
            rows.read(reader, index)?;
        } else {
            let is = reader.value()?.type_name();
            problem.get_or_insert_with(|| unlike(format!("benchmarks[{index}]"), "an object", is));
        }
        index += 1;
        Ok(())
    })?;
    Ok(problem.map_or(Ok(rows), Err))
}

/// Reads the list of rows piece by piece; `None` if an entry is not an object.
fn rows_of_pieces<R: Read>(pieces: &mut JsonPieces<R>) -> Option<Rows> {
    let mut rows = Rows::default();
    let is_empty = step(pieces, 1, |reader| {
        if !reader.take(b'[') {
            return reader.wrong("a list is expected here");
        }
        reader.space();
        Ok(reader.take(b']'))
    })?;
    let mut goes_on = !is_empty;
    while goes_on {
        let before = rows.all.len();
        goes_on = step(pieces, 2, |reader| {
            // A piece contains several rows, and the last row may be cut off. A retry with more
            // text reads all rows of the piece again.
            rows.all.truncate(before);
            loop {
                let begin = reader.clone();
                let index = rows.all.len();
                let row = match reader.peek() {
                    Some(b'{') => rows.read(reader, index),
                    _ => reader.wrong("a row is expected here"),
                };
                let read = row.and_then(|()| {
                    reader.space();
                    more(reader, b']')
                });
                match read {
                    Ok(true) => reader.space(),
                    Ok(false) => return Ok(false),
                    Err(_) if index > before => {
                        rows.all.truncate(index);
                        *reader = begin;
                        return Ok(true);
                    }
                    Err(broken) => return Err(broken),
                }
            }
        })?;
    }
    Some(rows)
}

/// Calls `step` with a reader at the current position, inside `depth` brackets. If `step` fails,
/// calls it again with more of the text, because the piece may have ended too early. Returns `None`
/// if `step` still fails at the end of the text.
fn step<R: Read, T>(
    pieces: &mut JsonPieces<R>,
    depth: usize,
    mut step: impl FnMut(&mut Reader<'_>) -> Result<T, Broken>,
) -> Option<T> {
    let read = pieces.step(|text, ended| {
        let mut reader = Reader::within(text, depth);
        reader.space();
        let found = step(&mut reader).ok()?;
        // A value at the end of a piece, such as a number, may continue in the next piece.
        let whole = ended || reader.peek().is_some();
        // Outside of strings, JSON has only ASCII characters.
        let readable = || std::str::from_utf8(&text[..reader.at()]).is_ok();
        whole.then(|| (readable().then_some(found), reader.at()))
    });
    read?
}

/// Reads a comma and returns true, or reads the closing bracket and returns false.
fn more(reader: &mut Reader<'_>, close: u8) -> Result<bool, Broken> {
    if reader.take(b',') {
        Ok(true)
    } else if reader.take(close) {
        Ok(false)
    } else {
        reader.wrong("a comma or a closing bracket is expected here")
    }
}

/// Keeps the rows whose run name, or whose name if the run name is missing, matches `filter`.
fn keep_wanted(rows: &mut Rows, filter: &str) -> Result<(), Problem> {
    let pattern = Pattern::new(filter)?;
    rows.keep(|row| {
        let run_name = row.text_or_empty(Field::RunName)?;
        let name = if run_name.as_bytes().is_empty() {
            row.text(Field::Name)?
        } else {
            run_name
        };
        Ok(pattern.is_found_in(&name.lossy())?.then_some(None))
    })
}

/// Sorts the rows by the keys from [`place`]; the sort is stable. A missing index comes before 0,
/// and NaN comes last.
fn sort(rows: &mut Rows) -> Result<(), Problem> {
    let mut last = None;
    let mut sorted = true;
    for row in rows.iter() {
        let place = place(row)?;
        sorted &= last.is_none_or(|last| last <= place);
        last = Some(place);
    }
    // Google Benchmark writes rows in this order, unless it takes repetitions in turns.
    if !sorted {
        let mut placed = Vec::with_capacity(rows.all.len());
        for (index, row) in rows.iter().enumerate() {
            placed.push((place(row)?, rows.all[index]));
        }
        placed.sort_by_key(|(place, _)| *place);
        rows.all = placed.into_iter().map(|(_, row)| row).collect();
    }
    Ok(())
}

/// Returns the sort keys of a row, the most important first.
fn place(row: RowView<'_>) -> Result<[Ordered; 4], Problem> {
    let index = |field| {
        Ok(Ordered(match row.get(field) {
            None => -1.0,
            // Turns -0 into 0.
            Some(_) => row.number(field)?.float() + 0.0,
        }))
    };
    Ok([
        index(Field::Family)?,
        index(Field::Instance)?,
        Ordered(f64::from(u8::from(row.is_aggregate()))),
        index(Field::Repetition)?,
    ])
}

/// A float with a total order.
#[derive(Clone, Copy, Debug)]
struct Ordered(f64);

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

/// The results of one side, in the order of the report.
#[derive(Debug, Clone)]
pub struct Results {
    pub(crate) rows: Rows,
}

impl Results {
    /// Marks the results as those of the second side, so that messages about problems name this
    /// side.
    pub fn of_second_side(mut self) -> Self {
        self.rows.second = true;
        self
    }

    /// Keeps the rows whose name matches the regular expression `pattern`, and replaces all matches
    /// in the name by `replacement`.
    ///
    /// # Errors
    ///
    /// Returns a problem if Python would refuse the pattern or the replacement, or if a name is not
    /// a string.
    pub fn family(mut self, pattern: &str, replacement: &str) -> Result<Self, Problem> {
        let pattern = Pattern::new(pattern)?;
        self.rows.keep(|row| {
            let name = row.text(Field::Name)?;
            let name = name.lossy();
            if !pattern.is_found_in(&name)? {
                return Ok(None);
            }
            Ok(Some(Some(pattern.replace(&name, replacement)?)))
        })?;
        Ok(self)
    }
}

/// The rows of one file. Consecutive rows share the fields that are equal in both, which saves
/// memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    pub(crate) all: Vec<Row>,
    /// The heads of rows. A head contains the first [`IN_HEAD`] fields, which are usually equal in
    /// all repetitions of a benchmark; consecutive rows share their head.
    heads: Vec<Packed<IN_HEAD>>,
    pub(crate) texts: Texts,
    /// The fields of the last row that was read.
    last: [Kept; FIELDS.len()],
    /// True if the rows belong to the second side.
    pub(crate) second: bool,
}

/// A row: the index of its head in [`Rows`], and the fields that are not in the head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The index of the row in the list `benchmarks` of the file, from 0.
    index: u32,
    head: u32,
    values: Packed<{ FIELDS.len() - IN_HEAD }>,
}

/// A field that the report uses. Its discriminant is the index of its name in [`FIELDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    Family,
    Instance,
    RunName,
    RunType,
    AggregateName,
    Label,
    TimeUnit,
    Repetition,
    RealTime,
    CpuTime,
}

/// The names of the fields, in the order in which Google Benchmark usually writes them. The first
/// [`IN_HEAD`] fields form the head.
const FIELDS: [&str; 11] = [
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "aggregate_name",
    "label",
    "time_unit",
    "repetition_index",
    "real_time",
    "cpu_time",
];

/// The number of fields in a head.
const IN_HEAD: usize = 8;

impl Rows {
    /// Reads an object and appends it as a row. Fields that the report does not use are parsed and
    /// discarded.
    pub(crate) fn read(&mut self, reader: &mut Reader<'_>, index: usize) -> Result<(), Broken> {
        let mut fields = [Kept::Missing; FIELDS.len()];
        reader.object(|reader, key| {
            match FIELDS.iter().position(|f| f.as_bytes() == key.as_bytes()) {
                Some(field) => {
                    let value = reader.value()?;
                    fields[field] = Kept::of(&value, self.last[field], &mut self.texts);
                }
                None => reader.skip()?,
            }
            Ok(())
        })?;
        let (head, values) = fields.split_at(IN_HEAD);
        if self.heads.is_empty() || self.last[..IN_HEAD] != *head {
            self.heads
                .push(Packed::new(&std::array::from_fn(|place| head[place])));
        }
        self.all.push(Row {
            index: index as u32,
            head: self.heads.len() as u32 - 1,
            values: Packed::new(&std::array::from_fn(|place| values[place])),
        });
        self.last = fields;
        Ok(())
    }

    /// Returns the row at an index among the rows that filters have kept.
    pub(crate) fn at(&self, place: usize) -> RowView<'_> {
        RowView {
            rows: self,
            row: &self.all[place],
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = RowView<'_>> {
        self.all.iter().map(|row| RowView { rows: self, row })
    }

    /// Keeps the rows for which `name` returns `Some`, and renames a row if this `Some` contains a
    /// name. `name` is called once for consecutive rows with the same head.
    pub(crate) fn keep(
        &mut self,
        mut name: impl FnMut(RowView<'_>) -> Result<Option<Option<String>>, Problem>,
    ) -> Result<(), Problem> {
        let rows = std::mem::take(&mut self.all);
        let mut kept = Vec::with_capacity(rows.len());
        let mut last: Option<(u32, Option<u32>)> = None;
        for mut row in rows {
            let head = match last {
                Some((asked, head)) if asked == row.head => head,
                _ => match name(RowView {
                    rows: self,
                    row: &row,
                })? {
                    None => None,
                    Some(None) => Some(row.head),
                    Some(Some(name)) => {
                        let mut fields = self.heads[row.head as usize].all();
                        fields[Field::Name as usize] = Kept::Text(self.texts.id(name.as_bytes()));
                        self.heads.push(Packed::new(&fields));
                        Some(self.heads.len() as u32 - 1)
                    }
                },
            };
            last = Some((row.head, head));
            if let Some(head) = head {
                row.head = head;
                kept.push(row);
            }
        }
        self.all = kept;
        Ok(())
    }
}

/// A row with access to all its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowView<'r> {
    rows: &'r Rows,
    row: &'r Row,
}

impl<'r> RowView<'r> {
    fn kept(&self, field: Field) -> Kept {
        let place = field as usize;
        match place.checked_sub(IN_HEAD) {
            Some(place) => self.row.values.get(place),
            None => self.rows.heads[self.row.head as usize].get(place),
        }
    }

    /// Returns a field; `None` if it is missing. A `null` is `Some(Value::Null)`.
    pub(crate) fn get(&self, field: Field) -> Option<Value<'r>> {
        self.kept(field).value(&self.rows.texts)
    }

    /// Returns a field that must be a string.
    pub(crate) fn text(&self, field: Field) -> Result<Text<'r>, Problem> {
        match self.required(field)? {
            Value::Text(text) => Ok(text),
            value => Err(self.unlike("string", field, &value)),
        }
    }

    /// Returns the number of a text in [`Texts`], for a field that must be a string.
    pub(crate) fn text_id(&self, field: Field) -> Result<u32, Problem> {
        let value = self.required(field)?;
        match self.kept(field) {
            Kept::Text(id) => Ok(id),
            _ => Err(self.unlike("string", field, &value)),
        }
    }

    /// Returns a field that must be a string, or an empty string if it is missing.
    pub(crate) fn text_or_empty(&self, field: Field) -> Result<Text<'r>, Problem> {
        match self.kept(field) {
            Kept::Missing => Ok("".into()),
            _ => self.text(field),
        }
    }

    /// Returns a field that must be a number. An integer must not be too large for a float.
    pub(crate) fn number(&self, field: Field) -> Result<Number<'r>, Problem> {
        let value = self.required(field)?;
        match value.number() {
            None => Err(self.unlike("number", field, &value)),
            Some(whole @ Number::Digits(_)) if whole.float().is_infinite() => {
                Err(self.problem(field, "is too large a number for a float"))
            }
            Some(number) => Ok(number),
        }
    }

    pub(crate) fn is_aggregate(&self) -> bool {
        match self.kept(Field::RunType) {
            Kept::Text(id) => self.rows.texts.get(id) == b"aggregate",
            _ => false,
        }
    }

    pub(crate) fn problem(&self, field: Field, what: impl Into<String>) -> Problem {
        Problem {
            path: format!("benchmarks[{}].{}", self.row.index, FIELDS[field as usize]),
            what: what.into(),
            second: self.rows.second,
        }
    }

    fn unlike(&self, kind: &str, field: Field, value: &Value<'_>) -> Problem {
        let is = value.type_name();
        self.problem(field, format!("should be a {kind} but is a {is}"))
    }

    fn required(&self, field: Field) -> Result<Value<'r>, Problem> {
        self.get(field)
            .ok_or_else(|| self.problem(field, "is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text length in bytes that exceeds one piece.
    const LONG: usize = 1 << 20;

    fn results(text: &str, filter: Option<&str>) -> Result<Results, Refusal> {
        Document::read(text.as_bytes()).unwrap().results(filter)
    }

    fn names(results: &Results) -> Vec<String> {
        results
            .rows
            .iter()
            .map(|row| row.text(Field::Name).unwrap().lossy().into_owned())
            .collect()
    }

    #[test]
    fn rows_are_ordered_by_family_instance_kind_and_repetition() {
        let rows = results(
            r#"{"benchmarks": [
                {"name": "f1", "family_index": 1},
                {"name": "mean", "family_index": 0, "run_type": "aggregate"},
                {"name": "r1", "family_index": 0, "repetition_index": 1},
                {"name": "i1", "family_index": 0, "per_family_instance_index": 1},
                {"name": "r0", "family_index": 0, "repetition_index": 0},
                {"name": "none"}
            ]}"#,
            None,
        );
        assert_eq!(
            names(&rows.unwrap()),
            ["none", "r0", "r1", "mean", "i1", "f1"]
        );
    }

    #[test]
    fn what_cannot_be_sorted_is_named() {
        let error = results(
            r#"{"benchmarks": [{"family_index": 1}, {"family_index": "x"}]}"#,
            None,
        );
        let Refusal::Problem(problem) = error.unwrap_err() else {
            panic!("no problem");
        };
        assert_eq!(problem.path, "benchmarks[1].family_index");
    }

    #[test]
    fn a_filter_looks_at_the_run_name_first() {
        let text = r#"{"benchmarks": [
            {"name": "a_mean", "run_name": "a"}, {"name": "b_mean"}, {"name": "mean", "run_name": ""}
        ]}"#;
        assert_eq!(
            names(&results(text, Some("mean")).unwrap()),
            ["b_mean", "mean"]
        );
    }

    #[test]
    fn another_schema_is_refused_as_python_spells_it() {
        for (version, spelled) in [("2", "2"), ("null", "None"), ("\"1\"", "1"), ("0.5", "0.5")] {
            let text =
                format!(r#"{{"context": {{"json_schema_version": {version}}}, "benchmarks": []}}"#);
            let refusal = results(&text, None).unwrap_err();
            assert_eq!(refusal, Refusal::Schema(spelled.to_owned()));
        }
        for version in ["1", "1.0", "true"] {
            let text =
                format!(r#"{{"context": {{"json_schema_version": {version}}}, "benchmarks": []}}"#);
            assert!(results(&text, None).is_ok(), "{version}");
        }
    }

    #[test]
    fn what_holds_no_results_is_refused_and_named() {
        for (text, path) in [
            ("[]", ""),
            ("{}", ""),
            (r#"{"benchmarks": 3}"#, "benchmarks"),
            (r#"{"benchmarks": [{}, 3]}"#, "benchmarks[1]"),
            (r#"{"benchmarks": {}}"#, "benchmarks"),
            (r#"{"context": null, "benchmarks": []}"#, "context"),
        ] {
            let Refusal::Problem(problem) = results(text, None).unwrap_err() else {
                panic!("{text}");
            };
            assert_eq!(problem.path, path, "{text}");
        }
        assert!(results(r#"{"context": {}, "benchmarks": []}"#, None).is_ok());
    }

    #[test]
    fn a_family_is_renamed() {
        let text = r#"{"benchmarks": [{"name": "BM_a/8"}, {"name": "other"}]}"#;
        let family = results(text, None).unwrap().family("BM_.", "[x]").unwrap();
        assert_eq!(names(&family), ["[x]/8"]);
        let again = results(text, None).unwrap().family(r"BM_\w", r"[BM_\w]");
        assert!(again.unwrap_err().what.contains("bad escape"));
    }

    #[test]
    fn a_step_gets_more_until_it_has_enough() {
        let long = format!(" \"{}\" 12", "a".repeat(LONG));
        let mut pieces = JsonPieces::new(long.as_bytes());
        let length = step(&mut pieces, 0, |reader| match reader.value()? {
            Value::Text(text) => Ok(text.as_bytes().len()),
            _ => reader.wrong("a string is expected here"),
        });
        assert_eq!(length, Some(LONG));
        let number = step(&mut pieces, 0, |reader| {
            Ok(reader.value()? == Value::Number(Number::Whole(12)))
        });
        assert_eq!(number, Some(true));
        assert_eq!(step(&mut pieces, 0, |reader| reader.skip()), None);
    }

    #[test]
    fn a_step_that_never_has_enough_ends() {
        let mut pieces = JsonPieces::new(std::io::repeat(b'a'));
        assert_eq!(step(&mut pieces, 0, |reader| reader.skip()), None);
    }
}
