//! Two sides, each with its executables.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_link::{LinkRecord, Roles, drop_unneeded};

use crate::artifacts::{Seed, prune};
use crate::error::BuildError;
use crate::go::GoSite;
use crate::home::Home;
use crate::key::{Elsewhere, Ingredients};
use crate::note::Note;
use crate::recipe::{Recipe, Site, configuration_above, configuration_of_the_user, target_dir};
use crate::repository::{Commit, Repository, Revisions};
use crate::slot::{Executable, Index, Slot};
use crate::subprocess::Interruption;
use crate::tree::{self, Submodules, Tree};

/// A request for two builds.
#[derive(Debug)]
pub struct Request<'a> {
    /// The working directory of the user, in a working tree of git.
    pub directory: &'a Path,
    /// The two sides.
    pub revisions: &'a Revisions,
    /// The way in which each is built.
    pub recipe: &'a Recipe,
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
    _slot: Option<Slot>,
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
    if let Recipe::Command(build) = request.recipe {
        build.check(&repository)?;
    }
    let revisions = request.revisions;
    let base = repository.commit(&revisions.base)?;
    let head = revisions.head.as_ref().map(|head| repository.commit(head));
    let head = head.transpose()?;
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
    let mut builder = Builder::new(&repository, request.recipe, tell)?;
    // First the side that is built in any case: it fails sooner, and the other may take over its
    // dependencies.
    let (candidate, baseline) = match head {
        None => (builder.working_tree()?, builder.commit(&base)?),
        Some(head) => {
            let baseline = builder.commit(&base)?;
            (builder.commit(&head)?, baseline)
        }
    };
    Ok(Sides {
        baseline,
        candidate,
    })
}

/// All that builds of one request have in common.
struct Builder<'a> {
    repository: &'a Repository<'a>,
    recipe: &'a Recipe,
    ingredients: Ingredients,
    compiler: String,
    seed: Option<Seed>,
    tell: &'a mut dyn FnMut(Note),
}

impl<'a> Builder<'a> {
    fn new(
        repository: &'a Repository<'a>,
        recipe: &'a Recipe,
        tell: &'a mut dyn FnMut(Note),
    ) -> Result<Self, BuildError> {
        let mut ingredients = Ingredients::of_the_surroundings(repository);
        let mut compiler = String::new();
        match recipe {
            Recipe::Cargo(build) => {
                ingredients.add("by", "cargo");
                for argument in build.moved(&repository.top, Path::new("/")) {
                    ingredients.add("argument", argument);
                }
                let here = repository.top.join(&repository.inside);
                compiler = build.compiler(&here, &repository.interruption)?;
                ingredients.add("compiler", &compiler);
                let above = configuration_above(&repository.top);
                for file in above.iter().chain(&configuration_of_the_user()) {
                    ingredients.add_file(file);
                }
            }
            Recipe::Command(build) => {
                ingredients.add("by", &build.command);
                for path in &build.executables {
                    ingredients.add("executable", path);
                }
            }
            Recipe::Go(build) => {
                ingredients.add("by", "go");
                for package in &build.packages {
                    ingredients.add("package", package);
                }
                let here = repository.top.join(&repository.inside);
                compiler = build.version(&here, &repository.interruption)?;
                ingredients.add("compiler", &compiler);
                ingredients.add("settings", build.settings(&here, &repository.interruption)?);
            }
        }
        Ok(Self {
            repository,
            recipe,
            ingredients,
            compiler,
            seed: None,
            tell,
        })
    }

