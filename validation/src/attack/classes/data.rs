//! What is data is never started.

use crate::case::{Case, Found, ORDERLY, RESULTS};

/// Executable files with names of results, in a folder that is read as results.
pub fn check(case: &mut Case) -> Found {
    case.write("old.json", RESULTS);
    let mut files = Vec::new();
    for _ in 0..1 + case.random.index_below(4) {
        let end = case.pick(&["", ".json", ".txt", ".csv", ".sh", ".jsonl", ".exe", ".py", ".jar"]);
        let folder = case.pick(&["results", "results/inner", "results/new", "results/bin"]);
        let name = format!("{folder}/{}{end}", case.word());
        let answer = case.pick(&["", "echo '{}'", "echo 'a: test'", "echo hello; cat"]);
        case.script(&name, &format!("{}\n{answer}", case.touch()));
        files.push(name);
    }
    let file = files[case.random.index_below(files.len())].clone();
    let words: &[&str] = match case.random.index_below(9) {
        0 => &["compare", "old.json", "results"],
        1 => &["compare", "results", "old.json"],
        2 => &["compare", "results", "results/inner"],
        3 => &["compare", "old.json", &file],
        4 => &["compare", &file, "old.json"],
        5 => &["compare", "results"],
        6 => &["analyze", &file],
        7 => &["report", &file, "--html", "page.html"],
        _ => &["history", "add", "results"],
    };
    case.run(words, &ORDERLY)?;
    case.spared()
}
