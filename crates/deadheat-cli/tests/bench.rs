//! `deadheat bench` with real programs: Rust, Python and shell, racing or
//! refusing to.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use common::{Finished, Track, suite, text};
use deadheat_testing::needs;

/// Few replicates, and always the same choices: what is asserted are directions
/// and words, not times.
const QUICK: [&str; 4] = ["--max-replicates", "6", "--seed", "7"];

/// The worker in Python that the documents show.
fn worker() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let worker = root.join("examples/workers/worker.py");
    format!("python3 {}", worker.canonicalize().unwrap().display())
}

impl Track {
    /// Puts the suite here under another name.
    fn build(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::copy(suite(), &path).unwrap();
        path
    }

    fn script(&self, name: &str, body: &str) {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn bench(&self, args: &[&str]) -> Finished {
        let mut all = vec!["bench"];
        all.extend(args);
        self.run(&all)
    }
}

/// The verdicts by benchmark.
fn verdicts(done: &Finished) -> Vec<(String, String)> {
    let json = done.json();
    let benchmarks = json["benchmarks"].as_array().unwrap().iter();
    let words = benchmarks.map(|one| {
        let word = |field: &str| one[field].as_str().unwrap_or("none").to_owned();
        (word("benchmark"), word("verdict"))
    });
    words.collect()
}

#[test]
fn a_build_that_does_twice_the_work_is_slower_and_the_other_benchmark_is_raced_too() {
    let track = Track::new();
    let (old, new) = (track.build("old"), track.build("new"));
    let slower = format!("{} --slow", text(&new));
    let mut args = vec!["./old", &slower, "work", "several", "--json"];
    args.extend(["--fail-on", "slower"]);
    args.extend(QUICK);
    let done = track.bench(&args);
    assert_eq!(done.code, Some(1), "{done:?}");
    let verdicts = verdicts(&done);
    assert_eq!(verdicts[0], ("work".to_owned(), "slower".to_owned()));
    let names: Vec<&str> = verdicts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["work", "several (few)", "several (many)"]);
    let json = done.json();
    let one = &json["benchmarks"][0];
    assert_eq!(one["baseline"]["name"], "old");
    assert_eq!(one["candidate"]["name"], slower.as_str());
    assert!(one["change"].as_f64().unwrap() > 0.5, "{one}");
    assert!(json.get("left_out").is_none(), "{json}");
    // Two processes per replicate, and two for the pilot.
    assert!(json["launches"].as_u64().unwrap() >= 3 * 2 * 4, "{json}");
    drop(old);
    // The record can be held to the same rule again, to the same bytes.
    let [record] = &track.recorded()[..] else {
        panic!("one run was recorded");
    };
    let again = track.run(&["analyze", "--json", "--fail-on", "slower", text(record)]);
    assert_eq!((again.code, again.stdout), (Some(1), done.stdout));
}

#[test]
fn a_race_that_stopped_too_early_is_taken_up_and_called() {
    let track = Track::new();
    let slower = format!("{} --slow", text(&track.build("new")));
    track.build("old");
    let short = ["--max-replicates", "2", "--save", "run.jsonl", "--json"];
    let sides = ["./old", &slower, "work"];
    let done = track.bench(&[&sides[..], &short].concat());
    assert_eq!(verdicts(done.succeeds())[0].1, "none");
    let said = track.run(&["analyze", "run.jsonl", "-v"]);
    let words: Vec<&str> = said.stdout.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains("deadheat bench --resume FILE"), "{words}");
    let before = fs::read(track.path("run.jsonl")).unwrap();
    // That of a command line is about the contenders of a plan, which is frozen.
    for (more, told) in [
        (vec!["./old"], "cannot be used with"),
        (vec!["--margin", "2%"], "cannot be used with"),
        (vec!["--max-replicates", "0"], "at least 1"),
    ] {
        let words = [&["--resume", "run.jsonl"][..], &more].concat();
        track.bench(&words).fails_with(2, &[told]);
    }
    let elsewhere = track.run(&["run", "--resume", "run.jsonl"]);
    elsewhere.fails_with(4, &["run.jsonl holds a race of programs", "deadheat bench"]);
    assert_eq!(fs::read(track.path("run.jsonl")).unwrap(), before);
    let resume = ["--resume", "run.jsonl", "--max-replicates", "10"];
    let gated = ["--json", "--fail-on", "slower"];
    let resumed = track.bench(&[&resume[..], &gated].concat());
    assert_eq!(resumed.code, Some(1), "{resumed:?}");
    assert_eq!(verdicts(&resumed)[0].1, "slower");
    let after = fs::read(track.path("run.jsonl")).unwrap();
    assert!(after.starts_with(&before), "nothing recorded is rewritten");
    let again = track.run(&["analyze", "--json", "--fail-on", "slower", "run.jsonl"]);
    assert_eq!(again.stdout, resumed.stdout);
}

