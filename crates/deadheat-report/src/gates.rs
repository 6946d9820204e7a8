//! Gates in words: which rules are broken by what, what excuses them, and which excuses are idle.

use deadheat_model::{Analysis, Comparison, Excuse, GateHit, Idle, IdleIgnore};

use crate::document::{Broken, Content, Note, Severity};
use crate::enumeration::first_of;
#[cfg(feature = "reports")]
use crate::enumeration::texts;
use crate::glyphs::Glyphs;
use crate::names::{shorten, shown};
use crate::suite;
use crate::units::counted;

/// So many names stand in a sentence; all of them are in the JSON.
const NAMED: usize = 20;
/// Columns that one name may take.
const NAME: usize = 60;
/// Columns that the path of a rules file may take.
const PATH: usize = 100;
/// Columns that the name of a rule may take.
const RULE: usize = 60;
/// Columns that a reason in the words of others may take.
const REASON: usize = 400;

/// Every sentence about the gates, the gravest first; none where nobody set a rule.
pub(crate) fn gates(analysis: &Analysis, glyphs: Glyphs) -> Vec<Note> {
    let mut notes = broken(analysis, glyphs);
    notes.extend(about_the_file(analysis, glyphs));
    Note::gravest_first(&notes)
}

/// Sentences about the rules file: excuses that excuse nothing, and that the rules are its.
pub(crate) fn about_the_file(analysis: &Analysis, glyphs: Glyphs) -> Vec<Note> {
    let gates = &analysis.gates;
    let file = gates.config.as_deref().unwrap_or("the rules file");
    let file = shown(file, PATH, glyphs);
    let mut notes = Vec::new();
    for one in &gates.idle {
        notes.push(idle(one, &file, glyphs));
    }
    if gates.config.is_some() {
        let where_from = format!(
            "the rules are those of {file}, where the command line does not say otherwise."
        );
        notes.push(Note::of(Severity::Note, where_from));
    }
    notes
}

/// The gates of the whole run: whether they are open, and every comparison that breaks a rule,
/// those that count first; `None` where there is no rule. `names` gives the names of a comparison.
#[cfg(feature = "reports")]
pub(crate) fn gate<'a>(
    analysis: &Analysis,
    names: impl Fn(&Comparison) -> Vec<String>,
    glyphs: Glyphs,
) -> Option<Content<'a>> {
    let hits = analysis.comparisons.iter();
    let hits = hits.filter_map(|one| Some((one, one.gate.as_ref()?)));
    let hits = hits.map(|(one, hit)| Broken {
        names: names(one),
        rule: rule(hit, glyphs),
        excuse: hit.excuse.as_ref().map(|found| excuse(found, glyphs)),
    });
    let (excused, mut broken): (Vec<_>, Vec<_>) = hits.partition(|hit| hit.excuse.is_some());
    let passed = passed(analysis);
    if excused.is_empty() && broken.is_empty() && passed.is_none() {
        return None;
    }
    let is_open = broken.is_empty();
    let title = match (broken.len(), excused.len()) {
        (0, 0) => "The gate is open".to_owned(),
        (0, _) => "The gate is open: every rule that is broken is excused".to_owned(),
        (count, _) => format!(
            "The gate is closed: {}",
            counted(count as u64, "rule broken", "rules broken")
        ),
    };
    broken.extend(excused);
    Some(Content::Gate {
        is_open,
        title,
        passed,
        broken,
    })
}

/// That no rule is broken; `None` where one is, or where there is none.
#[cfg(feature = "reports")]
fn passed(analysis: &Analysis) -> Option<String> {
    let broken = analysis.comparisons.iter().any(|one| one.gate.is_some());
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

/// The name of the rule, fit to be shown.
pub(crate) fn rule(hit: &GateHit, glyphs: Glyphs) -> String {
    shown(&hit.rule, RULE, glyphs)
}

/// Why a broken rule does not count: "excused until 2026-12-31: known".
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

/// The rule that a benchmark breaks, and what excuses that.
#[cfg(feature = "reports")]
pub(crate) fn breach(rule: &str, excuse: Option<String>) -> String {
    match excuse {
        None => format!("breaks the rule '{rule}'"),
        Some(excuse) => format!("breaks the rule '{rule}', {excuse}"),
    }
}

/// A sentence for each rule that is broken, and for each excuse.
fn broken(analysis: &Analysis, glyphs: Glyphs) -> Vec<Note> {
    let groups = suite::groups(&analysis.comparisons);
    let alone = groups.len() == 1;
    let mut found: Vec<(&GateHit, Vec<String>)> = Vec::new();
    for group in groups {
        for comparison in group {
            let Some(hit) = &comparison.gate else {
                continue;
            };
            let name = named(comparison, group.len() > 1, alone, glyphs);
            match found.iter_mut().find(|(known, _)| *known == hit) {
                Some((_, names)) => names.push(name),
                None => found.push((hit, vec![name])),
            }
        }
    }
    let mut notes = Vec::new();
    for (hit, names) in found {
        let broken = format!(
            "the rule '{}' is broken by {}",
            rule(hit, glyphs),
            first_of(names, NAMED)
        );
        notes.push(match &hit.excuse {
            None => Note::of(Severity::Alarm, format!("the run fails: {broken}.")),
            Some(excuse) => {
                let excuse = self::excuse(excuse, glyphs);
                let excuse = excuse.trim_end_matches('.');
                Note::of(Severity::Note, format!("{broken}, which is {excuse}."))
            }
        });
    }
    notes
}

/// A benchmark by its name, and its candidate where there are several; of the
/// only benchmark the candidate says more.
fn named(comparison: &Comparison, several: bool, alone: bool, glyphs: Glyphs) -> String {
    let title = shorten(&suite::title(comparison, glyphs), NAME, glyphs);
    let candidate = comparison.candidate.as_ref();
    let candidate = candidate.map(|side| shown(&side.name, NAME, glyphs));
    match candidate {
        Some(candidate) if alone => format!("'{candidate}'"),
        Some(candidate) if several => format!("'{title}' ('{candidate}')"),
        _ => format!("'{title}'"),
    }
}

/// That an entry of the ignore list excuses nothing, and why.
fn idle(one: &IdleIgnore, file: &str, glyphs: Glyphs) -> Note {
    let name = shown(&one.name, NAME, glyphs);
    let rule = one.rule.as_ref();
    let rule = rule.map_or("a rule".to_owned(), |rule| format!("the rule '{rule}'"));
    let (severity, said) = match &one.why {
        Idle::NoBenchmark => (
            Severity::Note,
            format!("no benchmark is called '{name}'; take the excuse out, or mend the name"),
        ),
        Idle::NothingBroken => (
            Severity::Note,
            format!("'{name}' does not break {rule} any more; take its excuse out"),
        ),
        Idle::Expired {
            until,
            broken: true,
        } => (
            Severity::Warning,
            format!("the excuse of '{name}' ended with {until}; what it breaks counts again"),
        ),
        Idle::Expired { until, .. } => (
            Severity::Note,
            format!(
                "the excuse of '{name}' ended with {until}, and it does not break {rule}; take \
                 the excuse out"
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
