//! Outputs never take the place of what a command reads, races or writes elsewhere.

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{Track, text};

/// A track with a run, its plan, and the parts of another run.
fn with_runs() -> Track {
    let track = Track::new();
    let race = ["--", "true", "true "];
    let run = |words: &[&str]| {
        track.run(&[words, &race].concat()).succeeds();
    };
    run(&["run", "-q", "-r", "2", "--save", "r.jsonl"]);
    run(&[
        "plan",
        "run",
        "--max-replicates",
        "6",
        "--save",
        "plan.json",
    ]);
    let part = [
        "run",
        "-q",
        "--seed",
        "1",
        "--max-replicates",
        "6",
        "--shard",
    ];
    run(&[&part[..], &["1/2", "--save", "p1.jsonl"]].concat());
    run(&[&part[..], &["2/2", "--save", "p2.jsonl"]].concat());
    track
}

#[test]
fn reports_take_the_place_of_nothing_that_a_command_reads() {
    let track = with_runs();
    fs::hard_link(track.path("r.jsonl"), track.path("hard")).unwrap();
    symlink("plan.json", track.path("soft")).unwrap();
    for (kept, words) in [
        (
            "p2.jsonl",
            &["merge", "p1.jsonl", "p2.jsonl", "--html", "p2.jsonl"][..],
        ),
        ("r.jsonl", &["explain", "r.jsonl", "--html", "r.jsonl"]),
        ("r.jsonl", &["report", "r.jsonl", "--html", "hard"]),
        (
            "plan.json",
            &["run", "-q", "--plan", "plan.json", "--html", "soft"],
        ),
        ("r.jsonl", &["calibrate", "--save", "r.jsonl"]),
    ] {
        let before = fs::read(track.path(kept)).unwrap();
        track.run(words).fails_with(2, &["help: "]);
        assert!(fs::read(track.path(kept)).unwrap() == before, "{words:?}");
    }
}

#[test]
fn pictures_and_a_second_race_replace_no_file_that_a_command_names() {
    let track = with_runs();
    fs::create_dir(track.path("pictures")).unwrap();
    fs::copy(track.path("r.jsonl"), track.path("pictures/01-run.svg")).unwrap();
    symlink("pictures/01-run.svg", track.path("link.jsonl")).unwrap();
    symlink("new/01-run.svg", track.path("dangling")).unwrap();
    let race = ["run", "-q", "-r", "2", "--save", "n.jsonl"];
    let second = ["--html", "n.confirm.jsonl", "--", "touch ran", "true"];
    for words in [
        &["report", "pictures/01-run.svg", "--svg", "pictures"][..],
        &["report", "link.jsonl", "--svg", "./pictures/"],
        &[
            "report",
            "r.jsonl",
            "--svg",
            "new",
            "--html",
            "new/02-x.svg",
        ],
        &[
            "history",
            "page",
            "--races",
            "pages",
            "--html",
            "pages/r.jsonl.html",
        ],
        &["report", "r.jsonl", "--svg", "new", "--html", "dangling"],
        &[&race[..], &second].concat(),
    ] {
        track.run(words).fails_with(2, &["help: "]);
    }
    assert!(!track.path("ran").exists());
    let words = ["report", "r.jsonl", "--svg", ".", "--html", "page.html"];
    track.run(&words).succeeds();
}

#[test]
fn two_outputs_of_one_file_are_refused_before_anything_is_launched() {
    let track = Track::new();
    symlink("x", track.path("link")).unwrap();
    for (one, other) in [("x", "x"), ("x", "./x"), ("x", "link"), ("link", "x")] {
        for flag in ["--html", "--export-csv", "--junit"] {
            let words = [
                "run",
                "-q",
                "--save",
                one,
                flag,
                other,
                "--",
                "touch ran",
                "true",
            ];
            let done = track.run(&words);
            done.fails_with(2, &[flag, "is the same file as --save"]);
        }
    }
    let done = track.run(&["run", "-q", "--html", "x", "--junit", "x", "true", "true "]);
    done.fails_with(2, &["--html x", "--junit x"]);
    assert!(!track.path("x").exists() && !track.path("ran").exists());
}

