//! Numbers that commands print, raced: what becomes of good ones, and what is said of the rest.

mod common;

use common::{Finished, Track, text};
use serde_json::Value;

const RATE: [&str; 4] = [
    "--value",
    "requests/s=([0-9.]+)",
    "--higher-is-better",
    "requests/s",
];

/// A command that says how many requests a second it served: about so many.
fn serves(about: u32) -> String {
    let digits = "$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')";
    format!("echo '2 threads'; echo requests/s={about}.{digits}")
}

/// Races these in a shell, with these options.
fn race(track: &Track, options: &[&str], commands: [&str; 2]) -> Finished {
    let common = ["run", "-q", "-S", "sh"];
    track.run(&[&common[..], options, &["--"], &commands].concat())
}

/// The rows of the metrics of the only benchmark, by name.
fn metric<'a>(analysis: &'a Value, name: &str) -> &'a Value {
    let rows = analysis["benchmarks"][0]["metrics"].as_array().unwrap();
    rows.iter().find(|row| row["metric"] == name).unwrap()
}

#[test]
fn the_only_value_is_judged_and_more_of_it_is_faster() {
    let track = Track::new();
    let (old, new) = (serves(1000), serves(2000));
    let done = race(&track, &[&RATE[..], &["--json"]].concat(), [&old, &new]);
    done.succeeds();
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    let one = &answer["benchmarks"][0];
    assert_eq!(one["metric"], "requests/s");
    assert_eq!(one["verdict"], "faster");
    let change = one["change"].as_f64().unwrap();
    assert!((change - 1.0).abs() < 0.01, "{change}");
    assert_eq!(metric(&answer, "requests/s")["better"], "more");
    assert_eq!(metric(&answer, "requests/s")["verdict"], "faster");

    let done = race(
        &track,
        &[&RATE[..], &["--fail-on", "slower"]].concat(),
        [&new, &old],
    );
    assert_eq!(done.code, Some(1), "{done:?}");
    let less = race(&track, &["--value", "requests/s=([0-9.]+)"], [&old, &new]);
    less.succeeds();
    assert!(less.stdout.contains("✘"), "{less:?}");
}

#[test]
fn a_run_read_back_or_exported_gives_the_same_verdict() {
    let track = Track::new();
    let (old, new) = (serves(1000), serves(2000));
    let files = ["--save", "run.jsonl", "--export-csv", "run.csv", "--json"];
    let done = race(&track, &[&RATE[..], &files].concat(), [&old, &new]);
    done.succeeds();
    let again = track.run(&["analyze", "--json", "run.jsonl"]);
    again.succeeds();
    assert_eq!(again.stdout, done.stdout);
    let csv = std::fs::read_to_string(track.path("run.csv")).unwrap();
    assert!(
        csv.lines().next().unwrap().contains("more:requests/s"),
        "{csv}"
    );
    let table = ["analyze", "--json", "--metric", "requests/s", "run.csv"];
    let table = track.run(&table);
    table.succeeds();
    let answer: Value = serde_json::from_str(&table.stdout).unwrap();
    assert_eq!(answer["benchmarks"][0]["metric"], "requests/s");
    assert_eq!(answer["benchmarks"][0]["verdict"], "faster");
    let page = track.run(&["report", "run.jsonl", "--html", "run.html"]);
    page.succeeds();
    let page = std::fs::read_to_string(track.path("run.html")).unwrap();
    assert!(page.contains("more is better"));
}

#[test]
fn values_go_on_when_a_run_is_resumed() {
    let track = Track::new();
    let (old, new) = (serves(1000), serves(2000));
    let first = [&RATE[..], &["--save", "run.jsonl", "-r", "4"]].concat();
    race(&track, &first, [&old, &new]).succeeds();
    track
        .run(&[
            "run",
            "-q",
            "--resume",
            "run.jsonl",
            "--max-replicates",
            "30",
        ])
        .succeeds();
    let again = track.run(&["analyze", "--json", "run.jsonl"]);
    let answer: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(answer["benchmarks"][0]["verdict"], "faster", "{again:?}");
    assert!(answer["benchmarks"][0]["replicates"].as_u64() > Some(2));
}

#[test]
fn of_several_values_the_named_one_is_judged_or_the_wall_time() {
    let track = Track::new();
    let (old, new) = (serves(1000), serves(2000));
    let values = [
        &RATE[..],
        &["--value", "threads=([0-9]+) threads", "--json", "-r", "12"],
    ]
    .concat();
    let judged = |more: &[&str]| {
        let done = race(&track, &[&values, more].concat(), [&old, &new]);
        done.succeeds();
        let answer: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(metric(&answer, "threads")["baseline"]["median"], 2.0);
        answer["benchmarks"][0]["metric"].clone()
    };
    assert_eq!(judged(&[]), "wall");
    assert_eq!(judged(&["--metric", "threads"]), "threads");
    std::fs::write(track.path("deadheat.toml"), "metric = \"requests/s\"").unwrap();
    assert_eq!(judged(&[]), "requests/s");
}

