//! Commands and hooks that touch the terminal that deadheat was started in: `script` of util-linux
//! is one.

mod common;

use std::process::Command;

use common::Track;

/// Runs `deadheat run` with these arguments, each a word of a shell, in a terminal. Returns its exit
/// code and all that is shown.
fn in_a_terminal(track: &Track, before: &str, arguments: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_deadheat");
    let line = format!("{before} '{program}' run --no-config --color never {arguments}");
    let mut script = Command::new("timeout");
    script
        .args(["60", "script", "--quiet", "--return", "--command", &line])
        .arg("/dev/null")
        .current_dir(track.folder.path())
        .env("LC_ALL", "C.UTF-8")
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::null());
    let done = script.output().expect("it starts");
    let shown = String::from_utf8_lossy(&done.stdout).replace("\r\n", "\n");
    (done.status.code(), shown)
}

#[track_caller]
fn races(arguments: &str) {
    let track = Track::new();
    let (code, shown) = in_a_terminal(&track, "", arguments);
    assert_eq!(code, Some(0), "{shown}");
}

#[track_caller]
fn fails_with(arguments: &str, words: &[&str]) {
    let track = Track::new();
    let (code, shown) = in_a_terminal(&track, "", arguments);
    assert_eq!(code, Some(3), "{shown}");
    let said = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(said.contains(word), "'{word}' is missing: {said}");
    }
}

#[test]
fn interactive_shells_race_in_turns_and_side_by_side() {
    for how in ["turns", "side-by-side", "auto"] {
        races(&format!(
            "-r 2 --arrangement {how} -- 'bash --norc -i -c exit' 'bash --norc -i -c true'"
        ));
    }
    races("-r 2 -w 0 -S 'bash --norc -i' -- true 'true && true'");
}

#[test]
fn what_is_shown_races_in_a_terminal_that_stops_writers() {
    let track = Track::new();
    let arguments = "-r 2 --show-output -- 'echo one' 'echo two'";
    let (code, shown) = in_a_terminal(&track, "stty tostop;", arguments);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("one") && shown.contains("two"), "{shown}");
}

#[test]
fn a_command_that_needs_the_terminal_fails_with_the_reason() {
    let no_terminal = "No such device or address";
    fails_with(
        "-r 2 -- 'stty -F /dev/tty sane' true",
        &["'stty", no_terminal],
    );
    fails_with(
        "-r 2 -S sh -- true 'read x </dev/tty'",
        &["exited with code", "/dev/tty"],
    );
    fails_with(
        "-r 2 -- 'sh -c \": >/dev/tty\"' true",
        &["exited with code", "/dev/tty"],
    );
}

#[test]
fn a_hook_that_wants_the_terminal_is_told_of() {
    let wants = "it needs the terminal";
    fails_with(
        "-r 2 -p 'stty -F /dev/tty sane' -- true true",
        &[
            "--prepare hook 'stty",
            "stopped by signal 22 (SIGTTOU)",
            wants,
        ],
    );
    fails_with(
        "-r 2 -S sh -s 'read x </dev/tty' -- true true",
        &["--setup hook", "stopped by signal 21 (SIGTTIN)", wants],
    );
    fails_with(
        "-r 2 -C 'bash --norc -i -c exit' --arrangement side-by-side -- true true",
        &["--conclude hook", "stopped by signal", wants],
    );
    // Programs that ask for passwords stop themselves, not those who wait for them.
    let stops_itself = r#"sh -c "sh -c \"kill -TTIN \\\$\\\$; true\"; true""#;
    fails_with(
        &format!("-r 2 -c '{stops_itself}' -- true true"),
        &[
            "--cleanup hook",
            "one of its child processes was stopped",
            wants,
        ],
    );
}

#[test]
fn a_hook_that_touches_the_terminal_without_asking_for_it_runs() {
    races("-r 2 -p 'sh -c \": >/dev/tty\"' -c 'sh -c \"tty -s </dev/tty\"' -- true true");
}

#[test]
fn a_command_that_stops_itself_is_given_up_and_one_that_goes_on_is_not() {
    let track = Track::new();
    for how in [&["-w", "0"][..], &["--arrangement", "side-by-side"], &[]] {
        let race = ["run", "--no-config", "-r", "2", "-S", "sh"];
        let commands = ["--", "true", "kill -STOP $$; true"];
        let done = track.run(&[&race[..], how, &commands].concat());
        done.fails_with(3, &["stopped by signal 19 (SIGSTOP)", "did not continue"]);
        let commands = [
            "--",
            "true",
            "(sleep 0.1; kill -CONT $$) & kill -STOP $$; wait",
        ];
        track.run(&[&race[..], how, &commands].concat()).succeeds();
    }
}
