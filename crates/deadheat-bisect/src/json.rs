//! The answer of a search as JSON, `deadheat.bisect-answer/1`, described by
//! `docs/schema/bisect-answer-1.schema.json`.

use deadheat::parts::model::{Json, LeftOut, Object, column_name};
use deadheat::parts::report::Terminal;
use deadheat::parts::report::json::{self, all};

use crate::log::{
    BisectAnswer, BisectCommit, BisectEvent, BisectRequest, BisectStanding, Bisection, CommitShare,
    StepEstimate, UnmeasuredBenchmark, UnmeasuredReason,
};
use crate::page::to_bisect_text;
use crate::words::bounds;

/// The name and major version of the schema of [`to_bisect_json`].
const SCHEMA: &str = "deadheat.bisect-answer/1";

/// Renders the search with its answer as JSON, indented by two spaces, with a line break at its
/// end.
pub fn to_bisect_json(bisection: &Bisection) -> String {
    let request = &bisection.log.request;
    let commit = |commit: &BisectCommit| {
        Object::new()
            .with("id", &commit.id)
            .with("committed_at", commit.committed_at)
            .with("subject", &commit.subject)
    };
    let end = bisection.log.end();
    let within = end.and_then(|end| end.within);
    let document = json::document(SCHEMA, &request.tool_version)
        .with("started_at", request.started_at)
        .with("good", &request.good)
        .with("bad", &request.bad)
        .with("commits", all(&request.commits, commit))
        .with("metric", column_name(bisection.log.judged()).into_owned())
        .with("margin", request.margin.change())
        .with("alpha", request.alpha)
        .with("prior", request.prior.name())
        .with(
            "benchmark",
            bisection.races().next().map(|race| &race.benchmark),
        )
        .with("changed", changed(bisection))
        .with("unmeasured", all(bisection.log.unmeasured(), unmeasured))
        .with("seconds", bisection.log.seconds())
        .with("answer", end.map(|end| answer(&end.answer, request)))
        .with("step", end.and_then(|end| end.step.as_ref()).map(step))
        .with("within", within.map(|ends| pair(ends, request)))
        .with("named", named(bisection))
        .with("races", races(bisection))
        .with("unbuildable", unbuildable(bisection))
        .with("alike", alike(bisection))
        .with("summary", summary(bisection))
        .with("commands", commands(bisection));
    json::text(document)
}

/// Returns the other benchmarks that changed between GOOD and BAD.
fn changed(bisection: &Bisection) -> Json {
    let chosen = bisection.log.chosen();
    let asked = &bisection.log.request.judged;
    let called = chosen.into_iter().flat_map(|chosen| {
        let changes = chosen.changes.iter().map(|change| Some(change.change()));
        let changes = changes.chain(std::iter::repeat(None));
        let metrics = chosen.metrics_of_called(asked);
        chosen.called.iter().zip(changes.zip(metrics))
    });
    Json::from_iter(called.map(|(benchmark, (change, metric))| {
        Object::new()
            .with("benchmark", benchmark)
            .with("change", change)
            .with("metric", column_name(metric).into_owned())
    }))
}

fn unmeasured(one: &UnmeasuredBenchmark) -> Object {
    let (reason, message) = match &one.reason {
        UnmeasuredReason::LeftOut(reason) => {
            return json::left_out(&LeftOut {
                benchmark: one.benchmark.clone(),
                reason: reason.clone(),
            });
        }
        UnmeasuredReason::Failed(message) => ("failed", Some(message)),
        UnmeasuredReason::TooFewReplicates => ("too-few-replicates", None),
    };
    Object::new()
        .with("benchmark", &one.benchmark)
        .with("reason", reason)
        .with_some("message", message)
}

fn id(commit: usize, request: &BisectRequest) -> &str {
    request.commits.get(commit).map_or("", |one| &one.id)
}

fn pair((from, to): (usize, usize), request: &BisectRequest) -> Json {
    Json::from_iter([id(from, request), id(to, request)])
}

