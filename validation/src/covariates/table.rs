//! The table of covariates: every one of them in every cell, those included
//! that are of no use.

use std::fmt::Write as _;

use deadheat_validation::bars::Section;
use deadheat_validation::load::Load;
use deadheat_validation::machine::cores;

use crate::Setting;
use crate::explained::{COVARIATES, Cell, Explained, KEPT, Needs, Use};
use crate::readings::Source;
use crate::stream::{Costs, Function, MIB, Probes, Replicate, Work, recorded};

/// Of the blocks' orders and of what is drawn anew.
const SEED: u64 = 29;
const REPLICATES: usize = 10;
/// Calls that make a sample of 100 ms.
const TOGETHER: usize = 5;

/// A function that is called.
struct Called {
    name: &'static str,
    ns: f64,
    parts: usize,
    probes: Probes,
    /// Calls in a replicate; in a trial.
    calls: (usize, usize),
}

/// Probes take some 5 % of a long function around it and 2 % within, and are as
/// short as a clock reads well in a short one.
const CALLED: [Called; 2] = [
    Called {
        name: "20 ms",
        ns: 20e6,
        parts: 8,
        probes: Probes {
            around: 400_000,
            within: 40_000,
        },
        calls: (120, 20),
    },
    Called {
        name: "25 µs",
        ns: 25e3,
        parts: 4,
        probes: Probes {
            around: 1_000,
            within: 1_000,
        },
        calls: (2_000, 200),
    },
];

const LOADS: [&str; 2] = ["idle", "loaded"];

/// One function, idle and loaded.
struct Measured {
    name: String,
    cells: Vec<Cell>,
    costs: Vec<Costs>,
}

pub fn section(setting: &Setting) -> Section {
    let mut measured = Vec::new();
    for called in &CALLED {
        for work in [Work::Registers, Work::Memory] {
            eprintln!("  {}, {}", called.name, work.name());
            let function = Function::lasting(work, called.ns, called.parts, Some(called.probes));
            let calls = setting.count(called.calls.0, called.calls.1);
            let record = || recorded(&function, REPLICATES, calls);
            let idle = record();
            let loaded = {
                let _load = Load::on_every_core();
                record()
            };
            let (replicates, costs): (Vec<Vec<Replicate>>, Vec<Costs>) =
                [idle, loaded].into_iter().unzip();
            let cells = |together: usize| {
                let cell = |one: &Vec<Replicate>| Cell::new(one, together, called.parts, SEED);
                replicates.iter().map(cell).collect()
            };
            measured.push(Measured {
                name: format!("{}, {}", called.name, work.name()),
                cells: cells(1),
                costs: costs.clone(),
            });
            if called.ns * TOGETHER as f64 >= 1e8 {
                measured.push(Measured {
                    name: format!("100 ms, {}", work.name()),
                    cells: cells(TOGETHER),
                    costs,
                });
            }
        }
    }
    let mut text = introduction(&measured);
    let mut winners = Vec::new();
    for one in &measured {
        text += &table(one, &mut winners);
    }
    text += &match winners.is_empty() {
        true => {
            "By the rule nothing is kept but the waiting that is taken out already.\n\n".to_owned()
        }
        false => format!(
            "By the rule these would be kept: {}.\n\n",
            winners.join("; ")
        ),
    };
    Section {
        text,
        bars: Vec::new(),
    }
}

