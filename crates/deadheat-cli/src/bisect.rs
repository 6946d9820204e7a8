//! `deadheat bisect`: find the commit that changed the time, by races. Here is the search from its
//! range to its answer: begun, taken up again, or told.

mod arguments;
mod sides;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deadheat::parts::answer::{Format, to_stdout};
use deadheat::parts::bisect::{
    self, BisectAnswer, BisectCommit, BisectEvent, BisectLog, BisectPrior, BisectRequest,
    BisectSearch, Bisection, CommitDetails, StepEstimate,
};
use deadheat::parts::engine::{OsClock, unix_seconds};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{
    BisectLogWriter, bisect_log_path, create_bisect_folder, read_bisect_log, set_aside, write_text,
};
use deadheat::parts::model::{Better, LogRatio};
use deadheat::parts::report::bisect::{
    BisectTextOptions, story, to_bisect_json, to_bisect_markdown, to_bisect_text,
};
use deadheat::parts::report::units::counted;
use deadheat::parts::report::{Glyphs, to_bisect_page};
use deadheat::parts::settings::FailOn;
use deadheat::parts::terminal::{self, to_stderr};
use deadheat_build::{CommitBuilder, CommitInfo, CommitRange, Interruption, Note, Parents, Recipe};

use self::arguments::{as_rev, named_or_last, with_option, with_range};
use self::sides::Commits;
use crate::races::typed;
use crate::repository::{failure, here, interrupts};

pub use self::arguments::{BisectArgs, EXAMPLES};

/// Searches, or tells of a search.
pub fn bisect(mut args: BisectArgs) -> Result<Status, Failure> {
    if let Some(file) = &args.log {
        return tell_story(&named_or_last(file.as_deref())?);
    }
    let mut taken_up = None;
    if let Some(file) = &args.resume {
        let file = named_or_last(file.as_deref())?;
        args = args.taken_up(&file)?;
        taken_up = Some(file);
    }
    args.settle()?;
    let arguments = args.race.arguments();
    let recipe = args.recipe()?;
    let interrupts = interrupts()?;
    let is_interrupted = || interrupts.requested().is_some();
    let directory = here()?;
    let interruption = Interruption(&is_interrupted);
    let commit_builder = CommitBuilder::open(&directory, &recipe, interruption).map_err(failure)?;
    let (log, mut writer) = match &taken_up {
        Some(file) => BisectLogWriter::reopen(file).map_err(unusable)?,
        None => begun(&args, &recipe, &commit_builder)?,
    };
    let file = writer.path().to_owned();
    let commits = log.request.commits.iter().map(|commit| CommitInfo {
        id: commit.id.clone(),
        parents: Vec::new(),
        committed_at: commit.committed_at,
        subject: commit.subject.clone(),
    });
    let mut sides = Commits {
        commits: commits.collect(),
        words: log.request.command.clone(),
        commit_builder,
        recipe: &recipe,
        recipe_options: &args.race.recipe,
        built: BTreeMap::new(),
        options: args.race.options.clone(),
        arguments,
        command: args.run.clone(),
        interrupts: &interrupts,
        clock: OsClock::start(),
        told: BTreeSet::new(),
    };
    let log = if is_answered(&log) {
        log
    } else {
        let mut record = |event: &BisectEvent| {
            let kept = writer.append(event);
            kept.map_err(|error| Failure::writing("the search", error))
        };
        let found = bisect::bisect(log, args.limits(), unix_seconds(), &mut sides, &mut record);
        found.map_err(|error| goes_on(error, &file))?
    };
    let commit_builder = &sides.commit_builder;
    let mut bisection = replayed(log)?;
    bisection.details = details(commit_builder, &bisection.log)?;
    bisection.commands = commands(&bisection.log, &file);
    bisection
        .commands
        .extend(merged(commit_builder, &bisection.log)?);
    answer(&args, &bisection, &file)?;
    Ok(status(&args, &bisection.log))
}

