//! The answer for programs: `deadheat.analysis/1`, described by
//! `docs/schema/analysis-1.schema.json`.
//!
//! The names stand apart from the types in memory, so that neither can change the other by
//! accident. Every effect is a relative change here.

use std::thread;

use deadheat_model::{
    AcrossHosts, AddressSpace, Analysis, Better, BlockDiagnostics, CalibrationNote, Comparison,
    Confirmation, Control, Disturbance, EndReason, Ending, Estimate, FailedBenchmark, GateHit,
    HostKind, HostRow, Idle, IdleIgnore, Interval, Json, LeftOut, LeftOutReason, Limits, LogRatio,
    MetricComparison, Object, ObservedImage, ObservedProcess, Overall, PackageVersions, Population,
    RacedSideBySide, ResultSide, ResultSource, SharedSuite, Side, Spreads, SuiteLevel,
    Surroundings, Throughput, TurnsReason, Unproven, WaitingShare, Warning,
};

use crate::cells::Rates;
#[cfg(feature = "reports")]
use crate::figures;
use crate::glyphs::Glyphs;
use crate::sentences::Source;
use crate::units;
use crate::warnings;

/// The name and major version of the schema of [`to_json`].
const SCHEMA: &str = "deadheat.analysis/1";

/// The analysis as JSON, indented by two spaces, with a line break at its end. The same analysis
/// gives the same bytes.
pub fn to_json(analysis: &Analysis) -> String {
    text(whole(analysis))
}

/// The beginning of a document: its schema, and the version of deadheat that wrote it.
pub(crate) fn document(schema: &'static str, version: &str) -> Object {
    Object::new()
        .with("schema", schema)
        .with("tool", Object::new().with("version", version))
}

/// The text of a document, indented by two spaces, with a line break at its end.
pub(crate) fn text(document: Object) -> String {
    let mut text = Json::from(document).pretty();
    text.push('\n');
    text
}

/// A list of objects.
pub(crate) fn all<T>(items: &[T], one: impl FnMut(&T) -> Object) -> Json {
    items.iter().map(one).collect()
}

/// A list of objects; `None` without any.
fn some<T>(items: &[T], one: impl FnMut(&T) -> Object) -> Option<Json> {
    (!items.is_empty()).then(|| all(items, one))
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
            (!analysis.warnings.is_empty()).then(|| warnings(&analysis.warnings, source)),
        )
        .with_some("overall", some(&analysis.overall, overall))
        .with_some("calibration", note.map(calibration))
        .with("benchmarks", benchmarks(&analysis.comparisons, source))
}

/// What differs between the sides besides the code under test; `None` if nothing does.
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

/// Fewer comparisons than these are not worth a thread.
const LEAST_PART: usize = 32;

/// All comparisons, written one by one and in parts at once: with their figures 250 of them are five
/// megabytes.
fn benchmarks(comparisons: &[Comparison], source: Source) -> Json {
    // A list in the outermost object.
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

/// The object with the end of a race, and what brought it about where that was no verdict.
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

/// A benchmark that somebody might look for, and why it is not there.
pub(crate) fn left_out(left_out: &LeftOut) -> Object {
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
    #[cfg(feature = "reports")]
    let figures = comparison.figures.as_deref().map(figures::to_json);
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
        .with_some("quantile", comparison.quantile)
        .with("baseline", rated(&comparison.baseline, rates.baseline))
        .with(
            "candidate",
            candidate.map(|side| rated(side, rates.candidate)),
        )
        .with("margin", comparison.margin)
        .with("alpha", comparison.alpha)
        .with("verdict", comparison.verdict.map(|verdict| verdict.name()))
        .with_some("gate", comparison.gate.as_ref().map(gate))
        .with_some("unjudged", comparison.is_unjudged.then_some(true))
        .with_some(
            "confirmation",
            comparison.confirmation.as_ref().map(confirmation),
        )
        .with("provisional", comparison.provisional)
        .with("scope", comparison.scope.name())
        .with_some("matched", comparison.matched.then_some(true))
        .with_some("processes", processes(&comparison.processes))
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
            detectable.map(LogRatio::change),
        )
        .with("replicates", estimate.map(|estimate| estimate.replicates))
        .with("replicates_to_settle", comparison.replicates_to_settle)
        .with_some("seconds_to_settle", comparison.seconds_to_settle)
        .with("blocks", estimate.map(|estimate| estimate.blocks))
        .with("dropped_blocks", comparison.dropped_blocks)
        .with_some(
            "change_with_dropped",
            comparison.effect_with_dropped.map(LogRatio::change),
        )
        .with(
            "diagnostics",
            comparison.diagnostics.as_ref().map(diagnostics),
        )
        .with("figures", figures)
        .with_some("own_link", comparison.own_link.as_ref().map(own_link))
        .with_some(
            "turns_because",
            comparison.turns_because.map(TurnsReason::name),
        )
        .with_some(
            "side_by_side",
            comparison.side_by_side.as_ref().map(side_by_side),
        )
        .with_some("control", comparison.control.as_ref().map(control))
        .with_some("hosts", comparison.hosts.as_ref().map(hosts))
        .with_some("spreads", comparison.spreads.as_ref().map(spreads))
        .with_some("waiting", comparison.waiting.as_ref().map(waiting))
        .with("metrics", all(&comparison.metrics, metric))
        .with("warnings", warnings(&comparison.warnings, source))
}

