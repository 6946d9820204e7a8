//! The overview of the whole suite: a row per comparison, with its interval on an axis that all
//! rows share.

use std::fmt::{self, Write};

use deadheat_model::{Analysis, Comparison, Population, Verdict};

use super::html::{GLYPHS, Text, code as code_of, foreign, isolated};
use super::intervals::{Axis, axis_marks, interval_cells};
use crate::cells::typical;
use crate::cost::cost_of;
use crate::document::Cell;
use crate::names::{sentence_case, shorten, shown};
use crate::run::Run;
use crate::sentences;
use crate::suite::{self, left_out_cell, legend_alone};
use crate::units::{counted, share};

/// Maximum width, in columns, of the message of a failure in a row.
const WORDS: usize = 400;

struct Columns {
    candidate: bool,
    gate: bool,
    scope: bool,
}

/// Writes the overview. On a page with a single verdict, the overview is hidden and only scripts
/// use it, because the headline and the first chart show the same.
pub(super) fn write(
    out: &mut dyn Write,
    run: &Run<'_>,
    titles: &[String],
    detailed: &[bool],
    is_alone: bool,
) -> fmt::Result {
    let analysis = run.analysis;
    let table = run.overview(false);
    let columns = Columns {
        candidate: table.columns[1].kind.is_name(),
        gate: analysis
            .comparisons
            .iter()
            .any(|one| one.suite.gate.is_some()),
        scope: has_two_scopes(run),
    };
    let axis = Axis::of(&analysis.comparisons, &analysis.overall);
    let rows = analysis.comparisons.len() + analysis.failures.len() + analysis.left_out.len();
    let hidden = if is_alone { " hidden" } else { "" };
    write!(
        out,
        "<section class=\"suite\" aria-labelledby=\"suite\"{hidden}><h2 id=\"suite\">Overview</h2>",
    )?;
    if rows > 1 {
        filters(out, analysis, rows)?;
    }
    let long = if rows > 25 { " long" } else { "" };
    write!(
        out,
        "<div class=\"scroll{long}\"><table id=\"overview\" class=\"intervals\"><caption class=\"unseen\">All benchmarks with their changes</caption>"
    )?;
    header(out, &columns, run.change_head(), &axis)?;
    out.write_str("<tbody>")?;
    let mut order = 0;
    for (index, group) in run.groups.iter().enumerate() {
        for (at, comparison) in group.iter().enumerate() {
            let target = match group.len() {
                1 => format!("b{index}"),
                _ => format!("b{index}-{at}"),
            };
            let row = Row {
                comparison,
                title: &titles[index],
                place: detailed[index].then_some((index, target)),
                order,
                cells: &table.rows[order].cells,
            };
            row.write(out, &columns, &axis)?;
            order += 1;
        }
    }
    unanswered(out, run, &columns, order)?;
    out.write_str("</tbody>")?;
    means(out, run, &columns, &axis)?;
    out.write_str("</table></div>")?;
    legend(out, run, &axis)?;
    out.write_str("</section>\n")
}

struct Row<'r> {
    comparison: &'r Comparison,
    title: &'r str,
    /// The index of the benchmark and the link target of its details; `None` if it has no details.
    place: Option<(usize, String)>,
    /// The index of the row in the order of the run.
    order: usize,
    /// The cells of this row in the table for text formats.
    cells: &'r [Cell],
}