/// The status of an answer: done, unless the command line asks to fail on it. A step is what a
/// project that fails on slower candidates looks for here, so rules of a file say nothing.
fn status(args: &BisectArgs, log: &BisectLog) -> Status {
    let Some(end) = log.end() else {
        return Status::Done;
    };
    let less_is_better = log.request.judged.better() == Better::Less;
    let is_worse = |step: StepEstimate| (step.effect.0 > 0.0) == less_is_better;
    let is_named = matches!(end.answer, BisectAnswer::Commits(_));
    let holds = |condition| match condition {
        FailOn::Slower => is_named && end.step.is_some_and(is_worse),
        FailOn::Inconclusive => matches!(
            end.answer,
            BisectAnswer::Open(_) | BisectAnswer::NoSingleStep(_)
        ),
        FailOn::NotEquivalent => !matches!(end.answer, BisectAnswer::NoStep(_)),
    };
    let asked = |condition: &FailOn| args.race.options.answer.asks_to_fail_on(*condition);
    if FailOn::ALL.into_iter().filter(asked).any(holds) {
        Status::ConditionHolds
    } else {
        Status::Done
    }
}

/// Returns true if the search came to its answer, and not only to a limit.
fn is_answered(log: &BisectLog) -> bool {
    let end = log.end();
    end.is_some_and(|end| !matches!(end.answer, BisectAnswer::Open(_)))
}

/// The same failure, with how the search goes on.
fn goes_on(error: Failure, file: &Path) -> Failure {
    let advice = format!(
        "what is known is kept: deadheat bisect --resume {}",
        file.display()
    );
    match error {
        Failure::Interrupted { text, signal } => Failure::Interrupted {
            text: format!("{text}; {advice}"),
            signal,
        },
        other => other,
    }
}

fn unusable(error: deadheat::parts::format::FormatError) -> Failure {
    if error.is_write_error() {
        Failure::unwritable("the record of the search", &error)
    } else {
        Failure::reading(error)
    }
}

/// A new search, or the one that asked the same and stopped.
fn begun(
    args: &BisectArgs,
    recipe: &Recipe,
    commit_builder: &CommitBuilder<'_>,
) -> Result<(BisectLog, BisectLogWriter), Failure> {
    let say = |text: &str| {
        if !args.race.options.quiet {
            to_stderr("deadheat", text);
        }
    };
    let (good, bad) = args.ends()?;
    let parents = args.parents();
    let range = commit_builder.range(good, bad, parents).map_err(failure)?;
    if range.commits.is_empty() {
        return Err(Failure::Usage(format!(
            "{good} and {bad} are one commit, so there is nothing between them"
        )));
    }
    let mut aside = 0;
    if parents == Parents::First {
        let all = commit_builder
            .range(good, bad, Parents::All)
            .map_err(failure)?;
        aside = all.commits.len() - range.commits.len();
    }
    if commit_builder.clean_head().map_err(failure)?.is_none() {
        say(
            "the working tree has changes of its own; commits alone are built, so they do not matter",
        );
    }
    let paths = commit_builder.dirty_submodules().map_err(failure)?;
    if !paths.is_empty() {
        say(&Note::DirtySubmodules {
            paths,
            raced: false,
        }
        .to_string());
    }
    let last = range.commits.last().unwrap_or(&range.good);
    let name = args.record_name(recipe, &range.good.id, &last.id);
    create_bisect_folder(Path::new("")).map_err(unusable)?;
    let path = bisect_log_path(Path::new(""), &name);
    if path.exists() {
        let (log, writer) = BisectLogWriter::reopen(&path).map_err(unusable)?;
        if !is_answered(&log) {
            say(&format!(
                "this was searched for before; going on with {}",
                path.display()
            ));
            return Ok((log, writer));
        }
        drop(writer);
        let aside = set_aside(&path).map_err(unusable)?;
        say(&format!(
            "this was searched for before and answered; that search is now in {}",
            aside.display()
        ));
    }
    let request = request(args, commit_builder, (good, bad), &range, aside)?;
    say(&format!(
        "searching {}{}",
        counted(range.commits.len() as u64, "commit", "commits"),
        match aside {
            0 => String::new(),
            aside => format!(
                "; {} that came by merges {} on no first parent's line (--all-parents)",
                aside,
                if aside == 1 { "lies" } else { "lie" }
            ),
        }
    ));
    // Before the record of a search that cannot begin is there.
    BisectSearch::new(&request).map_err(|error| Failure::Usage(error.to_string()))?;
    let writer = BisectLogWriter::create(&path, &request).map_err(unusable)?;
    let log = BisectLog {
        request,
        events: Vec::new(),
    };
    Ok((log, writer))
}

