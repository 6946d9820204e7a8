//! `history push` changes no other ref, no checked-out branch, no index and no file of the user.

use std::fs;

use crate::case::{Case, Found};

pub fn check(case: &mut Case) -> Found {
    case.repository();
    case.write(".gitignore", "*.jsonl\n");
    case.commit();
    let names = ["runs", "main", "topic", "v1", "a/b"];
    for _ in 0..case.random.index_below(4) {
        let name = case.pick(&names);
        let words: &[&str] = match case.random.index_below(4) {
            0 => &["branch", "--force", "topic", "HEAD~1"],
            1 => &["tag", "--force", name, "HEAD~1"],
            2 => &["update-ref", &format!("refs/remotes/origin/{name}"), "HEAD~1"],
            _ => &["symbolic-ref", "refs/heads/alias", "refs/heads/main"],
        };
        case.git(words);
    }
    let staged = case.word();
    case.write(&staged, "staged");
    case.write("value", "changed");
    case.git(&["add", &staged]);
    case.race("r.jsonl", &["-r", "2"], &["true", "true "])?;
    let text = fs::read_to_string(case.work("r.jsonl")).map_err(|e| e.to_string())?;
    let ids = [case.git(&["rev-parse", "HEAD~1"]), case.git(&["rev-parse", "HEAD"])];
    let commits = format!(
        "\"environment\":{{\"commits\":[{{\"id\":\"{}\",\"committed_at\":1}},{{\"id\":\"{}\",\"committed_at\":2}}],",
        ids[0], ids[1]
    );
    case.write("r.jsonl", text.replacen("\"environment\":{", &commits, 1));
    let name = case.pick(&names);
    let branch = match case.random.index_below(8) {
        0 => case.mixed(
            &[
                "-x", "HEAD", "@{-1}", "..", "refs/", "heads/", " ", "~", "main", "\\", ".lock",
                "//",
            ],
            3,
        ),
        1 => format!("refs/heads/{name}"),
        2 => format!("refs/{}/{name}", case.pick(&["tags", "remotes/origin", "stash", "notes"])),
        3 => "alias".to_owned(),
        4 => case.word(),
        _ => name.to_owned(),
    };
    let short = branch.strip_prefix("refs/heads/").unwrap_or(&branch).to_owned();
    let before = state(case, &short);
    let checked_out = case.git(&["symbolic-ref", "--short", "HEAD"]) == short;
    let ended =
        case.run(&["history", "push", &format!("--branch={branch}"), "r.jsonl"], &[0, 2, 4])?;
    if ended.code() == Some(0) && checked_out {
        return Err("it wrote the branch that is checked out".to_owned());
    }
    match state(case, &short) == before {
        true => Ok(()),
        false => Err("refs, index or files of the user changed".to_owned()),
    }
}

/// All refs but the branch, the index, what is checked out, and the state of its files.
fn state(case: &Case, branch: &str) -> (Vec<String>, Vec<u8>, String, String) {
    let refs = case.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    let written = format!("refs/heads/{branch} ");
    let others = refs.lines().filter(|line| !line.starts_with(&written));
    let others = others.map(str::to_owned).collect();
    // Read first: `git status` writes the index.
    let index = fs::read(case.work(".git/index")).unwrap_or_default();
    let status = case.git(&["--no-optional-locks", "status", "--porcelain"]);
    (others, index, case.git(&["rev-parse", "HEAD"]), status)
}
