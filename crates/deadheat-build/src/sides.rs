//! Builds both sides of a race, or reuses stored builds.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use deadheat_link::{
    LinkRecord, Roles, drop_unneeded, join_inside, refuse_committed, tracked_files,
};

use crate::artifacts::{Messages, Seed, prune};
use crate::benches::{BenchSource, BenchTarget, BenchesFrom, Overlay};
use crate::cmake::{self, CmakeSite};
use crate::commits::CommitInfo;
use crate::disk;
use crate::equal_builds::{EqualBuilds, OneSide, with_profile_of_candidate};
use crate::error::{BuildError, Note};
use crate::go::{GoBuilt, GoSite};
use crate::key::PathDependency;
use crate::library::Library;
use crate::lock_files::{GivenLock, check_giver, replace_links};
use crate::manifest::Manifest;
use crate::node::{NodeSite, installed_packages};
use crate::packages::Packages;
use crate::python::PytestSite;
use crate::recipe::{CargoBuild, Recipe, Site, own_configuration};
use crate::replacement::Replacement;
use crate::repository::{Commit, Repository, Revisions, Unbuilt};
use crate::slot::{Executable, Index, Slot};
use crate::storage::Home;
use crate::subprocess::Interruption;
use crate::target::target_dir;
use crate::tree::{self, Submodules, Tree};
use crate::unequal_builds::unequal_builds;
use crate::way::Way;

/// The revisions and the recipes from which both sides of a race are built.
#[derive(Debug)]
pub struct Request<'a> {
    /// The user's working directory, in a git working tree.
    pub directory: &'a Path,
    /// The revisions of the two sides.
    pub revisions: &'a Revisions,
    /// How to build each side, the baseline first.
    pub recipes: [&'a Recipe; 2],
    /// The source of the bench targets of both sides. If it is `None`, each side uses its own bench
    /// targets, and the baseline also gets the bench targets that only the candidate has.
    pub benches: Option<BenchesFrom>,
    /// The values of `--same-profile` and `--lock-from`.
    pub equal: EqualBuilds,
}

/// The built baseline and the built candidate of a race.
#[derive(Debug)]
pub struct Sides {
    /// The side that the candidate is compared with.
    pub baseline: Side,
    /// The side that is compared with the baseline.
    pub candidate: Side,
}

/// One built side. While this lives, its executables are not removed.
#[derive(Debug)]
pub struct Side {
    /// The name of the side as the user gave it, or `working tree`.
    pub name: String,
    /// The executables, in the requested order, or sorted by name.
    pub executables: Vec<Executable>,
    /// True if an earlier build was reused.
    pub was_kept: bool,
    /// The commit of the side; `None` for a working tree with uncommitted changes.
    pub commit: Option<CommitInfo>,
    /// The folder in the side's sources that corresponds to the user's working directory.
    pub directory: PathBuf,
    pub(crate) sources: PathBuf,
    /// The top of a second copy of the sources, with bench targets of the other side.
    with_additions: Option<PathBuf>,
    pub(crate) benches: Vec<BenchTarget>,
    _slots: Vec<Slot>,
    /// Keeps the replaced benchmark library from being removed while the side is in use.
    replacement: Option<Rc<Replacement>>,
}

impl Side {
    /// Returns this side as the source of bench targets for the other side. If `replaces` is true,
    /// the bench targets of this side replace those of the same name.
    pub(crate) fn bench_source(&self, replaces: bool) -> BenchSource {
        BenchSource {
            name: self.name.clone(),
            top: self.sources.clone(),
            targets: self.benches.clone(),
            replaces,
        }
    }

    /// Adds the executables of a second build of this side, which has other bench targets. An
    /// executable name in both builds becomes `PACKAGE/TARGET`.
    fn add(&mut self, mut added: Self) {
        let names = |side: &Self| -> BTreeSet<String> {
            side.executables.iter().map(|it| it.name.clone()).collect()
        };
        let both = &names(self) & &names(&added);
        self.name_by_package(&both);
        added.name_by_package(&both);
        self.executables.append(&mut added.executables);
        self.executables.sort_by(|a, b| a.name.cmp(&b.name));
        self.was_kept &= added.was_kept;
        self.with_additions = Some(added.sources);
        self.benches.append(&mut added.benches);
        self._slots.append(&mut added._slots);
    }

