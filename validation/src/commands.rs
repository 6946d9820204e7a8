//! Races of whole commands on this machine: what they cost beside hyperfine,
//! and how often a command is told apart from itself.
//!
//! ```text
//! cargo build --profile dist && cargo run --release --manifest-path validation/Cargo.toml --bin commands
//! ```
//!
//! Writes `docs/validation/commands.md`. Takes about ten minutes, on a
//! machine that does nothing else.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_validation::binomial::binomial_bound;
use deadheat_validation::launches::{by_deadheat, by_hyperfine, hyperfine_version};
use deadheat_validation::machine::machine;
use deadheat_validation::process::{Cost, cost, median, ratio};
use serde_json::Value;

const ROUNDS: usize = 21;
const RACES: u64 = 300;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let deadheat = root.join("target/dist/deadheat");
    let deadheat = deadheat.to_str().expect("a path in UTF-8");
    let scratch = std::env::temp_dir().join(format!("deadheat-validation-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");

    let mut page = String::from("# Races of commands: cost and false verdicts\n\n");
    let command = "cargo build --profile dist && cargo run --release --manifest-path validation/Cargo.toml --bin commands";
    let _ = writeln!(page, "Written by `{command}`.\n\n{}\n", machine());
    page += &beside_hyperfine(deadheat, &scratch);
    page += &memory_and_analysis(deadheat, &scratch);
    page += &against_itself(deadheat, &scratch);
    let _ = fs::remove_dir_all(&scratch);

    let target: PathBuf = root.join("docs/validation/commands.md");
    fs::create_dir_all(target.parent().expect("docs/validation")).expect("docs/validation");
    fs::write(&target, &page).expect("the page can be written");
    println!("{page}");
}

/// The two tools take turns, so that both meet the same weather.
fn beside_hyperfine(deadheat: &str, scratch: &Path) -> String {
    let mut text = String::from(
        "## Cost beside hyperfine\n\n\
         Launches of `true`; ratios deadheat / hyperfine, median (range) over rounds in which \
         the two tools take turns.\n\n\
         | what | launches (deadheat / hyperfine) | wall | CPU |\n| --- | --- | --- | --- |\n",
    );
    let Some(version) = hyperfine_version() else {
        return "## Cost beside hyperfine\n\nhyperfine is not installed here.\n\n".to_owned();
    };
    let save = scratch.join("run.jsonl");
    let rows: [(&str, usize, &[&str]); 2] = [
        ("one command, 400 launches each", 400, &["true"]),
        (
            "two commands, 200 measured runs of each",
            200,
            &["true", "true"],
        ),
    ];
    for (what, each, commands) in rows {
        let (mut us, mut them): (Vec<Cost>, Vec<Cost>) = (Vec::new(), Vec::new());
        let mut launches = 0;
        for round in 0..ROUNDS {
            let mut run_ours = || {
                let (cost, launched) = by_deadheat(Path::new(deadheat), &save, each, commands);
                us.push(cost);
                launches = launched;
            };
            if round % 2 == 0 {
                run_ours();
            }
            them.push(by_hyperfine(each, commands));
            if round % 2 == 1 {
                run_ours();
            }
        }
        let wall = |list: &[Cost]| list.iter().map(|c| c.wall).collect::<Vec<f64>>();
        let cpu = |list: &[Cost]| list.iter().map(|c| c.cpu).collect::<Vec<f64>>();
        let _ = writeln!(
            text,
            "| {what} | {launches} / 400 | {} | {} |",
            ratio(&wall(&us), &wall(&them)),
            ratio(&cpu(&us), &cpu(&them))
        );
        let per_launch = us
            .iter()
            .zip(&them)
            .map(|(us, them)| us.wall / launches as f64 / (them.wall / 400.0));
        let _ = writeln!(text, "| … per launch | | {:.3} | |", median(per_launch));
    }
    let _ = writeln!(
        text,
        "\n{version}, {ROUNDS} rounds. A race of two also launches, untimed, the command that \
         primes a block when another one ran last.\n"
    );
    text
}

