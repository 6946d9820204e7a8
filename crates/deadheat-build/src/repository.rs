//! The user's repository, asked through git: the revisions of it to compare, `BASE` or
//! `BASE..HEAD`; and a branch that holds files and no sources, read and added to through git's
//! plumbing, so that nothing is checked out and the working tree stays as it is.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::BuildError;
use crate::subprocess::{Finished, Interruption};

/// Two sides by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revisions {
    /// The baseline, as the user wrote it; the working tree when `None`.
    pub base: Option<String>,
    /// The candidate; the working tree when `None`.
    pub head: Option<String>,
}

/// The text names no two sides.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevisionsError {
    /// There is nothing to name a commit.
    #[error(
        "a revision is missing\nhelp: name a commit as git does: main, HEAD~1, v1.2, main..topic"
    )]
    Empty,
    /// Three dots.
    #[error(
        "'{0}': three dots name no two sides\nhelp: for what they have in common, write \
         \"$(git merge-base {first} {second})..{second}\"",
        first = .0.split("...").next().filter(|side| !side.is_empty()).unwrap_or("HEAD"),
        second = .0.split("...").nth(1).filter(|side| !side.is_empty()).unwrap_or("HEAD")
    )]
    ThreeDots(String),
    /// It would be taken for an option.
    #[error("'{0}' is no revision; options stand before or behind, and are spelled as in --help")]
    Dash(String),
}

impl Revisions {
    /// The name of the working tree.
    pub const WORKING_TREE: &str = "working tree";

    /// Reads `BASE` and `BASE..HEAD`; a side left out beside the dots is `HEAD`, as for git.
    ///
    /// # Errors
    ///
    /// [`RevisionsError`] when it can be neither. Whether git knows the revisions is found out
    /// later.
    pub fn parse(text: &str) -> Result<Self, RevisionsError> {
        if text.contains("...") {
            return Err(RevisionsError::ThreeDots(text.to_owned()));
        }
        let or_head = |side: &str| match side {
            "" => "HEAD".to_owned(),
            side => side.to_owned(),
        };
        let (base, head) = match text.split_once("..") {
            None if text.is_empty() => return Err(RevisionsError::Empty),
            Some(("", "")) => return Err(RevisionsError::Empty),
            None => (text.to_owned(), None),
            Some((base, head)) => (or_head(base), Some(or_head(head))),
        };
        for side in std::iter::once(&base).chain(&head) {
            if side.starts_with('-') {
                return Err(RevisionsError::Dash(side.clone()));
            }
        }
        Ok(Self {
            base: Some(base),
            head,
        })
    }

    /// The working tree on both sides, to be built in two ways.
    pub fn working_tree_twice() -> Self {
        Self {
            base: None,
            head: None,
        }
    }

    /// The sides as they are called: the baseline first.
    pub fn names(&self) -> [String; 2] {
        [&self.base, &self.head].map(|side| {
            let name = side.as_deref().unwrap_or(Self::WORKING_TREE);
            name.to_owned()
        })
    }
}

/// As the user wrote them.
impl std::fmt::Display for Revisions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let base = self.base.as_deref().unwrap_or(Self::WORKING_TREE);
        match &self.head {
            None => f.write_str(base),
            Some(head) => write!(f, "{base}..{head}"),
        }
    }
}

/// Variables that choose the repository for git, as in a hook: the folder should.
const LOCAL: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// A working tree and the repository behind it.
#[derive(Debug)]
pub(crate) struct Repository<'a> {
    /// The top of the working tree, absolute.
    pub(crate) top: PathBuf,
    /// The working directory of the user, below the top.
    pub(crate) inside: PathBuf,
    /// The folder that all working trees share.
    pub(crate) common: PathBuf,
    pub(crate) interruption: Interruption<'a>,
}

/// A commit by the name the user has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) name: String,
    pub(crate) id: String,
}

impl Commit {
    /// The working tree, as far as it goes into the name of a build: hexadecimal, as of a commit.
    pub(crate) fn working_tree() -> Self {
        Self {
            name: Revisions::WORKING_TREE.to_owned(),
            id: "0".repeat(40),
        }
    }

    /// The id as people read it.
    pub(crate) fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }
}

impl<'a> Repository<'a> {
    /// The repository around `directory`.
    pub(crate) fn around(
        directory: &Path,
        interruption: Interruption<'a>,
    ) -> Result<Self, BuildError> {
        let mut command = git_in(directory);
        command.args(["rev-parse", "--path-format=absolute"]);
        command.args(["--show-toplevel", "--git-common-dir"]);
        let done = interruption.run(&mut command, None)?;
        let missing = |said| BuildError::NoRepository {
            directory: directory.to_owned(),
            said,
        };
        if !done.status.success() {
            return Err(missing(done.said()));
        }
        let [top, common] = two_lines(&done.stdout)
            .ok_or_else(|| missing("git names no working tree".to_owned()))?;
        let here = directory
            .canonicalize()
            .map_err(BuildError::at(directory))?;
        let inside = here
            .strip_prefix(&top)
            .map_err(|_| missing(format!("git names {}", top.display())))?;
        Ok(Self {
            inside: inside.to_owned(),
            top,
            common,
            interruption,
        })
    }

