//! Races of Python functions and libraries, by deadheat and by the tools that do the same: how
//! often each is wrong, how often it finds 1%, how long it takes, and what deadheat costs.
//!
//! Writes `docs/validation/python.md` from `validation/data/python.jsonl`. Takes some hour, on a
//! machine that does nothing else, in as many sittings as one likes; needs Python with venv, which
//! the variable `PYTHON` names, and the network for what pip installs.

mod cell;
mod cost;
mod libraries;
mod page;
mod setting;
mod suites;
mod tools;

use deadheat_validation::prelude::*;

use cell::{Case, Cell, ROUNDS, Tool};
use page::Page;
use setting::Setting;

fn main() {
    let wanted = Wanted::parts_from_command_line();
    let mut kept = Kept::open(repository(), "python", &wanted, Sittings::OneMachine);
    let wishes: Vec<Wish<Cell>> =
        Cell::all().into_iter().map(|cell| cell.wish(wanted.quick)).collect();
    let in_the_end = wishes.iter().map(|wish| wish.times).sum();
    if kept.goes_on() {
        let setting = Setting::make(Workshop::open("python", wanted.quick));
        let wishes: Vec<Wish<Cell>> =
            wishes.into_iter().map(|wish| wish.limited(&wanted)).collect();
        let mut known = kept.rows().to_vec();
        let mut random = SplitMix64::new(now_ns());
        sit(&mut kept, &wishes, ROUNDS, &mut random, |cell, repeat, _| {
            let row = observed(cell, repeat, &setting);
            let shown = without_known_versions(row.clone(), &known);
            known.push(row);
            shown
        });
    }
    let facts = kept.facts();
    let page = Page { rows: kept.rows(), wanted: in_the_end, facts: &facts, quick: wanted.quick };
    publish("python", &page.text(), wanted.quick);
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
    let mut row = made.unwrap_or_else(|problem| failed(&problem));
    row["tool"] = json!(cell.tool.key());
    row["seconds"] = json!(short(seconds));
    row["python"] = json!(setting.python);
    row["version"] = json!(tools::version(cell.tool, setting));
    row
}

/// Removes the versions from a row if an earlier row of the same tool has them.
fn without_known_versions(mut row: Value, earlier: &[Value]) -> Value {
    const VERSIONS: [&str; 3] = ["version", "python", "numpy"];
    let same =
        |other: &&Value| ["tool"].iter().chain(&VERSIONS).all(|key| other[*key] == row[*key]);
    if earlier.iter().any(|other| same(&other)) {
        let row = row.as_object_mut().expect("rows are objects");
        row.retain(|key, _| !VERSIONS.contains(&key.as_str()));
    }
    row
}
