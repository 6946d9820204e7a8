//! Folders of criterion, of every version that writes them differently.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_format::{FileProblem, FormatError};
use deadheat_import::{ResultBenchmark, ResultState, Results, read_criterion, read_criterion_set};
use deadheat_model::{Better, Metric, Unit};

fn golden(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/saved/criterion")
        .join(version)
}

fn names(results: &Results) -> Vec<&str> {
    let names = results.benchmarks.iter();
    names.map(|benchmark| benchmark.name.as_str()).collect()
}

fn find<'a>(results: &'a Results, name: &str) -> &'a ResultBenchmark {
    let mut found = results.benchmarks.iter().filter(|it| it.name == name);
    found.next().unwrap()
}

/// The values of one metric, row by row.
fn column(benchmark: &ResultBenchmark, metric: usize) -> Vec<f64> {
    let rows = benchmark.values.chunks(benchmark.metrics.len());
    rows.map(|row| row[metric]).collect()
}

fn median(benchmark: &ResultBenchmark) -> f64 {
    let mut values = column(benchmark, 0);
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2] + values[(values.len() - 1) / 2]) / 2.0
}

/// The set of one benchmark, of these texts.
fn set(
    benchmark: &str,
    sample: Option<&str>,
    estimates: Option<&str>,
) -> Result<ResultBenchmark, FormatError> {
    let folder = Path::new("b/new");
    let bytes = str::as_bytes;
    read_criterion_set(
        folder,
        benchmark.as_bytes(),
        sample.map(bytes),
        estimates.map(bytes),
    )
}

const ID: &str = r#"{"group_id":"g","function_id":null,"value_str":null,"full_id":"g"}"#;

/// The error message when these samples cannot be read.
fn refused(sample: &str) -> String {
    set(ID, Some(sample), None).unwrap_err().to_string()
}

#[test]
fn the_names_are_those_of_the_source_and_sizes_come_by_size() {
    let results = read_criterion(golden("0.8"), None).unwrap();
    assert_eq!(results.tool, "criterion");
    assert_eq!(
        names(&results),
        [
            "bytes/hash/1024",
            "flat/slow",
            "größe ∑ 和",
            "plain",
            "sum/fold/64",
            "sum/fold/256",
            "with spaces/and slashes: <odd>",
        ]
    );
}