    /// Git at the top.
    pub(crate) fn git(&self) -> Command {
        git_in(&self.top)
    }

    /// Runs git, which may fail.
    pub(crate) fn try_git<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Result<Finished, BuildError> {
        self.interruption.run(self.git().args(args), None)
    }

    /// The commit that `name` means.
    pub(crate) fn commit(&self, name: &str) -> Result<Commit, BuildError> {
        let wanted = format!("{name}^{{commit}}");
        let done = self.try_git(["rev-parse", "--verify", "--end-of-options", &wanted])?;
        let id = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        if !done.status.success() || id.is_empty() {
            return Err(BuildError::UnknownRevision {
                revision: name.to_owned(),
                said: done.said(),
            });
        }
        Ok(Commit {
            name: name.to_owned(),
            id,
        })
    }

    /// A file of a commit, by its path below the top.
    pub(crate) fn file_of(
        &self,
        commit: &Commit,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, BuildError> {
        let mut object = OsString::from(format!("{}:", commit.id));
        object.push(path);
        let args = [OsStr::new("cat-file"), OsStr::new("blob"), &object];
        let done = self.try_git(args)?;
        Ok(done.status.success().then_some(done.stdout))
    }

    /// The files of a commit, by their paths below the top.
    pub(crate) fn files_of(&self, commit: &Commit) -> Result<Vec<PathBuf>, BuildError> {
        let done = self.try_git(["ls-tree", "-r", "-z", "--name-only", &commit.id])?;
        let listing = done.output_of_git(&commit.name, "ls-tree")?;
        let paths = listing.split(|byte| *byte == 0);
        let paths = paths.map(|path| PathBuf::from(OsStr::from_bytes(path)));
        Ok(paths.collect())
    }

    /// Returns true if git knows any of these files of the working tree.
    pub(crate) fn tracks(&self, paths: &[&str]) -> Result<bool, BuildError> {
        let done = self.try_git(["ls-files", "--"].iter().chain(paths))?;
        Ok(done.status.success() && !done.stdout.is_empty())
    }

    /// Submodules of the working tree with changes inside.
    pub(crate) fn dirty_submodules(&self) -> Result<Vec<PathBuf>, BuildError> {
        if !self.top.join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let mut command = self.git();
        command.args(["--no-optional-locks", "status", "--porcelain=v2", "-z"]);
        command.args(["--untracked-files=no", "--ignore-submodules=none"]);
        let done = self.interruption.run(&mut command, None)?;
        // `1 XY S<c><m><u> mH mI mW hH hI path`
        let entries = done.stdout.split(|byte| *byte == 0);
        let dirty = entries.filter_map(|entry| {
            let mut words = entry.splitn(9, |byte| *byte == b' ');
            let kind = words.nth(2)?;
            let path = words.nth(5)?;
            let changed = kind.first() == Some(&b'S') && kind != b"S...";
            changed.then(|| PathBuf::from(OsStr::from_bytes(path)))
        });
        Ok(dirty.collect())
    }
}

/// Git in a folder, its words in English and to be read.
pub(crate) fn git_in(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    forget_the_repository(&mut command);
    command
}

/// Lets the folder say which repository it is.
pub(crate) fn forget_the_repository(command: &mut Command) {
    for variable in LOCAL {
        command.env_remove(variable);
    }
}

fn two_lines(text: &[u8]) -> Option<[PathBuf; 2]> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let mut path = || Some(PathBuf::from(OsString::from_vec(lines.next()?.to_vec())));
    Some([path()?, path()?]).filter(|[top, _]| top.is_absolute())
}

/// The identity of commits where the user has none.
const NOBODY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "deadheat"),
    ("GIT_AUTHOR_EMAIL", "deadheat@localhost"),
    ("GIT_COMMITTER_NAME", "deadheat"),
    ("GIT_COMMITTER_EMAIL", "deadheat@localhost"),
];

/// Times that a commit is made anew because somebody else was faster.
const ATTEMPTS: u32 = 20;

/// A branch of the repository around a folder.
#[derive(Debug)]
pub struct Branch<'a> {
    repository: Repository<'a>,
    name: String,
}

impl<'a> Branch<'a> {
    /// The branch of this name, which need not be there yet.
    ///
    /// # Errors
    ///
    /// A folder that is in no repository, or a name that git does not take.
    pub fn of(
        directory: &Path,
        name: &str,
        interruption: Interruption<'a>,
    ) -> Result<Self, BuildError> {
        let repository = Repository::around(directory, interruption)?;
        let done = repository.try_git(["check-ref-format", "--branch", name])?;
        done.output_of_git(name, "check-ref-format")?;
        Ok(Self {
            repository,
            name: name.to_owned(),
        })
    }

