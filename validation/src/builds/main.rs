//! Races of two builds: what taking turns costs, how often a build is told
//! apart from its copy, and whether 1 % is found.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin builds
//! ```
//!
//! Writes `docs/validation/builds.md`. Takes some ten minutes, on a machine
//! that does nothing else, and needs gcc, g++, lld, git and Google Benchmark.
//! With `--quick` all is tried in small numbers and printed, and nothing is
//! written.

mod against_itself;
mod google;
mod hand_over;
mod one_percent;
mod overhead;
mod race;
mod revisions;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_validation::machine::machine;
use deadheat_validation::page::{Page, Question, is_quick};
use deadheat_validation::programs::built;

/// Where things are, and how much of everything is wanted.
struct Setting {
    root: PathBuf,
    scratch: PathBuf,
    deadheat: PathBuf,
    cargo_deadheat: PathBuf,
    /// Functions in Rust.
    copies: PathBuf,
    quick: bool,
}

impl Setting {
    /// The full number, or the one of a quick trial.
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// A program of the scratch folder.
    fn scratched(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Compiles a source of this workspace into the scratch folder, by
    /// `deadheat link` when neutral links are wanted of it.
    fn compile(&self, source: &str, name: &str, words: &[&str], linked: bool) -> PathBuf {
        let source = self.root.join("validation/builds").join(source);
        let compiler = match source.extension().and_then(|e| e.to_str()) {
            Some("cpp") => "g++",
            _ => "gcc",
        };
        let program = self.scratched(name);
        let object = self.scratched(&format!("{name}.o"));
        let include = format!("-I{}", self.root.join("include").display());
        let mut compile = Command::new(compiler);
        compile.args(["-O2", "-ffunction-sections", &include, "-c"]);
        compile.args(words.iter().filter(|word| word.starts_with("-D")));
        done(compile.arg(&source).arg("-o").arg(&object));
        let mut link = match linked {
            true => {
                let mut link = Command::new(&self.deadheat);
                link.args(["link", "--", compiler]);
                link
            }
            false => Command::new(compiler),
        };
        link.arg(&object).arg("-o").arg(&program);
        done(link.args(words.iter().filter(|word| !word.starts_with("-D"))));
        program
    }
}

fn done(command: &mut Command) {
    let status = command.status().expect("the command runs");
    assert!(status.success(), "{command:?} failed");
}

/// A path as an argument.
fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn main() {
    let quick = is_quick();
    let machine = machine();
    let validation = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = validation.parent().expect("the repository");
    let scratch = std::env::temp_dir().join(format!("deadheat-builds-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let program = |name: &str| {
        let words = ["build", "--release", "-p", "deadheat-cli", "--bin", name];
        built(root, &words)
    };
    let setting = Setting {
        deadheat: program("deadheat"),
        cargo_deadheat: program("cargo-deadheat"),
        copies: built(validation, &["build", "--release", "--bin", "copies"]),
        root: root.to_owned(),
        scratch,
        quick,
    };
    let page = Page {
        title: "Races of two builds: cost, errors and power",
        program: "builds",
        facts: &machine,
        quick,
    };
    let questions: &[Question<Setting>] = &[
        ("handing over", hand_over::section),
        ("time outside the samples", overhead::section),
        ("builds against their copies", against_itself::section),
        ("a difference of 1 %", one_percent::section),
        ("Google Benchmark executables", google::section),
        ("the same revisions once more", revisions::section),
    ];
    page.write(root, &setting, questions);
    let _ = fs::remove_dir_all(&setting.scratch);
}
