//! How a benchmark of a target is called, and by which names it can be asked
//! for.

use crate::settings::Selection;

/// The names that one row of the answer goes by.
pub(super) struct Shown {
    /// Within its program.
    own: String,
    /// Within the answer: with target and contender, where these are needed.
    pub(super) whole: String,
}

impl Shown {
    /// A benchmark, in a target that must be named or need not.
    pub(super) fn benchmark(target: Option<&str>, name: &str) -> Self {
        Self {
            own: name.to_owned(),
            whole: match target {
                Some(target) => format!("{target}::{name}"),
                None => name.to_owned(),
            },
        }
    }

    /// One contender of the benchmark.
    pub(super) fn contender(&self, contender: &str) -> Self {
        Self {
            own: self.own.clone(),
            whole: format!("{} ({contender})", self.whole),
        }
    }

    /// Whether it is asked for, by any of its names.
    pub(super) fn is_selected(&self, selection: &Selection, ignored: bool) -> bool {
        selection.runs(ignored) && selection.names_any(&[&self.own, &self.whole])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_can_be_asked_for_by_its_own_name_and_by_the_one_that_is_shown() {
        let shown = Shown::benchmark(Some("text"), "sum").contender("loop");
        assert_eq!(shown.whole, "text::sum (loop)");
        let selected = |filter: &str| {
            let selection = Selection {
                filters: vec![filter.to_owned()],
                exact: true,
                ..Selection::default()
            };
            shown.is_selected(&selection, false)
        };
        assert!(selected("sum") && selected("text::sum (loop)"));
        assert!(!selected("loop"));
    }
}
