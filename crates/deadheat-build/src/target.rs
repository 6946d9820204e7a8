//! Asks cargo for its target folder. The answer is stored in the target folder and used until one
//! of the inputs that determine it changes, because `cargo metadata` takes 12 ms to start, even if
//! all programs of a race are already built.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use deadheat_link::Digest;
use serde::Deserialize;

use crate::disk;
use crate::error::CargoError;

/// Returns the absolute path of the target folder for builds in the folder `directory`. `named` is
/// the value of `--target-dir`, if given, and `metadata` are options for `cargo metadata`.
///
/// # Errors
///
/// [`CargoError`] if cargo cannot be run or fails.
pub fn target_dir(
    cargo: &OsStr,
    directory: &Path,
    named: Option<&Path>,
    metadata: &[OsString],
) -> Result<PathBuf, CargoError> {
    if let Some(folder) = named {
        return std::path::absolute(directory.join(folder)).map_err(|problem| {
            CargoError::TargetDir {
                path: folder.to_owned(),
                problem,
            }
        });
    }
    let question = metadata.is_empty().then(|| {
        let variables = env::vars_os().collect();
        Question::of(cargo, &std::path::absolute(directory).ok()?, variables)
    });
    let question = question.flatten();
    if let Some(known) = question.as_ref().and_then(Question::known) {
        return Ok(known);
    }
    let target = ask(cargo, directory, metadata)?;
    if let Some(question) = question {
        question.keep(&target);
    }
    Ok(target)
}

fn ask(cargo: &OsStr, directory: &Path, metadata: &[OsString]) -> Result<PathBuf, CargoError> {
    let metadata = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .args(metadata)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .map_err(|problem| CargoError::NotStarted {
            cargo: cargo.display().to_string(),
            problem,
        })?;
    if !metadata.status.success() {
        let said = String::from_utf8_lossy(&metadata.stderr);
        if said.contains("could not find `Cargo.toml`") {
            return Err(CargoError::NoManifest(directory.to_owned()));
        }
        let said = said.trim().trim_start_matches("error: ").to_owned();
        return Err(CargoError::NoPackage(said));
    }
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    serde_json::from_slice(&metadata.stdout)
        .map(|Metadata { target_directory }| target_directory)
        .map_err(|_| CargoError::NoTargetDirectory)
}

const TARGET_VARIABLES: [&str; 2] = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"];

/// The inputs that determine the target folder that cargo reports.
#[derive(Debug)]
struct Question {
    /// The digest of cargo's path, the folder, cargo's environment variables, and the manifests and
    /// configuration files in the folder and all its parents, where cargo looks for the workspace.
    digest: Digest,
    /// The folders that may be the target folder, the most likely first.
    candidates: Vec<PathBuf>,
}

impl Question {
    /// Collects the inputs; `None` if the answer may depend on other files.
    fn of(
        cargo: &OsStr,
        directory: &Path,
        variables: BTreeMap<OsString, OsString>,
    ) -> Option<Self> {
        let variable = |name: &str| {
            let value = variables.get(OsStr::new(name));
            value.filter(|value| !value.is_empty()).map(Path::new)
        };
        let mut candidates: Vec<PathBuf> = TARGET_VARIABLES
            .into_iter()
            .filter_map(|name| Some(directory.join(variable(name)?)))
            .collect();
        let folders = directory.ancestors();
        candidates.extend(folders.map(|folder| folder.join("target")));
        let home = match variable("CARGO_HOME") {
            Some(home) => directory.join(home),
            None => env::home_dir()?.join(".cargo"),
        };
        let settings = folders.map(|folder| folder.join(".cargo"));
        let settings = settings
            .chain([home])
            .flat_map(|folder| ["config", "config.toml"].map(|name| folder.join(name)));
        let mut asked = Vec::new();
        let mut add = |part: &[u8]| {
            asked.extend(part.len().to_le_bytes());
            asked.extend(part);
        };
        add(cargo.as_bytes());
        add(directory.as_os_str().as_bytes());
        for (name, value) in &variables {
            if name.as_bytes().starts_with(b"CARGO") {
                add(name.as_bytes());
                add(value.as_bytes());
            }
        }
        for file in settings {
            let text = contents(&file).ok()?;
            // The configuration includes another file, which may affect the answer.
            if text.windows(7).any(|word| word == b"include") {
                return None;
            }
            add(&text);
        }
        for folder in folders {
            add(&contents(&folder.join("Cargo.toml")).ok()?);
        }
        Some(Self {
            digest: Digest::of(&asked),
            candidates,
        })
    }

    /// Returns the stored target folder, if it was stored for the same inputs.
    fn known(&self) -> Option<PathBuf> {
        let is_answer = |target: &&PathBuf| {
            let note = own_note(target).and_then(|note| disk::read_text(note).ok());
            note.is_some_and(|note| note == self.answered(target))
        };
        self.candidates.iter().find(is_answer).cloned()
    }

