//! The question whether a true difference of 1% between two builds is found, and how soon.

use deadheat_validation::known::{HEAD, Known, LEGEND, Outcome, Promise};
use deadheat_validation::prelude::*;

use crate::{Setting, text};

const SECONDS: f64 = 2.0;
const POWER: f64 = 0.9;

pub fn section(setting: &Setting) -> Section {
    let mut section = Section {
        text: "## A difference of 1%\n\n\
               The baseline does steps that depend on one another, and the candidate does exactly \
               1% more of these steps. The time of a call includes more than its steps, so the \
               true change is some thousandths of a point below 1%. The margin is 0.5%. At the \
               default margin of 1%, a precise race rightly calls this difference a dead heat. \
               *Seconds* is the time of the whole process, up to the verdict. *Change* is the \
               estimate of each race. Both are given as median (range).\n\n\
               | program | scope | races | slower, which is right | dead heat or faster, which is wrong | seconds | change, % |\n\
               | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned(),
        bars: Vec::new(),
    };
    let c = |name: &str, percent: &str| {
        setting.shop.compile("kernels.c", name, &["-pthread", percent], true)
    };
    let (old, new) = (c("old", "-DPERCENT=0"), c("new", "-DPERCENT=1"));
    let rust = text(&setting.copies);
    let more = format!("{rust} 1");
    let only = ["steps", "--exact", "--margin", "0.5%"];
    let mut find = |what: &str, old: &str, new: &str, more: &[&str]| {
        row(setting, &mut section, what, &[&[old, new][..], &only, more].concat());
    };
    find("Rust, one build and an argument", rust, &more, &["--placement", "own"]);
    find("C, two builds on neutral links", text(&old), text(&new), &[]);
    section.text += "\n";
    section
}

pub fn loaded(setting: &Setting) -> Section {
    let races = setting.asked.races(30, 2);
    let what = "Rust, one build and an argument, 20 ms +1%, loaded";
    let mut section = Section {
        text: format!(
            "## 20 ms with every core busy\n\n\
             The baseline does twelve million steps in registers, and the candidate does exactly \
             1% more of these steps. A busy loop runs on every core during each of the {races} \
             races. The races use the default settings, on the links as built (`--placement own`). \
             {LEGEND}\n\n\
             {HEAD}"
        ),
        bars: Vec::new(),
    };
    let rust = text(&setting.copies);
    let more = format!("{rust} 1");
    let words = [rust, &more, "long steps", "--exact", "--ignored", "--placement", "own"];
    let _load = Load::settled_on_every_core();
    let race = |_| {
        let raced = setting.shop.race(&words);
        Outcome {
            verdict: raced.rows[0].verdict.clone(),
            percent: raced.rows[0].change.percent,
            seconds: raced.seconds,
        }
    };
    let known = Known { what, percent: 1.0, races: (0..races).map(race).collect() };
    section.text += &known.row("");
    section.text += "\n";
    section.bars.extend(known.bars(&Promise { right: 0.95, seconds: 4.0, before: "" }));
    section
}

fn row(setting: &Setting, section: &mut Section, what: &str, words: &[&str]) {
    eprintln!("  {what}");
    let races = setting.asked.races(60, 5);
    let raced: Vec<Raced> = (0..races).map(|_| setting.shop.race(words)).collect();
    let verdict = |wanted: &[&str]| {
        let verdicts = raced.iter().map(|raced| raced.rows[0].verdict.as_deref());
        verdicts.flatten().filter(|verdict| wanted.contains(verdict)).count()
    };
    let seconds: Vec<f64> = raced.iter().map(|raced| raced.seconds).collect();
    let changes: Vec<f64> = raced.iter().map(|raced| raced.rows[0].change.percent).collect();
    let _ = writeln!(
        section.text,
        "| {what} | {} | {races} | {} | {} | {} | {} |",
        raced[0].rows[0].scope,
        verdict(&["slower"]),
        verdict(&["equivalent", "faster"]),
        spread(&seconds, 2),
        plain_spread(&changes, 2),
    );
    let in_time = raced.iter().filter(|raced| {
        raced.rows[0].verdict.as_deref() == Some("slower") && raced.seconds <= SECONDS
    });
    section.bars.push(Bar::share(
        format!("{what}: 1% found within {SECONDS} s"),
        in_time.count(),
        races,
        POWER,
    ));
}
