//! The answer for programs: `deadheat.analysis/1`, described by
//! `docs/schema/analysis-1.schema.json`.
//!
//! The wire types stand apart from the types in memory, so that neither can
//! change the other by accident. Every effect is a relative change here.

use deadheat_model::{
    Analysis, BlockDiagnostics, Comparison, EndReason, Ending, Estimate, Interval, LogRatio,
    MetricComparison, Side,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::figures::FiguresWire;
use super::number::Number;
use crate::doubts;
use crate::glyphs::Glyphs;
use crate::sentences::Source;

/// The name and major version of what [`to_json`] writes.
const SCHEMA: &str = "deadheat.analysis/1";

/// The analysis as JSON, indented by two spaces, with a line break at its end.
/// The same analysis gives the same bytes.
pub fn to_json(analysis: &Analysis) -> String {
    let mut text = serde_json::to_string_pretty(&AnalysisWire::new(analysis))
        .expect("strings, numbers and maps with string keys always serialize");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct AnalysisWire<'a> {
    schema: &'static str,
    tool: ToolWire<'a>,
    seed: Option<u64>,
    alpha: Number,
    margin: Number,
    launches: u64,
    elapsed_s: Number,
    ended: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    benchmarks: Vec<ComparisonWire<'a>>,
}

#[derive(Serialize)]
struct ToolWire<'a> {
    version: &'a str,
}

#[derive(Serialize)]
struct ComparisonWire<'a> {
    benchmark: &'a str,
    #[serde(skip_serializing_if = "Parameters::is_empty")]
    parameters: Parameters<'a>,
    metric: &'a str,
    unit: &'static str,
    baseline: SideWire<'a>,
    candidate: Option<SideWire<'a>>,
    verdict: Option<&'static str>,
    provisional: bool,
    scope: &'static str,
    change: Option<Number>,
    ci: Option<[Number; 2]>,
    confidence: Option<Number>,
    p_value: Option<Number>,
    p_adjusted: Option<Number>,
    p_sign_flip: Option<Number>,
    excludes_zero: bool,
    minimum_detectable_effect: Option<Number>,
    replicates: Option<usize>,
    replicates_to_settle: Option<usize>,
    blocks: Option<usize>,
    dropped_blocks: usize,
    diagnostics: Option<DiagnosticsWire>,
    figures: Option<FiguresWire<'a>>,
    metrics: Vec<MetricWire<'a>>,
    warnings: Vec<WarningWire>,
}

#[derive(Serialize)]
struct SideWire<'a> {
    name: &'a str,
    median: Number,
    mean: Number,
    min: Number,
    max: Number,
    stddev: Option<Number>,
    samples: usize,
}

#[derive(Serialize)]
struct DiagnosticsWire {
    drift: Number,
    carry_over: Number,
    second_position: Number,
}

#[derive(Serialize)]
struct MetricWire<'a> {
    metric: &'a str,
    unit: &'static str,
    baseline: SideWire<'a>,
    candidate: Option<SideWire<'a>>,
    change: Option<Number>,
    ci: Option<[Number; 2]>,
}

#[derive(Serialize)]
struct WarningWire {
    code: &'static str,
    message: String,
}

/// Parameter values as an object, in the order declared.
struct Parameters<'a>(&'a [(String, String)]);

impl Parameters<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'a> AnalysisWire<'a> {
    fn new(analysis: &'a Analysis) -> Self {
        let (ended, signal, failure) = match &analysis.ending {
            Ending::Recorded(EndReason::Finished) => ("finished", None, None),
            Ending::Recorded(EndReason::Budget) => ("budget", None, None),
            Ending::Recorded(EndReason::Interrupted(signal)) => {
                ("interrupted", Some(*signal), None)
            }
            Ending::Recorded(EndReason::Failed(reason)) => ("failed", None, Some(reason.as_str())),
            Ending::Cut => ("cut", None, None),
            Ending::Recording => ("recording", None, None),
        };
        let source = Source::of(analysis);
        Self {
            schema: SCHEMA,
            tool: ToolWire {
                version: &analysis.tool_version,
            },
            seed: analysis.seed,
            alpha: Number(analysis.alpha),
            margin: Number(analysis.margin),
            launches: analysis.launches,
            elapsed_s: Number(analysis.elapsed_seconds),
            ended,
            signal,
            failure,
            benchmarks: analysis
                .comparisons
                .iter()
                .map(|comparison| ComparisonWire::new(comparison, source))
                .collect(),
        }
    }
}

