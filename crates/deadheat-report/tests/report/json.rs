use deadheat_model::{LogRatio, Verdict, Warning};
use deadheat_report::{TextOptions, to_json, to_markdown, to_text};
use serde_json::Value;

use crate::fixtures::*;
use crate::saved;

const SCHEMA: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/schema/analysis-1.schema.json"
));

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("the report writes JSON")
}

#[test]
fn the_json_of_a_race_is_what_programs_were_promised() {
    insta::assert_snapshot!(to_json(&race()));
}

#[test]
fn every_json_follows_the_published_schema() {
    let schema = parsed(SCHEMA);
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    for analysis in everything() {
        let value = parsed(&to_json(&analysis));
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
    }
}

#[test]
fn the_schema_refuses_what_breaks_the_promise() {
    let validator = jsonschema::validator_for(&parsed(SCHEMA)).expect("the schema is one");
    let sound = parsed(&to_json(&placed()));
    for (pointer, wrong) in [
        ("/schema", Value::from("deadheat.analysis/2")),
        ("/ended", Value::from("bored")),
        ("/benchmarks/0/verdict", Value::from("better")),
        ("/benchmarks/0/change", Value::from("10%")),
        ("/benchmarks/0/ci", parsed("[0.1]")),
        ("/benchmarks/0/baseline", Value::Null),
        ("/benchmarks/0/metrics/0/verdict", Value::from("better")),
        ("/benchmarks/0/own_link/change", Value::Null),
        ("/benchmarks/0/spreads/block", Value::Null),
        ("/benchmarks/0/spreads/placement", Value::from(-0.1)),
        ("/benchmarks/0/figures", Value::from(1)),
        ("/benchmarks/0/figures/between/welch/t", Value::Null),
        ("/benchmarks/0/figures/baseline/percentiles", Value::Null),
    ] {
        let mut broken = sound.clone();
        *broken.pointer_mut(pointer).expect("the field is written") = wrong;
        assert!(!validator.is_valid(&broken), "{pointer}");
    }
    let sound = parsed(&to_json(&saved::three_sides()));
    for (pointer, wrong) in [
        ("/sides", parsed("[]")),
        ("/sides/0/files/0/file", Value::Null),
        ("/sides/0/files/0/cpu_scaling", Value::from("no")),
        ("/warnings", parsed("[]")),
        ("/warnings/0/code", Value::from("Odd Tools")),
        ("/overall/0/benchmarks", Value::from(0)),
        ("/overall/0/change", Value::Null),
        ("/benchmarks/0/threads", Value::from("four")),
    ] {
        let mut broken = sound.clone();
        *broken.pointer_mut(pointer).expect("the field is written") = wrong;
        assert!(!validator.is_valid(&broken), "{pointer}");
    }
}

#[test]
fn the_fields_of_the_contract_keep_their_names_and_places() {
    let value = parsed(&to_json(&race()));
    let one = &value["benchmarks"][0];
    for (field, expected) in [
        (&value["schema"], Value::from("deadheat.analysis/1")),
        (&value["tool"]["version"], Value::from("0.1.0")),
        (&value["seed"], Value::from(7)),
        (&one["unit"], Value::from("ns")),
        (&one["verdict"], Value::from("slower")),
        (&one["scope"], Value::from("binary")),
        (&one["dropped_blocks"], Value::from(4)),
    ] {
        assert_eq!(*field, expected);
    }
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!((number(&one["change"]) - 0.1012).abs() < 1e-12);
    assert!(number(&one["ci"][0]) < number(&one["change"]));
    assert_eq!(one["warnings"][0]["code"], "blocks-dropped", "doubts first");
}

#[test]
fn what_is_not_known_is_null_and_what_is_empty_is_left_out() {
    let value = parsed(&to_json(&alone()));
    let one = &value["benchmarks"][0];
    for field in ["candidate", "verdict", "change", "ci", "replicates"] {
        assert_eq!(one[field], Value::Null, "{field}");
    }
    assert!(one.get("parameters").is_none());
    assert!(value.get("signal").is_none());
    assert_eq!(parsed(&to_json(&recording()))["seed"], Value::Null);
}

#[test]
fn percentiles_stand_in_one_line_and_are_numbers_all_the_same() {
    let text = to_json(&race());
    let line = text.lines().find(|line| line.contains("percentiles"));
    assert!(line.is_some_and(|line| line.ends_with("],")), "{line:?}");
    let value = parsed(&text);
    let percentiles = &value["benchmarks"][0]["figures"]["baseline"]["percentiles"];
    assert_eq!(percentiles.as_array().map(Vec::len), Some(99));
}

