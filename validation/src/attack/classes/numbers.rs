//! Every number of the command line is accepted or refused in a sentence.

use crate::case::{Case, Found};

const PIECES: [&str; 24] = [
    "1e-9",
    "1e309",
    "-0",
    "NaN",
    "inf",
    "99.9",
    "0",
    "-1",
    "18446744073709551616",
    "1e-320",
    "0x10",
    "1_000",
    "٣",
    "1,5",
    "1e",
    ".",
    "%",
    "ms",
    "s",
    "e",
    "9",
    "00",
    "/",
    "4294967296",
];

const OPTIONS: [&str; 20] = [
    "--margin",
    "--alpha",
    "--quantile",
    "--warmup",
    "--runs",
    "--min-runs",
    "--max-runs",
    "--max-replicates",
    "--blocks",
    "--budget",
    "--timeout",
    "--seed",
    "--shard",
    "--pin",
    "--metric",
    "--slice",
    "--ignore-failure",
    "--confirm",
    "--margin-for",
    "--fail-on",
];

pub fn check(case: &mut Case) -> Found {
    case.race("r.jsonl", &["-r", "6"], &["true", "true "])?;
    let read = case.once_in(3);
    let mut words: Vec<String> = match read {
        true => vec!["analyze".to_owned(), "r.jsonl".to_owned()],
        false => ["run", "-q", "--no-config"].map(str::to_owned).to_vec(),
    };
    for _ in 0..1 + case.random.index_below(2) {
        let option = if read {
            case.pick(&["--margin", "--alpha", "--quantile", "--metric"])
        } else {
            case.pick(&OPTIONS)
        };
        words.push(format!("{option}={}", number(case)));
    }
    if !read {
        if case.once_in(6) {
            words.push("-P".to_owned());
            words.extend(["v".to_owned(), number(case), number(case)]);
        }
        words.extend(["--", "true", "true "].map(str::to_owned));
    }
    // Some numbers are right, and ask for a long race.
    let launcher = ["timeout", "--foreground", "--preserve-status", "-s", "INT", "1.5"];
    case.run_by(&launcher, &words, &[0, 1, 2, 3, 4, 6, 130]).map(drop)
}

/// Mostly a sensible number, with an odd piece at times.
fn number(case: &mut Case) -> String {
    if case.once_in(2) {
        return case.mixed(&PIECES, 2);
    }
    let digits = case.random.below(1 << (1 + case.random.clone().index_below(60)));
    let exponent = case.random.index_below(40) as i32 - 20;
    let unit = case.pick(&["", "%", "ms", "s", "e3"]);
    match case.random.index_below(3) {
        0 => format!("{digits}{unit}"),
        1 => format!("0.{digits}{unit}"),
        _ => format!("{digits}e{exponent}{unit}"),
    }
}
