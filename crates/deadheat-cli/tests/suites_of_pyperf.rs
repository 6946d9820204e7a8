//! Scripts of pyperf, raced as they are, and those that go wrong.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use common::{Track, lives, text, wait_until};
use deadheat_testing::{needs, skip};
use serde_json::Value;

/// The Python of an environment with pyperf, which stays beside the build; or, where it is not here
/// and cannot be fetched, what is said of it. It is made once, whichever test comes first.
static PYTHON: LazyLock<Result<PathBuf, String>> = LazyLock::new(environment);

fn environment() -> Result<PathBuf, String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().unwrap();
    let environment = repository.join("target/suites/pyperf");
    let python = environment.join("bin/python");
    let done = |command: &mut Command| {
        let done = command.output().map_err(|error| error.to_string())?;
        match done.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    };
    if done(Command::new(&python).args(["-c", "import pyperf"])).is_err() {
        done(Command::new("python3").args(["-m", "venv", text(&environment)]))?;
        let words = ["-m", "pip", "install", "--quiet", "--retries", "0"];
        let pyperf = "pyperf==2.11.0";
        done(Command::new(&python).args(words).arg(pyperf))?;
    }
    Ok(python)
}

/// That Python, or the end of the test.
macro_rules! python {
    () => {{
        needs!("python3");
        match &*PYTHON {
            Ok(python) => text(python),
            Err(problem) => {
                skip!("pyperf cannot be fetched: {problem}");
                return;
            }
        }
    }};
}

/// A folder with the script of `examples/suites/pyperf`.
fn track() -> Track {
    let track = Track::new();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/suites/pyperf/sums.py");
    fs::copy(suite, track.path("sums.py")).unwrap();
    track
}

/// A race as JSON, in a folder of its own for temporary files in which nothing is left.
#[track_caller]
fn raced(track: &Track, code: i32, words: &[&str]) -> Value {
    let mut command = track.command();
    command.args(["bench", "--json", "-q"]).args(words);
    let done = track.leaves_nothing(command.env_remove("PYTHONHASHSEED"));
    assert_eq!(done.code, Some(code), "{done:?}");
    done.json()
}

/// The names of the benchmarks.
fn names(answer: &Value) -> Vec<&str> {
    let benchmarks = answer["benchmarks"].as_array().unwrap().iter();
    benchmarks
        .map(|one| one["benchmark"].as_str().unwrap())
        .collect()
}

const ODD: &str = "odd/name with \"quotes\" (and) [a-z]* $'";

#[test]
fn a_script_of_pyperf_races_as_it_is() {
    let python = python!();
    let track = track();
    let [old, new] = ["", " --steps 300"].map(|more| format!("{python} sums.py{more}"));
    let short = ["--max-replicates", "1", "--", "--min-time", "0.002"];
    let answer = raced(&track, 3, &[&[&*old, &new], &short[..]].concat());
    let expected = [
        "plain",
        ODD,
        "sized/100",
        "sized/1000",
        "ten at once",
        "async",
        "timeit",
        "command",
    ];
    assert_eq!(names(&answer), expected, "{answer}");
    let failures = answer["failures"].to_string();
    for told in [
        "task 8 (ValueError: out of luck)",
        "ended with exit code 1",
        "sums.py --min-time 0.002 --worker --worker-task=8 -w 1 -n 1",
    ] {
        assert!(failures.contains(told), "{told}: {failures}");
    }
    let left_out = answer["left_out"].to_string();
    for told in ["gone", "words", "their unit is 'byte'"] {
        assert!(left_out.contains(told), "{told}: {left_out}");
    }
}

/// Where the Python package lies.
const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python");

