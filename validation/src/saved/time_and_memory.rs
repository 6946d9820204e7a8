//! The time and the memory that two files take.

use std::fmt::Write as _;
use std::fs;

use deadheat_validation::bars::{Bar, Section, spread, up};
use deadheat_validation::google_compare::COMPARE;
use deadheat_validation::process::{Cost, cost, median, ratio};

use crate::Setting;
use deadheat_validation::google_benchmark_files::Shape;

pub fn section(setting: &Setting) -> Section {
    let mut text = "## Time and memory\n\nTwo files of Google Benchmark's JSON with aggregates, from launch to end, the output thrown \
                    away; median (range), the tools taking turns. `compare.py` is Debian's. Ratios are of the two in the same round.\n\n\
                    | files | tool | rounds | seconds | peak MiB | `compare.py` takes so many times as long |\n\
                    | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let mut bars = Vec::new();
    for (benchmarks, repetitions, bar_s, bar_mib, rounds, of_peer) in [
        (
            200,
            10,
            0.03,
            None,
            setting.count(20, 3),
            setting.count(5, 1),
        ),
        (
            2000,
            30,
            0.5,
            Some(250.0),
            setting.count(10, 2),
            setting.count(1, 0),
        ),
    ] {
        let shape = |seed, slower| Shape {
            benchmarks,
            repetitions,
            slower,
            ties: false,
            seed,
        };
        let old = setting.file(shape(1, 0.0), "old.json");
        let new = setting.file(shape(2, 0.05), "new.json");
        let files = [crate::text(&old), crate::text(&new)];
        let mut plain = Vec::new();
        let mut compat = Vec::new();
        let mut peer = Vec::new();
        for round in 0..rounds {
            plain.push(cost(setting.deadheat(), &["compare", files[0], files[1]]));
            let words = ["compare", "--compat", "benchmarks", files[0], files[1]];
            compat.push(cost(setting.deadheat(), &words));
            if setting.peer && round < of_peer {
                let words = [COMPARE, "benchmarks", files[0], files[1]];
                peer.push(cost("python3", &words));
            }
        }
        let size = fs::metadata(&old).map_or(0, |about| about.len()) as f64 / 1e6;
        let name = format!(
            "{benchmarks} × {repetitions}, {} rows and {size:.1} MB each",
            shape(1, 0.0).rows()
        );
        let seconds = |costs: &[Cost]| costs.iter().map(|cost| cost.wall).collect::<Vec<f64>>();
        let peak = |costs: &[Cost]| median(costs.iter().map(|cost| cost.peak_mib));
        for (tool, flag, costs) in [
            ("`deadheat compare`", "", &plain),
            ("`deadheat compare --compat`", " --compat", &compat),
        ] {
            let times = match peer.is_empty() {
                true => "-".to_owned(),
                false => ratio(&seconds(&peer), &seconds(costs)),
            };
            let digits = if benchmarks < 1000 { 4 } else { 3 };
            let _ = writeln!(
                text,
                "| {name} | {tool} | {rounds} | {} | {} | {times} |",
                spread(&seconds(costs), digits),
                up(peak(costs), 1),
            );
            let what = format!("compare{flag}, {benchmarks} × {repetitions}, median");
            bars.push(Bar::at_most(&what, median(seconds(costs)), bar_s, 4, "s"));
            if let Some(bar) = bar_mib {
                let measured = peak(costs) * 1024.0 * 1024.0 / 1e6;
                bars.push(Bar::at_most(
                    format!("{what}: memory"),
                    measured,
                    bar,
                    1,
                    "MB",
                ));
            }
        }
        if !peer.is_empty() {
            let _ = writeln!(
                text,
                "| {name} | `compare.py` | {} | {} | {} | 1 |",
                peer.len(),
                spread(&seconds(&peer), 2),
                up(peak(&peer), 1),
            );
        }
    }
    if !setting.peer {
        text += "\n`compare.py` does not run here (Debian's libbenchmark-tools, scipy).\n";
    }
    text += "\n";
    Section { text, bars }
}
