//! One entry of `benchmarks`, as far as the report reads it.

use crate::json::{Broken, Reader};
use crate::problem::Problem;
use crate::value::{Number, Text, Value};

/// The part of an entry that is kept. A field that is not there is `None`; one that is `null` is
/// `Some(Value::Null)`.
#[derive(Debug, Clone, Default)]
pub struct Row<'a> {
    /// Its place in the file, from 0.
    index: usize,
    /// True if it is of the second side.
    pub(crate) second: bool,
    /// The numbers it is sorted by, the most important first; filled in when it is sorted.
    pub(crate) place: [f64; 4],
    fields: [Option<Value<'a>>; FIELDS.len()],
}

/// A field that the report reads: its place in [`FIELDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    RunName,
    RunType,
    AggregateName,
    Label,
    TimeUnit,
    RealTime,
    CpuTime,
    Repetition,
    Instance,
    Family,
}

const FIELDS: [&str; 11] = [
    "name",
    "run_name",
    "run_type",
    "aggregate_name",
    "label",
    "time_unit",
    "real_time",
    "cpu_time",
    "repetition_index",
    "per_family_instance_index",
    "family_index",
];

impl<'a> Row<'a> {
    /// Reads an object; all other fields are checked and forgotten.
    pub(crate) fn read(reader: &mut Reader<'a>, index: usize) -> Result<Self, Broken> {
        let mut row = Self {
            index,
            ..Self::default()
        };
        reader.object(|reader, key| {
            match FIELDS.iter().position(|f| f.as_bytes() == key.as_bytes()) {
                Some(field) => row.fields[field] = Some(reader.value()?),
                None => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(row)
    }

    pub(crate) fn get(&self, field: Field) -> Option<&Value<'a>> {
        self.fields[field as usize].as_ref()
    }

    /// The string that a field must be.
    pub(crate) fn text(&self, field: Field) -> Result<&Text<'a>, Problem> {
        let value = self.required(field)?;
        value
            .text()
            .ok_or_else(|| self.unlike("string", field, value))
    }

    /// The string that a field is, which is empty where it is missing.
    pub(crate) fn text_or_empty(&self, field: Field) -> Result<Text<'a>, Problem> {
        match self.get(field) {
            None => Ok("".into()),
            Some(_) => self.text(field).cloned(),
        }
    }

    /// The number that a field must be. Whole ones must not be too large for a float.
    pub(crate) fn number(&self, field: Field) -> Result<Number<'a>, Problem> {
        let value = self.required(field)?;
        match value.number() {
            None => Err(self.unlike("number", field, value)),
            Some(whole @ Number::Whole(_)) if whole.float().is_infinite() => {
                Err(self.problem(field, "is too large a number for a float"))
            }
            Some(number) => Ok(number),
        }
    }

    pub(crate) fn is_aggregate(&self) -> bool {
        let kind = self.get(Field::RunType).and_then(Value::text);
        kind.is_some_and(|kind| kind.as_bytes() == b"aggregate")
    }

    pub(crate) fn rename(&mut self, name: String) {
        self.fields[Field::Name as usize] = Some(Value::Text(Text::new(name.into_bytes())));
    }

    /// Something wrong with a field.
    pub(crate) fn problem(&self, field: Field, what: impl Into<String>) -> Problem {
        Problem {
            path: format!("benchmarks[{}].{}", self.index, FIELDS[field as usize]),
            what: what.into(),
            second: self.second,
        }
    }

    fn unlike(&self, kind: &str, field: Field, value: &Value<'_>) -> Problem {
        let is = value.type_name();
        self.problem(field, format!("should be a {kind} and is a {is}"))
    }

    fn required(&self, field: Field) -> Result<&Value<'a>, Problem> {
        self.get(field)
            .ok_or_else(|| self.problem(field, "is missing"))
    }
}
