//! A function of 20 ms: how often 0, 1, 2 and 5% are told, idle and with every core taken.

use deadheat_validation::known::{HEAD, Known, LEGEND, Outcome, Promise};
use deadheat_validation::prelude::*;
use deadheat_validation::workloads::{LONG_PERCENTS, long};

use crate::Setting;

/// The figures at which the issue of waiting for a core was measured: the same rows, every core
/// taken, at the defaults of the time.
const BEFORE: [&str; 2] = ["0 of 10 after 8 s, −2.5 … +1.9%", "4 of 30, 18 anomalies, 7 reversals"];

pub fn section(setting: &Setting) -> Section {
    let races = setting.asked.races(30, 2);
    let mut section = Section {
        text: format!(
            "## A function of 20 ms\n\n\
             The baseline is `mixing` of `examples/src/busy_work.rs`, which does twelve million \
             steps in registers. The candidate does exactly the given percentage more of these \
             steps. Each row has {races} races at the default settings. *Loaded* means that every \
             core also runs a busy loop. {LEGEND}\n\n\
             {HEAD}"
        ),
        bars: Vec::new(),
    };
    for percent in LONG_PERCENTS {
        row(setting, &mut section, percent, "idle", races);
    }
    let _load = Load::settled_on_every_core();
    for percent in [0, 1] {
        row(setting, &mut section, percent, "loaded", races);
    }
    section.text += "\n";
    section
}

fn row(setting: &Setting, section: &mut Section, percent: u32, weather: &str, races: usize) {
    let what = format!("20 ms +{percent}%, {weather}");
    eprintln!("  {what}");
    let race = |_| {
        let run = setting.suite.race_named(&[long(percent)], &[]);
        let only = run.only();
        Outcome {
            verdict: only.verdict.map(|verdict| verdict.name().to_owned()),
            percent: only.estimate.map_or(0.0, |estimate| estimate.effect.change() * 100.0),
            seconds: run.seconds,
        }
    };
    let known =
        Known { what: &what, percent: f64::from(percent), races: (0..races).map(race).collect() };
    let before = match weather {
        "loaded" => BEFORE[percent as usize],
        _ => "",
    };
    let right = if percent > 0 { 0.95 } else { 0.9 };
    section.text += &known.row(before);
    section.bars.extend(known.bars(&Promise { right, seconds: 3.0, before }));
}
