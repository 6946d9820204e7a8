//! An interval as a bar on the axis of the overview, and the marks of that
//! axis above them.

use std::fmt::{self, Write};

use deadheat_model::{Estimate, LogRatio};

use super::axis::Axis;
use super::html::GLYPHS;
use crate::tables::change_cells;

/// The axis, drawn.
pub(super) fn marks(axis: &Axis) -> Result<String, fmt::Error> {
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
    let percent = format!("{:.2}", change.abs() * 100.0);
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    match change {
        0.0 => "0".to_owned(),
        below if below < 0.0 => format!("{}{percent} %", GLYPHS.minus()),
        _ => format!("+{percent} %"),
    }
}

/// Change and interval, as words and drawn; these are two cells.
pub(super) fn interval(
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
    // WarningText apart by their shapes as well as by their colours.
    out.write_str(match code {
        "faster" => "<path d=\"M5-5v10L-5 0z\"/>",
        "slower" => "<path d=\"M-5-5v10L5 0z\"/>",
        "equivalent" => "<path d=\"M-4-4h8v8h-8z\"/>",
        _ => "<circle r=\"4\"/>",
    })?;
    write!(out, "</svg></svg><span>{words}</span></div></td>")
}
