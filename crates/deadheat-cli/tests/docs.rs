//! The documents tell the truth: every example in them is run, and what they
//! promise of the repository is there.
//!
//! A ```` ```console ```` block shows real output with real numbers, because
//! that is what a reader wants to see. Numbers change with every race, so
//! before a block is run each paragraph of its output is loosened: the words
//! of the first line must come again, its numbers and what follows need not.
//! (So `TRYCMD=overwrite` has nothing to write to: run the command and paste.)

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat::parts::settings::{Front, Setting};

/// Columns of a line that count. A sentence may break elsewhere when its
/// numbers are longer, and a verdict comes well before that.
const SURE_COLUMNS: usize = 60;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// README.md and everything in docs/, as paths from the root.
fn documents() -> Vec<String> {
    let mut found = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for entry in fs::read_dir(repository().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            found.push(format!("docs/{name}"));
        }
    }
    found.sort();
    found
}

/// Headings of the longest document that need nothing which a command before
/// them has left: its parts are run side by side, for most of them wait.
const FRESH_STARTS: [&str; 3] = ["### Design", "### Hooks", "### Files"];

/// A document in parts that can be run on their own, each with a file name.
fn parts(document: &str) -> Vec<(String, String)> {
    let mut parts = vec![String::new()];
    for line in text(document).lines() {
        if FRESH_STARTS.contains(&line) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            *part += line;
            part.push('\n');
        }
    }
    let name = document.replace('/', "-");
    let numbered = parts.into_iter().enumerate();
    numbered
        .map(|(number, part)| (format!("{name}-{number}.md"), part))
        .collect()
}

/// A document whose output blocks match every race that tells the same story.
fn loosened(document: &str) -> String {
    let mut loose = String::new();
    let mut in_block = false;
    let mut in_paragraph = false;
    for line in document.lines() {
        // A race too close to call begins with the sign of an exit code.
        let exit_code = line
            .strip_prefix("? ")
            .is_some_and(|code| code.parse::<u8>().is_ok());
        let given = exit_code || ["$ ", "> "].iter().any(|sign| line.starts_with(sign));
        if line.starts_with("```") {
            in_block = line == "```console";
            in_paragraph = false;
        } else if in_block && (given || line.is_empty() || line == "...") {
            in_paragraph = false;
        } else if in_block && in_paragraph {
            continue;
        } else if in_block {
            // Warnings and notes depend on the machine and on chance.
            if !line.starts_with("warning: ") && !line.starts_with("note: ") {
                loose += &loosened_line(line);
                loose.push('\n');
            }
            loose += "...\n";
            in_paragraph = true;
            continue;
        }
        if line == "..." && loose.ends_with("\n...\n") {
            continue;
        }
        loose += line;
        loose.push('\n');
    }
    loose
}

/// `[..]` for every word with a digit in it, for columns whose width follows
/// the numbers below, and for the far end of a long line.
fn loosened_line(line: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut columns = 0;
    for word in line.split(' ') {
        columns += word.chars().count() + 1;
        let varies = word.is_empty() || word.contains(|c: char| c.is_ascii_digit());
        if columns > SURE_COLUMNS {
            words.push("[..]");
            break;
        }
        words.push(if varies { "[..]" } else { word });
    }
    words.dedup_by(|a, b| a == b && *a == "[..]");
    words
        .join(" ")
        .replace(" [..]", "[..]")
        .replace("[..] ", "[..]")
}

/// Every document in a folder for its commands, with the files it speaks of.
fn laid_out(documents: &[(String, String)], scratch: &Path) {
    for (name, shown) in documents {
        fs::write(scratch.join(name), loosened(shown)).unwrap();
        // The folder next to a document is where its commands run, one after
        // the other, so that what one leaves the next can use.
        let folder = scratch.join(name).with_extension("in");
        fs::create_dir(&folder).unwrap();
        // Rules files that the document shows under a comment with their name.
        for block in shown.split("```toml\n# ").skip(1) {
            let (file, rest) = block.split_once('\n').unwrap();
            if file.ends_with(".toml") {
                let rules = rest.split("```").next().unwrap();
                fs::write(folder.join(file), format!("# {file}\n{rules}")).unwrap();
            }
        }
        // Saved results for `deadheat compare`, as somebody may have them.
        let golden = repository().join("crates/deadheat-cli/tests/golden");
        for (from, to) in [
            ("repetitions_12/a.json", "may.json"),
            ("repetitions_12/b.json", "jun.json"),
            ("filters/a.json", "memory.json"),
        ] {
            let from = golden.join("compare").join(from);
            fs::copy(from, folder.join(to)).unwrap();
        }
        for side in ["may", "jun"] {
            fs::create_dir(folder.join(side)).unwrap();
            for file in 1..=6 {
                let file = format!("{side}/{file}.json");
                fs::copy(golden.join("in_turns").join(&file), folder.join(&file)).unwrap();
            }
        }
    }
}

