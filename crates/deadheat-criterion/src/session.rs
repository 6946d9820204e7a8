//! The way of this process through its benchmark functions. criterion's run as soon as they are
//! named, with what they borrow, so a process runs them all with one thing in mind: to list their
//! names, or to serve the one that a coordinator wants at the moment it is come to.

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
    /// Nobody has asked yet.
    Unknown,
    /// It lists, for a coordinator or for the harness of this process.
    Listing(Option<ListRequest>),
    /// It serves one benchmark, and has not come to it yet.
    Serving(WantedBenchmark),
    /// There is nothing left to do but to leave.
    Over,
}

struct Session {
    role: Role,
    /// The names that were come to.
    names: BTreeSet<String>,
    listed: Vec<Listed>,
    without_meaning: BTreeSet<&'static str>,
    /// True under `criterion_main!`, which knows where the benchmarks end.
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
    /// Dropped with the main thread, where benchmarks begin.
    static MAIN: Unended = const { Unended };
}

/// A `main` of the user's own, which may come to its end too early.
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
    // Nothing of the user's runs while it is held.
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Finds out what this process is for, unless that is known.
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

/// The end of a worker that has served: what it unwinds with, past whatever else would be set up.
struct Leaving;

/// Comes to a benchmark. Returns true if it is to be served now.
///
/// Unwinds where nothing is left to do: what was set up is dropped, as a folder for files must be,
/// and what would be set up for benchmarks to come is not. A suite of 178 benchmarks that makes the
/// automata of all of them outside of its closures takes a third of a second for that.
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

/// Remembers that the source sets something that means nothing here.
pub(crate) fn without_meaning(name: &'static str) {
    session().without_meaning.insert(name);
}

/// Serves the wanted benchmark. Whoever iterates twice is not listened to again.
pub(crate) fn serve(benchmark: &mut dyn FunctionBenchmark) {
    if let Some(wanted) = wanted() {
        wanted.serve(benchmark, None);
    }
}

/// The benchmark that is wanted, unless it was served: nobody else gets it.
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

/// Returns true if the wanted benchmark was come to and never iterated.
pub(crate) fn is_unserved() -> bool {
    matches!(session().role, Role::Serving(_))
}

/// Returns true if all that is left to do is to leave.
#[doc(hidden)]
pub fn is_over() -> bool {
    matches!(session().role, Role::Over)
}

/// The end of a `main` of the user's own.
pub(crate) fn end_of_main() {
    if session().ends_itself {
        return;
    }
    if end()
        && let Some(wanted) = wanted()
    {
        // Its benchmarks lie behind.
        wanted.refuse();
    }
}

/// Does what is to be done when all benchmarks were come to. Returns true if a coordinator wants
/// one of those that were listed.
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

/// The `main` of `criterion_main!`.
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
