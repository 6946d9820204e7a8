//! Output of Go's `testing`, genuine and broken.

use std::path::Path;

use deadheat_import::{ResultState, Results, read_results, read_results_from};
use deadheat_model::{Better, Metric, Unit};

fn golden(name: &str) -> Results {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/saved/go");
    read_results(folder.join(name)).unwrap()
}

fn read(text: &str) -> Results {
    read_results_from(Path::new("a.txt"), text.as_bytes()).unwrap()
}

fn error(text: &str) -> String {
    let read = read_results_from(Path::new("a.txt"), text.as_bytes());
    read.unwrap_err().to_string()
}

fn names(results: &Results) -> Vec<&str> {
    let names = results.benchmarks.iter().map(|one| one.name.as_str());
    names.collect()
}

#[test]
fn every_line_is_a_row_and_every_unit_a_metric() {
    let (old, new) = (golden("old.txt"), golden("new.txt"));
    assert_eq!(names(&old), names(&new));
    assert_eq!(names(&old)[1], "Sort/length=64/order=sorted-2");
    let sort = &old.benchmarks[0];
    let expected = [Metric::Wall, Metric::AllocatedBytes, Metric::Allocations];
    assert_eq!(sort.metrics, expected);
    assert_eq!(sort.values[..6], [3506.0, 1024.0, 2.0, 2229.0, 1024.0, 2.0]);
    assert_eq!(sort.threads, Some(2));
    assert_eq!(sort.processes, [0; 6], "repetitions run in one process");
    let rate = Metric::foreign("B/s", Unit::BytesPerSecond, Better::More);
    assert_eq!(new.benchmarks[4].metrics[1], rate);
    assert_eq!(new.benchmarks[4].values[1], 38253390000.0);
    assert_eq!(old.facts.system.as_deref(), Some("linux amd64"));
    assert!(old.facts.cpu.is_some());
}

#[test]
fn packages_and_numbers_of_threads_keep_apart() {
    let results = golden("packages.txt");
    assert_eq!(results.benchmarks.len(), 14);
    assert_eq!(
        names(&results)[8..12],
        ["CRC", "CRC-2", "Channel", "Channel-2"]
    );
    let threads: Vec<Option<u32>> = results.benchmarks.iter().map(|b| b.threads).collect();
    assert_eq!(threads[8..10], [None, Some(2)]);
    assert!(results.benchmarks.iter().all(|one| one.processes == [0; 3]));
}

#[test]
fn runs_appended_to_a_file_are_processes() {
    let results = golden("appended.txt");
    assert_eq!(results.benchmarks.len(), 1);
    assert_eq!(results.benchmarks[0].processes, [0, 0, 1, 1, 2, 2]);
    let no_headers = "BenchmarkA 1 1 ns/op\nPASS\nBenchmarkA 1 2 ns/op\nok  \ta\t1s\n\
                      BenchmarkA 1 3 ns/op\nBenchmarkA 1 4 ns/op\n";
    assert_eq!(read(no_headers).benchmarks[0].processes, [0, 1, 2, 2]);
}

#[test]
fn units_of_the_users_own_improve_as_the_file_says() {
    let results = golden("metrics.txt");
    assert_eq!(names(&results), ["Cache-2", "After-2"]);
    let foreign = |name, unit, better| Metric::foreign(name, unit, better);
    let expected = [
        Metric::Wall,
        foreign("entries", Unit::Count, Better::Less),
        foreign("hits/op", Unit::Count, Better::More),
        foreign("lookups/s", Unit::PerSecond, Better::More),
    ];
    assert_eq!(results.benchmarks[0].metrics, expected);
    let total = foreign("total-ms", Unit::Count, Better::Less);
    assert_eq!(results.benchmarks[1].metrics, [total], "it took ns/op away");
}

#[test]
fn what_failed_or_was_skipped_is_there_with_its_reason() {
    let failed = |text: &str| ResultState::Failed(text.to_owned());
    for file in ["faults.txt", "verbose.txt"] {
        let results = golden(file);
        let state = |name: &str| {
            let of_name = results.benchmarks.iter().find(|one| one.name == name);
            of_name.unwrap_or_else(|| panic!("{name}")).state.clone()
        };
        assert_eq!(state("Fails-2"), failed("faults_test.go:10: as asked"));
        assert_eq!(state("Some/fails-2"), failed("faults_test.go:26: as asked"));
        assert_eq!(state("Some/works-2"), ResultState::Measured);
        assert_eq!(state("Logs-2"), ResultState::Measured);
        // It failed only because a part of it did.
        assert!(!names(&results).contains(&"Some-2"), "{file}");
    }
    let verbose = golden("verbose.txt");
    assert_eq!(
        names(&verbose)[..2],
        ["Fails-2", "Skipped-2"],
        "in the order of the file"
    );
    let reason = "faults_test.go:13: not here".to_owned();
    assert_eq!(verbose.benchmarks[1].state, ResultState::Skipped(reason));
}

