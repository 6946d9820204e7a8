//! Laws that must hold for the analysis of any file that could be read, however odd.

pub mod on_disk;
pub mod saved;

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::model::{Analysis, Comparison, Estimate, Metric, Run, Side};
use deadheat::parts::report::{
    CommentOptions, TextOptions, to_comment, to_json, to_junit, to_markdown, to_page, to_pictures,
    to_text,
};
use deadheat_import::RecordingPlan;

/// The plan of a recording.
pub fn recording_plan() -> RecordingPlan {
    RecordingPlan {
        margin: 0.01,
        alpha: 0.05,
        judged: Metric::Wall,
    }
}

/// Analyses a run as `deadheat analyze` does and looks at every figure of the answer.
pub fn analyse_and_check(run: &Run) {
    let plan = &run.header.plan;
    if plan.validate().is_err() || !run.header.metrics.contains(&plan.design.judged) {
        return;
    }
    for replay_looks in [false, true] {
        let options = Options {
            replay_looks,
            plots: Some(64),
            ..Options::default()
        };
        let analysis = analyse(run, options);
        analysis.comparisons.iter().for_each(check);
        speak(&analysis, run);
    }
}

fn check(comparison: &Comparison) {
    side(&comparison.baseline);
    comparison.candidate.iter().for_each(side);
    comparison.estimate.iter().for_each(estimate);
    comparison.aspects.own_link.iter().for_each(estimate);
    if let Some(spreads) = &comparison.aspects.spreads {
        let all = [spreads.placement, spreads.process, Some(spreads.block)];
        let sound = |sd: f64| sd.is_finite() && sd >= 0.0;
        assert!(all.into_iter().flatten().all(sound), "{spreads:?}");
    }
    for p in [comparison.suite.p_adjusted, comparison.evidence.p_sign_flip]
        .into_iter()
        .flatten()
    {
        assert!((0.0..=1.0).contains(&p), "p = {p}");
    }
    // No text in there but the names of fields: a number that is none shows.
    for shown in [
        format!("{:?}", comparison.figures),
        format!("{:?}", comparison.plots),
    ] {
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
    }
    for row in &comparison.metrics {
        side(&row.baseline);
        row.candidate.iter().for_each(side);
        row.estimate.iter().for_each(estimate);
    }
}

fn side(side: &Side) {
    let figures = [side.min, side.median, side.mean, side.max];
    assert!(figures.iter().all(|x| x.is_finite()), "{side:?}");
    assert!(
        side.min <= side.median && side.median <= side.max,
        "{side:?}"
    );
}

fn estimate(estimate: &Estimate) {
    assert!(estimate.effect.0.is_finite(), "{estimate:?}");
    if let Some(interval) = estimate.interval {
        let (low, high) = (interval.low.0, interval.high.0);
        assert!(low.is_finite() && high.is_finite(), "{estimate:?}");
        // An interval that excludes its own estimate would be a lie.
        assert!(
            low <= estimate.effect.0 && estimate.effect.0 <= high,
            "{estimate:?}"
        );
    }
}

/// The answer in every shape but pixels.
fn speak(analysis: &Analysis, run: &Run) {
    to_json(analysis);
    to_markdown(analysis);
    to_junit(analysis);
    to_comment(analysis, Some(&run.header), &CommentOptions::default());
    to_page(analysis, &run.header);
    for picture in to_pictures(analysis) {
        let svg = picture.svg;
        assert!(!svg.contains("NaN") && !svg.contains("\"inf"), "{svg}");
    }
    for width in [40, 100] {
        let options = TextOptions {
            width,
            plot: true,
            ..TextOptions::default()
        };
        to_text(analysis, &options);
    }
}
