//! Two functions compared inside a program or a test, without a bench target.

use std::time::Duration;

use deadheat_analysis::{Options, PlannedRule, analyse, fixed_look};
use deadheat_engine::{
    ByReference, FunctionBenchmark, Gauge, LocalContenders, NeverStop, OsClock, SampleClock,
    Session, Unwatched, environment, pilot, unix_seconds,
};
use deadheat_model::{
    Analysis, Benchmark, ClockFacts, Contender, Design, Environment, FunctionCalls, Origin, Plan,
    Run, RunHeader, Unrecorded, Workload,
};

use crate::settings::random_seed;

/// The only replicate there can be in one process.
const ONE: u32 = 1;
/// Blocks that are enough, however short the functions.
const MOST_BLOCKS: f64 = 200.0;
/// Blocks without which there is not even an interval.
const LEAST_BLOCKS: f64 = 6.0;

/// Compares two functions in this process and gives back the whole analysis.
///
/// One process means one layout of memory, drawn once: the verdict is
/// provisional and its interval wide enough for that. A bench target, which
/// starts a fresh process for every replicate, gives a better answer.
///
/// ```
/// let numbers: Vec<u64> = (0..1_000).collect();
/// let analysis = deadheat::compare(
///     || numbers.iter().sum::<u64>(),
///     || numbers.iter().rev().sum::<u64>(),
/// );
/// println!("{:?}", analysis.comparisons[0].verdict);
/// let comparison = &analysis.comparisons[0];
/// assert!(comparison.evidence.provisional || comparison.verdict.is_none());
/// ```
pub fn compare<O>(baseline: impl FnMut() -> O, candidate: impl FnMut() -> O) -> Analysis {
    Compare::new().run(baseline, candidate)
}

/// Compares two functions on inputs made from a seed: a new one for each
/// block, the same for both, neither making nor dropping it timed.
pub fn compare_with<I, O>(
    make: impl FnMut(u64) -> I,
    baseline: impl FnMut(&I) -> O,
    candidate: impl FnMut(&I) -> O,
) -> Analysis {
    Compare::new().run_with(make, baseline, candidate)
}

/// A comparison inside this process, with other settings than the default.
///
/// ```
/// let analysis = deadheat::Compare::new()
///     .margin(0.05)
///     .budget(std::time::Duration::from_millis(100))
///     .names("sum", "product")
///     .run_with(
///         |seed| seed % 1_000,
///         |n| (1..=*n).sum::<u64>(),
///         |n| (1..=*n).fold(1, |product: u64, i| product.wrapping_mul(i)),
///     );
/// assert_eq!(analysis.comparisons[0].baseline.name, "sum");
/// ```
#[derive(Clone, Debug)]
pub struct Compare {
    margin: f64,
    alpha: f64,
    budget: Duration,
    seed: u64,
    names: [String; 2],
}

impl Default for Compare {
    fn default() -> Self {
        Self::new()
    }
}

impl Compare {
    /// A comparison with a margin of 1%, α = 5% and a time budget of 0.5 s.
    pub fn new() -> Self {
        Self {
            margin: 0.01,
            alpha: 0.05,
            budget: Duration::from_millis(500),
            seed: random_seed(),
            names: ["baseline", "candidate"].map(str::to_owned),
        }
    }

    /// The smallest relative change worth acting on, kept between 0.01% and 99%. A dead heat needs
    /// 2% or more: the standard error of another memory layout makes the half-width of the interval
    /// at least 0.98%.
    pub fn margin(mut self, margin: f64) -> Self {
        self.margin = if margin.is_nan() {
            0.01
        } else {
            margin.clamp(1e-4, 0.99)
        };
        self
    }

