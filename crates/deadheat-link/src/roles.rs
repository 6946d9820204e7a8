//! Installs deadheat in cargo's target folder, under the names that cargo runs in place of rustc
//! and the linker driver.

use std::path::{Path, PathBuf};
use std::{fs, io};

use deadheat_model::under_new_name;

use crate::record::record_file;
use crate::tracked::tracked_files;

/// Symbolic links in cargo's target folder: two names that cargo runs in place of rustc and the
/// linker driver, and a link to each executable that deadheat linked.
///
/// ```text
/// TARGET/deadheat/bin/deadheat-rustc     → cargo-deadheat
/// TARGET/deadheat/bin/deadheat-linker    → cargo-deadheat
/// TARGET/deadheat/linked/EXECUTABLE      → an executable with a record in its folder
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles {
    folder: PathBuf,
}

/// The name of the symbolic link to the library that replaces criterion. The link is in the same
/// folder as the name that replaces rustc.
const CRITERION: &str = "libcriterion.rlib";

/// The error if deadheat cannot create, replace or remove its files in cargo's target folder.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}; cargo deadheat must write there")]
pub struct RolesError {
    /// The file or folder with the problem.
    pub path: PathBuf,
    /// The problem, usually an error of the operating system.
    pub problem: io::Error,
}

impl Roles {
    /// The file name under which cargo runs deadheat in place of rustc.
    pub const COMPILER: &str = "deadheat-rustc";
    /// The file name under which rustc runs deadheat in place of the linker driver.
    pub const LINKER: &str = "deadheat-linker";

    /// Installs `program` under the names that replace rustc and the linker driver, as symbolic
    /// links below `target`, cargo's target folder. Existing links are replaced atomically.
    pub fn give(target: &Path, program: &Path) -> Result<Self, RolesError> {
        let roles = Self {
            folder: target.join("deadheat"),
        };
        // Cargo marks this folder as excluded from backups, but only if cargo creates it.
        if !target.exists() {
            create_folder(target)?;
            let tag = target.join("CACHEDIR.TAG");
            let text = "Signature: 8a477f597d28d172789f06886806bc55\n";
            let written = fs::File::create_new(&tag)
                .and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
            written.map_err(|problem| at(&tag, problem))?;
        }
        roles.refuse_tracked()?;
        create_folder(&roles.folder.join("bin"))?;
        for name in [roles.compiler(), roles.linker()] {
            lead(&name, program)?;
        }
        Ok(roles)
    }

    /// Fails if git tracks a file in deadheat's folder. The links in a commit could name any file,
    /// and deadheat removes executables that the links name.
    fn refuse_tracked(&self) -> Result<(), RolesError> {
        let tracked = tracked_files(&self.folder);
        let tracked = tracked.map_err(|error| at(&self.folder, io::Error::other(error)))?;
        tracked.first().map_or(Ok(()), |path| {
            let problem = "git tracks it, so it comes from a commit: remove it with `git rm -r`";
            Err(at(path, io::Error::other(problem)))
        })
    }

    /// Returns the roles whose folder contains the path `name`, such as
    /// `TARGET/deadheat/bin/deadheat-rustc`; `None` if `name` is not absolute.
    pub fn of(name: &Path) -> Option<Self> {
        let folder = name.parent()?.parent()?.to_owned();
        name.is_absolute().then_some(Self { folder })
    }

    /// Returns the path that replaces rustc.
    pub fn compiler(&self) -> PathBuf {
        self.folder.join("bin").join(Self::COMPILER)
    }

    /// Creates another path that replaces rustc, and that offers the library `file` in place of the
    /// crate criterion. The path contains `key`, so that cargo compiles the crates again if `key`
    /// changes.
    pub fn compiler_with_criterion(&self, key: &str, file: &Path) -> Result<PathBuf, RolesError> {
        let folder = self.folder.join(format!("criterion-{key}"));
        create_folder(&folder)?;
        let program = fs::read_link(self.compiler());
        let program = program.map_err(|problem| at(&self.compiler(), problem))?;
        let compiler = folder.join(Self::COMPILER);
        lead(&folder.join(CRITERION), file)?;
        lead(&compiler, &program)?;
        Ok(compiler)
    }

    /// Returns the library to offer in place of criterion; `None` unless the path `name` comes from
    /// [`Roles::compiler_with_criterion`].
    pub fn criterion(name: &Path) -> Option<PathBuf> {
        fs::read_link(name.parent()?.join(CRITERION)).ok()
    }

    /// Returns the path that replaces the linker driver.
    pub fn linker(&self) -> PathBuf {
        self.folder.join("bin").join(Self::LINKER)
    }

    /// Records that `executable`, an absolute path, is about to be linked by [`Roles::linker`].
    pub fn note(&self, executable: &Path) -> Result<(), RolesError> {
        let folder = self.folder.join("linked");
        create_folder(&folder)?;
        let name = executable.file_name().unwrap_or_default();
        lead(&folder.join(name), executable)
    }

    /// Removes executables that were linked by [`Roles::linker`] and whose link record is missing,
    /// because cargo would treat them as fresh and not link them again. Returns the removed paths.
    pub fn remove_unrecorded(&self) -> Result<Vec<PathBuf>, RolesError> {
        let folder = self.folder.join("linked");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(problem) => return Err(at(&folder, problem)),
        };
        let mut removed = Vec::new();
        for entry in entries {
            let note = entry.map_err(|problem| at(&folder, problem))?.path();
            let Ok(executable) = fs::read_link(&note) else {
                continue;
            };
            if executable.exists() {
                if record_file(&executable).is_some_and(|record| record.exists()) {
                    continue;
                }
                remove(&executable)?;
                removed.push(executable);
            }
            remove(&note)?;
        }
        removed.sort();
        Ok(removed)
    }
}

