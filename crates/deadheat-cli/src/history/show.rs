//! `deadheat history show`, `check` and `page`: the levels of a range of commits, told, held to
//! what is accepted, and drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf, absolute};

use clap::{Args, ValueEnum};
use deadheat::parts::ReportFiles;
use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::answer::to_stdout;
use deadheat::parts::engine::unix_seconds;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{ensure_folder, read_accepted, read_run, write_text};
use deadheat::parts::history::{RequestedCommits, Window, history};
use deadheat::parts::model::{
    Day, History, LogRatio, Timeline, TimelineChange, fraction, whole_number,
};
use deadheat::parts::report::units::counted;
use deadheat::parts::report::{
    Glyphs, HistoryLinks, HistoryTextOptions, check_lines, to_history_json, to_history_markdown,
    to_history_page, to_history_text,
};
use deadheat::parts::terminal::{self, to_stderr};

use crate::clean::age;
use crate::history_index::IndexArgs;
use crate::options::ShapeArgs;
use crate::repository::{LineArgs, Repository, shown};

/// Shown at the end of `deadheat history show --help`.
pub const SHOW_EXAMPLES: &str = "\
Examples:
  deadheat history show
  deadheat history show parse --last 200
  deadheat history show --range v1.0..main --json
  deadheat history show --since 90d";

/// Shown at the end of `deadheat history check --help`.
pub const CHECK_EXAMPLES: &str = "\
Examples:
  deadheat history check
  deadheat history check --range v1.0..HEAD --fail-on step,creep --both";

/// Shown at the end of `deadheat history page --help`.
pub const PAGE_EXAMPLES: &str = "\
Examples:
  deadheat history page --html history.html
  deadheat history page parse --all --html parse.html";

/// Commits shown unless the user says how many.
const NEWEST: usize = 50;

/// The part of the history that is asked for.
#[derive(Clone, Debug, Args)]
pub struct RangeArgs {
    /// Parts of the names of benchmarks that are meant [default: all]
    #[arg(value_name = "BENCHMARK")]
    benchmarks: Vec<String>,
    #[command(flatten)]
    line: LineArgs,
    /// The newest so many commits that were raced [default: 50]
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<usize>,
        help_heading = "Commits",
        conflicts_with_all = ["range", "since", "all"]
    )]
    last: Option<usize>,
    /// Commits since a day, as 2026-01-31, or no older than an age, as 90d or 8w
    #[arg(
        long,
        value_name = "WHEN",
        value_parser = since,
        help_heading = "Commits",
        conflicts_with_all = ["range", "all"]
    )]
    since: Option<u64>,
    /// All commits that were raced
    #[arg(long, help_heading = "Commits", conflicts_with = "range")]
    all: bool,
    #[command(flatten)]
    index: IndexArgs,
}

/// Options of `deadheat history show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    #[command(flatten)]
    range: RangeArgs,
    /// Every commit of every benchmark; else of one that is alone or named
    #[arg(short, long, help_heading = "Answer")]
    verbose: bool,
    /// Print Markdown instead of text
    #[arg(long, help_heading = "Answer", conflicts_with = "json")]
    markdown: bool,
    #[command(flatten, next_help_heading = "Answer")]
    shape: ShapeArgs,
}

/// A kind of change that fails a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Failing {
    /// A step at a commit, or somewhere between two
    Step,
    /// Creep that no single commit shows
    Creep,
}

/// Options of `deadheat history check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    range: RangeArgs,
    /// What fails the check
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        value_delimiter = ',',
        default_value = "step"
    )]
    fail_on: Vec<Failing>,
    /// Changes smaller than this do not fail it, as 0.5% [default: any change does]
    #[arg(long, value_name = "SHARE", value_parser = fraction)]
    margin: Option<f64>,
    /// Changes for the better fail it, too: they are to be accepted as well
    #[arg(long)]
    both: bool,
    /// Pass where the range has no race at all; the check exits with 2 otherwise
    #[arg(long)]
    allow_unjudged: bool,
}

