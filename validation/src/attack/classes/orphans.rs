//! Orphans of hooks are reaped at once, so that `kill -0` in a stop script sees their end.

use crate::case::{Case, Found};

pub fn check(case: &mut Case) -> Found {
    let mut start = "sleep 1000 & echo $! >pid".to_owned();
    for _ in 0..case.random.index_below(4) {
        start = match case.random.index_below(3) {
            0 => format!("({start})"),
            1 => format!("sh -c '{}'", start.replace('\'', "'\\''")),
            _ => format!("({start}) & wait"),
        };
    }
    let (begin, end) = case.pick(&[("--prepare", "--conclude"), ("--setup", "--cleanup")]);
    let signal = case.pick(&["TERM", "KILL", "INT", "HUP"]);
    // A shell's background processes ignore SIGINT.
    let signal = if signal == "INT" { "QUIT -s KILL" } else { signal };
    let signal = signal.rsplit(' ').next().unwrap_or(signal);
    let stop = format!(
        "kill -s {signal} $(cat pid); while kill -0 $(cat pid) 2>/dev/null; do sleep .01; done"
    );
    let words = [
        "run",
        "-q",
        "-S",
        "-r",
        "2",
        "--timeout",
        "5s",
        begin,
        &start,
        end,
        &stop,
        "--",
        "true",
        "true ",
    ];
    case.run(&words, &[0])?;
    case.nothing_left()
}
