//! Races of functions whose code lies elsewhere in every replicate: whether verdicts speak of the
//! source and not of where the linker put it.
//!
//! Writes `docs/validation/placement.md`. Takes some minutes, on a machine that does nothing else,
//! and needs gcc, clang, lld and objdump.

mod cost;
mod kernels;
mod linked;
mod pairs;
mod summary;

use deadheat_validation::prelude::*;

struct Setting {
    validation: PathBuf,
    scratch: Scratch,
    cargo_deadheat: PathBuf,
    quick: bool,
}

impl Setting {
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}

fn main() {
    let quick = is_quick();
    let machine = machine();
    let root = repository();
    let scratch = Scratch::new("placement");
    let setting = Setting {
        cargo_deadheat: built(
            root,
            &["build", "--release", "-p", "deadheat-cli", "--bin", "cargo-deadheat"],
        ),
        validation: root.join("validation"),
        scratch,
        quick,
    };
    let page = Page {
        title: "Placement: the effect of link order",
        program: "placement",
        facts: &format!("{machine} {}", tools()),
        quick,
    };
    let questions: &[Question<Setting>] = &[
        ("what neutral links cost", cost::section),
        ("two kernels under many link orders", kernels::section),
        ("functions of many shapes", pairs::section),
    ];
    page.write(root, &setting, questions);
}

fn tools() -> String {
    let first = |program: &str| {
        let output = Command::new(program).arg("--version").output().ok();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let line = text.as_deref().and_then(|text| text.lines().next());
        line.unwrap_or("no answer").trim().to_owned()
    };
    let all = ["gcc", "clang", "rustc", "ld.lld"].map(first);
    format!("Built with {}.", all.join("; "))
}
