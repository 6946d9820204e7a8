//! Bench targets of one side, put into the sources of the other before they are built.
//!
//! A commit from before a project had benchmarks, or had this one, is raced all the same: its
//! sources get the bench targets that it lacks, with the dev-dependencies they need.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use deadheat_link::Digest;
use serde::{Deserialize, Serialize};

use crate::disk::entries;
use crate::error::BuildError;
use crate::key::{KeyInputs, PASSED_OVER};
use crate::manifest::{Bench, Dependency, Manifest, with_packages};
use crate::repository::{Commit, Repository};

/// The side whose bench targets both sides are built with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BenchesFrom {
    /// Each side has its own, and the baseline those of the candidate too that it lacks.
    #[default]
    Own,
    /// Both have those of the baseline.
    Baseline,
    /// Both have those of the candidate.
    Candidate,
}

/// A bench target that was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BenchTarget {
    pub(crate) name: String,
    /// The manifest of its package, below the top of the sources.
    pub(crate) manifest: PathBuf,
    /// Its file, below the top of the sources.
    pub(crate) source: PathBuf,
}

/// The side that bench targets are taken from.
#[derive(Clone, Debug)]
pub(crate) struct BenchSource {
    /// Its name.
    pub(crate) name: String,
    /// The top of its sources.
    pub(crate) top: PathBuf,
    /// The bench targets that were built of it.
    pub(crate) targets: Vec<BenchTarget>,
    /// True if they take the place of others, too.
    pub(crate) replaces: bool,
}

/// The changes to the sources of a commit, all below their top.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    /// The bench targets that are put in.
    pub(crate) targets: Vec<BenchTarget>,
    /// True if the commit has bench targets of these names itself.
    pub(crate) shares: bool,
    /// Files that are the same as those of the side that gives the bench targets.
    copies: Vec<PathBuf>,
    texts: BTreeMap<PathBuf, String>,
}

impl Overlay {
    /// The changes to a commit. Bench targets in `dropped` are left out. Without any there are no
    /// changes at all.
    pub(crate) fn plan(
        repository: &Repository<'_>,
        commit: &Commit,
        bench_source: &BenchSource,
        dropped: &[BenchTarget],
    ) -> Result<Option<Self>, BuildError> {
        let mut planning = Planning {
            repository,
            commit,
            bench_source,
            files: repository.files_of(commit)?,
            overlay: Self::default(),
        };
        let mut manifests: Vec<&Path> = bench_source
            .targets
            .iter()
            .map(|it| &*it.manifest)
            .collect();
        manifests.sort_unstable();
        manifests.dedup();
        for manifest in manifests {
            planning.package(manifest, dropped)?;
        }
        let is_needed = !planning.overlay.targets.is_empty() || !dropped.is_empty();
        if is_needed {
            planning.lock()?;
        }
        Ok(is_needed.then_some(planning.overlay))
    }

    /// Adds all that it changes.
    pub(crate) fn add_to(&self, key_inputs: &mut KeyInputs, bench_source: &BenchSource) {
        for path in &self.copies {
            let bytes = fs::read(bench_source.top.join(path)).unwrap_or_default();
            key_inputs.add("put in", path);
            key_inputs.add("content", Digest::of(&bytes).0);
        }
        for (path, text) in &self.texts {
            key_inputs.add("put in", path);
            key_inputs.add("content", text);
        }
    }

    /// Writes it over the sources below `top`.
    pub(crate) fn write(&self, bench_source: &BenchSource, top: &Path) -> Result<(), BuildError> {
        for path in &self.copies {
            let (from, to) = (bench_source.top.join(path), top.join(path));
            made_way(&to)?;
            fs::copy(&from, &to).map_err(BuildError::at(&from))?;
        }
        for (path, text) in &self.texts {
            let to = top.join(path);
            made_way(&to)?;
            fs::write(&to, text).map_err(BuildError::at(&to))?;
        }
        Ok(())
    }

    /// Puts manifests and lock files below `top` back as the commit has them.
    pub(crate) fn take_back(
        &self,
        repository: &Repository<'_>,
        commit: &Commit,
        top: &Path,
    ) -> Result<(), BuildError> {
        for path in self.texts.keys() {
            let to = top.join(path);
            let done = match repository.file_of(commit, path)? {
                Some(bytes) => fs::write(&to, bytes),
                None => fs::remove_file(&to),
            };
            done.map_err(BuildError::at(&to))?;
        }
        Ok(())
    }
}

