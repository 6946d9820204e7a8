//! A file of results: read, checked, filtered, and brought into order.

use std::cmp::Ordering;
use std::fmt;

use crate::json::{Broken, JsonError, Reader};
use crate::pattern::Pattern;
use crate::problem::Problem;
use crate::row::Row;
use crate::spelling::spelled;
use crate::value::Value;

/// The one schema there is.
const SCHEMA: i64 = 1;

/// A JSON text that could be read, whether or not it holds results.
#[derive(Debug)]
pub struct Document<'a> {
    root: Root<'a>,
}

#[derive(Debug)]
enum Root<'a> {
    Object {
        context: Option<Value<'a>>,
        benchmarks: Option<Benchmarks<'a>>,
    },
    Other(&'static str),
}

#[derive(Debug)]
enum Benchmarks<'a> {
    /// The rows, and the first entry that is none, with the type it has.
    Rows(Vec<Row<'a>>, Option<Problem>),
    Other(Value<'a>),
}

/// Why a document that could be read gives no results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The schema is another; the original says so on standard output. What stands in place of the version.
    Schema(String),
    /// The original ends in a traceback.
    Problem(Problem),
}

impl Refusal {
    /// What the original prints on standard output about a file, if anything.
    pub fn printed(&self, file: &[u8]) -> Option<Vec<u8>> {
        let Self::Schema(version) = self else {
            return None;
        };
        let mut line = b"In ".to_vec();
        line.extend_from_slice(file);
        line.extend_from_slice(b", got unsupported JSON schema version: ");
        line.extend_from_slice(version.as_bytes());
        line.extend_from_slice(b", expected 1");
        Some(line)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(version) => write!(
                f,
                "context.json_schema_version: {version}, and only version {SCHEMA} is known"
            ),
            Self::Problem(problem) => problem.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl<'a> Document<'a> {
    /// Reads a text to its end.
    ///
    /// # Errors
    ///
    /// Whatever Python's `json.load` refuses, with its line and column.
    pub fn read(text: &'a [u8]) -> Result<Self, JsonError> {
        Reader::read(text, |reader| {
            if reader.peek() != Some(b'{') {
                let value = reader.value()?;
                let root = Root::Other(value.type_name());
                return Ok(Self { root });
            }
            let (mut context, mut benchmarks) = (None, None);
            reader.object(|reader, key| {
                match key.as_bytes() {
                    b"context" => context = Some(reader.value()?),
                    b"benchmarks" => benchmarks = Some(Benchmarks::read(reader)?),
                    _ => reader.skip()?,
                }
                Ok(())
            })?;
            let root = Root::Object {
                context,
                benchmarks,
            };
            Ok(Self { root })
        })
    }

    /// The rows whose run name, or else name, the filter finds something in, by family, instance and repetition, with
    /// the aggregates of each last.
    ///
    /// # Errors
    ///
    /// A schema that is not version 1, and everything on which the original ends in a traceback.
    pub fn results(self, filter: Option<&str>) -> Result<Results<'a>, Refusal> {
        let (context, benchmarks) = match self.root {
            Root::Object {
                context,
                benchmarks,
            } => (context, benchmarks),
            Root::Other(kind) => {
                let what = format!("the file should hold an object and holds a {kind}");
                return Err(Problem::at("", what).into());
            }
        };
        if let Some(context) = &context {
            check_schema(context)?;
        }
        let Some(benchmarks) = benchmarks else {
            return Err(Problem::at("", "there is no \"benchmarks\"").into());
        };
        let (mut rows, stranger) = match benchmarks {
            Benchmarks::Rows(rows, stranger) => (rows, stranger),
            Benchmarks::Other(value) => match &value {
                Value::Dict(entries) if entries.is_empty() => (Vec::new(), None),
                Value::Text(text) if text.is_empty() => (Vec::new(), None),
                _ => {
                    let what = format!("should be a list and is a {}", value.type_name());
                    return Err(Problem::at("benchmarks", what).into());
                }
            },
        };
        if let Some(problem) = stranger {
            return Err(problem.into());
        }
        if let Some(filter) = filter {
            rows = wanted(rows, filter)?;
        }
        sort(&mut rows)?;
        Ok(Results { rows })
    }
}

impl<'a> Benchmarks<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Broken> {
        if reader.peek() != Some(b'[') {
            return Ok(Self::Other(reader.value()?));
        }
        let (mut rows, mut stranger) = (Vec::new(), None);
        let mut index = 0;
        reader.list(|reader| {
            if reader.peek() == Some(b'{') {
                rows.push(Row::read(reader, index)?);
            } else {
                let kind = reader.value()?.type_name();
                stranger.get_or_insert_with(|| {
                    let what = format!("should be an object and is a {kind}");
                    Problem::at(format!("benchmarks[{index}]"), what)
                });
            }
            index += 1;
            Ok(())
        })?;
        Ok(Self::Rows(rows, stranger))
    }
}

