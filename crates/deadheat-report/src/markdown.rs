//! The answer for a pull request or an issue.

use deadheat_model::{Analysis, Comparison, Side};

use crate::calibration::{calibrated, sentence_case};
use crate::figures;
use crate::glyphs::Glyphs;
use crate::left_out;
use crate::names::{labels, shorten};
use crate::rate::rate_cells;
use crate::sentences::{self, Called, GateLine, Source, Weight};
use crate::suite;
use crate::tables::{cells, change_cells};
use crate::warnings;

/// Columns a name may take: nobody reads a longer one in a table.
const NAME_AT_MOST: usize = 100;

const GLYPHS: Glyphs = Glyphs::Unicode;

/// What the Markdown depends on beside the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// Whether the secondary figures follow.
    pub figures: bool,
}

/// The analysis as GitHub-flavoured Markdown: one table, then the verdicts and
/// the doubts that belong to them.
pub fn to_markdown(analysis: &Analysis) -> String {
    to_markdown_with(analysis, &MarkdownOptions::default())
}

/// As [`to_markdown`], with more in it.
pub fn to_markdown_with(analysis: &Analysis, options: &MarkdownOptions) -> String {
    let groups = suite::groups(&analysis.comparisons);
    let failures = &analysis.failures;
    let rows = left_out::rows(&analysis.left_out, GLYPHS);
    let left_out: Vec<String> = sentences::left_out(&analysis.left_out, GLYPHS)
        .iter()
        .map(|sentence| format!("- {}\n", prose(sentence)))
        .collect();
    if groups.is_empty() && failures.is_empty() {
        let gap = if left_out.is_empty() { "" } else { "\n" };
        return format!("Nothing was measured.\n{gap}{}", left_out.concat());
    }
    let several = groups.len() + failures.len() + rows.len() > 1;
    let columns = Columns {
        contender: match Source::of(analysis) {
            Source::Functions => "Function",
            Source::Programs | Source::GoogleBenchmark => "Contender",
            Source::Commands | Source::Recording => "Command",
        },
        benchmark: several || !failures.is_empty() || !rows.is_empty(),
        rate: groups
            .iter()
            .any(|group| rate_cells(group, GLYPHS).is_some()),
    };
    let mut text = columns.head();
    for group in &groups {
        text += &table_rows(group, &columns);
    }
    for failure in failures {
        let title = suite::failed_title(failure, GLYPHS);
        text += &row_without_answer(&title, sentences::FAILED_CELL, &columns);
    }
    for (benchmark, cell) in &rows {
        text += &row_without_answer(benchmark, cell, &columns);
    }
    text.push('\n');
    for group in &groups {
        text += &verdicts(analysis, group, several);
    }
    for failure in failures {
        let title = shorten(&suite::failed_title(failure, GLYPHS), NAME_AT_MOST, GLYPHS);
        let sentence = sentences::failed(&title, failure, GLYPHS);
        text += &format!("- {}\n", prose(&sentence));
    }
    text += &left_out.concat();
    let gates = Gated::of(analysis);
    text += &gates.fails;
    let alone = groups.first().filter(|_| !several);
    let counts = alone.map(|group| sentences::rests_on(group, Source::of(analysis)));
    let effort = sentences::effort(analysis);
    let counts: Vec<String> = counts.flatten().into_iter().chain(effort).collect();
    if !counts.is_empty() {
        text += &format!("\n{}\n", counts.join(", "));
    }
    if let Some(note) = &analysis.calibration {
        text += &format!("\n{}.\n", prose(&sentence_case(&calibrated(note))));
    }
    let ending = sentences::ending(&analysis.ending, Source::of(analysis), GLYPHS);
    let remarks: Vec<String> = ending
        .into_iter()
        .chain(remarks(analysis, &groups))
        .chain(gates.notes)
        .collect();
    if !remarks.is_empty() {
        let quoted: Vec<String> = remarks
            .iter()
            .map(|told| format!("> {}\n", prose(told)))
            .collect();
        text.push('\n');
        text += &quoted.join(">\n");
    }
    if options.figures {
        for group in &groups {
            text += &secondary(group, several);
        }
    }
    text
}

