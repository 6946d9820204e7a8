//! Builders of benchmarks: name, input, threads or executor, then the contenders.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

use deadheat_engine::{
    AsyncExecutor, Asynchronous, ByReference, ByValue, ComparesOutputs, Concurrent,
};
use deadheat_model::Throughput;

use super::registry::{Registered, Shared, Suite};

/// The function as one of an input that holds nothing. In one place: wrapped
/// in two closures, one function raced against itself would be compiled into
/// two loops, which the linker puts into two places.
pub(super) fn of_nothing<O>(mut call: impl FnMut() -> O) -> impl FnMut(&()) -> O {
    move |()| call()
}

impl Suite {
    /// A benchmark of this name, which must be the only one.
    ///
    /// It belongs to the suite as soon as it has a baseline.
    pub fn benchmark(&mut self, name: impl Into<String>) -> Benchmark<'_> {
        Benchmark {
            suite: self,
            name: name.into(),
            parameters: Vec::new(),
            throughput: None,
            ignored: false,
        }
    }

    /// A benchmark for each of several values of a parameter, named
    /// `name/value`.
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

/// A benchmark that has a name and nothing else yet.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct Benchmark<'s> {
    suite: &'s mut Suite,
    name: String,
    parameters: Vec<(String, String)>,
    throughput: Option<Throughput>,
    ignored: bool,
}

impl<'s> Benchmark<'s> {
    /// Records a parameter of the input, for tables and files. It does not
    /// change the name.
    pub fn parameter(mut self, name: &str, value: impl Display) -> Self {
        self.parameters.push((name.to_owned(), value.to_string()));
        self
    }

    /// One call works through so many bytes: rates are shown beside times.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.throughput = Some(Throughput::Bytes(bytes));
        self
    }

    /// One call works through so many items: rates are shown beside times.
    pub fn items(mut self, items: u64) -> Self {
        self.throughput = Some(Throughput::Items(items));
        self
    }

    /// Leaves it out unless `--ignored` or `--include-ignored` is given.
    pub fn ignored(mut self) -> Self {
        self.ignored = true;
        self
    }

    /// Makes the input from a seed: one for each block, the same for all
    /// contenders. Making and dropping it is never timed.
    pub fn input<I: 'static>(self, make: impl FnMut(u64) -> I + 'static) -> Setup<'s, I> {
        Setup {
            benchmark: self,
            make: Box::new(make),
        }
    }

    /// Makes an input of its own for every single call, for functions that
    /// use it up; within a block all from the same seed, and so alike.
    ///
    /// To sort in place, take the input by value and give it back: `|mut
    /// numbers| { numbers.sort(); numbers }`. What a call returns is dropped
    /// outside the timed region.
    pub fn input_per_call<I: 'static>(
        self,
        make: impl FnMut(u64) -> I + 'static,
    ) -> Consuming<'s, I> {
        Consuming {
            benchmark: self,
            make: Box::new(make),
        }
    }

    /// So many threads call each contender at the same time, released
    /// together. A time is then that of all of them, from the first call to
    /// the end of the last.
    pub fn threads(self, threads: u32) -> Threads<'s> {
        Threads {
            benchmark: self,
            threads,
        }
    }

    /// Contenders are async functions, run by the executor that `start`
    /// makes: once in every process, outside the timed region.
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

    /// The function that others are compared with; here one without input.
    pub fn baseline<O: 'static>(
        self,
        name: &str,
        call: impl FnMut() -> O + 'static,
    ) -> PlainRace<'s, O> {
        let mut functions = ByReference::new(|_| ()).without_renewal();
        functions.add(of_nothing(call));
        PlainRace(self.register(name, functions))
    }

    /// Puts the benchmark into its suite.
    pub(super) fn register<B: deadheat_engine::FunctionBenchmark + 'static>(
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

/// A benchmark whose contenders look at an input.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct Setup<'s, I> {
    benchmark: Benchmark<'s>,
    make: Box<dyn FnMut(u64) -> I>,
}

impl<'s, I: 'static> Setup<'s, I> {
    /// The function that others are compared with.
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

/// A benchmark whose contenders use up their inputs.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct Consuming<'s, I> {
    benchmark: Benchmark<'s>,
    make: Box<dyn FnMut(u64) -> I>,
}

impl<'s, I: 'static> Consuming<'s, I> {
    /// The function that others are compared with.
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

/// A benchmark of async functions.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct AsyncSetup<'s, E, I> {
    benchmark: Benchmark<'s>,
    start: Box<dyn FnMut() -> E>,
    make: Box<dyn FnMut(u64) -> I>,
}

