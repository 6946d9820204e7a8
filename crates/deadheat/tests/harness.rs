//! Tests the bench harness as users and cargo run it, with `examples/misbehaving.rs` as a process.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use deadheat::parts::format::read_run;
use deadheat::parts::model::{EndReason, Run};
use deadheat_engine::SampleClock;
use deadheat_testing::{blocks_in, kill};

/// Options for short races.
const SHORT: [&str; 5] = ["--bench", "--max-replicates", "6", "--blocks", "5"];
/// A time limit that no test reaches unless a process hangs.
const FAR_TOO_LONG: Duration = Duration::from_secs(120);

/// The environment variable that marks all processes of a track, including grandchildren.
const MARK: &str = "MISBEHAVING_TRACK";

struct Track {
    folder: tempfile::TempDir,
}

#[derive(Debug)]
struct Finished {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Track {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(example());
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env(MARK, self.folder.path())
            .env("DEADHEAT_CALIBRATION", "")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        self.finish(self.command(arguments).spawn().unwrap())
    }

    /// Runs a short race.
    fn race(&self, arguments: &[&str]) -> Finished {
        self.run(&[&SHORT, arguments].concat())
    }

    /// Waits for the process, and checks that no process of this track is left.
    fn finish(&self, mut child: Child) -> Finished {
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let stdout = thread::spawn(move || read(stdout));
        let stderr = thread::spawn(move || read(stderr));
        let ended = wait_until(|| child.try_wait().unwrap());
        let Some(status) = ended else {
            child.kill().unwrap();
            panic!("it hangs: {:?}", stderr.join().unwrap());
        };
        // A process that holds the pipes open would be found here as well.
        let left = self.processes();
        assert!(left.is_empty(), "left behind: {left:?}");
        Finished {
            code: status.code(),
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap(),
        }
    }

    /// Returns the command lines of all running processes of this track.
    fn processes(&self) -> Vec<String> {
        let mark = format!("{MARK}={}\0", self.folder.path().display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            // A process that has ended in the meantime has no environment.
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if contains(&environment, mark.as_bytes()) {
                let words = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
                found.push(format!("{:?}: {words:?}", entry.file_name()));
            }
        }
        found
    }

