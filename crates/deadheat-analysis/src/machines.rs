//! The machines of a run that was merged of parts: which of them raced a replicate.

use std::collections::HashMap;

use deadheat_model::{Host, Merged, RunHeader};

/// The machines of a merged run whose hosts share the replicates.
#[derive(Clone, Debug)]
pub(crate) struct Machines {
    merged: Merged,
    /// The places among the hosts of the parts of each machine: parts that share a boot are one.
    places: Vec<Vec<usize>>,
    /// The machine of each part, by its number.
    of_part: HashMap<u32, usize>,
}

impl Machines {
    /// `None` for a run of one host, and where each benchmark was raced by one.
    pub(crate) fn of(header: &RunHeader) -> Option<Self> {
        let merged = header.environment.merged.as_ref()?;
        if merged.replicates == 0 {
            return None;
        }
        let places = merged.machines();
        let mut of_part = HashMap::new();
        for (machine, places) in places.iter().enumerate() {
            let parts = places.iter().map(|place| merged.hosts[*place].shard);
            of_part.extend(parts.map(|part| (part, machine)));
        }
        Some(Self {
            merged: merged.clone(),
            places,
            of_part,
        })
    }

    /// The number of machines.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// The number of parts that the race has.
    pub(crate) fn parts(&self) -> u32 {
        self.merged.count
    }

    /// The machine that raced a replicate.
    pub(crate) fn of_replicate(&self, replicate: u32) -> Option<usize> {
        let part = replicate / self.merged.replicates + 1;
        self.of_part.get(&part).copied()
    }

    /// The hosts that the parts of a machine tell of.
    pub(crate) fn hosts(&self, machine: usize) -> impl Iterator<Item = &Host> {
        let places = self.places[machine].iter();
        places.map(|place| &self.merged.hosts[*place])
    }

    /// The numbers of the parts that the run lacks.
    pub(crate) fn missing(&self) -> Vec<u32> {
        self.merged.missing().collect()
    }
}
