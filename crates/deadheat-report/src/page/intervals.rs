//! Intervals drawn in table rows: their common axis, the cells, and the table of the hosts of a
//! comparison.

use std::fmt::{self, Write};

#[cfg(test)]
use deadheat_model::Interval;
use deadheat_model::{Comparison, Estimate, LogRatio, Overall};

use super::html::{GLYPHS, Text, code, isolated};
use crate::aspects::hosts::{CONTROL, control, has_controls, name};
use crate::cells::change_cells;
use crate::cost::{change_head, cost_of, hosts_in_cost};
use crate::suite;
use crate::units::{drawn_span, estimated, round_factor, share};

/// Maximum length of a linear axis, as a multiple of the margin. A longer axis is compressed for
/// large changes, so that the margin stays visible.
const PLAIN: f64 = 40.0;

/// An axis has marks at even steps if its ends are at most this log-ratio from zero.
const EVEN: f64 = 0.4;

/// The possible distances between adjacent marks on an axis with even steps, as changes.
const STEPS: [f64; 12] = [
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5,
];
/// Maximum number of even steps on an axis.
const STEPS_AT_MOST: f64 = 4.0;

/// Changes that may have a mark on an axis without even steps.
const MARKS: [f64; 20] = [
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9, 0.99, 1.0,
    3.0, 9.0, 19.0, 99.0, 999.0,
];

/// Minimum distance between two marks, as a share of the axis.
const APART: f64 = 0.2;
/// Minimum distance from a mark to the ends of the axis, as a share of the axis.
const FROM_END: f64 = 0.07;

/// An axis that maps effects to places, with 0 at the left end and 1 at the right end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// The effect at the left end, below zero.
    low: f64,
    /// The effect at the right end, above zero.
    high: f64,
    /// The log-ratio at which the axis begins to compress effects; `None` for a linear axis.
    bend: Option<f64>,
    /// The changes with a mark, in ascending order; they include zero.
    marks: Vec<f64>,
}

impl Axis {
    pub(super) fn of(comparisons: &[Comparison], overall: &[Overall]) -> Axis {
        let margins = comparisons
            .iter()
            .map(|one| LogRatio::from_change(one.terms.margin).0);
        let margin = margins.fold(0.0, f64::max);
        let estimates: Vec<Estimate> = comparisons.iter().filter_map(cost_of).collect();
        let means: Vec<Estimate> = overall.iter().map(suite::mean_of).collect();
        Self::with_room_for(estimates.iter().chain(&means), margin)
    }

    /// Returns an axis that shows these estimates and `margin`, which is a change.
    fn of_estimates(estimates: &[&Estimate], margin: f64) -> Axis {
        let margin = LogRatio::from_change(margin).0;
        Self::with_room_for(estimates.iter().copied(), margin)
    }

