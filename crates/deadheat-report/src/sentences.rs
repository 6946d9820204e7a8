//! Every sentence about a result, and nothing but sentences. What is said of
//! doubts stands in [`crate::doubts`].
//!
//! They obey two rules. A change is never called by the word of textbooks for
//! "the test rejected": it is faster or slower, with its interval. And a change
//! that was not found is never declared absent: it is a dead heat within the
//! margin, or too close to call.

use deadheat_model::{
    Analysis, Comparison, EndReason, Ending, Estimate, FailedBenchmark, Metric, Observation,
    Verdict, Warning,
};

pub use crate::called::{Called, Source};
use crate::glyphs::Glyphs;
use crate::names;
use crate::units::{Precision, counted, share, two_digits, waiting};

/// The metric in words.
pub fn metric(metric: &Metric, glyphs: Glyphs) -> String {
    match metric {
        Metric::Wall => "wall time".to_owned(),
        Metric::Cpu => "CPU time".to_owned(),
        Metric::User => "user time".to_owned(),
        Metric::System => "system time".to_owned(),
        Metric::PeakRss => "peak memory".to_owned(),
        Metric::Custom(name) => names::shorten(&names::escape(name, glyphs), 24, glyphs),
        Metric::MinorFaults => "minor page faults".to_owned(),
        Metric::MajorFaults => "major page faults".to_owned(),
        built_in => built_in.name().replace('-', " "),
    }
}

/// What was found about one candidate, in one sentence.
pub fn verdict(
    comparison: &Comparison,
    margin: f64,
    called: Called<'_>,
    source: Source,
    glyphs: Glyphs,
) -> String {
    let baseline = called.baseline;
    let Some(candidate) = called.candidate else {
        return match source {
            Source::Commands => {
                format!("'{baseline}' was measured alone; give a second command to race it.")
            }
            Source::Functions => {
                format!("'{baseline}' was measured alone; add a candidate to race it.")
            }
            Source::Recording => {
                format!("'{baseline}' was recorded alone; analyze a second one with it.")
            }
        };
    };
    let Some(estimate) = &comparison.estimate else {
        return format!(
            "no verdict: no change from '{baseline}' to '{candidate}' can be computed; {}.",
            why_no_verdict(comparison)
        );
    };
    let provisional = if comparison.provisional {
        "provisional: "
    } else {
        ""
    };
    let found = with_interval(estimate, glyphs);
    let sentence = match comparison.verdict {
        Some(verdict @ (Verdict::Faster | Verdict::Slower)) => format!(
            "'{candidate}' {} by {} ({}).",
            than(
                &comparison.metric,
                verdict == Verdict::Slower,
                baseline,
                glyphs
            ),
            size(estimate),
            interval_in_words(estimate, glyphs),
        ),
        Some(Verdict::Equivalent) => {
            let lean = if comparison.excludes_zero {
                let lean = leaning(&comparison.metric, estimate);
                format!(", yet '{candidate}' {lean}")
            } else {
                String::new()
            };
            let metric = on_metric(&comparison.metric, glyphs);
            format!(
                "dead heat: '{candidate}' and '{baseline}' differ{metric} by less than the margin \
                 of {} ({found}){lean}.",
                share(margin)
            )
        }
        Some(Verdict::Inconclusive) => format!(
            "too close to call: '{candidate}' against '{baseline}'{} is {found}{}.",
            on_metric(&comparison.metric, glyphs),
            prospects(comparison),
        ),
        None => format!(
            "only an estimate: '{candidate}' against '{baseline}'{} is {found}; {}.",
            on_metric(&comparison.metric, glyphs),
            why_no_verdict(comparison),
        ),
    };
    format!("{provisional}{sentence}")
}

/// "is slower than 'x'", or what says the same of memory and counts.
fn than(metric: &Metric, more: bool, baseline: &str, glyphs: Glyphs) -> String {
    match metric {
        Metric::Wall => format!("is {} than '{baseline}'", pace(more)),
        Metric::Cpu | Metric::User | Metric::System => {
            let metric = self::metric(metric, glyphs);
            format!("is {} than '{baseline}' in {metric}", pace(more))
        }
        other => {
            let side = side(more);
            let metric = self::metric(other, glyphs);
            format!("is {side} '{baseline}' in {metric}")
        }
    }
}

fn pace(slower: bool) -> &'static str {
    if slower { "slower" } else { "faster" }
}

fn side(above: bool) -> &'static str {
    if above { "above" } else { "below" }
}

