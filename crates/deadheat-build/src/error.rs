//! Errors and notes about builds of revisions.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use deadheat_link::{OutsideError, RolesError, TrackedError};
use serde::{Deserialize, Serialize};

use crate::library::Library;
use crate::missing_project::MissingProject;

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request makes no sense.
    Request,
    /// A side cannot be built.
    Side,
    /// deadheat itself, or the machine.
    Internal,
    /// The user interrupted.
    Interruption,
}

/// The reason why cargo could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum CargoError {
    /// The target folder is not a valid path.
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
    /// Neither the folder nor one of its parents has a `Cargo.toml`.
    #[error(
        "{} is not in a package of cargo: there is no Cargo.toml in it or above\nhelp: go to the package; \
         other languages are built by --build CMD --exe PATH, --cmake TARGET, --go PACKAGE, --pytest PATH, --vitest or --node FILE",
        .0.display()
    )]
    NoManifest(PathBuf),
    /// `cargo metadata` failed, with this message.
    #[error("`cargo metadata` failed: {0}")]
    NoPackage(String),
    /// The output of `cargo metadata` lacks `target_directory`.
    #[error("`cargo metadata` output lacks target_directory")]
    NoTargetDirectory,
}

/// The reason why the builds failed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The folder is in no git working tree.
    #[error(
        "{} is not in a git working tree{}\nhelp: go to a clone of the repository",
        directory.display(),
        reason(said)
    )]
    NoRepository {
        /// The working directory of the user.
        directory: PathBuf,
        /// Git's message.
        said: String,
    },
    /// Git finds no such commit.
    #[error(
        "'{revision}' is not a commit of this repository{}\nhelp: {}",
        reason(said),
        where_commits_are(revision, *is_shallow)
    )]
    UnknownRevision {
        /// As the user wrote it.
        revision: String,
        /// Git's message.
        said: String,
        /// True if the clone lacks the older commits.
        is_shallow: bool,
    },
    /// Git takes no branch of this name.
    #[error(
        "'{0}' is not a name of a branch\nhelp: write it as git does, without refs/: --branch runs"
    )]
    NoBranchName(String),
    /// A working tree has checked the branch out.
    #[error(
        "the branch '{0}' is checked out in a working tree, which would then lack the new commit\nhelp: name a branch for run files alone, such as --branch runs"
    )]
    CheckedOut(String),
    /// State below `.deadheat` came with a commit.
    #[error(transparent)]
    Tracked(#[from] TrackedError),
    /// A commit holds what deadheat would believe to have stored itself.
    #[error("{revision}: {error}")]
    Committed {
        /// The side.
        revision: String,
        /// The file.
        error: TrackedError,
    },
    /// The range does not start at an ancestor of its end.
    #[error(
        "{good} is not an ancestor of {bad}, so no commits lead from one to the other\nhelp: {}",
        other_range(good, bad, *is_reversed)
    )]
    NoAncestor {
        /// The start, as the user wrote it.
        good: String,
        /// The end.
        bad: String,
        /// True if the end is an ancestor of the start.
        is_reversed: bool,
    },
    /// The range does not start at an ancestor of its end, in a shallow clone.
    #[error(
        "this shallow clone lacks the commits between {good} and {bad}\nhelp: `git fetch \
         --unshallow` gets the rest"
    )]
    Shallow {
        /// The start, as the user wrote it.
        good: String,
        /// The end.
        bad: String,
    },
    /// The start of a range is an ancestor of its end, but not along first parents.
    #[error(
        "the first parents of {bad} do not lead to {good}, which came by a merge; \
         its line left theirs at {before}\nhelp: name {before}, or --all-parents"
    )]
    OffTheLine {
        /// The start, as the user wrote it.
        good: String,
        /// The end.
        bad: String,
        /// The last common commit of the start's branch and the line of first parents.
        before: String,
    },
    /// The commit lacks the user's working directory.
    #[error("{revision} has no folder `{}`\nhelp: go to one that both sides have", folder.display())]
    NoFolder {
        /// The side.
        revision: String,
        /// Relative to the top of the repository.
        folder: PathBuf,
    },
    /// A submodule is initialised, but does not contain the commit.
    #[error("{revision} needs commit {commit} of the submodule `{}`, which is not here\nhelp: run `git fetch` in that folder", path.display())]
    Submodule {
        /// The side.
        revision: String,
        /// Relative to the top of the repository.
        path: PathBuf,
        /// The commit it needs.
        commit: String,
    },
    /// The path of a submodule leads out of its tree.
    #[error("{revision} has a submodule where none can be: {error}")]
    SubmoduleOutside {
        /// The side.
        revision: String,
        /// The path.
        error: OutsideError,
    },
    /// A file of one side leads out of the tree of the other.
    #[error("{revision} cannot take a file of the other side: {error}")]
    FileOutside {
        /// The side.
        revision: String,
        /// The path.
        error: OutsideError,
    },
    /// `--exe` is outside the tree, so both sides would share it.
    #[error("--exe {}: name it by its path below the folder of the build, so that each side has \
     its own", .0.display())]
    ExeOutside(PathBuf),
    /// `--build` without `--exe`.
    #[error(
        "--build '{0}' needs at least one --exe PATH, an executable that it makes\nhelp: add --exe PATH once for each of them"
    )]
    NoExe(String),
    /// The build failed; its output has been shown.
    #[error("{revision} does not build: {command} ended with {end}; its output is \
     above{}", advice(*missing))]
    Failed {
        /// The side.
        revision: String,
        /// The command.
        command: String,
        /// Its exit status.
        end: String,
        /// The project that the command needs and the sources lack.
        missing: Option<MissingProject>,
    },
    /// The build succeeded, but did not make the executable.
    #[error(
        "{revision}: the build succeeded, but {} {problem}\nhelp: --exe PATH names the executable that \
         --build makes",
        path.display()
    )]
    NoExecutable {
        /// The side.
        revision: String,
        /// The path where it should be.
        path: PathBuf,
        /// The problem with it.
        problem: &'static str,
    },
    /// Both sides are the working tree, which a command can build in only one way.
    #[error(
        "--build '{0}' would build the working tree twice, in one place\nhelp: race a commit with itself: \
         HEAD..HEAD"
    )]
    OneTree(String),
    /// Bench targets of another revision are requested for the working tree.
    #[error(
        "--benches-from {0}: the working tree is built as it is\nhelp: name two commits, as in {0}..HEAD"
    )]
    BenchesForWorkingTree(String),
    /// rustup has no toolchain with this name.
    #[error("rustup has no toolchain '{toolchain}': {said}")]
    NoToolchain {
        /// Its name.
        toolchain: String,
        /// rustup's message.
        said: String,
    },
    /// No bench target of one side compiles with the sources of the other.
    #[error(
        "{revision} has no such bench target of its own, and cannot be built with {from}'s: {problems}"
    )]
    BenchesDoNotFit {
        /// The side.
        revision: String,
        /// The side that has bench targets.
        from: String,
        /// Each target with the reason.
        problems: String,
    },
    /// `cargo bench` builds no bench target.
    #[error(
        "{0}: `cargo bench` builds no bench target here\nhelp: name a package with -p, or add a [[bench]]"
    )]
    NoBench(String),
    /// The suite does not compile with deadheat's own implementation of its library.
    #[error(
        "{revision} does not build with deadheat's own {} ({problem})\nhelp: {} own builds all \
         sides with the {} that they name",
        library.name(),
        library.option(),
        library.name()
    )]
    NotWithOurLibrary {
        /// The library.
        library: Library,
        /// The side.
        revision: String,
        /// The compiler's first error.
        problem: String,
    },
    /// A Go package has no tests, and so no benchmarks.
    #[error("{revision}: the package {package} has no test files, which is where benchmarks are")]
    NoTests {
        /// The side.
        revision: String,
        /// Its import path, or the pattern that matches nothing.
        package: String,
    },
    /// The CMake project has no executable with the name of a target.
    #[error(
        "{revision}: the CMake project has no executable `{target}`{}",
        executables_of_cmake(others)
    )]
    NoCmakeTarget {
        /// The side.
        revision: String,
        /// As the user named it.
        target: String,
        /// The executables of the project.
        others: Vec<String>,
    },
    /// CMake's description of the project cannot be read.
    #[error("{revision}: {}: {problem}; CMake 3.14 or later writes it", path.display())]
    CmakeReply {
        /// The side.
        revision: String,
        /// The file.
        path: PathBuf,
        /// The problem with it.
        problem: String,
    },
    /// The Python cannot be started.
    #[error("there is no Python '{python}': {said}\nhelp: --python names one, 3.10 or later")]
    NoPython {
        /// As the user named it.
        python: String,
        /// The reason.
        said: String,
    },
    /// The Python is too old for the worker.
    #[error(
        "'{python}' is Python {version}, but suites need 3.10 or later\nhelp: --python names another"
    )]
    OldPython {
        /// As the user named it.
        python: String,
        /// Its version.
        version: String,
    },
    /// A side's environment has no pytest, and it cannot be installed.
    #[error(
        "{revision}: pytest is not installed, and pip cannot install it\nhelp: name a requirement \
         that includes it, as in --install '.[test]'"
    )]
    NoPytest {
        /// The side.
        revision: String,
    },
    /// Node does not start.
    #[error(
        "`node` in PATH does not start: {said}\nhelp: suites of JavaScript need Node.js, 20 or later"
    )]
    NoNode {
        /// The reason.
        said: String,
    },
    /// One side of a race has no file that matches a pattern of `--node`.
    #[error(
        "{revision} has no file '{pattern}'\nhelp: --node names scripts that both sides have, \
         relative to this folder"
    )]
    NoScript {
        /// The side.
        revision: String,
        /// As the user named them.
        pattern: String,
    },
    /// The side lacks a file or folder of tests.
    #[error("{revision} has no `{path}`\nhelp: --pytest names tests that both sides have")]
    NoTestPath {
        /// The side.
        revision: String,
        /// As the user named it.
        path: String,
    },
    /// A git command failed.
    #[error("{revision}: `git {command}` failed: {said}")]
    Git {
        /// The side, or another subject.
        revision: String,
        /// The subcommand.
        command: String,
        /// Git's message.
        said: String,
    },
    /// Cargo could not be prepared.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// The names that replace compiler and linker cannot be installed.
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
    /// One of deadheat's files cannot be read or written.
    #[error("{}: {problem}; builds of revisions are kept there", path.display())]
    Kept {
        /// The file or folder.
        path: PathBuf,
        /// The problem with it.
        problem: io::Error,
    },
    /// The user interrupted.
    #[error("interrupted while building; nothing was raced")]
    Interrupted,
}

