//! A comparison of saved results for a pull request.

use deadheat_model::{Analysis, Comparison};

use super::judged::Scene;
use super::labels::Labels;
use super::options::ComparisonOptions;
use super::rows::{self, Row, rows};
use super::sheet::{Kind, Sheet, Tone};
use super::words;
use crate::figures;
use crate::glyphs::Glyphs;
use crate::markdown::{Gated, code, prose};
use crate::names::shorten;

/// Columns a name may take: nobody reads a longer one in a table.
const NAME: usize = 100;

/// Columns that the name of a side may take in the head of a column.
const LABEL: usize = 40;

/// More rows than these are folded, but for those that changed.
const OPEN: usize = 50;

const GLYPHS: Glyphs = Glyphs::Unicode;

/// The answer about saved results as GitHub-flavoured Markdown. Of many
/// benchmarks only those that changed are seen at once, the others unfold.
/// Width, colour and Unicode of the options do not matter.
pub fn to_comparison_markdown(analysis: &Analysis, options: &ComparisonOptions) -> String {
    let scene = Scene {
        analysis,
        labels: Labels::of(analysis, LABEL, GLYPHS),
        glyphs: GLYPHS,
    };
    let rows = rows(analysis, options.sort, GLYPHS);
    let mut parts: Vec<String> = Vec::new();
    parts.push(list(&scene.head()));
    let shown = |row: &&Row<'_>| !options.only_changed || row.changed();
    let shown: Vec<&Row<'_>> = rows.iter().filter(shown).collect();
    parts.extend(judged(&scene, &shown));
    let mut counted = vec![words::tally(analysis, &scene.labels)];
    counted.extend(words::hidden(rows.len() - shown.len()));
    parts.push(paragraph(&counted.join(" ")));
    let mut reasons = words::failures(&analysis.failures, GLYPHS);
    reasons.extend(words::reasons(&analysis.left_out, GLYPHS));
    parts.push(list(&reasons));
    let others = scene.others(&rows, options);
    for (title, sheet) in &others.sheets {
        let table = table(sheet);
        parts.push(match sheet.rows.len() > OPEN {
            true => folded(title, &table),
            false => format!("{}\n{table}", paragraph(title)),
        });
    }
    parts.extend(words::quiet(&others.quiet, analysis).map(|quiet| paragraph(&quiet)));
    let answers = words::answers(analysis).into_iter();
    parts.extend(
        answers
            .chain(words::remedy(analysis))
            .map(|answer| paragraph(&answer)),
    );
    let gates = Gated::of(analysis);
    parts.push(gates.fails);
    let doubts = scene.doubts().into_iter().map(|told| told.text);
    let doubts: Vec<String> = doubts
        .chain(gates.notes)
        .map(|told| format!("> {}\n", prose(&told)))
        .collect();
    parts.push(doubts.join(">\n"));
    if options.figures {
        let comparisons = shown.iter().filter_map(|row| row.comparison());
        parts.extend(comparisons.map(|one| secondary(&scene, one)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The table of the judged metric, what did not change folded where there is
/// much of it.
fn judged(scene: &Scene<'_>, rows: &[&Row<'_>]) -> Vec<String> {
    let whole = scene.judged(rows);
    if whole.rows.is_empty() {
        return Vec::new();
    }
    if rows.len() <= OPEN || !scene.compares() {
        return match rows.len() > OPEN {
            true => vec![folded(&format!("{} rows", rows.len()), &table(&whole))],
            false => vec![table(&whole)],
        };
    }
    let (open, rest): (Vec<&Row<'_>>, Vec<&Row<'_>>) = rows.iter().partition(|row| row.changed());
    let mut parts = Vec::new();
    let open = scene.judged(&open);
    if !open.rows.is_empty() {
        parts.push(table(&open));
    }
    if !rest.is_empty() {
        let mut sheet = scene.judged(&rest);
        // The means stand outside already.
        sheet.rows.truncate(rest.len());
        let title = format!("{} rows that are neither faster nor slower", rest.len());
        parts.push(folded(&title, &table(&sheet)));
    }
    parts
}

fn folded(title: &str, table: &str) -> String {
    let title = prose(title);
    format!("<details><summary>{title}</summary>\n\n{table}\n</details>\n")
}

fn table(sheet: &Sheet) -> String {
    let columns = &sheet.columns;
    let heads: Vec<String> = columns.iter().map(|column| prose(&column.head)).collect();
    let rules: Vec<&str> = columns
        .iter()
        .map(|column| match column.kind.to_the_left() {
            true => ":---",
            false => "---:",
        })
        .collect();
    let mut text = format!("| {} |\n|{}|\n", heads.join(" | "), rules.join("|"));
    for row in &sheet.rows {
        let cells = row.iter().zip(columns);
        let cells: Vec<String> = cells
            .map(|(cell, column)| match column.kind {
                Kind::Name if cell.tone == Some(Tone::Total) => format!("**{}**", cell.text),
                Kind::Name if !cell.text.is_empty() => code(&shorten(&cell.text, NAME, GLYPHS)),
                // An interval in brackets is no link, as long as none follows.
                Kind::Number | Kind::PValue => cell.text.replace('<', "&lt;"),
                Kind::Name | Kind::Words => prose(&cell.text),
            })
            .collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

/// The secondary figures of one comparison.
fn secondary(scene: &Scene<'_>, comparison: &Comparison) -> String {
    let sides = figures::sides(comparison, GLYPHS);
    let between = figures::between(comparison, GLYPHS);
    let tables: Vec<_> = sides.into_iter().chain(between).collect();
    if tables.is_empty() {
        return String::new();
    }
    let title = rows::title(comparison, GLYPHS);
    let mut title = code(&shorten(&title, NAME, GLYPHS));
    if let Some(candidate) = comparison.candidate.as_ref().filter(|_| scene.several()) {
        title += &format!(", {}", code(scene.labels.candidate(&candidate.name)));
    }
    let mut text = format!("{title}: {}\n", figures::TITLE);
    for figures in &tables {
        let mut sheet = Sheet::default();
        for (index, head) in figures.header.iter().enumerate() {
            sheet.column([Kind::Words, Kind::Number][index.min(1)], *head);
        }
        let cells = |row: &Vec<String>| row.iter().map(|cell| cell.clone().into()).collect();
        sheet.rows = figures.rows.iter().map(cells).collect();
        text += &format!("\n{}", table(&sheet));
    }
    text + &format!("\n{}\n", prose(figures::CAVEAT))
}

fn paragraph(text: &str) -> String {
    format!("{}\n", prose(text))
}

fn list(lines: &[String]) -> String {
    let lines = lines.iter().map(|line| format!("- {}\n", prose(line)));
    lines.collect()
}
