//! The plan of the observations: of what, how often, and in which order.

use deadheat_validation::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair(pub &'static str, pub &'static str);

impl Pair {
    /// `std_5000 / std_4925`
    pub fn name(self) -> String {
        format!("{} / {}", self.0, self.1)
    }
}

/// The rows of the article, in its order.
pub const ROWS: [Pair; 6] = [
    Pair("std", "std"),
    Pair("std_count", "std_count"),
    Pair("std_count_rev", "std_count_rev"),
    LESS,
    Pair("std_count", "std_count_rev"),
    Pair("std", "std_count"),
];

/// A known difference, the function with less to do as the candidate.
pub const LESS: Pair = Pair("std_5000", "std_4925");

pub const LESS_FIRST: Pair = Pair("std_4925", "std_5000");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A row of the article, or its fourth the other way round.
    Pair(Pair),
    /// The experiment of the article: two functions one after the other, in
    /// both orders.
    BothOrders,
}

impl Subject {
    pub fn name(self) -> String {
        match self {
            Self::Pair(pair) => pair.name(),
            Self::BothOrders => "both orders".to_owned(),
        }
    }
}

words! {
    pub enum Tool {
        Deadheat = "deadheat",
        Tango = "tango",
        /// For the second that it promises 1% in.
        TangoSecond = "tango, 1 s",
        Criterion = "criterion",
    }
}

impl Tool {
    pub fn subjects(self) -> Vec<Subject> {
        let last = match self {
            Self::Criterion => Subject::BothOrders,
            _ => Subject::Pair(LESS_FIRST),
        };
        let rows = ROWS.into_iter().map(Subject::Pair);
        rows.chain([last]).collect()
    }

    /// Observations of every subject.
    pub fn repeats(self, condition: Condition, quick: bool) -> usize {
        let (idle, loaded) = match (self, quick) {
            (Self::Criterion, false) => (5, 2),
            (Self::TangoSecond, false) => (20, 5),
            (_, false) => (20, 10),
            (Self::Criterion | Self::TangoSecond, true) => (1, 0),
            (_, true) => (2, 1),
        };
        match condition {
            Condition::Idle => idle,
            Condition::Loaded => loaded,
        }
    }
}

/// What is asked, and of which tool, and the other work of the machine.
pub type Cell = (Tool, Subject, Condition);

pub fn keys((tool, subject, condition): Cell) -> Vec<(&'static str, String)> {
    let (tool, condition) = (tool.key().to_owned(), condition.key().to_owned());
    vec![("tool", tool), ("row", subject.name()), ("condition", condition)]
}

pub fn wishes(quick: bool) -> Vec<Wish<Cell>> {
    let mut wishes = Vec::new();
    for condition in Condition::ALL {
        for tool in Tool::ALL {
            let times = tool.repeats(condition, quick);
            wishes.extend(tool.subjects().into_iter().map(|subject| {
                let cell = (tool, subject, condition);
                Wish { cell, keys: keys(cell), loaded: condition == Condition::Loaded, times }
            }));
        }
    }
    wishes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_its_repeats_of_every_subject() {
        let all = wishes(false);
        assert_eq!(all.len(), 2 * 4 * 7);
        assert_eq!(all.iter().map(|wish| wish.times).sum::<usize>(), 7 * (20 + 20 + 20 + 5 + 27));
        assert!(
            !all.iter().any(|wish| {
                (wish.cell.0, wish.cell.1) == (Tool::Deadheat, Subject::BothOrders)
            })
        );
    }
}
