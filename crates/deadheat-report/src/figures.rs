//! Secondary figures in words and cells, for text and Markdown.

use deadheat_model::{
    BetweenFigures, Change, Comparison, Family, LogRatio, SideFigures, TTested, Tested, Unit,
};

use crate::glyphs::Glyphs;
use crate::units::{effect, interval, quantities, share, two_digits};

/// The title of the figures.
pub(crate) const TITLE: &str = "Secondary figures: they inform, they never decide.";

/// The caveat on the p-values.
pub(crate) const CAVEAT: &str = "Those marked * take every sample for independent, which samples \
    of one process are not: their p-values come out too small.";

/// The percentiles shown of the 99 that are known.
const SHOWN: [usize; 7] = [1, 5, 25, 50, 75, 95, 99];

/// A table: a header and rows of as many cells.
pub(crate) struct FigureTable {
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Each side by itself; `None` without figures.
pub(crate) fn sides(comparison: &Comparison, glyphs: Glyphs) -> Option<FigureTable> {
    let figures = comparison.figures.as_ref()?;
    let mut sides = vec![&figures.baseline];
    sides.extend(figures.candidate.as_ref());
    let header = match sides.len() {
        1 => vec!["distribution", "value"],
        _ => vec!["distribution", "baseline", "candidate"],
    };
    let columns: Vec<Vec<(String, String)>> = sides
        .iter()
        .map(|side| side_rows(side, comparison.metric.unit(), glyphs))
        .collect();
    let row = |(index, (name, _)): (usize, &(String, String))| {
        let cells = columns.iter().map(|column| column[index].1.clone());
        std::iter::once(name.clone()).chain(cells).collect()
    };
    let rows = columns[0].iter().enumerate().map(row).collect();
    Some(FigureTable { header, rows })
}

/// The figures of one side, as many for every side.
fn side_rows(side: &SideFigures, unit: Unit, glyphs: Glyphs) -> Vec<(String, String)> {
    let or_nothing = |cell: Option<String>| cell.unwrap_or_else(|| glyphs.nothing().to_owned());
    let number = |value: Option<f64>| or_nothing(value.map(|value| signed(value, glyphs)));
    let shown = quantities(unit, &side.percentiles, glyphs);
    let mut rows: Vec<(String, String)> = SHOWN
        .iter()
        .map(|percent| {
            let value = shown.get(percent - 1).cloned();
            (format!("percentile {percent}"), or_nothing(value))
        })
        .collect();
    let half = side.first_half.as_ref();
    let half_median = half.map(|half| quantities(unit, &[half.median], glyphs).remove(0));
    let apart = half.and_then(|half| half.against_second);
    let likeliest = side.fits.first().map(|best| family(best.family).to_owned());
    let lead = side.fits.first().zip(side.fits.get(1)).map(|(best, next)| {
        let lead = best.log_likelihood - next.log_likelihood;
        format!("{} before {}", two_digits(lead), family(next.family))
    });
    for (name, cell) in [
        ("median of the first half", or_nothing(half_median)),
        ("halves apart (KS)*", or_nothing(apart.map(tested))),
        (
            "(mean - min)/mean",
            or_nothing(side.mean_over_min.map(share)),
        ),
        ("min below the mean, in sd", number(side.min_sigmas)),
        ("max above the mean, in sd", number(side.max_sigmas)),
        ("skewness of ln", number(side.log_skewness)),
        ("excess kurtosis of ln", number(side.log_excess_kurtosis)),
        (
            "normality of ln (W)*",
            or_nothing(side.shapiro_wilk.map(tested)),
        ),
        ("likeliest shape", or_nothing(likeliest)),
        ("by ln likelihood", or_nothing(lead)),
    ] {
        rows.push((name.to_owned(), cell));
    }
    rows
}

/// The two sides against each other; `None` for a contender alone.
pub(crate) fn between(comparison: &Comparison, glyphs: Glyphs) -> Option<FigureTable> {
    let figures = comparison.figures.as_ref()?;
    let between = figures.between.as_ref()?;
    let mut rows = Rows {
        rows: Vec::new(),
        glyphs,
    };
    rows.of_sides(between);
    rows.of_pairs(between);
    if let Some(stability) = &figures.stability {
        rows.change("estimate of the first half", stability.first_half);
        rows.change("estimate of the second half", stability.second_half);
        let within = stability.spread.map(|spread| spread.within);
        rows.deviation("sd of blocks within a replicate", within);
        let between = stability.spread.map(|spread| spread.between);
        rows.deviation("sd between replicates", between);
    }
    // Beside those, which tell no placement from a process.
    if let Some(spreads) = &comparison.spreads {
        rows.deviation("sd of placement alone", spreads.placement);
        rows.deviation("sd of the process alone", spreads.process);
        rows.deviation("sd of the block alone", Some(spreads.block));
    }
    if let Some(order) = &comparison.diagnostics {
        rows.change("drift within blocks", Some(LogRatio(order.drift)));
        rows.change("carry-over", Some(LogRatio(order.carry_over)));
        rows.change("second position", Some(LogRatio(order.second_position)));
    }
    Some(FigureTable {
        header: vec!["candidate against baseline", "value", "interval", "p"],
        rows: rows.rows,
    })
}

struct Rows {
    rows: Vec<Vec<String>>,
    glyphs: Glyphs,
}

impl Rows {
    /// Adds a row, unless the figure does not exist.
    fn push(&mut self, name: &str, value: Option<String>, p: Option<f64>) {
        self.push_ranged(name, value, None, p);
    }

