//! The bench harness: what a bench target's `main` calls.

mod arguments;
mod compare;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use deadheat_engine::{
    LinkProgram, LocalContenders, PLACEMENTS_VARIABLE, WorkerPipes, WorkerProgram, serve,
};
use deadheat_model::in_one_line;
use deadheat_report::escape_line;

use self::arguments::{Arguments, Mode, help};
use crate::answer::{Format, to_stdout};
use crate::exit::{Failure, Status};
use crate::race::{
    BenchmarkRace, Entries, Planned, RaceError, Raced, race_benchmarks, refuse_old_confirmation,
    smoke_test,
};
use crate::repetition::{of_a_bench_target, this_program, words_of_this_process};
use crate::rules::Rules;
use crate::settings::{PlanUse, Selection, nothing_selected};
use crate::suite::Suite;
use crate::terminal::{self, LiveProgress, to_stderr};

pub use compare::{Compare, compare, compare_with};

#[allow(
    clippy::needless_doctest_main,
    reason = "the example shows a whole bench target"
)]
/// Runs a bench target with `harness = false`: races the functions that `build` adds to the suite,
/// as the command line asks.
///
/// ```no_run
/// fn main() {
///     deadheat::main(|suite| {
///         suite
///             .benchmark("sum")
///             .input(|seed| (0..1_000).map(|i| i + seed % 1_000).collect::<Vec<u64>>())
///             .baseline("forwards", |numbers| numbers.iter().sum::<u64>())
///             .candidate("backwards", |numbers| numbers.iter().rev().sum::<u64>());
///     });
/// }
/// ```
///
/// `cargo bench` races the functions, `cargo test --benches` calls each function once, and `cargo
/// bench -- --help` lists the options. The program starts itself again for every replicate, so
/// `build` runs in every process and must always add the same benchmarks.
///
/// This function does not return: it ends the process with one of deadheat's exit codes.
pub fn main(build: impl FnOnce(&mut Suite)) {
    let worker = WorkerPipes::inherited();
    let mut suite = Suite::new();
    build(&mut suite);
    let code = match worker {
        Some(pipes) => {
            serve(pipes, suite);
            0
        }
        None => run_planned(
            &suite.planned(),
            suite.has_controls(),
            std::env::args_os().skip(1),
        ),
    };
    std::process::exit(i32::from(code));
}

/// Runs the harness with these benchmarks as the `words` of a command line ask, and returns the
/// exit code. If `controls` is true, adds a second copy of every baseline to its race.
pub fn run_planned(suite: &[Planned], controls: bool, words: impl Iterator<Item = OsString>) -> u8 {
    match run(suite, controls, words) {
        Ok(status) => status.code(),
        Err(failure) => failure.report(),
    }
}

fn run(
    suite: &[Planned],
    controls: bool,
    words: impl Iterator<Item = OsString>,
) -> Result<Status, Failure> {
    let arguments = Arguments::parse(words).map_err(Failure::Usage)?;
    if let Some(name) = ambiguous(suite) {
        return Err(Failure::Usage(format!(
            "two benchmarks are named '{name}'; each benchmark of a suite needs a name of its own"
        )));
    }
    match arguments.mode {
        Mode::Help => to_stdout(&help()).map(|()| Status::Done),
        Mode::List => {
            let terse = arguments.answer.format == Format::Terse;
            to_stdout(&listing(suite, &arguments.selection, terse)).map(|()| Status::Done)
        }
        Mode::Smoke => {
            let rules = Rules::new(arguments.asked.clone(), None);
            let race = worker_race(controls, &arguments, &rules)?;
            smoke(&race, suite, &arguments.selection, to_stdout)
        }
        Mode::Race => {
            let rules = Rules::read(arguments.asked.clone(), &arguments.source)?;
            let racing = worker_race(controls, &arguments, &rules)?;
            race(&racing, suite, &arguments.by(&rules), &rules)
        }
    }
}

/// Returns a name that several benchmarks have; `None` if all names differ.
fn ambiguous(suite: &[Planned]) -> Option<&str> {
    let mut names: Vec<&str> = suite.iter().map(Planned::name).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map(|pair| pair[0])
}

fn worker_race(
    controls: bool,
    arguments: &Arguments,
    rules: &Rules,
) -> Result<BenchmarkRace, Failure> {
    let mut settings = rules.seeded();
    let seed = settings.seed();
    settings.control = Some(settings.control() || controls);
    let placement = settings.placement.unwrap_or_default();
    let words = words_of_this_process();
    let placed = std::env::var_os(PLACEMENTS_VARIABLE).is_some();
    let package = std::env::var("CARGO_PKG_NAME").ok();
    Ok(BenchmarkRace {
        command: of_a_bench_target(&words, package.as_deref(), placed, seed),
        program: Some(WorkerProgram {
            executable: this_program()?,
            arguments: Vec::new(),
            directory: None,
            shown: arguments.shown,
        }),
        shown: arguments.shown,
        settings,
        save: arguments.save.clone(),
        folder: PathBuf::new(),
        builds: Vec::new(),
        surroundings: deadheat_model::Surroundings::default(),
        commits: Vec::new(),
        until: None,
        use_of_plan: PlanUse::Race,
        conditions: deadheat_model::Conditions::default(),
        placements: LinkProgram::by(
            placement,
            std::env::var_os(PLACEMENTS_VARIABLE).map(PathBuf::from),
        ),
    })
}

