//! The whole suite at a glance: a row per comparison, with its interval on an
//! axis that all rows share.

use std::fmt::{self, Write};

use deadheat_model::{Analysis, Comparison, Population};

use super::axis::Axis;
use super::forest;
use super::head::{self, VERDICTS};
use super::html::{GLYPHS, Text, foreign, isolated};
use crate::left_out;
use crate::names::{escape, labels, shorten};
use crate::sentences::{self, Source};
use crate::suite;
use crate::tables::typical;
use crate::units::{Precision, counted, quantities};

/// Columns a name may take in a row.
const NAME: usize = 100;
/// Columns that the words of a failure may take there.
const WORDS: usize = 400;

/// What the table has beside what it always has.
struct Columns {
    candidate: bool,
    gate: bool,
}

pub(super) fn write(out: &mut dyn Write, analysis: &Analysis) -> fmt::Result {
    let groups = suite::groups(&analysis.comparisons);
    let one_pair = head::sides(analysis).is_some();
    let columns = Columns {
        candidate: !one_pair
            && analysis
                .comparisons
                .iter()
                .any(|one| one.candidate.is_some()),
        gate: analysis.comparisons.iter().any(|one| one.gate.is_some()),
    };
    let axis = Axis::of(&analysis.comparisons, &analysis.overall);
    let rows = analysis.comparisons.len() + analysis.failures.len() + analysis.left_out.len();
    out.write_str(
        "<section class=\"suite\" aria-labelledby=\"suite\"><h2 id=\"suite\">Overview</h2>",
    )?;
    if rows > 1 {
        filters(out, analysis, rows)?;
    }
    let long = if rows > 25 { " long" } else { "" };
    write!(
        out,
        "<div class=\"scroll{long}\"><table id=\"overview\"><caption class=\"unseen\">All benchmarks with their changes</caption>"
    )?;
    header(out, &columns, &axis)?;
    out.write_str("<tbody>")?;
    let mut order = 0;
    let source = Source::of(analysis);
    for (index, group) in groups.iter().enumerate() {
        let labels = labels(&suite::names(group), NAME, GLYPHS);
        for (at, comparison) in group.iter().enumerate() {
            let row = Row {
                index,
                at,
                order,
                several: group.len() > 1,
                title: head::title_of(std::slice::from_ref(comparison), source, NAME),
                candidate: labels.get(at + 1).map(|label| isolated(label)),
            };
            row.write(out, comparison, &columns, &axis)?;
            order += 1;
        }
    }
    let span = 5 + usize::from(columns.candidate) + usize::from(columns.gate);
    for failure in &analysis.failures {
        let title = suite::failed_title(failure, GLYPHS);
        let shown = shorten(&title, NAME, GLYPHS);
        let sentence = sentences::failed(&isolated(&shown), failure, GLYPHS);
        without(
            out,
            order,
            &shown,
            ("failed", sentences::FAILED_CELL, &sentence),
            span,
        )?;
        order += 1;
    }
    for one in &analysis.left_out {
        let shown = shorten(&escape(&one.benchmark, GLYPHS), NAME, GLYPHS);
        let why = sentences::left_out(std::slice::from_ref(one), GLYPHS).join(" ");
        let why = shorten(&why, WORDS, GLYPHS);
        let word = left_out::cell(&one.reason).unwrap_or("left out");
        without(out, order, &shown, ("left-out", word, &why), span)?;
        order += 1;
    }
    out.write_str("</tbody>")?;
    means(out, analysis, &columns, &axis)?;
    out.write_str("</table></div>")?;
    legend(out, &axis, &analysis.comparisons)?;
    out.write_str("</section>\n")
}

