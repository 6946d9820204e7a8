//! How `deadheat explain` words its answer, tested on explanations that the tests construct.

use deadheat::parts::model::{Interval, LeftOut, LeftOutReason, LogRatio, Verdict};
use deadheat::parts::report::Terminal;
use deadheat_explain::{
    Counted, ExplainedPair, Explanation, Finding, FunctionChange, ProfileUnit, StackChange,
    WallChange, to_explanation_json, to_explanation_markdown, to_explanation_page,
    to_explanation_text,
};
use serde_json::Value;

const SCHEMA: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/schema/explanation-1.schema.json"
));

/// The explanation as text without colours, with the first three functions of a pair.
fn text(explanation: &Explanation, width: usize, unicode: bool) -> String {
    to_explanation_text(explanation, 3, Terminal::new(width, false, unicode))
}

fn function(name: &str, own: [u64; 2]) -> FunctionChange {
    FunctionChange {
        function: name.to_owned(),
        own,
        inclusive: own,
        inlined: Vec::new(),
    }
}

fn wall(change: f64, verdict: Verdict) -> Option<WallChange> {
    Some(WallChange {
        change,
        interval: Some(Interval {
            low: LogRatio::from_change(change - 0.012),
            high: LogRatio::from_change(change + 0.011),
            confidence: 0.95,
        }),
        verdict,
    })
}

/// A sort that got slower because it compares more.
fn sort() -> ExplainedPair {
    let mut compare = function("sort::compare", [400_000, 520_000]);
    compare.inlined = vec![
        ("src/num.rs".to_owned(), [100_000, 180_000]),
        ("src/cmp.rs".to_owned(), [50_000, 50_001]),
    ];
    ExplainedPair {
        benchmark: "sort/1000".to_owned(),
        names: ["old".to_owned(), "new".to_owned()],
        counted: Counted::Sample { iterations: 7 },
        totals: [1_000_000, 1_124_500],
        wall: wall(0.131, Verdict::Slower),
        finding: Finding::Work,
        functions: vec![
            compare,
            function("sort::merge", [500_000, 505_000]),
            function("free", [1_000, 500]),
            function("malloc", [1_000, 1_020]),
            function("memcpy", [100, 80]),
            function("main", [97_900, 97_900]),
        ],
        stacks: vec![
            StackChange {
                frames: vec!["main".to_owned()],
                counts: [97_900, 97_900],
            },
            StackChange {
                frames: vec!["main".to_owned(), "sort::compare".to_owned()],
                counts: [400_000, 520_000],
            },
        ],
    }
}

fn explanation(pairs: Vec<ExplainedPair>) -> Explanation {
    Explanation {
        tool_version: "0.1.0".to_owned(),
        counter: "valgrind-3.19.0".to_owned(),
        unit: ProfileUnit::Instructions,
        run: Some("sort.jsonl".to_owned()),
        pairs,
        left_out: vec![LeftOut {
            benchmark: "search".to_owned(),
            reason: LeftOutReason::OnlyIn("new".to_owned()),
        }],
    }
}

/// A pair with each finding, and a pair whose sides execute nothing.
fn all() -> Explanation {
    let of = |finding, totals, wall| ExplainedPair {
        finding,
        totals,
        wall,
        counted: Counted::Command,
        ..sort()
    };
    let nothing = ExplainedPair {
        functions: Vec::new(),
        stacks: Vec::new(),
        counted: Counted::Launch { iterations: 1 },
        ..of(Finding::SameWork, [0, 0], None)
    };
    explanation(vec![
        sort(),
        nothing,
        of(Finding::OtherWork, [0, 10], None),
        of(
            Finding::PartlyWork,
            [10_000, 10_150],
            wall(0.041, Verdict::Slower),
        ),
        of(
            Finding::NotWork,
            [10_000, 10_002],
            wall(0.041, Verdict::Slower),
        ),
        of(
            Finding::AgainstWork,
            [10_000, 12_000],
            wall(-0.2, Verdict::Faster),
        ),
        of(
            Finding::NotSeenInTime,
            [10_000, 9_000],
            wall(0.001, Verdict::Equivalent),
        ),
        of(
            Finding::Nothing,
            [1_000_000, 1_000_014],
            wall(0.004, Verdict::Inconclusive),
        ),
    ])
}

#[test]
fn a_reader_is_told_what_changed_and_in_which_functions() {
    let text = text(&explanation(vec![sort()]), 100, true);
    insta::assert_snapshot!("explanation_text", text);
}

#[test]
fn every_finding_is_one_sentence() {
    let text = text(&all(), 200, false);
    let sentences: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("wall ") || line.starts_with("instructions "))
        .collect();
    insta::assert_snapshot!("explanation_sentences", sentences.join("\n"));
}

/// The pairs of [`all`], sampled by perf, with counts as small as those of samples.
fn sampled(unit: ProfileUnit) -> Explanation {
    let mut all = all();
    all.unit = unit;
    all.counter = "perf-6.1.187".to_owned();
    for pair in &mut all.pairs {
        pair.functions = vec![
            function("sort::compare", [400, 520]),
            function("sort::merge", [500, 590]),
        ];
        pair.counted = Counted::Worker { iterations: 1200 };
    }
    all.pairs[0].totals = [1000, 1210];
    all.pairs[7].finding = Finding::Unclear;
    all.pairs[7].totals = [1000, 1010];
    all
}

