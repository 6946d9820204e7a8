//! Histories made by hand, as terminal text, Markdown, an HTML page and JSON.

use deadheat::parts::model::{Commit, Interval, LogRatio, Metric};
use deadheat_history::{
    CommitOrder, History, HistoryLinks, HistoryMachine, HistorySeries, HistoryTextOptions,
    LoopClosure, Timeline, TimelineChange, TimelineCommit, TimelinePlateau, TimelineRace,
    to_history_json, to_history_markdown, to_history_page, to_history_text,
};
use serde_json::Value;

const SCHEMA: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/schema/history-1.schema.json"
));

const SUBJECTS: [&str; 5] = [
    "Begin",
    "Say what a word is",
    "Check <every> line",
    "Describe 'the' check",
    "",
];

fn id(place: usize) -> String {
    format!("{place:08x}").repeat(5)
}

fn around(effect: f64, half: f64) -> Interval {
    Interval {
        low: LogRatio(effect - half),
        high: LogRatio(effect + half),
        confidence: 0.95,
    }
}

fn commit(place: usize) -> TimelineCommit {
    let level = if place >= 2 { 0.021 } else { 0.001 };
    TimelineCommit {
        commit: Commit {
            id: id(place),
            committed_at: (place != 4).then_some(1_767_225_600 + 86_400 * place as u64),
            subject: SUBJECTS[place].to_owned(),
        },
        order: match place {
            3 => CommitOrder::ByTime,
            _ => CommitOrder::OnLine,
        },
        skipped: if place == 2 { 3 } else { 0 },
        part: 0,
        level: LogRatio(if place == 0 { 0.0 } else { level }),
        interval: (place > 0).then(|| around(level, 0.004)),
        change: None,
        races: 2,
        machines: vec![0, 1],
        accepted: None,
    }
}

fn change(from: usize, to: usize, effect: f64) -> TimelineChange {
    TimelineChange {
        from,
        to,
        effect: LogRatio(effect),
        interval: around(effect, 0.006),
        p_value: 0.000_4,
        is_worse: effect > 0.0,
    }
}

fn timeline(benchmark: &str) -> Timeline {
    let race = |from, to, machine| TimelineRace {
        places: [from, to],
        machine,
        effect: LogRatio(0.001),
        se: 0.002,
        path: ".deadheat/runs/a b.jsonl".to_owned(),
    };
    let plateau = |first, last, level| TimelinePlateau {
        first,
        last,
        level: LogRatio(level),
    };
    Timeline {
        series: HistorySeries {
            benchmark: benchmark.to_owned(),
            parameters: vec![("size".to_owned(), "10".to_owned())],
            metric: Metric::Wall,
        },
        commits: (0..5).map(commit).collect(),
        races: vec![race(Some(0), Some(1), 0), race(Some(1), None, 1)],
        steps: vec![change(1, 2, 0.02)],
        creep: vec![change(2, 4, -0.008)],
        plateaus: vec![plateau(0, 1, 0.0), plateau(2, 4, 0.0205)],
        closure: LoopClosure {
            chi_squared: 12.1,
            degrees: 14,
            p_value: Some(0.6),
            widened: Vec::new(),
        },
        unconnected: 0,
    }
}

fn history(timelines: Vec<Timeline>) -> History {
    let machine = |name: &str| HistoryMachine {
        name: name.to_owned(),
        cpu: "Processor <1>".to_owned(),
    };
    History {
        tool_version: "0.1.0".to_owned(),
        alpha: 0.05,
        confidence: 0.95,
        machines: vec![machine("aaaaaaaabb"), machine("ccccccccdd")],
        timelines,
        runs: 9,
        commits: 12,
        shown: 5,
        older: true,
        unknown: 1,
        off_line: 2,
        has_git: true,
        tip: None,
        newest: None,
    }
}

/// A benchmark without a step, measured by a machine whose standard errors are too small.
fn quiet() -> Timeline {
    Timeline {
        steps: Vec::new(),
        creep: Vec::new(),
        closure: LoopClosure {
            chi_squared: 60.0,
            degrees: 14,
            p_value: Some(1e-7),
            widened: vec![(1, 2.31)],
        },
        ..timeline("print")
    }
}

/// A benchmark whose step is accepted, and whose races form no loop.
fn accepted() -> Timeline {
    let mut accepted = timeline("accepted");
    accepted.steps.clear();
    accepted.commits[2].accepted = Some("validates its input".to_owned());
    accepted.closure = LoopClosure::default();
    accepted.unconnected = 1;
    accepted.commits[4].part = 1;
    accepted.commits[4].interval = None;
    accepted
}

fn text(history: &History, unicode: bool, width: usize) -> String {
    to_history_text(
        history,
        &HistoryTextOptions {
            width,
            color: false,
            unicode,
            commits: false,
        },
    )
}

#[test]
fn one_benchmark_is_told_with_all_of_its_commits() {
    insta::assert_snapshot!(text(&history(vec![timeline("parse")]), true, 100));
}

#[test]
fn several_benchmarks_have_a_line_each_and_what_changed() {
    let history = history(vec![timeline("parse"), quiet(), accepted()]);
    insta::assert_snapshot!(text(&history, true, 100));
}

#[test]
fn a_narrow_terminal_without_unicode_is_told_the_same() {
    insta::assert_snapshot!(text(&history(vec![accepted()]), false, 60));
}

#[test]
fn markdown_escapes_what_commits_say() {
    insta::assert_snapshot!(to_history_markdown(&history(vec![
        timeline("parse"),
        quiet()
    ])));
}

#[test]
fn nothing_at_all_is_told_as_such() {
    let nothing = History {
        shown: 0,
        ..History::default()
    };
    insta::assert_snapshot!(text(&nothing, true, 80), @"No commit of this range was raced.");
}

#[test]
fn the_json_is_what_it_was() {
    insta::assert_snapshot!(to_history_json(&history(vec![timeline("parse")])));
}

/// Refuses fields that the schema does not name.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn everything_that_is_written_is_described_by_the_schema() {
    let mut schema = serde_json::from_str(SCHEMA).expect("it is JSON");
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    for one in [
        History::default(),
        history(vec![timeline("parse"), quiet(), accepted()]),
    ] {
        let value = serde_json::from_str(&to_history_json(&one)).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
    }
}

#[test]
fn a_page_shows_what_commits_say_as_text_and_holds_no_script() {
    let shown = history(vec![timeline("<b>"), quiet()]);
    let raced = shown.timelines[0].races[0].path.clone();
    let links = HistoryLinks {
        base: "../".to_owned(),
        pages: [(raced, "races/one run.html".to_owned())].into(),
    };
    let page = to_history_page(&shown, &links);
    let linked = page.matches("<a href=\"races/one%20run.html\">page</a>");
    let races = shown.timelines.iter().flat_map(|one| &one.races);
    let of_it = races.filter(|race| links.pages.contains_key(&race.path));
    assert_eq!(linked.count(), of_it.count());
    assert!(!page.contains("<b>size"), "the name is markup");
    assert!(page.contains("Check &lt;every&gt; line"));
    assert!(!page.contains("<script"));
    assert!(page.contains("href=\"../.deadheat/runs/a%20b.jsonl\""));
    assert_eq!(page.matches("<circle").count(), 10);
    // Machines are told apart by colour.
    assert!(page.contains("class=\"m0\"") && page.contains("class=\"m1\""));
    let none = to_history_page(&History::default(), &HistoryLinks::default());
    assert!(none.contains("No commit of this range was raced."));
}
