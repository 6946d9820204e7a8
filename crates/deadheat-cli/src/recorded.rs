//! A file of something recorded, read as what it is: a run, a table, or
//! results of another tool.

use std::path::Path;

use clap::Args;
use deadheat::exit::Failure;
use deadheat::format::{Recording, RecordingPlan, read_recording};
use deadheat::model::{Metric, Run};
use deadheat::saved::{SavedError, Terms, alone};
use deadheat::settings::fraction;

/// How a recording is judged that carries no plan of its own.
#[derive(Clone, Debug, Args)]
pub struct RecordedArgs {
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
    pub looks: bool,
}

impl RecordedArgs {
    /// The run in a file, with a plan that holds.
    pub fn read(&self, file: &Path) -> Result<Run, Failure> {
        let plan = RecordingPlan {
            margin: self.margin,
            alpha: self.alpha,
            judged: self
                .metric
                .as_deref()
                .map_or(Metric::Wall, Metric::from_name),
        };
        let terms = Terms {
            margin: self.margin,
            alpha: self.alpha,
            metric: self.metric.clone(),
        };
        let usage = |error: SavedError| Failure::Usage(error.to_string());
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
        Ok(run)
    }
}
