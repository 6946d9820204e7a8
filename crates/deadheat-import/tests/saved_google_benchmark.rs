//! Files of Google Benchmark, genuine ones and broken ones.

#[path = "common/problem.rs"]
mod problem;

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_import::{
    ResultBenchmark, ResultState, Results, SavedFormat, read_results, read_results_from,
    saved_format,
};
use deadheat_model::{Better, Metric, Unit};
use problem::problem;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/saved/google_benchmark")
}

fn golden(name: &str) -> Results {
    read_results(folder().join(name)).unwrap_or_else(|error| panic!("{error}"))
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

#[track_caller]
fn of<'a>(results: &'a Results, name: &str) -> &'a ResultBenchmark {
    let found = results.benchmarks.iter().find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("{name} is not among {:?}", names(results)))
}

fn column(benchmark: &ResultBenchmark, metric: &Metric) -> Vec<f64> {
    let place = benchmark.metrics.iter().position(|own| own == metric);
    let place = place.unwrap_or_else(|| panic!("{metric:?} of {:?}", benchmark.metrics));
    let rows = benchmark.values.chunks(benchmark.metrics.len());
    rows.map(|row| row[place]).collect()
}

/// Rows in a file of the newest kind.
fn file(rows: &[&str]) -> String {
    let rows: Vec<String> = rows.iter().map(|row| format!("{{{row}}}")).collect();
    format!(
        r#"{{"context":{{"json_schema_version":1}},"benchmarks":[{}]}}"#,
        rows.join(",")
    )
}

/// A measured row that can be read, with more fields behind it.
fn row(name: &str, more: &str) -> String {
    format!(
        r#""name":"{name}","run_name":"{name}","run_type":"iteration","real_time":2,"cpu_time":1,"time_unit":"us"{more}"#
    )
}

/// The benchmarks of every suite here that do not fail.
const SUITE: [&str; 9] = [
    "sum/64",
    "sum/256",
    "copy/4096",
    "counters",
    "micro/real_time",
    "milli/min_time:0.010",
    "manual/manual_time",
    "threaded/real_time/threads:2",
    "fixed/iterations:1000",
];

const BYTES: fn() -> Metric =
    || Metric::foreign("bytes_per_second", Unit::BytesPerSecond, Better::More);
const ITEMS: fn() -> Metric = || Metric::foreign("items_per_second", Unit::PerSecond, Better::More);

fn count(name: &str) -> Metric {
    Metric::foreign(name, Unit::Count, Better::Unknown)
}

#[test]
fn repetitions_are_rows_of_one_process_and_their_summaries_are_not_read() {
    let (old, new) = (
        golden("1.7.1_repetitions_old.json"),
        golden("1.7.1_repetitions_new.json"),
    );
    assert_eq!((names(&old), names(&new)), (SUITE.to_vec(), SUITE.to_vec()));
    assert_eq!(old.tool, "Google Benchmark");
    for benchmark in old.benchmarks.iter().chain(&new.benchmarks) {
        assert_eq!(benchmark.processes, [0; 5], "{}", benchmark.name);
        assert_eq!(benchmark.metrics[..2], [Metric::Wall, Metric::Cpu]);
        assert_eq!(benchmark.state, ResultState::Measured);
        let threads = if benchmark.name.contains("threads:2") {
            2
        } else {
            1
        };
        assert_eq!(benchmark.threads, Some(threads));
    }
    let sum = of(&old, "sum/64");
    assert_eq!(sum.values[..2], [22.45684056489408, 22.248964797745682]);
    assert_eq!(sum.values.len(), 10);
    let copy = of(&old, "copy/4096");
    assert_eq!(copy.label.as_deref(), Some("memcpy, \"quoted\""));
    assert_eq!(copy.metrics[2..], [BYTES(), ITEMS()]);
    assert_eq!(column(copy, &BYTES())[0], 125787726452.81165);
    let counters = of(&old, "counters");
    let own = ["per_thread", "plain", "rate"].map(count);
    assert_eq!(counters.metrics[2..], own);
    assert_eq!(column(counters, &count("plain")), [42.0; 5]);
}

