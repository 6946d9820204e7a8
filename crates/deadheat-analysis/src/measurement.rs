//! The measurement of one contender or of a pair, and the comparison that is built from it.

use deadheat_model::{
    Aspects, Benchmark, BenchmarkDetails, Better, Comparison, Estimate, Evidence, Figures, InSuite,
    MetricComparison, Plan, Plots, Side, Terms, Verdict, Warning,
};

use crate::raced::Options;

pub(crate) struct Measurement {
    pub(crate) terms: Terms,
    pub(crate) baseline: Side,
    pub(crate) candidate: Option<Side>,
    pub(crate) metrics: Vec<MetricComparison>,
    pub(crate) estimate: Option<Estimate>,
    /// The verdict that the estimate alone gives, before any check of it.
    pub(crate) verdict: Option<Verdict>,
}

pub(crate) struct Judgement {
    pub(crate) verdict: Option<Verdict>,
    pub(crate) evidence: Evidence,
    pub(crate) aspects: Aspects,
    pub(crate) warnings: Vec<Warning>,
}

pub(crate) struct Drawn {
    pub(crate) figures: Option<Box<Figures>>,
    pub(crate) plots: Option<Box<Plots>>,
}

impl Drawn {
    pub(crate) fn of(figured: Option<(Figures, Option<Box<Plots>>)>, options: Options) -> Self {
        let (figures, plots) = figured.unzip();
        Self {
            figures: figures.filter(|_| !options.without_figures).map(Box::new),
            plots: plots.flatten(),
        }
    }
}

impl Measurement {
    /// Creates a measurement. The typical value of each candidate becomes that of the baseline
    /// times the estimated ratio.
    pub(crate) fn new(
        terms: Terms,
        (baseline, candidate): (Side, Option<Side>),
        metrics: Vec<MetricComparison>,
        (estimate, verdict): (Option<Estimate>, Option<Verdict>),
    ) -> Self {
        // A change of a metric whose better direction is unknown is neither faster nor slower.
        let is_known = terms.metric.better() != Better::Unknown;
        let has_a_direction =
            |verdict: &Verdict| is_known || !matches!(verdict, Verdict::Faster | Verdict::Slower);
        let row = |row: MetricComparison| MetricComparison {
            candidate: following(&row.baseline, row.candidate, row.estimate.as_ref()),
            ..row
        };
        Self {
            terms,
            candidate: following(&baseline, candidate, estimate.as_ref()),
            baseline,
            metrics: metrics.into_iter().map(row).collect(),
            estimate,
            verdict: verdict.filter(has_a_direction),
        }
    }

    /// Returns the comparison, without the results that depend on the other comparisons of the run.
    pub(crate) fn judged(
        self,
        benchmark: &Benchmark,
        judgement: Judgement,
        drawn: Drawn,
    ) -> Comparison {
        Comparison {
            benchmark: benchmark.name.clone(),
            details: details(benchmark),
            terms: self.terms,
            baseline: self.baseline,
            candidate: self.candidate,
            verdict: judgement.verdict,
            estimate: self.estimate,
            evidence: judgement.evidence,
            aspects: judgement.aspects,
            suite: InSuite::default(),
            metrics: self.metrics,
            figures: drawn.figures,
            plots: drawn.plots,
            warnings: judgement.warnings,
        }
    }
}

pub(crate) fn terms(plan: &Plan, benchmark: usize) -> Terms {
    Terms {
        metric: plan.judged(benchmark).clone(),
        quantile: plan.quantile(benchmark),
        margin: plan.margin(benchmark),
        alpha: plan.alpha(benchmark),
    }
}

fn details(benchmark: &Benchmark) -> BenchmarkDetails {
    let saved = benchmark.saved.as_ref();
    BenchmarkDetails {
        parameters: benchmark.parameters.clone(),
        label: saved.and_then(|saved| saved.label.clone()),
        threads: saved.and_then(|saved| saved.threads),
        throughput: benchmark.throughput,
    }
}

/// Returns the candidate with its typical value set to that of the baseline times the estimated
/// ratio; unchanged without an estimate.
fn following(
    baseline: &Side,
    candidate: Option<Side>,
    estimate: Option<&Estimate>,
) -> Option<Side> {
    let candidate = candidate?;
    let Some(estimate) = estimate else {
        return Some(candidate);
    };
    let typical = baseline.typical;
    let typical = typical.map(|typical| typical * estimate.effect.0.exp());
    Some(Side {
        typical: typical.filter(|typical| typical.is_finite()),
        ..candidate
    })
}
