//! Options that several subcommands share, and what they mean: how a race is judged, how its answer is
//! printed, and the files that it is written to as well.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use deadheat::parts::analysis::histograms;
use deadheat::parts::answer::{Answer, Format};
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{
    GoogleSide, write_bmf, write_csv, write_export, write_go, write_google_benchmark, write_hdr,
    write_hyperfine, write_smaller_is_better, write_text,
};
use deadheat::parts::model::{Analysis, Better, Metric, Run, TextCells};
use deadheat::parts::report::{
    ComparisonOptions, MarkdownOptions, TimeUnit, to_comparison_markdown, to_markdown_with,
};
use deadheat::parts::rules::{CliOverrides, Gate, Rules, RulesSource};
use deadheat::parts::settings::{Color, FailOn, Front, RaceSettings, Setting, ValueKind};
use deadheat::parts::{Recorded, ReportFiles, check_file};

/// How the answer is printed and what it does to the exit code.
#[derive(Clone, Debug, Args)]
pub struct AnswerArgs {
    /// Every metric and every note, and not only what the verdict rests on
    #[arg(short = 'v', long, help_heading = "Answer")]
    verbose: bool,
    /// The shape of the answer [default: text]
    #[arg(
        long,
        value_name = "SHAPE",
        value_parser = format(),
        help_heading = "Answer",
        conflicts_with = "json"
    )]
    format: Option<Format>,
    /// Print the analysis as JSON, all there is to know (same as --format json)
    #[arg(long, help_heading = "Answer")]
    json: bool,
    /// Show the secondary figures too: they inform, they never decide
    #[arg(long, help_heading = "Answer")]
    figures: bool,
    /// Write names into CSV as they are, also those that a spreadsheet would run as formulas
    #[arg(long, help_heading = "Answer")]
    csv_exact: bool,
    /// Draw the two distributions and the differences in order of time
    #[arg(long, help_heading = "Answer")]
    plot: bool,
    /// Show all times of tables in this unit: ns, us, ms or s [default: what suits them]
    #[arg(long, value_name = "UNIT", value_parser = time_unit(), help_heading = "Answer")]
    pub time_unit: Option<TimeUnit>,
    #[command(flatten, next_help_heading = "Answer")]
    pub colors: ColorArgs,
    /// Verdicts that fail the run.
    #[command(flatten)]
    fails: SettingsArgs<{ Front::Answer as usize }>,
    /// Take margins, gates and excuses from this file [default: the nearest deadheat.toml upwards]
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    config: Option<PathBuf>,
    /// Take none from a file
    #[arg(long, help_heading = "Rules", conflicts_with = "config")]
    no_config: bool,
    /// What answers are held against, once the rules are read.
    #[arg(skip)]
    pub gate: Gate,
}

impl AnswerArgs {
    /// The rules of the file below those of the command line, which are the settings of a race and
    /// the verdicts that fail it. From then on answers are held against them.
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
        // The merge holds all parts against the rules; a scheduler would start a red one again.
        self.gate = match race.shard {
            Some(_) => Gate::default(),
            None => rules.gate(),
        };
        Ok(rules)
    }

    /// Returns true if the command line itself, and not a rules file, asks to fail on this.
    pub fn asks_to_fail_on(&self, condition: FailOn) -> bool {
        let asked = self.fails.0.fail_on.iter().flatten();
        asked.into_iter().any(|one| *one == condition)
    }

    /// The same with the rules that others asked for.
    pub fn with_rules_of(self, other: Self) -> Self {
        Self {
            config: other.config,
            no_config: other.no_config,
            ..self
        }
    }

    /// The answer these options ask for.
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

/// The choices of `--format`.
fn format() -> impl TypedValueParser<Value = Format> {
    let told = Format::ALL.iter().map(|(format, name, meaning)| {
        let value = PossibleValue::new(*name).help(*meaning);
        // libtest's word, which scripts for cargo bench know.
        match format {
            Format::Text => value.alias("pretty"),
            _ => value,
        }
    });
    PossibleValuesParser::new(told).try_map(|name| Format::parse(&name))
}

/// The choices of `--time-unit`.
fn time_unit() -> impl TypedValueParser<Value = TimeUnit> {
    let names = TimeUnit::ALL.map(|(name, _)| match name {
        "us" => PossibleValue::new(name).alias("µs"),
        _ => PossibleValue::new(name),
    });
    let parse = |name: String| TimeUnit::parse(&name).ok_or("no such unit");
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

/// A choice among values, each with its name and its meaning.
pub fn choice<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(T, &'static str, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    let told = all.map(|(_, name, meaning)| PossibleValue::new(name).help(meaning));
    PossibleValuesParser::new(told).try_map(move |given| {
        let found = all.iter().find(|(_, name, _)| *name == given);
        found
            .map(|(value, ..)| *value)
            .ok_or("there is no such value")
    })
}

/// The settings that one front takes, by its place among all: the options, their help and what they
/// set come from the table that a bench target and `deadheat.toml` use, too.
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
                // Each was read before, by the parser of its option.
                setting
                    .set(&mut self.0, text)
                    .map_err(|problem| clap::Error::raw(ErrorKind::ValueValidation, problem))?;
            }
        }
        Ok(())
    }
}

