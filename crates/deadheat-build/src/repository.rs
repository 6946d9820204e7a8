//! The user's git repository, and the revisions to compare: `BASE` or `BASE..HEAD`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use deadheat_link::canonicalize;
use deadheat_model::{is_object_id, path_of_bytes, suggestion};

use crate::disk::{self, top_of};
use crate::error::{BuildError, CloneFacts};
use crate::git::Git;
use crate::subprocess::{Finished, Interruption};

/// A pattern for the settings of git that change the content of files that it checks out, such as
/// those of Git LFS.
const CHECKOUT_SETTINGS: &str = r"^(filter\..*|core\.(autocrlf|eol|symlinks|attributesfile))$";

/// The names of the two revisions to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revisions {
    /// The baseline, as the user wrote it; `None` for the working tree.
    pub base: Option<String>,
    /// The candidate; `None` for the working tree.
    pub head: Option<String>,
}

/// The reason why a text does not name two sides.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevisionsError {
    /// A revision is missing.
    #[error(
        "a revision is missing\nhelp: name a commit as git does: main, HEAD~1, v1.2, main..topic"
    )]
    Empty,
    /// The text contains three dots.
    #[error(
        "'{0}': write two dots, not three\nhelp: to start at the merge base, write \"$(git \
         merge-base {first} {second})..{second}\"",
        first = .0.split("...").next().filter(|side| !side.is_empty()).unwrap_or("HEAD"),
        second = .0.split("...").nth(1).filter(|side| !side.is_empty()).unwrap_or("HEAD")
    )]
    ThreeDots(String),
    /// The text begins with a dash and would be taken for an option.
    #[error("'{0}' is neither a revision nor a known option; --help lists the options")]
    Dash(String),
}

impl Revisions {
    /// The working tree's name in messages.
    pub const WORKING_TREE: &str = "working tree";

    /// Parses `BASE` or `BASE..HEAD`. A side left out next to the dots is `HEAD`, as in git.
    ///
    /// # Errors
    ///
    /// [`RevisionsError`] if the text is neither. The existence of the revisions is checked later.
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

    /// Returns the working tree as both sides, to compare two builds of it.
    pub fn working_tree_twice() -> Self {
        Self {
            base: None,
            head: None,
        }
    }

    /// Returns the names of the sides, the baseline first.
    pub fn names(&self) -> [String; 2] {
        [&self.base, &self.head].map(|side| {
            let name = side.as_deref().unwrap_or(Self::WORKING_TREE);
            name.to_owned()
        })
    }
}

impl std::fmt::Display for Revisions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let base = self.base.as_deref().unwrap_or(Self::WORKING_TREE);
        match &self.head {
            None => f.write_str(base),
            Some(head) => write!(f, "{base}..{head}"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Repository<'a> {
    /// The absolute path of the top of the working tree.
    pub(crate) top: PathBuf,
    /// The user's working directory, relative to the top.
    pub(crate) inside: PathBuf,
    /// The git folder that all working trees of the repository share.
    pub(crate) common: PathBuf,
    pub(crate) interruption: Interruption<'a>,
}

/// A commit, with the name that the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) name: String,
    pub(crate) id: String,
}

impl Commit {
    /// Returns a placeholder for the working tree in keys of builds. Its id is 40 zeros, which has
    /// the form of a commit id.
    pub(crate) fn working_tree() -> Self {
        Self {
            name: Revisions::WORKING_TREE.to_owned(),
            id: "0".repeat(40),
        }
    }

    /// Returns the first 8 digits of the commit id.
    pub(crate) fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }
}

/// The length of the shortest abbreviation of a commit id that git accepts.
const SHORTEST_ID: usize = 4;

