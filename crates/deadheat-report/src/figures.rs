//! Tables and JSON of the secondary figures, which never decide a verdict.

use deadheat_model::{
    BetweenFigures, Change, Comparison, Family, Figures, FirstHalf, Fit, Json, LogRatio, Object,
    OppositePeaks, PairSigns, RankSums, SideFigures, SignedRanks, Spread, StabilityFigures,
    TTested, Tested, Unit,
};

use crate::document::{Block, Content, Kind, Table};
use crate::glyphs::Glyphs;
use crate::units::{self, effect, interval, p_is, p_value, quantities, share, two_digits};

pub(crate) const TITLE: &str = "Secondary figures, which never decide a verdict.";

pub(crate) const CAVEAT: &str = "Figures marked * treat all samples as independent; samples of \
    one process are not, so these p-values are too small.";

/// The percentiles that are shown, out of the 99 that are computed.
const SHOWN: [usize; 7] = [1, 5, 25, 50, 75, 95, 99];

/// Returns the secondary figures of a comparison as up to two tables: one with the figures of each
/// side, and one that compares the sides.
pub(crate) fn tables<'a>(comparison: &Comparison, glyphs: Glyphs) -> Vec<Table<'a>> {
    let tables = [sides(comparison, glyphs), between(comparison, glyphs)];
    tables.into_iter().flatten().collect()
}

fn table<'a>(caption: &str, heads: &[&str], rows: Vec<Vec<String>>) -> Table<'a> {
    Table {
        caption: caption.to_owned(),
        rows: rows.into_iter().map(Into::into).collect(),
        ..Table::new(Kind::Words, heads.iter().copied())
    }
}

/// Returns the blocks of the secondary figures: a title, the tables, and a sentence about p-values
/// that are too small. `names` are the benchmark and candidate of the comparison.
pub(crate) fn blocks<'a>(
    comparison: &Comparison,
    names: Vec<String>,
    glyphs: Glyphs,
) -> Vec<Block<'a>> {
    let tables = tables(comparison, glyphs);
    if tables.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::of(Content::Titled(names, TITLE))];
    blocks.extend(tables.into_iter().map(Block::table));
    blocks.push(Block::indented(CAVEAT));
    blocks
}

fn sides<'a>(comparison: &Comparison, glyphs: Glyphs) -> Option<Table<'a>> {
    let figures = comparison.figures.as_ref()?;
    let mut sides = vec![&figures.baseline];
    sides.extend(figures.candidate.as_ref());
    let heads: &[&str] = match sides.len() {
        1 => &["distribution", "value"],
        _ => &["distribution", "baseline", "candidate"],
    };
    let columns: Vec<Vec<(String, String)>> = sides
        .iter()
        .map(|side| side_rows(side, comparison.terms.metric.unit(), glyphs))
        .collect();
    let row = |(index, (name, _)): (usize, &(String, String))| {
        let cells = columns.iter().map(|column| column[index].1.clone());
        std::iter::once(name.clone()).chain(cells).collect()
    };
    let rows = columns[0].iter().enumerate().map(row).collect();
    Some(table("Each side by itself", heads, rows))
}

/// Returns the names and values of the figures of one side. All sides have the same number of
/// figures.
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
        format!("{} over {}", two_digits(lead), family(next.family))
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
        ("log-likelihood lead", or_nothing(lead)),
    ] {
        rows.push((name.to_owned(), cell));
    }
    rows
}

fn between<'a>(comparison: &Comparison, glyphs: Glyphs) -> Option<Table<'a>> {
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
    // The standard deviations of placement and process follow, because the figures above do not
    // separate these two sources of variation.
    if let Some(spreads) = &comparison.aspects.spreads {
        rows.deviation("sd of placement alone", spreads.placement);
        rows.deviation("sd of the process alone", spreads.process);
        rows.deviation("sd of the block alone", Some(spreads.block));
    }
    if let Some(order) = &comparison.aspects.order_effects {
        rows.change("drift within blocks", Some(LogRatio(order.drift)));
        rows.change("carry-over", Some(LogRatio(order.carry_over)));
        rows.change("second position", Some(LogRatio(order.second_position)));
    }
    let heads = ["candidate against baseline", "value", "interval", "p"];
    Some(table("The two sides against each other", &heads, rows.rows))
}

struct Rows {
    rows: Vec<Vec<String>>,
    glyphs: Glyphs,
}

impl Rows {
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
            let p = p.map_or_else(nothing, p_value);
            let range = range.unwrap_or_else(nothing);
            self.rows.push(vec![name.to_owned(), value, range, p]);
        }
    }

    fn change(&mut self, name: &str, theta: Option<LogRatio>) {
        let value = theta.map(|theta| effect(theta, None, self.glyphs));
        self.push(name, value, None);
    }

    /// Adds a row with the standard deviation of logarithms, as a percentage.
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

pub(crate) fn family(family: Family) -> &'static str {
    match family {
        Family::Normal => "normal",
        Family::LogNormal => "log-normal",
        Family::Gumbel => "Gumbel",
    }
}

fn tested(tested: Tested) -> String {
    format!("{:.3}, {}", tested.statistic, p_is(tested.p))
}

