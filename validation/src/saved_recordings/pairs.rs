//! The answers of deadheat about the files.

use crate::tool::Tool;
use crate::{CONDITIONS, MORE, Setting};
use deadheat_validation::prelude::*;

/// Files of each side where several are pooled.
const A_SIDE: usize = 6;

/// The share of changes that must be found.
const POWER: f64 = 0.9;

#[derive(Default)]
struct Count {
    comparisons: usize,
    rows: usize,
    faster: usize,
    slower: usize,
    dead_heats: usize,
    left_open: usize,
    no_verdict: usize,
    /// The largest change that was shown, in percent.
    largest: f64,
}

impl Count {
    fn add(&mut self, analysis: &Value) {
        self.comparisons += 1;
        for row in analysis["benchmarks"].as_array().expect("rows") {
            self.rows += 1;
            let change = row["change"].as_f64().unwrap_or_default() * 100.0;
            self.largest = self.largest.max(change.abs());
            *match row["verdict"].as_str() {
                Some("faster") => &mut self.faster,
                Some("slower") => &mut self.slower,
                Some("equivalent") => &mut self.dead_heats,
                Some(_) => &mut self.left_open,
                None => &mut self.no_verdict,
            } += 1;
        }
    }
}

fn compared(setting: &Setting, old: &[PathBuf], new: &[PathBuf]) -> Value {
    let mut command = Command::new(&setting.shop.deadheat);
    command.args(["compare", "--json"]);
    command.args(old.iter().map(|path| text(path)));
    command.arg("--against").args(new.iter().map(|path| text(path)));
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{command:?}: {error}: {said}")
    })
}

fn recorded(setting: &Setting) -> impl Iterator<Item = (Tool, &'static str)> {
    let all = Tool::ALL.into_iter();
    let all = all.flat_map(|tool| CONDITIONS.map(|condition| (tool, condition)));
    all.filter(|(tool, condition)| setting.file(*tool, condition, 0, 0).exists())
}

pub fn two_files(setting: &Setting) -> Section {
    let mut section = Section {
        text: "## Two files\n\n\
               Each tool recorded files of an unchanged suite. deadheat compares every pair of \
               these files, with one file per side, so every reported difference is wrong. The \
               column *rows* counts the benchmarks in all comparisons. The column *largest change* \
               is the largest change that a user would see when comparing two of these files by \
               eye.\n\n\
               | tool | machine | pairs | rows | faster or slower, which is wrong | too close to call | dead heat | no verdict | largest change |\n\
               | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned(),
        bars: Vec::new(),
    };
    let mut all = Count::default();
    for (tool, condition) in recorded(setting) {
        let file = |number| [setting.file(tool, condition, 0, number)];
        let mut count = Count::default();
        for second in 1..setting.recordings {
            for first in 0..second {
                count.add(&compared(setting, &file(first), &file(second)));
            }
        }
        let _ = writeln!(
            section.text,
            "| {} | {condition} | {} | {} | {} | {} | {} | {} | {:.1}% |",
            tool.name(),
            count.comparisons,
            count.rows,
            count.faster + count.slower,
            count.left_open,
            count.dead_heats,
            count.no_verdict,
            count.largest,
        );
        all.rows += count.rows;
        all.faster += count.faster;
        all.slower += count.slower;
    }
    section.text += "\n";
    let what = "an unchanged suite, one file a side, called faster or slower";
    let bar = Bar::false_verdicts(what, all.faster + all.slower, all.rows);
    section.bars.push(bar);
    section
}

pub fn six_a_side(setting: &Setting) -> Section {
    let mut section = Section {
        text: format!(
            "## Six files a side, in turns\n\n\
             In this section, each side of a comparison has six files. Each tool recorded the \
             files in turns: one file of the unchanged suite, and one of a suite that does exactly \
             {MORE}% more work. For each such pair of files, a random draw decided which suite \
             went first. No file is in two comparisons of one kind. The column *suites* has the \
             kind:\n\n\
             - *the same*: both sides have files of the unchanged suite, which alternate between \
             the sides. So every reported difference is wrong.\n\
             - *more*: one side has files of the suite with more work, so *slower* is the right \
             verdict.\n\n\
             | tool | machine | suites | comparisons | rows | faster | slower | dead heat | too close to call | no verdict |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        ),
        bars: Vec::new(),
    };
    let (mut same, mut more) = (Count::default(), CONDITIONS.map(|_| Count::default()));
    for (tool, condition) in recorded(setting) {
        let plain = |number| setting.file(tool, condition, 0, number);
        let place = usize::from(condition == CONDITIONS[1]);
        let mut here = [Count::default(), Count::default()];
        for group in 0..setting.recordings / (2 * A_SIDE) {
            let numbers = group * 2 * A_SIDE..(group + 1) * 2 * A_SIDE;
            let side = |odd: usize| -> Vec<PathBuf> {
                numbers.clone().filter(|n| n % 2 == odd).map(plain).collect()
            };
            let analysis = compared(setting, &side(0), &side(1));
            here[0].add(&analysis);
            same.add(&analysis);
        }
        for group in 0..setting.recordings / A_SIDE {
            let numbers = group * A_SIDE..(group + 1) * A_SIDE;
            let old: Vec<PathBuf> = numbers.clone().map(plain).collect();
            let slower = |number| setting.file(tool, condition, MORE, number);
            let new: Vec<PathBuf> = numbers.map(slower).collect();
            let analysis = compared(setting, &old, &new);
            here[1].add(&analysis);
            more[place].add(&analysis);
        }
        for (count, of) in here.iter().zip(["the same", "more"]) {
            let _ = writeln!(
                section.text,
                "| {} | {condition} | {of} | {} | {} | {} | {} | {} | {} | {} |",
                tool.name(),
                count.comparisons,
                count.rows,
                count.faster,
                count.slower,
                count.dead_heats,
                count.left_open,
                count.no_verdict,
            );
        }
    }
    section.text += "\n";
    let wrong = same.faster + same.slower;
    let bars = &mut section.bars;
    let what = "the same, six files a side in turns, called faster or slower";
    bars.push(Bar::false_verdicts(what, wrong, same.rows));
    for (count, condition) in more.iter().zip(CONDITIONS) {
        let what = format!("{MORE}% more, six files a side in turns, {condition}: called slower");
        bars.push(Bar::share(what, count.slower, count.rows, POWER));
        let what = format!("{MORE}% more, {condition}: called faster or a dead heat");
        let wrong = count.faster + count.dead_heats;
        bars.push(Bar::false_verdicts(what, wrong, count.rows));
    }
    section
}