/// Makes the folder of a file, and removes a link that leads elsewhere.
fn made_way(file: &Path) -> Result<(), BuildError> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(BuildError::at(folder))?;
    }
    if file.is_symlink() {
        fs::remove_file(file).map_err(BuildError::at(file))?;
    }
    Ok(())
}

/// An overlay while it is planned.
struct Planning<'a> {
    repository: &'a Repository<'a>,
    commit: &'a Commit,
    bench_source: &'a BenchSource,
    /// The files of the commit.
    files: Vec<PathBuf>,
    overlay: Overlay,
}

impl Planning<'_> {
    /// Puts the bench targets of one package in.
    fn package(&mut self, manifest: &Path, dropped: &[BenchTarget]) -> Result<(), BuildError> {
        let folder = manifest.parent().unwrap_or(Path::new(""));
        let Some(theirs) = self.of_donor(manifest) else {
            return Ok(());
        };
        let Some(mut ours) = self.of_commit(manifest)? else {
            return self.whole_package(folder, &theirs, dropped);
        };
        let files = self.files.iter();
        let files: Vec<&Path> = files
            .filter_map(|it| it.strip_prefix(folder).ok())
            .collect();
        let mut own = ours.benches(&files);
        let targets = self
            .bench_source
            .targets
            .iter()
            .filter(|it| it.manifest == manifest);
        let mut wanted = Vec::new();
        for target in targets {
            let is_own = own.iter().any(|(name, _)| *name == target.name);
            if is_own && !self.bench_source.replaces {
                self.overlay.shares = true;
                continue;
            }
            own.retain(|(name, _)| *name != target.name);
            if !dropped.contains(target) {
                wanted.push(target.clone());
            }
        }
        if wanted.is_empty() && dropped.is_empty() {
            return Ok(());
        }
        for target in &wanted {
            self.copy_around(folder, &target.source);
        }
        let put_in = wanted.iter().map(|target| {
            let source = target.source.strip_prefix(folder);
            let source = source.unwrap_or(&target.source).to_owned();
            (target.name.clone(), source)
        });
        ours.set_benches(&own, &put_in.collect::<Vec<Bench>>(), &theirs);
        // Own benches were written for the versions of their own time.
        let anew = self.bench_source.replaces || own.is_empty();
        let taken = match wanted.is_empty() {
            true => Vec::new(),
            false => ours.add_dev_dependencies(&theirs, anew),
        };
        self.overlay.texts.insert(manifest.to_owned(), ours.text());
        self.overlay.targets.extend(wanted);
        self.dependencies(folder, &taken)
    }

    /// Puts in a package that the commit lacks.
    fn whole_package(
        &mut self,
        folder: &Path,
        theirs: &Manifest,
        dropped: &[BenchTarget],
    ) -> Result<(), BuildError> {
        let targets = self.bench_source.targets.iter();
        let targets: Vec<BenchTarget> = targets
            .filter(|it| it.manifest.parent() == Some(folder) && !dropped.contains(it))
            .cloned()
            .collect();
        if targets.is_empty() || folder.as_os_str().is_empty() {
            return Ok(());
        }
        self.overlay.targets.extend(targets);
        self.copy_below(folder);
        if !theirs.has_workspace()
            && let Some((root, mut workspace)) = self.workspace_around(folder)?
        {
            workspace.add_member(
                folder
                    .strip_prefix(root.parent().unwrap_or(&root))
                    .unwrap_or(folder),
            );
            self.overlay.texts.insert(root, workspace.text());
        }
        let mut taken = Manifest::default().add_dev_dependencies(theirs, true);
        taken.extend(theirs.dependencies());
        self.dependencies(folder, &taken)
    }

    /// Puts in what the commit lacks of packages in the repository, and what its workspace does
    /// not say.
    fn dependencies(&mut self, folder: &Path, taken: &[Dependency]) -> Result<(), BuildError> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for dependency in taken {
            folders.extend(dependency.path.as_ref().map(|path| folder.join(path)));
        }
        let of_workspace = taken.iter().filter(|it| it.of_workspace);
        let names: Vec<&str> = of_workspace.map(|it| &*it.name).collect();
        if !names.is_empty()
            && let Some((root, mut ours)) = self.workspace_around(folder)?
            && let Some(theirs) = self.of_donor(&root)
        {
            let top = root.parent().unwrap_or(Path::new("")).to_owned();
            let paths = ours.add_workspace_dependencies(&theirs, &names).into_iter();
            folders.extend(paths.map(|path| top.join(path)));
            self.overlay.texts.insert(root, ours.text());
        }
        for folder in folders {
            let Some(folder) = below_top(&folder) else {
                continue;
            };
            let manifest = folder.join("Cargo.toml");
            let is_there =
                self.files.contains(&manifest) || self.overlay.copies.contains(&manifest);
            if !is_there && self.bench_source.top.join(&manifest).is_file() {
                self.copy_below(&folder);
            }
        }
        Ok(())
    }

    /// Puts in the folder below the package in which a bench target lies, or its file alone where
    /// that is among the sources.
    fn copy_around(&mut self, package: &Path, source: &Path) {
        let below = source.strip_prefix(package).unwrap_or(source);
        let mut parts = below.components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(first)), Some(_)) if first != "src" => {
                self.copy_below(&package.join(first));
            }
            _ => self.copy(source.to_owned()),
        }
    }

    fn copy_below(&mut self, folder: &Path) {
        for path in entries(&self.bench_source.top.join(folder)) {
            let Ok(below) = path
                .strip_prefix(&self.bench_source.top)
                .map(Path::to_owned)
            else {
                continue;
            };
            if !path.is_dir() {
                self.copy(below);
            // A link to a folder may lead back to where it stands.
            } else if !path.is_symlink() && !PASSED_OVER.iter().any(|name| path.ends_with(name)) {
                self.copy_below(&below);
            }
        }
    }

    fn copy(&mut self, path: PathBuf) {
        let is_there = self.files.contains(&path);
        if (self.bench_source.replaces || !is_there) && !self.overlay.copies.contains(&path) {
            self.overlay.copies.push(path);
        }
    }

    /// The manifest of the workspace that a package belongs to, as it is by now.
    fn workspace_around(&self, folder: &Path) -> Result<Option<(PathBuf, Manifest)>, BuildError> {
        for folder in folder.ancestors() {
            let path = folder.join("Cargo.toml");
            if let Some(manifest) = self.of_commit(&path)?
                && manifest.has_workspace()
            {
                return Ok(Some((path, manifest)));
            }
        }
        Ok(None)
    }

    fn of_commit(&self, path: &Path) -> Result<Option<Manifest>, BuildError> {
        Ok(self
            .text_of_commit(path)?
            .and_then(|text| Manifest::read(&text)))
    }

    fn text_of_commit(&self, path: &Path) -> Result<Option<String>, BuildError> {
        if let Some(text) = self.overlay.texts.get(path) {
            return Ok(Some(text.clone()));
        }
        if !self.files.iter().any(|file| file == path) {
            return Ok(None);
        }
        let bytes = self.repository.file_of(self.commit, path)?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    fn of_donor(&self, path: &Path) -> Option<Manifest> {
        Manifest::read(&fs::read_to_string(self.bench_source.top.join(path)).ok()?)
    }

    /// Puts packages into the lock file that is nearest to the first bench target.
    fn lock(&mut self) -> Result<(), BuildError> {
        let Some(first) = self.bench_source.targets.first() else {
            return Ok(());
        };
        for folder in first.manifest.ancestors().skip(1) {
            let path = folder.join("Cargo.lock");
            let Some(ours) = self.text_of_commit(&path)? else {
                continue;
            };
            if let Ok(theirs) = fs::read_to_string(self.bench_source.top.join(&path))
                && let Some(both) = with_packages(&ours, &theirs)
            {
                self.overlay.texts.insert(path, both);
            }
            break;
        }
        Ok(())
    }
}

/// A path without its `..`; `None` where it leads out of the repository.
fn below_top(path: &Path) -> Option<PathBuf> {
    let mut below = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => below.push(name),
            Component::CurDir => {}
            Component::ParentDir if below.pop() => {}
            _ => return None,
        }
    }
    Some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_followed_as_long_as_it_stays_in_the_repository() {
        assert_eq!(below_top(Path::new("a/../b/./c")), Some("b/c".into()));
        assert_eq!(below_top(Path::new("a/../../b")), None);
        assert_eq!(below_top(Path::new("/a")), None);
    }
}
