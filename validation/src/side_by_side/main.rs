//! Races side by side on one core: false verdicts, power, interval coverage and bias, next to
//! turns.
//!
//! Appends one line per race to `validation/data/side_by_side.jsonl`, continues where it stopped,
//! and writes `docs/validation/side_by_side.md` from all lines.

use crate::observation::Observation;
use deadheat_validation::prelude::*;

mod against_itself;
mod bias;
mod commands;
mod known;
mod observation;
mod pass;

/// The name of the table and of its page.
const TABLE: &str = "side_by_side";

pub struct Setting {
    workshop: Workshop,
    busy: PathBuf,
    inputs: PathBuf,
}

pub struct Row {
    name: String,
    races: usize,
    is_loaded: bool,
    options: Vec<String>,
    commands: [String; 2],
}

const WEATHERS: [(&str, bool); 2] = [("idle", false), ("loaded", true)];

fn main() {
    let wanted = Wanted::parts_from_command_line();
    let root = repository();
    let mut kept = Kept::open(root, TABLE, &wanted, Sittings::OneMachine);
    if kept.goes_on() {
        let workshop = Workshop::open(TABLE, wanted.quick);
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
    let questions: [Question<Kept>; 5] = [
        ("commands against themselves", against_itself::section),
        ("power", known::power_section),
        ("sizes", known::size_section),
        ("bias", bias::section),
        ("python3 -c pass", pass::section),
    ];
    page.write(root, &kept, &questions);
}

/// Races all rows in rounds, so that every row meets the same hours.
fn measure(setting: &Setting, wanted: &Wanted, kept: &mut Kept) {
    let mut rows = against_itself::rows(setting);
    rows.extend(known::rows(setting));
    rows.extend(pass::rows());
    rows.extend(bias::rows(setting, wanted, kept));
    rows.retain(|row| wanted.fits(&row.name));
    if rows.is_empty() {
        eprintln!("no row holds these words");
        exit(2);
    }
    let wish = |row: &Row| Wish {
        cell: (),
        keys: vec![("row", row.name.clone())],
        loaded: row.is_loaded,
        times: setting.workshop.count(row.races, 1),
    };
    let wishes = rows.iter().map(|row| {
        let Wish { keys, loaded, times, .. } = wish(row).limited(wanted);
        Wish { cell: row, keys, loaded, times }
    });
    let wishes: Vec<Wish<&Row>> = wishes.collect();
    let rounds = wishes.iter().map(|wish| wish.times).max().unwrap_or(0);
    sit(kept, &wishes, rounds, &mut SplitMix64::new(now_ns()), |row, round, _| {
        Observation::kept(&setting.race(row, round), &row.name)
    });
}

impl Setting {
    /// Races once. `Err` says why there is no answer.
    fn race(&self, row: &Row, round: usize) -> Result<Observation, String> {
        let save = self.workshop.scratched("race.jsonl");
        let _ = std::fs::remove_file(&save);
        let seed = round.to_string();
        let began = Instant::now();
        let output = Command::new(&self.workshop.deadheat)
            .args(["run", "-q", "--json", "--seed", &seed])
            .args(["--save", text(&save)])
            .args(&row.options)
            .arg("--")
            .args(&row.commands)
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
    fn deadheat(
        name: String,
        races: usize,
        is_loaded: bool,
        options: &[&str],
        commands: [String; 2],
    ) -> Self {
        let options = options.iter().map(|word| (*word).to_owned()).collect();
        Self { name, races, is_loaded, options, commands }
    }
}

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

fn not_measured(heading: &str) -> Section {
    Section { text: format!("## {heading}\n\nNot measured yet.\n\n"), bars: Vec::new() }
}
