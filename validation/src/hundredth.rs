//! Whether a difference of 0.01% is found, and the verdict where there is none.
//!
//! Writes `docs/validation/hundredth.md`. Takes some two minutes, on a machine that does nothing
//! else. `--races N` changes the number of races; with `--quick` two are run and nothing is written.

use deadheat::parts::model::Verdict;
use deadheat_validation::prelude::*;
use deadheat_validation::programs;
use deadheat_validation::workloads::{ONE_TEN_THOUSANDTH, ROUNDS_WITH_THEMSELVES};

const SECONDS: f64 = 10.0;
const POWER: f64 = 0.9;

/// Options that a user would type who wants to know: half the difference for a margin, and the time
/// there is. Many blocks in few processes, since starting one takes as long as a dozen blocks.
const WAY: [&str; 8] =
    ["--margin", "0.005%", "--blocks", "200", "--max-replicates", "400", "--budget", "9s"];

struct Setting {
    suite: SuiteProgram,
    races: usize,
}

fn main() {
    let asked = Wanted::questions_from_command_line();
    let machine = machine();
    let root = repository();
    let scratch = Scratch::new("hundredth");
    let words = ["build", "--release", "--bin", "suite"];
    let suite = programs::built(&root.join("validation"), &words);
    let setting = Setting {
        suite: SuiteProgram::new(suite, scratch.to_path_buf()),
        races: asked.races(20, 2),
    };
    let page = Page {
        title: "A difference of 0.01%",
        program: "hundredth",
        facts: &machine,
        quick: asked.quick,
    };
    page.write_asked(root, &setting, &[("a difference of 0.01%", section)], &asked);
}

fn section(setting: &Setting) -> Section {
    let races = setting.races;
    let mut section = Section {
        text: format!(
            "## Races\n\n\
             The baseline is a chain of 20,000 dependent multiplications, which takes about 25 µs. \
             In half of the races, the candidate is the same chain, so the right verdict is *dead \
             heat*. In the other half, the candidate has two more multiplications, exactly 0.01%, \
             so the right verdict is *slower*. Each kind has {races} races with `{}`, on an idle \
             machine. The columns are:\n\n\
             - *seconds*: the time of the whole process, median (range).\n\
             - *change, %*: the estimate of each race, median (range).\n\n\
             | more | slower | faster | dead heat | too close to call | seconds | change, % |\n\
             | --- | --- | --- | --- | --- | --- | --- |\n",
            WAY.join(" ")
        ),
        bars: Vec::new(),
    };
    let equal = raced(setting, ROUNDS_WITH_THEMSELVES);
    let wrong = row(&mut section.text, "0%", &equal, &[Verdict::Slower, Verdict::Faster]);
    section.bars.push(Bar::false_verdicts(
        "25 µs with itself, margin 0.005%: faster or slower",
        wrong,
        races,
    ));
    let more = raced(setting, ONE_TEN_THOUSANDTH);
    row(&mut section.text, "0.01%", &more, &[]);
    let slower = |run: &&SuiteRun| run.only().verdict == Some(Verdict::Slower);
    let found = more.iter().filter(|run| run.seconds <= SECONDS).filter(slower);
    let longest = more.iter().map(|run| run.seconds).fold(0.0, f64::max);
    section.bars.push(Bar::share(
        format!(
            "0.01% of 25 µs found within {SECONDS} s, margin 0.005% (the longest race took {} s)",
            up(longest, 2)
        ),
        found.count(),
        races,
        POWER,
    ));
    section.text += "\n";
    section
}

fn raced(setting: &Setting, name: &str) -> Vec<SuiteRun> {
    let names = [name.to_owned()];
    let race = |_| setting.suite.race_named(&names, &WAY);
    (0..setting.races).map(race).collect()
}

fn row(text: &mut String, more: &str, runs: &[SuiteRun], wrong: &[Verdict]) -> usize {
    let of = |verdicts: &[Verdict]| count(runs.iter().map(SuiteRun::only), verdicts);
    let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    let changes = runs.iter().filter_map(|run| run.only().estimate);
    let changes: Vec<f64> = changes.map(|estimate| estimate.effect.change() * 100.0).collect();
    let _ = writeln!(
        text,
        "| {more} | {} | {} | {} | {} | {} | {} |",
        of(&[Verdict::Slower]),
        of(&[Verdict::Faster]),
        of(&[Verdict::Equivalent]),
        of(&[Verdict::Inconclusive]),
        spread(&seconds, 2),
        plain_spread(&changes, 4),
    );
    of(wrong)
}
