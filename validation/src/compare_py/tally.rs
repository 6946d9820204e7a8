//! The rows of one tool, counted.

use deadheat_validation::google_compare::ALPHA;
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub scope: Option<String>,
    pub rows: usize,
    pub slower: usize,
    pub faster: usize,
    /// The builds were called equal, which a p-value never says.
    pub dead_heats: usize,
    /// The largest change that was called one though it has the wrong sign or
    /// there is none, in percent.
    pub largest_wrong: f64,
    /// The distance of each estimated change from the true one, in points.
    pub errors: Vec<f64>,
    pub intervals: (usize, usize),
    /// Of each comparison of all benchmarks.
    pub seconds: Vec<f64>,
}

enum Said {
    Slower,
    Faster,
    DeadHeat,
    Nothing,
}

impl Tally {
    /// Of these observations, when the true change is of so many percent.
    pub fn of<'k>(observations: impl IntoIterator<Item = &'k Value>, truth: f64) -> Self {
        let mut tally = Self::default();
        for observation in observations {
            tally.scope = observation["scope"].as_str().map(str::to_owned);
            tally.seconds.extend(observation["seconds"].as_f64());
            for row in observation["rows"].as_array().into_iter().flatten() {
                tally.add(row, truth);
            }
        }
        tally
    }

    fn add(&mut self, row: &Value, truth: f64) {
        let change = row["change"].as_f64().unwrap_or_default();
        let said = said(row, change);
        self.rows += 1;
        self.errors.push((change - truth).abs());
        if let (Some(low), Some(high)) = (row["low"].as_f64(), row["high"].as_f64()) {
            self.intervals.0 += 1;
            self.intervals.1 += usize::from((low..=high).contains(&truth));
        }
        let wrong = match said {
            Said::Slower => truth <= 0.0,
            Said::Faster => true,
            Said::DeadHeat | Said::Nothing => false,
        };
        if wrong {
            self.largest_wrong = self.largest_wrong.max(change.abs());
        }
        match said {
            Said::Slower => self.slower += 1,
            Said::Faster => self.faster += 1,
            Said::DeadHeat => self.dead_heats += 1,
            Said::Nothing => {}
        }
    }

    pub fn different(&self) -> usize {
        self.slower + self.faster
    }

    pub fn open(&self) -> usize {
        self.rows - self.different() - self.dead_heats
    }

    /// Rows of which something wrong was said: where there is no change, that
    /// there is one; where the new build is slower, anything but that. Its 1%
    /// is deadheat's margin, at which a dead heat may be called as seldom as
    /// anything else that is wrong.
    pub fn wrong(&self, truth: f64) -> usize {
        match truth {
            0.0 => self.different(),
            _ => self.faster + self.dead_heats,
        }
    }
}

fn said(row: &Value, change: f64) -> Said {
    let told_apart = match row["p"].as_f64() {
        Some(p) => p < ALPHA,
        None => match row["verdict"].as_str() {
            Some("equivalent") => return Said::DeadHeat,
            Some("slower") => return Said::Slower,
            Some("faster") => return Said::Faster,
            _ => false,
        },
    };
    match told_apart {
        // The sign is that of the change it prints.
        true if change < 0.0 => Said::Faster,
        true => Said::Slower,
        false => Said::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_p_value_has_the_sign_of_its_change_and_never_says_that_two_are_equal() {
        let observation = json!({"seconds": 12.5, "rows": [
            {"name": "a", "change": 1.5, "p": 0.01},
            {"name": "b", "change": -3.0, "p": 0.049},
            {"name": "c", "change": 9.0, "p": 0.05},
        ]});
        let itself = Tally::of([&observation, &observation], 0.0);
        assert_eq!((itself.rows, itself.different(), itself.open()), (6, 4, 2));
        assert_eq!((itself.wrong(0.0), itself.largest_wrong), (4, 3.0));
        assert_eq!(itself.seconds, [12.5, 12.5]);
        assert_eq!((itself.intervals, itself.scope), ((0, 0), None));
        let more = Tally::of([&observation], 1.0);
        assert_eq!((more.slower, more.faster, more.wrong(1.0)), (1, 1, 1));
        assert_eq!(more.errors, [0.5, 4.0, 8.0]);
        assert_eq!(more.largest_wrong, 3.0);
    }

    #[test]
    fn a_dead_heat_is_right_of_a_copy_and_wrong_of_a_slower_build() {
        let row = |verdict: &str, change: f64| {
            json!({"name": verdict, "change": change, "low": change - 0.5, "high": change + 0.5,
                   "verdict": verdict})
        };
        let observation = json!({"scope": "binary", "seconds": 40.0, "rows": [
            row("equivalent", 0.1), row("slower", 1.2), row("inconclusive", 0.7), row("faster", -2.0),
        ]});
        let tally = Tally::of([&observation], 1.0);
        assert_eq!((tally.dead_heats, tally.slower, tally.open()), (1, 1, 1));
        assert_eq!(tally.wrong(1.0), 2);
        assert_eq!(tally.wrong(0.0), 2);
        assert_eq!(tally.intervals, (4, 2));
        assert_eq!(tally.scope.as_deref(), Some("binary"));
    }

    #[test]
    fn nothing_was_said_of_nothing() {
        assert_eq!(Tally::of([], 0.0), Tally::default());
    }
}
