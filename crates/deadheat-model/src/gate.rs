//! What a gate says of a comparison: the rule it breaks, and what excuses it.

/// A rule of `--fail-on` or of `deadheat.toml` that a comparison breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateHit {
    /// The rule by its name: `slower`.
    pub rule: String,
    /// Why it does not fail the run all the same; `None` when it does.
    pub excuse: Option<Excuse>,
}

/// Why a broken rule does not count for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// What somebody wrote down for whoever asks.
    pub reason: String,
    /// The last day it holds, as `2026-12-31`; `None` when it has no end.
    pub until: Option<String>,
}

/// What the gates say beside the comparisons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Rules that some benchmark must not break, by name; empty where nobody
    /// set one.
    pub asked: Vec<String>,
    /// The rules file that was read.
    pub config: Option<String>,
    /// Entries of its ignore list that excuse nothing, in the order of the
    /// file.
    pub idle: Vec<IdleIgnore>,
}

/// An entry of an ignore list that excuses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleIgnore {
    /// Which benchmarks it is about, as written.
    pub name: String,
    /// The only rule it is about, by its name; all when `None`.
    pub rule: Option<String>,
    /// The line of the rules file that it begins at, counted from 1.
    pub line: u64,
    /// Why it excuses nothing.
    pub why: Idle,
}

/// Why an entry of an ignore list excuses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idle {
    /// No benchmark that was judged has such a name.
    NoBenchmark,
    /// Those that have break no rule that it is about.
    NothingBroken,
    /// Its last day, as `2026-12-31`, is over. What it was about counts again.
    Expired {
        /// That day.
        until: String,
        /// Whether a rule it is about is broken.
        broken: bool,
    },
}
