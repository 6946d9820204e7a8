//! Builds of git revisions, side by side, and what is kept of them.
//!
//! A commit is built in a worktree of its own, with the same arguments and by
//! the same compiler as the user's working tree, which is built where it is.
//! What came of a commit is kept, and found again without git or cargo.
//!
//! ```text
//! BASE[..HEAD] ─git─▶ commits ─key─▶ kept? ─no─▶ worktree ─▶ build ─▶ kept
//!                                      └─yes──────────────────────────▶ executables
//! ```

mod cargo;
mod child;
mod command;
mod elsewhere;
mod error;
mod home;
mod index;
mod key;
mod messages;
mod note;
mod recipe;
mod repository;
mod revisions;
mod seed;
mod sides;
mod slot;
mod storage;
mod submodules;
mod tree;

pub use cargo::{CargoBuild, CargoError, WRAPPED, stand_in, target_dir};
pub use child::Interruption;
pub use command::CommandBuild;
pub use error::{BuildError, Fault};
pub use note::Note;
pub use recipe::Recipe;
pub use revisions::{Revisions, RevisionsError};
pub use sides::{Executable, Request, Side, Sides, build};
pub use storage::{
    Kind, StorageError, Stored, bytes_below, freed_by, remove as remove_stored, stored_below,
    top_of,
};
