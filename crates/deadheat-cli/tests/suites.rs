//! Suites of criterion, divan and Go, raced as they are, and executables of harnesses that go wrong.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Finished, Track, text, wait_until};
use deadheat_testing::{blocks_in, kill, needs};
use serde_json::Value;

/// Builds the suites of `examples/suites`, and again with more work in every benchmark. Returns the
/// executables called `target`, the ordinary one first, or, where the crates of the harnesses are
/// not here and cannot be fetched, what cargo says of it.
fn built(target: &str) -> Result<[PathBuf; 2], String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fetched = Command::new(env!("CARGO"))
        .args(["fetch", "--locked", "--manifest-path"])
        .arg(repository.join("examples/suites/Cargo.toml"))
        .output()
        .unwrap();
    if !fetched.status.success() {
        return Err(String::from_utf8_lossy(&fetched.stderr).into_owned());
    }
    Ok(["", "slower"].map(|features| {
        let done = Command::new(env!("CARGO"))
            .args(["bench", "--no-run", "--locked", "--message-format", "json"])
            .args(["--features", features, "--bench", target])
            .arg("--manifest-path")
            .arg(repository.join("examples/suites/Cargo.toml"))
            .arg("--target-dir")
            .arg(repository.join("target/suites"))
            .output()
            .unwrap();
        let done = Finished::from(done);
        let lines = done.succeeds().stdout.lines();
        let messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut executables = messages.filter_map(|message| {
            let executable = message["executable"].as_str()?;
            Some(PathBuf::from(executable))
        });
        executables.next().unwrap()
    }))
}

/// The executables, or the end of the test.
macro_rules! built {
    ($target:literal) => {
        match built($target) {
            Ok(executables) => executables,
            Err(problem) => {
                deadheat_testing::skip!("its crates cannot be fetched: {problem}");
                return;
            }
        }
    };
}

/// A race as JSON in a folder of its own for temporary files, in which nothing is left.
#[track_caller]
fn raced(track: &Track, code: i32, words: &[&str]) -> Value {
    let options = ["--json", "-q", "--max-replicates", "6"];
    let mut command = track.command();
    let done = track.leaves_nothing(command.arg("bench").args(words).args(options));
    assert_eq!(done.code, Some(code), "{done:?}");
    done.json()
}

/// The benchmarks that are slower.
fn slower(answer: &Value) -> Vec<&str> {
    let benchmarks = answer["benchmarks"].as_array().unwrap().iter();
    let slower = benchmarks.filter(|one| one["verdict"] == "slower");
    slower
        .map(|one| one["benchmark"].as_str().unwrap())
        .collect()
}

const ODD: &str = "odd/name with \"quotes\" (and) [a-z]* $'";

#[test]
fn a_suite_of_criterion_races_as_it_is() {
    let [old, new] = built!("with_criterion");
    let track = Track::new();
    let answer = raced(&track, 3, &[text(&old), text(&new)]);
    let expected = [
        "plain",
        ODD,
        "sized/chain/100",
        "sized/chain/1000",
        "sized/twenty samples",
    ];
    assert_eq!(slower(&answer), expected, "{answer}");
    let failures = answer["failures"].to_string();
    assert!(failures.contains("out of luck"), "{failures}");
    let left_out = answer["left_out"].to_string();
    assert!(
        left_out.contains("gone") && left_out.contains("twice"),
        "{left_out}"
    );
    let one = raced(&track, 0, &[text(&old), text(&new), ODD, "--exact"]);
    assert_eq!(slower(&one), [ODD]);
    let named = ["--harness", "criterion", "plain"];
    let named = raced(&track, 0, &[&[text(&old), text(&new)], &named[..]].concat());
    assert_eq!(slower(&named), ["plain"]);
}

#[test]
fn a_suite_of_divan_races_as_it_is() {
    let [old, new] = built!("with_divan");
    let track = Track::new();
    let answer = raced(&track, 3, &[text(&old), text(&new)]);
    // Calls of 100 ns are too short for a verdict on a busy machine, but not for a direction.
    let short = "with_divan::sized::100";
    let benchmarks = answer["benchmarks"].as_array().unwrap();
    let row = benchmarks.iter().find(|one| one["benchmark"] == short);
    assert!(row.unwrap()["change"].as_f64().unwrap() > 0.0, "{answer}");
    let mut found = slower(&answer);
    found.retain(|name| *name != short);
    found.sort_unstable();
    let expected = [ODD, "plain", "sized::1000"].map(|name| format!("with_divan::{name}"));
    assert_eq!(found, expected, "{answer}");
    let failures = answer["failures"].to_string();
    assert!(failures.contains("out of luck"), "{failures}");
    let left_out = answer["left_out"].to_string();
    assert!(left_out.contains("t=2"), "{left_out}");
}

