//! Words that mark sentences a reader stops at are counted, and their counts may only fall.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The stored counts, a line for each word: the word, how often sources, manuals and README have it.
/// `DEADHEAT_BLESS=1 cargo test -p deadheat-cli --test house_rules` stores counts that fell.
const STORED: &str = "crates/deadheat-cli/tests/house_rules/word_counts.txt";

/// What readers stop at: words that leave the actor or the thing unnamed, and turns of an older English.
const WORDS: [&str; 15] = [
    "beside",
    "is no",
    "are no",
    "nobody",
    "somebody",
    "whoever",
    "so many",
    "stands",
    "anew",
    "is told",
    "are told",
    "behind it",
    "that one",
    "as ever",
    "has room",
];

/// Where the words are counted.
const PLACES: [&str; 3] = ["sources", "manuals", "README"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read_all(folder: &Path, end: &str, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, end, text);
        } else if path.to_str().is_some_and(|path| path.ends_with(end)) {
            *text += &fs::read_to_string(&path).unwrap();
            text.push('\n');
        }
    }
}

/// The texts of the places, in their order.
fn texts() -> [String; 3] {
    let mut sources = String::new();
    for room in fs::read_dir(root().join("crates")).unwrap() {
        let folder = room.unwrap().path().join("src");
        if folder.is_dir() {
            read_all(&folder, ".rs", &mut sources);
        }
    }
    let mut manuals = String::new();
    read_all(&root().join("docs"), ".md", &mut manuals);
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    [sources, manuals, readme]
}

/// How often whole words follow each other so, in any case, across the ends of lines and comments.
fn count(text: &str, phrase: &str) -> usize {
    let lower = text.to_lowercase();
    let apart = |c: char| !(c.is_alphanumeric() || c == '_');
    let words = lower.split(apart).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let phrase: Vec<&str> = phrase.split(' ').collect();
    let windows = words.windows(phrase.len());
    windows.filter(|window| *window == phrase).count()
}

/// The stored counts by word.
fn stored(text: &str) -> BTreeMap<String, Vec<usize>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parsed = lines.map(|line| {
        let (word, counts) = line.split_once(':').expect("a word and its counts");
        let counts = counts
            .split_whitespace()
            .map(|count| count.parse().unwrap());
        (word.to_owned(), counts.collect())
    });
    parsed.collect()
}

/// What rose above the stored counts.
fn risen(stored: &BTreeMap<String, Vec<usize>>, counted: &[(&str, [usize; 3])]) -> Vec<String> {
    let mut risen = Vec::new();
    for (word, counts) in counted {
        let most = stored.get(*word).map_or(&[][..], Vec::as_slice);
        for (place, count) in counts.iter().enumerate() {
            let most = most.get(place).copied().unwrap_or_default();
            if *count > most {
                let place = PLACES[place];
                risen.push(format!("'{word}' in {place}: {count}, {most} at most"));
            }
        }
    }
    risen
}

#[test]
fn words_that_readers_stop_at_become_no_more() {
    let texts = texts().map(|text| text.to_lowercase());
    let counted = WORDS.map(|word| (word, [0, 1, 2].map(|place| count(&texts[place], word))));
    let path = root().join(STORED);
    let before = fs::read_to_string(&path).unwrap_or_default();
    let risen = risen(&stored(&before), &counted);
    if std::env::var_os("DEADHEAT_BLESS").is_some() && (risen.is_empty() || before.is_empty()) {
        let mut text =
            "# word: counts in crates/*/src, docs and README; only lower them\n".to_owned();
        for (word, counts) in counted {
            let [sources, manuals, readme] = counts;
            text += &format!("{word}: {sources} {manuals} {readme}\n");
        }
        fs::write(&path, text).unwrap();
        return;
    }
    assert!(
        risen.is_empty(),
        "say it in other words (CONTRIBUTING.md, \"How we write\"): {risen:#?}"
    );
}

#[test]
fn whole_words_are_counted_across_lines_and_in_any_case() {
    let text = "Nobody waits.\n/// There is\n/// no other. besides, beside_it; Beside nobody";
    assert_eq!(count(text, "nobody"), 2);
    assert_eq!(count(text, "is no"), 1);
    assert_eq!(count(text, "beside"), 1);
}

#[test]
fn a_count_that_rises_is_reported_and_one_that_falls_is_not() {
    let stored = stored("# head\nanew: 3 2 0\nis no: 1 1 1\n");
    let counted = [
        ("anew", [2, 3, 0]),
        ("is no", [1, 1, 1]),
        ("nobody", [0, 0, 1]),
    ];
    let risen = risen(&stored, &counted);
    assert_eq!(
        risen,
        [
            "'anew' in manuals: 3, 2 at most",
            "'nobody' in README: 1, 0 at most"
        ]
    );
}