#[test]
fn a_benchmark_that_failed_once_has_failed() {
    let results = read("BenchmarkA-4 1 2 ns/op\n--- FAIL: BenchmarkA\n");
    assert_eq!(names(&results), ["A-4"]);
    assert!(matches!(
        results.benchmarks[0].state,
        ResultState::Failed(_)
    ));
    assert!(results.benchmarks[0].values.is_empty());
    let only = read("--- SKIP: BenchmarkB\nBenchmarkA 1 2 ns/op\n");
    assert_eq!(names(&only), ["B", "A"]);
    assert_eq!(
        only.benchmarks[0].state,
        ResultState::Skipped(String::new())
    );
}

#[test]
fn configuration_that_differs_keeps_equal_names_apart() {
    let text = "goos: linux\ncontender: old\nnote: x\nBenchmarkA 1 1 ns/op\nBenchmarkB 1 1 ns/op\n\
                contender: new\nBenchmarkA 1 2 ns/op\ncontender: old\nBenchmarkA 1 3 ns/op\n";
    let results = read(text);
    assert_eq!(
        names(&results),
        ["A (contender=old)", "B", "A (contender=new)"]
    );
    assert_eq!(results.benchmarks[0].values, [1.0, 3.0]);
    let packages = "pkg: a/x\nBenchmarkA 1 1 ns/op\npkg: a/y\nBenchmarkA 1 1 ns/op\n\
                    BenchmarkB 1 1 ns/op\n";
    assert_eq!(names(&read(packages)), ["a/x.A", "a/y.A", "B"]);
    let taken_back = "k: v\nBenchmarkA 1 1 ns/op\nk:\nBenchmarkA 1 1 ns/op\n";
    assert_eq!(names(&read(taken_back)), ["A (k=v)", "A"]);
}

#[test]
fn a_failure_is_that_of_its_package() {
    let text = "pkg: a\nBenchmarkP-8 1 1 ns/op\npkg: b\n--- FAIL: BenchmarkP\n    p.go:1: why\n\
                BenchmarkQ-8 1 1 ns/op\n";
    let results = read(text);
    assert_eq!(names(&results), ["a.P-8", "b.P-8", "Q-8"]);
    assert_eq!(results.benchmarks[0].state, ResultState::Measured);
    let why = ResultState::Failed("p.go:1: why".to_owned());
    assert_eq!(results.benchmarks[1].state, why);
}

#[test]
fn units_in_lines_of_their_own_are_columns_where_they_fit() {
    let text = "BenchmarkA 1 10 text-bytes\nBenchmarkA 1 20 data-bytes\n\
                BenchmarkA 1 11 text-bytes\nBenchmarkA 1 21 data-bytes\nBenchmarkA 1 9 x\n";
    let results = read(text);
    let bytes = |name| Metric::foreign(name, Unit::Bytes, Better::Unknown);
    let expected = [bytes("text-bytes"), bytes("data-bytes")];
    assert_eq!(results.benchmarks[0].metrics, expected);
    assert_eq!(results.benchmarks[0].values, [10.0, 20.0, 11.0, 21.0]);
}

#[test]
fn a_metric_that_is_no_number_is_left_out() {
    let results = read("BenchmarkA 1 5 ns/op NaN x -1 y +Inf z 1 w\n");
    assert_eq!(results.benchmarks[0].values, [5.0, 1.0]);
    let none = read("BenchmarkA 1 NaN x\n");
    assert!(matches!(none.benchmarks[0].state, ResultState::Failed(_)));
    assert!(none.benchmarks[0].processes.is_empty());
}

/// The states of the benchmarks of a text, and what could not be read of it.
fn states(text: &str) -> (Vec<(String, String)>, Vec<String>) {
    let results = read(text);
    let state = |one: &deadheat_import::ResultBenchmark| {
        let state = match &one.state {
            ResultState::Failed(why) => format!("failed: {why}"),
            ResultState::Skipped(why) => format!("skipped: {why}"),
            _ => format!("{:?}", one.values),
        };
        (one.name.clone(), state)
    };
    (
        results.benchmarks.iter().map(state).collect(),
        results.unread,
    )
}

#[track_caller]
fn holds(text: &str, expected: &[(&str, &str)], unread: &[&str]) {
    let (states, left) = states(text);
    let states: Vec<_> = states
        .iter()
        .map(|(name, state)| (&**name, &**state))
        .collect();
    assert_eq!(
        (&states[..], &left[..]),
        (
            expected,
            &unread
                .iter()
                .map(|part| (*part).to_owned())
                .collect::<Vec<_>>()[..]
        ),
        "{text}"
    );
}

