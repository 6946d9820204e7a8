//! The answer for programs: `deadheat.analysis/1`, described by
//! `docs/schema/analysis-1.schema.json`.
//!
//! The names stand apart from the types in memory, so that neither can change
//! the other by accident. Every effect is a relative change here.

use deadheat_model::{
    Analysis, Better, BlockDiagnostics, Comparison, Control, EndReason, Ending, Estimate,
    FailedBenchmark, GateHit, Idle, IdleIgnore, Interval, Json, LeftOut, LeftOutReason, LogRatio,
    MetricComparison, Object, Side, Spreads, Throughput, Warning,
};

#[cfg(feature = "reports")]
use super::figures::figures;
use super::recorded;
use crate::glyphs::Glyphs;
use crate::rate::Rates;
use crate::sentences::Source;
use crate::warnings;

/// The name and major version of what [`to_json`] writes.
const SCHEMA: &str = "deadheat.analysis/1";

/// The analysis as JSON, indented by two spaces, with a line break at its end.
/// The same analysis gives the same bytes.
pub fn to_json(analysis: &Analysis) -> String {
    let mut text = Json::from(whole(analysis)).pretty();
    text.push('\n');
    text
}

fn whole(analysis: &Analysis) -> Object {
    let (ended, signal, failure) = match &analysis.ending {
        Ending::Recorded(EndReason::Finished) => ("finished", None, None),
        Ending::Recorded(EndReason::Budget) => ("budget", None, None),
        Ending::Recorded(EndReason::Interrupted(signal)) => ("interrupted", Some(*signal), None),
        Ending::Recorded(EndReason::Failed(reason)) => ("failed", None, Some(reason)),
        Ending::Cut => ("cut", None, None),
        Ending::Recording => ("recording", None, None),
    };
    let source = Source::of(analysis);
    let failures = (!analysis.failures.is_empty())
        .then(|| analysis.failures.iter().map(failed).collect::<Json>());
    let left_out = (!analysis.left_out.is_empty()).then(|| {
        analysis
            .left_out
            .iter()
            .map(self::left_out)
            .collect::<Json>()
    });
    let benchmarks = analysis.comparisons.iter();
    let benchmarks: Json = benchmarks.map(|one| comparison(one, source)).collect();
    Object::new()
        .with("schema", SCHEMA)
        .with(
            "tool",
            Object::new().with("version", &analysis.tool_version),
        )
        .with("seed", analysis.seed)
        .with("alpha", analysis.alpha)
        .with("margin", analysis.margin)
        .with_some("config", analysis.gates.config.as_ref())
        .with_some("idle_ignores", idle_ignores(analysis))
        .with("launches", analysis.launches)
        .with("elapsed_s", analysis.elapsed_seconds)
        .with("ended", ended)
        .with_some("signal", signal)
        .with_some("failure", failure)
        .with_some("failures", failures)
        .with_some("left_out", left_out)
        .with_some("sides", recorded::sides(&analysis.sides))
        .with_some("warnings", whole_warnings(analysis, source))
        .with_some("overall", recorded::overall(&analysis.overall))
        .with_some(
            "calibration",
            analysis.calibration.as_ref().map(recorded::calibration),
        )
        .with("benchmarks", benchmarks)
}

/// Doubts that are not those of one benchmark; `None` without any.
fn whole_warnings(analysis: &Analysis, source: Source) -> Option<Json> {
    let warnings = warnings::in_order(&analysis.warnings).into_iter();
    (!analysis.warnings.is_empty()).then(|| warnings.map(|one| warning(one, source)).collect())
}

