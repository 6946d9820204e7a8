//! The answer for services that collect the results of tests.
//!
//! What such a service shows decides what stands where. A broken rule is a
//! failure, and nothing else is: what merely got slower while no gate was set
//! passes, with its sentence. A broken rule that is excused is skipped, since
//! services show a skipped test with its message and a passed one without.
//! What broke down is an error, what was not raced is skipped.

use deadheat_model::{Analysis, Comparison, EndReason, Ending, Metric};

use crate::gates;
use crate::glyphs::Glyphs;
use crate::left_out;
use crate::names::{labels, shorten, unique};
use crate::sentences::{self, Called, Source};
use crate::suite;
use crate::warnings::{self, WarningText};
use crate::xml;

/// Columns a name may take.
const NAME: usize = 200;

/// Columns the name of a contender may take in a sentence.
const LABEL: usize = 100;

/// Who reports: the class of every test.
const CLASS: &str = "deadheat";

const GLYPHS: Glyphs = Glyphs::Unicode;

/// The analysis as JUnit XML, as `junit-10.xsd` of Jenkins has it: one suite,
/// with a test for every benchmark and candidate.
///
/// The `time` of a test is the median wall time of one iteration of the
/// candidate (of a contender alone, its own), in seconds; of saved results
/// that have none it is left out. That of the suite is what the run took.
pub fn to_junit(analysis: &Analysis) -> String {
    let shared = shared(analysis);
    let mut tests = compared(analysis, &shared);
    tests.extend(analysis.failures.iter().map(|failure| {
        let title = suite::failed_title(failure, GLYPHS);
        let sentence = sentences::failed(&shorten(&title, LABEL, GLYPHS), failure, GLYPHS);
        Test::new(title, Outcome::Error("failed".to_owned(), sentence))
    }));
    tests.extend(analysis.left_out.iter().map(|one| {
        let title = suite::title_of(&one.benchmark, &[], GLYPHS);
        let reason = left_out::left_out(std::slice::from_ref(one), GLYPHS).concat();
        Test::new(title, Outcome::Skipped("left out".to_owned(), reason))
    }));
    tests.extend(broken_off(analysis));
    let names = tests.iter().map(|test| shorten(&test.name, NAME, GLYPHS));
    let names = unique(names.collect());
    let tests: Vec<(String, Test)> = names.into_iter().zip(tests).collect();
    document(analysis, &tests, shared)
}

/// One test of the suite.
struct Test {
    name: String,
    /// Seconds.
    time: Option<f64>,
    outcome: Outcome,
    out: Vec<String>,
}

impl Test {
    fn new(name: String, outcome: Outcome) -> Self {
        Test {
            name,
            time: None,
            outcome,
            out: Vec::new(),
        }
    }
}

/// How a test went; where it did not pass, of which type and why.
enum Outcome {
    Passed,
    Failure(String, String),
    Error(String, String),
    Skipped(String, String),
}

/// What is told of a comparison beside its verdict.
fn told(comparison: &Comparison, candidate: Option<&str>, source: Source) -> Vec<WarningText> {
    let one = std::slice::from_ref(comparison);
    warnings::messages(one, &[candidate.unwrap_or("")], source, GLYPHS)
}

/// What is told of all, once for the suite.
fn shared(analysis: &Analysis) -> Vec<WarningText> {
    let comparisons = analysis.comparisons.iter();
    let told: Vec<Vec<WarningText>> = comparisons
        .map(|one| told(one, None, Source::of(analysis)))
        .collect();
    warnings::shared_warnings(&told)
}

fn compared(analysis: &Analysis, shared: &[WarningText]) -> Vec<Test> {
    let source = Source::of(analysis);
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
            if let Some(candidate) = candidate.filter(|_| group.len() > 1) {
                name = format!("{}: {candidate}", shorten(&name, LABEL, GLYPHS));
            }
            let mut test = test(name, comparison, called, source);
            let told = told(comparison, candidate, source).into_iter();
            test.out
                .extend(told.filter(|told| !shared.contains(told)).map(line));
            tests.push(test);
        }
    }
    tests
}

fn test(name: String, comparison: &Comparison, called: Called<'_>, source: Source) -> Test {
    let sentence = sentences::verdict(comparison, called, source, GLYPHS);
    let outcome = match &comparison.gate {
        None => Outcome::Passed,
        Some(hit) => match &hit.excuse {
            None => Outcome::Failure(gates::rule(hit, GLYPHS), sentence.clone()),
            Some(excuse) => Outcome::Skipped(
                format!("excused {}", gates::rule(hit, GLYPHS)),
                format!("{}; {sentence}", gates::excuse(excuse, GLYPHS)),
            ),
        },
    };
    let mut out = vec![sentence];
    out.extend(sentences::placement(comparison, GLYPHS));
    out.extend(sentences::noise_floor(comparison, GLYPHS));
    out.extend(sentences::design(comparison, GLYPHS));
    let one = std::slice::from_ref(comparison);
    out.extend(sentences::rests_on(one, source));
    Test {
        time: time(comparison),
        out,
        ..Test::new(name, outcome)
    }
}

