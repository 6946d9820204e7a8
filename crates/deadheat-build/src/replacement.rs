//! deadheat's own implementation of criterion or Google Benchmark, prepared for a build.

use crate::criterion_library::CriterionLibrary;
use crate::google_benchmark_library::GoogleBenchmarkLibrary;
use crate::library::Library;

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

    /// Returns the key of the library in the cache: a digest of its sources and, for criterion, of
    /// the compiler and its flags.
    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Criterion(library) => &library.offered.key,
            Self::GoogleBenchmark(library) => &library.key,
        }
    }
}