    fn push_ranged(
        &mut self,
        name: &str,
        value: Option<String>,
        range: Option<String>,
        p: Option<f64>,
    ) {
        let nothing = || self.glyphs.nothing().to_owned();
        if let Some(value) = value {
            let p = p.map_or_else(nothing, probability);
            let range = range.unwrap_or_else(nothing);
            self.rows.push(vec![name.to_owned(), value, range, p]);
        }
    }

    fn change(&mut self, name: &str, theta: Option<LogRatio>) {
        let value = theta.map(|theta| effect(theta, None, self.glyphs));
        self.push(name, value, None);
    }

    /// Adds a standard deviation of logarithms, as a share.
    fn deviation(&mut self, name: &str, sd: Option<f64>) {
        let share = sd.map(|sd| share(LogRatio(sd).change()));
        self.push(name, share, None);
    }

    fn ranged(&mut self, name: &str, change: Option<Change>, p: Option<f64>) {
        let range = change.and_then(|change| change.interval);
        let value = change.map(|change| effect(change.effect, range.as_ref(), self.glyphs));
        let range = range.map(|range| interval(&range, self.glyphs));
        self.push_ranged(name, value, range, p);
    }

    fn t_test(&mut self, name: &str, found: Option<TTested>) {
        let Some(found) = found else { return };
        let t = signed(found.t, self.glyphs);
        let name = format!("{name}, t = {t}, df = {}*", two_digits(found.df));
        self.ranged(&name, Some(found.change), Some(found.p));
    }

    fn of_sides(&mut self, between: &BetweenFigures) {
        self.change("min", between.min);
        self.change("median", between.median);
        self.change("mean", between.mean);
        self.ranged("Hodges-Lehmann shift*", between.shift, None);
        self.t_test("Welch", between.welch);
        self.t_test("Student", between.student);
        let u = between.mann_whitney;
        let sums = u.map(|u| format!("{} : {}", u.u_baseline, u.u_candidate));
        self.push(
            "Mann-Whitney U, baseline : candidate*",
            sums,
            u.map(|u| u.p),
        );
        let bare = between.rank_sum_p.map(|_| self.glyphs.nothing().to_owned());
        self.push("rank sums, uncorrected*", bare, between.rank_sum_p);
        let apart = between.kolmogorov_smirnov;
        let distance = apart.map(|apart| share(apart.statistic));
        self.push(
            "Kolmogorov-Smirnov distance*",
            distance,
            apart.map(|apart| apart.p),
        );
        let moved = between.wasserstein.map(share);
        self.push("Wasserstein-1 distance, of the median", moved, None);
    }

    fn of_pairs(&mut self, between: &BetweenFigures) {
        let pairs = between.pairs;
        let signs = pairs.map(|of| format!("{} : {} : {}", of.less, of.equal, of.greater));
        self.push(
            "pairs below : equal : above*",
            signs,
            pairs.map(|pairs| pairs.p),
        );
        self.t_test("Student, pairs", between.student_paired);
        let z = between.z_paired;
        let score = z.map(|z| signed(z.statistic, self.glyphs));
        self.push("z of the mean paired difference*", score, z.map(|z| z.p));
        let ranks = between.signed_rank;
        let sums = ranks.map(|ranks| format!("{} : {}", ranks.less, ranks.greater));
        self.push(
            "signed ranks of blocks, below : above",
            sums,
            ranks.map(|ranks| ranks.p),
        );
        let peaks = between.opposite_peaks;
        let counts = peaks.map(|peaks| format!("{} : {}", peaks.below, peaks.above));
        self.push(
            "outlying pairs below : above",
            counts,
            peaks.and_then(|peaks| peaks.p),
        );
    }
}

fn family(family: Family) -> &'static str {
    match family {
        Family::Normal => "normal",
        Family::LogNormal => "log-normal",
        Family::Gumbel => "Gumbel",
    }
}

/// A statistic and its p-value.
fn tested(tested: Tested) -> String {
    format!("{:.3}, p = {}", tested.statistic, probability(tested.p))
}

/// A p-value with two digits; below a millionth nobody counts on.
fn probability(p: f64) -> String {
    if p < 1e-6 {
        "< 0.000001".to_owned()
    } else {
        two_digits(p)
    }
}

/// A pure number with its sign and three digits or so.
fn signed(value: f64, glyphs: Glyphs) -> String {
    let size = value.abs();
    let digits = match size {
        size if size >= 1e6 => format!("{size:.1e}"),
        size if size >= 100.0 => format!("{size:.0}"),
        size if size >= 10.0 => format!("{size:.1}"),
        size => format!("{size:.2}"),
    };
    let sign = if value < 0.0 { glyphs.minus() } else { "" };
    format!("{sign}{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_value_is_never_shown_as_zero() {
        assert_eq!(probability(0.0), "< 0.000001");
        assert_eq!(probability(0.0123), "0.012");
        assert_eq!(probability(1.0), "1.0");
    }

    #[test]
    fn pure_numbers_keep_about_three_digits() {
        let show = |value| signed(value, Glyphs::Unicode);
        let shown = [-0.034, 12.34, -1234.5, 1e300].map(show);
        assert_eq!(shown, ["−0.03", "12.3", "−1234", "1.0e300"]);
    }
}
