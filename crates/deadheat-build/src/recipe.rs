//! How a side is built, whichever way.

use crate::cargo::CargoBuild;
use crate::command::CommandBuild;

/// How both sides are built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// By `cargo bench --no-run`.
    Cargo(CargoBuild),
    /// By a command of the user's.
    Command(CommandBuild),
}
