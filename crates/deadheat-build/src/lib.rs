//! Builds of git revisions, side by side, and what is kept of them.
//!
//! A commit is built in a worktree of its own, with the same arguments and by the same compiler as
//! the user's working tree, which is built where it is. The result of a commit is kept, and found
//! again without git or cargo.
//!
//! ```text
//! BASE[..HEAD] ─git─▶ commits ─key─▶ kept? ─no─▶ worktree ─▶ build ─▶ kept
//!                                      └─yes──────────────────────────▶ executables
//! ```

mod artifacts;
mod benches;
mod changed_suite;
mod commit_builder;
mod commits;
mod disk;
mod error;
mod go;
mod key;
mod manifest;
mod python;
mod python_environment;
mod recipe;
mod repository;
mod shared_suite;
mod sides;
mod slot;
mod storage;
mod subprocess;
mod suite_data;
mod target;
mod test_suite;
mod tree;

pub use benches::BenchesFrom;
pub use changed_suite::{ChangedFile, changed_suite, mentions};
pub use commit_builder::CommitBuilder;
pub use commits::{
    CommitChanges, CommitInfo, CommitRange, Line, Parents, commit_named, known_commits,
};
pub use disk::bytes_below;
pub use error::{BuildError, CargoError, Fault, Note};
pub use go::GoBuild;
pub use python::{PytestBuild, PythonPackage};
pub use python_environment::PythonEnvironment;
pub use recipe::{CargoBuild, CommandBuild, Recipe, WRAPPED, stand_in};
pub use repository::{Branch, Revisions, RevisionsError};
pub use shared_suite::BorrowedSuite;
pub use sides::{Request, Side, Sides, build};
pub use slot::Executable;
pub use storage::{
    Kind, StorageError, Stored, freed_by, remove as remove_stored, stored_below, top_of,
};
pub use subprocess::{Interruption, Variables};
pub use suite_data::concerned_tests;
pub use target::target_dir;
