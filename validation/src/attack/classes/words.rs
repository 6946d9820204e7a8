//! A text of a file or of the command line does not become an option, a revision or a path of git.

use std::fs;

use crate::case::{Case, Found, ORDERLY};

pub fn check(case: &mut Case) -> Found {
    case.repository();
    let target = format!("--output={}", case.outside("inner/new").display());
    let touch = case.touch();
    let (exec, upload) = (format!("--exec={touch}"), format!("--upload-pack={touch}"));
    let external = format!("ext::sh -c {}", touch.replace(' ', "% "));
    let substitution = format!("$({touch})");
    let pieces = [
        &*target,
        &exec,
        &upload,
        &external,
        &substitution,
        "-x",
        "--all",
        "HEAD",
        "..",
        "main",
        "~1",
        "^",
        "@{u}",
        ":/",
        "../outside",
        "refs/heads/",
    ];
    let word = case.mixed(&pieces, 2);
    let head = case.git(&["rev-parse", "HEAD"]);
    let build = ["--build", "true", "--exe", "value", "--no-run"];
    match case.random.index_below(6) {
        0 => {
            let (left, right) = (format!("{word}..HEAD"), format!("HEAD..{word}"));
            let range = if case.once_in(2) { left } else { right };
            case.run(&[&["rev", &*range], &build[..]].concat(), &ORDERLY)?;
        }
        1 => {
            let range = format!("--range={word}");
            case.run(&["history", "show", &range], &ORDERLY)?;
        }
        2 => {
            let range = format!("{word}..HEAD");
            case.run(&["bisect", &*range, "--build", "true", "--exe", "value"], &ORDERLY)?;
        }
        3 => submodule(case, &word, &head)?,
        _ => {
            case.race("r.jsonl", &["-r", "2"], &["true", "true "])?;
            let text = fs::read_to_string(case.work("r.jsonl")).map_err(|e| e.to_string())?;
            let word = if case.once_in(3) { head[..39].to_owned() } else { word };
            let id = word.replace('\\', "\\\\").replace('"', "\\\"");
            let commits = format!(
                "\"environment\":{{\"commits\":[{{\"id\":\"{id}\",\"committed_at\":1}},\
                 {{\"id\":\"{head}\",\"committed_at\":2}}],"
            );
            let hostile = text.replacen("\"environment\":{", &commits, 1);
            case.write("hostile.jsonl", hostile);
            let words: &[&str] = match case.random.index_below(3) {
                0 => &["analyze", "hostile.jsonl"],
                1 => &["history", "add", "hostile.jsonl"],
                _ => &["history", "push", "--branch", "runs", "hostile.jsonl"],
            };
            case.run(words, &[4])?;
        }
    }
    case.spared()
}

/// A commit with a submodule of a random name and path.
fn submodule(case: &mut Case, word: &str, head: &str) -> Found {
    let up = case.pick(&["../../", "a/../../../", "", "./", "modules/../../"]);
    let name = format!("{up}{word}");
    case.git(&["config", "--file", ".gitmodules", &format!("submodule.{name}.path"), "sub"]);
    case.git(&["config", "--file", ".gitmodules", &format!("submodule.{name}.url"), word]);
    case.git(&["add", "--all"]);
    case.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},sub")]);
    case.git(&["commit", "--quiet", "--message", "submodule"]);
    let words = ["rev", "HEAD..HEAD", "--build", "true", "--exe", "value", "--no-run"];
    case.run(&words, &ORDERLY).map(drop)
}
