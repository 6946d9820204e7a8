//! Commits built one at a time, all in one way: those of a history or of a search, of which nobody
//! knows beforehand how many it takes.

use std::path::{Path, PathBuf};

use crate::artifacts::Seed;
use crate::benches::BenchSource;
use crate::commits::{CommitChanges, CommitInfo, CommitRange, Parents};
use crate::error::{BuildError, Note};
use crate::recipe::{Recipe, Way};
use crate::repository::{Commit, Repository};
use crate::sides::{Builder, Side};
use crate::storage::Home;
use crate::subprocess::Interruption;

/// A repository whose commits are built, each in a place of its own below `.deadheat`.
pub struct CommitBuilder<'a> {
    repository: Repository<'a>,
    /// Compiler and surroundings are asked for once: what is raced against each other is built by
    /// the same.
    way: Way<'a>,
    seed: Option<Seed>,
    bench_source: Option<BenchSource>,
}

impl<'a> CommitBuilder<'a> {
    /// The builder of commits around the user's folder `directory`.
    ///
    /// # Errors
    ///
    /// No repository, a request that makes no sense, or a compiler that cannot be asked.
    pub fn open(
        directory: &Path,
        recipe: &'a Recipe,
        interruption: Interruption<'a>,
    ) -> Result<Self, BuildError> {
        let repository = Repository::around(directory, interruption)?;
        if let Recipe::Command(build) = recipe {
            build.check(&repository)?;
        }
        for home in Home::all(&repository.top) {
            home.clear_abandoned(&repository)?;
        }
        let way = Way::of_one(&repository, recipe)?;
        Ok(Self {
            repository,
            way,
            seed: None,
            bench_source: None,
        })
    }

    /// The folders with changes inside of submodules, which no commit has.
    ///
    /// # Errors
    ///
    /// A git that fails.
    pub fn dirty_submodules(&self) -> Result<Vec<PathBuf>, BuildError> {
        self.repository.dirty_submodules()
    }

    /// The commit that the working tree is; `None` where it has changes, which commits lack.
    ///
    /// # Errors
    ///
    /// A git that fails.
    pub fn clean_head(&self) -> Result<Option<CommitInfo>, BuildError> {
        self.repository.clean_head()
    }

    /// The commit that `name` means.
    ///
    /// # Errors
    ///
    /// A name that means none.
    pub fn commit(&self, name: &str) -> Result<CommitInfo, BuildError> {
        self.repository.commit_info(name)
    }

    /// The commits after `good` and up to `bad`, the oldest first.
    ///
    /// # Errors
    ///
    /// Names that mean none, or a `good` that the parents of `bad` do not lead to.
    pub fn range(
        &self,
        good: &str,
        bad: &str,
        parents: Parents,
    ) -> Result<CommitRange, BuildError> {
        self.repository.range(good, bad, parents)
    }

    /// The commit that a merge and the line it merged have in common before it: that of the first
    /// parent of `merge` and `merged`; `None` where they share none.
    ///
    /// # Errors
    ///
    /// A git that fails.
    pub fn merge_base(&self, merge: &str, merged: &str) -> Result<Option<String>, BuildError> {
        self.repository.merge_base(&format!("{merge}^1"), merged)
    }

    /// The changes of each of these commits against its first parent, in this order.
    ///
    /// # Errors
    ///
    /// A git that fails.
    pub fn changes(&self, ids: &[&str]) -> Result<Vec<CommitChanges>, BuildError> {
        self.repository.changes(ids)
    }

    /// Has all further commits built with those bench targets of this side that they lack.
    pub fn take_benches_of(&mut self, side: &Side) {
        self.bench_source = Some(side.bench_source(false));
    }

    /// Builds a commit, or finds what was built of it before. `tell` hears what the user should
    /// know, as it comes.
    ///
    /// # Errors
    ///
    /// [`BuildError`], which may be [of this commit alone](BuildError::is_of_one_commit).
    pub fn build(
        &mut self,
        commit: &CommitInfo,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Side, BuildError> {
        let mut builder = Builder {
            repository: &self.repository,
            seed: self.seed.take(),
            tell,
        };
        let named = Commit {
            name: commit.short().to_owned(),
            id: commit.id.clone(),
        };
        let built = builder.commit(&self.way, &named, self.bench_source.as_ref());
        self.seed = builder.seed;
        built
    }
}
