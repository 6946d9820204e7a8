//! Files of mitata, Vitest, tinybench and bench-node, as they wrote them, and broken.

#[path = "common/problem.rs"]
mod problem;

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_format::FileProblem;
use deadheat_import::{
    ResultBenchmark, ResultState, Results, SavedFormat, read_results, read_results_from,
    saved_format,
};
use deadheat_model::{Better, Metric};
use problem::problem;

fn saved() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/saved")
}

fn read(name: &str) -> Results {
    read_results(saved().join(name)).unwrap()
}

fn names(results: &Results) -> Vec<&str> {
    results.benchmarks.iter().map(|b| b.name.as_str()).collect()
}

fn of<'r>(results: &'r Results, name: &str) -> &'r ResultBenchmark {
    let mut of_name = results.benchmarks.iter().filter(|one| one.name == name);
    of_name
        .next()
        .unwrap_or_else(|| panic!("{name} is missing: {:?}", names(results)))
}

fn mean() -> ResultState {
    ResultState::Summarised {
        statistic: "mean".to_owned(),
    }
}

fn failed(why: &str) -> ResultState {
    ResultState::Failed(why.to_owned())
}

/// Asserts that a benchmark has `rows` wall times from one process, each between 1 µs and 1 s.
#[track_caller]
fn assert_times(benchmark: &ResultBenchmark, rows: usize) {
    assert_eq!(benchmark.metrics[0], Metric::Wall, "{}", benchmark.name);
    assert_eq!(benchmark.processes, vec![0; rows], "{}", benchmark.name);
    let mut times = benchmark.values.chunks(benchmark.metrics.len());
    assert!(
        times.all(|row| (1e2..1e9).contains(&row[0])),
        "{benchmark:?}"
    );
}

#[test]
fn files_of_every_tool_are_known_and_none_is_taken_for_another() {
    use SavedFormat::*;
    for (folder, formats) in [
        ("mitata", &[Mitata][..]),
        ("vitest", &[Vitest, VitestReport]),
        ("tinybench", &[Tinybench, TinybenchTable]),
        ("bench_node", &[BenchNode, BenchNodeTable]),
        ("hyperfine", &[Hyperfine]),
        ("pyperf", &[Pyperf]),
        ("pytest_benchmark", &[PytestBenchmark]),
        ("google_benchmark", &[GoogleBenchmark]),
        ("jmh", &[Jmh]),
        ("go", &[Go, GoEvents]),
        ("benchmark_dotnet", &[BenchmarkDotNet, BenchmarkDotNetTable]),
        ("nvbench", &[Nvbench]),
        ("triton", &[TritonTable]),
    ] {
        let mut files = 0;
        for entry in fs::read_dir(saved().join(folder)).unwrap().flatten() {
            let path = entry.path();
            let kind = path.extension().and_then(|end| end.to_str());
            // The source of a suite, not its output.
            let is_source = path.ends_with("source.txt");
            if is_source || !matches!(kind, Some("json" | "csv" | "txt")) {
                continue;
            }
            files += 1;
            let found = saved_format(&path, &fs::read(&path).unwrap());
            assert!(
                found.as_ref().is_ok_and(|found| formats.contains(found)),
                "{path:?}: {found:?}"
            );
        }
        assert!(files > 0, "{folder}");
    }
}

#[test]
fn runs_of_mitata_have_group_arguments_samples_and_heap() {
    for file in ["old_1.0.34.json", "new_1.0.34.json", "old_1.0.20.json"] {
        let read = read(&format!("mitata/{file}"));
        assert_eq!(
            names(&read),
            [
                "mix",
                "sized > mix 50",
                "sized > mix 60",
                "sized > fill (millions=10)",
                "sized > fill (millions=12)",
                "throws"
            ]
        );
        assert_eq!(read.tool, "mitata");
        assert_eq!(read.facts.runtime.as_deref(), Some("node 20.20.2"));
        assert_eq!(read.facts.system.as_deref(), Some("x64-linux"));
        assert!(read.facts.cpu.is_some() && read.facts.moment.unwrap() > 1.7e9);
        for benchmark in &read.benchmarks[..5] {
            assert_eq!(benchmark.state, ResultState::Measured);
            // Older releases do not measure the heap.
            let heap = benchmark
                .metrics
                .iter()
                .any(|metric| metric.name() == "heap");
            assert_eq!(heap, !file.contains("1.0.20"), "{file}");
            assert_times(benchmark, benchmark.processes.len());
            assert!(benchmark.processes.len() >= 12);
        }
        assert_eq!(of(&read, "throws").state, failed("no input"));
    }
    let groups_without_names = read("mitata/old_1.0.0.json");
    assert_eq!(names(&groups_without_names)[..2], ["mix", "mix 50"]);
}

#[test]
fn mitata_without_samples_is_a_summary() {
    let summary = read("mitata/summary_1.0.34.json");
    for benchmark in &summary.benchmarks[..5] {
        let statistic = "median".to_owned();
        assert_eq!(benchmark.state, ResultState::Summarised { statistic });
        assert_times(benchmark, 1);
    }
}

