//! The quotes of a calibration in answers: one quiet line each, and the figures for programs.

use deadheat_model::{Environment, PackageVersions, RunHeader, SharedSuite, Surroundings};
use deadheat_report::{
    CommentOptions, Detail, TextOptions, to_comment, to_json, to_markdown, to_page, to_text,
};
use serde_json::Value;

use crate::fixtures::*;

const SAID: &str =
    "machine was calibrated on 2026-11-22: 2 of 120 A/A races of commands were called";

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_shape_quotes_the_calibration_of_its_machine_once() {
    let analysis = calibrated();
    let header = RunHeader {
        environment: Environment {
            calibration: Some(note()),
            ..header().environment
        },
        ..header()
    };
    let comment = to_comment(&analysis, Some(&header), &CommentOptions::default());
    let full = TextOptions {
        detail: Detail::Full,
        ..TextOptions::default()
    };
    for told in [
        to_text(&analysis, &full),
        to_markdown(&analysis),
        comment,
        to_page(&analysis, &header),
    ] {
        let told = on_one_line(&told);
        assert_eq!(told.matches(SAID).count(), 1, "{told}");
        assert!(
            told.contains("the noise hides changes under 1.1%"),
            "{told}"
        );
    }
}

#[test]
fn a_brief_answer_speaks_of_the_machine_only_where_that_puts_the_verdict_in_doubt() {
    let is_quoted = |change: f64| {
        let mut analysis = calibrated();
        analysis.comparisons[0].estimate = Some(estimate(change, 0.001));
        on_one_line(&to_text(&analysis, &TextOptions::default())).contains(SAID)
    };
    // Differences under 1.1% drown here.
    assert!(is_quoted(0.009) && !is_quoted(0.1));
}

#[test]
fn a_machine_that_nobody_calibrated_is_not_spoken_of() {
    let analysis = race();
    for told in [
        to_text(&analysis, &TextOptions::default()),
        to_markdown(&analysis),
        to_comment(&analysis, Some(&header()), &CommentOptions::default()),
        to_page(&analysis, &header()),
        to_json(&analysis),
    ] {
        assert!(!told.contains("calibrat"), "{told}");
    }
}

#[test]
fn programs_get_the_figures() {
    let json: Value = serde_json::from_str(&to_json(&calibrated())).unwrap();
    let note = &json["calibration"];
    assert_eq!(note["kind"], "commands");
    assert_eq!(note["false_calls"]["hits"], 2);
    assert_eq!(note["tool"]["version"], "0.1.0");
    let floor = note["noise_floor"].as_f64().unwrap();
    assert!((floor - 0.0112).abs() < 1e-12);
}

#[test]
fn the_line_stands_below_the_table_and_what_the_gates_say_still_comes_last() {
    let mut analysis = gated();
    analysis.calibration = Some(note());
    let text = on_one_line(&to_text(&analysis, &TextOptions::default()));
    let line = text.find(SAID).unwrap();
    assert!(
        text[line..].contains("--fail-on") || text[line..].contains("!"),
        "{text}"
    );
}

#[test]
fn what_differs_besides_the_code_is_told_in_every_shape() {
    let mut analysis = race();
    analysis.surroundings = Surroundings {
        suite: Some(SharedSuite {
            side: "v2".to_owned(),
            files: vec!["bench/sorting.py".to_owned()],
        }),
        interpreters: vec!["CPython 3.12.1".to_owned(), "CPython 3.13.0".to_owned()],
        packages: vec![PackageVersions {
            name: "numpy".to_owned(),
            baseline: Some("1.26.4".to_owned()),
            candidate: None,
        }],
        ..Surroundings::default()
    };
    let said = [
        "(bench/sorting.py differs between the sides)",
        "cpython 3.13.0 on the candidate",
        "numpy 1.26.4 in the baseline only",
    ];
    for told in [
        to_text(&analysis, &TextOptions::default()),
        to_markdown(&analysis),
        to_page(&analysis, &header()),
    ] {
        let told = on_one_line(&told).to_lowercase();
        for words in said {
            assert!(told.contains(words), "{words}: {told}");
        }
    }
    let json: Value = serde_json::from_str(&to_json(&analysis)).unwrap();
    assert_eq!(json["surroundings"]["suite"]["side"], "v2");
    assert_eq!(
        json["surroundings"]["packages"][0]["candidate"],
        Value::Null
    );
}

#[test]
fn two_ways_to_build_are_told_in_every_shape() {
    let mut analysis = race();
    analysis.builds = vec![String::new(), "--features fast".to_owned()];
    let said = "the sides were built differently, which may explain a difference: \
                the baseline without options of its own, the \
                candidate with --features fast.";
    for told in [
        to_text(&analysis, &TextOptions::default()),
        to_markdown(&analysis),
        to_comment(&analysis, Some(&header()), &CommentOptions::default()),
        to_page(&analysis, &header()),
    ] {
        let told = on_one_line(&told).to_lowercase();
        assert_eq!(told.matches(said).count(), 1, "{told}");
    }
    let json: Value = serde_json::from_str(&to_json(&analysis)).unwrap();
    assert_eq!(json["builds"][1], "--features fast");
}
