//! Jars of JMH, raced as they are, and those that go wrong.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Finished, Track, lives, text, wait_until};
use deadheat_testing::{needs, skip};
use serde_json::Value;

/// Builds the suite of `examples/suites/jmh`, and again with three times the work. Returns the jars,
/// the ordinary one first, or, where its dependencies are not here and cannot be fetched, what Maven
/// says of it.
fn built() -> Result<[PathBuf; 2], String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().unwrap();
    let jars = [100, 300].map(|steps| {
        let folder = repository.join(format!("target/suites/jmh-{steps}"));
        let made = |offline: &[&str]| {
            let done = Command::new("mvn")
                .args(["-q", "-B", "package"])
                .args(offline)
                .arg(format!("-Dsteps={steps}"))
                .arg(format!("-Dfolder={}", folder.display()))
                .current_dir(repository.join("examples/suites/jmh"))
                .output()
                .unwrap();
            match done.status.success() {
                true => Ok(folder.join("benchmarks.jar")),
                false => Err(String::from_utf8_lossy(&done.stdout).into_owned()),
            }
        };
        made(&["-o"]).or_else(|_| made(&[]))
    });
    let [old, new] = jars;
    Ok([old?, new?])
}

/// A race of at most so many replicates, as JSON.
#[track_caller]
fn raced(track: &Track, code: i32, replicates: &str, words: &[&str]) -> Value {
    let options = ["--json", "-q", "--max-replicates", replicates];
    let done = track.run(&[&["bench"], &options[..], words].concat());
    assert_eq!(done.code, Some(code), "{done:?}");
    done.json()
}

#[test]
fn a_suite_of_jmh_races_as_it_is() {
    needs!("javac", "mvn");
    let [old, new] = match built() {
        Ok(jars) => jars,
        Err(problem) => {
            skip!("its dependencies cannot be fetched: {problem}");
            return;
        }
    };
    let track = Track::new();
    // A name alone is a program where it names a jar.
    let sides = [("old.jar", old), ("new.jar", new)].map(|(name, jar)| {
        fs::copy(jar, track.path(name)).unwrap();
        name
    });
    let save = track.path("run.jsonl");
    let answer = raced(
        &track,
        0,
        "6",
        &[sides[0], sides[1], "plain", "--save", text(&save)],
    );
    let plain = &answer["benchmarks"][0];
    assert_eq!(plain["verdict"], "slower", "{answer}");
    let warnings = plain["warnings"].to_string();
    assert!(!warnings.contains("placement"), "{warnings}");
    let run = fs::read_to_string(&save).unwrap();
    let header: Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
    let calls = &header["plan"]["benchmarks"][0]["contenders"][0]["jmh"];
    assert_eq!(calls["program"]["executable"], "./old.jar", "{header}");
    assert_eq!(header["environment"]["pinned"], serde_json::json!([]));

    // Benchmarks of every kind, and those that go wrong.
    let kinds = [
        "panics",
        "exits",
        "once",
        "twoModes",
        "sampled",
        "size=1,kind=c|d",
        "size=1,kind=e,f",
    ];
    let short = ["--", "-r", "5ms", "-wi", "1", "-w", "5ms", "-prof", "gc"];
    let words = [&sides[..], &kinds[..], &short[..]].concat();
    let answer = raced(&track, 3, "1", &words);
    let rows = answer["benchmarks"].as_array().unwrap().iter();
    let names: Vec<&str> = rows.map(|row| row["benchmark"].as_str().unwrap()).collect();
    let expected = [
        "suites.Sums.Sized.chain:size=1,kind=c|d",
        "suites.Sums.twoModes",
        "suites.Sums.sampled",
        "suites.Sums.once",
    ];
    assert_eq!(names, expected, "{answer}");
    assert!(
        answer.to_string().contains("gc.alloc.rate.norm"),
        "{answer}"
    );
    let failures = answer["failures"].to_string();
    for told in [
        "reports an error: java.lang.IllegalStateException: out of luck",
        "System.exit was called?; forked VM failed with exit code 3",
        r"java -Djmh.ignoreLock=true -jar ./old.jar -r 5ms",
        r"'^suites\\.Sums\\.panics$' -f 1 -tu ns -i 1",
    ] {
        assert!(failures.contains(told), "{told}: {failures}");
    }
    let left_out = answer["left_out"].to_string();
    assert!(left_out.contains("kind=e,f"), "{left_out}");
    let alone = raced(&track, 0, "1", &["old.jar", "size=1,kind=a"]);
    assert_eq!(
        alone["benchmarks"][0]["benchmark"],
        "suites.Sums.Sized.chain:size=1,kind=a b"
    );
}

/// An archive with this in its list of files, as far as deadheat looks at it.
fn jar(track: &Track, name: &str, files: &str) {
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.extend(files.as_bytes());
    bytes.extend(b"PK\x05\x06\0\0\0\0\0\0\0\0");
    bytes.extend((files.len() as u32).to_le_bytes());
    bytes.extend(4u32.to_le_bytes());
    bytes.extend([0, 0]);
    fs::write(track.path(name), bytes).unwrap();
}

/// Two jars, and a `java` that answers as theirs would: one benchmark is fine, and another does
/// this.
fn pretended(launched: &str) -> Track {
    let track = Track::new();
    for name in ["old.jar", "new.jar"] {
        jar(&track, name, "META-INF/BenchmarkList");
    }
    let script = format!(
        r#"#!/bin/sh
case "$*" in *' -lp') printf 'Benchmarks: \na.B.bad\na.B.good\n'; exit;; esac
for word; do
  case $before in -rff) report=$word;; -i) count=$word;; esac
  before=$word
