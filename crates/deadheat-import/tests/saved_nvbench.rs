//! Files of nvbench, with and without their samples, and broken ones.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_import::{
    ResultState, Results, SavedFormat, read_results, read_results_from, saved_format,
};
use deadheat_model::Metric;
use tempfile::tempdir;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/saved/nvbench")
}

fn read(text: &str) -> Results {
    read_results_from(Path::new("nowhere/a.json"), text.as_bytes()).unwrap()
}

#[test]
fn the_samples_of_every_state_are_read_from_their_files() {
    let old = read_results(folder().join("old.json")).unwrap();
    let new = read_results(folder().join("new.json")).unwrap();
    let names: Vec<&str> = old.benchmarks.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["copy (Size=256)", "copy (Size=1024)", "copy"]);
    assert_eq!(old.tool, "nvbench 0.1.0");
    for (one, other) in old.benchmarks.iter().zip(&new.benchmarks).take(2) {
        assert_eq!(one.metrics, [Metric::Gpu]);
        assert_eq!((one.values.len(), &one.state), (20, &ResultState::Measured));
        assert_eq!(one.processes, [0; 20]);
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let ratio = sum(&other.values) / sum(&one.values);
        assert!((1.01..1.03).contains(&ratio), "{ratio}");
    }
    // A sample of 256 elements takes a little more than 10 µs.
    assert!((1e4..1.05e4).contains(&old.benchmarks[0].values[0]));
    let skipped = ResultState::Skipped("no elements".to_owned());
    assert_eq!(old.benchmarks[2].state, skipped);
}

#[test]
fn samples_that_are_missing_or_broken_are_told_and_the_mean_stands_for_them() {
    let made = tempdir().unwrap();
    let file = made.path().join("old.json");
    fs::copy(folder().join("old.json"), &file).unwrap();
    fs::create_dir(made.path().join("old.json-bin")).unwrap();
    fs::write(made.path().join("old.json-bin/1.bin"), b"12345").unwrap();
    let results = read_results(&file).unwrap();
    for benchmark in &results.benchmarks[..2] {
        assert_eq!(
            (&benchmark.metrics[..], benchmark.values.len()),
            (&[Metric::Gpu][..], 1)
        );
        assert!(
            matches!(&benchmark.state, ResultState::Summarised { statistic } if statistic == "mean")
        );
    }
    assert!(results.unread[0].starts_with("the samples in 'old.json-bin/0.bin': "));
    assert_eq!(
        results.unread[1],
        "the samples in 'old.json-bin/1.bin': 5 bytes are not samples"
    );
}

#[test]
fn samples_that_are_no_times_are_not_read() {
    for bytes in [
        f32::NAN.to_le_bytes(),
        f32::INFINITY.to_le_bytes(),
        (-1.0_f32).to_le_bytes(),
    ] {
        let made = tempdir().unwrap();
        let file = made.path().join("old.json");
        fs::copy(folder().join("old.json"), &file).unwrap();
        fs::create_dir(made.path().join("old.json-bin")).unwrap();
        fs::write(made.path().join("old.json-bin/0.bin"), bytes).unwrap();
        let results = read_results(&file).unwrap();
        assert!(results.unread[0].ends_with("sample 1 is not a time"));
    }
}

#[test]
fn several_devices_are_told_apart_and_one_is_not_part_of_the_name() {
    let state = |device: u32| {
        format!(
            r#"{{"device":{device},"summaries":[{{"tag":"nv/cold/time/gpu/mean",
            "data":[{{"name":"value","value":"1e-6"}}]}}]}}"#
        )
    };
    let file = |states: &str| {
        format!(
            r#"{{"meta":{{"version":{{"nvbench":{{}}}}}},
            "devices":[{{"id":0,"name":"A"}},{{"id":1,"name":"B"}}],
            "benchmarks":[{{"name":"f","states":[{states}]}}]}}"#
        )
    };
    let both = read(&file(&[state(0), state(1)].join(",")));
    assert_eq!(both.benchmarks[0].name, "f (device=A (0))");
    assert_eq!(both.benchmarks[1].name, "f (device=B (1))");
    assert_eq!(read(&file(&state(1))).benchmarks[0].name, "f");
}

#[test]
fn a_benchmark_of_another_shape_costs_itself_only() {
    let results = read(
        r#"{"meta":{"version":{"nvbench":{}}},"benchmarks":[{"name":7},{"name":"f","states":null},
        {"name":"g","states":[{"summaries":[{"tag":"nv/cold/time/cpu/median",
        "data":[{"name":"value","value":"2e-6"}]}]}]}]}"#,
    );
    let good = results
        .benchmarks
        .iter()
        .find(|one| one.name == "g")
        .unwrap();
    assert_eq!(
        (&good.metrics[..], good.values[0]),
        (&[Metric::Wall][..], 2e3)
    );
    assert!(
        results.unread[0].starts_with("benchmarks[0]"),
        "{:?}",
        results.unread
    );
}

#[test]
fn a_file_is_known_by_what_is_left_of_it() {
    let text = fs::read(folder().join("old.json")).unwrap();
    for end in [text.len() / 3, text.len() / 2, text.len()] {
        let format = saved_format(Path::new("x"), &text[..end]).unwrap();
        assert_eq!(format, SavedFormat::Nvbench);
    }
    assert!(read_results_from(Path::new("x"), &text[..text.len() / 2]).is_err());
}