/// The field and the buttons that choose rows; only scripts can use them.
fn filters(out: &mut dyn Write, analysis: &Analysis, rows: usize) -> fmt::Result {
    out.write_str(
        "<div class=\"filters\" hidden><label for=\"filter\" class=\"unseen\">Show benchmarks whose name holds</label>\
         <input id=\"filter\" type=\"search\" placeholder=\"Filter by name\" autocomplete=\"off\" spellcheck=\"false\">\
         <fieldset id=\"verdicts\"><legend class=\"unseen\">Show verdicts</legend>",
    )?;
    write!(
        out,
        "<label><input type=\"radio\" name=\"verdict\" value=\"\" checked><span>all <b>{rows}</b></span></label>"
    )?;
    for (code, verdict, word) in VERDICTS {
        let count = match code {
            "failed" => analysis.failures.len(),
            "left-out" => analysis.left_out.len(),
            _ => analysis
                .comparisons
                .iter()
                .filter(|one| head::code(one) == code)
                .count(),
        };
        if count > 0 {
            let sign = sign(code, verdict);
            write!(
                out,
                "<label data-verdict=\"{code}\"><input type=\"radio\" name=\"verdict\" value=\"{code}\">\
                 <span><span class=\"sign\" aria-hidden=\"true\">{sign}</span> {word} <b>{count}</b></span></label>"
            )?;
        }
    }
    write!(
        out,
        "</fieldset><p id=\"shown\" role=\"status\" aria-live=\"polite\">{} shown</p></div>",
        counted(rows as u64, "row", "rows")
    )
}

fn sign(code: &str, verdict: Option<deadheat_model::Verdict>) -> &'static str {
    match code {
        "failed" => "!",
        "left-out" => GLYPHS.nothing(),
        _ => GLYPHS.mark(verdict),
    }
}

fn header(out: &mut dyn Write, columns: &Columns, axis: &Axis) -> fmt::Result {
    out.write_str("<thead><tr>")?;
    let column = |out: &mut dyn Write, class: &str, word: &str, more: &str| {
        write!(
            out,
            "<th scope=\"col\" class=\"{class}\" aria-sort=\"none\"><button type=\"button\">{word}</button>{more}</th>"
        )
    };
    column(out, "name", "benchmark", "")?;
    if columns.candidate {
        column(out, "who", "candidate", "")?;
    }
    column(out, "call", "verdict", "")?;
    column(out, "number", "change", "")?;
    let marks = forest::marks(axis)?;
    column(out, "interval", "interval", &marks)?;
    column(out, "number value", "baseline", "")?;
    column(out, "number value", "candidate", "")?;
    if columns.gate {
        column(out, "gate", "gate", "")?;
    }
    out.write_str("</tr></thead>")
}

/// Where a comparison stands, and who was its candidate.
struct Row {
    index: usize,
    at: usize,
    order: usize,
    several: bool,
    title: String,
    candidate: Option<String>,
}

impl Row {
    fn write(
        &self,
        out: &mut dyn Write,
        comparison: &Comparison,
        columns: &Columns,
        axis: &Axis,
    ) -> fmt::Result {
        let code = head::code(comparison);
        let target = match self.several {
            true => format!("b{}-{}", self.index, self.at),
            false => format!("b{}", self.index),
        };
        write!(
            out,
            "<tr data-verdict=\"{code}\" data-index=\"{}\" data-order=\"{}\">\
             <th scope=\"row\" class=\"name\"><a href=\"#{target}\">{}</a></th>",
            self.index,
            self.order,
            Text(&self.title)
        )?;
        if columns.candidate {
            let nothing = GLYPHS.nothing();
            let candidate = self.candidate.as_deref().unwrap_or(nothing);
            write!(out, "<td class=\"who\">{}</td>", Text(candidate))?;
        }
        let rank = VERDICTS
            .iter()
            .position(|(other, ..)| *other == code)
            .unwrap_or(0);
        write!(out, "<td class=\"call\" data-sort=\"{rank}\">")?;
        head::badge(out, comparison)?;
        out.write_str("</td>")?;
        let estimate = comparison.estimate.as_ref();
        forest::interval(out, estimate, Some(comparison.margin), code, axis)?;
        values(out, comparison)?;
        if columns.gate {
            gate(out, comparison)?;
        }
        out.write_str("</tr>\n")
    }
}

