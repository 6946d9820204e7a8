//! Errors and notes about builds of revisions.

use std::path::{Path, PathBuf};
use std::{fmt, io};

#[cfg(target_os = "linux")]
use deadheat_link::RolesError;
use deadheat_link::{OutsideError, TrackedError};
use serde::{Deserialize, Serialize};

use crate::library::Library;
use crate::missing_project::MissingProject;

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The user's request is invalid.
    Request,
    /// A side cannot be built.
    Side,
    /// deadheat itself or the machine failed.
    Internal,
    /// The user interrupted a build, or a program that deadheat starts for it.
    Interruption,
}

/// The reason why cargo could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum CargoError {
    /// The target folder is not a valid path.
    #[error("--target-dir {}: {problem}", path.display())]
    TargetDir {
        /// The folder as the user wrote it.
        path: PathBuf,
        /// The operating system's error.
        problem: io::Error,
    },
    /// Cargo could not be started.
    #[error("{cargo}: {problem}")]
    NotStarted {
        /// The cargo program.
        cargo: String,
        /// The operating system's error.
        problem: io::Error,
    },
    /// Neither the folder nor one of its parents has a `Cargo.toml`.
    #[error(
        "{} is not in a cargo package: neither it nor a folder above has a Cargo.toml\nhelp: run \
         deadheat in the package; for benchmarks in other languages add --build CMD --exe PATH, \
         --cmake TARGET, --go PACKAGE, --pytest PATH, --vitest or --node FILE; deadheat rev BASE \
         --run './tool ARGS' races a program without benchmarks",
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

