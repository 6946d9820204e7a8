//! Parses the command line of a bench target: the options of libtest and of deadheat, and the
//! report files to write in addition to the answer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use deadheat_analysis::Options;
use deadheat_model::Run;
use deadheat_report::TimeUnit;
#[cfg(feature = "reports")]
use {
    crate::report_files::{ReportFiles, check_file, refuse_same_files},
    deadheat_analysis::histograms,
    deadheat_format::{write_export, write_hdr, write_text},
    deadheat_report::{MarkdownOptions, to_markdown_with},
};

use crate::answer::{Answer, Format};
use crate::exit::Failure;
use crate::race::Raced;
use crate::rules::{CliOverrides, Rules, RulesSource};
use crate::settings::{Color, Front, Ignored, Selection, Setting, ValueKind};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Race the benchmarks: the task under `cargo bench`.
    Race,
    /// Call each function once: the task under `cargo test`.
    #[default]
    Smoke,
    List,
    Help,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arguments {
    pub(super) mode: Mode,
    pub(super) selection: Selection,
    pub(super) answer: Answer,
    pub(super) quiet: bool,
    pub(super) shown: bool,
    /// The options that a rules file (`deadheat.toml`) may also set.
    pub(super) asked: CliOverrides,
    pub(super) source: RulesSource,
    pub(super) save: Option<PathBuf>,
    pub(super) files: Files,
}

/// Returns the text of `--help`. The help on the settings of a race comes from the table that all
/// programs of deadheat share. This function contains the help on the options that only bench
/// targets have.
pub(super) fn help() -> String {
    let settings = |of_answers: bool| -> String {
        let all = Setting::of(Front::Harness);
        let answers = |setting: &Setting| !setting.help(Front::Answer).is_empty();
        all.filter(|setting| answers(setting) == of_answers)
            .map(line)
            .collect()
    };
    format!(
        "\
Races functions against each other.

usage: cargo bench [--bench NAME] -- [OPTIONS] [FILTER...]

A FILTER is part of a benchmark's name.

Which benchmarks:
  --exact               FILTER and --skip must match whole names
  --skip FILTER         Skip benchmarks whose names contain this
  --ignored             Race only benchmarks that are marked as ignored
  --include-ignored     Race benchmarks that are marked as ignored, too
  --list                List the benchmarks and stop
  --test                Call each function once and stop

How benchmarks race:
{design}
The answer:
  -v, --verbose         Show every metric and note
  --format SHAPE        text, terse or json; with `reports` also markdown or paired [default: text]
  --json                The same as --format json
  --color WHEN          auto, always or never [default: auto]
  --time-unit UNIT      Show times of tables in ns, us, ms or s [default: by their size]
{verdicts}
  --config FILE         Take rules from this file [default: the nearest deadheat.toml upwards]
  --no-config           Take no rules from a file
  -q, --quiet           Print no progress on standard error
  --nocapture           Show what the functions print, on standard error

  --save FILE           Record the run here [default: .deadheat/runs/TIME-SEED.jsonl]

With the feature `reports` of deadheat:
  --figures             Show secondary figures, which never decide a verdict
  --plot                Draw the distributions, and the differences in order of time
  --export-hdr FILE     Write HDR histogram logs
  --export-markdown FILE  Write the answer as a table in Markdown
  --html FILE           Write a page with every plot, figure and warning
  --markdown FILE       Write a comment for a pull request; - prints it instead of the answer
  --junit FILE          Write JUnit XML, a test case per benchmark
",
        design = settings(false),
        verdicts = settings(true).trim_end(),
    )
}

/// The maximum width of the help text, in columns.
const COLUMNS: usize = 100;
/// The column in which descriptions begin.
const INDENT: usize = 24;

fn line(setting: &Setting) -> String {
    let option = format!("  --{} {}", setting.name, setting.value);
    let mut text = format!("{option:<width$}", width = INDENT - 1);
    let mut column = text.chars().count();
    for word in setting.help(Front::Harness).split(' ') {
        let length = word.chars().count() + 1;
        if column + length > COLUMNS {
            text += &format!("\n{:width$}", "", width = INDENT - 1);
            column = INDENT - 1;
        }
        text += &format!(" {word}");
        column += length;
    }
    text + "\n"
}

