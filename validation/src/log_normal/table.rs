//! The shape of the runs of every routine, and how well their minimum, median and mean repeat.

use std::fmt::Write as _;

use deadheat_validation::bars::Section;
use deadheat_validation::process::median;

use crate::experiment::Experiment;

/// Routines and their experiments, in the order of the page.
pub type Rows = Vec<(String, Vec<Experiment>)>;

/// The level of Shapiro and Wilk's test in the table.
const LEVEL: f64 = 0.05;

/// The section on what a single experiment says.
pub fn shapes(rows: &Rows) -> Section {
    let mut text = "\
## The shape of the runs\n\n\
Each cell is the median over the experiments of a routine. Bottom and top sigma are the distances of the least and the largest run from the \
mean, in standard deviations. The likeliest of normal, log-normal and Gumbel is that of deadheat's figures, by the likelihood of the fitted \
distribution; all three have two parameters. The last column says in how many experiments Shapiro and Wilk's test rejects at 5 % that \
the logarithms are normal.\n\n\
| routine | experiments | min | median | mean | bottom σ | top σ | (mean − min)/mean | likeliest: normal, log-normal, Gumbel | not log-normal |\n\
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for (name, all) in rows {
        let middle = |of: &dyn Fn(&Experiment) -> Option<f64>| {
            let values: Vec<f64> = all.iter().filter_map(of).collect();
            (!values.is_empty()).then(|| median(values))
        };
        let likeliest = |family: &str| all.iter().filter(|one| one.best() == Some(family)).count();
        let rejected = all.iter().filter(|one| one.p.is_some_and(|p| p < LEVEL));
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {}, {}, {} | {} of {} |",
            all.len(),
            middle(&|one| Some(one.min)).map_or("–".to_owned(), time),
            middle(&|one| Some(one.median)).map_or("–".to_owned(), time),
            middle(&|one| Some(one.mean)).map_or("–".to_owned(), time),
            middle(&|one| one.bottom).map_or("–".to_owned(), |sigma| format!("{sigma:.2}")),
            middle(&|one| one.top).map_or("–".to_owned(), |sigma| format!("{sigma:.2}")),
            middle(&|one| one.over).map_or("–".to_owned(), percent),
            likeliest("normal"),
            likeliest("log-normal"),
            likeliest("gumbel"),
            rejected.count(),
            all.len(),
        );
    }
    text.push('\n');
    Section {
        text,
        bars: Vec::new(),
    }
}

/// The section on what repeating the experiments says.
pub fn precision(rows: &Rows) -> Section {
    let mut text = "\
## How well minimum, median and mean repeat\n\n\
Standard deviation from experiment to experiment, each in a fresh process, relative to the average: what to expect of the same figure the \
next time.\n\n\
| routine | experiments | min | median | mean | the most precise |\n\
| --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for (name, all) in rows {
        let Some(spreads) = Spreads::of(all) else {
            let _ = writeln!(text, "| {name} | {} | – | – | – | – |", all.len());
            continue;
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} |",
            all.len(),
            percent(spreads.min),
            percent(spreads.median),
            percent(spreads.mean),
            spreads.least(),
        );
    }
    text.push('\n');
    Section {
        text,
        bars: Vec::new(),
    }
}

/// Relative standard deviations from experiment to experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spreads {
    pub min: f64,
    pub median: f64,
    pub mean: f64,
}

impl Spreads {
    /// `None` for fewer than two experiments.
    pub fn of(all: &[Experiment]) -> Option<Self> {
        let of = |figure: fn(&Experiment) -> f64| {
            relative_spread(&all.iter().map(figure).collect::<Vec<f64>>())
        };
        Some(Self {
            min: of(|one| one.min)?,
            median: of(|one| one.median)?,
            mean: of(|one| one.mean)?,
        })
    }

    fn least(self) -> &'static str {
        if self.min <= self.median && self.min <= self.mean {
            "min"
        } else if self.median <= self.mean {
            "median"
        } else {
            "mean"
        }
    }
}

/// Standard deviation as a share of the mean; `None` for fewer than two values
/// or a mean that is not above zero.
pub fn relative_spread(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 || mean <= 0.0 {
        return None;
    }
    let squares = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>();
    Some((squares / (n - 1.0)).sqrt() / mean)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::experiment;

    fn rows() -> Rows {
        let all = vec![
            experiment(1_000.0, 1_100.0, 1_250.0),
            experiment(1_010.0, 1_210.0, 1_000.0),
        ];
        vec![
            ("base64".to_owned(), all),
            ("chase, 1 lane".to_owned(), Vec::new()),
        ]
    }

    #[test]
    fn shapes_have_a_line_for_every_routine() {
        let text = shapes(&rows()).text;
        assert!(text.contains(
            "| base64 | 2 | 1.01 µs | 1.21 µs | 1.25 µs | 1.20 | 3.40 | 20.00 % | 0, 0, 2 | 2 of 2 |"
        ), "{text}");
        assert!(text.contains("| chase, 1 lane | 0 | – | – | – | – | – | – | 0, 0, 0 | 0 of 0 |"));
    }

    #[test]
    fn the_most_precise_figure_spreads_least() {
        let text = precision(&rows()).text;
        assert!(
            text.contains("| base64 | 2 | 0.70 % | 6.73 % | 15.71 % | min |"),
            "{text}"
        );
        assert!(text.contains("| chase, 1 lane | 0 | – | – | – | – |"));
    }

    #[test]
    fn a_spread_needs_two_values() {
        assert_eq!(relative_spread(&[1.0]), None);
        assert_eq!(relative_spread(&[2.0, 2.0]), Some(0.0));
    }
}
