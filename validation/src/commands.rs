//! Races of whole commands on this machine: what they cost beside hyperfine,
//! and how often a command is told apart from itself.
//!
//! ```text
//! cargo build --profile dist && cargo run --release --manifest-path validation/Cargo.toml --bin commands
//! ```
//!
//! Writes `docs/validation/commands.md`. Takes about fifteen minutes, on a
//! machine that does nothing else. With `--quick` all is tried in small numbers
//! and printed, and nothing is written. `--only TEXT` asks only the questions that
//! hold this text, prints what came of them and writes nothing; `--races N` sets
//! the races of each row for 1 %.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use deadheat_validation::answer::Race;
use deadheat_validation::bars::Section;
use deadheat_validation::binomial::binomial_bound;
use deadheat_validation::known::{HEAD, Known, LEGEND, Outcome, Promise};
use deadheat_validation::launches::{by_deadheat, by_hyperfine, hyperfine_version};
use deadheat_validation::load::Load;
use deadheat_validation::machine::machine;
use deadheat_validation::page::{Asked, Page, Question};
use deadheat_validation::process::{Cost, cost, median, ratio};
use deadheat_validation::programs::built;
use serde_json::Value;

/// Where things are, and how much of everything is wanted.
struct Setting {
    root: PathBuf,
    deadheat: PathBuf,
    scratch: PathBuf,
    asked: Asked,
}

impl Setting {
    /// The full number, or the one of a quick trial.
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.asked.quick { quick } else { full }
    }

    fn deadheat(&self) -> &str {
        self.deadheat.to_str().expect("a path in UTF-8")
    }

    /// The answer to a race of two commands.
    fn race(&self, options: &[&str], commands: [&str; 2]) -> Value {
        let save = self.scratch.join("race.jsonl");
        let output = Command::new(&self.deadheat)
            .args(["run", "-q", "--json"])
            .args(options)
            .arg("--save")
            .arg(&save)
            .arg("--")
            .args(commands)
            .output()
            .expect("deadheat runs");
        let _ = fs::remove_file(&save);
        serde_json::from_slice(&output.stdout).expect("an analysis")
    }
}