    /// The chance of a wrong verdict that is accepted, kept between 0.01% and
    /// 50%.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = if alpha.is_nan() {
            0.05
        } else {
            alpha.clamp(1e-4, 0.5)
        };
        self
    }

    /// About how long it may take. Slow functions take longer: six blocks of
    /// four calls are the least that says anything.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }

    /// The source of all random choices, to repeat a comparison.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Names the two in the answer.
    pub fn names(mut self, baseline: &str, candidate: &str) -> Self {
        self.names = [baseline, candidate].map(str::to_owned);
        self
    }

    /// Compares two functions.
    pub fn run<O>(
        self,
        mut baseline: impl FnMut() -> O,
        mut candidate: impl FnMut() -> O,
    ) -> Analysis {
        let mut functions = ByReference::new(|_| ()).without_renewal();
        functions.add(|()| baseline());
        functions.add(|()| candidate());
        analyse(&self.race(&mut functions), Options::default())
    }

    /// Compares two functions on inputs made from a seed.
    pub fn run_with<I, O>(
        self,
        make: impl FnMut(u64) -> I,
        baseline: impl FnMut(&I) -> O,
        candidate: impl FnMut(&I) -> O,
    ) -> Analysis {
        let mut functions = ByReference::new(make);
        functions.add(baseline);
        functions.add(candidate);
        analyse(&self.race(&mut functions), Options::default())
    }

    fn race(&self, functions: &mut dyn FunctionBenchmark) -> Run {
        let (clock, fallback) = SampleClock::choose();
        let gauge = Gauge::new(clock);
        let piloted = pilot(functions, self.seed, 0.0, &gauge);
        let round_ns = piloted.call_ns.iter().sum::<f64>() * piloted.iterations as f64;
        let block_ns = (3.0 * round_ns).max(1.0);
        let blocks = self.budget.as_nanos() as f64 / block_ns;
        let blocks = blocks.clamp(LEAST_BLOCKS, MOST_BLOCKS) as u32;
        let contender = |name: &String| Contender {
            name: name.clone(),
            workload: Workload::Function(FunctionCalls {
                iterations: piloted.iterations,
                threads: 1,
            }),
        };
        let header = RunHeader {
            command: Vec::new(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: unix_seconds(),
            origin: Origin::Race,
            plan: Plan {
                design: Design {
                    margin: self.margin,
                    alpha: self.alpha,
                    looks: fixed_look(ONE, self.alpha).expect("one replicate, and α in range"),
                    blocks_per_replicate: blocks,
                    ..Design::default()
                },
                seed: self.seed,
                benchmarks: vec![Benchmark {
                    name: self.names.join(" / "),
                    contenders: self.names.iter().map(contender).collect(),
                    ..Benchmark::default()
                }],
            },
            environment: Environment {
                clock: Some(ClockFacts {
                    source: clock.source().name().to_owned(),
                    resolution_ns: clock.resolution_ns(),
                    overhead_ns: clock.overhead_ns(),
                    fallback,
                }),
                debug_build: cfg!(debug_assertions),
                ..environment()
            },
            metrics: LocalContenders::metrics_here().to_vec(),
            tick_ns: Some(clock.tick_ns()),
            left_out: Vec::new(),
        };
        let mut run = Run::new(header.clone());
        let raced = Session {
            contenders: &mut LocalContenders::new(&header.plan, functions, gauge),
            clock: &OsClock::start(),
            rule: &mut PlannedRule::new(&header),
            sink: &mut Unrecorded,
            watcher: &mut Unwatched,
            stop: &NeverStop,
            max_replicates: ONE,
            budget: None,
            outlive_failures: true,
        }
        .race(&mut run);
        // What could fail here would be a process, a file or a check of
        // outputs, and there is none of them. The end of the run would say so.
        drop(raced);
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::Verdict;
    use std::hint::black_box;

    fn work(steps: u64) -> u64 {
        (0..steps).fold(1, |sum: u64, step| black_box(sum.wrapping_mul(31) ^ step))
    }

    #[test]
    fn twice_the_work_is_slower_and_only_provisionally_so() {
        let analysis = compare(|| work(2_000), || work(4_000));
        let comparison = &analysis.comparisons[0];
        assert_eq!(comparison.verdict, Some(Verdict::Slower));
        assert!(comparison.evidence.provisional);
    }

    #[test]
    fn functions_that_take_no_time_do_no_harm() {
        let analysis = compare(|| (), || ());
        assert_eq!(analysis.comparisons.len(), 1);
    }

    #[test]
    fn what_borrows_from_its_surroundings_can_be_compared() {
        let numbers = [1u64, 2, 3];
        let mut calls = 0;
        let analysis = Compare::new()
            .budget(Duration::from_millis(20))
            .names("sum", "product")
            .seed(7)
            .run_with(
                |seed| seed,
                |seed| numbers.iter().sum::<u64>() ^ seed,
                |seed| {
                    calls += 1;
                    numbers.iter().product::<u64>() ^ seed
                },
            );
        assert_eq!(analysis.seed, Some(7));
        assert_eq!(analysis.comparisons[0].baseline.name, "sum");
        assert!(calls > 0);
    }
}
