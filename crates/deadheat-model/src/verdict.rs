//! The four things deadheat can say.

/// The answer to "is the candidate faster?".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The candidate needs less.
    Faster,
    /// The candidate needs more.
    Slower,
    /// The change is smaller than the margin: a dead heat.
    Equivalent,
    /// Too close to call.
    Inconclusive,
}

impl Verdict {
    /// The name used in JSON and by `--fail-on`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}

/// What a verdict speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The binaries as they were linked.
    Binary,
    /// The source: placement was drawn anew for every replicate.
    Source,
}

impl Scope {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Binary => "binary",
            Scope::Source => "source",
        }
    }
}