fn main() {
    let asked = Asked::from_command_line();
    let machine = machine();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository")
        .to_owned();
    let scratch = std::env::temp_dir().join(format!("deadheat-validation-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let words = [
        "build",
        "--profile",
        "dist",
        "-p",
        "deadheat-cli",
        "--bin",
        "deadheat",
    ];
    let setting = Setting {
        deadheat: built(&root, &words),
        root,
        scratch,
        asked,
    };
    let page = Page {
        title: "Races of commands: cost, false verdicts and power",
        program: "commands",
        facts: &machine,
        quick: setting.asked.quick,
    };
    let questions: &[Question<Setting>] = &[
        ("cost beside hyperfine", beside_hyperfine),
        ("memory and analysis", memory_and_analysis),
        ("a command of 20 ms", one_percent),
        ("a command against itself", against_itself),
    ];
    page.write_asked(&setting.root, &setting, questions, &setting.asked);
    let _ = fs::remove_dir_all(&setting.scratch);
}

/// A part of the page that promises nothing.
fn told(text: String) -> Section {
    Section {
        text,
        bars: Vec::new(),
    }
}

/// A command that does exactly 1 % more, idle and with every core taken.
fn one_percent(setting: &Setting) -> Section {
    let races = setting.asked.races(40, 2);
    let words = ["build", "--release", "--bin", "busy"];
    let busy = built(&setting.root.join("validation/peers"), &words);
    let commands = [0, 1].map(|percent| format!("{} {percent}", busy.display()));
    let [less, more] = [&*commands[0], &*commands[1]];
    let mut section = told(format!(
        "## A command of 20 ms\n\n\
         A program that does twelve million steps in registers, against itself with exactly 1 % more of them, at the \
         defaults, {races} races a row. The start of the program belongs to its time, so the true change is some hundredths of a \
         point less. Loaded means that a busy loop runs on every core at the same time. A race ends as soon as its verdict is sure, and that of \
         1 % is sure with an interval of nearly a point to either side; who also wants to know the size of a change asks for more \
         launches at least, as the rows with `-m` do. {LEGEND}\n\n{HEAD}"
    ));
    let mut row = |what: &str, options: &[&str], promise: Option<Promise>| {
        let race = |_| {
            let began = Instant::now();
            let answer = setting.race(options, [less, more]);
            let seconds = began.elapsed().as_secs_f64();
            let race = Race::all(&answer).unwrap_or_else(|problem| panic!("{problem}"));
            Outcome {
                verdict: race[0].verdict.clone(),
                percent: race[0].change.percent,
                seconds,
            }
        };
        let known = Known {
            what,
            percent: 1.0,
            races: (0..races).map(race).collect(),
        };
        section.text += &known.row(promise.map_or("–", |promise| promise.before));
        if let Some(promise) = promise {
            section.bars.extend(known.bars(&promise));
        }
    };
    let many = ["-m", "120"];
    row(
        "20 ms +1 %, idle",
        &[],
        Some(Promise {
            right: 0.97,
            seconds: 2.0,
            before: "88 % in 2.3 s",
        }),
    );
    row("20 ms +1 %, idle, `-m 120`", &many, None);
    let _load = Load::settled_on_every_core();
    row(
        "20 ms +1 %, loaded",
        &[],
        Some(Promise {
            right: 0.95,
            seconds: 4.0,
            before: "60 % in 4.4 s",
        }),
    );
    row("20 ms +1 %, loaded, `-m 120`", &many, None);
    section.text += "\n";
    section
}

/// The two tools take turns, so that both meet the same weather.
fn beside_hyperfine(setting: &Setting) -> Section {
    let rounds = setting.count(21, 1);
    let mut text = String::from(
        "## Cost beside hyperfine\n\n\
         Launches of `true`; ratios deadheat / hyperfine, median (range) over rounds in which \
         the two tools take turns.\n\n\
         | what | launches (deadheat / hyperfine) | wall | CPU |\n| --- | --- | --- | --- |\n",
    );
    let Some(version) = hyperfine_version() else {
        return told("## Cost beside hyperfine\n\nhyperfine is not installed here.\n\n".to_owned());
    };
    let save = setting.scratch.join("run.jsonl");
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
        for round in 0..rounds {
            let mut run_ours = || {
                let (cost, launched) = by_deadheat(&setting.deadheat, &save, each, commands);
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
        "\n{version}, {rounds} rounds. A race of two also launches the command that primes a block, untimed, if another one ran last.\n"
    );
    told(text)
}

fn memory_and_analysis(setting: &Setting) -> Section {
    let deadheat = setting.deadheat();
    let save = setting.scratch.join("large.jsonl");
    let save = save.to_str().expect("UTF-8");
    let args = [
        "run", "-q", "-r", "50000", "--save", save, "--", "true", "true",
    ];
    let racing = cost(deadheat, &args);
    // Before this program grows: a child's peak starts at its parent's size.
    let hundred = cost(deadheat, &["analyze", "--json", save]);
    let million = setting.scratch.join("million.jsonl");
    multiply(save, &million, 10);
    let million = million.to_str().expect("UTF-8");
    let analysing: Vec<Cost> = (0..7)
        .map(|_| cost(deadheat, &["analyze", "--json", million]))
        .collect();
    let seconds = median(analysing.iter().map(|c| c.wall));
    let bytes = fs::metadata(million).map_or(0, |meta| meta.len()) as f64 / 1e6;
    told(format!(
        "## Memory and analysis\n\n\
         | what | seconds | peak memory |\n| --- | --- | --- |\n\
         | racing `true` until 100,000 samples are recorded | {:.1} | {:.1} MiB |\n\
         | analysing those 100,000 samples to JSON, all secondary figures included | {:.2} | {:.1} MiB |\n\
         | the same for 1,000,000 samples (a run file of {bytes:.0} MB), median of 7 | {seconds:.2} | {:.0} MiB |\n\n",
        racing.wall, racing.peak_mib, hundred.wall, hundred.peak_mib, analysing[0].peak_mib
    ))
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
fn against_itself(setting: &Setting) -> Section {
    let races = setting.count(300, 3) as u64;
    let file = setting.scratch.join("input");
    fs::write(&file, vec![b'x'; 1 << 20]).expect("an input");
    let sum = format!("sha256sum {}", file.display());
    let mut text = format!(
        "## A command against itself\n\n\
         {races} races each at the defaults (alpha 5 %, margin 1 %, as many replicates as fit into 5 s, from 40 to 200), seeds 0 to {}.\n\n\
         | command | faster or slower | equivalent | too close to call | allowed (alpha = 5 %, 99 % bound) |\n\
         | --- | --- | --- | --- | --- |\n",
        races - 1
    );
    for command in ["true", "sleep 0.002", &sum] {
        let mut counts = [0u64; 3];
        for seed in 0..races {
            let analysis = setting.race(&["--seed", &seed.to_string()], [command; 2]);
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
            counts[0] as f64 / races as f64 * 100.0,
            counts[1],
            counts[2],
            binomial_bound(races, 0.05, 0.99)
        );
    }
    told(text)
}
