//! Every sentence about a result, and nothing but sentences. What is said of
//! doubts stands in [`crate::doubts`], how a run went in `ending.rs`.
//!
//! They obey two rules. A change is never called by the word of textbooks for
//! "the test rejected": it is faster or slower, with its interval. And a change
//! that was not found is never declared absent: it is a dead heat within the
//! margin, or too close to call.

use deadheat_model::{
    Better, Comparison, Estimate, FailedBenchmark, LeftOut, LogRatio, Metric, Observation, Scope,
    Verdict, Warning,
};

pub use crate::called::{Called, Source};
pub use crate::control::noise_floor;
pub use crate::ending::{effort, ending};
pub use crate::gates::{GateLine, Weight, gates};
use crate::glyphs::Glyphs;
pub use crate::left_out::left_out;
use crate::names;
use crate::units::{Precision, counted, share, spread, two_digits};

/// The metric in words.
pub fn metric(metric: &Metric, glyphs: Glyphs) -> String {
    match metric {
        Metric::Wall => "wall time".to_owned(),
        Metric::Cpu => "CPU time".to_owned(),
        Metric::User => "user time".to_owned(),
        Metric::System => "system time".to_owned(),
        Metric::PeakRss => "peak memory".to_owned(),
        Metric::Custom(name) => names::shorten(&names::escape(name, glyphs), 24, glyphs),
        Metric::Foreign(foreign) => {
            names::shorten(&names::escape(&foreign.name, glyphs), 24, glyphs)
        }
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
            Source::Programs => format!(
                "'{baseline}' was measured alone; give its benchmark another contender, or \
                 deadheat bench a second build."
            ),
            Source::GoogleBenchmark => {
                format!("'{baseline}' was measured alone; give deadheat bench a second build.")
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
            // Slower is below in what the more of is the better.
            let side = side(more != (other.better() == Better::More));
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

pub(crate) fn interval_in_words(estimate: &Estimate, glyphs: Glyphs) -> String {
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

/// What the verdict speaks of where that is the source, what placement alone
/// does, and the estimate as the user's own link placed the code; `None` where
/// none of it is known.
pub fn placement(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let mut parts = Vec::new();
    if comparison.scope == Scope::Source {
        parts
            .push("this speaks of the source: every replicate had its code placed anew".to_owned());
        parts.extend(placement_alone(comparison, glyphs));
    }
    if let Some(own) = &comparison.own_link {
        let precision = Precision::of(own.interval.as_ref());
        let change = precision.signed(own.effect.change(), glyphs);
        let interval = interval_in_words(own, glyphs);
        parts.push(format!("as you linked it: {change} ({interval})"));
    }
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

/// How far placement alone moves the benchmark, or that nobody can tell.
fn placement_alone(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let found = comparison.spreads.and_then(|spreads| spreads.placement);
    match found.map(LogRatio) {
        Some(sd) if sd.change() > 0.0 => Some(format!(
            "placement alone moves this benchmark by {}",
            spread(sd, glyphs)
        )),
        // Without an own link there is nothing to tell it from.
        None if comparison.own_link.is_none() => None,
        _ => Some("placement alone moves this benchmark by less than its noise shows".to_owned()),
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
                ..
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
        Source::Commands | Source::Functions | Source::Programs | Source::GoogleBenchmark => None,
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
/// since they failed or were left out.
pub fn tally(
    comparisons: &[Comparison],
    failures: &[FailedBenchmark],
    left_out: &[LeftOut],
) -> String {
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
        (left_out.len() as u64, "left out", "left out"),
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

/// The verdict in a table cell; where it holds for more than the binaries as
/// linked, it says so.
pub fn verdict_cell(comparison: &Comparison) -> String {
    let word = verdict_word(comparison);
    match (comparison.provisional, comparison.scope) {
        (true, _) => format!("{word} (provisional)"),
        (false, Scope::Source) if comparison.verdict.is_some() => format!("{word} (source)"),
        (false, _) => word.to_owned(),
    }
}

/// The verdict in a table cell and nothing else.
pub(crate) fn verdict_word(comparison: &Comparison) -> &'static str {
    match comparison.candidate {
        None if comparison.verdict.is_none() => "alone",
        _ => verdict_word_of(comparison.verdict),
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
