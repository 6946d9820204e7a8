//! Tables of one benchmark.

use std::fmt::{self, Write};

use deadheat_model::{Comparison, Side};

use super::html::{GLYPHS, Text};
use crate::figures;
use crate::rate::rate_cells;
use crate::sentences::{self, Source};
use crate::suite;
use crate::tables;
use crate::units::quantity;

/// A table that scrolls by itself where the page is too narrow for it. The
/// first column names the rows.
fn table(out: &mut dyn Write, caption: &str, header: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    write!(
        out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table class=\"plain\"><caption>{caption}</caption><thead><tr>"
    )?;
    for cell in header {
        write!(out, "<th scope=\"col\">{}</th>", Text(cell))?;
    }
    out.write_str("</tr></thead><tbody>")?;
    for row in rows {
        out.write_str("<tr>")?;
        for (index, cell) in row.iter().enumerate() {
            match index {
                0 => write!(out, "<th scope=\"row\">{}</th>", Text(cell))?,
                _ => write!(out, "<td>{}</td>", Text(cell))?,
            }
        }
        out.write_str("</tr>")?;
    }
    out.write_str("</tbody></table></div>")
}

/// The contenders of a benchmark by the judged metric.
pub(super) fn contenders(
    out: &mut dyn Write,
    group: &[Comparison],
    labels: &[String],
    source: Source,
) -> fmt::Result {
    let unit = group[0].metric.unit();
    let sides = suite::sides(group);
    let figures = |side: &Side| {
        let known = [side.median, side.mean, side.min, side.max].map(Some);
        std::iter::once(side.typical).chain(known)
    };
    let values: Vec<Option<f64>> = sides.iter().flat_map(|side| figures(side)).collect();
    let shown = tables::cells(unit, &values, GLYPHS);
    let rates = rate_cells(group, GLYPHS);
    let title = sentences::metric(&group[0].metric, GLYPHS);
    let mut header = vec![
        title.as_str(),
        "typical",
        "median",
        "mean",
        "min",
        "max",
        "std dev",
    ];
    header.extend(rates.as_ref().map(|_| "rate"));
    header.push("samples");
    let mut rows = Vec::new();
    for (index, (side, shown)) in sides.iter().zip(shown.chunks(5)).enumerate() {
        let mut row = vec![labels.get(index).cloned().unwrap_or_default()];
        row.extend_from_slice(shown);
        row.push(match side.std_dev {
            Some(deviation) => quantity(unit, deviation, GLYPHS),
            None => GLYPHS.nothing().to_owned(),
        });
        if let Some(rates) = &rates {
            row.push(rates.get(index).cloned().unwrap_or_default());
        }
        row.push(side.samples.to_string());
        rows.push(row);
    }
    let caption = format!("Contenders, per {}", source.iteration());
    table(out, &caption, &header, &rows)
}

/// All metrics side by side, then the secondary figures.
pub(super) fn figures_of(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
    if let Some((header, rows)) = tables::metric_cells(comparison, GLYPHS) {
        table(out, "All metrics, by what is typical", &header, &rows)?;
    }
    let sides = figures::sides(comparison, GLYPHS);
    let between = figures::between(comparison, GLYPHS);
    if sides.is_none() && between.is_none() {
        return Ok(());
    }
    write!(out, "<div class=\"secondary\"><h5>{}</h5>", figures::TITLE)?;
    out.write_str("<div class=\"beside\">")?;
    for (found, caption) in [
        (sides, "Each side by itself"),
        (between, "The two sides against each other"),
    ] {
        if let Some(found) = found {
            table(out, caption, &found.header, &found.rows)?;
        }
    }
    write!(
        out,
        "</div><p class=\"quiet\">{}</p></div>",
        figures::CAVEAT
    )
}