/// Results of one side, in the order in which they are reported.
#[derive(Debug, Clone)]
pub struct Results<'a> {
    pub(crate) rows: Vec<Row<'a>>,
}

impl Results<'_> {
    /// How many rows there are, aggregates included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// These are the results of the second side, which a problem will say of them.
    pub fn of_second_side(mut self) -> Self {
        for row in &mut self.rows {
            row.second = true;
        }
        self
    }

    /// Keeps what the pattern finds something in, and puts the replacement in place of all it finds.
    ///
    /// # Errors
    ///
    /// A pattern or a replacement that Python refuses, and a name that is no string.
    pub fn family(mut self, pattern: &str, replacement: &str) -> Result<Self, Problem> {
        let pattern = Pattern::new(pattern)?;
        let mut template = None;
        let mut kept = Vec::with_capacity(self.rows.len());
        for mut row in self.rows {
            let name = string_of(&row, row.name()?, "name")?;
            if !pattern.is_found_in(&name)? {
                continue;
            }
            // Python reads the replacement when it needs it first.
            let template = match &template {
                Some(template) => template,
                None => template.insert(pattern.template(replacement)?),
            };
            let renamed = pattern.replace(&name, template)?;
            row.name = Some(Value::Text(crate::text::Text::new(renamed.into_bytes())));
            kept.push(row);
        }
        self.rows = kept;
        Ok(self)
    }
}

fn string_of(row: &Row<'_>, value: &Value<'_>, field: &str) -> Result<String, Problem> {
    value.text().map(|t| t.lossy().into_owned()).ok_or_else(|| {
        let what = format!("should be a string and is a {}", value.type_name());
        Problem::of_field(row, field, what)
    })
}

fn check_schema(context: &Value<'_>) -> Result<(), Refusal> {
    const KEY: &str = "json_schema_version";
    let unreadable = |what: String| Err(Problem::at("context", what).into());
    match context {
        Value::Dict(entries) => {
            let version = entries
                .iter()
                .find(|(k, _)| k.as_bytes() == KEY.as_bytes())
                .map(|(_, v)| v);
            match version {
                Some(version) if !version.equals(&Value::Int(SCHEMA)) => {
                    Err(Refusal::Schema(spelled(version)))
                }
                _ => Ok(()),
            }
        }
        // Python's `in` asks lists and strings too.
        Value::List(items) if !items.iter().any(|item| item.is_text(KEY)) => Ok(()),
        Value::Text(text) if !text.lossy().contains(KEY) => Ok(()),
        other => unreadable(format!(
            "should be an object and is a {}",
            other.type_name()
        )),
    }
}

fn wanted<'a>(rows: Vec<Row<'a>>, filter: &str) -> Result<Vec<Row<'a>>, Problem> {
    if rows.is_empty() {
        // Nobody looks at the expression.
        return Ok(rows);
    }
    let pattern = Pattern::new(filter)?;
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        let run_name = row.run_name.as_ref().filter(|name| name.truth());
        let name = match run_name {
            Some(name) => string_of(&row, name, "run_name")?,
            None => string_of(&row, row.name()?, "name")?,
        };
        if pattern.is_found_in(&name)? {
            kept.push(row);
        }
    }
    Ok(kept)
}

/// A field by which rows are ordered; a row without it comes before 0.
type Key = for<'r, 'a> fn(&'r Row<'a>) -> &'r Option<Value<'a>>;