impl Arguments {
    /// Parses a command line without the program's name. The error is a message for the user.
    pub(super) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut parsed = Self::default();
        let mut words = words.into_iter();
        // The requested modes. `--test` overrides `--bench`.
        let (mut bench, mut test, mut list, mut help) = (false, false, false, false);
        while let Some(word) = words.next() {
            let word = text(word)?;
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            if !name.starts_with('-') || name == "-" {
                parsed.selection.filters.push(word);
                continue;
            }
            let mut value = || match &joined {
                Some(value) => Ok(value.clone()),
                None => match words.next() {
                    Some(word) => text(word),
                    None => Err(format!("{name} needs a value")),
                },
            };
            if let Some(setting) = Setting::of(Front::Harness).find(|one| named(one, name)) {
                let value = match (setting.kind, &joined) {
                    (ValueKind::Flag, None) => "true".to_owned(),
                    (ValueKind::Flag, Some(value)) if setting.can_be_denied() => value.clone(),
                    (ValueKind::Flag, Some(_)) => return Err(format!("{name} takes no value")),
                    _ => value()?,
                };
                setting
                    .set(&mut parsed.asked.settings, &value)
                    .map_err(|problem| format!("{name}: {problem}"))?;
                continue;
            }
            let flag = match name {
                "--bench" => Some(&mut bench),
                "--test" => Some(&mut test),
                "--list" => Some(&mut list),
                "--help" | "-h" => Some(&mut help),
                "--exact" => Some(&mut parsed.selection.exact),
                "--quiet" | "-q" => Some(&mut parsed.quiet),
                "--nocapture" | "--no-capture" => Some(&mut parsed.shown),
                "--figures" => Some(&mut parsed.answer.figures),
                "--plot" => Some(&mut parsed.answer.plot),
                "--verbose" | "-v" => Some(&mut parsed.answer.verbose),
                _ => None,
            };
            if let Some(flag) = flag {
                if joined.is_some() {
                    return Err(format!("{name} takes no value"));
                }
                *flag = true;
                if let "--figures" | "--plot" = name {
                    needs_reports(name)?;
                }
                continue;
            }
            let about = |problem: String| format!("{name}: {problem}");
            match name {
                "--ignored" => parsed.selection.ignored = Ignored::Only,
                "--include-ignored" => parsed.selection.ignored = Ignored::In,
                "--json" => parsed.answer.format = Format::Json,
                "--skip" => {
                    let skip = value()?;
                    parsed.selection.skips.push(skip);
                }
                "--format" => {
                    let shape = value()?;
                    if let "markdown" | "paired" = shape.as_str() {
                        needs_reports(&format!("{name} {shape}"))?;
                    }
                    parsed.answer.format = Format::parse(&shape).map_err(about)?;
                }
                "--color" => parsed.answer.color = Color::parse(&value()?).map_err(about)?,
                "--time-unit" => {
                    let unit = value()?;
                    let known = TimeUnit::parse(&unit);
                    let known = known
                        .ok_or_else(|| about(format!("'{unit}' is not one of ns, us, ms, s")))?;
                    parsed.answer.time_unit = Some(known);
                }
                "--config" => parsed.source = RulesSource::Named(value()?.into()),
                "--no-config" => parsed.source = RulesSource::Nowhere,
                "--save" => parsed.save = Some(value()?.into()),
                "--export-hdr" | "--export-markdown" | "--html" | "--markdown" | "--junit" => {
                    parsed.files.ask(name, value()?)?;
                }
                // Options of libtest that have no effect in deadheat, but that cargo or a test
                // runner may pass.
                "--show-output" | "--report-time" | "--no-run" => {}
                "--test-threads" | "--logfile" | "-Z" => {
                    value()?;
                }
                _ => {
                    return Err(format!(
                        "unknown option {name}\nhelp: --help lists all options"
                    ));
                }
            }
        }
        parsed.mode = match (help, list, bench && !test) {
            (true, ..) => Mode::Help,
            (_, true, _) => Mode::List,
            (_, _, true) => Mode::Race,
            _ => Mode::Smoke,
        };
        parsed.asked.names = !parsed.selection.filters.is_empty();
        Ok(parsed)
    }

    /// Returns a copy of these arguments with the gate of `rules`, and with the filters of its file
    /// unless the command line selects benchmarks.
    pub(super) fn by(&self, rules: &Rules) -> Self {
        let mut by_rules = self.clone();
        by_rules.selection = rules.selection(self.selection.clone());
        by_rules.answer.gate = rules.gate();
        by_rules
    }
}

