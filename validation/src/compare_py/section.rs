//! The page: what was asked, and a table for each case.

use std::fmt::Write as _;

use deadheat_validation::bars::{Bar, Section, plain_spread, spread};
use deadheat_validation::binomial::binomial_interval;
use deadheat_validation::kept::Kept;
use deadheat_validation::process::median;
use serde_json::Value;

use crate::case::Case;
use crate::tally::Tally;
use crate::tool::Tool;
use crate::{REPEATS, Setting};

/// How the tools were called.
pub fn how(setting: &Setting) -> Section {
    let words = |tool: Tool| tool.arguments(Case::Itself, false).join(" ");
    let mut text = format!(
        "## How each was called\n\n\
         Executables of Google Benchmark, unchanged, compiled by `g++ -O2 -ffunction-sections`: one of everyday work \
         (`validation/builds/google.cpp`) against a build of the same bytes, and one of chains of steps \
         (`validation/builds/exact.cpp`) against a build that does exactly 1 or 5 % more of them and differs in one byte beside. \
         The tools take turns, one comparison of all benchmarks each, in an order drawn from a seed.\n\n\
         | tool | command | a row counts as different when |\n| --- | --- | --- |\n\
         | {} | `compare.py benchmarks OLD NEW {}` | its p-value of the time is below 5 %, its default |\n\
         | {} | the same and `{}` | as above |\n\
         | {} | `deadheat bench OLD NEW`, at its defaults: alpha 5 %, margin 1 % | it is called faster or slower |\n\
         | {} | the same, on executables made by `deadheat link -- g++` | as above |\n\n",
        Tool::Compare.name(),
        words(Tool::Compare),
        Tool::Interleaved.name(),
        "--benchmark_enable_random_interleaving=true",
        Tool::Bench.name(),
        Tool::Neutral.name(),
    );
    text += "The U test of `compare.py` asks for nine repetitions or more, and the manual of random interleaving for nine of 0.1 s; both \
             rows have them. Interleaving changes the order within one executable; all of OLD still runs before all of NEW. The \
             estimate of `compare.py` is the change of the medians, which it prints beside the p-value. It has no interval and no way to call two \
             builds equal: what is not different is left open.\n\n";
    for tool in Tool::ALL {
        let versions = versions(&setting.kept, tool);
        if !versions.is_empty() {
            let _ = writeln!(text, "- {}: {}", tool.name(), versions.join("; "));
        }
    }
    text += "\n";
    Section {
        text,
        bars: Vec::new(),
    }
}

/// The table of one case.
pub fn table(setting: &Setting, case: Case) -> Section {
    let truth = case.percent();
    let mut section = Section {
        text: head(case),
        bars: Vec::new(),
    };
    for tool in Tool::ALL {
        let wanted = [("case", case.key()), ("tool", tool.key())];
        let observations: Vec<&Value> = setting.kept.matching(&wanted).collect();
        let tally = Tally::of(observations.iter().copied(), truth);
        let line = match tally.rows {
            0 => unmeasured(setting, tool),
            _ => line(tool, &tally, truth, observations.len()),
        };
        let _ = writeln!(section.text, "{line}");
        if tool.is_ours() && tally.rows > 0 {
            section.bars.push(bar(tool, case, &tally));
        }
    }
    section.text += "\n";
    section
}

fn head(case: Case) -> String {
    let intervals = "intervals with the truth";
    let (title, said, different, dead_heat) = match case {
        Case::Itself => (
            "An executable against itself".to_owned(),
            "Every difference is wrong.".to_owned(),
            "called different, which is wrong | 95 % bounds | by up to, %",
            "dead heat, which is right",
        ),
        _ => (
            format!("A build that does exactly {} % more", case.percent()),
            "Every row is slower, and by as much; that it is faster or that the two are equal is wrong.".to_owned(),
            "called slower, which is right | 95 % bounds | called faster, which is wrong",
            "dead heat, which is wrong",
        ),
    };
    format!(
        "## {title}\n\n{said} The bounds are those of Clopper and Pearson; errors are in percentage points; median (range).\n\n\
         | tool | speaks of | repeats | rows | {different} | {dead_heat} | left open | median error | {intervals} | seconds for all rows |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
}

fn line(tool: Tool, tally: &Tally, truth: f64, repeats: usize) -> String {
    let so_far = match repeats >= REPEATS {
        true => repeats.to_string(),
        false => format!("{repeats} of {REPEATS} so far"),
    };
    let (counted, beside) = match truth {
        0.0 => {
            let by_up_to = match tally.different() {
                0 => "-".to_owned(),
                _ => format!("{:.2}", tally.largest_wrong),
            };
            (tally.different(), by_up_to)
        }
        _ => (tally.slower, tally.faster.to_string()),
    };
    let (low, high) = binomial_interval(counted as u64, tally.rows as u64, 0.95);
    let dead_heats = match tool.is_ours() {
        true => tally.dead_heats.to_string(),
        false => "-".to_owned(),
    };
    let intervals = match tally.intervals {
        (0, _) => "-".to_owned(),
        (all, holding) => format!("{holding} of {all}"),
    };
    let seconds = match tool.is_ours() {
        true => spread(&tally.seconds, 1),
        false => plain_spread(&tally.seconds, 1),
    };
    format!(
        "| {} | {} | {so_far} | {} | {counted} ({:.2} %) | {:.2} to {:.2} % | {beside} | {dead_heats} | {} | {:.2} | {intervals} | {seconds} |",
        tool.name(),
        tally.scope.as_deref().unwrap_or("-"),
        tally.rows,
        100.0 * counted as f64 / tally.rows as f64,
        low * 100.0,
        high * 100.0,
        tally.open(),
        median(tally.errors.iter().copied()),
    )
}

/// A line without numbers, and why.
fn unmeasured(setting: &Setting, tool: Tool) -> String {
    let reason = match (&setting.lacks, tool.is_ours()) {
        (Some(reason), false) => reason,
        _ => "not measured yet",
    };
    let dashes = "- | ".repeat(9);
    format!("| {} | {reason} | 0 | {dashes}|", tool.name())
}

/// The versions of a tool that were measured.
fn versions(kept: &Kept, tool: Tool) -> Vec<&str> {
    let mut all = Vec::new();
    for row in kept.rows().iter().filter(|row| row["tool"] == tool.key()) {
        if let Some(version) = row["version"].as_str().filter(|one| !all.contains(one)) {
            all.push(version);
        }
    }
    all
}

fn bar(tool: Tool, case: Case, tally: &Tally) -> Bar {
    let what = match case {
        Case::Itself => "two builds of the same bytes called faster or slower".to_owned(),
        _ => format!("{} called faster or a dead heat", case.key()),
    };
    let wrong = tally.wrong(case.percent());
    Bar::false_verdicts(format!("{}: {what}", tool.name()), wrong, tally.rows)
}
