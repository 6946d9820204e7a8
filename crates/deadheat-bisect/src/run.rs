//! Runs the subcommand: begins a search or continues one, and prints its answer or its story.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use deadheat::parts::answer::{Format, line_to_stdout, to_stdout};
use deadheat::parts::engine::{Clock as _, OsClock, unix_seconds};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{read_header, set_aside, write_text};
use deadheat::parts::model::LogRatio;
use deadheat::parts::report::units::counted;
use deadheat::parts::report::{Glyphs, Terminal};
use deadheat::parts::settings::FailOn;
use deadheat::parts::terminal::{self, to_stderr};
use deadheat::parts::{is_made_here, overrun};
use deadheat_build::{CommitBuilder, CommitInfo, CommitRange, Interruption, Note, Parents, Recipe};
use deadheat_options::races::typed;
use deadheat_options::repository::{failure, here, interrupts};

use crate::advice::{commands, is_countable, with_range};
use crate::command::{BisectArgs, believed, named_or_last};
use crate::json::to_bisect_json;
use crate::judge::BisectSearch;
use crate::log::{
    BisectAnswer, BisectCommit, BisectEvent, BisectLog, BisectPrior, BisectRequest, Bisection,
    CommitDetails, StepEstimate, UnmeasuredReason, is_worse,
};
use crate::log_store::{
    BisectLogWriter, bisect_log_path, create_bisect_folder, digest, read_bisect_log,
};
use crate::page::{to_bisect_markdown, to_bisect_page, to_bisect_text};
use crate::run_commits::Commits;
use crate::session::search_commits;
use crate::story::story;

/// Begins a search, continues a search, or prints the story of a search.
pub fn bisect(mut args: BisectArgs) -> Result<Status, Failure> {
    if let Some(file) = &args.log {
        return tell_story(&named_or_last("--log", file.as_deref())?);
    }
    let mut taken_up = None;
    if let Some(file) = &args.resume {
        let file = named_or_last("--resume", file.as_deref())?;
        args = args.taken_up(&file)?;
        taken_up = Some(file);
    }
    args.settle()?;
    if let Some(origin) = args.race.options.rules.origin() {
        to_stderr("deadheat", &origin);
    }
    let arguments = args.race.arguments();
    let recipe = args.recipe()?;
    let interrupts = interrupts()?;
    let is_interrupted = || interrupts.requested().is_some();
    let directory = here()?;
    let interruption = Interruption(&is_interrupted);
    let commit_builder = CommitBuilder::open(&directory, &recipe, interruption).map_err(failure)?;
    let (log, mut writer) = match &taken_up {
        Some(file) => BisectLogWriter::reopen(file).map_err(unusable)?,
        None => begun(&args, &recipe, &arguments, &commit_builder)?,
    };
    let file = writer.path().to_owned();
    args.check_benchmark(&log)?;
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
        command: args.run.command.clone(),
        interrupts: &interrupts,
        clock: OsClock::start(),
        told: BTreeSet::new(),
    };
    let log = if is_answered(&log) {
        log
    } else {
        let before = log.events.len();
        let mut record = |event: &BisectEvent| {
            let kept = writer.append(event);
            kept.map_err(|error| Failure::writing("the search", error))
        };
        let found = search_commits(log, args.limits(), unix_seconds(), &mut sides, &mut record);
        let log = found.map_err(|error| goes_on(error, &file))?;
        let took = Duration::from_nanos(sides.clock.elapsed_ns());
        if let Some(text) = overrun_of(&log.events[before..], took, args.limits().budget) {
            to_stderr("note", &text);
        }
        log
    };
    let commit_builder = &sides.commit_builder;
    let mut bisection = replayed(log)?;
    bisection.details = details(commit_builder, &bisection.log)?;
    bisection.commands = commands(&bisection.log, &file, can_explain);
    bisection
        .commands
        .extend(merged(commit_builder, &bisection.log)?);
    answer(&args, &bisection, &file)?;
    let options = &args.race.options.answer;
    let is_gate = FailOn::ALL
        .into_iter()
        .any(|one| options.asks_to_fail_on(one));
    let allows_unjudged = args.race.options.rules.settings().allow_unjudged == Some(true);
    let end = bisection.log.end().map(|end| &end.answer);
    let is_open = matches!(end, None | Some(BisectAnswer::Open(_)));
    if is_gate && !allows_unjudged && is_open && bisection.races().next().is_none() {
        return Err(Failure::Usage(
            "no race ended, so --fail-on could judge nothing\nhelp: deadheat bisect --resume \
             continues the search, and --allow-unjudged lets the gate pass"
                .to_owned(),
        ));
    }
    Ok(status(&args, &bisection.log))
}