    /// Returns the path of a file in the sources, or in the second copy if only that has the file.
    /// The file may be missing.
    pub(crate) fn file(&self, path: &Path) -> PathBuf {
        let own = self.sources.join(path);
        let added = self.with_additions.as_ref().map(|top| top.join(path));
        added.filter(|_| !own.exists()).unwrap_or(own)
    }

    /// Renames executables of these names to `PACKAGE/TARGET`.
    fn name_by_package(&mut self, names: &BTreeSet<String>) {
        let tops = [Some(&self.sources), self.with_additions.as_ref()];
        for executable in &mut self.executables {
            if !names.contains(&executable.name) {
                continue;
            }
            let folders = tops.into_iter().flatten().filter_map(|top| {
                let below = executable.directory.as_ref()?.strip_prefix(top).ok()?;
                Some(top.join(below).join("Cargo.toml"))
            });
            let mut texts = folders.filter_map(|manifest| disk::read_text(manifest).ok());
            if let Some(text) = texts.next()
                && let Some(manifest) = Manifest::read(&text)
                && let Some(package) = manifest.package()
            {
                executable.name = format!("{package}/{}", executable.name);
            }
        }
    }

    /// Returns the benchmark library that deadheat's own implementation replaced in this build, if
    /// any.
    pub fn swapped_library(&self) -> Option<Library> {
        let replacement = self.replacement.as_ref()?;
        Some(replacement.library())
    }

    /// Returns the path of the side's Python, if the side has a virtual environment.
    pub fn python(&self) -> Option<PathBuf> {
        let made = self.executables.first()?.path.parent()?;
        let python = made.join("environment").join("bin").join("python");
        python.exists().then_some(python)
    }

    /// Returns the packages that a JavaScript suite finds in `node_modules`; `None` for other
    /// suites.
    pub fn node_packages(&self) -> Option<Packages> {
        let worker = &self.executables.first()?.path;
        let is_suite = worker
            .extension()
            .is_some_and(|extension| extension == "js");
        is_suite.then(|| installed_packages(&self.sources, &self.directory))
    }

