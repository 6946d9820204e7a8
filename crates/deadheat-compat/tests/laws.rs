//! Laws that hold for every input.

use deadheat_compat::{Document, Layout, Report, Results};
use proptest::prelude::*;
use serde_json::{Value, json};

const LAYOUT: Layout = Layout {
    aggregates_only: false,
    test: true,
    alpha: 0.05,
    colour: false,
};

fn results(text: &str) -> Results {
    Document::read(text.as_bytes())
        .unwrap()
        .results(None)
        .unwrap()
}

fn dump(report: &Report<'_>) -> String {
    let mut text = String::new();
    report.dump(&mut text).unwrap();
    text
}

/// Any JSON, a few levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(".{0,6}", inner, 0..6)
                .prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

/// Rows of a few benchmarks with times of any size.
fn rows() -> impl Strategy<Value = Vec<Value>> {
    let row = ("BM_[a-c]", 0.0..1e12_f64, 0_u32..1_000_000, 0_u32..4);
    prop::collection::vec(row, 0..60).prop_map(|rows| {
        let row = |(name, real, cpu, repetition)| {
            json!({"name": name, "real_time": real, "cpu_time": cpu, "time_unit": "ns",
                "repetition_index": repetition, "run_type": "iteration"})
        };
        rows.into_iter().map(row).collect()
    })
}

proptest! {
    #[test]
    fn whatever_is_json_is_read(value in any_json()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            prop_assert!(Document::read(text.as_bytes()).is_ok(), "{}", text);
        }
    }

    #[test]
    fn what_is_cut_short_is_not_read(value in any_json(), share in 0.0..1.0_f64) {
        let text = json!({"benchmarks": [value]}).to_string();
        let end = (text.len() as f64 * share) as usize;
        prop_assert!(Document::read(&text.as_bytes()[..end]).is_err());
    }

    #[test]
    fn any_field_may_hold_anything_without_a_panic(
        value in any_json(),
        field in prop::sample::select(vec![
            "name", "run_name", "run_type", "aggregate_name", "label", "time_unit", "real_time",
            "cpu_time", "repetition_index", "per_family_instance_index", "family_index",
        ]),
    ) {
        let mut row = json!({"name": "BM", "real_time": 1, "cpu_time": 2.5, "time_unit": "us"});
        row[field] = value;
        let text = json!({"benchmarks": [row.clone(), row]}).to_string();
        let document = Document::read(text.as_bytes()).unwrap();
        if let Ok(side) = document.results(Some("B"))
            && let Ok(report) = Report::of(&side, &side, true)
        {
            // The dump may contain NaN, which other JSON readers refuse.
            prop_assert!(Document::read(dump(&report).as_bytes()).is_ok());
        }
    }

    #[test]
    fn a_file_in_pieces_is_read_as_it_is_as_a_whole(
        rows in rows(),
        field in prop::sample::select(vec!["name", "real_time", "repetition_index", "other"]),
        value in any_json(),
        damage in any::<prop::sample::Index>(),
        sign in prop::sample::select(&b"0123456789.eE+-,[]{}\":tnuNaI\\ \xff"[..]),
        damaged: bool,
    ) {
        let mut rows = rows;
        if let Some(row) = rows.first_mut() {
            row[field] = value;
        }
        let text = json!({"context": {"json_schema_version": 1, "a": [1]}, "benchmarks": rows});
        let mut text = serde_json::to_string_pretty(&text).unwrap().into_bytes();
        if damaged {
            let place = damage.index(text.len());
            text[place] = sign;
        }
        let whole = Document::read(&text);
        let Some(in_pieces) = Document::read_pieces(&text[..]) else {
            // Pieces are read only from a list whose entries are all objects.
            prop_assert!(damaged, "{}", String::from_utf8_lossy(&text));
            return Ok(());
        };
        match (whole.unwrap().results(None), in_pieces.results(None)) {
            (Ok(whole), Ok(in_pieces)) => {
                let found = |results: &Results| Report::of(results, results, true).map(|r| dump(&r));
                prop_assert_eq!(found(&whole), found(&in_pieces));
            }
            (whole, in_pieces) => prop_assert_eq!(whole.err(), in_pieces.err()),
        }
    }

    #[test]
    fn a_side_beside_itself_has_not_changed(rows in rows()) {
        let text = json!({"benchmarks": rows}).to_string();
        let side = results(&text);
        let report = Report::of(&side, &side, true).unwrap();
        let mut table = String::new();
        prop_assert_eq!(report.table(&LAYOUT, &mut table), Ok(None));
        for line in table.lines().skip(2).filter(|line| !line.contains("U Test")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            prop_assert_eq!(&words[1..3], &["+0.0000", "+0.0000"]);
            prop_assert_eq!(words[3], words[4]);
        }
        let dump: Vec<Value> = serde_json::from_str(&dump(&report)).unwrap();
        let measured: usize = dump.iter().map(|d| d["measurements"].as_array().unwrap().len()).sum();
        let mean = dump.iter().filter(|d| d["name"] == "OVERALL_GEOMEAN").count();
        prop_assert_eq!(measured, rows.len() + mean);
    }

    #[test]
    fn both_sides_may_be_exchanged(old in rows(), new in rows()) {
        let texts = [old, new].map(|rows| json!({"benchmarks": rows}).to_string());
        let [old, new] = [results(&texts[0]), results(&texts[1])];
        let tests = |old: &Results, new: &Results| {
            let dump = dump(&Report::of(old, new, true).unwrap());
            let dump: Vec<Value> = serde_json::from_str(&dump).unwrap();
            let mut tests: Vec<(String, String)> = dump
                .iter()
                .map(|d| (d["name"].to_string(), d["utest"]["time_pvalue"].to_string()))
                .collect();
            tests.sort();
            tests
        };
        prop_assert_eq!(tests(&old, &new), tests(&new, &old));
    }
}