/// The comparisons that the gate keeps α for together, and the change it would find.
fn gate_suite(suite: &SuiteLevel) -> Object {
    Object::new()
        .with("comparisons", suite.comparisons)
        .with("detectable_change", suite.detectable)
}

/// The second race of a comparison that broke a rule.
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

/// The rule that a comparison breaks, and whether the run fails for it.
fn gate(hit: &GateHit) -> Object {
    let excuse = hit.excuse.as_ref();
    Object::new()
        .with("rule", &hit.rule)
        .with("fails", hit.fails())
        .with_some("unproven", hit.unproven.map(Unproven::name))
        .with_some("reason", excuse.map(|excuse| &excuse.reason))
        .with_some("until", excuse.and_then(|excuse| excuse.until.as_ref()))
}

/// An entry of the ignore list that excuses nothing.
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

/// The work that one iteration gets done.
fn throughput(throughput: Throughput) -> Json {
    match throughput {
        Throughput::Bytes(bytes) => Json::tagged("bytes", bytes),
        Throughput::Items(items) => Json::tagged("items", items),
    }
}

/// What was observed of the processes of both sides; `None` where nothing was.
fn processes(processes: &[ObservedProcess]) -> Option<Json> {
    let process = |process: &ObservedProcess| {
        let image = match &process.image {
            ObservedImage::AsStarted => Some("as-started"),
            ObservedImage::Other(path) => Some(&**path),
            ObservedImage::Unseen => None,
        };
        let addresses = process.addresses.map(|addresses| match addresses {
            AddressSpace::Random => "random",
            AddressSpace::Fixed => "fixed",
        });
        Object::new()
            .with("image", image)
            .with("addresses", addresses)
            .with("keeps_cores", process.keeps_cores)
            .with("padded", process.is_padded)
            .with_some(
                "variables",
                (!process.variables.is_empty())
                    .then(|| process.variables.iter().map(Json::from).collect::<Json>()),
            )
    };
    some(processes, process)
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
    Object::new()
        .with("drift", relative(diagnostics.drift))
        .with("carry_over", relative(diagnostics.carry_over))
        .with("second_position", relative(diagnostics.second_position))
}

/// The object with the change, its interval and the confidence of that.
fn estimated(object: Object, estimate: &Estimate) -> Object {
    let interval = estimate.interval.as_ref();
    object
        .with("change", change(estimate))
        .with("ci", interval.map(ends))
        .with("confidence", interval.map(|interval| interval.confidence))
}

/// The estimate as the user's own link placed the code.
fn own_link(own: &Estimate) -> Object {
    estimated(Object::new(), own)
        .with("replicates", own.replicates)
        .with("blocks", own.blocks)
}

