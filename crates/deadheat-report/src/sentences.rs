//! Every sentence about a result, and nothing but sentences. What is said of
//! doubts stands in [`crate::warnings`], how a run went in `suite.rs`.
//!
//! They obey two rules. A change is never called by the word of textbooks for "the test rejected":
//! it is faster or slower, with its interval. And a change that was not found is never declared
//! absent: it is a dead heat within the margin, or too close to call.

use deadheat_model::{
    Better, Comparison, CutShortKept, Estimate, LogRatio, Metric, Observation, Scope, Verdict,
    Warning,
};

use crate::glyphs::Glyphs;
use crate::names::shown;
use crate::suite::mark_alone;
pub use crate::suite::{Called, Source};
pub use crate::suite::{controls, effort, ending, failed, left_out, overall, tally, time};
use crate::units::{
    self, MOST_PERCENT, Precision, counted, effect, estimated, p_is, quantities, share, spread,
    two_digits, waiting,
};

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

/// The finding about one candidate, in one sentence.
pub fn verdict(
    comparison: &Comparison,
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
            Source::Harness => {
                format!("'{baseline}' was measured alone; give deadheat bench a second build.")
            }
            Source::Recording => {
                format!(
                    "'{baseline}' was recorded alone; deadheat compare sets two recordings side by side."
                )
            }
        };
    };
    let Some(estimate) = &comparison.estimate else {
        if let Some(verdict) = comparison.verdict {
            return of_zeros(comparison, verdict, called, glyphs);
        }
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
    let found = with_interval(comparison, estimate, glyphs);
    let sentence = match comparison.verdict {
        Some(verdict @ (Verdict::Faster | Verdict::Slower)) => format!(
            "'{candidate}' {} by {} ({}).",
            than(comparison, verdict == Verdict::Slower, called, glyphs),
            size(estimate),
            estimated(estimate, comparison.coverage(), glyphs)[1],
        ),
        Some(Verdict::Equivalent) => {
            let lean = if comparison.excludes_zero {
                let lean = leaning(&comparison.metric, estimate);
                format!(", yet '{candidate}' {lean}")
            } else {
                String::new()
            };
            let judged = on_what(comparison, glyphs);
            format!(
                "dead heat: '{candidate}' and '{baseline}' differ{judged} by less than the margin \
                 of {} ({found}){lean}.",
                share(comparison.margin)
            )
        }
        Some(Verdict::Inconclusive) => format!(
            "too close to call: '{candidate}' against '{baseline}'{} is {found}{}.",
            on_what(comparison, glyphs),
            prospects(comparison, source),
        ),
        None => format!(
            "only an estimate: '{candidate}' against '{baseline}'{} is {found}; {}.",
            on_what(comparison, glyphs),
            why_no_verdict(comparison),
        ),
    };
    format!("{provisional}{sentence}")
}

/// The verdict on sides that are all zero, of which there is no ratio.
fn of_zeros(
    comparison: &Comparison,
    verdict: Verdict,
    called: Called<'_>,
    glyphs: Glyphs,
) -> String {
    let (baseline, candidate) = (called.baseline, called.candidate.unwrap_or_default());
    let judged = on_what(comparison, glyphs);
    let sides = [Some(&comparison.baseline), comparison.candidate.as_ref()];
    let typical: Vec<f64> = sides.iter().flatten().map(|side| side.median).collect();
    match verdict {
        Verdict::Faster | Verdict::Slower => format!(
            "'{candidate}' {}: from {} to {}.",
            than(comparison, verdict == Verdict::Slower, called, glyphs),
            quantities(comparison.metric.unit(), &typical[..1], glyphs).join(""),
            quantities(comparison.metric.unit(), &typical[1..], glyphs).join(""),
        ),
        Verdict::Equivalent | Verdict::Inconclusive => {
            format!("dead heat: '{candidate}' and '{baseline}' are both 0{judged}.")
        }
    }
}