#[test]
fn samples_are_called_samples_and_told_where_they_differ_by_more_than_they_scatter() {
    for unit in [ProfileUnit::InstructionSamples, ProfileUnit::TimeSamples] {
        let text = text(&sampled(unit), 200, false);
        let sentences: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("samples ") && !line.contains("1200 calls"))
            .collect();
        insta::assert_snapshot!(format!("explanation_{}", unit.key()), sentences.join("\n"));
        let page = to_explanation_page(&sampled(unit));
        for shown in [&text, &page] {
            assert!(shown.contains("in a whole worker that makes 1200 calls, set-up included"));
            assert!(!shown.contains("callgrind ("), "{shown}");
        }
        // 120 more of 920 is more than 3·√920, and 90 more of 1090 is not.
        assert!(text.contains("sort::compare"), "{text}");
        assert!(!text.contains("sort::merge"), "{text}");
        assert!(
            text.contains("1 function differs within sampling noise."),
            "{text}"
        );
    }
}

#[test]
fn programs_are_told_the_unit_and_no_samples_as_instructions() {
    let value = |explanation| -> Value {
        serde_json::from_str(&to_explanation_json(&explanation)).unwrap()
    };
    let counted = value(all());
    assert_eq!(
        (&counted["by"], &counted["unit"]),
        (&"callgrind".into(), &"instructions".into())
    );
    assert_eq!(
        counted["pairs"][0]["totals"],
        counted["pairs"][0]["instructions"]
    );
    let samples = value(sampled(ProfileUnit::TimeSamples));
    assert_eq!(
        (&samples["by"], &samples["unit"]),
        (&"perf".into(), &"time_samples".into())
    );
    assert_eq!(samples["pairs"][0]["totals"]["candidate"], 1210);
    assert_eq!(samples["pairs"][0]["instructions"], Value::Null);
}

#[test]
fn markdown_holds_the_same_words() {
    let text = to_explanation_markdown(&explanation(vec![sort()]), 2);
    insta::assert_snapshot!("explanation_markdown", text);
}

#[test]
fn a_page_has_a_graph_for_what_differs_and_runs_nothing() {
    let page = to_explanation_page(&all());
    assert_eq!(page.matches("<figure class=\"flame\">").count(), 7);
    assert!(
        page.contains("sort::compare: 520,000 instructions"),
        "{page}"
    );
    assert!(!page.contains("<script") && !page.contains("://"), "{page}");
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn names_from_outside_are_text_everywhere() {
    let mut pair = sort();
    let hostile = "a\u{1b}[2J<b>|`\u{202e}".to_owned();
    pair.functions[0].function.clone_from(&hostile);
    pair.names[1].clone_from(&hostile);
    pair.stacks[1].frames[1].clone_from(&hostile);
    let explanation = explanation(vec![pair]);
    let text = text(&explanation, 100, true);
    let page = to_explanation_page(&explanation);
    let markdown = to_explanation_markdown(&explanation, 9);
    for shown in [&text, &page, &markdown] {
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    }
    assert!(!page.contains("[2J<b>"), "{page}");
    assert!(!markdown.contains("<b>"), "{markdown}");
}

/// The published schema, which rejects all fields that it does not describe.
fn strict() -> Value {
    fn close(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                if fields.contains_key("properties") {
                    fields.insert("additionalProperties".to_owned(), Value::Bool(false));
                }
                fields.values_mut().for_each(close);
            }
            Value::Array(values) => values.iter_mut().for_each(close),
            _ => {}
        }
    }
    let mut schema = serde_json::from_str(SCHEMA).expect("it is JSON");
    close(&mut schema);
    schema
}

#[test]
fn everything_that_is_written_is_described_by_the_schema() {
    let validator = jsonschema::validator_for(&strict()).expect("the schema is one");
    let sampled = [ProfileUnit::InstructionSamples, ProfileUnit::TimeSamples].map(sampled);
    for explanation in [all(), explanation(Vec::new())].into_iter().chain(sampled) {
        let value = serde_json::from_str(&to_explanation_json(&explanation)).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
    }
}

#[test]
fn the_schema_refuses_what_breaks_the_promise() {
    let validator = jsonschema::validator_for(&strict()).expect("the schema is one");
    let sound: Value = serde_json::from_str(&to_explanation_json(&all())).unwrap();
    assert!(validator.is_valid(&sound));
    for (pointer, wrong) in [
        ("/schema", Value::from("deadheat.explanation/2")),
        ("/by", Value::from("magic")),
        ("/unit", Value::from("miles")),
        ("/pairs/0/totals", Value::Null),
        ("/pairs/0/finding", Value::from("splendid")),
        ("/pairs/0/counted/what", Value::from("hours")),
        ("/pairs/0/instructions/baseline", Value::from(-1)),
        ("/pairs/0/wall/ci", serde_json::json!([0.1])),
        ("/pairs/0/functions/0/own", serde_json::json!({})),
        ("/pairs/0/stacks/0/frames", serde_json::json!([])),
        ("/left_out/0/reason", Value::from("mood")),
    ] {
        let mut broken = sound.clone();
        *broken.pointer_mut(pointer).expect("the field is written") = wrong;
        assert!(!validator.is_valid(&broken), "{pointer}");
    }
}
