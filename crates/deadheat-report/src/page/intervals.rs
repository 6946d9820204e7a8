//! Intervals in the rows of a table: the axis they share, the cells that draw them, and the table of
//! the hosts of a comparison.

use std::fmt::{self, Write};

use deadheat_model::{Comparison, Estimate, LogRatio, Overall};

use super::html::{GLYPHS, Text, code, isolated};
use crate::cells::change_cells;
use crate::hosts::{CONTROL, control, has_controls, name};
use crate::suite;
use crate::units::{drawn_span, round_factor};

/// So many margins are told apart on a plain axis. Beyond, far changes are drawn together, so that
/// a margin can still be seen.
const PLAIN: f64 = 40.0;

/// Sizes of changes that may have a mark on the axis.
const MARKS: [f64; 20] = [
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9, 0.99, 1.0,
    3.0, 9.0, 19.0, 99.0, 999.0,
];

/// Marks are no nearer to one another and to the ends than these shares of the axis.
const APART: f64 = 0.22;
const FROM_END: f64 = 0.07;

/// The axis of the places of effects: 0 at the left end and 1 at the right one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    /// The effect at the right end; the left end is as far below zero.
    reach: f64,
    /// Effects beyond this are drawn together; `None` for a plain axis.
    bend: Option<f64>,
}

impl Axis {
    /// An axis on which everything has room.
    pub(super) fn of(comparisons: &[Comparison], overall: &[Overall]) -> Axis {
        let margins = comparisons
            .iter()
            .map(|one| LogRatio::from_change(one.margin).0);
        let margin = margins.fold(0.0, f64::max);
        let estimates = comparisons.iter().filter_map(|one| one.estimate.as_ref());
        let means: Vec<Estimate> = overall.iter().map(suite::mean_of).collect();
        Self::with_room_for(estimates.chain(&means), margin)
    }

    /// An axis on which these estimates have room, with a margin given as a change.
    fn of_estimates(estimates: &[&Estimate], margin: f64) -> Axis {
        let margin = LogRatio::from_change(margin).0;
        Self::with_room_for(estimates.iter().copied(), margin)
    }

