//! The outcome of a calibration, sentence by sentence.

use deadheat_model::{CalibratedKind, Calibration, CalibrationEnd, Promise, Share};

use super::note::{kind, percent, sentence_case};
use super::tables::bounds;
use crate::enumeration::{enumerated, texts};
use crate::glyphs::Glyphs;
use crate::names::shown;
use crate::tally::signal_name;
use crate::units::{counted, share, waiting};

/// Columns that a reason may take.
const REASON: usize = 400;
/// A difference counts as found from this share of races on.
const FOUND: f64 = 0.8;

/// Belief in verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    /// All promises are kept.
    Yes,
    /// None is broken, and some are open.
    Perhaps,
    /// Some are broken.
    No,
    /// Nothing was raced.
    Unknown,
}

/// The promises of a kind.
fn promises(one: &CalibratedKind) -> impl Iterator<Item = Promise> {
    [Some(one.promise), one.coverage_promise]
        .into_iter()
        .flatten()
}

fn is_broken(one: &&CalibratedKind) -> bool {
    promises(one).any(|promise| promise == Promise::Broken)
}

/// Kinds that something is known of.
fn raced(calibration: &Calibration) -> Vec<&CalibratedKind> {
    let kinds = calibration.kinds.iter();
    kinds.filter(|one| one.false_calls.of > 0).collect()
}

/// Says whether verdicts can be believed, in one sentence or two.
pub(super) fn belief(calibration: &Calibration) -> (Belief, String) {
    let raced = raced(calibration);
    let alpha = calibration.alpha;
    if raced.is_empty() {
        let text = "Whether verdicts can be believed here is not known: no race came to its end.";
        return (Belief::Unknown, text.to_owned());
    }
    let (broken, sound): (Vec<_>, Vec<_>) = raced.into_iter().partition(is_broken);
    if !broken.is_empty() {
        let why: Vec<String> = broken.iter().map(|one| breach(one, alpha)).collect();
        let mut text = format!(
            "Verdicts on {} cannot be believed here: {}. ",
            list(&broken),
            why.join("; ")
        );
        if !sound.is_empty() {
            text += &format!("Nothing speaks against those on {}. ", list(&sound));
        }
        text +=
            "Find out what disturbs this machine (deadheat doctor), mend it, and calibrate again.";
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
        "Verdicts{of_all} can be believed here: of things that raced against themselves {} were \
         called faster or slower, and {} are accepted.",
        all_calls(&kept),
        share(alpha)
    );
    if open.is_empty() {
        return (Belief::Yes, believed);
    }
    let few = format!(
        "came to their end to be sure: of things that raced against themselves {} were called \
         faster or slower, and {} are accepted. More races narrow these bounds, which say nothing \
         bad of the machine.",
        all_calls(&open),
        share(alpha)
    );
    let text = if kept.is_empty() {
        format!("Nothing speaks against verdicts here, but too few races {few}")
    } else {
        format!(
            "{believed} Nothing speaks against those on {}, but too few races {few}",
            list(&open)
        )
    };
    (Belief::Perhaps, text)
}

/// "functions, builds and commands".
fn list(kinds: &[&CalibratedKind]) -> String {
    enumerated(&texts(kinds, &|one| kind(one.kind).to_owned()))
}

/// "1 of 300 functions (at most 1.8 %) and 0 of 120 commands (at most 3.0 %)".
fn all_calls(kinds: &[&CalibratedKind]) -> String {
    enumerated(&texts(kinds, &|one| calls(one)))
}

/// "1 of 300 functions (at most 1.8 %)".
fn calls(one: &CalibratedKind) -> String {
    let Share { hits, of, high, .. } = one.false_calls;
    format!(
        "{hits} of {of} {} (at most {})",
        kind(one.kind),
        percent(high)
    )
}

/// The promise that is broken, and by how much.
fn breach(one: &CalibratedKind, alpha: f64) -> String {
    let Share { hits, of, low, .. } = one.false_calls;
    let name = kind(one.kind);
    match (one.promise, &one.coverage) {
        (Promise::Broken, _) => format!(
            "{hits} of {of} {name} were called faster or slower than themselves, so the true rate \
             is at least {} where {} are accepted",
            percent(low),
            share(alpha)
        ),
        (_, Some(held)) => format!(
            "{} of {} intervals of {name} hold a difference that is known ({}), where {} are \
             promised",
            held.hits,
            held.of,
            bounds(held.low, held.high),
            share(1.0 - alpha)
        ),
        // Without a coverage no promise of one can be broken.
        (_, None) => name.to_owned(),
    }
}

/// For what sizes of differences that holds, a sentence for each kind.
pub(super) fn sizes(calibration: &Calibration) -> Vec<String> {
    let size = |one: &&CalibratedKind| {
        let floor = one.noise?.estimate.change();
        // Every larger one must be found as well.
        let found = one
            .known
            .iter()
            .rev()
            .take_while(|known| known.right.seen().is_some_and(|share| share >= FOUND));
        let from = found.last().map(|known| known.change);
        let name = kind(one.kind);
        Some(match from {
            Some(from) => format!(
                "Of {name}, differences of this work from {} on are found by the defaults; \
                 estimates under {} drown in noise.",
                share(from),
                percent(floor)
            ),
            None => format!(
                "Of {name}, no difference of this work that was tried is found reliably by the \
                 defaults; estimates under {} drown in noise.",
                percent(floor)
            ),
        })
    };
    raced(calibration).iter().filter_map(size).collect()
}

/// Everything else there is to know, each a sentence.
pub(super) fn doubts(
    calibration: &Calibration,
    outdated: &[&'static str],
    glyphs: Glyphs,
) -> Vec<String> {
    let mut doubts = Vec::new();
    if !outdated.is_empty() {
        doubts.push(format!(
            "This calibration is not of this machine as it is now: another {}. No race quotes it.",
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
                "{} of races of {} called is more than the {} accepted, which chance alone may \
                 have done: the bounds are {}.",
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
            "There is one core only, by the machine, by affinity or by a CPU quota: whatever else \
             runs takes it away from what is raced, and races take longer to come to a verdict."
                .into(),
        );
    }
    if calibration.debug_build {
        doubts.push(
            "deadheat itself is a debug build: replicates take longer than those of a release \
             build, and budgets buy fewer."
                .into(),
        );
    }
    doubts
}

/// The ending of the calibration, when that is worth a sentence.
fn ending(calibration: &Calibration) -> Option<String> {
    let raced: u64 = calibration.kinds.iter().map(|one| one.false_calls.of).sum();
    let planned: u64 = calibration.kinds.iter().map(|one| one.planned).sum();
    let what = format!(
        "{raced} of {} of things against themselves came to their end",
        counted(planned, "race", "races")
    );
    let took = waiting(calibration.elapsed_seconds);
    match calibration.ending {
        CalibrationEnd::Finished => None,
        CalibrationEnd::Budget => Some(format!(
            "The time budget was used up after {took}, and {what}; raise it with --budget."
        )),
        CalibrationEnd::Interrupted(signal) => Some(format!(
            "Interrupted by {} after {took}, when {what}.",
            signal_name(signal)
        )),
    }
}
