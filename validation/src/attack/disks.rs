//! Disks that are full, at random places of every file that is written.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_validation::bars::Section;
use deadheat_validation::programs::text;

use crate::Setting;
use crate::victim::{Outcome, limited, marked, run, section};

/// Attempts with each file.
const ATTEMPTS: usize = 10;

/// Every option that writes a file of an answer.
const FILES: [&str; 10] = [
    "--html",
    "--markdown",
    "--junit",
    "--export-json",
    "--export-csv",
    "--export-hdr",
    "--export-markdown",
    "--export-go",
    "--export-google-benchmark",
    "--export-smaller-is-better",
];

/// A file that cannot be written whole ends with 5, leaves the one of yesterday as it was, and
/// nothing beside it; the record of a race is readable as far as it goes.
pub fn disks(setting: &Setting) -> Section {
    let folder = setting.shop.scratched("disks");
    fs::create_dir_all(&folder).expect("a folder");
    let record = folder.join("run.jsonl");
    let words = race(&record);
    let raced = run(marked(setting, &folder, "disks", &words));
    assert_eq!(raced.code(), Some(0), "{}", raced.stderr);
    let mut random = setting.random(2);
    let mut told = Vec::new();
    for flag in FILES {
        let file = folder.join("yesterday");
        let named = format!("{flag}={}", text(&file));
        let words = ["analyze", text(&record), named.as_str()];
        let first = run(marked(setting, &folder, "disks", &words));
        assert_eq!(first.code(), Some(0), "{flag}: {}", first.stderr);
        let yesterday = fs::read(&file).expect("a file");
        let mut outcome = Outcome::default();
        for _ in 0..setting.shop.count(ATTEMPTS, 2) {
            let room = random.below(yesterday.len() as u64);
            let before = names(&folder);
            let ended = run(limited(&setting.shop.deadheat, &folder, Some(room), &[], &words));
            let mut finding = ended.finding(&[5]);
            if fs::read(&file).is_ok_and(|now| now != yesterday) {
                finding.get_or_insert_with(|| "the file of yesterday is gone".to_owned());
            }
            if names(&folder) != before {
                finding.get_or_insert_with(|| "another file is left".to_owned());
            }
            outcome.add(&format!("after {room} bytes"), finding);
        }
        fs::remove_file(&file).expect("it is there");
        told.push((format!("`{flag}`"), outcome));
    }
    // Another race may have fewer digits in its times, and find room where this one found none.
    let whole = fs::metadata(&record).expect("a record").len();
    let whole = whole - whole / 20;
    let mut outcome = Outcome::default();
    for number in 0..setting.shop.count(ATTEMPTS, 2) {
        let room = random.below(whole);
        outcome
            .add(&format!("after {room} bytes"), race_without_room(setting, &folder, number, room));
    }
    told.push(("`--save`".to_owned(), outcome));
    let _ = fs::remove_dir_all(&folder);
    section(
        "Full disks",
        "`RLIMIT_FSIZE` limits files to a random size below that of the complete file. The exit code must \
         be 5. If the file existed before, it must be unchanged, and no other file may be left. \
         A race whose run \
         file does not fit on the disk must end with exit code 5, and the part written so far \
         must be readable.",
        &told,
    )
}

/// Forty launches of a program that does nothing, recorded there.
fn race(record: &Path) -> [&str; 10] {
    let record = text(record);
    ["run", "-r", "40", "-w", "0", "--save", record, "--", "true", "true --"]
}

fn race_without_room(setting: &Setting, folder: &Path, number: usize, room: u64) -> Option<String> {
    let record = folder.join(format!("race-{number}.jsonl"));
    let words = race(&record);
    let ended = run(limited(&setting.shop.deadheat, folder, Some(room), &[], &words));
    ended.finding(&[5]).or_else(|| {
        let begun = fs::read(&record).is_ok_and(|bytes| bytes.contains(&b'\n'));
        let readable = run(marked(setting, folder, "disks", &["analyze", text(&record)]));
        readable.finding(if begun { &[0, 3] } else { &[4] })
    })
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    names.sort();
    names
}
