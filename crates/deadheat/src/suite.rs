//! The builder API for benchmarks that race functions against each other.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

use deadheat_engine::{
    AsyncExecutor, Asynchronous, ByReference, ByValue, ComparesOutputs, Concurrent, Disagreement,
    FunctionBenchmark, Gauge, ListedBenchmark, Reading, WorkerSuite,
};
use deadheat_model::{Contender, FunctionCalls, Throughput, Workload};

use crate::race::Planned;
use crate::settings::distinct;

/// The benchmarks of a program, to which [`Suite::benchmark`] adds benchmarks.
#[derive(Default)]
pub struct Suite {
    benchmarks: Vec<Registered>,
    controls: bool,
}

/// A benchmark that has at least its baseline.
struct Registered {
    name: String,
    parameters: Vec<(String, String)>,
    throughput: Option<Throughput>,
    ignored: bool,
    contenders: Vec<String>,
    functions: Shared,
}

impl Registered {
    fn threads(&self) -> u32 {
        self.functions.threads()
    }

    /// Returns the benchmark as it is before its calibration run.
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

/// The functions of a benchmark. The builder and the suite share ownership, because the builder
/// adds candidates to a benchmark that is already in the suite.
#[derive(Clone)]
struct Shared(Rc<RefCell<dyn FunctionBenchmark>>);

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
    /// Returns a suite without benchmarks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a control to every race: the baseline again, as another contender in the same blocks.
    /// If a race finds a difference between the baseline and its control, every verdict of the run
    /// is marked as provisional.
    ///
    /// The option `--control` of the bench target has the same effect.
    pub fn control(&mut self) -> &mut Self {
        self.controls = true;
        self
    }

    pub(crate) fn has_controls(&self) -> bool {
        self.controls
    }

    /// Returns the names of all benchmarks, in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.benchmarks
            .iter()
            .map(|benchmark| benchmark.name.as_str())
    }

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
            // Coordinators request a contender by name, so contenders with the same name get
            // numbers.
            contenders: distinct(benchmark.contenders.clone()),
            parameters: benchmark.parameters.clone(),
            throughput: benchmark.throughput,
            judged: None,
            threads: benchmark.threads(),
            ignored: benchmark.ignored,
            sources: Vec::new(),
        };
        self.benchmarks.iter().map(listed).collect()
    }

    fn take(self, name: &str) -> Option<Box<dyn FunctionBenchmark>> {
        let mut benchmarks = self.benchmarks.into_iter();
        let found = benchmarks.find(|benchmark| benchmark.name == name)?;
        Some(Box::new(found.functions))
    }
}

/// Wraps a function without input as a function of `&()`. Baselines and candidates share this
/// wrapper. With separate wrappers, a race of a function against itself would have two copies of
/// the loop, at two addresses.
fn of_nothing<O>(mut call: impl FnMut() -> O) -> impl FnMut(&()) -> O {
    move |()| call()
}

impl Suite {
    /// Begins a benchmark with this name, which must be unique in the suite.
    ///
    /// The benchmark is added to the suite when its baseline is set.
    pub fn benchmark(&mut self, name: impl Into<String>) -> Benchmark<'_> {
        Benchmark {
            suite: self,
            name: name.into(),
            parameters: Vec::new(),
            throughput: None,
            ignored: false,
        }
    }

    /// Adds a benchmark for each value of a parameter, named `name/value`.
    ///
    /// ```
    /// let mut suite = deadheat::Suite::new();
    /// suite.sweep("sum", "length", [100, 10_000], |benchmark, length| {
    ///     benchmark
    ///         .input(move |seed| (0..length).map(|i| i ^ seed).collect::<Vec<u64>>())
    ///         .baseline("loop", |numbers| {
    ///             let mut sum = 0u64;
    ///             for number in numbers {
    ///                 sum = sum.wrapping_add(*number);
    ///             }
    ///             sum
    ///         })
    ///         .candidate("fold", |numbers| numbers.iter().fold(0, |sum: u64, n| sum.wrapping_add(*n)));
    /// });
    /// assert_eq!(suite.names().collect::<Vec<_>>(), ["sum/100", "sum/10000"]);
    /// ```
    pub fn sweep<V: Display>(
        &mut self,
        name: &str,
        parameter: &str,
        values: impl IntoIterator<Item = V>,
        mut build: impl FnMut(Benchmark<'_>, V),
    ) {
        for value in values {
            let benchmark = self.benchmark(format!("{name}/{value}"));
            build(benchmark.parameter(parameter, &value), value);
        }
    }
}