/// The reason why a build failed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The folder is not in a git working tree.
    #[error(
        "{} is not in a git working tree{}\nhelp: run deadheat in a clone of the repository",
        directory.display(),
        reason(said)
    )]
    NoRepository {
        /// The working directory of the user.
        directory: PathBuf,
        /// Git's message.
        said: String,
    },
    /// Git finds no commit of this name.
    #[error(
        "'{revision}' is not a commit of this repository{}{}\nhelp: {}",
        lack_of_remote(clone),
        reason(said),
        where_commits_are(revision, clone)
    )]
    UnknownRevision {
        /// The revision as the user wrote it.
        revision: String,
        /// Git's message.
        said: String,
        /// The facts about the clone that lead to the advice.
        clone: Box<CloneFacts>,
    },
    /// Git rejects the name of a branch.
    #[error("'{0}' is not a valid branch name\nhelp: write it without refs/, as in --branch runs")]
    NoBranchName(String),
    /// The branch is checked out in a working tree.
    #[error(
        "the branch '{0}' is checked out in a working tree, which a new commit would leave out of \
         date\nhelp: use a branch only for run files, such as --branch runs"
    )]
    CheckedOut(String),
    /// A branch for run files contains only other files.
    #[error(
        "the branch '{0}' has files, but none in runs/, so it is not a branch of run files\nhelp: \
         use --branch runs; deadheat creates the branch if it does not exist"
    )]
    ForeignBranch(String),
    /// Git tracks files below `.deadheat`, so they came with a commit and are not used.
    #[error(transparent)]
    Tracked(#[from] TrackedError),
    /// A commit contains link records, which deadheat would trust as its own.
    #[error("{revision}: {error}")]
    Committed {
        /// The name of the affected side.
        revision: String,
        /// The file that the commit contains.
        error: TrackedError,
    },
    /// The range does not start at an ancestor of its end.
    #[error(
        "{good} is not an ancestor of {bad}, so no commits lead from one to the other\nhelp: {}",
        other_range(good, bad, *is_reversed)
    )]
    NoAncestor {
        /// The start of the range, as the user wrote it.
        good: String,
        /// The end of the range.
        bad: String,
        /// True if the end is an ancestor of the start.
        is_reversed: bool,
    },
    /// The range does not start at an ancestor of its end, in a shallow clone.
    #[error(
        "this shallow clone lacks the commits between {good} and {bad}\nhelp: `git fetch \
         --unshallow` fetches them"
    )]
    Shallow {
        /// The start of the range, as the user wrote it.
        good: String,
        /// The end of the range.
        bad: String,
    },
    /// The start of a range is an ancestor of its end, but not along first parents.
    #[error(
        "the first parents of {bad} do not lead to {good}, because a merge brought it in; its \
         branch started at {before}\nhelp: name {before} instead, or add --all-parents"
    )]
    OffTheLine {
        /// The start of the range, as the user wrote it.
        good: String,
        /// The end of the range.
        bad: String,
        /// The newest commit on the line of `bad`'s first parents that is also an ancestor of
        /// `good`.
        before: String,
    },
    /// The commit lacks the user's working directory.
    #[error("{revision} has no folder `{}`\nhelp: run deadheat in a folder that both sides have", folder.display())]
    NoFolder {
        /// The name of the affected side.
        revision: String,
        /// The folder that the commit lacks, relative to the top of the repository.
        folder: PathBuf,
    },
    /// An initialised submodule lacks the commit that the side needs.
    #[error("{revision} needs commit {commit} of the submodule `{}`, which this clone lacks\nhelp: \
             run `git fetch` in the submodule", path.display())]
    Submodule {
        /// The name of the affected side.
        revision: String,
        /// The path of the submodule, relative to the top of the repository.
        path: PathBuf,
        /// The submodule's commit that the side needs.
        commit: String,
    },
    /// The commit of a side has too many submodules.
    #[error("{revision} has more than {most} submodules, which deadheat does not check out")]
    TooManySubmodules {
        /// The revision, as the user wrote it.
        revision: String,
        /// The largest number of submodules.
        most: usize,
    },
    /// The path of a submodule leads out of its tree.
    #[error("{revision} has a submodule at an invalid path: {error}")]
    SubmoduleOutside {
        /// The name of the affected side.
        revision: String,
        /// The path, and the reason why it is rejected.
        error: OutsideError,
    },
    /// A file of one side would be written outside of the other side's tree.
    #[error("{revision} cannot receive a file of the other side: {error}")]
    FileOutside {
        /// The name of the affected side.
        revision: String,
        /// The path, and the reason why it is rejected.
        error: OutsideError,
    },
    /// A revision names several commits, as a branch, as a tag, or as the beginning of an id.
    #[error(
        "'{0}' is ambiguous: it names more than one branch, tag or commit\nhelp: write refs/heads/{0}, \
         refs/tags/{0}, or more digits of the commit's id"
    )]
    AmbiguousRevision(String),
    /// A manifest or lock file of a commit is a symbolic link that leads out of the commit, or that
    /// leads to too many other links.
    #[error(
        "{revision} cannot get benchmarks of the other side: its {} is a symbolic link that leads out of \
         {revision}, or to too many other links\nhelp: commit a file in place of the link",
        path.display()
    )]
    LinkedManifest {
        /// The name of the affected side.
        revision: String,
        /// The path, relative to the top of the repository.
        path: PathBuf,
    },
    /// The build of a commit used a package of the working tree that differs from the commit's.
    #[error(
        "{revision} would race with the package in {} of the working tree, which is not the package of \
         {revision}: configuration that git does not track names this folder\nhelp: commit the \
         configuration of the build tool, so that each side uses its own package",
        folder.display()
    )]
    SharedPackage {
        /// The name of the affected side.
        revision: String,
        /// The folder, relative to the top of the repository.
        folder: PathBuf,
    },
    /// The source file of an added bench target would also be used to build the commit's own code.
    #[error(
        "{revision} cannot get the bench target {bench} of {from}: cargo would use its source {} for \
         the code of {revision}, too\nhelp: move the source into a folder of its own, such as \
         benches",
        path.display()
    )]
    BenchInOwnBuild {
        /// The name of the side that lacks the bench target.
        revision: String,
        /// The name of the side that has the bench target.
        from: String,
        /// The name of the bench target.
        bench: String,
        /// The path of its source, relative to the top.
        path: PathBuf,
    },
    /// `--exe` is outside the tree, so both sides would share it.
    #[error("--exe {}: name it by its path relative to the build folder, because each side builds \
             its own", .0.display())]
    ExeOutside(PathBuf),
    /// The user gave `--build` without `--exe`.
    #[error(
        "--build '{0}' needs at least one --exe PATH, an executable that it builds\nhelp: add one \
         --exe PATH for each executable"
    )]
    NoExe(String),
    /// The build failed; its output has been shown.
    #[error("{revision} does not build: {command} ended with {end}; its output is \
     above{}", advice(*missing))]
    Failed {
        /// The name of the affected side.
        revision: String,
        /// The command of the build.
        command: String,
        /// The exit status of the command.
        end: String,
        /// The kind of project that the command needs, if the sources lack it.
        missing: Option<MissingProject>,
    },
    /// A commit lacks the project that its build needs.
    #[error("{revision} cannot be built\nhelp: {missing}")]
    NoProject {
        /// The name of the affected side.
        revision: String,
        /// The kind of project that the commit lacks.
        missing: MissingProject,
    },
    /// The build succeeded, but the executable is missing or cannot be run.
    #[error(
        "{revision}: the build succeeded, but {} {problem}\nhelp: --exe PATH names the executable that \
         --build makes",
        path.display()
    )]
    NoExecutable {
        /// The name of the affected side.
        revision: String,
        /// The expected path of the executable.
        path: PathBuf,
        /// The problem with the executable, such as `is not a file`.
        problem: &'static str,
    },
    /// Both sides are the working tree, which a build command can build in only one way.
    #[error(
        "--build '{0}' would build the working tree twice in the same folder\nhelp: to race a \
         commit with itself, write HEAD..HEAD"
    )]
    OneTree(String),
    /// Bench targets of another revision are requested for the working tree.
    #[error(
        "--benches-from {0}: deadheat does not change the benchmarks of the working tree\nhelp: \
         name two commits, as in {0}..HEAD"
    )]
    BenchesForWorkingTree(String),
    /// The working tree would get the lock file of the baseline.
    #[error(
        "--lock-from {0}: deadheat does not change the lock file of the working tree\nhelp: \
         name two commits, as in {0}..HEAD"
    )]
    LockForWorkingTree(String),
    /// `--lock-from` names a side without a `Cargo.lock`.
    #[error("--lock-from '{0}': {0} has no Cargo.lock")]
    NoLock(String),
    /// rustup has no toolchain with this name.
    #[error("rustup has no toolchain '{toolchain}': {said}")]
    NoToolchain {
        /// The name of the toolchain.
        toolchain: String,
        /// rustup's message.
        said: String,
    },
    /// No bench target of one side compiles with the sources of the other.
    #[error(
        "{revision} lacks the bench targets, and does not build with those of {from}: {problems}"
    )]
    BenchesDoNotFit {
        /// The name of the affected side.
        revision: String,
        /// The side that provides the bench targets.
        from: String,
        /// Each bench target with the reason why it does not compile.
        problems: String,
    },
    /// `cargo bench` builds no bench target.
    #[error(
        "{0}: `cargo bench` builds no bench target here\nhelp: name a package with -p, or add a [[bench]]"
    )]
    NoBench(String),
    /// The suite does not compile with deadheat's own implementation of its library.
    #[error(
        "{revision} does not build with deadheat's own {} ({problem})\nhelp: {} own builds each \
         side with the {} that it uses itself",
        library.name(),
        library.option(),
        library.name()
    )]
    NotWithOurLibrary {
        /// The benchmark library.
        library: Library,
        /// The name of the affected side.
        revision: String,
        /// The compiler's first error.
        problem: String,
    },
    /// A Go package has no tests, and so no benchmarks.
    #[error("{revision}: the package {package} has no test files, so it has no benchmarks")]
    NoTests {
        /// The name of the affected side.
        revision: String,
        /// The import path of the package, or a pattern that matches no package with tests.
        package: String,
    },
    /// The CMake project has no executable with the name of a target.
    #[error(
        "{revision}: the CMake project has no executable `{target}`{}",
        executables_of_cmake(others)
    )]
    NoCmakeTarget {
        /// The name of the affected side.
        revision: String,
        /// The target as the user named it.
        target: String,
        /// The names of all executables of the project.
        others: Vec<String>,
    },
    /// CMake's description of the project cannot be read.
    #[error("{revision}: {}: {problem}; CMake 3.14 or later writes this file", path.display())]
    CmakeReply {
        /// The name of the affected side.
        revision: String,
        /// The file of CMake's description.
        path: PathBuf,
        /// The reason why the file cannot be read.
        problem: String,
    },
    /// The Python interpreter cannot be started.
    #[error(
        "Python '{python}' cannot be started: {said}\nhelp: --python chooses another Python, 3.10 \
         or later"
    )]
    NoPython {
        /// The interpreter as the user named it.
        python: String,
        /// The message of the interpreter or the operating system.
        said: String,
    },
    /// The Python is too old for the worker.
    #[error(
        "'{python}' is Python {version}, but suites need 3.10 or later\nhelp: --python chooses \
         another Python"
    )]
    OldPython {
        /// The interpreter as the user named it.
        python: String,
        /// The version of the interpreter.
        version: String,
    },
    /// A side's environment has no pytest, and it cannot be installed.
    #[error(
        "{revision}: pytest is not installed, and pip cannot install it\nhelp: name a requirement \
         that includes it, as in --install '.[test]'"
    )]
    NoPytest {
        /// The name of the affected side.
        revision: String,
    },
    /// Node does not start.
    #[error(
        "`node` in PATH does not start: {said}\nhelp: suites of JavaScript need Node.js, 20 or later"
    )]
    NoNode {
        /// The message of Node or the operating system.
        said: String,
    },
    /// One side of a race has no file that matches a pattern of `--node`.
    #[error(
        "{revision} has no file '{pattern}'\nhelp: --node names scripts that both sides have, \
         relative to this folder"
    )]
    NoScript {
        /// The name of the affected side.
        revision: String,
        /// The pattern as the user wrote it.
        pattern: String,
    },
    /// The side lacks a file or folder of tests.
    #[error("{revision} has no `{path}`\nhelp: --pytest names tests that both sides have")]
    NoTestPath {
        /// The name of the affected side.
        revision: String,
        /// The file or folder as the user named it.
        path: String,
    },
    /// A git command failed.
    #[error("{revision}: `git {command}` failed: {said}")]
    Git {
        /// The side, the branch or the operation that git was called for.
        revision: String,
        /// The git subcommand.
        command: String,
        /// Git's message.
        said: String,
    },
    /// Cargo could not be prepared.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// The links that replace compiler and linker cannot be installed.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Roles(#[from] RolesError),
    /// A program could not be started.
    #[error("{program}: {problem}")]
    NotStarted {
        /// The program that could not be started.
        program: String,
        /// The operating system's error.
        problem: io::Error,
    },
    /// One of deadheat's files cannot be read or written.
    #[error("{}: {problem}; deadheat stores builds of revisions there", path.display())]
    Kept {
        /// The path of the file or folder.
        path: PathBuf,
        /// The operating system's error.
        problem: io::Error,
    },
    /// The builds of commits need a folder outside of the working tree, and there is none.
    #[error(
        "commits are built in a folder for caches outside of the working tree, and there is none\nhelp: \
         set HOME or XDG_CACHE_HOME to a folder outside of the working tree"
    )]
    NoCacheOutside,
    /// A program prints more than deadheat reads.
    #[error("{program} prints more than {most} bytes, and deadheat reads no more")]
    TooMuchOutput {
        /// The program.
        program: String,
        /// The maximum number of bytes.
        most: usize,
    },
    /// The user interrupted a build, or a program that deadheat starts for it.
    #[error("interrupted")]
    Interrupted,
}

