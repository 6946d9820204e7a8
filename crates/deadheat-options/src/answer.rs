//! Options of answers: how a race is judged, how its answer is printed, and the files that the
//! answer is also written to.

use std::path::{Path, PathBuf, is_separator};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use deadheat::parts::analysis::histograms;
use deadheat::parts::answer::{Answer, Format};
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{write_export, write_hdr, write_text};
use deadheat::parts::model::{Analysis, Better, HELP, Metric, Run, TextCells};
use deadheat::parts::report::{
    ComparisonOptions, MarkdownOptions, TimeUnit, to_comparison_markdown, to_markdown_with,
};
use deadheat::parts::rules::{CliOverrides, Gate, Rules, RulesSource};
use deadheat::parts::settings::{Color, FailOn, Front, RaceSettings, Setting, ValueKind};
use deadheat::parts::system::find_executable;
use deadheat::parts::{ReportFiles, check_file};
use deadheat_import::{
    GoogleSide, Recorded, write_bmf, write_csv, write_go, write_google_benchmark, write_hyperfine,
    write_smaller_is_better,
};

/// The format of the answer and its effect on the exit code.
#[derive(Clone, Debug, Args)]
pub struct AnswerArgs {
    /// Show every metric and note
    #[arg(short = 'v', long, help_heading = "Answer")]
    verbose: bool,
    /// The format of the answer [default: text]
    #[arg(
        long,
        value_name = "SHAPE",
        value_parser = format(),
        help_heading = "Answer",
        conflicts_with = "json"
    )]
    format: Option<Format>,
    /// Print everything as JSON (same as --format json)
    #[arg(long, help_heading = "Answer")]
    json: bool,
    /// Show secondary figures, which never decide a verdict
    #[arg(long, help_heading = "Answer")]
    figures: bool,
    /// Write names into CSV unchanged, even if a spreadsheet would run them as formulas
    #[arg(long, help_heading = "Answer")]
    csv_exact: bool,
    /// Draw the two distributions and the differences in order of time
    #[arg(long, help_heading = "Answer")]
    plot: bool,
    /// Show all times of tables in this unit: ns, us, ms or s [default: by their size]
    #[arg(long, value_name = "UNIT", value_parser = time_unit(), help_heading = "Answer")]
    pub time_unit: Option<TimeUnit>,
    /// The colours.
    #[command(flatten, next_help_heading = "Answer")]
    pub colors: ColorArgs,
    /// Verdicts that fail the run.
    #[command(flatten)]
    fails: SettingsArgs<{ Front::Answer as usize }>,
    /// Read margins, gates and excuses from this file [default: the nearest deadheat.toml here or
    /// above]
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    config: Option<PathBuf>,
    /// Read no deadheat.toml
    #[arg(long, help_heading = "Rules", conflicts_with = "config")]
    no_config: bool,
    /// The rules that answers are checked against, after the rules file is read.
    #[arg(skip)]
    pub gate: Gate,
    /// A hint for the user about `--confirm`; set when the rules file is read.
    #[arg(skip)]
    pub(crate) hint: Option<String>,
}

impl AnswerArgs {
    /// Reads the rules of the command line and of the rules file; those of the command line take
    /// precedence. `race` has the settings of the race. Later answers are checked against these
    /// rules, unless the race is a part of a distributed race.
    pub fn read_rules(
        &mut self,
        race: &RaceSettings,
        asked: CliOverrides,
    ) -> Result<Rules, Failure> {
        let source = match (&self.config, self.no_config) {
            (Some(path), _) => RulesSource::Named(path.clone()),
            (None, true) => RulesSource::Nowhere,
            (None, false) => RulesSource::Nearest,
        };
        let asked = CliOverrides {
            settings: self.fails.0.clone().or(race),
            ..asked
        };
        let rules = Rules::read(asked, &source)?;
        // Rules do not apply to a part of a race: the merge checks all parts together, and a
        // scheduler would restart a part that fails.
        self.gate = match race.shard {
            Some(_) => Gate::default(),
            None => rules.gate(),
        };
        self.hint = rules.hint_about_confirm();
        Ok(rules)
    }

