//! `deadheat compare --compat`, and the same program by the name of `compare.py`: every byte as the
//! original writes it, but for the last place of numbers in a dump.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_deadheat")
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/compare")
}

fn compat(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.args(["compare", "--compat"]).args(arguments);
    command.current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn results(rows: &str) -> String {
    format!(r#"{{"context": {{"json_schema_version": 1}}, "benchmarks": [{rows}]}}"#)
}

const ROW: &str = r#"{"name": "BM_a", "real_time": 10, "cpu_time": 9.5, "time_unit": "ns"}"#;

/// Exit code, standard output, and the one line on standard error that speaks of what is expected.
#[track_caller]
fn ends(output: &Output, code: i32, stdout: &str, said: &str) {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert_eq!(text(&output.stdout), stdout);
    assert!(stderr.contains(said), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// Compares two dumps byte by byte, but for the last place of numbers: NumPy has a logarithm of its
/// own, from which the geometric mean is made.
#[track_caller]
fn assert_same_but_for_last_digits(dump: &str, want: &str) {
    assert_eq!(dump.lines().count(), want.lines().count());
    for (line, want) in dump.lines().zip(want.lines()) {
        if line == want {
            continue;
        }
        let split = |line: &str| -> (String, f64) {
            let (key, number) = line.trim_end_matches(',').split_once(": ").unwrap();
            (key.to_owned(), number.parse().unwrap())
        };
        let ((key, number), (want_key, want_number)) = (split(line), split(want));
        assert_eq!(key, want_key);
        let units = number.to_bits().abs_diff(want_number.to_bits());
        assert!(units <= 1, "{line} {want}");
    }
}

#[test]
fn every_case_of_the_original_comes_out_byte_by_byte() {
    let mut cases = 0;
    for entry in fs::read_dir(golden()).unwrap() {
        let case = entry.unwrap().path();
        if !case.is_dir() {
            continue;
        }
        cases += 1;
        let read = |name: &str| fs::read(case.join(name)).ok();
        let arguments = String::from_utf8(read("args").unwrap()).unwrap();
        let dumped = tempfile::tempdir().unwrap();
        let dump = dumped.path().join("dump.json");
        let mut all = vec!["-d", dump.to_str().unwrap()];
        all.extend(arguments.lines());
        let output = compat(&case, &all);
        let name = case.display();
        assert_eq!(
            text(&output.stdout),
            text(&read("expected.stdout").unwrap()),
            "{name}"
        );
        let code = output.status.code().unwrap().to_string();
        assert_eq!(code, text(&read("expected.exit").unwrap()).trim(), "{name}");
        let want = read("expected.dump.json").map(|dump| text(&dump).to_owned());
        let dump = fs::read_to_string(dump).ok();
        assert_eq!(dump.is_some(), want.is_some(), "{name}");
        assert_same_but_for_last_digits(&dump.unwrap_or_default(), &want.unwrap_or_default());
    }
    assert_eq!(cases, 18);
}

#[test]
fn by_the_name_of_compare_py_it_is_compare_py() {
    let home = tempfile::tempdir().unwrap();
    let link = home.path().join("compare.py");
    symlink(program(), &link).unwrap();
    let case = golden().join("single");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&link);
        command.args(arguments).current_dir(&case);
        command.output().unwrap()
    };
    let output = run(&["--no-color", "benchmarks", "a.json", "b.json"]);
    let want = fs::read_to_string(case.join("expected.stdout")).unwrap();
    ends(&output, 0, &want, "");
    // Its own words name it as it was called.
    let output = run(&["benchmarks", "a.json"]);
    ends(&output, 2, "", "Usage: compare.py benchmarks");
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("\nUsage: compare.py"));
}

#[test]
fn help_goes_to_standard_output() {
    let home = folder(&[]);
    for (arguments, code) in [(vec!["--help"], 0), (vec![], 1), (vec!["filters", "-h"], 0)] {
        let output = compat(home.path(), &arguments);
        assert_eq!(output.status.code(), Some(code));
        assert!(text(&output.stdout).contains("\nUsage: deadheat compare --compat"));
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn an_input_that_is_none_is_refused_as_the_original_refuses_it() {
    let good = results(ROW);
    let home = folder(&[
        ("good.json", &good),
        ("text.txt", "Benchmark   Time"),
        ("cut.json", &good[..good.len() - 2]),
        ("mark.json", &format!("\u{feff}{good}")),
        ("control.json", &good.replace("BM_a", "BM\ta")),
        ("empty.json", ""),
    ]);
    fs::create_dir(home.path().join("folder")).unwrap();
    let run = |old: &str, new: &str| compat(home.path(), &["benchmarks", old, new]);
    for (name, said) in [
        ("text.txt", "text.txt: line 1, column 1"),
        ("cut.json", "cut.json: line 1, column"),
        ("mark.json", "byte-order mark"),
        ("control.json", "must be written as an escape"),
        ("empty.json", "the text ends here"),
    ] {
        let line = format!(
            "Invalid input file: '{name}' does not name a valid benchmark executable or JSON file\n"
        );
        ends(&run(name, "good.json"), 1, &line, said);
        ends(&run("good.json", name), 1, &line, said);
    }
    let output = run("missing.json", "good.json");
    ends(&output, 2, "", "test_baseline: cannot read missing.json");
    ends(
        &run("good.json", "folder"),
        2,
        "",
        "test_contender: cannot read folder",
    );
    let line = "Invalid input file: '/dev/null' does not name a file\n";
    ends(&run("good.json", "/dev/null"), 1, line, "");
    let line = "Invalid input file: '<stdin>' does not exist\n";
    ends(&run("-", "good.json"), 1, line, "");
}

#[test]
fn where_the_original_ends_in_a_traceback_one_line_says_where_and_why() {
    let cases = [
        (
            r#"{"real_time": 1, "cpu_time": 1, "time_unit": "ns"}"#,
            "benchmarks[0].name: is missing",
        ),
        (
            r#"{"name": "BM_a", "cpu_time": 1, "time_unit": "ns"}"#,
            "benchmarks[0].real_time: is missing",
        ),
        (
            r#"{"name": "BM_a", "real_time": 1, "cpu_time": 1}"#,
            "benchmarks[0].time_unit: is missing",
        ),
        (
            r#"{"name": "BM_a", "real_time": 1, "cpu_time": "1", "time_unit": "ns"}"#,
            "benchmarks[0].cpu_time: should be a number but is a str",
        ),
        (
            r#"{"name": "BM_b", "real_time": 1, "cpu_time": 1, "time_unit": "hours"}"#,
            "benchmarks[0].time_unit: should be one of",
        ),
        (
            r#"{"name": [], "real_time": 1, "cpu_time": 1, "time_unit": "ns"}"#,
            "benchmarks[0].name",
        ),
        ("7", "benchmarks[0]: should be an object but is a int"),
    ];
    for (row, said) in cases {
        let home = folder(&[("a.json", &results(ROW)), ("b.json", &results(row))]);
        let output = compat(home.path(), &["benchmarks", "a.json", "b.json"]);
        ends(&output, 1, "", &format!("b.json: {said}"));
        assert_eq!(text(&output.stderr).lines().count(), 1);
    }
    let home = folder(&[
        ("a.json", &results(ROW)),
        ("b.json", "[]"),
        ("c.json", "{}"),
    ]);
    let run = |new: &str| compat(home.path(), &["benchmarks", "a.json", new]);
    ends(
        &run("b.json"),
        1,
        "",
        "b.json: the file should hold an object",
    );
    ends(&run("c.json"), 1, "", "c.json: there is no \"benchmarks\"");
}

#[test]
fn another_schema_is_refused_with_the_words_of_the_original() {
    let other = results(ROW).replace("version\": 1", "version\": 2");
    let home = folder(&[("a.json", &results(ROW)), ("b.json", &other)]);
    let output = compat(home.path(), &["benchmarks", "a.json", "b.json"]);
    let line = "In b.json, got unsupported JSON schema version: 2, expected 1\n";
    ends(&output, 1, line, "");
}

#[test]
fn options_for_executables_have_no_effect_on_json_but_for_a_filter_and_a_refused_format() {
    let home = folder(&[("a.json", &results(ROW))]);
    let first = |option: &str, code: i32| {
        let output = compat(home.path(), &["benchmarks", "a.json", "a.json", option]);
        assert_eq!(output.status.code(), Some(code), "{option}");
        text(&output.stdout).lines().next().unwrap().to_owned()
    };
    let none = "Comparing a.json to a.json";
    assert_eq!(first("--benchmark_filter=BM", 0), none);
    let warning = |option: &str| {
        format!("WARNING: passing {option} has no effect since both inputs are JSON")
    };
    for (option, code) in [
        ("--v=1", 0),
        ("--benchmark_out_format=json", 0),
        ("--benchmark_out_format=csv", 1),
        ("--benchmark_out_format=", 1),
    ] {
        assert_eq!(first(option, code), warning(option));
    }
}

#[test]
fn numbers_that_are_none_go_through_the_table_and_the_dump() {
    let rows = r#"{"name": "n", "real_time": NaN, "cpu_time": Infinity, "time_unit": "ns"},
        {"name": "n", "real_time": 1, "cpu_time": 1, "time_unit": "ns"},
        {"name": "n", "real_time": 2, "cpu_time": 2, "time_unit": "ns"}"#;
    let home = folder(&[("a.json", &results(rows))]);
    let output = compat(
        home.path(),
        &["--no-color", "-d", "dump", "benchmarks", "a.json", "a.json"],
    );
    assert_eq!(output.status.code(), Some(0));
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>();
    assert_eq!(words(3), ["n", "+nan", "+nan", "nan", "nan", "inf", "inf"]);
    assert_eq!(words(6)[..3], ["n_pvalue", "nan", "1.0000"]);
    assert_eq!(words(7)[..2], ["OVERALL_GEOMEAN", "+nan"]);
    let dump = fs::read_to_string(home.path().join("dump")).unwrap();
    assert!(dump.contains("\"real_time\": NaN"));
    assert!(dump.contains("\"cpu_time\": Infinity"));
    assert!(dump.contains("\"time_pvalue\": NaN"));
}

#[test]
fn two_sides_without_anything_in_common_are_an_empty_table() {
    let home = folder(&[("a.json", &results("")), ("b.json", &results(ROW))]);
    let output = compat(
        home.path(),
        &["-d", "dump", "benchmarks", "a.json", "b.json"],
    );
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout).lines().count(), 3);
    assert_eq!(fs::read_to_string(home.path().join("dump")).unwrap(), "[]");
}

#[test]
fn a_filter_that_python_refuses_ends_it() {
    let home = folder(&[("a.json", &results(ROW))]);
    let run = |old: &str, new: &str| compat(home.path(), &["filters", "a.json", old, new]);
    ends(&run("BM_(", "BM_"), 1, "", "the filter \"BM_(\"");
    ends(&run(r"BM_\w", "BM_"), 1, "", r"bad escape \w");
    assert_eq!(run("BM_.", "BM_a").status.code(), Some(0));
}

#[test]
fn a_name_that_cannot_be_printed_ends_the_table_before_it() {
    let row = ROW.replace("BM_a", r"BM_\ud800");
    let home = folder(&[("a.json", &results(&format!("{ROW}, {row}")))]);
    let output = compat(home.path(), &["benchmarks", "a.json", "a.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 4);
}

#[test]
fn a_dump_that_cannot_be_written_comes_after_the_table() {
    let home = folder(&[("a.json", &results(ROW))]);
    let output = compat(
        home.path(),
        &["-d", "no/such/folder", "benchmarks", "a.json", "a.json"],
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 5);
    assert!(text(&output.stderr).contains("no/such/folder"));
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let rows = vec![ROW; 20_000].join(",");
    let home = folder(&[("a.json", &results(&rows))]);
    let mut child = Command::new(program())
        .args(["compare", "--compat", "benchmarks", "a.json", "a.json"])
        .current_dir(home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(120));
    assert_eq!(text(&output.stderr), "");
}

/// An executable that prints its arguments, and does as its environment says.
fn executable(folder: &Path, name: &str) {
    const SOURCE: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **arguments) {
    const char *out = NULL, *what = getenv("BENCH");
    for (int i = 1; i < count; i++) {
        printf("[%s]", arguments[i]);
        if (strncmp(arguments[i], "--benchmark_out=", 16) == 0) out = arguments[i] + 16;
    }
    printf("\n");
    fflush(stdout);
    if (what && strcmp(what, "fails") == 0) return 7;
    if (what && strcmp(what, "crashes") == 0) raise(SIGSEGV);
    if (what && strcmp(what, "silent") == 0) return 0;
    FILE *file = fopen(out, "w");
    fprintf(file, "{\"context\": {}, \"benchmarks\": [{\"name\": \"BM_a\", \"real_time\": 10,"
                  "\"cpu_time\": 10, \"time_unit\": \"ns\"}]}");
    fclose(file);
    return 0;
}
"#;
    let mut compiler = Command::new("cc")
        .args(["-x", "c", "-", "-o", name])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = compiler.stdin.take().unwrap();
    stdin.write_all(SOURCE.as_bytes()).unwrap();
    drop(stdin);
    assert!(compiler.wait().unwrap().success());
}

/// Runs where temporary files go to a folder of their own, and gives back what is left in it.
fn with_executable(home: &Path, bench: &str, arguments: &[&str]) -> (Output, usize) {
    let temporary = home.join("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let output = Command::new(program())
        .args(["compare", "--compat", "--no-color"])
        .args(arguments)
        .current_dir(home)
        .env("TMPDIR", &temporary)
        .env("BENCH", bench)
        .output()
        .unwrap();
    (output, fs::read_dir(temporary).unwrap().count())
}

/// Standard output with the names of temporary files made the same.
fn without_names(output: &Output) -> String {
    let mut rest = text(&output.stdout);
    let mut same = String::new();
    while let Some(at) = rest.find("/temporary/tmp") {
        let start = rest[..at].rfind("out=").unwrap() + 4;
        same += &rest[..start];
        same += "TMP";
        rest = &rest[at + "/temporary/tmp".len() + 8..];
    }
    same + rest
}

#[test]
fn executables_are_run_one_after_the_other_and_compared() {
    let home = folder(&[("b.json", &results(ROW))]);
    executable(home.path(), "bench");
    let (output, left) = with_executable(
        home.path(),
        "",
        &["-a", "benchmarks", "./bench", "./bench", "--x=1"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(left, 0);
    let printed = without_names(&output);
    let lines: Vec<&str> = printed.lines().collect();
    let passed = "[--x=1][--benchmark_display_aggregates_only=true][--benchmark_out=TMP]";
    let running =
        "RUNNING: ./bench --x=1 --benchmark_display_aggregates_only=true --benchmark_out=TMP";
    // As with the original, what is written to a pipe comes after what the executables write there.
    assert_eq!(
        lines[..5],
        [
            passed,
            passed,
            running,
            running,
            "Comparing ./bench to ./bench"
        ]
    );
    assert_eq!(lines.len(), 8);

    let (output, _) = with_executable(
        home.path(),
        "",
        &["benchmarksfiltered", "./bench", "BM_a", "b.json", "BM_."],
    );
    let printed = without_names(&output);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "[--benchmark_filter=BM_a][--benchmark_out=TMP]");
    assert_eq!(
        lines[2],
        "Comparing BM_a (from ./bench) to BM_. (from b.json)"
    );
    assert!(lines[5].starts_with("[BM_a vs. BM_.] "));
}

#[test]
fn an_output_file_of_the_user_is_written_and_kept() {
    let home = folder(&[]);
    executable(home.path(), "bench");
    let (output, _) = with_executable(
        home.path(),
        "",
        &[
            "benchmarks",
            "./bench",
            "./bench",
            "--benchmark_out=mine.json",
        ],
    );
    assert_eq!(output.status.code(), Some(0));
    let warning = "WARNING: '--benchmark_out=mine.json' will be passed to both benchmarks causing it to be overwritten\n";
    assert!(text(&output.stdout).contains(warning));
    assert!(home.path().join("mine.json").exists());
    // The second side is read when the first has run.
    let (output, _) = with_executable(
        home.path(),
        "",
        &[
            "benchmarks",
            "./bench",
            "mine.json",
            "--benchmark_out=mine.json",
        ],
    );
    assert_eq!(output.status.code(), Some(0));
    let mut lines = text(&output.stdout).lines();
    let line = lines.find(|line| line.starts_with("BM_a "));
    let words: Vec<&str> = line.unwrap().split_whitespace().collect();
    assert_eq!(
        words,
        ["BM_a", "+0.0000", "+0.0000", "10", "10", "10", "10"]
    );
}

#[test]
fn an_executable_that_fails_hands_on_its_exit_code_and_leaves_no_file() {
    let home = folder(&[("b.json", &results(ROW))]);
    executable(home.path(), "bench");
    for (bench, code, said) in [
        ("fails", 7, ""),
        ("crashes", 245, ""),
        (
            "silent",
            1,
            "./bench: its output is not JSON: line 1, column 1",
        ),
    ] {
        let (output, left) =
            with_executable(home.path(), bench, &["benchmarks", "./bench", "b.json"]);
        assert_eq!(output.status.code(), Some(code), "{bench}");
        assert_eq!(left, 0, "{bench}");
        let failed = text(&output.stdout).ends_with("TEST FAILED...\n");
        assert_eq!(failed, bench != "silent");
        assert!(text(&output.stderr).contains(said));
    }
    // A name without a slash is looked up in the path, where it is not.
    let (output, _) = with_executable(home.path(), "", &["benchmarks", "bench", "b.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("bench: it cannot be started"));
}
