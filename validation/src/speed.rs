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

use deadheat_validation::prelude::*;
use std::io::BufWriter;

use deadheat_validation::made_run::MadeRun;
use deadheat_validation::workloads::one_percent;

/// Blocks of a replicate of the runs that are made, which have 40.
const BLOCKS: u32 = 25;
const LAUNCHES: usize = 202;

struct Programs {
    name: &'static str,
    deadheat: PathBuf,
    suite: PathBuf,
    /// A package whose bench target races one pair, for `cargo deadheat`.
    package: PathBuf,
}

struct Setting {
    scratch: Scratch,
    new: Programs,
    old: Option<Programs>,
    quick: bool,
}

struct Row {
    what: &'static str,
    command: fn(&Programs, &Path) -> Vec<String>,
    /// At most, of each of the parts.
    milliseconds: Option<u32>,
    parts: usize,
    megabytes: Option<u32>,
    rounds: usize,
}

impl Setting {
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}

fn main() {
    let asked = Wanted::of_options(&["quick", "old"]);
    let quick = asked.quick;
    let old = asked.old.map(|old| fs::canonicalize(&old).expect("the checkout"));
    let root = repository();
    let scratch = Scratch::new("speed");
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
    drop(setting);
    exit(i32::from(!kept));
}

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
    Programs { name, deadheat, suite: built(&root.join("validation"), &suite), package }
}

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
            .benchmark(\"1% more\")
            .input(|seed| seed)
            .baseline(\"mixing\", |_| one::mixing(15_000))
            .candidate(\"more mixing\", |_| one::mixing(15_150));
    });
}
";

