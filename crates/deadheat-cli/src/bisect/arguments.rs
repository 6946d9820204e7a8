//! The command line of `deadheat bisect`, and what it asks for.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser};
use deadheat::parts::answer::Format;
use deadheat::parts::bisect::{BisectLimits, BisectPrior};
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{latest_bisect_log, read_bisect_log};
use deadheat::parts::model::{Harness, fnv1a, whole_number};
use deadheat::parts::{PlanUse, ReportFiles, check_file};
use deadheat_build::{CommandBuild, Parents, Recipe};

use crate::repository::ends;
use crate::rev::CommitRaceArgs;

/// Shown at the end of `deadheat bisect --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat bisect v1.0..HEAD
  deadheat bisect v1.0..HEAD parse --margin 2% -- --bench text
  deadheat bisect v1.0..main --build 'make bench' --exe build/bench --budget 20min
  deadheat bisect v1.0..main --build make --run './tool input.json'
  deadheat bisect --resume
  deadheat bisect --log";

/// Races of a search at most, where nobody says.
const MOST_RACES: u32 = 40;

/// Options of `deadheat bisect`.
#[derive(Debug, Args)]
pub struct BisectArgs {
    /// Two commits, the older one first: the time changed at one of those after GOOD, for the worse
    /// or the better
    #[arg(
        value_name = "GOOD..BAD",
        required_unless_present_any = ["resume", "log"],
        conflicts_with_all = ["resume", "log"]
    )]
    range: Option<String>,

    /// Race this command, in the folder of each commit, once --build has run there; without a shell
    #[arg(
        long,
        value_name = "CMD",
        help_heading = "Build",
        conflicts_with_all = ["exe", "go", "pytest", "cargo"]
    )]
    pub run: Option<String>,

    /// Search by the benchmark of this name [default: the one that changed most]
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Which benchmarks",
        conflicts_with = "run"
    )]
    pub bench: Option<String>,
    /// Search along first parents: a merge counts as one commit [default]
    #[arg(long, help_heading = "Search", conflicts_with = "all_parents")]
    first_parent: bool,
    /// Search all commits, those that came by merges as well
    #[arg(long, help_heading = "Search")]
    all_parents: bool,
    /// How likely each commit is before anything is raced: alike, or by the size of its diff
    #[arg(
        long,
        value_name = "PRIOR",
        default_value = "uniform",
        value_parser = prior(),
        help_heading = "Search"
    )]
    pub prior: BisectPrior,
    /// Have no more races than so many [default: 40]
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>, help_heading = "Search")]
    max_races: Option<u32>,
    /// Go on with a search that stopped [default: the last one here]
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        help_heading = "Search",
        conflicts_with = "log"
    )]
    pub resume: Option<Option<PathBuf>>,
    /// Tell the story of a search, and race nothing [default: the last one here]
    #[arg(long, value_name = "FILE", num_args = 0..=1, help_heading = "Search")]
    pub log: Option<Option<PathBuf>>,

    #[command(flatten)]
    pub race: CommitRaceArgs,
}

/// The choices of `--prior`.
fn prior() -> impl TypedValueParser<Value = BisectPrior> {
    PossibleValuesParser::new(BisectPrior::ALL.map(BisectPrior::name)).try_map(|name| {
        let mut all = BisectPrior::ALL.into_iter();
        all.find(|prior| prior.name() == name)
            .ok_or("there is no such prior")
    })
}

/// The words of a search that is taken up again.
#[derive(Debug, Parser)]
#[command(name = "deadheat bisect")]
struct Words {
    #[command(flatten)]
    args: BisectArgs,
}

/// The record that is meant where none is named.
pub fn named_or_last(file: Option<&Path>) -> Result<PathBuf, Failure> {
    let last = || latest_bisect_log(Path::new(""));
    file.map(Path::to_owned).or_else(last).ok_or_else(|| {
        Failure::Usage(
            "there is no search below .deadheat/bisect here\nhelp: name the file of one".to_owned(),
        )
    })
}

