//! Two sides, each with its executables.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use deadheat_link::{LinkRecord, Roles, drop_unneeded};

use crate::artifacts::{Messages, Seed, prune};
use crate::benches::{BenchSource, BenchTarget, BenchesFrom, Overlay};
use crate::commits::CommitInfo;
use crate::error::{BuildError, Note};
use crate::go::{GoBuilt, GoSite};
use crate::key::PathDependency;
use crate::python::PytestSite;
use crate::recipe::{CargoBuild, Recipe, Site, Way};
use crate::repository::{Commit, Repository, Revisions};
use crate::slot::{Executable, Index, Slot};
use crate::storage::Home;
use crate::subprocess::Interruption;
use crate::target::target_dir;
use crate::tree::{self, Submodules, Tree};

/// A request for two builds.
#[derive(Debug)]
pub struct Request<'a> {
    /// The working directory of the user, in a working tree of git.
    pub directory: &'a Path,
    /// The two sides.
    pub revisions: &'a Revisions,
    /// The way in which each is built, the baseline first.
    pub recipes: [&'a Recipe; 2],
    /// The side whose bench targets both are built with.
    pub benches: BenchesFrom,
}

/// Both sides, built.
#[derive(Debug)]
pub struct Sides {
    /// The side compared against.
    pub baseline: Side,
    /// The side that is compared.
    pub candidate: Side,
}

/// One side. Its executables are there at least as long as this lives.
#[derive(Debug)]
pub struct Side {
    /// As the user named it.
    pub name: String,
    /// The executables, in the order of the request, or of their names.
    pub executables: Vec<Executable>,
    /// True if it was built before.
    pub was_kept: bool,
    /// The commit that it is; `None` for a working tree with changes.
    pub commit: Option<CommitInfo>,
    /// The folder of its sources that the user stands in, in the working tree or in that of the
    /// commit.
    pub directory: PathBuf,
    /// The top of its sources, and the bench targets that were built of them.
    pub(crate) sources: PathBuf,
    pub(crate) benches: Vec<BenchTarget>,
    _slot: Option<Slot>,
}

impl Side {
    /// As the side whose bench targets the other is built with.
    pub(crate) fn bench_source(&self, replaces: bool) -> BenchSource {
        BenchSource {
            name: self.name.clone(),
            top: self.sources.clone(),
            targets: self.benches.clone(),
            replaces,
        }
    }
}

impl Side {
    /// The Python of the environment that was made for it; `None` if there is no such environment.
    pub fn python(&self) -> Option<PathBuf> {
        let made = self.executables.first()?.path.parent()?;
        let python = made.join("environment").join("bin").join("python");
        python.exists().then_some(python)
    }

    /// Returns true if the bytes of the executables say all that there is to know of the build:
    /// compiled programs that find no library beside them, and run in the user's folder.
    pub fn is_self_contained(&self) -> bool {
        let holds = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|at| at == word);
        let alone = |executable: &Executable| {
            executable.directory.is_none()
                && fs::read(&executable.path)
                    .is_ok_and(|bytes| bytes.starts_with(b"\x7fELF") && !holds(&bytes, b"$ORIGIN"))
        };
        !self.executables.is_empty() && self.executables.iter().all(alone)
    }
}

