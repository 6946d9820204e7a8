//! `deadheat plan`: the arguments that a plan accepts, and the message about the saved file.

use std::path::Path;

use deadheat::parts::answer::line_to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::Plan;
use deadheat::parts::report::units::counted;
use deadheat::parts::settings::RaceSettings;

use crate::answer::ExportArgs;

/// Fails without a file to save the plan to, or with options that have no meaning for a plan,
/// before deadheat builds or launches anything.
pub fn check_plan(
    settings: &RaceSettings,
    save: Option<&Path>,
    exports: &ExportArgs,
) -> Result<(), Failure> {
    let refused = |text: &str| Err(Failure::Usage(text.to_owned()));
    if save.is_none() {
        return refused("plan: --save FILE names the file to write");
    }
    if settings.shard.is_some() {
        return refused("--shard: a plan is for all parts; give --shard to deadheat run --plan");
    }
    exports
        .refuse("a plan has no answer; give this option to deadheat run --plan or deadheat merge")
}

/// Prints where the plan was saved and how to race it.
pub fn tell_of_plan(plan: &Plan, file: &Path) -> Result<Status, Failure> {
    let raced = plan.benchmarks.iter().filter(|one| one.rerun.is_none());
    let file = file.to_string_lossy();
    let quoted = shell_words::quote(&file);
    line_to_stdout(&format!(
        "plan in {file}: {}, {} at most, seed {}",
        counted(raced.count() as u64, "benchmark", "benchmarks"),
        counted(plan.max_replicates().into(), "replicate", "replicates"),
        plan.seed,
    ))?;
    line_to_stdout(&format!(
        "race one part:       deadheat run --plan {quoted} --shard 1/4 --save part-1.jsonl"
    ))?;
    line_to_stdout(&format!(
        "pack for transfer:   deadheat pack {quoted} -o race.tar.zst"
    ))?;
    Ok(Status::Done)
}