    /// Stores cargo's answer, the path of the target folder, in a file in that folder, if deadheat
    /// has built there before. If this fails, deadheat asks cargo again next time.
    fn keep(&self, target: &Path) {
        if self.candidates.iter().any(|one| one == target)
            && let Some(note) = own_note(target)
        {
            // The file could be a symbolic link that came with a commit.
            let _ = fs::remove_file(&note);
            let made = fs::File::create_new(note);
            let _ = made.and_then(|mut file| file.write_all(self.answered(target).as_bytes()));
        }
    }

    /// Returns the text of the file that stores cargo's answer, the path `target`.
    fn answered(&self, target: &Path) -> String {
        format!("{}\n{}\n", self.digest.0, target.display())
    }
}

/// Returns the path of the [`note`]; `None` if its folder is a link, which could have come with a
/// commit.
fn own_note(target: &Path) -> Option<PathBuf> {
    let note = note(target);
    let is_own = |place: &Path| !place.is_symlink();
    note.parent().is_some_and(is_own).then_some(note)
}

/// Returns the path of the file in a target folder that stores cargo's answer.
fn note(target: &Path) -> PathBuf {
    target.join("deadheat").join("asked")
}

/// Reads a file; empty if the file does not exist.
fn contents(file: &Path) -> io::Result<Vec<u8>> {
    match disk::read(file) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => Ok(Vec::new()),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Packages {
        scratch: tempfile::TempDir,
        variables: BTreeMap<OsString, OsString>,
    }

    impl Packages {
        fn new() -> Self {
            let scratch = tempfile::tempdir().unwrap();
            let variables = [("CARGO_HOME".into(), scratch.path().join("home").into())];
            let packages = Self {
                scratch,
                variables: variables.into(),
            };
            packages.write("all/Cargo.toml", "[workspace]\nmembers = ['one']\n");
            packages.write("all/one/Cargo.toml", "[package]\nname = 'one'\n");
            packages
        }

        fn path(&self, name: &str) -> PathBuf {
            self.scratch.path().canonicalize().unwrap().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let file = self.path(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }

        fn question(&self) -> Option<Question> {
            let directory = self.path("all/one");
            Question::of("cargo".as_ref(), &directory, self.variables.clone())
        }

        fn known(&self) -> Option<PathBuf> {
            self.question()?.known()
        }

        fn answer(&self, target: &str) {
            fs::create_dir_all(self.path(target).join("deadheat")).unwrap();
            self.question().unwrap().keep(&self.path(target));
        }
    }

    #[test]
    fn an_answer_is_not_stored_through_a_link() {
        let packages = Packages::new();
        packages.write("precious", "mine");
        let note = note(&packages.path("all/target"));
        fs::create_dir_all(note.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(packages.path("precious"), note).unwrap();
        packages.answer("all/target");
        assert_eq!(packages.known(), Some(packages.path("all/target")));
        let kept = fs::read_to_string(packages.path("precious")).unwrap();
        assert_eq!(kept, "mine");
    }

    #[test]
    fn a_stored_answer_is_used_until_an_input_changes() {
        let mut packages = Packages::new();
        assert_eq!(packages.known(), None);
        packages.answer("all/target");
        let target = Some(packages.path("all/target"));
        assert_eq!(packages.known(), target);
        for file in [
            "all/Cargo.toml",
            "all/one/Cargo.toml",
            "Cargo.toml",
            "all/.cargo/config.toml",
            "all/one/.cargo/config",
            "home/config.toml",
        ] {
            packages.write(file, "# changed");
            assert_eq!(packages.known(), None, "{file}");
            packages.answer("all/target");
            assert_eq!(packages.known(), target, "{file}");
        }
        let variables = packages.variables.clone();
        for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
            packages.variables.insert(name.into(), "elsewhere".into());
            assert_eq!(packages.known(), None, "{name}");
            packages.answer("all/one/elsewhere");
            assert_eq!(packages.known(), Some(packages.path("all/one/elsewhere")));
            packages.variables.clone_from(&variables);
        }
        fs::remove_dir_all(packages.path("all/target")).unwrap();
        assert_eq!(packages.known(), None, "as after cargo clean");
    }

    #[test]
    fn a_copied_target_folder_does_not_answer() {
        let packages = Packages::new();
        packages.answer("all/target");
        fs::rename(packages.path("all/target"), packages.path("all/one/target")).unwrap();
        assert_eq!(packages.known(), None);
    }

    #[test]
    fn cargo_is_asked_if_its_answer_may_depend_on_other_files() {
        let packages = Packages::new();
        packages.write("all/.cargo/config.toml", "include = 'more.toml'");
        assert!(packages.question().is_none());
    }

    #[test]
    fn an_answer_that_is_not_a_candidate_is_not_stored() {
        let packages = Packages::new();
        packages.answer("far/away");
        assert!(!packages.path("far/away/deadheat/asked").exists());
    }
}
