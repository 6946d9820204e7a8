//! Files of results of which a part is broken, or that are not what they seem: what can be read is
//! compared, what failed is no speed, and the rest is named.

mod common;

use std::fs;

use common::{Finished, Track};

impl Track {
    fn holds(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }
}

#[track_caller]
fn tells(done: &Finished, code: i32, out: &[&str], err: &[&str]) {
    assert_eq!(done.code, Some(code), "{done:?}");
    for word in out {
        assert!(done.stdout.contains(word), "'{word}' is missing: {done:?}");
    }
    for word in err {
        assert!(done.stderr.contains(word), "'{word}' is missing: {done:?}");
    }
}

/// A file of hyperfine with one command.
fn hyperfine(time: f64, codes: &str) -> String {
    let times: Vec<String> = (0..4)
        .map(|i| (time * (1.0 + f64::from(i) * 1e-2)).to_string())
        .collect();
    let times = times.join(",");
    format!(r#"{{"results":[{{"command":"tool","times":[{times}],"exit_codes":{codes}}}]}}"#)
}

#[test]
fn launches_that_ended_otherwise_on_the_other_side_are_no_speed() {
    let track = Track::new();
    for (old, new, words) in [
        ("[0,0,0,0]", "[127,127,127,127]", "exit code 127 in 'new'"),
        (
            "[0,0,0,0]",
            "[null,null,null,null]",
            "killed by a signal in 'new'",
        ),
        ("[0,0,0,0]", "[0,0,1,0]", "exit codes 0, 1 in 'new'"),
        ("[1,1,1,1]", "[0,0,0,0]", "exit code 1 in 'old'"),
        (
            "[127,127,127,127]",
            "[127,127,127,127]",
            "none of its launches completed",
        ),
        (
            "[null,null,null,null]",
            "[null,null,null,null]",
            "killed by a signal",
        ),
    ] {
        for file in 1..=6 {
            let drift = 1.0 + 1e-3 * f64::from(file);
            track.holds(&format!("old/{file}.json"), hyperfine(0.2 * drift, old));
            track.holds(&format!("new/{file}.json"), hyperfine(0.002 * drift, new));
        }
        let done = track.run(&["compare", "old", "new", "--fail-on", "slower,inconclusive"]);
        tells(&done, 3, &["tool", words], &[]);
        assert!(!done.stdout.contains("faster"), "{done:?}");
        let comment = track.run(&["compare", "old", "new", "--markdown"]);
        tells(&comment, 3, &[words], &[]);
        assert!(!comment.stdout.contains("faster"), "{comment:?}");
    }
    // Where they end alike they are compared, and the label says how.
    for side in ["old", "new"] {
        for file in 1..=6 {
            track.holds(
                &format!("{side}/{file}.json"),
                hyperfine(0.2 + 1e-4 * f64::from(file), "[3,3,3,3]"),
            );
        }
    }
    let done = track.run(&["compare", "old", "new"]);
    tells(&done, 0, &["exit code 3"], &[]);
}

#[test]
fn commands_of_one_file_that_end_otherwise_are_no_speed() {
    let track = Track::new();
    let command = |name: &str, times: &str, codes: &str| {
        format!(r#"{{"command":"{name}","times":{times},"exit_codes":{codes}}}"#)
    };
    let version_2 = |name: &str, time: f64, code: &str| {
        format!(
            r#"{{"command":"{name}","measurements":[{{"time_wall_clock":{{"value":{time},"unit":"second"}},"exit_code":{code}}}]}}"#
        )
    };
    for text in [
        [
            command("good", "[1.0,1.1]", "[0,0]"),
            command("bad", "[0.001,0.0011]", "[127,127]"),
        ],
        [version_2("good", 1.0, "0"), version_2("bad", 0.001, "null")],
    ] {
        track.holds("one.json", format!(r#"{{"results":[{}]}}"#, text.join(",")));
        let done = track.run(&["analyze", "one.json"]);
        tells(&done, 3, &["'bad'"], &[]);
        assert!(!done.stdout.contains("99"), "{done:?}");
    }
}

#[test]
fn of_three_commands_one_that_failed_does_not_cost_the_others() {
    let track = Track::new();
    let command = |name: &str, code: i32| {
        format!(r#"{{"command":"{name}","times":[1.0,1.1],"exit_codes":[{code},{code}]}}"#)
    };
    let commands = [command("old", 0), command("bad", 127), command("new", 0)];
    track.holds(
        "three.json",
        format!(r#"{{"results":[{}]}}"#, commands.join(",")),
    );
    let done = track.run(&["analyze", "three.json"]);
    tells(
        &done,
        3,
        &["exit code 127", "in 'bad'", "one recording per side"],
        &[],
    );
}

#[test]
fn a_benchmark_that_failed_in_one_file_is_a_failed_row() {
    let track = Track::new();
    let good = "goos: linux\nBenchmarkA-8 100 50 ns/op\nBenchmarkB-8 100 60 ns/op\nPASS\n";
    for (text, out, err) in [
        (
            "goos: linux\nBenchmarkA-8 100 50 ns/op\nBenchmarkB-8   \tlistening\n",
            "BenchmarkB-8 began, but printed no numbers",
            "",
        ),
        (
            "goos: linux\nBenchmarkA-8 100 50 ns/op\nBenchmarkB-8   \t--- FAIL: BenchmarkB-8\n    a_test.go:4: no file\nFAIL\n",
            "a_test.go:4: no file",
            "",
        ),
        (
            "goos: linux\nBenchmarkA-8 100 50 ns/op\tpanic: no\nBenchmarkB-8 100 6,0 ns/op\n",
            "'6,0' is not a number",
            "new.txt: line 2: after the numbers of BenchmarkA-8",
        ),
    ] {
        track.holds("old.txt", good).holds("new.txt", text);
        let done = track.run(&["compare", "old.txt", "new.txt"]);
        tells(&done, 3, &["A-8", "B-8", out], &[err]);
        assert_eq!(
            done.stderr.lines().count(),
            usize::from(!err.is_empty()),
            "{done:?}"
        );
    }
}

#[test]
fn what_could_not_be_read_is_named_once() {
    let track = Track::new();
    track.holds(
        "a.txt",
        "goos: linux\nBenchmarkA-8 100 50 ns/op\nBenchmarkA-8 2\nBenchmarkA-8 3\nBenchmarkA-8 4\nBenchmarkA-8 5\n",
    );
    let warning = "warning: a.txt: line 3: BenchmarkA-8 has no measurement; line 4: \
                   BenchmarkA-8 has no measurement; line 5: BenchmarkA-8 has no measurement; and 1 more\n";
    let analyzed = track.run(&["analyze", "a.txt"]);
    tells(&analyzed, 0, &[], &[]);
    assert_eq!(analyzed.stderr, warning);
    let compared = track.run(&["compare", "a.txt", "a.txt"]);
    tells(&compared, 0, &[], &[]);
    assert_eq!(compared.stderr, warning);
}

/// A set of criterion with one sample.
fn set(track: &Track, below: &str, named: bool) {
    let name = below.split('/').nth(1).unwrap();
    track.holds(
        &format!("{below}/sample.json"),
        r#"{"iters":[1,2],"times":[100,200]}"#,
    );
    if named {
        let id = format!(r#"{{"group_id":"{name}","full_id":"{name}"}}"#);
        track.holds(&format!("{below}/benchmark.json"), id);
    }
}

#[test]
fn a_cut_file_of_criterion_costs_one_benchmark() {
    let track = Track::new();
    for below in [
        "criterion/parse/v1",
        "criterion/parse/v2",
        "criterion/cut/v1",
        "criterion/cut/v2",
    ] {
        set(&track, below, true);
    }
    track.holds("criterion/cut/v1/sample.json", r#"{"iters":[1,"#);
    let done = track.run(&["compare", "criterion", "v1", "v2"]);
    tells(
        &done,
        3,
        &["parse", "cut", "criterion/cut/v1/sample.json:1:"],
        &[],
    );
}

#[test]
fn a_folder_of_criterion_is_analyzed_as_it_was_measured_last() {
    let track = Track::new();
    set(&track, "criterion/parse/new", true);
    set(&track, "criterion/parse/base", true);
    set(&track, "criterion/print/new", true);
    set(&track, "criterion/old_layout/new", false);
    let done = track.run(&["analyze", "criterion"]);
    let passed_over = "criterion: old_layout/new was skipped";
    tells(&done, 0, &["parse", "print", "100 ns"], &[passed_over]);
    let report = track.run(&["report", "criterion", "--markdown"]);
    tells(&report, 0, &["parse"], &[passed_over]);
    let compared = track.run(&["compare", "criterion"]);
    tells(&compared, 0, &["parse"], &[passed_over]);
    assert_eq!(compared.stderr.lines().count(), 1, "{compared:?}");
    let below = track.run(&["analyze", "criterion/parse/base"]);
    tells(&below, 0, &["100 ns"], &[]);

    set(&track, "saved/parse/v1", true);
    for words in [&["analyze", "saved"][..], &["compare", "saved", "v1"]] {
        let done = track.run(words);
        tells(&done, 4, &[], &["baseline 'new'", "the folder has v1"]);
        assert!(!done.stderr.contains("cargo clean"), "{done:?}");
    }
    track.holds("files/1.json", "{}").holds("empty/.hidden", "");
    let done = track.run(&["analyze", "files"]);
    tells(
        &done,
        4,
        &[],
        &["files is a folder of files", "deadheat compare OLD NEW"],
    );
    let done = track.run(&["analyze", "empty"]);
    tells(&done, 4, &[], &["empty is a folder without files"]);
    set(&track, "unnamed/parse/new", false);
    let done = track.run(&["analyze", "unnamed"]);
    tells(&done, 4, &[], &["benchmark.json is missing"]);
}

/// A text in UTF-16 or UTF-32.
fn wide(text: &str, width: usize, little: bool, mark: bool) -> Vec<u8> {
    let text = format!("{}{text}", if mark { "\u{feff}" } else { "" });
    let units: Vec<u32> = match width {
        2 => text.encode_utf16().map(u32::from).collect(),
        _ => text.chars().map(u32::from).collect(),
    };
    let bytes = |unit: u32| match little {
        true => unit.to_le_bytes()[..width].to_vec(),
        false => unit.to_be_bytes()[4 - width..].to_vec(),
    };
    units.into_iter().flat_map(bytes).collect()
}

#[test]
fn wide_text_is_read_and_other_encodings_and_packings_are_named() {
    let track = Track::new();
    let go = "goos: linux\r\nBenchmarkSort-8 100 50 ns/op\r\n";
    let table = "benchmark,contender,wall_ns\nsort,old,50\nsort,new,60\n";
    let json = hyperfine(0.2, "[0,0,0,0]");
    for text in [go, table, &json] {
        for (width, little, mark) in [
            (2, true, true),
            (2, true, false),
            (2, false, true),
            (4, false, false),
        ] {
            track.holds("wide", wide(text, width, little, mark));
            let done = track.run(&["analyze", "wide"]);
            tells(&done, 0, &["samples"], &[]);
        }
    }
    let latin = r#"{"context":{},"benchmarks":[{"name":"s?rt","run_type":"iteration","real_time":1,"cpu_time":1,"time_unit":"ns"}]}"#;
    let latin: Vec<u8> = latin
        .bytes()
        .map(|byte| if byte == b'?' { 0xf6 } else { byte })
        .collect();
    track.holds("latin.json", latin);
    let done = track.run(&["analyze", "latin.json"]);
    tells(
        &done,
        4,
        &[],
        &["latin.json:1:39: the byte 0xF6 is not UTF-8", "iconv"],
    );
    for (bytes, name) in [
        (&b"\xfd7zXZ\0\0\x04"[..], "xz"),
        (b"BZh91AY&SY", "bzip2"),
        (b"PK\x03\x04\x14", "zip"),
    ] {
        track.holds("packed", bytes);
        for words in [&["analyze", "packed"][..], &["compare", "packed", "packed"]] {
            let done = track.run(words);
            tells(
                &done,
                4,
                &[],
                &[&format!("packed is packed by {name}"), "unpack it first"],
            );
        }
    }
}

#[test]
fn tables_of_other_locales_and_files_of_other_tools_are_named() {
    let track = Track::new();
    for (name, text, told) in [
        (
            "semicolons.csv",
            "benchmark;contender;replicate;wall_ns\nsort;old;0;12,5\n",
            "semicolons.csv:1:10: the columns are separated by semicolons",
        ),
        (
            "quoted.csv",
            "benchmark,contender,replicate,wall_ns\nsort,old,0,\"12,5\"\n",
            "quoted.csv:2: wall_ns of benchmark 'sort', replicate 0: '12,5' is not written as a \
             number\nhelp: write 12.5",
        ),
        ("null.json", "null", "nothing but null"),
        (
            "pytest.json",
            r#"{"machine_info":{},"benchmarks":[],"version":"5.1.0"}"#,
            "pytest.json: no benchmark has a result; pytest-benchmark 5.1.0 wrote the file",
        ),
        ("go.txt", "goos: linux\nPASS\nok  \ta\t0.1s\n", "-bench=."),
        (
            "deno.txt",
            "benchmark   time/iter (avg)        iter/s\nsort   1.0 µs   900,000\n",
            "the console output of deno bench",
        ),
    ] {
        track.holds(name, text);
        let done = track.run(&["analyze", name]);
        tells(&done, 4, &[], &[told]);
        for word in ["struct", "enum", "expected"] {
            assert!(!done.stderr.contains(word), "{done:?}");
        }
    }
}