#[test]
fn a_broken_number_costs_its_line_and_nothing_else() {
    let good = "goos: linux\nBenchmarkB-8 100 60 ns/op\n";
    for (line, why) in [
        ("BenchmarkA-8 1 5,1 ns/op", "'5,1' is not a number"),
        (
            "BenchmarkA-8 1.5 5 ns/op",
            "'1.5' is not a number of iterations",
        ),
        ("BenchmarkA-8 1 -5 ns/op", "-5 ns/op is not a time"),
        ("BenchmarkA-8 1 +Inf ns/op", "inf ns/op is not a time"),
        ("BenchmarkA-8 10 NaN ns/op", "NaN ns/op is not a time"),
        ("BenchmarkA-8 1 5", "the number 5 has no unit"),
        ("BenchmarkA-8 1", "BenchmarkA-8 has no measurement"),
        (
            "BenchmarkA-8   \t",
            "BenchmarkA-8 began, but printed no numbers",
        ),
        ("BenchmarkA-8   \tpanic: not now", "panic: not now"),
    ] {
        let failed = format!("failed: {why}");
        holds(
            &format!("{good}{line}\n"),
            &[("B-8", "[60.0]"), ("A-8", &failed)],
            &[],
        );
        // Other numbers of the same benchmark stand.
        let again = format!("{good}BenchmarkA-8 1 7 ns/op\n{line}\nPASS\n");
        let unread = format!("line 4: {why}");
        holds(&again, &[("B-8", "[60.0]"), ("A-8", "[7.0]")], &[&unread]);
    }
    assert_eq!(
        error("goos: linux\nBenchmarkA 1 5"),
        "a.txt:2: the number 5 has no unit"
    );
}

#[test]
fn what_a_program_prints_into_its_results_does_no_harm() {
    let b = "BenchmarkB-8   \t     100\t        60 ns/op\n";
    for (text, a) in [
        (
            "BenchmarkA-8   \t3 workers started\n     100\t        50 ns/op\n",
            "[50.0]",
        ),
        (
            "BenchmarkA-8   \tlistening on :0\n     100\t        50 ns/op\n",
            "[50.0]",
        ),
        (
            "BenchmarkA-8   \tready\nkey: value\nmore\ndone 100\t 50 ns/op\n",
            "[50.0]",
        ),
        (
            "BenchmarkA-8   \tready     100\t        50 ns/op\n",
            "[50.0]",
        ),
        (
            "BenchmarkA-8   \t\n     100\t        50 ns/op\t  3 x\n",
            "[50.0, 3.0]",
        ),
    ] {
        holds(
            &format!("goos: linux\n{text}{b}PASS\n"),
            &[("A-8", a), ("B-8", "[60.0]")],
            &[],
        );
    }
    holds(
        "BenchmarkB-8 100 60 ns/op\tpanic: not now\nBenchmarkB-8 2\n",
        &[("B-8", "[60.0]")],
        &[
            "line 1: after the numbers of BenchmarkB-8: 'panic:' is not a number",
            "line 2: BenchmarkB-8 has no measurement",
        ],
    );
    holds(
        "BenchmarkTime 3 seconds passed\nBenchmarkB-8 100 60 ns/op\n",
        &[("B-8", "[60.0]")],
        &["line 1: 'seconds' is not a number"],
    );
}

#[test]
fn a_benchmark_that_fails_or_skips_itself_after_its_first_round_says_why() {
    let around = |text: &str| {
        format!(
            "goos: linux\nBenchmarkA-8 \t 200\t 93 ns/op\n{text}BenchmarkC-8 \t 200\t 95 ns/op\nFAIL\n"
        )
    };
    for (text, late) in [
        (
            "BenchmarkLate-8    \t--- FAIL: BenchmarkLate-8\n    a_test.go:4: no file\n",
            "failed: a_test.go:4: no file",
        ),
        (
            "BenchmarkLate-8    \t--- SKIP: BenchmarkLate-8\n    a_test.go:4: no gpu\n",
            "skipped: a_test.go:4: no gpu",
        ),
        (
            "BenchmarkLate-8 \t       0\t   NaN ns/op\n--- BENCH: BenchmarkLate-8\n    a_test.go:7: no gpu\n",
            "skipped: a_test.go:7: no gpu",
        ),
        (
            "BenchmarkLate-8 \t       0\t   NaN ns/op\t 0 B/op\n",
            "skipped: ",
        ),
        (
            "BenchmarkLate-8    \tlogged\n--- FAIL: BenchmarkLate\n    a_test.go:4: no file\n",
            "failed: a_test.go:4: no file",
        ),
    ] {
        holds(
            &around(text),
            &[("A-8", "[93.0]"), ("Late-8", late), ("C-8", "[95.0]")],
            &[],
        );
    }
}

