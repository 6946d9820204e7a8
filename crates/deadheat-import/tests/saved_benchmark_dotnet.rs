//! Files in the shape of BenchmarkDotNet's JSON, whole ones and broken ones.

#[path = "common/problem.rs"]
mod problem;

use std::path::Path;

use deadheat_import::{ResultState, Results, read_results, read_results_from};
use deadheat_model::Metric;
use problem::problem;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/saved/benchmark_dotnet")
}

fn golden(name: &str) -> Results {
    read_results(folder().join(name)).unwrap()
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

/// A report of one method with these fields.
fn report(fields: &str) -> String {
    format!(r#"{{"Title":"T","Benchmarks":[{{"Type":"A","Method":"B",{fields}}}]}}"#)
}

/// A measurement that counts, of this time.
fn result(nanoseconds: &str) -> String {
    format!(
        r#""Measurements":[{{"IterationMode":"Workload","IterationStage":"Result",
           "LaunchIndex":1,"Operations":4,"Nanoseconds":{nanoseconds}}}]"#
    )
}

#[test]
fn results_are_rows_and_launches_are_processes() {
    let (old, new) = (golden("old.json"), golden("new.json"));
    assert_eq!(names(&old), names(&new));
    let expected = [
        "Sorting.Sort (Length=64, Order=random)",
        "Sorting.Sort (Length=512, Order=random)",
        "Sorting.Sum (Length=64, Order=random)",
        "Sorting.Sum (Length=512, Order=random)",
    ];
    assert_eq!(names(&old), expected);
    let sort = &old.benchmarks[0];
    assert_eq!(sort.metrics, [Metric::Wall, Metric::AllocatedBytes]);
    // One of the second launch was dropped there as an outlier.
    assert_eq!(sort.processes, [0, 0, 0, 0, 1, 1, 1]);
    assert_eq!(sort.values[..2], [844.292470599093, 560.0]);
    assert_eq!(old.tool, "BenchmarkDotNet 0.13.12");
    assert_eq!(old.facts.cores, Some(2));
    assert_eq!(old.facts.debug_build, Some(false));
    assert_eq!(old.facts.date.as_deref(), Some("20260301-101500"));
    assert!(old.facts.runtime.as_deref().unwrap().starts_with(".NET 8"));
}

#[test]
fn jobs_keep_apart_and_what_threw_has_failed() {
    let results = golden("jobs.json");
    assert_eq!(
        names(&results),
        [
            "Hashing.Crc (job=Short)",
            "Hashing.Crc (job=Server)",
            "Hashing.Throws"
        ]
    );
    assert_eq!(
        results.benchmarks[0].label.as_deref(),
        Some("CRC of a page")
    );
    let state = &results.benchmarks[2].state;
    assert!(matches!(state, ResultState::Failed(_)), "{state:?}");
    assert!(results.benchmarks[2].values.is_empty());
}

#[test]
fn a_brief_report_has_the_averages_in_one_process() {
    let results = golden("brief.json");
    let sort = &results.benchmarks[0];
    assert_eq!(sort.processes, [0; 7]);
    assert_eq!(sort.state, ResultState::Measured);
    assert_eq!(sort.values[0], 413.7011489096614);
}

#[test]
fn statistics_alone_are_a_summary() {
    let results = golden("summary.json");
    let statistic = "mean".to_owned();
    let sort = &results.benchmarks[0];
    assert_eq!(sort.state, ResultState::Summarised { statistic });
    assert_eq!(sort.values, [412.5028031933228, 280.0]);
}

