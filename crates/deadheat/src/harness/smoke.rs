//! `cargo test` on a bench target: every benchmark runs once.

use std::fmt::Write as _;

use crate::exit::{Failure, Status};
use crate::race::{RaceError, WorkerRace, smoke_test};
use crate::settings::Selection;
use crate::suite::Registered;

use super::racing::entries;

/// Calls everything once and tells about it in the manner of libtest.
/// `say` prints.
pub(super) fn smoke(
    race: &WorkerRace,
    benchmarks: &[Registered],
    selection: &Selection,
    mut say: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<Status, Failure> {
    let named: Vec<&Registered> = benchmarks
        .iter()
        .filter(|benchmark| selection.names(&benchmark.name) && selection.lists(benchmark.ignored))
        .collect();
    let noun = if named.len() == 1 { "test" } else { "tests" };
    say(&format!("\nrunning {} {noun}\n", named.len()))?;
    let (runs, ignored): (Vec<&Registered>, Vec<&Registered>) = named
        .iter()
        .partition(|benchmark| selection.runs(benchmark.ignored));
    for benchmark in &ignored {
        say(&format!("test {} ... ignored\n", benchmark.name))?;
    }
    let mut failures: Vec<(String, String)> = Vec::new();
    smoke_test(race, &entries(&runs), |benchmark, outcome| {
        let name = &benchmark.name;
        match outcome {
            Ok(()) => say(&format!("test {name} ... ok\n")),
            Err(error @ RaceError::Interrupted { .. }) => Err(error.into()),
            Err(error) => {
                failures.push((name.clone(), error.to_string()));
                say(&format!("test {name} ... FAILED\n"))
            }
        }
    })?;
    let passed = runs.len() - failures.len();
    let mut end = String::new();
    if !failures.is_empty() {
        end += "\nfailures:\n";
        for (name, message) in &failures {
            let _ = writeln!(end, "\n---- {name} ----\n{message}");
        }
    }
    let result = if failures.is_empty() { "ok" } else { "FAILED" };
    let filtered = benchmarks.len() - named.len();
    let _ = writeln!(
        end,
        "\ntest result: {result}. {passed} passed; {} failed; {} ignored; 0 measured; \
         {filtered} filtered out\n",
        failures.len(),
        ignored.len()
    );
    say(&end)?;
    Ok(match failures.is_empty() {
        true => Status::Done,
        false => Status::ContenderFailed,
    })
}
