//! The explanation for programs: `deadheat.explanation/1`, described by
//! `docs/schema/explanation-1.schema.json`.

use deadheat_model::{
    ExplainedPair, Explanation, FunctionChange, Json, Object, ProfileUnit, StackChange,
};

use super::answer::relative;
use crate::json::left_out;
use crate::units::ends;

/// The name and major version of the schema of [`to_explanation_json`].
const SCHEMA: &str = "deadheat.explanation/1";

/// The explanation as JSON, indented by two spaces, with a line break at its end.
pub fn to_explanation_json(explanation: &Explanation) -> String {
    let unit = explanation.unit;
    let pairs = Json::from_iter(explanation.pairs.iter().map(|one| pair(one, unit)));
    let whole = Object::new()
        .with("schema", SCHEMA)
        .with(
            "tool",
            Object::new().with("version", &explanation.tool_version),
        )
        .with("by", explanation.unit.by())
        .with("unit", explanation.unit.key())
        .with("counter", &explanation.counter)
        .with("run", explanation.run.as_ref())
        .with("pairs", pairs)
        .with(
            "left_out",
            Json::from_iter(explanation.left_out.iter().map(left_out)),
        );
    let mut text = Json::from(whole).pretty();
    text.push('\n');
    text
}

fn pair(pair: &ExplainedPair, unit: ProfileUnit) -> Object {
    let totals = || sides(pair.totals).with("change", relative(pair.totals));
    let counted = Object::new()
        .with("what", pair.counted.key())
        .with("iterations", pair.counted.iterations());
    let wall = pair.wall.as_ref().map(|wall| {
        let ends = wall
            .interval
            .as_ref()
            .map(|interval| Json::from_iter(ends(interval)));
        Object::new()
            .with("change", wall.change)
            .with("ci", ends)
            .with("verdict", wall.verdict.name())
    });
    Object::new()
        .with("benchmark", &pair.benchmark)
        .with("baseline", &pair.names[0])
        .with("candidate", &pair.names[1])
        .with("counted", counted)
        .with("totals", totals())
        .with("instructions", (!unit.is_sampled()).then(totals))
        .with("wall", wall)
        .with("finding", pair.finding.key())
        .with(
            "functions",
            Json::from_iter(pair.functions.iter().map(function)),
        )
        .with("stacks", Json::from_iter(pair.stacks.iter().map(stack)))
}

fn function(change: &FunctionChange) -> Object {
    let inlined = change.inlined.iter().map(|(file, counts)| {
        Object::new()
            .with("file", file)
            .with("baseline", counts[0])
            .with("candidate", counts[1])
    });
    Object::new()
        .with("function", &change.function)
        .with("own", sides(change.own))
        .with("inclusive", sides(change.inclusive))
        .with("inlined", Json::from_iter(inlined))
}

fn stack(stack: &StackChange) -> Object {
    let frames = Json::from_iter(stack.frames.iter());
    Object::new()
        .with("frames", frames)
        .with("baseline", stack.counts[0])
        .with("candidate", stack.counts[1])
}

fn sides([baseline, candidate]: [u64; 2]) -> Object {
    Object::new()
        .with("baseline", baseline)
        .with("candidate", candidate)
}
