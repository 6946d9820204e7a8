//! The question how often a build is told apart from its copy.

use crate::{Setting, text};
use deadheat_validation::prelude::*;

/// Benchmarks of each kind at least.
const ROWS: usize = 200;

pub fn section(setting: &Setting) -> Section {
    let mut section = Section {
        text: "## Builds against their copies\n\n\
               The two sides are copies of one build, so every verdict of faster or slower is \
               wrong. The races use the defaults (alpha 5%, margin 1%), and each replicate has a \
               fresh process per side. The rows *Rust* and *C* race the links as built \
               (`--placement own`). In the row *C, neutral links*, every replicate has a different \
               code layout, which both sides share. Bounds are Clopper–Pearson. *Chance allows* is \
               a limit for the wrong verdicts: if the true error rate is alpha, fewer than 1% of \
               such experiments have more wrong verdicts than this number.\n\n\
               | program | scope | benchmarks | faster or slower | 95% bounds | dead heat | too close to call | chance allows | seconds each |\n\
               | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned(),
        bars: Vec::new(),
    };
    let copy = setting.shop.scratched("copy");
    fs::copy(&setting.copies, &copy).expect("a copy");
    let c = setting.shop.compile("kernels.c", "kernels", &["-pthread"], true);
    let again = setting.shop.scratch.join("again");
    fs::create_dir_all(&again).expect("a folder");
    let c_copy = setting.shop.compile("kernels.c", "again/kernels", &["-pthread"], true);
    let own = ["--placement", "own"];
    row(setting, &mut section, "Rust", &setting.copies, &copy, &own);
    row(setting, &mut section, "C", &c, &c_copy, &own);
    row(setting, &mut section, "C, neutral links", &c, &c_copy, &[]);
    section.text += "\n";
    section
}

fn row(
    setting: &Setting,
    section: &mut Section,
    what: &str,
    old: &Path,
    new: &Path,
    options: &[&str],
) {
    eprintln!("  {what}");
    let mut words = vec![text(old), text(new)];
    words.extend(options);
    let mut races: Vec<Raced> = Vec::new();
    let wanted = setting.shop.count(ROWS, 9);
    while races.iter().map(|raced| raced.rows.len()).sum::<usize>() < wanted {
        races.push(setting.shop.race(&words));
    }
    let seconds: Vec<f64> =
        races.iter().map(|raced| raced.seconds / raced.rows.len() as f64).collect();
    let rows: Vec<_> = races.iter().flat_map(|raced| &raced.rows).collect();
    let count =
        |verdict: &str| rows.iter().filter(|row| row.verdict.as_deref() == Some(verdict)).count();
    let wrong: Vec<_> = rows.iter().filter(|row| row.is_told_apart()).collect();
    for row in &wrong {
        eprintln!("    {}: {} {:.2}%", row.name, row.word(), row.change.percent);
    }
    let share = wrong.len() as f64 / rows.len() as f64 * 100.0;
    let (low, high) = share_bounds(wrong.len() as u64, rows.len() as u64, 0.95);
    let allowed = binomial_bound(rows.len() as u64, ALPHA, 0.99);
    let scope = &rows[0].scope;
    let _ = writeln!(
        section.text,
        "| {what} | {scope} | {} | {} ({share:.2}%) | {:.2} to {:.2}% | {} | {} | {allowed} | {} |",
        rows.len(),
        wrong.len(),
        low * 100.0,
        high * 100.0,
        count("equivalent"),
        count("inconclusive"),
        plain_spread(&seconds, 2),
    );
    section.bars.push(Bar::false_verdicts(
        format!("{what}: two copies called faster or slower"),
        wrong.len(),
        rows.len(),
    ));
}
