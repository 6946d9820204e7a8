//! The JSON of an analysis: `deadheat.analysis/1`, described by
//! `docs/schema/analysis-1.schema.json`.
//!
//! The names of JSON fields are written out here, so that renaming a type or field in memory cannot
//! change the format by accident. The document contains relative changes instead of log-ratios.

use std::thread;

use deadheat_model::{
    Analysis, Better, CalibrationNote, Comparison, Confirmation, EndReason, Ending,
    FailedBenchmark, GateHit, Idle, IdleIgnore, Json, LeftOut, LeftOutReason, LogRatio,
    MetricComparison, Object, Overall, PackageVersions, Population, ResultSide, ResultSource,
    SharedSuite, Side, SuiteLevel, Surroundings, Throughput, Unproven, Warning,
};

use crate::aspects::{self, order_effects, placement};
use crate::cells::Rates;
#[cfg(feature = "reports")]
use crate::figures;
use crate::glyphs::Glyphs;
pub use crate::json_parts::{all, ends};
use crate::json_parts::{change, estimated, some};
use crate::sentences::Source;
use crate::warnings;

const SCHEMA: &str = "deadheat.analysis/1";

/// Formats the analysis as JSON, indented by two spaces, with a final line break. The same analysis
/// always gives the same bytes.
pub fn to_json(analysis: &Analysis) -> String {
    text(whole(analysis))
}

/// Returns the first fields of a document: its schema, and the version of deadheat that wrote it.
pub fn document(schema: &'static str, version: &str) -> Object {
    Object::new()
        .with("schema", schema)
        .with("tool", Object::new().with("version", version))
}

/// Formats a document, indented by two spaces, with a final line break.
pub fn text(document: Object) -> String {
    let mut text = Json::from(document).pretty();
    text.push('\n');
    text
}

fn whole(analysis: &Analysis) -> Object {
    let source = Source::of(analysis);
    let note = analysis.calibration.as_ref();
    let builds: Vec<Json> = analysis.builds.iter().map(Json::from).collect();
    let object = document(SCHEMA, &analysis.tool_version)
        .with("seed", analysis.seed)
        .with("alpha", analysis.design.alpha)
        .with("margin", analysis.design.margin)
        .with_some("config", analysis.gates.config.as_ref())
        .with_some("gate_suite", analysis.gates.suite.as_ref().map(gate_suite))
        .with_some("idle_ignores", some(&analysis.gates.idle, idle_ignore))
        .with("launches", analysis.launches)
        .with("elapsed_s", analysis.elapsed_seconds);
    let second_race = analysis.second_race.as_ref();
    ended(object, &analysis.ending)
        .with_some(
            "second_race",
            second_race.map(|ending| ended(Object::new(), ending)),
        )
        .with_some("failures", some(&analysis.failures, failed))
        .with_some("left_out", some(&analysis.left_out, left_out))
        .with_some("builds", (!builds.is_empty()).then_some(builds))
        .with_some("surroundings", surroundings(&analysis.surroundings))
        .with_some("sides", some(&analysis.sides, side_files))
        .with_some(
            "warnings",
            (!analysis.warnings.is_empty()).then(|| warnings(&analysis.warnings, None, source)),
        )
        .with_some("overall", some(&analysis.overall, overall))
        .with_some("calibration", note.map(calibration))
        .with("benchmarks", benchmarks(&analysis.comparisons, source))
}

/// Returns the JSON of the differences between the two sides other than the code under test, such
/// as packages; `None` if there are none.
fn surroundings(surroundings: &Surroundings) -> Option<Object> {
    let versions = |package: &PackageVersions| {
        Object::new()
            .with("name", &package.name)
            .with("baseline", package.baseline.as_ref())
            .with("candidate", package.candidate.as_ref())
    };
    let suite = |suite: &SharedSuite| {
        Object::new()
            .with("side", &suite.side)
            .with("files", suite.files.iter().collect::<Json>())
    };
    let interpreters = &surroundings.interpreters;
    let packages = &surroundings.packages;
    let is_empty = surroundings.suite.is_none() && interpreters.is_empty() && packages.is_empty();
    (!is_empty).then(|| {
        Object::new()
            .with_some("suite", surroundings.suite.as_ref().map(suite))
            .with_some(
                "interpreters",
                (!interpreters.is_empty()).then(|| interpreters.iter().collect::<Json>()),
            )
            .with_some(
                "packages",
                (!packages.is_empty()).then(|| all(packages, versions)),
            )
            .with_some("chosen", surroundings.chosen.then_some(true))
    })
}

/// Minimum number of comparisons per thread. With fewer, starting a thread takes longer than it
/// saves.
const LEAST_PART: usize = 32;