/// Returns git's message in parentheses; empty if it only says that the commit or repository does
/// not exist.
fn reason(said: &str) -> String {
    let says_no_more = ["Needed a single revision", "not a git repository"];
    if says_no_more.iter().any(|words| said.contains(words)) {
        return String::new();
    }
    format!(" ({})", git_words(said))
}

/// Returns the advice on a range that does not start at an ancestor of its end.
fn other_range(good: &str, bad: &str, is_reversed: bool) -> String {
    if is_reversed {
        return format!("{bad} is older: write '{bad}..{good}'");
    }
    format!("`git merge-base {good} {bad}` prints their last common commit")
}

/// Returns the advice on a target that a CMake project lacks.
fn executables_of_cmake(others: &[String]) -> String {
    if others.is_empty() {
        return "; it has none at all\nhelp: an option of the project may enable benchmarks, such \
                as --configure='-DBUILD_BENCHMARKS=ON'"
            .to_owned();
    }
    format!("\nhelp: its executables are {}", others.join(", "))
}

fn advice(missing: Option<MissingProject>) -> String {
    missing.map_or_else(String::new, |missing| format!("\nhelp: {missing}"))
}

/// Facts about a clone that lacks a revision.
#[derive(Debug, Default)]
pub struct CloneFacts {
    /// True if the clone lacks the older commits.
    pub is_shallow: bool,
    /// True if the repository has no commit.
    pub is_empty: bool,
    /// True if the repository has a remote.
    pub has_remote: bool,
    /// The remote in the revision that the repository does not have: `origin` of `origin/main`.
    pub missing_remote: Option<String>,
    /// The remote in the revision and its branch, if the repository has the remote.
    pub remote_branch: Option<(String, String)>,
    /// The existing branch or tag whose name is most similar to the revision.
    pub similar: Option<String>,
}

