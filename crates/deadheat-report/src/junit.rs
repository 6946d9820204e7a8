//! The answer as JUnit XML, for services that collect test results.
//!
//! CI services show the message of a test that failed, had an error or was skipped, but not the
//! message of a passed test. A comparison that breaks a rule of the gate is a failed test, or a
//! skipped test if the rule has an excuse. A comparison that is slower without breaking a rule is a
//! passed test, with its verdict in the output. A benchmark that failed is an error, and a
//! benchmark that was not raced is a skipped test.

use std::collections::{HashMap, HashSet};

use deadheat_model::{Analysis, Comparison, EndReason, Ending, Metric};

use crate::aspects::{self, placement};
use crate::glyphs::Glyphs;
use crate::names::{labels, shorten, xml};
use crate::sentences::{self, Called, Source};
use crate::warnings::{self, WarningText};
use crate::{gates, suite, verdict_sentence};

/// Maximum width, in columns, of the name of a test.
const NAME: usize = 200;

/// Maximum width, in columns, of the name of a contender in a sentence.
const LABEL: usize = 100;

const CLASS: &str = "deadheat";

const GLYPHS: Glyphs = Glyphs::Unicode;

/// Formats the analysis as JUnit XML that conforms to `junit-10.xsd` of Jenkins: one suite, with a
/// test for every benchmark and candidate.
///
/// The `time` of a test is the median wall time of one iteration in seconds, for the candidate or
/// for the only contender. It is omitted for saved results without wall times. The `time` of the
/// suite is the duration of the run.
pub fn to_junit(analysis: &Analysis) -> String {
    let all = every_warning(analysis);
    let shared = warnings::shared_warnings(&all);
    let mut tests = compared(analysis, &shared);
    let titles: Vec<String> = tests.iter().map(|test| test.name.clone()).collect();
    let shared = warnings::attributed(&shared, &all, &titles);
    tests.extend(analysis.failures.iter().map(|failure| {
        let title = suite::failed_title(failure, GLYPHS);
        let sentence = sentences::failed(&shorten(&title, LABEL, GLYPHS), failure, GLYPHS);
        Test::without_answer(title, ("error", "failed".to_owned(), sentence))
    }));
    tests.extend(analysis.left_out.iter().map(|one| {
        let title = suite::title_of(&one.benchmark, &[], GLYPHS);
        let reason = sentences::left_out(std::slice::from_ref(one), GLYPHS).concat();
        Test::without_answer(title, ("skipped", "left out".to_owned(), reason))
    }));
    tests.extend(broken_off(analysis));
    tests.extend(unconfirmed(analysis));
    tests.extend(unjudged(analysis));
    let names = tests.iter().map(|test| shorten(&test.name, NAME, GLYPHS));
    let names = unique(names.collect());
    for (test, name) in tests.iter_mut().zip(names) {
        test.name = name;
    }
    document(analysis, &tests, shared)
}

struct Test {
    name: String,
    /// The median wall time of an iteration in seconds; `None` if it is unknown.
    time: Option<f64>,
    /// `None` if the test passed.
    outcome: Option<Outcome>,
    out: Vec<String>,
}

impl Test {
    fn without_answer(name: String, outcome: Outcome) -> Self {
        Test {
            name,
            time: None,
            outcome: Some(outcome),
            out: Vec::new(),
        }
    }
}