#[test]
fn a_benchmark_that_began_and_never_ended_has_failed() {
    let a = "BenchmarkA-8   \t     100\t        50 ns/op\n";
    for (text, why) in [
        (
            "BenchmarkB-8   \t",
            "BenchmarkB-8 began, but printed no numbers",
        ),
        (
            "BenchmarkB-8   \tlistening\nmore\n",
            "BenchmarkB-8 began, but printed no numbers",
        ),
        (
            "BenchmarkB-8   \t\npanic: out of range\n\ngoroutine 1 [running]:\nexit status 2\nFAIL\tx\t0.1s\n",
            "panic: out of range",
        ),
        // With -v the name stands alone first.
        (
            "BenchmarkB\npanic: out of range\nFAIL\tx\t0.1s\n",
            "panic: out of range",
        ),
        ("BenchmarkB\n", "BenchmarkB began, but printed no numbers"),
    ] {
        let failed = format!("failed: {why}");
        holds(
            &format!("{a}{text}"),
            &[("A-8", "[50.0]"), ("B-8", &failed)],
            &[],
        );
    }
    // A benchmark whose parts were not chosen ends without numbers, too.
    holds(&format!("{a}BenchmarkB\nPASS\n"), &[("A-8", "[50.0]")], &[]);
    let unbuilt =
        format!("FAIL\texample.org/b [build failed]\n{a}ok  \tx\t0.1s [no tests to run]\n");
    holds(
        &unbuilt,
        &[("A-8", "[50.0]")],
        &["line 1: the package example.org/b was not built"],
    );
}

#[test]
fn what_go_test_json_wraps_is_read_package_by_package() {
    let event = |package: &str, output: &str| {
        serde_json::json!({"Time": "2026-03-01T08:00:00Z", "Action": "output", "Package": package, "Output": output})
            .to_string()
    };
    let lines = [
        "# example.org/c".to_owned(),
        event("example.org/a", "pkg: example.org/a\n"),
        event("example.org/a", "BenchmarkA-8   \t"),
        event("example.org/b", "pkg: example.org/b\n"),
        event(
            "example.org/b",
            "BenchmarkB-8   \t     100\t       70 ns/op\n",
        ),
        event("example.org/a", "     100\t       120 ns/op\n"),
        event("example.org/a", "PASS\n"),
        r#"{"Action": "pass", "Package": "example.org/a"}"#.to_owned(),
    ];
    for begin in [0, 1] {
        holds(
            &lines[begin..].join("\n"),
            &[("A-8", "[120.0]"), ("B-8", "[70.0]")],
            &[],
        );
    }
    let logged = "{\"level\":\"info\"}\n[INFO] ready\ngoos: linux\nBenchmarkA-8 100 50 ns/op\n";
    holds(logged, &[("A-8", "[50.0]")], &[]);
}

#[test]
fn other_lines_are_passed_over_and_reading_goes_on() {
    let text = "hello\nBenchmarkA\nBenchmarkA: log\nBenchmarks 5 done\n\n\u{1}\u{2}\n\
                Unit\nUnit x\nUnit x better\nBenchmarkA 1 5 ns/op\r\nPASS\n";
    assert_eq!(read(text).benchmarks[0].values, [5.0]);
    let bytes = b"\xff\xfe log\nBenchmark\xff-2 1 5 ns/op\n";
    let results = read_results_from(Path::new("a.txt"), bytes).unwrap();
    assert_eq!(names(&results), ["\u{fffd}-2"]);
    let marked = read("\u{feff}BenchmarkA 1 5 ns/op");
    assert_eq!(names(&marked), ["A"]);
}

#[test]
fn a_text_without_results_is_an_error() {
    assert_eq!(
        error("goos: linux\nBenchmarkA\nPASS"),
        "a.txt: lines 1 to 3: none of these lines is the result of a benchmark, \
         such as 'BenchmarkSort-8 1000 2045 ns/op'; go test runs benchmarks with -bench=."
    );
    assert_eq!(
        error("# example.org/a\n./a.go:3:1: syntax error\nFAIL\texample.org/a [build failed]\n"),
        "a.txt:3: the package example.org/a was not built"
    );
}

#[test]
fn a_program_that_prints_many_keys_does_not_tell_everything_apart() {
    let mut text = String::new();
    for line in 0..1_000 {
        text.push_str(&format!("key{line}: x\nBenchmarkA 1 5 ns/op\n"));
    }
    let results = read(&text);
    let rows: usize = results.benchmarks.iter().map(|b| b.processes.len()).sum();
    assert_eq!((rows, results.benchmarks.len()), (1_000, 32));
}
