//! The arguments of `deadheat bisect`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser};
use deadheat::parts::answer::Format;
use deadheat::parts::exit::Failure;
use deadheat::parts::model::{HELP, Harness, fnv1a, positive_number};
use deadheat::parts::settings::FailOn;
use deadheat::parts::{PlanUse, ReportFiles, StartedFile, check_file};
use deadheat_build::{Parents, Recipe, refuse_tracked, tracked_files};
use deadheat_options::commit_command::CommitCommand;
use deadheat_options::commit_race::CommitRaceArgs;
use deadheat_options::repository::{ends, refuse_path, refuse_split_range};

use crate::log::{BisectEvent, BisectLimits, BisectLog, BisectPrior, MOST_RACES, is_worse};
use crate::log_store::{digest, latest_bisect_log, read_bisect_log};

/// Shown at the end of `deadheat bisect --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat bisect v1.0..HEAD
  deadheat bisect v1.0..HEAD parse --margin 2% -- --bench text
  deadheat bisect v1.0..main --build 'make bench' --exe build/bench --budget 20min
  deadheat bisect v1.0..main --build make --run './tool input.json'
  deadheat bisect --resume
  deadheat bisect --log";

/// The options that `deadheat bisect -h` shows.
pub const SHORT_HELP: [&str; 15] = [
    "run",
    "build",
    "exe",
    "go",
    "pytest",
    "bench",
    "prior",
    "max-races",
    "resume",
    "log",
    "margin",
    "budget",
    "verbose",
    "json",
    "html",
];

/// Options of races that a search refuses and that its help leaves out. The help also leaves out
/// all options whose names begin with `export-`.
pub const REFUSED: [&str; 9] = [
    "save", "list", "shard", "shard-by", "control", "confirm", "junit", "svg", "png",
];

/// The default limit on the races of a search.
const USUAL_RACES: u32 = 40;

/// Options of `deadheat bisect`.
#[derive(Debug, Args)]
pub struct BisectArgs {
    /// Two commits, the older one first; a commit after GOOD changed the time, for the worse or the
    /// better
    #[arg(
        value_name = "GOOD..BAD",
        required_unless_present_any = ["resume", "log"],
        conflicts_with_all = ["resume", "log"]
    )]
    range: Option<String>,

    /// The command that is raced instead of benchmarks.
    #[command(flatten)]
    pub(crate) run: CommitCommand,

    /// Search with the benchmark of this name [default: the benchmark that changed most]
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Which benchmarks",
        conflicts_with = "run_command"
    )]
    pub(crate) bench: Option<String>,
    /// Search along first parents: a merge counts as one commit [default]
    #[arg(long, help_heading = "Search", conflicts_with = "all_parents")]
    first_parent: bool,
    /// Search all commits, including those from merges
    #[arg(long, help_heading = "Search")]
    all_parents: bool,
    /// Probability of each commit before the first race: equal, or by the size of its diff
    #[arg(
        long,
        value_name = "PRIOR",
        default_value = "uniform",
        value_parser = prior(),
        help_heading = "Search"
    )]
    pub(crate) prior: BisectPrior,
    /// Run at most N races, 200 or fewer [default: 40]
    #[arg(long, value_name = "N", value_parser = max_races, help_heading = "Search")]
    max_races: Option<u32>,
    /// Continue a search that stopped [default: the last search here]
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        help_heading = "Search",
        conflicts_with = "log"
    )]
    pub(crate) resume: Option<Option<PathBuf>>,
    /// With --resume, run the builds and programs of a record that another user or machine wrote
    #[arg(long, help_heading = "Search", requires = "resume")]
    pub(crate) trust: bool,
    /// Print the steps of a search without racing [default: the last search here]
    #[arg(long, value_name = "FILE", num_args = 0..=1, help_heading = "Search")]
    pub(crate) log: Option<Option<PathBuf>>,

    #[command(flatten)]
    pub(crate) race: CommitRaceArgs,
}

fn max_races(text: &str) -> Result<u32, String> {
    let races = positive_number::<u32>(text)?;
    if races as usize > MOST_RACES {
        return Err(format!("a search has at most {MOST_RACES} races"));
    }
    Ok(races)
}

fn prior() -> impl TypedValueParser<Value = BisectPrior> {
    PossibleValuesParser::new(BisectPrior::ALL.map(BisectPrior::name)).try_map(|name| {
        let mut all = BisectPrior::ALL.into_iter();
        all.find(|prior| prior.name() == name)
            .ok_or("unknown prior")
    })
}

/// The command line of a search that is continued.
#[derive(Debug, Parser)]
#[command(name = "deadheat bisect")]
struct Words {
    #[command(flatten)]
    args: BisectArgs,
}