#[test]
fn functions_are_called_in_workers_where_the_package_is_installed() {
    let python = python!();
    let track = track();
    let [old, new] = ["", " --steps 300"].map(|more| format!("{python} sums.py{more}"));
    let bench = |words: &[&str]| {
        let mut command = track.command();
        command.args(["bench", &old, &new, "--json"]).args(words);
        track.leaves_nothing(command.env("PYTHONPATH", PACKAGE))
    };
    let save = track.path("run.jsonl");
    let words = ["--max-replicates", "6", "--save", text(&save)];
    let done = bench(&words);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(!done.stderr.contains("hint"), "{}", done.stderr);
    let answer = done.json();
    let expected = [
        "plain",
        ODD,
        "sized/100",
        "sized/1000",
        "ten at once",
        "async",
        "timeit",
    ];
    assert_eq!(names(&answer)[..7], expected, "{answer}");
    let failed = answer["failures"][0]["message"].as_str().unwrap();
    assert!(failed.contains("ValueError: out of luck"), "{failed}");
    let run = fs::read_to_string(&save).unwrap();
    let header: Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
    let contenders = &header["plan"]["benchmarks"][0]["contenders"];
    assert!(contenders[0]["worker"].is_object(), "{contenders}");

    // What only pyperf heeds takes its launches, and so does its harness by name.
    for words in [
        &["--harness", "pyperf", "plain"][..],
        &["plain", "--", "-n", "2"],
    ] {
        let save = track.path("launches.jsonl");
        let more = ["--max-replicates", "1", "--save", text(&save)];
        assert_eq!(bench(&[&more, words].concat()).code, Some(0));
        let run = fs::read_to_string(&save).unwrap();
        assert!(
            run.lines().next().unwrap().contains("\"pyperf\":{"),
            "{run}"
        );
        fs::remove_file(save).unwrap();
    }
}

#[test]
fn a_missing_package_is_named_with_what_it_would_bring() {
    let python = python!();
    let track = script("import pyperf\npyperf.Runner().bench_func('sum', sum, range(9))\n");
    let side = format!("{python} bench.py");
    let done = track.run(&["bench", &side, &side, "--list"]);
    let hint = &["hint: install the package deadheat for", "seconds per row"];
    for words in hint {
        assert!(done.stderr.contains(words), "{}", done.stderr);
    }
    let quiet = track.run(&["bench", &side, &side, "--list", "-q"]);
    assert!(!quiet.stderr.contains("hint"), "{}", quiet.stderr);
}

#[test]
fn loops_are_found_once_and_are_the_same_on_both_sides() {
    let python = python!();
    let track = track();
    let save = track.path("run.jsonl");
    let [old, new] = ["", " --steps 300"].map(|more| format!("{python} sums.py{more}"));
    let words = [&old, &new, "ten at once", "--max-replicates", "6"];
    let words = [&words[..], &["--save", text(&save)]].concat();
    let answer = raced(&track, 0, &words);
    assert_eq!(answer["benchmarks"][0]["verdict"], "slower", "{answer}");
    let warnings = answer["benchmarks"][0]["warnings"].to_string();
    assert!(!warnings.contains("placement"), "{warnings}");
    let run = fs::read_to_string(&save).unwrap();
    let lines = run.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let sides = lines[0]["plan"]["benchmarks"][0]["contenders"]
        .as_array()
        .unwrap();
    let loops = &sides[0]["pyperf"]["length"]["iterations"];
    assert_eq!(*loops, sides[1]["pyperf"]["length"]["iterations"], "{run}");
    assert_eq!(sides[0]["pyperf"]["benchmark"], "4 ten at once");
    // Ten chains in every loop.
    let sample = lines
        .iter()
        .find_map(|line| line["samples"].as_array()?.first());
    assert_eq!(
        sample.unwrap()[3].as_u64().unwrap(),
        10 * loops.as_u64().unwrap()
    );
}

