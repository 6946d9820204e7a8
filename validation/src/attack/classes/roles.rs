//! No file has two roles in one command if one of them is written.

use std::fs;
use std::os::unix::fs::symlink;

use crate::case::{Case, Found};

const OUTPUTS: [&str; 9] = [
    "--html",
    "--markdown",
    "--junit",
    "--export-json",
    "--export-csv",
    "--export-hdr",
    "--export-go",
    "--export-google-benchmark",
    "--export-smaller-is-better",
];

pub fn check(case: &mut Case) -> Found {
    case.race("r.jsonl", &["-r", "2"], &["true", "true "])?;
    for file in ["old.sh", "new.sh", "words", "deadheat.toml"] {
        case.write(file, "");
    }
    let plan = [
        "plan",
        "run",
        "--max-replicates",
        "6",
        "--save",
        "plan.json",
        "--",
        "sh old.sh",
        "sh new.sh",
    ];
    case.run(&plan, &[0])?;
    let output = case.pick(&OUTPUTS);
    let scripts = ["--", "sh old.sh; touch ran", "sh new.sh"];
    let race = ["run", "-q", "-r", "2", "--input", "words", "--save", "made.jsonl"];
    fs::create_dir(case.work("pictures")).map_err(|e| e.to_string())?;
    let (file, before, after): (&str, &[&str], &[&str]) = match case.random.index_below(10) {
        0 => ("r.jsonl", &["report", "r.jsonl"], &[]),
        1 => ("r.jsonl", &["analyze", "r.jsonl"], &[]),
        2 => ("plan.json", &["run", "-q", "--plan", "plan.json"], &[]),
        3 => ("words", &race, &scripts),
        4 => ("new.sh", &race, &scripts),
        5 => ("made.jsonl", &race, &scripts),
        6 => ("deadheat.toml", &race, &scripts),
        7 => ("made.confirm.jsonl", &race, &scripts),
        8 => {
            let picture = "pictures/01-run-looks.svg";
            (picture, &["report", "r.jsonl", "--svg", "pictures"], &[])
        }
        _ => ("other", &["run", "-q", "--export-markdown", "other"], &scripts),
    };
    let alias = alias(case, file).map_err(|e| e.to_string())?;
    let words = [before, &[output, &alias], after].concat();
    let bytes = fs::read(case.work(file)).ok();
    case.run(&words, &[2])?;
    match (fs::read(case.work(file)).ok() == bytes, case.work("ran").exists()) {
        (true, false) => Ok(()),
        (false, _) => Err(format!("{file} was written")),
        (_, true) => Err("it raced".to_owned()),
    }
}

/// Another name of a file, which may not exist yet.
fn alias(case: &mut Case, file: &str) -> std::io::Result<String> {
    fs::create_dir_all(case.work("sub/deep"))?;
    symlink("..", case.work("sub/up"))?;
    Ok(match case.random.index_below(6) {
        0 => file.to_owned(),
        1 => format!("./sub/.././{file}"),
        2 => format!("sub/up/{file}"),
        3 => case.work(file).display().to_string(),
        4 => {
            symlink(format!("../{file}"), case.work("sub/soft"))?;
            symlink("sub/soft", case.work("soft"))?;
            "soft".to_owned()
        }
        _ if case.work(file).exists() => {
            fs::hard_link(case.work(file), case.work("hard"))?;
            "hard".to_owned()
        }
        _ => format!("sub/deep/../../{file}"),
    })
}
