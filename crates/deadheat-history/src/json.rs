//! The history as JSON: `deadheat.history/1`, described by `docs/schema/history-1.schema.json`.

use deadheat::parts::model::{Interval, Json, Object};
use deadheat::parts::report::json::{self, all};

use crate::timeline::{
    CommitOrder, History, HistoryMachine, LoopClosure, Timeline, TimelineChange, TimelineCommit,
    TimelinePlateau, TimelineRace,
};
use crate::words::bisecting;

/// The name and major version of the JSON schema.
const SCHEMA: &str = "deadheat.history/1";

/// Returns the history as JSON, indented by two spaces, with a line break at its end.
pub fn to_history_json(history: &History) -> String {
    let machine = |machine: &HistoryMachine| {
        Object::new()
            .with("name", &machine.name)
            .with("cpu", &machine.cpu)
    };
    let index = Object::new()
        .with("runs", history.runs)
        .with("commits", history.commits);
    let range = Object::new()
        .with("commits", history.shown)
        .with("git", history.has_git)
        .with("older", history.older)
        .with("unknown", history.unknown)
        .with("off_line", history.off_line);
    let document = json::document(SCHEMA, &history.tool_version)
        .with("alpha", history.alpha)
        .with("confidence", history.confidence)
        .with("index", index)
        .with("range", range)
        .with("machines", all(&history.machines, machine))
        .with("benchmarks", all(&history.timelines, timeline));
    json::text(document)
}

fn timeline(timeline: &Timeline) -> Object {
    let series = &timeline.series;
    let mut parameters = Object::new();
    for (name, value) in &series.parameters {
        parameters.push(name.clone().into(), value.into());
    }
    let change = |one: &TimelineChange| change(timeline, one);
    Object::new()
        .with("benchmark", &series.benchmark)
        .with("parameters", parameters)
        .with("metric", series.metric.name())
        .with("commits", all(&timeline.commits, commit))
        .with("steps", all(&timeline.steps, change))
        .with("creep", all(&timeline.creep, change))
        .with(
            "plateaus",
            all(&timeline.plateaus, |one| plateau(timeline, one)),
        )
        .with("loops", loops(&timeline.closure))
        .with("unconnected", timeline.unconnected)
        .with("races", all(&timeline.races, |one| race(timeline, one)))
}

fn commit(one: &TimelineCommit) -> Object {
    let order = match one.order {
        CommitOrder::OnLine => "line",
        CommitOrder::ByTime => "time",
    };
    Object::new()
        .with("id", &one.commit.id)
        .with("committed_at", one.commit.committed_at)
        .with("subject", &one.commit.subject)
        .with("order", order)
        .with("skipped", one.skipped)
        .with("part", one.part)
        .with("level", one.level.change())
        .with("interval", one.interval.as_ref().map(interval))
        .with("races", one.races)
        .with("machines", Json::from_iter(one.machines.iter().copied()))
        .with("accepted", one.accepted.as_ref())
}

fn interval(interval: &Interval) -> Object {
    Object::new()
        .with("low", interval.low.change())
        .with("high", interval.high.change())
}

fn change(timeline: &Timeline, change: &TimelineChange) -> Object {
    Object::new()
        .with("from", &timeline.commits[change.from].commit.id)
        .with("to", &timeline.commits[change.to].commit.id)
        .with("change", change.effect.change())
        .with("interval", interval(&change.interval))
        .with("p_value", change.p_value)
        .with("worse", change.is_worse)
        .with("bisect", bisecting(timeline, change))
}

fn plateau(timeline: &Timeline, plateau: &TimelinePlateau) -> Object {
    Object::new()
        .with("first", &timeline.commits[plateau.first].commit.id)
        .with("last", &timeline.commits[plateau.last].commit.id)
        .with("level", plateau.level.change())
}

fn loops(closure: &LoopClosure) -> Object {
    let widened = closure.widened.iter().map(|(machine, factor)| {
        Object::new()
            .with("machine", *machine)
            .with("factor", *factor)
    });
    Object::new()
        .with("chi_squared", closure.chi_squared)
        .with("degrees", closure.degrees)
        .with("p_value", closure.p_value)
        .with("widened", Json::from_iter(widened))
}

/// Returns a race as JSON. A commit that the timeline lacks is null.
fn race(timeline: &Timeline, race: &TimelineRace) -> Object {
    let [from, to] = race
        .places
        .map(|place| place.map(|place| &timeline.commits[place].commit.id));
    Object::new()
        .with("from", from)
        .with("to", to)
        .with("change", race.effect.change())
        .with("se", race.se)
        .with("machine", race.machine)
        .with("run", &race.path)
}
