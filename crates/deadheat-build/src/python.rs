//! Creates a Python virtual environment for each side, with the worker that races the side's pytest
//! suite.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::disk::entries;
use crate::error::BuildError;
use crate::git::forget_the_repository;
use crate::key::KeyInputs;
use crate::missing_project::MissingProject;
use crate::slot::Executable;
use crate::subprocess::{Finished, Interruption, Variables};

/// The user's options for the virtual environment of a pytest suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PytestBuild {
    /// The arguments of `pip install`. Relative paths are relative to the side's folder.
    pub install: Vec<String>,
    /// The paths of the tests, for pytest in the user's working directory.
    pub tests: Vec<String>,
    /// The Python interpreter of both sides: a path, or a name in `PATH`.
    pub python: String,
    /// The Python package `deadheat`, which contains the worker.
    pub package: PythonPackage,
    /// Environment variables to set.
    pub variables: Variables,
}

/// The source of the Python package `deadheat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PythonPackage {
    /// A folder of modules, copied into the environment.
    Folder(PathBuf),
    /// A wheel, or a requirement such as `deadheat==1.0`, to install with pip.
    Installed(String),
}

/// A module that identifies a folder of the Python package `deadheat`.
const MODULE: &str = "pytest_suite.py";

impl PythonPackage {
    /// Finds the package at a path: its folder, the parent of its folder, or a wheel.
    pub fn named(path: &Path) -> Option<Self> {
        let path = std::path::absolute(path).ok()?;
        let folders = [path.clone(), path.join("deadheat")];
        let folder = folders
            .into_iter()
            .find(|folder| folder.join(MODULE).is_file());
        match folder {
            Some(folder) => Some(Self::Folder(folder)),
            None if path.is_file() => Some(Self::Installed(path.display().to_string())),
            None => None,
        }
    }

    /// Finds the package in the Python environment whose `bin` contains `program`.
    pub fn installed_with(program: &Path) -> Option<Self> {
        let program = program.canonicalize().ok()?;
        let libraries = entries(&program.parent()?.parent()?.join("lib"));
        let of_python = libraries.filter(|folder| {
            let name = folder.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with("python3")
        });
        let packages = of_python
            .flat_map(|folder| ["site-packages", "dist-packages"].map(|name| folder.join(name)));
        let mut found: Vec<PathBuf> = packages
            .map(|packages| packages.join("deadheat"))
            .filter(|package| package.join(MODULE).is_file())
            .collect();
        found.sort();
        found.pop().map(Self::Folder)
    }
}

const OLDEST: (u32, u32) = (3, 10);

/// A Python script that prints the version, the path of the executable, and the full version text.
const ABOUT: &str = "import sys; print('%d.%d' % sys.version_info[:2]); \
     print(__import__('os').path.abspath(sys.executable)); print(sys.version)";

pub(crate) const SUITE: &str = "pytest_suite.py";

#[derive(Debug)]
pub(crate) struct PytestSite<'a> {
    pub(crate) revision: &'a str,
    pub(crate) directory: PathBuf,
    /// The folder for the environment.
    pub(crate) made: PathBuf,
    /// The Python for both sides, as returned by [`PytestBuild::interpreter`].
    pub(crate) interpreter: &'a str,
    /// The lock of the build, which pip inherits and so holds until it ends.
    pub(crate) lock: Option<&'a fs::File>,
}

impl PytestBuild {
    /// Runs the Python of both sides, and returns what [`ABOUT`] prints.
    pub(crate) fn interpreter(
        &self,
        directory: &Path,
        interruption: &Interruption<'_>,
    ) -> Result<String, BuildError> {
        let no_python = |said: String| BuildError::NoPython {
            python: self.python.clone(),
            said,
        };
        let mut command = Command::new(&self.python);
        command.args(["-c", ABOUT]).current_dir(directory);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = match interruption.run(&mut command, None) {
            Ok(done) if done.status.success() => done,
            Ok(done) => return Err(no_python(done.said())),
            Err(BuildError::NotStarted { problem, .. }) => {
                return Err(no_python(problem.to_string()));
            }
            Err(error) => return Err(error),
        };
        let about = String::from_utf8_lossy(&done.stdout).into_owned();
        let version = about.lines().next().unwrap_or_default();
        if parsed(version).is_none_or(|version| version < OLDEST) {
            return Err(BuildError::OldPython {
                python: self.python.clone(),
                version: version.to_owned(),
            });
        }
        Ok(about)
    }