fn introduction(measured: &[Measured]) -> String {
    let mut text = format!(
        "## What each covariate explains\n\n\
         The rule, fixed before the data: a covariate is kept where it lowers the standard error of a race at \
         equal time by a fifth or more, what it costs counted. Its coefficient is fitted to the effects of \
         the blocks of one half of the replicates and taken off those of the other; the ratio is of the standard \
         errors of both, out of sample, over those without, times √(time of a block with it over that \
         without). Behind it stand the bounds within which 95 % of ratios lie when the blocks are drawn anew; \
         where they reach 1 the ratio may be chance, and nothing is kept for it.\n\n\
         Functions are raced against themselves: calls in a row on one core, {REPLICATES} replicates, blocks in an order \
         drawn by a coin. `registers` is a chain of multiplications, `memory` a chain of loads from {MIB} MiB. A call \
         of 20 ms is done in eight parts and one of 25 µs in four, with probes before the first, after the last and \
         between any two of them: 400,000, 400,000 and 40,000 steps of the same multiplications, of the short \
         function 1,000 each. Only a function that calls itself so, or is interrupted by a timer, can have probes within. 100 ms are \
         five calls taken for one sample. Loaded means a busy loop for each of the {} cores. Effects are of \
         wall time with the waiting for a core taken out, except where it says otherwise; the correlation is \
         Spearman's with them, of what is left out with their size. A dash means that it never varied, or that no data would remain.\n\n\
         | function | | blocks | waiting, % of wall time | scatter of blocks, %: wall time as it is | waiting taken \
         out | CPU time |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        cores()
    );
    for one in measured {
        for (load, cell) in LOADS.iter().zip(&one.cells) {
            let [wall, ran, cpu] = cell.scatter().map(|scatter| scatter * 100.0);
            let _ = writeln!(
                text,
                "| {} of {:.4} ms | {load} | {} | {:.1} | {wall:.3} | {ran:.3} | {cpu:.3} |",
                one.name,
                cell.sample_ns() / 1e6,
                cell.len(),
                cell.waiting() * 100.0,
            );
        }
    }
    text += "\n| source | two readings, µs, idle | loaded |\n| --- | --- | --- |\n";
    let costs = &measured[0].costs;
    for source in Source::ALL {
        let told = |costs: &Costs| match cost(costs, source) {
            Ok(ns) => format!("{:.2}", ns / 1e3),
            Err(why) => format!("not readable: {why}"),
        };
        let anyway = if source.is_read_anyway() {
            ", read by every race"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "| {}{anyway} | {} | {} |",
            source.name(),
            told(&costs[0]),
            told(&costs[1])
        );
    }
    text + "\n"
}

fn table(measured: &Measured, winners: &mut Vec<String>) -> String {
    let mut text = format!(
        "### {}\n\n\
         | covariate | correlation, idle | standard error, idle | correlation, loaded | standard error, loaded | \
         readable |\n| --- | --- | --- | --- | --- | --- |\n",
        measured.name
    );
    for covariate in &COVARIATES {
        let mut cells = String::new();
        let mut readable: f64 = 1.0;
        let loads = LOADS.iter().zip(measured.cells.iter().zip(&measured.costs));
        for (load, (cell, costs)) in loads {
            let cost = match covariate.needs {
                Needs::Read(source) => cost(costs, source).ok(),
                Needs::Probes(_) => None,
            };
            let explained = cell.explained(covariate, cost, SEED);
            readable = readable.min(explained.readable);
            let built_in = matches!(covariate.used, Use::TakenOut);
            if !built_in && is_kept(&explained) {
                winners.push(format!("{} ({}, {load})", covariate.name, measured.name));
            }
            cells += &told(&explained);
        }
        let readable = match readable > 0.0 {
            true => format!("{:.0} %", readable * 100.0),
            false => "not readable".to_owned(),
        };
        let _ = writeln!(text, "| {} |{cells} {readable} |", covariate.name);
    }
    text + "\n"
}

fn is_kept(explained: &Explained) -> bool {
    explained
        .ratio
        .is_some_and(|(ratio, _, high)| ratio <= KEPT && high < 1.0)
}

fn told(explained: &Explained) -> String {
    let correlation = match explained.correlation {
        Some(correlation) => format!("{correlation:+.2}"),
        None => "–".to_owned(),
    };
    let ratio = match explained.ratio {
        Some((ratio, low, high)) => format!("{ratio:.3} ({low:.2} to {high:.2})"),
        None => "–".to_owned(),
    };
    let ratio = if is_kept(explained) {
        format!("**{ratio}**")
    } else {
        ratio
    };
    format!(" {correlation} | {ratio} |")
}

fn cost(costs: &Costs, source: Source) -> Result<f64, String> {
    let found = costs.iter().find(|(known, _)| *known == source);
    found.map_or_else(|| Err("not tried".to_owned()), |(_, cost)| cost.clone())
}
