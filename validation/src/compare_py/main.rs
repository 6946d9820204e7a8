//! Google Benchmark executables whose true difference is known: what `compare.py` makes of them,
//! with and without random interleaving, and what `deadheat bench` does.
//!
//! Keeps its observations in `validation/data/compare_py.jsonl` and writes
//! `docs/validation/compare_py.md`.

mod case;
mod section;
mod tally;
mod tool;

use deadheat_validation::google_compare;
use deadheat_validation::prelude::*;

use case::Case;
use tool::Tool;

/// The number of times each tool compares all benchmarks of each case.
const REPEATS: usize = 10;

struct Setting {
    kept: Kept,
    lacks: Option<String>,
}

type Cell = (Case, Tool);

fn main() {
    let wanted = Wanted::parts_from_command_line();
    let root = repository();
    let mut setting = Setting {
        kept: Kept::open(root, "compare_py", &wanted, Sittings::AnyMachine),
        lacks: google_compare::version().err(),
    };
    if let Some(lacks) = &setting.lacks {
        eprintln!("compare.py: {lacks}");
    }
    let mut wishes = wishes(if wanted.quick { 1 } else { REPEATS });
    wishes.retain(|wish| wish.cell.1.is_ours() || setting.lacks.is_none());
    let wishes: Vec<Wish<Cell>> = wishes.into_iter().map(|wish| wish.limited(&wanted)).collect();
    let all: usize = wishes.iter().map(|wish| wish.times).sum();
    if setting.kept.goes_on() && kept_of(&wishes, &setting.kept) < all {
        let shop = Workshop::open("compare_py", wanted.quick);
        measure(&shop, &wishes, &mut setting.kept);
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
        ("an executable against itself", |setting| section::table(setting, Case::Itself)),
        ("1% more", |setting| section::table(setting, Case::OnePercent)),
        ("5% more", |setting| section::table(setting, Case::FivePercent)),
    ];
    page.write(root, &setting, questions);
}

/// The number of comparisons so far, and of all that are wanted.
fn how_far(kept: &Kept) -> String {
    let wanted = REPEATS * wishes(REPEATS).len();
    match kept.rows().len() {
        made if made < wanted => format!("**{made} of {wanted} comparisons so far.**"),
        made => format!("All {made} comparisons were made."),
    }
}

fn wishes(repeats: usize) -> Vec<Wish<Cell>> {
    let wish = |case: Case, tool: Tool| Wish {
        cell: (case, tool),
        keys: vec![("case", case.key().to_owned()), ("tool", tool.key().to_owned())],
        loaded: false,
        times: repeats,
    };
    Case::ALL.into_iter().flat_map(|case| Tool::ALL.map(|tool| wish(case, tool))).collect()
}

fn measure(shop: &Workshop, wishes: &[Wish<Cell>], kept: &mut Kept) {
    eprintln!("compiling ...");
    let pairs = Case::ALL.map(|case| [false, true].map(|neutral| case.compiled(shop, neutral)));
    let mut random = SplitMix64::new(kept.rows().len() as u64);
    sit(kept, wishes, REPEATS, &mut random, |(case, tool), repeat, _| {
        let pair = &pairs[case as usize][usize::from(tool.wants_neutral_links())];
        // The seed of the repeat, which is all that deadheat draws from.
        let seed = repeat as u64 + 1;
        let mut row = tool.observe(shop, case, pair, seed);
        row["repeat"] = seed.into();
        row["seed"] = seed.into();
        row["condition"] = "idle".into();
        row["version"] = tool.version(shop).into();
        row
    });
}