impl Row<'_> {
    fn write(&self, out: &mut dyn Write, columns: &Columns, axis: &Axis) -> fmt::Result {
        let (comparison, order) = (self.comparison, self.order);
        let code = code_of(comparison);
        let title = Text(self.title);
        match &self.place {
            Some((index, target)) => write!(
                out,
                "<tr data-verdict=\"{code}\" data-index=\"{index}\" data-order=\"{order}\">\
                 <th scope=\"row\" class=\"name\"><a href=\"#{target}\">{title}</a></th>",
            )?,
            None => write!(
                out,
                "<tr data-verdict=\"{code}\" data-order=\"{order}\">\
                 <th scope=\"row\" class=\"name\">{title}</th>",
            )?,
        }
        if columns.candidate {
            let candidate = match self.cells[1].text.as_str() {
                "" => GLYPHS.nothing(),
                candidate => candidate,
            };
            write!(out, "<td class=\"who\">{}</td>", Text(candidate))?;
        }
        let rank = VERDICTS.iter().position(|(other, ..)| *other == code);
        write!(
            out,
            "<td class=\"call\" data-sort=\"{}\">{}</td>",
            rank.unwrap_or(0),
            badge(comparison, columns.scope)
        )?;
        let estimate = cost_of(comparison);
        interval_cells(
            out,
            estimate.as_ref(),
            Some(comparison.terms.margin),
            code,
            axis,
        )?;
        self.values(out)?;
        if columns.gate {
            gate(out, comparison)?;
        }
        out.write_str("</tr>\n")
    }

    fn values(&self, out: &mut dyn Write) -> fmt::Result {
        let comparison = self.comparison;
        let values = typical(&comparison.baseline, comparison.candidate.as_ref());
        let shown = &self.cells[self.cells.len() - 2..];
        for (index, cell) in shown.iter().enumerate() {
            let sort = values.get(index);
            let sort = sort.map(|value| format!(" data-sort=\"{value:e}\""));
            let sort = sort.unwrap_or_default();
            write!(
                out,
                "<td class=\"number value\"{sort}>{}</td>",
                Text(&cell.text)
            )?;
        }
        Ok(())
    }
}

/// Writes the rows of benchmarks without an answer, numbered from `order`.
fn unanswered(
    out: &mut dyn Write,
    run: &Run<'_>,
    columns: &Columns,
    mut order: usize,
) -> fmt::Result {
    let analysis = run.analysis;
    let span = 5 + usize::from(columns.candidate) + usize::from(columns.gate);
    for (failure, note) in analysis.failures.iter().zip(run.failures()) {
        let title = run.failed_title(failure);
        let what = ("failed", sentences::FAILED_CELL, note.text.as_str());
        without(out, order, &title, what, span)?;
        order += 1;
    }
    for one in &analysis.left_out {
        let title = run.left_out_title(one);
        let why = sentences::left_out(std::slice::from_ref(one), GLYPHS).join(" ");
        let why = shorten(&why, WORDS, GLYPHS);
        let word = left_out_cell(&one.reason).unwrap_or("left out");
        without(out, order, &title, ("left-out", word, &why), span)?;
        order += 1;
    }
    Ok(())
}

/// Returns true if some verdicts are about the source and others about binaries. Otherwise the line
/// below the headline shows the scope of all verdicts.
pub(super) fn has_two_scopes(run: &Run<'_>) -> bool {
    let mut scopes = run
        .analysis
        .comparisons
        .iter()
        .map(|one| one.evidence.scope);
    let first = scopes.next();
    scopes.any(|scope| Some(scope) != first)
}

/// Returns a small label with the mark and the word of a verdict.
pub(super) fn badge(comparison: &Comparison, says_scope: bool) -> String {
    let sign = GLYPHS.mark(comparison.verdict);
    let words = if says_scope || comparison.evidence.provisional {
        sentences::verdict_cell(comparison, GLYPHS)
    } else {
        sentences::marked_word(comparison, GLYPHS)
    };
    badge_of(code_of(comparison), sign, &words)
}

fn badge_of(code: &str, sign: &str, word: &str) -> String {
    format!(
        "<span class=\"badge\" data-verdict=\"{code}\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span> {word}</span>"
    )
}

/// All kinds of rows: the code in the scripts, the verdict whose mark is shown, and the word.
const VERDICTS: [(&str, Option<Verdict>, &str); 7] = [
    ("slower", Some(Verdict::Slower), "slower"),
    ("faster", Some(Verdict::Faster), "faster"),
    (
        "inconclusive",
        Some(Verdict::Inconclusive),
        "too close to call",
    ),
    ("equivalent", Some(Verdict::Equivalent), "dead heat"),
    ("none", None, "no verdict"),
    ("failed", None, "failed"),
    ("left-out", None, "left out"),
];

