//! `deadheat analyze`: judge recorded data again.

use std::path::PathBuf;

use clap::Args;
use deadheat::analysis::Options;
use deadheat::exit::{Failure, Status};

use crate::exports::ExportArgs;
use crate::options::AnswerArgs;
use crate::recorded::RecordedArgs;

/// Options of `deadheat analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// A run file, a tidy CSV file, or results of another tool
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    recorded: RecordedArgs,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Reads, analyses and answers, file by file.
pub fn analyze(mut args: AnalyzeArgs) -> Result<Status, Failure> {
    args.exports.check_for_one(args.files.len())?;
    let rules = args.recorded.rules(&mut args.answer)?;
    let answer = args.answer.answer();
    let mut status = Status::Done;
    for file in &args.files {
        let recorded = match args.exports.need_samples() {
            true => args.recorded.read(file, &rules)?,
            false => args.recorded.open(file, &rules)?,
        };
        args.exports.check(Some(file))?;
        let reports = args.exports.reports();
        let options = Options {
            replay_looks: args.recorded.looks,
            ..answer.analysis_options()
        };
        let benchmarks = recorded.run().header.plan.benchmarks.len();
        let options = reports.analysis_options(options, benchmarks);
        let (run, analysis) = answer.analysis_of(recorded, options)?;
        let written = args.exports.write(&run, &analysis, &answer)?;
        reports.print_beside(&answer, &analysis, &written)?;
        status = status.max(answer.status(&analysis));
    }
    Ok(status)
}