#[test]
fn results_of_tinybench_have_samples_in_every_layout() {
    for file in [
        "results_2.9.0.json",
        "tasks_2.9.0.json",
        "results_3.0.7.json",
        "results_4.1.0.json",
        "tasks_5.1.0.json",
        "old_6.2.5.json",
        "new_6.2.5.json",
    ] {
        let read = read(&format!("tinybench/{file}"));
        assert_eq!(read.tool, "tinybench");
        assert_eq!(names(&read), ["mix", "fill, then join", "throws"], "{file}");
        for benchmark in &read.benchmarks[..2] {
            assert_eq!(benchmark.state, ResultState::Measured, "{file}");
            assert_times(benchmark, 8);
        }
        let why = "it threw an error, whose message JSON.stringify omits";
        assert_eq!(of(&read, "throws").state, failed(why), "{file}");
    }
    let runtime = read("tinybench/old_6.2.5.json").facts.runtime;
    assert_eq!(runtime.as_deref(), Some("node 22.23.5"));
}

#[test]
fn results_of_tinybench_without_samples_are_means_and_without_names_numbered() {
    let summary = read("tinybench/summary_6.2.5.json");
    assert_eq!(summary.benchmarks.len(), 2);
    for benchmark in &summary.benchmarks {
        assert_eq!(benchmark.state, mean());
        assert_times(benchmark, 1);
    }
    let unnamed = read("tinybench/unnamed_6.2.5.json");
    assert_eq!(names(&unnamed), ["task", "task #2", "task #3"]);
    assert!(unnamed.benchmarks[1].repeated);
}

#[test]
fn tables_of_tinybench_hold_means_in_nanoseconds() {
    for file in [
        "table_2.9.0.json",
        "table_3.0.7.json",
        "table_3.1.1.json",
        "table_6.2.5.json",
    ] {
        let read = read(&format!("tinybench/{file}"));
        assert_eq!(names(&read)[..2], ["mix", "fill, then join"], "{file}");
        for benchmark in &read.benchmarks[..2] {
            assert_eq!(benchmark.state, mean(), "{file}");
            assert_times(benchmark, 1);
        }
        if let Some(throws) = read.benchmarks.get(2) {
            assert_eq!(throws.state, failed("no input"), "{file}");
        }
    }
    // The table and the results of one run.
    let (table, results) = (
        read("tinybench/table_6.2.5.json"),
        read("tinybench/old_6.2.5.json"),
    );
    let samples = &of(&results, "mix").values;
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    assert!((of(&table, "mix").values[0] - mean).abs() < 1.0);
}

#[test]
fn the_output_of_vitest_up_to_release_4_holds_means() {
    for file in [
        "output_1.6.1.json",
        "output_2.1.9.json",
        "output_3.0.1.json",
        "old_4.1.12.json",
        "new_4.1.12.json",
    ] {
        let read = read(&format!("vitest/{file}"));
        assert_eq!(read.tool, "Vitest");
        for name in ["mix", "words > long > join", "words > long > repeat"] {
            let benchmark = of(&read, &format!("bench/words.bench.js > {name}"));
            assert_eq!(benchmark.state, mean(), "{file}");
            assert_times(benchmark, 1);
        }
        let throws = of(&read, "bench/throws.bench.js > fails > throws");
        assert_eq!(throws.state, failed("it has no times"), "{file}");
        assert_eq!(read.benchmarks.len(), 4, "{file}");
    }
}

#[test]
fn the_report_of_vitest_5_has_samples_if_they_are_retained() {
    for (file, rows) in [("report_5.1.2.json", 1), ("report_samples_5.1.2.json", 8)] {
        let read = read(&format!("vitest/{file}"));
        for name in ["mix > mix", "words > long > join", "words > long > repeat"] {
            assert_times(of(&read, &format!("words.bench.js > {name}")), rows);
        }
        assert_eq!(
            of(&read, "throws.bench.js > fails").state,
            failed("Error: no input")
        );
        assert_eq!(read.benchmarks.len(), 4, "{file}");
        assert!(read.facts.moment.unwrap() > 1.7e9);
    }
}

#[test]
fn bench_node_writes_a_rate_or_a_time() {
    for release in ["0.5.4", "0.11.0", "0.15.0"] {
        let [json, csv] =
            ["json", "csv"].map(|kind| read(&format!("bench_node/ops_{release}.{kind}")));
        for read in [&json, &csv] {
            assert_eq!(read.tool, "bench-node");
            assert_eq!(names(read), ["mix", "mix, long", "join"], "{release}");
            for benchmark in &read.benchmarks {
                let metric = &benchmark.metrics[0];
                assert_eq!((metric.name(), metric.better()), ("ops/s", Better::More));
                assert_eq!(benchmark.state, mean());
            }
            assert!(
                (3e3..5e3).contains(&read.benchmarks[0].values[0]),
                "{release}"
            );
            assert!(
                (15.0..20.0).contains(&read.benchmarks[1].values[0]),
                "{release}"
            );
        }
    }
    for release in ["0.11.0", "0.15.0"] {
        for kind in ["json", "csv"] {
            let read = read(&format!("bench_node/time_{release}.{kind}"));
            assert_eq!(names(&read), ["mix", "mix, long", "join"], "{release}");
            assert!(
                (1e5..2e5).contains(&read.benchmarks[0].values[0]),
                "{read:?}"
            );
            assert!(
                read.benchmarks
                    .iter()
                    .all(|one| one.metrics == [Metric::Wall])
            );
        }
    }
}

