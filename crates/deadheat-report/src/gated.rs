//! What a gate says of a comparison, in words.

use deadheat_model::{Excuse, GateHit};

use crate::glyphs::Glyphs;
use crate::names::{escape, shorten};

/// Columns that the name of a rule may take.
const RULE: usize = 60;
/// Columns that a reason in the words of others may take.
const REASON: usize = 400;

/// The name of the rule, fit to be shown.
pub(crate) fn rule(hit: &GateHit, glyphs: Glyphs) -> String {
    shorten(&escape(&hit.rule, glyphs), RULE, glyphs)
}

/// Why a broken rule does not count: "excused until 2026-12-31: known".
pub(crate) fn excuse(excuse: &Excuse, glyphs: Glyphs) -> String {
    let shown = |text: &str| shorten(&escape(text, glyphs), REASON, glyphs);
    let until = match &excuse.until {
        Some(day) => format!(" until {}", shown(day)),
        None => String::new(),
    };
    match excuse.reason.is_empty() {
        true => format!("excused{until}, without a reason"),
        false => format!("excused{until}: {}", shown(&excuse.reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excuse_tells_its_reason_and_its_last_day() {
        let mut given = Excuse {
            reason: "the new parser\nis known".to_owned(),
            until: Some("2026-12-31".to_owned()),
        };
        assert_eq!(
            excuse(&given, Glyphs::Unicode),
            r"excused until 2026-12-31: the new parser\nis known"
        );
        given.until = None;
        given.reason.clear();
        assert_eq!(excuse(&given, Glyphs::Unicode), "excused, without a reason");
    }
}