#[test]
fn what_the_context_says_is_kept() {
    let facts = golden("1.7.1_repetitions_old.json").facts;
    assert_eq!(facts.host.as_deref(), Some("host"));
    assert_eq!(facts.cores, Some(2));
    assert_eq!(facts.cpu_scaling, Some(false));
    assert_eq!(facts.debug_build, Some(true));
    assert_eq!(facts.date.as_deref(), Some("2026-11-22T10:41:11+00:00"));
    let newest = golden("1.9.5_repetitions_old.json");
    // Whoever else writes the format does not become another tool by it.
    for (version, tool) in [
        ("v1.9.0-3-gabc", "Google Benchmark 1.9.0-3-gabc"),
        ("deadheat 0.1.0", "Google Benchmark"),
        ("", "Google Benchmark"),
    ] {
        let text = file(&[]).replace(
            "{\"json",
            &format!(r#"{{"library_version":"{version}","json"#),
        );
        assert_eq!(read(&text).unwrap().tool, tool);
    }
    assert_eq!(newest.tool, "Google Benchmark 1.9.5");
    assert_eq!(newest.facts.debug_build, Some(false));
    // Fields a user added are nobody's business.
    assert_eq!(names(&golden("1.8.0_context.json")), ["sum/64", "sum/256"]);
}

#[test]
fn rows_come_together_again_that_random_interleaving_tore_apart() {
    let (old, new) = (
        golden("1.7.1_interleaved_old.json"),
        golden("1.7.1_interleaved_new.json"),
    );
    for results in [&old, &new] {
        let mut sorted = names(results);
        sorted.sort_unstable();
        let mut suite = SUITE;
        suite.sort_unstable();
        assert_eq!(sorted, suite);
        for benchmark in &results.benchmarks {
            assert_eq!(benchmark.processes, [0; 5], "{}", benchmark.name);
        }
    }
    assert_eq!(
        of(&new, "sum/64").values[..2],
        [72.50364743936724, 31.530548880792995]
    );
}

#[test]
fn summaries_alone_count_by_their_median() {
    let results = golden("1.7.1_aggregates_only_old.json");
    assert_eq!(names(&results), SUITE);
    for benchmark in &results.benchmarks {
        let statistic = "median".to_owned();
        assert_eq!(benchmark.state, ResultState::Summarised { statistic });
        assert_eq!(benchmark.processes, [0]);
    }
    let newest = golden("1.9.5_aggregates_only.json");
    // The median, behind the mean of 67.35 in the file.
    let walls = column(of(&newest, "counters"), &Metric::Wall);
    assert!(walls[0] != 67.3544000906812 && walls.len() == 1);
    let failed = &of(&newest, "failed").state;
    assert_eq!(*failed, ResultState::Failed("no input".to_owned()));
}

#[test]
fn single_rows_are_measured() {
    for name in ["1.7.1_single_old.json", "1.7.1_single_new.json"] {
        let results = golden(name);
        assert_eq!(names(&results), SUITE);
        for benchmark in &results.benchmarks {
            assert_eq!(benchmark.processes, [0]);
            assert_eq!(benchmark.state, ResultState::Measured);
        }
    }
}

#[test]
fn every_unit_of_time_comes_to_nanoseconds() {
    let results = golden("1.7.1_microseconds_new.json");
    let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 1e-12;
    let wall = |name: &str| column(of(&results, name), &Metric::Wall)[0];
    assert!(near(wall("sum/64"), 69.14260781286248));
    assert!(near(wall("milli/min_time:0.010"), 277825.0199480681));
    let odd = golden("1.7.1_odd.json");
    let seconds = column(of(&odd, "seconds"), &Metric::Wall)[0];
    assert!(near(seconds, 430.06671806830245), "{seconds}");
    // A rate has no unit of time to convert.
    assert_eq!(
        column(of(&results, "copy/4096"), &BYTES()),
        [181601160362.2528]
    );
}

#[test]
fn rows_of_complexity_are_passed_over() {
    for name in ["1.7.1_complexity_old.json", "1.7.1_complexity_new.json"] {
        let results = golden(name);
        assert_eq!(names(&results), ["sum/64", "sum/256", "sum/1024"]);
        assert!(results.benchmarks.iter().all(|one| one.processes == [0; 3]));
    }
}

#[test]
fn memory_has_columns() {
    let bytes = |name: &str| Metric::foreign(name, Unit::Bytes, Better::Less);
    for name in ["1.7.1_memory.json", "1.8.0_memory.json"] {
        let results = golden(name);
        assert_eq!(names(&results), ["sum/64", "sum/256", "copy/4096"]);
        let sum = of(&results, "sum/64");
        assert_eq!(column(sum, &Metric::Allocations), [0.75]);
        assert_eq!(column(sum, &bytes("max_bytes_used")), [4096.0]);
        assert_eq!(column(sum, &bytes("total_allocated_bytes")), [16384.0]);
        assert_eq!(column(sum, &bytes("net_heap_growth")), [512.0]);
    }
}

#[test]
fn odd_names_failures_and_skips_are_told() {
    for name in ["1.7.1_odd.json", "1.8.0_odd_old.json", "1.8.0_odd_new.json"] {
        let results = golden(name);
        let odd = of(&results, "named/größe \"x\"\\");
        assert_eq!(odd.processes, [0, 0]);
        let failed = |name: &str| match &of(&results, name).state {
            ResultState::Failed(message) => message.clone(),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(failed("failed"), "no \"quoted\" input");
        assert_eq!(failed("fails_later/1"), "broke in the loop");
        assert!(of(&results, "failed").values.is_empty());
        // What is no number in some row is left out, the rest stays.
        let own = ["per_thread", "plain", "rate"].map(count);
        assert_eq!(of(&results, "counters").metrics[2..], own);
    }
    let results = golden("1.8.0_odd_new.json");
    let skipped = &of(&results, "skipped").state;
    let told = "not on this machine".to_owned();
    assert_eq!(*skipped, ResultState::Skipped(told));
}

#[test]
fn releases_that_did_not_name_summaries_are_read() {
    let expected = [&SUITE[..], &["failed", "fails_later/1"]].concat();
    for name in ["1.4_odd_old.json", "1.4_odd_new.json"] {
        let results = golden(name);
        assert_eq!(names(&results), expected);
        for benchmark in &results.benchmarks[..SUITE.len()] {
            assert_eq!(benchmark.processes, [0; 3], "{}", benchmark.name);
            assert_eq!(benchmark.threads, None);
        }
    }
    let path = folder().join("1.4_unescaped.json");
    let told = read_results(path).unwrap_err().to_string();
    assert!(told.contains("1.4_unescaped.json:45:"), "{told}");
    assert!(told.contains("at benchmarks[0]"), "{told}");
}

#[test]
fn the_newest_release_is_read() {
    for name in ["1.9.5_repetitions_old.json", "1.9.5_repetitions_new.json"] {
        let results = golden(name);
        let expected = ["sum/64", "sum/256", "counters", "in seconds", "failed"];
        assert_eq!(names(&results), expected);
        let counters = of(&results, "counters");
        assert_eq!(counters.label.as_deref(), Some("größe"));
        assert_eq!(
            counters.metrics[2..],
            [ITEMS(), count("plain"), count("rate")]
        );
        assert!((10.0..200.0).contains(&of(&results, "in seconds").values[0]));
    }
}

#[test]
fn every_golden_file_was_looked_at() {
    let mut files = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "json") {
            let text = fs::read(&path).unwrap();
            let format = saved_format(&path, &text).unwrap();
            assert_eq!(format, SavedFormat::GoogleBenchmark, "{}", path.display());
            files += 1;
        }
    }
    assert_eq!(files, 23);
}

