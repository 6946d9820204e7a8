//! Compares two functions within a program or a test, without a bench target.

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

/// The number of replicates of a comparison, which is 1 because all samples come from one process.
const ONE: u32 = 1;
const MOST_BLOCKS: f64 = 200.0;
/// Minimum number of blocks for a confidence interval.
const LEAST_BLOCKS: f64 = 6.0;

/// Compares two functions in this process and returns the analysis.
///
/// All samples come from one process, which has a single memory layout. So the verdict is
/// provisional, and the interval is wider to cover other layouts. A bench target starts a fresh
/// process for every replicate, so its verdicts have no such reservation.
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

/// Compares two functions on inputs made from a seed. Each block has a new input, which both
/// functions share. Making and dropping it is not timed.
pub fn compare_with<I, O>(
    make: impl FnMut(u64) -> I,
    baseline: impl FnMut(&I) -> O,
    candidate: impl FnMut(&I) -> O,
) -> Analysis {
    Compare::new().run_with(make, baseline, candidate)
}

/// A builder for a comparison of two functions in this process, with other settings than the
/// defaults.
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
    /// Returns a builder with a margin of 1%, α = 5% and a time budget of 0.5 s.
    pub fn new() -> Self {
        Self {
            margin: 0.01,
            alpha: 0.05,
            budget: Duration::from_millis(500),
            seed: random_seed(),
            names: ["baseline", "candidate"].map(str::to_owned),
        }
    }

    /// Sets the smallest relative change worth acting on, clamped to 0.01% to 99%. For a dead heat,
    /// choose a margin of 2% or more: deadheat adds a standard error of 0.5% for other memory
    /// layouts, so the half-width of the interval is at least 0.98%.
    pub fn margin(mut self, margin: f64) -> Self {
        self.margin = if margin.is_nan() {
            0.01
        } else {
            margin.clamp(1e-4, 0.99)
        };
        self
    }

    /// Sets the accepted probability of a wrong verdict, clamped to 0.01% to 50%.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = if alpha.is_nan() {
            0.05
        } else {
            alpha.clamp(1e-4, 0.5)
        };
        self
    }

    /// Sets the approximate duration of the comparison. A comparison of slow functions takes
    /// longer, because an interval needs at least six blocks of four calls.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the seed of all random choices, so that a comparison can be repeated with the same
    /// choices.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the names of the two functions in the answer.
    pub fn names(mut self, baseline: &str, candidate: &str) -> Self {
        self.names = [baseline, candidate].map(str::to_owned);
        self
    }

    /// Compares two functions without input, and returns the analysis.
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

    /// Compares two functions on inputs made from a seed, and returns the analysis.
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
        // This result cannot be an error: only processes, files and checks of outputs fail, and
        // this race has none of them. Any failure would also be in the recorded end of the run.
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
