//! The table of the article on paired benchmarking, with deadheat, tango and
//! criterion side by side.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin paired_article
//! ```
//!
//! Writes `docs/validation/paired_article.md`; raw data are in
//! `validation/data/paired_article.jsonl`. Takes some half an hour on a machine
//! that does nothing else, in as many sittings as one likes (`--minutes N`).
//! With `--quick` all is tried in small numbers and printed, and nothing is
//! written.

mod counted;
mod criterion;
mod deadheat;
mod evidence;
mod observed;
mod orders;
mod plan;
mod rows;
mod tango;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use deadheat_validation::bars::Section;
use deadheat_validation::kept::{Kept, Sittings, Wanted};
use deadheat_validation::load::Load;
use deadheat_validation::page::{Page, Question};
use deadheat_validation::process::median;
use deadheat_validation::programs::built;

use criterion::Criterion;
use observed::{Answer, keys, without_answer};
use plan::{Condition, Step, Subject, Tool, steps, time_left};

/// Of the order of all observations, and of the inputs.
const SEED: u64 = 20_230_531;

/// The programs of all tools, and a folder for what they leave.
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

    fn ask(&self, step: &Step) -> Result<(Answer, f64), String> {
        let criterion = Criterion {
            program: &self.criterion,
            folder: &self.scratch,
            quick: self.quick,
        };
        let (folder, seed) = (&self.scratch, step.seed);
        match (step.tool, step.subject) {
            (Tool::Deadheat, Subject::Pair(pair)) => {
                deadheat::race(&self.deadheat, folder, pair, seed)
            }
            (Tool::Tango, Subject::Pair(pair)) => {
                tango::compare(&self.tango, folder, pair, seed, None)
            }
            (Tool::TangoSecond, Subject::Pair(pair)) => {
                tango::compare(&self.tango, folder, pair, seed, Some("1"))
            }
            (Tool::Criterion, Subject::Pair(pair)) => criterion.compare(pair, seed),
            (_, Subject::BothOrders) => criterion.both_orders(seed),
        }
    }
}

/// The number of times a step's subject was observed already.
fn done(kept: &Kept, step: &Step) -> usize {
    let keys = keys(step.tool, step.subject, step.condition);
    let keys: Vec<(&str, &str)> = keys.iter().map(|(key, value)| (*key, &**value)).collect();
    kept.count(&keys)
}

/// The seconds that such a step takes, from those that are kept.
fn seconds(kept: &Kept, step: &Step) -> Option<f64> {
    let keys = keys(step.tool, step.subject, step.condition);
    let keys: Vec<(&str, &str)> = keys.iter().map(|(key, value)| (*key, &**value)).collect();
    let known: Vec<f64> = kept
        .matching(&keys)
        .filter_map(|row| row["seconds"].as_f64())
        .collect();
    (!known.is_empty()).then(|| median(known))
}

fn measure(kept: &mut Kept, programs: &Programs) {
    let all = steps(SEED, programs.quick);
    let mut load: Option<Load> = None;
    for (index, step) in all.iter().enumerate() {
        if !kept.goes_on() {
            return;
        }
        if done(kept, step) > step.repeat {
            continue;
        }
        let loaded = step.condition == Condition::Loaded;
        if loaded != load.is_some() {
            load = loaded.then(Load::on_every_core);
        }
        let left = time_left(&all[index..], |step| seconds(kept, step));
        eprint!(
            "\r{index} of {} observations, some {:.0} min left   ",
            all.len(),
            (left / 60.0).ceil()
        );
        let start = Instant::now();
        let row = match programs.ask(step) {
            Ok((answer, seconds)) => answer.row(step, seconds),
            Err(problem) => without_answer(step, start.elapsed().as_secs_f64(), &problem),
        };
        kept.add(row);
    }
    eprintln!("\r{} observations, all done.               ", all.len());
}

