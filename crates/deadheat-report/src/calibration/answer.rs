//! The answer about a calibration: its tables, whether verdicts on this machine can be trusted, and
//! notes.

use deadheat_model::{CalibratedKind, Calibration, CalibrationEnd, Day, Promise, Share, Verdict};

use super::tables::{bounds, tables};
use super::{kind, percent};
use crate::document::{Block, Note, Severity, mark_of};
use crate::glyphs::Glyphs;
use crate::markdown;
use crate::names::{enumerated, sentence_case, shown, texts};
use crate::suite::signal_name;
use crate::terminal::Terminal;
use crate::units::{counted, share, waiting};

/// The options that affect the text of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalibrationOptions<'a> {
    /// The width of the terminal in columns.
    pub width: usize,
    /// True if colours may be used.
    pub color: bool,
    /// True if the text may contain characters other than ASCII.
    pub unicode: bool,
    /// The properties of the machine, and of deadheat, that have changed since the calibration, as
    /// [`Calibration::outdated`](deadheat_model::Calibration::outdated) returns them.
    pub outdated: &'a [&'static str],
}

/// Formats the calibration as text: the tables, whether verdicts can be trusted, and notes.
pub fn to_calibration_text(calibration: &Calibration, options: &CalibrationOptions<'_>) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    terminal.render(&answer(
        calibration,
        options.outdated,
        terminal.glyphs,
        false,
    ))
}

/// Formats the calibration as GitHub-flavoured Markdown, with a title.
pub fn to_calibration_markdown(calibration: &Calibration) -> String {
    let text = markdown::document(&answer(calibration, &[], Glyphs::Unicode, true));
    format!(
        "# Calibration of a machine\n\nWritten by `deadheat calibrate --markdown`; `docs/trust.md` \
         says how to read it.\n\n{text}"
    )
}

/// Returns the blocks of the answer. The block on whether verdicts can be trusted is near the
/// beginning of a document, and at the end in a terminal.
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

fn verdict<'a>(calibration: &Calibration, glyphs: Glyphs) -> Block<'a> {
    let (belief, sentence) = belief(calibration);
    let verdict = match belief {
        Belief::Yes => Verdict::Faster,
        Belief::No => Verdict::Slower,
        Belief::Perhaps => Verdict::Inconclusive,
    };
    let (mark, tone) = mark_of(Some(verdict), glyphs);
    let mark = match (belief, glyphs) {
        // The usual ASCII marks `<` and `>` compare two sides, but this block is about the machine.
        (Belief::Yes, Glyphs::Ascii) => "+",
        (Belief::No, Glyphs::Ascii) => "!",
        _ => mark,
    };
    Block::verdict((mark, tone), sentence, sizes(calibration))
}

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
        "an unknown machine".to_owned()
    } else {
        facts.join(", ")
    }
}

/// Maximum width, in columns, of the reason why a kind of race was not raced to the end.
const REASON: usize = 400;
/// Minimum share of races that must find a change, for the answer to say that races find it
/// reliably.
const FOUND: f64 = 0.8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    /// Verdicts can be trusted: the calibration confirms all promises.
    Yes,
    /// Undecided: no promise is broken, but the calibration does not confirm all of them, or no
    /// race finished.
    Perhaps,
    /// Verdicts cannot be trusted: at least one promise is broken.
    No,
}

/// Returns the checked promises about races of this kind: the false-positive rate, and the coverage
/// of the intervals if it was measured.
fn promises(one: &CalibratedKind) -> impl Iterator<Item = Promise> {
    [Some(one.promise), one.coverage_promise]
        .into_iter()
        .flatten()
}

fn is_broken(one: &&CalibratedKind) -> bool {
    promises(one).any(|promise| promise == Promise::Broken)
}

/// Returns the kinds of races of which at least one A/A race finished.
fn raced(calibration: &Calibration) -> Vec<&CalibratedKind> {
    let kinds = calibration.kinds.iter();
    kinds.filter(|one| one.false_calls.of > 0).collect()
}

