//! A file of something recorded, read as what it is: a run, a table, or
//! results of another tool.

use std::path::Path;

use clap::Args;
use deadheat::Recorded;
use deadheat::exit::Failure;
use deadheat::model::Metric;
use deadheat::saved::Terms;
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
    /// A file, whose samples may be read as they are analysed.
    pub fn open(&self, file: &Path) -> Result<Recorded, Failure> {
        self.checked(file, Recorded::open(file, &self.terms())?)
    }

    /// A file with all its samples, for those who write them elsewhere.
    pub fn read(&self, file: &Path) -> Result<Recorded, Failure> {
        self.checked(file, Recorded::read(file, &self.terms())?)
    }

    fn terms(&self) -> Terms {
        Terms {
            margin: self.margin,
            alpha: self.alpha,
            metric: self.metric.clone(),
        }
    }

    fn checked(&self, file: &Path, recorded: Recorded) -> Result<Recorded, Failure> {
        let run = recorded.run();
        let judged = &run.header.plan.design.judged;
        // Saved results say per benchmark what is judged.
        if run.sides.is_empty() && !run.header.metrics.contains(judged) {
            let known: Vec<&str> = run.header.metrics.iter().map(Metric::name).collect();
            let known = known.join(", ");
            let file = file.display();
            return Err(Failure::Usage(format!(
                "--metric {judged}: {file} records only {known}"
            )));
        }
        Ok(recorded)
    }
}
