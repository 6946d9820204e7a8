//! A benchmark that has its baseline: candidates are added.

use std::cell::RefCell;
use std::rc::Rc;

use deadheat_engine::{
    AsyncExecutor, Asynchronous, ByReference, ByValue, ComparesOutputs, Concurrent,
};

use super::benchmark::of_nothing;
use super::registry::Registered;

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
    pub(super) fn new(registered: &'s mut Registered, functions: Rc<RefCell<B>>) -> Self {
        Self {
            registered,
            functions,
        }
    }

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