fn request(
    args: &BisectArgs,
    commit_builder: &CommitBuilder<'_>,
    (good, bad): (&str, &str),
    range: &CommitRange,
    aside: usize,
) -> Result<BisectRequest, Failure> {
    let all = || std::iter::once(&range.good).chain(&range.commits);
    let mut lines = BTreeMap::new();
    if args.prior == BisectPrior::Diff {
        let ids: Vec<&str> = all().map(|commit| &*commit.id).collect();
        let changes = commit_builder.changes(&ids).map_err(failure)?;
        lines.extend(changes.into_iter().map(|one| (one.id.clone(), one.lines())));
    }
    let settings = args.race.options.rules.settings();
    Ok(BisectRequest {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: unix_seconds(),
        command: typed(),
        good: good.to_owned(),
        bad: bad.to_owned(),
        commits: all()
            .map(|commit| BisectCommit {
                id: commit.id.clone(),
                committed_at: commit.committed_at,
                subject: commit.subject.clone(),
                lines: lines.get(&commit.id).copied(),
            })
            .collect(),
        aside,
        judged: settings.judged(),
        margin: LogRatio::from_change(settings.margin()),
        alpha: settings.alpha(),
        prior: args.prior,
    })
}

/// The search with where it stood after each event.
fn replayed(log: BisectLog) -> Result<Bisection, Failure> {
    let (_, standings) = BisectSearch::replayed(&log).map_err(|error| {
        Failure::Data(format!("the record of the search does not hold: {error}"))
    })?;
    Ok(Bisection {
        log,
        standings,
        details: Vec::new(),
        commands: Vec::new(),
    })
}

/// The commits that the answer names, as git tells of them.
fn details(
    commit_builder: &CommitBuilder<'_>,
    log: &BisectLog,
) -> Result<Vec<CommitDetails>, Failure> {
    let Some(end) = log.end() else {
        return Ok(Vec::new());
    };
    // Of many nobody would read it.
    const MOST: usize = 3;
    let named = BisectSearch::named(end);
    if named.len() > MOST {
        return Ok(Vec::new());
    }
    let ids: Vec<&str> = named
        .iter()
        .map(|commit| &*log.request.commits[*commit].id)
        .collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let changes = commit_builder.changes(&ids).map_err(failure)?;
    let details = named.iter().filter_map(|commit| {
        let id = &log.request.commits[*commit].id;
        let found = changes.iter().find(|one| one.id == *id)?;
        Some(CommitDetails {
            commit: *commit,
            author: found.author.clone(),
            files: found.files.clone(),
        })
    });
    Ok(details.collect())
}

