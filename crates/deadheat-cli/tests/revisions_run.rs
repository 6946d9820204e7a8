//! Two revisions of a command-line tool, raced by `deadheat rev --run`.

mod common;

use std::os::unix::fs::PermissionsExt;

use common::Track;

/// A repository whose tool sleeps longer in each of two commits.
fn tool() -> Track {
    let track = Track::new();
    track.git(&["init", "--quiet", "--initial-branch", "main"]);
    for seconds in ["0.01", "0.03"] {
        track.write("tool", format!("#!/bin/sh\nsleep {seconds}\n"));
        let path = track.path("tool");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        track.commit(seconds);
    }
    track
}

#[test]
fn the_command_runs_in_the_folder_of_each_revision() {
    let track = tool();
    let done = track.run(&["rev", "HEAD~1..HEAD", "--run", "./tool", "--json"]);
    let answer = done.succeeds().json();
    let one = &answer["benchmarks"][0];
    assert_eq!(one["verdict"], "slower", "{one}");
    assert_eq!(one["baseline"]["name"], "HEAD~1", "{one}");
    assert_eq!(one["candidate"]["name"], "HEAD", "{one}");
}

#[test]
fn the_build_makes_what_the_command_is() {
    let track = tool();
    let build = "cp tool built";
    let words = [
        "rev",
        "HEAD~1..HEAD",
        "--build",
        build,
        "--run",
        "./built",
        "--format",
        "terse",
    ];
    let done = track.run(&words);
    assert!(
        done.succeeds().stdout.contains("'HEAD' is slower"),
        "{done:?}"
    );
    let without = track.run(&["rev", "HEAD~1..HEAD", "--build", build]);
    without.fails_with(2, &["--exe"]);
}

#[test]
fn what_only_races_of_benchmarks_have_is_refused() {
    let track = tool();
    let run = |more: &[&str]| track.run(&[&["rev", "HEAD~1", "--run", "./tool"], more].concat());
    run(&["parse"]).fails_with(
        2,
        &["'parse': filters select benchmarks", "--run './tool parse'"],
    );
    run(&["--list"]).fails_with(2, &["--list and --run cannot be combined"]);
    run(&["--history"]).fails_with(2, &["--history and --run cannot be combined"]);
    run(&["--cmake", "x"]).fails_with(2, &["--cmake"]);
}
