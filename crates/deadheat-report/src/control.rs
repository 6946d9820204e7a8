//! The baseline against a second copy of itself, in words.

use deadheat_model::{Comparison, Control};

use crate::glyphs::Glyphs;
use crate::names;
use crate::sentences::{Source, interval_in_words};
use crate::suite;
use crate::units::{Precision, counted};

/// Columns that the name of a benchmark may take.
const NAME: usize = 80;

/// What the race makes of no difference; `None` without a control.
pub fn noise_floor(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let control = comparison.control?;
    let estimate = &control.estimate;
    let precision = Precision::of(estimate.interval.as_ref());
    let change = precision.signed(estimate.effect.change(), glyphs);
    let interval = interval_in_words(comparison, estimate, glyphs);
    let doubt = match control.separated {
        true => "; this control separated",
        false => "",
    };
    Some(format!(
        "baseline against itself: {change} ({interval}){doubt}."
    ))
}

/// The outcome of the controls of a suite; `None` without any.
pub fn controls(comparisons: &[Comparison]) -> Option<String> {
    // Candidates of one baseline have one control.
    let benchmarks = suite::groups(comparisons).into_iter();
    let controls: Vec<Control> = benchmarks.filter_map(|group| group[0].control).collect();
    let separated = controls.iter().filter(|control| control.separated).count();
    let of = counted(controls.len() as u64, "control", "controls");
    let found = match separated {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    (!controls.is_empty())
        .then(|| format!("baselines against themselves: {found} of {of} separated."))
}

/// That a control separated, and what to do about it.
pub(crate) fn separated(
    (benchmark, change): (&str, f64),
    (separated, of): (usize, usize),
    source: Source,
    glyphs: Glyphs,
) -> String {
    let name = names::shorten(&names::escape(benchmark, glyphs), NAME, glyphs);
    let change = Precision::of(None).signed(change, glyphs);
    let others = match (separated, of) {
        (_, 1) => String::new(),
        (1, of) => format!(", alone among {of} controls"),
        (separated, of) => format!(", and {separated} of {of} controls separated"),
    };
    let advice = match source {
        Source::Commands => {
            "Hold the commands on one core with --pin auto, quieten the machine, and race again"
        }
        _ => "Quieten the machine, and race again",
    };
    format!(
        "The baseline of '{name}' reads {change} against a second copy of itself{others}. Chance \
         alone hardly does that, so differences of this size prove nothing here, and every verdict \
         of this run is provisional. {advice}; deadheat doctor looks for the cause."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_many_separated_where_there_are_several() {
        let told = |found, source| separated(("parse\n", 0.031), found, source, Glyphs::Ascii);
        let only = told((1, 1), Source::Functions);
        assert!(
            only.starts_with(
                "The baseline of 'parse\\n' reads +3.10 % against a second copy of itself. "
            ),
            "{only}"
        );
        assert!(!only.contains("--pin"), "{only}");
        let one = told((1, 12), Source::Functions);
        assert!(one.contains("itself, alone among 12 controls."), "{one}");
        let some = told((3, 12), Source::Commands);
        assert!(some.contains("and 3 of 12 controls separated."), "{some}");
        assert!(some.contains("--pin auto"), "{some}");
    }
}
