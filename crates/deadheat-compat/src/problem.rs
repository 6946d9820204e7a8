//! Errors in the data that make a report impossible, with their places in the JSON.

use std::fmt;

/// An error in the data that makes a report impossible. On such data, `compare.py` ends with exit
/// code 1 and a traceback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place in the JSON, such as `benchmarks[3].real_time`; empty if the JSON is not at fault.
    pub path: String,
    /// The description of the problem.
    pub what: String,
    /// True if the problem is in a row of the second side. Always false if the problem is not in a
    /// row.
    pub second: bool,
}

impl Problem {
    /// Creates a problem with the JSON value at `path`; `what` describes it.
    pub(crate) fn at(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            what: what.into(),
            second: false,
        }
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

/// The reason why a parsed document has no usable results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The schema version is not 1, which `compare.py` reports on standard output. Contains the
    /// version as Python prints it.
    Schema(String),
    /// An error in the data on which `compare.py` ends in a traceback.
    Problem(Problem),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}
