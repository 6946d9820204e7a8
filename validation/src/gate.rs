//! Whole suites under a gate on this machine: how often one turns red in which nothing changed, by
//! one race and by a second one of what is slower, and how often for one benchmark that is slower.
//!
//! Writes `docs/validation/gate.md`. Takes some five minutes, on a machine that does nothing else.

use deadheat_validation::prelude::*;
use std::cell::Cell;

use deadheat_validation::programs;
use deadheat_validation::workloads::{GATED, TWO_PERCENT, gated};

/// Suites of each kind, and those of a trial.
const SUITES: (usize, usize) = (40, 2);
const SLOWER_SUITES: (usize, usize) = (15, 2);

/// So small that no dead heat hides a wrong verdict, and as many replicates as fit into the time.
const TERMS: [&str; 4] = ["--margin", "0.02%", "--max-replicates", "20"];

/// A rule that a second race does or does not confirm.
const GATES: [(&str, &[&str]); 2] = [
    ("one race", &["--fail-on", "slower"]),
    ("`--confirm`", &["--fail-on", "slower", "--confirm"]),
];

struct Setting {
    program: PathBuf,
    scratch: Scratch,
    runs: Cell<usize>,
    quick: bool,
}

struct Suite {
    seconds: f64,
    slower: usize,
    faster: usize,
    failing: Vec<String>,
    /// True if the exit code was 1.
    is_red: bool,
}

impl Setting {
    fn count(&self, (full, quick): (usize, usize)) -> usize {
        if self.quick { quick } else { full }
    }

    fn suite(&self, names: &[String], words: &[&str]) -> Suite {
        let number = self.runs.get();
        self.runs.set(number + 1);
        let save = self.scratch.join(format!("gate-{number}.jsonl"));
        let began = Instant::now();
        let output = Command::new(&self.program)
            .args(["--bench", "-q", "--json", "--no-config", "--save"])
            .arg(&save)
            .args(words)
            .arg("--exact")
            .args(names)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .expect("the suite runs");
        let seconds = began.elapsed().as_secs_f64();
        let _ = fs::remove_file(save.with_extension("confirm.jsonl"));
        let _ = fs::remove_file(save);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1)), "{words:?}: {:?}", output.status);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer in JSON");
        let rows = answer["benchmarks"].as_array().expect("benchmarks");
        assert_eq!(rows.len(), names.len(), "all have an answer");
        let count = |verdict: &str| rows.iter().filter(|row| row["verdict"] == verdict).count();
        let failing = rows.iter().filter(|row| row["gate"]["fails"] == true);
        let name = |row: &Value| row["benchmark"].as_str().unwrap_or_default().to_owned();
        let suite = Suite {
            seconds,
            slower: count("slower"),
            faster: count("faster"),
            failing: failing.map(name).collect(),
            is_red: code == Some(1),
        };
        assert_eq!(suite.is_red, !suite.failing.is_empty(), "code and answer agree");
        suite
    }
}

