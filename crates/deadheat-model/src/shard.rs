//! Races divided among several machines: the part raced by one machine, and the hosts of a run
//! merged from such parts.

use std::collections::{HashMap, HashSet};

use crate::quantities::fnv1a;

/// The way in which a race is divided into parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShardBy {
    /// Each part races every benchmark, with a share of the replicates.
    #[default]
    Host,
    /// Each part races some of the benchmarks, with all of their replicates.
    Benchmark,
}

/// The number of a part, as the user requests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardNumber {
    /// The number is in the environment variables of the scheduler that started the job.
    Auto,
    /// The number of the part, counted from 1, and the number of parts.
    Of(u32, u32),
}

impl ShardNumber {
    /// Reads `auto`, or the number of a part and how many there are: `2/4`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let numbers = text.split_once('/').and_then(|(index, count)| {
            Some((index.parse::<u32>().ok()?, count.parse::<u32>().ok()?))
        });
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) && count <= Shard::MOST => {
                Ok(Self::Of(index, count))
            }
            _ => Err(format!(
                "'{text}' does not name a part of a race\nhelp: the four parts of a race are 1/4, \
                 2/4, 3/4 and 4/4; auto takes the part from the CI system or the scheduler"
            )),
        }
    }
}

/// The part of a race that a run covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the part, counted from 1.
    pub index: u32,
    /// The number of parts.
    pub count: u32,
    /// The way in which the race is divided.
    pub by: ShardBy,
    /// Replicates of each benchmark in this part, if each part races all benchmarks; else 0.
    pub replicates: u32,
}

/// The smallest number of replicates of a benchmark on each host, because fewer allow no verdict.
const LEAST_REPLICATES: u32 = 6;

impl Shard {
    /// Largest number of parts. A higher number is probably a typing error and is rejected.
    pub const MOST: u32 = 1_000_000;

    /// Returns part `index` of `count` parts. Without division, the race would take at most `most`
    /// replicates of each benchmark.
    pub fn of(index: u32, count: u32, by: ShardBy, most: u32) -> Self {
        let replicates = match by {
            ShardBy::Host => most.div_ceil(count.max(1)).max(LEAST_REPLICATES),
            ShardBy::Benchmark => 0,
        };
        Self {
            index,
            count,
            by,
            replicates,
        }
    }

    /// Returns the number of the part's first replicate. Random draws depend on the number of the
    /// replicate, so different parts draw different numbers.
    pub fn first_replicate(&self) -> u32 {
        (self.index - 1).saturating_mul(self.replicates)
    }

    /// Returns true if the part races a benchmark with this name and these parameter values. If the
    /// parts divide the benchmarks, only the name and the parameter values decide, so that a
    /// benchmark stays in its part when other benchmarks are added.
    pub fn races(&self, name: &str, parameters: &[(String, String)]) -> bool {
        if self.by == ShardBy::Host {
            return true;
        }
        let parameters = parameters.iter().flat_map(|(name, value)| [name, value]);
        let words = std::iter::once(name).chain(parameters.map(String::as_str));
        // A zero byte ends each word.
        let hash = fnv1a(words.flat_map(|word| word.bytes().chain([0])));
        // The low bits of an FNV hash are mixed poorly.
        let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        mixed % u64::from(self.count.max(1)) == u64::from(self.index - 1)
    }
}

/// The limits of the container around a part of a race; `None` if unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// CPU time per unit of real time: 1.5 is one core and half of another.
    pub cores: Option<f64>,
    /// Limit of memory in bytes.
    pub memory: Option<u64>,
}

/// Something that disturbs measurements on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Disturbance {
    /// The short name of the disturbance, as in `deadheat doctor`: `load`, `steal`.
    pub name: String,
    /// A description of the disturbance in a few words.
    pub found: String,
}

/// The measurement conditions on a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The limits of the container that deadheat runs in.
    pub limits: Limits,
    /// The disturbances on the host; empty if there are none, or if the host was not checked.
    pub disturbances: Vec<Disturbance>,
}

impl Conditions {
    /// Combines the conditions of several parts on one host: the tightest limits, and each
    /// disturbance once.
    pub fn of_all<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        let mut named: HashSet<&str> = HashSet::new();
        for part in parts {
            let cores = all.limits.cores.into_iter().chain(part.limits.cores);
            all.limits.cores = cores.reduce(f64::min);
            let memory = all.limits.memory.into_iter().chain(part.limits.memory);
            all.limits.memory = memory.min();
            let new = part.disturbances.iter();
            let new = new.filter(|one| named.insert(&one.name));
            all.disturbances.extend(new.cloned());
        }
        all
    }
}

/// A host of a merged run, as its part of the run describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// The number of the part that the host raced.
    pub shard: u32,
    /// Identifier of the host's boot; `None` if the system does not report it.
    pub boot: Option<String>,
    /// Operating system and architecture.
    pub system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Number of logical cores that deadheat could use.
    pub cores: Option<u32>,
    /// Start of the part in seconds since 1970-01-01 UTC, by the clock of the host.
    pub started_at: Option<u64>,
    /// The measurement conditions on the host.
    pub conditions: Conditions,
}

