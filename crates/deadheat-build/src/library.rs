//! Libraries of benchmarks for which deadheat has an implementation of its own.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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

/// The file of a library in the place of criterion, for the compiler.
#[derive(Debug)]
pub(crate) struct OfferedLibrary {
    /// The `.rlib`; the libraries that it needs are in `deps` in the same folder.
    pub(crate) file: PathBuf,
    /// Identifies its sources and its compiler.
    pub(crate) key: String,
}
