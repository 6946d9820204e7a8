//! `deadheat analyze`: judge recorded data again.

use std::path::PathBuf;

use clap::Args;
use deadheat::analysis::Options;
use deadheat::answer::Answer;
use deadheat::exit::{Failure, Status};
use deadheat::format::{Recording, RecordingPlan, read_recording};
use deadheat::model::Metric;
use deadheat::rules::Asked;
use deadheat::saved::{SavedError, alone};
use deadheat::settings::fraction;

use crate::exports::ExportArgs;
use crate::options::AnswerArgs;

/// Options of `deadheat analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// A run file, a tidy CSV file, or results of another tool
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Smallest change worth acting on, for recordings (a run carries its own) [default: 1%]
    #[arg(long, value_name = "CHANGE", value_parser = fraction, allow_hyphen_values = true)]
    margin: Option<f64>,
    /// Accepted chance of a wrong verdict, for recordings [default: 0.05]
    #[arg(long, value_name = "P", value_parser = fraction, allow_hyphen_values = true)]
    alpha: Option<f64>,
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
    let rules = args.answer.rules.read(Asked {
        margin: args.margin,
        alpha: args.alpha,
        metric: args.metric.as_deref().map(Metric::from_name),
        fail_on: args.answer.fail_on.clone(),
        ..Asked::default()
    })?;
    let plan = RecordingPlan {
        margin: rules.margin(),
        alpha: rules.alpha(),
        judged: rules.judged(),
    };
    let terms = rules.terms();
    let usage = |error: SavedError| Failure::Usage(rules.blamed(error.to_string()));
    let answer = Answer {
        gate: rules.gate(),
        ..args.answer.answer()
    };
    let mut status = Status::Done;
    for file in &args.files {
        let mut run = match read_recording(file, &plan).map_err(Failure::reading)? {
            Recording::Run(run) => *run,
            Recording::Results(mut results) => {
                rules.keep(&mut results);
                alone(*results, &terms).map_err(usage)?
            }
        };
        rules.govern(&mut run, file)?;
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
            let told = format!("--metric {judged}: {file} records only {known}");
            return Err(Failure::Usage(rules.blamed(told)));
        }
        args.exports.check(Some(file))?;
        let analysis = answer.analysis_with(
            &run,
            Options {
                replay_looks: args.looks,
                ..answer.analysis_options()
            },
        );
        args.exports.write(&run, &analysis, answer.figures)?;
        answer.print(&analysis)?;
        status = status.max(answer.status(&analysis));
    }
    Ok(status)
}