fn answer(answer: &BisectAnswer, request: &BisectRequest) -> Object {
    match answer {
        BisectAnswer::Commits(share) => Object::new()
            .with("kind", "commits")
            .with("probability", share.probability)
            .with("commits", ids(share, request)),
        BisectAnswer::NoStep(probability) => Object::new()
            .with("kind", "no-step")
            .with("probability", *probability),
        BisectAnswer::NoSingleStep(several) => Object::new()
            .with("kind", "no-single-step")
            .with("probability", several.probability)
            .with("between", pair((several.from, several.to), request)),
        BisectAnswer::Open(open) => Object::new()
            .with("kind", "open")
            .with("reason", open.reason.name())
            .with("no_step", open.no_step)
            .with("candidates", candidates(&open.commits, request)),
    }
}

fn ids(share: &CommitShare, request: &BisectRequest) -> Json {
    Json::from_iter((share.first..=share.last).map(|commit| id(commit, request)))
}

fn candidates(shares: &[CommitShare], request: &BisectRequest) -> Json {
    all(shares, |share| {
        Object::new()
            .with("commits", ids(share, request))
            .with("probability", share.probability)
    })
}

fn step(step: &StepEstimate) -> Object {
    Object::new()
        .with("change", step.effect.change())
        .with("interval", ends(step))
}

fn ends(step: &StepEstimate) -> Json {
    json::ends(&bounds(step))
}

fn named(bisection: &Bisection) -> Json {
    all(&bisection.details, |details| {
        let file = |(path, lines): &(String, Option<(u64, u64)>)| {
            Object::new()
                .with("path", path)
                .with("added", lines.map(|(added, _)| added))
                .with("removed", lines.map(|(_, removed)| removed))
        };
        Object::new()
            .with("id", id(details.commit, &bisection.log.request))
            .with("author", &details.author)
            .with("files", all(&details.files, file))
    })
}

fn races(bisection: &Bisection) -> Json {
    let request = &bisection.log.request;
    let events = bisection.log.events.iter().zip(&bisection.standings);
    let races = events.filter_map(|(event, standing)| {
        let BisectEvent::Raced(raced) = event else {
            return None;
        };
        let standing = standing.as_ref();
        let race = standing.and_then(|standing| standing.race.as_ref());
        let after = standing.map(|standing| self::standing(standing, request));
        Some(
            Object::new()
                .with("from", id(raced.from, request))
                .with("to", id(raced.to, request))
                .with("change", raced.effect.change())
                .with("interval", race.map(ends))
                .with("replicates", raced.replicates)
                .with("seconds", raced.seconds)
                .with("cut", raced.was_cut)
                .with("placed", raced.is_placed)
                .with("file", raced.file.display().to_string())
                .with("after", after),
        )
    });
    Json::from_iter(races)
}

fn standing(standing: &BisectStanding, request: &BisectRequest) -> Object {
    Object::new()
        .with("between", pair(standing.between, request))
        .with("held", standing.held)
        .with("no_step", standing.no_step)
        .with("several", standing.several)
        .with("candidates", candidates(&standing.commits, request))
}

fn unbuildable(bisection: &Bisection) -> Json {
    let failed = bisection.unbuildable().map(|failed| {
        Object::new()
            .with("id", id(failed.commit, &bisection.log.request))
            .with("reason", &failed.reason)
    });
    Json::from_iter(failed)
}

fn alike(bisection: &Bisection) -> Json {
    let pairs = bisection.alike().into_iter();
    Json::from_iter(pairs.map(|ends| pair(ends, &bisection.log.request)))
}

fn commands(bisection: &Bisection) -> Json {
    let command = |(does, command): &(String, String)| {
        Object::new().with("does", does).with("command", command)
    };
    all(&bisection.commands, command)
}

fn summary(bisection: &Bisection) -> String {
    let text = to_bisect_text(bisection, Terminal::new(usize::MAX, false, true));
    text.lines().next().unwrap_or_default().trim().to_owned()
}