#[test]
fn a_row_of_the_csv_is_a_summary_whatever_the_culture() {
    let tables = ["report.csv", "report_semicolons.csv"].map(golden);
    for results in &tables {
        assert_eq!(
            names(results),
            [
                "Sort of a list (Length=64, Order=random)",
                "Sort of a list (Length=512, Order=random)",
                "Sum (Length=64, Order=random)",
                "Throws (Length=64, Order=random)",
            ]
        );
        let values = results.benchmarks.iter().map(|one| &one.values[..]);
        let values: Vec<&[f64]> = values.collect();
        assert_eq!(values[0], [1844.29, 560.0]);
        assert_eq!(values[1], [18_420.0, 2560.0]);
        assert_eq!(values[2], [412.5, 0.0]);
        let sort = &results.benchmarks[0];
        assert_eq!(sort.metrics, [Metric::Wall, Metric::AllocatedBytes]);
        let statistic = "mean".to_owned();
        assert_eq!(sort.state, ResultState::Summarised { statistic });
        assert!(matches!(
            results.benchmarks[3].state,
            ResultState::Failed(_)
        ));
        assert_eq!(results.tool, "BenchmarkDotNet");
    }
}

#[test]
fn jobs_of_a_csv_are_told_apart_where_a_file_has_several() {
    let text = "Method,Job,Runtime,Mean,Allocated\n\
                A,Short,.NET 8.0,1.0 ns,-\nA,Server,.NET 8.0,2.0 ns,-\n";
    let results = read(text).unwrap();
    assert_eq!(names(&results), ["A (job=Short)", "A (job=Server)"]);
    let one = "Type;Method;Job;Runtime;Mean\nT;A;Job-ABCDEF;.NET 9.0;1.0 ns\n";
    assert_eq!(names(&read(one).unwrap()), ["T.A"]);
}

#[test]
fn the_words_of_older_releases_are_understood() {
    let results = golden("version_0.10.json");
    assert_eq!(names(&results), ["Hashing.Crc"]);
    assert_eq!(results.benchmarks[0].processes, [0, 0, 0, 1, 1]);
    assert_eq!(results.benchmarks[0].values[0], 97.08090075629183);
}

#[test]
fn without_results_what_was_measured_counts() {
    let text = report(&result("10").replace("Result", "Actual"));
    assert_eq!(read(&text).unwrap().benchmarks[0].values, [2.5]);
    let warmup = report(&result("10").replace("Result", "Warmup"));
    let state = &read(&warmup).unwrap().benchmarks[0].state;
    assert!(matches!(state, ResultState::Failed(_)), "{state:?}");
}

