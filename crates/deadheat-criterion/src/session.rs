//! The state of this process while its benchmark functions run. With criterion's API, registering a
//! benchmark also runs it, because its closure may borrow local data. So this process runs all
//! benchmark functions for one purpose: to list the benchmarks, or to find the benchmark that a
//! coordinator requests and to serve it as soon as it is registered.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use deadheat::parts::engine::{
    FirstRequest, FunctionBenchmark, ListRequest, ListedBenchmark, WantedBenchmark, WorkerPipes,
};
use deadheat::parts::terminal::to_stderr;

use crate::command_line;
use crate::planned::{Listed, unique};

/// The purpose of this process.
#[derive(Debug)]
enum Role {
    /// The purpose is not known yet.
    Unknown,
    /// Lists the benchmarks, for a coordinator or for the harness of this process.
    Listing(Option<ListRequest>),
    /// Serves one benchmark, which has not been registered yet.
    Serving(WantedBenchmark),
    /// Has no more work and only has to exit.
    Over,
}

struct Session {
    role: Role,
    names: BTreeSet<String>,
    listed: Vec<Listed>,
    without_meaning: BTreeSet<&'static str>,
    /// True if `criterion_main!` provides `main` and so starts the race. Otherwise, the user's own
    /// `main` starts it, by calling `final_summary` at its end.
    ends_itself: bool,
}

static SESSION: Mutex<Session> = Mutex::new(Session {
    role: Role::Unknown,
    names: BTreeSet::new(),
    listed: Vec::new(),
    without_meaning: BTreeSet::new(),
    ends_itself: false,
});

thread_local! {
    /// A value that is dropped at the end of the main thread, in which the benchmark functions run.
    static MAIN: Unended = const { Unended };
}

/// A value whose drop warns if the user's own `main` ends without starting the race.
struct Unended;

impl Drop for Unended {
    fn drop(&mut self) {
        let session = session();
        if matches!(session.role, Role::Listing(_)) && !session.ends_itself {
            to_stderr(
                "deadheat",
                "no race ran: a main function without criterion_main! must end with \
                 Criterion::default().final_summary()",
            );
        }
    }
}

fn session() -> MutexGuard<'static, Session> {
    // No code of the user runs while the lock is held.
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Determines the purpose of this process at the first call; later calls have no effect.
pub(crate) fn begin() {
    let mut session = session();
    if let Role::Unknown = session.role {
        session.role = match WorkerPipes::inherited() {
            None => Role::Listing(None),
            Some(pipes) => Role::of(pipes.greet()),
        };
        MAIN.with(|_| ());
    }
}

impl Role {
    fn of(asked: Option<FirstRequest>) -> Self {
        match asked {
            None => Role::Over,
            Some(FirstRequest::List(request)) => Role::Listing(Some(request)),
            Some(FirstRequest::Benchmark(wanted)) => Role::Serving(wanted),
        }
    }
}

/// The panic payload with which a worker unwinds after serving its benchmark, to skip the remaining
/// set-up code of the user.
struct Leaving;

/// Registers a benchmark. Returns true if this process must serve its samples now.
///
/// If this process only has to exit, the function unwinds. Unwinding drops the user's values, such
/// as a temporary folder, and skips the set-up of the remaining benchmarks. In a suite of 178
/// benchmarks that builds all its automata outside the closures, this set-up takes a third of a
/// second.
pub(crate) fn come_to(mut listed: Listed) -> bool {
    let mut session = session();
    if matches!(session.role, Role::Over) && !cfg!(panic = "abort") {
        drop(session);
        resume_unwind(Box::new(Leaving));
    }
    listed.name = unique(&session.names, listed.name);
    session.names.insert(listed.name.clone());
    match &session.role {
        Role::Listing(_) => {
            session.listed.push(listed);
            false
        }
        Role::Serving(wanted) => wanted.name() == listed.name,
        Role::Unknown | Role::Over => false,
    }
}

pub(crate) fn without_meaning(name: &'static str) {
    session().without_meaning.insert(name);
}

/// Serves the samples of the requested benchmark to the coordinator. If the benchmark function
/// calls a second timing loop, that loop has no effect.
pub(crate) fn serve(benchmark: &mut dyn FunctionBenchmark) {
    if let Some(wanted) = wanted() {
        wanted.serve(benchmark, None);
    }
}

/// Takes the requested benchmark out of the session; `None` if there is none, or if it was served
/// already.
fn wanted() -> Option<WantedBenchmark> {
    let mut session = session();
    match std::mem::replace(&mut session.role, Role::Over) {
        Role::Serving(wanted) => Some(wanted),
        other => {
            session.role = other;
            None
        }
    }
}

/// Returns true if a coordinator requested a benchmark that has not been served yet.
pub(crate) fn is_unserved() -> bool {
    matches!(session().role, Role::Serving(_))
}

/// Returns true if this process only has to exit.
#[doc(hidden)]
pub fn is_over() -> bool {
    matches!(session().role, Role::Over)
}

/// Starts the race or answers the coordinator at the end of the user's own `main`; has no effect
/// under `criterion_main!`.
pub(crate) fn end_of_main() {
    if session().ends_itself {
        return;
    }
    if end()
        && let Some(wanted) = wanted()
    {
        // The benchmark functions have run already, and cannot run again in this process.
        wanted.refuse();
    }
}

/// Finishes a run of all benchmark functions: answers the coordinator, or runs the harness and
/// exits. Returns true if a coordinator then requests one of the listed benchmarks.
fn end() -> bool {
    let mut session = session();
    let role = std::mem::replace(&mut session.role, Role::Over);
    let listed = std::mem::take(&mut session.listed);
    session.names.clear();
    match role {
        Role::Unknown | Role::Over => false,
        Role::Serving(wanted) => {
            wanted.refuse();
            false
        }
        Role::Listing(Some(request)) => {
            let listed = listed.into_iter().map(ListedBenchmark::from).collect();
            session.role = Role::of(request.answer(listed));
            matches!(session.role, Role::Serving(_))
        }
        Role::Listing(None) => {
            let without_meaning = std::mem::take(&mut session.without_meaning);
            drop(session);
            let code = command_line::run(&listed, without_meaning);
            std::process::exit(i32::from(code))
        }
    }
}

/// Implements the `main` of `criterion_main!`.
#[doc(hidden)]
pub fn run(groups: &[&dyn Fn()]) {
    session().ends_itself = true;
    begin();
    loop {
        let ran = catch_unwind(AssertUnwindSafe(|| {
            groups
                .iter()
                .take_while(|_| !is_over())
                .for_each(|group| group());
        }));
        if let Err(panic) = ran {
            if panic.is::<Leaving>() {
                return;
            }
            match wanted() {
                Some(wanted) => return wanted.panicked(panic),
                None => resume_unwind(panic),
            }
        }
        if !end() {
            return;
        }
    }
}
