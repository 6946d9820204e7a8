//! Builds git revisions for a race, and stores the builds.
//!
//! Each commit is built in its own git worktree, and the user's working tree in place. Unless the
//! user asks otherwise, both sides get the same arguments and the same compiler. Builds of commits
//! are stored, and a later race reuses them without a checkout or a build.
//!
//! ```text
//! BASE[..HEAD] ─git─▶ commits ─key─▶ stored? ─no─▶ worktree ─▶ build ─▶ store
//!                                      └─yes─────────────────────────▶ executables
//! ```

mod artifacts;
mod benches;
mod branch;
mod changed_suite;
mod cmake;
mod commit_builder;
mod commits;
mod criterion_library;
mod disk;
mod equal_builds;
mod error;
mod git;
mod go;
mod google_benchmark_library;
mod key;
mod library;
mod lock_files;
mod manifest;
mod missing_project;
mod node;
mod packages;
mod python;
mod python_environment;
mod recipe;
mod replacement;
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
mod unequal_builds;
mod way;

pub use benches::BenchesFrom;
pub use branch::Branch;
pub use changed_suite::{ChangedFile, changed_suite, mentions};
pub use cmake::CmakeBuild;
pub use commit_builder::CommitBuilder;
pub use commits::{
    CommitChanges, CommitInfo, CommitRange, Line, Parents, commit_named, known_commits,
};
pub use disk::{bytes_below, top_of};
pub use equal_builds::{EqualBuilds, OneSide};
pub use error::{BuildError, CargoError, Fault, Note};
pub use go::GoBuild;
pub use library::{Library, LibraryChoice};
pub use missing_project::MissingProject;
pub use node::{NodeBuild, NodeSuite, is_tracked_package};
pub use packages::{Packages, differing_packages};
pub use python::{PytestBuild, PythonPackage};
pub use python_environment::PythonEnvironment;
pub use recipe::{CargoBuild, CommandBuild, Recipe, WRAPPED, stand_in};
pub use repository::{Revisions, RevisionsError};
pub use shared_suite::BorrowedSuite;
pub use sides::{Request, Side, Sides, build};
pub use slot::Executable;
pub use storage::{
    Kind, StorageError, Stored, freed_by, homes_of_builds, remove as remove_stored, stored_below,
};
pub use subprocess::{Interruption, Variables};
pub use suite_data::concerned_tests;
pub use target::target_dir;

pub use deadheat_link::{TrackedError, refuse_tracked, refuse_tracked_journals, tracked_files};
