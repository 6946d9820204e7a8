//! Races of functions on this machine: whether deadheat keeps what it
//! promises of them.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin functions
//! ```
//!
//! Writes `docs/validation/functions.md`. Takes some fifteen minutes, on a
//! machine that does nothing else. With `--quick` all is tried in small numbers and
//! printed, and nothing is written. `--only TEXT` asks only the questions that
//! hold this text, prints what came of them and writes nothing; `--races N` sets
//! the races of each row of the questions about 20 ms and branchy functions.

mod against_itself;
mod article;
mod dependency;
mod hand_off;
mod long;
mod sample_cost;
mod sizes;
mod small_difference;
mod time_to_verdict;

use std::fs;
use std::path::{Path, PathBuf};

use deadheat::CountingAllocator;
use deadheat_validation::machine::machine;
use deadheat_validation::page::{Asked, Page, Question};
use deadheat_validation::programs;
use deadheat_validation::suite_run::SuiteProgram;

/// Counts the allocations of samples, in this very process.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

/// Where things are, and how much of everything is wanted.
struct Setting {
    root: PathBuf,
    scratch: PathBuf,
    suite: SuiteProgram,
    asked: Asked,
}

impl Setting {
    /// The full number, or the one of a quick trial.
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.asked.quick { quick } else { full }
    }
}

fn main() {
    let asked = Asked::from_command_line();
    let machine = machine();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository")
        .to_owned();
    let scratch = std::env::temp_dir().join(format!("deadheat-functions-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let setting = Setting {
        suite: SuiteProgram::new(
            programs::built(
                &root.join("validation"),
                &["build", "--release", "--bin", "suite"],
            ),
            scratch.clone(),
        ),
        root,
        scratch,
        asked,
    };
    let page = Page {
        title: "Races of functions: time, errors and cost",
        program: "functions",
        facts: &machine,
        quick: setting.asked.quick,
    };
    let questions: &[Question<Setting>] = &[
        ("time to a verdict", time_to_verdict::section),
        ("time outside the samples", hand_off::section),
        ("a difference of 0.1 %", small_difference::section),
        ("a function of 20 ms", long::section),
        ("functions against themselves", against_itself::section),
        (
            "branchy functions against themselves",
            against_itself::branchy,
        ),
        ("the cost of a sample", sample_cost::section),
        ("functions of all sizes", sizes::section),
        ("the article's table", article::section),
        ("as a dependency", dependency::section),
    ];
    page.write_asked(&setting.root, &setting, questions, &setting.asked);
    let _ = fs::remove_dir_all(&setting.scratch);
}