/// Orders by one field after the other, the least important first; what is equal stays as it was.
fn sort(rows: &mut Vec<Row<'_>>) -> Result<(), Problem> {
    let keys: [(&str, Key); 3] = [
        ("repetition_index", |row| &row.repetition_index),
        ("per_family_instance_index", |row| &row.instance_index),
        ("family_index", |row| &row.family_index),
    ];
    for (field, key) in keys {
        check_order(rows, field, key)?;
    }
    let [repetition, instance, family] = keys.map(|(_, key)| key);
    rows.sort_by(|a, b| {
        by(family, a, b)
            .then_with(|| by(instance, a, b))
            .then_with(|| a.is_aggregate().cmp(&b.is_aggregate()))
            .then_with(|| by(repetition, a, b))
    });
    Ok(())
}

fn by(key: Key, a: &Row<'_>, b: &Row<'_>) -> Ordering {
    const NONE: Value<'static> = Value::Int(-1);
    let (a, b) = (key(a).as_ref(), key(b).as_ref());
    match (a.unwrap_or(&NONE), b.unwrap_or(&NONE)) {
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (a, b) => {
            let ((a, rest_a), (b, rest_b)) = (size(a), size(b));
            a.total_cmp(&b).then(rest_a.cmp(&rest_b))
        }
    }
}

/// A number as a float, and what rounding took from it. A NaN is behind everything, where Python leaves it to chance.
fn size(value: &Value<'_>) -> (f64, i128) {
    match value {
        Value::Bool(yes) => (f64::from(u8::from(*yes)), 0),
        Value::Int(number) => {
            let float = *number as f64;
            (float, i128::from(*number) - float as i128)
        }
        Value::Big(digits) => (digits.parse().unwrap_or(f64::NAN), 0),
        // -0 is 0.
        Value::Float(number) if !number.is_nan() => (*number + 0.0, 0),
        _ => (f64::NAN, 0),
    }
}

/// Numbers have an order and strings have one, but not both together, and nothing else.
fn check_order(rows: &[Row<'_>], field: &str, key: Key) -> Result<(), Problem> {
    if rows.len() < 2 {
        return Ok(());
    }
    let (mut numbers, mut strings) = (false, false);
    for row in rows {
        match key(row) {
            None | Some(Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_)) => {
                numbers = true;
            }
            Some(Value::Text(_)) => strings = true,
            Some(other) => {
                let what = format!("a {} cannot be sorted by", other.type_name());
                return Err(Problem::of_field(row, field, what));
            }
        }
        if numbers && strings {
            let what = "numbers and strings cannot be sorted together";
            return Err(Problem::of_field(row, field, what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results<'a>(text: &'a str, filter: Option<&str>) -> Result<Results<'a>, Refusal> {
        Document::read(text.as_bytes()).unwrap().results(filter)
    }

    fn names(results: &Results<'_>) -> Vec<String> {
        results
            .rows
            .iter()
            .map(|row| string_of(row, row.name().unwrap(), "name").unwrap())
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
        assert!(results(r#"{"benchmarks": [{"family_index": null}]}"#, None).is_ok());
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
    fn another_schema_is_refused_with_the_words_of_the_original() {
        for (version, spelled) in [("2", "2"), ("null", "None"), ("\"1\"", "1"), ("0.5", "0.5")] {
            let text =
                format!(r#"{{"context": {{"json_schema_version": {version}}}, "benchmarks": []}}"#);
            let refusal = results(&text, None).unwrap_err();
            let line = refusal.printed(b"a.json").unwrap();
            assert_eq!(
                String::from_utf8(line).unwrap(),
                format!("In a.json, got unsupported JSON schema version: {spelled}, expected 1")
            );
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
            (r#"{"context": null, "benchmarks": []}"#, "context"),
        ] {
            let Refusal::Problem(problem) = results(text, None).unwrap_err() else {
                panic!("{text}");
            };
            assert_eq!(problem.path, path, "{text}");
        }
        assert!(results(r#"{"context": [], "benchmarks": {}}"#, None).is_ok());
    }

    #[test]
    fn a_family_is_renamed() {
        let text = r#"{"benchmarks": [{"name": "BM_a/8"}, {"name": "other"}]}"#;
        let family = results(text, None).unwrap().family("BM_.", "[x]").unwrap();
        assert_eq!(names(&family), ["[x]/8"]);
        let again = results(text, None).unwrap().family(r"BM_\w", r"[BM_\w]");
        assert!(again.unwrap_err().what.contains("bad escape"));
    }
}