#[test]
fn parameters_keep_the_order_they_were_declared_in() {
    let mut analysis = race();
    analysis.comparisons[0].details.parameters = [("z", "1"), ("a", "2")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let text = to_json(&analysis);
    let place = |needle: &str| text.find(needle).expect("the parameter is written");
    assert!(place("\"z\": \"1\"") < place("\"a\": \"2\""));
}

#[test]
fn the_same_analysis_gives_the_same_bytes_and_a_last_line_break() {
    let text = to_json(&suite());
    assert_eq!(text, to_json(&suite()));
    assert!(text.ends_with("}\n"));
}

#[test]
fn names_from_outside_stay_exact_in_json() {
    let mut analysis = race();
    let name = "evil\n\u{1b}[31m\"quoted\" 速い";
    analysis.comparisons[0].baseline.name = name.to_owned();
    analysis.comparisons[0].warnings = vec![Warning::NoCounters {
        reason: name.to_owned(),
    }];
    let text = to_json(&analysis);
    assert!(!text.contains('\u{1b}'));
    assert_eq!(parsed(&text)["benchmarks"][0]["baseline"]["name"], name);
}

#[test]
fn an_interval_too_wide_for_a_number_ends_at_the_largest_one() {
    let mut analysis = race();
    let one = &mut analysis.comparisons[0];
    if let Some(interval) = one.estimate.as_mut().and_then(|e| e.interval.as_mut()) {
        interval.high = LogRatio(800.0);
    }
    let value = parsed(&to_json(&analysis));
    assert_eq!(value["benchmarks"][0]["ci"][1], f64::MAX);
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "is not a JSON number"))]
fn a_number_json_cannot_hold_is_caught_while_testing_and_null_afterwards() {
    let mut analysis = race();
    analysis.comparisons[0].baseline.mean = f64::NAN;
    let value = parsed(&to_json(&analysis));
    assert_eq!(value["benchmarks"][0]["baseline"]["mean"], Value::Null);
}

#[test]
fn failures_stand_beside_the_benchmarks_and_only_where_there_are_some() {
    let value = parsed(&to_json(&with_failures()));
    assert_eq!(value["failures"][1]["benchmark"], "parse size=100");
    assert_eq!(value["failures"][1]["parameters"]["size"], "100");
    assert_eq!(
        value["failures"][1]["message"],
        "the worker crashed with SIGSEGV"
    );
    assert_eq!(value["benchmarks"].as_array().map(Vec::len), Some(1));
    assert!(parsed(&to_json(&race())).get("failures").is_none());
}

#[test]
fn a_rate_is_what_an_iteration_gets_done_over_the_median_wall_time() {
    let value = parsed(&to_json(&functions()));
    let [bytes, items] = [&value["benchmarks"][0], &value["benchmarks"][1]];
    assert_eq!(bytes["throughput"]["bytes"], 5000);
    let rate = |side: &Value| side["rate"].as_f64().expect("a rate");
    assert!((rate(&bytes["baseline"]) / (5000.0 / 685_900e-9) - 1.0).abs() < 1e-12);
    assert!(rate(&bytes["candidate"]) > rate(&bytes["baseline"]));
    assert_eq!(items["metric"], "instructions");
    assert!((rate(&items["baseline"]) / (1e6 / 685_900e-9) - 1.0).abs() < 1e-12);
    assert!(bytes["metrics"][0]["baseline"].get("rate").is_none());
    let command = &parsed(&to_json(&race()))["benchmarks"][0];
    assert!(command.get("throughput").is_none() && command["baseline"].get("rate").is_none());
}

#[test]
fn a_median_of_zero_gives_no_rate() {
    let mut analysis = functions();
    analysis.comparisons[0].baseline.median = 0.0;
    let value = parsed(&to_json(&analysis));
    assert!(value["benchmarks"][0]["baseline"].get("rate").is_none());
}

#[test]
fn every_metric_has_the_verdict_it_would_have_been_given() {
    let mut analysis = race();
    analysis.comparisons[0].metrics[1].verdict = Some(Verdict::Equivalent);
    let value = parsed(&to_json(&analysis));
    assert_eq!(
        value["benchmarks"][0]["metrics"][1]["verdict"],
        "equivalent"
    );
    assert_eq!(value["benchmarks"][0]["metrics"][2]["verdict"], Value::Null);
}

