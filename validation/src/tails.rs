//! Verdicts on quantiles of single calls, on real clocks: how often a function with a tail is told
//! apart from itself, and whether a longer tail is found.
//!
//! Writes `docs/validation/tails.md`. Takes some twenty-five minutes, on a machine that does
//! nothing else.

use deadheat::parts::model::{Comparison, Verdict};
use deadheat_validation::prelude::*;
use deadheat_validation::programs;
use deadheat_validation::workloads::{LONGER_TAIL, RACES_WITH_ITSELF, change_of_the_tail, tailed};

/// Races of the function with itself, and those of a trial; in suites of [`RACES_WITH_ITSELF`].
const WITH_ITSELF: (usize, usize) = (400, 20);
const TENTH: usize = 10;
/// Those that must find it.
const FOUND: f64 = 0.95;

const QUANTILES: [(f64, &str); 2] = [(0.9, "90%"), (0.99, "99%")];

struct Setting {
    suite: SuiteProgram,
    races: usize,
}

fn main() {
    let asked = Wanted::questions_from_command_line();
    let machine = machine();
    let root = repository();
    let scratch = Scratch::new("tails");
    let words = ["build", "--release", "--bin", "suite"];
    let suite = programs::built(&root.join("validation"), &words);
    let setting = Setting {
        suite: SuiteProgram::new(suite, scratch.to_path_buf()),
        races: asked.races(WITH_ITSELF.0, WITH_ITSELF.1),
    };
    let page = Page {
        title: "Quantiles of single calls: errors and power",
        program: "tails",
        facts: &machine,
        quick: asked.quick,
    };
    let questions: &[Question<Setting>] =
        &[("a function with a tail against itself", with_itself), ("a longer tail", longer)];
    page.write_asked(root, &setting, questions, &asked);
}

fn with_itself(setting: &Setting) -> Section {
    let suites = setting.races.div_ceil(RACES_WITH_ITSELF);
    let names: Vec<String> = (0..RACES_WITH_ITSELF).map(tailed).collect();
    let mut section = Section {
        text: format!(
            "## A function with a tail against itself\n\n\
             A function of about 5 µs races against itself, at the same address. Three calls in \
             ten, drawn at random, take 1.5 to 2.5 times as long. The races use `--quantile` and \
             otherwise the defaults (alpha 5%, margin 1%). Both sides do the same work, so every \
             verdict of faster or slower in this section is wrong. *Loaded* means that each of the \
             {} cores also runs a busy loop. The columns are:\n\n\
             - *95% bounds*: the Clopper–Pearson interval for the share of wrong verdicts.\n\
             - *interval, ± points*: half the width of the interval, median (range).\n\
             - *seconds each*: the time of a suite, divided by its races, median (range).\n\n\
             | quantile | | races | faster or slower | 95% bounds | dead heat | too close to call | interval, ± points | seconds each |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
            cores()
        ),
        bars: Vec::new(),
    };
    in_every_weather(|weather| {
        for (_, quantile) in QUANTILES {
            eprintln!("  {quantile} with itself, {weather}");
            let (mut comparisons, mut seconds) = (Vec::new(), Vec::new());
            for _ in 0..suites {
                let run = setting.suite.race_named(&names, &["--quantile", quantile]);
                seconds.push(run.seconds / names.len() as f64);
                comparisons.extend(run.analysis.comparisons.iter().cloned());
            }
            let races = comparisons.len();
            let wrong = count(&comparisons, &[Verdict::Faster, Verdict::Slower]);
            let even = count(&comparisons, &[Verdict::Equivalent]);
            let (low, high) = share_bounds(wrong as u64, races as u64, 0.95);
            let widths: Vec<f64> = comparisons.iter().filter_map(half_width).collect();
            let _ = writeln!(
                section.text,
                "| {quantile} | {weather} | {races} | {wrong} | {:.1} to {:.1}% | {even} | {} | {} | {} |",
                low * 100.0,
                high * 100.0,
                races - wrong - even,
                plain_spread(&widths, 2),
                spread(&seconds, 2),
            );
            section.bars.push(Bar::false_verdicts(
                format!("{quantile} with itself, {weather}: faster or slower"),
                wrong,
                races,
            ));
        }
    });
    section.text += "\n";
    section
}

fn longer(setting: &Setting) -> Section {
    let races = setting.races.div_ceil(TENTH);
    let mut section = Section {
        text: "## A longer tail\n\n\
               The function of the section above races against a variant of itself. In the slow \
               calls of the variant, the work that makes these calls slow is 10% more. So *slower* \
               is the right verdict. The columns and rows are:\n\n\
               - *true change, %*: the change of the work at the quantile. The whole work of a \
               slow call grows by less than 10%, because every call has a part that does not \
               grow.\n\
               - *change, %*: the estimates of the races, median (range).\n\
               - *the centre*: a row with the same races without `--quantile`. The centre changes \
               less than the quantile, because seven calls in ten are unchanged.\n\n\
               | quantile | | races | slower, which is right | true change, % | change, % | intervals that contain it | seconds |\n\
               | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned(),
        bars: Vec::new(),
    };
    in_every_weather(|weather| {
        let judged = QUANTILES.map(|(quantile, word)| Some((quantile, word)));
        for quantile in judged.into_iter().chain([None]) {
            let what = quantile.map_or("the centre", |(_, word)| word);
            eprintln!("  a longer tail, {what}, {weather}");
            let words: Vec<&str> =
                quantile.map_or(Vec::new(), |(_, word)| vec!["--quantile", word]);
            let runs: Vec<_> = (0..races)
                .map(|_| setting.suite.race_named(&[LONGER_TAIL.to_owned()], &words))
                .collect();
            let comparisons = || runs.iter().map(|run| run.only());
            let right = count(comparisons(), &[Verdict::Slower]);
            let changes: Vec<f64> = comparisons().filter_map(change).collect();
            let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
            let truth = quantile.map(|(quantile, _)| change_of_the_tail(quantile, 10.0));
            let held = truth.map(|truth| {
                let holding = comparisons().filter(|one| holds(one, truth));
                format!("{} of {races}", holding.count())
            });
            let _ = writeln!(
                section.text,
                "| {what} | {weather} | {races} | {right} | {} | {} | {} | {} |",
                truth.map_or("–".to_owned(), |truth| format!("{truth:.2}")),
                plain_spread(&changes, 2),
                held.as_deref().unwrap_or("–"),
                spread(&seconds, 2),
            );
            if quantile.is_some() {
                section.bars.push(Bar::share(
                    format!("a longer tail at {what}, {weather}: slower"),
                    right,
                    races,
                    FOUND,
                ));
            }
        }
    });
    section.text += "\n";
    section
}

/// The estimate, in percent.
fn change(comparison: &Comparison) -> Option<f64> {
    Some(comparison.estimate?.effect.change() * 100.0)
}

/// Half the width of the interval, in percent.
fn half_width(comparison: &Comparison) -> Option<f64> {
    let interval = comparison.estimate?.interval?;
    Some((interval.high.change() - interval.low.change()) * 50.0)
}

/// Returns whether the interval holds this change, in percent.
fn holds(comparison: &Comparison, truth: f64) -> bool {
    let interval = comparison.estimate.and_then(|one| one.interval);
    interval.is_some_and(|interval| {
        (interval.low.change() * 100.0..=interval.high.change() * 100.0).contains(&truth)
    })
}