/// What the gates say.
pub(crate) struct Gated {
    /// What fails the run, as a list.
    pub(crate) fails: String,
    /// The rest, sentence by sentence.
    pub(crate) notes: Vec<String>,
}

impl Gated {
    pub(crate) fn of(analysis: &Analysis) -> Self {
        let lines = sentences::gates(analysis, GLYPHS).into_iter();
        let (fails, notes): (Vec<_>, Vec<_>) = lines.partition(|line| line.weight == Weight::Fails);
        let item = |line: GateLine| format!("- {}\n", prose(&line.text));
        Self {
            fails: fails.into_iter().map(item).collect(),
            notes: notes.into_iter().map(|line| line.text).collect(),
        }
    }
}

/// The secondary figures of one benchmark.
pub(crate) fn secondary(group: &[Comparison], several: bool) -> String {
    let labels = labels(&suite::names(group), NAME_AT_MOST, GLYPHS);
    let mut text = String::new();
    for (index, comparison) in group.iter().enumerate() {
        let sides = figures::sides(comparison, GLYPHS);
        let between = figures::between(comparison, GLYPHS);
        let tables: Vec<_> = sides.into_iter().chain(between).collect();
        if tables.is_empty() {
            continue;
        }
        let mut names = Vec::new();
        if several {
            names.push(code(&suite::title(comparison, GLYPHS)));
        }
        if group.len() > 1 {
            names.extend(labels.get(index + 1).map(|name| code(name)));
        }
        let title = match names.is_empty() {
            true => figures::TITLE.to_owned(),
            false => format!("{}: {}", names.join(", "), figures::TITLE),
        };
        text += &format!("\n{title}\n");
        for table in &tables {
            let rule = format!("|:---{}|", "|---:".repeat(table.header.len() - 1));
            text += &format!("\n| {} |\n{rule}\n", table.header.join(" | "));
            for row in &table.rows {
                let cells: Vec<String> = row.iter().map(|cell| prose(cell)).collect();
                text += &format!("| {} |\n", cells.join(" | "));
            }
        }
        text += &format!("\n{}\n", prose(figures::CAVEAT));
    }
    text
}

/// Which columns the table has beside those it always has.
struct Columns {
    /// How the contenders are called together.
    contender: &'static str,
    benchmark: bool,
    rate: bool,
}

impl Columns {
    fn head(&self) -> String {
        let (rate, rate_rule) = match self.rate {
            true => (" Rate |", "---:|"),
            false => ("", ""),
        };
        let mut names = format!(
            "| {} | Typical | Median | Mean | Min |{rate} Change | Interval | Verdict |\n",
            self.contender
        );
        let mut rule = format!("|:---|---:|---:|---:|---:|{rate_rule}---:|---:|:---|\n");
        if self.benchmark {
            names.insert_str(0, "| Benchmark ");
            rule.insert_str(0, "|:---");
        }
        names + &rule
    }
}

/// A benchmark without an answer has a row that says so.
fn row_without_answer(title: &str, why: &str, columns: &Columns) -> String {
    let benchmark = code(&shorten(title, NAME_AT_MOST, GLYPHS));
    let empty = 7 + usize::from(columns.rate);
    let cells = " |".repeat(empty);
    format!("| {benchmark} |{cells} {why} |\n")
}

fn table_rows(group: &[Comparison], columns: &Columns) -> String {
    let benchmark = match columns.benchmark {
        true => format!("| {} ", code(&suite::title(&group[0], GLYPHS))),
        false => String::new(),
    };
    let rates = rate_cells(group, GLYPHS).unwrap_or_default();
    let sides = suite::sides(group);
    let labels = labels(&suite::names(group), NAME_AT_MOST, GLYPHS);
    let figures = |side: &Side| {
        [
            side.typical,
            Some(side.median),
            Some(side.mean),
            Some(side.min),
        ]
    };
    let values: Vec<Option<f64>> = sides.iter().flat_map(|side| figures(side)).collect();
    let shown = cells(group[0].metric.unit(), &values, GLYPHS);
    let mut text = String::new();
    for (index, (label, shown)) in labels.iter().zip(shown.chunks(4)).enumerate() {
        let judged = match index {
            0 if group[0].candidate.is_none() => "| | alone |".to_owned(),
            0 => "| | baseline |".to_owned(),
            _ => {
                let comparison = &group[index - 1];
                let [change, interval] = change_cells(comparison.estimate.as_ref(), GLYPHS);
                let verdict = sentences::verdict_cell(comparison);
                format!("{change} | {interval} | {verdict} |")
            }
        };
        let mut shown = shown.to_vec();
        if columns.rate {
            shown.push(rates.get(index).cloned().unwrap_or_default());
        }
        text += &format!(
            "{benchmark}| {} | {} | {judged}\n",
            code(label),
            shown.join(" | ")
        );
    }
    text
}

