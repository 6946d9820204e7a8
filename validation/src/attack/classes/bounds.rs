//! Memory and time are bounded for every reader.

use std::process::{Command, Stdio};

use crate::case::{Case, Found};

/// Exit codes of an answer, or of a refusal.
const ALLOWED: [i32; 5] = [0, 2, 3, 4, 6];

pub fn check(case: &mut Case) -> Found {
    match case.random.index_below(6) {
        0 => many_files(case),
        1 => repeated_names(case),
        2 => long_patterns(case),
        _ => one_file(case),
    }
}

/// A file that grows without end in a random direction, at times compressed.
fn one_file(case: &mut Case) -> Found {
    let name =
        case.pick(&["f.json", "f.jsonl", "f.csv", "f.txt", "deadheat.toml", "f.tar", "f.xml"]);
    let name = match case.random.index_below(3) {
        0 => bomb(case, name),
        _ => {
            let text = grown(case);
            case.write(name, text);
            name.to_owned()
        }
    };
    let words: &[&str] = match case.random.index_below(7) {
        0 => &["compare", &name, &name],
        1 => &["run", "-q", "--plan", &name],
        2 => &["run", "-q", "--resume", &name],
        3 => &["run", "-q", "-r", "2", "--config", &name, "--", "true", "true "],
        4 => &["history", "add", &name],
        5 => &["bisect", "--log", &name],
        _ => &["analyze", &name],
    };
    case.run(words, &ALLOWED).map(drop)
}

/// Folders of files, each of which is small enough, but perhaps not all of them together.
fn many_files(case: &mut Case) -> Found {
    let files = case.size(2, 24);
    let values = case.size(1000, 24_000_000 / files);
    for file in 0..2 * files {
        let side = ["old", "new"][file % 2];
        // As large as the others, but not the same recording.
        let text = format!(
            "{{\"results\":[{{\"command\":\"a\",\"times\":[{}{file}]}}]}}",
            "1,".repeat(values)
        );
        case.write(&format!("{side}/{file}.json"), text);
    }
    let mut gzip = Command::new("gzip");
    gzip.args(["-1", "-r", "old", "new"]).current_dir(case.work(""));
    if !gzip.status().is_ok_and(|status| status.success()) {
        return Err("gzip failed".to_owned());
    }
    case.run(&["compare", "old", "new"], &ALLOWED).map(drop)
}

/// A long text that a format writes once and that is part of the names of many benchmarks.
fn repeated_names(case: &mut Case) -> Found {
    let long = "y".repeat(case.size(10, 100_000));
    let count = case.size(10, 100_000);
    let lines = |line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let numbers = || (0..count).map(|n| n.to_string()).collect::<Vec<String>>().join(",");
    let (name, text) = match case.random.index_below(5) {
        0 => ("f.csv", format!("{long},A\n{}", lines(&|n| format!("{n},1\n")))),
        1 => {
            ("f.txt", format!("pkg: {long}\n{}", lines(&|n| format!("BenchmarkA{n} 1 1 ns/op\n"))))
        }
        2 => (
            "f.json",
            format!(
                r#"{{"version":2,"results":{{"a":[[{0}],[["{long}"],[{0}]]]}},
                   "result_columns":["result","params"],"params":{{}}}}"#,
                numbers()
            ),
        ),
        3 => ("f.csv", format!("Method,{long},Mean\n{}", lines(&|n| format!("A,{n},1.0 ns\n")))),
        _ => (
            "f.json",
            format!(
                r#"{{"files":[{{"filepath":"a","groups":[{{"fullName":"{long}","benchmarks":[{}]}}]}}]}}"#,
                (0..count)
                    .map(|n| format!(r#"{{"name":"{n}","mean":1,"median":1,"samples":[1]}}"#))
                    .collect::<Vec<String>>()
                    .join(",")
            ),
        ),
    };
    case.write(name, text);
    let word = case.pick(&["analyze", "compare"]);
    let words = [word, name, name];
    case.run(&words[..if word == "compare" { 3 } else { 2 }], &ALLOWED).map(drop)
}

