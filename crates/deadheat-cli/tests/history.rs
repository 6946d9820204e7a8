//! Histories of commits, on repositories of git and run files that are made here: the numbers in
//! these are drawn, so nothing waits for a clock.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Finished, Track, said, says, wait_until};
use deadheat::parts::format::RunFileWriter;
use deadheat::parts::model::{BlockRecord, Commit, EndReason, Environment, RecordSink, RunHeader};
use deadheat_testing::random::Stream;
use deadheat_testing::runs::{
    benchmark, contenders, design, ended, function, header, one_look, sample,
};
use deadheat_testing::{kill, needs};
use serde_json::Value;

/// Replicates of a race.
const REPLICATES: u32 = 12;

/// The standard error of the effect of a race.
const SE: f64 = 0.001;

/// A repository whose commits change nothing.
struct Repository {
    track: Track,
    /// Full names, oldest first.
    commits: Vec<String>,
}

impl Repository {
    fn new(commits: usize) -> Self {
        let mut repository = Self {
            track: Track::new(),
            commits: Vec::new(),
        };
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        for _ in 0..commits {
            repository.commit();
        }
        repository
    }

    fn commit(&mut self) {
        let number = self.commits.len() + 1;
        self.git(&[
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            &format!("change {number}"),
        ]);
        let id = self.git(&["rev-parse", "HEAD"]).trim().to_owned();
        self.commits.push(id);
    }