/// Runs every example and panics, after all of them, when one answers otherwise
/// than it is shown.
fn run_examples(documents: &[(String, String)]) {
    let scratch = tempfile::tempdir().unwrap();
    laid_out(documents, scratch.path());
    trycmd::TestCases::new()
        .register_bin("deadheat", Path::new(env!("CARGO_BIN_EXE_deadheat")))
        .env("LC_ALL", "C.UTF-8")
        // The user who runs this may have builds there, which `deadheat clean` lists.
        .env(
            "XDG_CACHE_HOME",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/docs-cache"),
        )
        // The machine of whoever runs this may be calibrated.
        .env("DEADHEAT_CALIBRATION", "")
        .case(scratch.path().join("*.md"))
        .run();
}

/// Most examples are real races. One that the machine holds up for long, in
/// one of six replicates, reads otherwise than the truth that is shown, so
/// examples that do not fit are run a second time. A document that is wrong is
/// wrong both times.
#[test]
fn every_example_in_the_documents_gives_the_answer_shown_there() {
    let documents: Vec<_> = documents()
        .iter()
        .flat_map(|document| parts(document))
        .collect();
    if std::panic::catch_unwind(|| run_examples(&documents)).is_err() {
        run_examples(&documents);
    }
}

#[test]
fn examples_are_loosened_in_their_numbers_and_not_in_their_words() {
    let shown = "\
Text 1
```console
$ deadheat run 2
? 1
  wall     3 ms
  old 4

✘ 'b' is slower than 'a' by 5 %.

warning: 6
```
";
    let loose = "\
Text 1
```console
$ deadheat run 2
? 1
[..]wall[..]ms
...

✘ 'b' is slower than 'a' by[..]%.
...

...
```
";
    assert_eq!(loosened(shown), loose);
}

#[test]
fn the_readme_begins_with_two_commands_that_work_on_a_fresh_machine() {
    let readme = text("README.md");
    let mut commands = readme
        .lines()
        .filter(|line| line.starts_with("cargo ") || line.starts_with("./"))
        .map(|line| line.split(" # ").next().unwrap_or(line).trim())
        .take(2);
    let race = commands.next().expect("a race");
    assert!(
        race.starts_with("cargo run --release -- run -- '"),
        "{race}"
    );
    let test = commands.next().expect("the tests");
    assert_eq!(test, "./test");
    let ci = text(".ci/run");
    assert_eq!(ci.lines().filter(|line| *line == test).count(), 1, "{ci}");
}

#[test]
fn every_option_of_the_program_is_explained_in_the_manual() {
    fn options(text: &str) -> BTreeSet<&str> {
        text.split(|c: char| c.is_whitespace() || "[]=,:`'|".contains(c))
            .filter(|word| word.starts_with("--") && word.len() > 2)
            .collect()
    }
    // Options that commands share are explained once, where races are.
    let shared = text("docs/cli.md");
    for (command, page) in [
        ("run", "cli"),
        ("bench", "cli"),
        ("compare", "cli"),
        ("analyze", "cli"),
        ("report", "cli"),
        ("clean", "cli"),
        ("completions", "cli"),
        ("man", "cli"),
        ("load", "load"),
        ("rev", "revisions"),
        ("bisect", "bisect"),
        ("explain", "explain"),
        ("doctor", "doctor"),
        ("calibrate", "trust"),
        ("link", "placement"),
        ("plan", "fleet"),
        ("pack", "fleet"),
        ("merge", "fleet"),
        ("history add", "history"),
        ("history push", "history"),
        ("history show", "history"),
        ("history check", "history"),
        ("history accept", "history"),
        ("history extend", "history"),
        ("history page", "history"),
    ] {
        let help = Command::new(env!("CARGO_BIN_EXE_deadheat"))
            .args(command.split(' '))
            .arg("--help")
            .output()
            .unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        assert!(options(&help).contains("--help"), "{help}");
        let page = format!("docs/{page}.md");
        let manual = text(&page) + &shared;
        let (help, manual) = (options(&help), options(&manual));
        let missing: Vec<_> = help.difference(&manual).collect();
        assert!(missing.is_empty(), "{page} lacks {missing:?} of {command}");
    }
}

