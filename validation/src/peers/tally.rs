//! The outcomes of the races, counted.

use deadheat_validation::binomial::share_bounds;
use deadheat_validation::process::median;
use serde_json::Value;

use crate::race::{Case, Condition};
use crate::told::Call;
use crate::tools::{ALPHA, Tool};

/// By what a tool is held to have called a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The words its user is told.
    Words,
    /// Its bare test, without the least change its words ask for.
    Test,
}

/// One tool by one rule: a row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub name: &'static str,
    pub tool: Tool,
    pub rule: Rule,
}

/// All races of one cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub races: u64,
    pub faster: u64,
    pub slower: u64,
    /// Refused, or gone wrong.
    pub unanswered: u64,
    pub seconds: Vec<f64>,
    /// Estimates less the truth, in points of a percent.
    pub errors: Vec<f64>,
}

impl View {
    /// Tables of functions.
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

    /// Tables of commands.
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

    /// Counts its races.
    pub fn tally(self, rows: &[Value], condition: Condition, case: Case) -> Tally {
        let mut tally = Tally::default();
        let wanted = [
            ("tool", self.tool.key()),
            ("condition", condition.key()),
            ("case", case.key()),
        ];
        let fits = |row: &&Value| wanted.iter().all(|(key, value)| row[*key] == **value);
        for row in rows.iter().filter(fits) {
            tally.add(row, self.rule, case);
        }
        tally
    }
}

impl Tally {
    fn add(&mut self, row: &Value, rule: Rule, case: Case) {
        self.races += 1;
        let key = match rule {
            Rule::Words => "called",
            Rule::Test => "by_test",
        };
        match Call::read(&row[key]) {
            Some(Call::Faster) => self.faster += 1,
            Some(Call::Slower) => self.slower += 1,
            Some(Call::Neither) => {}
            None => self.unanswered += 1,
        }
        self.seconds.extend(row["seconds"].as_f64());
        let error = row["percent"]
            .as_f64()
            .map(|percent| percent - case.truth());
        self.errors.extend(error);
    }

    /// The number of times that a side was called at all.
    pub fn told_apart(&self) -> u64 {
        self.faster + self.slower
    }

    /// Returns true if the counts allow a share of false calls of twice alpha: the lower one of
    /// their bounds is not above it.
    pub fn may_be_honest(&self) -> bool {
        let (low, _) = share_bounds(self.told_apart(), self.races, 0.95);
        low <= 2.0 * ALPHA
    }

    /// Root of the mean squared error.
    pub fn rmse(&self) -> Option<f64> {
        let squares: f64 = self.errors.iter().map(|error| error * error).sum();
        let count = self.errors.len() as f64;
        (!self.errors.is_empty()).then(|| (squares / count).sqrt())
    }

    /// Of a whole race, from start to answer.
    pub fn median_seconds(&self) -> Option<f64> {
        (!self.seconds.is_empty()).then(|| median(self.seconds.iter().copied()))
    }

    /// Seconds of all races, for every one that called the candidate slower.
    pub fn seconds_per_right_answer(&self) -> Option<f64> {
        let seconds: f64 = self.seconds.iter().sum();
        (self.slower > 0).then(|| seconds / self.slower as f64)
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
            let view = View {
                name: "",
                tool: Tool::Criterion,
                rule,
            };
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

    #[test]
    fn counts_that_allow_twice_alpha_may_be_honest() {
        let tally = |wrong: u64, races: u64| Tally {
            slower: wrong,
            races,
            ..Tally::default()
        };
        assert!(tally(0, 20).may_be_honest());
        assert!(tally(5, 20).may_be_honest(), "25 %, from 9 %");
        assert!(!tally(6, 20).may_be_honest(), "30 %, from 12 %");
        assert_eq!(Tally::default().rmse(), None);
        assert_eq!(Tally::default().seconds_per_right_answer(), None);
    }
}