#[test]
fn scripts_and_inputs_of_a_race_and_of_its_plan_are_not_written_over() {
    let track = Track::new();
    for name in ["old.sh", "new.sh", "words"] {
        fs::write(track.path(name), ":\n").unwrap();
    }
    let race = ["--input", "words", "--", "sh old.sh", "sh new.sh"];
    let plan = [
        "plan",
        "run",
        "--max-replicates",
        "6",
        "--save",
        "plan.json",
    ];
    track.run(&[&plan[..], &race].concat()).succeeds();
    for file in ["old.sh", "new.sh", "words"] {
        let output = ["run", "-q", "--export-json", file];
        let done = track.run(&[&output[..], &race].concat());
        done.fails_with(2, &["--export-json", "is the same file as"]);
        let done = track.run(&[&output[..], &["--plan", "plan.json"]].concat());
        done.fails_with(2, &["--export-json", "is the same file as --plan"]);
        assert_eq!(fs::read(track.path(file)).unwrap(), b":\n");
    }
    fs::write(track.path("deadheat.toml"), "").unwrap();
    let done = track.run(&["run", "-q", "--html", "deadheat.toml", "true", "true "]);
    done.fails_with(2, &["deadheat.toml", "--config"]);
}

/// Options that write a file, each with words of what it refuses to replace.
const WRITERS: [(&str, &str); 9] = [
    ("--html", "an HTML page"),
    ("--junit", "a JUnit file"),
    ("--export-json", "JSON of hyperfine"),
    ("--export-csv", "a CSV table"),
    ("--export-hdr", "a log of HdrHistogram"),
    ("--export-markdown", "a Markdown table"),
    ("--export-google-benchmark", "JSON of Google Benchmark"),
    ("--export-go", "output of Go benchmarks"),
    ("--export-bmf", "JSON in Bencher's format"),
];

#[test]
fn files_of_another_kind_are_kept_and_nothing_is_launched() {
    let track = Track::new();
    for (name, content) in [
        ("README.md", "# my project\n\nIt is fast.\n"),
        ("fast.c", "int main(void) { return 0; }\n"),
        ("bench.py", "import os, sys\n"),
        ("package.json", "{\"name\": \"x\", \"version\": \"1.0\"}\n"),
        ("numbers.csv", "name,address\nA,B\n"),
    ] {
        fs::write(track.path(name), content).unwrap();
        for (option, kind) in WRITERS {
            let words = ["run", "-q", option, name, "--", "touch ran", "true"];
            let help = "choose another name, or remove the file";
            track
                .run(&words)
                .fails_with(2, &[option, name, "exists and is not", kind, help]);
            assert_eq!(text_of(&track, name), content, "{option}");
        }
    }
    let done = track.run(&["calibrate", "--markdown", "README.md", "--quick"]);
    done.fails_with(2, &["--markdown: README.md exists and is not"]);
    assert!(!track.path("ran").exists());
}

#[test]
fn pictures_replace_only_pictures() {
    let track = with_runs();
    let draw = || track.run(&["report", "r.jsonl", "--svg", "pictures"]);
    draw().succeeds();
    draw().succeeds();
    let mut made = fs::read_dir(track.path("pictures")).unwrap();
    let picture = made.next().unwrap().unwrap().path();
    fs::write(&picture, "precious\n").unwrap();
    draw().fails_with(2, &["--svg", "exists and is not a picture in SVG"]);
    assert_eq!(fs::read(&picture).unwrap(), b"precious\n");
}

fn text_of(track: &Track, name: &str) -> String {
    fs::read_to_string(track.path(name)).unwrap()
}

#[test]
fn earlier_outputs_of_one_kind_empty_files_and_devices_are_written() {
    let track = Track::new();
    for (option, _) in WRITERS {
        fs::write(track.path("out"), "").unwrap();
        for file in ["out", "out", "/dev/null"] {
            let words = ["run", "-q", "-r", "2", option, file, "true", "true "];
            track.run(&words).succeeds();
        }
        assert!(!text_of(&track, "out").is_empty(), "{option}");
    }
}

#[test]
fn links_in_a_checkout_do_not_lead_reports_elsewhere() {
    let track = with_runs();
    let precious = track.path("precious");
    fs::write(&precious, "precious").unwrap();
    for process in 1..70_000 {
        symlink("precious", track.path(&format!(".deadheat-{process}-0"))).unwrap();
    }
    for words in [
        &["report", "r.jsonl", "--html", "page.html"][..],
        &["analyze", "r.jsonl", "--html", "page.html"],
        &["pack", "plan.json", "-o", "pack.tar.zst"],
    ] {
        track.run(words).succeeds();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    }
    assert!(!track.path("page.html").is_symlink(), "{}", text(&precious));
}