/// Why a benchmark is not raced, by the words of the run file.
fn left_out(left_out: &LeftOut) -> Object {
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
    let detectable = comparison.minimum_detectable_effect;
    let warnings = warnings::in_order(&comparison.warnings).into_iter();
    #[cfg(feature = "reports")]
    let figures = comparison.figures.as_ref().map(figures);
    #[cfg(not(feature = "reports"))]
    let figures: Option<Object> = None;
    Object::new()
        .with("benchmark", &comparison.benchmark)
        .with_some("parameters", parameters(&comparison.parameters))
        .with_some("label", comparison.label.as_ref())
        .with_some("threads", comparison.threads)
        .with_some("throughput", comparison.throughput.map(throughput))
        .with("metric", comparison.metric.name())
        .with("unit", comparison.metric.unit().name())
        .with("baseline", rated(&comparison.baseline, rates.baseline))
        .with(
            "candidate",
            candidate.map(|side| rated(side, rates.candidate)),
        )
        .with("margin", comparison.margin)
        .with("alpha", comparison.alpha)
        .with("verdict", comparison.verdict.map(|verdict| verdict.name()))
        .with_some("gate", comparison.gate.as_ref().map(gate))
        .with("provisional", comparison.provisional)
        .with("scope", comparison.scope.name())
        .with("change", estimate.map(change))
        .with("ci", interval.map(ends))
        .with("coverage", interval.map(|_| comparison.coverage()))
        .with("confidence", interval.map(|interval| interval.confidence))
        .with("p_value", estimate.and_then(|estimate| estimate.p_value))
        .with("p_adjusted", comparison.p_adjusted)
        .with("p_sign_flip", comparison.p_sign_flip)
        .with("excludes_zero", comparison.excludes_zero)
        .with(
            "minimum_detectable_effect",
            detectable.map(|effect| effect.change()),
        )
        .with("replicates", estimate.map(|estimate| estimate.replicates))
        .with("replicates_to_settle", comparison.replicates_to_settle)
        .with_some("seconds_to_settle", comparison.seconds_to_settle)
        .with("blocks", estimate.map(|estimate| estimate.blocks))
        .with("dropped_blocks", comparison.dropped_blocks)
        .with_some(
            "change_with_dropped",
            comparison.effect_with_dropped.map(|effect| effect.change()),
        )
        .with(
            "diagnostics",
            comparison.diagnostics.as_ref().map(diagnostics),
        )
        .with("figures", figures)
        .with_some("own_link", comparison.own_link.as_ref().map(own_link))
        .with_some("control", comparison.control.as_ref().map(control))
        .with_some("spreads", comparison.spreads.as_ref().map(spreads))
        .with(
            "metrics",
            comparison.metrics.iter().map(metric).collect::<Json>(),
        )
        .with(
            "warnings",
            warnings.map(|one| warning(one, source)).collect::<Json>(),
        )
}

/// The rule that a comparison breaks, and whether the run fails for it.
fn gate(hit: &GateHit) -> Object {
    let excuse = hit.excuse.as_ref();
    Object::new()
        .with("rule", &hit.rule)
        .with("fails", excuse.is_none())
        .with_some("reason", excuse.map(|excuse| &excuse.reason))
        .with_some("until", excuse.and_then(|excuse| excuse.until.as_ref()))
}

/// Entries of the ignore list that excuse nothing; `None` without any.
fn idle_ignores(analysis: &Analysis) -> Option<Json> {
    let entry = |idle: &IdleIgnore| {
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
    };
    let idle = &analysis.gates.idle;
    (!idle.is_empty()).then(|| idle.iter().map(entry).collect())
}

/// A benchmark without an answer.
fn failed(failure: &FailedBenchmark) -> Object {
    Object::new()
        .with("benchmark", &failure.benchmark)
        .with_some("parameters", parameters(&failure.parameters))
        .with("message", &failure.message)
}

/// Parameter values as an object, in the order declared; `None` without any.
fn parameters(parameters: &[(String, String)]) -> Option<Object> {
    let mut values = Object::new();
    for (name, value) in parameters {
        values.push(name.clone().into(), value.into());
    }
    (!parameters.is_empty()).then_some(values)
}

/// What one iteration gets done.
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

fn diagnostics(diagnostics: &BlockDiagnostics) -> Object {
    let relative = |log_ratio: f64| LogRatio(log_ratio).change();
    Object::new()
        .with("drift", relative(diagnostics.drift))
        .with("carry_over", relative(diagnostics.carry_over))
        .with("second_position", relative(diagnostics.second_position))
}

/// The estimate as the user's own link placed the code.
fn own_link(estimate: &Estimate) -> Object {
    let interval = estimate.interval.as_ref();
    Object::new()
        .with("change", change(estimate))
        .with("ci", interval.map(ends))
        .with("confidence", interval.map(|interval| interval.confidence))
        .with("replicates", estimate.replicates)
        .with("blocks", estimate.blocks)
}

/// The baseline against a second copy of itself.
fn control(control: &Control) -> Object {
    let interval = control.estimate.interval.as_ref();
    Object::new()
        .with("change", change(&control.estimate))
        .with("ci", interval.map(ends))
        .with("confidence", interval.map(|interval| interval.confidence))
        .with("separated", control.separated)
}

fn spreads(spreads: &Spreads) -> Object {
    let relative = |sd: f64| LogRatio(sd).change();
    Object::new()
        .with("placement", spreads.placement.map(relative))
        .with("process", spreads.process.map(relative))
        .with("block", relative(spreads.block))
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

/// Which way a metric improves; `None` for a cost, as nearly all are.
fn better(better: Better) -> Option<&'static str> {
    match better {
        Better::Less => None,
        Better::More => Some("more"),
        Better::Unknown => Some("unknown"),
    }
}

fn warning(warning: &Warning, source: Source) -> Object {
    let message = warnings::sentence(warning, source, Glyphs::Ascii);
    Object::new()
        .with("code", warning.code())
        .with("message", message)
}

fn change(estimate: &Estimate) -> f64 {
    estimate.effect.change()
}

pub(super) fn ends(interval: &Interval) -> Json {
    Json::from_iter([interval.low.change(), interval.high.change()])
}
