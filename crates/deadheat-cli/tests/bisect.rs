//! `deadheat bisect` on real repositories, whose steps are so large that a busy machine shows them.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use common::worker::repository;
use common::{Finished, Track, wait_until};
use deadheat_testing::{kill, needs};
use serde_json::Value;

/// A repository of scripts that count to some number.
struct Repo(Track);

/// Counts of a script that takes some milliseconds, and of one that takes half as long again.
const FEW: u32 = 4_000;
const MANY: u32 = 6_000;

impl Repo {
    fn new() -> Self {
        let repo = Self(Track::new());
        repo.git(&["init", "--quiet", "--initial-branch", "main"]);
        repo
    }

    /// So many commits, from the count of each; those listed do not build.
    fn with(counts: &[u32], broken: &[usize]) -> Self {
        let repo = Self::new();
        for (number, count) in counts.iter().enumerate() {
            repo.write_commit(number, *count, broken.contains(&number));
        }
        repo
    }

    fn write_commit(&self, number: usize, count: u32, is_broken: bool) {
        let script = format!("i=0\nwhile [ $i -lt {count} ]; do i=$((i+1)); done # {number}\n");
        fs::write(self.0.path("work.sh"), script).unwrap();
        let _ = fs::remove_file(self.0.path("broken"));
        if is_broken {
            fs::write(self.0.path("broken"), "").unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&[
            "commit",
            "--quiet",
            "--message",
            &format!("change {number}"),
        ]);
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.0.folder.path());
        command.args(["-c", "user.name=Ada", "-c", "user.email=a@x"]);
        let done = Finished::from(command.args(args).output().unwrap());
        done.succeeds().stdout.trim().to_owned()
    }

    /// The commit of this number from the end.
    fn id(&self, back: usize) -> String {
        self.git(&["rev-parse", &format!("HEAD~{back}")])
    }

    /// The words of a search.
    fn words<'a>(range: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let mut words = vec!["bisect", range, "--margin", "10%"];
        words.extend(["--build", "test ! -e broken", "--run", "sh work.sh"]);
        words.extend(more);
        words
    }

    fn bisect(&self, range: &str, more: &[&str]) -> Finished {
        self.0.run(&Self::words(range, more))
    }

    fn records(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.0.path(".deadheat/bisect")).unwrap();
        folder.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Ten commits after the first, the seventh of which is slower.
fn counts() -> Vec<u32> {
    (0..11)
        .map(|number| if number >= 7 { MANY } else { FEW })
        .collect()
}

#[test]
fn the_commit_that_made_it_slower_is_named_with_what_it_changes() {
    needs!("git");
    let repo = Repo::with(&counts(), &[5, 9]);
    fs::write(repo.0.path("work.sh"), "exit 1\n").unwrap();
    let done = repo.bisect("HEAD~10..HEAD", &["--html", "page.html"]);
    let text = &done.succeeds().stdout;
    let culprit = repo.id(3);
    assert!(
        text.contains(&format!("It is {} 'change 7'", &culprit[..8])),
        "{text}"
    );
    assert!(
        text.contains("], slower") && text.contains("by Ada"),
        "{text}"
    );
    assert!(text.contains("work.sh"), "{text}");
    assert!(
        done.stderr
            .contains("the working tree has uncommitted changes")
    );
    let page = fs::read_to_string(repo.0.path("page.html")).unwrap();
    assert!(page.contains("change 7") && page.contains("</html>"));

    let story = repo.0.run(&["bisect", "--log"]);
    let story = &story.succeeds().stdout;
    assert!(
        story.contains("were searched for a step of 10% in wall time"),
        "{story}"
    );
    assert!(
        story.contains(&format!("{} is the answer", &culprit[..8])),
        "{story}"
    );

    let again = repo
        .0
        .run(&["bisect", "--resume", "--json"])
        .succeeds()
        .json();
    assert_eq!(again["schema"], "deadheat.bisect-answer/1");
    let failing = repo
        .0
        .run(&["bisect", "--resume", "-q", "--fail-on", "slower"]);
    assert_eq!(failing.code, Some(1), "{failing:?}");
    let passing = repo
        .0
        .run(&["bisect", "--resume", "-q", "--fail-on", "inconclusive"]);
    passing.succeeds();
    assert_eq!(again["answer"]["kind"], "commits");
    assert_eq!(
        again["answer"]["commits"],
        Value::from(vec![culprit.clone()])
    );
    assert!(again["step"]["change"].as_f64().unwrap() > 0.1, "{again}");
    assert_eq!(again["named"][0]["author"], "Ada");
    assert_eq!(
        again["unbuildable"].as_array().unwrap().len().min(1),
        usize::from(text.contains("could not be built"),)
    );
}

