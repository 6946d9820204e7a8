//! The history of commits on disk: the index made of run files, and the steps that were accepted.

mod accepted;
mod index;
mod query;
mod stored_run;

pub use accepted::{ACCEPTED_FILE, Accepted, read_accepted, write_accepted};
pub use index::{Added, HistoryIndex, INDEX_FILE, INDEX_VERSION, find_index};
pub use query::{IndexCounts, IndexedCommit, IndexedRace, IndexedSeries};
pub use stored_run::{StoredRun, files_of_runs, gzipped, is_run_name};