impl<'a> Repository<'a> {
    pub(crate) fn around(
        directory: &Path,
        interruption: Interruption<'a>,
    ) -> Result<Self, BuildError> {
        // Git runs at the top. If `directory` looked like a bare repository, git would use it as
        // one, and a commit can contain such a folder.
        let from = top_of(directory).unwrap_or(directory);
        let question = ["rev-parse", "--path-format=absolute"];
        let done = Git::new(from, &[], &question)
            .options(&["--show-toplevel", "--git-common-dir"])
            .run(&interruption, None)?;
        let missing = |said| BuildError::NoRepository {
            directory: directory.to_owned(),
            said,
        };
        if !done.status.success() {
            return Err(missing(done.said()));
        }
        let [top, common] = two_lines(&done.stdout)
            .ok_or_else(|| missing("git reports no working tree".to_owned()))?;
        let here = canonicalize(directory).map_err(BuildError::at(directory))?;
        let inside = here
            .strip_prefix(&top)
            .map_err(|_| missing(format!("its working tree is {}", top.display())))?;
        Ok(Self {
            inside: inside.to_owned(),
            top,
            common,
            interruption,
        })
    }

    pub(crate) fn git(&self, words: &[&'static str]) -> Git {
        Git::new(&self.top, &[], words)
    }

    /// Runs git and returns its output even if it fails.
    pub(crate) fn run(&self, git: Git) -> Result<Finished, BuildError> {
        git.run(&self.interruption, None)
    }

    /// Runs git and returns its standard output. Errors name `revision`.
    pub(crate) fn output(&self, git: Git, revision: &str) -> Result<Vec<u8>, BuildError> {
        git.output(revision, &self.interruption)
    }

    pub(crate) fn checkout_settings(&self) -> Result<Vec<u8>, BuildError> {
        let git = self.git(&["config", "-z", "--get-regexp", CHECKOUT_SETTINGS]);
        Ok(self.run(git)?.stdout)
    }

    /// Returns the files that may give attributes to files of any repository, in the order in which
    /// git reads them. They need not exist.
    pub(crate) fn attributes_files(&self) -> Result<Vec<PathBuf>, BuildError> {
        let git = self.git(&["config", "--path", "--get", "core.attributesFile"]);
        let named = self.run(git)?.stdout;
        let named = named.strip_suffix(b"\n").map(path_of_bytes);
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = || Some(PathBuf::from(variable("HOME")?).join(".config"));
        let config = || variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
        let default = || Some(config()?.join("git/attributes"));
        let of_the_user = named.or_else(default);
        let of_the_system = Some(PathBuf::from("/etc/gitattributes"));
        let of_the_repository = Some(self.common.join("info/attributes"));
        let all = [of_the_system, of_the_user, of_the_repository];
        Ok(all.into_iter().flatten().collect())
    }

    pub(crate) fn is_shallow(&self) -> Result<bool, BuildError> {
        let done = self.run(self.git(&["rev-parse", "--is-shallow-repository"]))?;
        Ok(String::from_utf8_lossy(&done.stdout).trim() == "true")
    }

    fn is_empty(&self) -> Result<bool, BuildError> {
        let git = self.git(&["rev-list", "--all", "--max-count=1"]);
        Ok(self.run(git)?.stdout.is_empty())
    }

    /// Returns the facts that lead to the advice on a revision that this clone lacks.
    fn facts_without(&self, revision: &str) -> Result<CloneFacts, BuildError> {
        let remotes = self.lines(&["remote"])?;
        let refs = ["refs/heads", "refs/remotes", "refs/tags"];
        let mut words = vec!["for-each-ref", "--count=5000", "--format=%(refname:short)"];
        words.extend(refs);
        let names = self.lines(&words)?;
        let is_known = |name: &str| names.iter().any(|known| known == name);
        // The rest names a commit relative to the branch or tag: `main~1`, `main@{1}`.
        let end = revision.find(['~', '^', '@', ':']);
        let (name, rest) = revision.split_at(end.unwrap_or(revision.len()));
        let remote = name.split_once('/');
        let known_remote = remote.filter(|(remote, _)| remotes.iter().any(|one| one == remote));
        let missing_remote = remote.filter(|(remote, branch)| {
            known_remote.is_none() && (*remote == "origin" || is_known(branch))
        });
        let similar = match missing_remote {
            _ if is_known(name) || name == "HEAD" => None,
            Some((_, branch)) if is_known(branch) => Some(branch),
            Some((_, branch)) => suggestion(branch, names.iter().map(String::as_str)),
            None => suggestion(name, names.iter().map(String::as_str)),
        };
        let is_plain = |text: &str| {
            let mut all = text.chars();
            all.all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)) && !text.starts_with('-')
        };
        let remote_branch = known_remote.filter(|(remote, branch)| {
            !branch.is_empty() && !is_known(name) && is_plain(remote) && is_plain(branch)
        });
        Ok(CloneFacts {
            is_shallow: self.is_shallow()?,
            is_empty: self.is_empty()?,
            has_remote: !remotes.is_empty(),
            missing_remote: missing_remote.map(|(remote, _)| remote.to_owned()),
            remote_branch: remote_branch
                .map(|(remote, branch)| (remote.to_owned(), branch.to_owned())),
            similar: similar.map(|similar| format!("{similar}{rest}")),
        })
    }

    /// Returns the lines that git prints; none if it fails.
    fn lines(&self, words: &[&'static str]) -> Result<Vec<String>, BuildError> {
        let done = self.run(self.git(words))?;
        let text = String::from_utf8_lossy(&done.stdout);
        Ok(text.lines().map(str::to_owned).collect())
    }

    pub(crate) fn commit(&self, name: &str) -> Result<Commit, BuildError> {
        let done = self.ask_for_commit(name)?;
        let id = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        // Git accepts `^main`, but prints `^ID`, which excludes commits instead of naming one.
        if !done.status.success() || !is_object_id(&id) {
            return Err(BuildError::UnknownRevision {
                revision: name.to_owned(),
                said: done.said(),
                clone: Box::new(self.facts_without(name)?),
            });
        }
        if done.said().contains("is ambiguous") || self.begins_an_id(name)? {
            return Err(BuildError::AmbiguousRevision(name.to_owned()));
        }
        Ok(Commit {
            name: name.to_owned(),
            id,
        })
    }

    fn ask_for_commit(&self, name: &str) -> Result<Finished, BuildError> {
        // Git would search for `text^{commit}`.
        let wanted = match name.starts_with(":/") {
            true => name.to_owned(),
            false => format!("{name}^{{commit}}"),
        };
        // Git prefers a tag to a branch of the same name, and warns of it unless its configuration
        // says not to.
        let warn = ["-c", "core.warnAmbiguousRefs=true"];
        let git = Git::new(&self.top, &warn, &["rev-parse", "--verify"]);
        self.run(git.words([&wanted]))
    }

    /// Returns true if a revision begins with the name of a branch or tag that is also the
    /// beginning of another commit's id. Git prefers the branch or tag, which anyone who may push
    /// can create.
    fn begins_an_id(&self, name: &str) -> Result<bool, BuildError> {
        // Removes a suffix, as in `ea105b9e~1`.
        let name = name.split(['~', '^', '@', ':']).next().unwrap_or(name);
        let is_hexadecimal = name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if name.len() < SHORTEST_ID || !is_hexadecimal {
            return Ok(false);
        }
        let found = self.ask_for_commit(name)?.stdout;
        if String::from_utf8_lossy(&found).starts_with(&name.to_lowercase()) {
            return Ok(false);
        }
        let git = self.git(&["rev-parse"]).attached("--disambiguate", name);
        let listed = self.run(git)?.stdout;
        for other in String::from_utf8_lossy(&listed).lines() {
            let kind = self
                .run(self.git(&["cat-file", "-t"]).words([other]))?
                .stdout;
            if kind.trim_ascii() == b"commit" {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the content of a file in a commit, by its path relative to the top; `None` if the
    /// commit lacks the file.
    pub(crate) fn file_of(
        &self,
        commit: &Commit,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, BuildError> {
        let mut object = OsString::from(format!("{}:", commit.id));
        object.push(path);
        let done = self.run(self.git(&["cat-file", "blob"]).words([&object]))?;
        Ok(done.status.success().then_some(done.stdout))
    }

    /// Returns true if a commit contains a file or folder at this path, relative to the top.
    pub(crate) fn holds(&self, commit: &Commit, path: &Path) -> Result<bool, BuildError> {
        let mut object = OsString::from(format!("{}:", commit.id));
        object.push(path);
        let done = self.run(self.git(&["cat-file", "-e"]).words([&object]))?;
        Ok(done.status.success())
    }

    pub(crate) fn is_link(&self, commit: &Commit, path: &Path) -> Result<bool, BuildError> {
        let git = self.git(&["ls-tree", "--full-tree"]).words([&commit.id]);
        let listing = self.output(git.paths([path]), &commit.name)?;
        Ok(listing.starts_with(b"120000 "))
    }

    pub(crate) fn files_of(&self, commit: &Commit) -> Result<Vec<PathBuf>, BuildError> {
        let git = self.git(&["ls-tree", "-r", "-z", "--name-only"]);
        let listing = self.output(git.words([&commit.id]), &commit.name)?;
        let paths = listing.split(|byte| *byte == 0);
        Ok(paths.map(path_of_bytes).collect())
    }

    /// Returns true if git tracks any of these files or anything below these folders.
    pub(crate) fn tracks<S: AsRef<OsStr>>(&self, paths: &[S]) -> Result<bool, BuildError> {
        let done = self.run(self.git(&["ls-files"]).paths(paths))?;
        Ok(done.status.success() && !done.stdout.is_empty())
    }

    /// Returns true if tracked files below a folder of the working tree differ from those of a
    /// commit. The folder is relative to the top.
    pub(crate) fn differs(&self, commit: &Commit, folder: &Path) -> Result<bool, BuildError> {
        let words = ["diff", "--quiet", "--no-ext-diff", "--no-textconv"];
        let git = self.git(&words).words([&commit.id]).paths([folder]);
        let done = self.run(git)?;
        match done.status.code() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(done.failed(&commit.name, "git diff", None)),
        }
    }

    pub(crate) fn dirty_submodules(&self) -> Result<Vec<PathBuf>, BuildError> {
        if !self.top.join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let question = ["status", "--porcelain=v2", "-z"];
        let done = Git::new(&self.top, &["--no-optional-locks"], &question)
            .options(&["--untracked-files=no", "--ignore-submodules=none"])
            .run(&self.interruption, None)?;
        // The format of an entry: `1 XY S<c><m><u> mH mI mW hH hI path`
        let entries = done.stdout.split(|byte| *byte == 0);
        let dirty = entries.filter_map(|entry| {
            let mut words = entry.splitn(9, |byte| *byte == b' ');
            let kind = words.nth(2)?;
            let path = words.nth(5)?;
            let changed = kind.first() == Some(&b'S') && kind != b"S...";
            changed.then(|| path_of_bytes(path))
        });
        Ok(dirty.collect())
    }
}

fn two_lines(text: &[u8]) -> Option<[PathBuf; 2]> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let mut path = || lines.next().map(path_of_bytes);
    Some([path()?, path()?]).filter(|[top, _]| top.is_absolute())
}

/// A commit, or the working tree.
#[derive(Clone, Debug)]
pub(crate) struct Unbuilt {
    pub(crate) name: String,
    pub(crate) commit: Option<Commit>,
}

impl Unbuilt {
    /// Returns the content of a file, by its path relative to the top; `None` if the side lacks the
    /// file.
    pub(crate) fn file(
        &self,
        repository: &Repository<'_>,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, BuildError> {
        match &self.commit {
            Some(commit) => repository.file_of(commit, path),
            None => Ok(disk::read(repository.top.join(path)).ok()),
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
    fn parses_one_revision_or_two() {
        assert_eq!(names("HEAD~1"), ["HEAD~1", "working tree"]);
        assert_eq!(names("main..topic/x"), ["main", "topic/x"]);
        assert_eq!(names("v1.2.."), ["v1.2", "HEAD"]);
        assert_eq!(names("..topic"), ["HEAD", "topic"]);
    }

    #[test]
    fn rejects_text_that_names_no_two_sides_with_advice() {
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
