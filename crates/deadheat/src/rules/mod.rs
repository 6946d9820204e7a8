//! The demands of a project on its benchmarks: the rules of `deadheat.toml` and of the command
//! line, and the gate that holds answers against them.

mod gate;
mod precedence;

pub use gate::Gate;
#[cfg(feature = "commands")]
pub use precedence::Terms;
#[cfg(feature = "commands")]
pub(crate) use precedence::recorded_rules;
pub use precedence::{CliOverrides, Rules, RulesSource};
pub(crate) use precedence::{benchmark_overrides, blocks_of_quantile, hold_together};