#[test]
fn an_improvement_is_found_between_a_slow_good_and_a_fast_bad() {
    needs!("git");
    let counts: Vec<u32> = (0..7)
        .map(|number| if number >= 2 { FEW } else { MANY })
        .collect();
    let repo = Repo::with(&counts, &[]);
    let done = repo.bisect("HEAD~6..HEAD", &["-q"]);
    let text = &done.succeeds().stdout;
    assert!(
        text.contains("'change 2'") && text.contains("], faster"),
        "{text}"
    );
    assert_eq!(done.stderr, "");
}

#[test]
fn commits_that_came_by_a_merge_are_one_commit_unless_all_parents_are_asked_for() {
    needs!("git");
    let repo = Repo::with(&[FEW, FEW], &[]);
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.write_commit(2, MANY, false);
    fs::write(repo.0.path("other"), "").unwrap();
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "--message", "another"]);
    repo.git(&["checkout", "--quiet", "main"]);
    fs::write(repo.0.path("third"), "").unwrap();
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "--message", "on main"]);
    repo.git(&[
        "merge",
        "--quiet",
        "--no-ff",
        "--message",
        "merge topic",
        "topic",
    ]);
    let done = repo.bisect("main~2..main", &[]);
    let text = &done.succeeds().stdout;
    assert!(text.contains("'merge topic'"), "{text}");
    let base = repo.git(&["merge-base", "main^1", "topic"]);
    let branch = repo.git(&["rev-parse", "topic"]);
    let next = format!("deadheat bisect {}..{} ", &base[..8], &branch[..8]);
    assert!(text.contains(&next), "{text}");
    assert!(done.stderr.contains("2 from merges"), "{}", done.stderr);
    let done = repo.bisect("main~2..main", &["--all-parents"]);
    let text = &done.succeeds().stdout;
    assert!(text.contains("'change 2'"), "{text}");
}

#[test]
fn executables_of_the_same_bytes_are_not_raced_and_the_benchmark_that_changed_is_found() {
    needs!("git");
    let repo = Repo::new();
    fs::write(repo.0.path(".gitignore"), "suite\n").unwrap();
    for number in 0..9 {
        let rounds = if number >= 6 { 1_500 } else { 1_000 };
        let source = format!(
            "#define DEADHEAT_IMPLEMENTATION\n#include <deadheat.h>\n\
             static uint64_t spin(uint64_t x, int n) {{ for (int i = 0; i < n; i++) {{ x ^= x << 13; x ^= x >> 7; x ^= x << 17; }} return x; }}\n\
             DEADHEAT_BASELINE(parse, now) {{ deadheat_keep(spin(7, {rounds})); }}\n\
             DEADHEAT_BASELINE(print, now) {{ deadheat_keep(spin(7, 1000)); }}\n\
             DEADHEAT_MAIN();\n"
        );
        fs::write(repo.0.path("suite.c"), source).unwrap();
        fs::write(repo.0.path("README"), format!("{number}\n")).unwrap();
        repo.git(&["add", "--all"]);
        repo.git(&[
            "commit",
            "--quiet",
            "--message",
            &format!("change {number}"),
        ]);
    }
    let header = repository().join("include").canonicalize().unwrap();
    let build = format!("cc -O2 -I '{}' -o suite suite.c", header.display());
    let words = [
        "bisect",
        "HEAD~8..HEAD",
        "--build",
        &build,
        "--exe",
        "suite",
    ];
    let done = repo
        .0
        .run(&[&words[..], &["--prior", "diff", "--margin", "5%"]].concat());
    let text = &done.succeeds().stdout;
    assert!(
        text.contains("'change 6'") && text.contains("], slower"),
        "{text}"
    );
    assert!(text.contains("are byte-identical"), "{text}");
    assert!(
        text.contains("Of all benchmarks, 'parse' changed most"),
        "{text}"
    );
    assert!(text.contains("$ deadheat rev"), "{text}");

    let other = [
        &words[..],
        &["--bench", "print", "--margin", "5%", "-q", "--json"],
    ]
    .concat();
    let answer = repo.0.run(&other).succeeds().json();
    assert_eq!(answer["answer"]["kind"], "no-step", "{answer}");
    let missing = repo.0.run(&[&words[..], &["--bench", "pars"]].concat());
    missing.fails_with(6, &["no benchmark is selected; there are parse, print"]);
}

