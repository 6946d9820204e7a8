//! What a project asks of its benchmarks: the rules of `deadheat.toml` and of
//! the command line, and the gate that holds answers against them.

mod gate;
mod own;
mod precedence;

pub use gate::Gate;
#[cfg(feature = "commands")]
pub(crate) use own::recorded_rules;
pub(crate) use own::{benchmark_overrides, hold_together};
#[cfg(feature = "commands")]
pub use precedence::Terms;
pub use precedence::{CliOverrides, Rules, RulesSource};