fn make_files(setting: &Setting) {
    let scratch = &setting.scratch;
    let shape = |benchmarks: usize, repetitions, seed, slower| Shape {
        benchmarks: setting.count(benchmarks, benchmarks / 20),
        repetitions,
        slower,
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

fn told(programs: &Programs, scratch: &Path, words: &[&str]) -> Vec<String> {
    let place = |word: &&str| {
        if word.contains(".json") || word.ends_with(".csv") || word.ends_with(".html") {
            text(&scratch.join(word)).to_owned()
        } else {
            (*word).to_owned()
        }
    };
    let program = text(&programs.deadheat).to_owned();
    [program].into_iter().chain(words.iter().map(place)).collect()
}

fn raced(programs: &Programs, races: usize) -> Vec<String> {
    let words = [text(&programs.suite), "--bench", "-q", "--exact"];
    let words = words.into_iter().map(str::to_owned);
    words.chain((0..races).map(one_percent)).collect()
}

/// A row that is held to milliseconds and megabytes.
const fn row(
    what: &'static str,
    (milliseconds, megabytes): (Option<u32>, Option<u32>),
    rounds: usize,
    command: fn(&Programs, &Path) -> Vec<String>,
) -> Row {
    Row { what, command, milliseconds, parts: 1, megabytes, rounds }
}

const ROWS: [Row; 10] = [
    row("one race of 1% of 25 µs", (Some(22), None), 40, |programs, _| raced(programs, 1)),
    Row {
        parts: 100,
        ..row("the same in a suite of 100, each", (Some(15), None), 5, |programs, _| {
            raced(programs, 100)
        })
    },
    row("the same by `cargo deadheat`, all compiled", (Some(200), None), 20, |programs, _| {
        let words = format!(
            "cd '{}' && PATH='{}':\"$PATH\" exec cargo deadheat -- -q",
            text(&programs.package),
            text(programs.deadheat.parent().expect("a folder")),
        );
        ["sh", "-c", &words].map(str::to_owned).to_vec()
    }),
    row("`compare`, 68,000 rows a side", (Some(150), Some(80)), 10, |programs, scratch| {
        told(programs, scratch, &["compare", "old.json", "new.json"])
    }),
    row("`compare --compat`, the same", (Some(200), Some(80)), 10, |programs, scratch| {
        let words = ["compare", "--compat", "benchmarks", "old.json", "new.json"];
        told(programs, scratch, &words)
    }),
    row("`compare`, 1,000,000 rows a side", (None, Some(300)), 3, |programs, scratch| {
        told(programs, scratch, &["compare", "old-million.json", "new-million.json"])
    }),
    row("`compare --compat`, the same", (None, Some(300)), 3, |programs, scratch| {
        let words = ["compare", "--compat", "benchmarks", "old-million.json", "new-million.json"];
        told(programs, scratch, &words)
    }),
    row("1,000,000 samples of a run file → JSON", (Some(500), None), 10, |programs, scratch| {
        told(programs, scratch, &["analyze", "million.jsonl", "--json"])
    }),
    row("page of 500 benchmarks × 4,000 samples", (Some(700), None), 10, |programs, scratch| {
        told(programs, scratch, &["report", "large.jsonl", "--html", &page_of(programs)])
    }),
    row("tidy CSV of 2,000,000 rows → page", (Some(1_000), Some(80)), 5, |programs, scratch| {
        told(programs, scratch, &["report", "tidy.csv", "--html", "tidy.html"])
    }),
];

fn page_of(programs: &Programs) -> String {
    format!("{}.html", programs.name)
}

fn rows(setting: &Setting) -> Section {
    let mut section = Section {
        text: "## Times\n\n\
             Each time is that of a whole program, with its files in the page cache and its output \
             discarded. The programs take turns in rounds. The first three rows measure races of \
             functions in separate processes. The columns are:\n\n\
             - *now* and *before*: the median time of the given number of rounds. The programs are \
             builds by `cargo build --release`, *now* of this commit and *before* of an earlier \
             commit.\n\
             - *memory before* and the *now* next to it: the median over the rounds of the largest \
             resident set.\n\
             - *change*: the change in time from before to now, as `deadheat run` reports it, with \
             its 95% interval.\n\n\
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
    if let Some(bar) = row.milliseconds {
        let measured = milliseconds(now);
        section.bars.push(Bar::at_most(row.what, measured, f64::from(bar), 1, "ms"));
    }
    if let Some(bar) = row.megabytes {
        let what = format!("{}: memory", row.what);
        section.bars.push(Bar::at_most(what, megabytes(now), f64::from(bar), 0, "MB"));
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

fn within(scratch: &Path, words: &[String]) -> Vec<String> {
    let mut command = ["env", "-C", text(scratch)].map(str::to_owned).to_vec();
    command.extend_from_slice(words);
    command
}

fn changed(setting: &Setting, row: &Row, old: &Programs) -> String {
    let quoted = |programs: &Programs| {
        let words = within(&setting.scratch, &(row.command)(programs, &setting.scratch));
        let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
        quoted.collect::<Vec<_>>().join(" ")
    };
    let mut command = Command::new(&setting.new.deadheat);
    command.args(["run", "--json", "-q", "-w", "1", "--margin", "2%", "--budget"]);
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
        (Some(low), Some(high)) => format!("{change}% ({low} to {high})"),
        _ => format!("{change}%"),
    }
}

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

fn launches(setting: &Setting) -> Section {
    let mut section =
        Section { text: "## Launches compared with hyperfine\n\n".to_owned(), bars: Vec::new() };
    let runs = (LAUNCHES / 2).to_string();
    let peer = ["-N", "-w", "0", "-r", &runs, "true", "true"];
    if Command::new("hyperfine").arg("--version").output().is_err() {
        section.text += "hyperfine is not installed here.\n\n";
        return section;
    }
    let words = ["run", "-q", "--margin", "0.001%", "--alpha", "0.0001", "--max-replicates", "40"];
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
        "This section compares `deadheat run true true` to 40 replicates with `hyperfine -N true \
         true`. Both make {LAUNCHES} launches, including deadheat's priming launches. deadheat \
         takes {} times as long as hyperfine (median of {rounds} rounds in turns).",
        up(ratio, 3),
    );
    let what = "a launch of `run true true` / one of `hyperfine -N`";
    section.bars.push(Bar::at_most(what, ratio, 0.95, 3, ""));
    section
}

fn notes(_setting: &Setting) -> Section {
    Section { text: NOTES.to_owned(), bars: Vec::new() }
}

const NOTES: &str = include_str!("speed_notes.md");