/// "is slower than 'x'", or what says the same of memory and counts.
fn than(comparison: &Comparison, more: bool, called: Called<'_>, glyphs: Glyphs) -> String {
    let baseline = called.baseline;
    let than = if called.baseline_is_shown {
        String::new()
    } else {
        format!(" than '{baseline}'")
    };
    let judged = on_what(comparison, glyphs);
    match &comparison.metric {
        pace if pace.is_pace() => format!("is {}{than}{judged}", pace_word(more)),
        other => {
            // Slower is below in what the more of is the better.
            let side = side(more != (other.better() == Better::More));
            format!("is {side} '{baseline}'{judged}")
        }
    }
}

fn pace_word(slower: bool) -> &'static str {
    if slower { "slower" } else { "faster" }
}

fn side(above: bool) -> &'static str {
    if above { "above" } else { "below" }
}

fn leaning(metric: &Metric, estimate: &Estimate) -> String {
    let more = estimate.effect.0 > 0.0;
    let size = size(estimate);
    let word = match metric.is_pace() {
        true => pace_word(more),
        false => side(more),
    };
    format!("is reliably {size} {word}")
}

/// " in CPU time", " in the 99 % quantile"; empty for what everybody expects.
fn on_what(comparison: &Comparison, glyphs: Glyphs) -> String {
    match (&comparison.metric, comparison.quantile) {
        (Metric::Wall, None) => String::new(),
        (Metric::Wall, Some(quantile)) => format!(" in the {}", units::quantile(quantile)),
        (metric, None) => format!(" in {}", self::metric(metric, glyphs)),
        (metric, quantile) => format!(" in the {}", judged(metric, quantile, glyphs)),
    }
}

fn size(estimate: &Estimate) -> String {
    Precision::of(estimate.interval.as_ref()).size(estimate.effect.change())
}

fn with_interval(comparison: &Comparison, estimate: &Estimate, glyphs: Glyphs) -> String {
    estimated(estimate, comparison.coverage(), glyphs).join(", ")
}

/// The level at which the look was taken that ended the race, where that is
/// not what the whole race promises.
pub fn level_of_the_look(comparison: &Comparison) -> Option<String> {
    let interval = comparison.estimate.as_ref()?.interval.as_ref()?;
    let is_other = (interval.confidence - comparison.coverage()).abs() > 1e-9;
    is_other.then(|| {
        format!(
            "the look that ended the race was taken at {}, so that all looks together keep {}",
            share(interval.confidence),
            share(comparison.coverage())
        )
    })
}

/// The smallest change that the design finds, and what was left out; `None` where there is nothing
/// to tell.
pub fn design(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(level_of_the_look(comparison));
    let smallest = comparison.minimum_detectable_effect;
    // Nobody looks for changes beyond what a number of percent can tell.
    let percent = smallest.map(|smallest| smallest.change() * 100.0);
    if let Some(percent) = percent.filter(|percent| *percent <= MOST_PERCENT) {
        parts.push(format!(
            "this design finds changes of {} % or more with 80 % power",
            two_digits(percent)
        ));
    }
    if let Some(all) = comparison.effect_with_dropped {
        let interval = comparison.estimate.as_ref().and_then(|e| e.interval);
        let change = effect(all, interval.as_ref(), glyphs);
        let cause = cause_of_dropping(comparison);
        parts.push(dropped(comparison.dropped_blocks, cause, &change));
    }
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

/// The usual cause for which blocks are left out.
pub(crate) const DISTURBED: &str = "disturbed by other work on the machine";

/// The cause for which blocks of this comparison are left out.
pub(crate) fn cause_of_dropping(comparison: &Comparison) -> &'static str {
    let cause = |warning: &Warning| match warning {
        Warning::CutShort { .. } => Some("cut short by the harness"),
        Warning::GpuClock { .. } => Some("disturbed by the GPU's clock"),
        _ => None,
    };
    let mut causes = comparison.warnings.iter().filter_map(cause);
    causes.next().unwrap_or(DISTURBED)
}

