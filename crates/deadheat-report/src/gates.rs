//! Sentences about the gate of a run: broken rules and their excuses, and entries of the ignore
//! list without effect.

use deadheat_model::{
    Analysis, Comparison, Confirmation, EndReason, Ending, Estimate, Excuse, GateHit, Idle,
    IdleIgnore, Unproven,
};

use crate::cost::in_cost;
use crate::document::{Broken, Content, Note, Severity};
use crate::glyphs::Glyphs;
#[cfg(feature = "reports")]
use crate::names::texts;
use crate::names::{first_of, shorten, shown};
use crate::suite::{self, Source, signal_name};
use crate::units::{Precision, counted, effect, range};
use crate::verdict_sentence::why_no_verdict;

/// Maximum number of names that a sentence lists; the JSON contains all names.
const NAMED: usize = 20;
const NAME: usize = 60;
/// Maximum width, in columns, of the path of a rules file.
const PATH: usize = 100;
/// Maximum width, in columns, of the name of a rule.
const RULE: usize = 60;
/// Maximum width, in columns, of a reason written by the user or another program.
const REASON: usize = 400;

/// Returns all sentences about the gates, the most severe first; empty if no rule is set.
pub(crate) fn gates(analysis: &Analysis, glyphs: Glyphs) -> Vec<Note> {
    let mut notes = broken(analysis, glyphs);
    notes.extend(remarks(analysis, glyphs));
    Note::gravest_first(&notes)
}

/// Returns the sentences about the gate that are not about broken rules: benchmarks that it could
/// not judge, ignore entries without effect, and the rules file.
pub(crate) fn remarks(analysis: &Analysis, glyphs: Glyphs) -> Vec<Note> {
    let gates = &analysis.gates;
    let file = gates.config.as_deref().unwrap_or("the rules file");
    let file = shown(file, PATH, glyphs);
    let doubts = undecided(analysis, glyphs).into_iter();
    let doubts = doubts.chain(partly_judged(analysis, glyphs));
    let mut notes = Note::all(Severity::Warning, doubts.collect());
    for one in &gates.idle {
        notes.push(idle(one, &file, glyphs));
    }
    if gates.config.is_some() {
        let where_from = format!("rules come from {file}, unless the command line overrides them.");
        notes.push(Note::of(Severity::Note, where_from));
    }
    notes
}

/// Returns the gate of the run: whether it passes, and every comparison that breaks a rule, first
/// those that fail the run. `None` if no rule is set. `names` returns the names of the benchmark
/// and candidate of a comparison.
#[cfg(feature = "reports")]
pub(crate) fn gate<'a>(
    analysis: &Analysis,
    names: impl Fn(&Comparison) -> Vec<String>,
    glyphs: Glyphs,
) -> Option<Content<'a>> {
    let hits = analysis.comparisons.iter();
    let hits = hits.filter_map(|one| Some((one, one.suite.gate.as_ref()?)));
    let (excused, broken): (Vec<_>, Vec<_>) = hits.partition(|(_, hit)| !hit.fails());
    let row = |(one, hit): &(&Comparison, &GateHit)| Broken {
        names: names(one),
        rule: rule(hit, glyphs),
        excuse: pardon(one, hit, glyphs),
    };
    let passed = passed(analysis);
    if excused.is_empty() && broken.is_empty() && passed.is_none() {
        return None;
    }
    let obstacle = obstacle(analysis);
    let is_open = broken.is_empty() && obstacle.is_none();
    let title = match (broken.len(), obstacle) {
        (0, Some(obstacle)) => format!("The gate is closed: {obstacle}"),
        (0, None) if excused.is_empty() => "The gate is open".to_owned(),
        (0, None) if excused.iter().any(|(_, hit)| hit.excuse.is_none()) => {
            "The gate is open: every breach of a rule is excused, or not proven".to_owned()
        }
        (0, None) => "The gate is open: every breach of a rule is excused".to_owned(),
        (count, _) => format!(
            "The gate is closed: {}",
            counted(count as u64, "rule broken", "rules broken")
        ),
    };
    Some(Content::Gate {
        is_open,
        title,
        passed,
        broken: broken.iter().chain(&excused).map(row).collect(),
    })
}

/// Returns why the run fails although no benchmark breaks a rule, as words after a colon; `None` if
/// it does not.
#[cfg(feature = "reports")]
fn obstacle(analysis: &Analysis) -> Option<String> {
    let failed = analysis.failures.len() as u64;
    if matches!(analysis.ending, Ending::Recorded(EndReason::Failed(_))) {
        Some("the race failed".to_owned())
    } else if failed > 0 {
        Some(counted(failed, "benchmark failed", "benchmarks failed"))
    } else if has_no_judgement(analysis) {
        Some("it could judge no benchmark".to_owned())
    } else {
        None
    }
}