/// Returns the record that the user names as the value of `option`, or the latest one.
pub(crate) fn named_or_last(option: &str, file: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(file) = file.filter(|file| !file.exists()) {
        return Err(Failure::Data(format!(
            "the record {} does not exist{HELP}the word after {option} names the record of a search; \
             without a word, {option} takes the latest record; deadheat bisect GOOD..BAD, without \
             {option}, begins a search",
            file.display()
        )));
    }
    let last = || latest_bisect_log(Path::new(""));
    let file = file.map(Path::to_owned).or_else(last).ok_or_else(|| {
        Failure::Usage(
            "no search was found below .deadheat/bisect\nhelp: deadheat bisect GOOD..BAD begins a \
             search"
                .to_owned(),
        )
    })?;
    believed(&file)?;
    Ok(file)
}

/// Refuses a record below `.deadheat` that git tracks. Such a record came with a commit, and its
/// content would decide the search.
pub(crate) fn believed(file: &Path) -> Result<(), Failure> {
    refuse_tracked(file).map_err(|error| Failure::Usage(error.to_string()))
}

/// Returns the place of the range among the words of a search. Values of options may contain `..`
/// too, such as `--build 'make -C .. x'`.
pub(crate) fn place_of_range(words: &[String]) -> Option<usize> {
    let command = BisectArgs::augment_args(clap::Command::new("deadheat bisect"));
    let read = command.try_get_matches_from(words.iter().skip(1)).ok()?;
    let range = read.get_one::<String>("range")?;
    words.iter().position(|word| word == range)
}

impl BisectArgs {
    /// Returns the options with which the search of a record began. Rules, outputs and limits that
    /// the present command line states replace the recorded ones.
    pub(crate) fn taken_up(self, file: &Path) -> Result<Self, Failure> {
        let log = read_bisect_log(file).map_err(Failure::reading)?;
        // The search builds these commits, whatever range the command names.
        let commits = log.request.commits.iter().map(|commit| &*commit.id);
        let commits: Vec<&str> = commits.collect();
        let started = StartedFile {
            by: "--resume",
            file,
            digest: digest(&log.request),
            starts: vec![
                shell_words::join(&log.request.command),
                format!("the builds of {}", commits.join(" ")),
            ],
        };
        started.ensure_trusted(self.trust)?;
        // deadheat's list of its own files covers only the first line of a record, and not the
        // results of its races.
        let tracked = tracked_files(file).map_err(|error| Failure::Usage(error.to_string()))?;
        if !self.trust && !tracked.is_empty() {
            return Err(Failure::Usage(format!(
                "--resume {}: git tracks this record, so a commit may have changed what the search \
                 found{HELP}--trust resumes it",
                file.display()
            )));
        }
        let words = log.request.command;
        let unknown = || {
            Failure::Data(format!(
                "{} does not record the command line of its search",
                file.display()
            ))
        };
        let [_, command, words @ ..] = &words[..] else {
            return Err(unknown());
        };
        if command != "bisect" {
            return Err(unknown());
        }
        let name = "deadheat bisect".to_owned();
        let parsed = Words::try_parse_from(std::iter::once(&name).chain(words));
        let mut args = parsed.map_err(|_| unknown())?.args;
        let design = &self.race.options.design.0;
        args.race.options.design.0.budget = design.budget.or(args.race.options.design.0.budget);
        args.max_races = self.max_races.or(args.max_races);
        args.race.options.answer = self
            .race
            .options
            .answer
            .with_rules_of(args.race.options.answer);
        if !self.race.options.exports.reports().is_empty() {
            args.race.options.exports = self.race.options.exports;
        }
        args.race.options.quiet = self.race.options.quiet;
        Ok(args)
    }

