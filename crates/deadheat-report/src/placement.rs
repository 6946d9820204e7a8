//! Doubts about where the code lay, in words: what a verdict cannot speak of, and how it could.

use crate::glyphs::Glyphs;
use crate::names::{shown, some_of, texts};
use crate::sentences::Source;
use crate::units::{counted, share};

/// So many of a list are named.
const NAMED: usize = 4;

/// Columns that what a linker said may take.
const REASON: usize = 200;

/// That the linker placed the code once, and how to draw it anew; `reason` is
/// why that did not come about although somebody asked for it.
pub(crate) fn fixed(reason: Option<&str>, source: Source, glyphs: Glyphs) -> String {
    let linked = match source {
        Source::Functions => "binary as it was linked",
        Source::Commands | Source::Recording => "binaries as they were linked",
        Source::Programs | Source::Harness => "programs as they were built",
    };
    let why = match reason {
        Some(reason) => format!(
            ", since neutral links could not be raced ({})",
            quoted(reason, glyphs)
        ),
        None => String::new(),
    };
    let advice = match (source, reason) {
        (Source::Recording, _) => {
            "so before a small change is credited to the source, link anew and record again."
        }
        (Source::Programs | Source::Harness, None) => {
            "so before a small change is credited to the source of compiled programs, link them \
             with deadheat link, or let deadheat rev build them, and race again: their code is \
             placed anew for every replicate."
        }
        (_, Some(_)) => "so mend that before a small change is credited to the source.",
        (Source::Functions, None) => {
            "so before a small change is credited to the source, run cargo deadheat instead of \
             cargo bench: it places the code anew for every replicate."
        }
        (Source::Commands, None) => {
            "so before a small change is credited to the source, link with deadheat link and race \
             again: it places the code anew for every replicate."
        }
    };
    format!(
        "This speaks of the {linked}{why}. Where the linker puts the code can alone move a \
         result by several percent, {advice}"
    )
}

/// The same in two lines of a terminal. `largest` is the largest change that
/// link order alone was seen to make.
pub(crate) fn fixed_briefly(
    reason: Option<&str>,
    largest: f64,
    source: Source,
    glyphs: Glyphs,
) -> String {
    if let Some(reason) = reason {
        return format!(
            "Neutral links could not be raced ({}), so this speaks of the code as it was linked.",
            quoted(reason, glyphs)
        );
    }
    let advice = match source {
        Source::Functions => "; cargo deadheat draws it anew for every replicate",
        Source::Commands => "; deadheat link draws it anew for every replicate",
        Source::Programs | Source::Harness => {
            "; deadheat rev and deadheat link draw it anew for every replicate"
        }
        Source::Recording => ", and this was linked once",
    };
    format!(
        "Link order alone made copies of one function differ by up to {} (docs/placement.md){advice}.",
        share(largest)
    )
}

/// That some links could not be raced.
pub(crate) fn refused(seeds: &[u32], reason: &str, glyphs: Glyphs) -> String {
    let count = seeds.len() as u64;
    let seeds = texts(seeds, &|seed| seed.to_string());
    let (seed, took, first) = match count {
        1 => ("seed", "another took its place", ""),
        _ => ("seeds", "others took their place", "The first: "),
    };
    format!(
        "{} ({seed} {}) could not be raced, and {took}. {first}{}. If it crashed or answered \
         otherwise, look into it: nothing but the places of functions is new in such a link.",
        counted(count, "neutral link", "neutral links"),
        some_of(&seeds, NAMED),
        quoted(reason, glyphs),
    )
}

/// That two builds were placed each for itself.
pub(crate) fn unmatched(reason: Option<&str>, glyphs: Glyphs) -> String {
    let why = match reason {
        Some(reason) => format!(" ({})", quoted(reason, glyphs)),
        None => String::new(),
    };
    format!(
        "The two builds could not be put at the same places{why}, so each was placed for itself, \
         and the interval is wider by what that does."
    )
}

/// That some functions cannot be shuffled.
pub(crate) fn unsectioned(objects: &[String], glyphs: Glyphs) -> String {
    let objects = texts(objects, &|object| shown(object, 60, glyphs));
    format!(
        "The functions of {} share a section, so they keep their places among each other in every \
         neutral link. Compile with -ffunction-sections to have them placed anew as well.",
        some_of(&objects, NAMED)
    )
}

/// That the user's own link is a special one.
pub(crate) fn apart(apart: f64) -> String {
    let way = if apart < 0.0 { "lower" } else { "higher" };
    let points = (apart * 100.0).abs().min(999_999.0);
    format!(
        "As you linked it, the change reads {points:.1} points {way} than on neutral links. That \
         comes from where your link put the code, and the next link may take it away."
    )
}

/// Words of others, fit to stand in a sentence.
fn quoted(reason: &str, glyphs: Glyphs) -> String {
    shown(reason, REASON, glyphs)
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_that_are_not_matched_tell_the_reason_if_there_is_one() {
        let text = |reason| unmatched(reason, Glyphs::Ascii);
        assert!(text(Some("mold cannot.")).contains("at the same places (mold cannot), so each"));
        assert!(text(None).contains("at the same places, so each"));
    }

    #[test]
    fn a_fixed_placement_tells_how_to_draw_it_and_what_went_wrong() {
        let text = |reason, source| fixed(reason, source, Glyphs::Ascii);
        assert!(text(None, Source::Functions).contains("cargo deadheat instead of cargo bench"));
        assert!(text(None, Source::Commands).contains("deadheat link"));
        assert!(text(None, Source::Programs).contains("deadheat rev"));
        let recorded = text(None, Source::Recording);
        assert!(recorded.contains("record again") && !recorded.contains("deadheat"));
        for source in [Source::Functions, Source::Commands] {
            let text = text(Some("there is no ld.lld.\u{1b}[2J"), source);
            assert!(text.contains("(there is no ld.lld.\\e[2J)") || text.contains("no ld.lld"));
            assert!(
                !text.contains('\u{1b}') && text.contains("mend that"),
                "{text}"
            );
        }
    }
}
