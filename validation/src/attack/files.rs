//! Files of every format, damaged at random.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_examples::random::SplitMix64;
use deadheat_validation::bars::Section;
use deadheat_validation::programs::text;

use crate::Setting;
use crate::victim::{at_once, limited, run, section};

/// Damaged files of each format.
const FILES: usize = 2_000;

/// Attempts at the same time.
const AT_ONCE: usize = 3;

/// Larger files only take longer.
const LARGEST: u64 = 200_000;

/// Where whole files of each format are.
const FORMATS: [(&str, &str); 10] = [
    ("run files", "run.jsonl functions.jsonl programs.jsonl placements.jsonl control.jsonl"),
    ("tidy CSV", "run.csv programs.csv control.csv"),
    ("Google Benchmark", "saved/google_benchmark"),
    ("hyperfine", "saved/hyperfine"),
    ("criterion", "saved/criterion"),
    ("pyperf", "saved/pyperf"),
    ("pytest-benchmark", "saved/pytest_benchmark"),
    ("JMH", "saved/jmh"),
    ("Go", "saved/go"),
    ("BenchmarkDotNet", "saved/benchmark_dotnet"),
];

/// Put into files: what numbers and texts should not be.
const TOKENS: [&str; 22] = [
    "1e308",
    "-1e308",
    "1e-320",
    "NaN",
    "-0",
    "18446744073709551616",
    "-1",
    "0",
    "null",
    "{}",
    "[]",
    "[[[[[[[[",
    "\"",
    "\\u0000",
    "\u{1b}[2J",
    "\n::error::x\n",
    "\u{202e}",
    "\0",
    ",",
    "\r\n",
    "true",
    "\u{feff}",
];

/// Every answer about a damaged file is an answer or an error: no panic, no raw control characters
/// on standard error, at most 1 GiB of memory and 30 s.
pub fn files(setting: &Setting) -> Section {
    let golden = |place: &str| {
        let of_tests = match place.ends_with(".jsonl") {
            true => "deadheat-format",
            false => "deadheat-import",
        };
        let crates = setting.shop.root.join("crates");
        crates.join(of_tests).join("tests/golden").join(place)
    };
    let folder = setting.shop.scratched("files");
    let mut told = Vec::new();
    for (place, (format, places)) in FORMATS.into_iter().enumerate() {
        let mut whole = Vec::new();
        for place in places.split(' ') {
            gather(&golden(place), &mut whole);
        }
        whole.sort();
        let numbers: Vec<usize> = (0..setting.shop.count(FILES, 20)).collect();
        let outcome = at_once(AT_ONCE, &numbers, |number| {
            // What is drawn does not depend on what came before.
            let mut random = setting.random((1_000_000 + place * FILES + number) as u64);
            let source = &whole[random.index_below(whole.len())];
            let folder = folder.join(format!("{place}-{number}"));
            attempt(setting, &folder, *number, source, &mut random)
        });
        told.push((format.to_owned(), outcome));
    }
    let _ = fs::remove_dir_all(&folder);
    section(
        "Damaged files",
        "The input consists of files from the tests, each with one to four kinds of damage: a flipped bit; a part \
         removed, duplicated or moved; a nonsensical token inserted; the end cut off. `analyze` \
         and `compare` must end with exit code 0, 3 or 4, within 1 GiB of memory and 30 s, and \
         print no terminal control sequences.",
        &told,
    )
}

fn attempt(
    setting: &Setting,
    folder: &Path,
    number: usize,
    source: &Path,
    random: &mut SplitMix64,
) -> (String, Option<String>) {
    let bytes = damaged(fs::read(source).expect("a golden file"), random);
    let name = source.file_name().expect("a name").to_string_lossy();
    fs::create_dir_all(folder).expect("a folder");
    let file = folder.join(&*name);
    fs::write(&file, bytes).expect("a damaged file");
    let (file, source) = (text(&file), text(source));
    let words = match number % 3 {
        0 => vec!["compare", source, file],
        1 => vec!["analyze", "--json", file],
        _ => vec!["analyze", file],
    };
    let ended = run(limited(&setting.shop.deadheat, folder, None, &[], &words));
    // A candidate that is a program's name, or that failed in the file.
    let finding = ended.finding(&[0, 3, 4]);
    if finding.is_some() {
        let kept = std::env::temp_dir().join(format!("attack-{number}-{name}"));
        let _ = fs::copy(file, kept);
    }
    let _ = fs::remove_dir_all(folder);
    (format!("number {number}, {name}"), finding)
}

fn gather(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder").flatten() {
            gather(&entry.path(), found);
        }
        return;
    }
    let small = fs::metadata(path).is_ok_and(|about| about.len() <= LARGEST);
    let data = path.extension().and_then(|end| end.to_str());
    if small && matches!(data, Some("json" | "jsonl" | "csv" | "txt")) {
        found.push(path.to_owned());
    }
}

fn damaged(mut bytes: Vec<u8>, random: &mut SplitMix64) -> Vec<u8> {
    for _ in 0..=random.index_below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.index_below(bytes.len());
        let end = (at + 1 + random.index_below(40)).min(bytes.len());
        match random.index_below(6) {
            0 => bytes[at] ^= 1 << random.index_below(8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let part: Vec<u8> = bytes.drain(at..end).collect();
                let to = random.index_below(bytes.len() + 1);
                bytes.splice(to..to, part);
            }
            4 => {
                let token = TOKENS[random.index_below(TOKENS.len())];
                // In place of a number, where one is near.
                let digits = bytes[at..].iter().position(u8::is_ascii_digit);
                let from = digits.map_or(at, |digits| at + digits);
                let rest = bytes[from..].iter();
                let len = rest.take_while(|byte| byte.is_ascii_digit()).count();
                bytes.splice(from..from + len, token.bytes());
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}
