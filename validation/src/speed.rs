//! What whole programs take, from start to exit, and what they took before.
//!
//! ```text
//! git worktree add ../before COMMIT
//! cargo run --release --manifest-path validation/Cargo.toml --bin speed -- --old ../before
//! ```
//!
//! Writes `docs/validation/speed.md`. Builds the programs of both checkouts as `cargo build --release`
//! does, and then takes some ten minutes on a machine that does nothing else. Ratios are raced by deadheat. With `--quick` all is tried in small
//! numbers and printed, and nothing is written; without `--old` nothing is said of what was before.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

use deadheat_validation::bars::{Bar, Section, up};
use deadheat_validation::google_benchmark_files::Shape;
use deadheat_validation::machine::machine;
use deadheat_validation::made_run::MadeRun;
use deadheat_validation::page::Page;
use deadheat_validation::process::{Cost, cost, median};
use deadheat_validation::programs::{built, text};
use deadheat_validation::workloads::one_percent;
use serde_json::Value;

/// Blocks of a replicate of the runs that are made, which have 40.
const BLOCKS: u32 = 25;
/// Launches of `true` that are timed together.
const LAUNCHES: usize = 202;

/// The programs of a checkout.
struct Programs {
    /// The name of their columns.
    name: &'static str,
    deadheat: PathBuf,
    /// The races of `docs/validation/functions.md`.
    suite: PathBuf,
    /// A package whose bench target races one pair, for `cargo deadheat`.
    package: PathBuf,
}

struct Setting {
    scratch: PathBuf,
    new: Programs,
    old: Option<Programs>,
    quick: bool,
}

/// One thing to be done, and what it may take.
struct Row {
    what: &'static str,
    /// The program and its words.
    command: fn(&Programs, &Path) -> Vec<String>,
    /// Seconds at most; for all `parts` together.
    seconds: f64,
    /// Times the work is done by one process.
    parts: usize,
    megabytes: Option<f64>,
    rounds: usize,
}

impl Setting {
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}

