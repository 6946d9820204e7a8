//! Memory and time are bounded for every reader.

use std::process::{Command, Stdio};

use crate::case::{Case, Found};

/// A file that grows without end in a random direction, at times compressed.
pub fn check(case: &mut Case) -> Found {
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
    case.run(words, &[0, 2, 3, 4, 6]).map(drop)
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
