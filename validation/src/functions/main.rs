//! Races of functions on this machine: whether deadheat keeps what it promises of them.
//!
//! Writes `docs/validation/functions.md`. Takes some fifteen minutes, on a machine that does
//! nothing else.

mod against_itself;
mod hand_off;
mod long;
mod sizes;
mod small_difference;
mod time_to_verdict;

use deadheat_validation::prelude::*;
use deadheat_validation::programs;

struct Setting {
    suite: SuiteProgram,
    asked: Wanted,
}

impl Setting {
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.asked.quick { quick } else { full }
    }
}

fn main() {
    let asked = Wanted::questions_from_command_line();
    let machine = machine();
    let root = repository();
    let scratch = Scratch::new("functions");
    let setting = Setting {
        suite: SuiteProgram::new(
            programs::built(&root.join("validation"), &["build", "--release", "--bin", "suite"]),
            scratch.to_path_buf(),
        ),
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
        ("a difference of 0.1%", small_difference::section),
        ("a function of 20 ms", long::section),
        ("functions against themselves", against_itself::section),
        ("branchy functions against themselves", against_itself::branchy),
        ("functions of all sizes", sizes::section),
    ];
    page.write_asked(root, &setting, questions, &setting.asked);
}
