//! Plans that are written down, packed with what they race, and raced elsewhere.

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use common::{Finished, Track, says, wait_until};
use deadheat::parts::format::read_header;
use deadheat_testing::blocks_in;
use serde_json::Value;

/// A track with two programs that read one input.
fn with_programs() -> Track {
    let track = Track::new();
    for (name, seconds) in [("old", "0.001"), ("new", "0.05")] {
        let script = format!("#!/bin/sh\ncat \"$1\" > /dev/null && sleep {seconds}\n");
        write_program(&track, name, &script);
    }
    fs::write(track.path("input"), "words").unwrap();
    track
}

fn write_program(track: &Track, name: &str, script: &str) {
    fs::write(track.path(name), script).unwrap();
    let runnable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(track.path(name), runnable).unwrap();
}

const PAIR: [&str; 3] = ["--", "./old input", "./new input"];

fn planned(track: &Track, more: &[&str]) -> Finished {
    let plan = [
        "plan",
        "run",
        "--save",
        "plan.json",
        "--max-replicates",
        "12",
    ];
    track.run(&[&plan, more, &PAIR[..]].concat())
}

fn packed(track: &Track) -> Finished {
    planned(track, &[]).succeeds();
    track.run(&["pack", "plan.json", "-o", "race.tar.zst"])
}

/// Another machine, which has nothing but the pack.
fn elsewhere(track: &Track) -> Track {
    let other = Track::new();
    fs::copy(track.path("race.tar.zst"), other.path("race.tar.zst")).unwrap();
    other
}

fn raced(track: &Track, plan: &str, part: &str) -> Finished {
    let file = format!("part-{}.jsonl", part.split('/').next().unwrap());
    track.run(&[
        "run", "-q", "--plan", plan, "--shard", part, "--save", &file,
    ])
}

#[test]
fn a_plan_is_written_down_and_nothing_is_raced() {
    let track = with_programs();
    let done = planned(&track, &["--seed", "7"]);
    says(
        &done,
        0,
        &["plan in plan.json: 1 benchmark, 12 replicates at most, seed 7"],
    );
    assert_eq!(blocks_in(&track.path("plan.json")), 0);
    assert!(track.recorded().is_empty());
    // One value, for whoever reads it as JSON.
    let text = fs::read_to_string(track.path("plan.json")).unwrap();
    let plan: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(plan["environment"]["programs"].as_array().unwrap().len(), 2);
}

#[test]
fn parts_of_a_plan_are_what_the_same_race_divided_would_be() {
    let track = with_programs();
    planned(&track, &["--seed", "7", "--margin", "2%"]).succeeds();
    raced(&track, "plan.json", "2/2").succeeds();
    let words = [
        "run",
        "-q",
        "--seed",
        "7",
        "--margin",
        "2%",
        "--max-replicates",
        "12",
    ];
    let part = ["--shard", "2/2", "--save", "other.jsonl"];
    track.run(&[&words[..], &part, &PAIR].concat()).succeeds();
    let header = |file| read_header(track.path(file)).unwrap();
    let (ours, theirs) = (header("part-2.jsonl"), header("other.jsonl"));
    assert_eq!(ours.plan, theirs.plan);
    assert_eq!(ours.environment.programs, theirs.environment.programs);
    // What is recorded as the command of the part is one that can be repeated.
    fs::remove_file(track.path("part-2.jsonl")).unwrap();
    let words: Vec<&str> = ours.command.iter().map(String::as_str).collect();
    track.run(&words[1..]).succeeds();
    // And so they are parts of one race.
    raced(&track, "plan.json", "1/2").succeeds();
    track
        .run(&["merge", "part-1.jsonl", "other.jsonl"])
        .succeeds();
}

