//! Files that are read in time and memory that grow as they do: 100,000 entries end in an answer or in
//! an error, and so do the few bytes that stand for many. How the time grows, `just readers` measures.

mod common;

use std::fmt::Write as _;
use std::fs;

use common::{Finished, Track, text};

const MANY: usize = 100_000;

/// The text that `line` makes of each number.
fn each(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        text.push_str(&line(number));
        text
    })
}

/// The same in a list of JSON.
fn list(count: usize, entry: impl Fn(usize) -> String) -> String {
    let entries: Vec<String> = (0..count).map(entry).collect();
    format!("[{}]", entries.join(","))
}

fn analyze(name: &str, content: &str) -> Finished {
    let track = Track::new();
    fs::write(track.path(name), content).unwrap();
    track.run(&["analyze", "--json", name])
}

const GOOGLE_TIMES: &str = r#""iterations":1,"real_time":1.0,"cpu_time":1.0,"time_unit":"ns""#;

#[test]
fn a_table_of_very_many_columns_ends() {
    let header = each(MANY, |column| format!("c{column},"));
    analyze("a.csv", &format!("{header}x\n")).fails_with(4, &["column wall_ns is missing"]);
    let header = format!("benchmark,contender,wall_ns,{header}c7\n");
    analyze("a.csv", &header).fails_with(4, &["are both named 'c7'"]);
}

#[test]
fn a_line_of_more_cells_than_memory_holds_is_refused() {
    let track = Track::new();
    let commas = ",".repeat(5_000);
    for (file, content) in [
        ("header.csv", format!("{commas}\n")),
        (
            "row.csv",
            format!("benchmark,contender,wall_ns\na,b,1\n{commas}\n"),
        ),
        ("triton.csv", format!("size,A\n1,1\n{commas}\n")),
        (
            "quoted.csv",
            format!("benchmark,contender,wall_ns\n{}\n", "\"\n\",".repeat(5_000)),
        ),
        (
            "dotnet.csv",
            format!("Method;Mean\na;1.0 ns\n{}\n", ";".repeat(5_000)),
        ),
    ] {
        fs::write(track.path(file), content).unwrap();
        let told = [file, "more than 4096 cells", "DEADHEAT_MAX_INPUT"];
        limited(&track, "1M", &["analyze", file]).fails_with(4, &told);
    }
    // Commas in quotes separate no cells.
    let note = format!("benchmark,contender,wall_ns,note\na,b,1,\"{commas}\"\n");
    fs::write(track.path("note.csv"), note).unwrap();
    limited(&track, "1M", &["analyze", "note.csv"]).succeeds();
}

#[test]
fn a_table_of_very_many_benchmarks_ends() {
    let rows = each(MANY / 5, |number| {
        format!("b{number},0,0,0,a,5\nb{number},0,0,1,b,6\n")
    });
    let table = format!("benchmark,replicate,block,slot,contender,wall_ns\n{rows}");
    analyze("a.csv", &table).succeeds();
}

#[test]
fn more_benchmarks_than_memory_holds_answers_for_are_refused() {
    let track = Track::new();
    let rows = each(2_049, |number| {
        format!("b{number},0,0,0,a,5\nb{number},0,0,1,b,6\n")
    });
    let table = format!("benchmark,replicate,block,slot,contender,wall_ns\n{rows}");
    let lines = each(4_097, |number| {
        format!("BenchmarkX{number}-8 100 5 ns/op\n")
    });
    for (file, content) in [
        ("a.csv", &table),
        ("quoted.csv", &table.replace("b7,", "\"b7\",")),
        ("go.txt", &format!("goos: linux\n{lines}")),
    ] {
        fs::write(track.path(file), content).unwrap();
        let told = [
            "benchmarks, counted once per contender",
            "at most 4096",
            "DEADHEAT_MAX_INPUT",
        ];
        for args in [vec!["analyze", file], vec!["compare", file, file]] {
            limited(&track, "1M", &args).fails_with(4, &told);
            limited(&track, "64M", &args).succeeds();
        }
    }
}

