//! The question how often a function is told apart from itself.

use deadheat::parts::model::{Comparison, Verdict};
use deadheat_validation::prelude::*;
use deadheat_validation::workloads::{BRANCHY, RACES_WITH_ITSELF, Size, branchy as named};

use crate::Setting;
use deadheat_validation::suite_run::word;

const HEAD: &str = "\
| function | | races | faster or slower | 95% bounds | dead heat | too close to call | chance allows |
| --- | --- | --- | --- | --- | --- | --- | --- |
";

/// Sizes, and how many suites of twenty races of each. The last is no
/// question here: a race of it takes a minute.
const SUITES: [(Size, usize); 5] = [
    (Size::TwentyFiveMicroseconds, 20),
    (Size::Nanosecond, 5),
    (Size::TwentyNanoseconds, 5),
    (Size::Microsecond, 5),
    (Size::Millisecond, 5),
];

pub fn section(setting: &Setting) -> Section {
    let mut section = Section {
        text: format!(
            "## Functions against themselves\n\n\
             Both sides are the same function, at the same address and in the same loop. A \
             function cannot be faster or slower than itself, so every verdict of faster or slower \
             is wrong. The races use the default settings (alpha 5%, margin 1%), in suites of \
             {RACES_WITH_ITSELF} races. *Loaded* means that each of the {} cores also runs a busy \
             loop. Bounds are Clopper–Pearson. *Chance allows* is a limit for the wrong verdicts: \
             if the true error rate is alpha, fewer than 1% of such experiments have more wrong \
             verdicts than this number.\n\n\
             {HEAD}",
            cores()
        ),
        bars: Vec::new(),
    };
    in_weather(setting, &mut section, "idle");
    {
        let _load = Load::on_every_core();
        in_weather(setting, &mut section, "loaded");
    }
    section.text += "\n";
    section
}

/// Functions that branch on every byte: what the processor has learnt of an input is part of their
/// time, and grows from sample to sample of a block.
pub fn branchy(setting: &Setting) -> Section {
    let races = setting.asked.races(400, 8);
    let mut section = Section {
        text: format!(
            "## Branchy functions against themselves\n\n\
             The functions are the counting loops of the article on paired benchmarking \
             (`examples/src/utf8.rs`). Each function races against itself: baseline and candidate \
             call the same closure at the same address, on a new text in every block. The program \
             prints the seeds of false verdicts while it runs, so that these races can be \
             repeated. The columns are those of the section above.\n\n\
             {HEAD}"
        ),
        bars: Vec::new(),
    };
    branchy_in_weather(setting, &mut section, "idle", races);
    {
        let _load = Load::on_every_core();
        branchy_in_weather(setting, &mut section, "loaded", races);
    }
    section.text += "\n";
    section
}

fn branchy_in_weather(setting: &Setting, section: &mut Section, weather: &str, races: usize) {
    for function in BRANCHY {
        eprintln!("  {function} with itself, {weather}");
        let mut comparisons = Vec::new();
        let mut wrong = Vec::new();
        while comparisons.len() < races {
            let now = RACES_WITH_ITSELF.min(races - comparisons.len());
            let names: Vec<String> = (0..now).map(|number| named(function, number)).collect();
            let run = setting.suite.race_named(&names, &[]);
            let seed = run.run.header.plan.seed;
            for one in &run.analysis.comparisons {
                if matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower)) {
                    let percent = one.estimate.map_or(0.0, |of| of.effect.change() * 100.0);
                    let name = &one.benchmark;
                    wrong.push(format!("{name}, seed {seed}: {} by {percent:+.2}%", word(one)));
                }
            }
            comparisons.extend(run.analysis.comparisons.iter().cloned());
        }
        row(section, function, weather, &comparisons);
        for one in &wrong {
            eprintln!("    {one}");
        }
    }
}

fn in_weather(setting: &Setting, section: &mut Section, weather: &str) {
    for (size, suites) in SUITES {
        eprintln!("  {} with itself, {weather}", size.name());
        let suites = setting.count(suites, 1);
        let each = setting.count(RACES_WITH_ITSELF, 4);
        let names: Vec<String> = (0..each).map(|number| size.with_itself(number)).collect();
        let comparisons: Vec<Comparison> = (0..suites)
            .flat_map(|_| setting.suite.race_named(&names, &[]).analysis.comparisons.clone())
            .collect();
        row(section, size.name(), weather, &comparisons);
    }
}

fn row(section: &mut Section, what: &str, weather: &str, comparisons: &[Comparison]) {
    let races = comparisons.len();
    let wrong = count(comparisons, &[Verdict::Faster, Verdict::Slower]);
    let even = count(comparisons, &[Verdict::Equivalent]);
    let share = wrong as f64 / races as f64;
    let (low, high) = share_bounds(wrong as u64, races as u64, 0.95);
    let allowed = binomial_bound(races as u64, ALPHA, 0.99);
    let _ = writeln!(
        section.text,
        "| {what} | {weather} | {races} | {wrong} ({:.2}%) | {:.2} to {:.2}% | {even} | {} | {allowed} |",
        share * 100.0,
        low * 100.0,
        high * 100.0,
        races - wrong - even,
    );
    section.bars.push(Bar::false_verdicts(
        format!("{what} with itself, {weather}: faster or slower"),
        wrong,
        races,
    ));
}
