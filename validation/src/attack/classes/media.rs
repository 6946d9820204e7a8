//! A terminal, a page, a log or a table shows text that is not deadheat's, and does not obey it.

use std::fs;

use crate::case::{Case, Found, ORDERLY};

const PIECES: [&str; 20] = [
    "\u{1b}[2J",
    "\u{1b}]0;x\u{7}",
    "\u{9b}2J",
    "\u{202e}",
    "\u{2066}",
    "\r",
    "\u{8}",
    "\n::error::x",
    "\n##[error]x",
    "##[error]x",
    "##vso[task.complete]x",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "=1+1",
    "\t=1+1",
    "\n```\n",
    "|",
    "`",
    "](javascript:x)",
    "\u{7f}",
];

pub fn check(case: &mut Case) -> Found {
    let letter = case.word();
    let hostile = format!("{}{letter}", case.mixed(&PIECES, 4));
    let json = serde_json::to_string(&hostile).map_err(|e| e.to_string())?;
    let files =
        ["--html", "page.html", "--markdown", "a.md", "--junit", "a.xml", "--export-csv", "a.csv"];
    let ended = match case.random.index_below(8) {
        0 => {
            let words =
                ["run", "-r", "2", "--no-config", "-n", &hostile, "-n", "b", "--", "true", "true "];
            case.run(&[&words[..5], &files, &words[5..]].concat(), &ORDERLY)?
        }
        1 => {
            let command = format!("true {}", shell_quoted(&hostile));
            let words = ["run", "-r", "2", "--no-config", "--save", "r.jsonl"];
            case.run(&[&words[..], &files, &["--", &command, "true"]].concat(), &ORDERLY)?
        }
        2 => {
            case.write(
                "f.json",
                format!(r#"{{"results":[{{"command":{json},"mean":1.0,"times":[1.0,1.1]}}]}}"#),
            );
            case.run(&[&["compare", "f.json", "f.json"], &files[..]].concat(), &ORDERLY)?
        }
        3 => {
            let cell = format!("\"{}\"", hostile.replace('"', "\"\""));
            case.write(
                "f.csv",
                format!("benchmark,contender,wall_ns\n{cell},a,1\n{cell},{cell},2\n"),
            );
            case.run(&[&["analyze", "f.csv"], &files[..]].concat(), &ORDERLY)?
        }
        4 => {
            let name = hostile.replace('/', "_");
            if case.once_in(2) {
                case.write(&name, "nothing");
            }
            let word =
                case.pick(&["analyze", "compare", "explain", "merge", "pack", "bisect", "rev"]);
            case.run(&[word, &name], &ORDERLY)?
        }
        5 => {
            case.write("deadheat.toml", format!("{json} = 1\n[{json}]\nmargin = {json}\n"));
            case.run(&["run", "-r", "2", "--", "true", "true "], &ORDERLY)?
        }
        6 => {
            // A process that the command leaves, whose name is the text: its first 15 bytes.
            let name = shell_quoted(&hostile);
            let command = format!("printf %s {name} >/proc/$$/comm; (while :; do sleep 1; done) &");
            let words = ["run", "-v", "-r", "2", "-S", "--no-config"];
            case.run(&[&words[..], &files, &["--", &command, "true"]].concat(), &ORDERLY)?
        }
        _ => {
            // What a program that fails says.
            let command = format!("printf %s {} >&2; exit 3", shell_quoted(&hostile));
            let words = ["run", "-r", "2", "-S", "--no-config"];
            case.run(&[&words[..], &files, &["--", &command, "true"]].concat(), &ORDERLY)?
        }
    };
    obeyed(&ended.stdout)?;
    obeyed(&ended.stderr)?;
    let read = |name| fs::read_to_string(case.work(name)).unwrap_or_default();
    for name in ["page.html", "a.md", "a.xml"] {
        let text = match name {
            "a.md" => without_code(&read(name)),
            _ => read(name),
        };
        for markup in ["<script>alert(1)", "<img src=x"] {
            if text.contains(markup) {
                return Err(format!("{name} contains {markup}"));
            }
        }
    }
    let cells = read("a.csv");
    obeyed(&cells)?;
    let formula = [",=", "\t="];
    let is_formula = |line: &str| line.starts_with('=') || formula.iter().any(|f| line.contains(f));
    match cells.lines().any(is_formula) {
        true => Err("a.csv contains a formula".to_owned()),
        false => Ok(()),
    }
}

/// A finding where a terminal or a CI runner would obey.
fn obeyed(text: &str) -> Found {
    let control = |c: char| {
        c.is_control() && c != '\n'
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    if let Some(c) = text.chars().find(|c| control(*c)) {
        return Err(format!("{c:?} was printed"));
    }
    // Runners find the orders with ## anywhere in a line.
    let order = |line: &&str| {
        line.starts_with("::error::x") || line.contains("##[error]x") || line.contains("##vso[")
    };
    match text.lines().find(order) {
        Some(line) => Err(format!("a workflow command was printed: {line}")),
        None => Ok(()),
    }
}

/// Markdown without its fenced blocks, which show their lines as they are.
fn without_code(markdown: &str) -> String {
    let mut fence = 0;
    let mut text = String::new();
    for line in markdown.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            0 if ticks >= 3 => fence = ticks,
            0 => text += &format!("{line}\n"),
            _ if ticks >= fence && ticks == line.len() => fence = 0,
            _ => {}
        }
    }
    text
}

fn shell_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