fn memory_and_analysis(deadheat: &str, scratch: &Path) -> String {
    let save = scratch.join("large.jsonl");
    let save = save.to_str().expect("UTF-8");
    let args = [
        "run", "-q", "-r", "50000", "--save", save, "--", "true", "true",
    ];
    let racing = cost(deadheat, &args);
    // Before this program grows: a child's peak starts at its parent's size.
    let hundred = cost(deadheat, &["analyze", "--json", save]);
    let million = scratch.join("million.jsonl");
    multiply(save, &million, 10);
    let million = million.to_str().expect("UTF-8");
    let analysing: Vec<Cost> = (0..7)
        .map(|_| cost(deadheat, &["analyze", "--json", million]))
        .collect();
    let seconds = median(analysing.iter().map(|c| c.wall));
    let bytes = fs::metadata(million).map_or(0, |meta| meta.len()) as f64 / 1e6;
    format!(
        "## Memory and analysis\n\n\
         | what | seconds | peak memory |\n| --- | --- | --- |\n\
         | racing `true` until 100,000 samples are recorded | {:.1} | {:.1} MiB |\n\
         | analysing those 100,000 samples to JSON, all secondary figures included | {:.2} | {:.1} MiB |\n\
         | the same for 1,000,000 samples (a run file of {bytes:.0} MB), median of 7 | {seconds:.2} | {:.0} MiB |\n\n",
        racing.wall, racing.peak_mib, hundred.wall, hundred.peak_mib, analysing[0].peak_mib
    )
}

/// A run file with every block so many times over.
fn multiply(from: &str, to: &Path, times: u32) {
    let text = fs::read_to_string(from).expect("the run");
    let mut lines: Vec<&str> = text.lines().collect();
    let end = lines.pop().expect("an end line");
    let mut header: Value = serde_json::from_str(lines.remove(0)).expect("a header");
    let blocks = lines.len() as u32 * times;
    header["plan"]["design"]["looks"]["at"] = serde_json::json!([blocks]);
    let mut out = BufWriter::new(fs::File::create(to).expect("a file for a million samples"));
    let mut write = |line: String| writeln!(out, "{line}").expect("room for a million samples");
    write(header.to_string());
    for number in 0..blocks {
        let line = lines[(number as usize) % lines.len()];
        let rest = line.split_once("],").expect("a block").1;
        write(format!("{{\"block\":[0,{number},0],{rest}"));
    }
    write(end.to_owned());
    out.flush().expect("room for a million samples");
}

/// A/A races: every call of faster or slower is wrong.
fn against_itself(deadheat: &str, scratch: &Path) -> String {
    let file = scratch.join("input");
    fs::write(&file, vec![b'x'; 1 << 20]).expect("an input");
    let sum = format!("sha256sum {}", file.display());
    let mut text = format!(
        "## A command against itself\n\n\
         {RACES} races each at the defaults (alpha 5 %, margin 1 %, as many replicates as fit into 5 s, from 40 to 200), seeds 0 to {}.\n\n\
         | command | faster or slower | equivalent | too close to call | allowed (alpha = 5 %, 99 % bound) |\n\
         | --- | --- | --- | --- | --- |\n",
        RACES - 1
    );
    for command in ["true", "sleep 0.002", &sum] {
        let mut counts = [0u64; 3];
        for seed in 0..RACES {
            let save = scratch.join(format!("aa-{seed}.jsonl"));
            let output = Command::new(deadheat)
                .args(["run", "-q", "--json", "--seed", &seed.to_string(), "--save"])
                .arg(&save)
                .args(["--", command, command])
                .output()
                .expect("deadheat runs");
            let _ = fs::remove_file(&save);
            let analysis: Value = serde_json::from_slice(&output.stdout).expect("an analysis");
            match analysis["benchmarks"][0]["verdict"].as_str() {
                Some("faster" | "slower") => counts[0] += 1,
                Some("equivalent") => counts[1] += 1,
                _ => counts[2] += 1,
            }
        }
        let shown = command.split(' ').next().unwrap_or(command);
        let shown = if shown == "sha256sum" {
            "sha256sum of 1 MiB"
        } else {
            command
        };
        let _ = writeln!(
            text,
            "| `{shown}` | {} ({:.1} %) | {} | {} | at most {} |",
            counts[0],
            counts[0] as f64 / RACES as f64 * 100.0,
            counts[1],
            counts[2],
            binomial_bound(RACES, 0.05, 0.99)
        );
    }
    text
}
