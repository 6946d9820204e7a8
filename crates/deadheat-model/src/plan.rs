//! The plan of a run, frozen before the first sample.

use std::path::Path;
use std::time::Duration;

use crate::metric::Metric;
use crate::race_settings::{Design, Looks};
use crate::schedule::ContenderId;
use crate::setting_values::ShareRange;
use crate::workload::{Harness, Workload};

/// Everything that is decided before the first sample is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The settings by which the race is run and judged.
    pub design: Design,
    /// The source of every random choice of the run.
    pub seed: u64,
    /// Benchmarks, raced one after the other.
    pub benchmarks: Vec<Benchmark>,
}

/// A named workload and the contenders that race on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Benchmark {
    /// The name shown and recorded.
    pub name: String,
    /// Parameter values filled into its commands, in the order declared.
    pub parameters: Vec<(String, String)>,
    /// The baseline first, the control last.
    pub contenders: Vec<Contender>,
    /// True if the last contender is a second copy of the baseline. It shows what the race makes of
    /// no difference, and is no candidate.
    pub control: bool,
    /// Blocks in a replicate where the pilot found another number than that of the design to fit.
    pub blocks_per_replicate: Option<u32>,
    /// True if its worker processes take their first block without a warm-up: the pilot found that
    /// one brings nothing.
    pub without_warm_up: bool,
    /// The work that one iteration gets done, for rates beside the times.
    pub throughput: Option<Throughput>,
    /// Set when this is another benchmark once more, as the user's own link placed it. It gets no
    /// verdict of its own.
    pub own_link: Option<OwnLink>,
    /// Metrics of this benchmark beside those of the run, in column order after them.
    pub counters: Vec<Metric>,
    /// The facts that a file of another tool told of it; `None` when deadheat measures.
    pub saved: Option<Saved>,
    /// The comparisons of a gate among which it must not be slower: its race goes on after that
    /// verdict until it holds at their level, or to the last look. 0 and 1 for none but its own.
    pub family: u32,
    /// The settings decided for it otherwise than for all.
    pub overrides: BenchmarkOverrides,
}

/// Settings that a plan gives to one benchmark in place of those of the design. A field that is
/// `None` is as the design has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchmarkOverrides {
    /// Smallest relative change of it worth acting on.
    pub margin: Option<f64>,
    /// The chance of a wrong verdict on it, and the numbers of replicates after which the verdict
    /// may be called.
    pub level: Option<LevelOverride>,
    /// The metric its verdict speaks of.
    pub judged: Option<Metric>,
    /// The quantile of single iterations that its verdict speaks of.
    pub quantile: Option<f64>,
    /// No block of it starts after this much time of its own, nor after its share of the budget of
    /// the run.
    pub budget: Option<Duration>,
}

impl BenchmarkOverrides {
    /// Returns true if everything is as the design has it.
    pub fn is_empty(&self) -> bool {
        *self == BenchmarkOverrides::default()
    }
}

/// A chance of a wrong verdict, and the looks that spend it.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelOverride {
    /// Chance of a wrong verdict that is accepted.
    pub alpha: f64,
    /// When the verdict may be called.
    pub looks: Looks,
}

/// The facts that a file of another tool tells of a benchmark beside its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// The metric the verdict speaks of where that is not the metric of the design: the benchmarks
    /// of a file need not measure the same.
    pub judged: Option<Metric>,
    /// The label that the benchmark gives itself beside its name.
    pub label: Option<String>,
    /// Threads it ran on.
    pub threads: Option<u32>,
    /// The statistic that is all that was kept of one side: "median".
    pub summary: Option<String>,
}

/// A benchmark raced once more as the user linked it, beside neutral links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnLink {
    /// Index of the benchmark in the plan that it stands beside.
    pub of: usize,
    /// Replicates it takes, whatever they say.
    pub replicates: u32,
}

/// The work that one iteration of a benchmark gets done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throughput {
    /// So many bytes are worked through.
    Bytes(u64),
    /// So many items are worked through.
    Items(u64),
}

