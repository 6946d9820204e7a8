//! The measured table as a page of Markdown. The same figures give the same
//! bytes: nothing here depends on the machine or the hour.

use std::fmt::Write;

use crate::simulation::families::FAMILIES;
use crate::simulation::race::ALPHA;
use crate::simulation::tally::{Tally, at_most};
use crate::table::{PROMISES, Promise, Row, Unit};

/// A measured section.
pub struct Chapter {
    pub title: &'static str,
    pub words: &'static str,
    /// Number, setting, and what became of its races.
    pub lines: Vec<(u64, Row, Tally)>,
}

/// The seed of the first race of a row; the others count on from it.
pub fn first_seed(number: u64) -> u64 {
    number * 1_000_000
}

/// The whole page, and whether every promise is kept.
pub fn page(chapters: &[Chapter]) -> (String, bool) {
    let (promises, kept) = promises(chapters);
    let mut text = introduction(chapters);
    text += &promises;
    text += &families();
    for chapter in chapters {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {}\n\n{}\n\n", chapter.title, chapter.words);
        text += HEAD;
        for line in &chapter.lines {
            text += &row(line);
        }
    }
    (text, kept)
}

fn introduction(chapters: &[Chapter]) -> String {
    let all = || chapters.iter().flat_map(|chapter| &chapter.lines);
    let races: u32 = all().map(|(_, _, tally)| tally.races).sum();
    format!(
        "# Calibration

How often the verdicts are right when the truth is known. Written by `cargo run --release -p deadheat --example calibration`, which is
part of `just simulate`; no part of this page is written by hand.

{} races in {} rows. Each is a complete race with schedule, session, stopping rule and analysis; \
only the times are simulated, with noise of known size, on a simulated clock. α is {ALPHA}, and \
the margin is 1% unless a row gives another. Interim analyses follow the plan for the row's \
maximum number of replicates. The races of row n have the seeds n·1,000,000, n·1,000,000 + 1, …, \
so the same program gives the same page. The program fails if a promise is broken.

## The promises

",
        grouped(races),
        all().count(),
    )
}

fn promises(chapters: &[Chapter]) -> (String, bool) {
    let mut text =
        String::from("| promise | rows | closest to breaking it | |\n| --- | --- | --- | --- |\n");
    let mut all_kept = true;
    for promise in &PROMISES {
        let all = chapters.iter().flat_map(|chapter| &chapter.lines);
        let lines: Vec<_> = all.filter(|(_, row, _)| promise.speaks_of(row)).collect();
        let seen = |(number, row, tally): &&(u64, Row, Tally)| {
            let (seen, kept) = (promise.seen)(row, tally);
            (*number, seen, kept)
        };
        let seen: Vec<_> = lines.iter().map(seen).collect();
        // A promise that nothing was measured of is not kept.
        let kept = !seen.is_empty() && seen.iter().all(|(_, _, kept)| *kept);
        let nearest = nearest(promise, &seen).map_or("—".to_owned(), |(number, seen)| {
            format!("{} (row {number})", in_unit(seen, promise.unit))
        });
        all_kept &= kept;
        let word = if kept { "kept" } else { "**broken**" };
        let rows = lines.len();
        let _ = writeln!(text, "| {} | {rows} | {nearest} | {word} |", promise.words);
    }
    text += "
*Where the noise allows*: in rows where four times the smallest possible standard error (*least \
SE* below) is at most the margin. The *binomial bound* is the share that a row with a true rate \
of 5% exceeds once in 10,000. All other limits hold without such an allowance, except the 94%: \
in rows with fewer than 1,000 races, the misses may reach that bound.
";
    (text, all_kept)
}