/// Builds both sides, or finds what was built before. The working tree is built where it is; a
/// commit in a place of its own, below `.deadheat`.
///
/// `tell` hears what the user should know, as it comes. What compilers say goes to standard error.
///
/// # Errors
///
/// [`BuildError`]; then nothing is left of worktrees or of builds that were not finished.
pub fn build(
    request: &Request<'_>,
    interruption: Interruption<'_>,
    tell: &mut dyn FnMut(Note),
) -> Result<Sides, BuildError> {
    let repository = Repository::around(request.directory, interruption)?;
    let revisions = request.revisions;
    for recipe in request.recipes {
        if let Recipe::Command(build) = recipe {
            build.check(&repository)?;
            if revisions.base.is_none() {
                return Err(BuildError::OneTree(build.command.clone()));
            }
        }
    }
    let commit = |name: &Option<String>| {
        let commit = name.as_ref().map(|name| repository.commit(name));
        commit.transpose()
    };
    let (base, head) = (commit(&revisions.base)?, commit(&revisions.head)?);
    let dirty = repository.dirty_submodules()?;
    if !dirty.is_empty() {
        tell(Note::DirtySubmodules {
            paths: dirty,
            raced: head.is_none(),
        });
    }
    for home in Home::all(&repository.top) {
        home.clear_abandoned(&repository)?;
    }
    let ways = Way::of(&repository, request.recipes)?;
    let mut builder = Builder {
        repository: &repository,
        seed: None,
        tell,
    };
    let [base_way, head_way] = &ways;
    // First the side that gives bench targets to the other, or that is built in any case: it fails
    // sooner, and the other may take over its dependencies.
    let gives = request.benches == BenchesFrom::Baseline;
    if gives && head.is_none() {
        let [base, _] = revisions.names();
        return Err(BuildError::BenchesForWorkingTree(base));
    }
    if gives || (head.is_some() && !matches!(head_way.recipe, Recipe::Cargo(_))) {
        let baseline = builder.side(base_way, base.as_ref(), None)?;
        let bench_source = gives.then(|| baseline.bench_source(true));
        let candidate = builder.side(head_way, head.as_ref(), bench_source.as_ref())?;
        return Ok(Sides {
            baseline,
            candidate,
        });
    }
    let candidate = builder.side(head_way, head.as_ref(), None)?;
    let bench_source = candidate.bench_source(request.benches == BenchesFrom::Candidate);
    let baseline = match &base {
        // Once more, and beside the other.
        None => builder.working_tree(base_way, true)?,
        Some(base) => builder.commit(base_way, base, Some(&bench_source))?,
    };
    Ok(Sides {
        baseline,
        candidate,
    })
}

/// All that the builds of one request have in common.
pub(crate) struct Builder<'a> {
    pub(crate) repository: &'a Repository<'a>,
    pub(crate) seed: Option<Seed>,
    pub(crate) tell: &'a mut dyn FnMut(Note),
}

