//! The file of a calibration, byte by byte, there and back.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_format::{calibration_json, read_calibration, write_calibration};
use deadheat_model::{
    CalibratedKind, Calibration, CalibrationEnd, Detectable, Found, KnownDifference, LogRatio,
    Machine, NoiseFloor, Promise, RaceKind, ReplicateCost, Share, Tally,
};
use serde_json::{Value, json};

fn effect(change: f64) -> LogRatio {
    LogRatio::from_change(change)
}

fn share(hits: u64, of: u64, low: f64, high: f64) -> Share {
    Share {
        hits,
        of,
        low,
        high,
    }
}

/// One kind with everything there is to find, and one that was not raced.
fn calibration() -> Calibration {
    let functions = CalibratedKind {
        kind: RaceKind::Functions,
        problem: None,
        planned: 300,
        baseline_ns: Some(52_000.5),
        calls: Tally {
            faster: 1,
            slower: 0,
            equivalent: 297,
            inconclusive: 2,
        },
        false_calls: share(1, 300, 0.000125, 0.01843),
        promise: Promise::Kept,
        noise: Some(NoiseFloor {
            estimate: effect(0.0025),
            half_width: Some(effect(0.004)),
            process: Some(effect(0.0014)),
            block: Some(effect(0.0055)),
        }),
        cost: Some(ReplicateCost {
            seconds: 0.0045,
            blocks: 25,
        }),
        detectable: vec![Detectable {
            budget_seconds: 1.0,
            at_defaults: Some(Found {
                replicates: 40,
                effect: effect(0.001),
            }),
            at_most: None,
        }],
        known: vec![KnownDifference {
            change: 0.01,
            calls: Tally {
                slower: 30,
                ..Tally::default()
            },
            right: share(30, 30, 0.8843, 1.0),
            wrong: 0,
            covered: Some(share(29, 30, 0.8278, 0.9992)),
            estimate: Some(effect(0.0101)),
        }],
        coverage: Some(share(29, 30, 0.8278, 0.9992)),
        coverage_promise: Some(Promise::Open),
    };
    let commands = CalibratedKind {
        kind: RaceKind::Commands,
        problem: Some("no process can be started".to_owned()),
        planned: 120,
        baseline_ns: None,
        calls: Tally::default(),
        false_calls: share(0, 0, 0.0, 1.0),
        promise: Promise::Open,
        noise: None,
        cost: None,
        detectable: Vec::new(),
        known: Vec::new(),
        coverage: None,
        coverage_promise: None,
    };
    Calibration {
        tool_version: "0.1.0".to_owned(),
        started_at: Some(1_709_210_096),
        machine: Machine {
            system: "linux x86_64".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            cpu: None,
            cores: Some(2),
            id: Some("cbf29ce484222325".to_owned()),
        },
        seed: 7,
        alpha: 0.05,
        margin: 0.01,
        max_replicates: 40,
        quick: false,
        debug_build: true,
        kinds: vec![functions, commands],
        elapsed_seconds: 214.5,
        ending: CalibrationEnd::Interrupted(2),
    }
}

fn schema() -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/calibration-1.schema.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Forbids every field that the schema does not name.
fn forbid_the_unnamed(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(forbid_the_unnamed);
            let named = object.get("properties").is_some_and(Value::is_object);
            if named && object.get("type").is_some() {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_the_unnamed),
        _ => {}
    }
}

fn text(calibration: &Calibration) -> Value {
    serde_json::from_str(&calibration_json(calibration)).unwrap()
}

/// Writes this text to a file and reads it.
fn read(text: &str) -> Result<Option<Calibration>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calibration.json");
    fs::write(&path, text).unwrap();
    read_calibration(&path).map_err(|error| error.to_string())
}

#[test]
fn a_calibration_is_written_as_before() {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/calibration.json");
    let written = calibration_json(&calibration());
    if std::env::var_os("DEADHEAT_BLESS").is_some() {
        fs::write(&path, &written).unwrap();
    }
    assert_eq!(written, fs::read_to_string(&path).unwrap());
}

