//! Pictures made of characters: the forest of a table, histograms and the series of differences; the
//! characters that they are made of, the place they are shown at, and the scale of changes.
//!
//! The analysis decides what to draw; these modules map points to columns and rows.

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

/// The colour of a verdict as terminals number it.
pub(crate) fn color_of(verdict: Option<Verdict>) -> Option<u8> {
    Some(match verdict? {
        Verdict::Faster => 32,
        Verdict::Slower => 31,
        Verdict::Equivalent => 36,
        Verdict::Inconclusive => 33,
    })
}

/// The text in this colour; as it is where there is none, or nothing to see.
fn painted(text: &str, color: Option<u8>) -> String {
    match color {
        Some(color) if !text.trim().is_empty() => format!("\u{1b}[{color}m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}

/// The place that pictures are shown at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlotContext {
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// Spaces before every line.
    pub(crate) indent: usize,
    /// The signs the reader can see.
    pub(crate) glyphs: Glyphs,
    /// `true` where colours may be used.
    pub(crate) color: bool,
    /// The verdict on what is drawn.
    pub(crate) verdict: Option<Verdict>,
}

impl PlotContext {
    /// The spaces before every line.
    fn margin(&self) -> String {
        " ".repeat(self.indent)
    }

    /// The text in lines that keep to the width.
    fn wrap(&self, text: &str) -> String {
        wrap(&self.margin(), text, self.width)
    }

    /// The colour of the verdict, if any may be used.
    fn verdict_color(&self) -> Option<u8> {
        color_of(self.verdict).filter(|_| self.color)
    }
}

/// The characters of a picture, each one column wide.
#[derive(Clone, Copy, Debug)]
struct Strokes {
    /// Ends of an interval, its line, and its estimate.
    low: char,
    high: char,
    line: char,
    estimate: char,
    /// The signs of an interval or a block beyond an edge.
    left: char,
    right: char,
    up: char,
    down: char,
    /// No change, in a row of the table; the margin around it.
    zero: char,
    band: char,
    /// No change and the margin, as lines across.
    zero_line: char,
    margin_line: char,
    /// One block, a few, and many; one that was left out.
    blocks: [char; 3],
    dropped: char,
    /// The axis, and a tick on it.
    axis: char,
    tick: char,
    /// Bars that fill a part of their cell, the last one all of it.
    bars: &'static [char],
}

impl Strokes {
    /// Those the reader can see.
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

/// Ends worth reading, as changes upwards. To a half the scale is even in changes, and beyond even
/// in ratios: half is as far as twice.
const ENDS: [f64; 15] = [
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 9.0,
];

/// The scale is even in changes as far as this.
const EVEN_IN_CHANGES: f64 = 0.5;

/// An end holds what is larger by the rounding of numbers.
const ROUNDING: f64 = 1e-12;

/// The end that a scale must have to hold this effect.
fn reach(effect: LogRatio) -> f64 {
    match effect.change().abs() {
        even if even <= EVEN_IN_CHANGES => even,
        _ => LogRatio(effect.0.abs()).change(),
    }
}

/// A scale from one change to its opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ChangeScale {
    /// The upper end, as a change.
    end: f64,
}

impl ChangeScale {
    /// The narrowest scale that holds nearly all of these: a few that would squeeze the rest to
    /// nothing may lie beyond. It reaches `at_least` so far.
    fn over(effects: &[LogRatio], at_least: LogRatio) -> ChangeScale {
        let mut reaches: Vec<f64> = effects.iter().map(|effect| reach(*effect)).collect();
        reaches.sort_unstable_by(f64::total_cmp);
        let least = reach(at_least);
        let end = |reach: f64| {
            let reach = reach.max(least);
            let known = ENDS.into_iter().find(|end| reach <= *end + ROUNDING);
            // Powers of ten in ratios from there on.
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

    /// The place of an effect: −1 at the lower end, 0 for no change, 1 at the upper end, and beyond
    /// these what the scale does not hold.
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

    /// The change at a place from −1 to 1, in words.
    fn label(self, place: f64, glyphs: Glyphs) -> String {
        let even = self.is_even_in_changes();
        let change = if even {
            place * self.end
        } else {
            (place * self.end.ln_1p()).exp_m1()
        };
        // Steps of ratios are no round changes.
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

    /// The ends in words, the lower one first.
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