fn nearest(promise: &Promise, seen: &[(u64, f64, bool)]) -> Option<(u64, f64)> {
    let seen = seen.iter().map(|(number, share, _)| (*number, *share));
    if promise.at_most {
        seen.max_by(|a, b| a.1.total_cmp(&b.1))
    } else {
        seen.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

fn in_unit(seen: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => percents(seen),
        Unit::Replicates => format!("{seen:.1} replicates"),
        Unit::Errors => format!("{seen:.1} standard errors"),
    }
}

fn families() -> String {
    let mut text = String::from(
        "
## The noise

All noise acts on the logarithm of times, and on both sides alike.

| family | σ of a sample | drift | modes | spikes | second position | carry-over |
| --- | --- | --- | --- | --- | --- | --- |
",
    );
    for family in &FAMILIES {
        let n = family.noise;
        let shown = [
            n.sample,
            n.drift,
            n.modes,
            n.spikes,
            n.second_position,
            n.carry_over,
        ];
        let cells = shown.map(|value| match value {
            0.0 => "—".to_owned(),
            value => format!("{value}"),
        });
        let _ = writeln!(text, "| {} | {} |", family.name, cells.join(" | "));
    }
    text += "
*σ of a sample*: every sample scatters independently by σ. *Drift*: a random walk that forgets 5% \
at every sample, with normal steps of this sd. *Modes*: about every 37 samples, the machine \
switches to one of seven modes, evenly spaced over this distance. *Spikes*: this share of samples \
takes 10 to 1,000 times as long. *Second position*: the second sample of every pair is slower by \
this much. *Carry-over*: so is every sample that follows a sample of the other side, including \
priming runs. The harder row of processes has σ .005 and a layout sd of 1.4%/√2 for each side. \
Two more rows model heaps: one draws one of the seven modes for every sample; in the other, three \
samples in ten take a slow path, slower by 1. Both have σ .01.

## How to read the tables

- *K × Pmax*: blocks per replicate, and the maximum number of replicates.
- *least SE*: the smallest possible standard error of the estimate at Pmax, from the scatter and \
drift over all blocks and the layouts over all replicates.
- *false (allowed)*: false verdicts, and the binomial bound of 5%. A true −1% lies just outside \
the margin, so *equivalent* is false for it.
- *always held*: races in which every interval of every analysis contained the truth; *held at \
the end*: races whose final interval did.
- *estimate − truth*: mean ± its standard error, and median, in hundredths of a log-ratio, which near 0 are percentage points. Early
  stopping exaggerates a little.
- *replicates*: mean number used. Races that are neither faster, slower nor equivalent are too \
close to call.
";
    text
}

const HEAD: &str = "\
| row | noise | true change | K × Pmax | least SE | races | faster | equivalent | slower | false (allowed) | always held | held at the end | estimate − truth: mean, median | replicates |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

fn row((number, row, tally): &(u64, Row, Tally)) -> String {
    let share = |count: u32| percents(f64::from(count) / f64::from(tally.races));
    let wrong = row.wrong(tally);
    let allowed = at_most(tally.races, ALPHA);
    let over = if wrong > allowed { "**" } else { "" };
    format!(
        "| {number} | {} | {}% | {} × {} | {} | {} | {} | {} | {} | {over}{}{over} ({}) | {} | {} | {} ± {:.3}, {} | {:.1} |\n",
        row.name,
        signed(row.change, 0),
        grouped(row.setting.blocks_per_replicate),
        grouped(row.setting.max_replicates),
        percents(row.setting.least_error()),
        grouped(tally.races),
        share(tally.faster),
        share(tally.equivalent),
        share(tally.slower),
        share(wrong),
        share(allowed),
        share(tally.held_always),
        share(tally.held_at_the_end),
        signed(100.0 * tally.mean_off, 3),
        100.0 * tally.mean_off_error,
        signed(100.0 * tally.median_off, 3),
        tally.replicates,
    )
}

/// A share in percent, to the hundredth.
fn percents(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

/// A number with its sign; 0 has none, however it came to be.
fn signed(value: f64, digits: usize) -> String {
    let plain = format!("{:.digits$}", value.abs());
    if plain.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        plain
    } else if value < 0.0 {
        format!("−{plain}")
    } else {
        format!("+{plain}")
    }
}

/// Thousands set off by commas.
fn grouped(count: u32) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}