    /// Returns true if the command line itself, and not a rules file, asks to fail on `condition`.
    pub fn asks_to_fail_on(&self, condition: FailOn) -> bool {
        let asked = self.fails.0.fail_on.iter().flatten();
        asked.into_iter().any(|one| *one == condition)
    }

    /// Returns the name of an option of the gate that the command line contains, if any.
    pub fn gate_flag(&self) -> Option<&'static str> {
        let fails = &self.fails.0;
        let fail_on = fails.fail_on.as_ref().map(|_| "--fail-on");
        fail_on.or_else(|| fails.allow_unjudged.map(|_| "--allow-unjudged"))
    }

    /// Returns these options with the rules file that `other` names.
    pub fn with_rules_of(self, other: Self) -> Self {
        Self {
            config: other.config,
            no_config: other.no_config,
            ..self
        }
    }

    /// Returns the settings of the answer.
    pub fn answer(&self) -> Answer {
        Answer {
            format: match (self.json, self.format) {
                (true, _) => Format::Json,
                (false, given) => given.unwrap_or_default(),
            },
            verbose: self.verbose,
            figures: self.figures,
            plot: self.plot,
            time_unit: self.time_unit,
            color: self.colors.color,
            gate: self.gate.clone(),
            cells: if self.csv_exact {
                TextCells::Exact
            } else {
                TextCells::Guarded
            },
        }
    }
}

fn format() -> impl TypedValueParser<Value = Format> {
    let told = Format::ALL.iter().map(|(format, name, meaning)| {
        let value = PossibleValue::new(*name).help(*meaning);
        // `pretty` is libtest's word for text, which scripts for cargo bench use.
        match format {
            Format::Text => value.alias("pretty"),
            _ => value,
        }
    });
    PossibleValuesParser::new(told).try_map(|name| Format::parse(&name))
}

fn time_unit() -> impl TypedValueParser<Value = TimeUnit> {
    let names = TimeUnit::ALL.map(|(name, _)| match name {
        "us" => PossibleValue::new(name).alias("µs"),
        _ => PossibleValue::new(name),
    });
    let parse = |name: String| TimeUnit::parse(&name).ok_or("unknown unit");
    PossibleValuesParser::new(names).try_map(parse)
}

/// The colours of an answer.
#[derive(Clone, Copy, Debug, Args)]
pub struct ColorArgs {
    /// When to colour the answer
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = choice(Color::ALL))]
    pub color: Color,
}

/// The shape of an answer: text, in colour or not, or JSON in its place.
#[derive(Clone, Copy, Debug, Args)]
pub struct ShapeArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    colors: ColorArgs,
}

impl ShapeArgs {
    /// Returns true if text is coloured.
    pub fn in_color(self) -> bool {
        self.colors.color.applies()
    }
}

/// Returns a parser for one of several values, each with its name and its meaning.
pub fn choice<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(T, &'static str, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    let told = all.map(|(_, name, meaning)| PossibleValue::new(name).help(meaning));
    PossibleValuesParser::new(told).try_map(move |given| {
        let found = all.iter().find(|(_, name, _)| *name == given);
        found
            .map(|(value, ..)| *value)
            .ok_or("no value has this name")
    })
}

/// Command-line options for the settings of a race. `FRONT` is the index in `Front::ALL` of the
/// front end that has the options, such as `deadheat run`. The options, their help and their effect
/// come from a table that bench targets and `deadheat.toml` use, too.
#[derive(Clone, Debug, Default)]
pub struct SettingsArgs<const FRONT: usize>(pub RaceSettings);

