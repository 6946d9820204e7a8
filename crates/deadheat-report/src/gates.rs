//! What the gates say, in words: which rules are broken by what, what excuses
//! them, and which excuses are idle.

use deadheat_model::{Analysis, Comparison, Excuse, GateHit, Idle, IdleIgnore};

use crate::enumeration::first_of;
use crate::glyphs::Glyphs;
use crate::names::{escape, shorten};
use crate::suite;

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

/// How much a sentence weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The run fails for it.
    Fails,
    /// Somebody should see to it.
    Warns,
    /// It is good to know.
    Notes,
}

/// A sentence about the gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateLine {
    /// How much it weighs.
    pub weight: Weight,
    /// The sentence.
    pub text: String,
}

/// Every sentence about the gates, the gravest first; none where nobody set a
/// rule.
pub fn gates(analysis: &Analysis, glyphs: Glyphs) -> Vec<GateLine> {
    let mut lines: Vec<GateLine> = broken(analysis, glyphs);
    let gates = &analysis.gates;
    let file = gates.config.as_deref().unwrap_or("the rules file");
    let file = shorten(&escape(file, glyphs), PATH, glyphs);
    lines.extend(gates.idle.iter().map(|one| idle(one, &file, glyphs)));
    lines.extend(gates.config.is_some().then(|| GateLine {
        weight: Weight::Notes,
        text: format!(
            "the rules are those of {file}, where the command line does not say otherwise."
        ),
    }));
    lines.sort_by_key(|line| line.weight as u8);
    lines
}

/// That no rule is broken; `None` where one is, or where there is none.
pub(crate) fn passed(analysis: &Analysis) -> Option<String> {
    let broken = analysis.comparisons.iter().any(|one| one.gate.is_some());
    let asked = &analysis.gates.asked;
    if broken || asked.is_empty() {
        return None;
    }
    let names: Vec<String> = asked.iter().map(|rule| format!("'{rule}'")).collect();
    let noun = if names.len() == 1 { "rule" } else { "rules" };
    Some(format!(
        "no benchmark breaks the {noun} {}.",
        first_of(names, NAMED)
    ))
}

/// The name of the rule, fit to be shown.
pub(crate) fn rule(hit: &GateHit, glyphs: Glyphs) -> String {
    shorten(&escape(&hit.rule, glyphs), RULE, glyphs)
}

/// Why a broken rule does not count: "excused until 2026-12-31: known".
pub(crate) fn excuse(excuse: &Excuse, glyphs: Glyphs) -> String {
    let shown = |text: &str| shorten(&escape(text, glyphs), REASON, glyphs);
    let until = match &excuse.until {
        Some(day) => format!(" until {}", shown(day)),
        None => String::new(),
    };
    match excuse.reason.is_empty() {
        true => format!("excused{until}, without a reason"),
        false => format!("excused{until}: {}", shown(&excuse.reason)),
    }
}

/// A sentence for each rule that is broken, and for each excuse.
fn broken(analysis: &Analysis, glyphs: Glyphs) -> Vec<GateLine> {
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
    let sentences = found.into_iter();
    sentences
        .map(|(hit, names)| {
            let names = first_of(names, NAMED);
            let rule = rule(hit, glyphs);
            match &hit.excuse {
                None => GateLine {
                    weight: Weight::Fails,
                    text: format!("the run fails: the rule '{rule}' is broken by {names}."),
                },
                Some(excuse) => {
                    let excuse = self::excuse(excuse, glyphs);
                    let excuse = excuse.trim_end_matches('.');
                    GateLine {
                        weight: Weight::Notes,
                        text: format!("the rule '{rule}' is broken by {names}, which is {excuse}."),
                    }
                }
            }
        })
        .collect()
}

/// A benchmark by its name, and its candidate where there are several; of the
/// only benchmark the candidate says more.
fn named(comparison: &Comparison, several: bool, alone: bool, glyphs: Glyphs) -> String {
    let title = shorten(&suite::title(comparison, glyphs), NAME, glyphs);
    let candidate = comparison.candidate.as_ref();
    let candidate = candidate.map(|side| shorten(&escape(&side.name, glyphs), NAME, glyphs));
    match candidate {
        Some(candidate) if alone => format!("'{candidate}'"),
        Some(candidate) if several => format!("'{title}' ('{candidate}')"),
        _ => format!("'{title}'"),
    }
}

/// That an entry of the ignore list excuses nothing, and why.
fn idle(one: &IdleIgnore, file: &str, glyphs: Glyphs) -> GateLine {
    let name = shorten(&escape(&one.name, glyphs), NAME, glyphs);
    let rule = one.rule.as_ref();
    let rule = rule.map_or("a rule".to_owned(), |rule| format!("the rule '{rule}'"));
    let (weight, said) = match &one.why {
        Idle::NoBenchmark => (
            Weight::Notes,
            format!("no benchmark is called '{name}'; take the excuse out, or mend the name"),
        ),
        Idle::NothingBroken => (
            Weight::Notes,
            format!("'{name}' does not break {rule} any more; take its excuse out"),
        ),
        Idle::Expired {
            until,
            broken: true,
        } => (
            Weight::Warns,
            format!("the excuse of '{name}' ended with {until}; what it breaks counts again"),
        ),
        Idle::Expired { until, .. } => (
            Weight::Notes,
            format!(
                "the excuse of '{name}' ended with {until}, and it does not break {rule}; take \
                 the excuse out"
            ),
        ),
    };
    GateLine {
        weight,
        text: format!("{file}, line {}: {said}.", one.line),
    }
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