    /// Reads the rules file and refuses options that a search does not have.
    pub(crate) fn settle(&mut self) -> Result<(), Failure> {
        let refused = |flag: &str, why: &str| Err(Failure::Usage(format!("{flag}: {why}")));
        if let Some(range) = &self.range {
            refuse_path(range, &self.race.filters, "a range of commits")?;
            refuse_split_range(range, &self.race.filters)?;
        }
        self.race.select();
        if let Some(name) = &self.bench {
            if !self.race.options.filters.is_empty() {
                return refused("--bench", "it names the benchmark, so no filter is needed");
            }
            self.race.options.only(name);
        }
        self.run.check(&self.race.options.filters)?;
        let design = &self.race.options.design.0;
        let many = "not possible here: a bisection runs many races, each with its own file";
        if self.race.options.save.is_some() {
            return refused("--save", many);
        }
        if self.race.options.list {
            return refused("--list", "deadheat rev lists the benchmarks of two commits");
        }
        if design.shard.is_some() {
            return refused("--shard", "a search runs on one host");
        }
        if design.control.is_some_and(|control| control) {
            return refused(
                "--control",
                "a search needs no control, because its races check one another",
            );
        }
        if design.confirm.is_some_and(|confirm| confirm) {
            return refused("--confirm", "the last race of a search confirms its answer");
        }
        let files = self.race.options.exports.reports();
        let shown = ReportFiles {
            html: None,
            markdown: None,
            ..files.clone()
        };
        let other = "a search writes only HTML and Markdown; the run file of each race has the \
                     rest";
        if let Some(flag) = shown.first_flag() {
            return refused(flag, other);
        }
        self.race.options.exports.refuse_exports(other)?;
        match self.race.options.answer.answer().format {
            Format::Text | Format::Terse | Format::Json | Format::Markdown => {}
            _ => {
                return refused(
                    "--format",
                    "the answer of a search is text, json or markdown",
                );
            }
        }
        for (flag, file) in [("--html", &files.html), ("--markdown", &files.markdown)] {
            if let Some(file) = file.as_deref().filter(|file| file.as_os_str() != "-") {
                check_file(flag, file, None)?;
            }
        }
        self.race.options.use_of_plan = PlanUse::Race;
        self.race.options.read_rules()
    }

    pub(crate) fn ends(&self) -> Result<(&str, &str), Failure> {
        ends(self.range.as_deref().unwrap_or_default(), "GOOD..BAD")
    }

    pub(crate) fn recipe(&self) -> Result<Recipe, Failure> {
        let build = self.race.recipe.build.as_deref();
        if let Some(recipe) = self.run.recipe(build, Vec::new()) {
            return Ok(recipe);
        }
        self.race.recipe()
    }

    pub(crate) fn parents(&self) -> Parents {
        if self.all_parents {
            Parents::All
        } else {
            Parents::First
        }
    }

    pub(crate) fn limits(&self) -> BisectLimits {
        BisectLimits {
            budget: self.race.options.rules.settings().budget,
            races: self.max_races.unwrap_or(USUAL_RACES),
            fails_on_slower: self.fails_on_slower(),
        }
    }

    fn fails_on_slower(&self) -> bool {
        let answer = &self.race.options.answer;
        answer.asks_to_fail_on(FailOn::Slower)
    }

    /// Refuses `--fail-on slower` for a search that began without this rule and uses a benchmark
    /// that became faster, although another one became slower.
    pub(crate) fn check_benchmark(&self, log: &BisectLog) -> Result<(), Failure> {
        let Some(chosen) = log.chosen().filter(|_| self.fails_on_slower()) else {
            return Ok(());
        };
        let first = log.events.iter().find_map(|event| match event {
            BisectEvent::Raced(raced) => Some(raced.effect),
            _ => None,
        });
        let first_is_worse = first.is_some_and(|effect| is_worse(log.judged(), effect));
        let metrics = chosen.metrics_of_called(&log.request.judged);
        let mut others = chosen.called.iter().zip(chosen.changes.iter().zip(metrics));
        match others.find(|(_, (change, metric))| is_worse(metric, **change)) {
            Some((slower, _)) if !chosen.is_slowdown && !first_is_worse => {
                Err(Failure::Usage(format!(
                    "--fail-on slower: the search is about '{}', but '{}' is slower{HELP}begin the \
                     search with --fail-on slower, so that it is about the largest slowdown",
                    chosen.benchmark, slower
                )))
            }
            _ => Ok(()),
        }
    }

    /// Returns the name of the record: both ends, and a hash of all options that change the
    /// question. `arguments` are those of the programs that race.
    pub(crate) fn record_name(
        &self,
        recipe: &Recipe,
        arguments: &[String],
        good: &str,
        bad: &str,
    ) -> String {
        let mut settings = self.race.options.rules.settings();
        settings.budget = None;
        let harness: Option<Harness> = self.race.options.harness;
        let question = format!(
            "{recipe:?} {arguments:?} {:?} {:?} {settings:?} {:?} {:?} {harness:?} {:?} {:?} {:?}",
            self.run.command,
            self.race.cargo,
            self.race.options.rules.some(),
            self.race.options.selection(),
            self.parents(),
            self.prior,
            self.bench
        );
        let short = |id: &str| id.get(..8).unwrap_or(id).to_owned();
        let number = fnv1a(question.bytes()) as u32;
        format!("{}-{}-{number:08x}", short(good), short(bad))
    }
}
