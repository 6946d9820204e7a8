//! What two builds say that they hold, and what becomes of it.

use deadheat_engine::{ListedBenchmark, WorkerListing};
use deadheat_model::{Benchmark, LeftOut, Metric, Program};

/// A program and what it says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Who is started.
    pub program: Program,
    /// What it holds.
    pub listing: WorkerListing,
}

/// One program as either build made it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Its name, where a build makes several.
    pub name: Option<String>,
    /// That of the old build, if it made one.
    pub baseline: Option<Listed>,
    /// That of the new build, if it made one.
    pub candidate: Option<Listed>,
}

/// What races and what does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairing {
    /// What races, in the order of the old build; calls of a sample are still
    /// to be found by a pilot.
    pub benchmarks: Vec<Benchmark>,
    /// What was asked for and cannot be raced.
    pub left_out: Vec<LeftOut>,
    /// The metrics of every sample: those that all workers have which race.
    pub metrics: Vec<Metric>,
}

impl Target {
    /// The benchmarks of one side, none where that was not built.
    pub(super) fn of(side: Option<&Listed>) -> &[ListedBenchmark] {
        side.map_or(&[][..], |listed| &listed.listing.benchmarks)
    }

    /// Whether it has a benchmark on any side.
    pub(super) fn holds_any(&self) -> bool {
        let sides = [&self.baseline, &self.candidate];
        sides.iter().any(|side| !Self::of(side.as_ref()).is_empty())
    }
}

impl Pairing {
    /// Keeps of the metrics those that this worker has as well.
    pub(super) fn meet(&mut self, listing: &WorkerListing, first: bool) {
        match first {
            true => self.metrics.clone_from(&listing.metrics),
            false => self.metrics.retain(|one| listing.metrics.contains(one)),
        }
    }
}
