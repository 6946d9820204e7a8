//! `deadheat analyze`: judge recorded data again.

use std::path::PathBuf;

use clap::Args;
use deadheat::Recorded;
use deadheat::analysis::Options;
use deadheat::exit::{Failure, Status};
use deadheat::model::Metric;
use deadheat::saved::Terms;
use deadheat::settings::fraction;

use crate::exports::ExportArgs;
use crate::options::AnswerArgs;

/// Options of `deadheat analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// A run file, a tidy CSV file, or results of another tool
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Smallest change worth acting on, for recordings (a run carries its own)
    #[arg(long, value_name = "CHANGE", default_value = "1%", value_parser = fraction, allow_hyphen_values = true)]
    margin: f64,
    /// Accepted chance of a wrong verdict, for recordings
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = fraction, allow_hyphen_values = true)]
    alpha: f64,
    /// What is judged, for recordings [default: wall]
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,
    /// Replay the looks of a race over a recording instead of judging it once
    #[arg(long)]
    looks: bool,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Reads, analyses and answers, file by file.
pub fn analyze(args: &AnalyzeArgs) -> Result<Status, Failure> {
    args.exports.check_for_one(args.files.len())?;
    let terms = Terms {
        margin: args.margin,
        alpha: args.alpha,
        metric: args.metric.clone(),
    };
    let answer = args.answer.answer();
    let mut status = Status::Done;
    for file in &args.files {
        let recorded = match args.exports.need_samples() {
            true => Recorded::read(file, &terms)?,
            false => Recorded::open(file, &terms)?,
        };
        let run = recorded.run();
        let judged = &run.header.plan.design.judged;
        let measured = run.sides.is_empty();
        if measured && !run.header.metrics.contains(judged) {
            let known: Vec<&str> = run.header.metrics.iter().map(Metric::name).collect();
            let known = known.join(", ");
            let file = file.display();
            return Err(Failure::Usage(format!(
                "--metric {judged}: {file} records only {known}"
            )));
        }
        args.exports.check(Some(file))?;
        let (run, analysis) = recorded.analyse(Options {
            replay_looks: args.looks,
            ..answer.analysis_options()
        })?;
        args.exports.write(&run, &analysis, answer.figures)?;
        answer.print(&analysis)?;
        status = status.max(answer.status(&analysis));
    }
    Ok(status)
}
