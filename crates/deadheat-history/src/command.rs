//! The arguments of `deadheat history`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use deadheat::parts::model::{Day, fraction, positive_number};
use deadheat_build::Revisions;
use deadheat_options::age::age;
use deadheat_options::answer::ShapeArgs;
#[cfg(target_os = "linux")]
use deadheat_options::commit_race::CommitRaceArgs;
use deadheat_options::repository::{ParentsArgs, range};

/// Shown at the end of `deadheat history --help`.
pub const EXAMPLES: &str = "Examples:
  deadheat rev HEAD~1..HEAD --history
  deadheat history extend v1.0..HEAD
  deadheat history add .deadheat/runs
  deadheat history show
  deadheat history show parse --range v1.0..main
  deadheat history check --fail-on step
  deadheat history accept 1a2b3c4d 'validates its input'
  deadheat history page --html history.html";

/// Options of `deadheat history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[command(subcommand)]
    pub(crate) command: HistoryCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Add runs of two commits to the index
    #[command(after_help = ADD_EXAMPLES)]
    Add(AddArgs),
    /// Commit run files to a separate branch, without checking it out
    #[command(after_help = PUSH_EXAMPLES)]
    Push(PushArgs),
    /// Show the levels of benchmarks over commits, with steps and creep
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Fail if a step was not accepted
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Accept the step at a commit, and say why
    #[command(after_help = ACCEPT_EXAMPLES)]
    Accept(AcceptArgs),
    /// Race the commits of a range until their levels are precise enough
    #[cfg(target_os = "linux")]
    #[command(after_help = EXTEND_EXAMPLES)]
    Extend(Box<ExtendArgs>),
    /// Write the history as an HTML page
    #[command(after_help = PAGE_EXAMPLES)]
    Page(PageArgs),
}

/// The commits that a history covers: a range, or the newest ones up to a commit.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LineArgs {
    /// From commit A (included) to commit B [default: the newest commits up to HEAD]
    #[arg(long, value_name = "A..B", value_parser = range, help_heading = "Commits")]
    pub range: Option<Revisions>,
    /// The newest commit [default: HEAD]
    #[arg(
        long,
        value_name = "COMMIT",
        help_heading = "Commits",
        conflicts_with = "range"
    )]
    pub tip: Option<String>,
    /// The parents that are followed.
    #[command(flatten)]
    pub parents: ParentsArgs,
}

/// The use of the run of a race of commits.
#[derive(Clone, Debug, Default, Args)]
pub struct KeepArgs {
    /// Add the run to the index of the history (`deadheat history`)
    #[arg(long, help_heading = "Files")]
    pub history: bool,
}

/// The index of runs.
#[derive(Clone, Debug, Default, Args)]
pub struct IndexArgs {
    /// The index [default: .deadheat/history.sqlite, here or in the nearest parent folder]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub index: Option<PathBuf>,
}

