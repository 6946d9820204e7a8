//! `python3 -c pass` with every core taken.

use crate::commands::python;
use crate::observation::{Observation, Verdict};
use crate::{Row, not_measured, observed, told_errors};
use deadheat_validation::prelude::*;

const RACES: usize = 20;
/// Seconds to the end of a race, in the median.
const SECONDS: f64 = 3.0;

const ARRANGEMENTS: [&str; 2] = ["auto", "turns"];

pub fn rows() -> Vec<Row> {
    let Some(python) = python() else {
        return Vec::new();
    };
    let command = format!("{python} -c pass");
    ARRANGEMENTS
        .iter()
        .map(|arrangement| {
            Row::deadheat(
                row(arrangement),
                RACES,
                true,
                &["--arrangement", arrangement],
                [command.clone(), command.clone()],
            )
        })
        .collect()
}

fn row(arrangement: &str) -> String {
    format!("pass loaded {arrangement}")
}

pub fn section(kept: &Kept) -> Section {
    let heading = "`python3 -c pass`, loaded";
    let mut table = String::new();
    let mut bars = Vec::new();
    for arrangement in ARRANGEMENTS {
        let races = observed(kept, &row(arrangement));
        if races.is_empty() {
            continue;
        }
        let count = |is: &dyn Fn(&Observation) -> bool| races.iter().filter(|one| is(one)).count();
        let seconds: Vec<f64> = races.iter().map(|one| one.whole_seconds).collect();
        let _ = writeln!(
            table,
            "| {arrangement} | {} | {} | {} | {} | {} | {} |",
            races.len(),
            count(&Observation::is_side_by_side),
            count(&Observation::is_called),
            count(&|one| one.verdict == Verdict::DeadHeat),
            count(&|one| one.verdict == Verdict::Open),
            spread(&seconds, 1)
        );
        if arrangement == "auto" {
            bars.push(Bar::at_most(
                "`python3 -c pass`, loaded: median time from start to exit",
                median(seconds),
                SECONDS,
                1,
                "s",
            ));
        }
    }
    if table.is_empty() {
        return not_measured(heading);
    }
    let text = format!(
        "## {heading}\n\n\
         The command races against itself at default settings, so every verdict of faster or \
         slower is wrong. A busy loop runs on every core. The column *seconds* has the time of the \
         whole process, median (range).\n\n\
         | arrangement | races | side by side | called different | dead heats | too close to call \
         | seconds |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n{table}\n{}",
        told_errors(kept, "pass ")
    );
    Section { text, bars }
}
