//! Suites of criterion that race with deadheat's own criterion, without a change to their files.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::Finished;
use tempfile::TempDir;

/// The part of criterion that the suite uses. It measures nothing, so a race that answers has not
/// used it.
const THEIRS: &str = "\
pub struct Criterion;
pub struct Bencher;
impl Criterion {
    pub fn bench_function(&mut self, _: &str, _: impl FnMut(&mut Bencher)) {
        panic!(\"the suite's own criterion ran\");
    }
}
impl Bencher {
    pub fn iter<O>(&mut self, _: impl FnMut() -> O) {}
}
pub fn private_to_them() {}
#[macro_export]
macro_rules! criterion_group {
    ($name:ident, $($target:path),+) => {
        pub fn $name() { $($target(&mut $crate::Criterion);)+ }
    };
}
#[macro_export]
macro_rules! criterion_main {
    ($($group:path),+) => { fn main() { $($group();)+ } };
}
";

const MANIFEST: &str = "\
[package]
name = \"sums\"
version = \"0.1.0\"
edition = \"2021\"
[lib]
bench = false
[dev-dependencies]
criterion = { path = \"criterion\" }
[[bench]]
name = \"suite\"
harness = false
";

const SUITE: &str = "\
use criterion::{criterion_group, criterion_main, Criterion};
fn all(c: &mut Criterion) {
    c.bench_function(\"sum\", |b| b.iter(|| sums::sum(std::hint::black_box(4_000))));
}
criterion_group!(benches, all);
criterion_main!(benches);
";

fn library(steps: u64) -> String {
    format!(
        "pub fn sum(n: u64) -> u64 {{ (0..n * {steps}).fold(0, |a, b| std::hint::black_box(a ^ b)) }}\n"
    )
}

/// A package with a suite of criterion in a repository of git, and criterion in it.
struct Suite {
    folder: TempDir,
}

impl Suite {
    fn new() -> Self {
        let suite = Self {
            folder: TempDir::new().unwrap(),
        };
        let theirs = "[package]\nname = \"criterion\"\nversion = \"0.5.1\"\nedition = \"2021\"\n";
        suite.write("sums/criterion/Cargo.toml", theirs);
        suite.write("sums/criterion/src/lib.rs", THEIRS);
        suite.write("sums/Cargo.toml", MANIFEST);
        suite.write("sums/benches/suite.rs", SUITE);
        suite.write("sums/src/lib.rs", &library(1));
        suite.write("sums/.gitignore", "target\n");
        let lock = suite.run(env!("CARGO"), "sums", &["generate-lockfile"]);
        lock.succeeds();
        suite.git(&["init", "--quiet", "--initial-branch", "main"]);
        suite.commit();
        suite
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "change"]);
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let words = [&["-c", "user.name=n", "-c", "user.email=e@x"], args].concat();
        self.run("git", "sums", &words).succeeds().stdout.clone()
    }

    fn rev(&self, args: &[&str]) -> Finished {
        let words = [&["rev"], args].concat();
        self.run(env!("CARGO_BIN_EXE_deadheat"), "sums", &words)
    }

    fn run(&self, program: &str, folder: &str, args: &[&str]) -> Finished {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.folder.path().join(folder))
            .env("LC_ALL", "C.UTF-8")
            .env("DEADHEAT_CALIBRATION", "")
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .env("CARGO_NET_OFFLINE", "true")
            .stdin(Stdio::null());
        for variable in ["CARGO_TARGET_DIR", "RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"] {
            command.env_remove(variable);
        }
        Finished::from(command.output().unwrap())
    }

    fn libraries(&self) -> usize {
        let folder = self.folder.path().join("cache/deadheat/libraries");
        fs::read_dir(folder).map_or(0, |entries| {
            let paths = entries.map(|entry| entry.unwrap().path());
            paths.filter(|path| Path::is_dir(path)).count()
        })
    }
}

#[test]
fn a_suite_of_criterion_races_by_its_functions_and_no_file_of_it_changes() {
    let suite = Suite::new();
    suite.write("sums/src/lib.rs", &library(3));
    let own = suite.rev(&["HEAD..HEAD", "--criterion", "own", "--no-run"]);
    own.succeeds();
    assert_eq!(
        suite.libraries(),
        0,
        "the suite's own criterion needs no other"
    );

    let done = suite.rev(&["HEAD", "--max-replicates", "6", "--json"]);
    let answer = done.succeeds().json();
    let sum = &answer["benchmarks"][0];
    assert_eq!(
        (&sum["benchmark"], &sum["verdict"]),
        (&"sum".into(), &"slower".into()),
        "{sum}"
    );
    assert_eq!(
        sum["scope"], "source",
        "linked again for every replicate: {sum}"
    );
    assert!(
        done.stderr.contains("deadheat's own criterion"),
        "{}",
        done.stderr
    );
    assert_eq!(suite.libraries(), 1);
    assert_eq!(suite.git(&["status", "--porcelain"]), " M src/lib.rs\n");

    suite.commit();
    suite.write("sums/README.md", "sums\n");
    suite.commit();
    // On a busy machine, the few races of this search left a chance of 8% to several steps.
    let words = ["bisect", "HEAD~2..HEAD", "--json", "--alpha", "20%"];
    let found = suite.run(env!("CARGO_BIN_EXE_deadheat"), "sums", &words);
    let slower = suite.git(&["rev-parse", "HEAD~1"]);
    let answer = found.succeeds().json();
    assert_eq!(answer["answer"]["kind"], "commits", "{answer}");
    assert_eq!(answer["answer"]["commits"][0], slower.trim(), "{answer}");
    assert_eq!(suite.libraries(), 1);

    // What ours does not have, theirs has.
    let more = SUITE.replace("{\n    c.", "{\n    criterion::private_to_them();\n    c.");
    suite.write("sums/benches/suite.rs", &more);
    let done = suite.rev(&["HEAD", "--no-run"]);
    done.succeeds();
    assert!(
        done.stderr
            .contains("races with its own criterion, launch by launch"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("private_to_them"), "{}", done.stderr);

    // The library is at fault, and not deadheat's criterion.
    suite.write("sums/benches/suite.rs", SUITE);
    suite.write(
        "sums/src/lib.rs",
        "pub fn sum(n: u64) -> u64 { missing_here(n) }\n",
    );
    let done = suite.rev(&["HEAD", "--no-run"]);
    done.fails_with(3, &["missing_here", "working tree does not build"]);
    assert!(!done.stderr.contains("its own criterion"), "{done:?}");
    suite.write("sums/src/lib.rs", &library(1));

    // The suite cannot list its benchmarks.
    let panics = SUITE.replace("{\n    c.", "{\n    panic!(\"not today\");\n    c.");
    suite.write("sums/benches/suite.rs", &panics);
    let done = suite.rev(&["HEAD", "--benches-from", "working-tree"]);
    done.fails_with(
        3,
        &[
            "not today",
            "--criterion own races the suite with its own criterion",
        ],
    );

    let refused = suite.rev(&[
        "HEAD..HEAD",
        "--criterion",
        "swapped",
        "--build",
        "true",
        "--exe",
        "x",
    ]);
    refused.fails_with(2, &["--criterion applies only to builds by `cargo bench`"]);
}
