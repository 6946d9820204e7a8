//! Races side by side on one core: false verdicts, power, interval coverage and bias, next to turns.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin side_by_side
//! ```
//!
//! Appends one line per race to `validation/data/side_by_side.jsonl`, continues where it stopped, and
//! writes `docs/validation/side_by_side.md` from all lines. Parts, for `--only`: `aa`, `power`, `size`,
//! `bias`, `pass` and `peers`; further words narrow them down (`--only "aa idle auto gzip"`). `--races N`
//! races each row at most N times, `--minutes N` stops in time, `--page` only writes the page, `--fresh`
//! forgets what was measured, and `--quick` tries everything in small numbers and leaves nothing.
//! `--deadheat PATH` races with that program instead of building one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::time::Instant;

use deadheat_validation::bars::Section;
use deadheat_validation::kept::{Kept, Sittings, Wanted};
use deadheat_validation::load::Load;
use deadheat_validation::page::{Page, Question};
use deadheat_validation::programs::{built, text};
use deadheat_validation::progress::Progress;
use deadheat_validation::workshop::Workshop;
use serde_json::Value;

use crate::observation::Observation;

mod against_itself;
mod bias;
mod commands;
mod known;
mod observation;
mod pass;
mod peers;

/// The name of the table and of its page.
const TABLE: &str = "side_by_side";

/// Programs and folders of a sitting that measures.
pub struct Setting {
    workshop: Workshop,
    /// The program that does a counted number of steps.
    busy: PathBuf,
    /// The folder of the inputs.
    inputs: PathBuf,
}

/// One race that is repeated.
pub struct Row {
    /// The name in the data, which begins with the part of the page.
    name: String,
    /// The number of races wanted.
    races: usize,
    is_loaded: bool,
    how: How,
}

/// The tool that races.
pub enum How {
    /// `deadheat run` with these options.
    Deadheat {
        options: Vec<String>,
        commands: [String; 2],
    },
    /// hyperfine and Welch's test.
    Hyperfine(String),
    /// `pyperf command` and `pyperf compare_to`.
    Pyperf(String),
}

/// Other work on the machine.
const WEATHERS: [(&str, bool); 2] = [("idle", false), ("loaded", true)];

fn main() {
    let (wanted, deadheat) = options();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository")
        .to_owned();
    let mut kept = Kept::open(&root, TABLE, &wanted, Sittings::OneMachine);
    if kept.goes_on() {
        let workshop = match deadheat {
            Some(path) => Workshop::with(TABLE, wanted.quick, &path),
            None => Workshop::open(TABLE, wanted.quick),
        };
        let words = ["build", "--release", "--bin", "busy"];
        let setting = Setting {
            busy: built(&root.join("validation/peers"), &words),
            inputs: workshop.scratched("inputs"),
            workshop,
        };
        eprintln!("writing the inputs ...");
        commands::write_inputs(&setting.inputs);
        measure(&setting, &wanted, &mut kept);
    }
    let facts = match kept.rows().is_empty() {
        true => "Nothing has been measured yet.".to_owned(),
        false => kept.facts(),
    };
    let page = Page {
        title: "Races side by side on one core",
        program: TABLE,
        facts: &facts,
        quick: wanted.quick,
    };
    let questions: [Question<Kept>; 6] = [
        ("commands against themselves", against_itself::section),
        ("power", known::power_section),
        ("sizes", known::size_section),
        ("bias", bias::section),
        ("python3 -c pass", pass::section),
        ("peers", peers::section),
    ];
    page.write(&root, &kept, &questions);
}

/// The options of every long table, and the program that races.
fn options() -> (Wanted, Option<PathBuf>) {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut deadheat = None;
    if let Some(at) = words.iter().position(|word| word == "--deadheat") {
        let taken: Vec<String> = words.drain(at..(at + 2).min(words.len())).collect();
        deadheat = taken.get(1).map(PathBuf::from);
        if deadheat.is_none() {
            eprintln!("--deadheat takes a path");
            exit(2);
        }
    }
    let wanted = Wanted::read(words.into_iter()).unwrap_or_else(|problem| {
        eprintln!("{problem}, and --deadheat PATH");
        exit(2);
    });
    (wanted, deadheat)
}