fn lack_of_remote(clone: &CloneFacts) -> String {
    let missing = clone.missing_remote.as_ref();
    missing.map_or_else(String::new, |remote| {
        format!(": it has no remote '{remote}'")
    })
}

/// Returns the advice on a commit that the clone lacks.
fn where_commits_are(revision: &str, clone: &CloneFacts) -> String {
    let is_a_path = ["./", "../", "/"]
        .iter()
        .any(|sign| revision.starts_with(sign));
    if is_a_path {
        return "this is a path, not a commit; deadheat bench OLD NEW races two programs with \
                benchmarks, deadheat run any two commands"
            .to_owned();
    }
    if clone.is_empty {
        return "the repository has no commit yet: `git commit` makes one; deadheat run OLD NEW \
                races two commands without git"
            .to_owned();
    }
    let source = if let Some((remote, branch)) = &clone.remote_branch {
        &format!(
            "`git fetch {remote} {branch}:refs/remotes/{remote}/{branch}` gets it if the server has it; \
             `git branch -a` lists the branches of this clone"
        )
    } else if clone.is_shallow {
        "this clone is shallow and lacks older commits; `git fetch --unshallow --tags` fetches them"
    } else if clone.has_remote {
        "`git log --oneline --all` lists all commits; `git fetch` gets new ones from the server"
    } else {
        "`git log --oneline --all` lists all commits, `git branch -a` all branches"
    };
    match &clone.similar {
        Some(similar) => format!("did you mean '{similar}'? If not, {source}"),
        None => source.to_owned(),
    }
}

