//! Races spread over machines: parts, each a run of its own, and the run that is merged of them.

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Finished, Track, said, says};
use deadheat::parts::format::{FileDigest, MadeFiles, read_header, read_run};
use deadheat_testing::blocks_in;
use serde_json::{Value, json};

const PAIR: [&str; 3] = ["--", "sleep 0.001", "sleep 0.002"];

/// Races a part with further options; its file is `part-I.jsonl`.
fn part(track: &Track, shard: &str, more: &[&str], commands: &[&str]) -> Finished {
    let index = shard.split('/').next().unwrap();
    let save = format!("part-{index}.jsonl");
    let line = [
        &[
            "run",
            "-q",
            "--shard",
            shard,
            "--max-replicates",
            "12",
            "--save",
            &save,
        ],
        more,
        commands,
    ];
    track.run(&line.concat())
}

/// Makes another machine of the one that raced a part.
fn moved_to(track: &Track, file: &str, boot: &str) {
    let path = track.path(file);
    let text = fs::read_to_string(&path).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["environment"]["boot"] = boot.into();
    fs::write(&path, format!("{header}\n{rest}")).unwrap();
}

/// Writes a script that sleeps.
fn sleeping(track: &Track, name: &str, seconds: &str) {
    let path = track.path(name);
    fs::write(&path, format!("#!/bin/sh\nsleep {seconds}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Adds a file to the list of those that the user's deadheat wrote, as if the home folder were
/// shared with the machine that wrote it.
fn listed_as_made(file: &Path) {
    let digest = FileDigest::of_run(&read_header(file).unwrap());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("state/deadheat/made");
    let user = fs::metadata(file).unwrap().uid();
    MadeFiles::new(folder, user).add(&digest).unwrap();
}

/// So many parts, each on a machine of its own.
fn parts(track: &Track, count: usize) -> Vec<String> {
    let race = |index: usize| {
        part(track, &format!("{index}/{count}"), &[], &PAIR).succeeds();
        let file = format!("part-{index}.jsonl");
        moved_to(track, &file, &format!("boot {index}"));
        file
    };
    (1..=count).map(race).collect()
}

fn merged(track: &Track, files: &[String], more: &[&str]) -> Finished {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    track.run(&[&["merge"], &files[..], more].concat())
}

fn replicates(path: &Path) -> Vec<u32> {
    let run = read_run(path).unwrap();
    let blocks = run.benchmarks[0].blocks().iter();
    blocks.map(|block| block.replicate).collect()
}

#[test]
fn a_part_races_its_share_of_the_replicates_and_exits_with_0_whatever_it_finds() {
    let track = Track::new();
    let gate = ["--fail-on", "slower,inconclusive,not-equivalent"];
    part(&track, "1/3", &gate, &PAIR).succeeds();
    part(&track, "3/3", &gate, &PAIR).succeeds();
    // Six at least, though a third of twelve would do.
    assert_eq!(replicates(&track.path("part-1.jsonl")), [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        replicates(&track.path("part-3.jsonl")),
        [12, 13, 14, 15, 16, 17]
    );
    let header = read_header(track.path("part-3.jsonl")).unwrap();
    let shard = header.plan.design.shard.unwrap();
    assert_eq!((shard.index, shard.count, shard.replicates), (3, 3, 6));
    assert!(header.environment.boot.is_some());
    // How busy the machine is nobody knows, but where a limit is, it is one.
    let limits = header.environment.conditions.limits;
    assert!(limits.cores.is_none_or(|cores| cores > 0.0), "{limits:?}");
    let [(name, digest), ..] = &header.environment.programs[..] else {
        panic!("no program")
    };
    assert_eq!((name.as_str(), digest.len()), ("sleep", 64));
}

#[test]
fn merged_in_any_order_parts_give_the_same_bytes_and_the_gate_holds_for_all_of_them() {
    let track = Track::new();
    let mut files = parts(&track, 6);
    merged(&track, &files, &["--save", "one.jsonl"]).succeeds();
    files.reverse();
    files.swap(1, 4);
    let gate = ["--save", "other.jsonl", "--fail-on", "slower", "--json"];
    let done = merged(&track, &files, &gate);
    assert_eq!(done.code, Some(1), "{done:?}");
    let bytes = |name| fs::read(track.path(name)).unwrap();
    assert_eq!(bytes("one.jsonl"), bytes("other.jsonl"));
    let answer = done.json();
    let row = &answer["benchmarks"][0];
    assert_eq!(
        (&row["verdict"], &row["replicates"]),
        (&"slower".into(), &36.into())
    );
    let hosts = &row["hosts"];
    assert_eq!(hosts["like_these"], true);
    assert_eq!(hosts["hosts"].as_array().unwrap().len(), 6);
    assert!(hosts["next_host"][0].as_f64().unwrap() < hosts["next_host"][1].as_f64().unwrap());
    let again = track.run(&["analyze", "one.jsonl", "-v"]);
    says(
        &again,
        0,
        &["this verdict is about all hosts that resemble these 6"],
    );
    assert!(said(&again).contains("parts: host"), "{again:?}");
}

#[test]
fn of_a_few_hosts_the_verdict_speaks_of_these_and_parts_of_one_boot_are_one_host() {
    let track = Track::new();
    let files = parts(&track, 3);
    says(
        &merged(&track, &files, &[]),
        0,
        &["this verdict is about these 3 hosts only"],
    );
    moved_to(&track, "part-3.jsonl", "boot 1");
    let done = merged(&track, &files, &[]);
    says(&done, 0, &["this verdict is about these 2 hosts only"]);
    assert_eq!(track.recorded().len(), 0, "nothing was asked to be kept");
}

/// Puts what a host says of itself into the header of a part.
fn says_of_itself(track: &Track, file: &str, limits: Value, disturbances: Value) {
    let path = track.path(file);
    let text = fs::read_to_string(&path).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["environment"]["limits"] = limits;
    header["environment"]["disturbances"] = disturbances;
    fs::write(&path, format!("{header}\n{rest}")).unwrap();
}

#[test]
fn what_was_found_on_a_host_is_said_and_nothing_in_it_does_harm() {
    let track = Track::new();
    let files = parts(&track, 3);
    let none = json!([]);
    says_of_itself(&track, &files[0], json!({}), none.clone());
    let many: Vec<Value> = (0..50_000)
        .map(|n| json!({"name": format!("\u{1b}[31m{n}"), "found": "\u{202e}\n"}))
        .collect();
    says_of_itself(&track, &files[1], json!({"cores": 0.5}), many.into());
    let load = json!([{"name": "load", "found": "2.4 tasks per core"}]);
    says_of_itself(&track, &files[2], json!({"memory": 1 << 30}), load);
    merged(&track, &files, &["--save", "whole.jsonl"]).succeeds();
    let full = track.run(&["analyze", "whole.jsonl", "-v"]);
    let text = said(&full);
    for part in [
        "conditions on the host of part 2: at most 0.50 cores, ",
        "49996 more.",
        "conditions on the host of part 3: at most 1.0 GiB, load (2.4 tasks per core).",
    ] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(part), "{part}: {text}");
    }
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("part 1:"));
    let json = track.run(&["analyze", "whole.jsonl", "--json"]).json();
    let rows = &json["benchmarks"][0]["hosts"]["hosts"];
    assert_eq!(rows[1]["limits"]["cores"], 0.5);
    assert_eq!(rows[2]["disturbances"][0]["name"], "load");
    assert_eq!(rows[0].get("limits"), None);
    says_of_itself(&track, &files[2], json!({"cores": 0}), none);
    let refused = merged(&track, &files, &[]);
    refused.fails_with(4, &["part-3.jsonl:1: ", "cores that a container may use"]);
}

#[test]
fn each_host_of_a_race_with_controls_says_what_its_own_shows() {
    let track = Track::new();
    let files: Vec<String> = (1..=3)
        .map(|index| {
            part(&track, &format!("{index}/3"), &["--control"], &PAIR).succeeds();
            let file = format!("part-{index}.jsonl");
            moved_to(&track, &file, &format!("boot {index}"));
            file
        })
        .collect();
    let answer = merged(&track, &files, &["--json"]).json();
    let rows = answer["benchmarks"][0]["hosts"]["hosts"]
        .as_array()
        .unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert!(row["left_out"].is_boolean(), "{row}");
        assert!(row["control"]["change"].is_number(), "{row}");
        // The hosts share 1 %.
        let sure = row["control"]["confidence"].as_f64().unwrap();
        assert!((sure - (1.0 - 0.01 / 3.0)).abs() < 1e-9, "{sure}");
    }
    let full = merged(&track, &files, &["-v"]);
    says(&full, 0, &["replicates control"]);
}

