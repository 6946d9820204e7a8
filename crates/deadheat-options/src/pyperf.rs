//! Runs the functions of pyperf scripts in workers of the Python package, because every launch by
//! pyperf itself costs a start of Python for a few values.

use deadheat::parts::engine::{Inspected, PYTHON_WITHOUT_PACKAGE};
use deadheat::parts::model::{Harness, Program, without_help};
use deadheat::parts::pairing::{Launched, Listed, Target, Worker};
use deadheat::parts::settings::Front;
use deadheat::parts::terminal::to_stderr;
use deadheat::parts::{RaceError, inspect_program};

use crate::bench_options::BenchOptions;

/// The Python module that turns a script into a worker.
const MODULE: &str = "deadheat.pyperf_suite";
/// Options of Python whose value is the next word.
const WITH_VALUE: [&str; 3] = ["-X", "-W", "--check-hash-based-pycs"];

/// Returns the scripts as workers. Returns `None` if they belong to another harness, if one of them
/// cannot be a worker, or if the user names a harness.
pub fn as_workers(
    launched: &[Launched],
    options: &BenchOptions,
) -> Result<Option<Vec<Worker>>, RaceError> {
    let is_pyperf = |target: &Launched| {
        let mut sides = target.sides.iter().flatten();
        sides.all(|side| side.listing.harness == Harness::Pyperf)
    };
    if options.harness.is_some() || !launched.iter().all(is_pyperf) {
        return Ok(None);
    }
    let workers = launched.iter().map(|target| in_workers(target, options));
    workers.collect()
}

/// Returns the scripts of a target as workers, or `None` if one of them cannot be a worker.
fn in_workers(target: &Launched, options: &BenchOptions) -> Result<Option<Worker>, RaceError> {
    let patience = options.rules.settings().timeout(Front::Bench);
    let mut sides = [None, None];
    for (place, side) in target.sides.iter().enumerate() {
        let Some(side) = side else { continue };
        let Some(program) = as_worker(&side.program) else {
            return Ok(None);
        };
        match inspect_program(&program, None, false, patience) {
            Ok(Inspected::Worker(listing)) => sides[place] = Some(Listed { program, listing }),
            Err(error @ RaceError::Interrupted { .. }) => return Err(error),
            Err(error) => {
                hint(&side.program, &error, options);
                return Ok(None);
            }
            Ok(Inspected::Harness(_)) => return Ok(None),
        }
    }
    let name = target.name.clone();
    Ok(Some(Target { name, sides }))
}

/// Returns the command that runs a script as a worker. `program` starts it directly, as in
/// `python -X dev bench.py --fast`.
fn as_worker(program: &Program) -> Option<Program> {
    let python = program.executable.file_name()?.to_string_lossy();
    if !python.starts_with("python") && !python.starts_with("pypy") {
        return None;
    }
    let mut script = 0;
    while let Some(word) = program.arguments.get(script)
        && word.starts_with('-')
    {
        if ["-c", "-m", "-"].contains(&word.as_str()) {
            return None;
        }
        script += if WITH_VALUE.contains(&word.as_str()) {
            2
        } else {
            1
        };
    }
    let (own, rest) = program.arguments.split_at_checked(script)?;
    rest.first()?;
    let module = ["-m".to_owned(), MODULE.to_owned()];
    Some(Program {
        arguments: [own, &module, rest].concat(),
        ..program.clone()
    })
}

/// Prints why pyperf itself measures a script, and what a missing package would improve.
fn hint(program: &Program, error: &RaceError, options: &BenchOptions) {
    if options.quiet {
        return;
    }
    let python = program.executable.to_string_lossy();
    let quoted = shell_words::quote(&python);
    let reason = error.to_string();
    let (label, said) = if reason.contains(PYTHON_WITHOUT_PACKAGE) {
        let said = format!(
            "install the package deadheat for '{python}' ({quoted} -m pip install deadheat) to \
             call the functions of a script in workers, which takes seconds per row; without the \
             package, every value needs a new process"
        );
        ("hint", said)
    } else {
        let reason = without_help(&reason);
        (
            "note",
            format!(
                "pyperf itself measures this script, with a new process for each value, which is \
                 slower: {reason}"
            ),
        )
    };
    to_stderr(label, &said);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Option<Vec<String>> {
        let (executable, arguments) = words.split_first().unwrap();
        let worker = as_worker(&Program {
            executable: executable.into(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            directory: None,
        });
        worker.map(|worker| worker.arguments)
    }

    #[test]
    fn the_module_is_started_in_front_of_the_script() {
        let expected = ["-X", "dev", "-B", "-m", MODULE, "bench.py", "--steps", "3"];
        let words = [
            "old/bin/python3",
            "-X",
            "dev",
            "-B",
            "bench.py",
            "--steps",
            "3",
        ];
        assert_eq!(arguments(&words).unwrap(), expected);
        let expected = ["-m", MODULE, "bench.py"];
        assert_eq!(arguments(&["pypy3.11", "bench.py"]).unwrap(), expected);
    }

    #[test]
    fn modules_programs_and_interpreters_without_a_script_stay_as_they_are() {
        for words in [
            &["python3", "-m", "bench"][..],
            &["python3", "-c", "pass"],
            &["python3"],
            &["python3", "-X"],
            &["./bench.py"],
        ] {
            assert_eq!(arguments(words), None, "{words:?}");
        }
    }
}