/// Options of `deadheat history page`.
#[derive(Debug, Args)]
pub struct PageArgs {
    #[command(flatten)]
    range: RangeArgs,
    /// Write the page here
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    html: PathBuf,
    /// Write a page of every race in this folder as well, and lead there from the page
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    races: Option<PathBuf>,
}

/// A time, from a day or an age.
fn since(text: &str) -> Result<u64, String> {
    if let Ok(day) = Day::parse(text) {
        return Ok(day.unix_seconds());
    }
    let age = age(text).map_err(|_| {
        format!("'{text}' is neither a day nor an age\nhelp: write a day such as 2026-01-31, or an age such as 12h, 90d or 8w")
    })?;
    let now = unix_seconds().unwrap_or_default();
    Ok(now.saturating_sub(age.as_secs()))
}

impl RangeArgs {
    /// The history that is asked for.
    fn history(&self) -> Result<History, Failure> {
        let index = self.index.open()?;
        let accepted = read_accepted(&self.index.path()?).map_err(Failure::reading)?;
        let repository = Repository::around(&self.line)?;
        let asked = match (&self.line.range, self.since, self.last) {
            (Some(_), ..) => RequestedCommits::Range,
            (None, Some(seconds), _) => RequestedCommits::Since(seconds),
            (None, None, _) if self.all => RequestedCommits::All,
            (None, None, last) => RequestedCommits::Newest(last.unwrap_or(NEWEST)),
        };
        let window = Window::of(&index, &repository, asked)?;
        let found = history(&index, &window, &self.benchmarks, &accepted)?;
        if found.timelines.is_empty() && !self.benchmarks.is_empty() {
            return Err(Failure::NothingSelected(format!(
                "no benchmark of this range is called {}\nhelp: deadheat history show lists them",
                self.benchmarks.join(" or ")
            )));
        }
        Ok(found)
    }
}

/// Prints the history.
pub fn show(args: &ShowArgs) -> Result<Status, Failure> {
    let found = args.range.history()?;
    let text = if args.shape.json {
        to_history_json(&found)
    } else if args.markdown {
        to_history_markdown(&found)
    } else {
        to_history_text(
            &found,
            &HistoryTextOptions {
                width: terminal::width(),
                color: args.shape.in_color(),
                unicode: terminal::speaks_unicode(),
                commits: args.verbose,
            },
        )
    };
    to_stdout(&text)?;
    Ok(Status::Done)
}

/// Fails where a change is not accepted.
pub fn check(args: &CheckArgs) -> Result<Status, Failure> {
    let found = args.range.history()?;
    if found.timelines.is_empty() && !args.allow_unjudged {
        return Err(Failure::Usage(
            "there is no race of these commits in the index, so nothing was checked\nhelp: deadheat history \
             extend races them, and --allow-unjudged accepts it"
                .to_owned(),
        ));
    }
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let least = LogRatio::from_change(args.margin.unwrap_or(0.0)).0;
    let fails =
        |change: &&TimelineChange| (args.both || change.is_worse) && change.effect.0.abs() >= least;
    let mut lines = Vec::new();
    for timeline in &found.timelines {
        let changes = |kind: Failing, all: fn(&Timeline) -> &[TimelineChange]| {
            let all = all(timeline)
                .iter()
                .filter(|_| args.fail_on.contains(&kind));
            all.filter(fails).collect::<Vec<_>>()
        };
        let steps = changes(Failing::Step, |timeline| &timeline.steps);
        let creep = changes(Failing::Creep, |timeline| &timeline.creep);
        let steps = steps.into_iter().map(|change| (change, true));
        let creep = creep.into_iter().map(|change| (change, false));
        let all: Vec<_> = steps.chain(creep).collect();
        lines.extend(check_lines(timeline, &all, glyphs));
    }
    if lines.is_empty() {
        let accepted = found.timelines.iter().flat_map(|one| &one.commits);
        let accepted = accepted.filter(|one| one.accepted.is_some());
        let accepted: BTreeSet<&str> = accepted.map(|one| &*one.commit.id).collect();
        let accepted = accepted.len();
        let beside = match accepted {
            0 => String::new(),
            1 => " beside one that is accepted".to_owned(),
            many => format!(" beside {many} that are accepted"),
        };
        let what = match (&args.fail_on[..], args.both) {
            ([Failing::Step], false) => "step for the worse",
            ([Failing::Step], true) => "step",
            (_, false) => "change for the worse",
            (_, true) => "change",
        };
        to_stdout(&format!(
            "no {what} in {} commits of {} benchmarks{beside}\n",
            found.shown,
            found.timelines.len()
        ))?;
        return Ok(Status::Done);
    }
    lines.push(String::new());
    to_stdout(&lines.join("\n"))?;
    Ok(Status::ConditionHolds)
}