#[test]
fn every_option_of_the_bench_harness_is_described_with_an_example() {
    let source = text("crates/deadheat/src/harness/arguments.rs");
    let help = source.split("usage: cargo bench").nth(1).unwrap();
    let help = help.split("\",").next().unwrap();
    let lines = help.lines().filter(|line| line.starts_with("  -"));
    let written = lines
        .flat_map(|line| line.split([' ', ',']))
        .filter(|word| word.starts_with("--"))
        .map(str::to_owned);
    let settings = Setting::of(Front::Harness).map(|setting| format!("--{}", setting.name));
    let options: BTreeSet<String> = written.chain(settings).collect();
    assert!(
        options.len() > 20 && options.contains("--pin"),
        "{options:?}"
    );
    let manual = text("docs/functions.md");
    let sample = |option: &str| {
        let of_cargo = |line: &&str| {
            ["cargo bench", "cargo deadheat"]
                .iter()
                .any(|command| line.starts_with(command))
        };
        let mut lines = manual.lines().filter(of_cargo);
        lines.any(|line| line.split(' ').any(|word| word == option))
    };
    for option in options {
        let option = option.as_str();
        let told = [format!("`{option}`"), format!("`{option} ")];
        assert!(
            told.iter().any(|told| manual.contains(told)),
            "docs/functions.md does not describe {option}"
        );
        // The short form of another option needs none of its own.
        assert!(
            option == "--json" || sample(option),
            "docs/functions.md has no example of {option}"
        );
    }
}

#[test]
fn the_shortest_race_in_the_documents_is_the_one_that_is_compiled() {
    let file = text("examples/benches/shortest.rs");
    let lines: Vec<&str> = file.lines().collect();
    // A line for rustdoc comes first, which a reader need not write.
    let code = lines.iter().position(|line| *line == "fn main() {");
    let code = &lines[code.expect("a main")..];
    assert!(code.len() < 12, "{} lines are not short", code.len());
    assert!(!file.contains("macro"), "{file}");
    let shown = format!("```rust\n{}\n```\n", code.join("\n"));
    for document in ["README.md", "docs/functions.md"] {
        assert!(text(document).contains(&shown), "{document} lacks {shown}");
    }
    let code: Vec<String> = code.iter().map(|line| format!("//! {line}\n")).collect();
    let library = text("crates/deadheat/src/lib.rs");
    assert!(library.contains(&code.concat()), "the crate's own page");
}

#[test]
fn the_examples_of_the_manual_of_functions_are_compiled() {
    // Layout aside: what is nested deeper is broken into other lines.
    let bare = |code: &str| -> String { code.split_whitespace().collect() };
    let compiled = [
        "examples/benches/manual.rs",
        "examples/benches/shortest.rs",
        "crates/deadheat/src/harness/compare.rs",
    ];
    let compiled: Vec<String> = compiled
        .iter()
        .map(|path| bare(&text(path).replace("/// ", "")))
        .collect();
    let manual = text("docs/functions.md");
    let blocks = manual.split("```rust\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap());
    // There is no runtime among the dependencies to try those with.
    let tried: Vec<&str> = blocks.filter(|block| !block.contains("tokio")).collect();
    assert!(tried.len() >= 9, "{tried:?}");
    for block in tried {
        let found = compiled.iter().any(|file| file.contains(&bare(block)));
        assert!(found, "nobody compiles this:\n{block}");
    }
}

#[test]
fn the_files_that_the_documents_name_exist() {
    for document in ["CONTRIBUTING.md", "docs/architecture.md"] {
        for word in text(document).split('`') {
            let is_path = word.starts_with("crates/") || word.starts_with("docs/");
            if is_path && !word.contains(['*', '…', '<', '{', ' ']) {
                assert!(repository().join(word).exists(), "{document}: {word}");
            }
        }
    }
}

/// A document from one line that begins so to the next that begins like `end`.
fn section(document: &str, begin: &str, end: &str) -> String {
    let whole = text(document);
    let from = whole.find(&format!("\n{begin}\n"));
    let rest = &whole[from.unwrap_or_else(|| panic!("{document} lacks {begin}")) + 1..];
    let to = rest[begin.len()..].find(&format!("\n{end}"));
    rest[..to.map_or(rest.len(), |to| begin.len() + to)].to_owned()
}

/// Options that the prose tells of need not be listed in an order, but each as the table of settings
/// has it, with the same word for its value.
#[test]
fn every_setting_of_the_table_is_documented_where_it_may_be_written() {
    let documented = [
        (Front::Run, section("docs/cli.md", "## deadheat run", "## ")),
        (
            Front::Bench,
            section("docs/cli.md", "## deadheat bench", "## "),
        ),
        (
            Front::Calibrate,
            section("docs/trust.md", "## Options", "## "),
        ),
        (
            Front::Recording,
            section("docs/cli.md", "## deadheat analyze", "## "),
        ),
        (
            Front::Answer,
            section("docs/cli.md", "## deadheat run", "## "),
        ),
        (
            Front::Harness,
            section("docs/functions.md", "## Options", "## "),
        ),
    ];
    for (front, told) in documented {
        for setting in Setting::of(front) {
            let option = format!("--{} {}", setting.name, setting.value);
            let option = format!("`{}`", option.trim_end());
            assert!(told.contains(&option), "{front:?} lacks {option}");
        }
    }
    let gates = text("docs/gates.md");
    for setting in Setting::in_file(false) {
        let row = format!("\n| `{}` |", setting.name);
        assert!(gates.contains(&row), "docs/gates.md lacks {row}");
    }
}
