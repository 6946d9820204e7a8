//! `deadheat history show`, `check` and `page`, which print the levels of a range of commits,
//! compare them with the accepted steps, and draw them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, absolute};

use deadheat::parts::ReportFiles;
use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::answer::{line_to_stdout, to_stdout};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{ensure_folder, path_in, read_run, write_text};
use deadheat::parts::model::{HELP, LogRatio};
use deadheat::parts::report::Glyphs;
use deadheat::parts::report::units::counted;
use deadheat::parts::settings::Selection;
use deadheat::parts::system::unix_seconds;
use deadheat::parts::terminal::{self, to_stderr};
use deadheat_options::repository::shown;

use crate::accepted_store::read_accepted;
use crate::command::{CheckArgs, Failing, PageArgs, RangeArgs, ShowArgs, Since};
use crate::html::{HistoryLinks, to_history_page};
use crate::json::to_history_json;
use crate::judge::history;
use crate::page::{HistoryTextOptions, to_history_markdown, to_history_text};
use crate::run_repository::Repository;
use crate::timeline::{CommitOrder, History, Timeline, TimelineChange};
use crate::window::{RequestedCommits, Window};
use crate::words::{check_lines, imprecise_in_words, is_imprecise, limits_of_check, steps_below};

const NEWEST: usize = 50;

impl Since {
    fn unix_seconds(self) -> u64 {
        match self {
            Self::Day(day) => day.unix_seconds(),
            Self::Age(age) => {
                let now = unix_seconds().unwrap_or_default();
                now.saturating_sub(age.as_secs())
            }
        }
    }
}

impl RangeArgs {
    /// Returns true if the user names the newest commit.
    fn names_the_newest(&self) -> bool {
        self.line.range.is_some() || self.line.tip.is_some()
    }

    fn history(&self) -> Result<History, Failure> {
        let index = self.index.open()?;
        let accepted = read_accepted(&self.index.path()?).map_err(Failure::reading)?;
        let repository = Repository::around(&self.line)?;
        let asked = match (&self.line.range, self.since, self.last) {
            (Some(_), ..) => RequestedCommits::Range,
            (None, Some(since), _) => RequestedCommits::Since(since.unix_seconds()),
            (None, None, _) if self.all => RequestedCommits::All,
            (None, None, last) => RequestedCommits::Newest(last.unwrap_or(NEWEST)),
        };
        let window = Window::of(&index, &repository, asked)?;
        let found = history(&index, &window, &self.benchmarks, &accepted)?;
        let is_unknown = |name: &&String| {
            let selection = Selection {
                filters: vec![(*name).clone()],
                ..Selection::default()
            };
            let mut timelines = found.timelines.iter();
            !timelines.any(|one| selection.names(&one.series.name()))
        };
        let unknown: Vec<&str> = (self.benchmarks.iter().filter(is_unknown))
            .map(String::as_str)
            .collect();
        if !unknown.is_empty() {
            let help = match unknown.iter().find(|name| name.contains("..")) {
                Some(range) if self.line.range.is_none() => {
                    format!("give a range of commits by --range {range}")
                }
                _ => "deadheat history show lists all benchmarks".to_owned(),
            };
            return Err(Failure::NothingSelected(format!(
                "no benchmark of this range is called {}{HELP}{help}",
                unknown.join(" or ")
            )));
        }
        Ok(found)
    }
}

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

/// Fails if there is a change that was not accepted.
pub fn check(args: &CheckArgs) -> Result<Status, Failure> {
    let found = args.range.history()?;
    let compares_commits = |timeline: &Timeline| {
        let mut parts = BTreeSet::new();
        timeline.commits.iter().any(|one| !parts.insert(one.part))
    };
    let unjudged = if !found.timelines.iter().any(compares_commits) {
        Some("no races compare two of these commits, so nothing was checked".to_owned())
    } else if args.range.names_the_newest() {
        without_the_newest(&found).map_or_else(|| args.unmeasured(&found), |why| Ok(Some(why)))?
    } else {
        None
    };
    let unjudged = unjudged.or_else(|| without_precision(&found));
    if let Some(problem) = unjudged.filter(|_| !args.allow_unjudged) {
        return Err(Failure::Usage(format!(
            "{problem}{HELP}deadheat history extend OLD..NEW races commits; --allow-unjudged lets \
             the check pass"
        )));
    }
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    for remark in limits_of_check(&found, glyphs) {
        to_stderr("note", &remark);
    }
    let least = LogRatio::from_change(args.margin.unwrap_or(0.0)).0;
    let mut lines = Vec::new();
    for timeline in &found.timelines {
        let changes = |kind: Failing, all: fn(&Timeline) -> &[TimelineChange]| {
            let all = all(timeline)
                .iter()
                .filter(|_| args.fail_on.contains(&kind));
            let fails = |change: &&TimelineChange| {
                let is_meant = args.both || change.is_worse || !is_ordered_by_git(change, timeline);
                is_meant && change.effect.0.abs() >= least
            };
            all.filter(fails).collect::<Vec<_>>()
        };
        let steps = changes(Failing::Step, |timeline| &timeline.steps);
        let creep = changes(Failing::Creep, |timeline| &timeline.creep);
        if args.fail_on.contains(&Failing::Creep) {
            lines.extend(ignored_steps(timeline, least, args.both, glyphs));
        }
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
            1 => "; one change is accepted".to_owned(),
            many => format!("; {many} changes are accepted"),
        };
        let what = match (&args.fail_on[..], args.both) {
            ([Failing::Step], false) => "step for the worse",
            ([Failing::Step], true) => "step",
            ([Failing::Creep], false) => "creep for the worse",
            ([Failing::Creep], true) => "creep",
            (_, false) => "change for the worse",
            (_, true) => "change",
        };
        to_stdout(&format!(
            "no {what} in {} of {}{beside}\n",
            counted(found.shown as u64, "commit", "commits"),
            counted(found.timelines.len() as u64, "benchmark", "benchmarks")
        ))?;
        return Ok(Status::Done);
    }
    lines.push(String::new());
    to_stdout(&lines.join("\n"))?;
    Ok(Status::ConditionHolds)
}