#[test]
fn contenders_of_one_program_race_each_other_and_are_taken_up_again() {
    let track = Track::new();
    track.build("old");
    let mut args = vec!["./old", "several", "-q"];
    args.extend(QUICK);
    let done = track.bench(&args);
    let said = &done.succeeds().stdout;
    assert!(said.contains("'many' is slower"), "{said}");
    assert!(said.contains(" replicates in "), "{said}");
    let [record] = &track.recorded()[..] else {
        panic!("one run was recorded");
    };
    let resumed = track.bench(&["--resume", text(record), "-q"]);
    let said = &resumed.succeeds().stdout;
    assert!(said.contains("'many' is slower"), "{said}");
}

#[test]
fn programs_in_two_languages_race_what_both_have_and_the_rest_is_named() {
    needs!("python3");
    let track = Track::new();
    track.build("rust");
    let worker = worker();
    let mut args = vec!["./rust", &worker, "-n", "rust", "-n", "python"];
    args.extend(["--export-csv", "samples.csv", "--max-replicates", "2"]);
    let done = track.bench(&args);
    let said = &done.succeeds().stdout;
    assert!(
        said.contains("2 benchmarks only in 'rust': work, several."),
        "{said}"
    );
    assert!(
        said.contains("1 benchmark only in 'python': sum."),
        "{said}"
    );
    // Metrics that only one of them has are left away.
    let csv = fs::read_to_string(track.path("samples.csv")).unwrap();
    assert!(csv.starts_with(
        "benchmark,replicate,block,slot,contender,role,iterations,wall_ns,cpu_ns,flags\n"
    ));
    assert!(csv.contains("\nsort,0,0,"), "{csv}");
}

#[test]
fn a_list_names_pairs_and_what_is_left_out_and_races_nothing() {
    needs!("python3");
    let track = Track::new();
    track.build("rust");
    let done = track.bench(&["./rust", &worker(), "-n", "a", "-n", "b", "--list"]);
    assert_eq!(
        done.succeeds().stdout,
        "sort: benchmark\n2 benchmarks only in 'a': work, several.\n\
         1 benchmark only in 'b': sum.\n"
    );
    assert!(track.recorded().is_empty());
    let all = track.bench(&["./rust", "--list", "--include-ignored", "--skip", "so"]);
    let all = &all.succeeds().stdout;
    assert_eq!(
        all,
        "work: benchmark\nseveral: benchmark\nbroken: benchmark\n"
    );
}