/// Returns git's message with the prefix `git says:` instead of `fatal:`.
fn git_words(said: &str) -> String {
    let said = said.trim_start_matches("fatal: ");
    format!("git says: {said}")
}

impl BuildError {
    /// Returns true if the error concerns only the commit that was built: it does not compile, or
    /// lacks the benchmarks, the folder or the submodule commit that is needed.
    pub fn is_of_one_commit(&self) -> bool {
        let lacks = matches!(
            self,
            Self::NoFolder { .. } | Self::Submodule { .. } | Self::NoBench(_)
        );
        lacks || self.fault() == Fault::Side
    }

    /// Returns the cause of the error.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoRepository { .. }
            | Self::UnknownRevision { .. }
            | Self::AmbiguousRevision(_)
            | Self::NoBranchName(_)
            | Self::CheckedOut(_)
            | Self::ForeignBranch(_)
            | Self::Tracked(_)
            | Self::NoAncestor { .. }
            | Self::Shallow { .. }
            | Self::OffTheLine { .. }
            | Self::NoFolder { .. }
            | Self::Submodule { .. }
            | Self::TooManySubmodules { .. }
            | Self::ExeOutside(_)
            | Self::NoExe(_)
            | Self::NoBench(_)
            | Self::OneTree(_)
            | Self::BenchesForWorkingTree(_)
            | Self::LockForWorkingTree(_)
            | Self::NoLock(_)
            | Self::NoToolchain { .. }
            | Self::NoPython { .. }
            | Self::NoNode { .. }
            | Self::OldPython { .. }
            | Self::NoCacheOutside
            | Self::TooMuchOutput { .. }
            | Self::Cargo(
                CargoError::TargetDir { .. } | CargoError::NoManifest(_) | CargoError::NoPackage(_),
            ) => Fault::Request,
            Self::Failed { .. }
            | Self::NoProject { .. }
            | Self::NoExecutable { .. }
            | Self::NoTests { .. }
            | Self::NoCmakeTarget { .. }
            | Self::NoPytest { .. }
            | Self::NoTestPath { .. }
            | Self::NoScript { .. }
            | Self::Committed { .. }
            | Self::SubmoduleOutside { .. }
            | Self::FileOutside { .. }
            | Self::BenchInOwnBuild { .. }
            | Self::SharedPackage { .. }
            | Self::LinkedManifest { .. }
            | Self::NotWithOurLibrary { .. }
            | Self::BenchesDoNotFit { .. } => Fault::Side,
            Self::Interrupted => Fault::Interruption,
            _ => Fault::Internal,
        }
    }

    /// Returns a function that adds `path` to an I/O error.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |problem| Self::Kept {
            path: path.to_owned(),
            problem,
        }
    }
}

