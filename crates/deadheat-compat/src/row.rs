//! The entries of `benchmarks`, as far as the report reads them.

use crate::json::{Broken, Reader};
use crate::kept::{Kept, Packed, Texts};
use crate::problem::Problem;
use crate::value::{Number, Text, Value};

/// The rows of one file: what is kept of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    pub(crate) all: Vec<Row>,
    /// The fields that repetitions mostly have in common, for one row or several.
    heads: Vec<Packed<IN_HEAD>>,
    pub(crate) texts: Texts,
    /// The fields of the row read last.
    last: [Kept; FIELDS.len()],
    /// True if they are of the second side.
    pub(crate) second: bool,
}

/// The part of an entry that is kept beside its head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Its place in the file, from 0.
    index: u32,
    head: u32,
    values: Packed<{ FIELDS.len() - IN_HEAD }>,
}

/// A field that the report reads: its place in [`FIELDS`].
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

/// In the order in which the library mostly writes them, those of the head first.
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

/// The number of fields of a head.
const IN_HEAD: usize = 8;

impl Rows {
    /// Reads an object; all other fields are checked and forgotten.
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

    /// The row at a place among those that are left.
    pub(crate) fn at(&self, place: usize) -> RowView<'_> {
        RowView {
            rows: self,
            row: &self.all[place],
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = RowView<'_>> {
        self.all.iter().map(|row| RowView { rows: self, row })
    }

    /// Keeps the rows that `name` gives their names to, which may be their own; it is asked once
    /// for rows of one head.
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

/// One row of a file.
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

    /// A field, `None` if it is not there; one that is `null` is `Some(Value::Null)`.
    pub(crate) fn get(&self, field: Field) -> Option<Value<'r>> {
        self.kept(field).value(&self.rows.texts)
    }

    /// The string that a field must be.
    pub(crate) fn text(&self, field: Field) -> Result<Text<'r>, Problem> {
        match self.required(field)? {
            Value::Text(text) => Ok(text),
            value => Err(self.unlike("string", field, &value)),
        }
    }

    /// The number of that string among the texts of the file.
    pub(crate) fn text_id(&self, field: Field) -> Result<u32, Problem> {
        let value = self.required(field)?;
        match self.kept(field) {
            Kept::Text(id) => Ok(id),
            _ => Err(self.unlike("string", field, &value)),
        }
    }

    /// The string that a field is, which is empty where it is missing.
    pub(crate) fn text_or_empty(&self, field: Field) -> Result<Text<'r>, Problem> {
        match self.kept(field) {
            Kept::Missing => Ok("".into()),
            _ => self.text(field),
        }
    }

    /// The number that a field must be. Whole ones must not be too large for a float.
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

    /// Something wrong with a field.
    pub(crate) fn problem(&self, field: Field, what: impl Into<String>) -> Problem {
        Problem {
            path: format!("benchmarks[{}].{}", self.row.index, FIELDS[field as usize]),
            what: what.into(),
            second: self.rows.second,
        }
    }

    fn unlike(&self, kind: &str, field: Field, value: &Value<'_>) -> Problem {
        let is = value.type_name();
        self.problem(field, format!("should be a {kind} and is a {is}"))
    }

    fn required(&self, field: Field) -> Result<Value<'r>, Problem> {
        self.get(field)
            .ok_or_else(|| self.problem(field, "is missing"))
    }
}