    /// The commit that the branch is at; `None` where there is no such branch.
    fn tip(&self) -> Result<Option<Commit>, BuildError> {
        match self.repository.commit(&self.name) {
            Ok(commit) => Ok(Some(commit)),
            Err(BuildError::UnknownRevision { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The paths of all files; `None` where there is no such branch.
    ///
    /// # Errors
    ///
    /// A git that fails.
    pub fn files(&self) -> Result<Option<Vec<PathBuf>>, BuildError> {
        let tip = self.tip()?;
        let files = tip.map(|tip| self.repository.files_of(&tip)).transpose()?;
        Ok(files.map(|mut files| {
            files.retain(|path| !path.as_os_str().is_empty());
            files
        }))
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// A git that fails, or a file that is not there.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, BuildError> {
        let tip = self.repository.commit(&self.name)?;
        let bytes = self.repository.file_of(&tip, path)?;
        bytes.ok_or_else(|| self.failed("cat-file", format!("{} is not there", path.display())))
    }

    /// Commits files to the branch, each under its name there, and makes the branch where there is
    /// none. `scratch` is a folder for an index of git's, which is not the user's. Returns false
    /// where the branch holds all of that already.
    ///
    /// # Errors
    ///
    /// A git that fails, or others who commit faster each time.
    pub fn add(
        &self,
        files: &[(PathBuf, String)],
        message: &str,
        scratch: &Path,
    ) -> Result<bool, BuildError> {
        let mut blobs = Vec::new();
        for (file, name) in files {
            let args = [OsStr::new("hash-object"), OsStr::new("-w")];
            let args = args
                .into_iter()
                .chain([OsStr::new("--no-filters"), OsStr::new("--")]);
            let path = std::path::absolute(file).map_err(BuildError::at(file))?;
            let args: Vec<&OsStr> = args.chain([path.as_os_str()]).collect();
            let done = self.repository.try_git(args)?;
            blobs.push((self.answer(done, "hash-object")?, name));
        }
        for attempt in 0..ATTEMPTS {
            let tip = self.tip()?;
            let index = scratch.join(format!("index-{attempt}"));
            if let Some(tip) = &tip {
                self.plumb(&index, &["read-tree", &tip.id])?;
            }
            for (blob, name) in &blobs {
                let entry = format!("100644,{blob},{name}");
                self.plumb(&index, &["update-index", "--add", "--cacheinfo", &entry])?;
            }
            let tree = self.plumb(&index, &["write-tree"])?;
            let mut args = vec!["commit-tree", "-m", message, &*tree];
            if let Some(tip) = &tip {
                let before = format!("{}^{{tree}}", tip.id);
                if self.plumb(&index, &["rev-parse", &before])? == tree {
                    return Ok(false);
                }
                args.extend(["-p", &tip.id]);
            }
            let commit = self.plumb(&index, &args)?;
            let reference = format!("refs/heads/{}", self.name);
            // Nothing where there was no branch: it must not have come into being meanwhile.
            let before = tip.map_or_else(|| "0".repeat(commit.len()), |tip| tip.id);
            let args = ["update-ref", &*reference, &*commit, &*before];
            let done = self.repository.try_git(args)?;
            if done.status.success() {
                return Ok(true);
            }
            if attempt + 1 == ATTEMPTS {
                return Err(self.failed("update-ref", done.said()));
            }
        }
        Ok(false)
    }

    /// Runs git with an index of its own, and with an identity where there is none.
    fn plumb(&self, index: &Path, args: &[&str]) -> Result<String, BuildError> {
        let mut command: Command = self.repository.git();
        command.args(args).env("GIT_INDEX_FILE", index);
        if args[0] == "commit-tree" && !self.has_identity()? {
            command.envs(NOBODY);
        }
        let done = self.repository.interruption.run(&mut command, None)?;
        self.answer(done, args[0])
    }

    fn has_identity(&self) -> Result<bool, BuildError> {
        let done = self.repository.try_git(["var", "GIT_COMMITTER_IDENT"])?;
        Ok(done.status.success())
    }

    fn answer(&self, done: Finished, command: &str) -> Result<String, BuildError> {
        let answer = done.output_of_git(&self.name, command)?;
        let answer = OsStr::from_bytes(answer.trim_ascii());
        Ok(answer.to_string_lossy().into_owned())
    }

    fn failed(&self, command: &str, said: String) -> BuildError {
        BuildError::Git {
            revision: self.name.clone(),
            command: command.to_owned(),
            said,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> [String; 2] {
        Revisions::parse(text).unwrap().names()
    }

    #[test]
    fn one_revision_is_held_against_the_working_tree_and_two_against_each_other() {
        assert_eq!(names("HEAD~1"), ["HEAD~1", "working tree"]);
        assert_eq!(names("main..topic/x"), ["main", "topic/x"]);
        assert_eq!(names("v1.2.."), ["v1.2", "HEAD"]);
        assert_eq!(names("..topic"), ["HEAD", "topic"]);
    }

    #[test]
    fn what_names_no_two_sides_is_refused_with_a_way_out() {
        for (text, word) in [
            ("", "missing"),
            ("..", "missing"),
            ("main...topic", "git merge-base main topic"),
            ("...topic", "git merge-base HEAD topic"),
            ("-x", "'-x'"),
            ("main..--output=x", "'--output=x'"),
        ] {
            let said = Revisions::parse(text).unwrap_err().to_string();
            assert!(said.contains(word), "{text}: {said}");
        }
    }
}
