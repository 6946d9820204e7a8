//! What can go wrong between a revision and its executables.

use std::io;
use std::path::{Path, PathBuf};

use deadheat_link::RolesError;

use crate::cargo::CargoError;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What was asked for makes no sense.
    Request,
    /// A side cannot be built.
    Side,
    /// deadheat, or the machine under it.
    Internal,
    /// Somebody asked to stop.
    Interruption,
}

/// Why there are no two builds.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The folder is in no working tree of git.
    #[error("{}: revisions can only be raced inside a git working tree ({said})", directory.display())]
    NoRepository {
        /// Where the user stands.
        directory: PathBuf,
        /// Git's words.
        said: String,
    },
    /// Git knows no such commit.
    #[error("'{revision}' is no commit of this repository; git says: {said}")]
    UnknownRevision {
        /// As the user wrote it.
        revision: String,
        /// Git's words.
        said: String,
    },
    /// The commit lacks the folder the user stands in.
    #[error("{revision} has no folder `{}`; go to one that both sides have", folder.display())]
    NoFolder {
        /// The side.
        revision: String,
        /// Below the top of the repository.
        folder: PathBuf,
    },
    /// A submodule is initialised, but lacks the commit.
    #[error("{revision} needs commit {commit} of the submodule `{}`, which is not here; get it with `git -C {} fetch`", path.display(), path.display())]
    Submodule {
        /// The side.
        revision: String,
        /// Below the top of the repository.
        path: PathBuf,
        /// The commit it needs.
        commit: String,
    },
    /// `--exe` leads out of the tree, so both sides would share it.
    #[error("--exe {}: name it by its path below the folder of the build, so that either side has one of its own", path.display())]
    ExeOutside {
        /// As the user wrote it.
        path: PathBuf,
    },
    /// `--build` without `--exe`.
    #[error("--build '{command}' needs at least one --exe PATH, an executable that it makes")]
    NoExe {
        /// The command.
        command: String,
    },
    /// The build did not succeed; its output was shown as it came.
    #[error("{revision} does not build: {command} ended with {end}; what it said is above")]
    Failed {
        /// The side.
        revision: String,
        /// What was called.
        command: String,
        /// How it ended.
        end: String,
    },
    /// The build succeeded, but made no such executable.
    #[error("{revision}: the build succeeded, but {} {problem}", path.display())]
    NoExecutable {
        /// The side.
        revision: String,
        /// Where it should be.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// `cargo bench` has nothing to run.
    #[error(
        "{revision}: `cargo bench` builds no bench target here; name a package with -p, or add a [[bench]]"
    )]
    NoBench {
        /// The side.
        revision: String,
    },
    /// Git would not do something it should.
    #[error("{revision}: `git {command}` failed: {said}")]
    Git {
        /// The side, or what else it was about.
        revision: String,
        /// The subcommand.
        command: String,
        /// Git's words.
        said: String,
    },
    /// Cargo could not be prepared.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// Compiler and linker cannot be stood in for.
    #[error(transparent)]
    Roles(#[from] RolesError),
    /// A program could not be started.
    #[error("{program}: {problem}")]
    NotStarted {
        /// The program.
        program: String,
        /// Why.
        problem: io::Error,
    },
    /// A file of ours cannot be read or written.
    #[error("{}: {problem}; builds of revisions are kept there", path.display())]
    Kept {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: io::Error,
    },
    /// Somebody asked to stop.
    #[error("interrupted while building; nothing was raced")]
    Interrupted,
}

impl BuildError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoRepository { .. }
            | Self::UnknownRevision { .. }
            | Self::NoFolder { .. }
            | Self::Submodule { .. }
            | Self::ExeOutside { .. }
            | Self::NoExe { .. }
            | Self::NoBench { .. } => Fault::Request,
            Self::Failed { .. } | Self::NoExecutable { .. } => Fault::Side,
            Self::Cargo(error) if error.is_of_the_request() => Fault::Request,
            Self::Interrupted => Fault::Interruption,
            _ => Fault::Internal,
        }
    }

    /// Names the file in an error of the system.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |problem| Self::Kept {
            path: path.to_owned(),
            problem,
        }
    }
}
