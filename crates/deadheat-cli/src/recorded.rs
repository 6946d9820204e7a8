//! `deadheat analyze`, `report` and `merge`. The first two read a run, a table, or results of
//! another tool; `merge` joins the parts of a race that several machines ran.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::analysis::Options;
use deadheat::parts::answer::{Answer, Format, RunFiles, line_to_stdout, to_stdout};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{
    FileProblem, ScratchFolder, line_that_breaks_off, merge_parts, refuse_plan,
};
use deadheat::parts::model::{Analysis, Ending, HELP, Metric, Origin, Run};
use deadheat::parts::report::units::share;
use deadheat::parts::report::{escape_line, resume};
use deadheat::parts::rules::{CliOverrides, Rules};
use deadheat::parts::settings::{Front, RaceSettings};
use deadheat::parts::{ReportFiles, terminal};
use deadheat_import::{Recorded, refuse_folder_of_files};
use deadheat_options::answer::{AnswerArgs, ExportArgs, ReportArgs, SettingsArgs};

/// The rules for a recording without a plan.
#[derive(Clone, Debug, Args)]
pub struct RecordedArgs {
    /// Settings for recordings.
    #[command(flatten)]
    design: SettingsArgs<{ Front::Recording as usize }>,
    /// Judge a recording at the interim analyses that a race would have made, not only at its end
    #[arg(long)]
    looks: bool,
}

impl RecordedArgs {
    pub fn rules(&self, answer: &mut AnswerArgs) -> Result<Rules, Failure> {
        answer.read_rules(&self.design.0, CliOverrides::default())
    }

    /// Refuses options that contradict the plan of a recorded race, which fixed its metric, margin,
    /// alpha and interim analyses.
    fn refuse_rules_of_races(&self, file: &Path, run: &Run) -> Result<(), Failure> {
        let asked = &self.design.0;
        let file = file.display();
        let design = &run.header.plan.design;
        let plan = &run.header.plan;
        let benchmarks = 0..plan.benchmarks.len();
        let raced = benchmarks.filter(|at| plan.benchmarks[*at].rerun.is_none());
        let otherwise = |asked: &Metric| raced.map(|at| plan.judged(at)).find(|one| *one != asked);
        let other = asked.metric.as_ref().map(|asked| (asked, otherwise(asked)));
        if let Some((asked, Some(judged))) = other {
            return Err(Failure::Usage(format!(
                "--metric {asked}: {file} is a race that was judged by {judged}{HELP}-v shows all \
                 metrics; to judge by {asked}, race again with --metric {asked}"
            )));
        }
        for (option, asked, raced) in [
            ("--margin", asked.margin, design.margin),
            ("--alpha", asked.alpha, design.alpha),
        ] {
            if let Some(asked) = asked.filter(|asked| *asked != raced) {
                let [asked, raced] = [asked, raced].map(share);
                return Err(Failure::Usage(format!(
                    "{option} {asked}: {file} is a race with {option} {raced}, which its plan fixed before \
                     the first launch{HELP}race again with {option} {asked}"
                )));
            }
        }
        if self.looks {
            return Err(Failure::Usage(format!(
                "--looks: {file} is a race, which is judged by its own interim \
                 analyses{HELP}leave the option out"
            )));
        }
        Ok(())
    }

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
        recorded.answer(answer, reports.analysis_options(options, benchmarks))
    }
}

/// Returns `recorded`. Fails if it is a plan, lacks the judged metric, or is a race that
/// contradicts the options.
fn checked<'a>(
    file: &Path,
    (args, rules): (&RecordedArgs, &Rules),
    recorded: Recorded<'a>,
) -> Result<Recorded<'a>, Failure> {
    let run = recorded.run();
    refuse_plan(file, &run.header).map_err(Failure::reading)?;
    let judged = &run.header.plan.design.judged;
    // Saved results name the judged metric of each benchmark, so this check is for other
    // recordings.
    if run.sides.is_empty() && !run.header.metrics.contains(judged) {
        let known: Vec<&str> = run.header.metrics.iter().map(Metric::name).collect();
        let known = known.join(", ");
        let file = file.display();
        // The error blames an option only if the user chose the metric of a recording.
        if run.header.origin == Origin::Race || rules.settings().metric.is_none() {
            let told = format!("{file}: a rule judges {judged}, but the file records only {known}");
            return Err(Failure::Data(told));
        }
        let told = format!("--metric {judged}: {file} records only {known}");
        return Err(Failure::Usage(rules.blamed(told)));
    }
    if run.header.origin == Origin::Race {
        args.refuse_rules_of_races(file, run)?;
    }
    Ok(recorded)
}

pub const ANALYZE_EXAMPLES: &str = "Examples:
  deadheat analyze .deadheat/runs/20261121-120000-0000002a.jsonl
  deadheat analyze results.csv --margin 2% --fail-on slower
  deadheat analyze results.json --json
  deadheat analyze run.jsonl --plot -v";

/// Options of `deadheat analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// A run file, a tidy CSV file, or results of another tool
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    recorded: RecordedArgs,
    #[command(flatten)]
    answer: AnswerArgs,
    #[command(flatten)]
    exports: ExportArgs,
}