    fn runs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(".deadheat/runs"))
            .into_iter()
            .flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Finished {
    #[track_caller]
    fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Returns standard output with its lines joined, because a sentence may break anywhere.
    fn told(&self) -> String {
        words(&self.stdout)
    }

    #[track_caller]
    fn tells(&self, sentence: &str) {
        assert!(self.told().contains(sentence), "{sentence:?} in {self:?}");
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn read(mut from: impl Read) -> String {
    let mut text = Vec::new();
    from.read_to_end(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn wait_until<T>(mut happened: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + FAR_TOO_LONG;
    loop {
        let found = happened();
        if found.is_some() || Instant::now() > end {
            return found;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the path of the example, which cargo builds with the tests.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let example = profile.join("examples/misbehaving");
    assert!(
        example.exists(),
        "there is no {}; cargo test --test builds no examples, cargo test does",
        example.display()
    );
    example
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(kill(&[name, &pid]));
}

/// Returns the zombies of a process: its ended children for which it has not waited.
fn zombies_of(parent: &Child) -> Vec<String> {
    let of_parent = format!(") Z {} ", parent.id());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if stat.contains(&of_parent) {
            found.push(stat);
        }
    }
    found
}

fn blocks(run: &Run) -> usize {
    run.benchmarks
        .iter()
        .map(|samples| samples.blocks().len())
        .sum()
}

/// Starts a long race, and waits until its run file has several blocks.
fn under_way(track: &Track, name: &str) -> (Child, PathBuf) {
    let save = track.path("run.jsonl");
    let arguments = ["--bench", "--include-ignored", "--exact", name, "--save"];
    let arguments = [&arguments[..], &[save.to_str().unwrap()]].concat();
    let mut child = track.command(&arguments).spawn().unwrap();
    let measured = wait_until(|| {
        let blocks = blocks_in(&save);
        (blocks > 1 || child.try_wait().unwrap().is_some()).then_some(blocks)
    });
    assert!(measured > Some(1), "{:?}", track.finish(child));
    (child, save)
}

#[test]
fn every_fault_costs_its_own_benchmark_and_no_other() {
    let track = Track::new();
    let done = track.race(&["--timeout", "1s", "--seed", "1"]).ends_with(3);
    for (benchmark, fault) in [
        ("panic/at-once", "calibration run: 'panicking' panicked at "),
        ("panic/at-once", "misbehaving.rs:"),
        ("panic/at-once", "no nerves at all"),
        (
            "panic/in-a-block",
            "replicate 0, block 1: 'panicking' panicked at ",
        ),
        ("panic/in-a-block", "nerves until block 1"),
        (
            "panic/making-input",
            "calibration run: the worker process panicked at ",
        ),
        ("panic/making-input", "no input from "),
        ("panic/in-one-of-its-threads", "'panicking' panicked at "),
        (
            "end/hang",
            "'hanging' did not finish within 1s (--timeout) and was killed",
        ),
        ("end/exit", "'leaving' ended its process with exit code 7"),
        ("end/abort", "'aborting' was killed by signal 6 (SIGABRT)"),
        ("end/killed", "'killed' was killed by signal 9 (SIGKILL)"),
        (
            "end/exit-with-a-child-at-the-pipes",
            "'leaving' ended its process with exit code 7",
        ),
        (
            "output/differs",
            "'hundred and one' returns a different output than 'hundred'",
        ),
        (
            "output/varies",
            "returns different outputs for the same input",
        ),
    ] {
        let told = done.told();
        let row = told
            .split("! benchmark '")
            .find(|row| row.starts_with(&format!("{benchmark}'")));
        assert!(
            row.is_some_and(|row| row.contains(fault)),
            "{benchmark}: {fault}: {done:?}"
        );
    }
    // The other benchmarks have results.
    done.tells("fine/work: twice");
    done.tells("11 failed");
    let run = read_run(&track.runs()[0]).unwrap();
    assert_eq!(run.failures.len(), 11);
    for (benchmark, samples) in run.header.plan.benchmarks.iter().zip(&run.benchmarks) {
        let fine = ["fine/", "leaves/"]
            .iter()
            .any(|kind| benchmark.name.starts_with(kind));
        assert_eq!(fine, samples.blocks().len() > 5, "{}", benchmark.name);
    }
    assert_eq!(run.end.unwrap().reason, EndReason::Finished);
}

#[test]
fn a_control_is_the_baseline_called_in_turns_of_its_own() {
    let track = Track::new();
    let ended = track.race(&["fine/work", "--control"]).ends_with(0);
    ended.tells("'twice' is slower");
    ended.tells("baseline against itself: ");
    let run = read_run(&track.runs()[0]).unwrap();
    let benchmark = &run.header.plan.benchmarks[0];
    let names: Vec<&str> = benchmark
        .contenders
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(names, ["once", "twice", "once (control)"]);
    assert_eq!(run.benchmarks[0].blocks().len(), 30);
    assert_eq!(run.benchmarks[0].samples().len(), 90);
}

#[test]
fn what_is_printed_by_any_thread_is_no_part_of_the_answer() {
    let track = Track::new();
    let done = track.race(&["--exact", "fine/loud", "--json"]).ends_with(0);
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(json["benchmarks"][0]["benchmark"], "fine/loud", "{json}");
    assert!(!done.stderr.contains("words"), "{done:?}");
    // With --nocapture, the output is shown on standard error.
    let shown = track
        .race(&["--exact", "fine/loud", "--json", "--nocapture"])
        .ends_with(0);
    assert!(serde_json::from_str::<serde_json::Value>(&shown.stdout).is_ok());
    assert!(shown.stderr.contains("\nwords\n") && shown.stderr.contains("\nraw\n"));
}

#[test]
fn what_a_function_leaves_behind_is_gone_when_the_race_is() {
    let track = Track::new();
    let done = track.race(&["leaves/"]).ends_with(0);
    done.tells("leaves/child-and-thread");
    done.tells("leaves/zombie");
    // `finish` has checked that no process is left. There must also be no zombies during a race.
    let (child, _) = under_way(&track, "leaves/child-and-goes-on");
    let none = wait_until(|| zombies_of(&child).is_empty().then_some(()));
    assert!(none.is_some(), "{:?}", zombies_of(&child));
    signal(&child, "-TERM");
    track.finish(child).ends_with(128 + 15);
}

#[test]
fn ctrl_c_ends_a_race_with_the_answer_so_far() {
    let track = Track::new();
    let (child, save) = under_way(&track, "leaves/child-and-goes-on");
    signal(&child, "-INT");
    let done = track.finish(child).ends_with(130);
    done.tells("The run was interrupted by SIGINT; what was measured before is shown.");
    let run = read_run(&save).unwrap();
    assert!(blocks(&run) > 1);
    assert_eq!(run.end.unwrap().reason, EndReason::Interrupted(2));
}

#[test]
fn ctrl_c_before_the_first_block_leaves_no_run() {
    let track = Track::new();
    for mode in ["--bench", "--test"] {
        let child = track
            .command(&[mode, "--exact", "end/hang"])
            .spawn()
            .unwrap();
        // Waits for the coordinator and its worker.
        wait_until(|| (track.processes().len() > 1).then_some(())).unwrap();
        thread::sleep(Duration::from_millis(50));
        signal(&child, "-INT");
        let done = track.finish(child).ends_with(130);
        assert!(done.stderr.contains("interrupted"), "{done:?}");
        assert!(track.runs().is_empty());
    }
}

/// Starts a race of these benchmarks with a second race of those that are slower.
fn confirmed(track: &Track, arguments: &[&str]) -> Child {
    let confirm = ["--confirm", "--fail-on", "slower", "--save", "run.jsonl"];
    let mut command = track.command(&[&SHORT, &confirm, arguments].concat());
    command.env("SECOND_RUN_FILE", track.path("run.confirm.jsonl"));
    command.spawn().unwrap()
}

#[test]
fn a_function_fails_the_run_only_if_a_second_race_finds_it_slower_too() {
    let track = Track::new();
    let done = track.finish(confirmed(&track, &["second/slower"]));
    done.ends_with(1)
        .tells("the run fails: 'second/slower' ('twice') (confirmed: +");
    let track = Track::new();
    let done = track
        .finish(confirmed(&track, &["second/calm"]))
        .ends_with(0);
    done.tells("'slow at first' is slower");
    done.tells("but the second race did not confirm this, so the run does not fail for it.");
    // Only the benchmark that broke the rule has a second race.
    let second = read_run(track.path("run.confirm.jsonl")).unwrap();
    assert_eq!(second.header.plan.benchmarks.len(), 1);
}

#[test]
fn a_function_that_fails_in_the_second_race_only_costs_itself_only() {
    let track = Track::new();
    let both = ["second/slower", "second/panics"];
    let done = track.finish(confirmed(&track, &both)).ends_with(3);
    done.tells("benchmark 'second/panics (second race)' failed: ");
    done.tells("no nerves for a second race");
    done.tells("the run fails: 'second/slower' ('twice') (confirmed: +");
    done.tells(
        "the second race ended without a verdict on 'second/panics' ('panicking'), so the first \
         race alone counts.",
    );
    // A benchmark that hangs is killed; the other is not affected.
    let track = Track::new();
    let both = ["second/slower", "second/hangs", "--timeout", "2s"];
    let done = track.finish(confirmed(&track, &both)).ends_with(3);
    done.tells("did not finish within 2s (--timeout) and was killed");
    done.tells("the run fails: 'second/slower' ('twice') (confirmed: +");
}

#[test]
fn ctrl_c_in_the_second_race_ends_it_with_the_answer_of_the_first() {
    let track = Track::new();
    let child = confirmed(&track, &["second/lasts"]);
    let second = track.path("run.confirm.jsonl");
    wait_until(|| (blocks_in(&second) > 0).then_some(())).unwrap();
    signal(&child, "-INT");
    let done = track.finish(child).ends_with(130);
    done.tells("'long' is slower");
    done.tells(
        "the second race was interrupted by SIGINT before a verdict on 'second/lasts' ('long'), so \
         the first race alone counts.",
    );
    let run = read_run(&second).unwrap();
    assert_eq!(run.end.unwrap().reason, EndReason::Interrupted(2));
}

#[test]
fn a_killed_coordinator_takes_everything_with_it_and_leaves_a_run_to_read() {
    let track = Track::new();
    let (mut child, save) = under_way(&track, "leaves/child-and-goes-on");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let gone = wait_until(|| track.processes().is_empty().then_some(()));
    assert!(gone.is_some(), "{:?}", track.processes());
    let run = read_run(&save).unwrap();
    assert!(blocks(&run) > 0);
    assert_eq!(run.end, None);
}

/// If deadheat is killed, it cannot end the process group of its worker. In this test, the test
/// itself is the coordinator and never ends the group.
#[test]
fn what_a_function_has_started_ends_with_the_worker() {
    for says_goodbye in [true, false] {
        let track = Track::new();
        let mut command = track.command(&["--bench"]);
        command.env("DEADHEAT_WORKER", "0,1,2").process_group(0);
        let mut worker = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut requests = worker.stdin.take().unwrap();
        let mut replies = BufReader::new(worker.stdout.take().unwrap());
        let mut hear = |kind: &str| {
            let mut line = String::new();
            replies.read_line(&mut line).unwrap();
            assert!(line.starts_with(&format!("{{\"{kind}\"")), "{line:?}");
        };
        let mut say = |request: &str| writeln!(requests, "{request}").unwrap();
        hear("hello");
        let name = "leaves/child-and-goes-on";
        let clock = SampleClock::os().to_words();
        let clock = format!(r#""clock":"{clock}","cpu_overhead_ns":0"#);
        let place = r#""contender":null,"heap_bytes":0,"stack_bytes":0"#;
        say(&format!(
            r#"{{"prepare":{{"benchmark":"{name}",{clock},{place}}}}}"#
        ));
        hear("prepared");
        say(r#"{"smoke":{"seed":1}}"#);
        hear("sound");
        let living = track.processes();
        assert!(living.iter().any(|it| it.contains("sleep")), "{living:?}");
        if says_goodbye {
            say(r#"{"bye":{}}"#);
        }
        drop(requests);
        let ended = wait_until(|| worker.try_wait().unwrap());
        assert_eq!(ended.and_then(|status| status.code()), Some(0));
        let gone = wait_until(|| track.processes().is_empty().then_some(()));
        assert!(gone.is_some(), "{:?}", track.processes());
    }
}

#[test]
fn lists_are_those_that_test_runners_read() {
    let track = Track::new();
    let list = |arguments: &[&str]| track.run(arguments).ends_with(0).stdout;
    let terse = list(&["--list", "--format", "terse"]);
    assert!(
        terse.lines().all(|line| line.ends_with(": benchmark")),
        "{terse}"
    );
    assert!(terse.starts_with("fine/work: benchmark\n") && terse.contains("\nignored: "));
    let ignored = list(&["--list", "--format", "terse", "--ignored"]);
    assert_eq!(
        ignored,
        "ignored: benchmark\nleaves/child-and-goes-on: benchmark\n"
    );
    let some = list(&["--list", "fine", "--skip", "loud", "--bench"]);
    assert!(
        some.ends_with("\n0 tests, 3 benchmarks\n") && !some.contains("loud"),
        "{some}"
    );
    assert!(track.runs().is_empty());
}

#[test]
fn a_test_runner_can_run_one_benchmark_at_a_time() {
    let track = Track::new();
    let one = |name: &str| track.run(&["--exact", name, "--nocapture"]);
    let fine = one("fine/loud").ends_with(0);
    fine.tells("running 1 test test fine/loud ... ok");
    fine.tells("test result: ok. 1 passed; 0 failed");
    for name in ["panic/at-once", "end/exit", "end/abort", "output/differs"] {
        let failed = one(name).ends_with(3);
        failed.tells(&format!("test {name} ... FAILED"));
    }
    let ignored = track
        .run(&["--exact", "ignored", "--nocapture"])
        .ends_with(0);
    ignored.tells("test ignored ... ignored");
    let included = track
        .run(&["--exact", "ignored", "--ignored", "--nocapture"])
        .ends_with(0);
    included.tells("test ignored ... ok");
}

#[test]
fn cargo_test_calls_everything_once_and_says_what_failed() {
    let track = Track::new();
    let done = track.run(&["--test", "--timeout", "1s"]).ends_with(3);
    done.tells("running 19 tests");
    done.tells("test fine/work ... ok");
    done.tells("test ignored ... ignored");
    done.tells(
        "---- end/hang ---- benchmark 'end/hang', calibration run: 'hanging' did not finish",
    );
    done.tells("test result: FAILED. 7 passed; 10 failed; 2 ignored; 0 measured; 0 filtered out");
    assert!(track.runs().is_empty(), "a smoke test records nothing");
}

#[test]
fn what_makes_no_sense_is_told_before_anything_runs() {
    let track = Track::new();
    let wrong = |arguments: &[&str], named: &str| {
        let done = track.run(arguments).ends_with(2);
        assert!(done.stderr.contains(named), "{named}: {done:?}");
        assert_eq!(done.stdout, "");
    };
    wrong(&["--bench", "--frobnicate"], "--frobnicate");
    wrong(&["--bench", "--margin", "lots"], "--margin");
    wrong(&["--bench", "--max-replicates", "0"], "--max-replicates");
    wrong(
        &["--bench", "fine/work", "--metric", "beauty"],
        "--metric beauty",
    );
    wrong(
        &[
            "--bench",
            "fine/work",
            "--export-hdr",
            "no/such/folder/file",
        ],
        "--export-hdr",
    );
    let twice = track
        .command(&["--list"])
        .env("MISBEHAVE_TWICE", "1")
        .spawn()
        .unwrap();
    let twice = track.finish(twice).ends_with(2);
    assert!(
        twice
            .stderr
            .contains("two benchmarks are named 'fine/work'"),
        "{twice:?}"
    );
    fs::write(track.path("taken"), "precious").unwrap();
    wrong(
        &["--bench", "end/hang", "--save", "taken"],
        "--save: cannot write taken",
    );
    assert_eq!(fs::read_to_string(track.path("taken")).unwrap(), "precious");
}

#[test]
fn a_filter_that_matches_nothing_is_told_and_an_error_only_for_a_gate() {
    let track = Track::new();
    for (words, code) in [
        (&["nowhere"][..], 0),
        (&["nowhere", "--fail-on", "slower"], 6),
        (&["nowhere", "--fail-on", "slower", "--allow-unjudged"], 0),
    ] {
        let done = track.race(words).ends_with(code);
        assert!(
            done.stderr
                .contains("no benchmark is selected; there are fine/work"),
            "{done:?}"
        );
        assert_eq!(done.stdout, "");
        assert!(track.runs().is_empty());
    }
}

#[test]
fn a_seed_repeats_every_random_choice() {
    let track = Track::new();
    let order = |name: &str, seed: &str| {
        let arguments = ["--exact", "fine/allocating", "--seed", seed, "--save", name];
        track.race(&arguments).ends_with(0);
        let run = read_run(track.path(name)).unwrap();
        assert_eq!(run.header.plan.seed.to_string(), seed);
        let samples = &run.benchmarks[0];
        let slots = samples
            .samples()
            .iter()
            .map(|sample| sample.contender.index());
        slots.collect::<Vec<_>>()
    };
    let (one, again, other) = (order("1", "7"), order("2", "7"), order("3", "8"));
    assert!(one.len() >= 4 * 5, "{one:?}");
    let both = one.len().min(again.len());
    assert_eq!(one[..both], again[..both]);
    let both = one.len().min(other.len());
    assert_ne!(one[..both], other[..both]);
}

#[test]
fn a_slower_candidate_fails_where_somebody_asked_for_it() {
    let track = Track::new();
    track
        .race(&["--exact", "fine/work", "--fail-on", "slower"])
        .ends_with(1);
    track
        .race(&["--exact", "fine/work", "--fail-on", "inconclusive"])
        .ends_with(0);
    // A failed benchmark is more severe than a verdict.
    track
        .race(&["fine/work", "end/exit", "--fail-on", "slower"])
        .ends_with(3);
}

#[test]
fn a_bench_target_honours_the_rules_of_its_project() {
    let track = Track::new();
    let rules = |text: &str| fs::write(track.path("deadheat.toml"), text).unwrap();
    rules("fail-on = [\"slower\"]\nexclude = [\"fine/allocating\"]\n");
    let work = ["--exact", "fine/work"];
    let red = track.race(&work).ends_with(1);
    assert!(red.stdout.contains("breaks the rule 'slower'."), "{red:?}");
    track
        .race(&[&work[..], &["--no-config"]].concat())
        .ends_with(0);
    track
        .race(&[&work[..], &["--fail-on", "inconclusive"]].concat())
        .ends_with(0);

    let own = "[[benchmark]]\nname = \"fine/*\"\nmargin = \"99%\"\nalpha = 0.2\n";
    rules(&format!("fail-on = \"slower\"\n\n{own}"));
    let done = track.race(&[&work[..], &["--json", "--save", "own.jsonl"]].concat());
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let comparison = &json["benchmarks"][0];
    assert_eq!(comparison["margin"], 0.99, "{comparison}");
    assert_eq!(comparison["alpha"], 0.2, "{comparison}");
    let run = read_run(track.path("own.jsonl")).unwrap();
    assert_eq!(run.header.plan.margin(0), 0.99);

    rules("margn = 1\n");
    let refused = track.race(&work).ends_with(2);
    assert!(
        refused.stderr.contains("did you mean 'margin'?"),
        "{refused:?}"
    );
    // With `--test`, as in `cargo test`, the bench target does not read the rules file.
    track.run(&["--test", "--exact", "fine/work"]).ends_with(0);
}

#[test]
fn an_answer_names_its_limits_and_files_hold_the_rest() {
    let track = Track::new();
    let arguments = ["--exact", "fine/allocating", "--json"];
    let files = ["--export-hdr", "out.hdr", "--export-markdown", "out.md"];
    let done = track.race(&[&arguments[..], &files].concat()).ends_with(0);
    assert!(done.stderr.contains("this is a debug build"), "{done:?}");
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let comparison = &json["benchmarks"][0];
    assert_eq!(comparison["scope"], "binary", "{comparison}");
    let warnings = json.to_string();
    for warning in ["\"debug-build\"", "\"placement-fixed\""] {
        assert!(warnings.contains(warning), "{warning}: {json}");
    }
    // A counting allocator adds two metrics.
    for metric in ["allocations", "allocated-bytes"] {
        assert!(
            warnings.contains(&format!("\"{metric}\"")),
            "{metric}: {json}"
        );
    }
    let run = read_run(&track.runs()[0]).unwrap();
    let names: Vec<&str> = run
        .header
        .metrics
        .iter()
        .map(|metric| metric.name())
        .collect();
    assert_eq!(names[names.len() - 2..], ["allocations", "allocated-bytes"]);
    let size = |name| fs::metadata(track.path(name)).unwrap().len();
    assert!(size("out.hdr") > 100 && size("out.md") > 100);
    let table = fs::read_to_string(track.path("out.md")).unwrap();
    assert!(table.contains("two boxes"), "{table}");
}

#[test]
fn the_note_on_placement_is_for_people_too() {
    let track = Track::new();
    let one = ["--exact", "fine/work", "--quiet"];
    let done = track.race(&one).ends_with(0);
    done.tells("debug assertions");
    // Code placement alone never made a function take twice as long, so the note is missing.
    assert!(!done.stdout.contains("Link order alone"), "{done:?}");
    let all = track.race(&[&one[..], &["-v"]].concat()).ends_with(0);
    all.tells("This verdict is about the binary as it was linked.");
    assert!(!done.stderr.contains("debug build"), "{done:?}");
    let paired = track
        .race(&["fine/work", "end/exit", "--format", "paired"])
        .ends_with(3);
    paired.tells("ended its process with exit code 7");
}

/// Options for a race that is judged by the 99% quantile.
const TAIL: [&str; 5] = ["--bench", "--quantile", "99%", "--max-replicates", "6"];

#[test]
fn a_slow_path_that_got_slower_is_found_by_a_quantile_of_single_calls() {
    let track = Track::new();
    let mut command = track.command(&TAIL);
    command.args(["--exact", "rarely/slow", "--json", "--quiet"]);
    command.env("MISBEHAVE_RARELY", "1");
    let done = track.finish(command.spawn().unwrap()).ends_with(0);
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let found = &json["benchmarks"][0];
    assert_eq!(found["verdict"], "slower", "{found}");
    assert_eq!(found["quantile"], 0.99);
    assert_eq!(found["replicates"], found["blocks"]);
    assert!(found["change"].as_f64().unwrap() > 0.3, "{found}");
    let run = read_run(&track.runs()[0]).unwrap();
    assert_eq!(run.header.plan.design.quantile, Some(0.99));
    let samples = run.benchmarks[0].samples();
    assert!(samples.iter().all(|sample| sample.iterations == 1));
    assert!(samples.len() >= 6 * 1_000, "{}", samples.len());
}

#[test]
fn calls_that_cannot_be_timed_one_by_one_are_refused_with_the_reason() {
    let track = Track::new();
    let mut command = track.command(&TAIL);
    command.args(["fine/empty", "rarely/crowded", "--quiet"]);
    command.env("MISBEHAVE_RARELY", "1");
    let done = track.finish(command.spawn().unwrap()).ends_with(3);
    done.tells("cannot be timed call by call, which --quantile requires: a call takes about");
    done.tells("2 threads call it at the same time");
    let done = track.race(&["fine/work", "--quantile", "99%"]).ends_with(2);
    let told = words(&done.stderr);
    assert!(told.contains("--blocks 5: the quantile 0.99"), "{told}");
    assert!(told.contains("at least 250 blocks"), "{told}");
}

/// Races `fine/empty` with twelve replicates. Returns the notes of its workers on whether another
/// worker was running when they started.
fn presence(track: &Track, variable: &str) -> Vec<String> {
    let mut command = track.command(&["--bench", "--blocks", "5", "--max-replicates", "12"]);
    // With this margin and α, no look ends the race.
    command.args(["--exact", "fine/empty", "--quiet"]);
    command.args(["--margin", "0.001%", "--alpha", "0.0001"]);
    command.env("PRESENCE", track.folder.path());
    command.env(variable, "1");
    track.finish(command.spawn().unwrap()).ends_with(0);
    let notes = fs::read_to_string(track.path("presence.txt")).unwrap();
    let run = read_run(&track.runs()[0]).unwrap();
    let replicates = run.benchmarks[0].blocks().last().unwrap().replicate + 1;
    let lines: Vec<String> = notes.lines().map(str::to_owned).collect();
    assert!(
        lines.len() > replicates as usize,
        "a pilot and all replicates"
    );
    lines
}

/// Returns true if there are several cores and a single memory node.
fn may_start_together() -> bool {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    cores > 1 && !Path::new("/sys/devices/system/node/node1").exists()
}

#[test]
fn processes_of_replicates_start_together_and_wait_for_their_turn() {
    let notes = presence(&Track::new(), "PRESENCE_CALM");
    let together = notes.iter().filter(|note| *note == "together").count();
    assert_eq!(together > 0, may_start_together(), "{notes:?}");
}

#[test]
fn a_program_that_works_while_it_waits_is_started_at_its_turn() {
    let notes = presence(&Track::new(), "PRESENCE_RESTLESS");
    // Only the processes of the first joint start may be together.
    let together = notes.iter().filter(|note| *note == "together").count();
    assert!(together < 8, "{notes:?}");
    assert!(
        notes[notes.len() - 4..].iter().all(|note| note == "alone"),
        "{notes:?}"
    );
}

#[test]
fn a_program_that_cannot_be_there_twice_is_started_at_its_turn() {
    let notes = presence(&Track::new(), "PRESENCE_ALONE");
    assert!(
        notes[notes.len() - 4..].iter().all(|note| note == "alone"),
        "{notes:?}"
    );
}

#[test]
fn the_input_of_a_replicate_is_made_when_the_process_before_it_is_gone() {
    let track = Track::new();
    let mut command = track.command(&["--bench", "--blocks", "5", "--max-replicates", "12"]);
    command.args([
        "--exact", "owned", "--quiet", "--margin", "0.001%", "--alpha", "0.0001",
    ]);
    command.env("MISBEHAVE_OWNED", track.path("owned.lock"));
    track.finish(command.spawn().unwrap()).ends_with(0);
}