    /// Adds all inputs of the build except the commit.
    pub(crate) fn add_to(&self, key_inputs: &mut KeyInputs, interpreter: &str) {
        key_inputs.add("by", "pytest");
        for word in &self.install {
            key_inputs.add("install", word);
        }
        key_inputs.add("interpreter", interpreter);
        key_inputs.add("installer", if has_uv() { "uv" } else { "pip" });
        match &self.package {
            PythonPackage::Folder(folder) => {
                for file in modules(folder) {
                    key_inputs.add_file(&file);
                }
            }
            PythonPackage::Installed(wheel) => {
                key_inputs.add("package", wheel);
                key_inputs.add_file(Path::new(wheel));
            }
        }
    }

    /// Creates or updates the environment, and returns the worker.
    pub(crate) fn run(
        &self,
        site: &PytestSite<'_>,
        interruption: &Interruption<'_>,
    ) -> Result<Vec<Executable>, BuildError> {
        let environment = site.made.join("environment");
        let python = environment.join("bin").join("python");
        fs::create_dir_all(&site.made).map_err(BuildError::at(&site.made))?;
        let run = |command, what: &str| self.call(command, what, site, interruption);
        if !python.exists() {
            let base = site.interpreter.lines().nth(1).unwrap_or(&self.python);
            let mut command = Command::new(if has_uv() { "uv" } else { base });
            if has_uv() {
                command.args(["venv", "--quiet", "--python", base]);
            } else {
                command.args(["-m", "venv"]);
            }
            command.arg(&environment).stdout(std::io::stderr());
            run(command, &format!("{base} -m venv"))?;
        }
        let pip = |words: &[String]| {
            let (command, what) = pip_install(&python, words);
            run(command, &what)
        };
        pip(&self.install)?;
        let mut look = Command::new(&python);
        look.args(["-I", "-c", "import pytest"])
            .stderr(Stdio::null());
        if run(look, "import pytest").is_err() {
            // pytest-benchmark too, because the suite's configuration may contain its options.
            pip(&["pytest", "pytest-benchmark"].map(str::to_owned)).map_err(
                |error| match error {
                    BuildError::Failed { .. } => BuildError::NoPytest {
                        revision: site.revision.to_owned(),
                    },
                    error => error,
                },
            )?;
        }
        let package = site.made.join("package");
        match &self.package {
            PythonPackage::Folder(folder) => copy_modules(folder, &package.join("deadheat"))?,
            PythonPackage::Installed(wheel) => {
                let target = package.display().to_string();
                let words = ["--no-deps", "--target", &target, wheel];
                pip(&words.map(str::to_owned))?;
            }
        }
        let suite = site.made.join(SUITE);
        fs::write(&suite, script(&python, &package, None))
            .and_then(|()| fs::set_permissions(&suite, fs::Permissions::from_mode(0o755)))
            .map_err(BuildError::at(&suite))?;
        Ok(vec![Executable {
            name: "pytest".to_owned(),
            path: suite,
            directory: Some(site.directory.clone()),
        }])
    }

    fn call(
        &self,
        mut command: Command,
        what: &str,
        site: &PytestSite<'_>,
        interruption: &Interruption<'_>,
    ) -> Result<Finished, BuildError> {
        command
            // The variables of the user's own environment do not apply to this one.
            .env_remove("VIRTUAL_ENV")
            .env_remove("PYTHONPATH")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&site.directory);
        forget_the_repository(&mut command);
        let done = interruption.run(&mut command, site.lock)?;
        if done.status.success() {
            return Ok(done);
        }
        let installs_folder = self.install.iter().any(|word| word == ".");
        let missing = MissingProject::Python.above(&site.directory);
        let missing = missing.filter(|_| installs_folder);
        Err(done.failed(site.revision, what, missing))
    }
}