#[test]
fn one_script_races_in_two_environments_and_the_loops_and_values_of_the_user_are_heeded() {
    let python = python!();
    let track = track();
    let sides = ["sums.py", "--python", python, "--python", python];
    let seeds = "import os, pyperf
runner = pyperf.Runner()
with open('seeds', 'a') as file:
    print(os.environ.get('PYTHONHASHSEED', '-'), file=file)
runner.bench_func('sum', sum, range(1000))
";
    fs::write(track.path("sums.py"), seeds).unwrap();
    let save = track.path("run.jsonl");
    let more = ["--max-replicates", "2", "--save", text(&save), "--"];
    let words = [&sides[..], &more, &["-n2", "-l", "2^6", "-w3"]].concat();
    raced(&track, 0, &words);
    let run = fs::read_to_string(&save).unwrap();
    let header: Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
    let calls = &header["plan"]["benchmarks"][0]["contenders"][0]["pyperf"];
    assert_eq!(calls["length"]["iterations"], 64, "{header}");
    assert_eq!(calls["repetitions"], 2, "{header}");
    // The last eight launches are those of two replicates, before which either may be primed.
    let seeds = fs::read_to_string(track.path("seeds")).unwrap();
    let seeds: Vec<&str> = seeds.lines().collect();
    let (first, last) = (seeds[seeds.len() - 6], seeds[seeds.len() - 1]);
    assert_eq!(seeds[seeds.len() - 4..], [last; 4], "{seeds:?}");
    assert!(last.len() == 10 && first != last, "{seeds:?}");
}

#[test]
fn two_families_of_one_script_race_each_by_its_own_task() {
    let python = python!();
    let track = script(
        "import pyperf\nrunner = pyperf.Runner()\nrunner.bench_func('list/9', sum, [1] * 9)\n\
         runner.bench_func('range/9', sum, range(9))\n",
    );
    let save = track.path("run.jsonl");
    let side = format!("{python} bench.py");
    let words = [&side, "list", "range", "--save", text(&save)];
    let more = ["--max-replicates", "1", "--", "--min-time=0.001"];
    raced(&track, 0, &[&words[..], &more].concat());
    let run = fs::read_to_string(&save).unwrap();
    let header: Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
    let sides = header["plan"]["benchmarks"][0]["contenders"].as_array();
    let known = sides
        .unwrap()
        .iter()
        .map(|side| &side["pyperf"]["benchmark"]);
    assert_eq!(known.collect::<Vec<_>>(), ["0 list/9", "1 range/9"]);
}

/// This script, in a folder of its own.
fn script(lines: &str) -> Track {
    let track = Track::new();
    fs::write(track.path("bench.py"), lines).unwrap();
    track
}

#[test]
fn scripts_that_cannot_be_raced_are_told_with_the_reason() {
    let python = python!();
    let bench = |track: &Track, python: &str, more: &[&str]| {
        let side = format!("{python} bench.py");
        track.run(&[&["bench", &side, &side], more].concat())
    };
    let none = script("import pyperf_that_nobody_has\n");
    let said = &["No module named 'pyperf_that_nobody_has'"];
    bench(&none, python, &[]).fails_with(3, said);
    bench(&none, python, &["--harness", "pyperf"]).fails_with(3, said);
    bench(&Track::new(), python, &[]).fails_with(3, &["can't open file"]);
    // One of another kind that reads its arguments with argparse.
    let other = script("import argparse\nargparse.ArgumentParser().parse_args()\n");
    let neither = &["lists no benchmarks", "unrecognized arguments"];
    bench(&other, python, &[]).fails_with(3, neither);
    let empty = script("import pyperf\npyperf.Runner().parse_args()\n");
    bench(&empty, python, &[]).fails_with(2, &["holds a benchmark"]);

    let twice = script(
        "import pyperf\nrunner = pyperf.Runner()\nfor _ in range(2):\n    \
         runner.bench_func('twice', sum, range(9))\nrunner.bench_func('once', sum, range(9))\n",
    );
    let listed = bench(&twice, python, &["--list"]);
    let listed = &listed.succeeds().stdout;
    assert!(listed.starts_with("once: benchmark\n"), "{listed}");
    assert!(
        listed.contains("has 2 benchmarks of this name): twice"),
        "{listed}"
    );
    for (words, told) in [
        (
            &["--rigorous"][..],
            "--rigorous: a race launches each benchmark separately",
        ),
        (&["-o", "x.json"], "--output: a race launches"),
        (&["-p3"], "--processes: --max-replicates limits"),
        (&["--track-memory"], "--track-memory: a race launches"),
        (
            &["--timeout=3"],
            "--timeout: leave it out; deadheat's own --timeout limits",
        ),
    ] {
        let words = [&["--"], words].concat();
        bench(&twice, python, &words).fails_with(2, &[told]);
    }
    assert!(!twice.path("x.json").exists());
}

