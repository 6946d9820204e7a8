//! The measured table as a page of Markdown. The same figures give the same bytes, on any machine
//! and at any time.

use std::fmt::Write;

use crate::simulation::families::FAMILIES;
use crate::simulation::race::ALPHA;
use crate::simulation::tally::{Tally, at_most};
use crate::table::{PROMISES, Promise, Row, Unit};

/// A measured section.
pub struct Chapter {
    pub title: &'static str,
    pub words: &'static str,
    /// The number, the row and the outcomes of its races.
    pub lines: Vec<(u64, Row, Tally)>,
}

/// Returns the seed of the first race of a row. The other races have the following numbers.
pub fn first_seed(number: u64) -> u64 {
    number * 1_000_000
}

/// Returns the whole page, and true if every promise is kept.
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

This page shows how often deadheat's verdicts are right in simulated races, in which the true \
change is known. `cargo run --release -p deadheat --example calibration` writes the whole page; \
`just simulate` runs this command.

The tables summarise {} races, in {} rows. Each simulated race is complete: \
it has a schedule, a session, a stopping rule and an analysis. Only the times of the race are simulated, on a simulated clock, with noise of \
known size. α is {ALPHA}. The margin is 1%, unless a section gives another. In each row, the \
interim analyses follow the plan for the row's maximum number of replicates. The races of row n \
have the seeds n·1,000,000, n·1,000,000 + 1, …, so the same program writes the same page. The program \
exits with an error if deadheat breaks one of the promises below.

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
        // A promise without a measured row is not kept.
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
The words *where the noise allows* limit a promise to the rows in which four times the smallest possible standard \
error (*least SE* below) is at most the margin. The promises about candidates with \
a true change of −1%, +1% or −2% also apply only to rows where the noise allows. The *binomial bound* allows for chance: if the true rate of false verdicts of a row is \
5%, the measured share exceeds this bound with a probability of 1 in 10,000. \
The limits without the words *within the binomial bound* must hold exactly, with one exception: in a \
row with fewer than 1,000 races, the promise of 94% is kept if the share of races with an interval \
that misses the truth is within the binomial bound for a rate of 5%.
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

All noise changes the logarithm of the times, in the same way on both sides.

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
*σ of a sample* is the standard deviation (sd) of the independent scatter of the samples. \
*Drift* is a random walk that forgets 5% of its value at every sample; the column gives the sd \
of its normal steps. *Modes*: about every 37 samples, the machine switches to one of seven \
modes; the column gives the distance from the fastest to the slowest mode, between which the \
modes are evenly spaced. *Spikes* is the share of samples that take 10 to 1,000 times as long. \
*Second position*: the second sample of every pair is slower by this much. *Carry-over*: every \
sample that follows a sample of the other side, including priming runs, is slower by this much. \
The rows *layout sd 1.4% of the effect* have σ .005 and a layout sd of 1.4%/√2 for each side. \
Two more rows model heaps, both with σ .01. In the first of these two rows, every sample draws \
one of the seven modes. In the second row, three samples in ten take a slow path, which adds 1 \
to the logarithm of the time.

## How to read the tables

- *K × Pmax*: blocks per replicate, and the maximum number of replicates.
- *least SE*: the smallest possible standard error of the estimate at Pmax. The least SE follows \
from the scatter and drift over all blocks, and from the layouts over all replicates.
- *false (allowed)*: the share of false verdicts, and the binomial bound of 5%. A true change \
of −1% is just outside the margin, so the verdict *equivalent* is false for it.
- *always held*: the share of races in which every interval of every analysis contains the \
truth. *Held at the end*: the share of races whose final interval contains the truth.
- *estimate − truth*: the mean ± its standard error, and the median, in hundredths of a \
log-ratio (for small changes, percentage points). Early stopping exaggerates the change a \
little.
- *replicates*: the mean number of replicates that the races use.
- Races that are neither faster, slower nor equivalent are too close to call.
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

/// Formats a number with its sign. A number that rounds to 0 has no sign.
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

/// Formats a number with commas between thousands.
fn grouped(count: u32) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}