#[test]
fn rows_of_google_benchmark_with_very_many_counters_end() {
    let counters = each(MANY / 20, |number| format!("\"u{number}\":1.0,"));
    let backwards: Vec<&str> = counters.split_inclusive(',').rev().collect();
    let row = |counters: &str| {
        format!(r#"{{"name":"a","run_type":"iteration",{counters}{GOOGLE_TIMES}}}"#)
    };
    let rows = [row(&counters), row(&backwards.concat())].join(",");
    analyze(
        "a.json",
        &format!(r#"{{"context":{{}},"benchmarks":[{rows}]}}"#),
    )
    .succeeds();
}

#[test]
fn very_many_benchmarks_of_one_name_end() {
    let row = |number| {
        format!(r#"{{"name":"a","run_type":"iteration","family_index":{number},{GOOGLE_TIMES}}}"#)
    };
    let rows = list(MANY / 10, row);
    analyze(
        "a.json",
        &format!(r#"{{"context":{{}},"benchmarks":{rows}}}"#),
    )
    .succeeds();
}

#[test]
fn very_many_entries_that_cannot_be_read_end() {
    let rows = list(MANY / 5, |number| {
        format!(r#"{{"name":"a{number}","real_time":"no"}},{{"name":"a{number}",{GOOGLE_TIMES}}}"#)
    });
    let done = analyze(
        "a.json",
        &format!(r#"{{"context":{{}},"benchmarks":{rows}}}"#),
    );
    assert!(done.code.is_some_and(|code| code < 5), "{done:?}");
}

#[test]
fn more_commands_of_hyperfine_than_can_race_are_refused() {
    let commands = list(MANY, |number| {
        format!(r#"{{"command":"c{number}","mean":1.0,"times":[1.0,1.1]}}"#)
    });
    let done = analyze("a.json", &format!(r#"{{"results":{commands}}}"#));
    done.fails_with(4, &["has 100000 contenders; between 1 and 64 can race"]);
}

#[test]
fn parameters_of_asv_with_more_combinations_than_results_are_refused() {
    let values = format!("[{}]", ["\"v\""; 10].join(","));
    let lists = [values.as_str(); 12].join(",");
    let file = format!(
        r#"{{"commit_hash":"a","params":{{}},"version":2,"result_columns":["result","params"],"results":{{"b":[[1.0],[{lists}]]}}}}"#
    );
    analyze("a.json", &file).fails_with(4, &["a.json", "combinations"]);
}

#[test]
fn a_log_that_opens_objects_line_by_line_ends() {
    analyze("a.json", &"log\n{\n".repeat(MANY)).fails_with(4, &["a.json"]);
    let keys = "\"meta\":1,\"env_name\":2,".repeat(MANY);
    analyze("a.json", &format!("{{{keys}\"x\":1}}")).fails_with(4, &["a.json"]);
    let keys = each(MANY, |number| format!("\"k{number}\":1,"));
    analyze("a.json", &format!("{{{keys}\"x\":1}}")).fails_with(4, &["a.json"]);
}

#[test]
fn a_name_of_a_million_bytes_is_refused_with_its_limit() {
    let name = "n".repeat(1_000_000);
    let google = format!(
        r#"{{"context":{{}},"benchmarks":[{{"name":"{name}","run_type":"iteration",{GOOGLE_TIMES}}}]}}"#
    );
    let hyperfine = format!(r#"{{"results":[{{"command":"{name}","times":[1.0,1.1]}}]}}"#);
    let go = format!("goos: linux\nBenchmark{name} 1 5 ns/op\n");
    let csv = format!("benchmark,contender,wall_ns\n{name},a,1\n{name},b,1\n");
    for (file, content) in [
        ("a.json", google),
        ("b.json", hyperfine),
        ("c.txt", go),
        ("d.csv", csv),
    ] {
        let done = analyze(file, &content);
        done.fails_with(4, &[file, "longer than 65536 bytes", "DEADHEAT_MAX_INPUT"]);
        assert!(done.stderr.len() < 2000, "{}", done.stderr.len());
    }
}

#[test]
fn a_folder_of_thousands_of_files_ends() {
    let track = Track::new();
    let file = format!(
        r#"{{"context":{{}},"benchmarks":[{{"name":"a","run_type":"iteration",{GOOGLE_TIMES}}}]}}"#
    );
    for (side, count) in [("old", 1), ("new", 3000)] {
        fs::create_dir(track.path(side)).unwrap();
        for number in 0..count {
            fs::write(track.path(&format!("{side}/{number}.json")), &file).unwrap();
        }
    }
    track.run(&["compare", "old", "new"]).succeeds();
}

/// Runs with a limit for what is read.
fn limited(track: &Track, limit: &str, args: &[&str]) -> Finished {
    let mut command = track.command();
    command.env("DEADHEAT_MAX_INPUT", limit).args(args);
    Finished::from(command.output().unwrap())
}

#[test]
fn a_histogram_that_stands_for_very_many_samples_is_refused() {
    let track = Track::new();
    let benchmark = |number: usize| {
        let iterations = list(100, |value| format!("[[{value},1000000000]]"));
        let metric =
            format!(r#"{{"score":1,"scoreUnit":"ns/op","rawDataHistogram":[{iterations}]}}"#);
        format!(r#"{{"benchmark":"b{number}","mode":"sample","primaryMetric":{metric}}}"#)
    };
    fs::write(track.path("jmh.json"), list(20, benchmark)).unwrap();
    let told = ["jmh.json", "the results together need more than 2097152"];
    for args in [
        &["analyze", "jmh.json"][..],
        &["report", "jmh.json", "--json"],
    ] {
        limited(&track, "1M", args).fails_with(4, &told);
    }
}

#[test]
fn files_that_are_too_much_together_are_refused() {
    let track = Track::new();
    let values = "1,".repeat(10_000);
    for side in ["old", "new"] {
        fs::create_dir(track.path(side)).unwrap();
        for file in 0..8 {
            let text = format!(r#"{{"results":[{{"command":"a","times":[{values}1.{file}]}}]}}"#);
            fs::write(track.path(side).join(format!("{file}.json")), text).unwrap();
        }
    }
    let told = [
        "the results together need more than 2097152 bytes of memory",
        "DEADHEAT_MAX_INPUT",
    ];
    let twice = ["compare", "old", "old", "new"];
    limited(&track, "1M", &["compare", "old", "new"]).fails_with(4, &told);
    limited(&track, "1M", &["compare", "old/0.json", "new/0.json"]).succeeds();
    limited(&track, "8M", &["compare", "old", "new"]).succeeds();
    limited(&track, "6M", &twice).fails_with(4, &["the results together"]);
}

#[test]
fn the_limit_holds_for_run_files_wherever_they_are_read() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let race = [
        "run",
        "-q",
        "-r",
        "3",
        "-w",
        "0",
        "--save",
        "run.jsonl",
        "--",
        "true",
        "true",
    ];
    track.run(&race).succeeds();
    let bytes = fs::metadata(&save).unwrap().len();
    for args in [
        vec!["analyze", text(&save)],
        vec!["report", text(&save), "--json"],
        vec!["explain", "run.jsonl"],
        vec!["compare", text(&save), text(&save)],
        vec!["run", "--resume", text(&save)],
        vec!["history", "add", text(&save)],
    ] {
        let told = ["run.jsonl", "more than 100 bytes", "DEADHEAT_MAX_INPUT"];
        limited(&track, "100", &args).fails_with(4, &told);
    }
    let mut exact = String::new();
    write!(exact, "{bytes}").unwrap();
    limited(&track, &exact, &["analyze", text(&save)]).succeeds();
}

#[test]
fn a_run_file_with_more_values_than_memory_holds_is_refused() {
    let track = Track::new();
    let plan = |parameters: &str| {
        let contender = |name| {
            format!(
                r#"{{"name":"{name}","command":{{"text":"{name}","words":["{name}"],"input":"null","output":"null","timeout_ns":null,"exit_policy":"zero-only","hooks":{{"setup":null,"prepare":null,"conclude":null,"cleanup":null}}}}}}"#
            )
        };
        let contenders = ["a", "b"].map(contender).join(",");
        let design = r#"{"margin":0.01,"alpha":0.05,"looks":{"at":[6],"levels":[0.05],"weights":[1.0]},"blocks_per_replicate":1,"warmup":0,"budget_ns":null,"judged":"wall_ns"}"#;
        format!(
            r#"{{"schema":"deadheat.run/1","tool":{{"version":"0.1.0"}},"started_at":1,"seed":7,"plan":{{"design":{design},"benchmarks":[{{"name":"x","parameters":[{parameters}],"contenders":[{contenders}]}}]}},"environment":{{}},"columns":["wall_ns"],"tick_ns":1.0}}"#
        )
    };
    let empty = vec!["\"\""; 2_000].join(",");
    let observed = format!(
        r#"{{"observed":{{"benchmark":0,"contender":0,"replicate":0,"addresses":null,"keeps_cores":null,"padded":null,"variables":[{empty}]}}}}"#
    );
    let pairs = vec![r#"["",""]"#; 30_000].join(",");
    for (file, content) in [
        (
            "lines.jsonl",
            format!("{}\n{}", plan(""), format!("{observed}\n").repeat(100)),
        ),
        ("header.jsonl", format!("{}\n", plan(&pairs))),
    ] {
        fs::write(track.path(file), content).unwrap();
        let told = [
            file,
            "its lines other than samples need more than 4194304 bytes of memory",
            "DEADHEAT_MAX_INPUT",
        ];
        limited(&track, "1M", &["analyze", file]).fails_with(4, &told);
        limited(&track, "1M", &["report", file, "--json"]).fails_with(4, &told);
        let read = limited(&track, "64M", &["analyze", file]);
        read.fails_with(4, &["holds no complete block"]);
    }
}
