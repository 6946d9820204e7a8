//! A file of something recorded, read as what it is: a run, a table, or
//! results of another tool.

use std::path::Path;

use clap::Args;
use deadheat::exit::Failure;
use deadheat::format::{Recording, RecordingPlan, read_recording};
use deadheat::model::{Metric, Run};
use deadheat::rules::{Asked, Rules};
use deadheat::saved::{SavedError, alone};
use deadheat::settings::fraction;

use crate::options::AnswerArgs;

/// How a recording is judged that carries no plan of its own.
#[derive(Clone, Debug, Args)]
pub struct RecordedArgs {
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
    pub looks: bool,
}

impl RecordedArgs {
    /// What is asked of the recording, by these options and a rules file.
    pub fn rules(&self, answer: &AnswerArgs) -> Result<Rules, Failure> {
        answer.rules.read(Asked {
            margin: self.margin,
            alpha: self.alpha,
            metric: self.metric.as_deref().map(Metric::from_name),
            fail_on: answer.fail_on.clone(),
            ..Asked::default()
        })
    }

    /// The run in a file, with a plan that holds.
    pub fn read(&self, file: &Path, rules: &Rules) -> Result<Run, Failure> {
        let plan = RecordingPlan {
            margin: rules.margin(),
            alpha: rules.alpha(),
            judged: rules.judged(),
        };
        let terms = rules.terms();
        let usage = |error: SavedError| Failure::Usage(rules.blamed(error.to_string()));
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
        Ok(run)
    }
}