/// Returns the reason why the check judges no benchmark: the races at the newest commit are so
/// imprecise that even a doubling could be chance. A race of two replicates, or a single wrong race
/// that contradicts the others, is enough for that.
fn without_precision(history: &History) -> Option<String> {
    let imprecise: Vec<&Timeline> = history.timelines.iter().filter(is_imprecise).collect();
    let first = imprecise
        .first()
        .filter(|_| imprecise.len() == history.timelines.len())?;
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    Some(imprecise_in_words(first, history, glyphs))
}

impl CheckArgs {
    /// Returns a sentence about the benchmarks that the latest race of the newest commit did not
    /// measure, because they failed or because the time budget ended; `None` without any.
    fn unmeasured(&self, history: &History) -> Result<Option<String>, Failure> {
        let Some(tip) = &history.tip else {
            return Ok(None);
        };
        let index = self.range.index.open()?;
        let count = index.unmeasured_at(&tip.id).map_err(Failure::reading)?;
        Ok((count > 0).then(|| {
            format!(
                "the latest race of {}, the newest commit of the range, did not measure {}",
                tip.short(),
                counted(count, "benchmark", "benchmarks")
            )
        }))
    }
}

/// Returns the reason why the newest commit of the range was not judged; `None` if it was.
fn without_the_newest(history: &History) -> Option<String> {
    let tip = history.tip.as_ref()?;
    let is_compared = |one: &Timeline| {
        let last = one.commits.last().filter(|last| last.commit.id == tip.id);
        last.is_some_and(|last| {
            let of_part = one.commits.iter().filter(|other| other.part == last.part);
            of_part.count() > 1
        })
    };
    (!history.timelines.iter().any(is_compared)).then(|| {
        format!(
            "no race compares {}, the newest commit of the range",
            tip.short()
        )
    })
}

/// Returns a line if steps that are each below the margin, and so ignored by the check, add up to
/// at least the margin. Creep does not contain these steps.
fn ignored_steps(timeline: &Timeline, least: f64, both: bool, glyphs: Glyphs) -> Option<String> {
    let small = timeline
        .steps
        .iter()
        .filter(|step| step.effect.0.abs() < least);
    let sizes: Vec<f64> = small.map(|step| step.effect.0).collect();
    let total = LogRatio(sizes.iter().sum());
    let is_meant = both || timeline.series.is_worse(total);
    (is_meant && total.0.abs() >= least).then(|| steps_below(timeline, sizes.len(), total, glyphs))
}

/// Returns true if git determined the positions of both commits at the ends of the change. The
/// author of a commit chooses its date, so a position by date could reverse the direction of the
/// change.
fn is_ordered_by_git(change: &TimelineChange, timeline: &Timeline) -> bool {
    let ends = [change.from, change.to].map(|at| timeline.commits[at].order);
    ends == [CommitOrder::OnLine; 2]
}

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
    line_to_stdout(&shown(&args.html))?;
    Ok(Status::Done)
}

/// Writes a page into `folder` for each race whose run file is below `runs`. Returns the relative
/// links from the page of the history, by the path of the run. Runs on a git branch and deleted
/// runs get no page; one message reports their number.
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
        // The index may be untrusted, so its paths must not leave the folder of runs.
        let mut parts = Path::new(path).components();
        let is_below = parts.all(|part| matches!(part, Component::Normal(_)));
        let run = is_below.then(|| read_run(runs.join(path)).ok()).flatten();
        let Some(run) = run else {
            gone += 1;
            continue;
        };
        // The name includes the folders, because two runs in different folders may have the same
        // name.
        let name = format!("{}.html", path.replace('/', "-"));
        let page = path_in(folder, &name).map_err(|error| Failure::writing("--races", error))?;
        let reports = ReportFiles {
            html: Some(page),
            ..ReportFiles::default()
        };
        let benchmarks = run.header.plan.benchmarks.len();
        let options = reports.analysis_options(Options::default(), benchmarks);
        reports.write(&run.header, &analyse(&run, options))?;
        pages.insert(path.to_owned(), format!("{way}{name}"));
    }
    if gone > 0 {
        let gone = counted(gone, "run gets", "runs get");
        let text = format!("--races: {gone} no page, because the run files cannot be read here");
        to_stderr("deadheat", &text);
    }
    Ok(pages)
}

/// Returns the relative URL from a page to a folder; empty if the page is in that folder.
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
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_way_from_a_page_to_the_runs_leads_up_and_down() {
        assert_eq!(way(Path::new("/a/b/page.html"), Path::new("/a/b")), "");
        assert_eq!(way(Path::new("/a/b/c/page.html"), Path::new("/a/b")), "../");
        assert_eq!(way(Path::new("/a/p.html"), Path::new("/a/b/c")), "b/c/");
        assert_eq!(way(Path::new("/x/p.html"), Path::new("/a")), "../a/");
    }

    #[test]
    fn an_age_counts_back_from_now() {
        let day = Duration::from_secs(86_400);
        assert!(Since::Age(day).unix_seconds() > 1_700_000_000);
        assert_eq!(Since::Age(Duration::MAX).unix_seconds(), 0);
    }
}