impl Benchmark {
    /// The identities of the contenders that are compared with the baseline.
    pub fn candidates(&self) -> impl Iterator<Item = ContenderId> + use<> {
        (1..self.rivals()).map(|index| ContenderId(index as u8))
    }

    /// Returns true if a contender is a function that worker processes call.
    pub fn calls_functions(&self) -> bool {
        let mut contenders = self.contenders.iter();
        contenders.any(|contender| contender.workload.calls().is_some())
    }

    /// Returns true if each slot is a launch of a command.
    pub fn launches_commands(&self) -> bool {
        let mut contenders = self.contenders.iter();
        contenders.any(|contender| matches!(contender.workload, Workload::Command(_)))
    }

    /// Returns true if all blocks of a replicate run in the order of its first: each slot is one
    /// launch of a Google Benchmark executable, which takes the samples of all blocks in a row.
    pub fn keeps_order(&self) -> bool {
        let mut contenders = self.contenders.iter();
        contenders.any(|contender| matches!(contender.workload, Workload::Harness(_)))
    }

    /// Returns true if the code is compiled anew in every process, as it runs: no linker places it,
    /// and the first repetitions of a launch are slower.
    pub fn is_compiled_in_each_process(&self) -> bool {
        let mut contenders = self.contenders.iter();
        contenders.any(|contender| {
            matches!(&contender.workload, Workload::Harness(calls) if calls.harness == Harness::Jmh)
        })
    }

    /// Returns true if all contenders are programs in Python, which no linker places.
    pub fn is_interpreted(&self) -> bool {
        let is_python = |program: &Path| {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            let starts = ["python", "pypy"].iter().any(|word| name.starts_with(word));
            starts || name.ends_with(".py")
        };
        let mut contenders = self.contenders.iter();
        !self.contenders.is_empty()
            && contenders.all(|contender| match &contender.workload {
                Workload::Worker(calls) => is_python(&calls.program.executable),
                Workload::Command(line) => line
                    .words
                    .first()
                    .is_some_and(|name| is_python(Path::new(name))),
                Workload::Harness(calls) => calls.harness == Harness::Pyperf,
                Workload::Function(_) | Workload::Recording => false,
            })
    }

    /// Processes started for a replicate; `None` where every sample is one of its own.
    pub fn processes_per_replicate(&self) -> Option<u64> {
        let mut last = None;
        for contender in &self.contenders {
            let process = match &contender.workload {
                Workload::Function(_) => 0,
                Workload::Worker(calls) => calls.process,
                // Each slot is a launch for all blocks of the replicate.
                Workload::Harness(_) => return Some(self.slots_per_block() as u64),
                Workload::Command(_) | Workload::Recording => continue,
            };
            last = last.max(Some(process));
        }
        last.map(|last| last as u64 + 1)
    }

    /// The number of slots in one block: those of ABBA for two contenders, one row for any other
    /// number.
    pub fn slots_per_block(&self) -> usize {
        match self.contenders.len() {
            2 => 4,
            n => n,
        }
    }
}

/// Anything that can be timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The name shown and recorded.
    pub name: String,
    /// The work it does.
    pub workload: Workload,
}

