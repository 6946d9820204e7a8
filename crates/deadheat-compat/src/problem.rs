//! Why the original ends in a traceback: what it met, and where.

use std::fmt;

use crate::row::Row;

/// What no report can be made of. The original ends with exit code 1 and a traceback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the JSON, `benchmarks[3].real_time`; empty where it is not of the JSON.
    pub path: String,
    /// What is wrong there.
    pub what: String,
    /// Whether it is of the second side; without meaning where no row is at fault.
    pub second: bool,
}

impl Problem {
    /// Something wrong with the value at a path.
    pub(crate) fn at(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            what: what.into(),
            second: false,
        }
    }

    /// Something wrong with a field of a row.
    pub(crate) fn of_field(row: &Row<'_>, field: &str, what: impl Into<String>) -> Self {
        Self {
            second: row.second,
            ..Self::at(format!("benchmarks[{}].{field}", row.index), what)
        }
    }

    /// A field that a row must have.
    pub(crate) fn missing(row: &Row<'_>, field: &str) -> Self {
        Self::of_field(row, field, "is missing")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "{}: {}", self.path, self.what)
        }
    }
}

impl std::error::Error for Problem {}
