//! What leaves the machine: no secret of the environment, of inputs and of outputs, and no file that a
//! pack was not asked for.

use std::fs;
use std::os::unix::fs::symlink;

use crate::case::{Case, Found, files_below};

pub fn check(case: &mut Case) -> Found {
    match case.once_in(2) {
        true => records(case),
        false => packs(case),
    }
}

/// Commands that know a secret by their environment, and print it.
fn records(case: &mut Case) -> Found {
    let secret = case.secret();
    let input = case.outside("inner/file");
    fs::write(&input, &secret).map_err(|e| e.to_string())?;
    let input = input.display().to_string();
    let commands = ["cat", "env", "sh -c 'echo $ATTACK_SECRET'", "sh -c 'cat >/dev/null'", "true"];
    let (old, new) = (case.pick(&commands), format!("{} ", case.pick(&commands)));
    let mut words = vec!["run", "-q", "-r", "2", "--no-config", "--input", &input];
    for (option, file) in [
        ("--html", "a.html"),
        ("--export-json", "a.json"),
        ("--markdown", "a.md"),
        ("--junit", "a.xml"),
        ("--export-csv", "a.csv"),
    ] {
        if case.once_in(2) {
            words.extend([option, file]);
        }
    }
    words.extend(["--save", "r.jsonl", "--", old, &new]);
    case.run(&words, &[0])?;
    for file in files_below(&case.work("")) {
        let bytes = fs::read(&file).map_err(|e| e.to_string())?;
        if bytes.windows(secret.len()).any(|window| window == secret.as_bytes()) {
            return Err(format!("{} contains a secret", file.display()));
        }
    }
    Ok(())
}

/// A folder that is packed, with a link that leads out of it.
fn packs(case: &mut Case) -> Found {
    let plan =
        ["plan", "run", "--max-replicates", "6", "--save", "plan.json", "--", "true", "true "];
    case.run(&plan, &[0])?;
    let depth = case.random.index_below(4);
    let folder = format!("data{}", "/inner".repeat(depth));
    case.write(&format!("{folder}/plain"), "plain");
    let inner = case.pick(&["inner", "inner/file"]);
    let target = case.outside(inner);
    let link = case.work(&format!("{folder}/link"));
    match case.random.index_below(3) {
        0 => symlink(&target, &link),
        1 => {
            let up = "../".repeat(depth + 2);
            let last = target.strip_prefix(case.outside("")).expect("below");
            symlink(format!("{up}outside/{}", last.display()), &link)
        }
        _ => symlink(&target, case.work("hop")).and_then(|()| symlink(case.work("hop"), &link)),
    }
    .map_err(|e| e.to_string())?;
    let file = if case.once_in(3) { format!("{folder}/link") } else { "data".to_owned() };
    let ended =
        case.run(&["pack", "plan.json", "-o", "race.tar.zst", "--file", &file], &[0, 2, 4])?;
    if ended.code() != Some(0) {
        return match case.work("race.tar.zst").exists() {
            true => Err("a refused pack was written".to_owned()),
            false => Ok(()),
        };
    }
    // It was packed without the file outside.
    let listed = std::process::Command::new("sh")
        .args(["-c", "zstd -dcq race.tar.zst | grep -c mine"])
        .current_dir(case.work(""))
        .output()
        .map_err(|e| e.to_string())?;
    match listed.stdout.starts_with(b"0") {
        true => Ok(()),
        false => Err("the pack contains a file from outside".to_owned()),
    }
}