impl<const FRONT: usize> Args for SettingsArgs<FRONT> {
    fn augment_args(command: Command) -> Command {
        let front = Front::ALL[FRONT];
        command.args(Setting::of(front).map(|setting| option(setting, front)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const FRONT: usize> FromArgMatches for SettingsArgs<FRONT> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut read = Self::default();
        read.update_from_arg_matches(matches)?;
        Ok(read)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in Setting::of(Front::ALL[FRONT]) {
            let given: Vec<&str> = match setting.kind {
                ValueKind::Flag if !setting.can_be_denied() => {
                    let is_set = matches.get_flag(setting.name);
                    is_set.then_some("true").into_iter().collect()
                }
                _ => {
                    let given = matches.get_many::<String>(setting.name);
                    given.into_iter().flatten().map(String::as_str).collect()
                }
            };
            for text in given {
                // The parser of the option has already accepted this text.
                setting
                    .set(&mut self.0, text)
                    .map_err(|problem| clap::Error::raw(ErrorKind::ValueValidation, problem))?;
            }
        }
        Ok(())
    }
}

/// Returns the option for a setting. Its value stays text, which the parser of the option has
/// checked.
fn option(setting: &'static Setting, front: Front) -> Arg {
    let option = Arg::new(setting.name)
        .long(setting.name)
        .help(setting.help(front));
    let option = match front {
        Front::Recording => option,
        Front::Answer => option.help_heading("Answer"),
        _ => option.help_heading("Design"),
    };
    if let ValueKind::Flag = setting.kind {
        return match setting.can_be_denied() {
            false => option.action(ArgAction::SetTrue),
            true => option
                .value_name("BOOL")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(parser(setting)),
        };
    }
    let option = option.value_name(setting.value);
    match setting.kind {
        ValueKind::Verdicts => option
            .value_parser(PossibleValuesParser::new(FailOn::ALL.map(|verdict| {
                PossibleValue::new(verdict.name()).help(verdict.meaning())
            })))
            .action(ArgAction::Append)
            .value_delimiter(','),
        ValueKind::Share(_) => option
            .value_parser(parser(setting))
            .allow_hyphen_values(true),
        _ => option.value_parser(parser(setting)),
    }
}

fn parser(
    setting: &'static Setting,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    |text| {
        setting.set(&mut RaceSettings::default(), text)?;
        Ok(text.to_owned())
    }
}

/// Which files to write.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Write summaries and all times as JSON for tools that read hyperfine's
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_json: Option<PathBuf>,
    /// Write tidy CSV with one row per sample (--format csv prints one row per comparison)
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_csv: Option<PathBuf>,
    /// Write the wall times as an HDR histogram log
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_hdr: Option<PathBuf>,
    /// Write the answer as a Markdown table, for a document (--markdown writes a comment)
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_markdown: Option<PathBuf>,
    /// Write the candidate as JSON for tools that read Google Benchmark's, such as compare.py
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_google_benchmark: Option<PathBuf>,
    /// Write the baseline as JSON for tools that read Google Benchmark's
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_google_baseline: Option<PathBuf>,
    /// Write every sample as Go's benchmarks print them, for benchstat
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_go: Option<PathBuf>,
    /// Write the candidate for github-action-benchmark's customSmallerIsBetter
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_smaller_is_better: Option<PathBuf>,
    /// Write the candidate in the Bencher Metric Format
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_bmf: Option<PathBuf>,
    #[command(flatten)]
    reports: ReportArgs,
}

/// Returns a line about the benchmarks that the format of the option `flag` cannot hold, or `None`
/// if it can hold all of them.
fn left_out(flag: &str, shape: Shape, run: &Run, analysis: &Analysis) -> Option<String> {
    let (count, why) = match shape {
        Shape::Hyperfine | Shape::Hdr | Shape::GoogleBenchmark(_) => {
            let benchmarks = run.benchmarks.iter();
            let timeless = benchmarks.filter(|samples| {
                !samples.blocks().is_empty() && samples.column(&Metric::Wall).is_none()
            });
            (timeless.count(), "without wall times")
        }
        Shape::SmallerIsBetter => {
            let comparisons = analysis.comparisons.iter();
            let rates = comparisons.filter(|one| one.terms.metric.better() != Better::Less);
            (rates.count(), "whose metric is better if larger")
        }
        Shape::Csv | Shape::Markdown | Shape::Go | Shape::Bmf => return None,
    };
    let them = if count == 1 {
        "benchmark"
    } else {
        "benchmarks"
    };
    (count > 0).then(|| format!("{flag} leaves out {count} {them} {why}"))
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Hyperfine,
    Csv,
    Hdr,
    Markdown,
    GoogleBenchmark(GoogleSide),
    Go,
    SmallerIsBetter,
    Bmf,
}