/// Returns true if a gate could judge no benchmark, and the user did not allow that.
#[cfg(feature = "reports")]
pub(crate) fn has_no_judgement(analysis: &Analysis) -> bool {
    analysis.gates.judged_nothing && !analysis.gates.allows_unjudged
}

/// Returns the sentence that no rule is broken; `None` if a rule is broken, or if no rule is set.
#[cfg(feature = "reports")]
fn passed(analysis: &Analysis) -> Option<String> {
    let broken = analysis
        .comparisons
        .iter()
        .any(|one| one.suite.gate.is_some());
    let asked = &analysis.gates.asked;
    if broken || asked.is_empty() {
        return None;
    }
    let names = texts(asked, &|rule| format!("'{rule}'"));
    let noun = if names.len() == 1 { "rule" } else { "rules" };
    Some(format!(
        "no benchmark breaks the {noun} {}.",
        first_of(names, NAMED)
    ))
}

pub(crate) fn rule(hit: &GateHit, glyphs: Glyphs) -> String {
    shown(&hit.rule, RULE, glyphs)
}

/// Formats the excuse for a broken rule: "excused until 2026-12-31: known".
pub(crate) fn excuse(excuse: &Excuse, glyphs: Glyphs) -> String {
    let shown = |text: &str| shown(text, REASON, glyphs);
    let until = match &excuse.until {
        Some(day) => format!(" until {}", shown(day)),
        None => String::new(),
    };
    if excuse.reason.is_empty() {
        format!("excused{until}, without a reason")
    } else {
        format!("excused{until}: {}", shown(&excuse.reason))
    }
}

/// Returns the reason why a broken rule does not fail the run; `None` if it does.
pub(crate) fn pardon(comparison: &Comparison, hit: &GateHit, glyphs: Glyphs) -> Option<String> {
    let excuse = hit.excuse.as_ref().map(|found| excuse(found, glyphs));
    excuse.or_else(|| {
        Some(match hit.unproven? {
            Unproven::SecondRace => match &comparison.suite.confirmation {
                Some(second) => {
                    format!("not confirmed: {}", both(comparison, second, glyphs))
                }
                None => "not confirmed".to_owned(),
            },
            Unproven::SuiteLevel => "does not hold after correction for all benchmarks".to_owned(),
        })
    })
}

/// Returns the estimates of the first and the second race: "+11.6% [+10.4 to +11.9%], then +0.9%
/// [−0.2 to +2.0%]".
pub(crate) fn both(first: &Comparison, second: &Confirmation, glyphs: Glyphs) -> String {
    let found = |estimate: Option<&Estimate>| {
        let Some(estimate) = estimate else {
            return "no estimate".to_owned();
        };
        let change = effect(estimate.effect, estimate.interval.as_ref(), glyphs);
        match &estimate.interval {
            None => change,
            Some(interval) => format!("{change} [{}]", range(interval, glyphs)),
        }
    };
    let metric = &first.terms.metric;
    let in_cost = |estimate: Option<&Estimate>| estimate.map(|one| in_cost(metric, one));
    let estimates = [first.estimate.as_ref(), second.estimate.as_ref()].map(in_cost);
    let [first, second] = estimates.each_ref().map(|one| found(one.as_ref()));
    format!("{first}, then {second}")
}

#[cfg(feature = "reports")]
pub(crate) fn breach(rule: &str, excuse: Option<String>) -> String {
    match excuse {
        None => format!("breaks the rule '{rule}'"),
        Some(excuse) => format!("breaks the rule '{rule}', {excuse}"),
    }
}

/// Returns the sentence that the second race reached no verdict on benchmarks that broke a rule in
/// the first race, with the reason.
pub(crate) fn undecided(analysis: &Analysis, glyphs: Glyphs) -> Option<String> {
    let ending = analysis.second_race.as_ref()?;
    let is_open = |one: &&Comparison| {
        let unexcused = one
            .suite
            .gate
            .as_ref()
            .is_some_and(|hit| hit.excuse.is_none());
        unexcused && one.suite.confirmation.is_none()
    };
    let open = analysis.comparisons.iter().filter(is_open);
    let rows_are_named = suite::rows_name_candidates(analysis);
    let named = |one| named(one, analysis, rows_are_named, glyphs);
    let names: Vec<String> = open.map(named).collect();
    if names.is_empty() {
        return None;
    }
    let names = first_of(names, NAMED);
    let (how, reason) = match ending {
        Ending::Recorded(EndReason::Interrupted(signal)) => {
            let signal = signal_name(*signal);
            (format!("was interrupted by {signal} before"), String::new())
        }
        Ending::Recorded(EndReason::Failed(reason)) => {
            let reason = shown(reason.lines().next().unwrap_or_default(), REASON, glyphs);
            let reason = format!("; the reason: {}", reason.trim_end_matches('.'));
            ("failed before".to_owned(), reason)
        }
        Ending::Cut => ("was cut off before".to_owned(), String::new()),
        Ending::Recorded(EndReason::Budget) => {
            ("reached its budget before".to_owned(), String::new())
        }
        Ending::Recorded(EndReason::Finished) | Ending::Recording => {
            ("ended without".to_owned(), String::new())
        }
    };
    Some(format!(
        "the second race {how} a verdict on {names}, so the first race alone counts{reason}."
    ))
}

