//! A search for programs: `deadheat.bisect-answer/1`, described by
//! `docs/schema/bisect-answer-1.schema.json`.

use deadheat_model::bisect::{
    BisectAnswer, BisectEvent, BisectStanding, Bisection, CommitShare, StepEstimate,
};
use deadheat_model::{Json, Object, column_name};

use super::answer::{BisectTextOptions, to_bisect_text};

/// The name and major version of the schema of [`to_bisect_json`].
const SCHEMA: &str = "deadheat.bisect-answer/1";

/// The search with its answer as JSON, indented by two spaces, with a line break at its end.
pub fn to_bisect_json(bisection: &Bisection) -> String {
    let mut text = Json::from(whole(bisection)).pretty();
    text.push('\n');
    text
}

fn whole(bisection: &Bisection) -> Object {
    let request = &bisection.log.request;
    let id = |commit: usize| request.commits.get(commit).map_or("", |one| &one.id);
    let commits = request.commits.iter().map(|commit| {
        Object::new()
            .with("id", &commit.id)
            .with("committed_at", commit.committed_at)
            .with("subject", &commit.subject)
    });
    let end = bisection.log.end();
    Object::new()
        .with("schema", SCHEMA)
        .with("tool", Object::new().with("version", &request.tool_version))
        .with("started_at", request.started_at)
        .with("good", &request.good)
        .with("bad", &request.bad)
        .with("commits", Json::from_iter(commits))
        .with("metric", column_name(&request.judged).into_owned())
        .with("margin", request.margin.change())
        .with("alpha", request.alpha)
        .with("prior", request.prior.name())
        .with(
            "benchmark",
            bisection.races().next().map(|race| &race.benchmark),
        )
        .with("seconds", bisection.log.seconds())
        .with(
            "answer",
            end.map(|end| answer(&end.answer, &id))
                .map_or(Json::Null, Json::from),
        )
        .with(
            "step",
            end.and_then(|end| end.step.as_ref())
                .map(step)
                .map_or(Json::Null, Json::from),
        )
        .with("within", within(bisection, &id))
        .with("named", named(bisection, &id))
        .with("races", races(bisection, &id))
        .with("unbuildable", unbuildable(bisection, &id))
        .with("alike", alike(bisection, &id))
        .with("summary", summary(bisection))
        .with("commands", commands(bisection))
}

fn answer<'i>(answer: &BisectAnswer, id: &dyn Fn(usize) -> &'i str) -> Object {
    match answer {
        BisectAnswer::Commits(share) => Object::new()
            .with("kind", "commits")
            .with("probability", share.probability)
            .with("commits", ids(share, id)),
        BisectAnswer::NoStep(probability) => Object::new()
            .with("kind", "no-step")
            .with("probability", *probability),
        BisectAnswer::NoSingleStep(several) => Object::new()
            .with("kind", "no-single-step")
            .with("probability", several.probability)
            .with(
                "between",
                Json::from_iter([id(several.from), id(several.to)]),
            ),
        BisectAnswer::Open(open) => Object::new()
            .with("kind", "open")
            .with("reason", open.reason.name())
            .with("no_step", open.no_step)
            .with("candidates", candidates(&open.commits, id)),
    }
}

/// Commits that cannot be told apart, the oldest first.
fn ids<'i>(share: &CommitShare, id: &dyn Fn(usize) -> &'i str) -> Json {
    Json::from_iter((share.first..=share.last).map(id))
}

fn candidates<'i>(shares: &[CommitShare], id: &dyn Fn(usize) -> &'i str) -> Json {
    let one = |share: &CommitShare| {
        Object::new()
            .with("commits", ids(share, id))
            .with("probability", share.probability)
    };
    Json::from_iter(shares.iter().map(one))
}

fn step(step: &StepEstimate) -> Object {
    let interval = [step.low.change(), step.high.change()];
    Object::new()
        .with("change", step.effect.change())
        .with("interval", Json::from_iter(interval))
}

fn within<'i>(bisection: &Bisection, id: &dyn Fn(usize) -> &'i str) -> Json {
    let within = bisection.log.end().and_then(|end| end.within);
    within.map_or(Json::Null, |(from, to)| Json::from_iter([id(from), id(to)]))
}

/// The commits that the answer names, as git tells of them.
fn named<'i>(bisection: &Bisection, id: &dyn Fn(usize) -> &'i str) -> Json {
    let named = bisection.details.iter().map(|details| {
        let file = |(path, lines): &(String, Option<(u64, u64)>)| {
            Object::new()
                .with("path", path)
                .with("added", lines.map(|(added, _)| added))
                .with("removed", lines.map(|(_, removed)| removed))
        };
        Object::new()
            .with("id", id(details.commit))
            .with("author", &details.author)
            .with("files", Json::from_iter(details.files.iter().map(file)))
    });
    Json::from_iter(named)
}

fn races<'i>(bisection: &Bisection, id: &dyn Fn(usize) -> &'i str) -> Json {
    let events = bisection.log.events.iter().zip(&bisection.standings);
    let races = events.filter_map(|(event, standing)| {
        let BisectEvent::Raced(raced) = event else {
            return None;
        };
        let race = standing
            .as_ref()
            .and_then(|standing| standing.race.as_ref());
        let after = standing
            .as_ref()
            .map(|standing| self::standing(standing, id));
        Some(
            Object::new()
                .with("from", id(raced.from))
                .with("to", id(raced.to))
                .with("change", raced.effect.change())
                .with(
                    "interval",
                    race.map(|race| Json::from_iter([race.low.change(), race.high.change()]))
                        .unwrap_or(Json::Null),
                )
                .with("replicates", raced.replicates)
                .with("seconds", raced.seconds)
                .with("cut", raced.was_cut)
                .with("placed", raced.is_placed)
                .with("file", raced.file.display().to_string())
                .with("after", after.map_or(Json::Null, Json::from)),
        )
    });
    Json::from_iter(races)
}

fn standing<'i>(standing: &BisectStanding, id: &dyn Fn(usize) -> &'i str) -> Object {
    let (from, to) = standing.between;
    Object::new()
        .with("between", Json::from_iter([id(from), id(to)]))
        .with("held", standing.held)
        .with("no_step", standing.no_step)
        .with("several", standing.several)
        .with("candidates", candidates(&standing.commits, id))
}

fn unbuildable<'i>(bisection: &Bisection, id: &dyn Fn(usize) -> &'i str) -> Json {
    let failed = bisection.unbuildable().map(|failed| {
        Object::new()
            .with("id", id(failed.commit))
            .with("reason", &failed.reason)
    });
    Json::from_iter(failed)
}

fn alike<'i>(bisection: &Bisection, id: &dyn Fn(usize) -> &'i str) -> Json {
    let pairs = bisection.alike();
    Json::from_iter(
        pairs
            .iter()
            .map(|(from, to)| Json::from_iter([id(*from), id(*to)])),
    )
}

/// The commands that tell more.
fn commands(bisection: &Bisection) -> Json {
    let command = |(does, command): &(String, String)| {
        Object::new().with("does", does).with("command", command)
    };
    Json::from_iter(bisection.commands.iter().map(command))
}

/// The sentence that people read.
fn summary(bisection: &Bisection) -> String {
    let options = BisectTextOptions {
        width: usize::MAX,
        color: false,
        unicode: true,
    };
    let text = to_bisect_text(bisection, &options);
    text.lines().next().unwrap_or_default().trim().to_owned()
}
