//! The lines of a run file other than blocks, as they are written.

use std::path::PathBuf;

use deadheat_model::{
    BenchmarkFailure, CalibrationNote, ClockFacts, CounterAccess, EndReason, Environment, Json,
    LeftOut, LeftOutReason, LogRatio, NeutralLinks, Object, Origin, Placed, Placing, RefusedLink,
    RunEnd, RunHeader, Share,
};

use super::written_plan::plan;
use deadheat_model::column_name;

/// The schema written, and the latest that is read.
pub const SCHEMA: &str = "deadheat.run/1";

/// The first line. `Err` gives back a path that cannot be written on this
/// system.
pub(super) fn header(header: &RunHeader) -> Result<Json, PathBuf> {
    let columns = header.metrics.iter().map(column_name);
    let columns: Json = columns.map(|column| column.into_owned()).collect();
    let line = Object::new()
        .with("schema", SCHEMA)
        .with("tool", tool(&header.tool_version))
        .with("started_at", header.started_at)
        .with(
            "origin",
            match header.origin {
                Origin::Race => "race",
                Origin::PairedRecording => "paired-recording",
                Origin::UnpairedRecording => "unpaired-recording",
            },
        )
        .with("seed", header.plan.seed)
        .with("plan", plan(&header.plan)?)
        .with("environment", environment(&header.environment))
        .with("columns", columns)
        .with("tick_ns", header.tick_ns)
        // Absent where nothing was left out.
        .with_some("command", command(&header.command))
        .with_some("left_out", left_out(&header.left_out));
    Ok(line.into())
}

/// The command that runs the race again; `None` when it is not known.
fn command(words: &[String]) -> Option<Json> {
    (!words.is_empty()).then(|| words.iter().collect())
}

fn left_out(left_out: &[LeftOut]) -> Option<Json> {
    let said = |left_out: &LeftOut| {
        let reason = match &left_out.reason {
            LeftOutReason::OnlyIn(contender) => Json::tagged("only-in", contender),
            LeftOutReason::Skipped(message) => Json::tagged("skipped", message),
            LeftOutReason::NotAlike(how) => Json::tagged("not-alike", how),
        };
        Object::new()
            .with("benchmark", &left_out.benchmark)
            .with("reason", reason)
    };
    (!left_out.is_empty()).then(|| left_out.iter().map(said).collect())
}

fn tool(version: &str) -> Object {
    Object::new().with("version", version)
}

fn environment(environment: &Environment) -> Object {
    let counters = environment.counters.as_ref().map(|access| match access {
        CounterAccess::Available => "available".into(),
        CounterAccess::Unavailable(why) => Json::tagged("unavailable", why),
    });
    let links = &environment.neutral_links;
    Object::new()
        .with("system", &environment.system)
        .with("kernel", environment.kernel.as_ref())
        .with("cpu", environment.cpu.as_ref())
        .with("cores", environment.cores)
        .with("governor", environment.governor.as_ref())
        .with("load", environment.load)
        .with(
            "pinned",
            environment.pinned.iter().copied().collect::<Json>(),
        )
        .with("counters", counters)
        // Absent where the clock of the system timed whole processes.
        .with_some("clock", environment.clock.as_ref().map(clock))
        // Absent when false.
        .with_some("debug_build", environment.debug_build.then_some(true))
        // Absent when nobody asked.
        .with_some(
            "neutral_links",
            (!links.is_empty()).then(|| links.iter().map(neutral_links).collect::<Json>()),
        )
        // Absent where the machine was not calibrated.
        .with_some(
            "calibration",
            environment.calibration.as_ref().map(calibration),
        )
}

/// What was known of races of this kind on the machine.
fn calibration(note: &CalibrationNote) -> Object {
    Object::new()
        .with("tool", tool(&note.tool_version))
        .with("started_at", note.started_at)
        .with("kind", note.kind.name())
        .with("false_calls", share(&note.false_calls))
        .with("alpha", note.alpha)
        .with("noise_floor", note.noise_floor.map(LogRatio::change))
}

/// Who makes the neutral links of an executable, or why nobody can.
fn neutral_links(links: &NeutralLinks) -> Object {
    let said = Object::new().with("executable", &links.executable);
    let said = match &links.made_by {
        Ok(linker) => said.with("linker", linker),
        Err(reason) => said.with("impossible", reason),
    };
    said.with_some(
        "unsectioned",
        (!links.unsectioned.is_empty()).then(|| links.unsectioned.iter().collect::<Json>()),
    )
}

fn clock(clock: &ClockFacts) -> Object {
    Object::new()
        .with("source", &clock.source)
        .with("resolution_ns", clock.resolution_ns)
        .with("overhead_ns", clock.overhead_ns)
        .with("fallback", clock.fallback.as_ref())
}

/// Says that a run was taken up again.
#[cfg(feature = "read")]
pub(super) fn resumed(version: &str, started_at: Option<u64>) -> Json {
    let said = Object::new()
        .with("tool", tool(version))
        .with("started_at", started_at);
    Json::tagged("resume", said)
}

/// Says where the code lies in a replicate.
pub(super) fn placed(placed: &Placed) -> Json {
    let contender = |placing: &Placing| match placing {
        Placing::Own => Json::from("own"),
        Placing::Neutral(link) => Object::new()
            .with("seed", link.seed)
            .with("hash", &link.hash)
            .into(),
    };
    let refused = |link: &RefusedLink| {
        Object::new()
            .with("seed", link.seed)
            .with("reason", &link.reason)
    };
    let refused =
        (!placed.refused.is_empty()).then(|| placed.refused.iter().map(refused).collect::<Json>());
    let said = Object::new()
        .with("benchmark", placed.benchmark)
        .with("replicate", placed.replicate)
        .with(
            "contenders",
            placed.contenders.iter().map(contender).collect::<Json>(),
        )
        .with_some("refused", refused)
        .with_some("fallen_back", placed.fallen_back.as_ref());
    Json::tagged("placed", said)
}

/// Says that a benchmark cannot be raced any further.
pub(super) fn failed(failure: &BenchmarkFailure) -> Json {
    let said = Object::new()
        // Its place in the plan, counted from 0.
        .with("benchmark", failure.benchmark)
        .with("message", &failure.message);
    Json::tagged("failed", said)
}

/// Says how a run ended.
pub(super) fn end(end: &RunEnd) -> Json {
    let (reason, signal, message) = match &end.reason {
        EndReason::Finished => ("finished", None, None),
        EndReason::Budget => ("budget", None, None),
        EndReason::Interrupted(signal) => ("interrupted", Some(*signal), None),
        EndReason::Failed(message) => ("failed", None, Some(message)),
    };
    let said = Object::new()
        .with("reason", reason)
        .with("signal", signal)
        .with("message", message)
        .with("launches", end.launches)
        .with("elapsed_ns", end.elapsed_ns);
    Json::tagged("end", said)
}

/// A share and its bounds. What was seen follows from the two counts.
pub(crate) fn share(share: &Share) -> Object {
    Object::new()
        .with("hits", share.hits)
        .with("of", share.of)
        .with("low", share.low)
        .with("high", share.high)
}
