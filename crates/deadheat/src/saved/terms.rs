//! What saved results are judged by, and what can be wrong with that.

use deadheat_model::{PlanError, RulesOfSome};

/// What saved results, which carry no plan, are judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Smallest relative change worth acting on; 0.01 is 1 %.
    pub margin: f64,
    /// Chance of any wrong verdict that the user accepts.
    pub alpha: f64,
    /// The metric the verdict speaks of, by name; without one the first of
    /// each benchmark.
    pub metric: Option<String>,
    /// Rules of some benchmarks; the last that fits wins, key by key.
    pub rules: Vec<RulesOfSome>,
}

impl Terms {
    /// The metric that a benchmark is judged by, where anybody says.
    pub(super) fn metric_of(&self, benchmark: &str) -> Option<String> {
        let own = RulesOfSome::of(&self.rules, benchmark).metric;
        own.map(|metric| metric.name().to_owned())
            .or_else(|| self.metric.clone())
    }
}

/// Files that cannot be compared.
#[derive(Clone, Debug, PartialEq)]
pub enum SavedError {
    /// No benchmark of the baseline has the metric asked for.
    NotMeasured {
        /// The metric asked for.
        metric: String,
        /// Those that are there.
        known: String,
    },
    /// The margin or the level cannot be.
    Plan(PlanError),
}

impl std::fmt::Display for SavedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotMeasured { metric, known } => {
                write!(f, "--metric {metric}: the files record only {known}")
            }
            Self::Plan(inner) => inner.fmt(f),
        }
    }
}

impl std::error::Error for SavedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Plan(inner) => inner.source(),
            _ => None,
        }
    }
}

impl From<PlanError> for SavedError {
    fn from(inner: PlanError) -> Self {
        Self::Plan(inner)
    }
}
