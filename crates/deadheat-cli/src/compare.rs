//! `deadheat compare`, which compares saved results in a table, or races two programs: its options
//! and its answer.

mod compat;
mod held_output;
#[cfg_attr(not(target_os = "linux"), path = "compare/races_elsewhere.rs")]
mod races;
mod sides;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::analysis::{OutlyingFile, analyse, outlying_file, verdicts_of_intervals};
use deadheat::parts::answer::{Format, line_to_stdout, to_stdout};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{ensure_writable, is_same_file, write_text};
use deadheat::parts::model::{Analysis, HELP, LeftOut, LeftOutReason, Run, Warning};
use deadheat::parts::report::{
    ComparisonOptions, Glyphs, Sort, to_comparison, to_comparison_csv, to_comparison_markdown,
    to_json, to_paired,
};
use deadheat::parts::settings::Color;
use deadheat::parts::terminal;
use deadheat_import::{
    Side, Terms, family, join_without_samples, keep_selected, tell_of_left_out, warn_of_unread,
    without_results,
};
use deadheat_options::answer::choice;
use deadheat_options::bench_options::BenchOptions;

use self::races::race_programs;
use self::sides::{NamedSide, Sides, read, refuse_two_tools, some_names, times};
use crate::help;

pub(crate) use self::compat::role;
#[cfg(target_os = "linux")]
pub(crate) use self::sides::is_called_a_result;

