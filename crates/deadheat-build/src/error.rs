//! What is said between a revision and its executables: errors, and notes, which are none.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use deadheat_link::RolesError;
use serde::{Deserialize, Serialize};

/// The party at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request, which makes no sense.
    Request,
    /// A side cannot be built.
    Side,
    /// deadheat, or the machine under it.
    Internal,
    /// Somebody asked to stop.
    Interruption,
}

/// The reason why cargo could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum CargoError {
    /// A path that is none.
    #[error("--target-dir {}: {problem}", path.display())]
    TargetDir {
        /// As the user wrote it.
        path: PathBuf,
        /// The problem with it.
        problem: io::Error,
    },
    /// Cargo could not be started.
    #[error("{cargo}: {problem}")]
    NotStarted {
        /// The program.
        cargo: String,
        /// The reason.
        problem: io::Error,
    },
    /// Cargo has said why.
    #[error("`cargo metadata` does not know which package to race")]
    NoPackage,
    /// Cargo said something else than it promises.
    #[error("`cargo metadata` names no target_directory")]
    NoTargetDirectory,
}

/// The reason why there are no two builds.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The folder is in no working tree of git.
    #[error(
        "{} is not in a git working tree, and only commits can be raced so ({})\nhelp: go to a clone of the repository",
        directory.display(),
        git_words(said)
    )]
    NoRepository {
        /// The working directory of the user.
        directory: PathBuf,
        /// Git's words.
        said: String,
    },
    /// Git knows no such commit.
    #[error(
        "'{revision}' is not a commit of this repository ({})\nhelp: git log --oneline --all lists commits, git fetch gets those of the server",
        git_words(said)
    )]
    UnknownRevision {
        /// As the user wrote it.
        revision: String,
        /// Git's words.
        said: String,
    },
    /// The range starts at no ancestor of its end.
    #[error(
        "{good} is no ancestor of {bad}, so no commit between them can be to blame\nhelp: `git merge-base {good} {bad}` names the last that both have"
    )]
    NoAncestor {
        /// The start, as the user wrote it.
        good: String,
        /// The end.
        bad: String,
    },
    /// The same, in a clone that lacks commits.
    #[error(
        "nothing that this clone has leads from {bad} back to {good}: it is a shallow one\nhelp: `git fetch --unshallow` gets the rest"
    )]
    Shallow {
        /// The start, as the user wrote it.
        good: String,
        /// The end.
        bad: String,
    },
    /// The start of a range is an ancestor of its end, and not by first parents.
    #[error(
        "the first parents of {bad} do not lead to {good}, which came by a merge; \
         its line left theirs at {before}\nhelp: name {before}, or --all-parents"
    )]
    OffTheLine {
        /// The start, as the user wrote it.
        good: String,
        /// The end.
        bad: String,
        /// The commit of the line that the start branched off from.
        before: String,
    },
    /// The commit lacks the folder the user stands in.
    #[error("{revision} has no folder `{}`\nhelp: go to one that both sides have", folder.display())]
    NoFolder {
        /// The side.
        revision: String,
        /// Below the top of the repository.
        folder: PathBuf,
    },
    /// A submodule is initialised, but lacks the commit.
    #[error("{revision} needs commit {commit} of the submodule `{}`, which is not here\nhelp: get it with `git -C {} fetch`", path.display(), path.display())]
    Submodule {
        /// The side.
        revision: String,
        /// Below the top of the repository.
        path: PathBuf,
        /// The commit it needs.
        commit: String,
    },
    /// `--exe` leads out of the tree, so both sides would share it.
    #[error("--exe {}: name it by its path below the folder of the build, so that either side has one of its own", .0.display())]
    ExeOutside(PathBuf),
    /// `--build` without `--exe`.
    #[error("--build '{0}' needs at least one --exe PATH, an executable that it makes")]
    NoExe(String),
    /// The build did not succeed; its output was shown as it came.
    #[error("{revision} does not build: {command} ended with {end}; what it said is above")]
    Failed {
        /// The side.
        revision: String,
        /// The command.
        command: String,
        /// Its exit status.
        end: String,
    },
    /// The build succeeded, but made no such executable.
    #[error("{revision}: the build succeeded, but {} {problem}", path.display())]
    NoExecutable {
        /// The side.
        revision: String,
        /// The path where it should be.
        path: PathBuf,
        /// The problem with it.
        problem: &'static str,
    },
    /// Both sides are the working tree, which a command can build in one way only.
    #[error(
        "--build '{0}' would build the working tree twice, in one place\nhelp: race a commit with itself: \
         HEAD..HEAD"
    )]
    OneTree(String),
    /// The working tree is to be built with bench targets that are not its own.
    #[error(
        "--benches-from {0}: the working tree is built as it is\nhelp: name two commits, as in {0}..HEAD"
    )]
    BenchesForWorkingTree(String),
    /// No toolchain of this name.
    #[error("rustup has no toolchain '{toolchain}': {said}")]
    NoToolchain {
        /// Its name.
        toolchain: String,
        /// Words of rustup.
        said: String,
    },
    /// None of the bench targets of one side can be built with the sources of the other.
    #[error(
        "{revision} has no such bench target of its own, and cannot be built with {from}'s: {problems}"
    )]
    BenchesDoNotFit {
        /// The side.
        revision: String,
        /// The side that has bench targets.
        from: String,
        /// Each with the reason.
        problems: String,
    },
    /// `cargo bench` has nothing to run.
    #[error(
        "{0}: `cargo bench` builds no bench target here\nhelp: name a package with -p, or add a [[bench]]"
    )]
    NoBench(String),
    /// A package of Go has no tests, and no benchmarks with them.
    #[error("{revision}: the package {package} has no test files, and benchmarks stand in these")]
    NoTests {
        /// The side.
        revision: String,
        /// Its import path, or the pattern that fits none.
        package: String,
    },
    /// No Python of this name can be started.
    #[error("there is no Python '{python}': {said}\nhelp: --python names one, 3.10 or later")]
    NoPython {
        /// As the user named it.
        python: String,
        /// The reason.
        said: String,
    },
    /// The Python is too old for the worker.
    #[error(
        "'{python}' is Python {version}, and suites race from 3.10 on\nhelp: --python names another"
    )]
    OldPython {
        /// As the user named it.
        python: String,
        /// Its version.
        version: String,
    },
    /// There is no pytest in the environment of a side, and it cannot be installed.
    #[error(
        "{revision}: nothing that is installed brings pytest along, and pip cannot get it\nhelp: name what does, as in --install '.[test]'"
    )]
    NoPytest {
        /// The side.
        revision: String,
    },
    /// The side lacks a file or folder of tests.
    #[error("{revision} has no `{path}`\nhelp: --pytest names tests that both sides have")]
    NoTestPath {
        /// The side.
        revision: String,
        /// As the user named it.
        path: String,
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
        /// The reason.
        problem: io::Error,
    },
    /// A file of ours cannot be read or written.
    #[error("{}: {problem}; builds of revisions are kept there", path.display())]
    Kept {
        /// The file or folder.
        path: PathBuf,
        /// The problem with it.
        problem: io::Error,
    },
    /// Somebody asked to stop.
    #[error("interrupted while building; nothing was raced")]
    Interrupted,
}

