//! The time until two revisions of a repository are raced that were raced before.

use crate::{Setting, text};
use deadheat_validation::prelude::*;

const SECONDS: f64 = 2.0;

const BENCH: &str = "fn main() {
    deadheat::main(|suite| {
        suite.benchmark(\"sum\").input(|seed| seed).baseline(\"loop\", |seed| (0..1_000).fold(*seed, |sum: u64, i| sum.rotate_left(7) ^ i));
    });
}
";

pub fn section(setting: &Setting) -> Section {
    let repository = setting.shop.scratched("repository");
    make(setting, &repository);
    // Everything but the races: builds found or made, programs inspected.
    let list = |words: &[&str]| {
        let began = Instant::now();
        let status = Command::new(&setting.cargo_deadheat)
            .args(words)
            .args(["--", "--list"])
            .current_dir(&repository)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("cargo-deadheat runs");
        assert!(status.success(), "cargo deadheat {words:?} failed");
        began.elapsed().as_secs_f64()
    };
    let words = ["HEAD~1"];
    let first = list(&words);
    let again: Vec<f64> = (0..setting.shop.count(10, 2)).map(|_| list(&words)).collect();
    Section {
        text: format!(
            "## The same revisions again\n\n\
             `cargo deadheat HEAD~1` runs in a small repository whose only dependency is deadheat. \
             The time ends at the first calibration run. The first call builds both revisions from \
             scratch and takes {first:.1} s. Later calls take {} s, median (range) over {} \
             calls.\n\n",
            spread(&again, 2),
            again.len()
        ),
        bars: vec![Bar::at_most(
            "the same revisions again, up to the first calibration run",
            median(again),
            SECONDS,
            2,
            "s",
        )],
    }
}

fn make(setting: &Setting, repository: &Path) {
    let write = |name: &str, text: &str| {
        let file = repository.join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        fs::write(file, text).expect("a file");
    };
    let deadheat = setting.shop.root.join("crates/deadheat");
    write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dev-dependencies]\ndeadheat = {{ path = \"{}\" }}\n\n\
             [[bench]]\nname = \"sums\"\nharness = false\n\n[workspace]\n",
            text(&deadheat)
        ),
    );
    write("src/lib.rs", "");
    write(".gitignore", "/target\n.deadheat\n");
    write("benches/sums.rs", BENCH);
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=e@example.org"]);
        git.args(words).current_dir(repository).stdout(Stdio::null());
        done(&mut git);
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "one"]);
    write("benches/sums.rs", &BENCH.replace("1_000", "1_010"));
    git(&["commit", "--quiet", "-a", "-m", "two"]);
}
