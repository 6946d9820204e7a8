//! The table of the article on paired benchmarking, row by row.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use deadheat::parts::model::{Comparison, Verdict};
use deadheat_validation::binomial::binomial_bound;

use crate::Setting;
use deadheat_validation::bars::{Bar, Section};
use deadheat_validation::programs::built;
use deadheat_validation::suite_run::{count, recorded, verdicts, word};

/// The chance of a wrong verdict that each row of one function may take.
const ALPHA: f64 = 0.05;

/// The right answer for a row.
#[derive(Clone, Copy)]
enum Right {
    /// Neither faster nor slower: both sides are one function.
    NoCall,
    /// Fewer characters, less time.
    Faster,
    /// Decoding, where the other only counts bytes.
    Slower,
    /// A difference; its direction is the binary's.
    EitherWay,
}

impl Right {
    fn words(self) -> &'static str {
        match self {
            Self::NoCall => "neither faster nor slower",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::EitherWay => "faster or slower, by placement",
        }
    }

    fn holds(self, verdict: Option<Verdict>) -> bool {
        let right: &[Verdict] = match self {
            Self::NoCall => &[Verdict::Equivalent, Verdict::Inconclusive],
            Self::Faster => &[Verdict::Faster],
            Self::Slower => &[Verdict::Slower],
            Self::EitherWay => &[Verdict::Faster, Verdict::Slower],
        };
        verdict.is_some_and(|verdict| right.contains(&verdict))
    }
}

/// The rows of the bench target `utf8`, in its order.
const ROWS: [Right; 6] = [
    Right::NoCall,
    Right::NoCall,
    Right::NoCall,
    Right::Faster,
    Right::EitherWay,
    Right::Slower,
];

pub fn section(setting: &Setting) -> Section {
    let words = [
        "bench",
        "-p",
        "deadheat-examples",
        "--bench",
        "utf8",
        "--no-run",
    ];
    let program = built(&setting.root, &words);
    let runs = setting.count(5, 2);
    let mut rows: Vec<Vec<Comparison>> = vec![Vec::new(); ROWS.len()];
    let mut table = String::new();
    for seed in 1..=runs {
        let path = setting.scratch.join(format!("article-{seed}.jsonl"));
        let output = Command::new(&program)
            .args(["--bench", "-q", "--format", "paired", "--seed"])
            .arg(seed.to_string())
            .arg("--save")
            .arg(&path)
            .stderr(Stdio::inherit())
            .output()
            .expect("the bench target runs");
        assert!(output.status.success(), "{program:?} failed");
        let analysis = verdicts(&recorded(&path));
        assert_eq!(analysis.comparisons.len(), ROWS.len(), "six rows");
        for (row, comparison) in rows.iter_mut().zip(analysis.comparisons) {
            row.push(comparison);
        }
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        // Where it was recorded is of no interest here.
        table = lines
            .lines()
            .filter(|line| !line.contains(".deadheat/runs/"))
            .fold(String::new(), |text, line| text + line + "\n");
    }
    told(&rows, runs, table.trim_end())
}

fn told(rows: &[Vec<Comparison>], runs: usize, table: &str) -> Section {
    let mut text = format!(
        "## The article's table\n\n\
         `cargo bench -p deadheat-examples --bench utf8 -- --format paired`, {runs} runs with the seeds 1 to {runs}, \
         idle. Changes are each run's estimate. The verdicts speak of this binary: `std_count` and `std_count_rev` \
         do the same work in two directions, and which is faster depends on the processor and on where the linker \
         puts them. With alpha at 5 % even a perfect method may now and then call one of the first three rows.\n\n\
         | row | right is | verdicts | changes, % | right |\n| --- | --- | --- | --- | --- |\n"
    );
    for (right, row) in ROWS.iter().zip(rows) {
        let names = row.first().map_or("", |first| &first.benchmark);
        let kept = row.iter().filter(|one| right.holds(one.verdict)).count();
        let words: Vec<&str> = row.iter().map(word).collect();
        let changes: Vec<String> = row
            .iter()
            .map(|one| match &one.estimate {
                Some(estimate) => format!("{:+.2}", estimate.effect.change() * 100.0),
                None => "none".to_owned(),
            })
            .collect();
        let _ = writeln!(
            text,
            "| {names} | {} | {} | {} | {kept} of {runs} |",
            right.words(),
            words.join(", "),
            changes.join(", ")
        );
    }
    let _ = writeln!(
        text,
        "\nThe table of the last run:\n\n```text\n{table}\n```\n"
    );
    Section {
        text,
        bars: bars(rows, runs),
    }
}

fn bars(rows: &[Vec<Comparison>], runs: usize) -> Vec<Bar> {
    let of_run = |run: usize| {
        let mut row = ROWS.iter().zip(rows);
        row.all(|(right, row)| right.holds(row[run].verdict))
    };
    let right_runs = (0..runs).filter(|run| of_run(*run)).count();
    let one_function = ROWS
        .iter()
        .zip(rows)
        .filter(|(right, _)| matches!(right, Right::NoCall));
    let of_one: Vec<&Comparison> = one_function.flat_map(|(_, row)| row).collect();
    let wrong = count(of_one.iter().copied(), &[Verdict::Faster, Verdict::Slower]);
    let allowed = binomial_bound(of_one.len() as u64, ALPHA, 0.99);
    vec![
        Bar::told(
            "the article's table: runs in which all six rows are right",
            format!("{runs} of {runs}"),
            format!("{right_runs} of {runs}"),
            right_runs == runs,
        ),
        Bar::told(
            "… faster or slower in its rows of one function",
            format!(
                "at most alpha = 5 % (chance allows {allowed} of {})",
                of_one.len()
            ),
            format!("{wrong} of {}", of_one.len()),
            wrong as u64 <= allowed,
        ),
    ]
}
