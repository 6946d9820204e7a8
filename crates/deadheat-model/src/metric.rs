//! Metrics, the quantities measured for every sample, and their names as columns of a file.

use std::borrow::Cow;
use std::fmt;

named! {
    /// The unit in which a metric is recorded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Unit: name(self) {
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// Bytes.
        Bytes = "bytes",
        /// A count of events, or a number whose unit is known only from its name.
        Count = "count",
        /// Bytes per second.
        BytesPerSecond = "bytes/s",
        /// Thousands of bytes per second.
        KilobytesPerSecond = "kB/s",
        /// Millions of bytes per second.
        MegabytesPerSecond = "MB/s",
        /// Billions of bytes per second.
        GigabytesPerSecond = "GB/s",
        /// Kibibytes (1,024 bytes) per second.
        KibibytesPerSecond = "KiB/s",
        /// Mebibytes (1,024² bytes) per second.
        MebibytesPerSecond = "MiB/s",
        /// Gibibytes (1,024³ bytes) per second.
        GibibytesPerSecond = "GiB/s",
        /// Items, events or another count per second.
        PerSecond = "1/s",
    }
}

impl Unit {
    /// Returns the unit of a rate, derived from the end of the metric's name: `items_per_second`,
    /// `requests/s`, `read MB/s`.
    pub fn of_rate(name: &str) -> Option<Unit> {
        let endings = ["/s", "/sec", "_per_second", "_per_sec"];
        let amount = endings.iter().find_map(|end| name.strip_suffix(end))?;
        let word = amount.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
        Some(match word.unwrap_or_default() {
            "B" | "bytes" | "byte" => Unit::BytesPerSecond,
            "kB" | "KB" => Unit::KilobytesPerSecond,
            "MB" => Unit::MegabytesPerSecond,
            "GB" => Unit::GigabytesPerSecond,
            "KiB" | "kiB" => Unit::KibibytesPerSecond,
            "MiB" => Unit::MebibytesPerSecond,
            "GiB" => Unit::GibibytesPerSecond,
            _ => Unit::PerSecond,
        })
    }

    /// Returns the size of this unit in bytes per second; `None` if it is not a unit of data rates.
    pub fn bytes_per_second(self) -> Option<f64> {
        Some(match self {
            Unit::BytesPerSecond => 1.0,
            Unit::KilobytesPerSecond => 1e3,
            Unit::MegabytesPerSecond => 1e6,
            Unit::GigabytesPerSecond => 1e9,
            Unit::KibibytesPerSecond => 1024.0,
            Unit::MebibytesPerSecond => 1_048_576.0,
            Unit::GibibytesPerSecond => 1_073_741_824.0,
            Unit::Nanoseconds | Unit::Bytes | Unit::Count | Unit::PerSecond => return None,
        })
    }

    /// Returns true for amounts per second.
    pub fn is_rate(self) -> bool {
        self == Unit::PerSecond || self.bytes_per_second().is_some()
    }
}

/// The direction in which a quantity improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Better {
    /// Less is better, as for times.
    Less,
    /// More is better, as for a throughput.
    More,
    /// The direction is unknown.
    Unknown,
}

/// A quantity that another tool recorded, with that tool's description.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ForeignMetric {
    /// The name in the other tool.
    pub name: String,
    /// The unit that the values were converted to.
    pub unit: Unit,
    /// The direction in which the quantity improves.
    pub better: Better,
}

/// One quantity recorded for every sample. For everything that deadheat itself measures, less is
/// better.
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
    /// Peak resident set size in bytes.
    PeakRss,
    /// Page faults served without reading a disk.
    MinorFaults,
    /// Page faults that read a disk.
    MajorFaults,
    /// Context switches that the contender caused by waiting.
    VoluntarySwitches,
    /// Context switches forced on the contender.
    InvoluntarySwitches,
    /// Moves to another core.
    Migrations,
    /// Time that a runnable thread waited for a core.
    RunDelay,
    /// Allocations from the heap.
    Allocations,
    /// Bytes requested from the heap.
    AllocatedBytes,
    /// CPU cycles.
    Cycles,
    /// Retired instructions.
    Instructions,
    /// Mispredicted branches.
    BranchMisses,
    /// Misses of the last-level cache.
    CacheMisses,
    /// GPU time between events before and after the calls.
    Gpu,
    /// The largest amount of GPU memory that a call allocates.
    PeakGpuMemory,
    /// Time that the benchmark itself reports, for example by Google Benchmark's
    /// `SetIterationTime`.
    Manual,
    /// Time of garbage collection in a call, in a language such as JavaScript.
    GcTime,
    /// Bytes that a call allocates on the heap of a language such as JavaScript.
    HeapBytes,
    /// Any other quantity of a recording, known only by its name.
    Custom(String),
    /// A quantity that another tool recorded and described.
    Foreign(Box<ForeignMetric>),
}

