//! bench_diff's own table: two functions whose difference is known, compared
//! in the traditional way, by bench_diff and by deadheat.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin bench_diff -- --minutes 60
//! ```
//!
//! Writes `docs/validation/bench_diff.md` from what is kept in
//! `validation/data/bench_diff.jsonl`. All of it takes hours, on a machine
//! that does nothing else; it may be had in several sittings. With `--quick`
//! all is tried in small numbers and printed, and nothing is written. `--only
//! "20 ms loaded"` measures only rows whose names hold these words, `--races N` at
//! most so many of each, and `--fresh` then forgets only these.

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

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_validation::bars::Section;
use deadheat_validation::kept::{Kept, Sittings, Wanted};
use deadheat_validation::page::{Page, Question};

use observation::Observation;
use rows::Row;

/// The material that the page is made of.
struct Setting {
    rows: Vec<Row>,
    observations: Vec<Observation>,
    /// The calibration of the work, made before it was compared.
    calibration: String,
}

fn main() {
    let wanted = Wanted::parts_from_command_line();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository")
        .to_owned();
    let mut kept = Kept::open(&root, "bench_diff", &wanted, Sittings::AnyMachine);
    let rows = rows::all(wanted.quick);
    if kept.goes_on() {
        let is_asked = |row: &&Row| {
            let tools = row.tools().iter();
            let mut names = tools.map(|tool| format!("{} {}", row.name(), tool.name()));
            names.any(|name| wanted.fits(&name))
        };
        let asked = rows.iter().filter(is_asked);
        let asked = asked.map(|row| Row {
            repeats: wanted.of(row.repeats),
            ..*row
        });
        measure(&root, &asked.collect::<Vec<_>>(), &mut kept);
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
        (
            "functions that do the same in every call",
            deterministic::section,
        ),
        ("functions that vary", varying::section),
    ];
    page.write(&root, &setting, questions);
}

/// The number of comparisons so far, and of those still to come.
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
    let scratch: PathBuf =
        std::env::temp_dir().join(format!("deadheat-bench-diff-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let programs = programs::Programs::build(&root.join("validation"), &scratch);
    calibration::make(kept);
    turns::take_all(rows, &programs, kept);
    let _ = fs::remove_dir_all(&scratch);
}

fn method(setting: &Setting) -> Section {
    Section {
        text: tables::method(&setting.calibration),
        bars: Vec::new(),
    }
}