/// The XML element of a test that did not pass (`failure`, `error` or `skipped`), its type, and its
/// message.
type Outcome = (&'static str, String, String);

fn warnings_on(
    comparison: &Comparison,
    candidate: Option<&str>,
    source: Source,
) -> Vec<WarningText> {
    let one = std::slice::from_ref(comparison);
    warnings::messages(one, &[candidate.unwrap_or("")], source, GLYPHS)
}

fn every_warning(analysis: &Analysis) -> Vec<Vec<WarningText>> {
    let source = Source::of(analysis);
    let comparisons = analysis.comparisons.iter();
    comparisons
        .map(|one| warnings_on(one, None, source))
        .collect()
}

fn compared(analysis: &Analysis, shared: &[WarningText]) -> Vec<Test> {
    let source = Source::of(analysis);
    let named = suite::rows_name_candidates(analysis);
    let mut tests = Vec::new();
    for group in suite::groups(&analysis.comparisons) {
        let labels = labels(&suite::names(group), LABEL, GLYPHS);
        for (index, comparison) in group.iter().enumerate() {
            let candidate = labels.get(index + 1).map(String::as_str);
            let called = Called {
                baseline: &labels[0],
                candidate,
                baseline_is_shown: false,
            };
            let mut name = suite::title(comparison, GLYPHS);
            if let Some(candidate) = candidate.filter(|_| named) {
                name = suite::row_name(&shorten(&name, LABEL, GLYPHS), Some(candidate));
            }
            let mut test = test(name, comparison, called, source);
            let warnings = warnings_on(comparison, candidate, source).into_iter();
            let own = warnings.filter(|one| !shared.contains(one));
            test.out.extend(own.map(line));
            tests.push(test);
        }
    }
    tests
}

fn test(name: String, comparison: &Comparison, called: Called<'_>, source: Source) -> Test {
    let sentence = verdict_sentence::verdict(comparison, called, source, GLYPHS).to_string();
    let outcome = comparison.suite.gate.as_ref().map(|hit| {
        let rule = gates::rule(hit, GLYPHS);
        match gates::pardon(comparison, hit, GLYPHS) {
            None => match &comparison.suite.confirmation {
                Some(second) => {
                    let both = gates::both(comparison, second, GLYPHS);
                    ("failure", rule, format!("confirmed: {both}; {sentence}"))
                }
                None => ("failure", rule, sentence.clone()),
            },
            Some(pardon) => {
                let message = format!("{pardon}; {sentence}");
                let why = if hit.excuse.is_some() {
                    "excused"
                } else {
                    "unproven"
                };
                ("skipped", format!("{why} {rule}"), message)
            }
        }
    });
    let unjudged = comparison.suite.is_unjudged;
    let outcome =
        outcome.or_else(|| unjudged.then(|| ("skipped", "unjudged".to_owned(), sentence.clone())));
    let mut out = vec![sentence];
    out.extend(aspects::details_for_junit(comparison, GLYPHS));
    let one = std::slice::from_ref(comparison);
    out.extend(sentences::rests_on(one, source));
    Test {
        name,
        time: time(comparison),
        outcome,
        out,
    }
}

fn line(one: WarningText) -> String {
    let kind = if one.information { "note" } else { "warning" };
    format!("{kind}: {}", one.text)
}

/// Returns the median wall time of an iteration in seconds.
fn time(comparison: &Comparison) -> Option<f64> {
    let mut metrics = comparison.metrics.iter();
    let wall = metrics.find(|metric| metric.metric == Metric::Wall)?;
    Some(wall.candidate.as_ref().unwrap_or(&wall.baseline).median * 1e-9)
}

/// Returns a failed test if the run ended early, otherwise `None`. Without this test, a run with
/// missing benchmarks would pass.
fn broken_off(analysis: &Analysis) -> Option<Test> {
    let kind = cut_short(&analysis.ending)?;
    let message = sentences::ending(&analysis.ending, Source::of(analysis), GLYPHS);
    let outcome = ("error", kind.to_owned(), message.unwrap_or_default());
    Some(Test::without_answer("the run itself".to_owned(), outcome))
}

/// Returns a failed test if the second race ended early and left a broken rule without a verdict;
/// otherwise `None`.
fn unconfirmed(analysis: &Analysis) -> Option<Test> {
    let kind = cut_short(analysis.second_race.as_ref()?)?;
    let outcome = (
        "error",
        kind.to_owned(),
        gates::undecided(analysis, GLYPHS)?,
    );
    Some(Test::without_answer("the second race".to_owned(), outcome))
}

/// Returns a failed test if the gate could judge no benchmark; otherwise `None`.
fn unjudged(analysis: &Analysis) -> Option<Test> {
    gates::has_no_judgement(analysis).then_some(())?;
    let message = gates::judged_nothing(analysis, GLYPHS)?;
    let outcome = ("error", "unjudged".to_owned(), message);
    Some(Test::without_answer("the gate".to_owned(), outcome))
}

/// Returns a word for the reason why a race ended early; `None` if it ended as planned.
fn cut_short(ending: &Ending) -> Option<&'static str> {
    match ending {
        Ending::Recording | Ending::Recorded(EndReason::Finished | EndReason::Budget) => None,
        Ending::Recorded(EndReason::Interrupted(_)) => Some("interrupted"),
        Ending::Recorded(EndReason::Failed(_)) => Some("failed"),
        Ending::Cut => Some("cut"),
    }
}

