//! Reads and commits data files on a branch by git's plumbing commands, without a check-out. The
//! working tree and its index stay unchanged.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use deadheat_model::path_of_bytes;

use crate::error::BuildError;
use crate::git::Git;
use crate::repository::{Commit, Repository};
use crate::subprocess::{Finished, Interruption};

/// The author and committer of commits if git is not configured with the user's identity.
const NOBODY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "deadheat"),
    ("GIT_AUTHOR_EMAIL", "deadheat@localhost"),
    ("GIT_COMMITTER_NAME", "deadheat"),
    ("GIT_COMMITTER_EMAIL", "deadheat@localhost"),
];

/// The largest number of attempts to commit if other processes update the branch at the same time.
const ATTEMPTS: u32 = 20;

/// The prefix of branch names. With it, git cannot confuse a branch with a tag or a file of the
/// same name.
const HEADS: &str = "refs/heads/";

/// A branch of a repository.
#[derive(Debug)]
pub struct Branch<'a> {
    repository: Repository<'a>,
    name: String,
}

impl<'a> Branch<'a> {
    /// Opens the branch `name` of the repository that contains `directory`. The branch need not
    /// exist yet. `refs/heads/NAME` is the same as `NAME`.
    ///
    /// # Errors
    ///
    /// The folder is not in a repository, or `name` is not a valid name of a branch.
    pub fn of(
        directory: &Path,
        name: &str,
        interruption: Interruption<'a>,
    ) -> Result<Self, BuildError> {
        let repository = Repository::around(directory, interruption)?;
        let short = name.strip_prefix(HEADS).unwrap_or(name);
        let git = repository.git(&["check-ref-format"]);
        let done = repository.run(git.value("--branch", short))?;
        // `--branch` also accepts `@{-1}`, and in some versions of git `@` and `HEAD`, which all
        // select another commit. `refs/tags/x` is a valid name of a branch, but would be confused
        // with a tag.
        let is_itself = done.stdout.trim_ascii() == short.as_bytes();
        let is_special = matches!(short, "@" | "HEAD") || short.starts_with("refs/");
        if !done.status.success() || !is_itself || is_special {
            return Err(BuildError::NoBranchName(name.to_owned()));
        }
        Ok(Self {
            repository,
            name: short.to_owned(),
        })
    }