/// How many blocks were left out for this cause, and the change with them.
pub(crate) fn dropped(blocks: usize, cause: &str, change: &str) -> String {
    format!(
        "{} left out, {cause}; with {} the change is {change}",
        counted(blocks as u64, "block was", "blocks were"),
        if blocks == 1 { "it" } else { "them" },
    )
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

/// The subject of the verdict where that is the source, what placement alone does, and the estimate
/// as the user's own link placed the code; `None` where none of it is known.
pub fn placement(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let mut parts = Vec::new();
    if comparison.scope == Scope::Source {
        let drawn = "this speaks of the source: every replicate had its code placed anew";
        let matched = ", and what both builds share at the same places in both";
        parts.push(format!(
            "{drawn}{}",
            if comparison.matched { matched } else { "" }
        ));
        parts.extend(placement_alone(comparison, glyphs));
    }
    if let Some(own) = &comparison.own_link {
        let [change, interval] = estimated(own, comparison.coverage(), glyphs);
        parts.push(format!("as you linked it: {change} ({interval})"));
    }
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

/// The distance that placement alone moves the benchmark, or that nobody can tell.
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

/// The share of waiting for a core that was taken out, and the estimate with it; `None` where it was
/// kept.
pub fn waiting_out(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let waiting = comparison.waiting.as_ref().filter(|one| one.taken_out)?;
    let percent = |share: f64| format!("{} %", two_digits(share * 100.0));
    let of_baseline = percent(waiting.baseline);
    let of_candidate = waiting.candidate.map(percent);
    let shares = match of_candidate.filter(|candidate| *candidate != of_baseline) {
        Some(candidate) => {
            format!("{of_baseline} of the baseline's time and {candidate} of the candidate's")
        }
        None => format!("{of_baseline} of the time"),
    };
    let with = waiting.kept.as_ref().map(|kept| {
        let [change, interval] = estimated(kept, comparison.coverage(), glyphs);
        format!("; with it: {change} ({interval})")
    });
    let with = with.unwrap_or_default();
    Some(format!("waiting for a core, {shares}, is taken out{with}."))
}

/// The baseline against a second copy of itself, which is what the race makes of no difference;
/// `None` without a control.
pub fn noise_floor(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let control = comparison.control?;
    let [change, interval] = estimated(&control.estimate, comparison.coverage(), glyphs);
    let doubt = if control.separated {
        "; this control separated"
    } else {
        ""
    };
    Some(format!(
        "baseline against itself: {change} ({interval}){doubt}."
    ))
}

/// The effort that would settle it, with the option that allows it.
fn prospects(comparison: &Comparison, source: Source) -> String {
    let more = comparison.replicates_to_settle;
    let Some(more) = more.filter(|more| *more > 0) else {
        return String::new();
    };
    let replicates = counted(more as u64, "more replicate", "more replicates");
    let time = match comparison.seconds_to_settle {
        Some(seconds) => format!(" ({})", waiting(seconds)),
        None => String::new(),
    };
    let option = match source {
        Source::Recording => String::new(),
        _ => {
            let used = comparison.estimate.as_ref().map_or(0, |e| e.replicates);
            format!(": --max-replicates {}", enough(used + more))
        }
    };
    format!("; about {replicates}{time} would settle it{option}")
}

/// A number of replicates that is easy to type, and not less.
fn enough(replicates: usize) -> usize {
    let step = match replicates {
        0..100 => 5,
        100..1_000 => 10,
        1_000..10_000 => 100,
        _ => 1_000,
    };
    replicates.div_ceil(step) * step
}

pub(crate) fn why_no_verdict(comparison: &Comparison) -> String {
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
                if warning.is_one_a_side() {
                    let one = one_a_side(*each);
                    return format!("{one} tells nothing of the next");
                }
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
            "built in two ways, and a difference may be of these: the baseline {}, the candidate {}.",
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
    match (comparison.provisional, comparison.scope) {
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

fn one_a_side(each: Observation) -> &'static str {
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
