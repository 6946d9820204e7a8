//! Metrics: quantities measured beside, or instead of, wall time.

use std::fmt;

use crate::named::named;

named! {
    /// The unit a metric is recorded in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Unit: name(self) {
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// Bytes.
        Bytes = "bytes",
        /// A plain count of events, or a number whose unit only its name tells.
        Count = "count",
        /// Bytes in a second.
        BytesPerSecond = "bytes/s",
        /// So many in a second.
        PerSecond = "1/s",
    }
}

/// Which way a quantity improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Better {
    /// The smaller, the better, as of all times.
    Less,
    /// The larger, the better, as of a throughput.
    More,
    /// Nobody told.
    Unknown,
}

/// A quantity that another tool recorded, and what it says of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ForeignMetric {
    /// Its name there.
    pub name: String,
    /// The unit its values were brought to.
    pub unit: Unit,
    /// Which way it improves.
    pub better: Better,
}

/// One quantity recorded for every sample. Less is better for all that deadheat measures itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Elapsed time by the monotonic clock.
    Wall,
    /// CPU time, user and system together.
    Cpu,
    /// CPU time in user mode.
    User,
    /// CPU time in the kernel.
    System,
    /// The largest resident set.
    PeakRss,
    /// Page faults served without reading a disk.
    MinorFaults,
    /// Page faults that read a disk.
    MajorFaults,
    /// Context switches the contender asked for, by waiting.
    VoluntarySwitches,
    /// Context switches forced on the contender.
    InvoluntarySwitches,
    /// Moves to another core.
    Migrations,
    /// Time that a thread which could have run waited for a core.
    RunDelay,
    /// Allocations from the heap.
    Allocations,
    /// Bytes asked of the heap.
    AllocatedBytes,
    /// CPU cycles.
    Cycles,
    /// Retired instructions.
    Instructions,
    /// Mispredicted branches.
    BranchMisses,
    /// Misses of the last-level cache.
    CacheMisses,
    /// Anything else a recording brings along, kept under its own name.
    Custom(String),
    /// Something that another tool recorded and described.
    Foreign(Box<ForeignMetric>),
}

impl Metric {
    /// Every metric deadheat itself can measure, in the order they are shown.
    pub const BUILT_IN: [Metric; 17] = [
        Metric::Wall,
        Metric::Cpu,
        Metric::User,
        Metric::System,
        Metric::PeakRss,
        Metric::MinorFaults,
        Metric::MajorFaults,
        Metric::VoluntarySwitches,
        Metric::InvoluntarySwitches,
        Metric::Migrations,
        Metric::RunDelay,
        Metric::Allocations,
        Metric::AllocatedBytes,
        Metric::Cycles,
        Metric::Instructions,
        Metric::BranchMisses,
        Metric::CacheMisses,
    ];

    /// The name used by `--metric`, in files and in JSON.
    pub fn name(&self) -> &str {
        match self {
            Metric::Wall => "wall",
            Metric::Cpu => "cpu",
            Metric::User => "user",
            Metric::System => "system",
            Metric::PeakRss => "peak-rss",
            Metric::MinorFaults => "minor-faults",
            Metric::MajorFaults => "major-faults",
            Metric::VoluntarySwitches => "voluntary-switches",
            Metric::InvoluntarySwitches => "involuntary-switches",
            Metric::Migrations => "migrations",
            Metric::RunDelay => "run-delay",
            Metric::Allocations => "allocations",
            Metric::AllocatedBytes => "allocated-bytes",
            Metric::Cycles => "cycles",
            Metric::Instructions => "instructions",
            Metric::BranchMisses => "branch-misses",
            Metric::CacheMisses => "cache-misses",
            Metric::Custom(name) => name,
            Metric::Foreign(foreign) => &foreign.name,
        }
    }

    /// The metric of that name; an unknown name is a [`Metric::Custom`].
    pub fn from_name(name: &str) -> Metric {
        Metric::BUILT_IN
            .into_iter()
            .find(|metric| metric.name() == name)
            .unwrap_or_else(|| Metric::Custom(name.to_owned()))
    }

    /// The metric of a name that is all there is to know of it, beside which way it improves. Unless
    /// more is better it is a [`Metric::Custom`].
    pub fn named(name: &str, better: Better) -> Metric {
        let custom = Metric::Custom(name.to_owned());
        match better {
            Better::More => Metric::foreign(name, custom.unit(), better),
            Better::Less | Better::Unknown => custom,
        }
    }

    /// This metric as one of these describes it, which was asked for by its name alone; as it is
    /// where none has its name.
    pub fn as_in(self, described: &[Metric]) -> Metric {
        if described.contains(&self) {
            return self;
        }
        let named = described.iter().find(|one| one.name() == self.name());
        named.cloned().unwrap_or(self)
    }

    /// The unit of the recorded values.
    pub fn unit(&self) -> Unit {
        match self {
            Metric::Wall | Metric::Cpu | Metric::User | Metric::System | Metric::RunDelay => {
                Unit::Nanoseconds
            }
            Metric::PeakRss | Metric::AllocatedBytes => Unit::Bytes,
            Metric::Custom(name) if name.ends_with("_ns") => Unit::Nanoseconds,
            Metric::Custom(name) if name.ends_with("_bytes") => Unit::Bytes,
            Metric::Foreign(foreign) => foreign.unit,
            _ => Unit::Count,
        }
    }

    /// Returns true if the recorded value adds up over the iterations of a sample, so that it is
    /// divided by their number. A peak does not, and of a foreign metric we cannot know.
    pub fn adds_up(&self) -> bool {
        !matches!(
            self,
            Metric::PeakRss | Metric::Custom(_) | Metric::Foreign(_)
        )
    }

    /// Which way it improves. A custom metric, of which only a name is known, counts as a cost.
    pub fn better(&self) -> Better {
        match self {
            Metric::Foreign(foreign) => foreign.better,
            _ => Better::Less,
        }
    }

    /// A metric of another tool.
    pub fn foreign(name: impl Into<String>, unit: Unit, better: Better) -> Metric {
        Metric::Foreign(Box::new(ForeignMetric {
            name: name.into(),
            unit,
            better,
        }))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_metric_is_found_again_by_its_name() {
        for metric in Metric::BUILT_IN {
            assert_eq!(Metric::from_name(metric.name()), metric);
        }
        assert_eq!(
            Metric::from_name("allocs"),
            Metric::Custom("allocs".to_owned())
        );
    }
}