/// The same of the suite of Go, with the build tag `slower`.
fn built_by_go() -> [PathBuf; 2] {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("suites");
    ["usual", "slower"].map(|tag| {
        let file = folder.join(format!("{tag}.test"));
        let done = Command::new("go")
            .args(["test", "-c", "-trimpath", "-tags", tag, "-o"])
            .args([text(&file), "."])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/suites/go"))
            .env("GOTOOLCHAIN", "local")
            .output()
            .unwrap();
        Finished::from(done).succeeds();
        file
    })
}

#[test]
fn a_suite_of_go_races_as_it_is() {
    needs!("go");
    let [old, new] = built_by_go();
    let track = Track::new();
    let answer = raced(&track, 3, &[text(&old), text(&new)]);
    let odd = "BenchmarkOdd/name_with_\"quotes\"_(and)_[a-z]*_$'";
    let expected = [
        "BenchmarkPlain",
        odd,
        "BenchmarkSized/chain/100",
        "BenchmarkSized/chain/1000",
        "BenchmarkTwice/same",
        "BenchmarkTwice/same#01",
        "BenchmarkPrints",
    ];
    assert_eq!(slower(&answer), expected, "{answer}");
    let failures = answer["failures"].to_string();
    for reason in ["panic: out of luck", "no database"] {
        assert!(failures.contains(reason), "{failures}");
    }
    assert!(answer["benchmarks"].to_string().contains("things/op"));
    let left_out = answer["left_out"].to_string();
    assert!(
        left_out.contains("BenchmarkGone") && left_out.contains("not today"),
        "{left_out}"
    );
    let words = [text(&old), text(&new), odd, "--exact", "--harness", "go"];
    let one = raced(&track, 0, &words);
    assert_eq!(slower(&one), [odd]);
    let words = [text(&old), text(&new), "--", "-test.cpu=1,2"];
    let done = track.run(&[&["bench"], &words[..]].concat());
    done.fails_with(
        2,
        &["-test.cpu: a race needs a single number of processors"],
    );
}

/// A script that answers as criterion does, and does this when it is launched.
fn pretended(track: &Track, name: &str, launched: &str) -> String {
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n\
         *benchmark_list_tests*) echo \"error: unexpected argument found\" >&2; exit 2;;\n\
         *--help*) echo '--nresamples --save-baseline --measurement-time';;\n\
         *--list*) printf 'a b/c: benchmark\\ngood: benchmark\\n';;\n\
         *' good') set=$CRITERION_HOME/good/new; mkdir -p $set\n\
         echo '{{\"full_id\":\"good\"}}' > $set/benchmark.json\n\
         echo '{{\"iters\":[1,2,3,4,5,6,7,8,9,10],\"times\":[11,20,33,41,50,61,70,80,92,100]}}' > $set/sample.json;;\n\
         *) set=$CRITERION_HOME/a_b/c/new; mkdir -p $set\n{launched}\nesac\n"
    );
    let path = track.path(name);
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("./{name}")
}

#[test]
fn a_benchmark_that_goes_wrong_is_told_and_the_others_go_on() {
    for (launched, told) in [
        ("rmdir $set", "ran no benchmark of this name"),
        (
            "echo '{\"full_id\":\"a b/c\"}' > $set/benchmark.json",
            "left no sample.json in CRITERION_HOME",
        ),
        (
            "echo '{\"full_id\":\"a b/c\"}' > $set/benchmark.json; echo '{\"rows\":[]}' > $set/sample.json",
            "not a benchmark.json or sample.json of criterion",
        ),
        (
            "echo out of luck >&2; exit 101",
            "exit code 101, saying: out of luck",
        ),
        ("sleep 1000", "did not end within 700ms"),
    ] {
        let track = Track::new();
        let programs = ["old", "new"].map(|name| pretended(&track, name, launched));
        let words = [&programs[0], &programs[1], "--timeout", "700ms"];
        let answer = raced(&track, 3, &words);
        let failures = answer["failures"].to_string();
        assert!(failures.contains(told), "{told}: {failures}");
        assert!(failures.contains("--exact -- 'a b/c'"), "{failures}");
        assert_eq!(answer["benchmarks"][0]["benchmark"], "good", "{answer}");
    }
}

/// Programs whose benchmark takes so many seconds a launch, the second one with longer times.
fn slow(track: &Track, seconds: f64) -> [String; 2] {
    let times = [11, 22].map(|ns| {
        let all: Vec<String> = (1..=10).map(|count| (ns * count).to_string()).collect();
        all.join(",")
    });
    let launched = times.map(|times| {
        format!(
            "sleep {seconds}; echo '{{\"full_id\":\"a b/c\"}}' > $set/benchmark.json\n\
             echo '{{\"iters\":[1,2,3,4,5,6,7,8,9,10],\"times\":[{times}]}}' > $set/sample.json"
        )
    });
    let [old, new] = launched;
    [pretended(track, "old", &old), pretended(track, "new", &new)]
}

