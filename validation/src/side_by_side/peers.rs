//! The same commands against themselves, by hyperfine with Welch's test and by pyperf.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::Instant;

use deadheat_stats::welch;
use deadheat_validation::bars::Section;
use deadheat_validation::kept::Kept;
use deadheat_validation::process::median;
use deadheat_validation::programs::{text, text_of};
use deadheat_validation::python::compared;
use deadheat_validation::told::{Call, percent};
use serde_json::Value;

use crate::commands::{installed, is_installed, python};
use crate::observation::{Chosen, Observation, Verdict};
use crate::{How, Row, Setting, WEATHERS, told_errors};

/// Races of all commands together, idle as well as loaded.
const RACES: usize = 100;
const ALPHA: f64 = 0.05;

const TOOLS: [&str; 2] = ["hyperfine", "pyperf"];

pub fn rows(setting: &Setting) -> Vec<Row> {
    let mut rows = Vec::new();
    let commands = installed(&setting.inputs);
    let is_there = [
        is_installed("hyperfine"),
        python().is_some_and(|python| {
            let mut command = Command::new(python);
            text_of(command.args(["-c", "import pyperf"]), &[0]).is_ok()
        }),
    ];
    for (weather, is_loaded) in WEATHERS {
        for (tool, is_there) in TOOLS.iter().zip(is_there) {
            for (name, line) in commands.iter().filter(|_| is_there) {
                let how = match *tool {
                    "hyperfine" => How::Hyperfine(line.clone()),
                    _ => How::Pyperf(line.clone()),
                };
                let races = RACES.div_ceil(commands.len());
                rows.push(Row::new(
                    format!("{}{name}", prefix(tool, weather)),
                    races,
                    is_loaded,
                    how,
                ));
            }
        }
    }
    rows
}

fn prefix(tool: &str, weather: &str) -> String {
    format!("peers {tool} {weather} ")
}

/// hyperfine over a command and itself, and Welch's test over the times it exports.
pub fn hyperfine(setting: &Setting, line: &str) -> Result<Observation, String> {
    let file = setting.workshop.scratched("times.json");
    let began = Instant::now();
    let mut command = Command::new("hyperfine");
    command.args(["-N", "--style", "none", "--export-json", text(&file)]);
    text_of(
        command.args([line, line]).current_dir(&setting.inputs),
        &[0],
    )?;
    let seconds = began.elapsed().as_secs_f64();
    let text = fs::read(&file).map_err(|error| format!("times.json: {error}"))?;
    let answer: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let times = |at: usize| {
        let list = answer["results"][at]["times"].as_array();
        let times: Option<Vec<f64>> = list?.iter().map(Value::as_f64).collect();
        times.filter(|times| !times.is_empty())
    };
    let (first, second) = times(0).zip(times(1)).ok_or("times.json without times")?;
    let test = welch(&first, &second).ok_or("times without any spread")?;
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let percent = percent(mean(&second) / mean(&first));
    Ok(told(
        Call::of(test.p_value() < ALPHA, percent),
        percent,
        seconds,
    ))
}

/// `pyperf command` of a command, twice, and `pyperf compare_to`.
pub fn pyperf(setting: &Setting, line: &str) -> Result<Observation, String> {
    let python = python().ok_or("python3 is missing")?;
    let files = ["one.json", "two.json"].map(|name| setting.workshop.scratched(name));
    let began = Instant::now();
    for file in &files {
        let _ = fs::remove_file(file);
        let mut command = Command::new(&python);
        command.args(["-m", "pyperf", "command", "-o", text(file), "--"]);
        // pyperf takes words; the shell splits the line and is replaced by the command.
        command.args(["sh", "-c", &format!("exec {line}")]);
        text_of(command.current_dir(&setting.inputs), &[0])?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let answer = compared(python.as_ref(), &files)?;
    Ok(told(
        answer.called.unwrap_or(Call::Neither),
        answer.percent.unwrap_or(0.0),
        seconds,
    ))
}

fn told(called: Call, percent: f64, seconds: f64) -> Observation {
    Observation {
        verdict: match called {
            Call::Faster => Verdict::Faster,
            Call::Slower => Verdict::Slower,
            Call::Neither => Verdict::Open,
        },
        chosen: Chosen::Peer,
        percent,
        interval: None,
        race_seconds: seconds,
        whole_seconds: seconds,
    }
}

pub fn section(kept: &Kept) -> Section {
    let mut text = String::from("## Other tools\n\n");
    let mut table = String::new();
    let mut missing = Vec::new();
    for tool in TOOLS {
        let before = table.len();
        for (weather, _) in WEATHERS {
            let prefix = prefix(tool, weather);
            let mut by_command: BTreeMap<&str, Vec<Observation>> = BTreeMap::new();
            for line in kept.rows() {
                let name = line["row"]
                    .as_str()
                    .and_then(|row| row.strip_prefix(&prefix));
                if let Some((name, one)) = name.zip(Observation::read(line)) {
                    by_command.entry(name).or_default().push(one);
                }
            }
            let races: Vec<&Observation> = by_command.values().flatten().collect();
            if races.is_empty() {
                continue;
            }
            let called = races.iter().filter(|one| one.is_called()).count();
            let _ = writeln!(
                table,
                "| {tool}, {weather} | {} | {} | {called} ({:.1}%) | {:.1} |",
                by_command.len(),
                races.len(),
                called as f64 / races.len() as f64 * 100.0,
                median(races.iter().map(|one| one.whole_seconds))
            );
        }
        if table.len() == before {
            missing.push(tool);
        }
    }
    if !table.is_empty() {
        let _ = writeln!(
            text,
            "The same commands against themselves, default settings: hyperfine (`-N`) with Welch's test at 5% over the times it exports, \
             and `pyperf command` (through `sh -c`) with `pyperf compare_to`.\n\n\
             | tool | commands | races | called | median seconds |\n| --- | --- | --- | --- | --- |\n{table}"
        );
    }
    if !missing.is_empty() {
        let _ = writeln!(
            text,
            "Not measured, because not installed or not requested: {}.\n",
            missing.join(", ")
        );
    }
    text += &told_errors(kept, "peers ");
    Section {
        text,
        bars: Vec::new(),
    }
}
