//! A signal and a time-out reach deadheat wherever it waits, and no process is left.

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::case::{Case, Found, ORDERLY, RESULTS};

/// The places of a command in a race.
const PLACES: [&str; 5] = ["--setup", "--prepare", "--conclude", "--cleanup", "--"];

pub fn check(case: &mut Case) -> Found {
    match case.random.index_below(4) {
        0 => pipes(case)?,
        1 => signals(case)?,
        2 => hangs(case)?,
        _ => budgets(case)?,
    }
    case.nothing_left()
}

/// A named pipe in the place of a file: without a writer, or with one that writes nothing. deadheat
/// waits for a writer for 10 s, and for its bytes until a signal comes.
fn pipes(case: &mut Case) -> Found {
    case.write("old.json", RESULTS);
    let pipe = case.work("pipe.json");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let words: &[&str] = match case.random.index_below(10) {
        0 => &["analyze", "pipe.json"],
        1 => &["report", "pipe.json"],
        2 => &["compare", "old.json", "pipe.json"],
        3 => &["merge", "pipe.json", "pipe.json"],
        4 => &["run", "--plan", "pipe.json"],
        5 => &["run", "--resume", "pipe.json"],
        6 => &["explain", "pipe.json"],
        7 => &["history", "add", "pipe.json"],
        8 => &["run", "--input", "pipe.json", "--", "true", "true "],
        _ => &["run", "--config", "pipe.json", "--", "true", "true "],
    };
    match case.random.index_below(4) {
        0 => case.run(words, &[2, 3, 4]).map(drop),
        one => {
            let (signal, number) = case.pick(&[("INT", 2), ("TERM", 15), ("HUP", 1)]);
            let launcher = ["timeout", "--foreground", "--preserve-status", "-s", signal, "1"];
            let mut silent = (one == 1).then(|| silent_writer(&pipe));
            let found = case.run_by(&launcher, words, &[2, 3, 4, 128 + number]).map(drop);
            if let Some(writer) = &mut silent {
                let _ = writer.kill();
                let _ = writer.wait();
            }
            found
        }
    }
}

/// Opens a pipe for writing and writes nothing.
fn silent_writer(pipe: &Path) -> Child {
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec sleep 20 >\"$0\""]).arg(pipe);
    shell.spawn().expect("a shell")
}

/// A race that takes more than 1.2 times its budget says why; one within its budget says nothing.
fn budgets(case: &mut Case) -> Found {
    let budget = Duration::from_millis(100 + case.random.below(500));
    let time = format!("{}ms", budget.as_millis());
    let sleep = |case: &mut Case| format!("sleep {}", f64::from(case.size(1, 2500) as u32) / 1e3);
    let commands = [sleep(case), format!("{} ", sleep(case))];
    let mut hooks: Vec<String> = Vec::new();
    for hook in ["--setup", "--prepare", "--conclude", "--cleanup"] {
        if case.once_in(4) {
            hooks.extend([hook.to_owned(), sleep(case)]);
        }
    }
    let hooks: Vec<&str> = hooks.iter().map(String::as_str).collect();
    let limits = ["-w", "0", "-r", "2", "--budget", &time];
    let race = ["--", &commands[0], &commands[1]];
    let first = ["run", "-q", "--no-config", "--save", "r.jsonl"];
    let timed = |case: &mut Case, words: &[&str]| {
        let began = Instant::now();
        let ended = case.run(words, &ORDERLY)?;
        let (took, says) = (began.elapsed(), ended.stderr.contains("budget was"));
        match says {
            // What deadheat does before and after the race is no part of it.
            false if took > budget.mul_f64(1.2) + Duration::from_secs(1) => {
                Err(format!("{took:?} with a budget of {budget:?}, and no word of it"))
            }
            true if took < budget => Err(format!("a budget of {budget:?}, overrun in {took:?}")),
            _ => Ok(()),
        }
    };
    timed(case, &[&first, &limits[..], &hooks, &race].concat())?;
    if case.once_in(2) {
        return Ok(());
    }
    timed(case, &["run", "-q", "--resume", "r.jsonl", "--max-replicates", "2", "--budget", &time])
}

/// A signal at a random moment of a race whose commands ignore it and leave processes.
fn signals(case: &mut Case) -> Found {
    let (signal, number) = case.pick(&[("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)]);
    let after = format!("0.{:03}", 30 + case.random.index_below(600));
    let launcher = ["timeout", "--foreground", "--preserve-status", "-s", signal, &after];
    let place = case.pick(&PLACES);
    let command = format!("trap '' INT TERM HUP QUIT; {}", stubborn(case));
    let race: Vec<&str> = match place {
        "--" => vec!["run", "-q", "-S", "--", &command, "sleep 300"],
        // A signal before it starts this hook, which then has its own time.
        "--cleanup" => {
            let limited = ["run", "-q", "-S", "--timeout", "5s", "--cleanup", &command];
            [&limited[..], &["--", "true", "true "]].concat()
        }
        hook => vec!["run", "-q", "-S", hook, &command, "--", "true", "true "],
    };
    case.run_by(&launcher, &race, &[128 + number]).map(drop)
}

/// A hang at a random place that `--timeout` limits.
fn hangs(case: &mut Case) -> Found {
    let time = format!("{}ms", 100 + case.random.index_below(800));
    let place = case.pick(&PLACES);
    let command = stubborn(case);
    let start = ["run", "-q", "-S", "-r", "2", "--timeout", &time];
    let rest: Vec<&str> = match place {
        "--" => vec!["--", &command, "true"],
        hook => vec![hook, &command, "--", "true", "true "],
    };
    case.run(&[&start[..], &rest].concat(), &[3]).map(drop)
}

/// A shell command that does not end, and starts others that do not.
fn stubborn(case: &mut Case) -> String {
    let starts = [
        "sleep 300 & ",
        "(sleep 300 &) ; ",
        "nohup sleep 300 >/dev/null 2>&1 & ",
        "setsid sleep 300 & ",
        "(setsid sh -c 'sleep 300 & sleep 300' &) ; ",
    ];
    let start = case.mixed(&starts, 3);
    format!("{start}{}", case.pick(&["sleep 300", "while :; do sleep 1; done", "wait; sleep 300"]))
}
