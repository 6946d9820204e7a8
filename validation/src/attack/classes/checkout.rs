//! State that a commit brought along below `.deadheat` is not believed.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::case::{Case, Found, files_below};

pub fn check(case: &mut Case) -> Found {
    case.repository();
    match case.random.index_below(3) {
        0 => forged_builds(case)?,
        1 => {
            let (link, up) = case.pick(&[
                (".deadheat", ".."),
                (".deadheat/builds", "../.."),
                (".deadheat/runs", "../.."),
                (".deadheat/links", "../.."),
                (".deadheat/bisect", "../.."),
            ]);
            let at = case.work(link);
            fs::create_dir_all(at.parent().expect("a parent")).map_err(|e| e.to_string())?;
            symlink(format!("{up}/outside/inner"), at).map_err(|e| e.to_string())?;
            case.commit();
            built(case, "HEAD~1..HEAD", &[0, 2, 3])?;
            case.run(&["run", "-q", "-r", "2", "--no-config", "--", "true"], &[0, 2])?;
        }
        _ => {
            let name =
                case.pick(&["history.sqlite", "history.sqlite-journal", "history.sqlite-wal"]);
            let record = format!("bisect/{}.jsonl", case.word());
            let bytes: Vec<u8> =
                (0..case.size(1, 5000)).map(|_| case.random.bits() as u8).collect();
            let index = case.once_in(2);
            case.write(&format!(".deadheat/{}", if index { name } else { &record }), bytes);
            case.commit();
            let words: &[&str] = match (index, case.random.index_below(3)) {
                (true, 0) => &["history", "show"],
                (true, 1) => &["history", "check"],
                (true, _) => &["history", "page", "--html", "page.html"],
                (false, 0) => &["bisect", "--log"],
                (false, _) => &["bisect", "--resume"],
            };
            case.run(words, &[2])?;
        }
    }
    case.spared()
}

/// Builds are kept, forged, committed, and asked for again.
fn forged_builds(case: &mut Case) -> Found {
    built(case, "HEAD~1..HEAD", &[0])?;
    let below = files_below(&case.work(".deadheat"));
    for file in below.iter().filter(|file| file.ends_with("out/program")) {
        fs::write(file, "#!/bin/sh\necho forged\n").map_err(|e| e.to_string())?;
    }
    case.commit();
    built(case, "HEAD~2..HEAD~1", &[0])
}

/// Builds both sides; a finding if an executable says another thing than its commit.
fn built(case: &mut Case, range: &str, allowed: &[i32]) -> Found {
    let script = "mkdir -p out; printf '#!/bin/sh\necho %s\n' \"$(cat value)\" >out/program; \
                  chmod +x out/program";
    let words = ["rev", range, "--build", script, "--exe", "out/program", "--no-run"];
    let done = case.run(&words, allowed)?;
    for line in done.stdout.lines() {
        let Some(path) = line.split('\t').nth(2) else {
            continue;
        };
        let said = Command::new(path).output().map_err(|e| e.to_string())?.stdout;
        if said.starts_with(b"forged") {
            return Err(format!("{path} is a committed build"));
        }
    }
    Ok(())
}