fn leaning(metric: &Metric, estimate: &Estimate) -> String {
    let more = estimate.effect.0 > 0.0;
    let size = size(estimate);
    match metric {
        Metric::Wall | Metric::Cpu | Metric::User | Metric::System => {
            format!("is reliably {size} {}", pace(more))
        }
        _ => format!("is reliably {size} {}", side(more)),
    }
}

fn on_metric(metric: &Metric, glyphs: Glyphs) -> String {
    match metric {
        Metric::Wall => String::new(),
        other => format!(" in {}", self::metric(other, glyphs)),
    }
}

fn size(estimate: &Estimate) -> String {
    Precision::of(estimate.interval.as_ref()).size(estimate.effect.change())
}

fn with_interval(estimate: &Estimate, glyphs: Glyphs) -> String {
    let precision = Precision::of(estimate.interval.as_ref());
    let change = precision.signed(estimate.effect.change(), glyphs);
    format!("{change}, {}", interval_in_words(estimate, glyphs))
}

fn interval_in_words(estimate: &Estimate, glyphs: Glyphs) -> String {
    match &estimate.interval {
        Some(interval) => {
            let precision = Precision::of(Some(interval));
            format!(
                "{} confidence interval {} to {}",
                share(interval.confidence),
                precision.signed(interval.low.change(), glyphs),
                precision.signed(interval.high.change(), glyphs)
            )
        }
        None => "without an interval".to_owned(),
    }
}

fn prospects(comparison: &Comparison) -> String {
    let mut text = String::new();
    if let Some(smallest) = comparison.minimum_detectable_effect {
        text += &format!(
            "; this design finds changes of {} % or more with 80 % power",
            two_digits(smallest.change() * 100.0)
        );
    }
    if let Some(more) = comparison.replicates_to_settle {
        let more = counted(more as u64, "more replicate", "more replicates");
        text += &format!("; about {more} would settle it if the estimate stays where it is");
    }
    text
}

fn why_no_verdict(comparison: &Comparison) -> String {
    for warning in &comparison.warnings {
        match warning {
            Warning::TooManyZeros { .. } => return "too many values are zero".to_owned(),
            Warning::FewReplicates { have, need } => {
                let have = counted(*have as u64, "replicate is", "replicates are");
                return format!("{have} too few for a verdict, which needs {need}");
            }
            Warning::FewObservations {
                baseline,
                candidate,
                need,
                each,
            } => {
                let counted = observations(*baseline, *candidate, *each);
                return format!("{counted} are too few for a verdict, which needs {need} of each");
            }
            Warning::TimerLimited => {
                return "the values show no scatter, and how fine the clock is nobody knows"
                    .to_owned();
            }
            _ => {}
        }
    }
    "the data allow no verdict".to_owned()
}

/// "8 against 12 processes", the baseline first.
pub(crate) fn observations(baseline: usize, candidate: usize, each: Observation) -> String {
    match each {
        Observation::Process => format!("{baseline} against {candidate} processes"),
        Observation::Sample => format!("{baseline} against {candidate} samples"),
    }
}

/// What the samples of an unpaired recording were compared by; `None` where
/// they are paired.
fn unpaired(comparison: &Comparison) -> Option<Observation> {
    comparison
        .warnings
        .iter()
        .find_map(|warning| match warning {
            Warning::Unpaired { each } => Some(*each),
            _ => None,
        })
}

