//! A file of something recorded, read as what it is: a run, a table, or
//! results of another tool.

use std::path::Path;

use clap::Args;
use deadheat::Recorded;
use deadheat::exit::Failure;
use deadheat::model::{Metric, Origin};
use deadheat::rules::{CliOverrides, Rules};
use deadheat::settings::Front;

use crate::options::{AnswerArgs, SettingsArgs};

/// How a recording is judged that carries no plan of its own.
#[derive(Clone, Debug, Args)]
pub struct RecordedArgs {
    /// Settings for recordings.
    #[command(flatten)]
    design: SettingsArgs<{ Front::Recording as usize }>,
    /// Replay the looks of a race over a recording instead of judging it once
    #[arg(long)]
    pub looks: bool,
}

impl RecordedArgs {
    /// What is asked of the recording, by these options and a rules file.
    pub fn rules(&self, answer: &mut AnswerArgs) -> Result<Rules, Failure> {
        answer.read_rules(&self.design.0, CliOverrides::default())
    }

    /// A file, whose samples may be read as they are analysed.
    pub fn open<'a>(&self, file: &Path, rules: &'a Rules) -> Result<Recorded<'a>, Failure> {
        checked(file, rules, Recorded::open(file, rules)?)
    }

    /// A file with all its samples, for those who write them elsewhere.
    pub fn read<'a>(&self, file: &Path, rules: &'a Rules) -> Result<Recorded<'a>, Failure> {
        checked(file, rules, Recorded::read(file, rules)?)
    }
}

/// The same, if it holds what is judged.
fn checked<'a>(
    file: &Path,
    rules: &Rules,
    recorded: Recorded<'a>,
) -> Result<Recorded<'a>, Failure> {
    let run = recorded.run();
    let judged = &run.header.plan.design.judged;
    // Saved results say per benchmark what is judged.
    if run.sides.is_empty() && !run.header.metrics.contains(judged) {
        let known: Vec<&str> = run.header.metrics.iter().map(Metric::name).collect();
        let known = known.join(", ");
        let file = file.display();
        // A race is judged by its own plan, and what nobody chose is nobody's fault.
        if run.header.origin == Origin::Race || rules.settings().metric.is_none() {
            let told = format!("{file}: {judged} is judged, but only {known} is recorded");
            return Err(Failure::Data(told));
        }
        let told = format!("--metric {judged}: {file} records only {known}");
        return Err(Failure::Usage(rules.blamed(told)));
    }
    Ok(recorded)
}