#[test]
fn a_real_difference_is_seen_in_the_values() {
    for (old, new, name, factor) in [
        (
            "mitata/old_1.0.34.json",
            "mitata/new_1.0.34.json",
            "mix",
            1.1,
        ),
        (
            "tinybench/old_6.2.5.json",
            "tinybench/new_6.2.5.json",
            "mix",
            1.3,
        ),
        (
            "vitest/old_4.1.12.json",
            "vitest/new_4.1.12.json",
            "bench/words.bench.js > mix",
            1.3,
        ),
        (
            "bench_node/new_0.15.0.json",
            "bench_node/ops_0.15.0.json",
            "mix",
            1.3,
        ),
    ] {
        let least = |file: &str| {
            let read = read(file);
            let benchmark = of(&read, name);
            let rows = benchmark.values.chunks(benchmark.metrics.len());
            rows.map(|row| row[0]).fold(f64::INFINITY, f64::min)
        };
        assert!(least(new) > factor * least(old), "{new}");
    }
}

#[test]
fn a_file_cut_off_anywhere_is_an_error_with_its_name() {
    for file in [
        "mitata/summary_1.0.34.json",
        "vitest/old_4.1.12.json",
        "vitest/report_5.1.2.json",
        "tinybench/old_6.2.5.json",
        "tinybench/table_6.2.5.json",
        "bench_node/ops_0.15.0.json",
    ] {
        let whole = fs::read(saved().join(file)).unwrap();
        let end = whole.trim_ascii_end().len();
        for cut in (1..end).step_by(17) {
            let error = read_results_from(Path::new("a.json"), &whole[..cut]).unwrap_err();
            assert!(error.to_string().contains("a.json"), "{error}");
            let is_json = matches!(error.problem, FileProblem::Json { .. });
            // The beginning alone does not show whose it is.
            assert!(is_json || cut < end / 3, "{file} {cut}: {error}");
        }
    }
}

#[test]
fn whatever_is_wrong_is_named_with_its_place() {
    for (file, from, to, told) in [
        (
            "mitata/old_1.0.34.json",
            "\"samples\":[",
            "\"samples\":[\"1\",",
            "benchmarks[0].runs[0].stats.samples[0]: expected a number",
        ),
        (
            "mitata/old_1.0.34.json",
            "\"samples\":[",
            "\"samples\":[-1,",
            "a.json: benchmarks[0].runs[0].stats.samples[0]: -1 is negative",
        ),
        (
            "tinybench/old_6.2.5.json",
            "\"mean\":",
            "\"samples\": [null], \"mean\":",
            "the field 'samples' occurs twice",
        ),
        (
            "tinybench/summary_6.2.5.json",
            "\"mean\":",
            "\"mean\": 1e305, \"x\":",
            "a.json: [0].latency.mean: the number is too large",
        ),
        (
            "vitest/old_4.1.12.json",
            "\"mean\":",
            "\"mean\": \"1\", \"x\":",
            "benchmarks[0].mean: expected a number",
        ),
        (
            "vitest/report_5.1.2.json",
            "\"mean\":",
            "\"mean\":-1,\"x\":",
            "benchmarks[0].tasks[0].latency.mean: -1 is negative",
        ),
        (
            "bench_node/ops_0.15.0.json",
            "\"opsSec\":",
            "\"opsSec\": -1, \"x\":",
            "a.json: [0].opsSec: -1 is negative",
        ),
        (
            "bench_node/ops_0.15.0.json",
            "\"name\": \"mix\"",
            "\"name\": null",
            "[0].name: expected a text",
        ),
    ] {
        let whole = fs::read_to_string(saved().join(file)).unwrap();
        let broken = whole.replacen(from, to, 1);
        assert!(broken != whole, "{file}");
        let mut read = read_results_from(Path::new("a.json"), broken.as_bytes());
        if let Ok(results) = &mut read {
            // It fails in the whole file, too.
            results
                .benchmarks
                .retain(|one| one.name != "throws" && !one.name.contains("fails"));
        }
        let error = problem(read);
        assert!(error.contains(told), "{file}: {error}");
    }
}

#[test]
fn lines_that_a_script_prints_before_its_json_are_skipped() {
    for file in ["mitata/summary_1.0.34.json", "bench_node/ops_0.15.0.json"] {
        let whole = fs::read_to_string(saved().join(file)).unwrap();
        let text = format!("loading words\nready, 12 of 12\n{whole}");
        let read = read_results_from(Path::new("a.json"), text.as_bytes()).unwrap();
        assert!(read.benchmarks.len() > 2);
        assert_eq!(read.unread.len(), 1, "{:?}", read.unread);
    }
}