fn verdicts(analysis: &Analysis, group: &[Comparison], several: bool) -> String {
    let source = Source::of(analysis);
    let labels = labels(&suite::names(group), NAME_AT_MOST, GLYPHS);
    let mut text = String::new();
    for (index, comparison) in group.iter().enumerate() {
        let called = Called {
            baseline: &labels[0],
            candidate: labels.get(index + 1).map(String::as_str),
            baseline_is_shown: false,
        };
        let sentence = sentences::verdict(comparison, called, source, GLYPHS);
        let benchmark = match several {
            true => format!("{}: ", code(&suite::title(comparison, GLYPHS))),
            false => String::new(),
        };
        text += &format!("- {benchmark}{}\n", prose(&sentence));
        if let Some(placement) = sentences::placement(comparison, GLYPHS) {
            text += &format!("  - {}\n", prose(&placement));
        }
        if let Some(floor) = sentences::noise_floor(comparison, GLYPHS) {
            text += &format!("  - {}\n", prose(&floor));
        }
    }
    text
}

/// All doubts, each once, with the benchmarks they concern unless that is all
/// of them.
pub(crate) fn remarks(analysis: &Analysis, groups: &[&[Comparison]]) -> Vec<String> {
    let source = Source::of(analysis);
    let told: Vec<Vec<warnings::WarningText>> = groups
        .iter()
        .map(|group| {
            let labels = labels(&suite::names(group), NAME_AT_MOST, GLYPHS);
            let mut candidates: Vec<&str> = labels.iter().skip(1).map(String::as_str).collect();
            candidates.resize(group.len(), "");
            warnings::messages(group, &candidates, source, GLYPHS)
        })
        .collect();
    let shared = suite::shared_doubts(&told);
    let mut remarks: Vec<String> = Vec::new();
    for (group, told) in groups.iter().zip(&told) {
        for told in told.iter().filter(|told| !shared.contains(told)) {
            remarks.push(match groups.len() {
                1 => told.text.clone(),
                _ => format!("{}: {}", suite::title(&group[0], GLYPHS), told.text),
            });
        }
    }
    remarks.extend(shared.into_iter().map(|told| told.text));
    remarks
}

/// A name as code. Backticks serve most names; where one holds a sign that
/// could end the code or the table cell, entities do, which never can.
pub(crate) fn code(name: &str) -> String {
    let risky = |c: char| matches!(c, '`' | '|' | '\\' | '<' | '>' | '&');
    if name.contains(risky) || name.starts_with(' ') || name.ends_with(' ') {
        format!("<code>{}</code>", prose(name))
    } else {
        format!("`{name}`")
    }
}

/// Text in which nothing is markup. A sign written as an entity is shown but
/// cannot open a tag, a link, a table cell or emphasis.
pub(crate) fn prose(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '`' | '|' | '\\' | '<' | '>' | '&' | '*' | '_' | '[' | ']' | '~' | '$' | '#' => {
                safe += &format!("&#{};", u32::from(character));
            }
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_readable_code() {
        assert_eq!(code("./new --level=9"), "`./new --level=9`");
    }

    #[test]
    fn names_cannot_break_out_of_their_cell() {
        for name in ["a|b", "a`b", "a\\|b", "<script>", "a&lt;b", "``"] {
            let code = code(name);
            let inside = &code["<code>".len()..code.len() - "</code>".len()];
            assert!(
                !inside.contains(['|', '`', '\\', '<', '>']),
                "{name} became {code}"
            );
        }
    }
}
