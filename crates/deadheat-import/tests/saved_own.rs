//! Recordings of deadheat itself and tables of samples, read as results, and
//! files of any kind read for an analysis of their own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use deadheat_format::read_run;
use deadheat_import::{
    Recording, RecordingPlan, ResultBenchmark, ResultState, Results, read_csv_from, read_recording,
    read_results, read_results_from,
};

use deadheat_model::Metric;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

fn path(name: &str) -> PathBuf {
    // Run files are written by the tests of deadheat-format.
    let folder = match name.ends_with(".jsonl") {
        true => "../deadheat-format/tests/golden",
        false => "tests/golden",
    };
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(name)
}

fn golden(name: &str) -> Results {
    read_results(path(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap()
}

fn read(text: &str) -> Result<Results, String> {
    read_results_from(Path::new("a"), text.as_bytes()).map_err(|error| error.to_string())
}

fn names(results: &Results) -> Vec<&str> {
    let names = results.benchmarks.iter().map(|one| one.name.as_str());
    names.collect()
}

fn column(benchmark: &ResultBenchmark, metric: &Metric) -> Vec<f64> {
    let place = benchmark.metrics.iter().position(|own| own == metric);
    let rows = benchmark.values.chunks(benchmark.metrics.len());
    rows.map(|row| row[place.unwrap()]).collect()
}

const ONE: &str = "sort/one \"quoted\", with a comma";

#[test]
fn every_contender_of_a_run_file_is_a_benchmark_and_every_replicate_a_process() {
    let results = golden("run.jsonl");
    assert_eq!(results.tool, "deadheat 0.1.0");
    assert_eq!(
        names(&results),
        [ONE, "sort/two", "three/a", "three/b", "three/c"]
    );
    let first = &results.benchmarks[0];
    assert_eq!(first.state, ResultState::Measured);
    assert_eq!(first.processes, [0, 0, 1, 1, 2, 2]);
    assert_eq!(first.parameters, [("threads".to_owned(), "2".to_owned())]);
    let walls = [
        1000000.0, 1000003.0, 1001001.0, 1001002.0, 1002000.0, 1002003.0,
    ];
    assert_eq!(column(first, &Metric::Wall), walls);
    assert_eq!(first.metrics[0], Metric::Wall);
    let facts = &results.facts;
    assert_eq!(facts.system.as_deref(), Some("linux x86_64"));
    assert_eq!((facts.cores, facts.debug_build), (Some(8), None));
}

#[test]
fn values_are_per_iteration_where_they_add_up() {
    let results = golden("functions.jsonl");
    assert_eq!(names(&results), ["sum/loop", "sum/iter", "sort"]);
    let looped = &results.benchmarks[0];
    assert_eq!(column(looped, &Metric::Wall)[0], 70000.5 / 700.0);
    assert_eq!(column(looped, &Metric::Allocations)[0], 1400.0 / 700.0);
    // Two samples in each of five blocks.
    assert_eq!(looped.processes, [0; 10]);
    assert_eq!(results.facts.debug_build, Some(true));
    // A counter of a program is per iteration already.
    let programs = golden("programs.jsonl");
    let cells = Metric::Custom("cells".to_owned());
    let counted = &programs.benchmarks[2];
    assert_eq!(counted.name, "counted/old");
    assert_eq!(column(counted, &cells)[0], 4096.5);
    assert_eq!(column(counted, &Metric::Wall)[0], 5000000.0 / 120.0);
}

#[test]
fn what_failed_keeps_its_reason_and_no_values() {
    let results = golden("functions.jsonl");
    let told = "the worker crashed with SIGSEGV\nin \"stable\"".to_owned();
    let sort = &results.benchmarks[2];
    assert_eq!(sort.state, ResultState::Failed(told));
    let (run, failed) = (
        text("functions.jsonl"),
        r#"{"failed":{"benchmark":0,"message":"late"}}"#,
    );
    let sort = r#"{"failed":{"benchmark":1"#;
    let late = run.replace(sort, &format!("{failed}\n{sort}"));
    let results = read(&late).unwrap();
    for benchmark in &results.benchmarks[..2] {
        assert_eq!(benchmark.state, ResultState::Failed("late".to_owned()));
        assert!(benchmark.values.is_empty() && benchmark.processes.is_empty());
    }
}

#[test]
fn samples_of_the_own_link_are_not_read() {
    assert_eq!(
        names(&golden("placements.jsonl")),
        ["sum/loop", "sum/iter", "sort"]
    );
    assert_eq!(
        golden("placements.jsonl").benchmarks[0].processes,
        [[0; 10], [1; 10]].concat()
    );
}

#[test]
fn the_metric_that_was_judged_comes_first() {
    let judged = text("run.jsonl").replace("\"judged\":\"wall_ns\"", "\"judged\":\"cpu_ns\"");
    let results = read(&judged).unwrap();
    let first = &results.benchmarks[0];
    assert_eq!(first.metrics[..2], [Metric::Cpu, Metric::Wall]);
    assert_eq!(first.values[..2], [750000.0, 1000000.0]);
    let wall_first = golden("run.jsonl");
    assert_eq!(
        column(first, &Metric::PeakRss),
        column(&wall_first.benchmarks[0], &Metric::PeakRss)
    );
}

#[test]
fn a_table_holds_what_the_run_held() {
    for (table, run) in [("run.csv", "run.jsonl"), ("programs.csv", "programs.jsonl")] {
        let (table, run) = (golden(table), golden(run));
        assert_eq!(table.tool, "tidy CSV");
        for benchmark in &table.benchmarks {
            let same = run.benchmarks.iter().find(|one| one.name == benchmark.name);
            let same = same.unwrap_or_else(|| panic!("{}", benchmark.name));
            assert_eq!(benchmark.processes, same.processes);
            for metric in [Metric::Wall, Metric::Cpu] {
                assert_eq!(column(benchmark, &metric), column(same, &metric));
            }
        }
        assert!(table.benchmarks.len() >= 4);
    }
}

#[test]
fn a_table_of_one_contender_has_the_names_of_its_benchmarks() {
    let results =
        read("benchmark,contender,replicate,wall_ns\na,x,0,5\na,x,1,6\nb,x,0,7\n").unwrap();
    assert_eq!(names(&results), ["a", "b"]);
    assert_eq!(results.benchmarks[0].processes, [0, 1]);
    assert_eq!(results.benchmarks[0].values, [5.0, 6.0]);
}

#[test]
fn what_is_broken_is_named_with_its_line() {
    for (broken, told) in [
        (
            "benchmark,contender,wall_ns\na,x,fast\n",
            ["a:2", "wall_ns"],
        ),
        ("benchmark,contender,wall_ns\na,x,NaN\n", ["a:2", "wall_ns"]),
        ("benchmark,contender,wall_ns\na,x,-1\n", ["a:2", "wall_ns"]),
        ("benchmark,contender,wall_ns\na,x,1\na,x\n", ["a:3", "3"]),
        ("benchmark,side,wall_ns\na,x,1\n", ["a", "contender"]),
        ("benchmark,contender\na,x\n", ["a", "column"]),
    ] {
        let text = read(broken).unwrap_err();
        assert!(text.starts_with('a'), "{text}");
        for word in told {
            assert!(text.contains(word), "'{word}' is missing: {text}");
        }
    }
    let run = text("run.jsonl");
    let second = run.lines().nth(1).unwrap();
    let torn = run.replace(second, &second[..40]);
    let told = read(&torn).unwrap_err();
    assert!(told.starts_with("a:2"), "{told}");
    let later = run.replace("deadheat.run/1", "deadheat.run/2");
    let told = read(&later).unwrap_err();
    assert!(told.contains("deadheat.run/2"), "{told}");
}

#[test]
fn a_run_that_was_cut_off_in_its_last_line_is_read_without_it() {
    let run = text("run.jsonl");
    let whole = read(&run).unwrap();
    let cut = &run[..run.trim_end().len() - 5];
    assert_eq!(read(cut).unwrap().benchmarks, whole.benchmarks);
}

fn plan() -> RecordingPlan {
    RecordingPlan {
        margin: 0.02,
        alpha: 0.1,
        judged: Metric::Cpu,
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Files that have to be told apart, and whether they are runs.
const FILES: [(&str, bool); 4] = [
    ("run.jsonl", true),
    ("run.csv", true),
    ("saved/google_benchmark/1.8.0_odd_old.json", false),
    ("saved/go/old.txt", false),
];

#[track_caller]
fn check(recording: Recording, name: &str, is_run: bool) {
    let path = path(name);
    match recording {
        Recording::Run(run) if name.ends_with(".csv") => {
            let table = fs::read(&path).unwrap();
            assert_eq!(*run, read_csv_from(&table[..], &path, &plan()).unwrap());
            assert_eq!(run.header.plan.design.margin, 0.02);
        }
        Recording::Run(run) => assert_eq!(*run, read_run(&path).unwrap()),
        Recording::Results(results) => {
            assert!(!is_run, "{name}");
            assert_eq!(results.benchmarks, read_results(&path).unwrap().benchmarks);
        }
    }
}

#[test]
fn a_recording_is_read_plain_and_packed() {
    let track = tempfile::tempdir().unwrap();
    for (name, is_run) in FILES {
        let bytes = fs::read(path(name)).unwrap();
        // Two frames one behind the other are one file.
        let (front, back) = bytes.split_at(bytes.len() / 2);
        let packed = [
            bytes.clone(),
            gzip(&bytes),
            zstd(&bytes),
            [gzip(front), gzip(back)].concat(),
            [zstd(front), zstd(back)].concat(),
        ];
        for (index, packed) in packed.iter().enumerate() {
            let path = track.path().join(format!("{index}"));
            fs::write(&path, packed).unwrap();
            let recording = read_recording(&path, &plan());
            let recording = recording.unwrap_or_else(|error| panic!("{name} {index}: {error}"));
            check(recording, name, is_run);
            // As results the same files are read, too.
            let results = read_results(&path).unwrap();
            assert_eq!(results.benchmarks, golden(name).benchmarks, "{name}");
        }
    }
}

#[test]
fn what_was_packed_and_cut_off_is_an_error_that_names_the_file() {
    let track = tempfile::tempdir().unwrap();
    let bytes = fs::read(path("run.jsonl")).unwrap();
    for (name, packed) in [("a.gz", gzip(&bytes)), ("a.zst", zstd(&bytes))] {
        let path = track.path().join(name);
        fs::write(&path, &packed[..packed.len() / 2]).unwrap();
        let told = read_recording(&path, &plan()).unwrap_err().to_string();
        assert!(told.contains(name), "{told}");
        let told = read_results(&path).unwrap_err().to_string();
        assert!(told.contains(name), "{told}");
    }
}

#[test]
fn a_file_that_is_not_there_and_one_of_nobody_are_errors_that_name_it() {
    let track = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("absent", None),
        ("empty", Some("")),
        ("words", Some("hello")),
    ] {
        let path = track.path().join(name);
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
        }
        let told = read_recording(&path, &plan()).unwrap_err().to_string();
        assert!(told.contains(name), "{told}");
        let told = read_results(&path).unwrap_err().to_string();
        assert!(told.contains(name), "{told}");
    }
}

/// Input through a pipe, which comes in pieces, of which the first may be too short to tell
/// anything.
#[cfg(target_os = "linux")]
mod pipes {
    use super::*;
    use std::os::fd::AsRawFd;

    /// Reads what is written in these pieces.
    fn piped<T>(pieces: Vec<Vec<u8>>, read: impl FnOnce(&Path) -> T) -> T {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for piece in pieces {
                    // A reader that gave up is found out about elsewhere.
                    let _ = writer.write_all(&piece);
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
            });
            read(Path::new(&path))
        })
    }

    #[test]
    fn a_recording_comes_through_a_pipe() {
        for (name, is_run) in FILES {
            let bytes = fs::read(path(name)).unwrap();
            for packed in [bytes.clone(), gzip(&bytes), zstd(&bytes)] {
                for first in [0, 1, 2, 5, 30] {
                    let (front, back) = packed.split_at(first);
                    let pieces = vec![front.to_vec(), back.to_vec()];
                    let recording = piped(pieces, |path| read_recording(path, &plan()));
                    let recording =
                        recording.unwrap_or_else(|error| panic!("{name} {first}: {error}"));
                    check(recording, name, is_run);
                    let pieces = vec![front.to_vec(), back.to_vec()];
                    let results = piped(pieces, |path| read_results(path)).unwrap();
                    assert_eq!(results.benchmarks, golden(name).benchmarks);
                }
            }
        }
    }

    #[test]
    fn a_first_line_with_a_comma_does_not_make_a_table() {
        let text = "pkg: a, b\nBenchmarkA 1 2 ns/op\n";
        for first in [0, 1, 10, 12] {
            let (front, back) = text.as_bytes().split_at(first);
            let pieces = vec![front.to_vec(), back.to_vec()];
            let recording = piped(pieces, |path| read_recording(path, &plan()));
            let recording = recording.unwrap_or_else(|error| panic!("{first}: {error}"));
            assert!(matches!(recording, Recording::Results(_)), "{first}");
        }
    }
}
