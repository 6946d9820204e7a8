//! `deadheat merge`: one run of the parts that several machines raced.

use std::path::PathBuf;

use clap::Args;
use deadheat::parts::Recorded;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{FileProblem, ScratchFolder, merge_parts};
use deadheat::parts::rules::CliOverrides;
use deadheat::parts::settings::RaceSettings;

use crate::exports::ExportArgs;
use crate::options::AnswerArgs;

/// Shown at the end of `deadheat merge --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat run --shard 1/2 --save part-1.jsonl -- ./old ./new    # on one machine
  deadheat run --shard 2/2 --save part-2.jsonl -- ./old ./new    # on another
  deadheat merge part-*.jsonl --save whole.jsonl --fail-on slower --html page.html";

/// Options of `deadheat merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The run files of the parts, in any order
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,
    /// Keep the merged run here
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    save: Option<PathBuf>,
    /// Merge the parts that are there and finished, and name the others
    #[arg(long)]
    allow_missing: bool,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Merges, analyses and answers.
pub fn merge(mut args: MergeArgs) -> Result<Status, Failure> {
    let asked = CliOverrides::default();
    let rules = args.answer.read_rules(&RaceSettings::default(), asked)?;
    args.exports.check(None)?;
    let scratch;
    let whole = match &args.save {
        Some(save) => save.clone(),
        None => {
            scratch = ScratchFolder::create().map_err(Failure::reading)?;
            scratch.path().join("merged.jsonl")
        }
    };
    merge_parts(&args.parts, &whole, args.allow_missing).map_err(|error| match error.problem {
        FileProblem::CannotWrite(_) | FileProblem::AlreadyExists if args.save.is_some() => {
            Failure::unwritable("--save", &error)
        }
        _ => Failure::reading(error),
    })?;
    let answer = args.answer.answer();
    let recorded = if args.exports.need_samples() {
        Recorded::read(&whole, &rules)?
    } else {
        Recorded::open(&whole, &rules)?
    };
    let reports = args.exports.reports();
    let benchmarks = recorded.run().header.plan.benchmarks.len();
    let options = reports.analysis_options(answer.analysis_options(), benchmarks);
    let (run, analysis) = answer.analysis_of(recorded, options)?;
    let written = args.exports.write(&run, &analysis, &answer)?;
    reports.print_beside(&answer, &analysis, &written)?;
    Ok(answer.status(&analysis))
}