/// Returns a shell script that behaves like an executable of Google Benchmark. Each of `benchmarks`
/// is a name and the shell code of its run, which sets the time `t` or fails.
fn stand_in(benchmarks: &[(&str, &str)]) -> String {
    let names: Vec<&str> = benchmarks.iter().map(|(name, _)| *name).collect();
    let case = |(name, time): &(&str, &str)| format!("*=^{name}\\$*) n={name}; {time};;\n");
    let cases: String = benchmarks.iter().map(case).collect();
    format!(
        r#"#!/bin/sh
case "$*" in
*=^deadheat_matches_nothing$)
echo 'Failed to match any benchmarks against regex: ^deadheat_matches_nothing$' >&2; exit;;
*--benchmark_list_tests*) printf '%s\n' {}; exit 0;;
{cases}esac
for argument; do case $argument in
  --benchmark_out=*) out=${{argument#*=}};;
  --benchmark_repetitions=*) repetitions=${{argument#*=}};;
esac; done
report() {{
  echo '{{"context":{{}},"benchmarks":['
  k=0; while [ $k -lt $repetitions ]; do
    [ $k = 0 ] || echo ,
    echo '{{"name":"'$n'","run_name":"'$n'","run_type":"iteration","threads":1,"iterations":1000,'
    echo '"real_time":'$t.$k',"cpu_time":'$t.$k',"time_unit":"ns"}}'
    k=$((k+1))
  done; echo ']}}'
}}
report > "$out"
"#,
        names.join(" ")
    )
}

/// A repository with a commit for each of `suites`, and the words of a search in it.
fn with_suites(suites: &[String]) -> (Repo, [&'static str; 8]) {
    let repo = Repo::new();
    for (number, suite) in suites.iter().enumerate() {
        let path = repo.0.path("suite");
        fs::write(&path, suite).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let text = format!("change {number}");
        repo.git(&["add", "--all"]);
        repo.git(&["commit", "--quiet", "--message", &text]);
    }
    let words = "bisect HEAD~1..HEAD --build true --exe suite --max-replicates 6";
    let words: Vec<&'static str> = words.split(' ').collect();
    (repo, words.try_into().unwrap())
}

#[test]
fn benchmarks_that_only_one_end_has_or_that_fail_are_named() {
    needs!("git");
    let (repo, words) = with_suites(&[
        stand_in(&[("gone", "t=100"), ("same", "t=100"), ("crashing", "t=100")]),
        stand_in(&[("same", "t=100"), ("crashing", "exit 9")]),
    ]);
    let gate = [&words[..], &["-q", "--fail-on", "slower"]].concat();
    let done = repo.0.run(&gate);
    assert_eq!(done.code, Some(3), "{done:?}");
    for words in [
        "no step of 0.5% or more in the benchmarks that were measured",
        "! benchmark 'crashing' failed: ",
        "exit code 9",
        ": gone.",
        "Only 'same' was measured",
    ] {
        assert!(done.stdout.contains(words), "{words}: {done:?}");
    }
    let again = repo.0.run(&["bisect", "--resume", "--json"]);
    assert_eq!(again.code, Some(3), "{again:?}");
    let unmeasured = &again.json()["unmeasured"];
    assert_eq!(unmeasured[0]["benchmark"], "gone");
    assert_eq!(unmeasured[0]["reason"], "only-in");
    assert_eq!(unmeasured[1]["benchmark"], "crashing");
    assert_eq!(unmeasured[1]["reason"], "failed");
}

#[test]
fn a_gate_on_slowdowns_is_about_the_largest_slowdown() {
    needs!("git");
    let (repo, words) = with_suites(&[
        stand_in(&[("alpha", "t=200"), ("beta", "t=100")]),
        stand_in(&[("alpha", "t=100"), ("beta", "t=120")]),
    ]);
    let done = repo.0.run(&[&words[..], &["-q"]].concat());
    let text = &done.succeeds().stdout;
    assert!(text.contains("'alpha' changed most"), "{text}");
    assert!(text.contains("'beta' (+"), "{text}");
    let other = ["bisect", "--resume", "-q", "--fail-on", "slower"];
    repo.0
        .run(&other)
        .fails_with(2, &["is about 'alpha', but 'beta' is slower"]);
    let done = repo
        .0
        .run(&[&words[..], &["-q", "--fail-on", "slower"]].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    let text = &done.stdout;
    assert!(text.contains("'beta' has the largest slowdown"), "{text}");
    assert!(text.contains("'alpha' (−"), "{text}");
}

#[test]
fn a_first_race_that_the_budget_ends_gives_no_answer() {
    needs!("git");
    let slow = "sleep 0.2; t=100";
    let suite = |last| stand_in(&[("one", slow), ("two", slow), ("three", last)]);
    let (repo, words) = with_suites(&[suite(slow), suite("sleep 0.2; t=200")]);
    let gate = ["-q", "--fail-on", "slower", "--budget", "2s"];
    let done = repo.0.run(&[&words[..], &gate].concat());
    done.fails_with(2, &["no race ended, so --fail-on could judge nothing"]);
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("the time budget was used up. The first race was too short"),
        "{text}"
    );
    assert!(
        text.contains("too short to calibrate and race it): two, three"),
        "{text}"
    );
    assert!(!text.contains("no step"), "{text}");
}

#[test]
fn a_search_that_was_interrupted_or_killed_goes_on() {
    needs!("git");
    let repo = Repo::with(&counts(), &[]);
    let words = Repo::words("HEAD~10..HEAD", &[]);
    let races = |repo: &Repo| {
        let text = repo
            .records()
            .into_iter()
            .map(|path| fs::read_to_string(path).unwrap());
        text.collect::<String>().matches("{\"begun\"").count()
    };
    for (signal, begun) in [("-INT", 1), ("-KILL", 3)] {
        let child = repo.0.start(&words);
        wait_until("a race to begin", || {
            repo.0.path(".deadheat/bisect").exists() && races(&repo) >= begun
        });
        assert!(kill(&[signal, &child.id().to_string()]));
        let done = Finished::from(child.wait_with_output().unwrap());
        if signal == "-INT" {
            done.fails_with(130, &["deadheat bisect --resume .deadheat/bisect/"]);
        }
    }
    let done = repo.0.run(&words);
    let text = &done.succeeds().stdout;
    assert!(
        text.contains("It is") && text.contains("'change 7'"),
        "{text}"
    );
    assert!(
        done.stderr.contains("of this range in .deadheat/bisect/"),
        "{}",
        done.stderr
    );
    assert_eq!(repo.records().len(), 1);

    let kept = repo.0.run(&["clean", "--dry-run"]);
    assert!(
        kept.succeeds().stdout.contains("records of searches"),
        "{}",
        kept.stdout
    );

    // Once answered, the same question is a new search.
    let done = repo.0.run(&words);
    assert!(
        done.succeeds().stderr.contains("its record is now in"),
        "{}",
        done.stderr
    );
    assert_eq!(repo.records().len(), 2);
}

#[test]
fn a_budget_leaves_the_search_open_with_the_commits_that_are_left() {
    needs!("git");
    let repo = Repo::with(&counts(), &[]);
    let open = repo.bisect("HEAD~10..HEAD", &["--max-races", "1", "--json", "-q"]);
    let answer = &open.succeeds().json()["answer"];
    assert_eq!(
        (&answer["kind"], &answer["reason"]),
        (&"open".into(), &"races".into())
    );
    assert!(
        answer["candidates"].as_array().unwrap().len() > 1,
        "{answer}"
    );
    let done = repo.bisect("HEAD~10..HEAD", &["--budget", "1ms"]);
    let text = &done.succeeds().stdout;
    assert!(text.contains("the time budget was used up"), "{text}");
    let gate = ["--budget", "1ms", "--fail-on", "slower"];
    let nothing = repo.bisect("HEAD~10..HEAD", &gate);
    nothing.fails_with(2, &["--fail-on could judge nothing", "--allow-unjudged"]);
    repo.bisect(
        "HEAD~10..HEAD",
        &[&gate[..], &["--allow-unjudged"]].concat(),
    )
    .succeeds();
    let done = repo.0.run(&[
        "bisect",
        "--resume",
        "--budget",
        "10min",
        "--max-races",
        "40",
    ]);
    assert!(
        done.succeeds().stdout.contains("'change 7'"),
        "{}",
        done.stdout
    );
}

#[test]
fn a_command_that_cannot_race_is_refused_without_options_that_a_search_lacks() {
    needs!("git");
    let repo = Repo::with(&[FEW, FEW], &[]);
    for (run, words) in [
        ("make && ./tool", ["no shell reads the '&&'", "--build CMD"]),
        ("./tool > out", ["no shell reads the '>", "--build CMD"]),
        ("N=1 ./tool", ["only a shell sets a variable", "sh -c"]),
    ] {
        let line = ["bisect", "HEAD~1..HEAD", "--run", run];
        repo.0.run(&line).fails_with(2, &words);
    }
    let done = repo.0.run(&["bisect", "HEAD~1..HEAD", "--run", "false 1"]);
    done.fails_with(3, &["exited with code 1"]);
    assert!(!done.stderr.contains("-i accepts"), "{done:?}");
    let quoted = ["bisect", "HEAD~1..HEAD", "--run", "sh -c 'false && true'"];
    repo.0.run(&quoted).fails_with(3, &["exited with code 1"]);
}

#[test]
fn what_cannot_be_searched_is_told_with_its_reason() {
    needs!("git");
    let repo = Repo::with(&[FEW, FEW, FEW], &[2]);
    repo.bisect("HEAD~2..HEAD", &[])
        .fails_with(3, &["BAD, ", "test ! -e broken"]);
    repo.bisect("HEAD~2", &[])
        .fails_with(2, &["write GOOD..BAD"]);
    repo.bisect("HEAD..HEAD~1", &[])
        .fails_with(2, &["is not an ancestor"]);
    repo.bisect("HEAD..HEAD", &[])
        .fails_with(2, &["the same commit"]);
    repo.bisect("HEAD~1..HEAD", &["--save", "x"])
        .fails_with(2, &["--save"]);
    repo.bisect("HEAD~1..HEAD", &["--export-csv", "x"])
        .fails_with(2, &["--export-csv"]);
    repo.0
        .run(&["bisect", "--log", "nowhere.jsonl"])
        .fails_with(4, &["nowhere.jsonl"]);
    for option in ["--log", "--resume"] {
        let other = ["--resume", "--log"]
            .into_iter()
            .find(|other| *other != option);
        let done = repo.0.run(&["bisect", option, "HEAD~1..HEAD"]);
        let way = format!("deadheat bisect GOOD..BAD, without {option}, begins a search");
        done.fails_with(4, &["the record HEAD~1..HEAD does not exist", &way]);
        assert!(!done.stderr.contains(other.unwrap()), "{done:?}");
    }
    let newer = "{\"schema\":\"deadheat.bisect/2\"}\n";
    fs::write(repo.0.path("newer.jsonl"), newer).unwrap();
    for option in ["--log", "--resume"] {
        repo.0
            .run(&["bisect", option, "newer.jsonl"])
            .fails_with(4, &["needs a later deadheat"]);
    }

    let shallow = Track::new();
    let from = format!("file://{}", repo.0.folder.path().display());
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", "--depth", "1", &from, "."]);
    let done = Finished::from(clone.current_dir(shallow.folder.path()).output().unwrap());
    done.succeeds();
    let good = repo.id(2);
    let mut git = Command::new("git");
    git.args(["fetch", "--quiet", "--depth", "1", "origin", &good]);
    let _ = git.current_dir(shallow.folder.path()).output();
    shallow
        .run(&["bisect", &format!("{good}..HEAD"), "--run", "sh work.sh"])
        .fails_with(2, &[&good[..7]]);
}

#[test]
fn nothing_is_searched_where_there_is_nothing_to_go_on_with() {
    let track = Track::new();
    track
        .run(&["bisect", "--resume"])
        .fails_with(2, &["no search was found"]);
    track
        .run(&["bisect", "--log"])
        .fails_with(2, &["no search was found"]);
}
