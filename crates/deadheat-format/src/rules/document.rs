//! A parsed rules file, and errors that know their place in it.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{FileProblem, nearest};

/// The text that errors point into.
pub(super) struct Document<'t> {
    text: &'t str,
    /// Where each line begins.
    lines: Vec<usize>,
}

/// A key of a table and its value.
pub(super) struct Entry<'d> {
    pub(super) key: &'d str,
    /// Where the key begins.
    pub(super) at: usize,
    pub(super) value: &'d Spanned<DeValue<'d>>,
}

/// The most edits a key may be away from the one that was meant.
fn near_enough(key: &str, edits: usize) -> bool {
    edits <= (key.chars().count() / 3).max(2)
}

impl<'t> Document<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self {
            text,
            lines: std::iter::once(0).chain(ends).collect(),
        }
    }

    /// What is wrong at a byte of the text, and what to do about it.
    pub(super) fn wrong(
        &self,
        at: usize,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> FileProblem {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.line(at);
        let begins = self.lines[line as usize - 1];
        FileProblem::Rules {
            line,
            column: self.text[begins..at].chars().count() as u64 + 1,
            problem: problem.into(),
            advice: advice.into(),
        }
    }

    /// The line that holds a byte, counted from 1.
    pub(super) fn line(&self, at: usize) -> u64 {
        self.lines.partition_point(|begins| *begins <= at) as u64
    }

    /// The entries of a table in the order of the text.
    pub(super) fn entries<'d>(&self, table: &'d DeTable<'d>) -> Vec<Entry<'d>> {
        let mut entries: Vec<Entry<'d>> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref(),
                at: key.span().start,
                value,
            })
            .collect();
        entries.sort_by_key(|entry| entry.at);
        entries
    }

    /// A key that nobody knows, and the one that was probably meant.
    pub(super) fn unknown(&self, entry: &Entry<'_>, of: &str, known: &[&str]) -> FileProblem {
        let key: String = entry
            .key
            .chars()
            .flat_map(char::escape_debug)
            .take(60)
            .collect();
        let advice = match nearest(entry.key, known) {
            Some((meant, edits)) if near_enough(entry.key, edits) => {
                format!("did you mean '{meant}'?")
            }
            _ => format!("the keys {of} are {}", known.join(", ")),
        };
        self.wrong(entry.at, format!("unknown key '{key}'"), advice)
    }
}
