//! Runs one pytest suite on both sides, by combining the sources of one side with the suite of the
//! other.
//!
//! A suite often imports the library from its own checkout (`tests/` next to `lib/` or `src/`). Run
//! in its checkout, the candidate's suite would load the candidate's library on both sides. So a
//! new folder gets links to everything of the baseline except its suite, and a copy of the
//! candidate's suite.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use deadheat_link::join_inside;
use deadheat_model::under_new_name;

use crate::disk::{entries, is_folder, remove_folder};
use crate::error::BuildError;
use crate::key::KeyInputs;
use crate::python::{SUITE, script};
use crate::repository::Repository;
use crate::sides::Side;
use crate::slot::Executable;
use crate::subprocess::Interruption;
use crate::test_suite::TestSuite;

/// The names of folders that are skipped because they are not part of the sources.
const PASSED_OVER: [&str; 4] = [".git", ".deadheat", "__pycache__", ".pytest_cache"];

/// A worker of one side that runs the suite of the other.
#[derive(Clone, Debug)]
pub struct BorrowedSuite {
    /// The worker that runs the suite.
    pub executable: Executable,
    sources: PathBuf,
    directory: PathBuf,
}

impl Side {
    /// Creates a worker of this side that runs the tests `tests` of the suite of `giver`.
    ///
    /// # Errors
    ///
    /// Git fails, or a folder cannot be written.
    pub fn borrow_suite(
        &self,
        giver: &Side,
        tests: &[String],
        directory: &Path,
        interruption: Interruption<'_>,
    ) -> Result<BorrowedSuite, BuildError> {
        let repository = Repository::around(directory, interruption)?;
        let suite = TestSuite::new(tests, &repository.inside);
        let mut files = repository.files_of_side(giver)?;
        files.retain(|file| suite.takes(file) && giver.sources.join(file).is_file());
        let own = self.executables.first();
        let made = own
            .and_then(|own| own.path.parent())
            .unwrap_or(&self.sources);
        let plan = Plan::new(&self.name, &self.sources, &suite, files);
        let folder = made.join(format!("suite-{}", plan.key(&giver.sources)));
        if !folder.is_dir() {
            plan.write(&giver.sources, &folder)?;
        }
        let sources = folder.join("tree");
        let here = sources.join(&repository.inside);
        fs::create_dir_all(&here).map_err(BuildError::at(&here))?;
        let path = folder.join(SUITE);
        let python = made.join("environment").join("bin").join("python");
        let text = script(&python, &made.join("package"), Some(&giver.name));
        fs::write(&path, text)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
            .map_err(BuildError::at(&path))?;
        Ok(BorrowedSuite {
            executable: Executable {
                name: own.map_or_else(|| "pytest".to_owned(), |own| own.name.clone()),
                path,
                directory: Some(here.clone()),
            },
            sources,
            directory: here,
        })
    }

    /// Replaces this side's own suite by the borrowed one.
    pub fn adopt(&mut self, borrowed: BorrowedSuite) {
        self.executables = vec![borrowed.executable];
        self.sources = borrowed.sources;
        self.directory = borrowed.directory;
    }
}

/// The planned content of the folder that combines the sources of one side with the suite of the
/// other side.
struct Plan {
    /// The name of the side whose sources the suite tests.
    side: String,
    /// The top of the sources of the side `side`, which the links point to.
    from: PathBuf,
    /// Files and folders below `from` that the new folder links to.
    links: Vec<PathBuf>,
    /// Files of the other side's suite that are copied into the new folder.
    copies: Vec<PathBuf>,
}

impl Plan {
    fn new(side: &str, from: &Path, suite: &TestSuite, copies: Vec<PathBuf>) -> Self {
        // Folders that receive a copied file must be real folders, not links.
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for file in &copies {
            folders.extend(file.ancestors().skip(1).map(Path::to_owned));
        }
        let mut plan = Self {
            side: side.to_owned(),
            from: from.to_owned(),
            links: Vec::new(),
            copies,
        };
        plan.link_below(Path::new(""), suite, &folders);
        plan.links.sort();
        plan
    }