impl Metric {
    /// All metrics that deadheat itself can measure, in the order they are shown.
    pub const BUILT_IN: [Metric; 22] = [
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
        Metric::Gpu,
        Metric::PeakGpuMemory,
        Metric::Manual,
        Metric::GcTime,
        Metric::HeapBytes,
    ];

    /// Returns the name used by `--metric`, in files and in JSON.
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
            Metric::Gpu => "gpu",
            Metric::PeakGpuMemory => "peak-gpu-memory",
            Metric::Manual => "manual",
            Metric::GcTime => "gc-time",
            Metric::HeapBytes => "heap-bytes",
            Metric::Custom(name) => name,
            Metric::Foreign(foreign) => &foreign.name,
        }
    }

    /// Returns the metric with this name; an unknown name becomes a [`Metric::Custom`].
    pub fn from_name(name: &str) -> Metric {
        Metric::BUILT_IN
            .into_iter()
            .find(|metric| metric.name() == name)
            .unwrap_or_else(|| Metric::Custom(name.to_owned()))
    }

    /// Returns the metric for a name and a direction, if nothing else is known about it. It is a
    /// [`Metric::Custom`] unless more is better.
    pub fn named(name: &str, better: Better) -> Metric {
        let custom = Metric::Custom(name.to_owned());
        match better {
            Better::More => Metric::foreign(name, custom.unit(), better),
            Better::Less | Better::Unknown => custom,
        }
    }

    /// Returns the metric in `described` that has the same name, or this metric if none has.
    pub fn as_in(self, described: &[Metric]) -> Metric {
        if described.contains(&self) {
            return self;
        }
        let named = described.iter().find(|one| one.name() == self.name());
        named.cloned().unwrap_or(self)
    }

    /// Returns the unit of the recorded values.
    pub fn unit(&self) -> Unit {
        match self {
            Metric::Wall
            | Metric::Cpu
            | Metric::User
            | Metric::System
            | Metric::RunDelay
            | Metric::Gpu
            | Metric::Manual
            | Metric::GcTime => Unit::Nanoseconds,
            Metric::PeakRss
            | Metric::AllocatedBytes
            | Metric::PeakGpuMemory
            | Metric::HeapBytes => Unit::Bytes,
            Metric::Custom(name) if name.ends_with("_ns") => Unit::Nanoseconds,
            Metric::Custom(name) if name.ends_with("_bytes") => Unit::Bytes,
            Metric::Custom(name) => Unit::of_rate(name).unwrap_or(Unit::Count),
            Metric::Foreign(foreign) => foreign.unit,
            _ => Unit::Count,
        }
    }

    /// Returns true if the recorded value adds up over the iterations of a sample, so that it is
    /// divided by their number. A peak does not add up. The metrics of other tools and custom
    /// metrics count as not adding up, because their meaning is unknown.
    pub fn adds_up(&self) -> bool {
        !matches!(
            self,
            Metric::PeakRss | Metric::PeakGpuMemory | Metric::Custom(_) | Metric::Foreign(_)
        )
    }

    /// Returns true for times that get shorter as the program gets faster; false for times such as
    /// garbage collection and waiting for a core.
    pub fn is_pace(&self) -> bool {
        matches!(
            self,
            Metric::Wall
                | Metric::Cpu
                | Metric::User
                | Metric::System
                | Metric::Gpu
                | Metric::Manual
        )
    }

    /// Returns true if the metric counts only what the process itself uses, so that it is
    /// meaningful while another process shares the core.
    pub fn is_used_by_itself(&self) -> bool {
        matches!(
            self,
            Metric::Cpu | Metric::User | Metric::System | Metric::Cycles | Metric::Instructions
        )
    }

    /// Returns the direction in which the metric improves. A custom metric, of which only the name
    /// is known, counts as a cost.
    pub fn better(&self) -> Better {
        match self {
            Metric::Foreign(foreign) => foreign.better,
            _ => Better::Less,
        }
    }

    /// Returns true if the metric of a process depends on other processes on the same core.
    pub fn changes_by_sharing(&self) -> bool {
        matches!(
            self,
            Metric::Wall
                | Metric::RunDelay
                | Metric::VoluntarySwitches
                | Metric::InvoluntarySwitches
                | Metric::Migrations
                | Metric::BranchMisses
                | Metric::CacheMisses
        )
    }

    /// Returns a metric of another tool.
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