/// Returns the command `pip install` for the environment of `python`, and its text for messages.
fn pip_install(python: &Path, words: &[String]) -> (Command, String) {
    let words_told = words.join(" ");
    let (mut command, told) = if has_uv() {
        let mut uv = Command::new("uv");
        // `--reinstall` builds an installed folder again, even if only its sources changed.
        uv.args(["pip", "install", "--quiet", "--reinstall", "--python"]);
        uv.arg(python);
        (uv, format!("uv pip install {words_told}"))
    } else {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--quiet", "--no-input"]);
        pip.arg("--disable-pip-version-check");
        (pip, format!("pip install {words_told}"))
    };
    // The output goes to standard error, because standard output is reserved for results.
    command.args(words).stdout(std::io::stderr());
    (command, told)
}

fn has_uv() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("uv").is_file())
}

fn parsed(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn modules(folder: &Path) -> Vec<PathBuf> {
    let files = entries(folder).filter(|path| path.extension().is_some_and(|end| end == "py"));
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

fn copy_modules(folder: &Path, to: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(to).map_err(BuildError::at(to))?;
    for file in modules(folder) {
        let copy = to.join(file.file_name().unwrap_or_default());
        fs::copy(&file, &copy).map_err(BuildError::at(&copy))?;
    }
    Ok(())
}

/// Returns the text of a worker, which is a shell script and a Python script at once: the shell
/// runs the file again with this Python. The interpreter line of a plain Python script must be
/// short and without blanks, but the path of this Python may be neither. Without `PYTHONPATH`, which
/// may name the working tree, each side imports what was installed for it.
pub(crate) fn script(python: &Path, package: &Path, suite_of: Option<&str>) -> String {
    let suite_of = suite_of.map_or_else(String::new, |side| {
        let side = serde_json::Value::from(side);
        format!("suite_of={side}")
    });
    let python = python.display().to_string().replace('\'', r"'\''");
    let package = serde_json::Value::from(package.display().to_string());
    format!(
        "\
#!/bin/sh
'''unset' PYTHONPATH PYTHONHOME; exec '{python}' \"$0\" \"$@\"
' '''
import sys
# As `pytest`, and unlike `python -m pytest`, without the folder it is called in: what is raced is
# what was installed.
sys.path[0] = {package}
# The children of multiprocessing (spawn) run this file, too.
if __name__ == '__main__':
    from deadheat.pytest_suite import main
    sys.exit(main({suite_of}))
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_script_runs_for_any_path_of_python() {
        let text = script(
            Path::new("/a b's/python"),
            Path::new("/p \"q\"/package"),
            None,
        );
        let begin = "#!/bin/sh\n'''unset' PYTHONPATH PYTHONHOME; exec '/a b'\\''s/python' \"$0\" \"$@\"\n' '''\n";
        assert!(text.starts_with(begin), "{text}");
        assert!(
            text.contains(r#"sys.path[0] = "/p \"q\"/package""#),
            "{text}"
        );
    }

    #[test]
    fn finds_the_package_of_a_wheel_or_at_a_given_path() {
        let prefix = tempfile::tempdir().unwrap();
        let prefix = prefix.path().canonicalize().unwrap();
        let program = prefix.join("bin/deadheat");
        let package = prefix.join("lib/python3.12/site-packages/deadheat");
        for folder in [&package, &prefix.join("bin")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(&program, "").unwrap();
        assert_eq!(PythonPackage::installed_with(&program), None);
        assert_eq!(PythonPackage::named(&package), None);
        fs::write(package.join(MODULE), "").unwrap();
        let found = Some(PythonPackage::Folder(package.clone()));
        assert_eq!(PythonPackage::installed_with(&program), found);
        assert_eq!(PythonPackage::named(&package), found);
        assert_eq!(PythonPackage::named(package.parent().unwrap()), found);
        let wheel = PythonPackage::Installed(program.display().to_string());
        assert_eq!(PythonPackage::named(&program), Some(wheel));
    }

    #[test]
    fn versions_of_python_are_ordered_by_their_numbers() {
        assert!(parsed("3.9") < Some(OLDEST) && parsed("3.13") > Some(OLDEST));
        assert_eq!(parsed("unknown"), None);
    }
}
