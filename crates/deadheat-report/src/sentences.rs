//! Sentences about results. Sentences about warnings are in [`crate::warnings`], and those about
//! the course of a run in `suite.rs`.
//!
//! The sentence of the verdict is in [`verdict_sentence`](crate::verdict_sentence).

use deadheat_model::{Comparison, CutShortKept, Metric, Observation, Scope, Verdict, Warning};

use crate::glyphs::Glyphs;
use crate::names::shown;
use crate::suite::mark_alone;
pub use crate::suite::{Called, Source};
pub use crate::suite::{controls, effort, ending, failed, left_out, overall, tally, time};
use crate::units::{self, counted, p_is, share};

/// Returns the display name of a metric.
pub fn metric(metric: &Metric, glyphs: Glyphs) -> String {
    let name = match metric {
        Metric::Wall => "wall time",
        Metric::Cpu => "CPU time",
        Metric::User => "user time",
        Metric::System => "system time",
        Metric::PeakRss => "peak memory",
        Metric::Gpu => "GPU time",
        Metric::PeakGpuMemory => "peak GPU memory",
        Metric::Manual => "manual time",
        Metric::GcTime => "GC time",
        Metric::MinorFaults => "minor page faults",
        Metric::MajorFaults => "major page faults",
        Metric::Custom(name) => return shown(name, 24, glyphs),
        Metric::Foreign(foreign) => return shown(&foreign.name, 24, glyphs),
        built_in => return built_in.name().replace('-', " "),
    };
    name.to_owned()
}

/// Returns the display name of the judged quantity: a metric, or a quantile of a metric.
pub fn judged(metric: &Metric, quantile: Option<f64>, glyphs: Glyphs) -> String {
    let metric = self::metric(metric, glyphs);
    match quantile {
        Some(quantile) => format!("{} of {metric}", units::quantile(quantile)),
        None => metric,
    }
}

/// Returns a clause with the confidence level of the look that ended the race; `None` if this is
/// the level of the whole race.
pub fn level_of_the_look(comparison: &Comparison) -> Option<String> {
    let interval = comparison.estimate.as_ref()?.interval.as_ref()?;
    let is_other = (interval.confidence - comparison.coverage()).abs() > 1e-9;
    is_other.then(|| {
        format!(
            "the interim analysis that ended the race has a confidence of {}, so that all interim \
             analyses together keep {}",
            share(interval.confidence),
            share(comparison.coverage())
        )
    })
}

/// Returns sentences that say how many repetitions were cut short, and whether their blocks are
/// excluded.
pub(crate) fn cut_short(
    (count, of): (usize, usize),
    blocks: usize,
    kept: Option<CutShortKept>,
) -> String {
    let short = format!(
        "The harness cut {count} of {of} repetitions short: fewer than a tenth of the iterations \
         in the calibration run."
    );
    let advice = "Race again on a quieter machine";
    blocks_of(&short, "was cut short", advice, blocks, kept)
}

/// Returns sentences that say during how many samples the GPU clock changed, and whether the blocks
/// of these samples are excluded.
pub(crate) fn gpu_clock(
    (count, of): (usize, usize),
    blocks: usize,
    kept: Option<CutShortKept>,
) -> String {
    let unsteady =
        format!("The GPU was throttled, or its clock stepped, in {count} of {of} samples.");
    let advice = "Race again on a cooler device, or fix its clocks";
    blocks_of(&unsteady, "was disturbed", advice, blocks, kept)
}

/// Returns the sentence `short`, followed by a sentence that says whether the affected blocks are
/// excluded. `verb` says what happened more often on one side.
fn blocks_of(
    short: &str,
    verb: &str,
    advice: &str,
    blocks: usize,
    kept: Option<CutShortKept>,
) -> String {
    match kept {
        None if blocks == 1 => format!("{short} deadheat leaves out the block that contains them."),
        None if blocks > 1 => {
            format!("{short} deadheat leaves out the {blocks} blocks that contain them.")
        }
        // The combined estimate of several hosts gives no reason for keeping blocks.
        None => format!("{short} deadheat keeps all of them. {advice}."),
        Some(CutShortKept::OneSided { p }) => format!(
            "{short} deadheat keeps all of them, because one side {verb} more often ({}) and the \
             code itself may cause it. {advice}.",
            p_is(p)
        ),
        Some(CutShortKept::TooMany { share: would_go }) => format!(
            "{short} deadheat keeps all of them, because {} of the blocks would be left out. \
             {advice}.",
            share(would_go)
        ),
    }
}

/// Formats the numbers of observations, the baseline first: "8 against 12 processes".
pub(crate) fn observations(baseline: usize, candidate: usize, each: Observation) -> String {
    let what = match each {
        Observation::File => "files",
        Observation::Process => "processes",
        Observation::Sample => "samples",
    };
    format!("{baseline} against {candidate} {what}")
}