impl<'a> ComparisonWire<'a> {
    fn new(comparison: &'a Comparison, source: Source) -> Self {
        let estimate = comparison.estimate.as_ref();
        let interval = estimate.and_then(|estimate| estimate.interval.as_ref());
        Self {
            benchmark: &comparison.benchmark,
            parameters: Parameters(&comparison.parameters),
            metric: comparison.metric.name(),
            unit: comparison.metric.unit().name(),
            baseline: SideWire::new(&comparison.baseline),
            candidate: comparison.candidate.as_ref().map(SideWire::new),
            verdict: comparison.verdict.map(|verdict| verdict.name()),
            provisional: comparison.provisional,
            scope: comparison.scope.name(),
            change: estimate.map(change),
            ci: interval.map(ends),
            confidence: interval.map(|interval| Number(interval.confidence)),
            p_value: estimate.and_then(|estimate| estimate.p_value).map(Number),
            p_adjusted: comparison.p_adjusted.map(Number),
            p_sign_flip: comparison.p_sign_flip.map(Number),
            excludes_zero: comparison.excludes_zero,
            minimum_detectable_effect: comparison
                .minimum_detectable_effect
                .map(|effect| Number(effect.change())),
            replicates: estimate.map(|estimate| estimate.replicates),
            replicates_to_settle: comparison.replicates_to_settle,
            blocks: estimate.map(|estimate| estimate.blocks),
            dropped_blocks: comparison.dropped_blocks,
            diagnostics: comparison.diagnostics.as_ref().map(DiagnosticsWire::new),
            figures: comparison.figures.as_ref().map(FiguresWire::new),
            metrics: comparison.metrics.iter().map(MetricWire::new).collect(),
            warnings: doubts::in_order(&comparison.warnings)
                .into_iter()
                .map(|warning| WarningWire {
                    code: warning.code(),
                    message: doubts::sentence(warning, source, Glyphs::Ascii),
                })
                .collect(),
        }
    }
}

impl<'a> SideWire<'a> {
    fn new(side: &'a Side) -> Self {
        Self {
            name: &side.name,
            median: Number(side.median),
            mean: Number(side.mean),
            min: Number(side.min),
            max: Number(side.max),
            stddev: side.std_dev.map(Number),
            samples: side.samples,
        }
    }
}

impl DiagnosticsWire {
    fn new(diagnostics: &BlockDiagnostics) -> Self {
        let relative = |log_ratio: f64| Number(LogRatio(log_ratio).change());
        Self {
            drift: relative(diagnostics.drift),
            carry_over: relative(diagnostics.carry_over),
            second_position: relative(diagnostics.second_position),
        }
    }
}

impl<'a> MetricWire<'a> {
    fn new(row: &'a MetricComparison) -> Self {
        let estimate = row.estimate.as_ref();
        Self {
            metric: row.metric.name(),
            unit: row.metric.unit().name(),
            baseline: SideWire::new(&row.baseline),
            candidate: row.candidate.as_ref().map(SideWire::new),
            change: estimate.map(change),
            ci: estimate
                .and_then(|estimate| estimate.interval.as_ref())
                .map(ends),
        }
    }
}

fn change(estimate: &Estimate) -> Number {
    Number(estimate.effect.change())
}

pub(super) fn ends(interval: &Interval) -> [Number; 2] {
    [
        Number(interval.low.change()),
        Number(interval.high.change()),
    ]
}
