//! What follows a race: the answer, the files beside it, and a status.

use std::path::Path;

use deadheat::RaceOutcome;
use deadheat::exit::{Failure, Status};
use deadheat::model::{EndReason, RunEnd};
use deadheat_build::bytes_below;

use crate::clean::size;
use crate::exports::ExportArgs;
use crate::options::AnswerArgs;

/// Analyses, writes what was asked for, and answers.
pub fn tell(
    outcome: &RaceOutcome,
    answer: &AnswerArgs,
    exports: &ExportArgs,
) -> Result<Status, Failure> {
    let answer = answer.answer();
    let run = &outcome.run;
    let reports = exports.reports();
    let benchmarks = run.header.plan.benchmarks.len();
    let options = reports.analysis_options(answer.analysis_options(), benchmarks);
    let analysis = answer.analysis_with(run, options);
    let written = exports.write(run, &analysis, &answer)?;
    let recorded = answer.recorded_in(&outcome.path);
    let below = [vec![recorded], room(&outcome.path), written].concat();
    reports.print_beside(&answer, &analysis, &below)?;
    if let Some(RunEnd {
        reason: EndReason::Interrupted(signal),
        ..
    }) = outcome.run.end
    {
        return Ok(Status::Interrupted(signal));
    }
    Ok(answer.status(&analysis))
}

/// Says how much deadheat keeps, once that is worth a word. Nothing is said of a run file that the
/// user named.
fn room(run: &Path) -> Vec<String> {
    let ours = run.ancestors().nth(2);
    let ours = ours.filter(|folder| folder.ends_with(".deadheat"));
    let said = ours.and_then(|folder| holds(folder, bytes_below(folder)));
    said.into_iter().collect()
}

/// The line about a folder that holds so much, if it is worth one.
fn holds(folder: &Path, bytes: u64) -> Option<String> {
    const WORTH_A_WORD: u64 = 1_000_000_000;
    let folder = folder.display();
    let said = || format!("{folder} holds {}; deadheat clean makes room", size(bytes));
    (bytes >= WORTH_A_WORD).then(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_that_has_grown_large_is_worth_a_word() {
        let said = |bytes| holds(Path::new(".deadheat"), bytes);
        assert_eq!(said(999_999_999), None);
        let large = ".deadheat holds 1.4 GB; deadheat clean makes room";
        assert_eq!(said(1_400_000_000).as_deref(), Some(large));
        assert_eq!(room(Path::new("elsewhere/run.jsonl")), [""; 0]);
    }
}
