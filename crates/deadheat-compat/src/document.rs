//! A file of results: read, checked, filtered, and brought into order.

use std::cmp::Ordering;

use crate::json::{Broken, JsonError, Reader};
use crate::pattern::Pattern;
use crate::problem::{Problem, Refusal};
use crate::row::{Field, Row};

/// A JSON text that could be read, whether or not it holds results.
#[derive(Debug)]
pub struct Document<'a> {
    schema: Result<(), Refusal>,
    rows: Result<Vec<Row<'a>>, Problem>,
}

impl<'a> Document<'a> {
    /// Reads a text to its end.
    ///
    /// # Errors
    ///
    /// Whatever Python's `json.load` refuses, with its line and column.
    pub fn read(text: &'a [u8]) -> Result<Self, JsonError> {
        Reader::read(text, |reader| {
            let mut read = Self {
                schema: Ok(()),
                rows: Err(Problem::at("", "there is no \"benchmarks\"")),
            };
            if reader.peek() != Some(b'{') {
                let is = reader.value()?.type_name();
                let what = format!("the file should hold an object and holds a {is}");
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

    /// The rows whose run name, or else name, the filter finds something in, by family, instance
    /// and repetition, with the aggregates of each last.
    ///
    /// # Errors
    ///
    /// A schema that is not version 1, and everything on which the original ends in a traceback.
    pub fn results(self, filter: Option<&str>) -> Result<Results<'a>, Refusal> {
        self.schema?;
        let mut rows = self.rows?;
        if let Some(filter) = filter {
            rows = wanted(rows, filter)?;
        }
        sort(&mut rows)?;
        Ok(Results { rows })
    }
}

/// Checks the version of the context, if it has one.
fn schema(reader: &mut Reader<'_>) -> Result<Result<(), Refusal>, Broken> {
    if reader.peek() != Some(b'{') {
        let is = reader.value()?.type_name();
        let what = format!("should be an object and is a {is}");
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

/// Reads the list of rows. The first entry that is none is a problem, once all is read.
fn rows<'a>(reader: &mut Reader<'a>) -> Result<Result<Vec<Row<'a>>, Problem>, Broken> {
    let unlike = |path: String, kind: &str, is: &str| {
        Problem::at(path, format!("should be {kind} and is a {is}"))
    };
    if reader.peek() != Some(b'[') {
        let is = reader.value()?.type_name();
        return Ok(Err(unlike("benchmarks".to_owned(), "a list", is)));
    }
    let (mut rows, mut index, mut problem) = (Vec::new(), 0, None);
    reader.list(|reader| {
        if reader.peek() == Some(b'{') {
            rows.push(Row::read(reader, index)?);
        } else {
            let is = reader.value()?.type_name();
            problem.get_or_insert_with(|| unlike(format!("benchmarks[{index}]"), "an object", is));
        }
        index += 1;
        Ok(())
    })?;
    Ok(problem.map_or(Ok(rows), Err))
}

/// The rows whose run name, or else name, the filter finds something in.
fn wanted<'a>(rows: Vec<Row<'a>>, filter: &str) -> Result<Vec<Row<'a>>, Problem> {
    let pattern = Pattern::new(filter)?;
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        let run_name = row.text_or_empty(Field::RunName)?;
        let name = if run_name.as_bytes().is_empty() {
            row.text(Field::Name)?
        } else {
            &run_name
        };
        if pattern.is_found_in(&name.lossy())? {
            kept.push(row);
        }
    }
    Ok(kept)
}

/// Orders rows; what is equal stays as it was. A missing index comes before 0, NaN behind all.
fn sort(rows: &mut [Row<'_>]) -> Result<(), Problem> {
    for row in &mut *rows {
        let index = |field| match row.get(field) {
            None => Ok(-1.0),
            // -0 is 0.
            Some(_) => row.number(field).map(|number| number.float() + 0.0),
        };
        row.place = [
            index(Field::Family)?,
            index(Field::Instance)?,
            f64::from(u8::from(row.is_aggregate())),
            index(Field::Repetition)?,
        ];
    }
    rows.sort_by(|a, b| {
        let places = a.place.iter().zip(&b.place);
        places
            .map(|(a, b)| a.total_cmp(b))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    Ok(())
}

/// Results of one side, in the order in which they are reported.
#[derive(Debug, Clone)]
pub struct Results<'a> {
    pub(crate) rows: Vec<Row<'a>>,
}

impl Results<'_> {
    /// The results as those of the second side, which a problem will say of them.
    pub fn of_second_side(mut self) -> Self {
        for row in &mut self.rows {
            row.second = true;
        }
        self
    }

    /// Keeps what the pattern finds something in, and puts the replacement in place of all it
    /// finds.
    ///
    /// # Errors
    ///
    /// A pattern or a replacement that Python refuses, and a name that is no string.
    pub fn family(mut self, pattern: &str, replacement: &str) -> Result<Self, Problem> {
        let pattern = Pattern::new(pattern)?;
        let mut kept = Vec::with_capacity(self.rows.len());
        for mut row in self.rows {
            let name = row.text(Field::Name)?.lossy();
            if pattern.is_found_in(&name)? {
                let renamed = pattern.replace(&name, replacement)?;
                row.rename(renamed);
                kept.push(row);
            }
        }
        self.rows = kept;
        Ok(self)
    }
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
}