/// Returns the JSON of all comparisons, written by several threads. With their figures, 250
/// comparisons are 5 MB of JSON.
fn benchmarks(comparisons: &[Comparison], source: Source) -> Json {
    // `2` is the nesting depth of a list in the outermost object.
    let written = |one: &Comparison| Json::from(comparison(one, source)).written(2);
    let part = |some: &[Comparison]| some.iter().map(written).collect::<Vec<Json>>();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let parts = cores.min(comparisons.len() / LEAST_PART).max(1);
    let (mine, others) = comparisons.split_at(comparisons.len().div_ceil(parts));
    thread::scope(|scope| {
        let others = others.chunks(mine.len().max(1));
        let others: Vec<_> = others.map(|some| scope.spawn(move || part(some))).collect();
        let mut all = part(mine);
        for other in others {
            match other.join() {
                Ok(some) => all.extend(some),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Json::List(all)
    })
}

fn ended(object: Object, ending: &Ending) -> Object {
    let (ended, signal, failure) = match ending {
        Ending::Recorded(EndReason::Finished) => ("finished", None, None),
        Ending::Recorded(EndReason::Budget) => ("budget", None, None),
        Ending::Recorded(EndReason::Interrupted(signal)) => ("interrupted", Some(*signal), None),
        Ending::Recorded(EndReason::Failed(reason)) => ("failed", None, Some(reason)),
        Ending::Cut => ("cut", None, None),
        Ending::Recording => ("recording", None, None),
    };
    object
        .with("ended", ended)
        .with_some("signal", signal)
        .with_some("failure", failure)
}

/// Returns the JSON of a benchmark that is not compared, with the reason.
pub fn left_out(left_out: &LeftOut) -> Object {
    let (reason, side, message) = match &left_out.reason {
        LeftOutReason::OnlyIn(side) => ("only-in", Some(side), None),
        LeftOutReason::Skipped(message) => ("skipped", None, Some(message)),
        LeftOutReason::NotAlike(message) => ("not-alike", None, Some(message)),
    };
    Object::new()
        .with("benchmark", &left_out.benchmark)
        .with("reason", reason)
        .with_some("side", side)
        .with_some("message", message)
}

fn comparison(comparison: &Comparison, source: Source) -> Object {
    let estimate = comparison.estimate.as_ref();
    let interval = estimate.and_then(|estimate| estimate.interval.as_ref());
    let rates = Rates::of(comparison);
    let candidate = comparison.candidate.as_ref();
    let aspects = &comparison.aspects;
    let (dropped, settling) = (aspects.dropped, aspects.settling);
    let detectable = comparison.evidence.minimum_detectable_effect;
    #[cfg(feature = "reports")]
    let figures = comparison.figures.as_deref().map(figures::to_json);
    #[cfg(not(feature = "reports"))]
    let figures: Option<Object> = None;
    let object = Object::new()
        .with("benchmark", &comparison.benchmark)
        .with_some("parameters", parameters(&comparison.details.parameters))
        .with_some("label", comparison.details.label.as_ref())
        .with_some("threads", comparison.details.threads)
        .with_some("throughput", comparison.details.throughput.map(throughput))
        .with("metric", comparison.terms.metric.name())
        .with("unit", comparison.terms.metric.unit().name())
        .with_some("quantile", comparison.terms.quantile)
        .with("baseline", rated(&comparison.baseline, rates.baseline))
        .with(
            "candidate",
            candidate.map(|side| rated(side, rates.candidate)),
        )
        .with("margin", comparison.terms.margin)
        .with("alpha", comparison.terms.alpha)
        .with("verdict", comparison.verdict.map(|verdict| verdict.name()))
        .with_some("gate", comparison.suite.gate.as_ref().map(gate))
        .with_some("unjudged", comparison.suite.is_unjudged.then_some(true))
        .with_some(
            "confirmation",
            comparison.suite.confirmation.as_ref().map(confirmation),
        )
        .with("provisional", comparison.evidence.provisional)
        .with("scope", comparison.evidence.scope.name())
        .with_some("matched", aspects.matched.then_some(true))
        .with_some("processes", placement::processes_json(&aspects.processes))
        .with("change", estimate.map(change))
        .with("ci", interval.map(ends))
        .with("coverage", interval.map(|_| comparison.coverage()))
        .with("confidence", interval.map(|interval| interval.confidence))
        .with("p_value", estimate.and_then(|estimate| estimate.p_value))
        .with("p_adjusted", comparison.suite.p_adjusted)
        .with("p_sign_flip", comparison.evidence.p_sign_flip)
        .with("excludes_zero", comparison.evidence.excludes_zero)
        .with(
            "minimum_detectable_effect",
            detectable.map(LogRatio::change),
        )
        .with("replicates", estimate.map(|estimate| estimate.replicates))
        .with("replicates_to_settle", settling.map(|more| more.replicates))
        .with_some("seconds_to_settle", settling.and_then(|more| more.seconds))
        .with("blocks", estimate.map(|estimate| estimate.blocks))
        .with("dropped_blocks", aspects.dropped_blocks())
        .with_some(
            "change_with_dropped",
            dropped
                .and_then(|dropped| dropped.effect_with_them)
                .map(LogRatio::change),
        )
        .with("diagnostics", order_effects::to_json(aspects))
        .with("figures", figures);
    aspects::with_json(object, aspects)
        .with("metrics", all(&comparison.metrics, metric))
        .with(
            "warnings",
            warnings(&comparison.warnings, Some(comparison), source),
        )
}

/// Returns the JSON of the correction for all comparisons of a gate: their number, and the change
/// that the gate finds with 80% power.
fn gate_suite(suite: &SuiteLevel) -> Object {
    Object::new()
        .with("comparisons", suite.comparisons)
        .with("detectable_change", suite.detectable)
}

fn confirmation(second: &Confirmation) -> Object {
    let estimate = second.estimate.as_ref();
    let interval = estimate.and_then(|estimate| estimate.interval.as_ref());
    Object::new()
        .with("confirmed", second.agrees)
        .with("verdict", second.verdict.map(|verdict| verdict.name()))
        .with("change", estimate.map(change))
        .with("ci", interval.map(ends))
        .with("alpha", second.alpha)
}

fn gate(hit: &GateHit) -> Object {
    let excuse = hit.excuse.as_ref();
    Object::new()
        .with("rule", &hit.rule)
        .with("fails", hit.fails())
        .with_some("unproven", hit.unproven.map(Unproven::name))
        .with_some("reason", excuse.map(|excuse| &excuse.reason))
        .with_some("until", excuse.and_then(|excuse| excuse.until.as_ref()))
}

fn idle_ignore(idle: &IdleIgnore) -> Object {
    let (why, until, broken) = match &idle.why {
        Idle::NoBenchmark => ("no-benchmark", None, None),
        Idle::NothingBroken => ("nothing-broken", None, None),
        Idle::Expired { until, broken } => ("expired", Some(until), Some(*broken)),
    };
    Object::new()
        .with("name", &idle.name)
        .with_some("rule", idle.rule.as_ref())
        .with("line", idle.line)
        .with("why", why)
        .with_some("until", until)
        .with_some("broken", broken)
}

fn failed(failure: &FailedBenchmark) -> Object {
    Object::new()
        .with("benchmark", &failure.benchmark)
        .with_some("parameters", parameters(&failure.parameters))
        .with("message", &failure.message)
}

/// Returns parameter values as an object, in the order of their declaration; `None` if there are
/// none.
fn parameters(parameters: &[(String, String)]) -> Option<Object> {
    let mut values = Object::new();
    for (name, value) in parameters {
        values.push(name.clone().into(), value.into());
    }
    (!parameters.is_empty()).then_some(values)
}

fn throughput(throughput: Throughput) -> Json {
    match throughput {
        Throughput::Bytes(bytes) => Json::tagged("bytes", bytes),
        Throughput::Items(items) => Json::tagged("items", items),
    }
}

fn side(side: &Side) -> Object {
    Object::new()
        .with("name", &side.name)
        .with("typical", side.typical)
        .with("median", side.median)
        .with("mean", side.mean)
        .with("min", side.min)
        .with("max", side.max)
        .with("stddev", side.std_dev)
        .with("samples", side.samples)
}

fn rated(one: &Side, rate: Option<f64>) -> Object {
    side(one).with_some("rate", rate)
}

fn metric(row: &MetricComparison) -> Object {
    let estimate = row.estimate.as_ref();
    let interval = estimate.and_then(|estimate| estimate.interval.as_ref());
    Object::new()
        .with("metric", row.metric.name())
        .with("unit", row.metric.unit().name())
        .with_some("better", better(row.metric.better()))
        .with("baseline", side(&row.baseline))
        .with("candidate", row.candidate.as_ref().map(side))
        .with("change", estimate.map(change))
        .with("ci", interval.map(ends))
        .with("verdict", row.verdict.map(|verdict| verdict.name()))
}

/// Returns the JSON name of the better direction; `None` for a cost, which is the usual case.
fn better(better: Better) -> Option<&'static str> {
    match better {
        Better::Less => None,
        Better::More => Some("more"),
        Better::Unknown => Some("unknown"),
    }
}

/// Returns the JSON of warnings, in the order in which reports show them.
fn warnings(warnings: &[Warning], of: Option<&Comparison>, source: Source) -> Json {
    let warnings = warnings::in_order(warnings).into_iter();
    let object = |one: &Warning| {
        let message = warnings::sentence(one, of, source, Glyphs::Ascii);
        Object::new()
            .with("code", one.code())
            .with("message", message)
    };
    warnings.map(object).collect()
}

fn side_files(side: &ResultSide) -> Object {
    Object::new()
        .with("name", &side.name)
        .with("files", all(&side.files, file))
}

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

/// Returns the JSON of one candidate's mean over all benchmarks. It also states whether the
/// interval of this mean is about these benchmarks only, or about similar benchmarks too.
fn overall(one: &Overall) -> Object {
    let population = match one.population {
        Population::These => "these",
        Population::LikeThese => "like-these",
    };
    let object = Object::new()
        .with("candidate", &one.candidate)
        .with("benchmarks", one.benchmarks);
    estimated(object, &one.estimate).with("population", population)
}

/// Returns the JSON of the calibration of the machine, with the same field names as in the run
/// file.
fn calibration(note: &CalibrationNote) -> Object {
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
