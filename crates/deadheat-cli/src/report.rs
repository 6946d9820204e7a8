//! `deadheat report`: a saved run as pages, comments and pictures.

use std::path::PathBuf;

use clap::Args;
use deadheat::analysis::Options;
use deadheat::answer::to_stdout;
use deadheat::exit::{Failure, Status};

use crate::options::AnswerArgs;
use crate::recorded::RecordedArgs;
use crate::reports::ReportArgs;

/// Shown at the end of `deadheat report --help`.
pub const EXAMPLES: &str = "Examples:
  deadheat report .deadheat/runs/20261121-120000-0000002a.jsonl --html page.html
  deadheat report run.jsonl --markdown comment.md --junit tests.xml
  deadheat report run.jsonl --svg pictures
  deadheat report results.csv --html page.html --margin 2%";

/// Options of `deadheat report`.
#[derive(Debug, Args)]
pub struct ReportCommand {
    /// A run file, a tidy CSV file, or results of another tool
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    reports: ReportArgs,
    #[command(flatten)]
    recorded: RecordedArgs,
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Reads, analyses, and writes what was asked for.
pub fn report(mut args: ReportCommand) -> Result<Status, Failure> {
    let reports = args.reports.files();
    let rules = args.recorded.rules(&mut args.answer)?;
    let answer = args.answer.answer();
    if reports.is_empty() && !answer.is_document() {
        return Err(Failure::Usage(
            "say what to make of it: --html FILE, --markdown [FILE], --junit FILE, --svg DIR, \
             --png DIR or --json; `deadheat analyze` prints the answer"
                .to_owned(),
        ));
    }
    if reports.takes_stdout() && answer.is_document() {
        return Err(Failure::Usage(
            "--markdown and --json (or --format): standard output has room for one of them; give \
             --markdown a file"
                .to_owned(),
        ));
    }
    let recorded = args.recorded.open(&args.file, &rules)?;
    reports.check(Some(&args.file))?;
    let options = Options {
        replay_looks: args.recorded.looks,
        ..answer.analysis_options()
    };
    let benchmarks = recorded.run().header.plan.benchmarks.len();
    let options = reports.analysis_options(options, benchmarks);
    let (run, analysis) = answer.analysis_of(recorded, options)?;
    let written = reports.write(&run.header, &analysis)?;
    if answer.is_document() {
        answer.print(&analysis)?;
    } else if !reports.takes_stdout() {
        for line in written {
            to_stdout(&format!("{line}\n"))?;
        }
    }
    Ok(answer.status(&analysis))
}