/// Patterns of a rules file that fit a name almost, at as many places as there are.
fn long_patterns(case: &mut Case) -> Found {
    let mut rules = String::new();
    for rule in 0..case.size(1, 2000) {
        let length = case.size(1, 100_000 / (rule + 1) + 2);
        let part = case.pick(&["a", "?", "a?", "*a", "a*?", "[ab]", "?*"]);
        let mut pattern = part.repeat(length / part.len() + 1);
        pattern.truncate(4000);
        rules += &format!("[[benchmark]]\nname = \"*{pattern}*b{rule}\"\nmargin = \"1%\"\n");
    }
    case.write("deadheat.toml", rules);
    let name = "a".repeat(case.size(1, 60_000));
    let benchmarks: Vec<String> = (0..case.size(1, 2_000_000 / name.len().max(100)))
        .map(|n| format!(r#"{{"command":"{name}{n}","times":[1,2]}}"#))
        .collect();
    case.write("f.json", format!("{{\"results\":[{}]}}", benchmarks.join(",")));
    case.run(&["compare", "f.json", "f.json"], &ALLOWED).map(drop)
}

/// A start, many times a middle, and an end. Each `#` in a middle becomes the number of its copy, so
/// that names differ.
fn grown(case: &mut Case) -> String {
    let (start, middle, end) = case.pick(&[
        ("", "[", ""),
        ("{\"a\":", "{\"a\":", ""),
        ("[", "[],", "[]]"),
        ("{\"benchmarks\":[", "{\"name\":\"a\"},", "{}]}"),
        ("{\"results\":[{\"command\":\"a\",\"times\":[", "1e9,", "1]}]}"),
        ("{\"results\":[{\"command\":\"", "a", "\",\"times\":[1]}]}"),
        ("benchmark,contender,wall_ns", ",c", "\n"),
        ("benchmark,contender,wall_ns\n", "a,b,1\n", ""),
        ("benchmark,contender,wall_ns\na,b,", "9", "\n"),
        ("", "BenchmarkA 1 1 ns/op\n", ""),
        ("", "Benchmark# 1 1 ns/op\n", ""),
        ("benchmark,contender,wall_ns\n", "#,a,1\n", ""),
        ("benchmark,contender,wall_ns\n", "a,#,1\n", ""),
        ("{\"results\":[", "{\"command\":\"c\",\"times\":[1],\"parameters\":{\"#\":1}},", "{}]}"),
        ("", "\n", ""),
        ("a = ", "[", ""),
        ("", "[a.b]\n", ""),
        ("a", ".a", " = 1"),
        ("{\"schema\":\"deadheat.run/1\",\"command\":[", "\"x\",", "\"x\"]}\n"),
        ("{\"schema\":\"deadheat.plan/1\",\"a\":", "[", "1"),
        ("<a", " b='c'", "/>"),
    ]);
    let count = case.size(10, 4_000_000 / middle.len());
    let middle: String = match middle.contains('#') {
        true => (0..count).map(|copy| middle.replace('#', &copy.to_string())).collect(),
        false => middle.repeat(count),
    };
    format!("{start}{middle}{end}")
}

/// A small file that is large when it is decompressed.
fn bomb(case: &mut Case, name: &str) -> String {
    let (compress, end) = case.pick(&[("gzip -1", "gz"), ("zstd -q -1", "zst")]);
    let piece = case.pick(&["[", "{\"a\":1}", "a,b,1", "BenchmarkA 1 1 ns/op", ""]);
    let size = case.size(1 << 20, 1 << 28);
    let name = format!("{name}.{end}");
    let line = format!("yes '{piece}' | head -c {size} | {compress} >{name}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(case.work("")).stderr(Stdio::null());
    let _ = shell.status();
    name
}
