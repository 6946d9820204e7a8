//! Saved results side by side: how long it takes, in how much memory, and what
//! is said of an executable against itself, beside `compare.py`.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin saved
//! ```
//!
//! Writes `docs/validation/saved.md`. Takes some twelve minutes, most of which
//! `compare.py` takes, on a machine that does nothing else; needs g++, Google
//! Benchmark and its tools (Debian's libbenchmark-tools), and scipy. With
//! `--quick` all is tried in small numbers and printed, and nothing is
//! written.

mod against_itself;
mod growth;
mod p_values;
mod time_and_memory;

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_validation::google_benchmark_files::Shape;
use deadheat_validation::google_compare;
use deadheat_validation::machine::machine;
use deadheat_validation::page::{Page, Question, is_quick};
use deadheat_validation::programs::{built, text};

/// Where things are, and how much of everything is wanted.
struct Setting {
    root: PathBuf,
    scratch: PathBuf,
    deadheat: PathBuf,
    /// True if `compare.py` runs here.
    peer: bool,
    quick: bool,
}

impl Setting {
    /// The full number, or the one of a quick trial.
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// A file of the scratch folder.
    fn scratched(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// A file of this shape there.
    fn file(&self, shape: Shape, name: &str) -> PathBuf {
        let path = self.scratched(name);
        shape.write(&path);
        path
    }

    fn deadheat(&self) -> &str {
        text(&self.deadheat)
    }
}

fn main() {
    let quick = is_quick();
    let machine = machine();
    let validation = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = validation.parent().expect("the repository");
    let scratch = std::env::temp_dir().join(format!("deadheat-saved-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let words = [
        "build",
        "--release",
        "-p",
        "deadheat-cli",
        "--bin",
        "deadheat",
    ];
    let setting = Setting {
        deadheat: built(root, &words),
        root: root.to_owned(),
        scratch,
        peer: google_compare::version().is_ok(),
        quick,
    };
    let page = Page {
        title: "Saved results side by side: cost, growth, and what is said of nothing",
        program: "saved",
        facts: &machine,
        quick,
    };
    let questions: &[Question<Setting>] = &[
        ("time and memory", time_and_memory::section),
        ("growth", growth::section),
        ("p-values", p_values::section),
        ("an executable against itself", against_itself::section),
    ];
    page.write(root, &setting, questions);
    let _ = fs::remove_dir_all(&setting.scratch);
}
