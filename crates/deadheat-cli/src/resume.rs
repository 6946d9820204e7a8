//! `--resume` of `deadheat run` and `deadheat bench`.

use std::path::Path;

use deadheat::command_race::SpecError;
use deadheat::exit::Failure;
use deadheat::format::read_header;
use deadheat::{RaceError, RaceOutcome, Resumable, ResumeOptions, resume_race};

use crate::progress::LiveProgress;

/// Goes on with a recorded race of one of these kinds, for `more` replicates at
/// most: as many as its plan had where nobody says.
pub fn resume(
    path: &Path,
    kinds: &[Resumable],
    more: Option<u32>,
    options: ResumeOptions,
    quiet: bool,
) -> Result<RaceOutcome, Failure> {
    let header = read_header(path).map_err(Failure::reading)?;
    let kind = Resumable::of(path, &header)?;
    if !kinds.contains(&kind) {
        let path = path.to_owned();
        let reason = match kind {
            Resumable::Commands => "holds a race of commands: go on with deadheat run --resume",
            Resumable::Workers | Resumable::GoogleBenchmark => {
                "holds a race of programs with benchmarks: go on with deadheat bench --resume"
            }
        };
        let reason = reason.to_owned();
        return Err(RaceError::NotResumable { path, reason }.into());
    }
    let more = more.unwrap_or(header.plan.design.looks.max_replicates());
    if more == 0 {
        let flag = "--max-replicates";
        return Err(SpecError::Zero { flag }.into());
    }
    let mut progress = LiveProgress::new(&header.plan.benchmarks, quiet);
    let options = ResumeOptions { more, ..options };
    let outcome = resume_race(path, &options, &mut progress)?;
    progress.finish();
    Ok(outcome)
}
