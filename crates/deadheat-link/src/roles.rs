//! One program under several names, in the folder where cargo builds.

use std::path::{Path, PathBuf};
use std::{fs, io, process};

use crate::record::record_file;

/// The names under which `cargo-deadheat` stands in for compiler and linker, and what was linked
/// through them.
///
/// ```text
/// TARGET/deadheat/bin/deadheat-rustc     → cargo-deadheat
/// TARGET/deadheat/bin/deadheat-linker    → cargo-deadheat
/// TARGET/deadheat/linked/EXECUTABLE      → an executable that has a record beside it
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles {
    folder: PathBuf,
}

/// The folder in which the names are cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}; cargo deadheat needs to write there")]
pub struct RolesError {
    /// The file or folder.
    pub path: PathBuf,
    /// The problem with it.
    pub problem: io::Error,
}

impl Roles {
    /// The name that stands in for rustc.
    pub const COMPILER: &str = "deadheat-rustc";
    /// The name that stands in for the linker driver.
    pub const LINKER: &str = "deadheat-linker";

    /// Gives `program` its names below `target`, the folder where cargo builds. Names that led
    /// elsewhere lead to it from now on, and at no moment nowhere.
    pub fn give(target: &Path, program: &Path) -> Result<Self, RolesError> {
        let roles = Self {
            folder: target.join("deadheat"),
        };
        // Cargo marks this folder as one that backups may leave out, but only when it makes it.
        if !target.exists() {
            create_folder(target)?;
            let tag = target.join("CACHEDIR.TAG");
            let text = "Signature: 8a477f597d28d172789f06886806bc55\n";
            fs::write(&tag, text).map_err(|problem| at(&tag, problem))?;
        }
        create_folder(&roles.folder.join("bin"))?;
        for name in [roles.compiler(), roles.linker()] {
            lead(&name, program)?;
        }
        Ok(roles)
    }

    /// The roles of which `name`, an absolute path, is one.
    pub fn of(name: &Path) -> Option<Self> {
        let folder = name.parent()?.parent()?.to_owned();
        name.is_absolute().then_some(Self { folder })
    }

    /// The program that stands in for rustc.
    pub fn compiler(&self) -> PathBuf {
        self.folder.join("bin").join(Self::COMPILER)
    }

    /// The program that stands in for the linker driver.
    pub fn linker(&self) -> PathBuf {
        self.folder.join("bin").join(Self::LINKER)
    }

    /// Notes that `executable`, an absolute path, is about to be linked under the name of the
    /// linker.
    pub fn note(&self, executable: &Path) -> Result<(), RolesError> {
        let folder = self.folder.join("linked");
        create_folder(&folder)?;
        let name = executable.file_name().unwrap_or_default();
        lead(&folder.join(name), executable)
    }

    /// Removes executables that were linked under the name of the linker and whose records are
    /// gone, so that cargo, for which they are fresh, links them again. Returns what was removed.
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

/// Makes `name` a symbolic link to `goal` in one step.
fn lead(name: &Path, goal: &Path) -> Result<(), RolesError> {
    if fs::read_link(name).is_ok_and(|old| old == goal) {
        return Ok(());
    }
    let mut fresh = name.as_os_str().to_owned();
    fresh.push(format!(".{}", process::id()));
    let fresh = PathBuf::from(fresh);
    // A process of this number may have died here once.
    remove(&fresh)?;
    std::os::unix::fs::symlink(goal, &fresh).map_err(|problem| at(&fresh, problem))?;
    fs::rename(&fresh, name).map_err(|problem| at(name, problem))
}

/// Removes a file; one that is gone already is no error.
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
        assert!(text.contains("needs to write there"), "{text}");
    }
}
