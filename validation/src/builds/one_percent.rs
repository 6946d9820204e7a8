//! Whether a true difference of 1 % between two builds is found, and how soon.

use std::fmt::Write as _;

use deadheat_validation::bars::{Bar, Section, plain_spread, spread};

use crate::{Setting, text};
use deadheat_validation::race::Raced;

const SECONDS: f64 = 2.0;
const POWER: f64 = 0.9;

pub fn section(setting: &Setting) -> Section {
    let mut section = Section {
        text: "## A difference of 1 %\n\n\
               Steps that depend on one another, and exactly 1 % more of them. Seconds are of the whole process, to the \
               default verdict; the change is what each race estimates.\n\n\
               | program | scope | races | slower, which is right | dead heat or faster, which is wrong | seconds | change, % | intervals with 1 % |\n\
               | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned(),
        bars: Vec::new(),
    };
    let c = |name: &str, percent: &str| {
        setting
            .shop
            .compile("kernels.c", name, &["-pthread", percent], true)
    };
    let (old, new) = (c("old", "-DPERCENT=0"), c("new", "-DPERCENT=1"));
    let rust = text(&setting.copies);
    let more = format!("{rust} 1");
    let only = ["steps", "--exact"];
    let mut find = |what: &str, old: &str, new: &str, more: &[&str]| {
        row(
            setting,
            &mut section,
            what,
            &[&[old, new][..], &only, more].concat(),
        );
    };
    find(
        "Rust, one build and an argument",
        rust,
        &more,
        &["--placement", "own"],
    );
    find(
        "C, two builds on neutral links",
        text(&old),
        text(&new),
        &[],
    );
    section.text += "\n";
    section
}

fn row(setting: &Setting, section: &mut Section, what: &str, words: &[&str]) {
    eprintln!("  {what}");
    let races = setting.shop.count(60, 5);
    let raced: Vec<Raced> = (0..races).map(|_| setting.shop.race(words)).collect();
    let verdict = |wanted: &[&str]| {
        let verdicts = raced.iter().map(|raced| raced.rows[0].verdict.as_deref());
        verdicts
            .flatten()
            .filter(|verdict| wanted.contains(verdict))
            .count()
    };
    let seconds: Vec<f64> = raced.iter().map(|raced| raced.seconds).collect();
    let changes: Vec<f64> = raced
        .iter()
        .map(|raced| raced.rows[0].change.percent)
        .collect();
    let covering = raced
        .iter()
        .filter(|raced| raced.rows[0].change.covers(1.0))
        .count();
    let _ = writeln!(
        section.text,
        "| {what} | {} | {races} | {} | {} | {} | {} | {covering} |",
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
        format!("{what}: 1 % found within {SECONDS} s"),
        in_time.count(),
        races,
        POWER,
    ));
}
