//! Levels, steps and creep of commits from the races between them.
//!
//! Commits are nodes, races are edges. A race of commit i (baseline) against commit j (candidate)
//! gives the effect d = ln(t_j/t_i) with its standard error; both sides ran on one host at one time,
//! so a new machine puts no step into the history. The level of every commit is the weighted
//! least-squares solution on the graph, as surveyors level heights. Nothing here reads a clock, a
//! file or a process.
//!
//! | question | file |
//! | --- | --- |
//! | what is a race to a graph? | [`graph`] |
//! | how fast is each commit, and how sure is a difference of two? | [`levels`] |
//! | do the loops of the graph close, and which host claims too much precision? | [`misclosure`](mod@misclosure) |
//! | at which commits is there a step, where is there creep, and between which commits is nothing to be seen? | [`changes`](mod@changes) |
//! | which commits should be raced? | [`plan`] |
//!
//! ```
//! use deadheat_history::{Edge, Levels};
//!
//! let race = |from, to, effect| Edge { from, to, effect, se: 0.002, df: 21.0, host: 0, run: None };
//! // The third commit is slower by 3 % than the first, by way of the second and directly.
//! let races = [race(0, 1, 0.001), race(1, 2, 0.029), race(0, 2, 0.031)];
//! let levels = Levels::solve(3, &races, 0)?;
//! let slower = levels.difference(0, 2).expect("races connect the two");
//! assert!((slower.effect - 0.0307).abs() < 1e-4);
//! assert!(slower.se < 0.002);
//! # Ok::<(), deadheat_history::GraphError>(())
//! ```

pub mod changes;
pub mod graph;
pub mod levels;
pub mod misclosure;
pub mod plan;

pub use changes::{Change, Changes, Plateau, changes, plateaus};
pub use graph::{Edge, GraphError};
pub use levels::{Difference, Levels};
pub use misclosure::{HostMisfit, Misclosure, Misfit, Settled, misclosure, settle};
pub use plan::{error_at_end, plan_links};
