//! The question whether time grows as the files do.

use std::fmt::Write as _;
use std::fs;

use deadheat_validation::bars::{Bar, Section, spread, up};
use deadheat_validation::process::{Cost, cost, median};

use crate::Setting;
use deadheat_validation::google_benchmark_files::Shape;

/// Repetitions of every benchmark.
const REPETITIONS: usize = 16;

pub fn section(setting: &Setting) -> Section {
    let mut text = "## Growth\n\nMore and more benchmarks of 16 repetitions and four aggregates: rows of both files together, and the time \
                    from launch to end for each million of them; median (range). Linear means that the last column stays where it is.\n\n\
                    | rows | tool | rounds | seconds | peak MiB | seconds per million rows |\n| --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let mut rates = [Vec::new(), Vec::new()];
    for rows in [20_000, 200_000, setting.count(2_000_000, 400_000)] {
        let shape = |seed, slower| Shape {
            benchmarks: rows / 2 / (REPETITIONS + 4),
            repetitions: REPETITIONS,
            slower,
            ties: false,
            seed,
        };
        let old = setting.file(shape(3, 0.0), "old.json");
        let new = setting.file(shape(4, 0.05), "new.json");
        let files = [crate::text(&old), crate::text(&new)];
        let rounds = setting.count(5, 1);
        let mut costs = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            costs[0].push(cost(setting.deadheat(), &["compare", files[0], files[1]]));
            let words = ["compare", "--compat", "benchmarks", files[0], files[1]];
            costs[1].push(cost(setting.deadheat(), &words));
        }
        for (place, tool) in ["`deadheat compare`", "`deadheat compare --compat`"]
            .iter()
            .enumerate()
        {
            let seconds: Vec<f64> = costs[place].iter().map(|cost| cost.wall).collect();
            let peak = |costs: &[Cost]| median(costs.iter().map(|cost| cost.peak_mib));
            let rate: Vec<f64> = seconds.iter().map(|s| s / rows as f64 * 1e6).collect();
            let _ = writeln!(
                text,
                "| {rows} | {tool} | {rounds} | {} | {} | {} |",
                spread(&seconds, 3),
                up(peak(&costs[place]), 1),
                spread(&rate, 2),
            );
            rates[place].push(median(rate));
        }
        let _ = (fs::remove_file(&old), fs::remove_file(&new));
    }
    text += "\n";
    let bars = ["", " --compat"].iter().zip(&rates).map(|(flag, rates)| {
        let grown = rates[2] / rates[1];
        Bar::at_most(
            format!("compare{flag}: time per row at ten times as many rows, beside that before"),
            grown,
            1.5,
            2,
            "",
        )
    });
    Section {
        bars: bars.collect(),
        text,
    }
}