/// A benchmark that has a name, but not a baseline yet.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct Benchmark<'s> {
    suite: &'s mut Suite,
    name: String,
    parameters: Vec<(String, String)>,
    throughput: Option<Throughput>,
    ignored: bool,
}

impl<'s> Benchmark<'s> {
    /// Records a parameter of the input, such as its length, for tables and run files. The name of
    /// the benchmark does not change.
    pub fn parameter(mut self, name: &str, value: impl Display) -> Self {
        self.parameters.push((name.to_owned(), value.to_string()));
        self
    }

    /// Sets the number of bytes that each call processes. Reports then show rates next to times.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.throughput = Some(Throughput::Bytes(bytes));
        self
    }

    /// Sets the number of items that each call processes. Reports then show rates next to times.
    pub fn items(mut self, items: u64) -> Self {
        self.throughput = Some(Throughput::Items(items));
        self
    }

    /// Excludes the benchmark unless `--ignored` or `--include-ignored` is given.
    pub fn ignored(mut self) -> Self {
        self.ignored = true;
        self
    }

    /// Sets the function that makes an input from a seed. Each block has one input, shared by all
    /// contenders. Making and dropping it is never timed.
    pub fn input<I: 'static>(self, make: impl FnMut(u64) -> I + 'static) -> Setup<'s, I> {
        Setup {
            benchmark: self,
            make: Box::new(make),
        }
    }

    /// Sets the function that makes an input for every single call, for functions that consume
    /// their input. Within a block, all inputs come from the same seed and are therefore equal.
    ///
    /// To sort in place, take the input by value and return it: `|mut numbers| { numbers.sort();
    /// numbers }`. What a call returns is dropped outside the timed region.
    pub fn input_per_call<I: 'static>(
        self,
        make: impl FnMut(u64) -> I + 'static,
    ) -> Consuming<'s, I> {
        Consuming {
            benchmark: self,
            make: Box::new(make),
        }
    }

    /// Calls each contender from this many threads at the same time. All threads start together.
    /// The measured time is the time from the first call of any thread to the end of the last call.
    pub fn threads(self, threads: u32) -> Threads<'s> {
        Threads {
            benchmark: self,
            threads,
        }
    }

    /// Declares that the contenders are async functions. `start` makes the executor that runs them,
    /// once per process and outside the timed region.
    pub fn executor<E: AsyncExecutor + 'static>(
        self,
        start: impl FnMut() -> E + 'static,
    ) -> AsyncSetup<'s, E, ()> {
        AsyncSetup {
            benchmark: self,
            start: Box::new(start),
            make: Box::new(|_| ()),
        }
    }

    /// Adds the baseline, a function without input. Candidates are compared with it.
    pub fn baseline<O: 'static>(
        self,
        name: &str,
        call: impl FnMut() -> O + 'static,
    ) -> PlainRace<'s, O> {
        let mut functions = ByReference::new(|_| ()).without_renewal();
        functions.add(of_nothing(call));
        PlainRace(self.register(name, functions))
    }

    fn register<B: deadheat_engine::FunctionBenchmark + 'static>(
        self,
        baseline: &str,
        functions: B,
    ) -> Race<'s, B> {
        let functions = Rc::new(RefCell::new(functions));
        self.suite.benchmarks.push(Registered {
            name: self.name,
            parameters: self.parameters,
            throughput: self.throughput,
            ignored: self.ignored,
            contenders: vec![baseline.to_owned()],
            functions: Shared(Rc::clone(&functions) as Rc<RefCell<_>>),
        });
        let registered = self.suite.benchmarks.last_mut().expect("just pushed");
        Race {
            registered,
            functions,
        }
    }
}

