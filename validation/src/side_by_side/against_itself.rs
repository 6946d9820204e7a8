//! Commands against themselves: every call of faster or slower is wrong.

use crate::commands::{CASES, installed};
use crate::observation::{Chosen, Observation, Verdict};
use crate::{Row, Setting, WEATHERS, not_measured, observed, told_errors};
use deadheat_validation::prelude::*;

/// Races of all commands together, idle as well as loaded.
const RACES: usize = 400;
/// The same in turns, which are there for comparison.
const RACES_IN_TURNS: usize = 200;

const ARRANGEMENTS: [(&str, usize); 2] = [("auto", RACES), ("turns", RACES_IN_TURNS)];

/// Seconds of race time that a dead heat may take.
pub const SOON: f64 = 5.0;
/// The share of dead heats in that time.
const DEAD_HEATS: f64 = 0.9;

pub fn rows(setting: &Setting) -> Vec<Row> {
    let commands = installed(&setting.inputs);
    let mut rows = Vec::new();
    for (weather, is_loaded) in WEATHERS {
        for (arrangement, races) in ARRANGEMENTS {
            for (name, line) in &commands {
                rows.push(Row::deadheat(
                    row(weather, arrangement, name),
                    races.div_ceil(commands.len()),
                    is_loaded,
                    &["--arrangement", arrangement],
                    [line.clone(), line.clone()],
                ));
            }
        }
    }
    rows
}

fn row(weather: &str, arrangement: &str, command: &str) -> String {
    format!("aa {weather} {arrangement} {command}")
}

struct Counts {
    races: usize,
    side_by_side: usize,
    doubts: usize,
    called: usize,
    dead_heats: usize,
    soon: usize,
    whole_soon: usize,
    seconds: f64,
}

impl Counts {
    /// `None` for no races.
    fn new(races: &[Observation]) -> Option<Self> {
        let count = |is: &dyn Fn(&Observation) -> bool| races.iter().filter(|one| is(one)).count();
        let is_dead_heat = |one: &Observation| one.verdict == Verdict::DeadHeat;
        (!races.is_empty()).then(|| Self {
            races: races.len(),
            side_by_side: count(&Observation::is_side_by_side),
            doubts: count(&|one| one.chosen == Chosen::SideBySideWithDoubt),
            called: count(&Observation::is_called),
            dead_heats: count(&is_dead_heat),
            soon: count(&|one| is_dead_heat(one) && one.race_seconds <= SOON),
            whole_soon: count(&|one| is_dead_heat(one) && one.whole_seconds <= SOON),
            seconds: median(races.iter().map(|one| one.whole_seconds)),
        })
    }

    fn open(&self) -> usize {
        self.races - self.called - self.dead_heats
    }

    fn cells(&self) -> String {
        format!(
            "{} | {} | {} | {} | {} | {} | {}",
            self.races,
            self.side_by_side,
            self.called,
            self.dead_heats,
            self.soon,
            self.open(),
            up(self.seconds, 1)
        )
    }
}

const COLUMNS: &str = "races | side by side | called different | dead heats | within 5 s | too close to call | \
     median seconds";

pub fn section(kept: &Kept) -> Section {
    let mut bars = Vec::new();
    let mut tables = String::new();
    let mut all = String::new();
    let mut missing: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    for (weather, _) in WEATHERS {
        let _ = writeln!(
            tables,
            "### Each command, {weather}\n\n\
             | command | {COLUMNS} | in turns: races | called different | dead heats | within 5 s | too close to call | median seconds |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        );
        let mut pooled: [Vec<Observation>; 2] = [Vec::new(), Vec::new()];
        for case in &CASES {
            let races = ARRANGEMENTS
                .map(|(arrangement, _)| observed(kept, &row(weather, arrangement, case.name)));
            if races.iter().any(|races| !races.is_empty()) {
                missing.retain(|name| *name != case.name);
                let [auto, turns] = [0, 1].map(|at| Counts::new(&races[at]));
                let auto = auto.map_or("– | – | – | – | – | – | –".to_owned(), |auto| auto.cells());
                let turns = turns.map_or("– | – | – | – | – | –".to_owned(), |turns| {
                    // Without the column that says how many raced side by side.
                    let cells = turns.cells();
                    let cells: Vec<&str> = cells.split(" | ").collect();
                    [&cells[..1], &cells[2..]].concat().join(" | ")
                });
                let _ = writeln!(tables, "| {} | {auto} | {turns} |", case.name);
            }
            for (pooled, races) in pooled.iter_mut().zip(races) {
                pooled.extend(races);
            }
        }
        tables.push('\n');
        for ((arrangement, _), races) in ARRANGEMENTS.iter().zip(&pooled) {
            let Some(counts) = Counts::new(races) else {
                continue;
            };
            let _ = writeln!(
                all,
                "| {weather}, {arrangement} | {} | {} | {} |",
                counts.cells(),
                counts.whole_soon,
                counts.doubts
            );
            if *arrangement == "auto" {
                let what = format!("a command against itself, {weather}");
                bars.push(Bar::false_verdicts(
                    format!("{what}: called faster or slower"),
                    counts.called,
                    counts.races,
                ));
                bars.push(Bar::share(
                    format!("{what}: dead heats within 5 s of race time"),
                    counts.soon,
                    counts.races,
                    DEAD_HEATS,
                ));
            }
        }
    }
    let heading = "Commands against themselves";
    if all.is_empty() {
        return not_measured(heading);
    }
    let mut text = format!(
        "## {heading}\n\n\
         Each command races against itself at default settings, so every verdict of faster or \
         slower is a false positive. *Loaded* means that a busy loop runs on every core. *Auto* is \
         the default: deadheat chooses the arrangement, side by side or in turns, in a calibration \
         run. The columns are:\n\n\
         - *side by side*: races in which deadheat chose side by side.\n\
         - *within 5 s*: dead heats with a race time of at most 5 s, as deadheat reports it.\n\
         - *median seconds*: the time of the whole process.\n\
         - *within 5 s from start to exit*: dead heats for which the whole process took at most 5 \
         s.\n\
         - *doubts*: races side by side with a warning. deadheat warns if a check with the \
         commands in turns has another result than the race.\n\n\
         | what | {COLUMNS} | within 5 s from start to exit | doubts |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n{all}\n"
    );
    text += &told_errors(kept, "aa ");
    text += &tables;
    text += "### The commands\n\nThe program of this page writes the inputs of the commands to the \
    folder `{dir}`, from a fixed seed. `{python}` is the interpreter that `python3` starts, \
    without a script such as pyenv's in front.\n\n";
    for case in CASES.iter().filter(|case| !missing.contains(&case.name)) {
        let _ = writeln!(text, "- {}: `{}`", case.name, case.line);
    }
    text.push('\n');
    if missing.is_empty() {
        text += "All commands in the list above were installed, so all of them raced.\n\n";
    } else {
        let _ = writeln!(
            text,
            "Not raced, because not installed or not requested: {}.\n",
            missing.join(", ")
        );
    }
    Section { text, bars }
}