/// Races all rows in rounds, so that every row meets the same hours.
fn measure(setting: &Setting, wanted: &Wanted, kept: &mut Kept) {
    let mut rows = against_itself::rows(setting);
    rows.extend(known::rows(setting));
    rows.extend(pass::rows());
    rows.extend(peers::rows(setting));
    rows.extend(bias::rows(setting, wanted, kept));
    rows.retain(|row| wanted.fits(&row.name));
    if rows.is_empty() {
        eprintln!("no row holds these words");
        exit(2);
    }
    for row in &mut rows {
        row.races = wanted.of(setting.workshop.count(row.races, 1));
    }
    let made = |kept: &Kept, row: &Row| kept.count(&[("row", row.name.as_str())]);
    let left = rows
        .iter()
        .map(|row| row.races.saturating_sub(made(kept, row)));
    let mut progress = Progress::over(left.sum());
    let rounds = rows.iter().map(|row| row.races).max().unwrap_or(0);
    for round in 0..rounds {
        for (_, is_loaded) in WEATHERS {
            let is_due = |row: &&Row| {
                row.is_loaded == is_loaded && round < row.races && made(kept, row) <= round
            };
            let due: Vec<&Row> = rows.iter().filter(is_due).collect();
            let _load = (is_loaded && !due.is_empty()).then(Load::settled_on_every_core);
            for row in due {
                if !kept.goes_on() {
                    return;
                }
                let outcome = setting.race(&row.how, round);
                let line = Observation::kept(&outcome, &row.name);
                progress.made(&line.to_string());
                kept.add(line);
            }
        }
    }
}

impl Setting {
    /// Races once. `Err` says why there is no answer.
    fn race(&self, how: &How, round: usize) -> Result<Observation, String> {
        match how {
            How::Deadheat { options, commands } => self.race_commands(options, commands, round),
            How::Hyperfine(line) => peers::hyperfine(self, line),
            How::Pyperf(line) => peers::pyperf(self, line),
        }
    }

    fn race_commands(
        &self,
        options: &[String],
        commands: &[String; 2],
        round: usize,
    ) -> Result<Observation, String> {
        let save = self.workshop.scratched("race.jsonl");
        let _ = std::fs::remove_file(&save);
        let seed = round.to_string();
        let began = Instant::now();
        let output = Command::new(&self.workshop.deadheat)
            .args(["run", "-q", "--json", "--seed", &seed])
            .args(["--save", text(&save)])
            .args(options)
            .arg("--")
            .args(commands)
            .current_dir(&self.inputs)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("deadheat: {error}"))?;
        let seconds = began.elapsed().as_secs_f64();
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {}", output.status, said.trim()));
        }
        let answer: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("the answer is not JSON: {error}"))?;
        Observation::from_answer(&answer, seconds)
    }
}

impl Row {
    fn new(name: String, races: usize, is_loaded: bool, how: How) -> Self {
        Self {
            name,
            races,
            is_loaded,
            how,
        }
    }

    /// Races by deadheat with these options.
    fn deadheat(
        name: String,
        races: usize,
        is_loaded: bool,
        options: &[&str],
        commands: [String; 2],
    ) -> Self {
        let options = options.iter().map(|word| (*word).to_owned()).collect();
        Self::new(name, races, is_loaded, How::Deadheat { options, commands })
    }
}

/// The races of a row that came to an answer.
fn observed(kept: &Kept, row: &str) -> Vec<Observation> {
    let lines = kept.matching(&[("row", row)]).cloned().collect::<Vec<_>>();
    lines.iter().filter_map(Observation::read).collect()
}

/// The errors of races whose row begins with these words.
fn errors<'k>(kept: &'k Kept, part: &str) -> Vec<&'k str> {
    let of_part = |line: &&Value| {
        let row = line["row"].as_str();
        row.is_some_and(|row| row.starts_with(part))
    };
    let lines = kept.rows().iter().filter(of_part);
    lines.filter_map(|line| line["error"].as_str()).collect()
}

/// The end of a section: failed races, if any.
fn told_errors(kept: &Kept, part: &str) -> String {
    let errors = errors(kept, part);
    match errors.first() {
        None => String::new(),
        Some(first) => format!(
            "{} races failed and are counted nowhere above; the first: `{}`\n\n",
            errors.len(),
            first.replace(['`', '\n', '|'], " ")
        ),
    }
}

/// A section of which nothing was measured.
fn not_measured(heading: &str) -> Section {
    Section {
        text: format!("## {heading}\n\nNot measured yet.\n\n"),
        bars: Vec::new(),
    }
}