    fn with_room_for<'e>(estimates: impl Iterator<Item = &'e Estimate>, margin: f64) -> Axis {
        let reach = estimates.map(reach_of).fold(margin * 1.5, f64::max) * 1.04;
        let reach = if reach > 0.0 { reach } else { 0.01 };
        let bend = (margin > 0.0 && reach > margin * PLAIN).then_some(margin);
        Axis { reach, bend }
    }

    /// The place of an effect, at most at the ends.
    fn place(&self, effect: LogRatio) -> f64 {
        let share = self.bent(effect.0) / self.bent(self.reach);
        ((1.0 + share) / 2.0).clamp(0.0, 1.0)
    }

    /// Returns `true` for an effect beyond one of the ends.
    fn is_beyond(&self, effect: LogRatio) -> bool {
        effect.0.abs() > self.reach
    }

    fn bent(&self, theta: f64) -> f64 {
        self.bend.map_or(theta, |bend| (theta / bend).asinh())
    }

    /// Returns `true` where far changes are drawn together.
    pub(super) fn is_bent(&self) -> bool {
        self.bend.is_some()
    }

    /// Changes to be marked, rising: zero, and what has room to its sides.
    fn marks(&self) -> Vec<f64> {
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

    /// Of changes to one side, growing, those that keep apart; the furthest first of all.
    fn with_room(&self, changes: impl Iterator<Item = f64>) -> Vec<f64> {
        let from_zero = |change: &f64| (self.place(LogRatio::from_change(*change)) - 0.5).abs();
        let fits = |change: &f64| (APART..0.5 - FROM_END).contains(&from_zero(change));
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

fn reach_of(estimate: &Estimate) -> f64 {
    let (low, high) = drawn_span(estimate);
    low.0.abs().max(high.0.abs())
}

/// The axis, drawn.
pub(super) fn axis_marks(axis: &Axis) -> Result<String, fmt::Error> {
    let mut marks = String::from("<svg class=\"axis\" aria-hidden=\"true\">");
    for change in axis.marks() {
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

/// A change at a mark of the axis, without digits it does not need.
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

/// Change and interval, as words and drawn; these are two cells.
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
    out.write_str("<line class=\"zero\" x1=\"50%\" x2=\"50%\" y1=\"0\" y2=\"100%\"/>")?;
    if let Some(range) = estimate.interval {
        write!(
            out,
            "<line class=\"range\" x1=\"{:.2}%\" x2=\"{:.2}%\" y1=\"50%\" y2=\"50%\"/>",
            place(range.low),
            place(range.high)
        )?;
        // What lies beyond the axis goes on there.
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
    // Told apart by their shapes as well as by their colours.
    out.write_str(match code {
        "faster" => "<path d=\"M5-5v10L-5 0z\"/>",
        "slower" => "<path d=\"M-5-5v10L5 0z\"/>",
        "equivalent" => "<path d=\"M-4-4h8v8h-8z\"/>",
        _ => "<circle r=\"4\"/>",
    })?;
    write!(out, "</svg></svg><span>{words}</span></div></td>")
}

/// Writes the hosts of a comparison that several machines raced, the verdict over all of them below.
pub(super) fn hosts(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
    let Some(across) = &comparison.hosts else {
        return Ok(());
    };
    let of_hosts = across.hosts.iter().map(|host| &host.estimate);
    let all: Vec<&Estimate> = of_hosts.chain(&comparison.estimate).collect();
    let axis = Axis::of_estimates(&all, comparison.margin);
    write!(
        out,
        "<h4>Hosts</h4><div class=\"scroll\"><table class=\"intervals\">\
         <caption class=\"unseen\">The change on each host, and over all of them</caption>\
         <thead><tr><th scope=\"col\" class=\"name\">part: host</th>\
         <th scope=\"col\" class=\"number\">change</th>\
         <th scope=\"col\" class=\"interval\">interval{}</th>\
         <th scope=\"col\" class=\"number\">replicates</th>",
        axis_marks(&axis)?
    )?;
    let controlled = has_controls(across);
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
            (comparison.margin, "none"),
            &axis,
        )?;
    }
    out.write_str("</tbody><tfoot>")?;
    if let Some(estimate) = &comparison.estimate {
        let whom = if across.like_these {
            "hosts like these"
        } else {
            "these hosts"
        };
        row(
            out,
            (whom, controlled.then_some("")),
            estimate,
            (comparison.margin, code(comparison)),
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

    fn axis(reach: f64, bend: Option<f64>) -> Axis {
        Axis { reach, bend }
    }

    #[test]
    fn zero_is_in_the_middle_and_ends_stay_inside() {
        for axis in [axis(0.03, None), axis(3.0, Some(0.01))] {
            assert_eq!(axis.place(LogRatio(0.0)), 0.5);
            assert_eq!(axis.place(LogRatio(axis.reach * 2.0)), 1.0);
            assert_eq!(axis.place(LogRatio(-axis.reach)), 0.0);
        }
    }

    #[test]
    fn a_margin_is_seen_beside_a_change_that_is_hundreds_of_times_as_large() {
        let axis = axis(3.0, Some(0.01));
        assert!(axis.place(LogRatio(0.01)) - 0.5 > 0.05);
        assert!(axis.place(LogRatio(2.0)) < 0.99);
    }

    #[test]
    fn marks_rise_and_keep_apart() {
        for (axis, shown) in [
            (axis(0.0007, None), [-0.0005, 0.0].as_slice()),
            (axis(0.03, None), &[-0.02, 0.0]),
            (axis(0.5, Some(0.01)), &[-0.2, 0.0]),
            (axis(7.0, Some(0.01)), &[-0.9, 0.0]),
        ] {
            let marks = axis.marks();
            assert!(marks.windows(2).all(|pair| pair[0] < pair[1]), "{marks:?}");
            assert!(marks.starts_with(shown), "{marks:?}");
            let zero = marks.iter().position(|mark| *mark == 0.0).unwrap();
            assert!(marks[zero..].len() >= 2, "{marks:?}");
        }
    }
}
