//! A benchmark that several threads run at the same time.

use deadheat_engine::Concurrent;

use super::benchmark::Benchmark;
use super::race::ThreadRace;

/// A benchmark for several threads that has no input yet.
#[must_use = "a benchmark belongs to its suite as soon as it has a baseline"]
pub struct Threads<'s> {
    benchmark: Benchmark<'s>,
    threads: u32,
}

impl<'s> Threads<'s> {
    pub(super) fn new(benchmark: Benchmark<'s>, threads: u32) -> Self {
        Self { benchmark, threads }
    }

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