impl BisectArgs {
    /// The options of a search as it was asked for first, with what is asked for now of its answer
    /// and limits.
    pub fn taken_up(self, file: &Path) -> Result<Self, Failure> {
        let log = read_bisect_log(file).map_err(Failure::reading)?;
        let words = log.request.command;
        let unknown = || {
            Failure::Data(format!(
                "{} does not say by which words it was begun",
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

    /// Reads the rules file and refuses what makes no sense for a search.
    pub fn settle(&mut self) -> Result<(), Failure> {
        let refused = |flag: &str, why: &str| Err(Failure::Usage(format!("{flag}: {why}")));
        self.race.select();
        if let Some(name) = &self.bench {
            if !self.race.options.filters.is_empty() {
                return refused("--bench", "it names the benchmark, so no filter is needed");
            }
            self.race.options.only(name);
        }
        let design = &self.race.options.design.0;
        let many = "a search has many races, and each has a file of its own";
        if self.race.options.save.is_some() {
            return refused("--save", many);
        }
        if self.race.options.list {
            return refused("--list", "deadheat rev lists the benchmarks of two commits");
        }
        if design.shard.is_some() {
            return refused("--shard", "a search is made by one host");
        }
        if design.control.is_some_and(|control| control) {
            return refused("--control", "the races of a search test one another");
        }
        if design.confirm.is_some_and(|confirm| confirm) {
            return refused("--confirm", "the last race of a search confirms it");
        }
        let files = self.race.options.exports.reports();
        let shown = ReportFiles {
            html: None,
            markdown: None,
            ..files.clone()
        };
        let other = "a search has a page and Markdown; the run file of each race has the rest";
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

    /// GOOD and BAD.
    pub fn ends(&self) -> Result<(&str, &str), Failure> {
        ends(self.range.as_deref().unwrap_or_default(), "GOOD..BAD")
    }

    /// The way to build every commit.
    pub fn recipe(&self) -> Result<Recipe, Failure> {
        if self.run.is_some() {
            let command = self.race.recipe.build.as_deref().unwrap_or(":");
            return Ok(Recipe::Command(CommandBuild {
                command: command.to_owned(),
                executables: Vec::new(),
                is_for_commands: true,
                variables: Vec::new(),
            }));
        }
        self.race.recipe()
    }

    /// The parents that are followed.
    pub fn parents(&self) -> Parents {
        if self.all_parents {
            Parents::All
        } else {
            Parents::First
        }
    }

    /// The limits of this sitting.
    pub fn limits(&self) -> BisectLimits {
        BisectLimits {
            budget: self.race.options.rules.settings().budget,
            races: self.max_races.unwrap_or(MOST_RACES),
        }
    }

    /// The name of the record: the ends, and a number of all that makes a search another one.
    pub fn record_name(&self, recipe: &Recipe, good: &str, bad: &str) -> String {
        let mut settings = self.race.options.rules.settings();
        settings.budget = None;
        let harness: Option<Harness> = self.race.options.harness;
        let question = format!(
            "{recipe:?} {:?} {:?} {settings:?} {:?} {harness:?} {:?} {:?} {:?}",
            self.run,
            self.race.cargo,
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

/// The words of a race of two commits, as those of the search: without what only a search has. `None`
/// where commands race in folders of commits, as `deadheat rev` cannot have them.
pub fn as_rev(words: &[String], range: &str) -> Option<Vec<String>> {
    const OWN: [&str; 4] = ["--first-parent", "--all-parents", "--resume", "--log"];
    const OWN_WITH_VALUE: [&str; 5] =
        ["--prior", "--max-races", "--budget", "--html", "--markdown"];
    let [_, _, words @ ..] = words else {
        return None;
    };
    let mut kept = vec!["deadheat".to_owned(), "rev".to_owned(), range.to_owned()];
    let mut words = words.iter();
    let mut is_range_next = true;
    while let Some(word) = words.next() {
        let (name, value) = word
            .split_once('=')
            .map_or((&**word, None), |(n, v)| (n, Some(v)));
        match name {
            "--run" => return None,
            "--json" | "-q" | "--quiet" => {}
            own if OWN.contains(&own) => {}
            own if OWN_WITH_VALUE.contains(&own) => {
                if value.is_none() {
                    words.next();
                }
            }
            "--bench" => {
                let name = value.map(str::to_owned).or_else(|| words.next().cloned());
                kept.extend([name?, "--exact".to_owned()]);
            }
            "--" => {
                kept.push(word.clone());
                kept.extend(words.by_ref().cloned());
            }
            text if is_range_next && text.contains("..") && !text.starts_with('-') => {
                is_range_next = false;
            }
            _ => kept.push(word.clone()),
        }
    }
    Some(kept)
}

/// The words of a search of another range.
pub fn with_range(words: &[String], range: &str) -> String {
    let is_range = |word: &&String| word.contains("..") && !word.starts_with('-');
    let place = words
        .iter()
        .take_while(|word| *word != "--")
        .position(|word| is_range(&word));
    let other = words.iter().enumerate().map(|(at, word)| match place {
        Some(place) if place == at => range,
        _ => word,
    });
    shell_words::join(other)
}

/// The words of a search with another value of an option.
pub fn with_option(words: &[String], option: &str, value: &str) -> String {
    let end = words.iter().position(|word| word == "--");
    let (ours, others) = words.split_at(end.unwrap_or(words.len()));
    let mut kept: Vec<String> = Vec::new();
    let mut ours = ours.iter();
    while let Some(word) = ours.next() {
        if word == option {
            ours.next();
        } else if word.split_once('=').is_none_or(|(name, _)| name != option) {
            kept.push(word.clone());
        }
    }
    kept.extend([option.to_owned(), value.to_owned()]);
    shell_words::join(kept.iter().chain(others))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_race_of_two_commits_keeps_what_is_built_and_raced() {
        let of = |line: &str| {
            let words: Vec<String> = shell_words::split(line).unwrap();
            as_rev(&words, "a~1..a").map(shell_words::join)
        };
        assert_eq!(
            of("deadheat bisect v1..HEAD --build 'make all' --exe b --budget 5min --bench=sort")
                .as_deref(),
            Some("deadheat rev 'a~1..a' --build 'make all' --exe b sort --exact")
        );
        assert_eq!(
            of("deadheat bisect --prior diff v1.. parse --json -- -p x").as_deref(),
            Some("deadheat rev 'a~1..a' parse -- -p x")
        );
        assert_eq!(of("deadheat bisect v1.. --run ./x"), None);
    }

    #[test]
    fn a_range_is_replaced_where_it_stands() {
        let words: Vec<String> = shell_words::split("deadheat bisect v1..v2 --run ./x").unwrap();
        assert_eq!(with_range(&words, "a..b"), "deadheat bisect a..b --run ./x");
    }

    #[test]
    fn an_option_gets_another_value_before_the_words_of_others() {
        let of = |line: &str| {
            let words: Vec<String> = shell_words::split(line).unwrap();
            with_option(&words, "--margin", "0.5%")
        };
        assert_eq!(of("a b"), "a b --margin '0.5%'");
        assert_eq!(of("a --margin 1% b"), "a b --margin '0.5%'");
        assert_eq!(
            of("a --margin=1% -- --margin 1%"),
            "a --margin '0.5%' -- --margin '1%'"
        );
    }
}