#[test]
fn a_race_of_launches_that_ctrl_c_ends_leaves_nothing_and_goes_on_where_it_stopped() {
    let track = Track::new();
    let [old, new] = slow(&track, 0.2);
    let temporary = track.path("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let child = track
        .command()
        .args(["bench", &old, &new, "a b", "-q", "--save", "run.jsonl"])
        .args(["--max-replicates", "40"])
        .env("TMPDIR", &temporary)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let record = track.path("run.jsonl");
    wait_until("a second replicate", || blocks_in(&record) > 11);
    assert!(kill(&["-INT", &child.id().to_string()]));
    let done = Finished::from(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(130), "{done:?}");
    assert_eq!(temporary.read_dir().unwrap().count(), 0);
    let before = blocks_in(&record);
    let resumed = track.run(&["bench", "--resume", "run.jsonl", "-q", "--json"]);
    assert_eq!(slower(&resumed.succeeds().json()), ["a b/c"]);
    assert!(blocks_in(&record) > before);
}

#[test]
fn a_red_light_on_a_suite_asks_a_second_witness() {
    let track = Track::new();
    let [old, new] = slow(&track, 0.0);
    let words = ["bench", &old, &new, "-q", "--max-replicates", "8", "--json"];
    let gate = ["--fail-on", "slower", "--confirm"];
    let done = track.run(&[&words[..], &gate].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    let answer = done.json();
    let confirmed = &answer["benchmarks"][0]["confirmation"]["confirmed"];
    assert_eq!(*confirmed, true, "{answer}");
}

/// A script that stands in for an executable of Google Benchmark with these rows, which does
/// `launched` before it reports an iteration of 3 µs, or of 6 µs if it is called `new`. `$raced` is
/// a file that says that the pilot is over.
fn google_benchmark(track: &Track, name: &str, rows: &str, launched: &str) -> String {
    let script = format!(
        r#"#!/bin/sh
case "$*" in *=^deadheat_matches_nothing$)
  echo 'Failed to match any benchmarks against regex: ^deadheat_matches_nothing$' >&2; exit;;
*benchmark_list_tests*) printf '{rows}'; exit;; esac
for argument; do case "$argument" in
  --benchmark_filter=*) row=${{argument#*=^}}; row=${{row%$}};;
  --benchmark_out=*) out=${{argument#*=}};;
  --benchmark_repetitions=*) repetitions=${{argument#*=}};;
  --benchmark_min_time=*) time=${{argument#*=}};;
esac; done
case "$time" in *x) count=${{time%x}};; *) count=1000;; esac
case $0 in *new) ns=6000;; *) ns=3000;; esac; cpu=$ns; threads=1
{launched}
report() {{
  echo '{{"context":{{}},"benchmarks":['
  k=0; while [ $k -lt $repetitions ]; do
    [ $k = 0 ] || echo ,
    echo '{{"name":"'$row'","run_name":"'$row'","run_type":"iteration","threads":'$threads',"iterations":'$count','
    echo '"real_time":'$ns.$k',"cpu_time":'$cpu.$k',"time_unit":"ns"}}'
    k=$((k+1))
  done; echo ']}}'
}}
report > "$out"
"#
    );
    let path = track.path(name);
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("./{name}")
}

/// The metric that each benchmark is judged by.
fn judged(answer: &Value) -> Vec<(&str, &str)> {
    let benchmarks = answer["benchmarks"].as_array().unwrap().iter();
    benchmarks
        .map(|one| {
            let text = |field: &str| one[field].as_str().unwrap();
            (text("benchmark"), text("metric"))
        })
        .collect()
}

const MIXED: &str = "plain\\nboth/threads:2\\nwall/manual_time\\nreal/real_time\\nsleeps\\n";
const ODD_ROWS: &str = "case $row in both*) threads=2;; sleeps) cpu=5;; esac";

#[test]
fn rows_of_one_busy_thread_run_side_by_side_and_the_others_in_turns() {
    let track = Track::new();
    let programs = ["one", "two"].map(|name| google_benchmark(&track, name, MIXED, ODD_ROWS));
    let words = [&*programs[0], &*programs[1]];
    let expected = [
        ("plain", "cpu"),
        ("both/threads:2", "wall"),
        ("wall/manual_time", "wall"),
        ("real/real_time", "wall"),
        ("sleeps", "wall"),
    ];
    let answer = raced(&track, 0, &words);
    assert_eq!(judged(&answer), expected, "{answer}");
    let turns = raced(
        &track,
        0,
        &[&words[..], &["--arrangement", "turns"]].concat(),
    );
    assert!(judged(&turns).iter().all(|(_, metric)| *metric == "wall"));
    // Nothing but the source of a row is stronger than the user.
    let forced = ["--arrangement", "side-by-side"];
    let forced = raced(&track, 0, &[&words[..], &forced].concat());
    let cpu = judged(&forced).into_iter().filter(|(_, m)| *m == "cpu");
    assert_eq!(
        cpu.map(|(row, _)| row).collect::<Vec<_>>(),
        ["plain", "sleeps"]
    );
}

