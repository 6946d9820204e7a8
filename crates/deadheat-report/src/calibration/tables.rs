//! Tables with the numbers of a calibration, for all output formats.

use deadheat_model::{CalibratedKind, Calibration, Detectable, Found, LogRatio, NoiseFloor, Unit};

use super::{kind, percent};
use crate::document::{Block, Kind, Table};
use crate::glyphs::Glyphs;
use crate::names::texts;
use crate::units::{counted, quantity, share, spread};

/// Returns a title, a sentence on how to read the table, the table, and the lines below it; empty
/// if the table has no rows.
fn table<'a>(
    (title, reading): (&str, Option<String>),
    header: &[&str],
    rows: Vec<Vec<String>>,
    below: Vec<String>,
) -> Vec<Block<'a>> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Table::default();
    for head in header {
        // Columns with names are left-aligned.
        let kind = match *head {
            "" | "replicates at most" => Kind::Words,
            _ => Kind::Number,
        };
        table.column(kind, *head);
    }
    table.rows = rows.into_iter().map(Into::into).collect();
    let mut blocks = vec![Block::heading(2, title.to_owned())];
    blocks.extend(reading.map(|reading| Block::paragraph(reading).tight()));
    blocks.push(Block::table(table).tight());
    blocks.extend(below.into_iter().map(|line| Block::indented(line).tight()));
    blocks
}

pub(super) fn tables<'a>(calibration: &Calibration, glyphs: Glyphs) -> Vec<Block<'a>> {
    [
        same(calibration),
        noise(calibration, glyphs),
        detectable(calibration, glyphs),
        known(calibration, glyphs),
    ]
    .concat()
}

fn raced(calibration: &Calibration) -> impl Iterator<Item = &CalibratedKind> {
    calibration.kinds.iter().filter(|one| one.cost.is_some())
}

fn same<'a>(calibration: &Calibration) -> Vec<Block<'a>> {
    let row = |one: &CalibratedKind| {
        let calls = &one.false_calls;
        vec![
            kind(one.kind).to_owned(),
            calls.of.to_string(),
            calls.hits.to_string(),
            bounds(calls.low, calls.high),
            one.calls.equivalent.to_string(),
            one.calls.inconclusive.to_string(),
        ]
    };
    let reading = format!(
        "Every faster or slower verdict here is wrong; deadheat accepts them in up to {} of races.",
        share(calibration.alpha)
    );
    table(
        ("Identical contenders against each other", Some(reading)),
        &[
            "",
            "races",
            "faster or slower",
            "95% bounds",
            "dead heat",
            "too close",
        ],
        raced(calibration).map(row).collect(),
        Vec::new(),
    )
}

/// Formats the lower and the upper bound of a share: "0.12 to 3.5%".
pub(super) fn bounds(low: f64, high: f64) -> String {
    let low = percent(low);
    format!("{} to {}", low.trim_end_matches('%'), percent(high))
}

fn noise<'a>(calibration: &Calibration, glyphs: Glyphs) -> Vec<Block<'a>> {
    let row = |one: &CalibratedKind| -> Option<Vec<String>> {
        let (noise, cost) = (one.noise?, one.cost?);
        let size = |effect: Option<LogRatio>| match effect {
            Some(effect) => spread(effect, glyphs),
            None => glyphs.nothing().to_owned(),
        };
        let NoiseFloor {
            estimate,
            half_width,
            process,
            block,
        } = noise;
        let nanoseconds = |ns: f64| quantity(Unit::Nanoseconds, ns, glyphs);
        Some(vec![
            kind(one.kind).to_owned(),
            one.baseline_ns.map_or_else(String::new, nanoseconds),
            size(Some(estimate)),
            size(half_width),
            size(process),
            size(block),
            nanoseconds(cost.seconds * 1e9),
            cost.blocks.to_string(),
        ])
    };
    let heads = [
        "",
        "one takes",
        "noise floor",
        "half width",
        "process",
        "block",
        "replicate",
        "blocks",
    ];
    let below = "One takes: the median time of one call or launch. Noise floor: 95% of estimates \
                 err by at most this. Half width: median half width of their intervals. Process, \
                 block: standard deviation between processes and between blocks. Replicate: its \
                 duration, with the number of blocks.";
    table(
        ("Noise between identical contenders", None),
        &heads,
        raced(calibration).filter_map(row).collect(),
        vec![below.to_owned()],
    )
}