/// Git's words without the label of its own errors.
fn git_words(said: &str) -> String {
    let said = said.trim_start_matches("fatal: ");
    format!("git says: {said}")
}

impl BuildError {
    /// Returns true if other commits may build all the same: this one does not compile, or lacks
    /// what is raced.
    pub fn is_of_one_commit(&self) -> bool {
        let lacks = matches!(
            self,
            Self::NoFolder { .. } | Self::Submodule { .. } | Self::NoBench(_)
        );
        lacks || self.fault() == Fault::Side
    }

    /// The party at fault.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoRepository { .. }
            | Self::UnknownRevision { .. }
            | Self::NoAncestor { .. }
            | Self::Shallow { .. }
            | Self::OffTheLine { .. }
            | Self::NoFolder { .. }
            | Self::Submodule { .. }
            | Self::ExeOutside(_)
            | Self::NoExe(_)
            | Self::NoBench(_)
            | Self::OneTree(_)
            | Self::BenchesForWorkingTree(_)
            | Self::NoToolchain { .. }
            | Self::NoPython { .. }
            | Self::OldPython { .. }
            | Self::Cargo(CargoError::TargetDir { .. } | CargoError::NoPackage) => Fault::Request,
            Self::Failed { .. }
            | Self::NoExecutable { .. }
            | Self::NoTests { .. }
            | Self::NoPytest { .. }
            | Self::NoTestPath { .. }
            | Self::BenchesDoNotFit { .. } => Fault::Side,
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
            Self::LinkedAgain { executable } => write!(
                f,
                "the record of how {} was linked is gone; it is linked again",
                executable.display()
            ),
        }
    }
}