impl Builder<'_> {
    fn side(
        &mut self,
        way: &Way<'_>,
        commit: Option<&Commit>,
        bench_source: Option<&BenchSource>,
    ) -> Result<Side, BuildError> {
        match commit {
            None => self.working_tree(way, false),
            Some(commit) => self.commit(way, commit, bench_source),
        }
    }

    /// Builds the working tree where it is; `beside` what was built of it before, in a target folder
    /// of its own.
    fn working_tree(&mut self, way: &Way<'_>, beside: bool) -> Result<Side, BuildError> {
        let revision = Revisions::WORKING_TREE;
        let top = &self.repository.top;
        let directory = top.join(&self.repository.inside);
        let interruption = &self.repository.interruption;
        let (mut benches, mut place) = (Vec::new(), None);
        // Before the build, which may leave files that git does not ignore.
        let commit = self.repository.clean_head()?;
        let (source, here) = (directory.clone(), top.clone());
        let executables = match way.recipe {
            Recipe::Command(build) => build.run(revision, &directory, interruption, None)?,
            Recipe::Go(_) | Recipe::Pytest(_) => {
                let (slot, executables) = self.working_tree_in_slot(way, directory)?;
                place = Some(slot);
                executables
            }
            Recipe::Cargo(build) => {
                let named = build.target_dir.as_deref();
                let mut target = target_dir(&build.cargo, &directory, named, &build.metadata)?;
                if beside {
                    target.push("deadheat-baseline");
                }
                let site = Site {
                    revision,
                    top,
                    directory,
                    target,
                    lock: None,
                };
                let messages = build.run_here(&site, beside, interruption, self.tell)?;
                benches = messages.bench_targets(top);
                self.seed = Some(Seed {
                    files: messages.dependencies(top, &site.target),
                    target: site.target,
                });
                messages.benches()
            }
        };
        Ok(Side {
            name: revision.to_owned(),
            executables,
            was_kept: false,
            commit,
            directory: source,
            sources: here,
            benches,
            _slot: place,
        })
    }

    /// Builds the working tree by Go or pip, which have no folder of their own for what they make:
    /// it gets one here, and its lock.
    fn working_tree_in_slot(
        &mut self,
        way: &Way<'_>,
        directory: PathBuf,
    ) -> Result<(Slot, Vec<Executable>), BuildError> {
        let revision = Revisions::WORKING_TREE;
        let top = &self.repository.top;
        let home = Home::inside(top);
        home.create(top)?;
        let key = way.key_inputs.key(&Commit::working_tree());
        let mut waiting = || {
            (self.tell)(Note::Waiting {
                revision: revision.to_owned(),
            });
        };
        let interruption = &self.repository.interruption;
        let (slot, index) = Slot::open(&home.folder, &key, interruption, &mut waiting)?;
        let place = Place {
            revision,
            top,
            directory,
            made: slot.folder.join("target"),
            lock: Some(&slot.lock),
        };
        let built = match place.build(way, interruption) {
            Ok(built) => built,
            Err(error) => {
                if index.is_none() {
                    // A folder that cannot be removed now is removed before the next build.
                    let _ = slot.clear();
                }
                return Err(error);
            }
        };
        let mut index = index.unwrap_or_else(|| Index::new(&slot.folder, revision));
        index.executables.clone_from(&built.executables);
        index.write().map_err(BuildError::at(&slot.folder))?;
        slot.share().map_err(BuildError::at(&slot.folder))?;
        Ok((slot, built.executables))
    }

    /// Builds a commit, or finds what was built of it before, with bench targets of the other side
    /// where it lacks them.
    pub(crate) fn commit(
        &mut self,
        way: &Way<'_>,
        commit: &Commit,
        bench_source: Option<&BenchSource>,
    ) -> Result<Side, BuildError> {
        let home = Home::of(self.repository, commit, way.recipe)?;
        let locks = self.borrowed_locks(way, commit)?;
        let mut key_inputs = way.key_inputs.clone();
        for lock in &locks {
            key_inputs.add_file(&self.repository.top.join(lock));
        }
        let mut put_in = None;
        if let Some(bench_source) =
            bench_source.filter(|bench_source| !bench_source.targets.is_empty())
            && let Some(overlay) = Overlay::plan(self.repository, commit, bench_source, &[])?
        {
            overlay.add_to(&mut key_inputs, bench_source);
            put_in = Some((bench_source, overlay));
        }
        home.create(&self.repository.top)?;
        let key = key_inputs.key(commit);
        loop {
            let mut waiting = || {
                (self.tell)(Note::Waiting {
                    revision: commit.name.clone(),
                });
            };
            let interruption = &self.repository.interruption;
            let (slot, index) = Slot::open(&home.folder, &key, interruption, &mut waiting)?;
            match index {
                Some(index) if !index.is_current() => {
                    index.forget().map_err(BuildError::at(&home.folder))?;
                }
                Some(index) if is_recorded(way, &slot)? => {
                    // It counts as used even if that cannot be noted.
                    let _ = index.touch();
                    return self.found(way, commit, slot, index, true);
                }
                // It misses an executable now.
                Some(_) => {}
                None => {
                    let (slot, index) = self.make(way, commit, slot, &locks, put_in)?;
                    home.trim();
                    return self.found(way, commit, slot, index, false);
                }
            }
        }
    }

    fn found(
        &mut self,
        way: &Way<'_>,
        commit: &Commit,
        slot: Slot,
        index: Index,
        was_kept: bool,
    ) -> Result<Side, BuildError> {
        for note in index.notes {
            (self.tell)(note.of(&commit.name));
        }
        let sources = slot.folder.join(tree::NAME);
        if let Some(note) = self.other_toolchain(way, commit, &sources) {
            (self.tell)(note);
        }
        if self.seed.is_none() {
            self.seed = Some(Seed {
                target: slot.folder.join("target"),
                files: index.dependencies,
            });
        }
        Ok(Side {
            name: commit.name.clone(),
            executables: index.executables,
            was_kept,
            commit: Some(self.repository.commit_info(&commit.id)?),
            directory: sources.join(&self.repository.inside),
            sources,
            benches: index.benches,
            _slot: Some(slot),
        })
    }

    /// Builds a commit into an empty slot.
    fn make(
        &mut self,
        way: &Way<'_>,
        commit: &Commit,
        slot: Slot,
        locks: &[PathBuf],
        put_in: Option<(&BenchSource, Overlay)>,
    ) -> Result<(Slot, Index), BuildError> {
        (self.tell)(Note::Building {
            revision: commit.name.clone(),
            commit: commit.short().to_owned(),
        });
        let folder = slot.folder.clone();
        let mut index = Index::new(&folder, &commit.id);
        let tree = Tree::check_out(self.repository, commit, slot)?;
        let mut submodules = Submodules {
            repository: self.repository,
            commit,
            scratch: &folder.join("submodule-index"),
            notes: Vec::new(),
        };
        submodules.fill(&tree.path)?;
        index.notes = submodules.notes;
        for lock in locks {
            let to = tree.path.join(lock);
            fs::copy(self.repository.top.join(lock), &to).map_err(BuildError::at(&to))?;
            index.notes.push(Note::BorrowedLock {
                revision: commit.name.clone(),
                path: lock.clone(),
            });
        }
        let directory = tree.path.join(&self.repository.inside);
        if !directory.is_dir() {
            return Err(BuildError::NoFolder {
                revision: commit.name.clone(),
                folder: self.repository.inside.clone(),
            });
        }
        let (revision, interruption) = (&*commit.name, &self.repository.interruption);
        index.executables = match way.recipe {
            Recipe::Command(build) => build.run(revision, &directory, interruption, tree.lock())?,
            Recipe::Go(_) | Recipe::Pytest(_) => {
                let place = Place {
                    revision,
                    top: &tree.path,
                    directory,
                    made: folder.join("target"),
                    lock: tree.lock(),
                };
                let built = place.build(way, interruption)?;
                index.elsewhere = built
                    .elsewhere
                    .into_iter()
                    .map(PathDependency::now)
                    .collect();
                built.executables
            }
            Recipe::Cargo(build) => {
                let target = folder.join("target");
                if let Some(seed) = &self.seed {
                    seed.plant(&target);
                }
                let site = Site {
                    revision,
                    top: &tree.path,
                    directory,
                    target,
                    lock: tree.lock(),
                };
                let messages = match put_in {
                    None => build.run_apart(&site, self.repository, self.tell)?,
                    Some(put_in) => self.with_benches(build, commit, &site, put_in, &mut index)?,
                };
                index.benches = messages.bench_targets(&tree.path);
                index.dependencies = messages.dependencies(&tree.path, &site.target);
                let elsewhere = messages.elsewhere(&tree.path).into_iter();
                index.elsewhere = elsewhere.map(PathDependency::now).collect();
                messages.benches()
            }
        };
        tree.detach()?;
        prune(&folder.join("target"), &index.dependencies);
        for executable in &index.executables {
            if let Some(made) = executable.path.parent()
                && LinkRecord::home(made).exists()
            {
                // What stays takes room, and does no other harm.
                let _ = drop_unneeded(made);
            }
        }
        index.write().map_err(BuildError::at(&folder))?;
        let slot = tree.keep();
        slot.share().map_err(BuildError::at(&folder))?;
        Ok((slot, index))
    }

    /// Builds a commit with bench targets of the other side. Those that do not compile with it are
    /// left out, and the rest is built again.
    fn with_benches(
        &mut self,
        build: &CargoBuild,
        commit: &Commit,
        site: &Site<'_>,
        (bench_source, mut overlay): (&BenchSource, Overlay),
        index: &mut Index,
    ) -> Result<Messages, BuildError> {
        let mut dropped: Vec<(BenchTarget, String)> = Vec::new();
        loop {
            overlay.write(bench_source, site.top)?;
            let without: Vec<&str> = dropped.iter().map(|(bench, _)| &*bench.name).collect();
            let attempt = build.try_apart(site, self.repository, &without, self.tell)?;
            let (done, messages) = attempt;
            if done.status.success() || overlay.targets.is_empty() {
                show(&messages);
                let names = overlay.targets.iter().map(|target| target.name.clone());
                let benches: Vec<String> = names.collect();
                let (revision, from) = (&commit.name, &bench_source.name);
                index
                    .notes
                    .extend((!benches.is_empty()).then(|| Note::BenchesPutIn {
                        revision: revision.clone(),
                        from: from.clone(),
                        benches,
                    }));
                let left_out = dropped
                    .into_iter()
                    .map(|(bench, problem)| Note::BenchLeftOut {
                        revision: revision.clone(),
                        from: from.clone(),
                        bench: bench.name,
                        problem,
                    });
                index.notes.extend(left_out);
                return build.built(done, messages, site);
            }
            let errors = messages.errors(site.top);
            let is_put_in = |bench: &BenchTarget| overlay.targets.contains(bench);
            let before = dropped.len();
            for error in &errors {
                if let Some(bench) = error.bench.clone().filter(is_put_in) {
                    dropped.push((bench, error.problem.clone()));
                }
            }
            if dropped.len() == before && !errors.is_empty() {
                // It would not compile without them either.
                show(&messages);
                return build.built(done, messages, site);
            }
            if dropped.len() == before {
                let problem = "cargo cannot find what it needs; what it said is above";
                let all = overlay.targets.drain(..);
                dropped.extend(all.map(|bench| (bench, problem.to_owned())));
            }
            overlay.take_back(self.repository, commit, site.top)?;
            let gone: Vec<BenchTarget> = dropped.iter().map(|(bench, _)| bench.clone()).collect();
            overlay =
                Overlay::plan(self.repository, commit, bench_source, &gone)?.unwrap_or_default();
            if overlay.targets.is_empty() && !overlay.shares {
                let problems = dropped.iter();
                let problems =
                    problems.map(|(bench, problem)| format!("{}: {problem}", bench.name));
                return Err(BuildError::BenchesDoNotFit {
                    revision: commit.name.clone(),
                    from: bench_source.name.clone(),
                    problems: problems.collect::<Vec<_>>().join("; "),
                });
            }
        }
    }

    /// Lock files of cargo that git does not know, and that the commit should be built with, as the
    /// working tree is.
    fn borrowed_locks(&self, way: &Way<'_>, commit: &Commit) -> Result<Vec<PathBuf>, BuildError> {
        let Recipe::Cargo(build) = way.recipe else {
            return Ok(Vec::new());
        };
        let mut borrowed = Vec::new();
        for folder in build.lock_folders(self.repository) {
            let lock = folder.join("Cargo.lock");
            let theirs = |file: &Path| self.repository.file_of(commit, file);
            if self.repository.top.join(&lock).is_file()
                && theirs(&lock)?.is_none()
                && theirs(&folder.join("Cargo.toml"))?.is_some()
            {
                borrowed.push(lock);
            }
        }
        Ok(borrowed)
    }

    /// The note that the commit asks for another toolchain than it got, if it does.
    fn other_toolchain(&self, way: &Way<'_>, commit: &Commit, tree: &Path) -> Option<Note> {
        match way.recipe {
            Recipe::Cargo(build) if build.toolchain.is_none() => {}
            _ => return None,
        }
        let folders = self.repository.inside.ancestors();
        let mut files = folders.flat_map(|folder| {
            ["rust-toolchain.toml", "rust-toolchain"].map(|name| folder.join(name))
        });
        let read = |top: &Path, file: &Path| fs::read(top.join(file)).ok();
        let path = files.find(|file| {
            let theirs = read(tree, file);
            theirs.is_some() && theirs != read(&self.repository.top, file)
        })?;
        Some(Note::OtherToolchain {
            revision: commit.name.clone(),
            path,
            compiler: way.compiler.lines().next().unwrap_or_default().to_owned(),
        })
    }
}