#[test]
fn a_second_race_reads_the_same_values() {
    let track = Track::new();
    let (old, new) = (serves(2000), serves(1000));
    let options = ["--confirm", "--fail-on", "slower", "--save", "run.jsonl"];
    let done = race(&track, &[&RATE[..], &options].concat(), [&old, &new]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let second = std::fs::read_to_string(track.path("run.confirm.jsonl")).unwrap();
    assert!(second.contains("more:requests/s"));
}

#[test]
fn a_value_is_read_from_a_file_that_each_launch_writes_anew() {
    let track = Track::new();
    let writes = |about: u32| {
        format!(
            "echo chatter; echo \"{{\\\"p99\\\": {{\\\"us\\\": {about}.$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')}}}}\" > out.json"
        )
    };
    let file = ["--value", "p99=/p99/us", "--value-file", "out.json"];
    let done = race(&track, &file, [&writes(100), &writes(50)]);
    done.succeeds();
    assert!(done.stdout.contains("is cheaper than"), "{done:?}");
    // The second command leaves it to the first, whose number must not be read as its own.
    let lazy = race(&track, &file, [&writes(100), "true"]);
    lazy.fails_with(
        3,
        &["command 'true' (warm-up) wrote no --value-file 'out.json'"],
    );
    std::fs::create_dir(track.path("folder")).unwrap();
    let folder = ["--value", "v=/v", "--value-file", "folder"];
    race(&track, &folder, ["true", "true"]).fails_with(
        3,
        &["'folder' that is not a plain file, so deadheat did not touch it"],
    );
    assert!(track.path("folder").is_dir());
}

#[test]
fn a_launch_without_its_value_fails_where_it_was_and_is_shown() {
    let track = Track::new();
    let told = |command: &str, expected: &str| {
        let done = race(&track, &["--value", "v=v: (\\S+)"], ["echo v: 1", command]);
        let place = "(replicate 0, block 0, slot ";
        done.fails_with(3, &[place, &format!("command '{command}'"), expected]);
    };
    told(
        "true",
        "gives no value 'v' (--value): nothing matches 'v: (\\S+)'; it printed nothing",
    );
    told(
        "echo v: 1; echo v: 2",
        "matches 2 times, first \"1\", but it must match exactly once; it printed \"v: 1\" \"v: 2\"",
    );
    told(
        "echo v: many",
        "\"many\" is not a finite number; it printed \"v: many\"",
    );
    told(
        "echo v: 0",
        "0 is not above zero, so deadheat cannot compute a change, which is a ratio",
    );
    told("echo v: -1", "-1 is not above zero");
    told("echo v: inf", "\"inf\" is not a finite number");
    told(
        "seq 1000",
        "\"1\" \"2\" \"3\" … 994 lines … \"998\" \"999\" \"1000\"",
    );
    told("head -c 5000 /dev/urandom", "it printed");
    let rates = race(
        &track,
        &["--value", "v=v: (\\S+)"],
        ["echo v: 1", "printf 'v: 1\\377'"],
    );
    rates.fails_with(3, &["is not a finite number"]);
}

#[test]
fn a_program_that_prints_without_end_is_stopped_and_one_that_prints_a_gigabyte_is_refused() {
    let track = Track::new();
    for endless in ["yes", "head -c 1000000000 /dev/zero"] {
        let done = race(&track, &["--value", "v=([0-9]+)"], ["echo 1", endless]);
        let expected = format!("command '{endless}' (warm-up) printed more than the 16 MiB");
        done.fails_with(3, &[&expected, "--value-file"]);
    }
    let file = ["--value", "v=([0-9]+)", "--value-file", "out"];
    let large = "head -c 20000000 /dev/zero > out";
    race(&track, &file, ["echo 1 > out", large])
        .fails_with(3, &["wrote to 'out' more than the 16 MiB"]);
    // Just under it, the value is found at the end.
    let much = "head -c 1000000 /dev/zero; echo; echo v=$(od -An -N1 -tu1 /dev/urandom)7";
    race(
        &track,
        &["--value", "v=v= *([0-9]+)", "-r", "4"],
        [much, much],
    )
    .succeeds();
}

#[test]
fn options_that_cannot_be_meant_are_refused_before_anything_is_launched() {
    let track = Track::new();
    let value = ["--value", "v=([0-9]+)"];
    for (options, expected) in [
        (&["--value", "v"][..], "--value 'v' is not NAME=PATTERN"),
        (&["--value", "v="], "is not NAME=PATTERN"),
        (&["--value", "=1"], "is not a metric name"),
        (&["--value", "v=("], "'(' is not a regular expression"),
        (&["--value", "wall=1"], "deadheat measures 'wall' itself"),
        (
            &[value[0], value[1], "--value", "v=/v"],
            "there are two values 'v'",
        ),
        (&["--higher-is-better", "v"], "no --value has this name"),
        (&["--value-file", "x"], "--value-file needs a --value"),
        (
            &[value[0], value[1], "--check-output"],
            "cannot be combined",
        ),
        (&[value[0], value[1], "--show-output"], "cannot be combined"),
        (
            &[value[0], value[1], "--output", "pipe"],
            "cannot be combined",
        ),
    ] {
        race(&track, options, ["touch launched", "true"]).fails_with(2, &[expected]);
    }
    assert!(!track.path("launched").exists());
    let shown = [
        &value[..],
        &["--value-file", "x", "--output", "out", "-r", "2"],
    ]
    .concat();
    let both = "echo 1$(od -An -N1 -tu1 /dev/urandom | tr -d ' ') > x; echo printed";
    race(&track, &shown, [both, both]).succeeds();
    assert_eq!(
        std::fs::read_to_string(text(&track.path("out"))).unwrap(),
        "printed\n"
    );
}