    /// Returns the name of the branch without `refs/heads/`.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn reference(&self) -> String {
        format!("{HEADS}{}", self.name)
    }

    fn tip(&self) -> Result<Option<Commit>, BuildError> {
        match self.repository.commit(&self.reference()) {
            Ok(commit) => Ok(Some(commit)),
            Err(BuildError::UnknownRevision { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the paths of the wanted files on the branch, without submodules and symbolic links;
    /// `None` if the branch does not exist. If several files have the same content, only the first
    /// is returned: a small branch may name one large compressed file many times.
    ///
    /// # Errors
    ///
    /// Git fails, or its list of files is longer than deadheat reads.
    pub fn files(
        &self,
        is_wanted: impl Fn(&Path) -> bool,
    ) -> Result<Option<Vec<PathBuf>>, BuildError> {
        let Some(tip) = self.tip()? else {
            return Ok(None);
        };
        let git = self.repository.git(&["ls-tree", "-r", "-z"]);
        let listing = self.repository.output(git.words([&tip.id]), &self.name)?;
        let entries = listing.split(|byte| *byte == 0);
        let mut seen = BTreeSet::new();
        // MODE TYPE ID, a tab and the path; the modes of files begin with 100.
        let paths = entries.filter_map(|entry| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let path = path_of_bytes(&entry[tab + 1..]);
            let is_file = entry.starts_with(b"100") && is_wanted(&path);
            (is_file && seen.insert(entry[..tab].to_owned())).then_some(path)
        });
        Ok(Some(paths.collect()))
    }

    /// Returns the content of a file on the branch; `None` if the branch or the file does not
    /// exist.
    ///
    /// # Errors
    ///
    /// Git fails.
    pub fn find(&self, path: &Path) -> Result<Option<Vec<u8>>, BuildError> {
        match self.tip()? {
            Some(tip) => self.repository.file_of(&tip, path),
            None => Ok(None),
        }
    }

    /// Returns the content of a file on the branch.
    ///
    /// # Errors
    ///
    /// Git fails, or the file does not exist.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, BuildError> {
        self.find(path)?
            .ok_or_else(|| self.failed("cat-file", format!("{} does not exist", path.display())))
    }

    /// Commits files to the branch, each under the given name, and creates the branch if necessary.
    /// `scratch` is a folder for a temporary git index. Returns false if the branch already
    /// contains all of them.
    ///
    /// # Errors
    ///
    /// The branch is checked out, it has files but none in the top folders of `files`, git fails,
    /// or other processes update the branch first in every attempt.
    pub fn add(
        &self,
        files: &[(PathBuf, String)],
        message: &str,
        scratch: &Path,
    ) -> Result<bool, BuildError> {
        self.refuse_checked_out()?;
        // Also fails if another writer filled the branch with countless names, because git's index
        // would hold all of them.
        let present = self.files(|_| true)?.unwrap_or_default();
        let top = |path: &Path| {
            path.components()
                .next()
                .map(|top| top.as_os_str().to_owned())
        };
        let tops: BTreeSet<_> = files.iter().map(|(_, name)| top(Path::new(name))).collect();
        if !present.is_empty() && !present.iter().any(|path| tops.contains(&top(path))) {
            return Err(BuildError::ForeignBranch(self.name.clone()));
        }
        let mut blobs = Vec::new();
        for (file, name) in files {
            let path = std::path::absolute(file).map_err(BuildError::at(file))?;
            let git = self.repository.git(&["hash-object", "-w", "--no-filters"]);
            blobs.push((self.answer(git.paths([&path]))?, name));
        }
        for attempt in 0..ATTEMPTS {
            let tip = self.tip()?;
            let index = scratch.join(format!("index-{attempt}"));
            let plumb = |words: &[&'static str]| {
                let git = self.repository.git(words);
                git.variable("GIT_INDEX_FILE", &index)
            };
            if let Some(tip) = &tip {
                self.answer(plumb(&["read-tree"]).words([&tip.id]))?;
            }
            for (blob, name) in &blobs {
                let entry = format!("100644,{blob},{name}");
                self.answer(plumb(&["update-index", "--add"]).value("--cacheinfo", entry))?;
            }
            let tree = self.answer(plumb(&["write-tree"]))?;
            let mut git = self.repository.git(&["commit-tree"]).value("-m", message);
            if let Some(tip) = &tip {
                let before = format!("{}^{{tree}}", tip.id);
                let git_before = self.repository.git(&["rev-parse", "--verify"]);
                if self.answer(git_before.words([&before]))? == tree {
                    return Ok(false);
                }
                git = git.value("-p", &tip.id);
            }
            if !self.has_identity()? {
                for (name, value) in NOBODY {
                    git = git.variable(name, value);
                }
            }
            let commit = self.answer(git.words([&tree]))?;
            // All zeros tell git that the branch must not exist yet.
            let before = tip.map_or_else(|| "0".repeat(commit.len()), |tip| tip.id);
            let done = self.update(&commit, &before)?;
            if done.status.success() {
                return Ok(true);
            }
            if attempt + 1 == ATTEMPTS {
                return Err(self.failed("update-ref", done.said()));
            }
        }
        Ok(false)
    }

    fn update(&self, commit: &str, before: &str) -> Result<Finished, BuildError> {
        let git = self.repository.git(&["update-ref", "--no-deref"]);
        let reference = self.reference();
        self.repository
            .run(git.words([&*reference, commit, before]))
    }

    /// Returns an error if the branch is checked out in a working tree, because the files and index
    /// there would lack the new commit, or if the branch is a symbolic ref to another branch.
    fn refuse_checked_out(&self) -> Result<(), BuildError> {
        let reference = self.reference();
        let git = self.repository.git(&["symbolic-ref", "--quiet"]);
        let done = self.repository.run(git.words([&reference]))?;
        let mut references = vec![reference];
        if done.status.success() {
            references.push(String::from_utf8_lossy(done.stdout.trim_ascii()).into_owned());
        }
        let git = self.repository.git(&["worktree", "list", "--porcelain"]);
        let listing = self.repository.output(git, &self.name)?;
        let mut lines = listing.split(|byte| *byte == b'\n');
        let is_checked_out = lines.any(|line| {
            let branch = line.strip_prefix(b"branch ");
            branch.is_some_and(|branch| references.iter().any(|one| one.as_bytes() == branch))
        });
        if is_checked_out || references.len() > 1 {
            return Err(BuildError::CheckedOut(self.name.clone()));
        }
        Ok(())
    }

    fn has_identity(&self) -> Result<bool, BuildError> {
        let git = self.repository.git(&["var", "GIT_COMMITTER_IDENT"]);
        Ok(self.repository.run(git)?.status.success())
    }

    /// Runs git and returns its output, such as an object id.
    fn answer(&self, git: Git) -> Result<String, BuildError> {
        let answer = self.repository.output(git, &self.name)?;
        Ok(String::from_utf8_lossy(answer.trim_ascii()).into_owned())
    }

    fn failed(&self, command: &str, said: String) -> BuildError {
        BuildError::Git {
            revision: self.name.clone(),
            command: command.to_owned(),
            said,
        }
    }
}
