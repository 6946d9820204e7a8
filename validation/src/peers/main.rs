//! Every tool that races functions or commands, on the same work: how often
//! it is wrong, how often it finds 1 %, and how long it takes.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin peers
//! ```
//!
//! Writes `docs/validation/peers.md` from `validation/data/peers.jsonl`. Takes
//! some ninety minutes, on a machine that does nothing else, in as many sittings
//! as one likes; needs lld and objdump, and hyperfine and Python for the rows
//! with their names. `--only "deadheat-run loaded more"` measures only what has these
//! words as its tool, condition or case, `--races N` at most so many of each, and
//! `--fresh` then forgets only these.

mod page;
mod programs;
mod questions;
mod race;
mod tools;
mod view;

use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use deadheat_examples::random::SplitMix64;
use deadheat_validation::kept::{Kept, Sittings, Wanted, by_the_end_of};
use deadheat_validation::load::Load;
use deadheat_validation::told::short;
use serde_json::{Value, json};

use page::Page;
use programs::{Place, Programs};
use race::{Case, Condition, ORDERS, Race};
use tools::Tool;

/// The number of rounds, in which every tool gets its turn: those that are wanted less often sit
/// out some of the rounds, evenly.
const ROUNDS: usize = 64;

fn main() {
    let wanted = Wanted::parts_from_command_line();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let mut kept = Kept::open(root, "peers", &wanted, Sittings::AnyMachine);
    if kept.goes_on() {
        let scratch = std::env::temp_dir().join(format!("deadheat-peers-{}", std::process::id()));
        fs::create_dir_all(&scratch).expect("a scratch folder");
        measure(&mut kept, &wanted, root, &scratch);
        let _ = fs::remove_dir_all(&scratch);
    }
    // Whoever is not installed here is not waited for.
    let asked = |tool: Tool| kept.count(&[("tool", tool.key())]) > 0;
    let in_the_end = cells(asked);
    let text = Page {
        rows: kept.rows(),
        wanted: in_the_end
            .map(|(tool, condition, case)| tool.wanted(condition, case, wanted.quick))
            .sum(),
        facts: &kept.facts(),
        quick: wanted.quick,
    }
    .text();
    println!("{text}");
    if !wanted.quick {
        let target = root.join("docs/validation/peers.md");
        fs::write(&target, &text).expect("the page can be written");
    }
}

/// Every tool, condition and case, of tools that are there.
fn cells(have: impl Fn(Tool) -> bool) -> impl Iterator<Item = (Tool, Condition, Case)> {
    let tools = Tool::ALL.into_iter().filter(move |tool| have(*tool));
    tools.flat_map(|tool| {
        let of_tool = move |condition| Case::ALL.map(|case| (tool, condition, case));
        Condition::ALL.into_iter().flat_map(of_tool)
    })
}

fn measure(kept: &mut Kept, wanted: &Wanted, root: &Path, scratch: &Path) {
    let orders = if wanted.quick { 2 } else { ORDERS };
    let mut programs = Programs::make(root, scratch, orders);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    // Other seeds in every sitting: neutral links of an old one may still be
    // kept, and cost no time.
    let mut random = SplitMix64::new(now.map_or(0, |time| time.as_nanos() as u64));
    let mut answered: Vec<Tool> = Vec::new();
    for round in 0..ROUNDS {
        let mut done = 0;
        for condition in Condition::ALL {
            for race in due(kept, &programs, &mut random, condition, round, wanted) {
                if !kept.goes_on() {
                    return;
                }
                programs.prepare(&race);
                let row = observed(&race, &programs, scratch);
                if let Some(problem) = row["problem"].as_str() {
                    eprintln!("  {race:?}: {problem}");
                }
                // Whoever never answers has been asked in a wrong way.
                let failed = row["called"] == "failed";
                assert!(
                    !failed || answered.contains(&race.tool),
                    "the first race of {:?} in this sitting failed: {}",
                    race.tool,
                    row["problem"]
                );
                answered.push(race.tool);
                kept.add(row);
                done += 1;
            }
        }
        if done > 0 {
            let minutes = seconds_left(kept, &programs, wanted) / 60.0;
            eprintln!(
                "round {} of {ROUNDS}; some {minutes:.0} minutes left",
                round + 1
            );
        }
    }
}

