//! A calibration as JSON. Every effect is a relative change here.

use deadheat_model::{
    CalibratedKind, Calibration, CalibrationEnd, Detectable, Found, Json, KnownDifference,
    LogRatio, Machine, NoiseFloor, Object, Tally,
};

use crate::run_file::share;

/// The schema written, and the latest that is read.
pub const CALIBRATION_SCHEMA: &str = "deadheat.calibration/1";

/// The calibration as JSON, indented by two spaces, with a line break at its
/// end. The same calibration gives the same bytes.
pub fn calibration_json(calibration: &Calibration) -> String {
    let mut text = Json::from(whole(calibration)).pretty();
    text.push('\n');
    text
}

fn whole(calibration: &Calibration) -> Object {
    let (ended, signal) = match calibration.ending {
        CalibrationEnd::Finished => ("finished", None),
        CalibrationEnd::Budget => ("budget", None),
        CalibrationEnd::Interrupted(signal) => ("interrupted", Some(signal)),
    };
    Object::new()
        .with("schema", CALIBRATION_SCHEMA)
        .with(
            "tool",
            Object::new().with("version", &calibration.tool_version),
        )
        .with("started_at", calibration.started_at)
        .with("machine", machine(&calibration.machine))
        .with("seed", calibration.seed)
        .with("alpha", calibration.alpha)
        .with("margin", calibration.margin)
        .with("max_replicates", calibration.max_replicates)
        .with("quick", calibration.quick)
        // Absent when false.
        .with_some("debug_build", calibration.debug_build.then_some(true))
        .with("elapsed_s", calibration.elapsed_seconds)
        .with("ended", ended)
        .with_some("signal", signal)
        .with(
            "kinds",
            calibration.kinds.iter().map(kind).collect::<Json>(),
        )
}

fn machine(machine: &Machine) -> Object {
    Object::new()
        .with("system", &machine.system)
        .with("kernel", machine.kernel.as_ref())
        .with("cpu", machine.cpu.as_ref())
        .with("cores", machine.cores)
        .with("id", machine.id.as_ref())
}

fn kind(kind: &CalibratedKind) -> Object {
    let detectable = kind.detectable.iter().map(detectable);
    let known = kind.known.iter().map(known);
    Object::new()
        .with("kind", kind.kind.name())
        .with_some("problem", kind.problem.as_ref())
        .with("planned", kind.planned)
        .with("baseline_ns", kind.baseline_ns)
        .with("calls", tally(&kind.calls))
        .with("false_calls", share(&kind.false_calls))
        .with("promise", kind.promise.name())
        .with("noise", kind.noise.as_ref().map(noise))
        .with(
            "replicate",
            kind.cost.map(|cost| {
                Object::new()
                    .with("seconds", cost.seconds)
                    .with("blocks", cost.blocks)
            }),
        )
        .with("detectable", detectable.collect::<Json>())
        .with("known", known.collect::<Json>())
        .with("coverage", kind.coverage.as_ref().map(share))
        .with(
            "coverage_promise",
            kind.coverage_promise.map(|promise| promise.name()),
        )
}

fn tally(tally: &Tally) -> Object {
    Object::new()
        .with("faster", tally.faster)
        .with("slower", tally.slower)
        .with("equivalent", tally.equivalent)
        .with("inconclusive", tally.inconclusive)
}

fn noise(noise: &NoiseFloor) -> Object {
    let change = |effect: LogRatio| effect.change();
    Object::new()
        .with("floor", noise.estimate.change())
        .with("half_width", noise.half_width.map(change))
        .with("process", noise.process.map(change))
        .with("block", noise.block.map(change))
}

fn detectable(detectable: &Detectable) -> Object {
    let found = |found: Found| {
        Object::new()
            .with("replicates", found.replicates)
            .with("change", found.effect.change())
    };
    Object::new()
        .with("budget_s", detectable.budget_seconds)
        .with("at_defaults", detectable.at_defaults.map(found))
        .with("at_most", detectable.at_most.map(found))
}

fn known(known: &KnownDifference) -> Object {
    Object::new()
        .with("change", known.change)
        .with("calls", tally(&known.calls))
        .with("right", share(&known.right))
        .with("wrong", known.wrong)
        .with("covered", known.covered.as_ref().map(share))
        .with("estimate", known.estimate.map(LogRatio::change))
}
