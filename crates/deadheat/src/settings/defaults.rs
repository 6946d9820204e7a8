//! When an answer is coloured, and the seed of a race for which nobody chose one.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::terminal;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set; elsewhere if CLICOLOR_FORCE is.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// All choices, in the order they are told, each as it is written and with what it means in a
    /// few words.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (
            Self::Auto,
            "auto",
            "On a terminal, unless NO_COLOR is set; elsewhere if CLICOLOR_FORCE is",
        ),
        (Self::Always, "always", "Always"),
        (Self::Never, "never", "Never"),
    ];

    /// The choice of this name. The error lists those there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|(_, name, _)| *name == text);
        known.map(|(when, ..)| when).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name, _)| name);
            format!("'{text}' is none of {}", names.join(", "))
        })
    }

    /// Returns true if what goes to standard output is coloured.
    pub fn applies(self) -> bool {
        match self {
            Self::Auto => terminal::wants_color(),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// A seed nobody chose. Small enough to survive any JSON reader, which may
/// know no integers beyond 2^53.
pub fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_read_by_its_name() {
        for (when, name, _) in Color::ALL {
            assert_eq!(Color::parse(name), Ok(when));
        }
        let error = Color::parse("Auto").unwrap_err();
        assert_eq!(error, "'Auto' is none of auto, always, never");
    }

    #[test]
    fn a_choice_that_was_made_needs_no_terminal() {
        assert!(Color::Always.applies());
        assert!(!Color::Never.applies());
    }

    #[test]
    fn seeds_differ_and_are_small_enough_for_any_reader() {
        let seeds: Vec<u64> = (0..8).map(|_| random_seed()).collect();
        assert!(seeds.iter().all(|seed| *seed < 1 << 53), "{seeds:?}");
        assert!(seeds.iter().any(|seed| *seed != seeds[0]), "{seeds:?}");
    }
}
