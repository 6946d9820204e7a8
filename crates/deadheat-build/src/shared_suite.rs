//! One suite of pytest for both sides: the sources of one side with the suite of the other.
//!
//! A suite often imports the library from the checkout that it lies in (`tests/` next to `lib/` or
//! `src/`). If the candidate's suite ran where it lies, it would load the candidate's library on both
//! sides. So a new folder gets links to everything of the baseline except its suite, and a copy of
//! the candidate's suite.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use deadheat_link::Digest;

use crate::disk::{entries, is_folder, remove_folder};
use crate::error::BuildError;
use crate::key::KeyInputs;
use crate::python::{SUITE, script};
use crate::repository::Repository;
use crate::sides::Side;
use crate::slot::Executable;
use crate::subprocess::Interruption;
use crate::test_suite::TestSuite;

/// Entries that belong to no sources.
const PASSED_OVER: [&str; 4] = [".git", ".deadheat", "__pycache__", ".pytest_cache"];

/// The worker of a side that runs the suite of the other.
#[derive(Clone, Debug)]
pub struct BorrowedSuite {
    /// The worker.
    pub executable: Executable,
    sources: PathBuf,
    directory: PathBuf,
}

impl Side {
    /// Makes a worker for this side that runs the suite of `giver`, which has these `tests`.
    ///
    /// # Errors
    ///
    /// A git that fails, or a folder that cannot be written.
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
        let plan = Plan::new(self, &suite, files);
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

    /// Races this side with the suite it borrowed.
    pub fn adopt(&mut self, borrowed: BorrowedSuite) {
        self.executables = vec![borrowed.executable];
        self.sources = borrowed.sources;
        self.directory = borrowed.directory;
    }
}

/// The entries of the new folder.
struct Plan {
    /// The folder of what is linked to.
    from: PathBuf,
    /// Files and folders of the side that are linked to.
    links: Vec<PathBuf>,
    /// Files of the suite that are copied.
    copies: Vec<PathBuf>,
}

impl Plan {
    fn new(side: &Side, suite: &TestSuite, copies: Vec<PathBuf>) -> Self {
        // Folders that get a file, and so are no links.
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for file in &copies {
            folders.extend(file.ancestors().skip(1).map(Path::to_owned));
        }
        let mut plan = Self {
            from: side.sources.clone(),
            links: Vec::new(),
            copies,
        };
        plan.link_below(Path::new(""), suite, &folders);
        plan.links.sort();
        plan
    }

    /// Links to what a folder holds besides the suite.
    fn link_below(&mut self, folder: &Path, suite: &TestSuite, folders: &BTreeSet<PathBuf>) {
        for path in entries(&self.from.join(folder)) {
            let name = path.file_name().unwrap_or_default();
            let below = folder.join(name);
            if PASSED_OVER.iter().any(|passed| name == *passed) {
                continue;
            }
            if is_folder(&path) && folders.contains(&below) {
                self.link_below(&below, suite, folders);
                continue;
            }
            // A folder of the suite that the other side lacks stays away, whatever it holds.
            let is_of_suite = match is_folder(&path) {
                true => suite.holds(&below.join("any")),
                false => suite.takes(&below),
            };
            if !is_of_suite {
                self.links.push(below);
            }
        }
    }

    /// A name for all that is in the folder.
    fn key(&self, giver: &Path) -> String {
        let mut inputs = KeyInputs::default();
        for link in &self.links {
            inputs.add("link", link);
        }
        for file in &self.copies {
            let bytes = fs::read(giver.join(file)).unwrap_or_default();
            inputs.add("copy", file);
            inputs.add("content", Digest::of(&bytes).0);
        }
        inputs.digest()
    }

    /// Makes the folder, as a whole or not at all.
    fn write(&self, giver: &Path, folder: &Path) -> Result<(), BuildError> {
        let draft = folder.with_extension(std::process::id().to_string());
        remove_folder(&draft).map_err(BuildError::at(&draft))?;
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
            let to = tree.join(file);
            room(&to)?;
            fs::copy(giver.join(file), &to).map_err(BuildError::at(&to))?;
        }
        match fs::rename(&draft, folder) {
            Ok(()) => Ok(()),
            // Another race has made the same meanwhile.
            Err(_) if folder.is_dir() => remove_folder(&draft).map_err(BuildError::at(&draft)),
            Err(problem) => Err(BuildError::at(folder)(problem)),
        }
    }
}