#[test]
fn the_own_link_and_the_spreads_are_relative_changes_and_absent_where_there_are_none() {
    let value = parsed(&to_json(&placed()));
    let one = &value["benchmarks"][0];
    assert_eq!(one["scope"], "source");
    let close = |value: &Value, wanted: f64| {
        let number = value.as_f64().expect("a number");
        assert!((number - wanted).abs() < 1e-12, "{number} is not {wanted}");
    };
    close(&one["own_link"]["change"], -0.1304);
    close(&one["own_link"]["ci"][0], -0.1334);
    close(&one["own_link"]["confidence"], 0.95);
    assert_eq!(one["own_link"]["replicates"], 6);
    assert_eq!(one["own_link"]["blocks"], 150);
    close(&one["spreads"]["placement"], 0.0139f64.exp_m1());
    close(&one["spreads"]["process"], 0.0031f64.exp_m1());
    close(&one["spreads"]["block"], 0.0072f64.exp_m1());
    assert_eq!(one["warnings"][0]["code"], "own-link-apart");

    let mut builds = placed();
    builds.comparisons[0].aspects.matched = true;
    let matched = parsed(&to_json(&builds));
    assert_eq!(matched["benchmarks"][0]["matched"], true);
    assert!(value["benchmarks"][0].get("matched").is_none());
    let told = deadheat_report::aspects::about_the_placement(
        &builds.comparisons[0],
        deadheat_report::Glyphs::Ascii,
    );
    assert!(
        told.unwrap()
            .contains("code that both builds share has the same addresses")
    );
    let suite = parsed(&to_json(&placed_suite()));
    let unknown = &suite["benchmarks"][1]["spreads"];
    assert_eq!(unknown["placement"], Value::Null);
    for field in ["own_link", "spreads"] {
        assert!(suite["benchmarks"][3].get(field).is_none(), "{field}");
        let race = parsed(&to_json(&race()));
        assert!(race["benchmarks"][0].get(field).is_none(), "{field}");
    }
}

#[test]
fn what_was_left_out_is_told_to_programs_with_its_reason() {
    let value = parsed(&to_json(&builds()));
    let left_out = value["left_out"].as_array().expect("a list");
    assert_eq!(left_out.len(), 4);
    assert_eq!(
        left_out[0],
        serde_json::json!({"benchmark": "hash", "reason": "only-in", "side": "new/sums"})
    );
    assert_eq!(left_out[1]["reason"], "not-alike");
    let skipped = parsed(&to_json(&google()));
    assert_eq!(skipped["left_out"][0]["reason"], "skipped");
    assert!(parsed(&to_json(&race())).get("left_out").is_none());
}

#[test]
fn saved_results_tell_their_files_their_doubts_and_the_mean_over_all() {
    let value = parsed(&to_json(&saved::three_sides()));
    let file = &value["sides"][2]["files"][1];
    assert_eq!(value["sides"][2]["name"], "newest");
    assert_eq!(
        *file,
        serde_json::json!({
            "file": "n2.json", "tool": "Google Benchmark 1.9.0", "host": "host",
            "date": "2026-01-04", "cpu_scaling": false,
        })
    );
    assert_eq!(value["warnings"][0]["code"], "different-tools");
    let overall = &value["overall"][1];
    assert_eq!(overall["candidate"], "newest");
    assert_eq!(overall["benchmarks"], 2);
    assert!((overall["change"].as_f64().unwrap() - 0.1007).abs() < 1e-12);
    assert!(overall["ci"][0].as_f64() < overall["ci"][1].as_f64());
    assert_eq!(overall["confidence"], 0.95);
    let race = parsed(&to_json(&race()));
    for field in ["sides", "warnings", "overall"] {
        assert!(race.get(field).is_none(), "{field}");
    }
}

#[test]
fn saved_benchmarks_tell_label_threads_and_which_way_a_metric_improves() {
    let value = parsed(&to_json(&saved::many_metrics()));
    let threaded = &value["benchmarks"][3];
    assert_eq!(threaded["label"], "spin");
    assert_eq!(threaded["threads"], 4);
    assert!(value["benchmarks"][0].get("label").is_none());
    let metrics = value["benchmarks"][0]["metrics"].as_array().unwrap();
    let of = |name: &str| metrics.iter().find(|row| row["metric"] == name).unwrap();
    assert!(of("cpu").get("better").is_none());
    assert_eq!(of("items_per_second")["better"], "more");
    assert_eq!(of("items_per_second")["unit"], "1/s");
    assert_eq!(of("collisions")["better"], "unknown");
}