fn race(
    race: &BenchmarkRace,
    suite: &[Planned],
    arguments: &Arguments,
    rules: &Rules,
) -> Result<Status, Failure> {
    let selected: Vec<&Planned> = suite
        .iter()
        .filter(|benchmark| {
            let selection = &arguments.selection;
            selection.names_with(benchmark.name(), &benchmark.benchmark.parameters)
                && selection.runs(benchmark.ignored)
        })
        .collect();
    if selected.is_empty() {
        // Without --fail-on this is not an error, because `cargo bench NAME` passes the same name
        // to every bench target of a workspace.
        let names: Vec<&str> = suite.iter().map(Planned::name).collect();
        let told = if names.is_empty() {
            "the suite has no benchmarks".to_owned()
        } else {
            nothing_selected(&names, &arguments.selection.filters)
        };
        let asked = arguments.asked.settings.fail_on.as_ref();
        let gated = asked.is_some_and(|rules| !rules.is_empty());
        if gated && !rules.gate().allows_unjudged {
            return Err(Failure::NothingSelected(told));
        }
        to_stderr("deadheat", &told);
        return Ok(Status::Done);
    }
    arguments.files.check(arguments.save.as_deref())?;
    if cfg!(debug_assertions) && !arguments.quiet {
        to_stderr(
            "deadheat",
            "this is a debug build, whose times say nothing about a release build; \
             `cargo bench` makes a release build",
        );
    }
    let confirm = race.settings.confirm();
    if confirm {
        refuse_old_confirmation(race.save.as_deref())?;
    }
    if let Some(hint) = rules.hint_about_confirm().filter(|_| !arguments.quiet) {
        to_stderr("hint", &hint);
    }
    let entries = Entries {
        rules: rules.some(),
        ..entries(&selected)
    };
    let answer = &arguments.answer;
    let raced = Raced::confirmed(
        confirm,
        &answer.gate,
        arguments.quiet,
        |run| arguments.files.analysis_options(answer, run),
        |second| {
            let (race, entries) = match second {
                None => (race.clone(), entries.clone()),
                Some(second) => second.of_benchmarks(race, entries.clone()),
            };
            let mut line = LiveProgress::of_suite(arguments.quiet);
            let outcome = race_benchmarks(&race, entries, &mut line)
                .map_err(|error| error.into_failure(rules))?;
            line.finish();
            Ok(outcome)
        },
    )?;
    arguments.files.answer(&raced, answer)?;
    let status = answer.settle(&raced.analysis);
    raced.ended(status)
}

fn entries(benchmarks: &[&Planned]) -> Entries {
    Entries {
        benchmarks: benchmarks.iter().map(|b| b.benchmark.clone()).collect(),
        metrics: LocalContenders::metrics_here().to_vec(),
        ..Entries::default()
    }
}

/// Calls every function of the selected benchmarks once, and reports the results in the format of
/// libtest. `say` prints a text.
fn smoke(
    race: &BenchmarkRace,
    benchmarks: &[Planned],
    selection: &Selection,
    mut say: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<Status, Failure> {
    let named: Vec<&Planned> = benchmarks
        .iter()
        .filter(|benchmark| {
            selection.names_with(benchmark.name(), &benchmark.benchmark.parameters)
                && selection.lists(benchmark.ignored)
        })
        .collect();
    let noun = if named.len() == 1 { "test" } else { "tests" };
    say(&format!("\nrunning {} {noun}\n", named.len()))?;
    let (runs, ignored): (Vec<&Planned>, Vec<&Planned>) = named
        .iter()
        .partition(|benchmark| selection.runs(benchmark.ignored));
    for benchmark in &ignored {
        say(&format!("test {} ... ignored\n", benchmark.name()))?;
    }
    let mut failures: Vec<(String, String)> = Vec::new();
    smoke_test(race, &entries(&runs), |benchmark, outcome| {
        let name = &benchmark.name;
        match outcome {
            Ok(()) => say(&format!("test {name} ... ok\n")),
            Err(error @ RaceError::Interrupted { .. }) => Err(error.into()),
            Err(error) => {
                failures.push((name.clone(), in_one_line(&error.to_string())));
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

/// Returns one line per selected benchmark, followed by the number of benchmarks unless `terse`.
fn listing(benchmarks: &[Planned], selection: &Selection, terse: bool) -> String {
    let mut text = String::new();
    let mut count = 0;
    let listed = |b: &&Planned| {
        selection.names_with(b.name(), &b.benchmark.parameters) && selection.lists(b.ignored)
    };
    for benchmark in benchmarks.iter().filter(listed) {
        count += 1;
        let name = escape_line(benchmark.name(), terminal::glyphs_of_stdout());
        let _ = writeln!(text, "{name}: benchmark");
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
    use crate::settings::Ignored;

    #[test]
    fn a_name_that_is_given_twice_is_noticed() {
        let named = |names: &[&str]| {
            let mut suite = Suite::new();
            for name in names {
                suite.benchmark(*name).baseline("one", || 1);
            }
            suite.planned()
        };
        assert_eq!(ambiguous(&named(&["a", "b", "a"])), Some("a"));
        assert_eq!(ambiguous(&named(&["a", "b"])), None);
    }

    #[test]
    fn a_listing_has_a_line_per_benchmark_and_counts_them_for_people() {
        let mut suite = Suite::new();
        suite.benchmark("a").baseline("one", || 1);
        suite.benchmark("b").ignored().baseline("one", || 1);
        let all = Selection::default();
        let list = |selection, terse| listing(&suite.planned(), selection, terse);
        assert_eq!(list(&all, true), "a: benchmark\nb: benchmark\n");
        assert!(list(&all, false).ends_with("\n\n0 tests, 2 benchmarks\n"));
        let ignored = Selection {
            ignored: Ignored::Only,
            ..Selection::default()
        };
        assert_eq!(list(&ignored, true), "b: benchmark\n");
    }
}
