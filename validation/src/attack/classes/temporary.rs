//! Temporary files have names that others cannot know, and belong to the user alone.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::case::{Case, Found};

/// A command that makes temporary files, twice; then with links in the place of the names it used.
pub fn check(case: &mut Case) -> Found {
    let wait = "sleep 0.02";
    case.script("old", wait);
    case.script("new", wait);
    let plan =
        ["plan", "run", "--max-replicates", "6", "--save", "plan.json", "--", "./old", "./new"];
    case.run(&plan, &[0])?;
    case.run(&["pack", "plan.json", "-o", "race.tar.zst"], &[0])?;
    fs::create_dir_all(case.work("reports")).map_err(|e| e.to_string())?;
    let output = case.pick(&["--html", "--junit", "--export-csv", "--export-json"]);
    let start = ["run", "-q", output, "reports/out"];
    let race: &[&str] = match case.random.index_below(3) {
        0 => &["--plan", "race.tar.zst"],
        1 => &["-r", "2", "--", "./old", "./new"],
        _ => &["-r", "2", "--check-output", "--", "./old", "./new"],
    };
    let words = [&start[..], race].concat();
    let folders = [case.tmp(), case.work("reports")];
    let first = watched(case, &folders, &words)?;
    let second = watched(case, &folders, &words)?;
    // What lies next to a report becomes the report, and gets its mode.
    let tmp = folders[0].clone();
    let open = |(name, mode): &&(PathBuf, u32)| name.starts_with(&tmp) && mode & 0o077 != 0;
    if let Some((name, mode)) = first.iter().find(open) {
        return Err(format!("{} is open to others: {mode:o}", name.display()));
    }
    let names = |seen: &BTreeSet<(PathBuf, u32)>| -> BTreeSet<PathBuf> {
        seen.iter().map(|(name, _)| name.clone()).collect()
    };
    let (first, second) = (names(&first), names(&second));
    if let Some(name) = first.intersection(&second).next() {
        return Err(format!("the name {} comes again", name.display()));
    }
    for name in first.union(&second) {
        let _ = symlink(case.outside("inner/file"), name);
    }
    case.run(&words, &[0])?;
    case.spared()
}

/// Runs deadheat, and returns the names that appear meanwhile in the folders, with their modes.
fn watched(
    case: &mut Case,
    folders: &[PathBuf],
    words: &[&str],
) -> Result<BTreeSet<(PathBuf, u32)>, String> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !over.load(Ordering::Relaxed) {
                folders.iter().for_each(|folder| look(folder, &mut seen));
                thread::sleep(Duration::from_micros(300));
            }
            seen
        });
        let ended = case.run(words, &[0]);
        over.store(true, Ordering::Relaxed);
        let seen = watching.join().expect("it looks");
        ended.map(|_| seen)
    })
}

fn look(folder: &Path, seen: &mut BTreeSet<(PathBuf, u32)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // The report itself has the name that the user gave.
        if entry.file_name() == "out" {
            continue;
        }
        if let Ok(about) = entry.metadata() {
            seen.insert((entry.path(), about.mode() & 0o777));
        }
    }
}