#[test]
fn rows_name_the_candidate_of_one_program_and_not_that_of_two_builds() {
    let track = Track::new();
    track.build("old");
    let named = |words: &[&str]| {
        let all = [
            words,
            &["several", "--max-replicates", "2", "--junit", "t.xml"],
        ]
        .concat();
        track.bench(&all).succeeds();
        fs::read_to_string(track.path("t.xml")).unwrap()
    };
    let alone = named(&["./old"]);
    assert!(alone.contains(r#"name="several: many""#), "{alone}");
    let builds = named(&["./old", "./old"]);
    assert!(builds.contains(r#"name="several (many)""#), "{builds}");
}

#[test]
fn a_filter_that_selects_nothing_ends_with_a_code_of_its_own() {
    let track = Track::new();
    track.build("old");
    for words in [
        &["./old", "./old", "nothing"][..],
        &["./old", "./old", "nothing", "--fail-on", "slower"],
        &[
            "./old",
            "./old",
            "nothing",
            "--fail-on",
            "slower",
            "--allow-unjudged",
        ],
        &["./old", "./old", "nothing", "--list"],
        &["./old", "nothing"],
        &["./old", "./old", "--skip", "r"],
    ] {
        let told = ["no benchmark is selected; there are work,"];
        track.bench(words).fails_with(6, &told);
    }
    let exact = track.bench(&["./old", "./old", "several", "--exact", "--list"]);
    let exact = &exact.succeeds().stdout;
    assert_eq!(
        exact,
        "several (few): benchmark\nseveral (many): benchmark\n"
    );
}

#[test]
fn a_benchmark_that_breaks_down_costs_itself_only() {
    let track = Track::new();
    track.build("old");
    let mut args = vec!["./old", "./old", "--include-ignored", "broken", "work"];
    args.extend(QUICK);
    let done = track.bench(&args);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(
        done.stdout.contains("benchmark 'broken' failed: "),
        "{done:?}"
    );
    assert!(done.stdout.contains("out of cheese"), "{done:?}");
    assert!(done.stdout.contains("1 failed;"), "{done:?}");
    assert!(done.stdout.contains("work"), "{done:?}");
}

#[test]
fn programs_that_hold_no_benchmarks_are_named_with_what_they_did() {
    let track = Track::new();
    track.build("old");
    track.script("other", "echo other things; exit 1");
    fs::write(track.path("data"), "").unwrap();
    track
        .bench(&["./old", "./missing"])
        .fails_with(3, &["there is no program './missing'"]);
    track.bench(&["./data", "./old"]).fails_with(
        3,
        &["'./data' cannot be started", "not executable", "chmod +x"],
    );
    track.bench(&["./old", "/bin/true"]).fails_with(
        3,
        &[
            "'/bin/true' ended its process with exit code 0",
            "lists no benchmarks",
            "docs/suites.md",
        ],
    );
    track
        .bench(&["./old", "./other"])
        .fails_with(3, &["'./other'", "exit code 1"]);
    track
        .bench(&["./old", "sh 'a"])
        .fails_with(6, &["no benchmark is selected"]);
}

#[test]
fn a_worker_of_another_release_is_told_apart_from_one_that_is_broken() {
    let track = Track::new();
    track.build("new");
    let hello = r#"{"hello":{"protocol":1,"worker":"w","metrics":["wall_ns"]}}"#;
    let body = format!("w=${{DEADHEAT_WORKER#*,}}; echo '{hello}' > /proc/self/fd/${{w%%,*}}");
    track.script("old", &body);
    track.bench(&["./old", "./new"]).fails_with(
        3,
        &[
            "'./old'",
            "version 1 of the worker protocol",
            "this deadheat uses version 2",
        ],
    );
}

/// A script that answers as Google Benchmark does, and lists its benchmarks so.
fn google_benchmark(lists: &str) -> String {
    let nothing = "^deadheat_matches_nothing$";
    format!(
        "case \"$*\" in *matches_nothing*) \
         echo 'Failed to match any benchmarks against regex: {nothing}' >&2; exit 0;; esac; {lists}"
    )
}

#[test]
fn programs_of_two_kinds_or_with_nothing_in_common_cannot_race() {
    let track = Track::new();
    track.build("worker");
    track.script("google", &google_benchmark("echo BM_Sum/8; echo BM_Sort"));
    track.script("another", &google_benchmark("echo BM_Other"));
    track.bench(&["./worker", "./google"]).fails_with(
        2,
        &["'./worker' is a worker and './google' a Google Benchmark executable"],
    );
    track.bench(&["./google", "./another"]).fails_with(
        2,
        &[
            "'google' and 'another' have no benchmark in common",
            "2 benchmarks only in 'google': BM_Sum/8, BM_Sort.",
            "1 benchmark only in 'another': BM_Other.",
        ],
    );
    let listed = track.bench(&["./google", "Sum", "Sort", "--list"]);
    listed.fails_with(2, &["have no benchmark in common"]);
    let listed = track.bench(&["./google", "./google", "--list"]);
    let listed = &listed.succeeds().stdout;
    assert_eq!(listed, "BM_Sum/8: benchmark\nBM_Sort: benchmark\n");
}

#[test]
fn what_makes_no_sense_names_its_option() {
    let track = Track::new();
    track.build("old");
    for (args, told) in [
        (&["./old", "./old", "-n", "a"][..], "--name was given once"),
        (&["./old", "./old", "-n", "a", "-n", "a"], "--name a"),
        (&["./old", "-n", "a"], "--name a"),
        (&["./old", "--metric", "cycles", "work"], "--metric cycles"),
        (&["./old", "--timeout", "soon"], "--timeout"),
        (
            &["./old", "--max-replicates", "0", "work"],
            "--max-replicates",
        ),
    ] {
        track.bench(args).fails_with(2, &[told]);
    }
}

#[test]
fn arguments_behind_the_dashes_reach_both_programs() {
    let track = Track::new();
    let body = google_benchmark("echo BM_One");
    track.script("seen", &format!("echo \"$@\" >> seen.txt; {body}"));
    let done = track.bench(&[
        "./seen",
        "--benchmark_x=1",
        "./seen",
        "--list",
        "--",
        "--mine",
    ]);
    done.succeeds();
    let seen = fs::read_to_string(track.path("seen.txt")).unwrap();
    // Each program lists its benchmarks, and shows that it is of Google Benchmark.
    assert_eq!(seen.lines().count(), 4);
    for line in seen.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        assert!(
            words.contains(&"--benchmark_x=1") && words.contains(&"--mine"),
            "{line}"
        );
    }
}

#[test]
fn a_file_of_python_is_started_by_the_python_that_is_named_and_two_of_these_are_the_sides() {
    let track = Track::new();
    let worker = worker().replacen("python3 ", "", 1);
    fs::copy(worker, track.path("mine.py")).unwrap();
    fs::set_permissions(track.path("mine.py"), fs::Permissions::from_mode(0o644)).unwrap();
    for name in ["old", "new"] {
        track.script(
            name,
            &format!("echo {name} \"$1\" >> started; exec python3 \"$@\""),
        );
    }
    let few = [
        "sort",
        "-q",
        "--max-replicates",
        "6",
        "--blocks",
        "5",
        "--json",
    ];
    let race = |words: &[&str]| track.bench(&[words, &few[..]].concat());
    let pythons = ["--python", "./old", "--python", "./new"];
    let done = race(&[&["mine.py"], &pythons[..]].concat());
    let answer = done.succeeds().json();
    let row = &answer["benchmarks"][0];
    let names = ["baseline", "candidate"].map(|side| row[side]["name"].as_str().unwrap());
    assert_eq!(
        (row["benchmark"].as_str(), names),
        (Some("sort"), ["old", "new"])
    );
    let started = fs::read_to_string(track.path("started")).unwrap();
    assert!(
        started.contains("old mine.py") && started.contains("new mine.py"),
        "{started}"
    );
    // Two files and one Python for both; and none, where any will do.
    fs::copy(track.path("mine.py"), track.path("other.py")).unwrap();
    race(&["mine.py", "other.py", "--python", "./old"]).succeeds();
    race(&["mine.py"]).succeeds();
    // With a path the file is no program either.
    race(&["./mine.py"]).succeeds();
    race(&["./old", "--python", "./new"])
        .fails_with(2, &["--python ./new", "'./old' is not a .py file"]);
    let third = [&["mine.py", "--python", "c"], &pythons[..]].concat();
    race(&third).fails_with(2, &["3 times", "two sides"]);
    race(&["mine.py", "--python", "no-such-python"]).fails_with(3, &["no-such-python"]);
}
