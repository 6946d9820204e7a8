//! `deadheat analyze` and `deadheat report`: a file of something recorded, read as what it is: a
//! run, a table, or results of another tool.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::analysis::Options;
use deadheat::parts::answer::{Answer, to_stdout};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::{Analysis, Metric, Origin, Run};
use deadheat::parts::rules::{CliOverrides, Rules};
use deadheat::parts::settings::Front;
use deadheat::parts::{Recorded, ReportFiles};

use crate::exports::{ExportArgs, ReportArgs};
use crate::options::{AnswerArgs, SettingsArgs};

/// How a recording is judged that carries no plan of its own.
#[derive(Clone, Debug, Args)]
pub struct RecordedArgs {
    /// Settings for recordings.
    #[command(flatten)]
    design: SettingsArgs<{ Front::Recording as usize }>,
    /// Replay the looks of a race over a recording instead of judging it once
    #[arg(long)]
    looks: bool,
}

impl RecordedArgs {
    /// The rules for the recording, by these options and a rules file.
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

    /// The analysis that an answer and the reports beside it need.
    fn analysed(
        &self,
        recorded: Recorded<'_>,
        answer: &Answer,
        reports: &ReportFiles,
    ) -> Result<(Run, Analysis), Failure> {
        let options = Options {
            replay_looks: self.looks,
            ..answer.analysis_options()
        };
        let benchmarks = recorded.run().header.plan.benchmarks.len();
        answer.analysis_of(recorded, reports.analysis_options(options, benchmarks))
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

/// Options of `deadheat analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// A run file, a tidy CSV file, or results of another tool
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    recorded: RecordedArgs,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Reads, analyses and answers, file by file.
pub fn analyze(mut args: AnalyzeArgs) -> Result<Status, Failure> {
    args.exports.check_for_one(args.files.len())?;
    let rules = args.recorded.rules(&mut args.answer)?;
    let answer = args.answer.answer();
    let mut status = Status::Done;
    for file in &args.files {
        let recorded = if args.exports.need_samples() {
            args.recorded.read(file, &rules)?
        } else {
            args.recorded.open(file, &rules)?
        };
        args.exports.check(Some(file))?;
        let reports = args.exports.reports();
        let (run, analysis) = args.recorded.analysed(recorded, &answer, &reports)?;
        let written = args.exports.write(&run, &analysis, &answer)?;
        reports.print_beside(&answer, &analysis, &written)?;
        status = status.max(answer.status(&analysis));
    }
    Ok(status)
}

/// Shown at the end of `deadheat report --help`.
pub const REPORT_EXAMPLES: &str = "Examples:
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
    let (run, analysis) = args.recorded.analysed(recorded, &answer, &reports)?;
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