/// Formats a dimensionless number with about three digits, and with a minus sign if it is negative.
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

pub(crate) fn to_json(figures: &Figures) -> Object {
    Object::new()
        .with("baseline", side_figures(&figures.baseline))
        .with("candidate", figures.candidate.as_ref().map(side_figures))
        .with("between", figures.between.as_ref().map(between_json))
        .with("stability", figures.stability.as_ref().map(stability))
}

fn side_figures(side: &SideFigures) -> Object {
    Object::new()
        .with("percentiles", row(&side.percentiles))
        .with("log_skewness", side.log_skewness)
        .with("log_excess_kurtosis", side.log_excess_kurtosis)
        .with("shapiro_wilk", side.shapiro_wilk.map(tested_json))
        .with("fits", Json::from_iter(side.fits.iter().map(fit)))
        .with("mean_over_min", side.mean_over_min)
        .with("min_sigmas", side.min_sigmas)
        .with("max_sigmas", side.max_sigmas)
        .with("first_half", side.first_half.as_ref().map(first_half))
}

fn row(values: &[f64]) -> Json {
    Json::Row(values.iter().map(|value| Json::from(*value)).collect())
}

fn first_half(half: &FirstHalf) -> Object {
    Object::new()
        .with("median", half.median)
        .with("percentiles", row(&half.percentiles))
        .with("against_second", half.against_second.map(tested_json))
}

fn tested_json(tested: Tested) -> Object {
    Object::new()
        .with("statistic", tested.statistic)
        .with("p_value", tested.p)
}

fn fit(fit: &Fit) -> Object {
    Object::new()
        .with("family", fit.family.name())
        .with("location", fit.location)
        .with("scale", fit.scale)
        .with("log_likelihood", fit.log_likelihood)
}

fn between_json(between: &BetweenFigures) -> Object {
    Object::new()
        .with("min_change", between.min.map(LogRatio::change))
        .with("median_change", between.median.map(LogRatio::change))
        .with("mean_change", between.mean.map(LogRatio::change))
        .with("shift", between.shift.map(shift))
        .with("pairs", between.pairs.map(pairs))
        .with("welch", between.welch.map(t_tested))
        .with("student", between.student.map(t_tested))
        .with("student_paired", between.student_paired.map(t_tested))
        .with("z_paired", between.z_paired.map(tested_json))
        .with("signed_rank", between.signed_rank.map(signed_rank))
        .with("mann_whitney", between.mann_whitney.map(rank_sums))
        .with("rank_sum_p", between.rank_sum_p)
        .with(
            "kolmogorov_smirnov",
            between.kolmogorov_smirnov.map(tested_json),
        )
        .with("wasserstein", between.wasserstein)
        .with("opposite_peaks", between.opposite_peaks.map(peaks))
}

fn shift(change: Change) -> Object {
    Object::new().with("change", change.effect.change()).with(
        "ci",
        change
            .interval
            .as_ref()
            .map(units::ends)
            .map(Json::from_iter),
    )
}

fn t_tested(tested: TTested) -> Object {
    let Change { effect, interval } = tested.change;
    let log_ends = interval.map(|interval| Json::from_iter([interval.low.0, interval.high.0]));
    Object::new()
        .with("change", effect.change())
        .with(
            "ci",
            interval.as_ref().map(units::ends).map(Json::from_iter),
        )
        .with("log_difference", effect.0)
        .with("log_ci", log_ends)
        .with("t", tested.t)
        .with("df", tested.df)
        .with("p_value", tested.p)
}

fn pairs(pairs: PairSigns) -> Object {
    Object::new()
        .with("less", pairs.less)
        .with("equal", pairs.equal)
        .with("greater", pairs.greater)
        .with("p_value", pairs.p)
}

fn signed_rank(ranks: SignedRanks) -> Object {
    Object::new()
        .with("less", ranks.less)
        .with("greater", ranks.greater)
        .with("p_value", ranks.p)
}

fn rank_sums(ranks: RankSums) -> Object {
    Object::new()
        .with("u_baseline", ranks.u_baseline)
        .with("u_candidate", ranks.u_candidate)
        .with("p_value", ranks.p)
}

fn peaks(peaks: OppositePeaks) -> Object {
    Object::new()
        .with("below", peaks.below)
        .with("above", peaks.above)
        .with("p_value", peaks.p)
}

fn stability(stability: &StabilityFigures) -> Object {
    Object::new()
        .with(
            "first_half_change",
            stability.first_half.map(LogRatio::change),
        )
        .with(
            "second_half_change",
            stability.second_half.map(LogRatio::change),
        )
        .with("spread", stability.spread.map(spread))
}

fn spread(spread: Spread) -> Object {
    Object::new()
        .with("within", LogRatio(spread.within).change())
        .with("between", LogRatio(spread.between).change())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pure_numbers_keep_about_three_digits() {
        let show = |value| signed(value, Glyphs::Unicode);
        let shown = [-0.034, 12.34, -1234.5, 1e300].map(show);
        assert_eq!(shown, ["−0.03", "12.3", "−1234", "1.0e300"]);
    }
}
