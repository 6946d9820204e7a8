//! The documents of the formats tell the truth.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_format::{RunFileWriter, read_run_from};
use deadheat_model::{
    BenchmarkOverrides, Better, Conditions, Disturbance, Host, LevelOverride, Limits, Merged,
    Metric, RunHeader, ShardBy, Value as PrintedValue, Values,
};
use jsonschema::Validator;
use serde_json::{Value, json};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn schema() -> Value {
    let text = fs::read(docs().join("schema/run-1.schema.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Forbids every field that the schema does not name. Readers pass over those,
/// but deadheat writes none.
fn forbid_the_unnamed(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(forbid_the_unnamed);
            if object.get("properties").is_some_and(Value::is_object) {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_the_unnamed),
        _ => {}
    }
}

/// The schema of one kind of line.
fn line_schema(kind: &str) -> Validator {
    let mut schema = schema();
    forbid_the_unnamed(&mut schema);
    let definitions = schema["$defs"].take();
    let of_kind = json!({ "$ref": format!("#/$defs/{kind}"), "$defs": definitions });
    jsonschema::validator_for(&of_kind).unwrap()
}

/// The lines of the golden run files, which are kept equal to fresh ones: first
/// a run of commands, then two of functions, the second with neutral links, then
/// one of programs and one with a control.
fn lines() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let text = [
        "run.jsonl",
        "functions.jsonl",
        "placements.jsonl",
        "programs.jsonl",
        "control.jsonl",
    ]
    .map(|name| fs::read_to_string(folder.join(name)).unwrap())
    .concat();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn kind(line: &Value) -> &'static str {
    ["block", "placed", "failed", "resume", "end"]
        .into_iter()
        .find(|kind| line.get(kind).is_some())
        .unwrap_or("header")
}

#[test]
fn every_line_of_a_run_file_keeps_to_the_schema() {
    let mut kinds = BTreeSet::new();
    for line in lines() {
        let kind = kind(&line);
        kinds.insert(kind);
        if let Err(error) = line_schema(kind).validate(&line) {
            panic!("{kind}: {error} at {}", error.instance_path());
        }
        assert!(jsonschema::is_valid(&schema(), &line));
    }
    assert_eq!(kinds.len(), 6, "all kinds of lines are seen");
}

#[test]
fn the_schema_refuses_a_line_that_is_not_as_written() {
    let lines = lines();
    let of = |wanted: &str| {
        lines
            .iter()
            .find(|line| kind(line) == wanted)
            .unwrap()
            .clone()
    };
    for (wanted, pointer, wrong) in [
        ("header", "/schema", json!("deadheat.run/2")),
        ("header", "/plan/design/alpha", json!("0.05")),
        (
            "header",
            "/plan/benchmarks/0/contenders/1/command/words",
            json!("ls"),
        ),
        ("block", "/samples/0/4", json!(-1)),
        ("block", "/samples/0/3", json!(0)),
        ("block", "/block", json!([0, 0])),
        ("placed", "/placed/contenders/0", json!("neutral")),
        ("placed", "/placed/contenders/0/seed", json!(-1)),
        ("placed", "/placed/replicate", json!(null)),
        ("failed", "/failed/benchmark", json!("sort")),
        ("resume", "/resume/tool", json!("0.1.0")),
        ("end", "/end/launches", json!(null)),
    ] {
        let mut line = of(wanted);
        *line.pointer_mut(pointer).unwrap() = wrong;
        assert!(!line_schema(wanted).is_valid(&line), "{wanted}{pointer}");
    }
}

#[test]
fn every_field_of_the_schema_is_explained() {
    fn collect(schema: &Value, names: &mut BTreeSet<String>) {
        match schema {
            Value::Object(object) => {
                if let Some(Value::Object(properties)) = object.get("properties") {
                    names.extend(properties.keys().cloned());
                }
                object.values().for_each(|value| collect(value, names));
            }
            Value::Array(items) => items.iter().for_each(|value| collect(value, names)),
            _ => {}
        }
    }
    let mut names = BTreeSet::new();
    collect(&schema(), &mut names);
    let text = fs::read_to_string(docs().join("formats.md")).unwrap();
    for name in names {
        assert!(
            text.contains(&format!("`{name}`")),
            "docs/formats.md lacks `{name}`"
        );
    }
}

/// A header whose last benchmark has rules of its own, and its line.
fn with_rules(rules: BenchmarkOverrides) -> (RunHeader, String) {
    let mut header = common::header();
    header.plan.benchmarks.last_mut().unwrap().overrides = rules;
    written(header)
}

/// A header and its line.
fn written(header: RunHeader) -> (RunHeader, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    drop(RunFileWriter::create(&path, &header).unwrap());
    (header, fs::read_to_string(&path).unwrap())
}

#[test]
fn the_selection_of_a_race_is_kept_and_keeps_to_the_schema() {
    let mut header = common::header();
    header.environment.surroundings.selection = Some("0f04ae7892ce1211".to_owned());
    let (header, line) = written(header);
    let read = read_run_from(line.as_bytes(), "run.jsonl").unwrap();
    assert_eq!(read.header, header);
    let line: Value = serde_json::from_str(&line).unwrap();
    assert!(line_schema("header").is_valid(&line));
}

#[test]
fn rules_of_a_benchmark_are_kept_and_keep_to_the_schema() {
    let mut looks = common::header().plan.design.looks;
    looks.levels = looks.levels.iter().map(|level| level / 5.0).collect();
    let full = BenchmarkOverrides {
        margin: Some(0.05),
        level: Some(LevelOverride { alpha: 0.01, looks }),
        judged: Some(Metric::Cpu),
        quantile: Some(0.99),
        budget: Some(Duration::from_secs(10)),
    };
    let margin = BenchmarkOverrides {
        margin: Some(0.2),
        ..BenchmarkOverrides::default()
    };
    for rules in [full, margin, BenchmarkOverrides::default()] {
        let (header, line) = with_rules(rules.clone());
        let read = read_run_from(line.as_bytes(), "run.jsonl").unwrap();
        assert_eq!(read.header, header);
        assert_eq!(line.contains("\"rules\""), !rules.is_empty());
        let line: Value = serde_json::from_str(&line).unwrap();
        if let Err(error) = line_schema("header").validate(&line) {
            panic!("{error} at {}", error.instance_path());
        }
    }
}

#[test]
fn what_hosts_say_of_themselves_is_kept_and_keeps_to_the_schema() {
    let conditions = Conditions {
        limits: Limits {
            cores: Some(1.5),
            memory: Some(2 << 30),
        },
        disturbances: vec![Disturbance {
            name: "load".to_owned(),
            found: "2.4 tasks a core".to_owned(),
        }],
    };
    let host = |shard, conditions| Host {
        shard,
        boot: Some(format!("boot {shard}")),
        conditions,
        ..Host::default()
    };
    let mut part = common::header();
    part.environment.boot = Some("boot 1".to_owned());
    part.environment.conditions = conditions.clone();
    let mut merged = common::header();
    merged.environment.merged = Some(Merged {
        count: 2,
        by: ShardBy::Host,
        replicates: 10,
        hosts: vec![host(1, conditions), host(2, Conditions::default())],
    });
    for header in [part, merged] {
        let (header, line) = written(header);
        let read = read_run_from(line.as_bytes(), "run.jsonl").unwrap();
        assert_eq!(read.header, header);
        assert_eq!(line.matches("\"limits\"").count(), 1, "{line}");
        let json: Value = serde_json::from_str(&line).unwrap();
        if let Err(error) = line_schema("header").validate(&json) {
            panic!("{error} at {}", error.instance_path());
        }
        for none in ["0", "-1", "1e999"] {
            let odd = line.replace("\"cores\":1.5", &format!("\"cores\":{none}"));
            let error = read_run_from(odd.as_bytes(), "run.jsonl").unwrap_err();
            assert!(error.to_string().starts_with("run.jsonl:1: "), "{error}");
        }
    }
}

#[test]
fn values_that_commands_print_are_kept_and_keep_to_the_schema() {
    let value = |name, better, pattern: &str| PrintedValue {
        metric: Metric::named(name, better),
        pattern: pattern.to_owned(),
    };
    for file in [None, Some(PathBuf::from("out.json"))] {
        let mut header = common::header();
        let read = vec![
            value("requests/s", Better::More, "([0-9.]+)"),
            value("p99", Better::Less, "/latency/p99"),
        ];
        header.plan.design.judged = read[0].metric.clone();
        header
            .metrics
            .extend(read.iter().map(|one| one.metric.clone()));
        header.plan.design.values = Values { read, file };
        let (header, line) = written(header);
        let read = read_run_from(line.as_bytes(), "run.jsonl").unwrap();
        assert_eq!(read.header, header);
        let line: Value = serde_json::from_str(&line).unwrap();
        if let Err(error) = line_schema("header").validate(&line) {
            panic!("{error} at {}", error.instance_path());
        }
    }
}

#[test]
fn rules_of_a_benchmark_that_cannot_hold_are_not_read() {
    let (_, line) = with_rules(BenchmarkOverrides {
        margin: Some(0.2),
        ..BenchmarkOverrides::default()
    });
    for (wrong, told) in [
        (r#""margin":7"#, "margin of benchmark"),
        (r#""quantile":1.0"#, "quantile of benchmark"),
        (r#""alpha":0.01"#, "alpha and looks must be given together"),
    ] {
        let broken = line.replace(r#""rules":{"margin":0.2"#, &format!(r#""rules":{{{wrong}"#));
        assert_ne!(broken, line);
        let error = read_run_from(broken.as_bytes(), "run.jsonl").unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
}
