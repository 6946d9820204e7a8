//! What a benchmark is before it has contenders: its name, its input, how it
//! is called.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

use deadheat_engine::{AsyncExecutor, Asynchronous, ByReference, ByValue};
use deadheat_model::Throughput;

use super::concurrent::Threads;
use super::race::{AsyncRace, ConsumingRace, PlainRace, Race};
use super::registry::{Registered, Shared, Suite};

/// The function as one of an input that holds nothing. In one place: wrapped
/// in two closures, one function raced against itself would be compiled into
/// two loops, which the linker puts into two places.
pub(super) fn of_nothing<O>(mut call: impl FnMut() -> O) -> impl FnMut(&()) -> O {
    move |()| call()
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
    pub(super) fn new(suite: &'s mut Suite, name: String) -> Self {
        Self {
            suite,
            name,
            parameters: Vec::new(),
            throughput: None,
            ignored: false,
        }
    }

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
        Threads::new(self, threads)
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
        Race::new(registered, functions)
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