    fn with_room_for<'e>(estimates: impl Iterator<Item = &'e Estimate>, margin: f64) -> Axis {
        let least = if margin > 0.0 { margin * 1.5 } else { 0.01 };
        let (low, high) = estimates
            .map(drawn_span)
            .fold((-least, least), |(low, high), (from, to)| {
                (low.min(from.0), high.max(to.0))
            });
        let reach = high.max(-low);
        if reach <= EVEN {
            return Axis::even(low, high);
        }
        let room = FROM_END * (high - low);
        let mut axis = Axis {
            low: low - room,
            high: high + room,
            bend: (margin > 0.0 && reach > margin * PLAIN).then_some(margin),
            marks: Vec::new(),
        };
        axis.marks = axis.uneven_marks();
        axis
    }

    /// Returns an axis with marks at even steps; the outermost marks enclose all intervals.
    fn even(low: f64, high: f64) -> Axis {
        let [low, high] = [low, high].map(|end| LogRatio(end).change());
        let steps = |step: &f64| [(low / step).floor(), (high / step).ceil()];
        let fits = |step: &&f64| {
            let [first, last] = steps(step);
            last - first <= STEPS_AT_MOST
        };
        let step = STEPS.iter().find(fits).unwrap_or(&STEPS[STEPS.len() - 1]);
        let [first, last] = steps(step);
        let marks: Vec<f64> = (first as i32..=last as i32)
            .map(|index| f64::from(index) * step)
            .collect();
        let [low, high] = [first, last].map(|end| LogRatio::from_change(end * step).0);
        let room = FROM_END * (high - low);
        Axis {
            low: low - room,
            high: high + room,
            bend: None,
            marks,
        }
    }

    /// Returns the place of an effect on the axis, from 0 to 1; effects beyond the ends are
    /// clamped.
    fn place(&self, effect: LogRatio) -> f64 {
        let [low, at, high] = [self.low, effect.0, self.high].map(|theta| self.bent(theta));
        ((at - low) / (high - low)).clamp(0.0, 1.0)
    }

    fn is_beyond(&self, effect: LogRatio) -> bool {
        effect.0 < self.low || effect.0 > self.high
    }

    fn bent(&self, theta: f64) -> f64 {
        self.bend.map_or(theta, |bend| (theta / bend).asinh())
    }

    pub(super) fn is_bent(&self) -> bool {
        self.bend.is_some()
    }

    /// Returns marks at round changes in ascending order: zero, and those that fit on both sides.
    fn uneven_marks(&self) -> Vec<f64> {
        let above = MARKS
            .iter()
            .copied()
            .filter(|size| !(0.9..1.0).contains(size));
        let below = MARKS.iter().filter(|size| **size < 1.0).map(|size| -size);
        let mut marks = self.with_room(below);
        marks.reverse();
        marks.push(0.0);
        marks.extend(self.with_room(above));
        marks
    }

    /// Returns the changes on one side of zero that can have marks at the minimum distance. The
    /// largest change has priority. `changes` must ascend in size.
    fn with_room(&self, changes: impl Iterator<Item = f64>) -> Vec<f64> {
        let zero = self.place(LogRatio(0.0));
        let place = |change: &f64| self.place(LogRatio::from_change(*change));
        let from_zero = |change: &f64| (place(change) - zero).abs();
        let fits = |change: &f64| {
            let inside = (FROM_END..=1.0 - FROM_END).contains(&place(change));
            inside && from_zero(change) >= APART
        };
        let fitting: Vec<f64> = changes.filter(fits).collect();
        let mut chosen: Vec<f64> = Vec::new();
        for change in fitting.into_iter().rev() {
            let last = chosen.last().map_or(f64::INFINITY, from_zero);
            if last - from_zero(&change) >= APART {
                chosen.push(change);
            }
        }
        chosen.reverse();
        chosen
    }
}

pub(super) fn axis_marks(axis: &Axis) -> Result<String, fmt::Error> {
    let mut marks = String::from("<svg class=\"axis\" aria-hidden=\"true\">");
    for &change in &axis.marks {
        let place = axis.place(LogRatio::from_change(change)) * 100.0;
        write!(
            marks,
            "<line x1=\"{place:.2}%\" x2=\"{place:.2}%\" y1=\"14\" y2=\"20\"/><text x=\"{place:.2}%\" y=\"10\">{}</text>",
            mark(change)
        )?;
    }
    marks.push_str("</svg>");
    Ok(marks)
}

/// Formats the change at a mark without unnecessary digits.
fn mark(change: f64) -> String {
    if let Some(factor) = round_factor(change, GLYPHS) {
        return factor;
    }
    let percent = format!("{:.2}", change.abs() * 100.0);
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    match change {
        0.0 => "0".to_owned(),
        below if below < 0.0 => format!("{}{percent}%", GLYPHS.minus()),
        _ => format!("+{percent}%"),
    }
}

/// Writes two cells: the change with its interval in words, and a drawing of both.
pub(super) fn interval_cells(
    out: &mut dyn Write,
    estimate: Option<&Estimate>,
    margin: Option<f64>,
    code: &str,
    axis: &Axis,
) -> fmt::Result {
    let Some(estimate) = estimate else {
        let nothing = GLYPHS.nothing();
        return write!(
            out,
            "<td class=\"number change\">{nothing}</td><td class=\"interval\">{nothing}</td>"
        );
    };
    let [change, words] = change_cells(Some(estimate), GLYPHS);
    let effect = estimate.effect;
    write!(
        out,
        "<td class=\"number change\" data-sort=\"{:.6e}\">{change}</td><td class=\"interval\" data-sort=\"{:.6e}\"><div>",
        effect.0,
        estimate.interval.map_or(effect, |range| range.low).0,
    )?;
    forest(out, estimate, margin, code, axis)?;
    write!(out, "<span>{words}</span></div></td>")
}

