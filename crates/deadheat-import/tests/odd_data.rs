//! Whatever a file holds, the answer is words and numbers.

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::report::{TextOptions, to_json, to_markdown, to_text};
use deadheat_import::{RecordingPlan, read_csv_from, read_results_from};
use deadheat_model::Metric;
use proptest::prelude::*;

proptest! {
    #[test]
    fn every_readable_recording_can_be_told_as_text_json_and_markdown(
        blocks in prop::collection::vec(
            prop::array::uniform4(prop_oneof![
                Just(0.0), Just(1.0), Just(5e-324), Just(1.7e308), 0.0..1e9f64,
            ]),
            1..20,
        ),
        per_replicate in 1usize..6,
    ) {
        is_told_in_words_and_numbers(&blocks, per_replicate);
    }
}

/// Each block four times, the baseline's first and last.
fn is_told_in_words_and_numbers(blocks: &[[f64; 4]], per_replicate: usize) {
    let mut csv = "benchmark,replicate,block,slot,contender,role,iterations,wall_ns\n".to_owned();
    for (number, times) in blocks.iter().enumerate() {
        let (replicate, block) = (number / per_replicate, number % per_replicate);
        for (slot, time) in times.iter().enumerate() {
            let (name, role) = match slot {
                0 | 3 => ("old", "baseline"),
                _ => ("new", "candidate"),
            };
            csv += &format!("b,{replicate},{block},{slot},{name},{role},1,{time}\n");
        }
    }
    let plan = RecordingPlan {
        margin: 0.01,
        alpha: 0.05,
        judged: Metric::Wall,
    };
    let run = read_csv_from(csv.as_bytes(), "odd.csv", &plan).unwrap();
    let analysis = analyse(&run, Options::default());
    for text in [
        to_json(&analysis),
        to_text(&analysis, &TextOptions::default()),
        to_markdown(&analysis),
    ] {
        for word in ["NaN", "inf", "Infinity"] {
            assert!(
                !text
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|w| w == word),
                "{text}"
            );
        }
    }
}

#[test]
fn a_design_that_finds_only_changes_beyond_any_number_of_percent_keeps_silent() {
    let blocks = [
        [1.0; 4],
        [1.0; 4],
        [1.0, 1.0, 1.7e308, 1.0],
        [5e-324, 1.7e308, 1.0, 1.0],
        [1.0; 4],
        [1.0, 1.7e308, 1.7e308, 1.0],
    ];
    is_told_in_words_and_numbers(&blocks, 2);
}

#[test]
fn a_benchmark_of_too_many_parameters_is_refused_before_they_are_compared() {
    let file = |count: usize| {
        let parameters: Vec<String> = (0..count).map(|n| format!("\"p{n}\":\"1\"")).collect();
        format!(
            r#"{{"results":[{{"command":"c","times":[1,1.1],"parameters":{{{}}}}}]}}"#,
            parameters.join(",")
        )
    };
    let read = |count| read_results_from("a.json".as_ref(), file(count).as_bytes());
    assert_eq!(read(256).unwrap().benchmarks.len(), 1);
    let error = read(40_000).unwrap_err().to_string();
    assert!(error.contains("has 40000 parameters"), "{error}");
}
