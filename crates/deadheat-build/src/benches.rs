//! Adds bench targets of one side to the sources of the other before they are built.
//!
//! A commit that is older than the project's benchmarks, or than one of them, can then be raced:
//! its sources get the missing bench targets and the dev-dependencies of these.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use deadheat_link::join_inside;
use serde::{Deserialize, Serialize};

use crate::disk::{self, entries, is_folder};
use crate::error::BuildError;
use crate::key::{KeyInputs, PASSED_OVER};
use crate::lock_files::GivenLock;
use crate::manifest::{Bench, Dependency, Manifest, with_packages};
use crate::repository::{Commit, Repository};

/// The source of the bench targets of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchesFrom {
    /// Each side uses only its own bench targets.
    Own,
    /// Both sides use the bench targets of the baseline.
    Baseline,
    /// Both sides use the bench targets of the candidate.
    Candidate,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BenchTarget {
    pub(crate) name: String,
    /// The path of the package's manifest, relative to the top of the sources.
    pub(crate) manifest: PathBuf,
    /// The path of the target's source file, relative to the top of the sources.
    pub(crate) source: PathBuf,
}

#[derive(Clone, Debug)]
pub(crate) struct BenchSource {
    pub(crate) name: String,
    pub(crate) top: PathBuf,
    pub(crate) targets: Vec<BenchTarget>,
    /// True if the bench targets also replace those of the same name on the other side.
    pub(crate) replaces: bool,
}

/// The changes that add bench targets of the other side to the sources of a commit. Paths are
/// relative to the top of the sources.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    pub(crate) targets: Vec<BenchTarget>,
    /// Bench targets that are not added, with the reasons.
    pub(crate) left_out: Vec<(BenchTarget, String)>,
    /// The names of the commit's own bench targets that the other side has, too.
    pub(crate) shared: BTreeSet<String>,
    /// Files to copy from the side that provides the bench targets.
    copies: BTreeSet<PathBuf>,
    texts: BTreeMap<PathBuf, String>,
}

impl Overlay {
    /// Returns true if both sides have a bench target of the same name.
    pub(crate) fn shares(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Returns the names of the bench targets that the commit itself lacks.
    pub(crate) fn missing(&self) -> Vec<&str> {
        let added = self.targets.iter();
        let all = added.chain(self.left_out.iter().map(|(target, _)| target));
        let names = all.map(|target| &*target.name);
        names.filter(|name| !self.shared.contains(*name)).collect()
    }

    /// Plans how a commit with the lock files `locks` gets the bench targets of the other side,
    /// except those in `dropped`. Returns `None` if no target needs to be added and none was
    /// dropped or left out.
    pub(crate) fn plan(
        repository: &Repository<'_>,
        commit: &Commit,
        locks: &[GivenLock],
        bench_source: &BenchSource,
        dropped: &[BenchTarget],
    ) -> Result<Option<Self>, BuildError> {
        let mut planning = Planning {
            repository,
            commit,
            bench_source,
            files: repository.files_of(commit)?.into_iter().collect(),
            sources: BTreeMap::new(),
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
        let not_added = bench_source
            .targets
            .iter()
            .find(|it| !dropped.contains(it) && !planning.overlay.targets.contains(it));
        if let Some(target) = not_added.filter(|_| bench_source.replaces) {
            return Err(BuildError::BenchesDoNotFit {
                revision: commit.name.clone(),
                from: bench_source.name.clone(),
                problems: match planning.overlay.left_out.first() {
                    Some((target, problem)) => format!("{}: {problem}", target.name),
                    None => format!("{}: its manifest cannot be changed", target.name),
                },
            });
        }
        let overlay = &planning.overlay;
        let is_needed =
            !(overlay.targets.is_empty() && overlay.left_out.is_empty() && dropped.is_empty());
        if is_needed {
            planning.lock(locks)?;
        }
        Ok(is_needed.then_some(planning.overlay))
    }

    pub(crate) fn add_to(&self, key_inputs: &mut KeyInputs, bench_source: &BenchSource) {
        for path in &self.copies {
            key_inputs.add_content("put in", path, &bench_source.top.join(path));
        }
        for (path, text) in &self.texts {
            key_inputs.add("put in", path);
            key_inputs.add("content", text);
        }
    }

    pub(crate) fn write(
        &self,
        bench_source: &BenchSource,
        commit: &Commit,
        top: &Path,
    ) -> Result<(), BuildError> {
        for path in &self.copies {
            let from = bench_source.top.join(path);
            let to = way_for(commit, top, path)?;
            fs::copy(&from, &to).map_err(BuildError::at(&from))?;
        }
        for (path, text) in &self.texts {
            let to = way_for(commit, top, path)?;
            fs::write(&to, text).map_err(BuildError::at(&to))?;
        }
        Ok(())
    }

    /// Restores manifests and lock files below `top` to the commit's versions.
    pub(crate) fn take_back(
        &self,
        repository: &Repository<'_>,
        commit: &Commit,
        top: &Path,
    ) -> Result<(), BuildError> {
        for path in self.texts.keys() {
            let to = top.join(path);
            fs::remove_file(&to).map_err(BuildError::at(&to))?;
            if let Some(bytes) = repository.file_of(commit, path)? {
                let done = match repository.is_link(commit, path)? {
                    true => symlink(OsStr::from_bytes(&bytes), &to),
                    false => fs::write(&to, bytes),
                };
                done.map_err(BuildError::at(&to))?;
            }
        }
        Ok(())
    }
}

/// Returns the path at which to write a file below the sources of a commit. Creates its folder, and
/// removes a symbolic link at the path. Returns an error if the path leads out of the sources: the
/// path comes from the other side, and the commit may contain symbolic links.
fn way_for(commit: &Commit, top: &Path, path: &Path) -> Result<PathBuf, BuildError> {
    let outside = |error| BuildError::FileOutside {
        revision: commit.name.clone(),
        error,
    };
    let file = top.join(path);
    if file.is_symlink() {
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            join_inside(top, folder).map_err(outside)?;
        }
        fs::remove_file(&file).map_err(BuildError::at(&file))?;
    }
    let file = join_inside(top, path).map_err(outside)?;
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(BuildError::at(folder))?;
    }
    Ok(file)
}

