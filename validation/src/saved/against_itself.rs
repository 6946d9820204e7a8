//! The answers about an executable that was recorded twice.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deadheat_validation::bars::Section;
use deadheat_validation::binomial::share_bounds;
use deadheat_validation::google_compare::compared;
use serde_json::Value;

use crate::Setting;

/// Files of each side where several are pooled.
const POOLED: usize = 7;

/// The number of rows that a tool tells apart.
#[derive(Default)]
struct Count {
    rows: usize,
    apart: usize,
    dead_heats: usize,
}

impl Count {
    fn line(&self, name: &str) -> String {
        let (low, high) = share_bounds(self.apart as u64, self.rows as u64, 0.95);
        format!(
            "| {name} | {} | {} ({:.1} %) | {:.1} to {:.1} % | {} |",
            self.rows,
            self.apart,
            100.0 * self.apart as f64 / self.rows.max(1) as f64,
            low * 100.0,
            high * 100.0,
            self.dead_heats
        )
    }
}

pub fn section(setting: &Setting) -> Section {
    let executable = compiled(setting);
    let (mut peer, mut ours, mut pooled) = (Count::default(), Count::default(), Count::default());
    for round in 0..setting.count(3, 1) {
        let record = |name: &str| {
            let path = setting.scratched(&format!("{name}.json"));
            record(&executable, &path);
            path
        };
        // One side after the other, as a team records a release.
        let (old, new) = (record("old"), record("new"));
        if setting.peer {
            let theirs = compared(&old, &new, &setting.scratched("compared.json"), &[]);
            peer.rows += theirs.rows.len();
            peer.apart += theirs.rows.iter().filter(|row| row.is_told_apart()).count();
        }
        count(
            setting,
            &["compare".to_owned(), name(&old), name(&new)],
            &mut ours,
        );
        eprintln!(
            "  round {}: {} of {} told apart",
            round + 1,
            ours.apart,
            ours.rows
        );
        // Several launches of each, one side taking turns with the other.
        let mut sides = [vec!["--old".to_owned()], vec!["--new".to_owned()]];
        for launch in 0..POOLED {
            for side in &mut sides {
                let path = setting.scratched(&format!("{}-{launch}.json", &side[0][2..]));
                record_briefly(&executable, &path);
                side.push(name(&path));
            }
        }
        let words = std::iter::once("compare".to_owned()).chain(sides.concat());
        count(setting, &words.collect::<Vec<_>>(), &mut pooled);
    }
    let mut text = format!(
        "## An executable against itself\n\n\
         A Google Benchmark executable recorded twice, one recording after the other, 12 repetitions of .02 s each. Every difference is \
         wrong. `compare.py` calls a row different when its p-value of the time is below 5 %; deadheat's verdicts on such files are \
         provisional, and this is why: whatever drifted between the recordings counts as change, and no formula can tell. In the last \
         row each side was launched {POOLED} times, in turns, with 3 repetitions a launch: then a launch is an observation. Who wants to \
         know races the executables.\n\n\
         | what | rows | called different | 95 % bounds | dead heat |\n| --- | --- | --- | --- | --- |\n"
    );
    if setting.peer {
        let _ = writeln!(text, "{}", peer.line("`compare.py OLD NEW`"));
    }
    let _ = writeln!(
        text,
        "{}",
        ours.line("`deadheat compare OLD NEW`, provisional")
    );
    let several = format!("`deadheat compare --old … --new …`, {POOLED} files a side in turns");
    let _ = writeln!(text, "{}", pooled.line(&several));
    text += "\n";
    Section {
        text,
        bars: Vec::new(),
    }
}

fn name(path: &Path) -> String {
    crate::text(path).to_owned()
}

fn compiled(setting: &Setting) -> PathBuf {
    let program = setting.scratched("google");
    let source = setting.root.join("validation/builds/google.cpp");
    let status = Command::new("g++")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(source)
        .args(["-lbenchmark", "-lpthread"])
        .status();
    assert!(
        status.expect("g++ runs").success(),
        "the benchmarks compile"
    );
    program
}

fn record(executable: &Path, path: &Path) {
    launch(executable, path, "--benchmark_repetitions=12");
}

fn record_briefly(executable: &Path, path: &Path) {
    launch(executable, path, "--benchmark_repetitions=3");
}

fn launch(executable: &Path, path: &Path, repetitions: &str) {
    let status = Command::new(executable)
        .args([repetitions, "--benchmark_min_time=0.02"])
        .arg(format!("--benchmark_out={}", path.display()))
        .arg("--benchmark_out_format=json")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("it starts").success(), "the benchmarks run");
}

fn count(setting: &Setting, words: &[String], count: &mut Count) {
    let output = Command::new(&setting.deadheat)
        .args(words)
        .arg("--json")
        .stdin(Stdio::null())
        .output()
        .expect("deadheat runs");
    let analysis: Value = serde_json::from_slice(&output.stdout).expect("an analysis");
    for row in analysis["benchmarks"].as_array().expect("rows") {
        count.rows += 1;
        match row["verdict"].as_str() {
            Some("faster" | "slower") => count.apart += 1,
            Some("equivalent") => count.dead_heats += 1,
            _ => {}
        }
    }
}