/// The place in which a side is built by what has no folder of its own for what it makes.
struct Place<'a> {
    revision: &'a str,
    top: &'a Path,
    directory: PathBuf,
    made: PathBuf,
    lock: Option<&'a fs::File>,
}

impl Place<'_> {
    fn build(self, way: &Way<'_>, interruption: &Interruption<'_>) -> Result<GoBuilt, BuildError> {
        let Self {
            revision,
            top,
            directory,
            made,
            lock,
        } = self;
        match way.recipe {
            Recipe::Go(build) => {
                let site = GoSite {
                    revision,
                    top,
                    directory,
                    made,
                    toolchain: &way.compiler,
                    lock,
                };
                build.run(&site, interruption)
            }
            Recipe::Pytest(build) => {
                let site = PytestSite {
                    revision,
                    directory,
                    made,
                    interpreter: &way.compiler,
                    lock,
                };
                Ok(GoBuilt {
                    executables: build.run(&site, interruption)?,
                    elsewhere: Vec::new(),
                })
            }
            Recipe::Cargo(_) | Recipe::Command(_) => unreachable!("they know where they build"),
        }
    }
}

/// Returns true if the executables still have the records they were built with.
fn is_recorded(way: &Way<'_>, slot: &Slot) -> Result<bool, BuildError> {
    match way.recipe {
        Recipe::Command(_) | Recipe::Go(_) | Recipe::Pytest(_) => Ok(true),
        Recipe::Cargo(build) => {
            let target = slot.folder.join("target");
            let roles = Roles::give(&target, &build.program)?;
            Ok(roles.remove_unrecorded()?.is_empty())
        }
    }
}

/// Shows what the compiler said.
fn show(messages: &Messages) {
    let mut stderr = std::io::stderr().lock();
    for text in messages.rendered() {
        // A standard error that is gone can be told to nobody.
        let _ = stderr.write_all(text.as_bytes());
    }
}