/// The races a round adds, in an order drawn anew.
fn due(
    kept: &Kept,
    programs: &Programs,
    random: &mut SplitMix64,
    condition: Condition,
    round: usize,
    wanted: &Wanted,
) -> Vec<Race> {
    let mut races = Vec::new();
    let of_condition = |cell: &(Tool, Condition, Case)| cell.1 == condition;
    for (tool, _, case) in cells(|tool| programs.have(tool)).filter(of_condition) {
        let done = so_far(kept, tool, condition, case);
        let number = number(wanted, tool, condition, case);
        for repeat in done..by_the_end_of(round, ROUNDS, number, ROUNDS - 1) {
            let seed = random.index_below(1 << 31) as u32;
            races.push(Race {
                tool,
                case,
                condition,
                repeat,
                seed,
            });
        }
    }
    for last in (1..races.len()).rev() {
        races.swap(last, random.index_below(last + 1));
    }
    races
}

/// Races of a cell that are asked for.
fn number(wanted: &Wanted, tool: Tool, condition: Condition, case: Case) -> usize {
    let name = format!("{} {} {}", tool.key(), condition.key(), case.key());
    if wanted.fits(&name) {
        wanted.of(tool.wanted(condition, case, wanted.quick))
    } else {
        0
    }
}

fn so_far(kept: &Kept, tool: Tool, condition: Condition, case: Case) -> usize {
    kept.count(&[
        ("tool", tool.key()),
        ("condition", condition.key()),
        ("case", case.key()),
    ])
}

/// Runs a race, and makes a row of raw data of it.
fn observed(race: &Race, programs: &Programs, scratch: &Path) -> Value {
    let place = Place::fresh(scratch);
    let load = (race.condition == Condition::Loaded).then(Load::on_every_core);
    let start = Instant::now();
    let told = race.tool.run(race, programs, &place);
    let seconds = start.elapsed().as_secs_f64();
    drop(load);
    let mut row = match told {
        Ok(told) => told.into_row(),
        Err(problem) => {
            let short: String = problem.chars().take(200).collect();
            json!({"called": "failed", "problem": short})
        }
    };
    row["tool"] = json!(race.tool.key());
    row["case"] = json!(race.case.key());
    row["condition"] = json!(race.condition.key());
    row["order"] = json!(race.order());
    row["repeat"] = json!(race.repeat);
    row["seed"] = json!(race.seed);
    row["seconds"] = json!(short(seconds));
    row
}

/// By what races took until now.
fn seconds_left(kept: &Kept, programs: &Programs, wanted: &Wanted) -> f64 {
    let left = |(tool, condition, case): (Tool, Condition, Case)| {
        let wanted = number(wanted, tool, condition, case);
        let left = wanted.saturating_sub(so_far(kept, tool, condition, case));
        let keys = [("tool", tool.key()), ("condition", condition.key())];
        let seconds = kept
            .matching(&keys)
            .filter_map(|row| row["seconds"].as_f64());
        let (sum, count) = seconds.fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
        let each = if count > 0.0 {
            sum / count
        } else {
            tool.about_seconds()
        };
        left as f64 * each
    };
    cells(|tool| programs.have(tool)).map(left).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_takes_about_an_hour_and_a_half() {
        let all = cells(|_| true).map(|(tool, condition, case)| {
            tool.wanted(condition, case, false) as f64 * tool.about_seconds()
        });
        let minutes = all.sum::<f64>() / 60.0;
        assert!((60.0..100.0).contains(&minutes), "{minutes}");
    }
}
