//! A race spread over several machines: the part that one of them races, and the hosts of a run that
//! was merged of such parts.

use std::collections::{HashMap, HashSet};

use crate::quantities::fnv1a;

/// The division of a race among its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShardBy {
    /// Each races every benchmark, and has its share of the replicates.
    #[default]
    Host,
    /// Each benchmark is raced by one of them, with all of its replicates.
    Benchmark,
}

/// The number of a part, as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardNumber {
    /// What the variables of the scheduler say that started the job.
    Auto,
    /// This one of so many, counted from 1.
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
                "'{text}' does not name a part of a race\nhelp: write 2/4 for the second of four, \
                 or auto"
            )),
        }
    }
}

/// The part of a race that one run holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, counted from 1.
    pub index: u32,
    /// The number of parts.
    pub count: u32,
    /// The division of the race.
    pub by: ShardBy,
    /// Replicates of each benchmark in a part, where each races all benchmarks; else 0.
    pub replicates: u32,
}

/// Replicates of a benchmark on each host at least: fewer have no verdict.
const LEAST_REPLICATES: u32 = 6;

impl Shard {
    /// More parts than anybody starts; a mistyped number should not be taken for one.
    pub const MOST: u32 = 1_000_000;

    /// The part of a race that would take so many replicates of each benchmark at most.
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

    /// The number of its first replicate: every draw is made by the number of its replicate, so no
    /// two parts draw the same.
    pub fn first_replicate(&self) -> u32 {
        (self.index - 1).saturating_mul(self.replicates)
    }

    /// Returns true if it races a benchmark of this name with these parameter values. Where
    /// benchmarks are divided it hangs on both alone, so that a benchmark stays on its part when
    /// others are added.
    pub fn races(&self, name: &str, parameters: &[(String, String)]) -> bool {
        if self.by == ShardBy::Host {
            return true;
        }
        let parameters = parameters.iter().flat_map(|(name, value)| [name, value]);
        let words = std::iter::once(name).chain(parameters.map(String::as_str));
        // Each word with its end.
        let hash = fnv1a(words.flat_map(|word| word.bytes().chain([0])));
        // The low bits of FNV are those of the last bytes.
        let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        mixed % u64::from(self.count.max(1)) == u64::from(self.index - 1)
    }
}

/// What the container around a part of a race may use; `None` where nothing limits it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Cores' worth of time: 1.5 is one core and half of another.
    pub cores: Option<f64>,
    /// Bytes of memory.
    pub memory: Option<u64>,
}

/// A thing that disturbs measurements on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Disturbance {
    /// Its short name, as `deadheat doctor` has it: `load`, `steal`.
    pub name: String,
    /// What was found of it, in a few words.
    pub found: String,
}

/// The conditions that a host measures under.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// What its container may use.
    pub limits: Limits,
    /// What disturbs measurements there; empty where nothing does, or nobody looked.
    pub disturbances: Vec<Disturbance>,
}

impl Conditions {
    /// Of several parts on one host: the tightest limits, and what any of them says disturbs, each
    /// thing once.
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

/// A host of a merged run, as its part of the run tells of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// The number of the part that it raced.
    pub shard: u32,
    /// The identity of this boot of it; `None` where the system does not say.
    pub boot: Option<String>,
    /// Operating system and architecture.
    pub system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical cores it let deadheat use.
    pub cores: Option<u32>,
    /// Seconds since 1970-01-01 UTC when the part began, by the clock of the host.
    pub started_at: Option<u64>,
    /// The conditions that it measured under.
    pub conditions: Conditions,
}

/// The parts that a run was merged of.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The number of parts that the race has; those that are missing have no host.
    pub count: u32,
    /// The division of the race.
    pub by: ShardBy,
    /// Replicates of each benchmark in a part, where each races all benchmarks; else 0.
    pub replicates: u32,
    /// The hosts, in the order of their parts.
    pub hosts: Vec<Host>,
}

impl Merged {
    /// Hosts that are one machine in one boot, each machine as the places of its parts.
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

    /// The numbers of the parts that are missing.
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