impl ExportArgs {
    /// Checks in advance that every output file can be written and that none replaces the
    /// recording.
    pub fn check(&self, recording: Option<&Path>) -> Result<(), Failure> {
        let reports = self.reports.files();
        let exports = self.given().map(|(flag, path, _)| (flag, path));
        // Only the command line of a race has commands.
        if recording.is_none() {
            for (flag, path) in reports.paths().chain(exports) {
                refuse_command(flag, path)?;
            }
        }
        reports.check(recording)?;
        for (flag, path, _) in self.given() {
            check_file(flag, path, recording)?;
        }
        Ok(())
    }

    /// Refuses output files for several recordings, because each file holds one run.
    pub fn check_for_one(&self, recordings: usize) -> Result<(), Failure> {
        let flag = self.given().next().map(|(flag, ..)| flag);
        match flag.or(self.reports.files().first_flag()) {
            Some(flag) if recordings > 1 => Err(Failure::Usage(format!(
                "{flag}: a file holds one run, but {recordings} were given\nhelp: analyse them \
                 one by \
                 one"
            ))),
            _ => Ok(()),
        }
    }

    /// Fails if the user requested an output file other than a report. `why` is the reason in the
    /// error message.
    pub fn refuse_exports(&self, why: &str) -> Result<(), Failure> {
        match self.given().next() {
            Some((flag, ..)) => Err(Failure::Usage(format!("{flag}: {why}"))),
            None => Ok(()),
        }
    }

    /// Fails if the user requested any output file, for a command that has no answer to write.
    /// `why` is the reason in the error message.
    pub fn refuse(&self, why: &str) -> Result<(), Failure> {
        let flag = self.given().next().map(|(flag, ..)| flag);
        match flag.or(self.reports.files().first_flag()) {
            Some(flag) => Err(Failure::Usage(format!("{flag}: {why}"))),
            None => Ok(()),
        }
    }