fn forest(
    out: &mut dyn Write,
    estimate: &Estimate,
    margin: Option<f64>,
    code: &str,
    axis: &Axis,
) -> fmt::Result {
    let effect = estimate.effect;
    let place = |theta: LogRatio| axis.place(theta) * 100.0;
    write!(
        out,
        "<svg class=\"forest\" data-verdict=\"{code}\" aria-hidden=\"true\">"
    )?;
    if let Some(margin) = margin {
        let (low, high) = (
            place(LogRatio::from_change(-margin)),
            place(LogRatio::from_change(margin)),
        );
        write!(
            out,
            "<rect class=\"margin\" x=\"{low:.2}%\" width=\"{:.2}%\" y=\"0\" height=\"100%\"/>",
            high - low
        )?;
    }
    let zero = place(LogRatio(0.0));
    write!(
        out,
        "<line class=\"zero\" x1=\"{zero:.2}%\" x2=\"{zero:.2}%\" y1=\"0\" y2=\"100%\"/>"
    )?;
    if let Some(range) = estimate.interval {
        write!(
            out,
            "<line class=\"range\" x1=\"{:.2}%\" x2=\"{:.2}%\" y1=\"50%\" y2=\"50%\"/>",
            place(range.low),
            place(range.high)
        )?;
        // An arrow at the edge shows that the interval extends beyond the axis.
        for (end, shape) in [(range.low, "M5-4L0 0L5 4"), (range.high, "M-5-4L0 0L-5 4")] {
            if axis.is_beyond(end) {
                let at = place(end);
                write!(
                    out,
                    "<svg x=\"{at:.2}%\" y=\"50%\" overflow=\"visible\"><path class=\"beyond\" d=\"{shape}\"/></svg>"
                )?;
            }
        }
    }
    let at = place(effect);
    write!(out, "<svg x=\"{at:.2}%\" y=\"50%\" overflow=\"visible\">")?;
    // Verdicts differ in shape as well as in colour; a triangle pointing up means more time.
    out.write_str(match code {
        "faster" => "<path d=\"M-5-4h10L0 5z\"/>",
        "slower" => "<path d=\"M-5 4h10L0-5z\"/>",
        "equivalent" => "<path d=\"M-4-4h8v8h-8z\"/>",
        _ => "<circle r=\"4\"/>",
    })?;
    out.write_str("</svg></svg>")
}

/// Writes the first chart of a comparison, which shows its interval and the margin; nothing without
/// an estimate.
pub(super) fn against_margin(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
    let Some(estimate) = cost_of(comparison) else {
        return Ok(());
    };
    let axis = Axis::of_estimates(&[&estimate], comparison.terms.margin);
    let margin = share(comparison.terms.margin);
    let [change, words] = estimated(&estimate, comparison.coverage(), GLYPHS);
    write!(
        out,
        "<figure class=\"against\"><figcaption><h5>The interval against the margin</h5>\
         <p>The bar is the confidence interval of the change, the grey band the margin of ±{margin}. \
         A bar within the band is a dead heat; clear of zero it is faster or slower; anything else is \
         too close to call.</p></figcaption>\
         <div role=\"img\" aria-label=\"The change is {change}, {words}; the margin is ±{margin}.\">{}",
        axis_marks(&axis)?
    )?;
    forest(
        out,
        &estimate,
        Some(comparison.terms.margin),
        code(comparison),
        &axis,
    )?;
    write!(
        out,
        "</div><p class=\"words\">{change} ({words}).</p></figure>"
    )
}

/// Writes the table of the hosts that raced, with the verdict over all hosts below.
pub(super) fn hosts(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
    let Some(across) = hosts_in_cost(comparison) else {
        return Ok(());
    };
    let of_hosts = across.hosts.iter().map(|host| &host.estimate);
    let of_all = cost_of(comparison);
    let all: Vec<&Estimate> = of_hosts.chain(&of_all).collect();
    let axis = Axis::of_estimates(&all, comparison.terms.margin);
    write!(
        out,
        "<h4>Hosts</h4><div class=\"scroll\"><table class=\"intervals\">\
         <caption class=\"unseen\">The change on each host, and over all of them</caption>\
         <thead><tr><th scope=\"col\" class=\"name\">parts: host</th>\
         <th scope=\"col\" class=\"number\">{}</th>\
         <th scope=\"col\" class=\"interval\">CI{}</th>\
         <th scope=\"col\" class=\"number\">replicates</th>",
        change_head([&comparison.terms.metric].into_iter()),
        axis_marks(&axis)?
    )?;
    let controlled = has_controls(&across);
    if controlled {
        write!(out, "<th scope=\"col\" class=\"number\">{CONTROL}</th>")?;
    }
    out.write_str("</tr></thead><tbody>")?;
    for host in &across.hosts {
        let name = isolated(&name(host, GLYPHS));
        let control = controlled.then(|| control(host, GLYPHS));
        row(
            out,
            (&name, control.as_deref()),
            &host.estimate,
            (comparison.terms.margin, "none"),
            &axis,
        )?;
    }
    out.write_str("</tbody><tfoot>")?;
    if let Some(estimate) = &of_all {
        let whom = match (across.like_these, across.hosts.len()) {
            (true, _) => "hosts like these",
            (false, 1) => "this host",
            (false, _) => "these hosts",
        };
        row(
            out,
            (whom, controlled.then_some("")),
            estimate,
            (comparison.terms.margin, code(comparison)),
            &axis,
        )?;
    }
    out.write_str("</tfoot></table></div>")
}