/// Returns the unit in which the samples of an unpaired recording were compared; `None` for paired
/// samples.
fn unpaired(comparison: &Comparison) -> Option<Observation> {
    comparison
        .warnings
        .iter()
        .find_map(|warning| match warning {
            Warning::Unpaired { each } => Some(*each),
            _ => None,
        })
}

/// Returns the amount of data of a benchmark: its replicates, and the number of samples for a
/// recording. A recording without pairs counts processes or files instead of replicates, or only
/// samples.
pub fn rests_on(comparisons: &[Comparison], source: Source) -> Option<String> {
    let replicates = comparisons
        .iter()
        .filter_map(|comparison| Some(comparison.estimate.as_ref()?.replicates))
        .max();
    let unit = match comparisons.iter().find_map(unpaired) {
        Some(Observation::Sample) => None,
        Some(Observation::File) => Some(("recording", "recordings")),
        Some(Observation::Process) => Some(("process", "processes")),
        None => Some(("replicate", "replicates")),
    };
    let replicates = replicates.zip(unit);
    let replicates = replicates.map(|(count, (one, many))| counted(count as u64, one, many));
    let samples = (source == Source::Recording).then(|| {
        let baseline = comparisons.first().map_or(0, |one| one.baseline.samples);
        let candidates = comparisons.iter().filter_map(|c| c.candidate.as_ref());
        let total = candidates.fold(baseline, |sum, side| sum + side.samples);
        counted(total as u64, "sample", "samples")
    });
    let parts: Vec<String> = replicates.into_iter().chain(samples).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The table cell of a benchmark that failed, in place of the verdict.
pub const FAILED_CELL: &str = "failed";

/// Returns the note that the two sides were built in different ways.
pub(crate) fn built(builds: &[String], glyphs: Glyphs) -> Option<String> {
    let way = |way: &String| match way.is_empty() {
        true => "without options of its own".to_owned(),
        false => format!("with {}", shown(way, 200, glyphs)),
    };
    match builds {
        [baseline, candidate] => Some(format!(
            "the sides were built differently, which may explain a difference: the baseline {}, the candidate {}.",
            way(baseline),
            way(candidate)
        )),
        _ => None,
    }
}

/// Returns the verdict for a table cell. The cell also shows if the verdict is provisional, is
/// about the source, or does not hold for the whole suite.
pub fn verdict_cell(comparison: &Comparison, glyphs: Glyphs) -> String {
    let word = marked_word(comparison, glyphs);
    match (comparison.evidence.provisional, comparison.evidence.scope) {
        (true, _) => format!("{word} (provisional)"),
        (false, Scope::Source) if comparison.verdict.is_some() => format!("{word} (source)"),
        (false, _) => word,
    }
}

/// Returns the verdict for a table cell, with a mark if it does not hold for the whole suite.
pub(crate) fn marked_word(comparison: &Comparison, glyphs: Glyphs) -> String {
    let mark = mark_alone(comparison, glyphs);
    format!("{}{mark}", verdict_word(comparison))
}

pub(crate) fn verdict_word(comparison: &Comparison) -> &'static str {
    match comparison.candidate {
        None if comparison.verdict.is_none() => "alone",
        Some(_) if comparison.verdict.is_none() => no_verdict_word(&comparison.warnings),
        _ => verdict_word_of(comparison.verdict),
    }
}

/// Returns why a verdict is missing, short enough for a cell.
fn no_verdict_word(warnings: &[Warning]) -> &'static str {
    let stands_out = |one: &Warning| matches!(one, Warning::StandsOut { .. });
    if warnings.iter().any(stands_out) {
        return "stands out";
    }
    let same = |one: &Warning| matches!(one, Warning::SameRecordings { .. });
    if warnings.iter().any(same) {
        return "equal values";
    }
    let undirected = |one: &Warning| matches!(one, Warning::DirectionUnknown { .. });
    if warnings.iter().any(undirected) {
        return "unknown direction";
    }
    let too_few = warnings.iter().find_map(|one| match one {
        Warning::FewObservations { each, .. } if one.is_one_a_side() => Some(one_a_side(*each)),
        Warning::FewObservations { each, .. } => Some(match each {
            Observation::File => "too few files",
            Observation::Process => "too few processes",
            Observation::Sample => "too few samples",
        }),
        _ => None,
    });
    too_few.unwrap_or_else(|| verdict_word_of(None))
}

pub(crate) fn one_a_side(each: Observation) -> &'static str {
    match each {
        Observation::File => "one recording per side",
        _ => "one process per side",
    }
}

pub(crate) fn verdict_word_of(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Faster) => "faster",
        Some(Verdict::Slower) => "slower",
        Some(Verdict::Equivalent) => "dead heat",
        Some(Verdict::Inconclusive) => "too close to call",
        None => "estimate only",
    }
}
