//! bench_diff's own table: two functions whose difference is known, compared in the traditional
//! way, by bench_diff and by deadheat.
//!
//! Writes `docs/validation/bench_diff.md` from the observations in `validation/data/bench_diff.jsonl`.
//! All of it takes hours, on a machine that does nothing else; it may be had in several sittings.

mod calibration;
mod comparison;
mod deterministic;
mod errors;
mod observation;
mod offences;
mod programs;
mod rows;
mod tables;
mod turns;
mod varying;

use deadheat_validation::prelude::*;
use observation::Observation;
use rows::Row;

struct Setting {
    rows: Vec<Row>,
    observations: Vec<Observation>,
    /// The calibration of the work, made before it was compared.
    calibration: String,
}

fn main() {
    let wanted = Wanted::parts_from_command_line();
    let root = repository();
    let mut kept = Kept::open(root, "bench_diff", &wanted, Sittings::AnyMachine);
    let rows = rows::all(wanted.quick);
    if kept.goes_on() {
        let is_asked = |row: &&Row| {
            let tools = row.tools().iter();
            let mut names = tools.map(|tool| format!("{} {}", row.name(), tool.key()));
            names.any(|name| wanted.fits(&name))
        };
        let asked = rows.iter().filter(is_asked);
        let asked = asked.map(|row| Row { repeats: wanted.of(row.repeats), ..*row });
        measure(root, &asked.collect::<Vec<_>>(), &mut kept);
    }
    let setting = Setting {
        observations: kept.rows().iter().filter_map(Observation::read).collect(),
        calibration: calibration::told(&kept),
        rows,
    };
    let page = Page {
        title: "bench_diff's table: traditional benchmarking, bench_diff and deadheat",
        program: "bench_diff",
        facts: &format!("{} {}", kept.facts(), progress(&setting)),
        quick: wanted.quick,
    };
    let questions: &[Question<Setting>] = &[
        ("how it was measured", method),
        ("functions that do the same in every call", deterministic::section),
        ("functions that vary", varying::section),
    ];
    page.write(root, &setting, questions);
}

fn progress(setting: &Setting) -> String {
    let wanted = rows::comparisons(&setting.rows);
    match setting.observations.len() {
        count if count < wanted => format!(
            "**{count} of {wanted} comparisons so far**; rows that have none yet are left out."
        ),
        count => format!("All {count} comparisons were made."),
    }
}

fn measure(root: &Path, rows: &[Row], kept: &mut Kept) {
    let scratch = Scratch::new("bench-diff");
    let programs = programs::Programs::build(&root.join("validation"), &scratch);
    calibration::make(kept);
    turns::take_all(rows, &programs, kept);
}

fn method(setting: &Setting) -> Section {
    Section { text: tables::method(&setting.calibration), bars: Vec::new() }
}
