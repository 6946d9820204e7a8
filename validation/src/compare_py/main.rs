//! Google Benchmark executables whose true difference is known: what
//! `compare.py` makes of them, with and without random interleaving, and what
//! `deadheat bench` does.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin compare_py
//! ```
//!
//! Keeps its observations in `validation/data/compare_py.jsonl` and writes
//! `docs/validation/compare_py.md`. Takes some hour in all, in as many
//! sittings as one likes (`--minutes N`; `--fresh --only 'itself deadheat'`
//! makes a part anew), on a machine that does nothing else; needs g++, lld,
//! Google Benchmark and its tools (Debian's libbenchmark-dev and
//! libbenchmark-tools), and a python3 on the PATH that has numpy and scipy.
//! With `--quick` all is tried with a few benchmarks and printed, and nothing
//! is kept.

mod case;
mod section;
mod tally;
mod tool;

use std::path::Path;

use deadheat_examples::random::SplitMix64;
use deadheat_validation::google_compare;
use deadheat_validation::kept::{Kept, Sittings, Wanted};
use deadheat_validation::page::{Page, Question};
use deadheat_validation::progress::Progress;
use deadheat_validation::workshop::Workshop;

use case::{Case, Pair};
use tool::Tool;

/// The number of times each tool compares all benchmarks of each case.
const REPEATS: usize = 10;

/// The material that the sections are written from.
struct Setting {
    kept: Kept,
    /// The requirement of `compare.py` that is not here.
    lacks: Option<String>,
}

/// One observation to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Turn {
    repeat: usize,
    case: Case,
    tool: Tool,
}

impl Turn {
    /// The name that `--only` is about.
    fn name(self) -> String {
        format!("{}, {}", self.case.key(), self.tool.key())
    }

    fn is_among(self, kept: &Kept) -> bool {
        let wanted = [("case", self.case.key()), ("tool", self.tool.key())];
        let mut same = kept.matching(&wanted);
        same.any(|row| row["repeat"] == self.repeat)
    }
}

fn main() {
    let wanted = Wanted::parts_from_command_line();
    let validation = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = validation.parent().expect("the repository");
    let mut setting = Setting {
        kept: Kept::open(root, "compare_py", &wanted, Sittings::AnyMachine),
        lacks: google_compare::version().err(),
    };
    if let Some(lacks) = &setting.lacks {
        eprintln!("compare.py: {lacks}");
    }
    let repeats = if wanted.quick { 1 } else { REPEATS };
    let turns: Vec<Turn> = turns(repeats)
        .into_iter()
        .filter(|turn| turn.tool.is_ours() || setting.lacks.is_none())
        .filter(|turn| wanted.fits(&turn.name()))
        .filter(|turn| !turn.is_among(&setting.kept))
        .collect();
    if setting.kept.goes_on() && !turns.is_empty() {
        let shop = Workshop::open("compare_py", wanted.quick);
        measure(&shop, &turns, &mut setting.kept);
    }
    if setting.kept.rows().is_empty() {
        eprintln!("nothing was measured so far, so there is no page");
        std::process::exit(1);
    }
    let page = Page {
        title: "compare.py and deadheat on the same executables",
        program: "compare_py",
        facts: &format!("{} {}", setting.kept.facts(), how_far(&setting.kept)),
        quick: wanted.quick,
    };
    let questions: &[Question<Setting>] = &[
        ("how each was called", section::how),
        ("an executable against itself", |setting| {
            section::table(setting, Case::Itself)
        }),
        ("1 % more", |setting| {
            section::table(setting, Case::OnePercent)
        }),
        ("5 % more", |setting| {
            section::table(setting, Case::FivePercent)
        }),
    ];
    page.write(root, &setting, questions);
}

/// The number of comparisons so far, and of all that are wanted.
fn how_far(kept: &Kept) -> String {
    let wanted = turns(REPEATS).len();
    match kept.rows().len() {
        made if made < wanted => format!("**{made} of {wanted} comparisons so far.**"),
        made => format!("All {made} comparisons were made."),
    }
}

/// All observations, each repeat in an order of its own, drawn from its
/// number.
fn turns(repeats: usize) -> Vec<Turn> {
    let mut all = Vec::new();
    for repeat in 1..=repeats {
        let begun = all.len();
        for case in Case::ALL {
            all.extend(Tool::ALL.map(|tool| Turn { repeat, case, tool }));
        }
        let mut random = SplitMix64::new(repeat as u64);
        let turns = &mut all[begun..];
        for place in (1..turns.len()).rev() {
            turns.swap(place, random.index_below(place + 1));
        }
    }
    all
}

fn measure(shop: &Workshop, turns: &[Turn], kept: &mut Kept) {
    eprintln!("compiling ...");
    let pairs = Case::ALL.map(|case| [false, true].map(|neutral| case.compiled(shop, neutral)));
    let pair = |turn: &Turn| -> &Pair {
        &pairs[turn.case as usize][usize::from(turn.tool.wants_neutral_links())]
    };
    let mut progress = Progress::over(turns.len());
    for (made, turn) in turns.iter().enumerate() {
        // What was compiled shall at least be used once.
        if made > 0 && !kept.goes_on() {
            break;
        }
        // The seed of the repeat, which is all that deadheat draws from.
        let seed = turn.repeat as u64;
        let mut row = turn.tool.observe(shop, turn.case, pair(turn), seed);
        row["case"] = turn.case.key().into();
        row["tool"] = turn.tool.key().into();
        row["repeat"] = turn.repeat.into();
        row["seed"] = seed.into();
        row["condition"] = "idle".into();
        row["version"] = turn.tool.version(shop).into();
        let seconds = row["seconds"].as_f64().unwrap_or_default();
        progress.made(&format!("{}, {}: {seconds:.0} s", turn.name(), turn.repeat));
        kept.add(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_repeat_begins_before_the_last_is_over_and_orders_differ() {
        let all = turns(3);
        let each = Case::ALL.len() * Tool::ALL.len();
        assert_eq!(all.len(), 3 * each);
        let order = |repeat: usize| -> Vec<(Case, Tool)> {
            let turns = &all[(repeat - 1) * each..repeat * each];
            assert!(turns.iter().all(|turn| turn.repeat == repeat));
            turns.iter().map(|turn| (turn.case, turn.tool)).collect()
        };
        for case in Case::ALL {
            for tool in Tool::ALL {
                assert!(order(1).contains(&(case, tool)));
            }
        }
        assert_ne!(order(1), order(2));
        assert_eq!(turns(3), all);
    }
}
