//! The cost of depending on deadheat.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deadheat_validation::machine::cores;
use deadheat_validation::process::{Cost, cost};
use serde_json::Value;

use crate::Setting;
use deadheat_validation::bars::{Bar, Section, up};

const CRATES: f64 = 30.0;
const SECONDS: f64 = 20.0;
/// The cores the bar speaks of.
const JOBS: &str = "2";
/// The number of crates that are named where the time goes.
const SLOWEST: usize = 5;

pub fn section(setting: &Setting) -> Section {
    let project = fresh_project(setting);
    let crates = crates(&project);
    let mut text = format!(
        "## As a dependency\n\n\
         A fresh project with `deadheat` among its dev-dependencies and one bench target; crates already \
         downloaded, nothing built. {JOBS} jobs on a machine of {} cores, idle.\n\n\
         | what | |\n| --- | --- |\n| crates in the tree (`cargo tree`, `deadheat` and its rooms included) | {} |\n",
        cores(),
        crates.len()
    );
    let mut bars = vec![Bar::at_most(
        "crates in the tree of a project that depends on deadheat",
        crates.len() as f64,
        CRATES,
        0,
        "",
    )];
    let mut slowest = String::new();
    let builds = [
        (
            "`cargo build --benches`, profile `dev`",
            vec!["build", "--benches"],
        ),
        (
            "`cargo bench --no-run`, profile `bench`",
            vec!["bench", "--no-run"],
        ),
    ];
    for (what, words) in builds {
        let (cost, units) = cold_build(&project, &words);
        let _ = writeln!(
            text,
            "| cold build by {what}, seconds | {} |\n| … of CPU time | {} |",
            up(cost.wall, 1),
            up(cost.cpu, 1)
        );
        bars.push(Bar::at_most(
            format!("cold build by {what}"),
            cost.wall,
            SECONDS,
            1,
            "s",
        ));
        let _ = writeln!(slowest, "\nThe longest of {what}: {units}.");
    }
    text += &slowest;
    text += "\n";
    Section { text, bars }
}

fn fresh_project(setting: &Setting) -> PathBuf {
    let project = setting.scratch.join("fresh");
    fs::create_dir_all(project.join("src")).expect("a folder");
    fs::create_dir_all(project.join("benches")).expect("a folder");
    let deadheat = setting.root.join("crates/deadheat");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"fresh\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dev-dependencies]\ndeadheat = {{ path = {deadheat:?} }}\n\n\
         [[bench]]\nname = \"race\"\nharness = false\n"
    );
    let bench = "fn main() {\n    deadheat::main(|suite| {\n        suite\n            \
                 .benchmark(\"sum\")\n            .input(|seed| vec![seed; 1_000])\n            \
                 .baseline(\"forwards\", |numbers| numbers.iter().sum::<u64>())\n            \
                 .candidate(\"backwards\", |numbers| numbers.iter().rev().sum::<u64>());\n    });\n}\n";
    for (file, text) in [
        ("Cargo.toml", manifest.as_str()),
        ("src/lib.rs", ""),
        ("benches/race.rs", bench),
    ] {
        fs::write(project.join(file), text).expect("a file of the fresh project");
    }
    // The versions that the repository is tested with.
    fs::copy(setting.root.join("Cargo.lock"), project.join("Cargo.lock")).expect("a lock file");
    project
}

/// Names and versions of all there is to build below the project.
fn crates(project: &Path) -> BTreeSet<String> {
    let words = [
        "tree",
        "--offline",
        "--edges",
        "normal,build,dev",
        "--prefix",
        "none",
    ];
    let output = Command::new("cargo")
        .args(words)
        .current_dir(project)
        .stderr(Stdio::null())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo {words:?} failed");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| !line.starts_with("fresh "));
    lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some(format!("{} {}", words.next()?, words.next()?))
        })
        .collect()
}

/// A build that finds nothing, and which crates took longest.
fn cold_build(project: &Path, words: &[&str]) -> (Cost, String) {
    let target = project.join("target");
    let _ = fs::remove_dir_all(&target);
    let manifest = project.join("Cargo.toml");
    let mut words = words.to_vec();
    words.extend(["--offline", "--jobs", JOBS, "--timings", "--manifest-path"]);
    words.push(manifest.to_str().expect("a path in UTF-8"));
    words.push("--target-dir");
    words.push(target.to_str().expect("a path in UTF-8"));
    let cost = cost("cargo", &words);
    let timings = fs::read_to_string(target.join("cargo-timings/cargo-timing.html"));
    (cost, slowest(&timings.unwrap_or_default()))
}

/// The units that took longest, from the data in cargo's page of timings.
fn slowest(timings: &str) -> String {
    let data = timings.split_once("UNIT_DATA = ").map(|(_, rest)| rest);
    let mut values = data
        .into_iter()
        .flat_map(|data| serde_json::Deserializer::from_str(data).into_iter::<Value>());
    let Some(Ok(Value::Array(mut units))) = values.next() else {
        return "cargo does not say".to_owned();
    };
    let duration = |unit: &Value| unit["duration"].as_f64().unwrap_or(0.0);
    units.sort_by(|one, other| duration(other).total_cmp(&duration(one)));
    let named = units.iter().take(SLOWEST).map(|unit| {
        let name = unit["name"].as_str().unwrap_or("?");
        let target = unit["target"].as_str().unwrap_or("").trim();
        let target = if target.is_empty() {
            String::new()
        } else {
            format!(" ({target})")
        };
        format!("{name}{target} {} s", up(duration(unit), 1))
    });
    let sum: f64 = units.iter().map(duration).sum();
    format!(
        "{}; all {} units together {} s",
        named.collect::<Vec<_>>().join(", "),
        units.len(),
        up(sum, 1)
    )
}
