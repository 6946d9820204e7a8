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
    let analysis = answer.analysis(&outcome.run);
    exports.write(&outcome.run, &analysis, answer.figures)?;
    answer.print(&analysis)?;
    answer.print_note(&format!("  recorded in {}", outcome.path.display()))?;
    if let Some(RunEnd {
        reason: EndReason::Interrupted(signal),
        ..
    }) = outcome.run.end
    {
        return Ok(Status::Interrupted(signal));
    }
    Ok(answer.status(&analysis))
}
