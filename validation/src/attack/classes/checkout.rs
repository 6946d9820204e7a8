//! State and races that a commit brought along are not believed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::case::{Case, Found, files_below};

pub fn check(case: &mut Case) -> Found {
    case.repository();
    match case.random.index_below(5) {
        0 => forged_builds(case)?,
        3 => forged_parts(case)?,
        4 => forged_second_race(case)?,
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

/// A commit contains forged builds: laid out like those in the cache, but with other programs.
fn forged_builds(case: &mut Case) -> Found {
    built(case, "HEAD~1..HEAD", &[0])?;
    let cache = case.cache().join("deadheat/builds");
    for file in files_below(&cache) {
        let home = file.strip_prefix(&cache).map_err(|e| e.to_string())?.iter().next();
        let home = cache.join(home.ok_or("a file among the builds")?);
        let copy = case.work(".deadheat/builds");
        let forged = match file.ends_with("out/program") {
            true => b"#!/bin/sh\necho forged\n".to_vec(),
            false => fs::read(&file).map_err(|e| e.to_string())?,
        };
        // An index names its own folder.
        let [from, to] = [&home, &copy].map(|folder| folder.display().to_string());
        let forged = String::from_utf8_lossy(&forged).replace(&from, &to);
        let below = file.strip_prefix(&home).map_err(|e| e.to_string())?;
        let path = Path::new(".deadheat/builds").join(below);
        case.write(path.to_str().ok_or("a name that is text")?, forged);
    }
    case.commit();
    built(case, "HEAD~2..HEAD~1", &[0])
}

/// Parts of a race of equal commands are committed with a candidate that has become slower.
fn forged_parts(case: &mut Case) -> Found {
    let race = |case: &mut Case| {
        for part in ["1", "2"] {
            let (shard, save) = (format!("{part}/2"), format!("part-{part}.jsonl"));
            let part = ["--shard", &shard, "--save", &save, "--max-replicates", "12"];
            case.run(
                &[&["run", "-q", "--no-config"], &part[..], &["--", "./old", "./new"]].concat(),
                &[0],
            )?;
        }
        Ok::<(), String>(())
    };
    case.script("old", "sleep 0.002");
    case.script("new", "sleep 0.002");
    race(case)?;
    case.script("new", "sleep 0.02");
    case.commit();
    race(case)?;
    case.run(&["merge", "part-1.jsonl", "part-2.jsonl", "--fail-on", "slower"], &[1])?;
    Ok(())
}

/// A second race that confirms nothing is committed next to the name of the run file to come.
fn forged_second_race(case: &mut Case) -> Found {
    let seed = case.size(1, 1 << 30).to_string();
    let race = |save: &str| {
        let words = ["run", "-q", "--no-config", "--seed", &seed, "-r", "12", "--save", save];
        let rest = ["--fail-on", "slower", "--", "./old", "./new"];
        [&words[..], &rest].concat().into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    case.script("old", "sleep 0.002");
    case.script("new", "[ -e made.confirm.jsonl ] && exec sleep 0.001; sleep 0.02");
    let mut confirmed = race("made.jsonl");
    confirmed.insert(2, "--confirm".to_owned());
    case.run(&confirmed, &[0])?;
    let second = fs::read_to_string(case.work("made.confirm.jsonl")).map_err(|e| e.to_string())?;
    // Far in the future, so that it is not refused as older than the first race.
    case.write("run.confirm.jsonl", second.replacen("\"started_at\":", "\"started_at\":9", 1));
    fs::remove_file(case.work("made.confirm.jsonl")).map_err(|e| e.to_string())?;
    case.commit();
    case.run(&race("run.jsonl"), &[1])?;
    case.run(&["analyze", "run.jsonl", "--fail-on", "slower"], &[1])?;
    Ok(())
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
