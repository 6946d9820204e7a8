//! What the answer about saved results has beside that of a race: where they
//! were read from, and the mean over all benchmarks. And what a race quotes of
//! the calibration of its machine.

use deadheat_model::{
    CalibrationNote, Json, LogRatio, Object, Overall, Population, ResultSide, ResultSource,
};

use super::analysis::ends;

/// The files of each side; `None` where deadheat measured.
pub(super) fn sides(sides: &[ResultSide]) -> Option<Json> {
    let side = |side: &ResultSide| {
        Object::new()
            .with("name", &side.name)
            .with("files", side.files.iter().map(file).collect::<Json>())
    };
    (!sides.is_empty()).then(|| sides.iter().map(side).collect())
}

/// A file and what it tells; what it does not tell is left out.
fn file(file: &ResultSource) -> Object {
    let facts = &file.facts;
    Object::new()
        .with("file", &file.source)
        .with("tool", &file.tool)
        .with_some("host", facts.host.as_ref())
        .with_some("system", facts.system.as_ref())
        .with_some("cpu", facts.cpu.as_ref())
        .with_some("cores", facts.cores)
        .with_some("runtime", facts.runtime.as_ref())
        .with_some("date", facts.date.as_ref())
        .with_some("cpu_scaling", facts.cpu_scaling)
        .with_some("debug_build", facts.debug_build)
}

/// The mean over all benchmarks, for each candidate; `None` without any.
pub(super) fn overall(overall: &[Overall]) -> Option<Json> {
    let one = |one: &Overall| {
        let interval = one.estimate.interval.as_ref();
        Object::new()
            .with("candidate", &one.candidate)
            .with("benchmarks", one.benchmarks)
            .with("change", one.estimate.effect.change())
            .with("ci", interval.map(ends))
            .with("confidence", interval.map(|interval| interval.confidence))
            .with("population", population(one.population))
    };
    (!overall.is_empty()).then(|| overall.iter().map(one).collect())
}

/// The benchmarks that an interval speaks of.
fn population(population: Population) -> &'static str {
    match population {
        Population::These => "these",
        Population::LikeThese => "like-these",
    }
}

/// What was known of races of this kind on the machine, by the words of the run
/// file.
pub(super) fn calibration(note: &CalibrationNote) -> Object {
    let calls = &note.false_calls;
    let calls = Object::new()
        .with("hits", calls.hits)
        .with("of", calls.of)
        .with("low", calls.low)
        .with("high", calls.high);
    Object::new()
        .with("tool", Object::new().with("version", &note.tool_version))
        .with("started_at", note.started_at)
        .with("kind", note.kind.name())
        .with("false_calls", calls)
        .with("alpha", note.alpha)
        .with("noise_floor", note.noise_floor.map(LogRatio::change))
}