    /// Plans links to the entries of a folder that are not part of the suite.
    fn link_below(&mut self, folder: &Path, suite: &TestSuite, folders: &BTreeSet<PathBuf>) {
        for path in entries(&self.from.join(folder)) {
            let name = path.file_name().unwrap_or_default();
            let below = folder.join(name);
            if PASSED_OVER.iter().any(|passed| name == *passed) {
                continue;
            }
            if folders.contains(&below) {
                // A symbolic link or a file of this side is left out, because a folder of the suite
                // takes its place.
                if is_folder(&path) {
                    self.link_below(&below, suite, folders);
                }
                continue;
            }
            // A test folder that the other side lacks is left out with all its content.
            let is_of_suite = match is_folder(&path) {
                true => suite.holds(&below.join("any")),
                false => suite.takes(&below),
            };
            if !is_of_suite {
                self.links.push(below);
            }
        }
    }

    fn key(&self, giver: &Path) -> String {
        let mut inputs = KeyInputs::default();
        for link in &self.links {
            inputs.add("link", link);
        }
        for file in &self.copies {
            inputs.add_content("copy", file, &giver.join(file));
        }
        inputs.digest()
    }

    /// Writes the folder atomically.
    fn write(&self, giver: &Path, folder: &Path) -> Result<(), BuildError> {
        let parent = folder.parent().unwrap_or(folder);
        let name = |random: u64| format!("suite-{random:016x}.new");
        let created = under_new_name(parent, name, |path| fs::create_dir(path));
        let (draft, ()) = created.map_err(|(path, problem)| BuildError::at(&path)(problem))?;
        let tree = draft.join("tree");
        let room = |file: &Path| {
            let folder = file.parent().unwrap_or(&tree);
            fs::create_dir_all(folder).map_err(BuildError::at(folder))
        };
        for link in &self.links {
            let to = tree.join(link);
            room(&to)?;
            symlink(self.from.join(link), &to).map_err(BuildError::at(&to))?;
        }
        for file in &self.copies {
            // Copying through a link would write the suite into the sources of this side.
            let to = join_inside(&tree, file).map_err(|error| BuildError::FileOutside {
                revision: self.side.clone(),
                error,
            })?;
            room(&to)?;
            fs::copy(giver.join(file), &to).map_err(BuildError::at(&to))?;
        }
        match fs::rename(&draft, folder) {
            Ok(()) => Ok(()),
            // Another race has written the same folder in the meantime.
            Err(_) if folder.is_dir() => remove_folder(&draft).map_err(BuildError::at(&draft)),
            Err(problem) => Err(BuildError::at(folder)(problem)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_borrowed_suite_never_writes_through_links_into_the_sources() {
        let folder = tempfile::tempdir().unwrap();
        let [ours, theirs, made] = ["ours", "theirs", "made"].map(|name| folder.path().join(name));
        for (file, text) in [
            (ours.join("lib/mod.py"), "ours"),
            (theirs.join("tests/data/mod.py"), "theirs"),
            (theirs.join("tests/test_a.py"), "theirs"),
        ] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        fs::create_dir(ours.join("tests")).unwrap();
        symlink("../lib", ours.join("tests/data")).unwrap();
        let suite = TestSuite::new(&["tests".to_owned()], Path::new(""));
        let files = || vec!["tests/data/mod.py".into(), "tests/test_a.py".into()];
        let mut plan = Plan::new("main", &ours, &suite, files());
        plan.write(&theirs, &made).unwrap();
        let text = |path: PathBuf| fs::read_to_string(path).unwrap();
        assert_eq!(text(made.join("tree/tests/data/mod.py")), "theirs");
        assert_eq!(text(made.join("tree/lib/mod.py")), "ours");
        assert_eq!(text(ours.join("lib/mod.py")), "ours");
        plan.links.push("tests/data".into());
        let refused = plan.write(&theirs, &folder.path().join("again"));
        assert!(
            matches!(refused, Err(BuildError::FileOutside { .. })),
            "{refused:?}"
        );
        assert_eq!(text(ours.join("lib/mod.py")), "ours");
    }
}