/// Returns the sentence that the gate could judge no benchmark, with the reason; `None` if it
/// judged any.
pub fn judged_nothing(analysis: &Analysis, glyphs: Glyphs) -> Option<String> {
    if !analysis.gates.judged_nothing || !analysis.failures.is_empty() {
        return None;
    }
    let called = |one: &Comparison| shorten(&suite::title(one, glyphs), NAME, glyphs);
    let unjudged = analysis
        .comparisons
        .iter()
        .filter(|one| one.suite.is_unjudged);
    let unjudged: Vec<String> = unjudged
        .map(|one| match &one.candidate {
            None => format!(
                "'{}' was measured alone, without a second side, such as the OLD in deadheat \
                 compare OLD NEW",
                called(one)
            ),
            Some(_) if one.verdict.is_some() => {
                format!("the rules file excludes '{}'", called(one))
            }
            Some(_) => {
                let why = why_no_verdict(one);
                format!("'{}' has no verdict ({why})", called(one))
            }
        })
        .collect();
    let why = match unjudged.is_empty() {
        true => "nothing was compared".to_owned(),
        false => first_of(unjudged, NAMED),
    };
    let end = if analysis.gates.allows_unjudged {
        "--allow-unjudged lets the gate pass"
    } else {
        "a gate that judges nothing would miss every regression; --allow-unjudged lets it pass"
    };
    Some(format!(
        "the gate (--fail-on) could judge no benchmark: {why}; {end}"
    ))
}

fn partly_judged(analysis: &Analysis, glyphs: Glyphs) -> Option<String> {
    if analysis.gates.judged_nothing {
        return None;
    }
    let unjudged = analysis.comparisons.iter();
    let unjudged = unjudged.filter(|one| one.suite.is_unjudged);
    // If a benchmark has a verdict but is not judged, the rules file excludes it.
    let (excluded, open): (Vec<_>, Vec<_>) = unjudged.partition(|one| one.verdict.is_some());
    let names = |of: &[&Comparison]| {
        let names = of.iter().map(|one| suite::title(one, glyphs));
        let names = names.map(|name| format!("'{}'", shorten(&name, NAME, glyphs)));
        first_of(names.collect(), NAMED)
    };
    let mut reasons = Vec::new();
    if !open.is_empty() {
        let has_or_have = if open.len() == 1 { "has" } else { "have" };
        reasons.push(format!("{}, which {has_or_have} no verdict", names(&open)));
    }
    if !excluded.is_empty() {
        reasons.push(format!(
            "{}, which the rules file excludes",
            names(&excluded)
        ));
    }
    (!reasons.is_empty()).then(|| format!("the gate could not judge {}.", reasons.join(", and ")))
}

/// Returns a sentence for each combination of a broken rule and an excuse, with the benchmarks that
/// share this combination.
fn broken(analysis: &Analysis, glyphs: Glyphs) -> Vec<Note> {
    let mut found: Vec<(&GateHit, Vec<String>)> = Vec::new();
    let rows_are_named = suite::rows_name_candidates(analysis);
    for comparison in &analysis.comparisons {
        let Some(hit) = &comparison.suite.gate else {
            continue;
        };
        let mut name = named(comparison, analysis, rows_are_named, glyphs);
        let second = comparison.suite.confirmation.as_ref();
        if let Some(second) = second.filter(|_| hit.excuse.is_none()) {
            let found = both(comparison, second, glyphs);
            name += &if second.agrees {
                format!(" (confirmed: {found})")
            } else {
                format!(" ({found})")
            };
        }
        match found.iter_mut().find(|(known, _)| *known == hit) {
            Some((_, names)) => names.push(name),
            None => found.push((hit, vec![name])),
        }
    }
    let mut notes = Vec::new();
    for (hit, names) in found {
        let verb = if names.len() == 1 { "breaks" } else { "break" };
        let names = format!("{} {verb}", first_of(names, NAMED));
        let rule = rule(hit, glyphs);
        notes.push(match (&hit.excuse, hit.unproven) {
            (None, Some(missing)) => unproven(missing, &rule, &names, analysis, glyphs),
            (None, None) => Note::of(
                Severity::Alarm,
                format!("the run fails: {names} the rule '{rule}'."),
            ),
            (Some(excuse), _) => {
                let excuse = self::excuse(excuse, glyphs);
                let excuse = excuse.trim_end_matches('.');
                let text = format!("{names} the rule '{rule}', which is {excuse}.");
                Note::of(Severity::Note, text)
            }
        });
    }
    notes
}