#[test]
fn a_sample_is_its_time_divided_by_its_iterations_all_in_one_process() {
    let results = read_criterion(golden("0.8"), Some("main")).unwrap();
    let flat = find(&results, "flat/slow");
    assert_eq!(flat.state, ResultState::Measured);
    assert_eq!(flat.metrics, [Metric::Wall]);
    assert_eq!(flat.processes, [0; 10]);
    let text = fs::read_to_string(golden("0.8").join("flat/slow/main/sample.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let at = |list: &str, row: usize| json[list][row].as_f64().unwrap();
    let each: Vec<f64> = (0..10)
        .map(|row| at("times", row) / at("iters", row))
        .collect();
    assert_eq!(flat.values, each);
}

#[test]
fn the_slower_set_is_slower_where_the_source_was_changed() {
    let old = read_criterion(golden("0.8"), Some("main")).unwrap();
    let new = read_criterion(golden("0.8"), Some("head")).unwrap();
    for name in ["plain", "sum/fold/64", "sum/fold/256"] {
        let ratio = median(find(&new, name)) / median(find(&old, name));
        assert!(ratio > 1.2, "{name}: {ratio}");
    }
    let ratio = median(find(&new, "flat/slow")) / median(find(&old, "flat/slow"));
    assert!((0.9..1.2).contains(&ratio), "{ratio}");
}

#[test]
fn a_throughput_becomes_a_rate_beside_the_time() {
    let results = read_criterion(golden("0.8"), None).unwrap();
    for (name, amount, unit) in [
        ("bytes/hash/1024", 1024.0, Unit::BytesPerSecond),
        ("sum/fold/64", 64.0, Unit::PerSecond),
    ] {
        let benchmark = find(&results, name);
        assert_eq!(benchmark.metrics.len(), 2, "{name}");
        assert_eq!(benchmark.metrics[1].unit(), unit);
        let (times, rates) = (column(benchmark, 0), column(benchmark, 1));
        for (time, rate) in times.iter().zip(rates) {
            assert!((rate * time / (amount * 1e9) - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn every_version_of_the_layout_is_read() {
    for version in ["0.2", "0.3", "0.5", "0.8"] {
        for baseline in [None, Some("main")] {
            let results = read_criterion(golden(version), baseline).unwrap();
            let plain = find(&results, "plain");
            assert_eq!(plain.values.len(), 10, "{version}");
            assert!((50.0..150.0).contains(&median(plain)), "{version}");
        }
    }
}

#[test]
fn the_sets_of_a_folder_are_listed_without_what_is_none() {
    let error = read_criterion(golden("0.8"), Some("gone")).unwrap_err();
    let told = error.to_string();
    assert!(told.ends_with("the folder has base, head, main"), "{told}");
    assert!(
        !read_criterion(golden("0.8"), None)
            .unwrap()
            .benchmarks
            .is_empty()
    );
}

#[test]
fn a_folder_below_is_read_as_well_down_to_that_of_a_set() {
    let read = |below: &str, baseline| read_criterion(golden("0.8").join(below), baseline).unwrap();
    assert_eq!(names(&read("sum", None)), ["sum/fold/64", "sum/fold/256"]);
    assert_eq!(names(&read("sum/fold/64", Some("head"))), ["sum/fold/64"]);
    let named = read("plain/head", None);
    let asked = read("plain", Some("head"));
    assert_eq!(named.benchmarks, asked.benchmarks);
}

#[test]
fn a_baseline_that_is_not_there_is_answered_with_those_that_are() {
    let told =
        |folder: PathBuf, baseline| read_criterion(folder, baseline).unwrap_err().to_string();
    let error = told(golden("0.8"), Some("mian"));
    assert!(
        error.ends_with(
            "0.8: baseline 'mian': criterion saved no baseline of this name; the folder has base, \
             head, main"
        ),
        "{error}"
    );
    let error = told(golden("0.8").join("plain/head"), Some("main"));
    assert!(error.contains("the folder has head"), "{error}");
}

#[test]
fn a_folder_without_results_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("report")).unwrap();
    fs::write(folder.path().join("report/index.html"), "").unwrap();
    let error = read_criterion(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains("without results of criterion"), "{error}");
    fs::write(folder.path().join("measurement_1.cbor"), "").unwrap();
    let error = read_criterion(folder.path(), Some("main")).unwrap_err();
    assert!(error.to_string().contains("cargo bench"), "{error}");
    let gone = read_criterion(folder.path().join("gone"), None).unwrap_err();
    assert!(matches!(gone.problem, FileProblem::CannotRead(_)), "{gone}");
}

/// Writes a set of one sample a nanosecond long.
fn write_set(folder: &Path, name: &str) {
    fs::create_dir_all(folder).unwrap();
    let id = format!(r#"{{"group_id":"{name}","full_id":"{name}"}}"#);
    fs::write(folder.join("benchmark.json"), id).unwrap();
    fs::write(folder.join("sample.json"), r#"{"iters":[2],"times":[2]}"#).unwrap();
}

#[test]
fn benchmarks_called_like_sets_are_told_apart_from_them() {
    let folder = tempfile::tempdir().unwrap();
    for (below, name) in [
        ("new/new", "new"),
        ("report/new", "report"),
        ("change/base/new", "c"),
    ] {
        write_set(&folder.path().join(below), name);
    }
    let results = read_criterion(folder.path(), None).unwrap();
    assert_eq!(names(&results), ["c", "new", "report"]);
    let error = read_criterion(folder.path(), Some("x")).unwrap_err();
    assert!(
        error.to_string().contains("criterion saved no baseline"),
        "{error}"
    );
}

#[test]
fn names_that_come_twice_are_numbered() {
    let folder = tempfile::tempdir().unwrap();
    for below in ["a/new", "a_2/new"] {
        write_set(&folder.path().join(below), "a");
    }
    let results = read_criterion(folder.path(), None).unwrap();
    assert_eq!(names(&results), ["a", "a #2"]);
}

#[test]
fn what_lies_too_deep_is_not_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    write_set(&folder.path().join("1/2/3/4/5/6/7/new"), "near");
    write_set(&folder.path().join("1/2/3/4/5/6/7/8/new"), "far");
    let results = read_criterion(folder.path(), None).unwrap();
    assert_eq!(names(&results), ["near"]);
}

#[cfg(unix)]
#[test]
fn links_that_lead_in_a_circle_lead_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    write_set(&folder.path().join("a/new"), "a");
    std::os::unix::fs::symlink(folder.path(), folder.path().join("a/again")).unwrap();
    let results = read_criterion(folder.path(), None).unwrap();
    assert_eq!(names(&results), ["a"]);
}

#[test]
fn without_samples_the_median_of_the_estimates_is_what_there_is() {
    for median in ["median", "Median"] {
        let estimates = format!(r#"{{"{median}":{{"point_estimate":12.5}}}}"#);
        let read = set(ID, None, Some(&estimates)).unwrap();
        assert_eq!(read.values, [12.5]);
        let statistic = "median".to_owned();
        assert_eq!(read.state, ResultState::Summarised { statistic });
    }
    let folder = tempfile::tempdir().unwrap();
    let from = golden("0.8").join("plain/new");
    for name in ["benchmark.json", "estimates.json"] {
        fs::copy(from.join(name), folder.path().join(name)).unwrap();
    }
    let results = read_criterion(folder.path(), None).unwrap();
    let measured = read_criterion(&from, None).unwrap();
    let (only, all) = (
        results.benchmarks[0].values[0],
        median(&measured.benchmarks[0]),
    );
    assert!((only / all - 1.0).abs() < 1e-9);
}

#[test]
fn with_neither_the_benchmark_is_there_and_failed() {
    let read = set(ID, None, None).unwrap();
    assert!(matches!(read.state, ResultState::Failed(_)));
    assert!(read.values.is_empty() && read.metrics.is_empty());
}

#[test]
fn kinds_of_throughput_that_are_unknown_are_passed_over() {
    let sample = Some(r#"{"iters":[1,1],"times":[4,8]}"#);
    let rates = |throughput: &str| {
        let id = format!(r#"{{"full_id":"g","throughput":{throughput}}}"#);
        let read = set(&id, sample, None).unwrap();
        let of = |at: usize| (read.metrics[at].name().to_owned(), column(&read, at));
        (1..read.metrics.len()).map(of).collect::<Vec<_>>()
    };
    let bytes = |each: f64| ("bytes_per_second".to_owned(), vec![each * 1e9, each * 5e8]);
    let elements = |each: f64| {
        (
            "elements_per_second".to_owned(),
            vec![each * 1e9, each * 5e8],
        )
    };
    assert_eq!(rates(r#"{"BytesDecimal":4}"#), [bytes(1.0)]);
    assert_eq!(rates(r#"{"Bits":64}"#), [bytes(2.0)]);
    let both = r#"{"ElementsAndBytes":{"elements":4,"bytes":8}}"#;
    assert_eq!(rates(both), [elements(1.0), bytes(2.0)]);
    for none in [
        "null",
        "{}",
        "3",
        r#"{"Lines":3}"#,
        r#"{"Bytes":"3"}"#,
        r#"{"Bytes":-3}"#,
    ] {
        assert_eq!(rates(none), [], "{none}");
    }
}

#[test]
fn a_time_of_zero_is_kept_and_has_no_rate() {
    let id = r#"{"full_id":"g","throughput":{"Bytes":4}}"#;
    let read = set(id, Some(r#"{"iters":[1,1],"times":[4,0]}"#), None).unwrap();
    assert_eq!(read.metrics, [Metric::Wall]);
    assert_eq!(read.values, [4.0, 0.0]);
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let read = set(ID, Some("\u{feff} [[2],[6]]"), None).unwrap();
    assert_eq!(read.values, [3.0]);
}

#[test]
fn samples_that_cannot_be_are_named_by_their_place() {
    for (sample, told) in [
        (
            r#"{"iters":[1,1],"times":[4,-8]}"#,
            "b/new/sample.json: times[1]: -8 is negative",
        ),
        (
            r#"{"iters":[1],"times":[NaN]}"#,
            "times[0]: the number is missing",
        ),
        (
            r#"{"iters":[1],"times":[-Infinity]}"#,
            "times[0]: the number is missing",
        ),
        (
            r#"{"iters":[1],"times":[null]}"#,
            "times[0]: the number is missing",
        ),
        (
            r#"{"iters":[1],"times":["4"]}"#,
            "expected a number, but found the text \"4\", at times[0]",
        ),
        (
            r#"{"iters":[0],"times":[4]}"#,
            "iters[0]: 0 iterations cannot have taken 4 ns",
        ),
        (
            r#"{"iters":[0],"times":[0]}"#,
            "iters[0]: 0 iterations cannot have taken 0 ns",
        ),
        (r#"{"iters":[1e-300],"times":[1e300]}"#, "iters[0]"),
        (
            r#"{"iters":[1,2],"times":[4]}"#,
            "times: 1 times do not match 2 iteration counts",
        ),
        (r#"{"iters":[],"times":[]}"#, "times: there are no samples"),
        (r#"[[1],[-4]]"#, "[1][0]: -4 is negative"),
        (r#"[[1]]"#, "sample.json:1:5"),
        (r#"{"iters":[1]}"#, "the field 'times' is missing"),
        (r#"{"iters":[1],"times":[4"#, "sample.json:1:"),
        ("", "the file ends in the middle of its JSON"),
        ("\u{1}", "sample.json:1:1"),
    ] {
        let error = refused(sample);
        assert!(error.contains(told), "{sample}: {error}");
    }
}

#[test]
fn a_broken_benchmark_or_estimate_names_its_file() {
    let read = set(r#"{"full_id":3}"#, None, None).unwrap_err().to_string();
    assert!(read.starts_with("b/new/benchmark.json:1:"), "{read}");
    assert!(read.ends_with(", at full_id"), "{read}");
    for (estimates, told) in [
        (
            r#"{"median":{"point_estimate":-1}}"#,
            "median.point_estimate: -1 is negative",
        ),
        (
            r#"{"median":{"point_estimate":NaN}}"#,
            "median.point_estimate: the number is missing",
        ),
        (
            r#"{"mean":{"point_estimate":1}}"#,
            "the field 'median' is missing",
        ),
        (r#"{"median":3}"#, "at median"),
    ] {
        let error = set(ID, None, Some(estimates)).unwrap_err().to_string();
        assert!(
            error.contains("estimates.json") && error.contains(told),
            "{error}"
        );
    }
}

#[test]
fn a_broken_file_costs_its_benchmark_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    for below in ["a/new", "b/new"] {
        write_set(&folder.path().join(below), &below[..1]);
    }
    let broken = folder.path().join("a/new/sample.json");
    for text in [
        "{",
        "",
        r#"{"iters":[1],"times":[-1]}"#,
        r#"{"iters":[1],"times":["1"]}"#,
    ] {
        fs::write(&broken, text).unwrap();
        let results = read_criterion(folder.path(), None).unwrap();
        assert_eq!(names(&results), ["a", "b"]);
        let told = match &find(&results, "a").state {
            ResultState::Failed(told) => told,
            other => panic!("{text}: {other:?}"),
        };
        assert!(told.starts_with(&broken.display().to_string()), "{told}");
        assert_eq!(find(&results, "b").state, ResultState::Measured);
    }
    // Without its name the benchmark is called after its folder.
    let broken = folder.path().join("a/new/benchmark.json");
    fs::write(&broken, [0xff, 0xfe]).unwrap();
    let results = read_criterion(folder.path(), None).unwrap();
    assert_eq!(names(&results), ["a", "b"]);
    assert!(
        matches!(&find(&results, "a").state, ResultState::Failed(told) if told.contains("benchmark.json"))
    );
}

#[test]
fn samples_without_a_name_are_passed_over_and_named() {
    let folder = tempfile::tempdir().unwrap();
    for below in ["a/new", "old/new", "old/base"] {
        write_set(&folder.path().join(below), "a");
    }
    for below in ["old/new", "old/base"] {
        fs::remove_file(folder.path().join(below).join("benchmark.json")).unwrap();
    }
    let results = read_criterion(folder.path(), None).unwrap();
    assert_eq!(names(&results), ["a"]);
    assert_eq!(
        results.unread,
        [
            "old/base was skipped: it has samples, but no benchmark.json",
            "old/new was skipped: it has samples, but no benchmark.json",
        ]
    );
    let error = read_criterion(folder.path().join("old"), None).unwrap_err();
    assert!(
        error.to_string().contains("benchmark.json is missing"),
        "{error}"
    );
}

#[test]
fn a_folder_without_a_newest_set_names_those_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    write_set(&folder.path().join("a/v1"), "a");
    let error = read_criterion(folder.path(), None).unwrap_err().to_string();
    assert!(
        error.contains("baseline 'new'") && error.ends_with("the folder has v1"),
        "{error}"
    );
    assert!(!error.contains("cargo clean"), "{error}");
}

#[test]
fn values_of_a_measurement_of_ones_own_have_the_unit_of_raw_csv_and_are_no_times() {
    let head = "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,\
                iteration_count\n";
    let id = ID.replace(
        "null,\"full_id\"",
        "null,\"throughput\":{\"Bytes\":64},\"full_id\"",
    );
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("g/new");
    fs::create_dir_all(&set).unwrap();
    fs::write(set.join("benchmark.json"), id).unwrap();
    fs::write(
        set.join("sample.json"),
        r#"{"iters":[1,2],"times":[50,120]}"#,
    )
    .unwrap();
    for (unit, metric) in [
        ("cycles", Some(("cycles", Unit::Count))),
        ("\"page faults\"", Some(("page faults", Unit::Count))),
        ("MB/s", Some(("MB/s", Unit::MegabytesPerSecond))),
        ("ns", None),
    ] {
        let raw = format!("{head}g,,,64,bytes,50.0,{unit},1\ng,,,64,bytes,120.0,{unit},2\n");
        fs::write(set.join("raw.csv"), raw).unwrap();
        let results = read_criterion(folder.path(), Some("new")).unwrap();
        let own = &results.benchmarks[0];
        match metric {
            Some((name, unit)) => {
                let metric = Metric::foreign(name, unit, Better::Less);
                assert_eq!(own.metrics, [metric]);
                assert_eq!(own.values, [50.0, 60.0]);
            }
            None => {
                assert_eq!(own.metrics[0], Metric::Wall);
                assert_eq!(own.values.len(), 4, "with its rates");
            }
        }
    }
}
