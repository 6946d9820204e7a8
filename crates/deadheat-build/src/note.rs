//! Notes to the user while revisions are built.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Something the user should know; not an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// A commit is about to be built.
    Building {
        /// The side.
        revision: String,
        /// The commit, abbreviated.
        commit: String,
    },
    /// Another deadheat builds the same.
    Waiting {
        /// The side.
        revision: String,
    },
    /// Submodules with changes of their own.
    DirtySubmodules {
        /// Below the top of the repository.
        paths: Vec<PathBuf>,
        /// True if the working tree is a side of the race.
        raced: bool,
    },
    /// A submodule that the user has not initialised is left out.
    SubmoduleLeftOut {
        /// The side.
        revision: String,
        /// Below the top of the repository.
        path: PathBuf,
    },
    /// The commit has no lock file, so that of the working tree is used.
    BorrowedLock {
        /// The side.
        revision: String,
        /// Below the top of the repository.
        path: PathBuf,
    },
    /// The commit asks for another toolchain than the working tree.
    OtherToolchain {
        /// The side.
        revision: String,
        /// The file that asks, below the top of the repository.
        path: PathBuf,
        /// The compiler of both sides.
        compiler: String,
    },
    /// The side is built with bench targets of the other.
    BenchesPutIn {
        /// The side.
        revision: String,
        /// Names of bench targets.
        benches: Vec<String>,
        /// The side they come from.
        from: String,
    },
    /// A bench target of the other side does not compile with this one.
    BenchLeftOut {
        /// The side.
        revision: String,
        /// The bench target.
        bench: String,
        /// The side it comes from.
        from: String,
        /// The reason.
        problem: String,
    },
    /// Packages that the environments of both sides have in different versions.
    OtherVersions {
        /// Each with its versions.
        packages: Vec<String>,
    },
    /// The record of how an executable was linked is gone.
    LinkedAgain {
        /// The executable.
        executable: PathBuf,
    },
}

impl Note {
    /// The same of a commit that goes by another name now.
    pub(crate) fn of(mut self, name: &str) -> Self {
        if let Self::SubmoduleLeftOut { revision, .. }
        | Self::BorrowedLock { revision, .. }
        | Self::BenchesPutIn { revision, .. }
        | Self::BenchLeftOut { revision, .. } = &mut self
        {
            name.clone_into(revision);
        }
        self
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Building { revision, commit } => write!(f, "building {revision} ({commit})"),
            Self::Waiting { revision } => write!(
                f,
                "waiting for another deadheat, which is building {revision}"
            ),
            Self::DirtySubmodules { paths, raced } => {
                let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
                let names = names.join(", ");
                let part = if *raced {
                    "part of the working tree, and of no commit"
                } else {
                    "part of no commit, and are not raced"
                };
                write!(f, "changes inside submodules ({names}) are {part}")
            }
            Self::SubmoduleLeftOut { revision, path } => write!(
                f,
                "{revision} is built without the submodule {}, which is not initialised here",
                path.display()
            ),
            Self::BorrowedLock { revision, path } => write!(
                f,
                "{revision} has no {} of its own; it is built with that of the working tree",
                path.display()
            ),
            Self::OtherToolchain {
                revision,
                path,
                compiler,
            } => write!(
                f,
                "{revision} asks for another toolchain ({}); both sides are built by {compiler}",
                path.display()
            ),
            Self::BenchesPutIn {
                revision,
                benches,
                from,
            } => write!(
                f,
                "{revision} is built with benches of {from}: {}",
                benches.join(", ")
            ),
            Self::BenchLeftOut {
                revision,
                bench,
                from,
                problem,
            } => write!(
                f,
                "bench target {bench} of {from} is left out: {revision} cannot be built with it ({problem})"
            ),
            Self::OtherVersions { packages } => write!(
                f,
                "the environments of both sides differ in more than what is raced: {}",
                packages.join(", ")
            ),
            Self::LinkedAgain { executable } => write!(
                f,
                "the record of how {} was linked is gone; it is linked again",
                executable.display()
            ),
        }
    }
}
