//! Tests the promises of the verdicts by whole races on a simulated clock, and writes the results
//! as `docs/calibration.md`: `cargo run --release -p deadheat --example calibration`.

mod page;
mod simulation;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::{fs, thread};

use simulation::tally::Tally;
use table::{Row, sections};

/// The path of the page.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/calibration.md");

fn main() -> ExitCode {
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut number = 0;
    let mut measured = |row: Row| {
        number += 1;
        let first = page::first_seed(number);
        let seeds = first..first + u64::from(row.races);
        let tally = Tally::of(&row.setting, seeds, threads);
        eprintln!("{number:3}  {}, {:+}%: {tally:?}", row.name, row.change);
        (number, row, tally)
    };
    let mut chapters = Vec::new();
    for section in sections() {
        eprintln!("\n{}", section.title);
        chapters.push(page::Chapter {
            title: section.title,
            words: section.words,
            lines: section.rows.into_iter().map(&mut measured).collect(),
        });
    }
    let (text, kept) = page::page(&chapters);
    let path = Path::new(PAGE);
    if let Err(error) = fs::write(path, text) {
        eprintln!("cannot write {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    if kept {
        ExitCode::SUCCESS
    } else {
        eprintln!("a promise is broken, see {}", path.display());
        ExitCode::FAILURE
    }
}
