//! Python files as raced programs, and the interpreter that starts them.

use std::path::{Path, PathBuf};

use deadheat::parts::engine::{find_executable, is_executable};
use deadheat::parts::exit::Failure;
use deadheat::parts::model::Program;
use deadheat::parts::settings::program;

/// The name of the interpreter that is looked up in `PATH`.
const PYTHON: &str = "python3";

/// Returns true if `text` is the path of an existing `.py` file.
pub(super) fn is_of_python(text: &str) -> bool {
    text.ends_with(".py") && Path::new(text).is_file()
}

/// Returns the program that starts `file` with `python`, a path or a command. Without `python`, the
/// interpreter is that of the environment in which deadheat is installed, or else `python3`.
pub(super) fn of_python(python: Option<&str>, file: &str) -> Result<Program, Failure> {
    let mut started = match (python, own_python()) {
        (Some(python), _) => program(python)?,
        (None, Some(own)) => Program {
            executable: own,
            ..Program::default()
        },
        (None, None) => program(PYTHON)?,
    };
    started.arguments.push(file.to_owned());
    Ok(started)
}

/// Refuses `--python` if neither program is a Python file, or if it is given more than twice.
pub(super) fn refuse_pythons(pythons: &[String], programs: [&str; 2]) -> Result<(), Failure> {
    let Some(first) = pythons.first() else {
        return Ok(());
    };
    if pythons.len() > 2 {
        let count = pythons.len();
        let text = format!(
            "--python was given {count} times\nhelp: give it once or twice, because a race has two \
             sides"
        );
        return Err(Failure::Usage(text));
    }
    if !programs.iter().any(|program| is_of_python(program)) {
        let text = format!(
            "--python {first}: '{}' is not a .py file, so Python cannot start it",
            programs[0]
        );
        return Err(Failure::Usage(text));
    }
    Ok(())
}

/// Returns the interpreter of the virtual or conda environment in which deadheat is installed.
fn own_python() -> Option<PathBuf> {
    // The path that the user called comes first: an environment may hold a symbolic link to
    // deadheat.
    let name = std::env::args_os().next();
    let called = name.and_then(|name| find_executable(name.to_str()?));
    let programs = [called, std::env::current_exe().ok()];
    let mut programs = programs.into_iter().flatten();
    programs.find_map(|program| python_of_environment(&program))
}

/// Returns the interpreter next to `program` if both are part of a virtual or conda environment.
fn python_of_environment(program: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(program).ok()?.parent()?.to_owned();
    let environment = folder.parent()?;
    let marks = ["pyvenv.cfg", "conda-meta"];
    if !marks.iter().any(|mark| environment.join(mark).exists()) {
        return None;
    }
    let mut pythons = ["python3", "python"]
        .map(|name| folder.join(name))
        .into_iter();
    pythons.find(|python| is_executable(python))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Creates a folder with the files of an environment, each executable.
    fn environment(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    #[test]
    fn a_program_in_an_environment_finds_the_python_of_that() {
        for (files, found) in [
            (
                &["pyvenv.cfg", "bin/python3", "bin/python"][..],
                Some("bin/python3"),
            ),
            (&["pyvenv.cfg", "bin/python"], Some("bin/python")),
            (&["conda-meta/history", "bin/python3"], Some("bin/python3")),
            // Like /usr/bin, which is not an environment: `PATH` finds the Python of an activated
            // one.
            (&["bin/python3"], None),
            (&["pyvenv.cfg", "bin/other"], None),
        ] {
            let folder = environment(files);
            let program = folder.path().join("bin/deadheat");
            let expected = found.map(|file| folder.path().join(file));
            assert_eq!(python_of_environment(&program), expected, "{files:?}");
        }
    }

    #[test]
    fn a_link_into_an_environment_counts_as_a_program_there() {
        let elsewhere = environment(&["bin/deadheat"]);
        let folder = environment(&["pyvenv.cfg", "bin/python3"]);
        let link = folder.path().join("bin/deadheat");
        symlink(elsewhere.path().join("bin/deadheat"), &link).unwrap();
        let expected = folder.path().join("bin/python3");
        assert_eq!(python_of_environment(&link), Some(expected));
    }
}