fn main() {
    let (old, quick) = asked();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = root.expect("the repository");
    let scratch = std::env::temp_dir().join(format!("deadheat-speed-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let facts = machine();
    let setting = Setting {
        new: programs(root, "now", &scratch),
        old: old.map(|old| programs(&old, "before", &scratch)),
        quick,
        scratch,
    };
    make_files(&setting);
    let page = Page {
        title: "Speed: whole programs, from start to exit",
        program: "speed",
        facts: &facts,
        quick,
    };
    let kept = page.write(
        root,
        &setting,
        &[
            ("what is done", rows),
            ("the size of a page", size_of_page),
            ("launches beside hyperfine", launches),
            ("what the columns cannot say", notes),
        ],
    );
    let _ = fs::remove_dir_all(&setting.scratch);
    exit(i32::from(!kept));
}

/// The checkout of what was before, and whether this is only a trial.
fn asked() -> (Option<PathBuf>, bool) {
    let (mut old, mut quick) = (None, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match (word.as_str(), words.len()) {
            ("--quick", _) => quick = true,
            ("--old", 1..) => old = words.next().map(PathBuf::from),
            _ => {
                eprintln!("there is no option {word}; there are --quick and --old CHECKOUT");
                exit(2);
            }
        }
    }
    let old = old.map(|old| fs::canonicalize(&old).expect("the checkout"));
    (old, quick)
}

/// Builds what a checkout holds, and a package beside it.
fn programs(root: &Path, name: &'static str, scratch: &Path) -> Programs {
    eprintln!("building what is called '{name}' ...");
    let words = ["build", "--locked", "--release"];
    let of_program = ["-p", "deadheat-cli", "--bin", "deadheat"];
    let all = ["-p", "deadheat-cli", "--bin", "cargo-deadheat"];
    built(root, &[&words[..], &all].concat());
    let deadheat = built(root, &[&words[..], &of_program].concat());
    let suite = ["build", "--release", "--locked", "--bin", "suite"];
    let package = scratch.join(name);
    make_package(&package, root);
    Programs {
        name,
        deadheat,
        suite: built(&root.join("validation"), &suite),
        package,
    }
}

/// A package with one pair of functions, 1 % apart.
fn make_package(folder: &Path, root: &Path) {
    fs::create_dir_all(folder.join("benches")).expect("a folder");
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let manifest = format!(
        "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\nbench = false\n\n\
         [dev-dependencies]\ndeadheat = {{ path = {:?} }}\n\n\
         [[bench]]\nname = \"one\"\nharness = false\n\n[workspace]\n",
        root.join("crates/deadheat")
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    fs::write(folder.join("src/lib.rs"), LIBRARY).expect("a library");
    fs::write(folder.join("benches/one.rs"), BENCH).expect("a bench target");
}

const LIBRARY: &str = "use std::hint::black_box;

#[inline(never)]
pub fn mixing(steps: u32) -> u64 {
    let mut state: u64 = black_box(1);
    for _ in 0..steps {
        state = (state ^ (state >> 31)).wrapping_mul(0x6A09_E667_F3BC_C909);
    }
    state
}
";

const BENCH: &str = "fn main() {
    deadheat::main(|suite| {
        suite
            .benchmark(\"1 % more\")
            .input(|seed| seed)
            .baseline(\"mixing\", |_| one::mixing(15_000))
            .candidate(\"more mixing\", |_| one::mixing(15_150));
    });
}
";

/// Files of other tools, runs and tables, made from seeds.
fn make_files(setting: &Setting) {
    let scratch = &setting.scratch;
    let shape = |benchmarks: usize, repetitions, seed, slower| Shape {
        benchmarks: setting.count(benchmarks, benchmarks / 20),
        repetitions,
        slower,
        ties: false,
        seed,
    };
    shape(2_000, 30, 1, 0.0).write(&scratch.join("old.json"));
    shape(2_000, 30, 2, 0.05).write(&scratch.join("new.json"));
    shape(50_000, 16, 3, 0.0).write(&scratch.join("old-million.json"));
    shape(50_000, 16, 4, 0.05).write(&scratch.join("new-million.json"));
    MadeRun::new(setting.count(250, 10), BLOCKS).write(&scratch.join("million.jsonl"));
    MadeRun::new(setting.count(500, 20), BLOCKS).write(&scratch.join("large.jsonl"));
    let file = fs::File::create(scratch.join("tidy.csv")).expect("a file");
    let mut out = BufWriter::new(file);
    out.write_all(b"benchmark,replicate,block,slot,contender,role,iterations,wall_ns,cpu_ns\n")
        .expect("room");
    let sides = [("old", "baseline"), ("new", "candidate")];
    MadeRun::new(10, setting.count(1_250, 25) as u32).for_each_block(|block| {
        let values = block.values.chunks_exact(7);
        for (slot, (sample, values)) in block.samples.iter().zip(values).enumerate() {
            let (name, role) = sides[sample.contender.index()];
            writeln!(
                out,
                "bench_{},{},{},{slot},{name},{role},{},{},{}",
                block.benchmark,
                block.replicate,
                block.index,
                sample.iterations,
                values[0],
                values[1]
            )
            .expect("room");
        }
    });
    out.flush().expect("room");
}

/// The words of `deadheat`, files of the scratch folder among them.
fn told(programs: &Programs, scratch: &Path, words: &[&str]) -> Vec<String> {
    let place = |word: &&str| {
        if word.contains(".json") || word.ends_with(".csv") || word.ends_with(".html") {
            text(&scratch.join(word)).to_owned()
        } else {
            (*word).to_owned()
        }
    };
    let program = text(&programs.deadheat).to_owned();
    [program]
        .into_iter()
        .chain(words.iter().map(place))
        .collect()
}

/// So many races of the suite.
fn raced(programs: &Programs, races: usize) -> Vec<String> {
    let words = [text(&programs.suite), "--bench", "-q", "--exact"];
    let words = words.into_iter().map(str::to_owned);
    words.chain((0..races).map(one_percent)).collect()
}

const ROWS: [Row; 10] = [
    Row {
        what: "one race of 1 % of 25 µs",
        command: |programs, _| raced(programs, 1),
        seconds: 0.022,
        parts: 1,
        megabytes: None,
        rounds: 40,
    },
    Row {
        what: "the same in a suite of 100, each",
        command: |programs, _| raced(programs, 100),
        seconds: 0.015,
        parts: 100,
        megabytes: None,
        rounds: 5,
    },
    Row {
        what: "the same by `cargo deadheat`, all compiled",
        command: |programs, _| {
            let words = format!(
                "cd '{}' && PATH='{}':\"$PATH\" exec cargo deadheat -- -q",
                text(&programs.package),
                text(programs.deadheat.parent().expect("a folder")),
            );
            ["sh", "-c", &words].map(str::to_owned).to_vec()
        },
        seconds: 0.2,
        parts: 1,
        megabytes: None,
        rounds: 20,
    },
    Row {
        what: "`compare`, 68,000 rows a side",
        command: |programs, scratch| told(programs, scratch, &["compare", "old.json", "new.json"]),
        seconds: 0.15,
        parts: 1,
        megabytes: Some(80.0),
        rounds: 10,
    },
    Row {
        what: "`compare --compat`, the same",
        command: |programs, scratch| {
            let words = ["compare", "--compat", "benchmarks", "old.json", "new.json"];
            told(programs, scratch, &words)
        },
        seconds: 0.2,
        parts: 1,
        megabytes: Some(80.0),
        rounds: 10,
    },
    Row {
        what: "`compare`, 1,000,000 rows a side",
        command: |programs, scratch| {
            let words = ["compare", "old-million.json", "new-million.json"];
            told(programs, scratch, &words)
        },
        seconds: f64::INFINITY,
        parts: 1,
        megabytes: Some(300.0),
        rounds: 3,
    },
    Row {
        what: "`compare --compat`, the same",
        command: |programs, scratch| {
            let files = ["old-million.json", "new-million.json"];
            let words = [&["compare", "--compat", "benchmarks"], &files[..]].concat();
            told(programs, scratch, &words)
        },
        seconds: f64::INFINITY,
        parts: 1,
        megabytes: Some(300.0),
        rounds: 3,
    },
    Row {
        what: "1,000,000 samples of a run file → JSON",
        command: |programs, scratch| {
            told(programs, scratch, &["analyze", "million.jsonl", "--json"])
        },
        seconds: 0.5,
        parts: 1,
        megabytes: None,
        rounds: 10,
    },
    Row {
        what: "page of 500 benchmarks × 4,000 samples",
        command: |programs, scratch| {
            let page = page_of(programs);
            told(
                programs,
                scratch,
                &["report", "large.jsonl", "--html", &page],
            )
        },
        seconds: 0.7,
        parts: 1,
        megabytes: None,
        rounds: 10,
    },
    Row {
        what: "tidy CSV of 2,000,000 rows → page",
        command: |programs, scratch| {
            let words = ["report", "tidy.csv", "--html", "tidy.html"];
            told(programs, scratch, &words)
        },
        seconds: 1.0,
        parts: 1,
        megabytes: Some(80.0),
        rounds: 5,
    },
];

fn page_of(programs: &Programs) -> String {
    format!("{}.html", programs.name)
}

/// The section on what everything takes, and the ratio to what it took.
fn rows(setting: &Setting) -> Section {
    let mut section = Section {
        text: "## What is done\n\n\
             Whole programs, files in the page cache, output discarded: the median of the given number of rounds in which the programs take turns, and the largest resident set. *Now* and *before* are what `cargo \
             build --release` makes of this and of an earlier commit. Races are of functions in processes of \
             their own. The change is that from before to now as `deadheat run` calls it, with its 95 % \
             interval.\n\n\
             | what | rounds | before | now | memory before | now | change |\n\
             | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned(),
        bars: Vec::new(),
    };
    for row in &ROWS {
        add_row(setting, row, &mut section);
    }
    section.text += "\n";
    section
}

fn add_row(setting: &Setting, row: &Row, section: &mut Section) {
    let rounds = setting.count(row.rounds, 1);
    let all: Vec<&Programs> = setting.old.iter().chain([&setting.new]).collect();
    let costs = taking_turns(setting, row, &all, rounds);
    let milliseconds = |costs: &[Cost]| {
        let each = costs.iter().map(|cost| cost.wall * 1e3);
        median(each) / row.parts as f64
    };
    let megabytes = |costs: &[Cost]| {
        let each = costs.iter().map(|cost| cost.peak_mib);
        median(each) * f64::from(1 << 20) / 1e6
    };
    let (now, before) = costs.split_last().expect("what is now");
    let of = |costs: Option<&Vec<Cost>>, of: &dyn Fn(&[Cost]) -> f64, unit: &str| {
        costs.map_or("–".to_owned(), |costs| {
            let value = of(costs);
            format!("{} {unit}", up(value, if value < 100.0 { 1 } else { 0 }))
        })
    };
    let change = match &setting.old {
        Some(old) => changed(setting, row, old),
        None => "–".to_owned(),
    };
    let _ = writeln!(
        section.text,
        "| {} | {rounds} | {} | {} | {} | {} | {change} |",
        row.what,
        of(before.first(), &milliseconds, "ms"),
        of(Some(now), &milliseconds, "ms"),
        of(before.first(), &megabytes, "MB"),
        of(Some(now), &megabytes, "MB"),
    );
    if row.seconds.is_finite() {
        let (measured, bar) = (milliseconds(now), row.seconds * 1e3);
        section
            .bars
            .push(Bar::at_most(row.what, measured, bar, 1, "ms"));
    }
    if let Some(bar) = row.megabytes {
        let what = format!("{}: memory", row.what);
        section
            .bars
            .push(Bar::at_most(what, megabytes(now), bar, 0, "MB"));
    }
}

/// The costs of each of these programs, which take turns.
fn taking_turns(setting: &Setting, row: &Row, all: &[&Programs], rounds: usize) -> Vec<Vec<Cost>> {
    let mut costs = vec![Vec::new(); all.len()];
    for round in 0..=rounds {
        for (programs, costs) in all.iter().zip(&mut costs) {
            let words = within(&setting.scratch, &(row.command)(programs, &setting.scratch));
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let taken = cost(words[0], &words[1..]);
            // The first finds nothing compiled, and files out of the cache.
            if round > 0 {
                costs.push(taken);
            }
        }
    }
    costs
}

/// A command that runs in the scratch folder, where races leave their runs.
fn within(scratch: &Path, words: &[String]) -> Vec<String> {
    let mut command = ["env", "-C", text(scratch)].map(str::to_owned).to_vec();
    command.extend_from_slice(words);
    command
}

/// The change from before to now, as deadheat calls it.
fn changed(setting: &Setting, row: &Row, old: &Programs) -> String {
    let quoted = |programs: &Programs| {
        let words = within(&setting.scratch, &(row.command)(programs, &setting.scratch));
        let quoted = words
            .iter()
            .map(|word| format!("'{}'", word.replace('\'', "'\\''")));
        quoted.collect::<Vec<_>>().join(" ")
    };
    let mut command = Command::new(&setting.new.deadheat);
    command.args([
        "run", "--json", "-q", "-w", "1", "--margin", "2%", "--budget",
    ]);
    command.arg(if setting.quick { "2s" } else { "20s" });
    let output = command
        .args(["--", &quoted(old), &quoted(&setting.new)])
        .current_dir(&setting.scratch)
        .output()
        .expect("deadheat");
    let json: Value = serde_json::from_slice(&output.stdout).expect("an analysis");
    let found = &json["benchmarks"][0];
    let percent = |value: &Value| value.as_f64().map(|value| format!("{:+.1}", value * 100.0));
    let change = percent(&found["change"]).unwrap_or_default();
    match (percent(&found["ci"][0]), percent(&found["ci"][1])) {
        (Some(low), Some(high)) => format!("{change} % ({low} to {high})"),
        _ => format!("{change} %"),
    }
}

/// The section on how large the page of many benchmarks is.
fn size_of_page(setting: &Setting) -> Section {
    let size = |programs: &Programs| {
        let page = fs::metadata(setting.scratch.join(page_of(programs)));
        page.expect("the page").len() as f64 / 1e6
    };
    let (now, before) = (size(&setting.new), setting.old.as_ref().map(size));
    let before = before.map_or(String::new(), |mb| format!(", before {} MB", up(mb, 1)));
    Section {
        text: format!(
            "## The size of a page\n\n500 benchmarks of 4,000 samples: {} MB{before}.\n\n",
            up(now, 1)
        ),
        bars: vec![Bar::at_most("page of 500 × 4,000", now, 12.0, 1, "MB")],
    }
}

/// The section on launches of `true`, beside hyperfine.
fn launches(setting: &Setting) -> Section {
    let mut section = Section {
        text: "## Launches beside hyperfine\n\n".to_owned(),
        bars: Vec::new(),
    };
    let runs = (LAUNCHES / 2).to_string();
    let peer = ["-N", "-w", "0", "-r", &runs, "true", "true"];
    if Command::new("hyperfine").arg("--version").output().is_err() {
        section.text += "There is no hyperfine here.\n\n";
        return section;
    }
    let words = [
        "run",
        "-q",
        "--margin",
        "0.001%",
        "--alpha",
        "0.0001",
        "--max-replicates",
        "40",
    ];
    let words = [&words[..], &["--", "true", "true"]].concat();
    let mut ratios = Vec::new();
    let command = [vec![text(&setting.new.deadheat)], words].concat();
    let command: Vec<String> = command.into_iter().map(str::to_owned).collect();
    let command = within(&setting.scratch, &command);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    for _ in 0..setting.count(21, 2) {
        let peers = cost("hyperfine", &peer).wall;
        ratios.push(cost(command[0], &command[1..]).wall / peers);
    }
    let rounds = ratios.len();
    let ratio = median(ratios);
    let _ = writeln!(
        section.text,
        "`deadheat run true true` to 40 replicates beside `hyperfine -N true true`, {LAUNCHES} launches \
         each, deadheat's with those that prime blocks: {} times as long, median of {rounds} rounds in \
         turns.\n",
        up(ratio, 3),
    );
    let what = "a launch of `run true true` / one of `hyperfine -N`";
    section.bars.push(Bar::at_most(what, ratio, 0.95, 3, ""));
    section
}

/// The section on what was tried, and where the limits are.
fn notes(_setting: &Setting) -> Section {
    Section {
        text: NOTES.to_owned(),
        bars: Vec::new(),
    }
}

const NOTES: &str = include_str!("speed_notes.md");
