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