pub fn analyze(mut args: AnalyzeArgs) -> Result<Status, Failure> {
    args.exports.check_for_one(args.files.len())?;
    let rules = args.recorded.rules(&mut args.answer)?;
    let answer = args.answer.answer();
    let several = args.files.len() > 1;
    if several && answer.format == Format::Csv {
        return Err(Failure::Usage(format!(
            "--format csv prints the table of one file{HELP}analyze one file at a time, or print all by \
             --format json"
        )));
    }
    let analysed = analyze_each(&args, &rules, &answer);
    if several && answer.format == Format::Json {
        // Also after an error, so that the array of the files before it can be read.
        to_stdout("]\n")?;
    }
    analysed
}

fn analyze_each(args: &AnalyzeArgs, rules: &Rules, answer: &Answer) -> Result<Status, Failure> {
    let several = args.files.len() > 1;
    let mut status = Status::Done;
    if several && answer.format == Format::Json {
        to_stdout("[\n")?;
    }
    for (index, file) in args.files.iter().enumerate() {
        let recorded = checked(
            file,
            (&args.recorded, rules),
            args.exports.open(file, rules)?,
        )?;
        args.exports.check(Some(file))?;
        let reports = args.exports.reports();
        let (run, analysis) = args.recorded.analysed(recorded, answer, &reports)?;
        refuse_unfinished_without_a_block(file, &analysis)?;
        let written = args.exports.write(&run, &analysis, answer)?;
        if several {
            to_stdout(&before_one_of_several(answer.format, index, file))?;
        }
        reports.print_beside(answer, &analysis, &RunFiles::default(), &written)?;
        status = status.max(answer.settle(&analysis));
    }
    Ok(status)
}

/// Refuses a run file without an end record in which nothing was measured.
fn refuse_unfinished_without_a_block(file: &Path, analysis: &Analysis) -> Result<(), Failure> {
    let is_empty = analysis.comparisons.is_empty() && analysis.failures.is_empty();
    if analysis.ending != Ending::Cut || !is_empty {
        return Ok(());
    }
    let torn = match line_that_breaks_off(file) {
        Some(line) => format!("its last line (line {line}) breaks off, and "),
        None => String::new(),
    };
    let resume = match resume(analysis) {
        Some(command) => format!(
            "; if it is the original, {} continues it",
            command.replace("FILE", &shell_words::quote(&file.display().to_string()))
        ),
        None => String::new(),
    };
    Err(Failure::Data(format!(
        "{} holds no complete block: {torn}it has no end record, so deadheat was killed or is still \
         racing, or the file is an incomplete copy{HELP}copy the file again{resume}",
        file.display()
    )))
}

/// Returns the text before the answer about one of several files: its name, or the JSON that joins
/// the answers into one array.
fn before_one_of_several(format: Format, index: usize, file: &Path) -> String {
    let name = escape_line(&file.display().to_string(), terminal::glyphs_of_stdout());
    match (format, index) {
        (Format::Json | Format::Csv, 0) => String::new(),
        (Format::Json | Format::Csv, _) => ",\n".to_owned(),
        (Format::Markdown, _) => format!("## {name}\n\n"),
        (_, 0) => format!("{name}\n"),
        (_, _) => format!("\n{name}\n"),
    }
}

pub const REPORT_EXAMPLES: &str = "Examples:
  deadheat report .deadheat/runs/20261121-120000-0000002a.jsonl --html page.html
  deadheat report run.jsonl --markdown=comment.md --junit tests.xml
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

pub fn report(mut args: ReportCommand) -> Result<Status, Failure> {
    let reports = args.reports.files();
    let rules = args.recorded.rules(&mut args.answer)?;
    let answer = args.answer.answer();
    if reports.is_empty() && !answer.is_document() {
        refuse_folder_of_files(&args.file)?;
        return Err(Failure::Usage(
            "deadheat report: no report was chosen\nhelp: add --html FILE, --markdown[=FILE], \
             --junit FILE, --svg DIR, --png DIR or --json; deadheat analyze prints the answer"
                .to_owned(),
        ));
    }
    if reports.takes_stdout() && answer.is_document() {
        return Err(Failure::Usage(
            "--markdown and --json (or --format) both print to standard output\nhelp: give one of them a \
             file: --markdown=FILE"
                .to_owned(),
        ));
    }
    let recorded = checked(
        &args.file,
        (&args.recorded, &rules),
        Recorded::open(&args.file, &rules)?,
    )?;
    reports.check(Some(&args.file))?;
    let (run, analysis) = args.recorded.analysed(recorded, &answer, &reports)?;
    let written = reports.write(&run.header, &analysis)?;
    if answer.is_document() {
        answer.print(&analysis)?;
    } else if !reports.takes_stdout() {
        for line in written {
            line_to_stdout(&line)?;
        }
    }
    Ok(answer.settle(&analysis))
}

pub const MERGE_EXAMPLES: &str = "\
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
    /// Merge the finished parts, and list those that are missing
    #[arg(long)]
    allow_missing: bool,
    #[command(flatten)]
    answer: AnswerArgs,
    #[command(flatten)]
    exports: ExportArgs,
}

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
    let recorded = args.exports.open(&whole, &rules)?;
    let reports = args.exports.reports();
    let benchmarks = recorded.run().header.plan.benchmarks.len();
    let options = reports.analysis_options(answer.analysis_options(), benchmarks);
    let (run, analysis) = recorded.answer(&answer, options)?;
    let written = args.exports.write(&run, &analysis, &answer)?;
    reports.print_beside(&answer, &analysis, &RunFiles::default(), &written)?;
    Ok(answer.settle(&analysis))
}