/// The parts from which a run was merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The number of parts of the race; missing parts have no entry in `hosts`.
    pub count: u32,
    /// The way in which the race was divided.
    pub by: ShardBy,
    /// Replicates of each benchmark in a part, if each part races all benchmarks; else 0.
    pub replicates: u32,
    /// The hosts, in the order of their parts.
    pub hosts: Vec<Host>,
}

impl Merged {
    /// Groups the hosts by machine and boot, because one machine may race several parts. Each group
    /// contains indices of `hosts`.
    pub fn machines(&self) -> Vec<Vec<usize>> {
        let mut machines: Vec<Vec<usize>> = Vec::new();
        let mut of_boot: HashMap<&str, usize> = HashMap::new();
        for (place, host) in self.hosts.iter().enumerate() {
            let new = machines.len();
            let machine = match &host.boot {
                Some(boot) => *of_boot.entry(boot).or_insert(new),
                None => new,
            };
            if machine == new {
                machines.push(Vec::new());
            }
            machines[machine].push(place);
        }
        machines
    }

    /// Returns the numbers of the parts that are missing.
    pub fn missing(&self) -> impl Iterator<Item = u32> + use<> {
        let here: HashSet<u32> = self.hosts.iter().map(|host| host.shard).collect();
        (1..=self.count).filter(move |index| !here.contains(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_written_as_its_number_of_so_many() {
        assert_eq!(ShardNumber::parse("2/4"), Ok(ShardNumber::Of(2, 4)));
        assert_eq!(ShardNumber::parse("auto"), Ok(ShardNumber::Auto));
        for bad in [
            "",
            "0/4",
            "5/4",
            "1",
            "1/0",
            "-1/2",
            "1/2/3",
            "1/4000000000",
            "x/y",
        ] {
            assert!(
                ShardNumber::parse(bad).unwrap_err().contains("2/4"),
                "{bad}"
            );
        }
    }

    #[test]
    fn hosts_share_the_replicates_and_none_has_fewer_than_six() {
        for (count, most, each) in [(1, 40, 40), (4, 40, 10), (3, 40, 14), (40, 40, 6)] {
            let parts = (1..=count).map(|index| Shard::of(index, count, ShardBy::Host, most));
            let mut next = 0;
            for part in parts {
                assert_eq!((part.first_replicate(), part.replicates), (next, each));
                assert!(part.races("any", &[]));
                next += each;
            }
        }
    }

    #[test]
    fn each_benchmark_is_raced_by_one_part_and_no_part_has_most_of_them() {
        let mut counts = [0; 4];
        for number in 0..400 {
            let name = format!("bench_{number}");
            let racing: Vec<usize> = (0..4)
                .filter(|index| Shard::of(index + 1, 4, ShardBy::Benchmark, 40).races(&name, &[]))
                .map(|index| index as usize)
                .collect();
            let [one] = racing[..] else {
                panic!("{name}: {racing:?}")
            };
            counts[one] += 1;
        }
        assert!(
            counts.iter().all(|count| (60..=140).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn parts_on_one_host_say_together_what_limits_and_disturbs_it() {
        let part = |cores, memory, names: &[&str]| Conditions {
            limits: Limits { cores, memory },
            disturbances: names
                .iter()
                .map(|name| Disturbance {
                    name: (*name).to_owned(),
                    found: format!("{} seen", names.len()),
                })
                .collect(),
        };
        let parts = [
            part(None, Some(9), &["load"]),
            part(Some(2.0), Some(7), &["steal", "load"]),
            part(Some(0.5), None, &[]),
        ];
        let all = Conditions::of_all(parts.iter());
        let limits = Limits {
            cores: Some(0.5),
            memory: Some(7),
        };
        assert_eq!(all.limits, limits);
        let found: Vec<(&str, &str)> = all
            .disturbances
            .iter()
            .map(|one| (&*one.name, &*one.found))
            .collect();
        assert_eq!(found, [("load", "1 seen"), ("steal", "2 seen")]);
        assert_eq!(Conditions::of_all([].iter()), Conditions::default());
    }

    #[test]
    fn parts_of_one_boot_are_one_machine_and_those_that_are_not_there_are_missing() {
        let host = |shard, boot: &str| Host {
            shard,
            boot: (!boot.is_empty()).then(|| boot.to_owned()),
            ..Host::default()
        };
        let merged = Merged {
            count: 5,
            by: ShardBy::Host,
            replicates: 10,
            hosts: vec![host(1, "a"), host(2, ""), host(4, "a"), host(5, "")],
        };
        assert_eq!(merged.machines(), [vec![0, 2], vec![1], vec![3]]);
        assert_eq!(merged.missing().collect::<Vec<u32>>(), [3]);
    }
}
