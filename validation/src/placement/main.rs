//! Races of functions whose code lies elsewhere in every replicate: whether
//! verdicts speak of the source and not of where the linker put it.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin placement
//! ```
//!
//! Writes `docs/validation/placement.md`. Takes some minutes, on a machine
//! that does nothing else, and needs gcc, clang, lld and objdump. With
//! `--quick` all is tried in small numbers and printed, and nothing is written.

mod cost;
mod kernels;
mod linked;
mod pairs;
mod summary;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_validation::machine::machine;
use deadheat_validation::page::{Page, Question, is_quick};
use deadheat_validation::programs::built;

/// Where things are, and how much of everything is wanted.
struct Setting {
    validation: PathBuf,
    scratch: PathBuf,
    cargo_deadheat: PathBuf,
    quick: bool,
}

impl Setting {
    /// The full number, or the one of a quick trial.
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}

fn main() {
    let quick = is_quick();
    let machine = machine();
    let validation = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = validation.parent().expect("the repository");
    let scratch = std::env::temp_dir().join(format!("deadheat-placement-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let setting = Setting {
        cargo_deadheat: built(
            root,
            &[
                "build",
                "--release",
                "-p",
                "deadheat-cli",
                "--bin",
                "cargo-deadheat",
            ],
        ),
        validation: validation.to_owned(),
        scratch,
        quick,
    };
    let page = Page {
        title: "Placement: the code, and where the linker put it",
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
    let _ = fs::remove_dir_all(&setting.scratch);
}

/// The compilers and the linker, by their own first lines.
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
