//! Libraries of benchmarks for which deadheat has an implementation of its own.

use serde::{Deserialize, Serialize};

use crate::criterion_library::CriterionLibrary;
use crate::google_benchmark_library::GoogleBenchmarkLibrary;

/// Whose implementation of a library of benchmarks a suite is compiled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LibraryChoice {
    /// deadheat's, if the suite uses the library and compiles with it.
    #[default]
    Swapped,
    /// The one that the suite names.
    Own,
}

/// A library of benchmarks that deadheat can replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Library {
    /// criterion.rs.
    Criterion,
    /// Google Benchmark.
    GoogleBenchmark,
}

impl Library {
    /// The name of the library.
    pub fn name(self) -> &'static str {
        match self {
            Self::Criterion => "criterion",
            Self::GoogleBenchmark => "Google Benchmark",
        }
    }

    /// The option that says whose implementation is used.
    pub fn option(self) -> &'static str {
        match self {
            Self::Criterion => "--criterion",
            Self::GoogleBenchmark => "--google-benchmark",
        }
    }
}

/// deadheat's implementation, which takes the place of a library.
#[derive(Debug)]
pub(crate) enum Replacement {
    Criterion(CriterionLibrary),
    GoogleBenchmark(GoogleBenchmarkLibrary),
}

impl Replacement {
    pub(crate) fn library(&self) -> Library {
        match self {
            Self::Criterion(_) => Library::Criterion,
            Self::GoogleBenchmark(_) => Library::GoogleBenchmark,
        }
    }

    /// Identifies its sources, and its compiler if it is built already.
    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Criterion(library) => &library.offered.key,
            Self::GoogleBenchmark(library) => &library.key,
        }
    }
}