/// What the result of one benchmark rests on: replicates, and for a recording
/// its samples. Without pairs these are processes, where they are named, and
/// else nothing but samples.
pub fn rests_on(comparisons: &[Comparison], source: Source) -> Option<String> {
    let replicates = comparisons
        .iter()
        .filter_map(|comparison| Some(comparison.estimate.as_ref()?.replicates))
        .max();
    let replicates = match comparisons.iter().find_map(unpaired) {
        Some(Observation::Sample) => None,
        Some(Observation::Process) => {
            replicates.map(|count| counted(count as u64, "process", "processes"))
        }
        None => replicates.map(|count| counted(count as u64, "replicate", "replicates")),
    };
    let samples = match source {
        Source::Commands | Source::Functions => None,
        Source::Recording => {
            let baseline = comparisons
                .first()
                .map_or(0, |first| first.baseline.samples);
            let candidates = comparisons.iter().filter_map(|c| c.candidate.as_ref());
            let total = candidates.fold(baseline, |sum, side| sum + side.samples);
            Some(counted(total as u64, "sample", "samples"))
        }
    };
    let parts: Vec<String> = replicates.into_iter().chain(samples).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What the whole run took; `None` for a recording, of which nobody knows.
pub fn effort(analysis: &Analysis) -> Option<String> {
    let processes = match Source::of(analysis) {
        Source::Recording => return None,
        Source::Commands => counted(analysis.launches, "launch", "launches"),
        Source::Functions => counted(analysis.launches, "process", "processes"),
    };
    let mut text = format!("{processes}, {}", waiting(analysis.elapsed_seconds));
    if let Some(seed) = analysis.seed {
        text += &format!(", seed {seed}");
    }
    Some(text)
}

/// That a benchmark has no answer, and why; `title` is how it is called,
/// already fit to be shown.
pub fn failed(title: &str, failure: &FailedBenchmark, glyphs: Glyphs) -> String {
    // The engine names the benchmark too; once is enough.
    let named = format!("benchmark '{}', ", failure.benchmark);
    let message = failure.message.strip_prefix(&named);
    let message = message.unwrap_or(&failure.message);
    let message = names::shorten(&names::escape(message, glyphs), 400, glyphs);
    match message.trim_end_matches('.') {
        "" => format!("benchmark '{title}' failed."),
        message => format!("benchmark '{title}' failed: {message}."),
    }
}

/// How many comparisons came to which verdict, and how many benchmarks to none
/// since they failed.
pub fn tally(comparisons: &[Comparison], failures: &[FailedBenchmark]) -> String {
    let count = |verdict| {
        let raced = comparisons.iter().filter(|c| c.candidate.is_some());
        raced.filter(|c| c.verdict == verdict).count() as u64
    };
    let alone = comparisons.iter().filter(|c| c.candidate.is_none()).count() as u64;
    let phrases = [
        (count(Some(Verdict::Faster)), "faster", "faster"),
        (count(Some(Verdict::Slower)), "slower", "slower"),
        (count(Some(Verdict::Equivalent)), "dead heat", "dead heats"),
        (
            count(Some(Verdict::Inconclusive)),
            "too close to call",
            "too close to call",
        ),
        (count(None), "without a verdict", "without a verdict"),
        (alone, "measured alone", "measured alone"),
        (failures.len() as u64, "failed", "failed"),
    ];
    let told = phrases.into_iter().filter(|(count, ..)| *count > 0);
    let told: Vec<String> = told
        .map(|(count, one, many)| counted(count, one, many))
        .collect();
    if told.is_empty() {
        "nothing was compared.".to_owned()
    } else {
        format!("{}.", told.join(", "))
    }
}

/// What stands for the verdict of a benchmark that failed, in a table cell.
pub const FAILED_CELL: &str = "failed";

/// The verdict in a table cell.
pub fn verdict_cell(comparison: &Comparison) -> String {
    let word = match comparison.verdict {
        Some(Verdict::Faster) => "faster",
        Some(Verdict::Slower) => "slower",
        Some(Verdict::Equivalent) => "dead heat",
        Some(Verdict::Inconclusive) => "too close to call",
        None if comparison.candidate.is_none() => "alone",
        None => "estimate only",
    };
    if comparison.provisional {
        format!("{word} (provisional)")
    } else {
        word.to_owned()
    }
}

/// How the run ended, when that is worth a sentence.
pub fn ending(ending: &Ending, source: Source, glyphs: Glyphs) -> Option<String> {
    // Only a race of commands can be taken up.
    let again = source != Source::Functions;
    match ending {
        Ending::Recording | Ending::Recorded(EndReason::Finished) => None,
        Ending::Recorded(EndReason::Budget) => Some(format!(
            "The time budget was used up before every race was decided; raise it with --budget{}.",
            match again {
                true => ", or go on with --resume FILE",
                false => "",
            }
        )),
        Ending::Recorded(EndReason::Interrupted(signal)) => Some(format!(
            "The run was interrupted by {}; {}.",
            signal_name(*signal),
            match again {
                true => "--resume FILE goes on where it stopped",
                false => "what was measured before is shown",
            }
        )),
        Ending::Recorded(EndReason::Failed(reason)) => {
            let reason = names::shorten(&names::escape(reason, glyphs), 400, glyphs);
            let reason = reason.trim_end_matches('.');
            Some(format!(
                "The run failed and what was measured before is shown: {reason}."
            ))
        }
        Ending::Cut => Some(format!(
            "The record stops without saying why, so deadheat was killed; what it kept until then \
             is shown{}.",
            match again {
                true => ", and --resume FILE goes on from there",
                false => "",
            }
        )),
    }
}

fn signal_name(signal: i32) -> String {
    match signal {
        1 => "SIGHUP".to_owned(),
        2 => "SIGINT".to_owned(),
        15 => "SIGTERM".to_owned(),
        other => format!("signal {other}"),
    }
}
