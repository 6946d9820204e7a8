//! Every sentence about a result, and nothing but sentences. What is said of
//! doubts stands in [`crate::warnings`], how a run went in `suite.rs`.
//!
//! The verdict itself is in [`verdict_sentence`](crate::verdict_sentence).

use deadheat_model::{Comparison, CutShortKept, Metric, Observation, Scope, Verdict, Warning};

use crate::glyphs::Glyphs;
use crate::names::shown;
use crate::suite::mark_alone;
pub use crate::suite::{Called, Source};
pub use crate::suite::{controls, effort, ending, failed, left_out, overall, tally, time};
use crate::units::{self, counted, p_is, share};

/// The metric in words.
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

/// The quantity that a comparison judges, in words: a metric, or a quantile of it.
pub fn judged(metric: &Metric, quantile: Option<f64>, glyphs: Glyphs) -> String {
    let metric = self::metric(metric, glyphs);
    match quantile {
        Some(quantile) => format!("{} of {metric}", units::quantile(quantile)),
        None => metric,
    }
}

/// The level at which the look was taken that ended the race, where that is
/// not what the whole race promises.
pub fn level_of_the_look(comparison: &Comparison) -> Option<String> {
    let interval = comparison.estimate.as_ref()?.interval.as_ref()?;
    let is_other = (interval.confidence - comparison.coverage()).abs() > 1e-9;
    is_other.then(|| {
        format!(
            "the interim analysis that ended the race has a confidence of {}, so that all of them \
             together keep {}",
            share(interval.confidence),
            share(comparison.coverage())
        )
    })
}

/// How many repetitions were cut short, and what became of their blocks.
pub(crate) fn cut_short(
    (count, of): (usize, usize),
    blocks: usize,
    kept: Option<CutShortKept>,
) -> String {
    let short = format!(
        "The harness cut {count} of {of} repetitions short: fewer than a tenth of the planned \
         iterations."
    );
    let advice = "Race again on a quieter machine";
    blocks_of(&short, "was cut short", advice, blocks, kept)
}

/// How many samples ran while the GPU was not steady, and what became of their blocks.
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

/// What became of blocks in which something happened, behind the sentence that tells of it; `verb` is
/// what happened to one side more often.
fn blocks_of(
    short: &str,
    verb: &str,
    advice: &str,
    blocks: usize,
    kept: Option<CutShortKept>,
) -> String {
    match kept {
        None if blocks == 1 => format!("{short} The block with them is left out."),
        None if blocks > 1 => format!("{short} The {blocks} blocks with them are left out."),
        // Of several hosts, none of which may leave its blocks out.
        None => format!("{short} All count. {advice}."),
        Some(CutShortKept::OneSided { p }) => format!(
            "{short} All count, because one side {verb} more often ({}) and the code \
             itself may cause it. {advice}.",
            p_is(p)
        ),
        Some(CutShortKept::TooMany { share: would_go }) => format!(
            "{short} All count, because {} of the blocks would be left out. {advice}.",
            share(would_go)
        ),
    }
}

/// "8 against 12 processes", the baseline first.
pub(crate) fn observations(baseline: usize, candidate: usize, each: Observation) -> String {
    let what = match each {
        Observation::File => "files",
        Observation::Process => "processes",
        Observation::Sample => "samples",
    };
    format!("{baseline} against {candidate} {what}")
}

/// The unit by which samples of an unpaired recording were compared; `None` where they are paired.
fn unpaired(comparison: &Comparison) -> Option<Observation> {
    comparison
        .warnings
        .iter()
        .find_map(|warning| match warning {
            Warning::Unpaired { each } => Some(*each),
            _ => None,
        })
}

/// The base of a benchmark's result: replicates, and for a recording its samples. Without pairs
/// these are processes, where they are named, and else nothing but samples.
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

/// The word in place of the verdict of a benchmark that failed, in a table cell.
pub const FAILED_CELL: &str = "failed";

/// The sentence of sides that were built in two ways.
pub(crate) fn built(builds: &[String], glyphs: Glyphs) -> Option<String> {
    let way = |way: &String| match way.is_empty() {
        true => "plainly".to_owned(),
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

/// The verdict in a table cell; where it holds for more than the binaries as linked, or not for the
/// whole suite, it says so.
pub fn verdict_cell(comparison: &Comparison, glyphs: Glyphs) -> String {
    let word = marked_word(comparison, glyphs);
    match (comparison.evidence.provisional, comparison.evidence.scope) {
        (true, _) => format!("{word} (provisional)"),
        (false, Scope::Source) if comparison.verdict.is_some() => format!("{word} (source)"),
        (false, _) => word,
    }
}

/// The verdict in a table cell, marked if it does not hold for the whole suite.
pub(crate) fn marked_word(comparison: &Comparison, glyphs: Glyphs) -> String {
    let mark = mark_alone(comparison, glyphs);
    format!("{}{mark}", verdict_word(comparison))
}

/// The verdict in a table cell and nothing else.
pub(crate) fn verdict_word(comparison: &Comparison) -> &'static str {
    match comparison.candidate {
        None if comparison.verdict.is_none() => "alone",
        Some(_) if comparison.verdict.is_none() => no_verdict_word(&comparison.warnings),
        _ => verdict_word_of(comparison.verdict),
    }
}

/// Why there is no verdict, as short as a cell wants it.
fn no_verdict_word(warnings: &[Warning]) -> &'static str {
    let stands_out = |one: &Warning| matches!(one, Warning::StandsOut { .. });
    if warnings.iter().any(stands_out) {
        return "stands out";
    }
    let same = |one: &Warning| matches!(one, Warning::SameRecordings { .. });
    if warnings.iter().any(same) {
        return "the same recording";
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
        Observation::File => "one recording a side",
        _ => "one process a side",
    }
}

/// A verdict, or that there is none.
pub(crate) fn verdict_word_of(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Faster) => "faster",
        Some(Verdict::Slower) => "slower",
        Some(Verdict::Equivalent) => "dead heat",
        Some(Verdict::Inconclusive) => "too close to call",
        None => "estimate only",
    }
}