/// Returns the note that benchmarks break a rule but do not fail the run, because the second race
/// did not confirm their verdicts, or because the verdicts do not hold after the correction for all
/// comparisons. `names` lists the benchmarks and ends with "breaks" or "break".
fn unproven(
    missing: Unproven,
    rule: &str,
    names: &str,
    analysis: &Analysis,
    glyphs: Glyphs,
) -> Note {
    let said = match missing {
        Unproven::SecondRace => format!(
            "{names} the rule '{rule}', but the second race did not confirm this, so the run does \
             not fail for it."
        ),
        Unproven::SuiteLevel => {
            let suite = analysis.gates.suite.as_ref();
            let all = suite.map_or(0, |suite| suite.comparisons as u64);
            let all = counted(all, "comparison", "comparisons");
            let found = suite.and_then(|suite| suite.detectable).map(|change| {
                let change = Precision::of(None).signed(change, glyphs);
                format!(
                    ". After the correction, the gate finds a change of {change} with 80% power"
                )
            });
            let again = match (Source::of(analysis), &analysis.second_race) {
                (Source::Recording, _) | (_, Some(_)) => "",
                _ => ". --confirm gives benchmarks that break a rule a second race",
            };
            format!(
                "{names} the rule '{rule}' if each comparison is judged by itself, but not after \
                 correction for all {all} of the gate, so the run does not fail for it{}{again}.",
                found.unwrap_or_default()
            )
        }
    };
    Note::of(Severity::Note, said)
}

/// Returns the name of a benchmark, and of the candidate if the rows of the table name candidates. A
/// race of arbitrary commands has no name, so only its candidate is named.
fn named(
    comparison: &Comparison,
    analysis: &Analysis,
    rows_are_named: bool,
    glyphs: Glyphs,
) -> String {
    let title = shorten(&suite::title(comparison, glyphs), NAME, glyphs);
    let candidate = comparison.candidate.as_ref();
    let candidate = candidate.map(|side| shown(&side.name, NAME, glyphs));
    let of_any = suite::is_any_run(std::slice::from_ref(comparison), Source::of(analysis));
    match candidate {
        Some(candidate) if of_any => format!("'{candidate}'"),
        Some(candidate) if rows_are_named => {
            format!("'{title}' ('{candidate}')")
        }
        _ => format!("'{title}'"),
    }
}

/// Returns the note that an entry of the ignore list excuses nothing, with the reason.
fn idle(one: &IdleIgnore, file: &str, glyphs: Glyphs) -> Note {
    let name = shown(&one.name, NAME, glyphs);
    let rule = one.rule.as_ref();
    let rule = rule.map_or("a rule".to_owned(), |rule| format!("the rule '{rule}'"));
    let (severity, said) = match &one.why {
        Idle::NoBenchmark => (
            Severity::Note,
            format!("no benchmark is called '{name}'; remove the excuse, or correct the name"),
        ),
        Idle::NothingBroken => (
            Severity::Note,
            format!("'{name}' does not break {rule} any more; remove its excuse"),
        ),
        Idle::Expired {
            until,
            broken: true,
        } => (
            Severity::Warning,
            format!(
                "the excuse of '{name}' expired after {until}; '{name}' still breaks {rule}, and \
                 this counts again"
            ),
        ),
        Idle::Expired { until, .. } => (
            Severity::Note,
            format!(
                "the excuse of '{name}' expired after {until}, and it does not break {rule}; \
                 remove the excuse"
            ),
        ),
    };
    Note::of(severity, format!("{file}, line {}: {said}.", one.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_as_people_would() {
        let names = |count: usize| -> Vec<String> {
            (1..=count).map(|number| format!("'b{number}'")).collect()
        };
        assert_eq!(first_of(names(1), NAMED), "'b1'");
        assert_eq!(first_of(names(3), NAMED), "'b1', 'b2' and 'b3'");
        assert!(first_of(names(500), NAMED).ends_with("'b20' and 480 more"));
    }

    #[test]
    fn an_excuse_tells_its_reason_and_its_last_day() {
        let mut given = Excuse {
            reason: "the new parser\nis known".to_owned(),
            until: Some("2026-12-31".to_owned()),
        };
        assert_eq!(
            excuse(&given, Glyphs::Unicode),
            r"excused until 2026-12-31: the new parser\nis known"
        );
        given.until = None;
        given.reason.clear();
        assert_eq!(excuse(&given, Glyphs::Unicode), "excused, without a reason");
    }
}