/// A doubt, or what helps to read the result, as a line.
fn line(told: WarningText) -> String {
    match told.information {
        true => format!("note: {}", told.text),
        false => format!("warning: {}", told.text),
    }
}

/// Seconds that an iteration takes.
fn time(comparison: &Comparison) -> Option<f64> {
    let metrics = comparison.metrics.iter();
    let wall = metrics
        .filter(|metric| metric.metric == Metric::Wall)
        .map(|wall| wall.candidate.as_ref().unwrap_or(&wall.baseline))
        .next()?;
    Some(wall.median * 1e-9)
}

/// That the run did not come to its end; a race that was cut short must not
/// look green since what it did not get to is missing.
fn broken_off(analysis: &Analysis) -> Option<Test> {
    let kind = match &analysis.ending {
        Ending::Recording | Ending::Recorded(EndReason::Finished | EndReason::Budget) => {
            return None;
        }
        Ending::Recorded(EndReason::Interrupted(_)) => "interrupted",
        Ending::Recorded(EndReason::Failed(_)) => "failed",
        Ending::Cut => "cut",
    };
    let told = sentences::ending(&analysis.ending, Source::of(analysis), GLYPHS);
    let outcome = Outcome::Error(kind.to_owned(), told.unwrap_or_default());
    Some(Test::new("the run itself".to_owned(), outcome))
}

fn document(analysis: &Analysis, tests: &[(String, Test)], shared: Vec<WarningText>) -> String {
    let count = |of: fn(&Outcome) -> bool| {
        let such = tests.iter().filter(|(_, test)| of(&test.outcome));
        such.count()
    };
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        tests.len(),
        count(|outcome| matches!(outcome, Outcome::Failure(..))),
        count(|outcome| matches!(outcome, Outcome::Error(..))),
    );
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(..)));
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
    for (name, test) in tests {
        text += &testcase(name, test);
    }
    let mut told = vec![sentences::tally(
        &analysis.comparisons,
        &analysis.failures,
        &analysis.left_out,
    )];
    told.extend(sentences::effort(analysis));
    told.extend(sentences::ending(
        &analysis.ending,
        Source::of(analysis),
        GLYPHS,
    ));
    let warnings = warnings::in_order(&analysis.warnings).into_iter();
    let warnings = warnings
        .map(|one| WarningText::new(one, warnings::sentence(one, Source::of(analysis), GLYPHS)));
    told.extend(warnings.chain(shared).map(line));
    text += &lines("    ", "system-out", &told);
    text += "  </testsuite>\n</testsuites>\n";
    text
}

/// What the whole suite was judged by.
fn properties(analysis: &Analysis) -> String {
    let mut known = vec![
        ("deadheat", analysis.tool_version.clone()),
        ("alpha", analysis.alpha.to_string()),
        ("margin", analysis.margin.to_string()),
    ];
    known.extend(analysis.seed.map(|seed| ("seed", seed.to_string())));
    let known = known.iter().map(|(name, value)| {
        let value = xml::text(value);
        format!("      <property name=\"{name}\" value=\"{value}\"/>\n")
    });
    format!(
        "    <properties>\n{}    </properties>\n",
        known.collect::<String>()
    )
}

fn testcase(name: &str, test: &Test) -> String {
    let name = xml::text(name);
    let time = match test.time {
        Some(time) => format!(" time=\"{time:.9}\""),
        None => String::new(),
    };
    let told = |element: &str, kind: &str, message: &str| {
        let (kind, message) = (xml::text(kind), xml::text(message));
        format!("      <{element} type=\"{kind}\" message=\"{message}\"/>\n")
    };
    let outcome = match &test.outcome {
        Outcome::Passed => String::new(),
        // Some services show the message and some the text.
        Outcome::Failure(rule, sentence) => format!(
            "      <failure type=\"{0}\" message=\"{1}\">{1}</failure>\n",
            xml::text(rule),
            xml::text(sentence)
        ),
        Outcome::Error(kind, message) => told("error", kind, message),
        Outcome::Skipped(kind, message) => told("skipped", kind, message),
    };
    let out = match test.out.is_empty() {
        true => String::new(),
        false => lines("      ", "system-out", &test.out),
    };
    format!(
        "    <testcase classname=\"{CLASS}\" name=\"{name}\"{time}>\n{outcome}{out}    </testcase>\n"
    )
}

/// An element with a line for each text.
fn lines(indent: &str, element: &str, texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|line| xml::text(line)).collect();
    format!("{indent}<{element}>{}</{element}>\n", texts.join("\n"))
}
