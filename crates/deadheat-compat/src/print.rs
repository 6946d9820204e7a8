//! The table on standard output.

use crate::difference::{Measurement, OPTIMAL_REPETITIONS, Report, Test, Time};
use crate::problem::Problem;

const HEADER: &str = "\x1b[92m";
const WARNING: &str = "\x1b[93m";
const OK: &str = "\x1b[32m";
const FAIL: &str = "\x1b[91m";
const WHITE: &str = "\x1b[97m";
const CYAN: &str = "\x1b[96m";
const END: &str = "\x1b[0m";

/// Added to the name of a benchmark in the row of its test.
const TEST_SUFFIX: &str = "_pvalue";

/// The layout of a printed report: the rows it has, and what of it is coloured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    /// Aggregates and tests only.
    pub aggregates_only: bool,
    /// The rows of the tests too.
    pub test: bool,
    /// A p-value from here on is red.
    pub alpha: f64,
    /// Escape sequences of terminals.
    pub colour: bool,
}

impl Report<'_> {
    /// The table, every line with its end; and why it stops before its end, if it does: lone
    /// surrogates cannot be printed.
    pub fn table(&self, layout: &Layout) -> (String, Option<Problem>) {
        let longest = self.differences.iter().map(|d| d.name.width()).max();
        let width = longest.unwrap_or(0).max("Benchmark".len()) + TEST_SUFFIX.len();
        let titles = "Time             CPU      Time Old      Time New       CPU Old       CPU New";
        let head = format!("{:<1$}{titles}", "Benchmark", width + 12);
        let mut table = format!("{head}\n{}\n", "-".repeat(head.len()));
        for difference in &self.differences {
            let rows = !layout.aggregates_only || difference.run_type == "aggregate".into();
            let test = difference.test.filter(|_| layout.test);
            if !rows && test.is_none() {
                continue;
            }
            let Some(name) = difference.name.printable() else {
                let what = format!(
                    "the name {:?} has half a surrogate pair and cannot be printed",
                    difference.name.lossy()
                );
                return (table, Some(Problem::at("", what)));
            };
            let line = Line {
                name,
                width,
                colour: layout.colour,
            };
            if rows {
                for measurement in &difference.measurements {
                    line.measurement(&mut table, measurement);
                }
            }
            if let Some(test) = test {
                line.test(&mut table, &test, layout.alpha);
            }
        }
        (table, None)
    }
}

struct Line<'n> {
    name: &'n str,
    width: usize,
    colour: bool,
}

impl Line<'_> {
    fn code(&self, code: &'static str) -> &'static str {
        if self.colour { code } else { "" }
    }

    fn measurement(&self, table: &mut String, measurement: &Measurement<'_>) {
        let Measurement { real, cpu } = measurement;
        let end = self.code(END);
        self.begin(table, self.name);
        for time in [real, cpu] {
            *table += self.code(change_colour(time.change));
            *table += &padded(time.change, 16, 4, true);
            *table += end;
        }
        self.pair(table, real);
        *table += end;
        self.pair(table, cpu);
        table.push('\n');
    }

    fn pair(&self, table: &mut String, time: &Time<'_>) {
        for number in [time.old, time.new] {
            *table += &padded(number.float(), 14, 0, false);
        }
    }

    fn test(&self, table: &mut String, test: &Test, alpha: f64) {
        self.begin(table, &format!("{}{TEST_SUFFIX}", self.name));
        for p in [test.real_p, test.cpu_p] {
            *table += self.code(if p >= alpha { FAIL } else { OK });
            *table += &padded(p, 16, 4, false);
            *table += self.code(END);
        }
        let [old, new] = test.repetitions;
        *table += self.code(if test.optimal { OK } else { WARNING });
        *table += &format!("      U Test, Repetitions: {old} vs {new}");
        if !test.optimal {
            *table += &format!(
                ". WARNING: Results unreliable! {OPTIMAL_REPETITIONS}+ repetitions recommended."
            );
        }
        table.push('\n');
    }

    fn begin(&self, table: &mut String, name: &str) {
        *table += self.code(HEADER);
        *table += name;
        let gap = self.width.saturating_sub(name.chars().count());
        table.extend(std::iter::repeat_n(' ', gap));
        *table += self.code(END);
    }
}

/// Red from 5 % more on, cyan from 7 % less on, and for what is no number.
fn change_colour(change: f64) -> &'static str {
    if change > 0.05 {
        FAIL
    } else if change > -0.07 {
        WHITE
    } else {
        CYAN
    }
}

/// A number as `{:14.0f}` and the like write it, with a plus sign where asked for, at the right of
/// a column.
fn padded(number: f64, width: usize, places: usize, plus: bool) -> String {
    let sign = if plus && (number.is_nan() || !number.is_sign_negative()) {
        "+"
    } else {
        ""
    };
    let spelled = if number.is_nan() {
        format!("{sign}nan")
    } else {
        format!("{sign}{number:.places$}")
    };
    format!("{spelled:>width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_padded_and_rounded_as_python_rounds() {
        for (number, spelled) in [
            (0.5, "   0"),
            (1.5, "   2"),
            (2.5, "   2"),
            (-0.4, "  -0"),
            (12345.0, "12345"),
            (f64::NAN, " nan"),
            (f64::INFINITY, " inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(padded(number, 4, 0, false), spelled);
        }
        assert_eq!(padded(0.00005, 9, 4, true), "  +0.0001");
        assert_eq!(padded(-0.0, 9, 4, true), "  -0.0000");
        assert_eq!(padded(f64::NAN, 9, 4, true), "     +nan");
        assert_eq!(padded(f64::INFINITY, 9, 4, true), "     +inf");
    }
}
