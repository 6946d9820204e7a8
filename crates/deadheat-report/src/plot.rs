//! Plots made of characters: intervals next to a table, histograms, and the series of differences.
//! This module has their characters, their drawing options and the scale of changes.
//!
//! The analysis chooses the data; these modules map points to columns and rows.

#[cfg(feature = "reports")]
mod charts;
mod forest;

#[cfg(feature = "reports")]
pub(crate) use charts::pictures;
#[cfg(feature = "reports")]
pub(crate) use forest::intervals;
pub(crate) use forest::{ForestRow, beside};

use deadheat_model::{LogRatio, Verdict};

use crate::glyphs::Glyphs;
use crate::layout::wrap;
use crate::units::{round_factor, share, two_digits};

/// Returns the code of the colour of a verdict in terminal escape sequences.
pub(crate) fn color_of(verdict: Option<Verdict>) -> Option<u8> {
    Some(match verdict? {
        Verdict::Faster => 32,
        Verdict::Slower => 31,
        Verdict::Equivalent => 36,
        Verdict::Inconclusive => 33,
    })
}

/// Colours a text. Without a colour, or if the text is blank, returns it unchanged.
fn painted(text: &str, color: Option<u8>) -> String {
    match color {
        Some(color) if !text.trim().is_empty() => format!("\u{1b}[{color}m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PlotContext {
    /// The width of the terminal in columns.
    pub(crate) width: usize,
    /// The number of spaces before every line.
    pub(crate) indent: usize,
    pub(crate) glyphs: Glyphs,
    pub(crate) color: bool,
    /// The verdict on the data of the plot.
    pub(crate) verdict: Option<Verdict>,
}

impl PlotContext {
    fn margin(&self) -> String {
        " ".repeat(self.indent)
    }

    fn wrap(&self, text: &str) -> String {
        wrap(&self.margin(), text, self.width)
    }

    fn verdict_color(&self) -> Option<u8> {
        color_of(self.verdict).filter(|_| self.color)
    }
}

/// The characters of a plot, each one column wide.
#[derive(Clone, Copy, Debug)]
struct Strokes {
    /// The lower end of an interval.
    low: char,
    /// The upper end of an interval.
    high: char,
    /// The line between the ends of an interval.
    line: char,
    /// The estimate within an interval.
    estimate: char,
    /// The mark of an interval that extends beyond the left edge.
    left: char,
    /// The mark of an interval that extends beyond the right edge.
    right: char,
    /// The mark of a block above the upper edge.
    up: char,
    /// The mark of a block below the lower edge.
    down: char,
    /// The line of no change in a table row.
    zero: char,
    /// The margin in a table row, on both sides of the line of no change.
    band: char,
    /// The line of no change across a series.
    zero_line: char,
    /// The ends of the margin across a series.
    margin_line: char,
    /// The marks for one block, a few blocks and many blocks at the same place.
    blocks: [char; 3],
    /// The mark of a dropped block.
    dropped: char,
    /// The line of an axis.
    axis: char,
    /// A tick on an axis.
    tick: char,
    /// Bars that fill a part of their cell; the last one fills all of it.
    bars: &'static [char],
}

impl Strokes {
    fn new(glyphs: Glyphs) -> Strokes {
        Strokes {
            low: glyphs.choose('├', '|'),
            high: glyphs.choose('┤', '|'),
            line: glyphs.choose('─', '-'),
            estimate: glyphs.choose('■', 'o'),
            left: glyphs.choose('◀', '<'),
            right: glyphs.choose('▶', '>'),
            up: glyphs.choose('▲', '^'),
            down: glyphs.choose('▼', 'v'),
            zero: glyphs.choose('┊', ':'),
            band: glyphs.choose('░', '.'),
            zero_line: glyphs.choose('─', '-'),
            margin_line: glyphs.choose('┈', '.'),
            dropped: glyphs.choose('×', 'x'),
            axis: glyphs.choose('─', '-'),
            tick: glyphs.choose('┴', '+'),
            blocks: glyphs.choose(['·', '•', '●'], ['o', 'O', '@']),
            bars: glyphs
                .choose::<&[char]>(&['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'], &['.', ':', '#']),
        }
    }
}

/// The possible upper ends of a scale, as changes. A scale up to ±50% is linear in changes. A
/// longer scale is linear in log-ratios, so that half the time is as far from the centre as twice
/// the time.
const ENDS: [f64; 15] = [
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 9.0,
];

/// The largest upper end of a scale that is linear in changes; larger scales are linear in
/// log-ratios.
const EVEN_IN_CHANGES: f64 = 0.5;

/// The tolerance for rounding errors when a change is compared with the upper end of a scale.
const ROUNDING: f64 = 1e-12;

/// Returns the smallest upper end of a scale that includes this effect, as a change.
fn reach(effect: LogRatio) -> f64 {
    match effect.change().abs() {
        even if even <= EVEN_IN_CHANGES => even,
        _ => LogRatio(effect.0.abs()).change(),
    }
}

/// A scale from a negative change to its positive opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ChangeScale {
    /// The upper end, as a change.
    end: f64,
}

impl ChangeScale {
    /// Returns the narrowest scale that includes nearly all effects. A few outliers may lie beyond
    /// it, because they would compress the rest. The scale includes at least `at_least`.
    fn over(effects: &[LogRatio], at_least: LogRatio) -> ChangeScale {
        let mut reaches: Vec<f64> = effects.iter().map(|effect| reach(*effect)).collect();
        reaches.sort_unstable_by(f64::total_cmp);
        let least = reach(at_least);
        let end = |reach: f64| {
            let reach = reach.max(least);
            let known = ENDS.into_iter().find(|end| reach <= *end + ROUNDING);
            // Larger ends are powers of ten in the ratio.
            known.unwrap_or_else(|| 10f64.powi((reach + 1.0).log10().ceil() as i32) - 1.0)
        };
        let all = end(reaches.last().copied().unwrap_or(0.0));
        let most = end(reaches
            .get((3 * reaches.len()).div_ceil(4).saturating_sub(1))
            .copied()
            .unwrap_or(0.0));
        ChangeScale {
            end: if all <= 5.0 * most { all } else { most },
        }
    }

    fn is_even_in_changes(self) -> bool {
        self.end <= EVEN_IN_CHANGES
    }

    /// Returns the place of an effect: −1 at the lower end, 0 for no change, 1 at the upper end.
    /// Effects outside the scale are beyond ±1.
    fn place(self, effect: LogRatio) -> f64 {
        let place = if self.is_even_in_changes() {
            effect.change() / self.end
        } else {
            effect.0 / self.end.ln_1p()
        };
        match place.abs() - 1.0 {
            hair if (0.0..1e-9).contains(&hair) => place.signum(),
            _ => place,
        }
    }

    /// Formats the change at a place from −1 to 1.
    fn label(self, place: f64, glyphs: Glyphs) -> String {
        let even = self.is_even_in_changes();
        let change = if even {
            place * self.end
        } else {
            (place * self.end.ln_1p()).exp_m1()
        };
        // Even steps of log-ratios are not round changes, so large ones are shown as factors.
        if let Some(factor) = round_factor(change, glyphs) {
            return factor;
        }
        let shown = if even || place.abs() >= 1.0 {
            share(change.abs())
        } else {
            format!("{}%", two_digits(change.abs() * 100.0))
        };
        match glyphs.sign(change) {
            "" => "0".to_owned(),
            sign => format!("{sign}{shown}"),
        }
    }

    /// Formats the two ends, the lower one first.
    fn ends(self, glyphs: Glyphs) -> [String; 2] {
        [-1.0, 1.0].map(|end| self.label(end, glyphs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(changes: &[f64]) -> ChangeScale {
        let effects = changes.iter().map(|change| LogRatio::from_change(*change));
        ChangeScale::over(&effects.collect::<Vec<_>>(), LogRatio::from_change(0.01))
    }

    #[test]
    fn a_scale_ends_at_round_numbers_and_holds_the_margin() {
        let ends = |changes: &[f64]| over(changes).ends(Glyphs::Ascii).join(" ");
        assert_eq!(ends(&[]), "-1% +1%");
        assert_eq!(ends(&[0.0132]), "-2% +2%");
        assert_eq!(ends(&[-0.17, 0.04]), "-20% +20%");
        assert_eq!(ends(&[0.7]), "-50% +100%");
        assert_eq!(ends(&[-0.7]), "-75% +300%");
        assert_eq!(ends(&[50.0]), "-99% 100x");
    }

    #[test]
    fn one_that_is_far_off_does_not_squeeze_the_others() {
        let scale = over(&[0.01, 0.02, -0.03, 0.04, 20.0]);
        assert_eq!(scale.ends(Glyphs::Ascii)[1], "+5%");
        assert!(scale.place(LogRatio::from_change(20.0)) > 1.0);
        assert_eq!(
            over(&[0.01, 0.02, -0.03, 0.04, 0.16]).ends(Glyphs::Ascii)[1],
            "+20%"
        );
    }

    #[test]
    fn places_are_even_in_changes_and_for_large_ones_in_ratios() {
        let small = over(&[0.05]);
        assert!((small.place(LogRatio::from_change(-0.025)) + 0.5).abs() < 1e-12);
        let large = over(&[0.9]);
        assert!((large.place(LogRatio::from_change(1.0)) - 1.0).abs() < 1e-12);
        assert!((large.place(LogRatio::from_change(-0.5)) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_too_large_for_a_scale() {
        for effect in [709.0, 1e300, f64::MAX] {
            let scale = ChangeScale::over(&[LogRatio(effect)], LogRatio(0.01));
            let place = scale.place(LogRatio(effect));
            assert!(!place.is_nan() && !scale.ends(Glyphs::Ascii)[1].contains("NaN"));
        }
    }
}
