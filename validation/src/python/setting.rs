//! Environments, programs and modules that are measured.

use deadheat_validation::prelude::*;
use std::os::unix::fs::symlink;

use deadheat_validation::python::environment;

use crate::cell::{Case, LIBRARIES, Library};
use crate::suites::CATTRS;

/// Packages by name, in the version that PyPI hands out.
const PACKAGES: [&str; 5] = ["cloudpickle", "numpy", "pyperf", "pytest", "pytest-benchmark"];

/// Variables that would change what is measured.
const NOT_OURS: [&str; 4] =
    ["PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV"];

pub struct Setting {
    pub workshop: Workshop,
    pub python: String,
    tools: PathBuf,
    subjects: PathBuf,
    libraries: Vec<[PathBuf; 3]>,
    cattrs: [PathBuf; 2],
    cattrs_source: PathBuf,
}

impl Setting {
    pub fn make(workshop: Workshop) -> Self {
        let base = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let asked = "import platform as p; print(p.python_implementation(), p.python_version())";
        let python = must(text_of(Command::new(&base).args(["-c", asked]), &[0]));
        let python = python.trim().to_owned();
        let folder = workshop.root.join("validation/target/python");
        let folder = folder.join(python.replace(' ', "-"));
        let made = |name: &str, packages: &[String]| {
            let made = environment(&base, &folder.join(name), packages);
            let python = must(made);
            must(lend(&python, &workshop));
            python
        };
        let tools = made("tools", &PACKAGES.map(str::to_owned));
        let versions = |library: Library| {
            let Library { name, old, new } = library;
            [("old", old), ("new", new), ("old-again", old)].map(|(side, version)| {
                made(&format!("{name}-{side}"), &[format!("{name}=={version}")])
            })
        };
        let libraries = LIBRARIES.into_iter().map(versions).collect();
        let cattrs = ["one", "other"].map(|side| {
            let packages = ["pytest", "pytest-benchmark", "cloudpickle"].map(str::to_owned);
            let cattrs = format!("cattrs=={CATTRS}");
            made(&format!("cattrs-{side}"), &[&packages[..], &[cattrs]].concat())
        });
        let cattrs_source = must(source_of_cattrs(&tools, &folder));
        let subjects = subjects(&workshop);
        Self { workshop, python, tools, subjects, libraries, cattrs, cattrs_source }
    }

    pub fn cattrs(&self) -> [&Path; 2] {
        [&self.cattrs[0], &self.cattrs[1]]
    }

    pub fn cattrs_source(&self) -> PathBuf {
        self.cattrs_source.clone()
    }

    pub fn tool(&self) -> Command {
        let mut command = Command::new(&self.tools);
        for name in NOT_OURS {
            command.env_remove(name);
        }
        command.current_dir(&self.subjects);
        command.env("PYTHONPATH", &self.subjects);
        command
    }

    pub fn tools(&self) -> &Path {
        &self.tools
    }

    pub fn source(&self, name: &str) -> PathBuf {
        self.workshop.root.join("validation/python").join(name)
    }

    /// The Pythons of both sides of a race of this library.
    pub fn sides(&self, name: &str, case: Case) -> [&Path; 2] {
        let at = LIBRARIES.iter().position(|library| library.name == name);
        let [old, new, again] = &self.libraries[at.expect("a library of the table")];
        let other = if case == Case::Versions { new } else { again };
        [old, other]
    }

    pub fn version_of(&self, package: &str) -> String {
        let asked = format!("import importlib.metadata as m; print(m.version('{package}'))");
        must(text_of(self.tool().args(["-c", &asked]), &[0])).trim().to_owned()
    }
}

fn lend(python: &Path, workshop: &Workshop) -> Result<(), String> {
    let asked = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let packages = text_of(Command::new(python).args(["-c", asked]), &[0])?;
    let path = Path::new(packages.trim()).join("deadheat.pth");
    let package = workshop.root.join("python");
    let written = fs::write(&path, format!("{}\n", package.display()));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    let link = python.with_file_name("deadheat");
    let _ = fs::remove_file(&link);
    symlink(&workshop.deadheat, &link).map_err(|error| format!("{}: {error}", link.display()))
}

fn source_of_cattrs(python: &Path, folder: &Path) -> Result<PathBuf, String> {
    let unpacked = folder.join(format!("cattrs-{CATTRS}"));
    if !unpacked.join("bench").is_dir() {
        let mut fetch = Command::new(python);
        fetch.args(["-m", "pip", "download", "--quiet", "--no-deps"]);
        fetch.args(["--no-binary", "cattrs", &format!("cattrs=={CATTRS}"), "--dest"]);
        text_of(fetch.arg(folder), &[0])?;
        let packed = folder.join(format!("cattrs-{CATTRS}.tar.gz"));
        text_of(Command::new("tar").arg("xzf").arg(packed).arg("-C").arg(folder), &[0])?;
    }
    Ok(unpacked)
}

fn subjects(workshop: &Workshop) -> PathBuf {
    let from = workshop.root.join("validation/python");
    let folder = workshop.scratched("subjects");
    fs::create_dir_all(&folder).expect("a folder for modules");
    let text = fs::read_to_string(from.join("subjects.py")).expect("the functions");
    for (module, text) in [
        ("itself", text.clone()),
        (Case::Same.module(), text.clone()),
        (Case::More.module(), with_more_work(&text)),
    ] {
        fs::write(folder.join(format!("{module}.py")), text).expect("a module");
    }
    for file in ["race.py", "test_subject.py", "pyperf_subject.py"] {
        fs::copy(from.join(file), folder.join(file)).expect("a file of validation/python");
    }
    folder
}

fn with_more_work(text: &str) -> String {
    let (less, more) = ("\nSIDE = 0\n", "\nSIDE = 1\n");
    assert_eq!(text.matches(less).count(), 1, "subjects.py says which side it is");
    text.replace(less, more)
}

fn must<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|problem| panic!("{problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{FUNCTIONS, HASHED};

    #[test]
    fn more_work_is_one_line_of_the_functions_and_all_of_them_are_there() {
        let text = include_str!("../../python/subjects.py");
        let more = with_more_work(text);
        let differing = text.lines().zip(more.lines()).filter(|(one, other)| one != other);
        assert_eq!(differing.collect::<Vec<_>>(), [("SIDE = 0", "SIDE = 1")]);
        for (name, _) in FUNCTIONS.into_iter().chain([(HASHED, false)]) {
            assert!(text.contains(&format!("\ndef {name}(given")), "{name}");
            assert!(text.contains(&format!("\n    \"{name}\": ")), "{name}");
        }
    }
}
