//! Values that do not scatter, and zeros: allocations, bytes, counters, numbers that commands print.

mod common;

use std::fs;

use common::{Finished, Track, says};

/// A file for each of six recordings of either side, in turns.
fn six_in_turns(track: &Track, extension: &str, content: impl Fn(&str, u32) -> String) {
    for number in 1..=6 {
        for (hour, side) in ["old", "new"].into_iter().enumerate() {
            let name = format!("{side}{number}.{extension}");
            fs::write(track.path(&name), content(side, number)).unwrap();
            let written = std::time::UNIX_EPOCH
                + std::time::Duration::from_secs(1_700_000_000 + u64::from(number) * 7200)
                + std::time::Duration::from_secs(hour as u64 * 3600);
            let file = fs::File::options().write(true).open(track.path(&name));
            file.unwrap().set_modified(written).unwrap();
        }
    }
}

/// Compares the files of [`six_in_turns`].
fn compared(track: &Track, extension: &str, args: &[&str]) -> Finished {
    let files = |side: &str| -> Vec<String> {
        let numbers = 1..=6;
        numbers
            .map(|number| format!("{side}{number}.{extension}"))
            .collect()
    };
    let (old, new) = (files("old"), files("new"));
    let old = old.iter().map(String::as_str);
    let new = new.iter().map(String::as_str);
    let sides = old.chain(["--against"]).chain(new);
    let all: Vec<&str> = ["compare", "--no-config"]
        .into_iter()
        .chain(sides)
        .collect();
    track.run(&[&all[..], args].concat())
}

/// Go's lines of a benchmark, of which time scatters and allocations do not.
fn go(side: &str, number: u32, [old, new]: [&str; 2]) -> String {
    let allocated = if side == "old" { old } else { new };
    format!("BenchmarkClone-8 \t 1000 \t 50{number} ns/op \t {allocated}\n")
}

/// The verdict of the only benchmark.
fn verdict(done: &Finished) -> String {
    done.json()["benchmarks"][0]["verdict"].to_string()
}

#[test]
fn six_equal_counts_against_six_equal_others_are_a_verdict() {
    let track = Track::new();
    let pair = ["64 B/op \t 5 allocs/op", "64 B/op \t 4 allocs/op"];
    six_in_turns(&track, "txt", |side, number| go(side, number, pair));
    let asked = ["--metric", "allocations", "--json"];
    let fewer = compared(&track, "txt", &asked);
    assert_eq!(verdict(&fewer), "\"faster\"");
    let row = &fewer.json()["benchmarks"][0];
    assert_eq!(row["p_value"], 1.0 / 32.0);
    let [low, high] = [0, 1].map(|end| row["ci"][end].as_f64().unwrap());
    assert!(
        (low + 0.2).abs() < 1e-12 && (high + 0.2).abs() < 1e-12,
        "{row}"
    );
    let same = compared(&track, "txt", &["--metric", "allocated-bytes", "--json"]);
    assert_eq!(verdict(&same), "\"equivalent\"");
    assert_eq!(same.json()["benchmarks"][0]["p_value"], 1.0);
    let red = compared(
        &track,
        "txt",
        &["--metric", "allocations", "--fail-on", "not-equivalent"],
    );
    says(&red, 1, &["breaks the rule"]);
    let advice = ["more work", "resolution of the clock"];
    let told = &red.stdout;
    assert!(!advice.iter().any(|one| told.contains(one)), "{told}");
}

#[test]
fn times_that_do_not_scatter_are_judged_too() {
    let track = Track::new();
    six_in_turns(&track, "csv", |side, number| {
        let ns = if side == "old" { "0.75" } else { "0.875" };
        format!("benchmark,contender,wall_ns\nround,a,{ns}\nsame,a,2.5\nother,a,{ns}{number}\n")
    });
    let done = compared(&track, "csv", &["--json"]);
    let rows = done.json();
    let of = |name: &str| {
        let rows = rows["benchmarks"].as_array().unwrap().iter();
        let mut named = rows.filter(|row| row["benchmark"] == name);
        named.next().unwrap()["verdict"].as_str().map(str::to_owned)
    };
    assert_eq!(of("round").as_deref(), Some("slower"));
    assert_eq!(of("same").as_deref(), Some("equivalent"));
}

#[test]
fn from_nothing_is_slower_to_nothing_is_faster_and_nothing_is_a_dead_heat() {
    let none = "0 B/op \t 0 allocs/op";
    let some = "96 B/op \t 2 allocs/op";
    for (pair, code, told) in [
        ([none, some], 1, "from 0"),
        ([some, none], 0, "100%"),
        ([none, none], 0, "dead heat"),
    ] {
        let track = Track::new();
        six_in_turns(&track, "txt", |side, number| go(side, number, pair));
        let asked = ["--metric", "allocations", "--fail-on", "slower"];
        says(&compared(&track, "txt", &asked), code, &[told]);
    }
    // Some of the files allocate: there is no ratio, and nothing that all agree on.
    let track = Track::new();
    six_in_turns(&track, "txt", |side, number| {
        go(side, number, [none, if number < 4 { none } else { some }])
    });
    let mixed = compared(
        &track,
        "txt",
        &["--metric", "allocations", "--fail-on", "slower"],
    );
    mixed.fails_with(2, &["could judge no benchmark", "too many values are zero"]);
}

#[test]
fn numbers_that_commands_print_are_judged_without_scatter() {
    let track = Track::new();
    let race = |values: &[&str], commands: [&str; 2]| {
        let fixed = ["run", "-q", "--no-config", "--fail-on", "slower"];
        track.run(&[&fixed[..], values, &["--"], &commands].concat())
    };
    let allocs = ["--value", "allocs=allocs ([0-9]+)"];
    let more = race(&allocs, ["echo allocs 100", "echo allocs 120"]);
    says(&more, 1, &["20.00%", "breaks the rule"]);
    let rate = ["--value", "rps=rate ([0-9.]+)", "--higher-is-better", "rps"];
    says(
        &race(&rate, ["echo rate 2000", "echo rate 100"]),
        1,
        &["breaks the rule"],
    );
    let same = race(&allocs, ["echo allocs 7", "echo  allocs 7"]);
    says(&same, 0, &["dead heat"]);
}
