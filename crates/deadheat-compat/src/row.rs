//! One entry of `benchmarks`, as far as the report reads it.

use crate::json::{Broken, Reader};
use crate::problem::Problem;
use crate::value::Value;

/// What is kept of an entry. A field that is not there is `None`; one that is `null` is `Some(Value::Null)`.
#[derive(Debug, Clone, Default)]
pub struct Row<'a> {
    /// Its place in the file, from 0.
    pub index: u32,
    /// Whether it is of the second side.
    pub(crate) second: bool,
    pub(crate) name: Option<Value<'a>>,
    pub(crate) run_name: Option<Value<'a>>,
    pub(crate) run_type: Option<Value<'a>>,
    pub(crate) aggregate_name: Option<Value<'a>>,
    pub(crate) label: Option<Value<'a>>,
    pub(crate) time_unit: Option<Value<'a>>,
    pub(crate) real_time: Option<Value<'a>>,
    pub(crate) cpu_time: Option<Value<'a>>,
    pub(crate) repetition_index: Option<Value<'a>>,
    pub(crate) instance_index: Option<Value<'a>>,
    pub(crate) family_index: Option<Value<'a>>,
}

impl<'a> Row<'a> {
    /// Reads an object; all other fields are checked and forgotten.
    pub(crate) fn read(reader: &mut Reader<'a>, index: u32) -> Result<Self, Broken> {
        let mut row = Self {
            index,
            ..Self::default()
        };
        reader.object(|reader, key| {
            let field = match key.as_bytes() {
                b"name" => &mut row.name,
                b"run_name" => &mut row.run_name,
                b"run_type" => &mut row.run_type,
                b"aggregate_name" => &mut row.aggregate_name,
                b"label" => &mut row.label,
                b"time_unit" => &mut row.time_unit,
                b"real_time" => &mut row.real_time,
                b"cpu_time" => &mut row.cpu_time,
                b"repetition_index" => &mut row.repetition_index,
                b"per_family_instance_index" => &mut row.instance_index,
                b"family_index" => &mut row.family_index,
                _ => return reader.skip(),
            };
            *field = Some(reader.value()?);
            Ok(())
        })?;
        Ok(row)
    }

    pub(crate) fn is_aggregate(&self) -> bool {
        self.run_type
            .as_ref()
            .is_some_and(|kind| kind.is_text("aggregate"))
    }

    pub(crate) fn name(&self) -> Result<&Value<'a>, Problem> {
        self.required(&self.name, "name")
    }

    pub(crate) fn time_unit(&self) -> Result<&Value<'a>, Problem> {
        self.required(&self.time_unit, "time_unit")
    }

    pub(crate) fn time(&self, which: Which) -> Result<&Value<'a>, Problem> {
        let field = match which {
            Which::Real => &self.real_time,
            Which::Cpu => &self.cpu_time,
        };
        self.required(field, which.field())
    }

    /// Whether it has what a row must have whose unit is that of its benchmark.
    pub(crate) fn is_comparable(&self) -> bool {
        self.time_unit.is_some() && self.real_time.is_some() && self.cpu_time.is_some()
    }

    fn required<'r>(
        &self,
        field: &'r Option<Value<'a>>,
        name: &str,
    ) -> Result<&'r Value<'a>, Problem> {
        field.as_ref().ok_or_else(|| Problem::missing(self, name))
    }
}

/// The two times of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    Real,
    Cpu,
}

impl Which {
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::Real => "real_time",
            Self::Cpu => "cpu_time",
        }
    }
}