/// A message for the user that is not an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// A commit is about to be built.
    Building {
        /// The name of the affected side.
        revision: String,
        /// The commit, abbreviated.
        commit: String,
        /// The side that provides the bench targets, if only these are built; otherwise `None`.
        benches_of: Option<String>,
    },
    /// Another deadheat process is building the same side.
    Waiting {
        /// The name of the affected side.
        revision: String,
    },
    /// deadheat's own criterion is about to be built.
    BuildingCriterion,
    /// Another deadheat process is making deadheat's own implementation of this library.
    WaitingForLibrary(Library),
    /// The suite races with its own benchmark library instead of deadheat's implementation.
    OwnLibrary {
        /// The benchmark library.
        library: Library,
        /// The reason why deadheat's implementation is not used.
        problem: String,
    },
    /// The sides differ in more than their code.
    UnequalBuilds {
        /// The names of the sides, the baseline first.
        sides: [String; 2],
        /// The differences, the most likely cause of different times first.
        differences: Vec<String>,
        /// True if `--same-profile` would change the build of the baseline.
        profile: bool,
        /// True if `--lock-from` would change versions of dependencies.
        lock: bool,
    },
    /// The baseline is built with the candidate's profile.
    ProfileOfOther {
        /// The name of the baseline.
        revision: String,
        /// The name of the candidate.
        from: String,
        /// The values of cargo's `--config`.
        settings: Vec<String>,
    },
    /// Submodules have uncommitted changes.
    DirtySubmodules {
        /// The paths of the submodules, relative to the top of the repository.
        paths: Vec<PathBuf>,
        /// True if the working tree is a side of the race.
        raced: bool,
    },
    /// The user's own configuration of cargo does not apply to the build of a commit by a command.
    ConfigurationLeftOut {
        /// The name of the affected side.
        revision: String,
        /// The path of the configuration, relative to the top of the repository.
        path: PathBuf,
    },
    /// A submodule that the user has not initialised is left out.
    SubmoduleLeftOut {
        /// The name of the affected side.
        revision: String,
        /// The path of the submodule, relative to the top of the repository.
        path: PathBuf,
    },
    /// The commit has no lock file, so it is built with the working tree's.
    BorrowedLock {
        /// The name of the affected side.
        revision: String,
        /// The path of the lock file, relative to the top of the repository.
        path: PathBuf,
    },
    /// The commit is built with a lock file of the other side.
    LockOfOther {
        /// The name of the affected side.
        revision: String,
        /// The path of the lock file, relative to the top of the repository.
        path: PathBuf,
        /// The name of the side that the lock file comes from.
        from: String,
    },
    /// The commit asks for another toolchain than the working tree.
    OtherToolchain {
        /// The name of the affected side.
        revision: String,
        /// The file that requests the toolchain, relative to the top of the repository.
        path: PathBuf,
        /// The version of the compiler that builds both sides.
        compiler: String,
    },
    /// The side is built with bench targets of the other side.
    BenchesPutIn {
        /// The name of the affected side.
        revision: String,
        /// The names of the bench targets.
        benches: Vec<String>,
        /// The side that the bench targets come from.
        from: String,
    },
    /// A bench target of the other side does not compile with this side, so it is left out.
    BenchLeftOut {
        /// The name of the affected side.
        revision: String,
        /// The name of the bench target.
        bench: String,
        /// The side that the bench target comes from.
        from: String,
        /// The reason, such as the first error of the compiler.
        problem: String,
    },
    /// The link record of an executable is missing, so it is linked again.
    LinkedAgain {
        /// The path of the executable.
        executable: PathBuf,
    },
    /// Both sides are built without a workspace of Go, because its file belongs to no commit.
    WorkspaceIgnored {
        /// The path of the `go.work`.
        path: PathBuf,
    },
}

