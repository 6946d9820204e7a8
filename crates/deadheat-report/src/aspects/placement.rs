//! Where the code lay, in words: what was raced, what a verdict cannot speak of, and how it could.

use deadheat_model::{
    AddressSpace, Comparison, Estimate, Json, LogRatio, Object, ObservedImage, ObservedProcess,
    Scope, Spreads, Warning,
};

use crate::glyphs::Glyphs;
use crate::json_parts::{self, relative, some};
use crate::names::{shown, some_of, texts};
use crate::sentences::Source;
use crate::units::{counted, estimated, share, spread};

/// So many of a list are named.
const NAMED: usize = 4;

/// Columns that what a linker said may take.
const REASON: usize = 200;

/// The links that a row was raced on, as the run recorded them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Neutral,
    Own,
}

impl Links {
    /// `None` for code that no linker places, and for counts that do not depend on its place.
    fn of(comparison: &Comparison) -> Option<Links> {
        comparison.candidate.as_ref()?;
        let fixed = |warning: &Warning| matches!(warning, Warning::PlacementFixed { .. });
        match comparison.evidence.scope {
            Scope::Source => Some(Links::Neutral),
            Scope::Binary if comparison.warnings.iter().any(fixed) => Some(Links::Own),
            Scope::Binary => None,
        }
    }
}

/// The links that the rows of a table were raced on, in one line; `None` for a recording, which does
/// not say, for commands without a record of their link, and where no linker places the code.
pub(crate) fn raced(comparisons: &[Comparison], source: Source) -> Option<String> {
    if source == Source::Recording {
        return None;
    }
    let found: Vec<Links> = comparisons.iter().filter_map(Links::of).collect();
    let neutral = found.iter().filter(|one| **one == Links::Neutral).count();
    let own = found.len() - neutral;
    Some(match (neutral, own) {
        (0, 0) => return None,
        (0, _) if comparisons.iter().any(missed_neutral_links) => {
            "not every replicate is known to have run on neutral links, so the verdicts are about \
             these builds."
                .to_owned()
        }
        (0, _) if source == Source::Commands => return None,
        (_, 0) => "raced on neutral links, a new one in every replicate: the verdicts are about \
                   the source."
            .to_owned(),
        (0, _) => {
            "raced as linked, not on neutral links: the verdicts are about these builds.".to_owned()
        }
        _ => format!(
            "{} raced on neutral links, {own} as linked.",
            counted(neutral as u64, "row", "rows")
        ),
    })
}

/// Returns true if neutral links were requested, but not every replicate is known to have run on one.
fn missed_neutral_links(comparison: &Comparison) -> bool {
    let missed = |warning: &Warning| matches!(warning, Warning::PlacementFixed { reason: Some(_) });
    comparison.warnings.iter().any(missed)
}

/// That the link order was not varied, and how to vary it; `reason` is why that did not come about
/// although the user asked for it.
pub(crate) fn fixed(reason: Option<&str>, source: Source, glyphs: Glyphs) -> String {
    let linked = match source {
        Source::Functions => "binary as it was linked",
        Source::Commands | Source::Recording => "binaries as they were linked",
        Source::Programs | Source::Harness => "programs as they were built",
    };
    let why = match reason {
        Some(reason) => format!(
            ", because not every replicate ran on neutral links ({})",
            quoted(reason, glyphs)
        ),
        None => String::new(),
    };
    let advice = match (source, reason) {
        (Source::Recording, _) => "link again and record again.".to_owned(),
        (_, Some(_)) => "remove that obstacle and race again.".to_owned(),
        (_, None) => format!("race on neutral links: {}.", linking(source)),
    };
    format!(
        "This verdict is about the {linked}{why}. Link order alone can change the time of a function \
         by tens of percent, so before you credit a small change to the source, {advice}"
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
            "Not every replicate ran on neutral links ({}), so this verdict is about the code as \
             it was linked.",
            quoted(reason, glyphs)
        );
    }
    let here = match source {
        Source::Recording => ", and the recording does not say whether it was varied".to_owned(),
        Source::Functions => format!(
            ", and this race did not vary it. To vary it, {}",
            linking(source)
        ),
        // Commands of which one alone has a record run on neutral links of that one.
        _ => format!(
            ", and this race did not vary it on both sides. To vary it, {}",
            linking(source)
        ),
    };
    format!(
        "Link order alone made copies of one function differ by up to {} (docs/placement.md){here}.",
        share(largest)
    )
}

/// The way to neutral links.
fn linking(source: Source) -> &'static str {
    match source {
        Source::Functions => "run cargo deadheat instead of cargo bench",
        Source::Commands | Source::Recording => "link the commands with deadheat link",
        Source::Programs | Source::Harness => "link C, C++ and Rust programs with deadheat link",
    }
}

/// That some links could not be raced.
pub(crate) fn refused(seeds: &[u32], reason: &str, glyphs: Glyphs) -> String {
    let count = seeds.len() as u64;
    let seeds = texts(seeds, &|seed| seed.to_string());
    let (seed, took, first) = match count {
        1 => ("seed", "another replaced it", ""),
        _ => ("seeds", "others replaced them", "The first: "),
    };
    format!(
        "{} ({seed} {}) could not be raced, and {took}. {first}{}. If it crashed or gave \
         another answer, investigate: such a link changes only where functions are placed.",
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
        "The code of the two builds could not be placed at the same addresses{why}, so each build was \
         placed on its own, which widens the interval."
    )
}