/// A setting as an option. Its value stays a text, of which the parser has seen that it makes sense.
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

/// Puts an `=` before the values of options that may have none: `-i3,4` stands for `-i=3,4`, as the
/// short form of a list of exit codes, `-S bash` for `--shell=bash`, and `--markdown a.md` for
/// `--markdown=a.md`. A command behind `-S` is left to be one, and so is a file behind `--markdown`
/// that may be a recording.
pub fn normalise(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let args: Vec<OsString> = args.collect();
    let has_shell = args
        .get(1)
        .is_some_and(|name| name == "run" || name == "explain");
    let prints_markdown = args
        .get(1)
        .is_some_and(|name| name == "explain" || name == "history");
    let is_comment = |word: &OsString| word.as_encoded_bytes().ends_with(b".md");
    let end = args.iter().position(|arg| arg == "--");
    let (ours, commands) = args.split_at(end.unwrap_or(args.len()));
    let mut ours = ours.iter().cloned().peekable();
    let mut normal = Vec::with_capacity(args.len());
    while let Some(arg) = ours.next() {
        let text = arg.to_str().unwrap_or_default();
        let codes = text.strip_prefix("-i").filter(|codes| {
            codes.starts_with(|c: char| c.is_ascii_digit())
                && codes.chars().all(|c| c.is_ascii_digit() || c == ',')
        });
        let attached = text
            .strip_prefix("-S")
            .filter(|shell| has_shell && !shell.starts_with('='));
        normal.push(match (codes, attached) {
            (Some(codes), _) => format!("-i={codes}").into(),
            (_, Some(shell)) if !shell.is_empty() => format!("--shell={shell}").into(),
            _ if has_shell && (text == "-S" || text == "--shell") => {
                // Commands stand behind the --, if there is one.
                let is_shell = |word: &OsString| {
                    let word = word.to_str().unwrap_or_default();
                    !word.starts_with('-') && (end.is_some() || names_shell(word))
                };
                let mut option = OsString::from("--shell");
                if let Some(shell) = ours.next_if(is_shell) {
                    option.push("=");
                    option.push(shell);
                }
                option
            }
            _ if text == "--markdown" && !prints_markdown => {
                let mut option = arg;
                if let Some(file) = ours.next_if(is_comment) {
                    option.push("=");
                    option.push(file);
                }
                option
            }
            _ => arg,
        });
    }
    normal.extend_from_slice(commands);
    normal
}

/// Returns true if a text is that of a shell with options of its own, and no command.
fn names_shell(text: &str) -> bool {
    const SHELLS: [&str; 18] = [
        "none", "default", "sh", "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh",
        "nu", "osh", "pwsh", "tcsh", "xonsh", "yash", "zsh",
    ];
    let mut words = text.split_ascii_whitespace();
    let name = words.next().and_then(|program| program.rsplit('/').next());
    name.is_some_and(|name| SHELLS.contains(&name))
        && words.all(|word| word.starts_with(['-', '+']) && word != "-c")
}

/// Which files to write.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Write summaries and all times as JSON for tools that read hyperfine's
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_json: Option<PathBuf>,
    /// Write every sample as tidy CSV, a row each (--format csv prints a row per comparison)
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_csv: Option<PathBuf>,
    /// Write the wall times as an HDR histogram log
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_hdr: Option<PathBuf>,
    /// Write a Markdown table alone, for a document (--markdown writes a comment)
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

