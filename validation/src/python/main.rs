//! Races of Python functions and libraries, by deadheat and by the tools that do the same: how
//! often each is wrong, how often it finds 1 %, how long it takes, and what deadheat costs.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin python
//! ```
//!
//! Writes `docs/validation/python.md` from `validation/data/python.jsonl`. Takes some hour,
//! on a machine that does nothing else, in as many sittings as one likes; needs Python with venv,
//! which the variable `PYTHON` names, and the network for what pip installs. `--only "pyperf loops"`
//! measures only what has these words as its tool, subject or case, `--races N` at most so many of
//! each, and `--fresh` then forgets only these.

mod cell;
mod cost;
mod libraries;
mod page;
mod setting;
mod suites;
mod tools;

use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use deadheat_examples::random::SplitMix64;
use deadheat_validation::kept::{Kept, Sittings, Wanted, by_the_end_of};
use deadheat_validation::progress::Progress;
use deadheat_validation::told::short;
use deadheat_validation::workshop::Workshop;
use serde_json::{Value, json};

use cell::{Case, Cell, ROUNDS, Tool};
use page::Page;
use setting::Setting;

fn main() {
    let wanted = Wanted::parts_from_command_line();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let mut kept = Kept::open(root, "python", &wanted, Sittings::OneMachine);
    if kept.goes_on() {
        measure(&mut kept, &wanted);
    }
    let in_the_end = Cell::all()
        .into_iter()
        .map(|cell| cell.wanted(wanted.quick));
    let page = Page {
        rows: kept.rows(),
        wanted: in_the_end.sum(),
        facts: &kept.facts(),
        quick: wanted.quick,
    };
    let text = page.text();
    println!("{text}");
    if !wanted.quick {
        let target = root.join("docs/validation/python.md");
        fs::write(&target, &text).expect("the page can be written");
    }
}

fn measure(kept: &mut Kept, wanted: &Wanted) {
    let setting = Setting::make(Workshop::open("python", wanted.quick));
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut random = SplitMix64::new(now.map_or(0, |time| time.as_nanos() as u64));
    let cells: Vec<Cell> = Cell::all();
    let left = cells
        .iter()
        .map(|cell| number(wanted, *cell).saturating_sub(kept.count(&cell.keys())));
    let mut progress = Progress::over(left.sum());
    let mut answered: Vec<Tool> = Vec::new();
    for round in 0..ROUNDS {
        for (cell, repeat) in due(kept, wanted, &cells, round, &mut random) {
            if !kept.goes_on() {
                return;
            }
            let mut row = observed(cell, repeat, &setting);
            without_known_versions(&mut row, kept.rows());
            // Whoever never answers has been asked in a wrong way.
            let failed = row["called"] == "failed";
            assert!(
                !failed || answered.contains(&cell.tool),
                "the first of {:?} in this sitting failed: {}",
                cell.tool,
                row["problem"]
            );
            answered.push(cell.tool);
            progress.made(&told(cell, &row));
            kept.add(row);
        }
    }
}

/// Observations of a cell that are asked for.
fn number(wanted: &Wanted, cell: Cell) -> usize {
    if wanted.fits(&cell.name()) {
        wanted.of(cell.wanted(wanted.quick))
    } else {
        0
    }
}

/// The observations that a round adds, in an order drawn anew.
fn due(
    kept: &Kept,
    wanted: &Wanted,
    cells: &[Cell],
    round: usize,
    random: &mut SplitMix64,
) -> Vec<(Cell, usize)> {
    let mut due = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let done = kept.count(&cell.keys());
        // Without a divisor in common, so that what is wanted once falls into all rounds alike.
        let early = index * 17 % ROUNDS;
        let until = by_the_end_of(round, ROUNDS, number(wanted, *cell), early);
        due.extend((done..until).map(|repeat| (*cell, repeat)));
    }
    for last in (1..due.len()).rev() {
        due.swap(last, random.index_below(last + 1));
    }
    due
}

/// Makes an observation, as a row of raw data.
fn observed(cell: Cell, repeat: usize, setting: &Setting) -> Value {
    let start = Instant::now();
    let made = match (cell.tool, cell.case) {
        (Tool::Cost, _) => cost::measure(cell, setting),
        (_, Case::Brief) => suites::race_briefly(cell, setting),
        (Tool::Suite | Tool::Starts, _) => suites::race(cell, setting),
        (Tool::PytestBenchmark, _) if cell.is_of_a_suite() => suites::race(cell, setting),
        (Tool::Bench, _) => libraries::race(cell, setting),
        (_, Case::Alone) => tools::under_hash_seed(cell, repeat + 1, setting),
        _ => tools::race(cell, repeat, setting),
    };
    let seconds = start.elapsed().as_secs_f64();
    let mut row = made.unwrap_or_else(|problem| {
        let short: String = problem.chars().take(200).collect();
        json!({"called": "failed", "problem": short})
    });
    for (key, value) in cell.keys() {
        row[key] = json!(value);
    }
    row["seconds"] = json!(short(seconds));
    row["python"] = json!(setting.python);
    row["version"] = json!(tools::version(cell.tool, setting));
    row
}

/// Removes the versions from a row if an earlier row of the same tool has them.
fn without_known_versions(row: &mut Value, earlier: &[Value]) {
    const VERSIONS: [&str; 3] = ["version", "python", "numpy"];
    let same = |other: &&Value| {
        ["tool"]
            .iter()
            .chain(&VERSIONS)
            .all(|key| other[*key] == row[*key])
    };
    if earlier.iter().any(|other| same(&other)) {
        let row = row.as_object_mut().expect("rows are objects");
        row.retain(|key, _| !VERSIONS.contains(&key.as_str()));
    }
}

/// An observation in words.
fn told(cell: Cell, row: &Value) -> String {
    let said = ["problem", "called", "ns"].map(|key| &row[key]);
    let said = said.into_iter().find(|said| !said.is_null());
    let said = said.map_or_else(String::new, |said| format!(": {said}"));
    format!("{}{said}", cell.name())
}
