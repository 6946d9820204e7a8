//! Google Benchmark executables, unmodified, against their copies, beside
//! `compare.py`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use deadheat_validation::bars::{Bar, Section, plain_spread, spread};
use deadheat_validation::binomial::share_bounds;
use deadheat_validation::google_compare::{self, Compared};
use deadheat_validation::programs::google_benchmark;
use deadheat_validation::race::Raced;
use deadheat_validation::workshop::Workshop;

use crate::{Setting, text};

/// Rows of each kind at least.
const ROWS: usize = 200;

pub fn section(setting: &Setting) -> Section {
    let libraries = ["-lbenchmark", "-lpthread"];
    let old = setting
        .shop
        .compile("google.cpp", "google", &libraries, false);
    let new = setting.shop.scratched("google-copy");
    fs::copy(&old, &new).expect("a copy");
    let mut races: Vec<Raced> = Vec::new();
    let wanted = setting.shop.count(ROWS, 21);
    while races.iter().map(|raced| raced.rows.len()).sum::<usize>() < wanted {
        races.push(setting.shop.race(&[text(&old), text(&new)]));
        eprintln!(
            "  {:.0} s for {} rows",
            races[races.len() - 1].seconds,
            races[races.len() - 1].rows.len()
        );
    }
    let seconds: Vec<f64> = races.iter().map(|raced| raced.seconds).collect();
    let rows: Vec<_> = races.iter().flat_map(|raced| &raced.rows).collect();
    let wrong = rows.iter().filter(|row| row.is_told_apart()).count();
    let even = rows
        .iter()
        .filter(|row| row.verdict.as_deref() == Some("equivalent"))
        .count();
    let share = wrong as f64 / rows.len() as f64 * 100.0;
    let (low, high) = share_bounds(wrong as u64, rows.len() as u64, 0.95);
    let mut text = format!(
        "## Google Benchmark executables\n\n\
         A Google Benchmark ({}) executable of {} benchmarks against a copy of itself, neither of them changed for deadheat. Every \
         difference is wrong. `compare.py` is Debian's, run as its manual says (`benchmarks OLD NEW`, alpha 5 %), with the \
         repetitions its U test asks for; a row counts as different when its p-value of the time is below alpha.\n\n\
         | tool | rows | called different | 95 % bounds | dead heat | seconds for all rows |\n| --- | --- | --- | --- | --- | --- |\n\
         | `deadheat bench` | {} | {wrong} ({share:.2} %) | {:.2} to {:.2} % | {even} | {} |\n",
        google_benchmark(),
        races[0].rows.len(),
        rows.len(),
        low * 100.0,
        high * 100.0,
        spread(&seconds, 1),
    );
    for interleaved in [false, true] {
        let _ = writeln!(text, "{}", beside(&setting.shop, &old, &new, interleaved));
    }
    text += "\n";
    Section {
        text,
        bars: vec![Bar::false_verdicts(
            "Google Benchmark: two copies called faster or slower",
            wrong,
            rows.len(),
        )],
    }
}

/// The row of `compare.py`, or why there is none.
fn beside(shop: &Workshop, old: &Path, new: &Path, interleaved: bool) -> String {
    let name = match interleaved {
        true => "`compare.py`, random interleaving",
        false => "`compare.py`",
    };
    if let Err(reason) = google_compare::version() {
        return format!("| {name} | - | {reason} | - | - | - |");
    }
    let mut arguments = vec![
        "--benchmark_repetitions=12".to_owned(),
        "--benchmark_min_time=0.02".to_owned(),
    ];
    if interleaved {
        arguments.push("--benchmark_enable_random_interleaving=true".to_owned());
    }
    let dump = shop.scratched("compared.json");
    let calls: Vec<Compared> = (0..shop.count(3, 1))
        .map(|_| google_compare::compared(old, new, &dump, &arguments))
        .collect();
    let seconds: Vec<f64> = calls.iter().map(|call| call.seconds).collect();
    let rows: Vec<_> = calls.iter().flat_map(|call| &call.rows).collect();
    let different = rows.iter().filter(|row| row.is_told_apart()).count();
    let share = different as f64 / rows.len() as f64 * 100.0;
    let (low, high) = share_bounds(different as u64, rows.len() as u64, 0.95);
    format!(
        "| {name} | {} | {different} ({share:.2} %) | {:.2} to {:.2} % | - | {} |",
        rows.len(),
        low * 100.0,
        high * 100.0,
        plain_spread(&seconds, 1)
    )
}