#[test]
fn a_control_is_told_to_programs_and_absent_where_there_is_none() {
    let value = parsed(&to_json(&with_controls()));
    let [sort, _, parse] = [0, 1, 2].map(|index| &value["benchmarks"][index]);
    assert_eq!(sort["control"]["separated"], false);
    assert_eq!(parse["control"]["separated"], true);
    let change = parse["control"]["change"].as_f64().unwrap();
    let low = parse["control"]["ci"][0].as_f64().unwrap();
    assert!((change - 0.0312).abs() < 1e-12 && (low - 0.0291).abs() < 1e-12);
    assert_eq!(parse["control"]["confidence"], 0.9884);
    for one in [sort, parse] {
        assert_eq!(one["provisional"], true);
        assert_eq!(one["warnings"][0]["code"], "control-separated");
    }
    let race = parsed(&to_json(&race()));
    assert!(race["benchmarks"][0].get("control").is_none());
}

#[test]
fn a_race_side_by_side_tells_what_it_reads_in_turns() {
    let suite = side_by_side();
    let of_suite = to_text(&suite, &TextOptions::default());
    let line =
        "2 rows are in CPU time, with both sides side by side on one core; the others took turns.";
    let of_suite = of_suite.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(of_suite.contains(line), "{of_suite}");
    let mut analysis = suite;
    analysis.comparisons = vec![analysis.comparisons.swap_remove(1)];
    let text = to_text(&analysis, &TextOptions::default());
    assert!(
        text.contains("wall time in turns") && text.contains("152.3 ms"),
        "{text}"
    );
    let raced = parsed(&to_json(&analysis))["benchmarks"][0]["side_by_side"].clone();
    assert_eq!(raced["alone"], 0.173);
    assert!(raced["in_turns"]["ci"].is_array(), "{raced}");
    for text in [
        to_text(&analysis, &TextOptions::default()),
        to_markdown(&analysis),
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "both ran side by side on one core",
            "the longer one ran alone for 17% of its time",
            "CPU time when raced in turns: +2.1%",
            "In turns, the change is 8.2 percentage points higher than side by side",
        ] {
            assert!(text.contains(part), "'{part}' is missing: {text}");
        }
    }
}

#[test]
fn waiting_that_was_taken_out_is_noted_if_it_would_change_the_answer() {
    let mut analysis = without_waiting();
    let waiting = parsed(&to_json(&analysis))["benchmarks"][0]["waiting"].clone();
    assert_eq!(waiting["baseline"], 0.412);
    assert_eq!(waiting["candidate"], 0.409);
    assert_eq!(waiting["taken_out"], true);
    assert!(waiting["change"].is_number() && waiting["ci"].is_array());
    for text in [
        to_text(&analysis, &TextOptions::default()),
        to_markdown(&analysis),
    ] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = "the machine was busy: scheduling delay (41% of the time) is excluded; with it \
                    included: too close to call, +2% (--waiting keep)";
        assert!(words.contains(line), "{words}");
    }
    let is_noted = |change: f64, verdict_kept: Verdict| {
        let mut analysis = without_waiting();
        let waiting = analysis.comparisons[0].aspects.waiting.as_mut().unwrap();
        waiting.verdict_kept = Some(verdict_kept);
        waiting.kept = Some(estimate(change, 0.002));
        to_text(&analysis, &TextOptions::default()).contains("scheduling delay")
    };
    // The estimate without it is +0.98%, the margin 1%.
    assert!(!is_noted(0.0098, Verdict::Slower));
    assert!(!is_noted(0.019, Verdict::Slower));
    assert!(!is_noted(0.001, Verdict::Slower));
    assert!(is_noted(0.023, Verdict::Slower));
    assert!(is_noted(-0.012, Verdict::Slower));
    assert!(is_noted(0.0098, Verdict::Equivalent));

    let waiting = analysis.comparisons[0].aspects.waiting.as_mut().unwrap();
    (waiting.taken_out, waiting.kept) = (false, None);
    let value = parsed(&to_json(&analysis));
    assert_eq!(value["benchmarks"][0]["waiting"]["taken_out"], false);
    assert_eq!(value["benchmarks"][0]["waiting"].get("change"), None);
    assert!(!to_markdown(&analysis).contains("scheduling delay"));
    analysis.comparisons[0].aspects.waiting = None;
    let value = parsed(&to_json(&analysis));
    assert_eq!(value["benchmarks"][0].get("waiting"), None);
}
