//! `deadheat analyze`: judge recorded data again.

use std::path::PathBuf;

use clap::Args;
use deadheat::analysis::{Options, analyse};
use deadheat::exit::{Failure, Status};
use deadheat::format::{Recording, RecordingPlan, read_recording};
use deadheat::model::Metric;
use deadheat::saved::{SavedError, Terms, alone};
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
    let plan = RecordingPlan {
        margin: args.margin,
        alpha: args.alpha,
        judged: args
            .metric
            .as_deref()
            .map_or(Metric::Wall, Metric::from_name),
    };
    let terms = Terms {
        margin: args.margin,
        alpha: args.alpha,
        metric: args.metric.clone(),
    };
    let usage = |error: SavedError| Failure::Usage(error.to_string());
    let answer = args.answer.answer();
    let mut status = Status::Done;
    for file in &args.files {
        let run = match read_recording(file, &plan).map_err(Failure::reading)? {
            Recording::Run(run) => *run,
            Recording::Results(results) => alone(*results, &terms).map_err(usage)?,
        };
        run.header
            .plan
            .validate()
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let judged = &run.header.plan.design.judged;
        let recorded = run.sides.is_empty();
        if recorded && !run.header.metrics.contains(judged) {
            let known: Vec<&str> = run.header.metrics.iter().map(Metric::name).collect();
            let known = known.join(", ");
            let file = file.display();
            return Err(Failure::Usage(format!(
                "--metric {judged}: {file} records only {known}"
            )));
        }
        args.exports.check(Some(file))?;
        let reports = args.exports.reports();
        let options = Options {
            replay_looks: args.looks,
            ..answer.analysis_options()
        };
        let benchmarks = run.header.plan.benchmarks.len();
        let analysis = analyse(&run, reports.analysis_options(options, benchmarks));
        let written = args.exports.write(&run, &analysis, answer.figures)?;
        if !reports.takes_stdout() {
            answer.print(&analysis)?;
            for line in written {
                answer.print_note(&format!("  {line}"))?;
            }
        }
        status = status.max(answer.status(&analysis));
    }
    Ok(status)
}
