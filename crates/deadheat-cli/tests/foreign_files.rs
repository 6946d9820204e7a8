//! Files that start programs: deadheat starts those that this user wrote on this machine, and others
//! only if the user agrees.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::{Finished, Track, text};
use deadheat_testing::needs;

const REFUSED: [&str; 3] = [
    "your deadheat did not write this file on this machine",
    "touch 'a mark'",
    "help: --trust",
];

/// Two commands that take no time, with a hook.
const PAIR: [&str; 5] = ["-p", "true", "--", "true", "true "];

/// Twelve replicates of two commands that take no time.
fn recorded(track: &Track) {
    // Too few for a verdict: one in twenty pairs of the same command got one, and a resumed race
    // then has nothing left to run.
    let words = ["run", "-q", "--no-config", "-r", "4", "--save", "r.jsonl"];
    track.run(&[&words[..], &PAIR].concat()).succeeds();
}

/// Writes `source` with another hook to `target`.
fn forge(track: &Track, source: &str, target: &str) {
    let whole = fs::read_to_string(track.path(source)).unwrap();
    let forged = whole.replacen(
        r#""prepare":["true"]"#,
        r#""prepare":["touch","a mark"]"#,
        1,
    );
    assert_ne!(forged, whole);
    fs::write(track.path(target), forged).unwrap();
}

/// Runs it as another user would, whose folder of state is another one.
fn as_another(track: &Track, words: &[&str]) -> Finished {
    let mut command = track.command();
    command.env("XDG_STATE_HOME", track.path("their state"));
    Finished::from(command.args(words).output().unwrap())
}

#[track_caller]
fn marked(track: &Track) -> bool {
    let mark = track.path("a mark");
    let is_there = mark.exists();
    let _ = fs::remove_file(mark);
    is_there
}

#[test]
fn a_run_file_with_other_commands_is_listed_and_not_started() {
    let track = Track::new();
    recorded(&track);
    forge(&track, "r.jsonl", "forged.jsonl");
    let before = fs::read(track.path("forged.jsonl")).unwrap();
    for words in [
        &["run", "-q", "--resume", "forged.jsonl"][..],
        &["explain", "-q", "forged.jsonl"],
    ] {
        track.run(words).fails_with(2, &REFUSED);
        assert!(!marked(&track), "{words:?}");
    }
    assert_eq!(fs::read(track.path("forged.jsonl")).unwrap(), before);
    let trusted = ["run", "-q", "--resume", "forged.jsonl", "--trust"];
    let once = ["--max-replicates", "1"];
    track.run(&[&trusted[..], &once].concat()).succeeds();
    assert!(marked(&track));
}

#[test]
fn the_users_own_run_file_starts_under_any_name_until_the_list_is_gone() {
    let track = Track::new();
    recorded(&track);
    fs::rename(track.path("r.jsonl"), track.path("moved.jsonl")).unwrap();
    let words = [
        "run",
        "-q",
        "--resume",
        "moved.jsonl",
        "--max-replicates",
        "1",
    ];
    track.run(&words).succeeds();
    let foreign = "your deadheat did not write this file on this machine";
    as_another(&track, &words).fails_with(2, &[foreign, "  true"]);
    // There is no place for a list.
    let mut command = track.command();
    command.env_remove("XDG_STATE_HOME").env_remove("HOME");
    let homeless = Finished::from(command.args(words).output().unwrap());
    homeless.fails_with(
        2,
        &["cannot use its list", "neither HOME nor XDG_STATE_HOME"],
    );
}

#[test]
fn a_list_that_others_can_write_trusts_nothing() {
    let track = Track::new();
    let run = |words: &[&str]| as_another(&track, words);
    let record = ["run", "-q", "--no-config", "-r", "12", "--save", "r.jsonl"];
    run(&[&record[..], &PAIR].concat()).succeeds();
    let words = ["run", "-q", "--resume", "r.jsonl", "--max-replicates", "1"];
    run(&words).succeeds();
    let list = track.path("their state/deadheat/made/list");
    fs::set_permissions(&list, fs::Permissions::from_mode(0o666)).unwrap();
    let why = format!("another user owns or can write {}", list.display());
    run(&words).fails_with(2, &["deadheat cannot use its list", &why]);
}

#[test]
fn a_plan_and_a_pack_start_where_they_were_made_and_elsewhere_by_trust() {
    let track = Track::new();
    let plan = ["plan", "run", "-r", "12", "--save", "plan.json"];
    track.run(&[&plan[..], &PAIR].concat()).succeeds();
    track
        .run(&["pack", "plan.json", "-o", "race.tar.zst"])
        .succeeds();
    forge(&track, "plan.json", "forged.json");
    // A pack of a plan of another user is no better than the plan.
    as_another(
        &track,
        &["pack", "plan.json", "-o", "theirs.tar.zst", "--yes"],
    )
    .succeeds();
    let race = |file: &str, more: &[&str]| {
        let save = format!("{file}.jsonl");
        let words = ["run", "-q", "--plan", file, "--save", &save];
        let words = [&words[..], more].concat();
        (track.run(&words), as_another(&track, &words))
    };
    track
        .run(&["run", "-q", "--plan", "forged.json", "--save", "f.jsonl"])
        .fails_with(2, &REFUSED);
    for file in ["plan.json", "race.tar.zst"] {
        let (ours, theirs) = race(file, &["--trust"]);
        ours.succeeds();
        // Only the name of the run file is taken.
        theirs.fails_with(2, &["exists already"]);
        fs::remove_file(track.path(&format!("{file}.jsonl"))).unwrap();
        let (ours, theirs) = race(file, &[]);
        ours.succeeds();
        theirs.fails_with(2, &["--plan", "your deadheat did not write", "  true"]);
    }
    // One file more, and it is another pack.
    fs::write(track.path("more"), "more").unwrap();
    let words = [
        "pack",
        "plan.json",
        "--file",
        "more",
        "-o",
        "changed.tar.zst",
    ];
    as_another(&track, &[&words[..], &["--yes"]].concat()).succeeds();
    let (changed, _) = race("changed.tar.zst", &[]);
    changed.fails_with(2, &["your deadheat did not write this file"]);
}