    /// Opens a recording. Reads all its samples now if an output file needs them, and otherwise
    /// during the analysis.
    pub fn open<'a>(&self, recording: &Path, rules: &'a Rules) -> Result<Recorded<'a>, Failure> {
        if self.need_samples() {
            Recorded::read(recording, rules)
        } else {
            Recorded::open(recording, rules)
        }
    }

    /// Returns true if an output file needs the samples, and not only the analysis.
    pub fn need_samples(&self) -> bool {
        self.given().any(|(_, _, shape)| match shape {
            Shape::Hyperfine | Shape::Csv | Shape::Hdr | Shape::GoogleBenchmark(_) | Shape::Go => {
                true
            }
            Shape::Markdown | Shape::SmallerIsBetter | Shape::Bmf => false,
        })
    }

    /// Returns the report files.
    pub fn reports(&self) -> ReportFiles {
        self.reports.files()
    }

    /// Writes the requested files. Returns lines about the reports and about benchmarks that a
    /// format could not hold.
    pub fn write(
        &self,
        run: &Run,
        analysis: &Analysis,
        answer: &Answer,
    ) -> Result<Vec<String>, Failure> {
        let figures = answer.figures;
        let mut failed = None;
        for (flag, path, shape) in self.given() {
            let written = match shape {
                Shape::Markdown => {
                    let text = if analysis.sides.is_empty() {
                        to_markdown_with(analysis, &MarkdownOptions { figures })
                    } else {
                        // Saved results: a row per benchmark.
                        let options = ComparisonOptions {
                            figures,
                            ..ComparisonOptions::default()
                        };
                        to_comparison_markdown(analysis, &options)
                    };
                    write_text(path, &text)
                }
                Shape::Hyperfine => write_export(path, |out| write_hyperfine(run, out, path)),
                Shape::Csv => write_export(path, |out| write_csv(run, out, path, answer.cells)),
                Shape::Hdr => write_export(path, |out| write_hdr(run, histograms(run), out, path)),
                Shape::GoogleBenchmark(side) => {
                    write_export(path, |out| write_google_benchmark(run, side, out, path))
                }
                Shape::Go => write_export(path, |out| write_go(run, out, path)),
                Shape::SmallerIsBetter => {
                    write_export(path, |out| write_smaller_is_better(analysis, out, path))
                }
                Shape::Bmf => write_export(path, |out| write_bmf(analysis, out, path)),
            };
            // A failure does not keep the other files from being written.
            if let Err(error) = written {
                failed.get_or_insert_with(|| Failure::unexported(flag, &error));
            }
        }
        let mut lines = self.reports().write(&run.header, analysis)?;
        lines.extend(
            self.given()
                .filter_map(|(flag, _, shape)| left_out(flag, shape, run, analysis)),
        );
        match failed {
            Some(failure) => Err(failure),
            None => Ok(lines),
        }
    }

    fn given(&self) -> impl Iterator<Item = (&'static str, &Path, Shape)> {
        [
            ("--export-json", &self.export_json, Shape::Hyperfine),
            ("--export-csv", &self.export_csv, Shape::Csv),
            ("--export-hdr", &self.export_hdr, Shape::Hdr),
            ("--export-markdown", &self.export_markdown, Shape::Markdown),
            (
                "--export-google-benchmark",
                &self.export_google_benchmark,
                Shape::GoogleBenchmark(GoogleSide::Candidate),
            ),
            (
                "--export-google-baseline",
                &self.export_google_baseline,
                Shape::GoogleBenchmark(GoogleSide::Baseline),
            ),
            ("--export-go", &self.export_go, Shape::Go),
            (
                "--export-smaller-is-better",
                &self.export_smaller_is_better,
                Shape::SmallerIsBetter,
            ),
            ("--export-bmf", &self.export_bmf, Shape::Bmf),
        ]
        .into_iter()
        .filter_map(|(flag, path, shape)| Some((flag, path.as_deref()?, shape)))
    }
}

/// Refuses the name of a command as an output file: `--html true 'true 1'` would write a page over
/// the first command and measure only the second. The user can write such a file as `./true`.
fn refuse_command(flag: &str, path: &Path) -> Result<(), Failure> {
    let Some(text) = path.to_str() else {
        return Ok(());
    };
    let first_word = text.split_whitespace().next().unwrap_or_default();
    let is_plain_name = path.extension().is_none() && !text.contains(is_separator);
    let is_command = (is_plain_name || first_word != text) && find_executable(first_word).is_some();
    if is_command {
        return Err(Failure::Usage(format!(
            "{flag} takes a file, and '{text}' is a command{HELP}write {flag} FILE '{text}', or \
             ./{text} for a file of this name"
        )));
    }
    Ok(())
}

/// Which reports to write next to the answer.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Write an HTML page with every plot, figure and warning; it is one file and loads no others
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    html: Option<PathBuf>,
    /// Write a comment for a pull request, in Markdown: the table and the gate, details folded
    /// [without =FILE: print it instead of the answer]
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-",
        help_heading = "Reports"
    )]
    markdown: Option<PathBuf>,
    /// Write JUnit XML for CI services, a test case per benchmark; broken rules are failures
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    junit: Option<PathBuf>,
    /// Write every plot as an SVG picture into this folder
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    svg: Option<PathBuf>,
    /// Write every plot as a PNG picture into this folder (if deadheat was built with the feature png)
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    png: Option<PathBuf>,
}

impl ReportArgs {
    /// Returns the report files that these options name.
    pub fn files(&self) -> ReportFiles {
        ReportFiles {
            html: self.html.clone(),
            markdown: self.markdown.clone(),
            junit: self.junit.clone(),
            svg: self.svg.clone(),
            png: self.png.clone(),
        }
    }
}
