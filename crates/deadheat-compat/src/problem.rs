//! Reasons why no report is made: what was met, and where.

use std::fmt;

/// Something that no report can be made of. The original ends with exit code 1 and a traceback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the JSON, `benchmarks[3].real_time`; empty where it is not of the JSON.
    pub path: String,
    /// The problem there, in words.
    pub what: String,
    /// True if it is of the second side; without meaning where no row is at fault.
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

/// The reason why a document that could be read gives no results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The schema is another; the original says so on standard output. What stands in place of the
    /// version.
    Schema(String),
    /// The original ends in a traceback.
    Problem(Problem),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}