fn row(
    out: &mut dyn Write,
    (name, control): (&str, Option<&str>),
    estimate: &Estimate,
    (margin, code): (f64, &str),
    axis: &Axis,
) -> fmt::Result {
    write!(
        out,
        "<tr data-verdict=\"{code}\"><th scope=\"row\" class=\"name\">{}</th>",
        Text(name)
    )?;
    interval_cells(out, Some(estimate), Some(margin), code, axis)?;
    write!(
        out,
        "<td class=\"number value\">{}</td>",
        estimate.replicates
    )?;
    if let Some(control) = control {
        write!(out, "<td class=\"number value\">{}</td>", Text(control))?;
    }
    out.write_str("</tr>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(spans: &[(f64, f64)], margin: f64) -> Axis {
        let change = LogRatio::from_change;
        let estimates: Vec<Estimate> = (spans.iter())
            .map(|(low, high)| Estimate {
                effect: LogRatio((change(*low).0 + change(*high).0) / 2.0),
                interval: Some(Interval {
                    low: change(*low),
                    high: change(*high),
                    confidence: 0.95,
                }),
                p_value: None,
                replicates: 6,
                blocks: 6,
            })
            .collect();
        Axis::of_estimates(&estimates.iter().collect::<Vec<_>>(), margin)
    }

    #[test]
    fn marks_enclose_every_interval_of_an_even_axis() {
        for (spans, shown) in [
            (&[][..], &[-0.02, -0.01, 0.0, 0.01, 0.02][..]),
            (&[(0.0897, 0.0994)], &[-0.05, 0.0, 0.05, 0.1]),
            (&[(0.17, 0.19)], &[-0.1, 0.0, 0.1, 0.2]),
            (&[(-0.31, -0.29), (0.02, 0.04)], &[-0.4, -0.2, 0.0, 0.2]),
        ] {
            let axis = over(spans, 0.01);
            let near = |(mark, shown): (&f64, &f64)| (mark - shown).abs() < 1e-12;
            let alike = axis.marks.len() == shown.len() && axis.marks.iter().zip(shown).all(near);
            let outermost = [axis.marks[0], axis.marks[axis.marks.len() - 1]];
            for (low, high) in spans {
                assert!(outermost[0] <= *low && *high <= outermost[1], "{axis:?}");
            }
            assert!(alike, "{axis:?}");
        }
    }

    #[test]
    fn zero_is_where_the_intervals_leave_it_and_ends_stay_inside() {
        let axis = over(&[(0.0897, 0.0994)], 0.01);
        let zero = axis.place(LogRatio(0.0));
        assert!(zero > 0.2 && zero < 0.45, "{zero}");
        assert_eq!(axis.place(LogRatio(9.0)), 1.0);
        assert_eq!(axis.place(LogRatio(-9.0)), 0.0);
        assert!(!axis.is_beyond(LogRatio::from_change(0.0994)));
        assert!(axis.is_beyond(LogRatio(1.0)));
    }

    #[test]
    fn a_margin_is_seen_next_to_a_change_that_is_hundreds_of_times_as_large() {
        let axis = over(&[(6.0, 7.0)], 0.01);
        assert!(axis.is_bent());
        let at = |change| axis.place(LogRatio::from_change(change));
        assert!(at(0.01) - at(0.0) > 0.05, "{axis:?}");
        assert!(at(6.5) < 0.99, "{axis:?}");
    }

    #[test]
    fn marks_of_every_axis_rise_and_keep_apart() {
        for spans in [
            &[(0.0002, 0.0004)][..],
            &[(-0.02, 0.03)],
            &[(0.5, 0.9)],
            &[(-0.95, -0.8), (3.0, 30.0)],
            &[(90.0, 110.0)],
        ] {
            let axis = over(spans, 0.01);
            let places: Vec<f64> = (axis.marks.iter())
                .map(|mark| axis.place(LogRatio::from_change(*mark)))
                .collect();
            let apart = places.windows(2).all(|pair| pair[1] - pair[0] > 0.12);
            assert!(apart && axis.marks.contains(&0.0), "{axis:?}");
            assert!(axis.marks.len() >= 2, "{axis:?}");
        }
    }
}