/// Returns whether verdicts can be trusted, with a sentence or two that give the reason.
pub(super) fn belief(calibration: &Calibration) -> (Belief, String) {
    let raced = raced(calibration);
    let alpha = calibration.alpha;
    if raced.is_empty() {
        let text = "It is unknown whether verdicts on this machine can be trusted: no race ran to \
         its end.";
        return (Belief::Perhaps, text.to_owned());
    }
    let (broken, sound): (Vec<_>, Vec<_>) = raced.into_iter().partition(is_broken);
    if !broken.is_empty() {
        let why: Vec<String> = broken.iter().map(|one| breach(one, alpha)).collect();
        let mut text = format!(
            "Verdicts on {} cannot be trusted on this machine: {}. ",
            list(&broken),
            why.join("; ")
        );
        if !sound.is_empty() {
            text += &format!("Verdicts on {} show no problem. ", list(&sound));
        }
        text += "Find out what disturbs this machine (deadheat doctor), remove the cause, and \
         calibrate again.";
        return (Belief::No, text);
    }
    let (open, kept): (Vec<_>, Vec<_>) = sound
        .into_iter()
        .partition(|one| one.promise == Promise::Open);
    let of_all = if open.is_empty() {
        String::new()
    } else {
        format!(" on {}", list(&kept))
    };
    let believed = format!(
        "Verdicts{of_all} can be trusted on this machine: of races of identical contenders, {} \
         were called faster or slower, and up to {} are accepted.",
        all_calls(&kept),
        share(alpha)
    );
    if open.is_empty() {
        return (Belief::Yes, believed);
    }
    let few = format!(
        "ran to their end to be sure: of races of identical contenders, {} were called faster or \
         slower, and up to {} are accepted. More races narrow these bounds; wide bounds do not \
         mean that the machine is bad.",
        all_calls(&open),
        share(alpha)
    );
    let text = if kept.is_empty() {
        format!("Verdicts on this machine show no problem, but too few races {few}")
    } else {
        format!(
            "{believed} Verdicts on {} show no problem, but too few races {few}",
            list(&open)
        )
    };
    (Belief::Perhaps, text)
}

/// Lists kinds of races: "functions, builds and commands".
fn list(kinds: &[&CalibratedKind]) -> String {
    enumerated(&texts(kinds, &|one| kind(one.kind).to_owned()))
}

/// Returns the counts of false positives for each kind of race: "1 of 300 with functions (true rate
/// at most 1.8%) and 0 of 120 with commands (true rate at most 3.0%)".
fn all_calls(kinds: &[&CalibratedKind]) -> String {
    enumerated(&texts(kinds, &|one| calls(one)))
}

/// Formats the number of false positives of a kind of race, with the upper bound of their rate: "1
/// of 300 with functions (true rate at most 1.8%)".
fn calls(one: &CalibratedKind) -> String {
    let Share { hits, of, high, .. } = one.false_calls;
    format!(
        "{hits} of {of} with {} (true rate at most {})",
        kind(one.kind),
        percent(high)
    )
}

fn breach(one: &CalibratedKind, alpha: f64) -> String {
    let Share { hits, of, low, .. } = one.false_calls;
    let name = kind(one.kind);
    match (one.promise, &one.coverage) {
        (Promise::Broken, _) => format!(
            "{hits} of {of} races of {name} against themselves were called faster or slower, so \
             the true rate is at least {}, although only {} are accepted",
            percent(low),
            share(alpha)
        ),
        (_, Some(held)) => format!(
            "{} of {} intervals of {name} contain the known change ({}), although {} are \
             promised",
            held.hits,
            held.of,
            bounds(held.low, held.high),
            share(1.0 - alpha)
        ),
        // A coverage promise exists only if the coverage was measured, so this arm is never
        // reached.
        (_, None) => name.to_owned(),
    }
}