#[test]
fn sides_that_are_not_alike_take_turns_unless_the_user_says_otherwise() {
    let track = Track::new();
    let programs = ["old", "new"].map(|name| google_benchmark(&track, name, "plain\\n", ""));
    let words = [&*programs[0], &*programs[1]];
    assert_eq!(judged(&raced(&track, 0, &words)), [("plain", "wall")]);
    let metric = raced(&track, 0, &[&words[..], &["--metric", "wall"]].concat());
    assert_eq!(judged(&metric), [("plain", "wall")]);
    let forced = ["--arrangement", "side-by-side"];
    let answer = raced(&track, 0, &[&words[..], &forced].concat());
    assert_eq!(judged(&answer), [("plain", "cpu")]);
    assert_eq!(slower(&answer), ["plain"]);
}

#[test]
fn a_program_that_does_not_run_twice_at_once_takes_turns_or_says_so() {
    let track = Track::new();
    let lock = "exec 9> lock; flock -n 9 || { echo is locked >&2; exit 3; }; sleep 0.1";
    let programs = ["one", "two"].map(|name| google_benchmark(&track, name, "plain\\n", lock));
    let words = [&*programs[0], &*programs[1]];
    assert_eq!(judged(&raced(&track, 0, &words)), [("plain", "wall")]);
    let forced = ["--arrangement", "side-by-side"];
    let answer = raced(&track, 3, &[&words[..], &forced].concat());
    let failures = answer["failures"].to_string();
    for told in ["is locked", "--arrangement turns"] {
        assert!(failures.contains(told), "{failures}");
    }
}

#[test]
fn what_cannot_run_side_by_side_is_refused() {
    let track = Track::new();
    let forced = ["--arrangement", "side-by-side"];
    let bench = |words: &[&str]| track.run(&[&["bench"], words, &forced].concat());
    let criterion = slow(&track, 0.0);
    let in_turns = raced(&track, 0, &[&criterion[0], &criterion[1], "a b"]);
    assert_eq!(judged(&in_turns), [("a b/c", "wall")]);
    let refused = bench(&[&criterion[0], &criterion[1]]);
    refused.fails_with(2, &["criterion", "CPU time", "--arrangement auto"]);
    let programs = ["a", "b"].map(|name| google_benchmark(&track, name, "plain\\n", ""));
    let words = [&*programs[0], &*programs[1]];
    let wall = bench(&[&words[..], &["--metric", "wall"]].concat());
    wall.fails_with(2, &["--metric wall", "would also depend"]);
    let pin = bench(&[&words[..], &["--pin", "none"]].concat());
    pin.fails_with(2, &["--pin none", "one core"]);
    // As releases before 1.8 do.
    let older = "case $time in *x) exit 1;; esac";
    let programs = ["c", "d"].map(|name| google_benchmark(&track, name, "plain\\n", older));
    let answer = raced(
        &track,
        3,
        &[&[&*programs[0], &*programs[1]], &forced[..]].concat(),
    );
    let failures = answer["failures"].to_string();
    assert!(failures.contains("1.8"), "{failures}");
}

#[test]
fn a_race_side_by_side_that_ctrl_c_ends_leaves_nothing_and_goes_on_where_it_stopped() {
    let track = Track::new();
    let launched = "echo $$ >> pids; sleep 0.1";
    let programs = ["one", "two"].map(|name| google_benchmark(&track, name, "plain\\n", launched));
    let child = track
        .command()
        .args([
            "bench",
            &programs[0],
            &programs[1],
            "-q",
            "--save",
            "run.jsonl",
        ])
        .args(["--max-replicates", "40", "--margin", "0.000001"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let record = track.path("run.jsonl");
    wait_until("a sixth replicate", || blocks_in(&record) > 60);
    assert!(kill(&["-INT", &child.id().to_string()]));
    let done = Finished::from(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(130), "{done:?}");
    let pids = fs::read_to_string(track.path("pids")).unwrap();
    assert!(!pids.lines().any(|pid| kill(&["-0", pid])));
    let before = blocks_in(&record);
    let resumed = track.run(&["bench", "--resume", "run.jsonl", "-q", "--json"]);
    assert_eq!(judged(&resumed.succeeds().json()), [("plain", "cpu")]);
    assert!(blocks_in(&record) > before);
}