#[test]
fn a_pack_holds_all_that_is_raced_and_its_parts_are_merged() {
    let track = with_programs();
    let done = packed(&track);
    says(&done, 0, &["input new old"]);
    let other = elsewhere(&track);
    drop(track);
    for part in ["1/2", "2/2"] {
        raced(&other, "race.tar.zst", part).succeeds();
    }
    let whole = [
        "merge",
        "part-1.jsonl",
        "part-2.jsonl",
        "--save",
        "whole.jsonl",
        "-v",
    ];
    says(&other.run(&whole), 0, &["is slower", "12 replicates"]);
    // What was unpacked is gone again, and nothing else was written.
    let mut left: Vec<_> = fs::read_dir(other.folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(
        left,
        [
            "part-1.jsonl",
            "part-2.jsonl",
            "race.tar.zst",
            "whole.jsonl"
        ]
    );
}

#[test]
fn a_plan_without_a_part_is_a_race_with_an_answer_and_its_files_lie_where_it_was_called() {
    let track = with_programs();
    packed(&track).succeeds();
    let other = elsewhere(&track);
    let done = other.run(&[
        "run",
        "-q",
        "--plan",
        "race.tar.zst",
        "--html",
        "page.html",
        "--fail-on",
        "slower",
    ]);
    says(
        &done,
        1,
        &["is slower", "page in page.html", " .deadheat/runs/"],
    );
    assert!(other.path("page.html").exists());
    assert_eq!(other.recorded().len(), 1);
}

#[test]
fn the_same_files_make_the_same_pack() {
    let track = with_programs();
    packed(&track).succeeds();
    let again = track.run(&["pack", "plan.json", "-o", "again.tar.zst"]);
    again.succeeds();
    let bytes = |name| fs::read(track.path(name)).unwrap();
    assert_eq!(bytes("race.tar.zst"), bytes("again.tar.zst"));
    let there = track.run(&["pack", "plan.json", "-o", "again.tar.zst"]);
    there.fails_with(2, &["--output", "again.tar.zst"]);
}

#[test]
fn files_and_folders_that_no_argument_names_are_taken_along_by_name() {
    let track = Track::new();
    write_program(&track, "old", "#!/bin/sh\ncat data/words\n");
    write_program(&track, "new", "#!/bin/sh\ncat data/more/words\n");
    fs::create_dir_all(track.path("data/more")).unwrap();
    fs::write(track.path("data/words"), "a").unwrap();
    fs::write(track.path("data/more/words"), "b").unwrap();
    let plan = [
        "plan",
        "run",
        "--save",
        "plan.json",
        "--max-replicates",
        "6",
        "--",
        "./old",
        "./new",
    ];
    track.run(&plan).succeeds();
    let outside = ["pack", "plan.json", "-o", "race.tar.zst", "--file", "/etc"];
    track.run(&outside).fails_with(2, &["--file /etc"]);
    let words = ["pack", "plan.json", "-o", "race.tar.zst", "--file", "data"];
    let done = track.run(&words);
    says(&done, 0, &["data/more/words data/words new old"]);
    let other = elsewhere(&track);
    drop(track);
    raced(&other, "race.tar.zst", "1/1").succeeds();
}

#[test]
fn a_program_from_another_folder_has_a_name_of_its_own_in_the_pack() {
    let track = with_programs();
    let elsewhere_built = Track::new();
    fs::copy(track.path("old"), elsewhere_built.path("old")).unwrap();
    let far = format!("{} input", elsewhere_built.path("old").display());
    let plan = [
        "plan",
        "run",
        "--save",
        "plan.json",
        "--max-replicates",
        "6",
        "--",
        "./old input",
        &far,
    ];
    track.run(&plan).succeeds();
    let pack = ["pack", "plan.json", "-o", "race.tar.zst"];
    let far = elsewhere_built.path("old");
    let refused = track.run(&pack);
    refused.fails_with(2, &["outside this folder", far.to_str().unwrap(), "--yes"]);
    assert!(!track.path("race.tar.zst").exists());
    let done = track.run(&[&pack[..], &["--yes"]].concat());
    says(&done, 0, &["elsewhere/"]);
    let other = elsewhere(&track);
    drop((track, elsewhere_built));
    raced(&other, "race.tar.zst", "1/1").succeeds();
}

#[test]
fn a_pack_takes_no_file_from_elsewhere_unasked() {
    let track = with_programs();
    planned(&track, &[]).succeeds();
    let other = Track::new();
    let secret = other.path("secret");
    fs::write(&secret, "PRIVATE").unwrap();
    fs::create_dir(track.path("data")).unwrap();
    let pack = |more: &[&str]| {
        let words = ["pack", "plan.json", "-o", "race.tar.zst"];
        track.run(&[&words, more].concat())
    };
    // A link in a folder is no file of that folder, whatever the user says of this one.
    symlink(&secret, track.path("data/link")).unwrap();
    for more in [&["--file", "data"][..], &["--file", "data", "--yes"]] {
        pack(more).fails_with(4, &["data/link", "secret", "help: "]);
    }
    // What is named itself is a link.
    symlink(other.path(""), track.path("folder")).unwrap();
    for named in ["data/link", "folder"] {
        let done = pack(&["--file", named]);
        done.fails_with(2, &[secret.to_str().unwrap(), "--yes"]);
    }
    let plan = fs::read_to_string(track.path("plan.json")).unwrap();
    // The program, an argument and the input of a plan from elsewhere.
    let named = |old: &str, new: String| {
        assert!(plan.contains(old), "{plan}");
        fs::write(track.path("plan.json"), plan.replacen(old, &new, 1)).unwrap();
        pack(&[]).fails_with(2, &[secret.to_str().unwrap(), "--yes"]);
    };
    let secret = || secret.display().to_string();
    named(
        r#"["./old","input"]"#,
        format!(r#"["{}","input"]"#, secret()),
    );
    named(
        r#"["./old","input"]"#,
        format!(r#"["./old","{}"]"#, secret()),
    );
    named(
        r#""input":"null""#,
        format!(r#""input":{{"file":"{}"}}"#, secret()),
    );
    assert!(!track.path("race.tar.zst").exists());
}

#[test]
fn a_part_of_a_pack_that_was_killed_goes_on_where_it_stopped() {
    let track = with_programs();
    write_program(&track, "new", "#!/bin/sh\nsleep 0.06\n");
    packed(&track).succeeds();
    let words = [
        "run",
        "-q",
        "--plan",
        "race.tar.zst",
        "--shard",
        "1/1",
        "--save",
        "part-1.jsonl",
    ];
    let mut racing = track.start(&words);
    let file = track.path("part-1.jsonl");
    wait_until("the first blocks are there", || blocks_in(&file) > 2);
    racing.kill().unwrap();
    racing.wait().unwrap();
    let before = blocks_in(&file);
    assert!(before < 12);
    track.run(&words).succeeds();
    assert_eq!(blocks_in(&file), 12);
    // A scheduler that starts it once more finds it done.
    track.run(&words).succeeds();
    assert_eq!(blocks_in(&file), 12);
}

#[test]
fn a_part_that_is_started_twice_goes_on_in_the_first_process() {
    let track = with_programs();
    write_program(&track, "new", "#!/bin/sh\nsleep 0.06\n");
    packed(&track).succeeds();
    let part = ["run", "-q", "--plan", "race.tar.zst", "--shard", "1/1"];
    let words = [&part[..], &["--save", "part-1.jsonl"]].concat();
    let mut racing = track.start(&words);
    let file = track.path("part-1.jsonl");
    wait_until("the first blocks are there", || blocks_in(&file) > 2);
    let second = track.run(&words);
    second.fails_with(2, &["--save", "another deadheat is recording into it"]);
    // Another part has a folder of its own.
    let other = [&part[..], &["--save", "part-2.jsonl"]].concat();
    track.run(&other).succeeds();
    assert!(racing.wait().unwrap().success());
    assert_eq!(blocks_in(&file), 12);
}

#[test]
fn another_program_than_was_planned_is_refused_as_no_retry_would_help() {
    let track = with_programs();
    planned(&track, &[]).succeeds();
    write_program(&track, "new", "#!/bin/sh\nsleep 0.002\n");
    let done = raced(&track, "plan.json", "1/2");
    done.fails_with(3, &["plan.json", "'new' has different bytes here"]);
    fs::remove_file(track.path("new")).unwrap();
    let done = raced(&track, "plan.json", "1/2");
    done.fails_with(3, &["'new' is missing here", "deadheat pack"]);
    assert!(!track.path("part-1.jsonl").exists());
}

#[test]
fn a_part_of_another_plan_is_not_gone_on_with() {
    let track = with_programs();
    planned(&track, &["--seed", "7"]).succeeds();
    raced(&track, "plan.json", "1/2").succeeds();
    fs::remove_file(track.path("plan.json")).unwrap();
    planned(&track, &["--seed", "8"]).succeeds();
    let done = raced(&track, "plan.json", "1/2");
    done.fails_with(2, &["--save part-1.jsonl", "another"]);
}

#[test]
fn what_a_plan_cannot_say_is_refused_before_anything_is_launched() {
    let track = with_programs();
    let plan = |words: &[&str]| track.run(&[&["plan"], words].concat());
    plan(&["run", "--", "./old input", "./new input"]).fails_with(2, &["--save"]);
    let save = ["run", "--save", "plan.json"];
    let with = |more: &[&str]| plan(&[&save[..], more, &PAIR].concat());
    with(&["--shard", "1/2"]).fails_with(2, &["--shard", "a plan is for all parts"]);
    with(&["--html", "x.html"]).fails_with(2, &["--html", "no answer"]);
    plan(&["doctor"]).fails_with(2, &["plan doctor", "run, bench, rev"]);
    assert!(!track.path("plan.json").exists());
}

#[test]
fn the_plan_alone_says_how_it_is_raced() {
    let track = with_programs();
    planned(&track, &[]).succeeds();
    let race = |more: &[&str]| track.run(&[&["run", "-q", "--plan", "plan.json"], more].concat());
    race(&["--margin", "3%"]).fails_with(2, &["--plan", "--shard"]);
    race(&["--", "./old"]).fails_with(2, &["cannot be used with"]);
    let by_task = track
        .command()
        .args([
            "run",
            "-q",
            "--plan",
            "plan.json",
            "--shard",
            "auto",
            "--save",
            "auto.jsonl",
        ])
        .env("JOB_COMPLETION_INDEX", "1")
        .env("DEADHEAT_SHARDS", "2")
        .output()
        .unwrap();
    Finished::from(by_task).succeeds();
    let header = read_header(track.path("auto.jsonl")).unwrap();
    assert_eq!(header.plan.design.shard.unwrap().index, 2);
}

#[test]
fn files_that_are_no_plans_are_refused_by_what_they_are() {
    let track = with_programs();
    planned(&track, &[]).succeeds();
    raced(&track, "plan.json", "1/2").succeeds();
    let race = |file: &str| track.run(&["run", "-q", "--plan", file, "--save", "x.jsonl"]);
    race("part-1.jsonl").fails_with(4, &["part-1.jsonl", "a part of a race"]);
    race("nowhere.json").fails_with(4, &["nowhere.json"]);
    race("input").fails_with(4, &["input"]);
    let run = ["run", "-q", "--save", "run.jsonl", "--max-replicates", "6"];
    track.run(&[&run[..], &PAIR].concat()).succeeds();
    race("run.jsonl").fails_with(4, &["run.jsonl", "deadheat plan"]);
    let text = fs::read_to_string(track.path("plan.json")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let older = text.replace(
        &format!("\"version\":\"{version}\""),
        "\"version\":\"0.0.9\"",
    );
    assert_ne!(older, text);
    fs::write(track.path("older.json"), older).unwrap();
    race("older.json").fails_with(4, &["0.0.9", "make the plan again"]);
    track
        .run(&["pack", "input", "-o", "y.tar.zst"])
        .fails_with(4, &["input"]);
    assert!(!track.path("x.jsonl").exists() && !track.path("y.tar.zst").exists());
}

#[test]
fn a_pack_that_is_cut_off_or_holds_too_much_is_refused() {
    let track = with_programs();
    packed(&track).succeeds();
    let whole = fs::read(track.path("race.tar.zst")).unwrap();
    let race = |file: &str| track.run(&["run", "-q", "--plan", file, "--save", "x.jsonl"]);
    fs::write(track.path("half.tar.zst"), &whole[..whole.len() / 2]).unwrap();
    race("half.tar.zst").fails_with(4, &["half.tar.zst"]);
    fs::write(track.path("head.tar.zst"), &whole[..9]).unwrap();
    race("head.tar.zst").fails_with(4, &["head.tar.zst"]);
    // Few bytes may hold many.
    let done = track
        .command()
        .args(["run", "-q", "--plan", "race.tar.zst", "--save", "x.jsonl"])
        .env("DEADHEAT_MAX_INPUT", "3K")
        .output()
        .unwrap();
    Finished::from(done).fails_with(4, &["race.tar.zst", "DEADHEAT_MAX_INPUT"]);
}

#[test]
fn a_plan_is_not_resumed() {
    let track = Track::new();
    planned(&track, &[]).succeeds();
    let single = ["plan", "run", "--save", "single.json", "--", "true"];
    track.run(&single).succeeds();
    let gone = ["plan", "run", "--save", "gone.json", "--", "./gone", "true"];
    fs::copy("/bin/true", track.path("gone")).unwrap();
    track.run(&gone).succeeds();
    fs::remove_file(track.path("gone")).unwrap();
    for plan in ["plan.json", "single.json", "gone.json"] {
        let before = fs::read(track.path(plan)).unwrap();
        let done = track.run(&["run", "--resume", plan]);
        done.fails_with(4, &["is a plan", "help: deadheat run --plan FILE"]);
        assert_eq!(fs::read(track.path(plan)).unwrap(), before, "{plan}");
    }
    // The race of a plan is not a plan.
    let race = ["run", "-q", "--plan", "single.json", "--save", "race.jsonl"];
    track.run(&race).succeeds();
    let more = [
        "run",
        "-q",
        "--resume",
        "race.jsonl",
        "--max-replicates",
        "2",
    ];
    track.run(&more).succeeds();
}
