//! Benchmark libraries that deadheat can replace by its own implementation.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The implementation of a benchmark library that a suite is compiled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LibraryChoice {
    /// deadheat's own implementation, if the suite uses the library and compiles with that
    /// implementation.
    #[default]
    Swapped,
    /// The library that the suite itself depends on.
    Own,
}

/// A benchmark library that deadheat can replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Library {
    /// criterion.rs.
    Criterion,
    /// Google Benchmark.
    GoogleBenchmark,
}

impl Library {
    /// Returns the name of the library.
    pub fn name(self) -> &'static str {
        match self {
            Self::Criterion => "criterion",
            Self::GoogleBenchmark => "Google Benchmark",
        }
    }

    /// Returns the command-line option that chooses the implementation.
    pub fn option(self) -> &'static str {
        match self {
            Self::Criterion => "--criterion",
            Self::GoogleBenchmark => "--google-benchmark",
        }
    }
}

/// The library that the compiler uses in place of criterion.
#[derive(Debug)]
pub(crate) struct OfferedLibrary {
    /// The path of the `.rlib`. Its dependencies are in `deps` in the same folder.
    pub(crate) file: PathBuf,
    /// A digest of the library's sources, compiler and compiler flags.
    pub(crate) key: String,
}
