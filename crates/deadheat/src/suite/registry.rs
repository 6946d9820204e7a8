//! The suite: all benchmarks of a program, in the order they were named.

use std::cell::RefCell;
use std::rc::Rc;

use deadheat_engine::{
    Disagreement, FunctionBenchmark, Gauge, ListedBenchmark, Reading, WorkerSuite,
};
use deadheat_model::{Contender, FunctionCalls, Throughput, Workload};

use crate::race::Planned;
use crate::settings::distinct;

/// The benchmarks of a program.
#[derive(Default)]
pub struct Suite {
    pub(super) benchmarks: Vec<Registered>,
    controls: bool,
}

/// A benchmark that has at least its baseline.
pub(super) struct Registered {
    pub(super) name: String,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) throughput: Option<Throughput>,
    pub(super) ignored: bool,
    pub(super) contenders: Vec<String>,
    pub(super) functions: Shared,
}

impl Registered {
    /// Threads that call each contender at the same time.
    fn threads(&self) -> u32 {
        self.functions.threads()
    }

    /// The benchmark as a plan has it before its pilot.
    fn planned(&self) -> deadheat_model::Benchmark {
        let calls = FunctionCalls {
            threads: self.threads(),
            ..FunctionCalls::default()
        };
        let contender = |name: &String| Contender {
            name: name.clone(),
            workload: Workload::Function(calls),
        };
        deadheat_model::Benchmark {
            name: self.name.clone(),
            parameters: self.parameters.clone(),
            contenders: self.contenders.iter().map(contender).collect(),
            throughput: self.throughput,
            ..deadheat_model::Benchmark::default()
        }
    }
}

/// The functions of a benchmark: the builder goes on adding contenders to
/// what the suite already holds.
#[derive(Clone)]
pub(super) struct Shared(pub(super) Rc<RefCell<dyn FunctionBenchmark>>);

impl FunctionBenchmark for Shared {
    fn contenders(&self) -> usize {
        self.0.borrow().contenders()
    }

    fn threads(&self) -> u32 {
        self.0.borrow().threads()
    }

    fn most_iterations(&self) -> u64 {
        self.0.borrow().most_iterations()
    }

    fn renews_input(&self) -> bool {
        self.0.borrow().renews_input()
    }

    fn prepare(&mut self, seed: u64) {
        self.0.borrow_mut().prepare(seed);
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        self.0.borrow_mut().sample(contender, iterations, gauge)
    }

    fn check(&self) -> Result<(), Disagreement> {
        self.0.borrow().check()
    }
}

impl Suite {
    /// A suite without benchmarks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Races every baseline against a second copy of itself as well, in the
    /// same blocks: the same function, called in its own turn. Where the two
    /// seem to differ, every verdict of the run is called provisional.
    ///
    /// `--control` asks for the same from the command line.
    pub fn control(&mut self) -> &mut Self {
        self.controls = true;
        self
    }

    pub(crate) fn has_controls(&self) -> bool {
        self.controls
    }

    /// The names of all benchmarks, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.benchmarks
            .iter()
            .map(|benchmark| benchmark.name.as_str())
    }

    /// The benchmarks as their race is planned.
    pub(crate) fn planned(&self) -> Vec<Planned> {
        let planned = |benchmark: &Registered| Planned {
            benchmark: benchmark.planned(),
            ignored: benchmark.ignored,
        };
        self.benchmarks.iter().map(planned).collect()
    }
}

impl WorkerSuite for Suite {
    fn list(&self) -> Vec<ListedBenchmark> {
        let listed = |benchmark: &Registered| ListedBenchmark {
            name: benchmark.name.clone(),
            // A contender against itself has a name of its own for whoever
            // asks for one of the two.
            contenders: distinct(benchmark.contenders.clone()),
            parameters: benchmark.parameters.clone(),
            throughput: benchmark.throughput,
            threads: benchmark.threads(),
            ignored: benchmark.ignored,
        };
        self.benchmarks.iter().map(listed).collect()
    }

    fn take(self, name: &str) -> Option<Box<dyn FunctionBenchmark>> {
        let mut benchmarks = self.benchmarks.into_iter();
        let found = benchmarks.find(|benchmark| benchmark.name == name)?;
        Some(Box::new(found.functions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(names: &[&str]) -> Suite {
        let mut suite = Suite::new();
        for name in names {
            suite
                .benchmark(*name)
                .baseline("one", || 1)
                .candidate("two", || 2);
        }
        suite
    }

    #[test]
    fn a_contender_against_itself_can_be_asked_for_by_name() {
        let mut suite = Suite::new();
        suite
            .benchmark("a / a")
            .baseline("a", || 1)
            .candidate("a", || 1);
        assert_eq!(suite.list()[0].contenders, ["a", "a (2)"]);
    }

    #[test]
    fn benchmarks_keep_the_order_they_were_named_in() {
        let suite = suite(&["b", "a"]);
        assert_eq!(suite.names().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(suite.benchmarks[0].contenders, ["one", "two"]);
    }

    #[test]
    fn a_benchmark_without_a_baseline_is_none() {
        let mut suite = Suite::new();
        let _ = suite.benchmark("empty").bytes(3);
        assert_eq!(suite.names().count(), 0);
    }

    #[test]
    fn a_suite_has_controls_when_it_is_told_to() {
        let mut suite = suite(&["a"]);
        assert!(!suite.has_controls());
        assert!(suite.control().has_controls());
    }

    #[test]
    fn a_benchmark_is_found_by_its_whole_name() {
        assert!(suite(&["ab"]).take("a").is_none());
        assert_eq!(suite(&["ab"]).take("ab").unwrap().contenders(), 2);
    }
}
