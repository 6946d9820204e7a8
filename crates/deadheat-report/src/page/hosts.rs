//! The hosts of a comparison, a row each, with their intervals on one axis.

use std::fmt::{self, Write};

use deadheat_model::{Comparison, Estimate};

use super::axis::Axis;
use super::html::{GLYPHS, Text, code, isolated};
use super::overview::{axis_marks, interval_cells};
use crate::hosts::{CONTROL, control, has_controls, name};

/// Writes the hosts of a comparison that several machines raced, the verdict over all of them below.
pub(super) fn write(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
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
