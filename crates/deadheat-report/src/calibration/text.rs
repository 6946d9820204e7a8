//! A calibration as people read it in a terminal.

use deadheat_model::{Calibration, Day, Verdict};

use super::tables::{Table, tables};
use super::words::{Belief, belief, doubts, sizes};
use crate::glyphs::Glyphs;
use crate::layout;
use crate::names::{escape, shorten};
use crate::units::{counted, waiting};

/// Everything the text depends on beside the calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalibrationOptions<'a> {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colours may be used.
    pub color: bool,
    /// Whether the terminal shows more than ASCII.
    pub unicode: bool,
    /// In what the machine differs by now, as
    /// [`Calibration::outdated`](deadheat_model::Calibration::outdated) has it.
    pub outdated: &'a [&'static str],
}

/// The calibration as text: the tables, whether verdicts can be believed, and
/// what else there is to know.
pub fn to_calibration_text(calibration: &Calibration, options: &CalibrationOptions<'_>) -> String {
    let glyphs = Glyphs::new(options.unicode);
    let width = options.width;
    let mut text = layout::wrap("", &heading(calibration, glyphs), width);
    text += &layout::wrap("", &machine(calibration, glyphs), width);
    for table in tables(calibration, glyphs) {
        text += &shown(&table, width);
    }
    text.push('\n');
    let (belief, sentence) = belief(calibration);
    let verdict = match belief {
        Belief::Yes => Some(Verdict::Faster),
        Belief::No => Some(Verdict::Slower),
        Belief::Perhaps | Belief::Unknown => Some(Verdict::Inconclusive),
    };
    let mark = match (belief, glyphs) {
        // A relation between two sides would say nothing here.
        (Belief::Yes, Glyphs::Ascii) => "+",
        (Belief::No, Glyphs::Ascii) => "!",
        _ => glyphs.mark(verdict),
    };
    let code = match belief {
        Belief::Yes => 32,
        Belief::No => 31,
        Belief::Perhaps | Belief::Unknown => 33,
    };
    text += &painted(&format!("{mark} "), mark, &sentence, code, options);
    for sentence in sizes(calibration) {
        text += &layout::wrap("  ", &sentence, width);
    }
    let doubts = doubts(calibration, options.outdated, glyphs);
    if !doubts.is_empty() {
        text.push('\n');
    }
    for doubt in doubts {
        text += &painted("note: ", "note:", &doubt, 36, options);
    }
    text
}

/// A sentence whose beginning is coloured, after it was wrapped: escape
/// sequences have no width.
fn painted(
    prefix: &str,
    word: &str,
    sentence: &str,
    code: u8,
    options: &CalibrationOptions<'_>,
) -> String {
    let plain = layout::wrap(prefix, sentence, options.width);
    match options.color {
        true => plain.replacen(word, &format!("\u{1b}[{code}m{word}\u{1b}[0m"), 1),
        false => plain,
    }
}

/// When, by what, and what it took.
pub(super) fn heading(calibration: &Calibration, glyphs: Glyphs) -> String {
    let when = match calibration.started_at {
        Some(seconds) => format!(" of {}", Day::of_unix_seconds(seconds)),
        None => String::new(),
    };
    let races: u64 = calibration
        .kinds
        .iter()
        .map(|one| one.calls.races() + one.known.iter().map(|k| k.calls.races()).sum::<u64>())
        .sum();
    format!(
        "Calibration{when}: {}, {}, seed {}, deadheat {}",
        counted(races, "race", "races"),
        waiting(calibration.elapsed_seconds),
        calibration.seed,
        shorten(&escape(&calibration.tool_version, glyphs), 40, glyphs)
    )
}

/// The machine in one line.
pub(super) fn machine(calibration: &Calibration, glyphs: Glyphs) -> String {
    let machine = &calibration.machine;
    let shown = |text: &String| shorten(&escape(text, glyphs), 120, glyphs);
    let facts = [
        machine.cpu.as_ref().map(shown),
        machine
            .cores
            .map(|cores| counted(cores.into(), "core", "cores")),
        Some(shown(&machine.system)).filter(|system| !system.is_empty()),
        machine
            .kernel
            .as_ref()
            .map(|kernel| format!("kernel {}", shown(kernel))),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    match facts.is_empty() {
        true => "a machine of which nothing is known".to_owned(),
        false => facts.join(", "),
    }
}

fn shown(table: &Table, width: usize) -> String {
    let mut text = format!("\n{}", layout::wrap("", &table.title, width));
    let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
    let left = header
        .iter()
        .take_while(|cell| is_name(cell))
        .count()
        .max(1);
    let aligned = "l".repeat(left) + &"r".repeat(header.len().saturating_sub(left));
    text += &layout::table(&header, &table.rows, &aligned, 2, width);
    for line in &table.below {
        text += &layout::wrap("  ", line, width);
    }
    text
}

/// Whether a column holds words and no figures.
pub(super) fn is_name(header: &str) -> bool {
    matches!(header, "" | "replicates at most")
}