/// That some functions cannot be shuffled.
pub(crate) fn unsectioned(objects: &[String], glyphs: Glyphs) -> String {
    let objects = texts(objects, &|object| shown(object, 60, glyphs));
    format!(
        "The functions of {} share a section, so neutral links keep their order. Compile with -ffunction-sections to have them shuffled as well.",
        some_of(&objects, NAMED)
    )
}

/// That the user's own link is a special one.
pub(crate) fn apart(apart: f64) -> String {
    let way = if apart < 0.0 { "lower" } else { "higher" };
    let points = (apart * 100.0).abs().min(999_999.0);
    format!(
        "As you linked it, the change reads {points:.1} points {way} than on neutral links. That \
         comes from where your link put the code, and the next link may change it."
    )
}

/// Words of others, fit to stand in a sentence.
fn quoted(reason: &str, glyphs: Glyphs) -> String {
    shown(reason, REASON, glyphs)
        .trim_end_matches('.')
        .to_owned()
}

/// The subject of the verdict where that is the source, what placement alone does, and the estimate
/// as the user's own link placed the code; `None` where none of it is known.
pub fn sentence(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let mut parts = Vec::new();
    if comparison.evidence.scope == Scope::Source {
        let drawn =
            "this verdict is about the source: every replicate placed its code at new addresses";
        let matched = ", the same ones for code that both builds share";
        parts.push(format!(
            "{drawn}{}",
            if comparison.aspects.matched {
                matched
            } else {
                ""
            }
        ));
        parts.extend(placement_alone(comparison, glyphs));
    }
    if let Some(own) = &comparison.aspects.own_link {
        let [change, interval] = estimated(own, comparison.coverage(), glyphs);
        parts.push(format!(
            "for comparison, as you linked it: {change} ({interval})"
        ));
    }
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

/// How far placement alone moves the benchmark, or that this is unknown.
fn placement_alone(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let found = comparison
        .aspects
        .spreads
        .and_then(|spreads| spreads.placement);
    match found.map(LogRatio) {
        Some(sd) if sd.change() > 0.0 => Some(format!(
            "placement alone moves this benchmark by {}",
            spread(sd, glyphs)
        )),
        // Without an own link there is nothing to tell it from.
        None if comparison.aspects.own_link.is_none() => None,
        _ => Some("placement alone moves this benchmark by less than its noise shows".to_owned()),
    }
}

/// The estimate as the user's own link placed the code.
pub(super) fn own_link_json(own: &Estimate) -> Object {
    json_parts::estimated(Object::new(), own)
        .with("replicates", own.replicates)
        .with("blocks", own.blocks)
}

/// What was observed of the processes of both sides; `None` where nothing was.
pub(crate) fn processes_json(processes: &[ObservedProcess]) -> Option<Json> {
    let process = |process: &ObservedProcess| {
        let image = match &process.image {
            ObservedImage::AsStarted => Some("as-started"),
            ObservedImage::Other(path) => Some(&**path),
            ObservedImage::Unseen => None,
        };
        let addresses = process.addresses.map(|addresses| match addresses {
            AddressSpace::Random => "random",
            AddressSpace::Fixed => "fixed",
        });
        Object::new()
            .with("image", image)
            .with("addresses", addresses)
            .with("keeps_cores", process.keeps_cores)
            .with("padded", process.is_padded)
            .with_some(
                "variables",
                (!process.variables.is_empty())
                    .then(|| process.variables.iter().map(Json::from).collect::<Json>()),
            )
    };
    some(processes, process)
}

pub(super) fn spreads_json(spreads: &Spreads) -> Object {
    Object::new()
        .with("placement", spreads.placement.map(relative))
        .with("process", spreads.process.map(relative))
        .with("block", relative(spreads.block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_that_are_not_matched_tell_the_reason_if_there_is_one() {
        let text = |reason| unmatched(reason, Glyphs::Ascii);
        assert!(
            text(Some("mold cannot.")).contains("at the same addresses (mold cannot), so each")
        );
        assert!(text(None).contains("at the same addresses, so each"));
    }

    #[test]
    fn a_fixed_placement_tells_how_to_draw_it_and_what_went_wrong() {
        let text = |reason, source| fixed(reason, source, Glyphs::Ascii);
        assert!(text(None, Source::Functions).contains("cargo deadheat instead of cargo bench"));
        assert!(text(None, Source::Commands).contains("deadheat link"));
        let recorded = text(None, Source::Recording);
        assert!(recorded.contains("record again") && !recorded.contains("deadheat"));
        for source in [Source::Functions, Source::Commands] {
            let text = text(Some("there is no ld.lld.\u{1b}[2J"), source);
            assert!(text.contains("(there is no ld.lld.\\e[2J)") || text.contains("no ld.lld"));
            assert!(
                !text.contains('\u{1b}') && text.contains("remove that obstacle"),
                "{text}"
            );
        }
    }

    #[test]
    fn no_note_claims_a_link_order_that_was_not_varied() {
        for source in [
            Source::Functions,
            Source::Commands,
            Source::Programs,
            Source::Harness,
            Source::Recording,
        ] {
            for text in [
                fixed(None, source, Glyphs::Ascii),
                fixed_briefly(None, 0.46, source, Glyphs::Ascii),
            ] {
                assert!(!text.contains("every replicate"), "{text}");
                assert!(!text.contains("deadheat rev"), "{text}");
            }
        }
    }
}
