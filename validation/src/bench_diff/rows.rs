//! Comparisons to be made, how often, and in which weather.

use deadheat_validation::duo::{Duo, Effort};
use deadheat_validation::prelude::*;

words! {
    /// About how long a call takes.
    pub enum Base {
        HundredMicroseconds = "100 µs",
        TwentyMilliseconds = "20 ms",
    }
}

impl Base {
    pub fn ns(self) -> f64 {
        match self {
            Self::HundredMicroseconds => 1e5,
            Self::TwentyMilliseconds => 2e7,
        }
    }

    /// Executions of each function by those who have to be told.
    pub fn executions(self) -> u32 {
        match self {
            Self::HundredMicroseconds => 2_000,
            Self::TwentyMilliseconds => 200,
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Self::HundredMicroseconds => "ns",
            Self::TwentyMilliseconds => "us",
        }
    }
}

words! {
    /// The variation among calls of one function.
    pub enum Spread {
        None = "none",
        Low = "low",
        High = "high",
    }
}

impl Spread {
    pub fn sigma(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Low => 1.2f64.ln() / 2.0,
            Self::High => 2.4f64.ln() / 2.0,
        }
    }
}

words! {
    pub enum Tool {
        Traditional = "traditional",
        BenchDiff = "bench_diff",
        Deadheat = "deadheat",
        /// deadheat, where the input decides how much a call varies.
        DeadheatOfInput = "deadheat, effort of the input",
        /// deadheat, judging CPU time, as its manual advises where other work has
        /// the cores.
        DeadheatCpu = "deadheat --metric cpu",
    }
}

impl Tool {
    pub fn is_deadheat(self) -> bool {
        matches!(self, Self::Deadheat | Self::DeadheatOfInput | Self::DeadheatCpu)
    }
}

/// One line of the tables, for each of its tools.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub base: Base,
    pub percent: f64,
    pub spread: Spread,
    /// True if every core has other work to do.
    pub loaded: bool,
    pub repeats: usize,
    pub pace: usize,
}

impl Row {
    pub fn name(&self) -> String {
        let weather = if self.loaded { "loaded" } else { "idle" };
        let Self { base, percent, .. } = self;
        match self.spread {
            Spread::None => format!("{} +{percent}% {weather}", base.key()),
            spread => format!("{} +{percent}% {} spread", base.key(), spread.key()),
        }
    }

    pub fn known(&self) -> f64 {
        self.percent / 100.0
    }

    /// The tools that compare here. One after the other has no test, so there is nothing to count
    /// of it where everything is about tests.
    pub fn tools(&self) -> &'static [Tool] {
        use Tool::{BenchDiff, Deadheat, DeadheatCpu, Traditional};
        match self.spread {
            Spread::None if self.loaded => &[Traditional, BenchDiff, Deadheat, DeadheatCpu],
            Spread::None => &[Traditional, BenchDiff, Deadheat],
            _ => &[Tool::BenchDiff, Tool::Deadheat, Tool::DeadheatOfInput],
        }
    }

    pub fn duo(&self, tool: Tool, rounds: u32) -> Duo {
        Duo {
            rounds,
            percent: self.percent,
            sigma: self.spread.sigma(),
            effort: match tool {
                Tool::DeadheatOfInput => Effort::OfInput,
                _ => Effort::Drawn,
            },
        }
    }
}

pub fn comparisons(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.repeats * row.tools().len()).sum()
}

/// All of them, or a few for a trial.
///
/// A repeat of 20 ms takes five times as long as one of 100 µs, so it comes
/// every fourth round: where time is short the rows of 100 µs are complete
/// first, and those of 20 ms have grown evenly.
pub fn all(quick: bool) -> Vec<Row> {
    use Base::{HundredMicroseconds as Short, TwentyMilliseconds as Long};
    let same = |base, percent, loaded, repeats, pace| Row {
        base,
        percent,
        spread: Spread::None,
        loaded,
        repeats,
        pace,
    };
    let varying = |base, spread, percent, repeats, pace| Row {
        base,
        percent,
        spread,
        loaded: false,
        repeats,
        pace,
    };
    if quick {
        return vec![
            same(Short, 0.0, false, 2, 1),
            same(Short, 1.0, false, 2, 1),
            same(Short, 10.0, false, 2, 1),
            same(Short, 1.0, true, 2, 1),
            varying(Short, Spread::Low, 1.0, 2, 1),
            same(Long, 1.0, false, 1, 1),
        ];
    }
    let mut rows = Vec::new();
    for percent in [0.0, 1.0, 2.0, 5.0, 10.0] {
        rows.push(same(Short, percent, false, 100, 1));
    }
    for percent in [0.0, 1.0, 10.0] {
        rows.push(same(Short, percent, true, 30, 3));
    }
    for spread in [Spread::Low, Spread::High] {
        for percent in [0.0, 1.0, 10.0] {
            rows.push(varying(Short, spread, percent, 30, 3));
        }
    }
    rows.push(same(Long, 0.0, false, 30, 12));
    for percent in [1.0, 2.0, 5.0, 10.0] {
        rows.push(same(Long, percent, false, 100, 4));
    }
    rows.push(same(Long, 1.0, true, 30, 12));
    for spread in [Spread::Low, Spread::High] {
        for percent in [0.0, 1.0, 10.0] {
            rows.push(varying(Long, spread, percent, 10, 40));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_name_of_its_own() {
        for rows in [all(false), all(true)] {
            let names: std::collections::BTreeSet<String> = rows.iter().map(Row::name).collect();
            assert_eq!(names.len(), rows.len());
        }
        assert_eq!(all(false)[1].name(), "100 µs +1% idle");
        assert_eq!(all(false)[8].name(), "100 µs +0% low spread");
    }

    #[test]
    fn the_whole_table_of_bench_diff_is_there_a_hundred_times() {
        let whole = all(false);
        for base in Base::ALL {
            for percent in [1.0, 2.0, 5.0, 10.0] {
                let of_its_own = |row: &&Row| {
                    row.base == base
                        && row.percent == percent
                        && row.spread == Spread::None
                        && !row.loaded
                };
                let found: Vec<&Row> = whole.iter().filter(of_its_own).collect();
                assert!(matches!(found[..], [row] if row.repeats == 100));
            }
        }
    }
}