impl Note {
    /// Returns the note with `name` as the name of the side, because the stored note may have
    /// another name for the same commit.
    pub(crate) fn of(mut self, name: &str) -> Self {
        if let Self::SubmoduleLeftOut { revision, .. }
        | Self::BorrowedLock { revision, .. }
        | Self::LockOfOther { revision, .. }
        | Self::BenchesPutIn { revision, .. }
        | Self::BenchLeftOut { revision, .. } = &mut self
        {
            name.clone_into(revision);
        }
        self
    }

    pub(crate) fn is_of_benches(&self) -> bool {
        matches!(self, Self::BenchesPutIn { .. } | Self::BenchLeftOut { .. })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Building {
                revision,
                commit,
                benches_of: None,
            } => write!(f, "building {revision} ({commit})"),
            Self::Building {
                revision,
                commit,
                benches_of: Some(from),
            } => write!(
                f,
                "building benchmarks of {from} with {revision} ({commit}), which lacks them"
            ),
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
                "waiting for another deadheat, which is building deadheat's own {}",
                library.name()
            ),
            Self::OwnLibrary { library, problem } => write!(
                f,
                "the suite races with its own {}, launch by launch: {problem} ({} own selects it \
                 from the start)",
                library.name(),
                library.option()
            ),
            Self::UnequalBuilds {
                sides: [base, head],
                differences,
                profile,
                lock,
            } => {
                write!(
                    f,
                    "{base} and {head} also differ in how they are built, which can change their times: {}",
                    differences.join("; ")
                )?;
                let same_profile =
                    format!("--same-profile builds {base} with the profile of {head}");
                let lock_from = "--lock-from REV builds both sides with the Cargo.lock of REV";
                match (profile, lock) {
                    (true, true) => write!(f, "\nhelp: {same_profile}; {lock_from}"),
                    (true, false) => write!(f, "\nhelp: {same_profile}"),
                    (false, true) => write!(f, "\nhelp: {lock_from}"),
                    (false, false) => Ok(()),
                }
            }
            Self::ProfileOfOther {
                revision,
                from,
                settings,
            } => write!(
                f,
                "{revision} is built with the profile of {from}: {}",
                settings.join(", ")
            ),
            Self::DirtySubmodules { paths, raced } => {
                let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
                let names = names.join(", ");
                let part = if *raced {
                    "raced, although no commit contains them"
                } else {
                    "not committed, so they are not raced"
                };
                write!(f, "changes inside submodules ({names}) are {part}")
            }
            Self::ConfigurationLeftOut { revision, path } => write!(
                f,
                "{} is not in git, so it does not apply to the build of {revision}",
                path.display()
            ),
            Self::SubmoduleLeftOut { revision, path } => write!(
                f,
                "{revision} is built without the submodule {}, which is not initialised here",
                path.display()
            ),
            Self::BorrowedLock { revision, path } => write!(
                f,
                "{revision} has no {}, so it is built with the working tree's",
                path.display()
            ),
            Self::LockOfOther {
                revision,
                path,
                from,
            } => write!(
                f,
                "{revision} is built with the {} of {from}",
                path.display()
            ),
            Self::OtherToolchain {
                revision,
                path,
                compiler,
            } => write!(
                f,
                "{revision} selects another toolchain ({}), but both sides are built with \
                 {compiler}",
                path.display()
            ),
            Self::BenchesPutIn {
                revision,
                benches,
                from,
            } => write!(
                f,
                "{revision} is built with bench targets from {from}: {}",
                benches.join(", ")
            ),
            Self::BenchLeftOut {
                revision,
                bench,
                from,
                problem,
            } => write!(
                f,
                "bench target {bench} from {from} is left out of {revision}: {problem}"
            ),
            Self::LinkedAgain { executable } => write!(
                f,
                "the link record of {} is missing, so it is linked again",
                executable.display()
            ),
            Self::WorkspaceIgnored { path } => write!(
                f,
                "{} belongs to no commit, so Go builds both sides without it (GOWORK=off)\nhelp: to \
                 race with a workspace, commit its go.work",
                path.display()
            ),
        }
    }
}