/// The facts above the tables, with the versions of the tools.
fn facts(kept: &Kept, quick: bool) -> String {
    let all = steps(SEED, quick);
    let missing = all.iter().filter(|step| done(kept, step) <= step.repeat);
    let so_far = match missing.count() {
        0 => String::new(),
        missing => format!(
            " **Not complete: {} of {} observations so far.**",
            all.len() - missing,
            all.len()
        ),
    };
    let lock = include_str!("../../articles/Cargo.lock");
    format!(
        "{}{so_far}\n\n\
         All tools call the same functions of `examples/src/utf8.rs` on texts of 5,000 characters, compiled into one executable per tool. \
         The order of rows and tools is random for every repeat, from the seed {SEED}; `loaded` is a busy loop for every core.\n\n\
         - deadheat {}: `cargo bench -- --exact PAIR` at its defaults (alpha 5 %, margin 1 %). It tells two functions apart by saying faster or slower.\n\
         - tango {}: `cargo bench -- compare --strip-baseline 'baseline/**' --strip-candidate 'candidate/**'`, which its manual recommends for two \
         functions of one executable; at its default time of 0.1 s, and with `--time 1` for the second in which it promises to find 1 %. It tells them apart by the star \
         it prints: |z| of the mean difference at least 2.6, and more than 1 %.\n\
         - criterion {}: the baseline with `--save-baseline`, then the candidate under the same ID with `--baseline`, in the same executable, at its \
         defaults. It tells them apart by `Performance has improved` or `regressed`. Seconds are of both processes.\n\n\
         Seconds are those of whole processes for one pair, from launch to exit.",
        kept.facts(),
        locked(include_str!("../../Cargo.lock"), "deadheat"),
        locked(lock, "tango-bench"),
        locked(lock, "criterion"),
    )
}

/// The version of a crate in a lock file.
fn locked<'l>(lock: &'l str, name: &str) -> &'l str {
    let head = format!("name = \"{name}\"\nversion = \"");
    let after = lock.split(&head).nth(1).expect("a crate of the lock file");
    after.split('"').next().expect("a version")
}

fn main() {
    let wanted = Wanted::from_command_line();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository")
        .to_owned();
    let own = format!("deadheat-paired-article-{}", std::process::id());
    let scratch = std::env::temp_dir().join(own);
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let mut kept = Kept::open(&root, "paired_article", &wanted, Sittings::OneMachine);
    if kept.goes_on() {
        let programs = Programs::build(&root, &scratch, wanted.quick);
        evidence::gather(&mut kept, &root, &scratch, wanted.quick);
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
        ("the table, idle", |(kept, quick)| {
            rows::section(kept, Condition::Idle, *quick)
        }),
        ("the table, loaded", |(kept, quick)| {
            rows::section(kept, Condition::Loaded, *quick)
        }),
        ("either function first", |(kept, quick)| -> Section {
            orders::section(kept, *quick)
        }),
        ("what is right", |(kept, _)| evidence::section(kept)),
    ];
    page.write(&root, &(kept, quick), questions);
    let _ = fs::remove_dir_all(&scratch);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Some rows as they are kept, for the tests of all parts of the page.
    pub fn kept_with(name: &str, rows: &[Value]) -> Kept {
        let own = format!("deadheat-paired-{name}-{}", std::process::id());
        let root = std::env::temp_dir().join(own);
        let wanted = Wanted::read(std::iter::empty()).expect("no words");
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
    fn steps_that_are_kept_are_not_made_again() {
        let step = steps(SEED, true)[0];
        let answer = Answer {
            call: observed::Call::None,
            said: "dead heat".to_owned(),
            change: 0.0,
            interval: None,
            more: Value::Null,
        };
        let kept = kept_with("done", &[answer.row(&step, 0.5)]);
        assert_eq!(done(&kept, &step), 1);
        let all = steps(SEED, true).len();
        let so_far = format!("**Not complete: 1 of {all} observations so far.**");
        assert!(facts(&kept, true).contains(&so_far));
        assert_eq!(seconds(&kept, &step), Some(0.5));
    }
}