/// Git's reason in parentheses, unless it only says that there is no such commit or repository.
fn reason(said: &str) -> String {
    let says_no_more = ["Needed a single revision", "not a git repository"];
    if says_no_more.iter().any(|words| said.contains(words)) {
        return String::new();
    }
    format!(" ({})", git_words(said))
}

/// The advice on a range that does not start at an ancestor of its end.
fn other_range(good: &str, bad: &str, is_reversed: bool) -> String {
    if is_reversed {
        return format!("{bad} is the older one: write '{bad}..{good}'");
    }
    format!("`git merge-base {good} {bad}` names the last commit that both have")
}

/// The advice on a target that a CMake project lacks.
fn executables_of_cmake(others: &[String]) -> String {
    if others.is_empty() {
        return "; it has none\nhelp: its options may leave benchmarks out: \
                --configure='-DBUILD_BENCHMARKS=ON', or as the project names it"
            .to_owned();
    }
    format!("\nhelp: it has {}", others.join(", "))
}

fn advice(missing: Option<MissingProject>) -> String {
    missing.map_or_else(String::new, |missing| format!("\nhelp: {missing}"))
}

/// The advice on a commit that the clone lacks.
fn where_commits_are(revision: &str, is_shallow: bool) -> &'static str {
    let is_a_path = ["./", "../", "/"]
        .iter()
        .any(|sign| revision.starts_with(sign));
    if is_a_path {
        "it is a path; deadheat bench OLD NEW races two programs with benchmarks, deadheat run any two \
         commands"
    } else if is_shallow {
        "this clone is shallow and lacks older commits; `git fetch --unshallow --tags` gets them"
    } else {
        "git log --oneline --all lists commits, git fetch gets new ones from the server"
    }
}

