//! Files of JMH, genuine ones and broken ones.

#[path = "common/problem.rs"]
mod problem;

use std::path::Path;

use deadheat_import::{
    ResultBenchmark, ResultState, Results, SavedFormat, read_results, read_results_from,
    saved_format,
};
use deadheat_model::{Better, Metric, Unit};
use problem::problem;

fn golden(name: &str) -> Results {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/saved/jmh");
    read_results(folder.join(name)).unwrap()
}

fn read(text: &str) -> Result<Results, String> {
    read_results_from(Path::new("a.json"), text.as_bytes()).map_err(|error| error.to_string())
}

fn error(text: &str) -> String {
    problem(read_results_from(Path::new("a.json"), text.as_bytes()))
}

fn names(results: &Results) -> Vec<&str> {
    let names = results.benchmarks.iter().map(|one| one.name.as_str());
    names.collect()
}

fn column(benchmark: &ResultBenchmark, metric: usize) -> Vec<f64> {
    let rows = benchmark.values.chunks(benchmark.metrics.len());
    rows.map(|row| row[metric]).collect()
}

/// One entry with this as its primary metric.
fn entry(primary: &str) -> String {
    format!(
        r#"[{{"jmhVersion":"1.37","benchmark":"a.B.c","mode":"avgt","primaryMetric":{primary}}}]"#
    )
}