/// The reason why a plan cannot be run.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanError {
    /// A number lies outside its range.
    OutOfRange {
        /// The flag that set it, or the key in `deadheat.toml` and its benchmark.
        of: String,
        /// The value given.
        value: f64,
        /// The values allowed, in words.
        range: &'static str,
    },
    /// The looks do not fit together.
    MalformedLooks,
    /// A benchmark has no contender, or more than a run can tell apart.
    Contenders {
        /// The benchmark.
        benchmark: String,
        /// The number it has.
        count: usize,
        /// The largest number that is possible.
        max: usize,
    },
    /// There is nothing to race.
    Empty,
    /// Callgrind counts instructions and no time, and something else is to be judged.
    NotCounted {
        /// The benchmark.
        benchmark: String,
        /// The metric that is to be judged.
        judged: Metric,
    },
    /// A control that should be a second copy of the baseline is not.
    Control {
        /// The benchmark.
        benchmark: String,
        /// The problem, in words.
        problem: &'static str,
    },
    /// A benchmark that should be another once more, as the user linked it, is not.
    OwnLink {
        /// The benchmark that says so.
        benchmark: String,
        /// Its place in the plan.
        index: usize,
        /// The place of the one it claims to stand beside.
        of: usize,
        /// The problem, in words.
        problem: &'static str,
    },
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfRange { of, value, range } => {
                write!(f, "{of} must be {range}, not {value}")
            }
            Self::MalformedLooks => {
                f.write_str("looks must rise and have a level and a weight each")
            }
            Self::Contenders {
                benchmark,
                count,
                max,
            } => write!(
                f,
                "benchmark '{benchmark}' has {count} contenders; between 1 and {max} can race"
            ),
            Self::Empty => f.write_str("there is no benchmark to run"),
            Self::NotCounted { benchmark, judged } => write!(
                f,
                "--callgrind counts instructions and nothing else, so benchmark '{benchmark}' cannot \
                 be judged by {judged} (--metric)"
            ),
            Self::Control { benchmark, problem } => write!(
                f,
                "benchmark '{benchmark}' cannot have a control: {problem}"
            ),
            Self::OwnLink {
                benchmark,
                index,
                of,
                problem,
            } => write!(
                f,
                "benchmark {index} ('{benchmark}') cannot be the own link of benchmark {of}: {problem}; \
         benchmarks are counted from 0"
            ),
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Most contenders that fit one benchmark.
    pub const MAX_CONTENDERS: usize = 64;

    /// Blocks in a replicate of one benchmark, at least 1.
    pub fn blocks_per_replicate(&self, benchmark: usize) -> u32 {
        let own = self.benchmarks.get(benchmark);
        own.and_then(|benchmark| benchmark.blocks_per_replicate)
            .unwrap_or(self.design.blocks_per_replicate)
            .max(1)
    }

    /// Returns true if this part of the race, or the race where that is all of it, races a benchmark.
    pub fn races(&self, benchmark: &Benchmark) -> bool {
        let part = self.design.shard;
        part.is_none_or(|part| part.races(&benchmark.name, &benchmark.parameters))
    }

    /// Checks every invariant of the plan.
    pub fn validate(&self) -> Result<(), PlanError> {
        let design = &self.design;
        let out_of_range = |flag: &str, value, range| {
            let of = flag.to_owned();
            Err(PlanError::OutOfRange { of, value, range })
        };
        if !ShareRange::MARGIN.holds(design.margin) {
            return out_of_range("--margin", design.margin, ShareRange::MARGIN.words);
        }
        if !ShareRange::ALPHA.holds(design.alpha) {
            return out_of_range("--alpha", design.alpha, ShareRange::ALPHA.words);
        }
        if let Some(quantile) = design.quantile
            && !ShareRange::QUANTILE.holds(quantile)
        {
            return out_of_range("--quantile", quantile, ShareRange::QUANTILE.words);
        }
        if design.blocks_per_replicate == 0 {
            return out_of_range("--blocks", 0.0, "at least 1");
        }
        let looks = &design.looks;
        if !looks.are_well_formed() {
            return Err(PlanError::MalformedLooks);
        }
        if self.benchmarks.is_empty() {
            return Err(PlanError::Empty);
        }
        for (index, benchmark) in self.benchmarks.iter().enumerate() {
            let judged = self.judged(index);
            if design.callgrind && *judged != Metric::Instructions {
                return Err(PlanError::NotCounted {
                    benchmark: benchmark.name.clone(),
                    judged: judged.clone(),
                });
            }
            if benchmark.blocks_per_replicate == Some(0) {
                return out_of_range("--blocks", 0.0, "at least 1");
            }
            let count = benchmark.contenders.len();
            if !(1..=Self::MAX_CONTENDERS).contains(&count) {
                return Err(PlanError::Contenders {
                    benchmark: benchmark.name.clone(),
                    count,
                    max: Self::MAX_CONTENDERS,
                });
            }
            benchmark.validate_control()?;
        }
        self.validate_benchmark_overrides()?;
        self.validate_own_links()
    }

    /// Checks what stands beside other benchmarks.
    fn validate_own_links(&self) -> Result<(), PlanError> {
        for (index, benchmark) in self.benchmarks.iter().enumerate() {
            let Some(own_link) = benchmark.own_link else {
                continue;
            };
            let beside = self.benchmarks[..index].get(own_link.of);
            let problem = match beside {
                None => "that one does not come before it",
                Some(beside) if beside.own_link.is_some() => "that one is an own link itself",
                Some(beside)
                    if beside.contenders.len() != benchmark.contenders.len()
                        || beside.control != benchmark.control =>
                {
                    "the two have not as many contenders"
                }
                Some(_) if self.own_link_of(own_link.of) != Some(index) => {
                    "another one stands beside it already"
                }
                Some(_) if own_link.replicates == 0 => "it has no replicates",
                Some(_) => continue,
            };
            return Err(PlanError::OwnLink {
                benchmark: benchmark.name.clone(),
                index,
                of: own_link.of,
                problem,
            });
        }
        Ok(())
    }

    /// The benchmark that stands beside this one as the user linked it, if there is one.
    pub fn own_link_of(&self, benchmark: usize) -> Option<usize> {
        let beside = |other: &Benchmark| other.own_link.is_some_and(|own| own.of == benchmark);
        self.benchmarks.iter().position(beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race_settings::Looks;

    fn plan(margin: f64, alpha: f64) -> Plan {
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Recording,
        };
        Plan {
            design: Design {
                margin,
                alpha,
                looks: Looks {
                    at: vec![6, 11],
                    levels: vec![0.02, 0.03],
                    weights: vec![0.4, 0.6],
                },
                ..Design::default()
            },
            seed: 1,
            benchmarks: vec![Benchmark {
                name: "b".to_owned(),
                parameters: vec![],
                contenders: vec![contender("a"), contender("b")],
                ..Benchmark::default()
            }],
        }
    }

    #[test]
    fn a_sound_plan_is_accepted() {
        assert_eq!(plan(0.01, 0.05).validate(), Ok(()));
    }

    #[test]
    fn a_margin_or_alpha_out_of_range_names_its_flag() {
        for (margin, alpha, flag) in [
            (0.0, 0.05, "--margin"),
            (1.0, 0.05, "--margin"),
            (f64::NAN, 0.05, "--margin"),
            (0.01, 0.0, "--alpha"),
            (0.01, 0.7, "--alpha"),
        ] {
            let error = plan(margin, alpha).validate().unwrap_err();
            assert!(error.to_string().contains(flag), "{error}");
        }
    }

    #[test]
    fn an_own_link_stands_beside_an_earlier_benchmark_of_as_many_contenders() {
        let own = |of, replicates| Some(OwnLink { of, replicates });
        let with = |own_links: &[Option<OwnLink>]| {
            let mut plan = plan(0.01, 0.05);
            for own_link in own_links {
                let mut benchmark = plan.benchmarks[0].clone();
                benchmark.own_link = *own_link;
                plan.benchmarks.push(benchmark);
            }
            plan
        };
        assert_eq!(with(&[own(0, 6), None, own(2, 6)]).validate(), Ok(()));
        let three = with(&[None, own(1, 6)]);
        assert_eq!(three.own_link_of(1), Some(2));
        assert_eq!(three.own_link_of(0), None);
        let mut fewer = with(&[own(0, 6)]);
        fewer.benchmarks[1].contenders.pop();
        for (bad, problem) in [
            (with(&[own(1, 6)]), "does not come before it"),
            (with(&[own(7, 6)]), "does not come before it"),
            (with(&[own(0, 6), own(1, 6)]), "is an own link itself"),
            (fewer, "not as many contenders"),
            (
                with(&[own(0, 6), own(0, 6)]),
                "another one stands beside it",
            ),
            (with(&[own(0, 0)]), "no replicates"),
        ] {
            let error = bad.validate().unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn looks_that_do_not_rise_are_refused() {
        let mut plan = plan(0.01, 0.05);
        plan.design.looks.at = vec![11, 6];
        assert_eq!(plan.validate(), Err(PlanError::MalformedLooks));
    }
}