impl<'s, E: AsyncExecutor + 'static, I: 'static> AsyncSetup<'s, E, I> {
    /// Makes the input from a seed, as [`Benchmark::input`] does.
    pub fn input<J: 'static>(self, make: impl FnMut(u64) -> J + 'static) -> AsyncSetup<'s, E, J> {
        AsyncSetup {
            benchmark: self.benchmark,
            start: self.start,
            make: Box::new(make),
        }
    }

    /// The async function that others are compared with.
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

/// A benchmark for several threads that has no input yet.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct Threads<'s> {
    benchmark: Benchmark<'s>,
    threads: u32,
}

impl<'s> Threads<'s> {
    /// Makes from a seed what the threads of a block share.
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

    /// The function that others are compared with; it gets `&()`.
    pub fn baseline<O: Send + 'static>(
        self,
        name: &str,
        call: impl Fn(&()) -> O + Send + Sync + 'static,
    ) -> ThreadRace<'s, (), O> {
        self.input(|_| ()).baseline(name, call)
    }
}

/// A benchmark whose threads share an input.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct ThreadSetup<'s, I> {
    benchmark: Benchmark<'s>,
    threads: u32,
    make: Box<dyn FnMut(u64) -> I>,
}

impl<'s, I: Send + Sync + 'static> ThreadSetup<'s, I> {
    /// The function that others are compared with.
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

/// A benchmark in its suite.
pub struct Race<'s, B> {
    registered: &'s mut Registered,
    functions: Rc<RefCell<B>>,
}

/// A race of functions without input.
pub struct PlainRace<'s, O>(pub(super) Race<'s, ByReference<'static, (), O>>);

/// A race of functions that use up their inputs.
pub type ConsumingRace<'s, I, O> = Race<'s, ByValue<I, O>>;

/// A race of functions that several threads call at once.
pub type ThreadRace<'s, I, O> = Race<'s, Concurrent<I, O>>;

/// A race of async functions.
pub type AsyncRace<'s, E, I, O> = Race<'s, Asynchronous<E, I, O>>;

impl<'s, B> Race<'s, B> {
    fn named(self, name: &str) -> Self {
        self.registered.contenders.push(name.to_owned());
        self
    }
}

impl<B: ComparesOutputs> Race<'_, B> {
    /// Stops the benchmark when a candidate returns something else than the
    /// baseline on one of the inputs that are measured, in whichever thread.
    pub fn check_outputs(self) -> Self
    where
        B::Output: PartialEq,
    {
        self.functions.borrow_mut().check_with(B::Output::eq);
        self
    }
}

impl<O: 'static> PlainRace<'_, O> {
    /// A function that is compared with the baseline.
    pub fn candidate(self, name: &str, call: impl FnMut() -> O + 'static) -> Self {
        self.0.functions.borrow_mut().add(of_nothing(call));
        Self(self.0.named(name))
    }

    /// Stops the benchmark when a candidate returns something else than the
    /// baseline.
    pub fn check_outputs(self) -> Self
    where
        O: PartialEq,
    {
        Self(self.0.check_outputs())
    }
}

impl<I: 'static, O: 'static> Race<'_, ByReference<'static, I, O>> {
    /// A function that is compared with the baseline, on the same inputs.
    pub fn candidate(self, name: &str, call: impl FnMut(&I) -> O + 'static) -> Self {
        self.functions.borrow_mut().add(call);
        self.named(name)
    }
}

impl<I: 'static, O: 'static> ConsumingRace<'_, I, O> {
    /// A function that is compared with the baseline, on inputs alike.
    pub fn candidate(self, name: &str, call: impl FnMut(I) -> O + 'static) -> Self {
        self.functions.borrow_mut().add(call);
        self.named(name)
    }
}

impl<I: Send + Sync + 'static, O: Send + 'static> ThreadRace<'_, I, O> {
    /// A function that is compared with the baseline, under the same
    /// contention.
    pub fn candidate(self, name: &str, call: impl Fn(&I) -> O + Send + Sync + 'static) -> Self {
        self.functions.borrow_mut().add(call);
        self.named(name)
    }
}

impl<E: AsyncExecutor + 'static, I: 'static, O: 'static> AsyncRace<'_, E, I, O> {
    /// An async function that is compared with the baseline, on the same
    /// inputs.
    pub fn candidate(self, name: &str, call: impl AsyncFnMut(&I) -> O + 'static) -> Self {
        self.functions.borrow_mut().add(call);
        self.named(name)
    }
}