#[test]
fn two_versions_of_a_suite_have_the_same_names_and_their_forks_are_processes() {
    let (old, new) = (golden("old.json"), golden("new.json"));
    assert_eq!(names(&old), names(&new));
    assert_eq!(names(&old).len(), 8);
    assert_eq!(names(&old)[0], "Sorting.sort (length=64, order=random)");
    assert_eq!(old.tool, "JMH 1.37");
    assert_eq!(
        old.facts.runtime.as_deref(),
        Some("OpenJDK 64-Bit Server VM 17.0.15+6-Debian-1deb12u1")
    );
    for benchmark in &old.benchmarks {
        assert_eq!(benchmark.metrics, [Metric::Wall]);
        assert_eq!(benchmark.processes, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(benchmark.threads, Some(1));
        assert_eq!(benchmark.state, ResultState::Measured);
    }
    // 1.3352251015228426 us/op.
    assert_eq!(old.benchmarks[0].values[0], 1335.2251015228426);
}

#[test]
fn modes_keep_apart_and_throughput_improves_upwards() {
    let results = golden("modes.json");
    let expected = ["thrpt", "avgt", "sample", "ss"].map(|mode| format!("Hashing.crc:{mode}"));
    assert_eq!(names(&results), expected);
    let throughput = &results.benchmarks[0];
    let per_second = Metric::foreign("ops/s", Unit::PerSecond, Better::More);
    assert_eq!(throughput.metrics, [per_second]);
    // 17.056866343227576 ops/us.
    assert_eq!(throughput.values[0], 17056866.343227576);
}

#[test]
fn sampled_calls_are_rows_up_to_a_limit() {
    let results = golden("modes.json");
    let sampled = &results.benchmarks[2];
    assert_eq!(sampled.metrics, [Metric::Wall]);
    assert_eq!(sampled.processes.len(), 9 * 1_000);
    assert!(sampled.processes.is_sorted());
    let first = &sampled.values[..1_000];
    assert!(first.is_sorted() && (first[0] - 70.0).abs() < 1e-9);
    // The median JMH printed for that iteration: 0.086 us.
    assert!((first[500] - 86.0).abs() < 1e-9, "{}", first[500]);
}

#[test]
fn every_unit_of_time_comes_to_the_same() {
    let results = golden("units.json");
    assert_eq!(results.benchmarks[0].values[0], 13324063.37704439);
    let nanoseconds = results.benchmarks[1].values[0];
    assert!((47.48..47.49).contains(&nanoseconds), "{nanoseconds}");
    let milliseconds = golden("milliseconds.json").benchmarks[0].values[0];
    assert!((106.81..106.82).contains(&milliseconds), "{milliseconds}");
}

#[test]
fn what_the_profiler_counted_comes_along_where_it_has_every_row() {
    let results = golden("memory.json");
    let benchmark = &results.benchmarks[0];
    let rate = Metric::foreign("gc.alloc.rate", Unit::BytesPerSecond, Better::Unknown);
    let count = Metric::foreign("gc.count", Unit::Count, Better::Less);
    let expected = [Metric::Wall, rate, Metric::AllocatedBytes, count];
    assert_eq!(benchmark.metrics, expected, "gc.time has a fork without it");
    assert_eq!(column(benchmark, 2)[0], 272.0584088417792);
    assert_eq!(column(benchmark, 1)[0], 493.88527956405636 * 1_048_576.0);
}

#[test]
fn groups_and_counters_of_a_user_have_columns() {
    let results = golden("threads.json");
    assert_eq!(names(&results), ["Hashing.counted", "Queueing.queue"]);
    let pages = Metric::foreign("pages", Unit::PerSecond, Better::More);
    assert_eq!(results.benchmarks[0].metrics[1], pages);
    assert_eq!(results.benchmarks[0].threads, Some(2));
    let of_threads = |name| Metric::foreign(name, Unit::Nanoseconds, Better::Less);
    let expected = [Metric::Wall, of_threads("put"), of_threads("take")];
    assert_eq!(results.benchmarks[1].metrics, expected);
}

#[test]
fn one_row_without_an_error_is_read() {
    let results = golden("one_row.json");
    assert_eq!(results.benchmarks[0].values, [15040.0]);
    assert_eq!(results.benchmarks[0].state, ResultState::Measured);
}

#[test]
fn without_forks_all_is_one_process() {
    let results = golden("no_fork.json");
    assert_eq!(results.benchmarks[0].processes, [0, 0, 0]);
}

#[test]
fn what_threw_is_not_in_the_file() {
    assert_eq!(names(&golden("failing.json")), ["Hashing.crc"]);
}

#[test]
fn older_releases_are_read() {
    let first = golden("version_1.0.json");
    let later = golden("version_1.21.json");
    assert_eq!(
        (first.tool.as_str(), later.tool.as_str()),
        ("JMH", "JMH 1.21")
    );
    let mut in_both = [names(&first), names(&later)];
    in_both.iter_mut().for_each(|names| names.sort_unstable());
    assert_eq!(in_both[0], in_both[1]);
    // Without a histogram the means of the iterations are the rows.
    assert_eq!(first.benchmarks[2].processes, [0, 0, 0, 1, 1, 1]);
    assert_eq!(later.benchmarks[2].processes.len(), 6_000);
    assert_eq!(later.benchmarks[2].metrics, [Metric::Wall]);
}

#[test]
fn a_score_alone_is_a_summary_and_none_is_a_failure() {
    let results = read(&entry(r#"{"score":2.5,"scoreUnit":"ms/op"}"#)).unwrap();
    let statistic = "mean".to_owned();
    let benchmark = &results.benchmarks[0];
    assert_eq!(benchmark.state, ResultState::Summarised { statistic });
    assert_eq!(benchmark.values, [2.5e6]);
    for score in ["\"NaN\"", "NaN", "null", "-1"] {
        let primary = format!(r#"{{"score":{score},"scoreUnit":"ms/op","rawData":[[]]}}"#);
        let results = read(&entry(&primary)).unwrap();
        let state = &results.benchmarks[0].state;
        assert!(matches!(state, ResultState::Failed(_)), "{score}");
        assert!(results.benchmarks[0].values.is_empty());
    }
}

#[test]
fn names_take_as_much_as_tells_them_apart() {
    let entries = [
        r#""benchmark":"a.X.f","mode":"avgt","threads":1"#,
        r#""benchmark":"a.X.f","mode":"avgt","threads":4"#,
        r#""benchmark":"b.Y.g","mode":"avgt""#,
        r#""benchmark":"c.Y.g","mode":"avgt","params":{"n":"1"}"#,
        r#""benchmark":"d.Z.h","mode":"avgt""#,
        r#""benchmark":"d.Z.h","mode":"avgt""#,
    ];
    let entries =
        entries.map(|own| format!(r#"{{{own},"primaryMetric":{{"score":1,"scoreUnit":"s/op"}}}}"#));
    let results = read(&format!("[{}]", entries.join(","))).unwrap();
    assert_eq!(
        names(&results),
        [
            "X.f (threads=1)",
            "X.f (threads=4)",
            "b.Y.g",
            "c.Y.g (n=1)",
            "Z.h",
            "Z.h #2"
        ]
    );
}

#[test]
fn a_time_that_is_none_is_an_error_that_names_its_place() {
    let raw = |raw: &str| {
        error(&entry(&format!(
            r#"{{"scoreUnit":"us/op","rawData":{raw}}}"#
        )))
    };
    for (raw_data, told) in [
        (
            "[[1,2],[3,NaN]]",
            "a.json: [0].primaryMetric.rawData[1][1]: the number is missing",
        ),
        (
            "[[-Infinity]]",
            "a.json: [0].primaryMetric.rawData[0][0]: the number is missing",
        ),
        (
            "[[-1]]",
            "a.json: [0].primaryMetric.rawData[0][0]: -1 is negative",
        ),
        (
            "[[1e308]]",
            "a.json: [0].primaryMetric.rawData[0][0]: the number is too large",
        ),
    ] {
        assert_eq!(raw(raw_data), told);
    }
    let text = raw(r#"[[1,"NaN"]]"#);
    assert!(
        text.ends_with("at [0].primaryMetric.rawData[0][1]"),
        "{text}"
    );
    let flat = raw("[1,2]");
    assert!(flat.ends_with("at [0].primaryMetric.rawData[0]"), "{flat}");
    let histogram = r#"{"scoreUnit":"us/op","rawDataHistogram":[[[[1,2],[-3,4]]]]}"#;
    assert_eq!(
        error(&entry(histogram)),
        "a.json: [0].primaryMetric.rawDataHistogram[0][0][1][0]: -3 is negative"
    );
}

#[test]
fn an_unknown_unit_is_an_error_that_lists_the_known_ones() {
    assert_eq!(
        error(&entry(r#"{"scoreUnit":"furlongs/op","rawData":[[1]]}"#)),
        "a.json: [0].primaryMetric.scoreUnit: the unit 'furlongs/op' is unknown; deadheat knows \
         ops/T and T/op, T being ns, us, ms, s, min, hr or day"
    );
}

#[test]
fn a_broken_file_is_an_error_that_names_line_column_and_place() {
    let whole = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/saved/jmh/one_row.json"),
    )
    .unwrap();
    for length in 1..whole.trim_end().len() {
        // Cuts within a letter do not happen: the file is ASCII.
        assert!(read(&whole[..length]).is_err(), "cut at {length}");
    }
    for (broken, told) in [
        (
            "[{\"jmhVersion\":1}]",
            "the field 'benchmark' is missing, at [0]",
        ),
        (
            "[{\"jmhVersion\":\"1\",\"benchmark\":\"a\"}]",
            "the field 'mode' is missing, at [0]",
        ),
        ("[{\"primaryMetric\":[]}]", "at [0].primaryMetric"),
        (
            "[{\"primaryMetric\":{}}]",
            "the field 'scoreUnit' is missing",
        ),
        ("[{\"jmhVersion\":\"a\u{1}b\"}]", "control character"),
        ("[{\"jmhVersion\":\"1\"},2]", "is missing"),
    ] {
        let text = error(broken);
        assert!(text.starts_with("a.json:1:"), "{text}");
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn one_bad_entry_does_not_cost_the_others() {
    let good = r#"{"benchmark":"a.B.good","mode":"avgt","primaryMetric":{"scoreUnit":"s/op","rawData":[[1]]}}"#;
    for (bad, why) in [
        (
            good.replace("good", "bad").replace("[1]", "[-1]"),
            "[1].primaryMetric.rawData[0][0]: -1 is negative",
        ),
        (
            good.replace("good", "bad").replace("[1]", "[\"1\"]"),
            "[1].primaryMetric.rawData[0][0]: expected a number, but found the text \"1\"",
        ),
        (
            good.replace("good", "bad").replace("s/op", "mile"),
            "[1].primaryMetric.scoreUnit: the unit 'mile' is unknown",
        ),
        (
            r#"{"benchmark":"a.B.bad"}"#.to_owned(),
            "[1]: the field 'mode' is missing",
        ),
    ] {
        let results = read(&format!("[{good},{bad}]")).unwrap();
        let [good, bad] = &results.benchmarks[..] else {
            panic!("{results:#?}");
        };
        assert_eq!((&good.state, good.values[0]), (&ResultState::Measured, 1e9));
        assert!(bad.name.ends_with("B.bad"), "{bad:?}");
        assert!(
            matches!(&bad.state, ResultState::Failed(told) if told.starts_with(why)),
            "{bad:?}"
        );
    }
}

#[test]
fn fields_that_nothing_depends_on_may_hold_anything() {
    let text = r#"[{"jmhVersion":1,"vmName":null,"vmVersion":{},"benchmark":"a.B.c","mode":"avgt",
        "threads":"4","params":{"n":5,"s":"x","o":{}},"secondaryMetrics":null,
        "primaryMetric":{"scoreUnit":"s/op","rawData":[[1]]}}]"#;
    let results = read(text).unwrap();
    assert_eq!(names(&results), ["B.c (n=5, s=x)"]);
    assert_eq!(results.benchmarks[0].values, [1e9]);
}

#[test]
fn a_byte_order_mark_and_an_empty_list_do_no_harm() {
    let marked = format!(
        "\u{feff}{}",
        entry(r#"{"scoreUnit":"s/op","rawData":[[1]]}"#)
    );
    assert_eq!(read(&marked).unwrap().benchmarks.len(), 1);
    assert_eq!(read("[]").unwrap().benchmarks.len(), 0);
    let format = saved_format(Path::new("a"), marked.as_bytes()).unwrap();
    assert_eq!(format, SavedFormat::Jmh);
}

#[test]
fn a_count_beyond_measure_does_not_become_so_many_rows() {
    let many = r#"{"scoreUnit":"ns/op","rawDataHistogram":[[[[1,3e15],[2,1e15]]]]}"#;
    let results = read(&entry(many)).unwrap();
    let values = &results.benchmarks[0].values;
    assert_eq!(values.len(), 1_000);
    assert_eq!(values.iter().filter(|value| **value == 1.0).count(), 750);
}