#[test]
fn a_name_registered_twice_is_two_benchmarks_and_a_repetition_is_not() {
    let family = |index: u32, more: &str| {
        row(
            "a",
            &format!(r#","family_index":{index},"per_family_instance_index":0{more}"#),
        )
    };
    let text = file(&[
        &family(0, r#","repetition_index":0"#),
        &family(1, r#","repetition_index":0"#),
        &family(0, r#","repetition_index":1"#),
        &family(1, r#","repetition_index":1"#),
    ]);
    let results = read(&text).unwrap();
    assert_eq!(names(&results), ["a", "a #2"]);
    assert!(results.benchmarks.iter().all(|one| one.processes == [0, 0]));
    // Summaries find the one they belong to.
    let mean = |index: u32, time: f64| {
        format!(
            r#""name":"a_mean","run_name":"a","run_type":"aggregate","aggregate_name":"mean","family_index":{index},"real_time":{time},"cpu_time":1,"time_unit":"ns""#
        )
    };
    let results = read(&file(&[&mean(0, 3.0), &mean(1, 4.0)])).unwrap();
    assert_eq!(names(&results), ["a", "a #2"]);
    let firsts: Vec<f64> = results.benchmarks.iter().map(|one| one.values[0]).collect();
    assert_eq!(firsts, [3.0, 4.0]);
}

#[test]
fn a_mean_counts_where_there_is_no_median_and_a_spread_never_does() {
    let summary = |statistic: &str, time: f64| {
        format!(
            r#""name":"a_{statistic}","run_name":"a","run_type":"aggregate","aggregate_name":"{statistic}","real_time":{time},"cpu_time":1,"time_unit":"ns""#
        )
    };
    let state = |rows: &[&str]| {
        let results = read(&file(rows)).unwrap();
        let first = results.benchmarks.first();
        first.map(|one| (one.state.clone(), one.values[0]))
    };
    let (mean, median, cv) = (
        summary("mean", 3.0),
        summary("median", 4.0),
        summary("cv", 0.1),
    );
    let summarised = |statistic: &str, time| {
        let statistic = statistic.to_owned();
        Some((ResultState::Summarised { statistic }, time))
    };
    assert_eq!(state(&[&mean, &cv]), summarised("mean", 3.0));
    assert_eq!(state(&[&median, &mean]), summarised("median", 4.0));
    assert_eq!(state(&[&mean, &median, &cv]), summarised("median", 4.0));
    assert_eq!(state(&[&cv]), None);
    assert_eq!(
        state(&[&mean, &row("a", "")]),
        Some((ResultState::Measured, 2000.0))
    );
}

#[test]
fn a_benchmark_that_failed_in_one_repetition_has_failed() {
    let failed = row("a", r#","error_occurred":true,"error_message":"broke""#);
    for rows in [
        [row("a", ""), failed.clone()],
        [failed.clone(), row("a", "")],
    ] {
        let results = read(&file(&[&rows[0], &rows[1]])).unwrap();
        let benchmark = &results.benchmarks[0];
        assert_eq!(benchmark.state, ResultState::Failed("broke".to_owned()));
        assert!(benchmark.values.is_empty() && benchmark.processes.is_empty());
    }
    // What failed is not skipped, in whatever order it is told.
    let skipped = row("a", r#","skipped":true,"skip_message":"no""#);
    for rows in [[&failed, &skipped], [&skipped, &failed]] {
        let results = read(&file(&[rows[0], rows[1]])).unwrap();
        let state = &results.benchmarks[0].state;
        assert_eq!(*state, ResultState::Failed("broke".to_owned()));
    }
    let results = read(&file(&[&skipped])).unwrap();
    let state = &results.benchmarks[0].state;
    assert_eq!(*state, ResultState::Skipped("no".to_owned()));
}

#[test]
fn a_row_that_failed_needs_no_times() {
    let text = file(&[r#""name":"a","error_occurred":true"#]);
    let state = &read(&text).unwrap().benchmarks[0].state;
    assert_eq!(*state, ResultState::Failed(String::new()));
}

#[test]
fn counters_improve_the_way_their_names_say() {
    let own = r#","x_per_second":1,"hits/s":1,"CYCLES":5,"INSTRUCTIONS":6,"BRANCH-MISSES":7,"CACHE-MISSES":8,"cost":9"#;
    let results = read(&file(&[&row("a", own)])).unwrap();
    let rate = |name: &str| Metric::foreign(name, Unit::PerSecond, Better::More);
    assert_eq!(
        results.benchmarks[0].metrics[2..],
        [
            rate("x_per_second"),
            rate("hits/s"),
            Metric::Cycles,
            Metric::Instructions,
            Metric::BranchMisses,
            Metric::CacheMisses,
            count("cost"),
        ]
    );
}

#[test]
fn a_counter_that_is_no_number_somewhere_is_left_out() {
    for value in [
        "NaN",
        "Infinity",
        "-Infinity",
        "nan",
        "-inf",
        "null",
        "-1",
        "\"x\"",
        "[]",
        "{}",
    ] {
        let (good, bad) = (
            row("a", r#","hits":1,"c":3"#),
            row("a", &format!(r#","hits":{value},"c":3"#)),
        );
        for rows in [[&good, &bad], [&bad, &good]] {
            let results = read(&file(&[rows[0], rows[1]])).unwrap_or_else(|e| panic!("{e}"));
            let metrics = &results.benchmarks[0].metrics;
            assert_eq!(*metrics, [Metric::Wall, Metric::Cpu, count("c")], "{value}");
        }
    }
}

#[test]
fn a_time_that_is_none_is_an_error_that_names_its_place() {
    let with = |field: &str, value: &str| {
        let good = row("a", "");
        let (times, other) = match field {
            "real_time" => (("real_time\":2", "real_time\":"), value),
            _ => (("cpu_time\":1", "cpu_time\":"), value),
        };
        let bad = good.replace(times.0, &format!("{}{other}", times.1));
        error(&file(&[&good, &bad]))
    };
    for field in ["real_time", "cpu_time"] {
        let place = format!("a.json: benchmarks[1].{field}: ");
        for value in ["NaN", "Infinity", "-Infinity", "nan", "-nan", "inf", "null"] {
            let told = with(field, value);
            assert_eq!(told, format!("{place}the number is missing"), "{value}");
        }
        assert_eq!(with(field, "-1"), format!("{place}-1 is negative"));
        assert_eq!(
            with(field, "1e308"),
            format!("{place}the number is too large")
        );
        for value in ["\"2\"", "[2]", "{}", "true"] {
            let told = with(field, value);
            let place = format!("a.json: benchmarks[1].{field}: expected a number");
            assert!(told.starts_with(&place), "{told}");
        }
    }
}

#[test]
fn a_field_that_is_missing_is_named() {
    let whole = row("a", "");
    for (field, told) in [
        (
            r#","real_time":2"#,
            "a.json: benchmarks[0].real_time: the field is missing",
        ),
        (
            r#","cpu_time":1"#,
            "a.json: benchmarks[0].cpu_time: the field is missing",
        ),
        (
            r#","time_unit":"us""#,
            "a.json: benchmarks[0].time_unit: the field is missing",
        ),
    ] {
        assert_eq!(error(&file(&[&whole.replace(field, "")])), told);
    }
    let told = error(&file(&[&whole.replace(r#""name":"a","#, "")]));
    assert!(told.starts_with("a.json:1:"), "{told}");
    assert!(
        told.ends_with("the field 'name' is missing, at benchmarks[0]"),
        "{told}"
    );
}

#[test]
fn an_unknown_unit_is_an_error_that_lists_the_known_ones() {
    let text = row("a", "").replace("\"us\"", "\"fortnights\"");
    assert_eq!(
        error(&file(&[&row("b", ""), &text])),
        "a.json: benchmarks[1].time_unit: 'fortnights' is not a unit of time; they are ns, us, ms, s"
    );
}

#[test]
fn a_version_to_come_is_an_error_that_names_the_known_one() {
    let text = file(&[]).replace("version\":1", "version\":2");
    assert_eq!(
        error(&text),
        "a.json: context.json_schema_version: version 2 is not known; deadheat reads 1"
    );
    let text = file(&[&row("a", "")]).replace("version\":1", "version\":\"1\"");
    assert_eq!(names(&read(&text).unwrap()), ["a"]);
}

#[test]
fn a_broken_file_is_an_error_that_names_line_column_and_place() {
    let path = folder().join("1.8.0_context.json");
    let whole = fs::read_to_string(path).unwrap();
    for length in 1..whole.trim_end().len() {
        // Cuts within a letter do not happen: the file is ASCII.
        let told = error(&whole[..length]);
        assert!(told.starts_with("a.json"), "cut at {length}: {told}");
    }
    let context = r#"{"context":{},"benchmarks":"#;
    for (broken, told) in [
        (
            r#"{"context":{}}"#.to_owned(),
            "the field 'benchmarks' is missing",
        ),
        (format!("{context}{{}}}}"), "at benchmarks"),
        (format!("{context}7}}"), "at benchmarks"),
        (format!("{context}[7]}}"), "at benchmarks[0]"),
        (
            format!("{context}[]}} {{}}"),
            "there is more text after the end of the JSON",
        ),
        (r#"{"context":[],"benchmarks":{}}"#.to_owned(), "at "),
        (
            file(&[&row("a", "").replace("\"iteration\"", "\"odd\"")]),
            "at benchmarks[0].run_type",
        ),
        (
            file(&[&row("a", r#","error_occurred":"no""#)]),
            "at benchmarks[0].error_occurred",
        ),
        (file(&[&row("a\u{1}", "")]), "control character"),
        (file(&[&row("a\n", "")]), "control character"),
        (
            file(&[&row("a", ",oops")]),
            "a name in double quotes is expected here",
        ),
    ] {
        let text = error(&broken);
        assert!(text.starts_with("a.json:"), "{text}");
        let line = text["a.json:".len()..].bytes().next().unwrap();
        assert!(line.is_ascii_digit(), "{text}");
        assert!(text.contains(told), "{text}");
    }
    for text in ["", " \n", "hello", "{", "{}", "[7]", "<html>", "{\"a\":1}"] {
        let told = error(text);
        assert!(told.starts_with("a.json"), "{text:?}: {told}");
    }
}

#[test]
fn bytes_that_are_no_text_are_an_error_that_names_their_place() {
    let text = file(&[&row("a?", "")]).into_bytes();
    let text: Vec<u8> = text
        .iter()
        .map(|b| if *b == b'?' { 0xff } else { *b })
        .collect();
    let told = read_results_from(Path::new("a.json"), &text).unwrap_err();
    let told = told.to_string();
    assert!(told.starts_with("a.json:1:"), "{told}");
    assert!(told.contains("benchmarks[0]"), "{told}");
}

#[test]
fn a_byte_order_mark_and_an_empty_list_do_no_harm() {
    let marked = format!("\u{feff}{}", file(&[&row("a", "")]));
    assert_eq!(names(&read(&marked).unwrap()), ["a"]);
    assert!(read(&file(&[])).unwrap().benchmarks.is_empty());
    // What compare.py reads: a list without a context.
    let bare = format!(r#"{{"benchmarks":[{{{}}}]}}"#, row("a", ""));
    assert_eq!(names(&read(&bare).unwrap()), ["a"]);
}

#[test]
fn one_bad_row_costs_its_benchmark_and_no_other() {
    let good = row("good", "");
    for (bad, why) in [
        (
            row("bad", "").replace("\"us\"", "\"weeks\""),
            "benchmarks[1].time_unit: 'weeks'",
        ),
        (
            row("bad", r#","error_occurred":"no""#),
            "benchmarks[1].error_occurred: expected true or false",
        ),
        (
            row("bad", "").replace("\"iteration\"", "\"odd\""),
            "benchmarks[1].run_type: 'odd' is not a known value",
        ),
    ] {
        // Other rows of it do not make up for the one.
        let results = read(&file(&[&good, &bad, &row("bad", "")])).unwrap();
        let [good, bad] = &results.benchmarks[..] else {
            panic!("{results:#?}");
        };
        assert_eq!((&*good.name, &good.state), ("good", &ResultState::Measured));
        assert!(
            matches!(&bad.state, ResultState::Failed(told) if told.starts_with(why)),
            "{bad:?}"
        );
        assert!(bad.values.is_empty());
    }
    let results = read(&file(&[&good, "\"no\":1"])).unwrap();
    assert_eq!(names(&results), ["good"]);
    assert_eq!(
        results.unread,
        ["benchmarks[1]: the field 'name' is missing"]
    );
}

#[test]
fn fields_that_nothing_depends_on_may_hold_anything() {
    for context in [
        "null",
        "7",
        r#"{"num_cpus":"4","host_name":5,"date":[],"cpu_scaling_enabled":"no"}"#,
        r#"{"library_version":1.9,"library_build_type":null}"#,
    ] {
        let odd = r#","label":5,"threads":"2","family_index":-1"#;
        let text = format!(
            r#"{{"context":{context},"benchmarks":[{{{}}}]}}"#,
            row("a", odd)
        );
        let results = read(&text).unwrap();
        assert_eq!(
            results.benchmarks[0].label.as_deref(),
            Some("5"),
            "{context}"
        );
        assert_eq!(results.benchmarks[0].threads, Some(2), "{context}");
    }
    let text = r#"{"context":{"num_cpus":"4"},"benchmarks":[]}"#;
    assert_eq!(read(text).unwrap().facts.cores, Some(4));
}

#[test]
fn lines_of_a_log_around_the_json_are_passed_over_and_named() {
    let json = file(&[&row("a", "")]);
    for (text, unread) in [
        (format!("ready\n[warn] slow {{}}\n{json}\n"), "lines 1 to 2"),
        (format!("{json}\ndone in 3 s\n"), "line 2 is skipped"),
        (
            format!("{{\"level\":\"info\"}}\n{json}"),
            "line 1 is skipped",
        ),
        (format!("3 files, ready\n{json}"), "line 1 is skipped"),
    ] {
        let results = read(&text).unwrap();
        assert_eq!(names(&results), ["a"], "{text}");
        assert_eq!(results.unread.len(), 1, "{text}");
        assert!(
            results.unread[0].starts_with(unread),
            "{:?}",
            results.unread
        );
    }
    let both = read(&format!("ready\n{json}\nbye\nbye\n")).unwrap();
    assert_eq!(
        both.unread,
        [
            "line 1 is skipped: not part of the results",
            "lines 3 to 4 are skipped: not part of the results"
        ]
    );
    let torn = error(&format!("ready\n{}", &json[..json.len() - 3]));
    assert!(torn.starts_with("a.json:2:"), "{torn}");
}

#[test]
fn a_null_stands_for_nothing() {
    let nothing = r#","label":null,"threads":null,"error_message":null,"family_index":null"#;
    let results = read(&file(&[&row("a", nothing)])).unwrap();
    assert_eq!(results.benchmarks[0].threads, None);
    assert_eq!(results.benchmarks[0].label, None);
}

#[test]
fn ten_thousand_of_one_name_are_told_apart_in_no_time() {
    let rows: Vec<String> = (0..10_000)
        .map(|index| row("a", &format!(r#","family_index":{index}"#)))
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let results = read(&file(&rows)).unwrap();
    assert_eq!(names(&results)[9_999], "a #10000");
}