/// Atomically makes `name` a symbolic link to `goal`.
fn lead(name: &Path, goal: &Path) -> Result<(), RolesError> {
    if fs::read_link(name).is_ok_and(|old| old == goal) {
        return Ok(());
    }
    let own = name.file_name().unwrap_or_default().to_string_lossy();
    let folder = name.parent().unwrap_or(Path::new("."));
    let created = under_new_name(
        folder,
        |random| format!("{own}.{random:016x}"),
        |path| std::os::unix::fs::symlink(goal, path),
    );
    let (fresh, ()) = created.map_err(|(path, problem)| at(&path, problem))?;
    fs::rename(&fresh, name).map_err(|problem| at(name, problem))
}

fn remove(path: &Path) -> Result<(), RolesError> {
    match fs::remove_file(path) {
        Err(problem) if problem.kind() != io::ErrorKind::NotFound => Err(at(path, problem)),
        _ => Ok(()),
    }
}

fn create_folder(path: &Path) -> Result<(), RolesError> {
    fs::create_dir_all(path).map_err(|problem| at(path, problem))
}

fn at(path: &Path, problem: io::Error) -> RolesError {
    RolesError {
        path: path.to_owned(),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::LinkRecord;

    #[test]
    fn links_that_came_with_a_commit_are_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            let done = git.args(args).current_dir(scratch.path()).output();
            done.is_ok_and(|done| done.status.success())
        };
        if !git(&["init", "--quiet"]) {
            return;
        }
        let target = scratch.path().join("target");
        let program = Path::new("/somewhere/cargo-deadheat");
        let roles = Roles::give(&target, program).unwrap();
        let precious = scratch.path().join("precious");
        fs::write(&precious, "").unwrap();
        roles.note(&precious).unwrap();
        assert!(Roles::give(&target, program).is_ok());
        assert!(git(&["add", "--force", "target/deadheat/linked"]));
        let refused = Roles::give(&target, program).unwrap_err().to_string();
        assert!(refused.contains("git tracks it"), "{refused}");
    }

    #[test]
    fn names_lead_to_the_program_that_asked_last() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("target");
        for program in ["/somewhere/cargo-deadheat", "/elsewhere/cargo-deadheat"] {
            let program = Path::new(program);
            let roles = Roles::give(&target, program).unwrap();
            assert_eq!(fs::read_link(roles.compiler()).unwrap(), program);
            assert_eq!(fs::read_link(roles.linker()).unwrap(), program);
            assert_eq!(Roles::of(&roles.compiler()), Some(roles.clone()));
            let names = fs::read_dir(target.join("deadheat/bin")).unwrap();
            assert_eq!(names.count(), 2, "nothing else is left behind");
        }
        let tag = fs::read_to_string(target.join("CACHEDIR.TAG")).unwrap();
        assert!(tag.starts_with("Signature: "), "{tag}");
        assert_eq!(Roles::of(Path::new(Roles::COMPILER)), None, "found in PATH");
    }

    #[test]
    fn a_library_for_criterion_is_found_by_the_name_that_offers_it() {
        let scratch = tempfile::tempdir().unwrap();
        let program = Path::new("/somewhere/cargo-deadheat");
        let roles = Roles::give(scratch.path(), program).unwrap();
        assert_eq!(Roles::criterion(&roles.compiler()), None);
        let file = Path::new("/cache/libdeadheat_criterion.rlib");
        let compiler = roles.compiler_with_criterion("1-2", file).unwrap();
        assert_eq!(fs::read_link(&compiler).unwrap(), program);
        assert_eq!(Roles::criterion(&compiler).as_deref(), Some(file));
        assert_eq!(Roles::of(&compiler), Some(roles.clone()));
        assert_ne!(
            roles.compiler_with_criterion("3-4", file).unwrap(),
            compiler
        );
    }

    #[test]
    fn an_executable_whose_record_is_gone_is_linked_again() {
        let scratch = tempfile::tempdir().unwrap();
        let roles = Roles::give(scratch.path(), Path::new("/cargo-deadheat")).unwrap();
        assert_eq!(
            roles.remove_unrecorded().unwrap(),
            [""; 0].map(PathBuf::from)
        );
        let home = LinkRecord::home(scratch.path());
        fs::create_dir_all(&home).unwrap();
        let [kept, lost, gone] = ["kept", "lost", "gone"].map(|name| scratch.path().join(name));
        for executable in [&kept, &lost, &gone] {
            roles.note(executable).unwrap();
        }
        for executable in [&kept, &lost] {
            fs::write(executable, "").unwrap();
        }
        fs::write(home.join("kept.json"), "{}").unwrap();
        assert_eq!(
            roles.remove_unrecorded().unwrap(),
            std::slice::from_ref(&lost)
        );
        assert!(kept.exists() && !lost.exists());
        let notes = fs::read_dir(scratch.path().join("deadheat/linked")).unwrap();
        assert_eq!(notes.count(), 1, "only what is there is noted");
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("deadheat");
        fs::write(&file, "").unwrap();
        let error = Roles::give(scratch.path(), Path::new("/p")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(file.to_str().unwrap()), "{text}");
        assert!(text.contains("must write there"), "{text}");
    }
}
