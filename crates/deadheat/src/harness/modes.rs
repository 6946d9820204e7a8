//! The modes of a bench target: race what was selected and answer, call everything once as a test,
//! or list it.

use std::fmt::Write as _;

use deadheat_engine::LocalContenders;
use deadheat_model::EndReason;

use super::arguments::Arguments;
use crate::exit::{Failure, Status};
use crate::progress::LiveProgress;
use crate::race::{BenchmarkRace, Entries, RaceError, race_benchmarks, smoke_test};
use crate::rules::Rules;
use crate::settings::{Selection, nothing_selected};
use crate::suite::{Registered, Suite};
use crate::terminal::to_stderr;

/// Races and answers.
pub(super) fn race(
    race: &BenchmarkRace,
    suite: &Suite,
    arguments: &Arguments,
    rules: &Rules,
) -> Result<Status, Failure> {
    let selected: Vec<&Registered> = suite
        .registered()
        .iter()
        .filter(|benchmark| {
            let selection = &arguments.selection;
            selection.names(&benchmark.name) && selection.runs(benchmark.ignored)
        })
        .collect();
    if selected.is_empty() {
        // Not an error: `cargo bench NAME` asks every bench target of a
        // workspace for the same name.
        let names: Vec<&str> = suite.names().collect();
        let told = if names.is_empty() {
            "the suite has no benchmarks".to_owned()
        } else {
            nothing_selected(&names)
        };
        to_stderr("deadheat", &told);
        return Ok(Status::Done);
    }
    arguments.files.check()?;
    if cfg!(debug_assertions) && !arguments.quiet {
        to_stderr(
            "deadheat",
            "this is a debug build, whose times say nothing about a release build; \
             `cargo bench` makes the latter",
        );
    }
    let mut line = LiveProgress::of_suite(arguments.quiet);
    let entries = Entries {
        rules: rules.some(),
        ..entries(&selected)
    };
    let outcome =
        race_benchmarks(race, entries, &mut line).map_err(|error| error.into_failure(rules))?;
    line.finish();
    let analysis = arguments.files.answer(&outcome, &arguments.answer)?;
    if let Some(end) = &outcome.run.end
        && let EndReason::Interrupted(signal) = end.reason
    {
        return Ok(Status::Interrupted(signal));
    }
    Ok(arguments.answer.status(&analysis))
}

/// The benchmarks that worker processes of this program are to race.
pub(super) fn entries(benchmarks: &[&Registered]) -> Entries {
    Entries {
        benchmarks: benchmarks.iter().map(|b| b.planned()).collect(),
        metrics: LocalContenders::metrics_here().to_vec(),
        ..Entries::default()
    }
}

/// Calls everything once and tells about it in the manner of libtest.
/// `say` prints.
pub(super) fn smoke(
    race: &BenchmarkRace,
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
    Ok(if failures.is_empty() {
        Status::Done
    } else {
        Status::ContenderFailed
    })
}

/// One line per benchmark, and for people how many there are.
pub(super) fn listing(benchmarks: &[Registered], selection: &Selection, terse: bool) -> String {
    let mut text = String::new();
    let mut count = 0;
    let listed = |b: &&Registered| selection.names(&b.name) && selection.lists(b.ignored);
    for benchmark in benchmarks.iter().filter(listed) {
        count += 1;
        let _ = writeln!(text, "{}: benchmark", benchmark.name);
    }
    if !terse {
        let noun = if count == 1 {
            "benchmark"
        } else {
            "benchmarks"
        };
        let _ = writeln!(text, "\n0 tests, {count} {noun}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;
    use crate::settings::Ignored;

    #[test]
    fn a_listing_has_a_line_per_benchmark_and_counts_them_for_people() {
        let mut suite = Suite::new();
        suite.benchmark("a").baseline("one", || 1);
        suite.benchmark("b").ignored().baseline("one", || 1);
        let all = Selection::default();
        let list = |selection, terse| listing(suite.registered(), selection, terse);
        assert_eq!(list(&all, true), "a: benchmark\nb: benchmark\n");
        assert!(list(&all, false).ends_with("\n\n0 tests, 2 benchmarks\n"));
        let ignored = Selection {
            ignored: Ignored::Only,
            ..Selection::default()
        };
        assert_eq!(list(&ignored, true), "b: benchmark\n");
    }
}