/// Returns true if a file or folder has Rust code. A package of benchmarks may have an empty
/// library.
fn has_code(path: &Path) -> bool {
    if is_folder(path) {
        return entries(path).any(|path| has_code(&path));
    }
    let is_code = |text: String| {
        let mut lines = text.lines().map(str::trim);
        lines.any(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("#!["))
    };
    path.extension() == Some(OsStr::new("rs"))
        && disk::read_text(path).map_or(path.exists(), is_code)
}

/// Maximum number of files that are read to resolve a symbolic link.
const MOST_LINKS: usize = 8;

struct Planning<'a> {
    repository: &'a Repository<'a>,
    commit: &'a Commit,
    bench_source: &'a BenchSource,
    files: BTreeSet<PathBuf>,
    /// The sources of the libraries and programs of the commit's packages, by the folders of the
    /// packages; filled on demand.
    sources: BTreeMap<PathBuf, Vec<PathBuf>>,
    overlay: Overlay,
}

impl Planning<'_> {
    fn package(&mut self, manifest: &Path, dropped: &[BenchTarget]) -> Result<(), BuildError> {
        let folder = manifest.parent().unwrap_or(Path::new(""));
        let path = self.bench_source.top.join(manifest);
        let Some(theirs) = self.of_donor(manifest).map_err(BuildError::at(&path))? else {
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
                self.overlay.shared.insert(target.name.clone());
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
        let own_sources: Vec<PathBuf> = ours
            .benches(&files)
            .into_iter()
            .map(|(_, source)| folder.join(source))
            .collect();
        for target in &wanted {
            let source = &target.source;
            let is_copied = self.bench_source.replaces || !self.files.contains(source);
            let is_free = !is_copied || own_sources.contains(source);
            if !is_free && self.changes_own_build(source)? {
                return Err(BuildError::BenchInOwnBuild {
                    revision: self.commit.name.clone(),
                    from: self.bench_source.name.clone(),
                    bench: target.name.clone(),
                    path: source.clone(),
                });
            }
            self.copy(source.clone());
            self.copy_around(folder, source)?;
        }
        let put_in = wanted.iter().map(|target| {
            let source = target.source.strip_prefix(folder);
            let source = source.unwrap_or(&target.source).to_owned();
            (target.name.clone(), source)
        });
        ours.set_benches(&own, &put_in.collect::<Vec<Bench>>(), &theirs);
        // If the commit keeps its bench targets, its dev-dependencies keep their versions, because
        // these bench targets were written for those versions.
        let overwrites = self.bench_source.replaces || own.is_empty();
        let taken = match wanted.is_empty() {
            true => Vec::new(),
            false => ours.add_dev_dependencies(&theirs, overwrites),
        };
        self.overlay.texts.insert(manifest.to_owned(), ours.text());
        self.overlay.targets.extend(wanted);
        self.dependencies(folder, &taken)
    }

    /// Adds a whole package, which the commit lacks, with its bench targets.
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
        if let Some(problem) = self.why_not_whole(folder, theirs) {
            let left_out = targets
                .into_iter()
                .map(|target| (target, problem.to_owned()));
            self.overlay.left_out.extend(left_out);
            return Ok(());
        }
        self.overlay.targets.extend(targets);
        self.copy_below(folder)?;
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

    fn why_not_whole(&self, folder: &Path, theirs: &Manifest) -> Option<&'static str> {
        // Git lists a link or a submodule as one path, without the files in it.
        let mut folders = folder.ancestors().filter(|it| !it.as_os_str().is_empty());
        if folders.any(|folder| self.files.contains(folder)) {
            return Some("its folder is a symbolic link or a submodule in the commit");
        }
        let top = self.bench_source.top.join(folder);
        let sources = theirs.sources().into_iter();
        let mut sources = sources.filter(|source| source != "build.rs");
        if sources.any(|source| has_code(&top.join(source))) {
            return Some(
                "the commit lacks the package of the bench target; the package also has a library \
                 or a program, and both sides would race with this one copy of it",
            );
        }
        let dependencies = theirs.dependencies().into_iter();
        let mut folders = dependencies.filter_map(|one| below_top(&folder.join(one.path?)));
        let is_new = folders.any(|folder| {
            let has_manifest = self.files.contains(&folder.join("Cargo.toml"));
            !has_manifest && has_code(&self.bench_source.top.join(folder))
        });
        is_new.then_some(
            "the commit lacks a package that the bench target depends on; both sides would race \
             with the one copy that exists",
        )
    }

    /// Adds the dependencies in `taken` that the commit lacks: packages of the repository, and
    /// entries of its workspace's dependencies.
    fn dependencies(&mut self, folder: &Path, taken: &[Dependency]) -> Result<(), BuildError> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for dependency in taken {
            folders.extend(dependency.path.as_ref().map(|path| folder.join(path)));
        }
        let of_workspace = taken.iter().filter(|it| it.of_workspace);
        let names: Vec<&str> = of_workspace.map(|it| &*it.name).collect();
        if !names.is_empty()
            && let Some((root, mut ours)) = self.workspace_around(folder)?
            && let Ok(Some(theirs)) = self.of_donor(&root)
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
                self.copy_below(&folder)?;
            }
        }
        Ok(())
    }

    /// Copies the folder of a package, such as `benches`, that contains a bench target. Copies
    /// nothing if the target is in `src` or directly in the package's folder.
    fn copy_around(&mut self, package: &Path, source: &Path) -> Result<(), BuildError> {
        let below = source.strip_prefix(package).unwrap_or(source);
        let mut parts = below.components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(first)), Some(_)) if first != "src" => {
                self.copy_below(&package.join(first))
            }
            _ => Ok(()),
        }
    }

    fn copy_below(&mut self, folder: &Path) -> Result<(), BuildError> {
        for path in entries(&self.bench_source.top.join(folder)) {
            let Ok(below) = path
                .strip_prefix(&self.bench_source.top)
                .map(Path::to_owned)
            else {
                continue;
            };
            // Only regular files are copied, because reading a pipe or a device may never end.
            if path.is_file() {
                if !self.changes_own_build(&below)? {
                    self.copy(below);
                }
            // A symbolic link is skipped, because it may lead to a parent folder.
            } else if is_folder(&path) && !PASSED_OVER.iter().any(|name| path.ends_with(name)) {
                self.copy_below(&below)?;
            }
        }
        Ok(())
    }

    /// Returns true for a file that cargo, rustup or rustc would read for the build of the commit's
    /// own library and programs: one of their sources, or a file that changes how they are built. A
    /// pull request could slow down its baseline through such a file, and hide its own slowdown.
    fn changes_own_build(&mut self, path: &Path) -> Result<bool, BuildError> {
        if path.components().any(|part| part.as_os_str() == ".cargo") {
            return Ok(true);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        // Git lists a submodule like a file, and none of the files in it.
        let mut above = folder
            .ancestors()
            .filter(|above| !above.as_os_str().is_empty());
        if above.any(|above| self.files.contains(above)) {
            return Ok(true);
        }
        match path.file_name().and_then(OsStr::to_str) {
            Some("rust-toolchain" | "rust-toolchain.toml") => return Ok(true),
            Some("build.rs") if self.files.contains(&folder.join("Cargo.toml")) => {
                return Ok(true);
            }
            // The root of a workspace sets profiles and patches for the packages below it.
            Some("Cargo.toml" | "Cargo.lock") => {
                let mut manifests = self
                    .files
                    .iter()
                    .filter(|file| file.ends_with("Cargo.toml"));
                return Ok(manifests.any(|manifest| manifest.starts_with(folder)));
            }
            _ => {}
        }
        if !self.files.contains(path) {
            return Ok(false);
        }
        for package in folder.ancestors() {
            let manifest = package.join("Cargo.toml");
            if !self.files.contains(&manifest) {
                continue;
            }
            let sources = match self.sources.get(package) {
                Some(sources) => sources,
                None => {
                    let manifest = self.of_commit(&manifest)?;
                    let sources = manifest.unwrap_or_default().sources();
                    self.sources.entry(package.to_owned()).or_insert(sources)
                }
            };
            let below = path.strip_prefix(package).unwrap_or(path);
            return Ok(sources.iter().any(|source| below.starts_with(source)));
        }
        Ok(false)
    }

    fn copy(&mut self, path: PathBuf) {
        let is_there = self.files.contains(&path);
        if self.bench_source.replaces || !is_there {
            self.overlay.copies.insert(path);
        }
    }

    /// Returns the path and the manifest of the workspace that contains a package, with the changes
    /// so far.
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
        if !self.files.contains(path) {
            return Ok(None);
        }
        let mut path = path.to_owned();
        // A manifest may be a symbolic link, which git stores as the path of its target.
        for _ in 0..MOST_LINKS {
            let Some(bytes) = self.repository.file_of(self.commit, &path)? else {
                return Ok(None);
            };
            let text = String::from_utf8(bytes).ok();
            if !self.repository.is_link(self.commit, &path)? {
                return Ok(text);
            }
            let folder = path.parent().unwrap_or(Path::new(""));
            match text.and_then(|text| below_top(&folder.join(text))) {
                Some(target) => path = target,
                None => break,
            }
        }
        Err(BuildError::LinkedManifest {
            revision: self.commit.name.clone(),
            path,
        })
    }

    fn of_donor(&self, path: &Path) -> io::Result<Option<Manifest>> {
        let text = disk::read_text(self.bench_source.top.join(path))?;
        Ok(Manifest::read(&text))
    }

    /// Adds the missing packages to the lock file that is nearest to the first bench target.
    fn lock(&mut self, locks: &[GivenLock]) -> Result<(), BuildError> {
        let Some(first) = self.bench_source.targets.first() else {
            return Ok(());
        };
        for folder in first.manifest.ancestors().skip(1) {
            let path = folder.join("Cargo.lock");
            let given = locks.iter().find(|lock| lock.path == path);
            let ours = match given {
                Some(lock) => Some(String::from_utf8_lossy(&lock.text).into_owned()),
                None => self.text_of_commit(&path)?,
            };
            let Some(ours) = ours else {
                continue;
            };
            if let Ok(theirs) = disk::read_text(self.bench_source.top.join(&path))
                && let Some(both) = with_packages(&ours, &theirs)
            {
                self.overlay.texts.insert(path, both);
            }
            break;
        }
        Ok(())
    }
}