fn text(word: OsString) -> Result<String, String> {
    word.into_string()
        .map_err(|word| format!("'{}' is not UTF-8", word.to_string_lossy()))
}

fn named(setting: &Setting, word: &str) -> bool {
    word.strip_prefix("--") == Some(setting.name)
}

#[cfg(feature = "reports")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files {
    hdr: Option<PathBuf>,
    table: Option<PathBuf>,
    reports: ReportFiles,
}

#[cfg(feature = "reports")]
impl Files {
    pub(super) fn ask(&mut self, flag: &str, file: String) -> Result<(), String> {
        let file = Some(PathBuf::from(file));
        match flag {
            "--export-hdr" => self.hdr = file,
            "--export-markdown" => self.table = file,
            "--html" => self.reports.html = file,
            "--markdown" => self.reports.markdown = file,
            _ => self.reports.junit = file,
        }
        Ok(())
    }

    /// Checks before the race that all files can be written and that no two are the same.
    pub(super) fn check(&self, save: Option<&Path>) -> Result<(), Failure> {
        let save = save.map(|path| ("--save", path));
        let all: Vec<_> = save
            .into_iter()
            .chain(self.exports())
            .chain(self.reports.files())
            .collect();
        refuse_same_files(&all)?;
        for (flag, path) in self.exports() {
            check_file(flag, path, None)?;
        }
        self.reports.check(None)
    }

    pub(super) fn analysis_options(&self, answer: &Answer, run: &Run) -> Options {
        let benchmarks = run.header.plan.benchmarks.len();
        let options = answer.analysis_options();
        self.reports.analysis_options(options, benchmarks)
    }

    /// Writes these files, and prints the answer with their paths. Does not print the answer if a
    /// report is written to standard output.
    pub(super) fn answer(&self, raced: &Raced, answer: &Answer) -> Result<(), Failure> {
        let (run, analysis) = (&raced.first.run, &raced.analysis);
        for (flag, path) in self.exports() {
            if flag == "--export-hdr" {
                write_export(path, |out| write_hdr(run, histograms(run), out, path))
            } else {
                let figures = answer.figures;
                write_text(
                    path,
                    &to_markdown_with(analysis, &MarkdownOptions { figures }),
                )
            }
            .map_err(|error| Failure::writing(flag, error))?;
        }
        let written = self.reports.write(&run.header, analysis)?;
        let files = raced.files();
        self.reports
            .print_beside(answer, analysis, &files, &written)
    }

    fn exports(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        [
            ("--export-hdr", &self.hdr),
            ("--export-markdown", &self.table),
        ]
        .into_iter()
        .filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }
}

/// The report files in a build without the feature `reports`: always none.
#[cfg(not(feature = "reports"))]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files;

#[cfg(not(feature = "reports"))]
impl Files {
    pub(super) fn ask(&mut self, flag: &str, _: String) -> Result<(), String> {
        needs_reports(flag)
    }

    pub(super) fn check(&self, _: Option<&Path>) -> Result<(), Failure> {
        Ok(())
    }

    pub(super) fn analysis_options(&self, answer: &Answer, _: &Run) -> Options {
        answer.analysis_options()
    }

    pub(super) fn answer(&self, raced: &Raced, answer: &Answer) -> Result<(), Failure> {
        answer.print_with(&raced.analysis, &raced.files(), &[])
    }
}

