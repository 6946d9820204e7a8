//! Compares the Python or Node environments of the two sides of a race.

use std::path::{Path, PathBuf};

use deadheat::parts::exit::Failure;
use deadheat::parts::model::{PackageVersions, Program, Surroundings};
use deadheat_build::{
    BuildError, Interruption, Packages, PythonEnvironment, Sides, differing_packages,
};
use deadheat_options::repository::{asking, failure};

/// Records the interpreters and packages that differ between the environments of two revisions.
pub fn note_environments(sides: &Sides, facts: &mut Surroundings) -> Result<(), Failure> {
    let [baseline, candidate] = [&sides.baseline, &sides.candidate];
    if let (Some(old), Some(new)) = (baseline.node_packages(), candidate.node_packages()) {
        facts.packages = versions(&old, &new);
        return Ok(());
    }
    let pythons = [baseline.python(), candidate.python()];
    note(pythons, facts)
}

/// Records the interpreters and packages that differ between two Python programs that the user
/// named.
pub fn compare_environments(
    programs: [&Program; 2],
    facts: &mut Surroundings,
) -> Result<(), Failure> {
    let pythons = programs.map(|program| {
        let python = &program.executable;
        is_python(python).then(|| python.clone())
    });
    if pythons[0] != pythons[1] {
        facts.chosen = true;
        note(pythons, facts)?;
    }
    Ok(())
}

fn note(pythons: [Option<PathBuf>; 2], facts: &mut Surroundings) -> Result<(), Failure> {
    let [Some(old), Some(new)] = pythons else {
        return Ok(());
    };
    let both = asking(|stop| Ok([ask(&old, &stop)?, ask(&new, &stop)?]))?;
    if let [Some(old), Some(new)] = both {
        add_differences(&old, &new, facts);
    }
    Ok(())
}

/// Returns the environment of an interpreter, or `None` if the interpreter does not answer; the
/// race itself reports that.
fn ask(python: &Path, stop: &Interruption<'_>) -> Result<Option<PythonEnvironment>, Failure> {
    match PythonEnvironment::of(python, stop) {
        Ok(environment) => Ok(Some(environment)),
        Err(error @ BuildError::Interrupted) => Err(failure(error)),
        Err(_) => Ok(None),
    }
}

fn add_differences(old: &PythonEnvironment, new: &PythonEnvironment, facts: &mut Surroundings) {
    if old.interpreter != new.interpreter {
        facts.interpreters = vec![old.interpreter.clone(), new.interpreter.clone()];
    }
    facts.packages = versions(&old.packages, &new.packages);
}

fn versions(old: &Packages, new: &Packages) -> Vec<PackageVersions> {
    let differing = differing_packages(old, new).into_iter();
    differing
        .map(|(name, baseline, candidate)| PackageVersions {
            name: name.to_owned(),
            baseline: baseline.cloned(),
            candidate: candidate.cloned(),
        })
        .collect()
}

fn is_python(executable: &Path) -> bool {
    let name = executable.file_name().unwrap_or_default().to_string_lossy();
    ["python", "pypy"].iter().any(|start| {
        let version = name.strip_prefix(start);
        version.is_some_and(|rest| {
            rest.chars()
                .all(|one| one.is_ascii_digit() || ".td".contains(one))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_known_by_their_names() {
        for name in [
            "python",
            "venv/bin/python3",
            "/usr/bin/python3.13t",
            "pypy3",
        ] {
            assert!(is_python(Path::new(name)), "{name}");
        }
        for name in ["python-config", "bench.py", "./python3-wrapper.sh"] {
            assert!(!is_python(Path::new(name)), "{name}");
        }
    }
}