/// Writes the page.
pub fn page(args: &PageArgs) -> Result<Status, Failure> {
    let found = args.range.history()?;
    let index = args.range.index.path()?;
    let runs = index.ancestors().nth(2).unwrap_or(Path::new(""));
    let links = HistoryLinks {
        base: way(&args.html, runs),
        pages: match &args.races {
            None => BTreeMap::new(),
            Some(folder) => race_pages(&found, runs, folder, &args.html)?,
        },
    };
    let written = write_text(&args.html, &to_history_page(&found, &links));
    written.map_err(|error| Failure::unwritable("--html", &error))?;
    to_stdout(&format!("{}\n", shown(&args.html)))?;
    Ok(Status::Done)
}

/// Writes a page of every race whose run file is below `runs` into `folder`, and gives the way there
/// from the page of the history by the path of the run. A run that is on a branch of git, or gone,
/// has none, which is said once.
fn race_pages(
    found: &History,
    runs: &Path,
    folder: &Path,
    page: &Path,
) -> Result<BTreeMap<String, String>, Failure> {
    ensure_folder(folder).map_err(|error| Failure::unwritable("--races", &error))?;
    let races = found.timelines.iter().flat_map(|one| &one.races);
    let paths: BTreeSet<&str> = races.map(|race| &*race.path).collect();
    let (mut pages, mut gone) = (BTreeMap::new(), 0);
    let way = way(page, folder);
    for path in paths {
        let Ok(run) = read_run(runs.join(path)) else {
            gone += 1;
            continue;
        };
        // Two runs of one name lie in two folders.
        let name = format!("{}.html", path.replace('/', "-"));
        let reports = ReportFiles {
            html: Some(folder.join(&name)),
            ..ReportFiles::default()
        };
        let benchmarks = run.header.plan.benchmarks.len();
        let options = reports.analysis_options(Options::default(), benchmarks);
        reports.write(&run.header, &analyse(&run, options))?;
        pages.insert(path.to_owned(), format!("{way}{name}"));
    }
    if gone > 0 {
        let gone = counted(gone, "run has", "runs have");
        let text = format!("--races: {gone} no file here and so no page");
        to_stderr("deadheat", &text);
    }
    Ok(pages)
}

/// The way from a page to a folder, as a link has it; empty where they lie side by side.
fn way(page: &Path, folder: &Path) -> String {
    let whole = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_owned());
    let (page, folder) = (whole(page), whole(folder));
    let from = page.parent().unwrap_or(Path::new("/"));
    let shared = from.components().zip(folder.components());
    let shared = shared.take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| "../".to_owned());
    let down = folder.components().skip(shared);
    let down = down.map(|part| format!("{}/", part.as_os_str().display()));
    up.chain(down).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_a_page_to_the_runs_leads_up_and_down() {
        assert_eq!(way(Path::new("/a/b/page.html"), Path::new("/a/b")), "");
        assert_eq!(way(Path::new("/a/b/c/page.html"), Path::new("/a/b")), "../");
        assert_eq!(way(Path::new("/a/p.html"), Path::new("/a/b/c")), "b/c/");
        assert_eq!(way(Path::new("/x/p.html"), Path::new("/a")), "../a/");
    }

    #[test]
    fn a_time_is_a_day_or_an_age() {
        assert_eq!(since("1970-01-02"), Ok(86_400));
        assert_eq!(since("2026-11-26"), Ok(1_795_651_200));
        assert!(since("1d").unwrap() > 1_700_000_000);
        assert!(since("yesterday").is_err());
    }
}
