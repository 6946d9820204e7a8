//! Races of whole commands on this machine: whether 1% is found, and how often a command is told
//! apart from itself.
//!
//! Writes `docs/validation/commands.md`. Takes about fifteen minutes, on a machine that does
//! nothing else.

use deadheat_validation::prelude::*;

use deadheat_validation::known::{HEAD, Known, LEGEND, Outcome, Promise};

struct Setting {
    root: &'static Path,
    deadheat: PathBuf,
    scratch: Scratch,
    asked: Wanted,
}

impl Setting {
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.asked.quick { quick } else { full }
    }

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
    let asked = Wanted::questions_from_command_line();
    let machine = machine();
    let root = repository();
    let scratch = Scratch::new("validation");
    let words = ["build", "--profile", "dist", "-p", "deadheat-cli", "--bin", "deadheat"];
    let setting = Setting { deadheat: built(root, &words), root, scratch, asked };
    let page = Page {
        title: "Races of commands: false verdicts and power",
        program: "commands",
        facts: &machine,
        quick: setting.asked.quick,
    };
    let questions: &[Question<Setting>] =
        &[("a command of 20 ms", one_percent), ("a command against itself", against_itself)];
    page.write_asked(setting.root, &setting, questions, &setting.asked);
}

fn told(text: String) -> Section {
    Section { text, bars: Vec::new() }
}

/// A command that does exactly 1% more, idle and with every core taken.
fn one_percent(setting: &Setting) -> Section {
    let races = setting.asked.races(40, 2);
    let words = ["build", "--release", "--bin", "busy"];
    let busy = built(&setting.root.join("validation/peers"), &words);
    let commands = [0, 1].map(|percent| format!("{} {percent}", busy.display()));
    let [less, more] = [&*commands[0], &*commands[1]];
    let mut section = told(format!(
        "## A command of 20 ms\n\n\
         The baseline is a program that does twelve million steps in registers. The candidate is \
         the same program with exactly 1% more steps. Each row has {races} races, at the default \
         settings unless the row names an option. The time of a command includes the start of the \
         program, so the true change is some hundredths of a point below 1%. *Loaded* means that \
         every core also runs a busy loop. A race ends as soon as its verdict is certain, and for \
         1% the interval is then nearly a point wide on each side. For a precise size of the \
         change, ask for more launches, as the rows with `-m` do. {LEGEND}\n\n\
         {HEAD}"
    ));
    let mut row = |what: &str, options: &[&str], promise: Option<Promise>| {
        let race = |_| {
            let began = Instant::now();
            let answer = setting.race(options, [less, more]);
            let seconds = began.elapsed().as_secs_f64();
            let race = Race::all(&answer).unwrap_or_else(|problem| panic!("{problem}"));
            Outcome { verdict: race[0].verdict.clone(), percent: race[0].change.percent, seconds }
        };
        let known = Known { what, percent: 1.0, races: (0..races).map(race).collect() };
        section.text += &known.row(promise.map_or("–", |promise| promise.before));
        if let Some(promise) = promise {
            section.bars.extend(known.bars(&promise));
        }
    };
    let many = ["-m", "120"];
    row(
        "20 ms +1%, idle",
        &[],
        Some(Promise { right: 0.97, seconds: 2.0, before: "88% in 2.3 s" }),
    );
    row("20 ms +1%, idle, `-m 120`", &many, None);
    let _load = Load::settled_on_every_core();
    row(
        "20 ms +1%, loaded",
        &[],
        Some(Promise { right: 0.95, seconds: 4.0, before: "60% in 4.4 s" }),
    );
    row("20 ms +1%, loaded, `-m 120`", &many, None);
    section.text += "\n";
    section
}

/// A/A races: every call of faster or slower is wrong.
fn against_itself(setting: &Setting) -> Section {
    let races = setting.count(300, 3) as u64;
    let file = setting.scratch.join("input");
    fs::write(&file, vec![b'x'; 1 << 20]).expect("an input");
    let sum = format!("sha256sum {}", file.display());
    let mut text = format!(
        "## A command against itself\n\n\
         Each command races against itself {races} times, so every verdict of faster or slower is \
         wrong. The races use the defaults: alpha 5%, margin 1%, and as many replicates as fit \
         into 5 s, from 40 to 200. The seeds are 0 to {}. *Allowed* is the limit for the wrong \
         verdicts: if the true error rate is alpha, fewer than 1% of such experiments have \
         more.\n\n\
         | command | faster or slower | equivalent | too close to call | allowed (alpha = 5%, 99% bound) |\n\
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
        let shown = if shown == "sha256sum" { "sha256sum of 1 MiB" } else { command };
        let _ = writeln!(
            text,
            "| `{shown}` | {} ({:.1}%) | {} | {} | at most {} |",
            counts[0],
            counts[0] as f64 / races as f64 * 100.0,
            counts[1],
            counts[2],
            binomial_bound(races, 0.05, 0.99)
        );
    }
    told(text)
}
