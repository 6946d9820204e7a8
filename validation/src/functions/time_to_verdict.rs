//! The time that a verdict on a difference of 1% takes, and a suite of them.

use deadheat::parts::model::Verdict;
use deadheat_validation::prelude::*;
use deadheat_validation::workloads::{RACES_OF_ONE_PERCENT, one_percent};

use crate::Setting;

const IDLE_SECONDS: f64 = 0.5;
const LOADED_SECONDS: f64 = 2.0;
const SUITE_SECONDS: f64 = 60.0;

pub fn section(setting: &Setting) -> Section {
    let races = setting.count(20, 3);
    let mut section = Section { text: String::new(), bars: Vec::new() };
    let _ = writeln!(
        section.text,
        "## Time to a verdict\n\n\
         The baseline is a function of about 25 µs. The candidate is the same function with \
         exactly 1% more steps. The races use the default settings. *Seconds* is the time of the \
         whole process, from cold start to exit, as median (range). *Loaded* means that each of \
         the {} cores also runs a busy loop.\n\n\
         | what | processes | seconds | slower, which is right | dead heat or faster, which is wrong |\n\
         | --- | --- | --- | --- | --- |",
        cores()
    );
    one_at_a_time(setting, &mut section, "idle", races, IDLE_SECONDS);
    {
        let _load = Load::on_every_core();
        one_at_a_time(setting, &mut section, "loaded", races, LOADED_SECONDS);
    }
    whole_suite(setting, &mut section);
    section.text += "\n";
    section
}

fn one_at_a_time(setting: &Setting, section: &mut Section, weather: &str, races: usize, bar: f64) {
    let runs: Vec<SuiteRun> =
        (0..races).map(|number| setting.suite.race_named(&[one_percent(number)], &[])).collect();
    let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    let right = count(runs.iter().map(SuiteRun::only), &[Verdict::Slower]);
    let wrong = count(runs.iter().map(SuiteRun::only), &[Verdict::Faster, Verdict::Equivalent]);
    let _ = writeln!(
        section.text,
        "| one race, {weather} | {races} | {} | {right} of {races} | {wrong} |",
        spread(&seconds, 3)
    );
    section.bars.push(Bar::at_most(
        format!("a verdict on 1% of 25 µs, {weather}, median"),
        median(seconds),
        bar,
        3,
        "s",
    ));
}

fn whole_suite(setting: &Setting, section: &mut Section) {
    let races = setting.count(RACES_OF_ONE_PERCENT, 10);
    let names: Vec<String> = (0..races).map(one_percent).collect();
    let run = setting.suite.race_named(&names, &[]);
    let right = count(&run.analysis.comparisons, &[Verdict::Slower]);
    let wrong = count(&run.analysis.comparisons, &[Verdict::Faster, Verdict::Equivalent]);
    let _ = writeln!(
        section.text,
        "| a suite of {races} such races, idle | 1 | {} | {right} of {races} | {wrong} |",
        up(run.seconds, 2)
    );
    section.bars.push(Bar::at_most(
        format!("a suite of {races} such races"),
        run.seconds,
        SUITE_SECONDS,
        2,
        "s",
    ));
}