/// What is typical of both sides; these are two cells.
fn values(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
    let values = typical(&comparison.baseline, comparison.candidate.as_ref());
    let mut shown = quantities(comparison.metric.unit(), &values, GLYPHS);
    shown.resize(2, GLYPHS.nothing().to_owned());
    for (index, shown) in shown.iter().enumerate() {
        let sort = values.get(index);
        let sort = sort.map_or_else(String::new, |value| format!(" data-sort=\"{value:e}\""));
        write!(out, "<td class=\"number value\"{sort}>{}</td>", Text(shown))?;
    }
    Ok(())
}

fn gate(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
    match &comparison.gate {
        None => write!(
            out,
            "<td class=\"gate\" data-sort=\"2\">{}</td>",
            GLYPHS.nothing()
        ),
        Some(hit) => {
            let (rank, word) = match hit.excuse {
                None => (0, "breaks"),
                Some(_) => (1, "excused:"),
            };
            write!(
                out,
                "<td class=\"gate\" data-sort=\"{rank}\">{word} {}</td>",
                foreign(&hit.rule)
            )
        }
    }
}

/// A benchmark without an answer: its code, its word and a sentence.
fn without(
    out: &mut dyn Write,
    order: usize,
    title: &str,
    (code, word, sentence): (&str, &str, &str),
    span: usize,
) -> fmt::Result {
    writeln!(
        out,
        "<tr data-verdict=\"{code}\" data-order=\"{order}\" class=\"without\"><th scope=\"row\" class=\"name\">{}</th>\
         <td class=\"why\" colspan=\"{span}\"><span class=\"badge\" data-verdict=\"{code}\"><span class=\"sign\" aria-hidden=\"true\">{}</span> {word}</span> {}</td></tr>",
        Text(isolated(title)),
        sign(code, None),
        Text(sentence)
    )
}

/// The mean over all benchmarks of a recording, below the rows.
fn means(out: &mut dyn Write, analysis: &Analysis, columns: &Columns, axis: &Axis) -> fmt::Result {
    if analysis.overall.is_empty() {
        return Ok(());
    }
    out.write_str("<tfoot>")?;
    for one in &analysis.overall {
        let count = counted(one.benchmarks as u64, "benchmark", "benchmarks");
        let name = match one.population {
            Population::These => format!("mean of {count}"),
            Population::LikeThese => format!("mean, {count} taken for a sample"),
        };
        write!(out, "<tr><th scope=\"row\" class=\"name\">{name}</th>")?;
        if columns.candidate {
            let candidate = shorten(&escape(&one.candidate, GLYPHS), NAME, GLYPHS);
            write!(out, "<td class=\"who\">{}</td>", Text(isolated(&candidate)))?;
        }
        out.write_str("<td class=\"call\"></td>")?;
        forest::interval(out, Some(&one.estimate), None, "none", axis)?;
        out.write_str("<td class=\"number value\"></td><td class=\"number value\"></td>")?;
        if columns.gate {
            out.write_str("<td class=\"gate\"></td>")?;
        }
        out.write_str("</tr>")?;
    }
    out.write_str("</tfoot>")
}

/// How to read the intervals.
fn legend(out: &mut dyn Write, axis: &Axis, comparisons: &[Comparison]) -> fmt::Result {
    let Some(first) = comparisons.first() else {
        return Ok(());
    };
    let all_alike = comparisons.iter().all(|one| one.margin == first.margin);
    let margin = match all_alike {
        true => {
            let margin = Precision::of(None).size(first.margin);
            let short = margin.replace(".00", "");
            format!("the margin of ±{short}")
        }
        false => "the margin of each row".to_owned(),
    };
    let bent = match axis.is_bent() {
        true => " The axis draws far changes together.",
        false => "",
    };
    write!(
        out,
        "<p class=\"quiet legend\">Bars are confidence intervals of the change from baseline to candidate, \
         the grey band is {margin}.{bent}</p>"
    )
}