    /// Returns true if the executables need no other files of the build: ELF programs that load no
    /// libraries from their own folder (`$ORIGIN`) and run in the user's working directory.
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

/// Builds both sides, or reuses earlier builds. The working tree is built in place, each commit in
/// its own folder in the user's cache.
///
/// Calls `tell` with each note for the user as it arises. Compiler output goes to standard error.
///
/// # Errors
///
/// [`BuildError`]. Worktrees and unfinished builds are removed before it is returned.
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
    for home in Home::all(&repository.top)? {
        home.clear_abandoned(&repository)?;
    }
    let [base_name, head_name] = revisions.names();
    let unbuilt = [(base_name, &base), (head_name, &head)].map(|(name, commit)| Unbuilt {
        name,
        commit: commit.clone(),
    });
    let mut recipes = request.recipes;
    let equal = match request.equal.profile {
        true => with_profile_of_candidate(&repository, recipes, &unbuilt, tell)?,
        false => None,
    };
    if let Some(equal) = &equal {
        recipes[0] = equal;
    }
    let [of_base, of_head] = unbuilt;
    let lock_giver = match request.equal.lock_from {
        Some(OneSide::Baseline) => Some((of_base, of_head)),
        Some(OneSide::Candidate) => Some((of_head, of_base)),
        None => None,
    };
    if let Some((giver, taker)) = &lock_giver {
        check_giver(
            &repository,
            &recipes[0].lock_folders(&repository),
            giver,
            taker,
        )?;
    }
    let mut ways = Way::of(&repository, recipes)?;
    ways[1].tell_of_workspace(tell);
    let [base_way, head_way] = &mut ways;
    base_way.swap_library(&repository, tell)?;
    match recipes[0] == recipes[1] {
        true => head_way.replacement.clone_from(&base_way.replacement),
        false => head_way.swap_library(&repository, tell)?,
    }
    if ways.iter().any(|way| way.replacement.is_none()) {
        // Both sides need the same harness, so one side without deadheat's library decides for
        // both.
        ways.iter_mut().for_each(|way| way.replacement = None);
    }
    let mut builder = Builder {
        repository: &repository,
        seed: None,
        found: Vec::new(),
        lock_giver: lock_giver.map(|(giver, _)| giver),
        tell,
    };
    let commits = [base, head];
    let mut built = builder.sides(request, &ways, &commits);
    if let Err(BuildError::NotWithOurLibrary {
        library,
        revision,
        problem,
    }) = built
    {
        let problem = format!("{revision} does not build with deadheat's library ({problem})");
        (builder.tell)(Note::OwnLibrary { library, problem });
        ways.iter_mut().for_each(|way| way.replacement = None);
        built = builder.sides(request, &ways, &commits);
    }
    let sides = built?;
    if let [Recipe::Cargo(build), Recipe::Cargo(of_head)] = [ways[0].recipe, ways[1].recipe] {
        let replaced = ways[0].replacement.as_ref();
        let ignored = replaced.map(|one| one.library().name());
        let both = [&sides.baseline, &sides.candidate].map(|side| (&*side.name, &*side.sources));
        let folders = build.lock_folders(&repository);
        let arguments = [&*build.arguments, &*of_head.arguments];
        if let Some(note) = unequal_builds(
            both,
            &folders,
            arguments,
            ignored.as_slice(),
            request.equal.lock_from.is_some(),
        ) {
            (builder.tell)(note);
        }
    }
    Ok(sides)
}

/// The state shared by all builds of a race or of a history.
pub(crate) struct Builder<'a> {
    pub(crate) repository: &'a Repository<'a>,
    pub(crate) seed: Option<Seed>,
    /// The folders of the builds found so far. They are not checked again: this process holds their
    /// locks, so building one of them again would wait for ever.
    pub(crate) found: Vec<PathBuf>,
    /// The side whose lock files both sides use, if the user chose one.
    pub(crate) lock_giver: Option<Unbuilt>,
    pub(crate) tell: &'a mut dyn FnMut(Note),
}

