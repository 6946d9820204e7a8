//! The article on log-normal timings, measured here: computing in cache, and
//! pointer chasing with 1 to 30 lanes.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin log_normal
//! ```
//!
//! Writes `docs/validation/log_normal.md`; raw data are in
//! `validation/data/log_normal.jsonl`. Takes some ten minutes on a machine that
//! does nothing else, in as many sittings as one likes (`--minutes N`). With
//! `--quick` all is tried in small numbers and printed, and nothing is written.

mod claims;
mod experiment;
mod model;
mod table;

use std::fs;
use std::path::Path;

use deadheat_examples::random::SplitMix64;
use deadheat_validation::kept::{Kept, Sittings, Wanted};
use deadheat_validation::page::{Page, Question};
use deadheat_validation::process::median;
use deadheat_validation::programs::built;
use deadheat_validation::routines::chase::{MIB, STEPS};

use experiment::{Experiment, Experiments, rows};
use table::Rows;

/// Of the order of the routines in every experiment, and of the runs.
const SEED: u64 = 20_230_403;

/// Experiments of every routine, and runs in each of them.
fn numbers(quick: bool) -> (usize, usize) {
    if quick { (2, 8) } else { (10, 30) }
}

/// One routine of one experiment.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    experiment: usize,
    row: String,
    seed: u64,
}

/// Experiment after experiment, the routines of each in an order drawn anew.
fn steps(seed: u64, experiments: usize) -> Vec<Step> {
    let mut random = SplitMix64::new(seed);
    let mut steps = Vec::new();
    for experiment in 0..experiments {
        let mut names = rows();
        for last in (1..names.len()).rev() {
            names.swap(last, random.index_below(last + 1));
        }
        steps.extend(names.into_iter().map(|row| Step {
            experiment,
            row,
            seed: random.bits() >> 32,
        }));
    }
    steps
}

fn measure(kept: &mut Kept, experiments: &Experiments, count: usize) {
    let all = steps(SEED, count);
    for (index, step) in all.iter().enumerate() {
        if !kept.goes_on() {
            return;
        }
        if kept.count(&[("row", &step.row)]) > step.experiment {
            continue;
        }
        let left: f64 = all[index..]
            .iter()
            .map(|step| seconds(kept, &step.row))
            .sum();
        eprint!(
            "\r{index} of {} experiments, some {:.0} min left   ",
            all.len(),
            (left / 60.0).ceil()
        );
        let line = experiments.make(&step.row, step.experiment, step.seed);
        kept.add(line);
    }
    eprintln!("\r{} experiments, all done.               ", all.len());
}

/// The seconds that an experiment with a routine takes, by those that are kept.
fn seconds(kept: &Kept, row: &str) -> f64 {
    let known: Vec<f64> = kept
        .matching(&[("row", row)])
        .filter_map(|line| line["seconds"].as_f64())
        .collect();
    if known.is_empty() { 5.0 } else { median(known) }
}

/// All experiments, by routine.
fn read(kept: &Kept) -> Rows {
    let of = |row: String| {
        let all = kept.rows().iter().filter(|line| line["row"] == *row);
        let all: Vec<Experiment> = all.filter_map(Experiment::read).collect();
        (row, all)
    };
    rows().into_iter().map(of).collect()
}

/// The size that was noted of the last cache.
fn last_cache(kept: &Kept) -> &str {
    let rows = kept.rows().iter();
    let mut told = rows.filter_map(|line| line["last_cache"].as_str());
    told.next_back().unwrap_or("an unknown size")
}

/// The facts above the tables.
fn facts(kept: &Kept, rows: &Rows, quick: bool) -> String {
    let (experiments, runs) = numbers(quick);
    let done = rows.iter().map(|(_, all)| all.len()).min().unwrap_or(0);
    let so_far = match done < experiments {
        true => format!(" **{done} of {experiments} experiments so far.**"),
        false => String::new(),
    };
    format!(
        "{}{so_far}\n\n\
         An experiment is a fresh process in which one routine runs {runs} times, after a warm-up, measured by deadheat as a benchmark without a \
         candidate (`--max-replicates 1 --blocks {runs}`); a run is one call. Every routine has {experiments} experiments, one of each before the next of any, \
         in an order drawn from the seed {SEED}; in between the other routines have run. min, median, mean, sigma distances, fits and tests \
         are those of deadheat's figures.\n\n\
         - base64: 12 KiB of random bytes are encoded into 16 KiB, once, or 1,000 times in one run; UTF-8 to UTF-16: a text of 5,000 characters of all widths. \
         All of its data fit into the nearest caches.\n\
         - chase, N lanes: {MIB} MiB, of which every cache line holds the place of the next one in a random cycle; a run takes {STEPS} steps, a quarter of all, in N \
         lanes that need not wait for one another, and the next run goes on from there. The last cache of \
         the processor has {}, as the system tells it; what of the array lies there need not come from the memory.",
        kept.facts(),
        last_cache(kept)
    )
}

fn main() {
    let wanted = Wanted::from_command_line();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository")
        .to_owned();
    let own = format!("deadheat-log-normal-{}", std::process::id());
    let scratch = std::env::temp_dir().join(own);
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let (count, runs) = numbers(wanted.quick);
    let mut kept = Kept::open(&root, "log_normal", &wanted, Sittings::OneMachine);
    if kept.goes_on() {
        let experiments = Experiments {
            program: built(
                &root.join("validation"),
                &["build", "--release", "--bin", "log_normal_runs"],
            ),
            scratch: scratch.clone(),
            runs,
        };
        measure(&mut kept, &experiments, count);
    }
    let rows = read(&kept);
    let facts = facts(&kept, &rows, wanted.quick);
    let page = Page {
        title: "The article on log-normal timings: what runs look like, and what repeats",
        program: "log_normal",
        facts: &facts,
        quick: wanted.quick,
    };
    let questions: &[Question<Rows>] = &[
        ("the article's claims", claims::section),
        ("the shape of the runs", table::shapes),
        ("precision", table::precision),
        ("the article's model", |_| model::section()),
    ];
    page.write(&root, &rows, questions);
    let _ = fs::remove_dir_all(&scratch);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_routine_has_its_turn_in_every_experiment() {
        let steps = steps(SEED, 3);
        let all = rows().len();
        assert_eq!(steps.len(), 3 * all);
        for (experiment, own) in steps.chunks(all).enumerate() {
            assert!(own.iter().all(|step| step.experiment == experiment));
            let mut names: Vec<&str> = own.iter().map(|step| step.row.as_str()).collect();
            let mut expected = rows();
            names.sort_unstable();
            expected.sort_unstable();
            assert_eq!(names, expected);
        }
        assert_ne!(steps[0].row, steps[all].row);
    }
}
