//! The tools by the rules they are counted by.

use crate::race::Case;
use crate::tools::Tool;
use deadheat_validation::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The words its user is told.
    Words,
    /// Its bare test, without the least change its words ask for.
    Test,
}

impl Rule {
    fn key(self) -> &'static str {
        match self {
            Self::Words => "called",
            Self::Test => "by_test",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub name: &'static str,
    pub tool: Tool,
    pub rule: Rule,
}

impl View {
    pub const OF_FUNCTIONS: [Self; 10] = [
        Self::by_words("deadheat, `cargo bench`", Tool::Deadheat),
        Self::by_words("deadheat, `cargo deadheat`", Tool::Neutral),
        Self::by_words("tango", Tool::Tango),
        Self::by_words("bench_diff", Tool::BenchDiff),
        Self::by_words("zenbench", Tool::Zenbench),
        Self::by_words("zenbench, confirm", Tool::ZenbenchConfirm),
        Self::by_test("zenbench, confirm, interval alone", Tool::ZenbenchConfirm),
        Self::by_words("criterion", Tool::Criterion),
        Self::by_test("criterion, p < 0.05 alone", Tool::Criterion),
        Self::by_words("divan", Tool::Divan),
    ];

    pub const OF_COMMANDS: [Self; 3] = [
        Self::by_words("deadheat, `deadheat run`", Tool::DeadheatRun),
        Self::by_words("hyperfine and Welch's test", Tool::Hyperfine),
        Self::by_words("pyperf", Tool::Pyperf),
    ];

    const fn by_words(name: &'static str, tool: Tool) -> Self {
        let rule = Rule::Words;
        Self { name, tool, rule }
    }

    const fn by_test(name: &'static str, tool: Tool) -> Self {
        let rule = Rule::Test;
        Self { name, tool, rule }
    }

    pub fn tally(self, rows: &[Value], condition: Condition, case: Case) -> Tally {
        let mut tally = Tally::default();
        let wanted =
            [("tool", self.tool.key()), ("condition", condition.key()), ("case", case.key())];
        let fits = |row: &&Value| wanted.iter().all(|(key, value)| row[*key] == **value);
        for row in rows.iter().filter(fits) {
            tally.add(row, self.rule.key(), case.truth());
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows() -> Vec<Value> {
        let row = |called: &str, by_test: &str, percent: f64, seconds: f64| {
            json!({"tool": "criterion", "condition": "idle", "case": "more", "called": called,
                "by_test": by_test, "percent": percent, "seconds": seconds})
        };
        vec![
            row("neither", "slower", 1.3, 10.0),
            row("slower", "slower", 1.4, 20.0),
            json!({"tool": "criterion", "condition": "idle", "case": "more", "called": "failed",
                "problem": "it fell over", "seconds": 3.0}),
            json!({"tool": "tango", "condition": "idle", "case": "more", "called": "faster"}),
        ]
    }

    #[test]
    fn one_race_counts_differently_by_words_and_by_test() {
        let tally = |rule: Rule| {
            let view = View { name: "", tool: Tool::Criterion, rule };
            view.tally(&rows(), Condition::Idle, Case::More)
        };
        let (words, test) = (tally(Rule::Words), tally(Rule::Test));
        assert_eq!((words.races, words.slower, words.unanswered), (3, 1, 1));
        assert_eq!((test.races, test.slower, test.unanswered), (3, 2, 1));
        assert_eq!(words.median_seconds(), Some(10.0));
        assert_eq!(words.seconds_per_right_answer(), Some(33.0));
        assert_eq!(test.seconds_per_right_answer(), Some(16.5));
        assert!((words.rmse().unwrap() - 0.125_f64.sqrt()).abs() < 1e-12);
    }
}