done
times=300,200,150
number=3
while [ $number -lt $count ]; do number=$((number + 1)); times="$times,10$((number % 3))"; done
times=$(echo $times | cut -d, -f1-$count)
row() {{ echo "[{{\"benchmark\":\"a.B.$1\",\"mode\":\"avgt\",\"threads\":1,\
\"primaryMetric\":{{\"scoreUnit\":\"ns/op\",\"rawData\":[[$2]]}}}}]" > $report; }}
case "$*" in
*good*) row good $times;;
*) {launched};;
esac
"#
    );
    fs::create_dir(track.path("bin")).unwrap();
    let java = track.path("bin/java");
    fs::write(&java, script).unwrap();
    fs::set_permissions(&java, fs::Permissions::from_mode(0o755)).unwrap();
    track
}

/// The end of a race of the two jars with that `java`.
fn ended(track: &Track, words: &[&str]) -> Finished {
    let done = track
        .command()
        .args(["bench", "old.jar", "new.jar"])
        .args(words)
        .env("JAVA_HOME", track.folder.path())
        .output()
        .unwrap();
    Finished::from(done)
}

#[test]
fn a_benchmark_of_a_jar_that_goes_wrong_is_told_and_the_others_go_on() {
    for (launched, told) in [
        ("true", "wrote no results to -rff"),
        (
            "echo '[]' > $report",
            "ran no benchmark of this name; only benchmarks that -lp lists",
        ),
        ("row other $times", "ran no benchmark of this name"),
        ("echo '{\"version\":2}' > $report", "not the JSON of JMH"),
        (
            "row bad 100,100,100,100,100,100,100",
            "repetitions instead of",
        ),
        (
            "echo 'No matching benchmarks.' >&2; exit 1",
            "exit code 1, saying: No matching benchmarks.",
        ),
        (
            "printf '1: <failure>\\n\\njava.lang.Error: out of luck\\n\\tat a.B\\n' >&2; echo '[]' > $report",
            "reports an error: java.lang.Error: out of luck; to reproduce it",
        ),
    ] {
        let track = pretended(launched);
        let done = ended(&track, &["--json", "-q", "--max-replicates", "6"]);
        assert_eq!(done.code, Some(3), "{done:?}");
        let answer = done.json();
        let failures = answer["failures"].to_string();
        assert!(failures.contains(told), "{told}: {failures}");
        assert!(
            failures.contains(r"-jar ./old.jar '^a\\.B\\.bad$' -f 1"),
            "{failures}"
        );
        assert_eq!(answer["benchmarks"][0]["benchmark"], "a.B.good", "{answer}");
    }
}

#[test]
fn iterations_that_the_pilot_sees_warming_up_are_left_away() {
    let track = pretended("true");
    let save = track.path("run.jsonl");
    let options = [
        "good",
        "--json",
        "-q",
        "--max-replicates",
        "6",
        "--save",
        text(&save),
    ];
    let answer = ended(&track, &options);
    let run = fs::read_to_string(&save).unwrap();
    let header: Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
    for contender in header["plan"]["benchmarks"][0]["contenders"]
        .as_array()
        .unwrap()
    {
        // Three, and half as many again.
        assert_eq!(contender["jmh"]["warm_up"], 5, "{header}");
    }
    let sides = &answer.succeeds().json()["benchmarks"][0];
    let typical = sides["baseline"]["mean"].as_f64().unwrap();
    assert!((100.0..103.0).contains(&typical), "{sides}");
}

#[test]
fn a_fork_that_hangs_is_killed_with_its_jvm() {
    let track = pretended("sh -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 1000' & wait");
    let done = ended(&track, &["bad", "--json", "-q", "--timeout", "700ms"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    let failures = done.json()["failures"].to_string();
    assert!(failures.contains("did not end within 700ms"), "{failures}");
    let pid = fs::read_to_string(track.path("pid")).unwrap();
    wait_until("the fork is gone", || !lives(&pid));
}

#[test]
fn jars_that_cannot_be_raced_are_told_with_the_reason() {
    let track = pretended("true");
    let listed = ended(&track, &["--list"]);
    assert_eq!(
        listed.succeeds().stdout,
        "a.B.bad: benchmark\na.B.good: benchmark\n"
    );
    for (words, told) in [
        (
            &["--pin", "0"][..],
            "--pin: launches of JMH have other threads",
        ),
        (
            &["--", "-p", "n=1"],
            "-p: select values of parameters by the names of benchmarks",
        ),
        (
            &["--", "Sums"],
            "Sums: JMH would take this for the name of another benchmark",
        ),
        (
            &["--", "-f", "3"],
            "-f: a race launches each benchmark separately",
        ),
    ] {
        ended(&track, words).fails_with(2, &[told]);
    }
    fs::remove_file(track.path("bin/java")).unwrap();
    let missing = ended(&track, &[]);
    missing.fails_with(
        3,
        &[
            "'./old.jar'",
            "executables of JMH",
            "bin/java' cannot be started",
        ],
    );
    jar(&track, "old.jar", "META-INF/MANIFEST.MF");
    let other = ended(&track, &[]);
    other.fails_with(3, &["'./old.jar'", "it has no META-INF/BenchmarkList"]);
}
