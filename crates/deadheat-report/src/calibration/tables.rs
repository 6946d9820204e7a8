//! The figures of a calibration as tables, for every shape of the answer.

use deadheat_model::{CalibratedKind, Calibration, Detectable, Found, LogRatio, NoiseFloor, Unit};

use super::note::{kind, percent};
use crate::document::{self, Block, Content, Kind};
use crate::glyphs::Glyphs;
use crate::units::{counted, quantity, share, spread};

/// A table under a title, and what there is to say below it.
struct Table {
    title: &'static str,
    /// A sentence on how to read it.
    reading: Option<String>,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    below: Vec<String>,
}

impl Table {
    fn blocks<'a>(self) -> Vec<Block<'a>> {
        let mut table = document::Table::default();
        for head in self.header {
            // Names stand to the left of the figures.
            let kind = match head.as_str() {
                "" | "replicates at most" => Kind::Words,
                _ => Kind::Number,
            };
            table.column(kind, head);
        }
        table.rows = self.rows.into_iter().map(Into::into).collect();
        let mut blocks = vec![Block::of(Content::Heading(2, self.title.to_owned()))];
        blocks.extend(
            self.reading
                .map(|reading| Block::paragraph(reading).tight()),
        );
        blocks.push(Block::table(table).tight());
        blocks.extend(
            self.below
                .into_iter()
                .map(|line| Block::indented(line).tight()),
        );
        blocks
    }
}

/// All tables that have a row.
pub(super) fn tables<'a>(calibration: &Calibration, glyphs: Glyphs) -> Vec<Block<'a>> {
    let tables = [
        Some(same(calibration)),
        Some(noise(calibration, glyphs)),
        detectable(calibration, glyphs),
        Some(known(calibration, glyphs)),
    ];
    let tables = tables.into_iter().flatten();
    let filled = tables.filter(|table| !table.rows.is_empty());
    filled.flat_map(Table::blocks).collect()
}

fn cells(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// Kinds of which something was raced.
fn raced(calibration: &Calibration) -> impl Iterator<Item = &CalibratedKind> {
    calibration.kinds.iter().filter(|one| one.cost.is_some())
}

fn same(calibration: &Calibration) -> Table {
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
    Table {
        title: "Raced against themselves",
        reading: Some(format!(
            "Every faster or slower is wrong, {} of them are accepted.",
            share(calibration.alpha)
        )),
        header: cells(&[
            "",
            "races",
            "faster or slower",
            "95 % bounds",
            "dead heat",
            "too close",
        ]),
        rows: raced(calibration).map(row).collect(),
        below: Vec::new(),
    }
}

/// "0.12 to 3.5 %".
pub(super) fn bounds(low: f64, high: f64) -> String {
    let low = percent(low);
    format!("{} to {}", low.trim_end_matches(" %"), percent(high))
}

fn noise(calibration: &Calibration, glyphs: Glyphs) -> Table {
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
    Table {
        title: "What remains when nothing differs",
        reading: None,
        header: cells(&[
            "",
            "one takes",
            "noise floor",
            "half width",
            "process",
            "block",
            "replicate",
            "blocks",
        ]),
        rows: raced(calibration).filter_map(row).collect(),
        below: vec![
            "Noise floor: 95 % of estimates are off by no more. Half width: the median of their \
             intervals. Process, block: standard deviation from one to the next. Replicate: what \
             one takes, with so many blocks."
                .to_owned(),
        ],
    }
}

fn detectable(calibration: &Calibration, glyphs: Glyphs) -> Option<Table> {
    let budgets = raced(calibration).map(|one| &one.detectable);
    let budgets = budgets.max_by_key(|detectable| detectable.len())?;
    let mut header = cells(&["", "replicates at most"]);
    header.extend(
        budgets
            .iter()
            .map(|one| format!("{} s", one.budget_seconds)),
    );
    let row =
        |first: &str, second: &str, of: &dyn Fn(&Detectable) -> String, one: &CalibratedKind| {
            let mut row = cells(&[first, second]);
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
    Some(Table {
        title: "Smallest difference found in 80 % of races of this work, by budget",
        reading: None,
        header,
        rows: rows.collect(),
        below: vec![
            "As many as fit: --max-replicates set to the number in brackets. This takes noise to \
             stay as it was, and speaks of the binary: of where the linker puts code it knows \
             nothing."
                .to_owned(),
        ],
    })
}

fn known(calibration: &Calibration, glyphs: Glyphs) -> Table {
    let kinds = raced(calibration).filter(|one| !one.known.is_empty());
    let kinds: Vec<&CalibratedKind> = kinds.collect();
    let mut changes: Vec<f64> = Vec::new();
    for one in kinds.iter().flat_map(|one| &one.known) {
        if !changes.contains(&one.change) {
            changes.push(one.change);
        }
    }
    changes.sort_unstable_by(f64::total_cmp);
    let mut header = cells(&[""]);
    header.extend(changes.iter().map(|change| format!("+{}", share(*change))));
    let row = |one: &&CalibratedKind| {
        let of_change = |change: &f64| {
            let found = one.known.iter().find(|known| known.change == *change);
            match found {
                Some(known) => format!("{} of {}", known.right.hits, known.right.of),
                None => glyphs.nothing().to_owned(),
            }
        };
        let mut row = cells(&[kind(one.kind)]);
        row.extend(changes.iter().map(of_change));
        row
    };
    let rows = kinds.iter().map(row).collect();
    let mut below: Vec<String> = kinds
        .iter()
        .map(|one| truth(one, calibration.alpha))
        .collect();
    below.push(format!(
        "A race is over as soon as its change is known to be below the margin of {}; smaller ones \
         are seldom given a direction.",
        share(calibration.margin)
    ));
    Table {
        title: "Known differences of work",
        reading: Some("Found in the right direction.".to_owned()),
        header,
        rows,
        below,
    }
}

/// The worth of the intervals of a kind.
fn truth(one: &CalibratedKind, alpha: f64) -> String {
    let wrong: u64 = one.known.iter().map(|known| known.wrong).sum();
    let wrong = match wrong {
        0 => "none in the wrong direction".to_owned(),
        wrong => format!("{wrong} in the wrong direction"),
    };
    let name = kind(one.kind);
    match &one.coverage {
        Some(held) => format!(
            "{name}: of {} {} hold the truth ({}, {} are promised), {wrong}.",
            counted(held.of, "interval", "intervals"),
            held.hits,
            bounds(held.low, held.high),
            share(1.0 - alpha)
        ),
        None => format!(
            "{name}: {wrong}; starting them dilutes the difference, so how large it is in truth is \
             not known exactly."
        ),
    }
}
