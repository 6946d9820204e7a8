//! Verdicts that somebody does not want to see.

use crate::verdict::Verdict;

/// What makes a run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// A candidate is slower.
    Slower,
    /// A race is too close to call, or the data allow no verdict.
    Inconclusive,
    /// A candidate is not shown to be equivalent.
    NotEquivalent,
}

impl FailOn {
    /// All conditions, in the order they are told.
    pub const ALL: [Self; 3] = [Self::Slower, Self::Inconclusive, Self::NotEquivalent];

    /// Their names, in the same order.
    pub const NAMES: [&'static str; 3] = ["slower", "inconclusive", "not-equivalent"];

    /// The condition as it is written.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// What it means, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Slower => "A candidate is slower",
            Self::Inconclusive => "A race is too close to call, or the data allow no verdict",
            Self::NotEquivalent => "A candidate is not shown to be equivalent",
        }
    }

    /// The condition of this name. The error lists those there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|rule| rule.name() == text);
        known.ok_or_else(|| format!("'{text}' is none of {}", Self::NAMES.join(", ")))
    }

    /// Whether a comparison with this verdict fails; `None` stands for data
    /// that allow no verdict.
    pub fn holds(self, verdict: Option<Verdict>) -> bool {
        match self {
            Self::Slower => verdict == Some(Verdict::Slower),
            Self::Inconclusive => matches!(verdict, None | Some(Verdict::Inconclusive)),
            Self::NotEquivalent => verdict != Some(Verdict::Equivalent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_verdict_fails_everything_that_asks_for_certainty() {
        assert!(FailOn::Inconclusive.holds(None));
        assert!(FailOn::NotEquivalent.holds(None));
        assert!(!FailOn::Slower.holds(None));
        assert!(FailOn::NotEquivalent.holds(Some(Verdict::Faster)));
        assert!(!FailOn::Inconclusive.holds(Some(Verdict::Faster)));
    }

    #[test]
    fn every_condition_is_read_by_its_name() {
        for rule in FailOn::ALL {
            assert_eq!(FailOn::parse(rule.name()), Ok(rule));
        }
        assert_eq!(FailOn::ALL.map(FailOn::name), FailOn::NAMES);
        let error = FailOn::parse("faster").unwrap_err();
        assert_eq!(
            error,
            "'faster' is none of slower, inconclusive, not-equivalent"
        );
    }
}