const ADD_EXAMPLES: &str = "\
Examples:
  deadheat history add .deadheat/runs
  deadheat history add runs-of-ci/*.jsonl.gz
  deadheat history add --branch runs
  deadheat history add race.jsonl --commits v1.0..v1.1";

/// Options of `deadheat history add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Run files, or folders with files that end in .jsonl,
    /// .jsonl.gz or .jsonl.zst
    #[arg(value_name = "FILE", required_unless_present = "branch")]
    pub(crate) files: Vec<PathBuf>,
    /// Add the run files of this git branch as well; it need not be checked out
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    /// The commits of baseline and candidate, for one file that does not record them
    #[arg(long, value_name = "OLD..NEW", value_parser = range)]
    pub(crate) commits: Option<Revisions>,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

const PUSH_EXAMPLES: &str = "\
Examples:
  deadheat history push --branch runs .deadheat/runs
  git push origin runs
  git fetch origin runs:runs && deadheat history add --branch runs";

/// Options of `deadheat history push`.
#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    /// Run files, or folders with files that end in .jsonl, .jsonl.gz or .jsonl.zst
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The local branch to commit them to; created if it does not exist
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: String,
}

const ACCEPT_EXAMPLES: &str = "Examples:
  deadheat history accept HEAD~3 'validates its input'
  deadheat history accept 1a2b3c4d 'trades time for memory' --benchmark parse
  deadheat history accept --list
  deadheat history accept --remove 1a2b3c4d";

/// Options of `deadheat history accept`.
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// The commit that made the step
    #[arg(
        value_name = "COMMIT",
        required_unless_present = "list",
        conflicts_with = "list"
    )]
    pub(crate) commit: Option<String>,
    /// The reason for accepting the step
    #[arg(
        value_name = "WHY",
        required_unless_present_any = ["list", "remove"],
        conflicts_with_all = ["list", "remove"]
    )]
    pub(crate) why: Option<String>,
    /// Accept the step for this benchmark only [default: for all]
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    pub(crate) benchmark: Option<String>,
    /// List the accepted steps
    #[arg(long)]
    pub(crate) list: bool,
    /// Withdraw the acceptance
    #[arg(long)]
    pub(crate) remove: bool,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  deadheat history show
  deadheat history show parse --last 200
  deadheat history show --range v1.0..main --json
  deadheat history show --since 90d";

const CHECK_EXAMPLES: &str = "\
Examples:
  deadheat history check
  deadheat history check --range v1.0..HEAD --fail-on step,creep --both";

const PAGE_EXAMPLES: &str = "\
Examples:
  deadheat history page --html history.html
  deadheat history page parse --all --html parse.html";

/// The part of the history that is asked for.
#[derive(Clone, Debug, Args)]
pub(crate) struct RangeArgs {
    /// Only benchmarks whose names contain one of these [default: all]
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmarks: Vec<String>,
    #[command(flatten)]
    pub(crate) line: LineArgs,
    /// At most N commits, the newest that were raced [default: 50]
    #[arg(
        long,
        value_name = "N",
        value_parser = positive_number::<usize>,
        help_heading = "Commits",
        conflicts_with_all = ["range", "since", "all"]
    )]
    pub(crate) last: Option<usize>,
    /// Commits since a day, such as 2026-01-31, or no older than an age, such as 90d or 8w
    #[arg(
        long,
        value_name = "WHEN",
        value_parser = since,
        help_heading = "Commits",
        conflicts_with_all = ["range", "all"]
    )]
    pub(crate) since: Option<Since>,
    /// All commits that were raced
    #[arg(long, help_heading = "Commits", conflicts_with = "range")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

/// Options of `deadheat history show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) range: RangeArgs,
    /// Show every commit of every benchmark, not only of a single or named one
    #[arg(short, long, help_heading = "Answer")]
    pub(crate) verbose: bool,
    /// Print Markdown instead of text
    #[arg(long, help_heading = "Answer", conflicts_with = "json")]
    pub(crate) markdown: bool,
    #[command(flatten, next_help_heading = "Answer")]
    pub(crate) shape: ShapeArgs,
}

/// A kind of change that fails a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Failing {
    /// A step at a commit, or somewhere between two
    Step,
    /// Creep that no single commit shows
    Creep,
}

/// Options of `deadheat history check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) range: RangeArgs,
    /// Kinds of changes that fail the check
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        value_delimiter = ',',
        default_value = "step"
    )]
    pub(crate) fail_on: Vec<Failing>,
    /// Changes smaller than this pass, such as 0.5% [default: every change fails]
    #[arg(long, value_name = "SHARE", value_parser = margin)]
    pub(crate) margin: Option<f64>,
    /// Fail on improvements too, until they are accepted
    #[arg(long)]
    pub(crate) both: bool,
    /// Pass if the races cannot judge the range, or its newest commit if you named it; the check
    /// exits with 2 otherwise
    #[arg(long)]
    pub(crate) allow_unjudged: bool,
}

/// Options of `deadheat history page`.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    #[command(flatten)]
    pub(crate) range: RangeArgs,
    /// Write the page here
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) html: PathBuf,
    /// Write a page for every race into this folder as well, with links to them
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub(crate) races: Option<PathBuf>,
}

/// The oldest commit of a range, by its date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    Day(Day),
    Age(Duration),
}

fn since(text: &str) -> Result<Since, String> {
    if let Ok(day) = Day::parse(text) {
        return Ok(Since::Day(day));
    }
    age(text).map(Since::Age).map_err(|_| {
        format!("'{text}' is neither a day nor an age\nhelp: write a day such as 2026-01-31, or an age such as 12h, 90d or 8w")
    })
}

#[cfg(target_os = "linux")]
const EXTEND_EXAMPLES: &str = "\
Examples:
  deadheat history extend v1.0..HEAD
  deadheat history extend HEAD~20..HEAD --build make --exe build/bench --budget 30min
  deadheat history extend v1.0..v1.1 parse --max-span 4 -- --bench text";

/// Options of `deadheat history extend`.
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
pub(crate) struct ExtendArgs {
    /// Two commits, the older one first; uncommitted changes are ignored
    #[arg(value_name = "OLD..NEW")]
    pub(crate) range: String,

    /// Race only pairs of commits at these distances [default: 1,2,4,8,...]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = positive_number::<usize>,
        help_heading = "Commits",
        conflicts_with = "max_span"
    )]
    pub(crate) spans: Vec<usize>,
    /// Race only pairs of commits at most this far apart
    #[arg(long, value_name = "N", value_parser = positive_number::<usize>, help_heading = "Commits")]
    pub(crate) max_span: Option<usize>,
    #[command(flatten)]
    pub(crate) parents: ParentsArgs,

    #[command(flatten)]
    pub(crate) race: CommitRaceArgs,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

fn margin(text: &str) -> Result<f64, String> {
    match fraction(text)? {
        share if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err(format!("'{text}' is not a share from 0% to below 100%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_day_or_an_age() {
        let seconds = |text| match since(text) {
            Ok(Since::Day(day)) => day.unix_seconds(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(seconds("1970-01-02"), 86_400);
        assert_eq!(seconds("2026-11-26"), 1_795_651_200);
        assert_eq!(since("1d"), Ok(Since::Age(Duration::from_secs(86_400))));
        assert!(since("yesterday").is_err());
    }
}
