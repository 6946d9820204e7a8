//! A comparison of saved results from top to bottom: who the sides are, one table with a row for
//! every benchmark, what was counted, other metrics, and the doubts.

use deadheat_model::Analysis;

use super::rows::{self, ComparisonOptions, Row, rows};
use super::sides::{Labels, Scene};
use super::words;
use crate::document::{Block, Content, Note, Plot, Severity};
use crate::figures;
use crate::gates;
use crate::glyphs::Glyphs;
use crate::markdown;
use crate::terminal::Terminal;
use crate::warnings::WarningText;

/// Columns that the name of a side may take in the head of a column of a terminal.
const LABEL: usize = 16;

/// The same where there is no limit.
const WIDE_LABEL: usize = 40;

/// The answer about saved results as text.
pub fn to_comparison(analysis: &Analysis, options: &ComparisonOptions) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    let label = if options.width == usize::MAX {
        WIDE_LABEL
    } else {
        LABEL
    };
    terminal.render(&answer(analysis, options, label, terminal.glyphs))
}

/// The answer about saved results as GitHub-flavoured Markdown. Of many
/// benchmarks only those that changed are seen at once, the others unfold.
/// Width, colour and Unicode of the options do not matter.
pub fn to_comparison_markdown(analysis: &Analysis, options: &ComparisonOptions) -> String {
    markdown::document(&answer(analysis, options, WIDE_LABEL, Glyphs::Unicode))
}

fn answer<'a>(
    analysis: &'a Analysis,
    options: &ComparisonOptions,
    label: usize,
    glyphs: Glyphs,
) -> Vec<Block<'a>> {
    let scene = Scene {
        analysis,
        labels: Labels::of(analysis, label, glyphs),
        glyphs,
    };
    let rows = rows(analysis, options.sort, glyphs);
    let shown: Vec<&Row<'a>> = (rows.iter())
        .filter(|row| !options.only_changed || row.changed())
        .collect();
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(Block::list(scene.head()));
    let judged = scene.judged(&shown);
    blocks.extend((!judged.rows.is_empty()).then(|| Block::table(judged)));
    blocks.push(Block::paragraph(words::tally(analysis, &scene.labels)));
    let hidden = words::hidden(rows.len() - shown.len());
    blocks.extend(hidden.map(|hidden| Block::paragraph(hidden).tight()));
    let failures = Note::all(Severity::Alarm, words::failures(&analysis.failures, glyphs));
    blocks.extend(Block::notes(failures).map(Block::tight));
    blocks.extend(Block::list(words::reasons(&analysis.left_out, glyphs)).map(Block::tight));
    let others = scene.others(&rows, options);
    for (title, table) in others.tables {
        blocks.push(Block::paragraph(title));
        blocks.push(Block::table(table).tight());
    }
    let quiet = words::quiet(&others.quiet, analysis);
    blocks.extend(quiet.map(Block::paragraph));
    for comparison in shown.iter().filter_map(|row| row.comparison()) {
        let title = rows::title(comparison, glyphs);
        let candidate = comparison.candidate.as_ref();
        let candidate = candidate.map(|side| scene.labels.candidate(&side.name));
        if options.figures {
            let candidate = candidate.filter(|_| scene.several());
            let names = std::iter::once(title.as_str()).chain(candidate);
            let names = names.map(str::to_owned).collect();
            blocks.extend(figures::blocks(comparison, names, glyphs));
        }
        if options.plot {
            let labels = [scene.labels.baseline(), candidate.unwrap_or_default()];
            let plot = Content::Plot(Plot {
                group: std::slice::from_ref(comparison),
                labels: labels.map(str::to_owned).to_vec(),
                intervals: false,
            });
            blocks.push(Block::of(Content::Section(title, vec![Block::of(plot)])));
        }
    }
    let answers = words::answers(analysis).into_iter();
    blocks.extend(answers.chain(words::remedy(analysis)).map(Block::paragraph));
    blocks.extend(Block::notes(WarningText::notes(scene.doubts())));
    blocks.extend(Block::notes(gates::gates(analysis, glyphs)));
    blocks
}
