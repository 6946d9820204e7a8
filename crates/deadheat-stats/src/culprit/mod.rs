//! The commit that changed the time, found by races between commits: the posterior over culprits,
//! the next race, and when enough is known.
//!
//! Commits are numbered from 0 for GOOD to n for BAD, so that any of 1 to n may be the culprit. A
//! [`CulpritSearch`] takes races between any two of them, in any order. Its [`Posterior`] has the
//! answer once that is known with probability 1 − α; until then the search names the [`NextRace`],
//! which may stop as soon as it [is decided](CulpritSearch::is_decided).
//!
//! | question | file |
//! | --- | --- |
//! | how likely is each commit, given the races? | `model` |
//! | what may be said? | `posterior` |
//! | which race next, and how long? | `search` |

mod model;
mod posterior;
mod search;

pub use model::{CommitRace, StepSize};
pub use posterior::{Answer, CommitGroup, Posterior};
pub use search::{CulpritError, CulpritSearch, NextRace};