/// What is known of a race side by side beyond its estimate.
fn side_by_side(raced: &RacedSideBySide) -> Object {
    Object::new()
        .with("alone", raced.alone)
        .with_some("in_turns", raced.in_turns.as_ref().map(own_link))
}

/// The baseline against a second copy of itself.
fn control(control: &Control) -> Object {
    estimated(Object::new(), &control.estimate).with("separated", control.separated)
}

/// The hosts that several machines raced on, and how far they differ.
fn hosts(across: &AcrossHosts) -> Object {
    let parts = |parts: &[u32]| parts.iter().map(|part| Json::from(*part)).collect::<Json>();
    let host = |host: &HostRow| {
        let object = Object::new()
            .with("parts", parts(&host.parts))
            .with_some("cpu", host.cpu.as_ref());
        let object = estimated(object, &host.estimate)
            .with("replicates", host.estimate.replicates)
            .with("left_out", host.left_out)
            .with_some("control", host.control.as_ref().map(control));
        let Limits { cores, memory } = host.conditions.limits;
        let limits = Object::new()
            .with_some("cores", cores)
            .with_some("memory", memory);
        let is_limited = cores.is_some() || memory.is_some();
        let disturbance = |one: &Disturbance| {
            Object::new()
                .with("name", &one.name)
                .with("found", &one.found)
        };
        object
            .with_some("limits", is_limited.then_some(limits))
            .with_some(
                "disturbances",
                some(&host.conditions.disturbances, disturbance),
            )
    };
    let kind = |kind: &HostKind| {
        let interval = kind.interval.as_ref();
        Object::new()
            .with("cpu", &kind.cpu)
            .with("hosts", kind.hosts)
            .with("change", kind.effect.change())
            .with("ci", interval.map(ends))
    };
    Object::new()
        .with("like_these", across.like_these)
        .with("next_host", across.next_host.as_ref().map(ends))
        .with("q", across.q)
        .with("i_squared", across.i_squared)
        .with("p_differ", across.p_differ)
        .with("host_sd", across.host_sd.map(LogRatio::change))
        .with("hosts_to_settle", across.hosts_to_settle)
        .with("missing", parts(&across.missing))
        .with_some("kinds", some(&across.kinds, kind))
        .with("hosts", all(&across.hosts, host))
}

/// The time spent waiting for a core, and the estimate with it where it was taken out.
fn waiting(waiting: &WaitingShare) -> Object {
    let object = Object::new()
        .with("baseline", waiting.baseline)
        .with("candidate", waiting.candidate)
        .with("taken_out", waiting.taken_out);
    match &waiting.kept {
        Some(kept) => estimated(object, kept),
        None => object,
    }
}

fn spreads(spreads: &Spreads) -> Object {
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

/// The way a metric improves; `None` for a cost, as nearly all are.
fn better(better: Better) -> Option<&'static str> {
    match better {
        Better::Less => None,
        Better::More => Some("more"),
        Better::Unknown => Some("unknown"),
    }
}

/// Warnings in the order of a report.
fn warnings(warnings: &[Warning], source: Source) -> Json {
    let warnings = warnings::in_order(warnings).into_iter();
    let object = |one: &Warning| {
        let message = warnings::sentence(one, source, Glyphs::Ascii);
        Object::new()
            .with("code", one.code())
            .with("message", message)
    };
    warnings.map(object).collect()
}

fn change(estimate: &Estimate) -> f64 {
    estimate.effect.change()
}

/// The ends of an interval, as relative changes.
pub(crate) fn ends(interval: &Interval) -> Json {
    Json::from_iter(units::ends(interval))
}

/// The files of one side of saved results.
fn side_files(side: &ResultSide) -> Object {
    Object::new()
        .with("name", &side.name)
        .with("files", all(&side.files, file))
}

/// A file and the facts it tells; those it does not tell are left out.
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

/// The mean over all benchmarks for one candidate, and the benchmarks its interval speaks of.
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

/// The calibration of the machine for races of this kind, by the words of the run file.
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

/// A standard deviation, or another logarithm, as a relative change.
fn relative(log_ratio: f64) -> f64 {
    LogRatio(log_ratio).change()
}