fn unchanged(setting: &Setting) -> Section {
    let suites = setting.count(SUITES);
    let names: Vec<String> = (0..GATED).map(gated).collect();
    let mut section = Section {
        text: format!(
            "## Suites in which nothing changed\n\n\
             Each suite has {GATED} functions of about 1 to 50 µs. Each function races against \
             itself, at the same address and in the same loop. The options `{}` prevent a dead \
             heat from hiding a wrong verdict. *Loaded* means that each of the {} cores also runs \
             a busy loop.\n\n\
             Nothing changed, so every verdict of faster or slower is wrong. Every run that the \
             gate fails (*red*) is wrong, too. *Red by own verdicts* counts the suites in which \
             any single benchmark is slower at its own alpha. Such a verdict failed the run before \
             the gate kept alpha for the whole suite. Bounds are Clopper–Pearson, for the share of \
             red suites. *Seconds* is the time of the whole process, as median (range).\n\n\
             | gate | | suites | races | slower | faster | red by own verdicts | red | 95% bounds | seconds |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
            TERMS.join(" "),
            cores()
        ),
        bars: Vec::new(),
    };
    in_every_weather(|weather| {
        for (gate, words) in GATES {
            eprintln!("  {suites} suites, {gate}, {weather}");
            let words = [&TERMS, words].concat();
            let all: Vec<Suite> = (0..suites).map(|_| setting.suite(&names, &words)).collect();
            let sum = |count: fn(&Suite) -> usize| all.iter().map(count).sum::<usize>();
            let red = all.iter().filter(|suite| suite.is_red).count();
            let by_own_verdicts = all.iter().filter(|suite| suite.slower > 0).count();
            let (low, high) = share_bounds(red as u64, suites as u64, 0.95);
            let races = suites * GATED;
            let (slower, faster) = (sum(|suite| suite.slower), sum(|suite| suite.faster));
            let seconds: Vec<f64> = all.iter().map(|suite| suite.seconds).collect();
            let _ = writeln!(
                section.text,
                "| {gate} | {weather} | {suites} | {races} | {slower} | {faster} | \
                 {by_own_verdicts} | {red} | {:.1} to {:.1}% | {} |",
                low * 100.0,
                high * 100.0,
                spread(&seconds, 2),
            );
            section.bars.push(Bar::false_verdicts(
                format!("unchanged functions of 1 to 50 µs, {weather}, {gate}: faster or slower"),
                slower + faster,
                races,
            ));
            section.bars.push(Bar::false_verdicts(
                format!("unchanged suites of {GATED}, {weather}, {gate}: red"),
                red,
                suites,
            ));
        }
    });
    section.text += "\n";
    section
}

fn one_slower(setting: &Setting) -> Section {
    let suites = setting.count(SLOWER_SUITES);
    let names: Vec<String> = (1..GATED).map(gated).chain([TWO_PERCENT.to_owned()]).collect();
    let mut section = Section {
        text: "## Suites in which one benchmark is slower by 2%\n\n\
             These suites are like the suites of the section above, but one benchmark differs: its \
             candidate, a function of about 25 µs, does exactly 2% more than its baseline. A red \
             run is right if the gate names this benchmark.\n\n\
             | gate | | suites | red for the slower one | red for another | seconds |\n\
             | --- | --- | --- | --- | --- | --- |\n"
            .to_owned(),
        bars: Vec::new(),
    };
    in_every_weather(|weather| {
        for (gate, words) in GATES {
            eprintln!("  {suites} suites with one slower, {gate}, {weather}");
            let words = [&TERMS, words].concat();
            let all: Vec<Suite> = (0..suites).map(|_| setting.suite(&names, &words)).collect();
            let is_right = |name: &String| name == TWO_PERCENT;
            let right = all.iter().filter(|suite| suite.failing.iter().any(is_right));
            let right = right.count();
            let wrong = all.iter().filter(|suite| !suite.failing.iter().all(is_right));
            let seconds: Vec<f64> = all.iter().map(|suite| suite.seconds).collect();
            let _ = writeln!(
                section.text,
                "| {gate} | {weather} | {suites} | {right} | {} | {} |",
                wrong.count(),
                spread(&seconds, 2),
            );
            section.bars.push(Bar::share(
                format!("suites with one benchmark slower by 2%, {weather}, {gate}: red for it"),
                right,
                suites,
                0.95,
            ));
        }
    });
    section.text += "\n";
    section
}

fn main() {
    let quick = is_quick();
    let machine = machine();
    let root = repository();
    let scratch = Scratch::new("gate");
    let build = ["build", "--release", "--bin", "suite"];
    let setting = Setting {
        program: programs::built(&root.join("validation"), &build),
        scratch,
        runs: Cell::new(0),
        quick,
    };
    let page = Page { title: "Whole suites under a gate", program: "gate", facts: &machine, quick };
    let questions: &[Question<Setting>] = &[
        ("suites in which nothing changed", unchanged),
        ("suites in which one benchmark is slower", one_slower),
    ];
    page.write(root, &setting, questions);
}
