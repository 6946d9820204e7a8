//! The table of the article on paired benchmarking, with deadheat, tango and criterion side by
//! side.
//!
//! Writes `docs/validation/paired_article.md`; raw data are in
//! `validation/data/paired_article.jsonl`.

mod counted;
mod criterion;
mod deadheat;
mod evidence;
mod observed;
mod orders;
mod plan;
mod rows;
mod tango;

use criterion::Criterion;
use deadheat_validation::prelude::*;
use observed::{Answer, rounded};
use plan::{Subject, Tool, wishes};

/// Of the order of all observations, and of the inputs.
const SEED: u64 = 20_230_531;

struct Programs {
    deadheat: PathBuf,
    tango: PathBuf,
    criterion: PathBuf,
    scratch: PathBuf,
    quick: bool,
}

impl Programs {
    fn build(root: &Path, scratch: &Path, quick: bool) -> Self {
        let peers = root.join("validation/articles");
        let bench = |name| built(&peers, &["bench", "--locked", "--no-run", "--bench", name]);
        Self {
            deadheat: built(
                &root.join("validation"),
                &["build", "--release", "--bin", "paired_races"],
            ),
            tango: bench("tango"),
            criterion: bench("criterion"),
            scratch: scratch.to_owned(),
            quick,
        }
    }

    /// Asks a tool; with the seed of the input, and of whatever the tool draws itself.
    fn ask(&self, tool: Tool, subject: Subject, seed: u64) -> Result<(Answer, f64), String> {
        let folder = &self.scratch;
        let criterion = Criterion { program: &self.criterion, folder, quick: self.quick };
        match (tool, subject) {
            (_, Subject::BothOrders) => criterion.both_orders(seed),
            (Tool::Criterion, Subject::Pair(pair)) => criterion.compare(pair, seed),
            (Tool::Deadheat, Subject::Pair(pair)) => {
                deadheat::race(&self.deadheat, folder, pair, seed)
            }
            (_, Subject::Pair(pair)) => {
                let time = (tool == Tool::TangoSecond).then_some("1");
                tango::compare(&self.tango, folder, pair, seed, time)
            }
        }
    }
}

fn measure(kept: &mut Kept, programs: &Programs) {
    let mut random = SplitMix64::new(SEED ^ kept.rows().len() as u64);
    let wishes = wishes(programs.quick);
    let rounds = wishes.iter().map(|wish| wish.times).max().unwrap_or(0);
    sit(kept, &wishes, rounds, &mut random, |(tool, subject, _), repeat, random| {
        // Tools differ in how large a seed they take.
        let seed = random.bits() >> 32;
        let start = Instant::now();
        let (mut row, seconds) = match programs.ask(tool, subject, seed) {
            Ok((answer, seconds)) => (answer.row(), seconds),
            Err(problem) => {
                let row = json!({"call": null, "problem": problem});
                (row, start.elapsed().as_secs_f64())
            }
        };
        row["repeat"] = json!(repeat);
        row["seed"] = json!(seed);
        row["seconds"] = json!(rounded(seconds));
        row
    });
}