/// Prefix of the column of a custom metric whose bare name would be read as another metric or
/// column.
const CUSTOM: &str = "custom:";

/// Prefix of the column of a metric of which more is better. The name alone does not show this.
const MORE: &str = "more:";

/// Prefix of the column of a metric of which neither more nor less is known to be better.
const UNKNOWN: &str = "unknown:";

/// Columns of tidy CSV that are not metrics.
pub const FIXED_COLUMNS: [&str; 8] = [
    "benchmark",
    "replicate",
    "block",
    "slot",
    "contender",
    "role",
    "iterations",
    "flags",
];

/// Returns the column name of a metric: its name with `_` for `-` and the unit at the end, such as
/// `wall_ns`, `peak_rss_bytes` or `minor_faults`. A unit that the name already ends in is not
/// repeated, as in `allocated_bytes`.
///
/// A custom or foreign metric keeps its name, with the prefix `custom:` if another column has that
/// name, `more:` if more is better, or `unknown:` if neither direction is known to be better.
/// Foreign metrics without these prefixes are read back as custom ones.
pub fn column_name(metric: &Metric) -> Cow<'_, str> {
    match metric {
        Metric::Custom(name) if is_taken(name) => format!("{CUSTOM}{name}").into(),
        Metric::Custom(name) => name.into(),
        Metric::Foreign(foreign) if foreign.better == Better::More => {
            format!("{MORE}{}", foreign.name).into()
        }
        Metric::Foreign(foreign) if foreign.better == Better::Unknown => {
            format!("{UNKNOWN}{}", foreign.name).into()
        }
        Metric::Foreign(foreign) if is_taken(&foreign.name) => {
            format!("{CUSTOM}{}", foreign.name).into()
        }
        Metric::Foreign(foreign) => (&foreign.name).into(),
        built_in => built_in_column(built_in).into(),
    }
}

/// Returns the metric of a column; the reverse of [`column_name`].
pub fn metric_of_column(column: &str) -> Metric {
    if let Some(name) = column.strip_prefix(CUSTOM) {
        return Metric::Custom(name.to_owned());
    }
    if let Some(name) = column.strip_prefix(MORE) {
        return Metric::named(name, Better::More);
    }
    if let Some(name) = column.strip_prefix(UNKNOWN) {
        let unit = Metric::Custom(name.to_owned()).unit();
        return Metric::foreign(name, unit, Better::Unknown);
    }
    Metric::BUILT_IN
        .into_iter()
        .find(|metric| built_in_column(metric) == column)
        .unwrap_or_else(|| Metric::Custom(column.to_owned()))
}

/// Returns the metric of a column of tidy CSV. Unlike [`metric_of_column`], this function reads the
/// name of a rate, such as `requests/s`, as a metric of which more is better.
pub fn metric_of_csv_column(column: &str) -> Metric {
    match metric_of_column(column) {
        Metric::Custom(name) if name == column && Unit::of_rate(&name).is_some() => {
            Metric::named(&name, Better::More)
        }
        metric => metric,
    }
}

/// Returns the name of a metric's column in tidy CSV; the reverse of [`metric_of_csv_column`].
pub fn csv_column_name(metric: &Metric) -> Cow<'_, str> {
    match metric {
        Metric::Custom(name) if Unit::of_rate(name).is_some() => format!("{CUSTOM}{name}").into(),
        metric => column_name(metric),
    }
}

fn built_in_column(metric: &Metric) -> String {
    let name = metric.name().replace('-', "_");
    let unit = match metric.unit() {
        Unit::Nanoseconds => "_ns",
        Unit::Bytes => "_bytes",
        _ => "",
    };
    if name.ends_with(unit) {
        name
    } else {
        name + unit
    }
}

