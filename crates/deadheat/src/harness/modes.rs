//! The modes of a bench target: race what was selected and answer, call everything once as a test,
//! or list it.

use std::fmt::Write as _;

use deadheat_engine::LocalContenders;

use super::arguments::Arguments;
use super::progress::Line;
use crate::exit::{Failure, Status};
use crate::race::{
    BenchmarkRace, Entries, RaceError, RaceOutcome, SecondRace, race_benchmarks,
    refuse_old_confirmation, smoke_test,
};
use crate::rules::Rules;
use crate::settings::Selection;
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
        to_stderr("deadheat", &nothing_selected(suite));
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
    let mut line = Line::new(arguments.quiet);
    let entries = Entries {
        rules: rules.some(),
        ..entries(&selected)
    };
    let confirm = race.settings.confirm();
    if confirm {
        refuse_old_confirmation(race.save.as_deref())?;
    }
    let again = confirm.then(|| entries.clone());
    let outcome =
        race_benchmarks(race, entries, &mut line).map_err(|error| error.into_failure(rules))?;
    line.finish();
    let second = again.and_then(|entries| {
        let second = SecondRace::of(&outcome, &arguments.answer.gate)?;
        Some(race_again(race, entries, &second, arguments, rules))
    });
    match second.transpose() {
        Ok(second) => answer(&outcome, second.as_ref(), arguments),
        Err(failure) => {
            answer(&outcome, None, arguments)?;
            Err(failure.of_part("the second race"))
        }
    }
}

/// Races once more what broke a rule.
fn race_again(
    race: &BenchmarkRace,
    mut entries: Entries,
    second: &SecondRace,
    arguments: &Arguments,
    rules: &Rules,
) -> Result<RaceOutcome, Failure> {
    if !arguments.quiet {
        to_stderr("deadheat", &second.announcement());
    }
    entries.benchmarks.retain(|one| second.races(one));
    entries.rules = second.rules(entries.rules);
    let race = BenchmarkRace {
        settings: second.settings(race.settings.clone()),
        save: Some(second.save.clone()),
        ..race.clone()
    };
    let mut line = Line::new(arguments.quiet);
    let outcome =
        race_benchmarks(&race, entries, &mut line).map_err(|error| error.into_failure(rules))?;
    line.finish();
    Ok(outcome)
}

/// The benchmarks that worker processes of this program are to race.
pub(super) fn entries(benchmarks: &[&Registered]) -> Entries {
    Entries {
        benchmarks: benchmarks.iter().map(|b| b.planned()).collect(),
        metrics: LocalContenders::metrics_here().to_vec(),
        ..Entries::default()
    }
}

fn answer(
    outcome: &RaceOutcome,
    second: Option<&RaceOutcome>,
    arguments: &Arguments,
) -> Result<Status, Failure> {
    let Arguments { answer, files, .. } = arguments;
    let benchmarks = outcome.run.header.plan.benchmarks.len();
    let options = files.analysis_options(answer.analysis_options(), benchmarks);
    let again = second.map(|second| &second.run);
    let analysis = answer.analysis_of_both(&outcome.run, again, options);
    let written = files.write(outcome, &analysis, answer)?;
    let mut recorded = vec![answer.recorded_in(&outcome.path)];
    recorded.extend(second.map(|second| format!("second race in {}", second.path.display())));
    if !files.takes_stdout() {
        answer.print_with(&analysis, &[recorded, written].concat())?;
    }
    let stopped = second.unwrap_or(outcome).interrupted();
    Ok(stopped.map_or_else(|| answer.status(&analysis), Status::Interrupted))
}

/// Names shown when nothing matches.
const NAMES_SHOWN: usize = 10;

fn nothing_selected(suite: &Suite) -> String {
    let names: Vec<&str> = suite.names().collect();
    if names.is_empty() {
        return "the suite has no benchmarks".to_owned();
    }
    let mut text = format!(
        "no benchmark is selected; there are {}",
        names[..names.len().min(NAMES_SHOWN)].join(", ")
    );
    if names.len() > NAMES_SHOWN {
        text += &format!(" and {} more (--list)", names.len() - NAMES_SHOWN);
    }
    text
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