#[test]
fn parts_that_are_missing_or_there_twice_are_named() {
    let track = Track::new();
    let files = parts(&track, 3);
    let two = [files[0].clone(), files[2].clone()];
    let save = ["--save", "whole.jsonl"];
    merged(&track, &two, &save).fails_with(4, &["part-1.jsonl", "but part 2 is missing"]);
    assert!(!track.path("whole.jsonl").exists());
    let left = fs::read_dir(track.folder.path()).unwrap().count();
    assert_eq!(left, 3, "nothing is left behind");
    let done = merged(&track, &two, &["--allow-missing", "--save", "whole.jsonl"]);
    says(&done, 0, &["part 2 of the race is missing"]);
    fs::copy(track.path("part-1.jsonl"), track.path("again.jsonl")).unwrap();
    let twice = [&files[..], &["again.jsonl".to_owned()]].concat();
    merged(&track, &twice, &[]).fails_with(4, &["holds part 1, but so does", "again.jsonl"]);
}

#[test]
fn parts_of_another_race_are_refused_by_the_field_that_differs() {
    let track = Track::new();
    part(&track, "1/2", &[], &PAIR).succeeds();
    let second = |more: &[&str], commands: &[&str]| {
        let _ = fs::remove_file(track.path("part-2.jsonl"));
        part(&track, "2/2", more, commands).succeeds();
        track.run(&["merge", "part-1.jsonl", "part-2.jsonl"])
    };
    second(&["--seed", "9"], &PAIR).fails_with(
        4,
        &["part-2.jsonl", "part-1.jsonl", "seed (--seed) differs"],
    );
    second(&["--margin", "3%"], &PAIR).fails_with(4, &["design.margin (--margin) differs"]);
    second(&[], &["--", "sleep 0.001", "sleep 0.003"])
        .fails_with(4, &["benchmarks[0].contenders[1].", " differs"]);
    second(&["--warmup", "3"], &PAIR).fails_with(4, &["design.warmup (--warmup) differs"]);
    second(&[], &PAIR).succeeds();
    let path = track.path("part-2.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let digest = &read_header(&path).unwrap().environment.programs[0].1;
    fs::write(&path, text.replace(digest.as_str(), &"0".repeat(64))).unwrap();
    let done = track.run(&["merge", "part-1.jsonl", "part-2.jsonl"]);
    done.fails_with(4, &["the content of the program 'sleep' differs"]);
    fs::write(
        track.path("run.csv"),
        "benchmark,contender,wall_ns\nb,a,1\n",
    )
    .unwrap();
    track
        .run(&["merge", "part-1.jsonl", "run.csv"])
        .fails_with(4, &["run.csv"]);
    track
        .run(&[
            "run",
            "-q",
            "-r",
            "4",
            "--save",
            "plain.jsonl",
            "--",
            "true",
        ])
        .succeeds();
    let done = track.run(&["merge", "plain.jsonl"]);
    done.fails_with(4, &["plain.jsonl: holds a whole race, not a part"]);
}

#[test]
fn a_part_that_was_killed_goes_on_by_the_same_command_and_one_that_is_done_is_left_alone() {
    let track = Track::new();
    let save = track.path("part-2.jsonl");
    let line = [
        "run",
        "-q",
        "--shard",
        "2/2",
        "--max-replicates",
        "40",
        "--save",
        "part-2.jsonl",
        "--",
        "sleep 0.01",
        "sleep 0.02",
    ];
    let mut racing = track.start(&line);
    let began = Instant::now();
    while blocks_in(&save) < 3 && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    racing.kill().unwrap();
    racing.wait().unwrap();
    let mut first = line;
    (first[3], first[7]) = ("1/2", "part-1.jsonl");
    track.run(&first).succeeds();
    let whole = track.run(&["merge", "part-1.jsonl", "part-2.jsonl"]);
    whole.fails_with(
        4,
        &[
            "part 2 is not finished",
            "it is still racing, or was killed",
            "run the same command again to finish it",
        ],
    );
    track.run(&line).succeeds();
    let raced = replicates(&save);
    assert_eq!(
        raced.first().copied().zip(raced.last().copied()),
        Some((20, 39))
    );
    assert!(raced.is_sorted() && raced.len() >= 19, "{raced:?}");
    let before = fs::read(&save).unwrap();
    track.run(&line).succeeds();
    assert_eq!(fs::read(&save).unwrap(), before);
    track
        .run(&["merge", "part-2.jsonl", "--allow-missing"])
        .succeeds();
    let mut other = line;
    other[3] = "1/2";
    track
        .run(&other)
        .fails_with(2, &["--save part-2.jsonl", "holds part 2 of 2"]);
    other[3] = "2/2";
    other[10] = "sleep 0.03";
    track
        .run(&other)
        .fails_with(2, &["a part of another race", "sleep 0.02"]);
    let resumed = track.run(&["run", "--resume", "part-2.jsonl"]);
    resumed.fails_with(
        4,
        &["to continue the part, run the command that began it again"],
    );
}

/// The header and the first blocks of a run file: so many lines of them.
fn without_observations(whole: &str, lines: usize) -> Vec<&str> {
    let of_blocks = |line: &&str| !line.starts_with("{\"observed\":");
    whole.lines().filter(of_blocks).take(lines).collect()
}

#[test]
fn a_part_that_was_begun_on_another_machine_is_raced_anew_and_what_was_measured_there_is_kept() {
    let track = Track::new();
    part(&track, "1/2", &[], &PAIR).succeeds();
    moved_to(&track, "part-1.jsonl", "another boot");
    let path = track.path("part-1.jsonl");
    listed_as_made(&path);
    let whole = fs::read_to_string(&path).unwrap();
    // The part came to its end there, so it is done.
    part(&track, "1/2", &[], &PAIR).succeeds();
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    let half = without_observations(&whole, 4);
    fs::write(&path, half.join("\n") + "\n").unwrap();
    let done = part(&track, "1/2", &[], &PAIR);
    done.fails_with(0, &["another user or machine", "part-1.jsonl.before"]);
    assert_eq!(replicates(&path), [0, 1, 2, 3, 4, 5]);
    let boot = read_header(&path).unwrap().environment.boot;
    assert_ne!(boot.as_deref(), Some("another boot"));
    assert_eq!(replicates(&track.path("part-1.jsonl.before")).len(), 3);
    // Nor is it lost when that happens once more.
    moved_to(&track, "part-1.jsonl", "a third boot");
    let whole = fs::read_to_string(&path).unwrap();
    let half = without_observations(&whole, 3);
    fs::write(&path, half.join("\n") + "\n").unwrap();
    let done = part(&track, "1/2", &[], &PAIR);
    done.fails_with(0, &["part-1.jsonl.before-2"]);
    assert_eq!(replicates(&track.path("part-1.jsonl.before")).len(), 3);
    assert_eq!(replicates(&track.path("part-1.jsonl.before-2")).len(), 2);
}

#[test]
fn a_finished_part_that_another_wrote_is_raced_again() {
    let track = Track::new();
    part(&track, "1/2", &[], &PAIR).succeeds();
    // A commit may contain a part: without a seed of the user's, all parts have the same.
    moved_to(&track, "part-1.jsonl", "another boot");
    let done = part(&track, "1/2", &[], &PAIR);
    done.fails_with(0, &["another user or machine", "part-1.jsonl.before"]);
    let boot = read_header(track.path("part-1.jsonl")).unwrap();
    assert_ne!(boot.environment.boot.as_deref(), Some("another boot"));
}

#[test]
fn a_finished_part_of_a_program_that_has_changed_is_refused() {
    let track = Track::new();
    sleeping(&track, "old", "0.001");
    sleeping(&track, "new", "0.001");
    let race = ["--", "./old", "./new"];
    part(&track, "1/2", &[], &race).succeeds();
    part(&track, "1/2", &[], &race).succeeds();
    sleeping(&track, "new", "0.002");
    part(&track, "1/2", &[], &race).fails_with(4, &["part-1.jsonl", "'new' has different bytes"]);
}

#[test]
fn a_part_does_not_speak_of_the_gate_that_all_parts_are_held_against() {
    let track = Track::new();
    let done = part(&track, "1/2", &["--fail-on", "slower"], &PAIR);
    done.succeeds();
    assert!(!done.stdout.contains("the run fails"), "{done:?}");
    fs::write(track.path("deadheat.toml"), "fail-on = [\"slower\"]\n").unwrap();
    let done = part(&track, "2/2", &[], &PAIR);
    done.succeeds();
    assert!(!done.stdout.contains("the run fails"), "{done:?}");
    let whole = track.run(&["merge", "part-1.jsonl", "part-2.jsonl"]);
    says(&whole, 1, &["the run fails"]);
}

#[test]
fn a_part_cut_in_half_is_not_finished_and_a_hostile_one_is_refused_by_its_line() {
    let track = Track::new();
    let files = parts(&track, 2);
    let path = track.path("part-2.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() * 2 / 3]).unwrap();
    merged(&track, &files, &[]).fails_with(4, &["part-2.jsonl", "part 2 is not finished"]);
    // A replicate of the other part.
    fs::write(
        &path,
        text.replacen("{\"block\":[0,6,0]", "{\"block\":[0,2,0]", 1),
    )
    .unwrap();
    merged(&track, &files, &[]).fails_with(4, &["replicate 2 does not belong to part 2"]);
    fs::write(&path, text.replacen("\"count\":2", "\"count\":0", 1)).unwrap();
    merged(&track, &files, &[]).fails_with(4, &["part-2.jsonl:1: ", "a part of a race"]);
    fs::write(&path, "").unwrap();
    merged(&track, &files, &[]).fails_with(4, &["part-2.jsonl is empty"]);
    // What is missing is listed, and four billion numbers do not fit.
    fs::write(&path, text).unwrap();
    merged(&track, &files, &["--save", "whole.jsonl"]).succeeds();
    let whole = fs::read_to_string(track.path("whole.jsonl")).unwrap();
    let many = whole.replacen(
        "\"merged\":{\"count\":2",
        "\"merged\":{\"count\":4294967295",
        1,
    );
    assert_ne!(many, whole);
    fs::write(track.path("many.jsonl"), many).unwrap();
    let done = track.run(&["analyze", "many.jsonl"]);
    done.fails_with(4, &["many.jsonl:1: ", "parts that a race may have"]);
    merged(&track, &["nowhere.jsonl".to_owned()], &[]).fails_with(4, &["nowhere.jsonl"]);
}

#[test]
fn a_suite_says_once_of_which_hosts_its_verdicts_speak() {
    let track = Track::new();
    let sweep = ["-L", "s", "0.001,0.002", "--", "sleep {s}", "sleep {s} {s}"];
    for index in 1..=2 {
        part(&track, &format!("{index}/2"), &[], &sweep).succeeds();
        moved_to(
            &track,
            &format!("part-{index}.jsonl"),
            &format!("boot {index}"),
        );
    }
    let done = track.run(&["merge", "part-1.jsonl", "part-2.jsonl"]);
    says(&done, 0, &["each verdict is about these 2 hosts only."]);
}

#[test]
fn divided_by_benchmarks_each_is_raced_by_one_part() {
    let track = Track::new();
    let sweep = [
        "-L",
        "s",
        "0.001,0.002,0.003,0.004",
        "--",
        "sleep {s}",
        "sleep {s} {s}",
    ];
    for shard in ["1/2", "2/2"] {
        part(&track, shard, &["--shard-by", "benchmark"], &sweep).succeeds();
    }
    let counts = |name: &str| -> Vec<usize> {
        let run = read_run(track.path(name)).unwrap();
        run.benchmarks
            .iter()
            .map(|one| one.blocks().len())
            .collect()
    };
    let both = [counts("part-1.jsonl"), counts("part-2.jsonl")];
    for (one, other) in both[0].iter().zip(&both[1]) {
        assert_eq!((*one > 0) as u32 + (*other > 0) as u32, 1, "{both:?}");
    }
    let done = track.run(&["merge", "part-2.jsonl", "part-1.jsonl", "--json"]);
    let answer = done.succeeds().json();
    let rows = answer["benchmarks"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.get("hosts").is_none()));
}

#[test]
fn benchmarks_keep_the_looks_that_the_pilots_of_their_parts_found() {
    let track = Track::new();
    let sweep = [
        "-L",
        "s",
        "0.001,0.002,0.003,0.005,0.06",
        "--",
        "sleep {s}",
        "sleep {s} {s}",
    ];
    let files: Vec<String> = (1..=2)
        .map(|index| {
            let (shard, file) = (format!("{index}/2"), format!("part-{index}.jsonl"));
            let line = [
                "run",
                "-q",
                "--shard",
                &shard,
                "--shard-by",
                "benchmark",
                "--save",
                &file,
            ];
            track.run(&[&line[..], &sweep].concat()).succeeds();
            file
        })
        .collect();
    merged(&track, &files, &["--save", "whole.jsonl"]).succeeds();
    let whole = read_header(track.path("whole.jsonl")).unwrap().plan;
    for file in &files {
        let part = read_header(track.path(file)).unwrap().plan;
        for (index, benchmark) in part.benchmarks.iter().enumerate() {
            if part.races(benchmark) {
                assert_eq!(whole.looks(index), part.looks(index), "{}", benchmark.name);
            }
        }
    }
    // On a machine that is loaded heavily nothing is short.
    let most = |index: usize| whole.looks(index).max_replicates();
    assert!(
        most(0) >= most(4) && most(4) == 40,
        "{} {}",
        most(0),
        most(4)
    );
}

#[test]
fn the_scheduler_says_which_part_it_is_and_all_of_its_tasks_have_one_seed() {
    let track = Track::new();
    let task = |index: &str| {
        let save = format!("part-{index}.jsonl");
        let output = track
            .command()
            .args([
                "run",
                "-q",
                "--shard",
                "auto",
                "--max-replicates",
                "12",
                "--save",
                &save,
            ])
            .args(PAIR)
            .env("CI_NODE_INDEX", index)
            .env("CI_NODE_TOTAL", "2")
            .env("CI_PIPELINE_ID", "4711")
            .output();
        Finished::from(output.unwrap()).succeeds();
        read_header(track.path(&save)).unwrap().plan
    };
    let (one, two) = (task("1"), task("2"));
    assert_eq!(one.seed, two.seed);
    assert_eq!(two.design.shard.unwrap().first_replicate(), 6);
    let done = track.run(&["run", "--shard", "auto", "--", "true"]);
    done.fails_with(2, &["--shard auto", "SLURM_ARRAY_TASK_ID"]);
    track
        .run(&["run", "--shard", "3/2", "--", "true"])
        .fails_with(2, &["--shard", "'3/2'", "2/4"]);
    track
        .run(&["run", "--shard-by", "benchmark", "--", "true"])
        .fails_with(2, &["--shard-by", "--shard"]);
    track
        .run(&["run", "--shard", "1/2", "-r", "8", "--", "true"])
        .fails_with(2, &["--shard and --runs", "--max-replicates"]);
}

#[test]
fn a_part_that_measured_nothing_is_not_merged() {
    let track = Track::new();
    let files = parts(&track, 2);
    let path = track.path("part-2.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("{\"block\""));
    let lines: Vec<&str> = lines.collect();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    merged(&track, &files, &[]).fails_with(4, &["part 2 measured nothing", "--allow-missing"]);
}