/// Returns an error for an option that needs the feature `reports`, if this build lacks the
/// feature. The message names a command that has this option.
pub(super) fn needs_reports(flag: &str) -> Result<(), String> {
    if cfg!(feature = "reports") {
        return Ok(());
    }
    let writes_report = ["--html", "--markdown", "--junit"].contains(&flag);
    let command = if writes_report { "report" } else { "analyze" };
    Err(format!(
        "{flag}: these benchmarks were built without reports\nhelp: add features = [\"reports\"] \
         to the \
         dependency deadheat in Cargo.toml, or give {flag} to deadheat {command} RUN, where RUN \
         is the \
         recorded run"
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn cargo_bench_races_and_cargo_test_calls_everything_once() {
        assert_eq!(parse("--bench").unwrap().mode, Mode::Race);
        assert_eq!(parse("").unwrap().mode, Mode::Smoke);
        assert_eq!(parse("--bench --test").unwrap().mode, Mode::Smoke);
        assert_eq!(parse("--list --format terse").unwrap().mode, Mode::List);
    }

    #[test]
    fn names_are_selected_as_libtest_does() {
        let parsed = parse("sort --exact --skip rev hash --include-ignored --bench").unwrap();
        assert_eq!(parsed.selection.filters, ["sort", "hash"]);
        assert_eq!(parsed.selection.skips, ["rev"]);
        assert!(parsed.selection.exact);
        assert_eq!(parsed.selection.ignored, Ignored::In);
    }

    #[test]
    fn a_value_may_follow_after_a_blank_or_an_equals_sign() {
        for line in ["--margin 0.5% --budget 2s", "--margin=0.5% --budget=2s"] {
            let parsed = parse(line).unwrap();
            assert_eq!(parsed.asked.settings.margin, Some(0.005));
            assert_eq!(parsed.asked.settings.budget, Some(Duration::from_secs(2)));
        }
    }

    #[test]
    fn a_flag_that_a_file_may_say_can_be_denied_and_no_other() {
        let confirm = |line: &str| parse(line).map(|parsed| parsed.asked.settings.confirm);
        assert_eq!(confirm("--bench"), Ok(None));
        assert_eq!(confirm("--confirm x"), Ok(Some(true)));
        assert_eq!(confirm("--confirm=false"), Ok(Some(false)));
        let none = Err("--confirm: 'no' is neither true nor false".to_owned());
        assert_eq!(confirm("--confirm=no"), none);
        let takes_none = Err("--control takes no value".to_owned());
        assert_eq!(confirm("--control=false"), takes_none);
    }

    #[test]
    fn every_option_of_the_help_is_understood() {
        for line in help().lines() {
            let Some(option) = line.split_whitespace().find(|word| word.starts_with("--")) else {
                continue;
            };
            assert!(!line.starts_with('-'), "{line}");
            if !line.starts_with("  -") {
                continue;
            }
            let setting = Setting::of(Front::Harness).find(|one| named(one, option));
            let values: &[&str] = match (setting.map(|setting| setting.kind), option) {
                (Some(ValueKind::Flag), _) => &[""],
                (Some(ValueKind::Share(_)), _) => &[" 1%"],
                (Some(ValueKind::Count | ValueKind::Number), _) => &[" 7"],
                (Some(ValueKind::Time), _) => &[" 1s"],
                (Some(ValueKind::Verdicts), _) => &[" slower"],
                (Some(ValueKind::Text(_)), _) => &[" auto", " own", " x"],
                (None, "--color") => &[" auto"],
                (None, "--time-unit") => &[" ms"],
                (None, "--format") => &[" terse"],
                (
                    None,
                    "--skip" | "--config" | "--save" | "--export-hdr" | "--export-markdown"
                    | "--html" | "--markdown" | "--junit",
                ) => &[" x"],
                _ => &[""],
            };
            let mut tried = values
                .iter()
                .map(|value| parse(&format!("{option}{value}")));
            let parsed = tried.find_map(Result::ok).ok_or("no value is understood");
            let needs_reports = OF_REPORTS.iter().any(|one| one.starts_with(option));
            if needs_reports && cfg!(not(feature = "reports")) {
                continue;
            }
            assert!(parsed.is_ok(), "{option}: {parsed:?}");
        }
    }

    const OF_REPORTS: [&str; 9] = [
        "--figures",
        "--plot",
        "--html=x",
        "--markdown=x",
        "--junit=x",
        "--export-hdr=x",
        "--export-markdown=x",
        "--format=markdown",
        "--format=paired",
    ];

    #[test]
    fn a_build_without_reports_says_which_feature_has_them() {
        for asked in OF_REPORTS {
            let parsed = parse(asked);
            assert_eq!(parsed.is_ok(), cfg!(feature = "reports"), "{asked}");
            if let Err(error) = parsed {
                let flag = asked.split('=').next().unwrap();
                let advice = "features = [\"reports\"] to the dependency deadheat";
                assert!(error.starts_with(flag), "{error}");
                assert!(error.contains(advice), "{error}");
            }
        }
    }

    #[test]
    fn what_makes_no_sense_names_its_option() {
        for (line, named) in [
            ("--frobnicate", "--frobnicate"),
            ("--margin", "--margin"),
            ("--margin much", "--margin"),
            ("--blocks -1", "--blocks"),
            ("--format xml", "--format"),
            ("--exact=yes", "--exact"),
            ("--fail-on never", "--fail-on"),
            ("--placement mine", "--placement"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(named), "{line}: {error}");
        }
    }
}