impl Builder<'_> {
    /// Builds both sides with [`Self::make_sides`]. If one side calls an executable
    /// `PACKAGE/TARGET`, the other side does too, so that the names match.
    fn sides(
        &mut self,
        request: &Request<'_>,
        ways: &[Way<'_>; 2],
        commits: &[Option<Commit>; 2],
    ) -> Result<Sides, BuildError> {
        let mut sides = self.make_sides(request, ways, commits)?;
        let both = [&sides.baseline, &sides.candidate].into_iter();
        let names = both.flat_map(|side| &side.executables);
        let names = names.filter_map(|it| Some(it.name.rsplit_once('/')?.1.to_owned()));
        let names: BTreeSet<String> = names.collect();
        sides.baseline.name_by_package(&names);
        sides.candidate.name_by_package(&names);
        Ok(sides)
    }

    /// Builds both sides from their commits, the baseline first; `None` is the working tree.
    fn make_sides(
        &mut self,
        request: &Request<'_>,
        [base_way, head_way]: &[Way<'_>; 2],
        [base, head]: &[Option<Commit>; 2],
    ) -> Result<Sides, BuildError> {
        let revisions = request.revisions;
        // The side that provides bench targets is built first, or else the working tree, because it
        // is always built. Errors then show sooner, and the other side can reuse its dependencies.
        let gives = request.benches == Some(BenchesFrom::Baseline);
        if gives && head.is_none() {
            let [base, _] = revisions.names();
            return Err(BuildError::BenchesForWorkingTree(base));
        }
        if gives || (head.is_some() && !matches!(head_way.recipe, Recipe::Cargo(_))) {
            let baseline = self.side(base_way, base.as_ref(), None)?;
            let bench_source = gives.then(|| baseline.bench_source(true));
            let candidate = self.side(head_way, head.as_ref(), bench_source.as_ref())?;
            return Ok(Sides {
                baseline,
                candidate,
            });
        }
        let candidate = self.side(head_way, head.as_ref(), None)?;
        let bench_source = candidate.bench_source(request.benches == Some(BenchesFrom::Candidate));
        let baseline = match base {
            // A second build of the working tree, in a separate target folder.
            None => self.working_tree(base_way, true)?,
            Some(base) => {
                let adds = request.benches != Some(BenchesFrom::Own);
                self.commit(base_way, base, adds.then_some(&bench_source))?
            }
        };
        Ok(Sides {
            baseline,
            candidate,
        })
    }

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

    /// Builds the working tree in place. If `beside` is true, cargo uses a separate target folder,
    /// because the other side is a build of the same tree.
    fn working_tree(&mut self, way: &Way<'_>, beside: bool) -> Result<Side, BuildError> {
        let revision = Revisions::WORKING_TREE;
        let top = &self.repository.top;
        let directory = top.join(&self.repository.inside);
        let interruption = &self.repository.interruption;
        let (mut benches, mut place) = (Vec::new(), None);
        // Read before the build, because the build may create files that git does not ignore.
        let commit = self.repository.clean_head()?;
        let (source, here) = (directory.clone(), top.clone());
        let executables = match way.recipe {
            Recipe::Command(build) => build.run(revision, &directory, interruption, None)?,
            Recipe::Cmake(_) | Recipe::Go(_) | Recipe::Pytest(_) | Recipe::Node(_) => {
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
                    criterion: way.criterion(),
                };
                let messages = build.run_here(&site, beside, interruption, self.tell)?;
                benches = messages.bench_targets(top);
                // Files that git tracks came with a commit, so the other side does not reuse them.
                if tracked_files(&site.target)?.is_empty() {
                    self.seed = Some(Seed {
                        files: messages.dependencies(top, &site.target),
                        target: site.target,
                    });
                }
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
            with_additions: None,
            benches,
            _slots: place.into_iter().collect(),
            replacement: way.replacement.clone(),
        })
    }

    /// Builds the working tree into a locked folder, for tools without a default output folder:
    /// CMake, Go, pip and npm.
    fn working_tree_in_slot(
        &mut self,
        way: &Way<'_>,
        directory: PathBuf,
    ) -> Result<(Slot, Vec<Executable>), BuildError> {
        let revision = Revisions::WORKING_TREE;
        let top = &self.repository.top;
        let home = Home::of_working_tree(top)?;
        let key = way.inputs().key(&Commit::working_tree());
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
                    // If this fails, the next build removes the folder.
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

    /// Builds a commit, or reuses an earlier build. The commit also gets those bench targets of
    /// `bench_source` that it lacks.
    ///
    /// Bench targets that both sides have are built and run in the unchanged sources of the commit.
    /// Added bench targets get a second copy of the sources, because they affect everything that is
    /// built or run with them: their dependencies change features and versions, the programs of the
    /// package are built again, and files in their folder can be read at run time. Otherwise a pull
    /// request could slow down its baseline.
    pub(crate) fn commit(
        &mut self,
        way: &Way<'_>,
        commit: &Commit,
        bench_source: Option<&BenchSource>,
    ) -> Result<Side, BuildError> {
        let giver = self.lock_giver.as_ref();
        let folders = way.recipe.lock_folders(self.repository);
        let locks = GivenLock::all(self.repository, &folders, commit, giver)?;
        let bench_source = bench_source.filter(|it| !it.targets.is_empty());
        let Some(bench_source) = bench_source else {
            return self.commit_with(way, commit, &locks, None);
        };
        let overlay = Overlay::plan(self.repository, commit, &locks, bench_source, &[])?;
        let Some(overlay) = overlay else {
            return self.commit_with(way, commit, &locks, None);
        };
        let (revision, from) = (&commit.name, &bench_source.name);
        for (bench, problem) in &overlay.left_out {
            (self.tell)(Note::BenchLeftOut {
                revision: revision.clone(),
                from: from.clone(),
                bench: bench.name.clone(),
                problem: problem.clone(),
            });
        }
        if !overlay.shares() && !overlay.targets.is_empty() {
            return self.commit_with(way, commit, &locks, Some((bench_source, overlay)));
        }
        let recipe = way.recipe.without_benches(&overlay.missing());
        let mut own_way = Way {
            recipe: &recipe,
            ..way.clone()
        };
        if recipe != *way.recipe {
            own_way.key_inputs.add("benches", "own");
        }
        let mut side = self.commit_with(&own_way, commit, &locks, None)?;
        if overlay.targets.is_empty() {
            return Ok(side);
        }
        side.add(self.commit_with(way, commit, &locks, Some((bench_source, overlay)))?);
        Ok(side)
    }

    fn commit_with(
        &mut self,
        way: &Way<'_>,
        commit: &Commit,
        locks: &[GivenLock],
        put_in: Option<(&BenchSource, Overlay)>,
    ) -> Result<Side, BuildError> {
        let home = Home::of(self.repository, commit, way.recipe, self.tell)?;
        let mut key_inputs = way.inputs();
        for lock in locks {
            key_inputs.add("lock file", &lock.path);
            key_inputs.add("content", OsStr::from_bytes(&lock.text));
        }
        if let Some((bench_source, overlay)) = &put_in {
            overlay.add_to(&mut key_inputs, bench_source);
        }
        let is_of_additions = put_in.as_ref().is_some_and(|(_, overlay)| overlay.shares());
        let key = key_inputs.key(commit);
        loop {
            let mut waiting = || {
                (self.tell)(Note::Waiting {
                    revision: commit.name.clone(),
                });
            };
            let interruption = &self.repository.interruption;
            let (slot, index) = Slot::open(&home.folder, &key, interruption, &mut waiting)?;
            let (slot, index, was_kept) = match index {
                Some(index) if self.found.contains(&slot.folder) => (slot, index, true),
                Some(index) if !index.is_current() || self.lacks_submodule(&index) => {
                    index.forget().map_err(BuildError::at(&home.folder))?;
                    continue;
                }
                Some(index) if is_recorded(way, &slot)? => {
                    // If this fails, only the time of the last use is wrong.
                    let _ = index.touch();
                    (slot, index, true)
                }
                // `is_recorded` has just removed an executable that lacked its link record, so the
                // build is incomplete.
                Some(_) => continue,
                None => {
                    let (slot, index) = self.make(way, commit, slot, locks, put_in)?;
                    home.trim();
                    (slot, index, false)
                }
            };
            return self.found(way, commit, slot, index, was_kept, is_of_additions);
        }
    }

    /// Returns true if a build was made without a submodule that the user has initialised since.
    fn lacks_submodule(&self, index: &Index) -> bool {
        index.notes.iter().any(|note| match note {
            Note::SubmoduleLeftOut { path, .. } => {
                self.repository.top.join(path).join(".git").exists()
            }
            _ => false,
        })
    }

    fn found(
        &mut self,
        way: &Way<'_>,
        commit: &Commit,
        slot: Slot,
        index: Index,
        was_kept: bool,
        is_of_additions: bool,
    ) -> Result<Side, BuildError> {
        let notes = index.notes.into_iter();
        for note in notes.filter(|note| !is_of_additions || note.is_of_benches()) {
            (self.tell)(note.of(&commit.name));
        }
        self.found.push(slot.folder.clone());
        let sources = slot.folder.join(tree::NAME);
        if !is_of_additions && let Some(note) = self.other_toolchain(way, commit, &sources) {
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
            with_additions: None,
            benches: index.benches,
            _slots: vec![slot],
            replacement: way.replacement.clone(),
        })
    }

    fn make(
        &mut self,
        way: &Way<'_>,
        commit: &Commit,
        slot: Slot,
        locks: &[GivenLock],
        put_in: Option<(&BenchSource, Overlay)>,
    ) -> Result<(Slot, Index), BuildError> {
        let added = put_in.as_ref().filter(|(_, overlay)| overlay.shares());
        (self.tell)(Note::Building {
            revision: commit.name.clone(),
            commit: commit.short().to_owned(),
            benches_of: added.map(|(source, _)| source.name.clone()),
        });
        let folder = slot.folder.clone();
        let mut index = Index::new(&folder, &commit.id);
        let tree = Tree::check_out(self.repository, commit, slot)?;
        let mut submodules = Submodules {
            repository: self.repository,
            commit,
            scratch: &folder.join("submodule-index"),
            notes: Vec::new(),
            count: 0,
        };
        submodules.fill(&tree.path)?;
        index.notes = submodules.notes;
        // deadheat trusts link records next to programs, so a commit must not contain any. This is
        // checked before the build, because afterwards git no longer lists the worktree.
        refuse_committed(&tree.path).map_err(|error| BuildError::Committed {
            revision: commit.name.clone(),
            error,
        })?;
        for lock in locks {
            index.notes.push(lock.write(&tree.path)?);
        }
        // In a commit, the user's folder may be a symbolic link that leads out of the tree.
        let inside = &self.repository.inside;
        let directory = match inside.as_os_str().is_empty() {
            true => Some(tree.path.clone()),
            false => join_inside(&tree.path, inside).ok(),
        };
        let Some(directory) = directory.filter(|folder| folder.is_dir()) else {
            return Err(BuildError::NoFolder {
                revision: commit.name.clone(),
                folder: inside.clone(),
            });
        };
        if let Some(missing) = way.recipe.missing_project(&tree.path, &directory) {
            return Err(BuildError::NoProject {
                revision: commit.name.clone(),
                missing,
            });
        }
        if matches!(way.recipe, Recipe::Cargo(_)) {
            replace_links(&tree.path, &way.recipe.lock_folders(self.repository))?;
            self.copy_configuration(&tree.path)?;
        }
        let (revision, interruption) = (&*commit.name, &self.repository.interruption);
        index.executables = match way.recipe {
            Recipe::Command(build) => build.run(revision, &directory, interruption, tree.lock())?,
            Recipe::Cmake(_) | Recipe::Go(_) | Recipe::Pytest(_) | Recipe::Node(_) => {
                let place = Place {
                    revision,
                    top: &tree.path,
                    directory,
                    made: folder.join("target"),
                    lock: tree.lock(),
                };
                let built = place.build(way, interruption)?;
                self.refuse_shared(commit, &built.elsewhere)?;
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
                    criterion: way.criterion(),
                };
                let messages = match put_in {
                    None => build.run_apart(&site, self.repository, self.tell)?,
                    Some(put_in) => {
                        self.with_benches(build, commit, &site, locks, put_in, &mut index)?
                    }
                };
                let shared = messages.below(&self.repository.top, &tree.path);
                self.refuse_shared(commit, &shared)?;
                index.benches = messages.bench_targets(&tree.path);
                index.dependencies = messages.dependencies(&tree.path, &site.target);
                let elsewhere = messages.elsewhere(&tree.path).into_iter();
                index.elsewhere = elsewhere.map(PathDependency::now).collect();
                messages.benches()
            }
        };
        tree.detach()?;
        let made = folder.join("target");
        match way.recipe {
            Recipe::Cmake(_) => cmake::prune(&made),
            _ => prune(&made, &index.dependencies),
        }
        for executable in &index.executables {
            if let Some(made) = executable.path.parent()
                && LinkRecord::home(made).exists()
            {
                // If this fails, unneeded files only take space.
                let _ = drop_unneeded(made);
            }
        }
        index.write().map_err(BuildError::at(&folder))?;
        let slot = tree.keep();
        slot.share().map_err(BuildError::at(&folder))?;
        Ok((slot, index))
    }

    /// Copies cargo's configuration that git does not track into the sources of a commit below
    /// `top`, except files that the commit has itself.
    fn copy_configuration(&self, top: &Path) -> Result<(), BuildError> {
        for path in own_configuration(self.repository)? {
            if !top.join(&path).exists()
                && let Ok(to) = join_inside(top, &path)
                && let Some(folder) = to.parent()
            {
                fs::create_dir_all(folder)
                    .and_then(|()| fs::copy(self.repository.top.join(&path), &to))
                    .map_err(BuildError::at(&to))?;
            }
        }
        Ok(())
    }

    /// Fails if one of these package folders is in the working tree, git tracks it, and it differs
    /// from the commit. Untracked configuration can name such a folder, and then both sides would
    /// race with the same sources.
    fn refuse_shared(&self, commit: &Commit, folders: &[PathBuf]) -> Result<(), BuildError> {
        let top = &self.repository.top;
        let folders = folders.iter().filter_map(|it| it.strip_prefix(top).ok());
        let folders: Vec<PathBuf> = folders.map(|folder| Path::new(".").join(folder)).collect();
        // A single call of git for all folders first, because an ignored folder may contain
        // hundreds of packages.
        if folders.is_empty() || !self.repository.tracks(&folders)? {
            return Ok(());
        }
        for folder in &folders {
            if self.repository.tracks(&[folder])? && self.repository.differs(commit, folder)? {
                return Err(BuildError::SharedPackage {
                    revision: commit.name.clone(),
                    folder: folder.clone(),
                });
            }
        }
        Ok(())
    }

    /// Builds a commit with bench targets added from the other side. If the commit keeps bench
    /// targets of its own that the other side has too, builds only the added targets: the commit's
    /// own targets have a separate build, from its unchanged sources. If an added target does not
    /// compile with the commit, leaves it out and builds again.
    fn with_benches(
        &mut self,
        build: &CargoBuild,
        commit: &Commit,
        site: &Site<'_>,
        locks: &[GivenLock],
        (bench_source, mut overlay): (&BenchSource, Overlay),
        index: &mut Index,
    ) -> Result<Messages, BuildError> {
        let mut dropped: Vec<(BenchTarget, String)> = Vec::new();
        loop {
            if overlay.shares() && overlay.targets.is_empty() {
                note_benches(commit, bench_source, &[], dropped, index);
                return Ok(Messages::default());
            }
            overlay.write(bench_source, commit, site.top)?;
            let left_out = overlay.left_out.iter().chain(&dropped);
            let without: Vec<&str> = left_out.map(|(bench, _)| &*bench.name).collect();
            let (done, messages) = match overlay.shares() {
                true => build.try_only(site, self.repository, &overlay.targets, self.tell)?,
                false => build.try_apart(site, self.repository, &without, self.tell)?,
            };
            if done.status.success() {
                note_benches(commit, bench_source, &overlay.targets, dropped, index);
                let messages = build.built(done, messages, site)?;
                return Ok(match overlay.shares() {
                    true => messages.of_targets(site.top, &overlay.targets),
                    false => messages,
                });
            }
            let errors = messages.errors(site.top);
            let is_put_in = |bench: &BenchTarget| overlay.targets.contains(bench);
            let count = dropped.len();
            for error in &errors {
                if let Some(bench) = error.bench.clone().filter(is_put_in) {
                    dropped.push((bench, error.problem.clone()));
                }
            }
            if dropped.len() == count {
                let problem = match errors.first() {
                    None => "cargo cannot find what it needs; its output is above",
                    // The commit's own code does not compile with the added dependencies.
                    Some(error) if overlay.shares() => &error.problem,
                    // The commit does not compile without the added targets either.
                    Some(_) => return build.built(done, messages, site),
                };
                let all = overlay.targets.drain(..);
                dropped.extend(all.map(|bench| (bench, problem.to_owned())));
            }
            self.take_back(build, &overlay, commit, site, locks)?;
            let gone: Vec<BenchTarget> = dropped.iter().map(|(bench, _)| bench.clone()).collect();
            overlay = Overlay::plan(self.repository, commit, locks, bench_source, &gone)?
                .unwrap_or_default();
            if overlay.targets.is_empty() && !overlay.shares() {
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

    /// Restores the manifests and lock files of a commit after an overlay changed them.
    fn take_back(
        &self,
        build: &CargoBuild,
        overlay: &Overlay,
        commit: &Commit,
        site: &Site<'_>,
        locks: &[GivenLock],
    ) -> Result<(), BuildError> {
        overlay.take_back(self.repository, commit, site.top)?;
        // cargo also adds the versions of added dependencies to the lock file.
        for folder in build.lock_folders(self.repository) {
            let path = folder.join("Cargo.lock");
            let to = site.top.join(&path);
            if let Some(own) = self.repository.file_of(commit, &path)?
                && !self.repository.is_link(commit, &path)?
            {
                fs::write(&to, own).map_err(BuildError::at(&to))?;
            }
        }
        for lock in locks {
            lock.write(site.top)?;
        }
        Ok(())
    }

    /// Returns a note if the commit has another `rust-toolchain` file than the working tree.
    fn other_toolchain(&self, way: &Way<'_>, commit: &Commit, tree: &Path) -> Option<Note> {
        match way.recipe {
            Recipe::Cargo(build) if build.toolchain.is_none() => {}
            _ => return None,
        }
        let folders = self.repository.inside.ancestors();
        let mut files = folders.flat_map(|folder| {
            ["rust-toolchain.toml", "rust-toolchain"].map(|name| folder.join(name))
        });
        let read = |top: &Path, file: &Path| disk::read(top.join(file)).ok();
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

/// Adds notes on the bench targets that a commit got and on those that were left out, each with
/// the reason.
fn note_benches(
    commit: &Commit,
    bench_source: &BenchSource,
    added: &[BenchTarget],
    dropped: Vec<(BenchTarget, String)>,
    index: &mut Index,
) {
    let (revision, from) = (&commit.name, &bench_source.name);
    if !added.is_empty() {
        index.notes.push(Note::BenchesPutIn {
            revision: revision.clone(),
            from: from.clone(),
            benches: added.iter().map(|target| target.name.clone()).collect(),
        });
    }
    let left_out = dropped.into_iter();
    index
        .notes
        .extend(left_out.map(|(bench, problem)| Note::BenchLeftOut {
            revision: revision.clone(),
            from: from.clone(),
            bench: bench.name,
            problem,
        }));
}

/// The folders and lock for a build of one side by tools without a default output folder.
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
            Recipe::Cmake(build) => {
                let site = CmakeSite {
                    revision,
                    top,
                    directory,
                    made,
                    provider: way.google_benchmark(),
                    lock,
                };
                Ok(GoBuilt {
                    executables: build.run(&site, interruption)?,
                    elsewhere: Vec::new(),
                })
            }
            Recipe::Go(build) => {
                let site = GoSite {
                    revision,
                    top,
                    directory,
                    made,
                    toolchain: &way.compiler,
                    ignores_workspace: way.ignored_workspace.is_some(),
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
            Recipe::Node(build) => {
                let site = NodeSite {
                    revision,
                    top,
                    directory,
                    made,
                    node: &way.compiler,
                    lock,
                };
                Ok(GoBuilt {
                    executables: build.run(&site, interruption)?,
                    elsewhere: Vec::new(),
                })
            }
            Recipe::Cargo(_) | Recipe::Command(_) => {
                unreachable!("cargo and build commands have folders of their own")
            }
        }
    }
}

/// Returns true if all executables have their link records. Removes executables without one, so
/// that cargo links them again.
fn is_recorded(way: &Way<'_>, slot: &Slot) -> Result<bool, BuildError> {
    match way.recipe {
        Recipe::Command(_)
        | Recipe::Cmake(_)
        | Recipe::Go(_)
        | Recipe::Pytest(_)
        | Recipe::Node(_) => Ok(true),
        Recipe::Cargo(build) => {
            let target = slot.folder.join("target");
            let roles = Roles::give(&target, &build.program)?;
            Ok(roles.remove_unrecorded()?.is_empty())
        }
    }
}