fn is_taken(name: &str) -> bool {
    name.is_empty()
        || name.starts_with(CUSTOM)
        || FIXED_COLUMNS.contains(&name)
        || metric_of_column(name) != Metric::Custom(name.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    #[test]
    fn the_unit_of_a_rate_is_told_by_the_end_of_its_name() {
        for (name, unit) in [
            ("bytes_per_second", Some(Unit::BytesPerSecond)),
            ("items_per_second", Some(Unit::PerSecond)),
            ("requests/s", Some(Unit::PerSecond)),
            ("read MB/s", Some(Unit::MegabytesPerSecond)),
            ("read_GB/sec", Some(Unit::GigabytesPerSecond)),
            ("KiB/s", Some(Unit::KibibytesPerSecond)),
            ("thumbs/s", Some(Unit::PerSecond)),
            ("ns/op", None),
            ("ops/ms", None),
            ("MB", None),
        ] {
            assert_eq!(Unit::of_rate(name), unit, "{name}");
            let unit = unit.unwrap_or(Unit::Count);
            assert_eq!(Metric::Custom(name.to_owned()).unit(), unit, "{name}");
        }
    }

    #[test]
    fn the_column_of_a_built_in_metric_carries_its_unit() {
        let columns: Vec<_> = Metric::BUILT_IN.iter().map(column_name).collect();
        assert_eq!(
            columns.join(" "),
            "wall_ns cpu_ns user_ns system_ns peak_rss_bytes minor_faults major_faults \
             voluntary_switches involuntary_switches migrations run_delay_ns allocations \
             allocated_bytes cycles instructions branch_misses cache_misses gpu_ns \
             peak_gpu_memory_bytes manual_ns gc_time_ns heap_bytes"
        );
    }

    #[test]
    fn every_built_in_metric_is_found_again_by_its_column() {
        for metric in Metric::BUILT_IN {
            assert_eq!(metric_of_column(&column_name(&metric)), metric);
        }
    }

    #[test]
    fn a_custom_metric_named_like_another_column_is_still_told_apart() {
        for name in [
            "wall_ns", "cycles", "role", "", "custom:x", "allocs", "wall",
        ] {
            let metric = Metric::Custom(name.to_owned());
            let column = column_name(&metric).into_owned();
            assert_eq!(metric_of_column(&column), metric);
            assert!(!FIXED_COLUMNS.contains(&column.as_str()));
        }
    }

    #[test]
    fn a_metric_without_a_known_direction_keeps_that_in_its_column() {
        let metric = Metric::foreign("hits", Unit::Count, Better::Unknown);
        assert_eq!(column_name(&metric), "unknown:hits");
        assert_eq!(metric_of_column("unknown:hits"), metric);
    }

    #[test]
    fn a_rate_of_tidy_csv_is_better_the_more_there_is_unless_it_was_a_cost() {
        let rate = metric_of_csv_column("requests/s");
        assert_eq!(rate, Metric::named("requests/s", Better::More));
        assert_eq!(csv_column_name(&rate), "more:requests/s");
        let cost = Metric::Custom("errors/s".to_owned());
        assert_eq!(csv_column_name(&cost), "custom:errors/s");
        assert_eq!(metric_of_csv_column("custom:errors/s"), cost);
        assert_eq!(metric_of_csv_column("wall_ns"), Metric::Wall);
    }

    #[test]
    fn the_column_of_what_is_better_the_more_there_is_says_so() {
        for name in ["requests/s", "rate_bytes", "wall", "more:x"] {
            let metric = Metric::named(name, Better::More);
            let column = column_name(&metric).into_owned();
            assert_eq!(column, format!("more:{name}"));
            assert_eq!(metric_of_column(&column), metric);
        }
        let unlucky = Metric::Custom("more:x".to_owned());
        assert_eq!(column_name(&unlucky), "custom:more:x");
        let described = [Metric::Wall, Metric::named("rps", Better::More)];
        assert_eq!(Metric::from_name("rps").as_in(&described), described[1]);
        assert_eq!(Metric::from_name("wall").as_in(&described), Metric::Wall);
    }

    proptest! {
        #[test]
        fn every_custom_metric_is_found_again_by_its_column(name: String) {
            let metric = Metric::Custom(name);
            prop_assert_eq!(metric_of_column(&column_name(&metric)), metric);
        }
    }
}
