//! Builds commits one at a time, for histories and bisections, whose number of commits is not known
//! in advance.

use std::path::{Path, PathBuf};

use crate::artifacts::Seed;
use crate::benches::BenchSource;
use crate::commits::{CommitChanges, CommitInfo, CommitRange, Parents};
use crate::error::{BuildError, Note};
use crate::recipe::Recipe;
use crate::repository::{Commit, Repository};
use crate::sides::{Builder, Side};
use crate::storage::Home;
use crate::subprocess::Interruption;
use crate::way::Way;

/// Builds commits of one repository, each in its own folder in the user's cache.
pub struct CommitBuilder<'a> {
    repository: Repository<'a>,
    /// The recipe, compiler and environment, read once so that all commits are built alike.
    way: Way<'a>,
    seed: Option<Seed>,
    /// The folders of the builds found so far, as in [`Builder::found`].
    found: Vec<PathBuf>,
    bench_source: Option<BenchSource>,
    /// True after the first call of [`CommitBuilder::build`], which chooses the benchmark library.
    has_begun: bool,
}

/// Returns true if the working tree around `directory` equals a commit.
///
/// # Errors
///
/// The folder is not in a repository, or git fails.
pub fn is_clean(directory: &Path, interruption: Interruption<'_>) -> Result<bool, BuildError> {
    let repository = Repository::around(directory, interruption)?;
    Ok(repository.clean_head()?.is_some())
}

impl<'a> CommitBuilder<'a> {
    /// Opens the repository that contains the user's folder `directory`.
    ///
    /// # Errors
    ///
    /// The folder is not in a repository, the recipe is invalid, git fails, or the compiler cannot
    /// be run.
    pub fn open(
        directory: &Path,
        recipe: &'a Recipe,
        interruption: Interruption<'a>,
    ) -> Result<Self, BuildError> {
        let repository = Repository::around(directory, interruption)?;
        if let Recipe::Command(build) = recipe {
            build.check(&repository)?;
        }
        for home in Home::all(&repository.top)? {
            home.clear_abandoned(&repository)?;
        }
        let way = Way::of_one(&repository, recipe)?;
        Ok(Self {
            repository,
            way,
            seed: None,
            found: Vec::new(),
            bench_source: None,
            has_begun: false,
        })
    }

    /// Returns the submodules with uncommitted changes, which are not part of any commit.
    ///
    /// # Errors
    ///
    /// Git fails.
    pub fn dirty_submodules(&self) -> Result<Vec<PathBuf>, BuildError> {
        self.repository.dirty_submodules()
    }

    /// Returns the commit of the working tree; `None` if the tree has uncommitted changes.
    ///
    /// # Errors
    ///
    /// Git fails.
    pub fn clean_head(&self) -> Result<Option<CommitInfo>, BuildError> {
        self.repository.clean_head()
    }

    /// Returns the commit that `name` refers to.
    ///
    /// # Errors
    ///
    /// `name` does not refer to a commit.
    pub fn commit(&self, name: &str) -> Result<CommitInfo, BuildError> {
        self.repository.commit_info(name)
    }

    /// Returns the commits after `good` up to `bad`, the oldest first.
    ///
    /// # Errors
    ///
    /// A name does not refer to a commit, or following the parents of `bad` does not reach `good`.
    pub fn range(
        &self,
        good: &str,
        bad: &str,
        parents: Parents,
    ) -> Result<CommitRange, BuildError> {
        self.repository.range(good, bad, parents)
    }

    /// Returns the merge base of the first parent of `merge` and of `merged`; `None` if they have
    /// no common ancestor.
    ///
    /// # Errors
    ///
    /// Git fails.
    pub fn merge_base(&self, merge: &str, merged: &str) -> Result<Option<String>, BuildError> {
        self.repository.merge_base(&format!("{merge}^1"), merged)
    }

    /// Returns the changes of each of these commits relative to its first parent, in the given
    /// order.
    ///
    /// # Errors
    ///
    /// Git fails.
    pub fn changes(&self, ids: &[&str]) -> Result<Vec<CommitChanges>, BuildError> {
        self.repository.changes(ids)
    }

    /// Adds the bench targets of `side` to each commit built after this call that lacks them.
    pub fn take_benches_of(&mut self, side: &Side) {
        self.bench_source = Some(side.bench_source(false));
    }

    /// Builds a commit, or returns its stored build. Calls `tell` with each note for the user as it
    /// arises.
    ///
    /// # Errors
    ///
    /// [`BuildError`]. If [`BuildError::is_of_one_commit`] is true, other commits may still build.
    pub fn build(
        &mut self,
        commit: &CommitInfo,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Side, BuildError> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if is_first {
            self.way.tell_of_workspace(tell);
            self.way.swap_library(&self.repository, tell)?;
        }
        let built = self.build_once(commit, tell);
        match built {
            // All commits must use the same harness, so the first commit decides for all of them.
            Err(BuildError::NotWithOurLibrary {
                library,
                revision,
                problem,
            }) if is_first => {
                let problem =
                    format!("{revision} does not build with deadheat's library ({problem})");
                tell(Note::OwnLibrary { library, problem });
                self.way.replacement = None;
                self.build_once(commit, tell)
            }
            built => built,
        }
    }

    fn build_once(
        &mut self,
        commit: &CommitInfo,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Side, BuildError> {
        let mut builder = Builder {
            repository: &self.repository,
            seed: self.seed.take(),
            found: std::mem::take(&mut self.found),
            lock_giver: None,
            tell,
        };
        let named = Commit {
            name: commit.short().to_owned(),
            id: commit.id.clone(),
        };
        let built = builder.commit(&self.way, &named, self.bench_source.as_ref());
        (self.seed, self.found) = (builder.seed, builder.found);
        built
    }
}
