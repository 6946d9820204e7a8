//! Sentences and JSON about scheduling delay, which is excluded from wall time.

use deadheat_model::{Comparison, Object, WaitingShare};

use crate::glyphs::Glyphs;
use crate::json_parts::estimated;
use crate::sentences::verdict_word_of;
use crate::units::{effect, two_digits};

/// Returns the note on the scheduling delay that was excluded, with the estimate that includes the
/// delay; `None` if no delay was excluded. Unless `always`, also `None` if including the delay
/// neither changes the verdict nor moves the estimate by more than the margin.
pub fn scheduling_delay(comparison: &Comparison, always: bool, glyphs: Glyphs) -> Option<String> {
    let delay = comparison
        .aspects
        .waiting
        .as_ref()
        .filter(|one| one.taken_out)?;
    if !always && !moves_the_answer(comparison) {
        return None;
    }
    let percent = |share: f64| format!("{}%", two_digits(share * 100.0));
    let of_baseline = percent(delay.baseline);
    let of_candidate = delay.candidate.map(percent);
    let shares = match of_candidate.filter(|candidate| *candidate != of_baseline) {
        Some(candidate) => {
            format!("{of_baseline} of the baseline's time, {candidate} of the candidate's")
        }
        None => format!("{of_baseline} of the time"),
    };
    let with = delay.kept.as_ref().map(|kept| {
        let change = effect(kept.effect, kept.interval.as_ref(), glyphs);
        let other = delay
            .verdict_kept
            .filter(|_| delay.verdict_kept != comparison.verdict);
        let other = other.map(|verdict| format!("{}, ", verdict_word_of(Some(verdict))));
        let other = other.unwrap_or_default();
        format!("; with it included: {other}{change} (--waiting keep)")
    });
    Some(format!(
        "the machine was busy: scheduling delay ({shares}) is excluded{}.",
        with.unwrap_or_default()
    ))
}

/// Returns true if scheduling delay was excluded, and including it changes the verdict or moves the
/// estimate by more than the margin.
fn moves_the_answer(comparison: &Comparison) -> bool {
    let waiting = comparison.aspects.waiting.as_ref();
    let Some(waiting) = waiting.filter(|one| one.taken_out) else {
        return false;
    };
    let verdicts = comparison.verdict.zip(waiting.verdict_kept);
    let effects = comparison.estimate.as_ref().zip(waiting.kept.as_ref());
    verdicts.is_some_and(|(without, with)| without != with)
        || effects.is_some_and(|(without, with)| {
            (without.effect.0 - with.effect.0).abs() > comparison.terms.margin.ln_1p()
        })
}

pub(super) fn to_json(waiting: &WaitingShare) -> Object {
    let object = Object::new()
        .with("baseline", waiting.baseline)
        .with("candidate", waiting.candidate)
        .with("taken_out", waiting.taken_out);
    match &waiting.kept {
        Some(kept) => estimated(object, kept),
        None => object,
    }
}