/// The line about benchmarks that a format cannot hold; `None` where it holds all.
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
            let rates = comparisons.filter(|one| one.metric.better() != Better::Less);
            (rates.count(), "of which less is not better")
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
    /// Finds out beforehand whether the results can be written, and that none
    /// would replace the recording they come from.
    pub fn check(&self, recording: Option<&Path>) -> Result<(), Failure> {
        self.reports.files().check(recording)?;
        for (flag, path, _) in self.given() {
            check_file(flag, path, recording)?;
        }
        Ok(())
    }

    /// An exported file holds one run, so there can be no more than one.
    pub fn check_for_one(&self, recordings: usize) -> Result<(), Failure> {
        let flag = self.given().next().map(|(flag, ..)| flag);
        match flag.or(self.reports.files().first_flag()) {
            Some(flag) if recordings > 1 => Err(Failure::Usage(format!(
                "{flag}: a file holds one run, and {recordings} are to be analysed\nhelp: take them one \
                 by one"
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses all files but the reports.
    pub fn refuse_exports(&self, why: &str) -> Result<(), Failure> {
        match self.given().next() {
            Some((flag, ..)) => Err(Failure::Usage(format!("{flag}: {why}"))),
            None => Ok(()),
        }
    }

    /// Refuses all files, where there is no answer to write.
    pub fn refuse(&self, why: &str) -> Result<(), Failure> {
        let flag = self.given().next().map(|(flag, ..)| flag);
        match flag.or(self.reports.files().first_flag()) {
            Some(flag) => Err(Failure::Usage(format!("{flag}: {why}"))),
            None => Ok(()),
        }
    }

    /// Opens a recording: with all its samples where one of the files needs them; else they are read
    /// as they are analysed.
    pub fn open<'a>(&self, recording: &Path, rules: &'a Rules) -> Result<Recorded<'a>, Failure> {
        if self.need_samples() {
            Recorded::read(recording, rules)
        } else {
            Recorded::open(recording, rules)
        }
    }

    /// Returns true if one of the files needs the samples, and not the answer alone.
    pub fn need_samples(&self) -> bool {
        self.given().any(|(_, _, shape)| match shape {
            Shape::Hyperfine | Shape::Csv | Shape::Hdr | Shape::GoogleBenchmark(_) | Shape::Go => {
                true
            }
            Shape::Markdown | Shape::SmallerIsBetter | Shape::Bmf => false,
        })
    }

    /// The reports beside the answer.
    pub fn reports(&self) -> ReportFiles {
        self.reports.files()
    }

    /// Writes what was asked for, as the answer is, and says where the reports
    /// are.
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
                Shape::Hdr => write_export(path, |out| write_hdr(run, &histograms(run), out, path)),
                Shape::GoogleBenchmark(side) => {
                    write_export(path, |out| write_google_benchmark(run, side, out, path))
                }
                Shape::Go => write_export(path, |out| write_go(run, out, path)),
                Shape::SmallerIsBetter => {
                    write_export(path, |out| write_smaller_is_better(analysis, out, path))
                }
                Shape::Bmf => write_export(path, |out| write_bmf(analysis, out, path)),
            };
            // The other files are written all the same.
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

/// Which reports to write beside the answer.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Write a page with every plot, figure and warning: one file, nothing loaded
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    html: Option<PathBuf>,
    /// Write a comment for a pull request, in Markdown: the table, the gate, all else folded
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
    /// Write test cases as CI services read them; broken rules are failures
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    junit: Option<PathBuf>,
    /// Write every plot as a picture into this folder
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    svg: Option<PathBuf>,
    /// The same, made of pixels (where deadheat was built with the feature png)
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    png: Option<PathBuf>,
}

impl ReportArgs {
    /// The files these flags ask for.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_may_follow_the_short_flag_directly() {
        let args = ["-i3,4", "-i", "--", "-i5"].map(OsString::from);
        let normal = normalise(args.into_iter());
        assert_eq!(normal, ["-i=3,4", "-i", "--", "-i5"].map(OsString::from));
    }

    #[test]
    fn a_page_may_follow_the_option_for_markdown_and_a_recording_is_left_alone() {
        for (line, expected) in [
            ("analyze --markdown a.jsonl", "analyze --markdown a.jsonl"),
            (
                "report a.jsonl --markdown a.md",
                "report a.jsonl --markdown=a.md",
            ),
            ("run --markdown -- ./a.md b", "run --markdown -- ./a.md b"),
            ("explain --markdown a.md", "explain --markdown a.md"),
        ] {
            let words = format!("deadheat {line}");
            let normal = normalise(words.split(' ').map(OsString::from));
            let expected = format!("deadheat {expected}");
            assert_eq!(
                normal.join(std::ffi::OsStr::new(" ")),
                OsString::from(expected)
            );
        }
    }

    #[test]
    fn a_shell_may_follow_its_option_and_a_command_is_left_to_be_one() {
        let normal = |line: &[&str]| {
            let words = ["deadheat", "run"].iter().chain(line).map(OsString::from);
            let words = normalise(words).into_iter().skip(2);
            let words: Vec<String> = words.map(|word| word.into_string().unwrap()).collect();
            words.join(" ")
        };
        for (line, expected) in [
            (&["-S", "a | b", "c"][..], "--shell a | b c"),
            (
                &["-S", "bash x.sh", "bash y.sh"],
                "--shell bash x.sh bash y.sh",
            ),
            (&["-S", "bash -c x", "c"], "--shell bash -c x c"),
            (
                &["--shell", "/bin/bash --norc", "c"],
                "--shell=/bin/bash --norc c",
            ),
            (&["-S", "none", "c"], "--shell=none c"),
            (&["-S", "./mine", "--", "c"], "--shell=./mine -- c"),
            (&["-S", "--", "c"], "--shell -- c"),
            (&["-S", "-r", "2", "c"], "--shell -r 2 c"),
            (&["-Szsh", "c"], "--shell=zsh c"),
            (&["-S=zsh", "c"], "-S=zsh c"),
            (&["--", "-S", "c"], "-- -S c"),
            (&["-S"], "--shell"),
        ] {
            assert_eq!(normal(line), expected);
        }
    }
}