/// Returns the exit status of an answer. Only `--fail-on` on the command line can turn an answer
/// into a failure. A rules file cannot, because a project whose rules file fails on slower
/// candidates searches for exactly such a step.
fn status(args: &BisectArgs, log: &BisectLog) -> Status {
    let Some(end) = log.end() else {
        return Status::Done;
    };
    let mut unmeasured = log.unmeasured().iter();
    if unmeasured.any(|one| matches!(one.reason, UnmeasuredReason::Failed(_))) {
        return Status::ContenderFailed;
    }
    let is_worse = |step: StepEstimate| is_worse(log.judged(), step.effect);
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

/// Returns the message that names the longest event, if the search exceeded its budget.
fn overrun_of(events: &[BisectEvent], took: Duration, budget: Option<Duration>) -> Option<String> {
    let of_event = |event: &BisectEvent| match event {
        BisectEvent::Built(built) => Some((built.seconds, "a build")),
        BisectEvent::Unbuildable(failed) => Some((failed.seconds, "a build that failed")),
        BisectEvent::Raced(raced) => Some((raced.seconds, "a race")),
        _ => None,
    };
    let parts = events.iter().filter_map(of_event);
    let (seconds, part) = parts.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let longest = Duration::try_from_secs_f64(seconds).ok()?;
    overrun("search", took, budget?, (longest, part))
}

/// Returns true if the search has an answer, and did not just reach a limit.
fn is_answered(log: &BisectLog) -> bool {
    let end = log.end();
    end.is_some_and(|end| !matches!(end.answer, BisectAnswer::Open(_)))
}

/// Adds the command that continues the search to the message of an interrupt.
fn goes_on(error: Failure, file: &Path) -> Failure {
    let advice = format!(
        "the races so far are kept; to continue: deadheat bisect --resume {}",
        shell_words::quote(&file.to_string_lossy())
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

/// Begins a search, or continues an unfinished one with the same question.
fn begun(
    args: &BisectArgs,
    recipe: &Recipe,
    arguments: &[String],
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
            "{good} and {bad} are the same commit, so no commit is between them"
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
        say("the working tree has uncommitted changes, which are ignored: only commits are built");
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
    let name = args.record_name(recipe, arguments, &range.good.id, &last.id);
    create_bisect_folder(Path::new("")).map_err(unusable)?;
    let path = bisect_log_path(Path::new(""), &name);
    if path.exists() {
        believed(&path)?;
        let (log, writer) = BisectLogWriter::reopen(&path).map_err(unusable)?;
        if !is_answered(&log) && is_made_here(&digest(&log.request)) {
            say(&format!(
                "continuing the earlier search of this range in {}",
                path.display()
            ));
            return Ok((log, writer));
        }
        drop(writer);
        let aside = set_aside(&path).map_err(unusable)?;
        say(&format!(
            "a new search begins, because the earlier search of this range found its answer, or \
             another user or machine began it; its record is now in {}",
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
                "; {} from merges {} outside the first-parent line (--all-parents searches them)",
                aside,
                if aside == 1 { "lies" } else { "lie" }
            ),
        }
    ));
    // Check the question before the record exists.
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

fn replayed(log: BisectLog) -> Result<Bisection, Failure> {
    let (_, standings) = BisectSearch::replayed(&log)
        .map_err(|error| Failure::Data(format!("the record of the search is invalid: {error}")))?;
    Ok(Bisection {
        log,
        standings,
        details: Vec::new(),
        commands: Vec::new(),
    })
}

fn details(
    commit_builder: &CommitBuilder<'_>,
    log: &BisectLog,
) -> Result<Vec<CommitDetails>, Failure> {
    let Some(end) = log.end() else {
        return Ok(Vec::new());
    };
    // More details would hide the answer.
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

/// Returns the command that searches the commits of a merge, if the culprit is a merge.
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
        let does = "searches the commits of this merge".to_owned();
        (does, with_range(&log.request.command, &range))
    }))
}

/// Returns true if `deadheat explain` accepts this run file.
fn can_explain(run: &Path) -> bool {
    let header = read_header(run);
    header.is_ok_and(|header| header.plan.benchmarks.iter().any(is_countable))
}

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
            let (width, color) = (terminal::width(), answer.color.applies());
            let terminal = Terminal::new(width, color, terminal::speaks_unicode());
            to_stdout(&to_bisect_text(bisection, terminal))?;
            line_to_stdout(&format!("  {}   (--log prints every step)", file.display()))
        }
    }
}

fn tell_story(file: &Path) -> Result<Status, Failure> {
    let log = read_bisect_log(file).map_err(Failure::reading)?;
    let bisection = replayed(log)?;
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    to_stdout(&story(&bisection, glyphs))?;
    Ok(Status::Done)
}