fn detectable<'a>(calibration: &Calibration, glyphs: Glyphs) -> Vec<Block<'a>> {
    let budgets = raced(calibration).map(|one| &one.detectable);
    let Some(budgets) = budgets.max_by_key(|detectable| detectable.len()) else {
        return Vec::new();
    };
    let budgets = texts(budgets, &|one| format!("{} s", one.budget_seconds));
    let mut header = vec!["", "replicates at most"];
    header.extend(budgets.iter().map(String::as_str));
    let row =
        |first: &str, second: &str, of: &dyn Fn(&Detectable) -> String, one: &CalibratedKind| {
            let mut row = vec![first.to_owned(), second.to_owned()];
            row.extend(one.detectable.iter().map(of));
            row
        };
    let found = |found: Option<Found>| match found {
        Some(found) => percent(found.effect.change()),
        None => glyphs.nothing().to_owned(),
    };
    let numbered = |one: &Detectable| match one.at_most {
        Some(at_most) => format!(
            "{} ({})",
            percent(at_most.effect.change()),
            at_most.replicates
        ),
        None => glyphs.nothing().to_owned(),
    };
    let default = format!("{}, the default", calibration.max_replicates);
    let rows = raced(calibration)
        .filter(|one| !one.detectable.is_empty())
        .flat_map(|one| {
            [
                row(kind(one.kind), &default, &|one| found(one.at_defaults), one),
                row("", "as many as fit", &numbered, one),
            ]
        });
    let below = "As many as fit: --max-replicates set to the number in brackets. This assumes \
                 unchanged noise, and is about this binary: it does not include the effect of code \
                 layout.";
    let title = "Smallest difference found in 80% of races of this work, by budget";
    table(
        (title, None),
        &header,
        rows.collect(),
        vec![below.to_owned()],
    )
}

fn known<'a>(calibration: &Calibration, glyphs: Glyphs) -> Vec<Block<'a>> {
    let kinds = raced(calibration).filter(|one| !one.known.is_empty());
    let kinds: Vec<&CalibratedKind> = kinds.collect();
    let mut changes: Vec<f64> = Vec::new();
    for one in kinds.iter().flat_map(|one| &one.known) {
        if !changes.contains(&one.change) {
            changes.push(one.change);
        }
    }
    changes.sort_unstable_by(f64::total_cmp);
    let shown = texts(&changes, &|change| format!("+{}", share(*change)));
    let mut header = vec![""];
    header.extend(shown.iter().map(String::as_str));
    let row = |one: &&CalibratedKind| {
        let of_change = |change: &f64| {
            let found = one.known.iter().find(|known| known.change == *change);
            match found {
                Some(known) => format!("{} of {}", known.right.hits, known.right.of),
                None => glyphs.nothing().to_owned(),
            }
        };
        let mut row = vec![kind(one.kind).to_owned()];
        row.extend(changes.iter().map(of_change));
        row
    };
    let rows = kinds.iter().map(row).collect();
    let mut below = texts(&kinds, &|one| truth(one, calibration.alpha));
    below.push(format!(
        "A race ends as soon as its change is known to be within the margin of {}, so smaller \
         changes seldom get a direction.",
        share(calibration.margin)
    ));
    let reading =
        Some("Each cell: how many intervals lie entirely on the right side of zero.".to_owned());
    table(
        ("Races with a known difference", reading),
        &header,
        rows,
        below,
    )
}

/// Returns a sentence with the number of confidence intervals that contain the known change, for
/// one kind of race.
fn truth(one: &CalibratedKind, alpha: f64) -> String {
    let wrong: u64 = one.known.iter().map(|known| known.wrong).sum();
    let wrong = match wrong {
        0 => "no race found a change in the wrong direction".to_owned(),
        1 => "1 race found a change in the wrong direction".to_owned(),
        wrong => format!("{wrong} races found a change in the wrong direction"),
    };
    let name = kind(one.kind);
    match &one.coverage {
        Some(held) => format!(
            "{name}: of {}, {} contain the true change (95% bounds of this share: {}; promised: \
             {}); {wrong}.",
            counted(held.of, "interval", "intervals"),
            held.hits,
            bounds(held.low, held.high),
            share(1.0 - alpha)
        ),
        None => format!(
            "{name}: {wrong}; the time to start a process dilutes the difference, so its true size \
             is not known exactly."
        ),
    }
}
