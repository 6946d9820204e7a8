//! Sentences about code placement: the links that were raced, the resulting scope of the verdict,
//! and how to vary placement.

use deadheat_model::{
    AddressSpace, Comparison, Estimate, Json, LogRatio, Object, ObservedImage, ObservedProcess,
    Scope, Spreads, Warning, without_help,
};

use crate::cost::in_cost;
use crate::glyphs::Glyphs;
use crate::json_parts::{self, relative, some};
use crate::names::{shown, some_of, texts};
use crate::sentences::Source;
use crate::units::{counted, estimated, share, spread};

const NAMED: usize = 4;

const REASON: usize = 200;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Neutral,
    Own,
}

impl Links {
    /// Returns the kind of links of a comparison; `None` for code that no linker places, and for
    /// metrics, such as counts, that do not depend on placement.
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

/// Returns a line about the links on which the benchmarks of a table were raced. `None` for
/// recordings, which do not store this, for commands without a link record from `deadheat link`,
/// and for code that no linker places.
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
        (_, 0) => "raced on neutral links, a new one in every replicate, so the verdicts are \
                   about the source."
            .to_owned(),
        (0, _) => {
            "raced the builds as linked, not on neutral links, so the verdicts are about these \
             builds."
                .to_owned()
        }
        _ => format!(
            "{} raced on neutral links, {own} as linked.",
            counted(neutral as u64, "row", "rows")
        ),
    })
}

/// Returns true if the user requested neutral links, but not every replicate is known to have run
/// on one.
fn missed_neutral_links(comparison: &Comparison) -> bool {
    let missed = |warning: &Warning| matches!(warning, Warning::PlacementFixed { reason: Some(_) });
    comparison.warnings.iter().any(missed)
}

/// Returns the note that the link order was not varied, with advice on how to vary it. `reason`
/// explains why not every replicate ran on neutral links although the user requested them.
pub(crate) fn fixed(reason: Option<&str>, source: Source, glyphs: Glyphs) -> String {
    let linked = match source {
        Source::Functions => "binary as it was linked",
        Source::Commands | Source::Recording => "binaries as they were linked",
        Source::Programs | Source::Harness => "programs as they were built",
        Source::Servers => "servers as they were built",
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
        (Source::Servers, None) => "race other builds of the servers, too.".to_owned(),
        (_, None) => format!("race on neutral links: {}.", linking(source)),
    };
    format!(
        "This verdict is about the {linked}{why}. Link order alone can change the time of a function \
         by tens of percent, so before you credit a small change to the source, {advice}"
    )
}

/// Returns a short note that the link order was not varied. `largest` is the largest change from
/// link order alone that we have measured.
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
        Source::Recording => {
            ", and the recording does not say whether the link order varied".to_owned()
        }
        Source::Functions => format!(
            ", and this race used only one link order. To vary the order, {}",
            linking(source)
        ),
        Source::Servers => ", and this race had one build of each server".to_owned(),
        // If only one of the commands has a record of its link, that command runs on neutral links.
        _ => format!(
            ", and this race did not vary the link order of both sides. To vary it, {}",
            linking(source)
        ),
    };
    format!(
        "Link order alone can make copies of one function differ by up to {} (docs/placement.md){here}.",
        share(largest)
    )
}

fn linking(source: Source) -> &'static str {
    match source {
        Source::Functions => "run cargo deadheat instead of cargo bench",
        Source::Commands | Source::Recording => "link the commands with deadheat link",
        Source::Programs | Source::Servers | Source::Harness => {
            "link C, C++ and Rust programs with deadheat link"
        }
    }
}

/// Returns the warning that some neutral links could not be raced.
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

/// Returns the note that each of the two builds was placed independently of the other.
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

/// Returns the note that neutral links cannot reorder the functions of some object files.
pub(crate) fn unsectioned(objects: &[String], glyphs: Glyphs) -> String {
    let objects = texts(objects, &|object| shown(object, 60, glyphs));
    format!(
        "The functions of {} share a section, so neutral links keep their order. Compile with -ffunction-sections to have them shuffled as well.",
        some_of(&objects, NAMED)
    )
}

/// Returns the warning that the estimate on the user's own link differs from the estimate on
/// neutral links.
pub(crate) fn apart(apart: f64) -> String {
    let way = if apart < 0.0 { "lower" } else { "higher" };
    let points = (apart * 100.0).abs().min(999_999.0);
    format!(
        "With your own link, the change is {points:.1} percentage points {way} than on neutral \
         links. Your link causes this difference by where it puts the code, and the next link may \
         remove it."
    )
}

/// Shortens a message from another program and removes its final full stop, so that it fits into a
/// sentence.
fn quoted(reason: &str, glyphs: Glyphs) -> String {
    shown(without_help(reason), REASON, glyphs)
        .trim_end_matches('.')
        .to_owned()
}

/// Returns a sentence that a verdict is about the source, with the effect of placement alone and
/// the estimate on the user's own link; `None` if none of these applies.
pub fn sentence(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let mut parts = Vec::new();
    if comparison.evidence.scope == Scope::Source {
        let drawn =
            "this verdict is about the source: every replicate placed its code at new addresses";
        let matched = "; code that both builds share has the same addresses in both";
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
        let own = in_cost(&comparison.terms.metric, own);
        let [change, interval] = estimated(&own, comparison.coverage(), glyphs);
        parts.push(format!(
            "for comparison, the change with your own link: {change} ({interval})"
        ));
    }
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

/// Returns a clause about how much placement alone changes the time of the benchmark; `None` if the
/// race could not measure this.
fn placement_alone(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let found = comparison
        .aspects
        .spreads
        .and_then(|spreads| spreads.placement);
    match found.map(LogRatio) {
        Some(sd) if sd.change() > 0.0 => Some(format!(
            "code placement alone changes the time of this benchmark by {}",
            spread(sd, glyphs)
        )),
        // Without replicates on the user's own link, the race cannot separate placement from noise.
        None if comparison.aspects.own_link.is_none() => None,
        _ => Some(
            "code placement alone changes the time of this benchmark by less than its noise"
                .to_owned(),
        ),
    }
}

pub(super) fn own_link_json(own: &Estimate) -> Object {
    json_parts::estimated(Object::new(), own)
        .with("replicates", own.replicates)
        .with("blocks", own.blocks)
}

/// Returns the JSON of the observed processes of both sides; `None` if no process was observed.
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
