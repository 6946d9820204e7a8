use deadheat_model::{Analysis, BenchmarkDetails, Comparison, Excuse, GateHit};
use deadheat_report::{CommentOptions, to_comment};
use proptest::prelude::*;

use crate::fixtures::*;
use crate::hostile::names;

fn comment(analysis: &Analysis) -> String {
    to_comment(analysis, Some(&header()), &CommentOptions::default())
}

#[test]
fn a_suite_with_a_red_and_an_excused_gate_as_a_comment() {
    insta::assert_snapshot!(comment(&gated()));
}

#[test]
fn three_contenders_as_a_comment_with_figures() {
    let options = CommentOptions {
        figures: true,
        ..CommentOptions::default()
    };
    insta::assert_snapshot!(to_comment(&three_contenders(), None, &options));
}

#[test]
fn benchmarks_without_an_answer_as_a_comment() {
    let mut analysis = with_failures();
    analysis.left_out = [builds(), google()].map(|other| other.left_out).concat();
    insta::assert_snapshot!(comment(&analysis));
}

/// So many benchmarks, every tenth of them slower.
fn many(count: usize) -> Analysis {
    let rows = suite().comparisons;
    let numbered = |number: usize| Comparison {
        benchmark: format!("benchmark {number}"),
        details: BenchmarkDetails::default(),
        ..rows[if number.is_multiple_of(10) { 2 } else { 3 }].clone()
    };
    analysis((0..count).map(numbered).collect())
}

/// The rows above the first fold.
fn open_rows(text: &str) -> usize {
    let open = text.split("<details>").next().unwrap();
    open.lines().filter(|line| line.starts_with("| `")).count()
}

#[test]
fn of_many_benchmarks_only_those_that_changed_are_seen_at_once() {
    assert_eq!(open_rows(&comment(&many(12))), 12);
    let text = comment(&many(100));
    assert_eq!(open_rows(&text), 10);
    assert!(
        text.contains("<summary>90 rows that did not change</summary>"),
        "{text}"
    );
    for number in 0..100 {
        assert!(
            text.contains(&format!("| `benchmark {number}` | ")),
            "{number}"
        );
    }
}

#[test]
fn a_broken_rule_opens_the_row_it_concerns() {
    let mut analysis = many(100);
    analysis.comparisons[41].suite.gate = Some(GateHit {
        rule: "not-equivalent".to_owned(),
        excuse: None,
        unproven: None,
    });
    let text = comment(&analysis);
    assert_eq!(open_rows(&text), 11);
    assert!(
        text.contains("- `benchmark 41`: `not-equivalent`"),
        "{text}"
    );
}

fn check(text: &str, at_most: usize) {
    let length = text.encode_utf16().count();
    assert!(length <= at_most, "{length} characters: {text}");
    assert_eq!(
        text.matches("<details>").count(),
        text.matches("</details>").count()
    );
    let mut cells = None;
    for line in text.lines() {
        if line.starts_with('|') {
            let here = line.matches('|').count();
            assert_eq!(*cells.get_or_insert(here), here, "{line}");
        } else {
            cells = None;
        }
    }
    let bare = ["details", "summary", "code"]
        .iter()
        .fold(text.to_owned(), |text, tag| {
            text.replace(&format!("<{tag}>"), "")
                .replace(&format!("</{tag}>"), "")
        });
    let bare = bare.replace("<!-- -->", "");
    assert!(!bare.contains('<'), "{bare}");
    let bad = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(bad), "{text:?}");
}

#[test]
fn a_comment_is_never_too_long_and_says_what_is_missing() {
    let all = many(600);
    let text = comment(&all);
    check(&text, 65_536);
    assert!(text.contains("leaves out"), "{}", &text[text.len() - 500..]);
    // What matters most is there all the same.
    assert_eq!(open_rows(&text), 60);
    assert!(text.contains("deadheat run -n"), "the command is missing");
    for at_most in [400, 500, 1000, 5000, 20_000] {
        let options = CommentOptions {
            figures: true,
            at_most,
        };
        let text = to_comment(&all, Some(&header()), &options);
        check(&text, at_most);
        assert!(text.contains("leaves out"), "{text}");
    }
    assert!(!comment(&many(20)).contains("leaves out"));
}

#[test]
fn nobody_is_called_by_a_name_in_a_sentence() {
    let mut analysis = race();
    analysis.comparisons[0].baseline.name = "@everyone".to_owned();
    let text = comment(&analysis);
    assert!(text.contains("@<!-- -->everyone"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_name_breaks_out_of_a_comment(
        baseline in names(),
        candidate in names(),
        benchmark in names(),
        at_most in 400usize..20_000,
    ) {
        for mut analysis in [gated(), three_contenders(), with_failures()] {
            for failure in &mut analysis.failures {
                failure.benchmark = benchmark.clone();
                failure.message = candidate.clone();
            }
            for comparison in &mut analysis.comparisons {
                comparison.benchmark = benchmark.clone();
                comparison.baseline.name = baseline.clone();
                if let Some(side) = &mut comparison.candidate {
                    side.name = candidate.clone();
                }
                comparison.suite.gate = Some(GateHit {
                    rule: baseline.clone(),
                    excuse: Some(Excuse { reason: candidate.clone(), until: Some(benchmark.clone()) }), unproven: None });
            }
            let mut header = header();
            header.environment.cpu = Some(baseline.clone());
            // A command stands in a fence, where nothing is markup.
            header.command.clear();
            let options = CommentOptions { figures: true, at_most };
            check(&to_comment(&analysis, Some(&header), &options), at_most);
        }
    }
}