    /// Builds the working tree where it is.
    fn working_tree(&mut self) -> Result<Side, BuildError> {
        let revision = Revisions::WORKING_TREE;
        let top = &self.repository.top;
        let directory = top.join(&self.repository.inside);
        let interruption = &self.repository.interruption;
        let mut place = None;
        let executables = match self.recipe {
            Recipe::Command(build) => build.run(revision, &directory, interruption, None)?,
            Recipe::Go(build) => {
                let home = Home::of_working_tree(top);
                home.create(top)?;
                let key = self.ingredients.key(&Commit::working_tree());
                let mut waiting = || {
                    (self.tell)(Note::Waiting {
                        revision: revision.to_owned(),
                    });
                };
                let (slot, index) = Slot::open(&home.folder, &key, interruption, &mut waiting)?;
                let site = GoSite {
                    revision,
                    top,
                    directory,
                    made: slot.folder.join("target"),
                    toolchain: &self.compiler,
                    lock: Some(&slot.lock),
                };
                let built = match build.run(&site, interruption) {
                    Ok(built) => built,
                    Err(error) => {
                        if index.is_none() {
                            // What stays goes before the next build.
                            let _ = slot.clear();
                        }
                        return Err(error);
                    }
                };
                let at = BuildError::at(&slot.folder);
                let mut index = index.unwrap_or_else(|| Index::new(&slot.folder, revision));
                index.executables.clone_from(&built.executables);
                index.write().map_err(at)?;
                slot.share().map_err(BuildError::at(&slot.folder))?;
                place = Some(slot);
                built.executables
            }
            Recipe::Cargo(build) => {
                let named = build.target_dir.as_deref();
                let target = target_dir(&build.cargo, &directory, named, &build.metadata)?;
                let site = Site {
                    revision,
                    top,
                    directory,
                    target,
                    lock: None,
                };
                let messages = build.run_here(&site, interruption, self.tell)?;
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
            _slot: place,
        })
    }

    /// Builds a commit, or finds what was built of it before.
    fn commit(&mut self, commit: &Commit) -> Result<Side, BuildError> {
        let home = Home::of(self.repository, commit)?;
        let locks = self.borrowed_locks(commit)?;
        let mut ingredients = self.ingredients.clone();
        for lock in &locks {
            ingredients.add_file(&self.repository.top.join(lock));
        }
        home.create(&self.repository.top)?;
        let key = ingredients.key(commit);
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
                Some(index) if self.is_recorded(&slot)? => {
                    // It counts as used even if that cannot be noted.
                    let _ = index.touch();
                    return Ok(self.found(commit, slot, index, true));
                }
                // It misses an executable now.
                Some(_) => {}
                None => {
                    let (slot, index) = self.make(commit, slot, &locks)?;
                    home.trim();
                    return Ok(self.found(commit, slot, index, false));
                }
            }
        }
    }

    /// Returns true if the executables still have the records they were built with.
    fn is_recorded(&self, slot: &Slot) -> Result<bool, BuildError> {
        match self.recipe {
            Recipe::Command(_) | Recipe::Go(_) => Ok(true),
            Recipe::Cargo(build) => {
                let target = slot.folder.join("target");
                let roles = Roles::give(&target, &build.program)?;
                Ok(roles.remove_unrecorded()?.is_empty())
            }
        }
    }

    fn found(&mut self, commit: &Commit, slot: Slot, index: Index, was_kept: bool) -> Side {
        for note in index.notes {
            (self.tell)(note.of(&commit.name));
        }
        if let Some(note) = self.other_toolchain(commit, &slot.folder.join(tree::NAME)) {
            (self.tell)(note);
        }
        if self.seed.is_none() {
            self.seed = Some(Seed {
                target: slot.folder.join("target"),
                files: index.dependencies,
            });
        }
        Side {
            name: commit.name.clone(),
            executables: index.executables,
            was_kept,
            _slot: Some(slot),
        }
    }

    /// Builds a commit into an empty slot.
    fn make(
        &mut self,
        commit: &Commit,
        slot: Slot,
        locks: &[PathBuf],
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
        index.executables = match self.recipe {
            Recipe::Command(build) => build.run(revision, &directory, interruption, tree.lock())?,
            Recipe::Go(build) => {
                let site = GoSite {
                    revision,
                    top: &tree.path,
                    directory,
                    made: folder.join("target"),
                    toolchain: &self.compiler,
                    lock: tree.lock(),
                };
                let built = build.run(&site, interruption)?;
                index.elsewhere = built.elsewhere.into_iter().map(Elsewhere::now).collect();
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
                let messages = build.run_apart(&site, self.repository, self.tell)?;
                index.dependencies = messages.dependencies(&tree.path, &site.target);
                let elsewhere = messages.elsewhere(&tree.path).into_iter();
                index.elsewhere = elsewhere.map(Elsewhere::now).collect();
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

    /// Lock files of cargo that git does not know, and that the commit should be built with, as the
    /// working tree is.
    fn borrowed_locks(&self, commit: &Commit) -> Result<Vec<PathBuf>, BuildError> {
        let Recipe::Cargo(build) = self.recipe else {
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
    fn other_toolchain(&self, commit: &Commit, tree: &Path) -> Option<Note> {
        let Recipe::Cargo(_) = self.recipe else {
            return None;
        };
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
            compiler: self.compiler.lines().next().unwrap_or_default().to_owned(),
        })
    }
}
