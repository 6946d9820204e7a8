//! The explanation as JSON: `deadheat.explanation/1`, described by
//! `docs/schema/explanation-1.schema.json`.

use deadheat::parts::model::{Json, Object};
use deadheat::parts::report::json::{self, all, left_out};

use crate::explanation::{ExplainedPair, Explanation, FunctionChange, StackChange};
use crate::profile::ProfileUnit;
use crate::words::relative;

const SCHEMA: &str = "deadheat.explanation/1";

/// Returns the explanation as JSON, indented by two spaces, with a line break at its end.
pub fn to_explanation_json(explanation: &Explanation) -> String {
    let unit = explanation.unit;
    let document = json::document(SCHEMA, &explanation.tool_version)
        .with("by", unit.by())
        .with("unit", unit.key())
        .with("counter", &explanation.counter)
        .with("run", explanation.run.as_ref())
        .with("pairs", all(&explanation.pairs, |one| pair(one, unit)))
        .with("left_out", all(&explanation.left_out, left_out));
    json::text(document)
}

fn pair(pair: &ExplainedPair, unit: ProfileUnit) -> Object {
    let totals = || with_sides(Object::new(), pair.totals).with("change", relative(pair.totals));
    let counted = Object::new()
        .with("what", pair.counted.key())
        .with("iterations", pair.counted.iterations());
    let wall = pair.wall.as_ref().map(|wall| {
        Object::new()
            .with("change", wall.change)
            .with("ci", wall.interval.as_ref().map(json::ends))
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
        .with("functions", all(&pair.functions, function))
        .with("stacks", all(&pair.stacks, stack))
}

fn function(change: &FunctionChange) -> Object {
    let inlined =
        |(file, counts): &(String, [u64; 2])| with_sides(Object::new().with("file", file), *counts);
    Object::new()
        .with("function", &change.function)
        .with("own", with_sides(Object::new(), change.own))
        .with("inclusive", with_sides(Object::new(), change.inclusive))
        .with("inlined", all(&change.inlined, inlined))
}

fn stack(stack: &StackChange) -> Object {
    let frames = Json::from_iter(stack.frames.iter());
    with_sides(Object::new().with("frames", frames), stack.counts)
}

fn with_sides(object: Object, [baseline, candidate]: [u64; 2]) -> Object {
    object
        .with("baseline", baseline)
        .with("candidate", candidate)
}
