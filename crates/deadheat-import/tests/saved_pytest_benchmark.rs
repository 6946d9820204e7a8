//! Files of pytest-benchmark, as it wrote them, and broken.

#[path = "common/problem.rs"]
mod problem;

use std::path::{Path, PathBuf};

use deadheat_format::FileProblem;
use deadheat_import::{ResultState, Results, read_results, read_results_from};
use deadheat_model::Metric;
use problem::problem;

/// The tests of `shop`; those that fail and those that are skipped are not written.
const NAMES: [&str; 7] = [
    "test_numbers.py::test_small",
    "test_numbers.py::TestSort::test_sort",
    "test_words.py::test_join[10]",
    "test_words.py::test_join[100]",
    "test_words.py::test_small",
    "test_words.py::test_repeat[short]",
    "test_words.py::test_repeat[with space]",
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/saved/pytest_benchmark")
        .join(name)
}

fn read(name: &str) -> Results {
    read_results(golden(name)).unwrap()
}

fn names(results: &Results) -> Vec<&str> {
    results.benchmarks.iter().map(|b| b.name.as_str()).collect()
}

#[test]
fn all_releases_give_the_same_names_with_every_round_of_one_process() {
    for (file, version) in [
        ("words_3.1.json", "3.1.1"),
        ("words_3.4.json", "3.4.1"),
        ("words_4.0.json", "4.0.0"),
        ("old_5.3.json", "5.3.1"),
        ("new_5.3.json", "5.3.1"),
    ] {
        let read = read(file);
        assert_eq!(read.tool, format!("pytest-benchmark {version}"));
        assert_eq!(names(&read), NAMES, "{file}");
        for (index, benchmark) in read.benchmarks.iter().enumerate() {
            let rounds = if index < 5 { 5 } else { 6 };
            assert_eq!(benchmark.state, ResultState::Measured);
            assert_eq!(benchmark.metrics, [Metric::Wall]);
            assert_eq!(benchmark.processes, vec![0; rounds], "{file} {index}");
            assert!(benchmark.values.iter().all(|ns| (1.0..1e6).contains(ns)));
        }
    }
}

#[test]
fn a_real_difference_is_seen_in_the_values() {
    let (old, new) = (read("old_5.3.json"), read("new_5.3.json"));
    let least = |of: &Results, at: usize| {
        let values = of.benchmarks[at].values.iter();
        values.copied().fold(f64::INFINITY, f64::min)
    };
    for at in [2, 3] {
        assert!(least(&new, at) > 2.0 * least(&old, at), "{at}");
    }
}

#[test]
fn groups_and_arguments_are_kept() {
    let read = read("old_5.3.json");
    let told = |at: usize| {
        let benchmark = &read.benchmarks[at];
        let parameters = benchmark.parameters.iter();
        let parameters: Vec<_> = parameters.map(|(k, v)| (k.as_str(), v.as_str())).collect();
        (benchmark.label.as_deref(), parameters)
    };
    assert_eq!(told(0), (None, vec![]));
    assert_eq!(told(3), (Some("words"), vec![("count", "100")]));
    assert_eq!(
        told(6),
        (Some("words"), vec![("text", "c d"), ("times", "5")])
    );
}

#[test]
fn statistics_alone_are_a_summary() {
    for file in ["stats_only_4.0.json", "stats_only_5.3.json"] {
        let read = read(file);
        assert_eq!(names(&read), NAMES);
        for benchmark in &read.benchmarks {
            let statistic = "median".to_owned();
            assert_eq!(benchmark.state, ResultState::Summarised { statistic });
            assert_eq!((benchmark.processes.len(), benchmark.values.len()), (1, 1));
            assert!((1.0..1e6).contains(&benchmark.values[0]));
        }
    }
}

#[test]
fn the_machine_is_told() {
    let facts = read("old_5.3.json").facts;
    assert_eq!(facts.host.as_deref(), Some("host"));
    assert_eq!(facts.system.as_deref(), Some("Linux 6.1.0"));
    assert_eq!(facts.cpu.as_deref(), Some("Intel(R) Xeon(R) Processor"));
    assert_eq!(facts.cores, Some(2));
    assert_eq!(facts.runtime.as_deref(), Some("CPython 3.11.7"));
    assert!(facts.date.unwrap().starts_with("2026-11-22T"));
    // What was not known when it was measured is not known now.
    assert_eq!(read("words_3.1.json").facts.cpu, None);
}

#[test]
fn a_file_cut_off_anywhere_is_an_error_with_its_name() {
    let whole = std::fs::read(golden("stats_only_5.3.json")).unwrap();
    let end = whole.trim_ascii_end().len();
    for cut in (0..end).step_by(13) {
        let error = read_results_from(Path::new("a.json"), &whole[..cut]).unwrap_err();
        assert!(error.to_string().contains("a.json"), "{error}");
        if cut > 50 {
            assert!(
                matches!(error.problem, FileProblem::Json { .. }),
                "{cut}: {error}"
            );
        }
    }
}

#[test]
fn whatever_is_wrong_is_named_with_its_place() {
    let whole = std::fs::read_to_string(golden("old_5.3.json")).unwrap();
    let data = whole.find("\"data\": [").unwrap();
    let begin = data + whole[data..].find('[').unwrap() + 1;
    let end = begin + whole[begin..].find(',').unwrap();
    let with = |time: &str| format!("{} {time}{}", &whole[..begin], &whole[end..]);
    let place = "benchmarks[0].stats.data[0], of benchmark 'test_numbers.py::test_small': ";
    for (broken, told) in [
        (with("\"1\""), "benchmarks[0].stats.data[0]".to_owned()),
        (with("NaN"), format!("{place}the number is missing")),
        (with("Infinity"), format!("{place}the number is missing")),
        (with("-1"), format!("{place}-1 is negative")),
        (with("1e305"), format!("{place}the number is too large")),
        (
            with("{}"),
            "expected a number, but found an object".to_owned(),
        ),
        (
            whole.replacen("\"stats\"", "\"state\"", 1),
            "benchmarks[0].stats, of benchmark 'test_numbers.py::test_small': ".to_owned(),
        ),
        (
            whole.replacen("\"benchmarks\"", "\"benches\"", 1),
            "the field 'benchmarks' is missing".to_owned(),
        ),
        (
            whole.replacen("\"name\": \"test_small\"", "\"name\": \"\u{2}\"", 1),
            "control character".to_owned(),
        ),
        (
            whole.replacen("\"name\": \"test_small\"", "\"name\": null", 1),
            "benchmarks[0].name: expected a text".to_owned(),
        ),
    ] {
        assert!(broken != whole);
        let read = read_results_from(Path::new("a.json"), broken.as_bytes());
        let error = problem(read);
        assert!(
            error.starts_with("a.json:") && error.contains(&told),
            "{error}"
        );
    }
}

#[test]
fn a_byte_order_mark_and_names_that_come_twice_do_no_harm() {
    let whole = std::fs::read_to_string(golden("old_5.3.json")).unwrap();
    let twice = format!(
        "\u{feff}{}",
        whole.replace("test_words.py", "test_numbers.py")
    );
    let read = read_results_from(Path::new("a.json"), twice.as_bytes()).unwrap();
    assert_eq!(names(&read)[4], "test_numbers.py::test_small #2");
}
