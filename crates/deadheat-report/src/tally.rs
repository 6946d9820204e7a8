//! A whole run in words: what it came to, what it took, and how it ended.

use deadheat_model::{
    Analysis, Comparison, Control, EndReason, Ending, FailedBenchmark, LeftOut, Overall,
    Population, Verdict,
};

use crate::glyphs::Glyphs;
use crate::names;
use crate::suite::{self, Source};
use crate::units::{Precision, counted, range, share, waiting};

/// The change over all benchmarks, and what its interval takes for granted.
pub fn overall(overall: &Overall, analysis: &Analysis, named: bool, glyphs: Glyphs) -> String {
    let estimate = &overall.estimate;
    let whose = if named {
        format!(
            "'{}': ",
            names::shorten(&names::escape(&overall.candidate, glyphs), 60, glyphs)
        )
    } else {
        String::new()
    };
    let precision = Precision::of(estimate.interval.as_ref());
    let change = precision.signed(estimate.effect.change(), glyphs);
    let interval = match &estimate.interval {
        Some(interval) => format!(
            "{} interval {}",
            share(1.0 - analysis.alpha),
            range(interval, glyphs)
        ),
        None => "without an interval".to_owned(),
    };
    let taken = match overall.population {
        Population::These => format!("of these {} benchmarks alone", overall.benchmarks),
        Population::LikeThese => format!(
            "if these {} benchmarks are a fair sample of what matters",
            overall.benchmarks
        ),
    };
    format!("{whose}geometric mean {change} ({interval}, {taken}).")
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

/// The number of comparisons that came to each verdict, and of benchmarks that came to none
/// since they failed or were left out.
pub fn tally(
    comparisons: &[Comparison],
    failures: &[FailedBenchmark],
    left_out: &[LeftOut],
) -> String {
    let left_out = [(left_out.len(), "left out".to_owned())];
    tally_with(comparisons, failures, left_out)
}

/// The same with what was left out counted by the caller, each count before its words.
pub(crate) fn tally_with(
    comparisons: &[Comparison],
    failures: &[FailedBenchmark],
    left_out: impl IntoIterator<Item = (usize, String)>,
) -> String {
    let count = |verdict| {
        let raced = comparisons.iter().filter(|c| c.candidate.is_some());
        raced.filter(|c| c.verdict == verdict).count()
    };
    let alone = comparisons.iter().filter(|c| c.candidate.is_none()).count();
    let even = count(Some(Verdict::Equivalent));
    let phrases = [
        (count(Some(Verdict::Faster)), "faster"),
        (count(Some(Verdict::Slower)), "slower"),
        (even, if even == 1 { "dead heat" } else { "dead heats" }),
        (count(Some(Verdict::Inconclusive)), "too close to call"),
        (count(None), "without a verdict"),
        (alone, "measured alone"),
        (failures.len(), "failed"),
    ];
    let phrases = phrases.map(|(count, words)| (count, words.to_owned()));
    let parts: Vec<String> = (phrases.into_iter().chain(left_out))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    if parts.is_empty() {
        "nothing was compared.".to_owned()
    } else {
        format!("{}{}.", parts.join(", "), doubtful(comparisons))
    }
}

/// The number of changes that do not hold for all comparisons together; empty where all do.
fn doubtful(comparisons: &[Comparison]) -> String {
    let raced = || comparisons.iter().filter(|one| one.candidate.is_some());
    let moved = |one: &&Comparison| matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower));
    let changed = raced().filter(moved).count();
    let few = raced().filter(moved).filter(|one| !one.holds_in_suite);
    match few.count() {
        0 => String::new(),
        some => format!(
            " ({some} of the {changed} that changed may be chance among {})",
            raced().count()
        ),
    }
}

/// The outcome of the controls of a suite; `None` without any.
pub fn controls(comparisons: &[Comparison]) -> Option<String> {
    // Candidates of one baseline have one control.
    let benchmarks = suite::groups(comparisons).into_iter();
    let controls: Vec<Control> = benchmarks.filter_map(|group| group[0].control).collect();
    let separated = controls.iter().filter(|control| control.separated).count();
    let of = counted(controls.len() as u64, "control", "controls");
    let found = match separated {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    (!controls.is_empty())
        .then(|| format!("baselines against themselves: {found} of {of} separated."))
}

/// The effort of the whole run; `None` for a recording, of which nobody knows.
pub fn effort(analysis: &Analysis) -> Option<String> {
    let processes = match Source::of(analysis) {
        Source::Recording => return None,
        Source::Commands | Source::GoogleBenchmark => {
            counted(analysis.launches, "launch", "launches")
        }
        Source::Functions | Source::Programs => counted(analysis.launches, "process", "processes"),
    };
    let mut text = format!("{processes}, {}", waiting(analysis.elapsed_seconds));
    if let Some(seed) = analysis.seed {
        text += &format!(", seed {seed}");
    }
    Some(text)
}

/// The time that the whole run took; `None` for a recording.
pub fn time(analysis: &Analysis) -> Option<String> {
    let raced = Source::of(analysis) != Source::Recording;
    raced.then(|| waiting(analysis.elapsed_seconds))
}

/// The ending of the run, when that is worth a sentence.
pub fn ending(ending: &Ending, source: Source, glyphs: Glyphs) -> Option<String> {
    let again = source.resume();
    match ending {
        Ending::Recording | Ending::Recorded(EndReason::Finished) => None,
        Ending::Recorded(EndReason::Budget) => Some(format!(
            "The time budget was used up before every race was decided; raise it with --budget{}.",
            again.map_or_else(String::new, |command| format!(", or go on with {command}")),
        )),
        Ending::Recorded(EndReason::Interrupted(signal)) => Some(format!(
            "The run was interrupted by {}; {}.",
            signal_name(*signal),
            match again {
                Some(command) => format!("{command} goes on where it stopped"),
                None => "what was measured before is shown".to_owned(),
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
            again.map_or_else(String::new, |command| format!(
                ", and {command} goes on from there"
            )),
        )),
    }
}

pub(crate) fn signal_name(signal: i32) -> String {
    match signal {
        1 => "SIGHUP".to_owned(),
        2 => "SIGINT".to_owned(),
        3 => "SIGQUIT".to_owned(),
        10 => "SIGUSR1".to_owned(),
        12 => "SIGUSR2".to_owned(),
        14 => "SIGALRM".to_owned(),
        15 => "SIGTERM".to_owned(),
        other => format!("signal {other}"),
    }
}
