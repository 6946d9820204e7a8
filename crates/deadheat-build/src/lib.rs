//! Builds git revisions for a race, and stores the builds.
//!
//! Each commit is built in its own git worktree, and the user's working tree in place. Unless the
//! user asks otherwise, both sides get the same arguments and the same compiler. Builds of commits
//! are stored, and a later race reuses them without a checkout or a build.
//!
//! On systems other than Linux, only the queries of git exist.
//!
//! ```text
//! BASE[..HEAD] ─git─▶ commits ─key─▶ stored? ─no─▶ worktree ─▶ build ─▶ store
//!                                      └─yes─────────────────────────▶ executables
//! ```

#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        reason = "only builds use all of git, of errors and of the disk"
    )
)]

#[cfg(target_os = "linux")]
mod artifacts;
#[cfg(target_os = "linux")]
mod benches;
mod branch;
#[cfg(target_os = "linux")]
mod changed_suite;
#[cfg(target_os = "linux")]
mod cmake;
#[cfg(target_os = "linux")]
mod commit_builder;
mod commits;
#[cfg(target_os = "linux")]
mod criterion_library;
mod disk;
#[cfg(target_os = "linux")]
mod equal_builds;
mod error;
mod git;
#[cfg(target_os = "linux")]
mod go;
#[cfg(target_os = "linux")]
mod google_benchmark_library;
#[cfg(target_os = "linux")]
mod key;
mod library;
#[cfg(target_os = "linux")]
mod lock_files;
#[cfg(target_os = "linux")]
mod manifest;
mod missing_project;
#[cfg(target_os = "linux")]
mod node;
#[cfg(target_os = "linux")]
mod packages;
#[cfg(target_os = "linux")]
mod python;
#[cfg(target_os = "linux")]
mod python_environment;
#[cfg(target_os = "linux")]
mod recipe;
#[cfg(target_os = "linux")]
mod replacement;
mod repository;
#[cfg(target_os = "linux")]
mod shared_suite;
#[cfg(target_os = "linux")]
mod sides;
#[cfg(target_os = "linux")]
mod slot;
#[cfg(target_os = "linux")]
mod storage;
mod subprocess;
#[cfg(target_os = "linux")]
mod suite_data;
#[cfg(target_os = "linux")]
mod tally;
#[cfg(target_os = "linux")]
mod target;
#[cfg(target_os = "linux")]
mod test_suite;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod unequal_builds;
#[cfg(target_os = "linux")]
mod way;

#[cfg(target_os = "linux")]
pub use benches::BenchesFrom;
pub use branch::Branch;
#[cfg(target_os = "linux")]
pub use changed_suite::{ChangedFile, changed_suite, mentions};
#[cfg(target_os = "linux")]
pub use cmake::CmakeBuild;
#[cfg(target_os = "linux")]
pub use commit_builder::{CommitBuilder, is_clean};
pub use commits::{
    CommitChanges, CommitInfo, CommitRange, Line, Parents, commit_named, known_commits,
};
pub use disk::top_of;
#[cfg(target_os = "linux")]
pub use equal_builds::{EqualBuilds, OneSide};
pub use error::{BuildError, CargoError, CloneFacts, Fault, Note};
#[cfg(target_os = "linux")]
pub use go::GoBuild;
pub use library::{Library, LibraryChoice};
pub use missing_project::MissingProject;
#[cfg(target_os = "linux")]
pub use node::{NodeBuild, NodeSuite, is_tracked_package};
#[cfg(target_os = "linux")]
pub use packages::{Packages, differing_packages};
#[cfg(target_os = "linux")]
pub use python::{PytestBuild, PythonPackage};
#[cfg(target_os = "linux")]
pub use python_environment::PythonEnvironment;
#[cfg(target_os = "linux")]
pub use recipe::{CargoBuild, CommandBuild, Racing, Recipe, WRAPPED, stand_in};
pub use repository::{Revisions, RevisionsError};
#[cfg(target_os = "linux")]
pub use shared_suite::BorrowedSuite;
#[cfg(target_os = "linux")]
pub use sides::{Request, Side, Sides, build};
#[cfg(target_os = "linux")]
pub use slot::Executable;
#[cfg(target_os = "linux")]
pub use storage::{
    Kind, StorageError, Stored, freed_by, homes_of_builds, remove as remove_stored, stored_below,
};
pub use subprocess::{Interruption, Variables};
#[cfg(target_os = "linux")]
pub use suite_data::concerned_tests;
#[cfg(target_os = "linux")]
pub use tally::bytes_below;
#[cfg(target_os = "linux")]
pub use target::target_dir;

pub use deadheat_link::{TrackedError, refuse_tracked, refuse_tracked_journals, tracked_files};