/// A benchmark whose contenders borrow an input, and that has no baseline yet.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct Setup<'s, I> {
    benchmark: Benchmark<'s>,
    make: Box<dyn FnMut(u64) -> I>,
}

impl<'s, I: 'static> Setup<'s, I> {
    /// Adds the baseline, with which candidates are compared.
    pub fn baseline<O: 'static>(
        self,
        name: &str,
        call: impl FnMut(&I) -> O + 'static,
    ) -> Race<'s, ByReference<'static, I, O>> {
        let mut functions = ByReference::new(self.make);
        functions.add(call);
        self.benchmark.register(name, functions)
    }
}

/// A benchmark whose contenders take their inputs by value, and that has no baseline yet.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct Consuming<'s, I> {
    benchmark: Benchmark<'s>,
    make: Box<dyn FnMut(u64) -> I>,
}

impl<'s, I: 'static> Consuming<'s, I> {
    /// Adds the baseline, with which candidates are compared.
    pub fn baseline<O: 'static>(
        self,
        name: &str,
        call: impl FnMut(I) -> O + 'static,
    ) -> ConsumingRace<'s, I, O> {
        let mut functions = ByValue::new(self.make);
        functions.add(call);
        self.benchmark.register(name, functions)
    }
}

/// A benchmark of async functions that has no baseline yet.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct AsyncSetup<'s, E, I> {
    benchmark: Benchmark<'s>,
    start: Box<dyn FnMut() -> E>,
    make: Box<dyn FnMut(u64) -> I>,
}

impl<'s, E: AsyncExecutor + 'static, I: 'static> AsyncSetup<'s, E, I> {
    /// Sets the function that makes an input from a seed, like [`Benchmark::input`].
    pub fn input<J: 'static>(self, make: impl FnMut(u64) -> J + 'static) -> AsyncSetup<'s, E, J> {
        AsyncSetup {
            benchmark: self.benchmark,
            start: self.start,
            make: Box::new(make),
        }
    }

    /// Adds the baseline, an async function. Candidates are compared with it.
    pub fn baseline<O: 'static>(
        self,
        name: &str,
        call: impl AsyncFnMut(&I) -> O + 'static,
    ) -> AsyncRace<'s, E, I, O> {
        let mut functions = Asynchronous::new(self.start, self.make);
        functions.add(call);
        self.benchmark.register(name, functions)
    }
}

/// A benchmark whose contenders are called by several threads, and that has neither an input nor a
/// baseline yet.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct Threads<'s> {
    benchmark: Benchmark<'s>,
    threads: u32,
}

impl<'s> Threads<'s> {
    /// Sets the function that makes the input of a block from a seed. The threads share the input.
    pub fn input<I: Send + Sync + 'static>(
        self,
        make: impl FnMut(u64) -> I + 'static,
    ) -> ThreadSetup<'s, I> {
        ThreadSetup {
            benchmark: self.benchmark,
            threads: self.threads,
            make: Box::new(make),
        }
    }

    /// Adds the baseline, which takes `&()` because the benchmark has no input. Candidates are
    /// compared with it.
    pub fn baseline<O: Send + 'static>(
        self,
        name: &str,
        call: impl Fn(&()) -> O + Send + Sync + 'static,
    ) -> ThreadRace<'s, (), O> {
        self.input(|_| ()).baseline(name, call)
    }
}

/// A benchmark whose threads share an input, and that has no baseline yet.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct ThreadSetup<'s, I> {
    benchmark: Benchmark<'s>,
    threads: u32,
    make: Box<dyn FnMut(u64) -> I>,
}