/// The commands that tell more of an answer, or go on where there is none.
fn commands(log: &BisectLog, file: &Path) -> Vec<(String, String)> {
    let Some(end) = log.end() else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    let mut add = |does: &str, command: String| commands.push((does.to_owned(), command));
    match &end.answer {
        BisectAnswer::Commits(share) => {
            let (before, last) = (share.first - 1, share.last);
            let short = |commit| log.request.short(commit);
            add("shows what it changes", format!("git show {}", short(last)));
            let range = match share.last - share.first {
                0 => format!("{}~1..{}", short(last), short(last)),
                _ => format!("{}..{}", short(before), short(last)),
            };
            if let Some(rev) = as_rev(&log.request.command, &range) {
                let rev = shell_words::join(rev);
                add("races it alone, with all there is to see", rev);
            }
            let raced = log.events.iter().rev().find_map(|event| match event {
                BisectEvent::Raced(raced) if (raced.from, raced.to) == (before, last) => {
                    Some(raced.file.display())
                }
                _ => None,
            });
            if let Some(run) = raced {
                add(
                    "shows where the time goes",
                    format!("deadheat explain {run}"),
                );
            }
        }
        BisectAnswer::NoStep(_) => {
            let smaller = format!("{}%", log.request.margin.change() * 50.0);
            add(
                "looks for a step of half the size",
                with_option(&log.request.command, "--margin", &smaller),
            );
        }
        BisectAnswer::NoSingleStep(several) => {
            let (from, to) = (
                log.request.short(several.from),
                log.request.short(several.to),
            );
            if let Some(rev) = as_rev(&log.request.command, &format!("{from}..{to}")) {
                add("races the two that differ most", shell_words::join(rev));
            }
        }
        BisectAnswer::Open(_) => add(
            "goes on",
            format!("deadheat bisect --resume {}", file.display()),
        ),
    }
    commands
}

/// The search of what a merge brought, where that is the culprit.
fn merged(
    commit_builder: &CommitBuilder<'_>,
    log: &BisectLog,
) -> Result<Option<(String, String)>, Failure> {
    let Some(BisectAnswer::Commits(share)) = log.end().map(|end| &end.answer) else {
        return Ok(None);
    };
    let id = &log.request.commits[share.last].id;
    let [_, second, ..] = &commit_builder.commit(id).map_err(failure)?.parents[..] else {
        return Ok(None);
    };
    let base = commit_builder.merge_base(id, second).map_err(failure)?;
    let short = |id: &str| id.get(..8).unwrap_or(id).to_owned();
    Ok(base.map(|base| {
        let range = format!("{}..{}", short(&base), short(second));
        let does = "searches the commits that this merge brought".to_owned();
        (does, with_range(&log.request.command, &range))
    }))
}

/// Prints the answer, and writes it where it was asked for.
fn answer(args: &BisectArgs, bisection: &Bisection, file: &Path) -> Result<(), Failure> {
    let reports = args.race.options.exports.reports();
    if let Some(path) = &reports.html {
        write_text(path, &to_bisect_page(bisection))
            .map_err(|error| Failure::writing("--html", error))?;
    }
    match &reports.markdown {
        Some(path) if path.as_os_str() == "-" => return to_stdout(&to_bisect_markdown(bisection)),
        Some(path) => write_text(path, &to_bisect_markdown(bisection))
            .map_err(|error| Failure::writing("--markdown", error))?,
        None => {}
    }
    let answer = args.race.options.answer.answer();
    match answer.format {
        Format::Json => to_stdout(&to_bisect_json(bisection)),
        Format::Markdown => to_stdout(&to_bisect_markdown(bisection)),
        _ => {
            let options = BisectTextOptions {
                width: terminal::width(),
                color: answer.color.applies(),
                unicode: terminal::speaks_unicode(),
            };
            to_stdout(&to_bisect_text(bisection, &options))?;
            to_stdout(&format!("  {}   (--log tells the story)\n", file.display()))
        }
    }
}

/// Tells the story of a search.
fn tell_story(file: &Path) -> Result<Status, Failure> {
    let log = read_bisect_log(file).map_err(Failure::reading)?;
    let bisection = replayed(log)?;
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    to_stdout(&story(&bisection, glyphs))?;
    Ok(Status::Done)
}