#[test]
fn equal_names_in_two_namespaces_keep_apart() {
    let case = |namespace| format!(r#"{{"Namespace":"{namespace}","Type":"A","Method":"B"}}"#);
    let text = format!(r#"{{"Benchmarks":[{},{}]}}"#, case("X"), case("Y"));
    assert_eq!(names(&read(&text).unwrap()), ["X.A.B", "Y.A.B"]);
    let twice = format!(r#"{{"Benchmarks":[{},{}]}}"#, case("X"), case("X"));
    assert_eq!(names(&read(&twice).unwrap()), ["A.B", "A.B #2"]);
}

#[test]
fn a_time_that_is_none_is_an_error_that_names_its_place() {
    let place = "a.json: Benchmarks[0].Measurements[0]";
    for (nanoseconds, told) in [
        ("NaN", "the number is missing"),
        ("-Infinity", "the number is missing"),
        ("null", "the number is missing"),
        ("-1", "-1 is negative"),
    ] {
        let text = report(&result(nanoseconds));
        assert_eq!(error(&text), format!("{place}.Nanoseconds: {told}"));
    }
    let text = error(&report(&result("\"5\"")));
    let told = "at Benchmarks[0].Measurements[0].Nanoseconds";
    assert!(text.ends_with(told), "{text}");
    let idle = report(&result("5").replace(":4", ":0"));
    assert_eq!(
        error(&idle),
        format!("{place}.Operations: a measurement needs at least one operation")
    );
    let mean = report(r#""Statistics":{"Mean":NaN,"Skewness":NaN}"#);
    assert_eq!(
        error(&mean),
        "a.json: Benchmarks[0].Statistics.Mean: the number is missing"
    );
    let values = report(r#""Statistics":{"Mean":1,"OriginalValues":[1,-2]}"#);
    assert_eq!(
        error(&values),
        "a.json: Benchmarks[0].Statistics.OriginalValues[1]: -2 is negative"
    );
}

#[test]
fn memory_that_is_no_number_is_left_out() {
    for bytes in ["null", "NaN", "-1"] {
        let memory = format!(r#""Memory":{{"BytesAllocatedPerOperation":{bytes}}}"#);
        let text = report(&format!("{},{memory}", result("8")));
        let results = read(&text).unwrap();
        assert_eq!(results.benchmarks[0].metrics, [Metric::Wall]);
        assert_eq!(results.benchmarks[0].values, [2.0]);
    }
}

#[test]
fn a_broken_file_is_an_error_that_names_line_and_place() {
    let whole = std::fs::read_to_string(folder().join("version_0.10.json")).unwrap();
    for length in (1..whole.trim_end().len()).step_by(7) {
        assert!(read(&whole[..length]).is_err(), "cut at {length}");
    }
    for (broken, told) in [
        (r#"{"Title":"a"}"#, "the field 'Benchmarks' is missing"),
        (r#"{"Benchmarks":{}}"#, "at Benchmarks"),
        (r#"{"Benchmarks":[{}]}"#, "the field 'Method' is missing"),
        (
            r#"{"Benchmarks":[{"Method":"a","Measurements":[{"IterationMode":3}]}]}"#,
            "at Benchmarks[0].Measurements[0].IterationMode",
        ),
        ("{\"Title\":\"a\u{1}\"}", "control character"),
    ] {
        let text = error(broken);
        assert!(text.starts_with("a.json:1:"), "{text}");
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn one_bad_case_does_not_cost_the_others() {
    let case = |method: &str, fields: &str| format!(r#"{{"Method":"{method}",{fields}}}"#);
    let good = case("good", r#""Statistics":{"Mean":1,"OriginalValues":[1,2]}"#);
    for (fields, why) in [
        (
            r#""Measurements":[{"IterationMode":"Workload","IterationStage":"Result","Operations":0,"Nanoseconds":1}]"#,
            "Benchmarks[1].Measurements[0].Operations: a measurement needs at least one operation",
        ),
        (
            r#""Statistics":{"OriginalValues":[-1]}"#,
            "Benchmarks[1].Statistics.OriginalValues[0]: -1 is negative",
        ),
        (
            r#""Statistics":{"OriginalValues":["1"]}"#,
            "Benchmarks[1].Statistics.OriginalValues[0]: expected a number, but found the text \
             \"1\"",
        ),
        (
            r#""Measurements":7"#,
            "Benchmarks[1].Measurements: expected a list, but found 7",
        ),
    ] {
        let bad = case("bad", fields);
        let results = read(&format!(r#"{{"Benchmarks":[{good},{bad}]}}"#)).unwrap();
        let [good, bad] = &results.benchmarks[..] else {
            panic!("{results:#?}");
        };
        assert_eq!(
            (&good.state, good.values.len()),
            (&ResultState::Measured, 2)
        );
        assert_eq!(
            (&*bad.name, &bad.state),
            ("bad", &ResultState::Failed(why.to_owned()))
        );
    }
}

#[test]
fn fields_that_nothing_depends_on_may_hold_anything() {
    for (host, cpu) in [
        (
            r#"{"ProcessorName":{"IsValueCreated":true,"Value":"CPU"}}"#,
            None,
        ),
        (
            r#"{"ProcessorName":7,"LogicalCoreCount":"four"}"#,
            Some("7"),
        ),
        ("null", None),
        ("[]", None),
    ] {
        let case = r#"{"Method":"a","Memory":3,"DisplayInfo":{},"Parameters":null,"Statistics":{"Mean":1}}"#;
        let text = format!(r#"{{"Title":7,"HostEnvironmentInfo":{host},"Benchmarks":[{case}]}}"#);
        let results = read(&text).unwrap();
        assert_eq!(results.facts.cpu.as_deref(), cpu, "{host}");
        assert_eq!(results.benchmarks[0].values, [1.0], "{host}");
    }
}

#[test]
fn a_byte_order_mark_does_no_harm() {
    let text = format!("\u{feff}{}", report(&result("8")));
    assert_eq!(read(&text).unwrap().benchmarks[0].values, [2.0]);
}