/// Returns a sentence for each kind of race about the smallest change that races find reliably.
pub(super) fn sizes(calibration: &Calibration) -> Vec<String> {
    let size = |one: &&CalibratedKind| {
        let floor = one.noise?.estimate.change();
        // A size of change counts as found only if races also find all larger sizes reliably.
        let found = one
            .known
            .iter()
            .rev()
            .take_while(|known| known.right.seen().is_some_and(|share| share >= FOUND));
        let from = found.last().map(|known| known.change);
        let name = kind(one.kind);
        Some(match from {
            Some(from) => format!(
                "For {name}, the default settings find a change in this work of {} or more; the \
                 noise hides changes under {}.",
                share(from),
                percent(floor)
            ),
            None => format!(
                "For {name}, the default settings find none of the tried changes in this work \
                 reliably; the noise hides changes under {}.",
                percent(floor)
            ),
        })
    };
    raced(calibration).iter().filter_map(size).collect()
}

pub(super) fn doubts(
    calibration: &Calibration,
    outdated: &[&'static str],
    glyphs: Glyphs,
) -> Vec<String> {
    let mut doubts = Vec::new();
    if !outdated.is_empty() {
        doubts.push(format!(
            "This calibration was made with another {}, so races on this machine do not use it.",
            outdated.join(", another ")
        ));
    }
    doubts.extend(ending(calibration));
    for one in &calibration.kinds {
        if let Some(problem) = &one.problem {
            let problem = shown(problem, REASON, glyphs);
            let problem = problem.trim_end_matches('.');
            let how = match one.false_calls.of {
                0 => "were not raced",
                _ => "were not raced to the end",
            };
            doubts.push(format!(
                "{} {how}: {problem}.",
                sentence_case(kind(one.kind))
            ));
        }
    }
    let few: Vec<&CalibratedKind> = raced(calibration)
        .into_iter()
        .filter(|one| one.promise == Promise::Open)
        .collect();
    for one in few {
        let seen = one
            .false_calls
            .seen()
            .filter(|seen| *seen > calibration.alpha);
        if let Some(seen) = seen {
            doubts.push(format!(
                "{} of races of {} were called faster or slower, more than the {} accepted, but \
                 chance alone may explain that: the bounds are {}.",
                percent(seen),
                kind(one.kind),
                share(calibration.alpha),
                bounds(one.false_calls.low, one.false_calls.high)
            ));
        }
    }
    if calibration.quick {
        doubts.push(
            "A quick calibration: its bounds are wide. Without --quick they are narrower.".into(),
        );
    }
    if calibration.machine.cores == Some(1) {
        doubts.push(
            "Only one core is available (the machine has one, or affinity or a CPU quota allows \
             one). Other processes compete with the contenders for it, so races need longer to \
             reach a verdict."
                .into(),
        );
    }
    if calibration.debug_build {
        doubts.push(
            "deadheat itself is a debug build: replicates take longer than with a release build, \
             so fewer fit into a budget."
                .into(),
        );
    }
    doubts
}

/// Lists the kinds of races with fewer finished races than planned.
fn cut_off(calibration: &Calibration) -> String {
    let short = (calibration.kinds.iter()).filter(|one| one.false_calls.of < one.planned);
    let each = short.map(|one| {
        let name = kind(one.kind);
        format!("{name}: {} of {}", one.false_calls.of, one.planned)
    });
    each.collect::<Vec<String>>().join(", ")
}

fn ending(calibration: &Calibration) -> Option<String> {
    let raced: u64 = calibration.kinds.iter().map(|one| one.false_calls.of).sum();
    let planned: u64 = calibration.kinds.iter().map(|one| one.planned).sum();
    let what = format!(
        "{raced} of {} of identical contenders ran to their end",
        counted(planned, "race", "races")
    );
    let took = waiting(calibration.elapsed_seconds);
    match calibration.ending {
        CalibrationEnd::Finished => None,
        CalibrationEnd::Budget => Some(format!(
            "The time budget was used up after {took}, and {what} ({}); raise it with --budget.",
            cut_off(calibration)
        )),
        CalibrationEnd::Interrupted(signal) => Some(format!(
            "Interrupted by {} after {took}, when {what}.",
            signal_name(signal)
        )),
    }
}
