//! A signal and a time-out reach deadheat wherever it waits, and no process is left.

use std::process::Command;

use crate::case::{Case, Found, RESULTS};

pub fn check(case: &mut Case) -> Found {
    match case.random.index_below(3) {
        0 => pipes(case)?,
        1 => signals(case)?,
        _ => hangs(case)?,
    }
    case.nothing_left()
}

/// A named pipe without a writer in the place of a file. deadheat waits for it, as for `<(COMMAND)`,
/// until a signal comes.
fn pipes(case: &mut Case) -> Found {
    case.write("old.json", RESULTS);
    let made = Command::new("mkfifo").arg(case.work("pipe.json")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let words: &[&str] = match case.random.index_below(9) {
        0 => &["analyze", "pipe.json"],
        1 => &["report", "pipe.json"],
        2 => &["compare", "old.json", "pipe.json"],
        3 => &["merge", "pipe.json", "pipe.json"],
        4 => &["run", "--plan", "pipe.json"],
        5 => &["run", "--resume", "pipe.json"],
        6 => &["explain", "pipe.json"],
        7 => &["history", "add", "pipe.json"],
        _ => &["run", "--config", "pipe.json", "--", "true", "true "],
    };
    let (signal, number) = case.pick(&[("INT", 2), ("TERM", 15), ("HUP", 1)]);
    let launcher = ["timeout", "--foreground", "--preserve-status", "-s", signal, "1"];
    case.run_by(&launcher, words, &[2, 4, 128 + number]).map(drop)
}

/// A signal at a random moment of a race whose commands ignore it and leave processes.
fn signals(case: &mut Case) -> Found {
    let (signal, number) = case.pick(&[("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)]);
    let after = format!("0.{:03}", 30 + case.random.index_below(600));
    let launcher = ["timeout", "--foreground", "--preserve-status", "-s", signal, &after];
    let place = case.pick(&["--setup", "--prepare", "--conclude", "--"]);
    let command = format!("trap '' INT TERM HUP QUIT; {}", stubborn(case, place));
    let race: Vec<&str> = match place {
        "--" => vec!["run", "-q", "-S", "--", &command, "sleep 300"],
        hook => vec!["run", "-q", "-S", hook, &command, "--", "true", "true "],
    };
    case.run_by(&launcher, &race, &[128 + number]).map(drop)
}

/// A hang at a random place that `--timeout` limits.
fn hangs(case: &mut Case) -> Found {
    let time = format!("{}ms", 100 + case.random.index_below(800));
    let place = case.pick(&["--prepare", "--conclude", "--"]);
    let command = stubborn(case, place);
    let start = ["run", "-q", "-S", "-r", "2", "--timeout", &time];
    let rest: Vec<&str> = match place {
        "--" => vec!["--", &command, "true"],
        hook => vec![hook, &command, "--", "true", "true "],
    };
    case.run(&[&start[..], &rest].concat(), &[3]).map(drop)
}

/// A shell command that does not end, and starts others that do not. deadheat keeps processes that a
/// hook put into a session of their own, because they may be servers.
fn stubborn(case: &mut Case, place: &str) -> String {
    let starts = [
        "sleep 300 & ",
        "(sleep 300 &) ; ",
        "nohup sleep 300 >/dev/null 2>&1 & ",
        "setsid sleep 300 & ",
        "(setsid sh -c 'sleep 300 & sleep 300' &) ; ",
    ];
    let starts = if place == "--" { &starts[..] } else { &starts[..3] };
    let start = case.mixed(starts, 3);
    format!("{start}{}", case.pick(&["sleep 300", "while :; do sleep 1; done", "wait; sleep 300"]))
}