#[test]
fn a_part_that_another_user_began_is_set_aside_and_not_continued() {
    let track = Track::new();
    let words = [
        "run",
        "-q",
        "--max-replicates",
        "12",
        "--shard",
        "1/2",
        "--save",
        "part.jsonl",
    ];
    let words = [&words[..], &PAIR].concat();
    track.run(&words).succeeds();
    let path = track.path("part.jsonl");
    forge(&track, "part.jsonl", "part.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let begun: Vec<&str> = whole.lines().take(4).collect();
    fs::write(&path, begun.join("\n") + "\n").unwrap();
    track
        .run(&words)
        .fails_with(0, &["another user or machine", "part.jsonl.before"]);
    assert!(!marked(&track));
}

#[test]
fn a_search_of_another_user_does_not_build() {
    needs!("git");
    let track = Track::new();
    track.commits(3);
    let search = [
        "bisect",
        "HEAD~2..HEAD",
        "-q",
        "--build",
        "true",
        "--run",
        "true",
    ];
    let limits = ["--max-races", "1", "--max-replicates", "6"];
    track.run(&[&search[..], &limits].concat()).succeeds();
    let folder = track.path(".deadheat/bisect");
    let record = fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    track.run(&["bisect", "-q", "--resume"]).succeeds();
    let whole = fs::read_to_string(&record).unwrap();
    let forged = whole.replacen(r#""--build","true""#, r#""--build","touch 'a mark'""#, 1);
    assert_ne!(forged, whole);
    let begun = forged.lines().next().unwrap().to_owned() + "\n";
    fs::write(track.path("forged.jsonl"), begun).unwrap();
    let resume = ["bisect", "-q", "--resume", "forged.jsonl"];
    let refused = [
        "your deadheat did not write this file",
        "a mark",
        "help: --trust",
    ];
    track.run(&resume).fails_with(2, &refused);
    assert!(!track.path("forged.jsonl.before").exists());
    track.run(&[&resume[..], &["--trust"]].concat()).succeeds();
}

/// Runs it in a terminal, types `y` before it starts, and this after the question.
fn typed(track: &Track, answer: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_deadheat");
    let line =
        format!("sleep 0.5; '{program}' run -q --color never --resume f.jsonl --max-replicates 1");
    let mut script = Command::new("sh");
    script
        .args([
            "-c",
            "rm -f shown; { echo y; \
             for _ in $(seq 200); do grep -qs 'type y' shown && break; sleep 0.05; done; \
             printf '%s\\n' \"$1\"; } \
             | timeout 60 script -q -f -e -c \"$2\" shown",
            "sh",
        ])
        .args([answer, &line])
        .current_dir(track.folder.path())
        .env("LC_ALL", "C.UTF-8")
        .env("DEADHEAT_CALIBRATION", "")
        .env("XDG_STATE_HOME", track.path("their state"));
    let done = script.output().unwrap();
    let shown = String::from_utf8_lossy(&done.stdout).replace("\r\n", "\n");
    (done.status.code(), shown)
}

#[test]
fn in_a_terminal_the_user_sees_the_commands_and_is_asked() {
    let track = Track::new();
    recorded(&track);
    forge(&track, "r.jsonl", "f.jsonl");
    let (code, shown) = typed(&track, "n");
    assert_eq!(code, Some(2), "{shown}");
    for word in ["touch 'a mark'", "type y", "not started"] {
        assert!(shown.contains(word), "'{word}' is missing: {shown}");
    }
    assert!(!marked(&track));
    let (code, shown) = typed(&track, "y");
    assert_eq!(code, Some(0), "{shown}");
    assert!(marked(&track));
}

#[test]
fn trust_is_for_files_alone() {
    let track = Track::new();
    for words in [
        &["run", "--trust", "--", "true", "true "][..],
        &["bench", "--trust", "./a", "./b"],
        &["explain", "--trust", "--", "true", "true "],
        &["explain", "--trust", "true", "true"],
        &["bisect", "--trust", "HEAD~2..HEAD"],
    ] {
        let done = track.run(words);
        assert_eq!(done.code, Some(2), "{words:?} {done:?}");
    }
}

#[test]
fn a_race_of_programs_with_benchmarks_is_no_exception() {
    let track = Track::new();
    fs::copy(common::suite(), track.path("suite")).unwrap();
    let program = track.path("suite");
    let words = [
        "bench",
        "-q",
        "--no-config",
        "--max-replicates",
        "6",
        "--save",
        "r.jsonl",
    ];
    let race = [&words[..], &[text(&program), text(&program), "work"]].concat();
    track.run(&race).succeeds();
    let resume = [
        "bench",
        "-q",
        "--resume",
        "r.jsonl",
        "--max-replicates",
        "1",
    ];
    track.run(&resume).succeeds();
    as_another(&track, &resume).fails_with(2, &["--resume r.jsonl", "/suite", "help: --trust"]);
    as_another(&track, &[&resume[..], &["--trust"]].concat()).succeeds();
}