/// Resolves `..` in a path; `None` if the path leaves the repository.
pub(crate) fn below_top(path: &Path) -> Option<PathBuf> {
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
    fn a_file_of_the_other_side_is_written_below_the_sources_only() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir_all(&top).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        fs::write(elsewhere.join("a"), "mine").unwrap();
        std::os::unix::fs::symlink("../elsewhere", top.join("benches")).unwrap();
        std::os::unix::fs::symlink("../elsewhere/a", top.join("a")).unwrap();
        let commit = Commit::working_tree();
        let way = |path: &str| way_for(&commit, &top, Path::new(path));
        for path in [
            "../elsewhere/b",
            "/etc/b",
            "benches/a",
            "benches/b",
            "x/../../b",
        ] {
            let refused = way(path).unwrap_err();
            assert!(
                matches!(refused, BuildError::FileOutside { .. }),
                "{refused}"
            );
        }
        assert_eq!(way("new/b").unwrap(), top.join("new/b"));
        // A link in the place of the file is replaced.
        fs::write(way("a").unwrap(), "theirs").unwrap();
        assert_eq!(fs::read_to_string(elsewhere.join("a")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
    }

    #[test]
    fn rejects_a_path_that_leaves_the_repository() {
        assert_eq!(below_top(Path::new("a/../b/./c")), Some("b/c".into()));
        assert_eq!(below_top(Path::new("a/../../b")), None);
        assert_eq!(below_top(Path::new("/a")), None);
    }
}
