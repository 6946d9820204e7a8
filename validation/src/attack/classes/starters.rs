//! Commands that only read a run file start nothing that it names, and those that start it refuse a
//! file of another user without `--trust`.

use crate::case::{Case, Found, ORDERLY};

pub fn check(case: &mut Case) -> Found {
    case.repository();
    let touch = case.touch();
    let other = format!("{touch} ");
    let hooks = ["--setup", "--prepare", "--conclude", "--cleanup"];
    let mut options = vec!["-r", "2", "-S"];
    for hook in hooks {
        if case.once_in(2) {
            options.extend([hook, &*touch]);
        }
    }
    case.race("r.jsonl", &options, &[&touch, &other])?;
    let plan = [
        &["plan", "run", "--max-replicates", "6", "--save", "plan.json"],
        &options[2..],
        &["--", &touch, &other],
    ];
    case.run(&plan.concat(), &[0])?;
    if case.once_in(2) {
        return foreign(case);
    }
    case.forget();
    let words: &[&str] = match case.random.index_below(9) {
        0 => &["analyze", "r.jsonl"],
        1 => &["report", "r.jsonl", "--html", "a.html"],
        2 => &["merge", "r.jsonl"],
        3 => &["compare", "r.jsonl", "r.jsonl"],
        4 => &["history", "add", "r.jsonl", "--commits", "HEAD~1..HEAD"],
        5 => &["history", "push", "--branch", "runs", "r.jsonl"],
        6 => &["pack", "plan.json", "-o", "race.tar.zst"],
        7 => &["analyze", "plan.json"],
        _ => &["analyze", "--json", "r.jsonl"],
    };
    case.run(words, &ORDERLY)?;
    case.spared()
}

/// Without a terminal deadheat cannot ask, and ends with the exit code of a wrong command line.
fn foreign(case: &mut Case) -> Found {
    case.run(&["pack", "plan.json", "-o", "race.tar.zst", "--yes"], &[0])?;
    case.become_another_user();
    case.forget();
    let words: &[&str] = match case.random.index_below(5) {
        0 => &["run", "--resume", "r.jsonl", "--max-replicates", "4"],
        1 => &["explain", "r.jsonl"],
        2 => &["run", "--plan", "plan.json", "--save", "part.jsonl"],
        3 => &["run", "--plan", "race.tar.zst", "--save", "part.jsonl"],
        _ => &["run", "--plan", "plan.json", "--shard", "1/2", "--save", "part.jsonl"],
    };
    case.run(words, &[2])?;
    case.spared()
}
