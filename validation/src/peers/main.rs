//! Every tool that races functions or commands, on the same work: how often it is wrong, how often
//! it finds 1%, and how long it takes.
//!
//! Writes `docs/validation/peers.md` from `validation/data/peers.jsonl`. Takes some ninety minutes,
//! on a machine that does nothing else, in as many sittings as one likes; needs lld and objdump,
//! and hyperfine and Python for the rows with their names.

mod page;
mod programs;
mod questions;
mod race;
mod tools;
mod view;

use deadheat_validation::prelude::*;

use page::Page;
use programs::{Place, Programs};
use race::{Case, Cell, ORDERS, Race};
use tools::Tool;

/// The number of rounds, in which every tool gets its turn: those that are wanted less often sit
/// out some of the rounds, evenly.
const ROUNDS: usize = 64;

fn main() {
    let wanted = Wanted::parts_from_command_line();
    let root = repository();
    let mut kept = Kept::open(root, "peers", &wanted, Sittings::AnyMachine);
    if kept.goes_on() {
        measure(&mut kept, &wanted, &Scratch::new("peers"));
    }
    // Whoever is not installed here is not waited for.
    let asked = |tool: Tool| kept.count(&[("tool", tool.key())]) > 0;
    let text = Page {
        rows: kept.rows(),
        wanted: wishes(asked, wanted.quick).map(|wish| wish.times).sum(),
        facts: &kept.facts(),
        quick: wanted.quick,
    }
    .text();
    publish("peers", &text, wanted.quick);
}

/// Every tool, condition and case, of tools that are there.
fn wishes(have: impl Fn(Tool) -> bool, quick: bool) -> impl Iterator<Item = Wish<Cell>> {
    let tools = Tool::ALL.into_iter().filter(move |tool| have(*tool));
    tools.flat_map(move |tool| {
        let wish = move |condition: Condition, case: Case| Wish {
            cell: (tool, condition, case),
            keys: [("tool", tool.key()), ("condition", condition.key()), ("case", case.key())]
                .map(|(key, value)| (key, value.to_owned()))
                .to_vec(),
            loaded: condition == Condition::Loaded,
            times: tool.wanted(condition, case, quick),
        };
        Condition::ALL.into_iter().flat_map(move |one| Case::ALL.map(|case| wish(one, case)))
    })
}

fn measure(kept: &mut Kept, wanted: &Wanted, scratch: &Path) {
    let orders = if wanted.quick { 2 } else { ORDERS };
    let mut programs = Programs::make(repository(), scratch, orders);
    let all = wishes(|tool| programs.have(tool), wanted.quick);
    let all: Vec<Wish<Cell>> = all.map(|wish| wish.limited(wanted)).collect();
    // Other seeds in every sitting: neutral links of an old one may still be
    // kept, and cost no time.
    let mut random = SplitMix64::new(now_ns());
    sit(kept, &all, ROUNDS, &mut random, |(tool, condition, case), repeat, random| {
        let seed = random.index_below(1 << 31) as u32;
        let race = Race { tool, case, condition, repeat, seed };
        programs.prepare(&race);
        observed(&race, &programs, scratch)
    });
}

fn observed(race: &Race, programs: &Programs, scratch: &Path) -> Value {
    let place = Place::fresh(scratch);
    let start = Instant::now();
    let told = race.tool.run(race, programs, &place);
    let seconds = start.elapsed().as_secs_f64();
    let mut row = told.map_or_else(|problem| failed(&problem), Told::into_row);
    row["order"] = json!(race.order());
    row["repeat"] = json!(race.repeat);
    row["seed"] = json!(race.seed);
    row["seconds"] = json!(short(seconds));
    row
}