fn facts(kept: &Kept, quick: bool) -> String {
    let wishes = wishes(quick);
    let made = kept_of(&wishes, kept);
    let all: usize = wishes.iter().map(|wish| wish.times).sum();
    let so_far = match made == all {
        true => String::new(),
        false => format!(" **Not complete: {made} of {all} observations so far.**"),
    };
    let lock = include_str!("../../articles/Cargo.lock");
    format!(
        "{}{so_far}\n\n\
         All tools call the same functions of `examples/src/utf8.rs` on texts of 5,000 characters. \
         Each tool has one executable with these functions. In every repeat, the rows and tools \
         run in a new random order, drawn from the seed {SEED}. *Loaded* means that a busy loop \
         runs on every core.\n\n\
         - deadheat {}: `cargo bench -- --exact PAIR` at its defaults (alpha 5%, margin 1%). \
         deadheat calls two functions different if its verdict is faster or slower.\n\
         - tango {}: `cargo bench -- compare --strip-baseline 'baseline/**' --strip-candidate \
         'candidate/**'`, which tango's manual recommends for two functions of one executable. The \
         rows *tango* use tango's default time of 0.1 s. The rows *tango, 1 s* use `--time 1`, \
         because tango promises to find 1% within one second. tango calls two functions different \
         if it prints a star. It prints a star if the mean difference is more than 1% and has |z| \
         of at least 2.6.\n\
         - criterion {}: first the baseline with `--save-baseline`, then the candidate under the \
         same ID with `--baseline`, in the same executable, at criterion's defaults. criterion \
         calls two functions different if it prints `Performance has improved` or `regressed`. The \
         seconds of criterion include both processes.\n\n\
         The columns *seconds* have the time of the whole process for one pair, from launch to \
         exit. The columns *right is* have the right answer, and [the last \
         section](#the-right-answers-and-how-they-are-known) says how we know it. The columns \
         *right* and *wrong* count the answers of the tool that agree with the right answer, and \
         those that contradict it.",
        kept.facts(),
        locked(include_str!("../../Cargo.lock"), "deadheat"),
        locked(lock, "tango-bench"),
        locked(lock, "criterion"),
    )
}

fn locked<'l>(lock: &'l str, name: &str) -> &'l str {
    let head = format!("name = \"{name}\"\nversion = \"");
    let after = lock.split(&head).nth(1).expect("a crate of the lock file");
    after.split('"').next().expect("a version")
}

fn main() {
    let wanted = Wanted::from_command_line();
    let root = repository();
    let scratch = Scratch::new("paired-article");
    let mut kept = Kept::open(root, "paired_article", &wanted, Sittings::OneMachine);
    if kept.goes_on() {
        let programs = Programs::build(root, &scratch, wanted.quick);
        evidence::gather(&mut kept, root, &scratch, wanted.quick);
        measure(&mut kept, &programs);
    }
    let quick = wanted.quick;
    let facts = facts(&kept, quick);
    let page = Page {
        title: "The article on paired benchmarking: deadheat, tango and criterion",
        program: "paired_article",
        facts: &facts,
        quick,
    };
    let questions: &[Question<(Kept, bool)>] = &[
        ("the table, idle", |(kept, quick)| rows::section(kept, Condition::Idle, *quick)),
        ("the table, loaded", |(kept, quick)| rows::section(kept, Condition::Loaded, *quick)),
        ("either function first", |(kept, quick)| -> Section { orders::section(kept, *quick) }),
        ("what is right", |(kept, _)| evidence::section(kept)),
    ];
    page.write(root, &(kept, quick), questions);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    pub fn kept_with(name: &str, rows: &[Value]) -> Kept {
        let own = format!("deadheat-paired-{name}-{}", std::process::id());
        let root = std::env::temp_dir().join(own);
        let wanted = Wanted::default();
        let mut kept = Kept::open(&root, "paired_article", &wanted, Sittings::OneMachine);
        for row in rows {
            kept.add(row.clone());
        }
        fs::remove_dir_all(&root).ok();
        kept
    }

    #[test]
    fn versions_come_from_the_lock_file() {
        let lock = "[[package]]\nname = \"tango-bench\"\nversion = \"0.9.0\"\nsource = \"x\"\n";
        assert_eq!(locked(lock, "tango-bench"), "0.9.0");
    }

    #[test]
    fn a_page_says_how_much_of_it_is_there() {
        let row = json!({"tool": "deadheat", "row": "std / std", "condition": "idle"});
        let kept = kept_with("done", &[row]);
        let all: usize = wishes(true).iter().map(|wish| wish.times).sum();
        let so_far = format!("**Not complete: 1 of {all} observations so far.**");
        assert!(facts(&kept, true).contains(&so_far));
    }
}