/// A program that answers as a script of pyperf would: one benchmark is fine, and another does this.
fn pretended(launched: &str) -> Track {
    let track = Track::new();
    let script = format!(
        r#"#!/bin/sh
row() {{ echo "{{\"metadata\":{{\"name\":\"$1\",\"loops\":$2,\"unit\":\"second\"}},\"runs\":[{{\"values\":[$3]}}]}}"; }}
for word; do
  case $before in --pipe) pipe=$word;; -n) count=$word;; -o) file=$word;; -l) loops=$word;; esac
  before=$word
done
test "$loops" = 0 && calibrates=yes
times=0.001
while [ ${{number:-1}} -lt ${{count:-1}} ]; do number=$((${{number:-1}} + 1)); times="$times,0.001"; done
report() {{ eval "cat >&$pipe"; }}
good() {{
  case $calibrates in
  yes) echo '{{"benchmarks":[{{"runs":[{{"warmups":[[1,0.001],[16,0.001],[16,0.001]]}}]}}],"metadata":{{"name":"good","loops":16,"calibrate_loops":16}}}}' | report;;
  *) echo "{{\"benchmarks\":[$(row good $loops $times)]}}" | report;;
  esac
}}
case "$*" in
*benchmark_list_tests*) echo 'error: unrecognized arguments: --benchmark_list_tests=true' >&2; exit 2;;
*--help*) echo '--worker-task --inherit-environ';;
*' -o '*) echo "{{\"benchmarks\":[$(row bad 1 1),$(row good 1 1)]}}" > "$file";;
*--worker-task=1*) good;;
*) {launched};;
esac
"#
    );
    for name in ["old", "new"] {
        fs::write(track.path(name), &script).unwrap();
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(track.path(name), mode).unwrap();
    }
    track
}

#[test]
fn a_benchmark_of_a_script_that_goes_wrong_is_told_and_the_others_go_on() {
    for (launched, told) in [
        ("true", "wrote no values to --pipe"),
        ("echo garbage | report", "not the JSON of pyperf: 'garbage'"),
        (
            "echo '{\"benchmarks\":[]}' | report",
            "not the JSON of pyperf",
        ),
        (
            "good",
            "ran no benchmark of this name; only benchmarks that --worker lists",
        ),
        (
            "echo '{\"benchmarks\":[{\"metadata\":{\"name\":\"bad\",\"loops\":1},\
             \"runs\":[{\"values\":[-1]}]}]}' | report",
            "reports no usable time in repetition 0",
        ),
        (
            "echo 'ValueError: out of luck' >&2; exit 1",
            "exit code 1, saying: ValueError: out of luck; to reproduce it",
        ),
    ] {
        let track = pretended(launched);
        let words = ["./old", "./new", "--max-replicates", "6"];
        let answer = raced(&track, 3, &words);
        let failures = answer["failures"].to_string();
        assert!(failures.contains(told), "{told}: {failures}");
        assert!(
            failures.contains("./old --worker --worker-task=0 -w 1 -n 1 -l 0"),
            "{failures}"
        );
        assert_eq!(names(&answer), ["good"], "{answer}");
    }
}

#[test]
fn a_worker_of_pyperf_that_hangs_is_killed_with_all_it_started() {
    let track = pretended("sh -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 1000' & wait");
    let words = ["./old", "./new", "bad", "--timeout", "700ms"];
    let answer = raced(&track, 3, &words);
    let failures = answer["failures"].to_string();
    assert!(failures.contains("did not end within 700ms"), "{failures}");
    let pid = fs::read_to_string(track.path("pid")).unwrap();
    wait_until("the worker is gone", || !lives(&pid));
}