    fn git(&self, args: &[&str]) -> String {
        let date = format!("{} +0000", self.time(self.commits.len()));
        let done = Command::new("git")
            .args([
                "-c",
                "user.name=A. Author",
                "-c",
                "user.email=author@example.org",
            ])
            .args(args)
            .current_dir(self.track.folder.path())
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// The time of a commit: a day after the one before it.
    fn time(&self, place: usize) -> u64 {
        1_767_225_600 + 86_400 * place as u64
    }

    fn run(&self, args: &[&str]) -> Finished {
        let all: Vec<&str> = [&["history"], args].concat();
        self.track.run(&all)
    }

    fn named(&self, place: usize) -> Commit {
        Commit {
            id: self.commits[place].clone(),
            committed_at: Some(self.time(place)),
            subject: format!("change {}", place + 1),
        }
    }

    /// Writes the run of a race between two commits, which showed this effect.
    fn race(&self, places: (usize, usize), effect: f64, machine: &str) -> PathBuf {
        let (old, new) = places;
        let path = self
            .track
            .path(&format!("runs/{old}-{new}-{machine}.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let commits = vec![self.named(old), self.named(new)];
        write_run(&path, commits, effect, machine);
        path
    }

    /// Races of all neighbours and of links of two, where each commit has this level.
    fn race_all(&self, level: impl Fn(usize) -> f64, machine: impl Fn(usize) -> &'static str) {
        for span in [1, 2] {
            for old in 0..self.commits.len() - span {
                let new = old + span;
                self.race((old, new), level(new) - level(old), machine(new));
            }
        }
    }

    fn show(&self) -> Value {
        self.run(&["show", "--json"]).succeeds().json()
    }
}

/// A repository of a C program whose benchmark goes through so many bytes, one commit for each; it
/// does not compile where there are none.
fn compiled(bytes: &[usize]) -> Repository {
    let mut repository = Repository::new(0);
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/deadheat.h");
    fs::copy(header, repository.track.path("deadheat.h")).unwrap();
    fs::write(repository.track.path(".gitignore"), "out\n").unwrap();
    for bytes in bytes {
        let limit = match bytes {
            0 => "no number".to_owned(),
            bytes => bytes.to_string(),
        };
        let program = format!(
            "#define DEADHEAT_IMPLEMENTATION\n#include <deadheat.h>\nstatic char text[65536];\n\
             DEADHEAT_BENCHMARK(scan) {{ unsigned sum = 5381; \
             for (int at = 0; at < {limit}; at++) sum = sum * 33 + text[at]; deadheat_keep(sum); }}\n\
             DEADHEAT_MAIN();\n"
        );
        fs::write(repository.track.path("bench.c"), program).unwrap();
        repository.git(&["add", "--all"]);
        repository.commit();
    }
    repository
}

const BUILD: [&str; 4] = [
    "--build",
    "cc -O2 -I. -pthread bench.c -o out",
    "--exe",
    "out",
];

fn header_of(commits: Vec<Commit>, machine: &str, seed: u64) -> RunHeader {
    let both = contenders(["old", "new"], &function(10));
    let header = header(
        design(one_look(REPLICATES)),
        seed,
        vec![benchmark("parse", both)],
    );
    RunHeader {
        started_at: Some(1_767_225_600 + seed % 1_000_000),
        environment: Environment {
            commits,
            machine: Some(machine.to_owned()),
            cpu: Some(format!("Processor {machine}")),
            ..Environment::default()
        },
        ..header
    }
}

/// Writes a run whose replicates scatter so that the effect has an error of about [`SE`].
fn write_run(path: &Path, commits: Vec<Commit>, effect: f64, machine: &str) {
    let seed = path.file_name().unwrap().as_encoded_bytes().iter();
    let seed = seed.fold(7_u64, |seed, byte| {
        seed.wrapping_mul(31).wrapping_add(u64::from(*byte))
    });
    let header = header_of(commits, machine, seed);
    let mut writer = RunFileWriter::create(path, &header).unwrap();
    append_replicates(&mut writer, 0..REPLICATES, effect, seed);
    writer.end(&ended(EndReason::Finished)).unwrap();
}

fn append_replicates(
    writer: &mut RunFileWriter,
    replicates: std::ops::Range<u32>,
    effect: f64,
    seed: u64,
) {
    let mut random = Stream(seed);
    let spread = SE * f64::from(REPLICATES).sqrt();
    for replicate in replicates {
        let own = effect + spread * random.normal();
        let time = |contender: u8| 1e5 * (own * f64::from(contender)).exp();
        let order = [0, 1, 1, 0];
        writer
            .block(&BlockRecord {
                replicate,
                elapsed_ns: 1_000 * u64::from(replicate + 1),
                samples: order.map(sample).to_vec(),
                values: order.map(time).to_vec(),
                ..BlockRecord::default()
            })
            .unwrap();
    }
}

/// A step of 2 % at the seventh of so many commits.
fn stepped(place: usize) -> f64 {
    if place >= 6 { 0.02 } else { 0.0 }
}

#[test]
fn a_step_is_found_at_its_commit_and_two_machines_put_none_into_the_curve() {
    needs!("git");
    let repository = Repository::new(12);
    repository.race_all(stepped, |new| if new < 4 { "old" } else { "new" });
    let added = repository.run(&["add", "runs"]);
    says(&added, 0, &["21 runs added", "holds 21 runs of 12 commits"]);
    let shown = repository.show();
    let series = &shown["benchmarks"][0];
    assert_eq!(series["benchmark"], "parse");
    let steps = series["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert_eq!(steps[0]["to"], repository.commits[6]);
    let change = steps[0]["change"].as_f64().unwrap();
    assert!((change - 0.0202).abs() < 0.004, "{change}");
    assert_eq!(shown["machines"].as_array().unwrap().len(), 2);
    assert_eq!(series["loops"]["degrees"], 10);
    let commits = series["commits"].as_array().unwrap();
    let order: Vec<&str> = commits
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(order, repository.commits);
    let text = repository.run(&["show"]);
    says(
        &text,
        0,
        &[
            "parse over 12 commits",
            "'change 7': +2.",
            "loops",
            "change 12",
        ],
    );
}

#[test]
fn a_machine_that_says_too_much_of_its_precision_is_named_and_widened() {
    needs!("git");
    let repository = Repository::new(24);
    let mut random = Stream(5);
    for span in [1, 2] {
        for old in 0..24 - span {
            let new = old + span;
            // Its errors are eight times what its replicates show.
            let (machine, effect) = match new {
                8..16 => ("bad", 8.0 * SE * random.normal()),
                _ => ("good", 0.0),
            };
            repository.race((old, new), effect, machine);
        }
    }
    repository.run(&["add", "runs"]).succeeds();
    let shown = repository.show();
    let loops = &shown["benchmarks"][0]["loops"];
    let widened = loops["widened"].as_array().unwrap();
    assert_eq!(widened.len(), 1, "{loops}");
    let machine = widened[0]["machine"].as_u64().unwrap() as usize;
    assert_eq!(shown["machines"][machine]["name"], "bad");
    let factor = widened[0]["factor"].as_f64().unwrap();
    assert!((3.0..20.0).contains(&factor), "{factor}");
    let text = repository.run(&["show"]);
    says(
        &text,
        0,
        &[
            "not all loops of races close",
            "the standard errors on Processor bad were",
        ],
    );
}

#[test]
fn an_index_that_was_deleted_is_made_again_and_adding_twice_adds_nothing() {
    needs!("git");
    let repository = Repository::new(5);
    repository.race_all(|_| 0.0, |_| "one");
    repository.run(&["add", "runs"]).succeeds();
    let first = repository.run(&["show", "--json"]).stdout;
    let again = repository.run(&["add", "runs/0-1-one.jsonl", "runs"]);
    says(&again, 0, &["0 runs added", "8 already known"]);
    assert_eq!(repository.run(&["show", "--json"]).stdout, first);
    fs::remove_file(repository.track.path(".deadheat/history.sqlite")).unwrap();
    repository
        .run(&["show"])
        .fails_with(2, &["there is no index", "history extend"]);
    // The advice names a folder of run files only if it exists.
    repository
        .run(&["show"])
        .fails_with(2, &["creates the index; deadheat history add FOLDER adds"]);
    let default = repository.track.path(".deadheat/runs");
    fs::create_dir_all(&default).unwrap();
    repository
        .run(&["show"])
        .fails_with(2, &["there is no index", "history add .deadheat/runs"]);
    fs::remove_dir(&default).unwrap();
    // An attempt that adds nothing creates no index.
    fs::write(repository.track.path("notes.txt"), "milk").unwrap();
    repository.run(&["add", ".deadheat/runs"]).fails_with(
        4,
        &[
            "the file or folder .deadheat/runs does not exist",
            "help: deadheat rev BASE --history and deadheat history extend",
        ],
    );
    repository.run(&["add", "notes.txt"]).fails_with(4, &[]);
    assert!(!repository.track.path(".deadheat/history.sqlite").exists());
    // In any order.
    let mut files: Vec<_> = fs::read_dir(repository.track.path("runs"))
        .unwrap()
        .collect();
    files.reverse();
    for file in files {
        let path = file.unwrap().path();
        repository.run(&["add", path.to_str().unwrap()]).succeeds();
    }
    assert_eq!(repository.run(&["show", "--json"]).stdout, first);
}

#[test]
fn a_run_that_went_on_replaces_what_was_known_of_it() {
    needs!("git");
    let repository = Repository::new(2);
    let path = repository.race((0, 1), 0.01, "one");
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    fs::write(&path, lines[..6].join("\n") + "\n").unwrap();
    repository.run(&["add", "runs"]).succeeds();
    let before = repository.show();
    fs::write(&path, &whole).unwrap();
    says(
        &repository.run(&["add", "runs"]),
        0,
        &["1 replaced by continuations", "holds 1 run"],
    );
    let after = repository.show();
    let change = |shown: &Value| shown["benchmarks"][0]["races"][0]["change"].clone();
    assert_ne!(change(&before), change(&after));
    assert_eq!(after["index"]["runs"], 1);
}

#[test]
fn a_run_is_replaced_by_its_continuation_only() {
    needs!("git");
    let repository = Repository::new(2);
    let path = repository.race((0, 1), 0.01, "one");
    let whole = fs::read_to_string(&path).unwrap();
    let push = ["push", "--branch", "runs", "runs"];
    repository.run(&["add", "runs"]).succeeds();
    repository.run(&push).succeeds();
    let honest = repository.show();
    let lines: Vec<&str> = whole.lines().collect();
    // A truncated copy has nothing new.
    fs::write(&path, lines[..6].join("\n") + "\n").unwrap();
    says(&repository.run(&["add", "runs"]), 0, &["1 already known"]);
    says(&repository.run(&push), 0, &["already contains these runs"]);
    // The blocks of another run after the first line.
    let other = repository.race((0, 1), 0.05, "two");
    let other = fs::read_to_string(other).unwrap();
    let forged = [lines[0], other.split_once('\n').unwrap().1].join("\n");
    fs::remove_file(repository.track.path("runs/0-1-two.jsonl")).unwrap();
    fs::write(&path, forged).unwrap();
    let said = &["does not continue it"];
    repository.run(&["add", "runs"]).fails_with(4, said);
    repository
        .run(&push)
        .fails_with(4, &["neither continues the other"]);
    assert_eq!(repository.show(), honest);
}

#[test]
fn what_says_nothing_of_commits_is_refused_by_name_and_passed_over_in_a_folder() {
    needs!("git");
    let repository = Repository::new(2);
    fs::create_dir(repository.track.path("runs")).unwrap();
    write_run(
        &repository.track.path("runs/bare.jsonl"),
        Vec::new(),
        0.0,
        "one",
    );
    let refused = repository.run(&["add", "runs/bare.jsonl"]);
    refused.fails_with(
        4,
        &[
            "runs/bare.jsonl does not record",
            "deadheat rev",
            "--commits",
        ],
    );
    says(
        &repository.run(&["add", "runs"]),
        0,
        &["0 runs added, 1 skipped (no comparison of two commits)"],
    );
    fs::write(repository.track.path("other.json"), r#"{"results": []}"#).unwrap();
    repository
        .run(&["add", "other.json"])
        .fails_with(4, &["other.json"]);
    let named = repository.run(&["add", "runs/bare.jsonl", "--commits", "HEAD~1..HEAD"]);
    says(&named, 0, &["1 run added"]);
    let to = &repository.show()["benchmarks"][0]["commits"][1]["id"];
    assert_eq!(*to, repository.commits[1]);
    let same = vec![repository.named(1), repository.named(1)];
    write_run(&repository.track.path("same.jsonl"), same, 0.0, "one");
    repository
        .run(&["add", "same.jsonl"])
        .fails_with(4, &["against itself"]);
}

#[test]
fn an_index_of_a_later_version_and_what_is_none_are_refused() {
    needs!("git");
    let repository = Repository::new(2);
    repository.race((0, 1), 0.0, "one");
    repository.run(&["add", "runs"]).succeeds();
    let path = repository.track.path(".deadheat/history.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    // Where SQLite keeps the version that its user gave the file.
    bytes[60..64].copy_from_slice(&2_u32.to_be_bytes());
    fs::write(&path, &bytes).unwrap();
    for command in [&["show"] as &[&str], &["add", "runs"], &["check"]] {
        repository
            .run(command)
            .fails_with(4, &["history.sqlite", "version 2", "later deadheat"]);
    }
    fs::write(
        &path,
        "no database, though it is long enough to look like one",
    )
    .unwrap();
    repository
        .run(&["show"])
        .fails_with(4, &["history.sqlite", "is not an index"]);
    // SQLite would keep a database of this name in memory.
    repository
        .run(&["add", "--index", ":memory:", "runs"])
        .succeeds();
    assert!(repository.track.path(":memory:").is_file());
    // A database of somebody else's.
    bytes[68..72].copy_from_slice(&7_u32.to_be_bytes());
    fs::write(&path, &bytes).unwrap();
    repository
        .run(&["add", "runs"])
        .fails_with(4, &["is not an index of a history"]);
}

#[test]
fn eight_processes_add_at_once_and_all_of_it_arrives() {
    needs!("git");
    let repository = Repository::new(41);
    for old in 0..40 {
        repository.race((old, old + 1), 0.0, "one");
    }
    let children: Vec<_> = (0..8)
        .map(|part| {
            let files = (0..40).filter(|old| old % 8 == part);
            let files: Vec<String> = files
                .map(|old| format!("runs/{old}-{}-one.jsonl", old + 1))
                .collect();
            let mut args = vec!["history", "add"];
            args.extend(files.iter().map(String::as_str));
            repository.track.start(&args)
        })
        .collect();
    for child in children {
        let done = Finished::from(child.wait_with_output().unwrap());
        says(&done, 0, &["5 runs added"]);
    }
    assert_eq!(repository.show()["index"]["runs"], 40);
}

#[test]
fn an_index_whose_writer_was_killed_is_whole_and_taken_up_again() {
    needs!("git");
    let repository = Repository::new(61);
    for old in 0..60 {
        repository.race((old, old + 1), 0.0, "one");
    }
    let index = repository.track.path(".deadheat/history.sqlite");
    for _ in 0..4 {
        let size = fs::metadata(&index).map_or(0, |about| about.len());
        let mut child = repository.track.start(&["history", "add", "runs"]);
        // In the middle of it, wherever that is.
        wait_until("the index grows, or all of it is there", || {
            let grown = fs::metadata(&index).is_ok_and(|about| about.len() > size);
            grown || child.try_wait().unwrap().is_some()
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let shown = repository.run(&["show", "--all", "--json"]);
        // It may have been killed before there was a table.
        let is_none = shown.code == Some(2) && shown.stderr.contains("there is no index");
        assert!(shown.code == Some(0) || is_none, "{shown:?}");
    }
    repository.run(&["add", "runs"]).succeeds();
    assert_eq!(repository.show()["index"]["runs"], 60);
}

#[test]
fn a_check_fails_until_the_step_is_accepted_and_again_when_that_is_taken_back() {
    needs!("git");
    let repository = Repository::new(12);
    repository.race_all(stepped, |_| "one");
    repository.run(&["add", "runs"]).succeeds();
    let short = &repository.commits[6][..8];
    let failed = repository.run(&["check"]);
    says(
        &failed,
        1,
        &[&format!("parse: step at {short}"), "history accept", short],
    );
    says(
        &repository.run(&["check", "--margin", "5%"]),
        0,
        &["no step"],
    );
    says(
        &repository.run(&["check", "--range", "HEAD~4..HEAD"]),
        0,
        &["no step"],
    );
    let late = repository.run(&["check", "--since", "1h"]);
    late.fails_with(2, &["nothing was checked", "--allow-unjudged"]);
    repository
        .run(&["check", "--since", "1h", "--allow-unjudged"])
        .succeeds();
    repository
        .run(&["accept", "HEAD~5", "validates its input"])
        .succeeds();
    says(
        &repository.run(&["check"]),
        0,
        &["no step", "one change is accepted"],
    );
    says(
        &repository.run(&["accept", "--list"]),
        0,
        &[short, "validates its input"],
    );
    says(
        &repository.run(&["show"]),
        0,
        &["accepted", "validates its input"],
    );
    // The index does not own it.
    fs::remove_file(repository.track.path(".deadheat/history.sqlite")).unwrap();
    repository.run(&["add", "runs"]).succeeds();
    repository.run(&["check"]).succeeds();
    repository.run(&["accept", "--remove", short]).succeeds();
    assert_eq!(repository.run(&["check"]).code, Some(1));
    let again = repository.run(&["accept", "--remove", short]);
    again.fails_with(2, &["no step at that commit was accepted"]);
    repository
        .run(&["accept", short, "of another", "--benchmark", "print"])
        .succeeds();
    assert_eq!(repository.run(&["check"]).code, Some(1));
}

#[test]
fn accepting_a_step_that_no_race_shows_is_said() {
    needs!("git");
    let repository = Repository::new(12);
    let unknown = repository.run(&["accept", "HEAD", "why"]);
    unknown.fails_with(2, &["there is no index", "history extend"]);
    repository.race_all(stepped, |_| "one");
    repository.run(&["add", "runs"]).succeeds();
    let elsewhere = ["--index", "nope.sqlite"];
    for words in [
        &["accept", "HEAD~5", "why"][..],
        &["accept", "--remove", "HEAD~5"],
        &["accept", "--list"],
    ] {
        let done = repository.run(&[words, &elsewhere].concat());
        done.fails_with(2, &["there is no index nope.sqlite", "help: "]);
    }
    assert!(!repository.track.path("accepted.toml").exists());
    let hint = "hint: ";
    for words in [
        &["accept", "HEAD~5", "why"][..],
        &["accept", "HEAD~5", "a better reason"],
        &["accept", "HEAD~5", "why", "--benchmark", "parse"],
    ] {
        let done = repository.run(words);
        done.succeeds();
        assert!(!done.stderr.contains(hint), "{done:?}");
        if words.contains(&"--benchmark") || words.contains(&"a better reason") {
            repository.run(&["accept", "--remove", "HEAD~5"]).succeeds();
        }
    }
    for words in [
        &["accept", "HEAD", "why"][..],
        &["accept", "HEAD~2", "why"],
        &["accept", "HEAD~5", "why", "--benchmark", "nosuch"],
    ] {
        let done = repository.run(words);
        done.succeeds();
        let says_it = done.stderr.contains("show no step") && done.stderr.contains("--remove");
        assert!(says_it, "{done:?}");
    }
}

#[test]
fn a_change_for_the_better_fails_a_check_of_both_alone() {
    needs!("git");
    let repository = Repository::new(12);
    repository.race_all(|place| -stepped(place), |_| "one");
    repository.run(&["add", "runs"]).succeeds();
    repository.run(&["check"]).succeeds();
    assert_eq!(repository.run(&["check", "--both"]).code, Some(1));
}

#[test]
fn a_step_among_commits_that_nobody_raced_is_told_as_a_range_to_be_bisected() {
    needs!("git");
    let repository = Repository::new(9);
    for (old, new) in [(0, 2), (2, 4), (4, 8), (0, 4), (2, 8)] {
        repository.race((old, new), stepped(new) - stepped(old), "one");
    }
    repository.run(&["add", "runs"]).succeeds();
    let [before, after] = [4, 8].map(|place| &repository.commits[place][..8]);
    let bisect = format!("deadheat bisect {before}..{after} --bench parse");
    let shown = repository.run(&["show"]);
    says(&shown, 0, &["one of the 3 commits between", &bisect]);
    says(&repository.run(&["check"]), 1, &[&bisect]);
    // A commit in between explains it.
    repository
        .run(&["accept", "HEAD~2", "it is this one"])
        .succeeds();
    repository.run(&["check"]).succeeds();
}

#[test]
fn commits_that_git_does_not_know_are_placed_by_their_time_and_told() {
    needs!("git");
    let mut repository = Repository::new(6);
    // Two commits that a rebase replaced, and whose objects are gone.
    let gone = ["1".repeat(40), "2".repeat(40)];
    repository.race_all(|_| 0.0, |_| "one");
    let (third, fourth) = (repository.commits[2].clone(), repository.commits[3].clone());
    repository.commits[2] = gone[0].clone();
    repository.commits[3] = gone[1].clone();
    repository.race((1, 2), 0.0, "rebased");
    repository.race((2, 3), 0.0, "rebased");
    (repository.commits[2], repository.commits[3]) = (third, fourth);
    repository.run(&["add", "runs"]).succeeds();
    let shown = repository.show();
    assert_eq!(shown["range"]["unknown"], 2);
    let commits = shown["benchmarks"][0]["commits"].as_array().unwrap();
    assert_eq!(commits.len(), 8);
    let by_time = |one: &&Value| one["order"] == "time";
    let strangers: Vec<&Value> = commits.iter().filter(by_time).collect();
    assert_eq!(strangers[0]["id"], gone[0]);
    assert_eq!(commits[3]["id"], gone[0], "beside the commit of its time");
    says(
        &repository.run(&["show"]),
        0,
        &["2 commits are not in this repository", "11111111?"],
    );
}

#[test]
fn a_history_is_shown_without_git_in_the_order_of_times() {
    needs!("git");
    let repository = Repository::new(8);
    repository.race_all(stepped, |_| "one");
    repository.run(&["add", "runs"]).succeeds();
    let with = repository.show();
    fs::rename(repository.track.path(".git"), repository.track.path("git")).unwrap();
    let mut command = repository.track.command();
    let without = command
        .env("PATH", "/nowhere")
        .args(["history", "show", "--json"]);
    let without = Finished::from(without.output().unwrap());
    let without = without.succeeds().json();
    assert_eq!(without["range"]["git"], false);
    let ids = |shown: &Value| -> Vec<String> {
        let commits = shown["benchmarks"][0]["commits"].as_array().unwrap();
        commits.iter().map(|one| one["id"].to_string()).collect()
    };
    assert_eq!(ids(&with), ids(&without));
    says(
        &repository.run(&["show"]),
        0,
        &["git is not available here"],
    );
    let range = repository.run(&["show", "--range", "HEAD~1..HEAD"]);
    assert_eq!(range.code, Some(2), "{range:?}");
}

#[test]
fn a_check_of_commits_that_no_races_compare_judges_nothing() {
    needs!("git");
    let repository = Repository::new(4);
    repository.race((0, 1), 0.0, "one");
    repository.race((2, 3), 0.0, "one");
    repository.run(&["add", "runs"]).succeeds();
    let checked = repository.run(&["check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(
        checked.stderr.contains("note: no races connect"),
        "{checked:?}"
    );
    for range in [&["--range", "HEAD~2..HEAD~1"][..], &["--last", "1"]] {
        let words = [&["check"], range].concat();
        repository
            .run(&words)
            .fails_with(2, &["nothing was checked"]);
        let allowed = [&words[..], &["--allow-unjudged"]].concat();
        repository.run(&allowed).succeeds();
    }
    // The newest commit of a range that the user names must be judged.
    repository.race((1, 2), 0.0, "one");
    fs::remove_file(repository.track.path("runs/2-3-one.jsonl")).unwrap();
    fs::remove_file(repository.track.path(".deadheat/history.sqlite")).unwrap();
    repository.run(&["add", "runs"]).succeeds();
    for range in [["--range", "HEAD~3..HEAD"], ["--tip", "HEAD"]] {
        repository
            .run(&[&["check"], &range[..]].concat())
            .fails_with(2, &["the newest commit of the range", "extend OLD..NEW"]);
    }
    let newest = repository.run(&["check"]);
    assert_eq!(newest.code, Some(0), "{newest:?}");
    assert!(newest.stderr.contains("was not raced"), "{newest:?}");
    let until = ["check", "--tip", "HEAD~1"];
    repository.run(&until).succeeds();
    let extend = ["extend", "HEAD~1..HEAD", "--fail-on", "slower"];
    repository
        .run(&extend)
        .fails_with(2, &["--fail-on", "history check"]);
}

#[test]
fn a_check_fails_on_a_step_in_either_direction_if_dates_order_its_commits() {
    needs!("git");
    let repository = Repository::new(12);
    repository.race_all(|place| -stepped(place), |_| "one");
    repository.run(&["add", "runs"]).succeeds();
    repository.run(&["check"]).succeeds();
    let mut command = repository.track.command();
    command.env("PATH", "/nowhere").args(["history", "check"]);
    let refused = Finished::from(command.output().unwrap());
    refused.fails_with(2, &["git is not in PATH"]);
    fs::rename(repository.track.path(".git"), repository.track.path("git")).unwrap();
    let mut command = repository.track.command();
    command.env("PATH", "/nowhere").args(["history", "check"]);
    let without_git = Finished::from(command.output().unwrap());
    assert_eq!(without_git.code, Some(1), "{without_git:?}");
    let note = "a step in either direction fails the check";
    assert!(without_git.stderr.contains(note), "{without_git:?}");
}

#[test]
fn a_check_names_benchmarks_that_the_newest_race_lacks() {
    needs!("git");
    let repository = Repository::new(3);
    for places in [(0, 1), (1, 2)] {
        repository.race(places, 0.0, "one");
    }
    let path = repository.race((0, 1), 0.0, "other");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("\"name\":\"parse\"", "\"name\":\"print\""),
    )
    .unwrap();
    repository.run(&["add", "runs"]).succeeds();
    let checked = repository.run(&["check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let short = &repository.commits[2][..8];
    let note = format!("note: print has no race at {short}");
    assert!(checked.stderr.contains(&note), "{checked:?}");
}

#[test]
fn a_check_of_races_that_contradict_each_other_judges_nothing() {
    needs!("git");
    let repository = Repository::new(4);
    repository.race_all(|_| 0.0, |_| "one");
    let path = repository.race((0, 3), 4.0, "one");
    assert!(path.exists());
    repository.run(&["add", "runs"]).succeeds();
    repository
        .run(&["check"])
        .fails_with(2, &["even a doubling could be chance", "too small"]);
    let allowed = repository.run(&["check", "--allow-unjudged"]);
    assert_eq!(allowed.code, Some(0), "{allowed:?}");
    assert!(
        allowed.stderr.contains("not all loops of races close"),
        "{allowed:?}"
    );
}

#[test]
fn a_check_of_imprecise_races_judges_nothing() {
    needs!("git");
    let repository = Repository::new(3);
    repository.race((0, 1), 0.0, "one");
    // Two replicates that differ by a factor of 1.5.
    let path = repository.track.path("runs/two-replicates.jsonl");
    let header = header_of(vec![repository.named(1), repository.named(2)], "one", 5);
    let mut writer = RunFileWriter::create(&path, &header).unwrap();
    append_replicates(&mut writer, 0..1, 0.0, 5);
    append_replicates(&mut writer, 1..2, 0.4, 5);
    writer.end(&ended(EndReason::Finished)).unwrap();
    repository.run(&["add", "runs"]).succeeds();
    repository
        .run(&["check"])
        .fails_with(2, &["even a doubling could be chance"]);
    repository.run(&["check", "--allow-unjudged"]).succeeds();
    // Each name must match a benchmark.
    repository
        .run(&["check", "parse", "prase"])
        .fails_with(6, &["no benchmark of this range is called prase"]);
}

#[test]
fn the_date_of_a_commit_does_not_take_it_out_of_a_check() {
    needs!("git");
    let mut repository = Repository::new(8);
    repository.git(&["commit", "--quiet", "--allow-empty", "--message", "slow"]);
    let id = repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repository.commits.push(id);
    for old in 0..8 {
        let effect = if old == 7 { 0.3 } else { 0.0 };
        let path = repository.race((old, old + 1), effect, "one");
        // A run file has the time that the author of a commit chose.
        let text = fs::read_to_string(&path).unwrap();
        let chosen = format!("\"committed_at\":{}", repository.time(8));
        fs::write(&path, text.replace(&chosen, "\"committed_at\":1577836800")).unwrap();
    }
    repository.run(&["add", "runs"]).succeeds();
    for since in ["2020-06-01", "2026-01-05"] {
        let checked = repository.run(&["check", "--since", since]);
        assert_eq!(checked.code, Some(1), "{checked:?}");
    }
}

#[test]
fn steps_below_the_margin_count_together_as_creep() {
    needs!("git");
    let repository = Repository::new(12);
    repository.race_all(|place| 0.03 * place as f64, |_| "one");
    repository.run(&["add", "runs"]).succeeds();
    let margin = ["check", "--margin", "5%"];
    repository.run(&margin).succeeds();
    let both = [&margin[..], &["--fail-on", "step,creep"]].concat();
    let words = ["steps below the margin add up to"];
    says(&repository.run(&both), 1, &words);
    for wrong in ["nan", "50", "-1%"] {
        let margin = format!("--margin={wrong}");
        repository
            .run(&["check", &margin])
            .fails_with(2, &["a share"]);
    }
}

#[test]
fn a_merge_counts_as_one_commit_unless_all_parents_are_asked_for() {
    needs!("git");
    let mut repository = Repository::new(3);
    repository.git(&["checkout", "--quiet", "-b", "topic"]);
    repository.commit();
    repository.git(&["checkout", "--quiet", "main"]);
    repository.commit();
    repository.git(&["merge", "--quiet", "--no-ff", "--no-edit", "topic"]);
    let merge = repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repository.commits.push(merge);
    for (old, new) in [(0, 1), (1, 2), (2, 3), (2, 4), (4, 5), (3, 5)] {
        repository.race((old, new), 0.0, "one");
    }
    repository.run(&["add", "runs"]).succeeds();
    let first = repository.show();
    assert_eq!(first["range"]["off_line"], 1);
    assert_eq!(
        first["benchmarks"][0]["commits"].as_array().unwrap().len(),
        5
    );
    // What its races say still counts: they close a loop.
    assert_eq!(first["benchmarks"][0]["loops"]["degrees"], 1);
    let all = repository.run(&["show", "--json", "--all-parents"]);
    let all = all.succeeds().json();
    assert_eq!(all["benchmarks"][0]["commits"].as_array().unwrap().len(), 6);
}

#[test]
fn a_part_of_the_history_is_asked_for_by_number_by_age_and_by_range() {
    needs!("git");
    let repository = Repository::new(10);
    repository.race_all(|_| 0.0, |_| "one");
    repository.run(&["add", "runs"]).succeeds();
    let shown = |args: &[&str]| {
        let done = repository.run(&[&["show", "--json"], args].concat());
        let shown = done.succeeds().json();
        let commits = shown["benchmarks"][0]["commits"].as_array().unwrap();
        let ids = commits
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(shown(&[]), repository.commits);
    assert_eq!(shown(&["--last", "3"]), repository.commits[7..]);
    assert_eq!(shown(&["--since", "2026-01-08"]), repository.commits[7..]);
    assert_eq!(
        shown(&["--range", "HEAD~5..HEAD~2"]),
        repository.commits[4..8]
    );
    assert_eq!(shown(&["--all"]), repository.commits);
    for words in [
        &["show", "print"][..],
        &["check", "print", "--allow-unjudged"],
    ] {
        let unknown = repository.run(words);
        unknown.fails_with(6, &["no benchmark of this range is called print"]);
    }
    for range in ["HEAD~5..HEAD", "HEAD~3..", "v1..v2"] {
        let words = ["show", range];
        let help = format!("--range {range}");
        repository.run(&words).fails_with(6, &["is called", &help]);
    }
    repository
        .run(&["show", "--last", "3", "--all"])
        .fails_with(2, &["--all"]);
}

#[test]
fn the_page_holds_the_curve_the_step_and_the_files_and_no_script() {
    needs!("git");
    let repository = Repository::new(12);
    repository.race_all(stepped, |new| if new < 4 { "a" } else { "b" });
    repository.run(&["add", "runs"]).succeeds();
    fs::create_dir(repository.track.path("site")).unwrap();
    let written = repository.run(&["page", "--html", "site/history.html"]);
    assert_eq!(said(&written), "site/history.html");
    let page = fs::read_to_string(repository.track.path("site/history.html")).unwrap();
    assert!(!page.contains("<script"));
    for part in [
        "href=\"../runs/0-1-a.jsonl\"",
        "class=\"step\"",
        "class=\"plateau\"",
        "Processor a",
        "'change 7'".replace('\'', "&#39;").as_str(),
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    assert_eq!(page.matches("<circle").count(), 12);
    assert!(!page.contains(">page</a>"));
    let with_races = ["--html", "site/history.html", "--races", "site/races"];
    let written = repository.run(&[&["page"], &with_races[..]].concat());
    assert_eq!(said(&written), "site/history.html");
    let page = fs::read_to_string(repository.track.path("site/history.html")).unwrap();
    assert!(page.contains("<a href=\"races/runs-0-1-a.jsonl.html\">page</a>"));
    let race = repository.track.path("site/races/runs-0-1-a.jsonl.html");
    assert!(fs::read_to_string(race).unwrap().contains("deadheat"));
    let nowhere = repository.run(&["page", "--html", "missing/history.html"]);
    assert_eq!(nowhere.code, Some(2), "{nowhere:?}");
}

#[test]
fn a_range_is_raced_around_a_commit_that_does_not_build_and_only_once() {
    needs!("git");
    let repository = compiled(&[20_000, 20_000, 0, 30_000, 30_000]);
    let extend = [
        "extend",
        "HEAD~4..HEAD",
        "--max-replicates",
        "6",
        "--max-span",
        "2",
    ];
    let first = repository.run(&[&extend[..], &BUILD].concat());
    let broken = &repository.commits[2][..8];
    says(
        &first,
        0,
        &[
            "5 pairs of commits raced",
            &format!("skipped {broken}"),
            "0 left",
        ],
    );
    assert!(
        first.stderr.contains("deadheat skips this commit"),
        "{}",
        first.stderr
    );
    let shown = repository.show();
    let steps = shown["benchmarks"][0]["steps"].as_array().unwrap().iter();
    // By chance, one of three links between builds of one source may be a step: p just below 5%.
    let is_chance = |step: &&Value| {
        let number = |key: &str| step[key].as_f64().unwrap();
        number("p_value") > 0.001 && number("change").abs() < 0.01
    };
    let (chance, steps): (Vec<&Value>, Vec<&Value>) = steps.partition(is_chance);
    assert!(chance.len() <= 1, "{chance:?}");
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert_eq!(steps[0]["to"], repository.commits[3]);
    assert_eq!(steps[0]["worse"], true);
    // What is changed and not committed has no part in it.
    fs::write(repository.track.path("bench.c"), "no program").unwrap();
    let again = repository.run(&[&extend[..], &BUILD, &["--margin", "20%"]].concat());
    says(
        &again,
        0,
        &["0 pairs of commits raced, 5 already precise enough"],
    );
    assert!(
        again.stderr.contains("uncommitted changes are ignored"),
        "{}",
        again.stderr
    );
}

#[test]
fn an_interrupted_range_keeps_what_was_raced_and_goes_on() {
    needs!("git");
    let repository = compiled(&[20_000, 21_000, 22_000, 23_000]);
    let extend = [&["history", "extend", "HEAD~3..HEAD"][..], &BUILD].concat();
    let child = repository.track.start(&extend);
    let index = repository.track.path(".deadheat/history.sqlite");
    wait_until("a race is in the index", || {
        let shown = repository.run(&["show", "--json"]);
        index.exists() && shown.code == Some(0) && shown.json()["index"]["runs"] != 0
    });
    assert!(kill(&["-INT", &child.id().to_string()]));
    let done = Finished::from(child.wait_with_output().unwrap());
    says(&done, 130, &["run the same command again to continue"]);
    let kept = repository.show()["index"]["runs"].as_u64().unwrap();
    let rest = repository.track.run(&extend);
    says(&rest, 0, &["already precise enough, 0 left"]);
    assert!(repository.show()["index"]["runs"].as_u64().unwrap() > kept);
}

#[test]
fn a_pair_is_raced_again_for_another_selection() {
    needs!("git");
    let repository = compiled(&[20_000, 40_000]);
    let extend = |more: &[&str]| {
        let words = [&["extend", "HEAD~1..HEAD"][..], &BUILD, more].concat();
        repository.run(&words)
    };
    let wide = ["--margin", "40%"];
    let narrow = ["--margin", "40%", "--metric", "cpu"];
    for more in [&wide[..], &narrow] {
        let first = extend(more);
        says(
            &first,
            0,
            &["1 pair of commits raced, 0 already precise enough"],
        );
        let again = extend(more);
        says(
            &again,
            0,
            &["0 pairs of commits raced, 1 already precise enough"],
        );
    }
}

#[test]
fn a_race_of_two_commits_is_added_when_it_is_asked_for() {
    needs!("git");
    let repository = compiled(&[20_000, 30_000]);
    let race = ["rev", "HEAD~1..HEAD", "--history", "--max-replicates", "6"];
    let done = repository.track.run(&[&race[..], &BUILD].concat());
    let done = done.succeeds();
    assert!(done.stderr.contains("1 run added"), "{}", done.stderr);
    assert_eq!(repository.show()["index"]["runs"], 1);
    fs::write(repository.track.path("bench.c"), "int main;").unwrap();
    let dirty = ["rev", "HEAD", "--history"];
    let done = repository.track.run(&[&dirty[..], &BUILD].concat());
    assert_ne!(done.code, Some(0), "{done:?}");
}

#[test]
fn runs_are_kept_on_a_branch_that_is_never_checked_out() {
    needs!("git");
    let repository = Repository::new(12);
    repository.race_all(stepped, |_| "one");
    let before = repository.git(&["status", "--porcelain"]);
    let push = ["push", "--branch", "runs", "runs"];
    says(&repository.run(&push), 0, &["21 runs committed to runs"]);
    says(&repository.run(&push), 0, &["already contains these runs"]);
    assert_eq!(repository.git(&["status", "--porcelain"]), before);
    assert_eq!(
        repository.git(&["rev-list", "--count", "runs", "--"]),
        "1\n"
    );
    fs::remove_dir_all(repository.track.path("runs")).unwrap();
    let added = repository.run(&["add", "--branch", "runs"]);
    says(&added, 0, &["21 runs added"]);
    let shown = repository.show();
    assert_eq!(shown["benchmarks"][0]["steps"].as_array().unwrap().len(), 1);
    let path = shown["benchmarks"][0]["races"][0]["run"].as_str().unwrap();
    assert!(path.starts_with("runs:runs/"), "{path}");
    // What was measured since comes on top.
    let more = repository.race((0, 11), 0.02, "two");
    let more = more.to_str().unwrap();
    says(
        &repository.run(&["push", "--branch", "runs", more]),
        0,
        &["1 run committed"],
    );
    says(
        &repository.run(&["add", "--branch", "runs"]),
        0,
        &["1 run added, 21 already known"],
    );
    repository
        .run(&["add", "--branch", "nowhere"])
        .fails_with(2, &["there is no branch 'nowhere'"]);
    let other = repository.track.path("other.jsonl");
    fs::write(&other, "{}\n").unwrap();
    repository
        .run(&["push", "--branch", "runs", "other.jsonl"])
        .fails_with(4, &["other.jsonl"]);
}

#[test]
fn four_processes_commit_to_one_branch_at_once() {
    needs!("git");
    let repository = Repository::new(5);
    for old in 0..4 {
        repository.race((old, old + 1), 0.0, "one");
    }
    let children: Vec<_> = (0..4)
        .map(|old| {
            let file = format!("runs/{old}-{}-one.jsonl", old + 1);
            let args = ["history", "push", "--branch", "runs", &file];
            repository.track.start(&args)
        })
        .collect();
    for child in children {
        says(
            &Finished::from(child.wait_with_output().unwrap()),
            0,
            &["1 run committed"],
        );
    }
    says(
        &repository.run(&["add", "--branch", "runs"]),
        0,
        &["4 runs added"],
    );
}

#[test]
fn parts_of_a_race_are_merged_before_they_are_added() {
    needs!("git");
    let repository = compiled(&[20_000, 30_000]);
    for part in ["1", "2"] {
        let (shard, file) = (format!("{part}/2"), format!("part-{part}.jsonl"));
        let race = [
            "rev",
            "HEAD~1..HEAD",
            "--seed",
            "7",
            "--max-replicates",
            "12",
        ];
        let rest = ["--shard", &shard, "--save", &file];
        let done = repository.track.run(&[&race[..], &rest, &BUILD].concat());
        done.succeeds();
    }
    let refused = repository.run(&["add", "part-1.jsonl"]);
    refused.fails_with(4, &["part-1.jsonl is part 1 of 2", "deadheat merge"]);
    let parts = [
        "merge",
        "part-1.jsonl",
        "part-2.jsonl",
        "--save",
        "whole.jsonl",
    ];
    repository.track.run(&parts).succeeds();
    says(
        &repository.run(&["add", "whole.jsonl"]),
        0,
        &["1 run added"],
    );
    assert_eq!(repository.show()["machines"][0]["name"], "2 hosts");
}
