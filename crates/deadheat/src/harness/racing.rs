//! `cargo bench`: race what was selected, answer, write what was asked for.

use deadheat_engine::LocalContenders;
use deadheat_model::EndReason;

use super::arguments::Arguments;
use super::progress::Line;
use crate::exit::{Failure, Status};
use crate::race::{Entries, RaceOutcome, WorkerRace, race_workers};
use crate::rules::Rules;
use crate::suite::{Registered, Suite};
use crate::terminal::to_stderr;

/// Races and answers.
pub(super) fn race(
    race: &WorkerRace,
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
    let outcome = race_workers(race, entries, &mut line).map_err(|error| rules.blame(error))?;
    line.finish();
    answer(&outcome, arguments)
}

/// What worker processes of this program are to race.
pub(super) fn entries(benchmarks: &[&Registered]) -> Entries {
    Entries {
        benchmarks: benchmarks.iter().map(|b| b.planned()).collect(),
        metrics: LocalContenders::metrics_here().to_vec(),
        ..Entries::default()
    }
}

fn answer(outcome: &RaceOutcome, arguments: &Arguments) -> Result<Status, Failure> {
    let Arguments { answer, files, .. } = arguments;
    let benchmarks = outcome.run.header.plan.benchmarks.len();
    let options = files.analysis_options(answer.analysis_options(), benchmarks);
    let analysis = answer.analysis_with(&outcome.run, options);
    let written = files.write(outcome, &analysis, answer)?;
    let recorded = answer.recorded_in(&outcome.path);
    if !files.takes_stdout() {
        answer.print_with(&analysis, &[vec![recorded], written].concat())?;
    }
    if let Some(end) = &outcome.run.end
        && let EndReason::Interrupted(signal) = end.reason
    {
        return Ok(Status::Interrupted(signal));
    }
    Ok(answer.status(&analysis))
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
