//! A calibration from top to bottom: its tables, whether verdicts can be believed, and what else
//! there is to know.

use deadheat_model::{Calibration, Day, Verdict};

use super::tables::tables;
use super::words::{Belief, belief, doubts, sizes};
use crate::document::{Block, Content, Note, Severity, VerdictLine, mark_of};
use crate::glyphs::Glyphs;
use crate::markdown;
use crate::names::shown;
use crate::terminal::Terminal;
use crate::units::{counted, waiting};

/// Everything the text depends on beside the calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalibrationOptions<'a> {
    /// Columns of the terminal.
    pub width: usize,
    /// True where colours may be used.
    pub color: bool,
    /// True where the terminal shows more than ASCII.
    pub unicode: bool,
    /// In what the machine differs by now, as
    /// [`Calibration::outdated`](deadheat_model::Calibration::outdated) has it.
    pub outdated: &'a [&'static str],
}

/// The calibration as text: the tables, whether verdicts can be believed, and
/// what else there is to know.
pub fn to_calibration_text(calibration: &Calibration, options: &CalibrationOptions<'_>) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    terminal.render(&answer(
        calibration,
        options.outdated,
        terminal.glyphs,
        false,
    ))
}

/// The calibration as GitHub-flavoured Markdown, from its title to what it comes to.
pub fn to_calibration_markdown(calibration: &Calibration) -> String {
    let text = markdown::document(&answer(calibration, &[], Glyphs::Unicode, true));
    format!(
        "# Calibration of a machine\n\nWritten by `deadheat calibrate --markdown`; `docs/trust.md` \
         says how to read it.\n\n{text}"
    )
}

/// All blocks; a document begins with whether verdicts can be believed, a terminal ends with it.
fn answer<'a>(
    calibration: &Calibration,
    outdated: &[&'static str],
    glyphs: Glyphs,
    belief_first: bool,
) -> Vec<Block<'a>> {
    let mut blocks = vec![
        Block::paragraph(heading(calibration, glyphs)),
        Block::paragraph(machine(calibration, glyphs)).tight(),
    ];
    let belief = verdict(calibration, glyphs);
    let (first, last) = if belief_first {
        (Some(belief), None)
    } else {
        (None, Some(belief))
    };
    blocks.extend(first);
    blocks.extend(tables(calibration, glyphs));
    blocks.extend(last);
    let doubts = Note::all(Severity::Note, doubts(calibration, outdated, glyphs));
    blocks.extend(Block::notes(doubts));
    blocks
}

/// Says whether verdicts can be believed, and for what sizes of differences.
fn verdict<'a>(calibration: &Calibration, glyphs: Glyphs) -> Block<'a> {
    let (belief, sentence) = belief(calibration);
    let verdict = match belief {
        Belief::Yes => Verdict::Faster,
        Belief::No => Verdict::Slower,
        Belief::Perhaps | Belief::Unknown => Verdict::Inconclusive,
    };
    let (mark, tone) = mark_of(Some(verdict), glyphs);
    let mark = match (belief, glyphs) {
        // A relation between two sides would say nothing here.
        (Belief::Yes, Glyphs::Ascii) => "+",
        (Belief::No, Glyphs::Ascii) => "!",
        _ => mark,
    };
    Block::of(Content::Verdicts(vec![VerdictLine {
        names: Vec::new(),
        mark,
        tone,
        sentence,
        details: sizes(calibration),
        aside: None,
    }]))
}

/// When, by what, and what it took.
fn heading(calibration: &Calibration, glyphs: Glyphs) -> String {
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
        shown(&calibration.tool_version, 40, glyphs)
    )
}

/// The machine in one line.
fn machine(calibration: &Calibration, glyphs: Glyphs) -> String {
    let machine = &calibration.machine;
    let shown = |text: &String| shown(text, 120, glyphs);
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
    if facts.is_empty() {
        "a machine of which nothing is known".to_owned()
    } else {
        facts.join(", ")
    }
}