/// Git's message without git's own prefix.
fn git_words(said: &str) -> String {
    let said = said.trim_start_matches("fatal: ");
    format!("git says: {said}")
}

impl BuildError {
    /// Returns true if other commits may still build: this one does not compile, or lacks what is
    /// raced.
    pub fn is_of_one_commit(&self) -> bool {
        let lacks = matches!(
            self,
            Self::NoFolder { .. } | Self::Submodule { .. } | Self::NoBench(_)
        );
        lacks || self.fault() == Fault::Side
    }

    /// The cause of the error.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoRepository { .. }
            | Self::UnknownRevision { .. }
            | Self::NoBranchName(_)
            | Self::CheckedOut(_)
            | Self::Tracked(_)
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
            | Self::NoNode { .. }
            | Self::OldPython { .. }
            | Self::Cargo(
                CargoError::TargetDir { .. } | CargoError::NoManifest(_) | CargoError::NoPackage(_),
            ) => Fault::Request,
            Self::Failed { .. }
            | Self::NoExecutable { .. }
            | Self::NoTests { .. }
            | Self::NoCmakeTarget { .. }
            | Self::NoPytest { .. }
            | Self::NoTestPath { .. }
            | Self::NoScript { .. }
            | Self::Committed { .. }
            | Self::SubmoduleOutside { .. }
            | Self::FileOutside { .. }
            | Self::NotWithOurLibrary { .. }
            | Self::BenchesDoNotFit { .. } => Fault::Side,
            Self::Interrupted => Fault::Interruption,
            _ => Fault::Internal,
        }
    }

    /// Adds the file to an I/O error.
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
    /// Another deadheat process is building the same.
    Waiting {
        /// The side.
        revision: String,
    },
    /// deadheat's own criterion is about to be built.
    BuildingCriterion,
    /// Another deadheat process is making deadheat's own implementation of this library.
    WaitingForLibrary(Library),
    /// The suite races with the library that it names.
    OwnLibrary {
        /// The library.
        library: Library,
        /// The reason.
        problem: String,
    },
    /// The sides differ in more than their code.
    UnequalBuilds {
        /// Their names, the baseline first.
        sides: [String; 2],
        /// What differs, the likeliest cause of another time first.
        differences: Vec<String>,
        /// Options of cargo that give the baseline the candidate's profile; may be empty.
        equalising: String,
    },
    /// Submodules have uncommitted changes.
    DirtySubmodules {
        /// Relative to the top of the repository.
        paths: Vec<PathBuf>,
        /// True if the working tree is a side of the race.
        raced: bool,
    },
    /// Git tracks builds in the working tree, so they are not used.
    TrackedBuilds {
        /// The first such file.
        path: PathBuf,
    },
    /// A submodule that the user has not initialised is left out.
    SubmoduleLeftOut {
        /// The side.
        revision: String,
        /// Relative to the top of the repository.
        path: PathBuf,
    },
    /// The commit has no lock file, so that of the working tree is used.
    BorrowedLock {
        /// The side.
        revision: String,
        /// Relative to the top of the repository.
        path: PathBuf,
    },
    /// The commit asks for another toolchain than the working tree.
    OtherToolchain {
        /// The side.
        revision: String,
        /// The file that asks for it, relative to the top of the repository.
        path: PathBuf,
        /// The compiler of both sides.
        compiler: String,
    },
    /// The side is built with bench targets of the other side.
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
    /// The link record of an executable is missing, so it is linked again.
    LinkedAgain {
        /// The executable.
        executable: PathBuf,
    },
}

impl Note {
    /// The same note under the name of another side that is the same commit.
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
            Self::BuildingCriterion => write!(
                f,
                "building deadheat's own criterion, once for each compiler, to race the suite's \
                 functions sample by sample"
            ),
            Self::WaitingForLibrary(library) => write!(
                f,
                "waiting for another deadheat, which is making deadheat's own {}",
                library.name()
            ),
            Self::OwnLibrary { library, problem } => write!(
                f,
                "the suite races with its own {}, launch by launch: {problem} ({} own says so from \
                 the start)",
                library.name(),
                library.option()
            ),
            Self::UnequalBuilds {
                sides: [base, head],
                differences,
                equalising,
            } => {
                write!(
                    f,
                    "{base} and {head} also differ in how they are built, which can change their times: {}",
                    differences.join("; ")
                )?;
                if !equalising.is_empty() {
                    write!(
                        f,
                        "\nhelp: --base-args '{equalising}' builds {base} with the profile of {head}"
                    )?;
                }
                Ok(())
            }
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
            Self::TrackedBuilds { path } => write!(
                f,
                "git tracks {}, so a commit brought it along; builds below it are not used, and new \
                 ones go to the user's cache",
                path.display()
            ),
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