fn document(analysis: &Analysis, tests: &[Test], shared: Vec<WarningText>) -> String {
    let source = Source::of(analysis);
    let count = |element: &str| {
        let outcomes = tests.iter().filter_map(|test| test.outcome.as_ref());
        outcomes.filter(|outcome| outcome.0 == element).count()
    };
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        tests.len(),
        count("failure"),
        count("error"),
    );
    let skipped = count("skipped");
    let time = match analysis.ending {
        Ending::Recording => String::new(),
        _ => format!(" time=\"{:.3}\"", analysis.elapsed_seconds),
    };
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"{CLASS}\" {counts}{time}>\n\
         \x20 <testsuite name=\"{CLASS}\" {counts} skipped=\"{skipped}\"{time}>\n"
    );
    text += &properties(analysis);
    text.extend(tests.iter().map(testcase));
    let mut out = vec![sentences::tally(
        &analysis.comparisons,
        &analysis.failures,
        &analysis.left_out,
    )];
    out.extend(placement::raced(&analysis.comparisons, source));
    out.extend(sentences::effort(analysis));
    out.extend(sentences::ending(&analysis.ending, source, GLYPHS));
    let warnings = WarningText::of_run(&analysis.warnings, source, GLYPHS).into_iter();
    out.extend(warnings.chain(shared).map(line));
    text += &lines("    ", "system-out", &out);
    text += "  </testsuite>\n</testsuites>\n";
    text
}

fn properties(analysis: &Analysis) -> String {
    let mut known = vec![
        ("deadheat", analysis.tool_version.clone()),
        ("alpha", analysis.design.alpha.to_string()),
        ("margin", analysis.design.margin.to_string()),
    ];
    known.extend(analysis.seed.map(|seed| ("seed", seed.to_string())));
    let known = known.iter().map(|(name, value)| {
        let value = xml(value);
        format!("      <property name=\"{name}\" value=\"{value}\"/>\n")
    });
    format!(
        "    <properties>\n{}    </properties>\n",
        known.collect::<String>()
    )
}

fn testcase(test: &Test) -> String {
    let name = xml(&test.name);
    let time = test.time.map(|time| format!(" time=\"{time:.9}\""));
    let time = time.unwrap_or_default();
    let mut text = format!("    <testcase classname=\"{CLASS}\" name=\"{name}\"{time}>\n");
    if let Some((element, kind, message)) = &test.outcome {
        let (kind, message) = (xml(kind), xml(message));
        text += &format!("      <{element} type=\"{kind}\" message=\"{message}\"");
        // Some services show the message of a failure, others its text.
        text += &match *element {
            "failure" => format!(">{message}</failure>\n"),
            _ => "/>\n".to_owned(),
        };
    }
    if !test.out.is_empty() {
        text += &lines("      ", "system-out", &test.out);
    }
    text + "    </testcase>\n"
}

fn lines(indent: &str, element: &str, texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|line| xml(line)).collect();
    format!("{indent}<{element}>{}</{element}>\n", texts.join("\n"))
}

/// Appends a number to every name that is already used, so that all names differ.
fn unique(names: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::with_capacity(names.len());
    let mut last: HashMap<String, usize> = HashMap::new();
    let mut different = Vec::with_capacity(names.len());
    for name in names {
        let mut free = name.clone();
        while !taken.insert(free.clone()) {
            let number = last.entry(name.clone()).or_insert(1);
            *number += 1;
            free = format!("{name} ({number})");
        }
        different.push(free);
    }
    different
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_later_under_a_taken_name_gets_a_number() {
        let names = ["a", "b", "a", "a (2)", "a"].map(str::to_owned).to_vec();
        assert_eq!(unique(names), ["a", "b", "a (2)", "a (2) (2)", "a (3)"]);
    }
}
