//! `deadheat history`: levels, steps and creep of commits, from the races between them.
//!
//! Commits are nodes, races are edges. A race of commit i (baseline) against commit j (candidate)
//! gives the effect d = ln(t_j/t_i) with its standard error. Both sides run on one host at the same
//! time, so a new machine adds no step to the history. The levels of all commits are the weighted
//! least-squares solution on the graph, as in the levelling of heights in surveying.
//!
//! The subcommand is [`HistoryArgs`] with [`history`]; `deadheat rev` adds runs with [`KeepArgs`]
//! and [`keep_in_history`]. This crate contains all of it, and the name of a file shows what the
//! file may do:
//!
//! | file | content | may |
//! | --- | --- | --- |
//! | `timeline` | runs, timelines and the history made of them | |
//! | [`graph`] | races as edges of a graph | |
//! | [`levels`] | how fast each commit is, and how precise the difference of two is | |
//! | [`misclosure`](mod@misclosure) | whether the loops of the graph close, and which host's errors are too small | |
//! | [`changes`](mod@changes) | steps, creep and plateaus | |
//! | [`plan`], `links` | the pairs of commits to race | |
//! | `row` | the row of a run in the index | |
//! | `files_store`, `accepted_store` | run files with their hashes; the accepted steps | read and write files |
//! | `connection_store`, `index_store`, `query_store` | the index of runs, a SQLite database | read and write files |
//! | `window`, `judge` | the selected commits, and their history | query the index |
//! | `words`, `page`, `html`, `json` | the history for people and programs | |
//! | `command` | the arguments | use clap |
//! | `run`, `run_add`, `run_accept`, `run_show`, `run_extend` | the subcommands | build, race, read clocks, print |
//! | `run_index`, `run_repository` | the addition of runs to the index; the commits of git | ask git, print |
//!
//! ```
//! use deadheat_history::{Edge, Levels};
//!
//! let race = |from, to, effect| Edge { from, to, effect, se: 0.002, df: 21.0, host: 0, run: None };
//! // The third commit is slower by 3% than the first, by way of the second and directly.
//! let races = [race(0, 1, 0.001), race(1, 2, 0.029), race(0, 2, 0.031)];
//! let levels = Levels::solve(3, &races, 0)?;
//! let slower = levels.difference(0, 2).expect("races connect the two");
//! assert!((slower.effect - 0.0307).abs() < 1e-4);
//! assert!(slower.se < 0.002);
//! # Ok::<(), deadheat_history::GraphError>(())
//! ```

mod accepted_store;
pub mod changes;
mod command;
mod connection_store;
mod files_store;
pub mod graph;
mod html;
mod index_store;
mod json;
mod judge;
pub mod levels;
#[cfg(target_os = "linux")]
mod links;
pub mod misclosure;
mod page;
pub mod plan;
mod query_store;
mod row;
mod run;
mod run_accept;
mod run_add;
#[cfg(target_os = "linux")]
mod run_extend;
mod run_index;
mod run_repository;
mod run_show;
mod timeline;
mod window;
mod words;

pub use changes::{Change, Changes, Plateau, changes, plateaus};
pub use command::{EXAMPLES, HistoryArgs, IndexArgs, KeepArgs};
pub use graph::{Edge, GraphError};
pub use html::{HistoryLinks, to_history_page};
pub use index_store::{Added, HistoryIndex, INDEX_FILE};
pub use json::to_history_json;
pub use levels::{Difference, Levels};
pub use misclosure::{HostMisfit, Misclosure, Misfit, Settled, misclosure, settle};
pub use page::{HistoryTextOptions, to_history_markdown, to_history_text};
pub use plan::{error_at_end, plan_links};
pub use run::history;
pub use run_index::keep_in_history;
pub use timeline::*;