/// Writes the text field and the buttons that filter rows; they are hidden without scripts.
fn filters(out: &mut dyn Write, analysis: &Analysis, rows: usize) -> fmt::Result {
    out.write_str(
        "<div class=\"filters\" hidden><label for=\"filter\" class=\"unseen\">Show benchmarks whose name contains</label>\
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
                .filter(|one| code_of(one) == code)
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

fn sign(code: &str, verdict: Option<Verdict>) -> &'static str {
    match code {
        "failed" => "!",
        "left-out" => GLYPHS.nothing(),
        _ => GLYPHS.mark(verdict),
    }
}

fn header(out: &mut dyn Write, columns: &Columns, change: &str, axis: &Axis) -> fmt::Result {
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
    column(out, "number", change, "")?;
    let marks = axis_marks(axis)?;
    column(out, "interval", "CI", &marks)?;
    column(out, "number value", "typical baseline", "")?;
    column(out, "number value", "typical candidate", "")?;
    if columns.gate {
        column(out, "gate", "gate", "")?;
    }
    out.write_str("</tr></thead>")
}

fn gate(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
    match &comparison.suite.gate {
        None => write!(
            out,
            "<td class=\"gate\" data-sort=\"2\">{}</td>",
            GLYPHS.nothing()
        ),
        Some(hit) => {
            let (rank, word) = match (&hit.excuse, hit.unproven) {
                (None, None) => (0, ""),
                (None, Some(_)) => (1, ", not proven"),
                (Some(_), _) => (1, ", excused"),
            };
            write!(
                out,
                "<td class=\"gate\" data-sort=\"{rank}\">rule '{}' broken{word}</td>",
                foreign(&hit.rule)
            )
        }
    }
}

/// Writes the row of a benchmark without an answer: its code, its word and a sentence.
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
         <td class=\"why\" colspan=\"{span}\">{} {}</td></tr>",
        Text(title),
        badge_of(code, sign(code, None), word),
        Text(sentence)
    )
}

/// Writes the mean over all benchmarks of saved results, below the rows.
fn means(out: &mut dyn Write, run: &Run<'_>, columns: &Columns, axis: &Axis) -> fmt::Result {
    if run.analysis.overall.is_empty() {
        return Ok(());
    }
    out.write_str("<tfoot>")?;
    for one in &run.analysis.overall {
        let count = counted(one.benchmarks as u64, "benchmark", "benchmarks");
        let mean = suite::mean_of(one);
        // The population affects only the interval, so a mean without an interval does not mention
        // it.
        let name = match (one.population, mean.interval) {
            (Population::LikeThese, Some(_)) => {
                format!("geometric mean, {count} taken as a sample")
            }
            _ => format!("geometric mean of {count}"),
        };
        write!(out, "<tr><th scope=\"row\" class=\"name\">{name}</th>")?;
        if columns.candidate {
            // A single mean may combine candidates with different names, so its row names none.
            let candidate = match run.analysis.overall.len() {
                1 => String::new(),
                _ => isolated(&shown(&one.candidate, run.name, GLYPHS)),
            };
            write!(out, "<td class=\"who\">{}</td>", Text(candidate))?;
        }
        out.write_str("<td class=\"call\"></td>")?;
        interval_cells(out, Some(&mean), None, "none", axis)?;
        out.write_str("<td class=\"number value\"></td><td class=\"number value\"></td>")?;
        if columns.gate {
            out.write_str("<td class=\"gate\"></td>")?;
        }
        out.write_str("</tr>")?;
    }
    out.write_str("</tfoot>")
}

fn legend(out: &mut dyn Write, run: &Run<'_>, axis: &Axis) -> fmt::Result {
    let comparisons = &run.analysis.comparisons[..];
    let Some(first) = comparisons.first() else {
        return Ok(());
    };
    let all_alike = comparisons
        .iter()
        .all(|one| one.terms.margin == first.terms.margin);
    let margin = if all_alike {
        format!("the margin of ±{}", share(first.terms.margin))
    } else {
        "the margin of each row".to_owned()
    };
    let bent = if axis.is_bent() {
        " The axis is linear within the band and logarithmic beyond it."
    } else {
        ""
    };
    let alone = legend_alone(comparisons, GLYPHS).map(|alone| format!(" {alone}."));
    write!(
        out,
        "<p class=\"quiet legend\">Bars are confidence intervals (CI) of the change from baseline to candidate, \
         the grey band is {margin}.{bent}{}</p>",
        alone.unwrap_or_default()
    )?;
    let terms = run.terms(comparisons).into_iter();
    let mut terms = terms.map(|terms| sentence_case(&terms));
    terms.try_for_each(|terms| write!(out, "<p class=\"quiet\">{}</p>", Text(terms)))
}
