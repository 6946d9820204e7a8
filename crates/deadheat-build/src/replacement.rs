//! deadheat's implementation of a library of benchmarks, ready for a build.

use crate::criterion_library::CriterionLibrary;
use crate::google_benchmark_library::GoogleBenchmarkLibrary;
use crate::library::Library;

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