#[test]
fn a_calibration_comes_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/new/folder/calibration.json");
    assert_eq!(read_calibration(&path).unwrap(), None);
    for ending in [
        CalibrationEnd::Interrupted(15),
        CalibrationEnd::Budget,
        CalibrationEnd::Finished,
    ] {
        let written = Calibration {
            ending,
            ..calibration()
        };
        write_calibration(&path, &written).unwrap();
        let back = read_calibration(&path).unwrap().unwrap();
        // Effects go through their relative changes, which rounds.
        assert_eq!(calibration_json(&back), calibration_json(&written));
        assert_eq!(back.kinds[1], written.kinds[1]);
        assert_eq!((back.ending, back.machine), (ending, written.machine));
    }
    let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn what_is_written_keeps_to_the_schema_and_the_schema_names_all_of_it() {
    let mut schema = schema();
    forbid_the_unnamed(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let sound = text(&calibration());
    let errors: Vec<String> = validator
        .iter_errors(&sound)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    for (pointer, wrong) in [
        ("/schema", json!("deadheat.calibration/2")),
        ("/ended", json!("finished")),
        ("/machine/cores", json!("two")),
        ("/kinds/0/kind", json!("horses")),
        ("/kinds/0/promise", json!("perhaps")),
        ("/kinds/0/false_calls/high", json!(1.1)),
        ("/kinds/0/noise/floor", Value::Null),
        ("/kinds/0/detectable/0/at_defaults/replicates", json!(5)),
        ("/kinds/0/known/0/right", Value::Null),
    ] {
        let mut broken = sound.clone();
        *broken.pointer_mut(pointer).expect("it is written") = wrong;
        assert!(!validator.is_valid(&broken), "{pointer}");
    }
}

#[test]
fn a_file_that_holds_something_else_is_refused_with_its_name_and_a_way_out() {
    let sound = text(&calibration());
    for (text, told) in [
        ("", "does not contain a calibration"),
        ("[]", "does not contain a calibration"),
        (
            "{\"schema\":\"deadheat.run/1\"}",
            "does not contain a calibration",
        ),
        (
            "{\"schema\":\"deadheat.calibration/2\"}",
            "needs a later deadheat",
        ),
        ("{\"schema\":\"deadheat.calibration/1\"}", "'tool'"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(told), "{error}");
        assert!(
            error.contains("calibration.json") && error.contains("deadheat calibrate"),
            "{error}"
        );
    }
    for (pointer, wrong, field) in [
        ("/seed", json!(-1), "'seed'"),
        ("/machine/cores", json!("two"), "'cores'"),
        ("/kinds/0/kind", json!("horses"), "'kind'"),
        ("/kinds/0/false_calls/hits", json!(301), "'false_calls'"),
        ("/kinds/0/false_calls/low", json!(0.5), "'false_calls'"),
        ("/kinds/0/noise/floor", json!(-1.0), "'floor'"),
        ("/kinds/0/noise/floor", Value::Null, "'floor'"),
        (
            "/kinds/0/coverage_promise",
            Value::Null,
            "'coverage_promise'",
        ),
        ("/kinds/0/replicate/blocks", json!(1.5), "'blocks'"),
        ("/signal", json!("INT"), "'signal'"),
    ] {
        let mut broken = sound.clone();
        *broken.pointer_mut(pointer).expect("it is written") = wrong;
        let error = read(&broken.to_string()).unwrap_err();
        assert!(error.contains(field), "{pointer}: {error}");
    }
}

#[test]
fn what_later_versions_add_is_passed_over() {
    let mut later = text(&calibration());
    later["weather"] = json!("rain");
    later["kinds"][0]["noise"]["colour"] = json!("pink");
    let read = read(&later.to_string()).unwrap().unwrap();
    assert_eq!(read.kinds.len(), 2);
}

#[test]
fn where_nothing_can_be_written_the_file_is_named() {
    let error = write_calibration("/proc/no/calibration.json", &calibration()).unwrap_err();
    assert!(error.is_write_error() && error.to_string().contains("/proc/no"));
    write_calibration("/dev/null", &calibration()).unwrap();
    assert!(read_calibration("/dev").is_err(), "a folder");
}
