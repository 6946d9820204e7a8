//! What follows a race: the answer, the files beside it, and a status.

use deadheat::RaceOutcome;
use deadheat::exit::{Failure, Status};
use deadheat::model::{EndReason, RunEnd};

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
    let written = exports.write(run, &analysis, answer.figures)?;
    let recorded = answer.recorded_in(&outcome.path);
    let below = [vec![recorded], written].concat();
    answer.print_beside(&reports, &analysis, &below)?;
    if let Some(RunEnd {
        reason: EndReason::Interrupted(signal),
        ..
    }) = outcome.run.end
    {
        return Ok(Status::Interrupted(signal));
    }
    Ok(answer.status(&analysis))
}