pub const EXAMPLES: &str = "Examples:
  deadheat compare old.json new.json
  deadheat compare filters results.json BM_Std BM_Own
  deadheat compare old/*.json --against new/*.json     # several files per side, recorded in turns
  deadheat compare target/criterion v17 v18            # two saved baselines of criterion
  deadheat compare ./old ./new                         # programs race, as with deadheat bench
  deadheat compare --compat benchmarks old.json new.json   # prints exactly what compare.py prints";

/// Options of `deadheat compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// OLD NEW...: files or folders of results, the baseline first; or two programs, to race them. filters
    /// FILE OLD NEW compares benchmarks of one file, benchmarksfiltered OLD FILTER NEW FILTER those of two
    #[arg(value_name = "MODE or FILE")]
    words: Vec<String>,
    /// Arguments of the programs
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,
    /// Print exactly what compare.py prints; must be the first option (docs/compare_py.md)
    #[arg(long, help_heading = "Which results")]
    compat: bool,
    /// Files or folders of the candidate, if the baseline has several files
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Which results")]
    against: Vec<String>,
    /// Files of the baseline, with --new: the older form of --against
    #[arg(long, value_name = "FILE", num_args = 1.., hide = true, conflicts_with_all = ["words", "against"])]
    old: Vec<String>,
    /// Files of the candidate, with --old
    #[arg(long, value_name = "FILE", num_args = 1.., hide = true, conflicts_with_all = ["words", "against"])]
    new: Vec<String>,
    /// The saved baseline of a criterion folder [default: base]
    #[arg(long, value_name = "NAME", help_heading = "Which results")]
    baseline: Option<String>,
    /// Name of a side (once per side)
    #[arg(
        short = 'n',
        long = "name",
        value_name = "NAME",
        help_heading = "Which results"
    )]
    names: Vec<String>,
    /// Only benchmarks whose names match this regular expression
    #[arg(long, value_name = "REGEX", help_heading = "Which results")]
    filter: Option<String>,
    /// The layout of the table
    #[command(flatten)]
    pub layout: LayoutArgs,
    #[command(flatten)]
    options: BenchOptions,
}

/// The layout of the table.
#[derive(Clone, Debug, Args)]
pub struct LayoutArgs {
    /// The order of the rows
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "file",
        value_parser = choice(ORDERS),
        help_heading = "Answer"
    )]
    pub sort: Sort,
    /// Show only rows that are faster or slower, or could not be compared
    #[arg(long, help_heading = "Answer")]
    pub only_changed: bool,
    /// Show every metric of every benchmark, changed or not
    #[arg(long, help_heading = "Answer")]
    pub all_metrics: bool,
    /// Write the analysis as JSON to this file as well
    #[arg(
        short = 'd',
        long = "dump_to_json",
        value_name = "FILE",
        help_heading = "Files"
    )]
    pub dump_to_json: Option<PathBuf>,
    /// The same as --color never
    #[arg(long, help_heading = "Answer")]
    no_color: bool,
    /// Accepted for scripts, without effect: every row is a whole benchmark
    #[arg(short = 'a', long = "display_aggregates_only", hide = true)]
    _aggregates_only: bool,
    /// Accepted for scripts, without effect: the p-value decides nothing
    #[arg(long = "no-utest", hide = true)]
    _no_utest: bool,
}

impl LayoutArgs {
    /// Refuses the options of tables for a race, because a race prints another answer.
    fn check_for_a_race(&self) -> Result<(), Failure> {
        let given = [
            ("--sort", self.sort != Sort::File),
            ("--only-changed", self.only_changed),
            ("--all-metrics", self.all_metrics),
            ("--dump_to_json", self.dump_to_json.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(Failure::Usage(format!(
                "{flag} is for saved results\nhelp: when programs race, use --json, --save or an \
                 --export option"
            ))),
        }
    }
}

const ORDERS: [(Sort, &str, &str); 4] = [
    (Sort::File, "file", "As in the baseline's file"),
    (Sort::Name, "name", "Alphabetical"),
    (Sort::Change, "change", "The largest slowdown first"),
    (
        Sort::Verdict,
        "verdict",
        "Slower, faster, too close to call, dead heats",
    ),
];

pub fn compare(mut args: CompareArgs) -> Result<Status, Failure> {
    if args.compat {
        return Err(Failure::Usage(
            "--compat must come first, before the mode and every other option: deadheat compare \
             --compat …"
                .to_owned(),
        ));
    }
    if args.layout.no_color {
        args.options.answer.colors.color = Color::Never;
    }
    // The filter is an expression and does not name benchmarks, so the exclusions of the rules file
    // hold.
    args.options.read_rules()?;
    let request = match (&args.old[..], &args.new[..], &args.against[..]) {
        ([], [], []) => NamedSide::of_words(&args.words)?,
        ([], [], against) => {
            NamedSide::pooled(["the baseline", "--against"], &args.words, against)?
        }
        (old, new, _) => NamedSide::pooled(["--old", "--new"], old, new)?,
    };
    keep_recordings(&request, &args)?;
    let baseline = args.baseline.as_deref();
    let mut sides = match read(&request, baseline, &args.arguments)? {
        Sides::Programs(programs) => {
            if let Some(filter) = &args.filter {
                args.options.filters.push(filter.clone());
                args.options.read_rules()?;
            }
            args.layout.check_for_a_race()?;
            return race_programs(&programs, &args.names, &args.options);
        }
        Sides::Results(sides) => sides,
    };
    warn_of_unread(sides.iter().flat_map(|side| &side.files));
    let mut files = sides.iter().flat_map(|side| &side.files);
    if let Some(empty) = files.find(|file| file.benchmarks.is_empty()) {
        return Err(without_results(&empty.source, &empty.tool));
    }
    if args.options.design.0.control() {
        return Err(Failure::Usage(
            "--control is for races: saved results cannot be measured again\nhelp: name the \
             programs, or \
             race commands with deadheat run"
                .to_owned(),
        ));
    }
    if args.options.design.0.shard.is_some() {
        return Err(Failure::Usage(
            "--shard is for races: one machine compares saved results fast enough".to_owned(),
        ));
    }
    if args.options.design.0.quantile.is_some() {
        return Err(Failure::Usage(
            "--quantile is for races, whose iterations are timed one by one: saved results do not \
             say which of their values are single iterations"
                .to_owned(),
        ));
    }
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    if let Some(option) = help::useless_option("compare", words) {
        return Err(Failure::Usage(format!(
            "{option} is for races: these are saved results{HELP}leave it out, or name the \
             programs to race them"
        )));
    }
    refuse_two_tools(&sides)?;
    if let Some(filter) = &args.filter {
        keep(filter, &mut sides)?;
    }
    rename(&mut sides, &args.names)?;
    let rules = &args.options.rules;
    let files = sides.iter_mut().flat_map(|side| &mut side.files);
    let left_out = files.flat_map(|results| keep_selected(rules, results));
    tell_of_left_out(left_out.collect());
    skip(&args.options, &mut sides)?;
    tell(sides, &args.options, &args.layout)
}

/// Checks in advance that every output can be written and that none replaces a compared file.
fn keep_recordings(request: &[NamedSide], args: &CompareArgs) -> Result<(), Failure> {
    for named in request.iter().flat_map(|side| &side.named) {
        let recording = Path::new(named);
        args.options.exports.check(Some(recording))?;
        let dump = args.layout.dump_to_json.as_deref();
        if let Some(dump) = dump.filter(|dump| is_same_file(recording, dump)) {
            return Err(Failure::Usage(format!(
                "--dump_to_json: {} is one of the recordings\nhelp: choose another name",
                dump.display()
            )));
        }
    }
    Ok(())
}

/// Keeps the benchmarks that match `filter`. Fails if none matches, because the filter is then
/// probably misspelled.
fn keep(filter: &str, sides: &mut [Side]) -> Result<(), Failure> {
    let mut names = Vec::new();
    let mut is_any_left = false;
    for results in sides.iter_mut().flat_map(|side| &mut side.files) {
        if names.is_empty() {
            names = some_names(results);
        }
        family(results, filter, None)?;
        is_any_left |= !results.benchmarks.is_empty();
    }
    if is_any_left || names.is_empty() {
        return Ok(());
    }
    let names = names.join(", ");
    Err(Failure::NothingSelected(format!(
        "--filter {filter} matches none of the benchmarks{HELP}the benchmarks are {names}"
    )))
}

fn skip(options: &BenchOptions, sides: &mut [Side]) -> Result<(), Failure> {
    let selection = options.selection();
    if selection.skips.is_empty() {
        return Ok(());
    }
    let mut is_any_left = false;
    for results in sides.iter_mut().flat_map(|side| &mut side.files) {
        results.benchmarks.retain(|one| selection.names(&one.name));
        is_any_left |= !results.benchmarks.is_empty();
    }
    match is_any_left {
        true => Ok(()),
        false => Err(Failure::NothingSelected(format!(
            "--skip {} leaves no benchmark",
            selection.skips.join(" --skip ")
        ))),
    }
}

fn rename(sides: &mut [Side], names: &[String]) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    if names.len() != sides.len() {
        return Err(Failure::Usage(format!(
            "--name was given {} for {} sides\nhelp: give it once per side",
            times(names.len()),
            sides.len()
        )));
    }
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            return Err(Failure::Usage(format!(
                "--name {name}: the sides need names that differ"
            )));
        }
        sides[index].name.clone_from(name);
    }
    Ok(())
}

const DUMP: &str = "--dump_to_json";

/// Joins the sides and analyses their common benchmarks. For a million rows, the sides, their
/// samples and the answer take 100 MB each, so each is freed as soon as possible.
fn analysed(
    sides: Vec<Side>,
    options: &BenchOptions,
    layout: &LayoutArgs,
) -> Result<(Run, Analysis), Failure> {
    let rules = &options.rules;
    let joined = join_without_samples(&sides, &Terms::new(rules));
    let joined = joined.map_err(|error| Failure::Usage(rules.blamed(error.to_string())))?;
    if let Some(path) = &layout.dump_to_json {
        ensure_writable(path).map_err(|error| Failure::unwritable(DUMP, &error))?;
    }
    let answer = options.answer.answer();
    // With thousands of benchmarks the figures would take longer than the rest of the analysis, so
    // they are computed only with `--figures`, for JSON too.
    let analysis_options = deadheat::parts::analysis::Options {
        without_figures: !answer.figures,
        ..answer.analysis_options()
    };
    let reports = options.exports.reports();
    let benchmarks = joined.run.header.plan.benchmarks.len();
    let analysis_options = reports.analysis_options(analysis_options, benchmarks);
    if joined.pooled() || options.exports.need_samples() {
        let run = joined.into_run();
        let mut analysis = answer.analysis_with(&run, analysis_options);
        let samples = |index: usize| Cow::Borrowed(&run.benchmarks[index]);
        if let Some(found) = outlying_file(&run, &samples) {
            let terms = Terms::new(rules);
            analysis.warnings.push(stands_apart(sides, found, &terms)?);
        }
        return Ok((run, analysis));
    }
    let analysis = joined.answer(&answer, analysis_options);
    Ok((joined.run, analysis))
}

/// Returns the warning about an outlying file, with the verdicts of an analysis without that file.
fn stands_apart(
    mut sides: Vec<Side>,
    found: OutlyingFile,
    terms: &Terms,
) -> Result<Warning, Failure> {
    let file = sides[found.side].files.remove(found.file);
    let rest = join_without_samples(&sides, terms)?.into_run();
    let options = deadheat::parts::analysis::Options {
        without_figures: true,
        ..Default::default()
    };
    let rest = analyse(&rest, options).comparisons;
    Ok(Warning::StandsApart {
        file: file.source,
        rows: found.rows,
        of: found.of,
        distance: found.distance,
        without: verdicts_of_intervals(&rest),
    })
}

fn tell(sides: Vec<Side>, options: &BenchOptions, layout: &LayoutArgs) -> Result<Status, Failure> {
    let (run, analysis) = analysed(sides, options, layout)?;
    let (answer, reports) = (options.answer.answer(), options.exports.reports());
    let written = options.exports.write(&run, &analysis, &answer)?;
    drop(run);
    if let Some(path) = &layout.dump_to_json {
        let json = to_json(&analysis);
        write_text(path, &json).map_err(|error| Failure::writing(DUMP, error))?;
    }
    if !reports.takes_stdout() {
        to_stdout(&told(&analysis, options, layout))?;
        if !answer.is_document() {
            for line in written {
                line_to_stdout(&format!("  {line}"))?;
            }
        }
    }
    nothing_in_common(&analysis, !options.rules.gate().fail_on.is_empty())?;
    Ok(answer.settle(&analysis))
}

fn told(analysis: &Analysis, options: &BenchOptions, layout: &LayoutArgs) -> String {
    let answer = options.answer.answer();
    let shown = ComparisonOptions {
        width: terminal::width_of_stdout().unwrap_or(usize::MAX),
        color: answer.color.applies(),
        unicode: terminal::speaks_unicode(),
        sort: layout.sort,
        only_changed: layout.only_changed,
        all_metrics: layout.all_metrics,
        figures: answer.figures,
        plot: answer.plot,
        time_unit: answer.time_unit,
    };
    match answer.format {
        // The text table already has one line per comparison.
        Format::Text | Format::Terse => to_comparison(analysis, &shown),
        Format::Markdown => to_comparison_markdown(analysis, &shown),
        Format::Csv => to_comparison_csv(analysis, shown.sort, shown.only_changed, answer.cells),
        Format::Json => to_json(analysis),
        Format::Paired => {
            let glyphs = Glyphs::new(shown.unicode);
            to_paired(
                analysis,
                terminal::width_of_tables(),
                answer.time_unit,
                glyphs,
            )
        }
    }
}

/// Fails if the sides have no benchmark in common, because they are then probably the wrong files.
/// If the benchmarks do different work, only a gate fails, because the table already reports the
/// reason in every row.
fn nothing_in_common(analysis: &Analysis, gated: bool) -> Result<(), Failure> {
    let unlike = |one: &LeftOut| matches!(one.reason, LeftOutReason::NotAlike(_));
    let told = !gated && analysis.left_out.iter().any(unlike);
    if told || !analysis.comparisons.is_empty() || !analysis.failures.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = analysis
        .sides
        .iter()
        .map(|side| format!("'{}'", side.name))
        .collect();
    let mut files = analysis.sides.iter().flat_map(|side| &side.files);
    let of_hyperfine = files.any(|file| file.tool.starts_with("hyperfine"));
    let rename = match of_hyperfine {
        true => "; or give both commands the same name when you record: hyperfine -n NAME",
        false => "",
    };
    Err(Failure::Data(format!(
        "{} have no benchmark in common that could be compared{HELP}to compare benchmarks of \
         different \
         names: deadheat compare benchmarksfiltered OLD FILTER NEW FILTER{rename}",
        names.join(" and ")
    )))
}