impl<'s, I: Send + Sync + 'static> ThreadSetup<'s, I> {
    /// Adds the baseline, with which candidates are compared.
    pub fn baseline<O: Send + 'static>(
        self,
        name: &str,
        call: impl Fn(&I) -> O + Send + Sync + 'static,
    ) -> ThreadRace<'s, I, O> {
        let mut functions = Concurrent::new(self.threads, self.make);
        functions.add(call);
        self.benchmark.register(name, functions)
    }
}

/// A benchmark with a baseline, to which candidates can be added. It already belongs to its suite.
pub struct Race<'s, B> {
    registered: &'s mut Registered,
    functions: Rc<RefCell<B>>,
}

/// A benchmark of functions without input, to which candidates can be added.
pub struct PlainRace<'s, O>(Race<'s, ByReference<'static, (), O>>);

/// A benchmark of functions that take their inputs by value, to which candidates can be added.
pub type ConsumingRace<'s, I, O> = Race<'s, ByValue<I, O>>;

/// A benchmark of functions that several threads call at the same time, to which candidates can be
/// added.
pub type ThreadRace<'s, I, O> = Race<'s, Concurrent<I, O>>;

/// A benchmark of async functions, to which candidates can be added.
pub type AsyncRace<'s, E, I, O> = Race<'s, Asynchronous<E, I, O>>;

impl<'s, B> Race<'s, B> {
    fn named(self, name: &str) -> Self {
        self.registered.contenders.push(name.to_owned());
        self
    }
}

impl<B: ComparesOutputs> Race<'_, B> {
    /// Compares the results of the contenders, and stops the benchmark if the result of a candidate
    /// differs from that of the baseline for any measured input, in any thread.
    pub fn check_outputs(self) -> Self
    where
        B::Output: PartialEq,
    {
        self.functions.borrow_mut().check_with(B::Output::eq);
        self
    }
}

impl<O: 'static> PlainRace<'_, O> {
    /// Adds a candidate, which is compared with the baseline.
    pub fn candidate(self, name: &str, call: impl FnMut() -> O + 'static) -> Self {
        self.0.functions.borrow_mut().add(of_nothing(call));
        Self(self.0.named(name))
    }

    /// Compares the results of the contenders, and stops the benchmark if the result of a candidate
    /// differs from that of the baseline.
    pub fn check_outputs(self) -> Self
    where
        O: PartialEq,
    {
        Self(self.0.check_outputs())
    }
}

impl<I: 'static, O: 'static> Race<'_, ByReference<'static, I, O>> {
    /// Adds a candidate, which is called with the same inputs as the baseline.
    pub fn candidate(self, name: &str, call: impl FnMut(&I) -> O + 'static) -> Self {
        self.functions.borrow_mut().add(call);
        self.named(name)
    }
}

impl<I: 'static, O: 'static> ConsumingRace<'_, I, O> {
    /// Adds a candidate, whose inputs are equal to those of the baseline.
    pub fn candidate(self, name: &str, call: impl FnMut(I) -> O + 'static) -> Self {
        self.functions.borrow_mut().add(call);
        self.named(name)
    }
}

impl<I: Send + Sync + 'static, O: Send + 'static> ThreadRace<'_, I, O> {
    /// Adds a candidate, which is called by the same number of threads as the baseline.
    pub fn candidate(self, name: &str, call: impl Fn(&I) -> O + Send + Sync + 'static) -> Self {
        self.functions.borrow_mut().add(call);
        self.named(name)
    }
}

impl<E: AsyncExecutor + 'static, I: 'static, O: 'static> AsyncRace<'_, E, I, O> {
    /// Adds an async candidate, which is called with the same inputs as the baseline.
    pub fn candidate(self, name: &str, call: impl AsyncFnMut(&I) -> O + 'static) -> Self {
        self.functions.borrow_mut().add(call);
        self.named(name)
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
