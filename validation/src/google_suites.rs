//! A third-party suite of Google Benchmark (rapidfuzz-cpp) against copies of itself, on neutral links
//! and as linked, with releases of the library that start the program again.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin google_suites -- \
//!     measure 'LIBRARY' neutral OLD NEW FILTER
//! cargo run --release --manifest-path validation/Cargo.toml --bin google_suites
//! ```
//!
//! The first races OLD against NEW, two executables that `deadheat link` linked from one source, and
//! appends one line per row to `validation/data/google_suites.jsonl`; `linked` in place of `neutral` races
//! them as linked. LIBRARY names the release of Google Benchmark. The second writes
//! `docs/validation/google_suites.md` from all that was measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::time::Instant;

use deadheat_validation::bars::{Bar, Section};
use deadheat_validation::machine::machine;
use deadheat_validation::page::{Page, Question};
use deadheat_validation::process::median;
use deadheat_validation::programs;
use serde_json::{Value, json};

/// One benchmark of one race.
struct Row {
    library: String,
    /// `neutral` or `linked`.
    links: String,
    /// How the program was started; see [`STARTS`].
    start: String,
    verdict: Option<String>,
    half_width: Option<f64>,
    seconds: f64,
}

/// Ways to start a program that wants fixed addresses, and what each is called in the page.
const STARTS: [(&str, &str); 3] = [
    (
        "fixed",
        "at fixed addresses, so that it does not start again",
    ),
    (
        "again",
        "with the path of its link as `argv[0]`, so it starts again from the link",
    ),
    (
        "random",
        "with an `argv[0]` that is no executable file, so its second start fails and it keeps random addresses",
    ),
];

/// The lowest acceptable share of dead heats among copies.
const DEAD_HEATS: f64 = 0.6;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository")
        .to_owned();
    let data = root.join("validation/data/google_suites.jsonl");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => page(&root, &data),
        [
            "measure",
            library,
            links @ ("neutral" | "linked"),
            old,
            new,
            filter,
        ] => {
            measure(&root, &data, (library, links), [old, new, filter]);
        }
        _ => {
            eprintln!("usage: google_suites [measure LIBRARY neutral|linked OLD NEW FILTER]");
            exit(2);
        }
    }
}

fn measure(root: &Path, data: &Path, (library, links): (&str, &str), race: [&str; 3]) {
    let deadheat: PathBuf =
        programs::built(root, &["build", "--profile", "dist", "--bin", "deadheat"]);
    let mut command = Command::new(deadheat);
    command.args(["bench", "--json"]).args(race);
    if links == "linked" {
        command.args(["--placement", "own"]);
    }
    let began = Instant::now();
    let output = command.stderr(Stdio::inherit()).output().expect("a race");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("the answer of a race");
    let rows = answer["benchmarks"].as_array().expect("benchmarks");
    let seconds = began.elapsed().as_secs_f64() / rows.len().max(1) as f64;
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(data)
        .expect("the file of raw data");
    for row in rows {
        let line = json!({
            "library": library, "links": links, "start": "fixed", "row": row["benchmark"],
            "verdict": row["verdict"], "change": row["change"], "ci": row["ci"],
            "scope": row["scope"], "seconds": seconds,
        });
        writeln!(file, "{line}").expect("the file of raw data");
    }
}

fn rows_of(data: &Path) -> Vec<Row> {
    let text = fs::read_to_string(data).expect("raw data; measure first");
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a line of raw data");
        let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let end = |place: usize| row["ci"][place].as_f64();
        Row {
            library: word("library"),
            links: word("links"),
            start: word("start"),
            verdict: row["verdict"].as_str().map(str::to_owned),
            half_width: end(0).zip(end(1)).map(|(low, high)| (high - low) / 2.0),
            seconds: row["seconds"].as_f64().unwrap_or_default(),
        }
    };
    text.lines().map(row).collect()
}

fn page(root: &Path, data: &Path) {
    let machine = machine();
    let page = Page {
        title: "A suite of Google Benchmark against copies of itself",
        program: "google_suites",
        facts: &machine,
        quick: false,
    };
    let questions: [Question<Vec<Row>>; 2] = [("copies", copies), ("starts", starts)];
    if !page.write(root, &rows_of(data), &questions) {
        exit(1);
    }
}

/// The counts of some rows, as cells of a table.
struct Counts {
    rows: usize,
    called: usize,
    even: usize,
    half_width: f64,
    seconds: f64,
}

impl Counts {
    fn of(rows: &[&Row]) -> Self {
        let verdict = |wanted: &[&str]| {
            let of = |row: &&&Row| {
                row.verdict
                    .as_deref()
                    .is_some_and(|one| wanted.contains(&one))
            };
            rows.iter().filter(of).count()
        };
        let half_widths: Vec<f64> = rows.iter().filter_map(|row| row.half_width).collect();
        Self {
            rows: rows.len(),
            called: verdict(&["faster", "slower"]),
            even: verdict(&["equivalent"]),
            half_width: if half_widths.is_empty() {
                0.0
            } else {
                median(half_widths)
            },
            seconds: rows.iter().map(|row| row.seconds).sum::<f64>() / rows.len().max(1) as f64,
        }
    }

    fn cells(&self) -> String {
        format!(
            "{} | {} | {} | {} | ±{:.1}% | {:.1}",
            self.rows,
            self.called,
            self.even,
            self.rows - self.called - self.even,
            self.half_width * 100.0,
            self.seconds
        )
    }
}

const HEAD: &str = "rows | called faster or slower | dead heats | too close to call | half-width of the interval, median | seconds a row |";

fn copies(rows: &Vec<Row>) -> Section {
    let mut groups: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.start == "fixed") {
        groups
            .entry((&row.library, &row.links))
            .or_default()
            .push(row);
    }
    let mut text = String::from(
        "## Copies\n\nThe benchmarks of rapidfuzz-cpp (`fuzz`, and the string pairs of `lcs` and \
         `levenshtein`), built twice from one source, raced at default settings. Every row \
         called faster or slower is a false positive.\n\n",
    );
    let _ = writeln!(
        text,
        "| Google Benchmark | links | {HEAD}\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    let mut bars = Vec::new();
    for ((library, links), rows) in groups {
        let counts = Counts::of(&rows);
        let _ = writeln!(text, "| {library} | {links} | {} |", counts.cells());
        let what = format!("{library}, {links}");
        bars.push(Bar::false_verdicts(
            format!("{what}: copies called faster or slower"),
            counts.called,
            counts.rows,
        ));
        let of_all = format!("{what}: dead heats");
        bars.push(Bar::share(of_all, counts.even, counts.rows, DEAD_HEATS));
    }
    text.push('\n');
    Section { text, bars }
}

fn starts(rows: &Vec<Row>) -> Section {
    let mut text = String::from(
        "## Programs that start themselves again\n\nGoogle Benchmark from 1.9.3 on starts the program \
         again to turn off address randomisation. On neutral links that leaves three ways to start \
         it. They were raced in turns, pass by pass, on the rows of the section above. deadheat does \
         the first; the other two were measured with builds that were changed for it.\n\n",
    );
    let _ = writeln!(
        text,
        "| the program is started | {HEAD}\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    for (start, name) in STARTS {
        let of = |row: &&Row| row.start == start && row.links == "neutral";
        let rows: Vec<&Row> = rows.iter().filter(of).collect();
        let _ = writeln!(text, "| {name} | {} |", Counts::of(&rows).cells());
    }
    text.push('\n');
    Section {
        text,
        bars: Vec::new(),
    }
}
