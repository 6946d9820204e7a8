use deadheat_model::{Analysis, EndReason, Ending, Excuse, GateHit, Metric};
use deadheat_report::{Glyphs, escape, to_junit};
use proptest::prelude::*;
use roxmltree::{Document, Node};

use crate::fixtures::*;
use crate::hostile::names;

#[test]
fn a_suite_with_a_red_and_an_excused_gate_as_junit() {
    insta::assert_snapshot!(to_junit(&gated()));
}

#[test]
fn three_contenders_as_junit() {
    insta::assert_snapshot!(to_junit(&three_contenders()));
}

#[test]
fn benchmarks_that_failed_or_were_left_out_as_junit() {
    let mut analysis = with_failures();
    analysis.left_out = [builds(), google()].map(|other| other.left_out).concat();
    insta::assert_snapshot!(to_junit(&analysis));
}

/// The elements that `junit-10.xsd` allows: the name, its attributes, the elements it holds.
const ALLOWED: [(&str, &[&str], &[&str]); 9] = [
    (
        "testsuites",
        &["name", "time", "tests", "failures", "errors"],
        &["testsuite"],
    ),
    (
        "testsuite",
        &["name", "tests", "failures", "errors", "time", "skipped"],
        &["properties", "testcase", "system-out"],
    ),
    ("properties", &[], &["property"]),
    ("property", &["name", "value"], &[]),
    (
        "testcase",
        &["name", "time", "classname"],
        &["skipped", "error", "failure", "system-out"],
    ),
    ("skipped", &["type", "message"], &[]),
    ("error", &["type", "message"], &[]),
    ("failure", &["type", "message"], &[]),
    ("system-out", &[], &[]),
];

fn check_against_the_schema(document: &Document<'_>) {
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let allowed = ALLOWED.iter().find(|(element, ..)| *element == name);
        let (_, attributes, children) = allowed.unwrap_or_else(|| panic!("element {name}"));
        for attribute in node.attributes() {
            assert!(
                attributes.contains(&attribute.name()),
                "{name}: {attribute:?}"
            );
        }
        for child in node.children().filter(Node::is_element) {
            assert!(children.contains(&child.tag_name().name()), "{child:?}");
        }
    }
}

/// Everything that may go wrong in one of the collecting services.
fn check(analysis: &Analysis) {
    let text = to_junit(analysis);
    let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    check_against_the_schema(&document);
    let root = document.root_element();
    let suite = root.first_element_child().unwrap();
    let tests: Vec<Node<'_, '_>> = suite
        .children()
        .filter(|node| node.has_tag_name("testcase"))
        .collect();
    let those_with = |element: &str| {
        let has = |test: &&Node<'_, '_>| test.children().any(|node| node.has_tag_name(element));
        tests.iter().filter(has).count()
    };
    for (counted, expected) in [
        ("tests", tests.len()),
        ("failures", those_with("failure")),
        ("errors", those_with("error")),
        ("skipped", those_with("skipped")),
    ] {
        assert_eq!(
            suite.attribute(counted),
            Some(expected.to_string().as_str()),
            "{counted} of {text}"
        );
    }
    let mut names: Vec<&str> = tests
        .iter()
        .filter_map(|test| test.attribute("name"))
        .collect();
    assert_eq!(names.len(), tests.len());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), tests.len(), "two tests of one name: {text}");
    for time in tests.iter().filter_map(|test| test.attribute("time")) {
        assert!(time.parse::<f64>().unwrap().is_finite(), "{time}");
    }
}

#[test]
fn every_analysis_has_a_document_whose_counts_are_true() {
    for analysis in [
        race(),
        alone(),
        three_contenders(),
        suite(),
        gated(),
        recording(),
        placed_suite(),
        functions(),
        with_failures(),
        only_a_failure(),
        builds(),
        google(),
        nothing_in_common(),
    ] {
        check(&analysis);
    }
}

#[test]
fn two_benchmarks_of_one_name_are_two_tests() {
    let mut analysis = suite();
    for one in &mut analysis.comparisons {
        one.benchmark = "<b a=\"1\">".to_owned();
        one.details.parameters.clear();
    }
    check(&analysis);
    let mut long = suite();
    for (index, one) in long.comparisons.iter_mut().enumerate() {
        one.benchmark = format!("{}{index}{}", "x".repeat(250), "y".repeat(250));
    }
    check(&long);
}

#[test]
fn a_run_that_broke_off_is_an_error_even_where_all_so_far_passed() {
    for (ending, red) in [
        (Ending::Recorded(EndReason::Finished), false),
        (Ending::Recorded(EndReason::Budget), false),
        (Ending::Recorded(EndReason::Interrupted(2)), true),
        (Ending::Recorded(EndReason::Failed("a\u{0}b".into())), true),
        (Ending::Cut, true),
    ] {
        let analysis = Analysis { ending, ..race() };
        check(&analysis);
        let text = to_junit(&analysis);
        assert_eq!(text.contains("errors=\"1\""), red, "{text}");
    }
}

#[test]
fn the_time_of_a_test_is_that_of_an_iteration_in_seconds() {
    let text = to_junit(&race());
    let document = Document::parse(&text).unwrap();
    let mut tests = document.descendants();
    let test = tests.find(|node| node.has_tag_name("testcase")).unwrap();
    assert_eq!(test.attribute("time"), Some("0.000755313"));
    let mut memory = race();
    memory.comparisons[0].metrics = vec![metric(Metric::PeakRss, 4096.0, 0.1, 0.01)];
    assert!(!to_junit(&memory).contains("000755"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_name_is_text_in_junit(baseline in names(), candidate in names(), benchmark in names()) {
        for mut analysis in [gated(), three_contenders(), with_failures()] {
            for failure in &mut analysis.failures {
                failure.benchmark = benchmark.clone();
                failure.message = candidate.clone();
            }
            for comparison in &mut analysis.comparisons {
                comparison.benchmark = benchmark.clone();
                comparison.details.parameters.clear();
                comparison.baseline.name = baseline.clone();
                comparison.suite.gate = Some(GateHit {
                    rule: candidate.clone(),
                    excuse: Some(Excuse { reason: baseline.clone(), until: None }), unproven: None });
            }
            check(&analysis);
            let text = to_junit(&analysis);
            let document = Document::parse(&text).unwrap();
            let shown = escape(&benchmark, Glyphs::Unicode);
            let beginning: String = shown.chars().take(30).collect();
            for test in document.descendants().filter(|node| node.has_tag_name("testcase")) {
                let name = test.attribute("name").unwrap();
                prop_assert!(name.starts_with(&beginning), "{:?} of {:?}", name, benchmark);
            }
        }
    }
}
