//! Files of pyperf, as it wrote them, and broken.

#[path = "common/problem.rs"]
mod problem;

use std::path::{Path, PathBuf};

use deadheat_format::FileProblem;
use deadheat_import::{ResultBenchmark, ResultState, Results, read_results, read_results_from};
use deadheat_model::{Better, Metric, Unit};
use problem::problem;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/saved/pyperf")
        .join(name)
}

fn read(name: &str) -> Results {
    read_results(golden(name)).unwrap()
}

fn names(results: &Results) -> Vec<&str> {
    results.benchmarks.iter().map(|b| b.name.as_str()).collect()
}

fn column(benchmark: &ResultBenchmark, metric: &Metric) -> Vec<f64> {
    let at = benchmark.metrics.iter().position(|own| own == metric);
    let rows = benchmark.values.chunks(benchmark.metrics.len());
    rows.map(|row| row[at.unwrap()]).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn every_run_with_values_is_a_process_and_calibration_is_none() {
    let old = read("old_2.10.json");
    assert_eq!(old.tool, "pyperf 2.10.0");
    assert_eq!(names(&old), ["sort numbers", "join words", "sum twice"]);
    for benchmark in &old.benchmarks {
        assert_eq!(benchmark.state, ResultState::Measured);
        assert_eq!(benchmark.metrics, [Metric::Wall, Metric::PeakRss]);
        assert_eq!(benchmark.processes, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
    }
    let wall = column(&old.benchmarks[0], &Metric::Wall);
    assert_eq!(
        wall[..2],
        [8.418734381621107e-06 * 1e9, 8.55767578400446e-06 * 1e9]
    );
    let peak = column(&old.benchmarks[0], &Metric::PeakRss);
    assert_eq!(peak[..4], [19443712.0, 19443712.0, 19443712.0, 19505152.0]);
}

#[test]
fn a_real_difference_is_seen_in_the_values() {
    let (old, new) = (read("old_2.10.json"), read("new_2.10.json"));
    let wall = |of: &Results, at: usize| median(column(&of.benchmarks[at], &Metric::Wall));
    assert!(wall(&new, 0) / wall(&old, 0) > 2.0);
    for at in [1, 2] {
        let ratio = wall(&new, at) / wall(&old, at);
        assert!((0.7..1.3).contains(&ratio), "{ratio}");
    }
}

#[test]
fn the_machine_is_told() {
    let facts = read("old_2.10.json").facts;
    assert_eq!(facts.host.as_deref(), Some("host"));
    assert_eq!(facts.cores, Some(2));
    assert_eq!(facts.cpu.as_deref(), Some("Intel(R) Xeon(R) Processor"));
    assert_eq!(facts.runtime.as_deref(), Some("cpython 3.11.7 (64-bit)"));
    assert_eq!(
        facts.system.as_deref(),
        Some("Linux-6.1.0-x86_64-with-glibc2.36")
    );
    assert!(facts.date.unwrap().starts_with("2026-11-22 "));
}

#[test]
fn older_releases_wrote_the_same() {
    for (file, tool, name) in [
        ("timeit_1.7.json", "pyperf 1.7.1", "sort numbers"),
        ("timeit_2.0.json", "pyperf 2.0.0", "timeit"),
    ] {
        let read = read(file);
        assert_eq!((read.tool.as_str(), names(&read)), (tool, vec![name]));
        assert_eq!(read.benchmarks[0].processes.len(), 12);
        assert_eq!(read.benchmarks[0].processes[11], 3);
    }
}

#[test]
fn memory_is_in_bytes_and_one_value_of_each_process() {
    let memory = Metric::foreign("memory", Unit::Bytes, Better::Less);
    for (file, least, most) in [
        ("tracemalloc_2.10.json", 2e5, 3e5),
        ("track_memory_2.10.json", 1e7, 2e7),
    ] {
        let read = read(file);
        assert_eq!(names(&read), ["sort numbers", "join words", "sum twice"]);
        for benchmark in &read.benchmarks {
            // Of some of them all runs peaked alike, which is told once, above them.
            assert_eq!(benchmark.metrics, [memory.clone(), Metric::PeakRss]);
            assert_eq!(benchmark.processes, [0, 1, 2]);
            let values = column(benchmark, &memory);
            assert!(
                values.iter().all(|v| (least..most).contains(v)),
                "{values:?}"
            );
        }
    }
    let command = read("command_memory_2.10.json");
    assert_eq!(command.benchmarks[0].metrics, [memory]);
    assert_eq!(command.benchmarks[0].values[..2], [12840960.0, 12734464.0]);
}

#[test]
fn the_memory_of_a_command_is_its_own() {
    let command = read("command_2.10.json");
    assert_eq!(names(&command), ["count words"]);
    assert_eq!(
        column(&command.benchmarks[0], &Metric::PeakRss)[..4],
        [12738560.0, 12738560.0, 12738560.0, 12759040.0]
    );
}

#[test]
fn a_suite_may_hold_several_units() {
    let mixed = read("mixed_units_2.10.json");
    assert_eq!(
        names(&mixed),
        ["calls", "timeit", "sort numbers", "join words", "sum twice"]
    );
    let calls = &mixed.benchmarks[0];
    assert_eq!(
        calls.metrics,
        [Metric::foreign("count", Unit::Count, Better::Less)]
    );
    assert_eq!(calls.values, [412.0, 415.0, 411.0, 413.0]);
    assert_eq!(calls.processes, [0, 0, 1, 1]);
    assert_eq!(mixed.benchmarks[1].metrics[0], Metric::Wall);
    assert_eq!(mixed.benchmarks[2].metrics[0].unit(), Unit::Bytes);
}

#[test]
fn a_file_cut_off_anywhere_is_an_error_with_its_name() {
    let whole = std::fs::read(golden("old_2.10.json")).unwrap();
    let end = whole.trim_ascii_end().len();
    for cut in (0..end).step_by(7) {
        let error = read_results_from(Path::new("a.json"), &whole[..cut]).unwrap_err();
        assert!(error.to_string().contains("a.json"), "{error}");
        // What is long enough to be known tells the line.
        if cut > 200 {
            assert!(
                matches!(error.problem, FileProblem::Json { line: 1, .. }),
                "{cut}: {error}"
            );
        }
    }
}

#[test]
fn whatever_is_wrong_is_named_with_its_place() {
    let text = std::fs::read_to_string(golden("old_2.10.json")).unwrap();
    let first = "8.418734381621107e-06";
    for (from, to, told) in [
        (first, "\"8 us\"", "benchmarks[0].runs[1].values[0]"),
        (
            first,
            "NaN",
            "benchmarks[0].runs[1].values[0], of benchmark 'sort numbers': the number is missing",
        ),
        (
            first,
            "-1",
            "benchmarks[0].runs[1].values[0], of benchmark 'sort numbers': -1 is negative",
        ),
        (first, "1e400", "the number is out of range"),
        (
            "\"name\":\"join words\"",
            "\"name\":\"join\u{1}words\"",
            "control character",
        ),
        (
            ",\"name\":\"join words\"",
            "",
            "benchmarks[1]: the benchmark has no name",
        ),
        (
            "\"name\":\"join words\"",
            "\"name\":7",
            "benchmarks[1]: the benchmark has no name",
        ),
        (
            "\"unit\":\"second\"",
            "\"unit\":\"fortnight\"",
            "the unit is 'fortnight'",
        ),
        (
            "\"version\":\"1.0\"",
            "\"version\":\"1.1\"",
            "version: deadheat does not know version \"1.1\"",
        ),
        (
            "\"version\":\"1.0\"",
            "\"version\":null",
            "version: deadheat does not know version null",
        ),
        ("\"runs\":", "\"walks\":", "the field 'runs' is missing"),
        (
            "\"values\":[",
            "\"values\":7,\"x\":[",
            "expected a list, but found 7",
        ),
    ] {
        let broken = text.replacen(from, to, 1);
        assert!(broken != text, "{from}");
        let read = read_results_from(Path::new("a.json"), broken.as_bytes());
        let error = problem(read);
        assert!(
            error.starts_with("a.json:") && error.contains(told),
            "{from} → {to}: {error}"
        );
    }
}

#[test]
fn a_byte_order_mark_and_names_that_come_twice_do_no_harm() {
    let text = std::fs::read_to_string(golden("old_2.10.json")).unwrap();
    let twice = format!("\u{feff}{}", text.replace("join words", "sort numbers"));
    let read = read_results_from(Path::new("a.json"), twice.as_bytes()).unwrap();
    assert_eq!(
        names(&read),
        ["sort numbers", "sort numbers #2", "sum twice"]
    );
}
