//! The explanation as document blocks, which become text, Markdown and an HTML page.
//!
//! The page has a flame graph of each pair.

use std::fmt::{self, Write};

use deadheat::parts::report::document::{Block, Cell, Kind, Note, Row, Severity, Table, Tone};
use deadheat::parts::report::html::{GLYPHS, Head, Text, blocks};
use deadheat::parts::report::{Glyphs, Terminal, escape, labels, markdown_of_blocks, shown};

use crate::explanation::{ExplainedPair, Explanation, FunctionChange};
use crate::flame_graph::{FLAME, flame_graph};
use crate::profile::ProfileUnit;
use crate::words::{
    FUNCTION, beyond_the_table, grouped, names, remarks, signed, title, verdict, what_was_counted,
};

/// The largest width, in columns, of a side's name above a column of counts.
const HEAD: usize = 20;
/// Code inlined into a function gets no row if its difference is below this part of the function's
/// difference: 1/20.
const OF_THE_FUNCTION: u64 = 20;
/// Code inlined into a function gets no row if its difference is below this part of the baseline's
/// total: 1/200.
const OF_ALL: u64 = 200;
/// The largest number of rows for code inlined into one function.
const MOST_INLINED: usize = 3;
const MOST_FUNCTIONS: usize = 200;

const HOW_TO_READ: &str = "The width of a function in a graph is its count with all that it calls. Code that was \
     inlined into a function is drawn on top of it, under the name of its file, or of its function in \
     samples of perf. Functions that only the baseline executes have no width, and appear only in \
     the table. The graph knows which function calls which, but not whole call paths: if a \
     function has several callers, its width is divided among them in proportion to the cost of \
     their calls, while its colour shows the change of the whole function. Point at a function to \
     see its full name and its counts.";

/// Returns the explanation as text, with at most `top` functions per pair.
pub fn to_explanation_text(explanation: &Explanation, top: usize, terminal: Terminal) -> String {
    terminal.render(&answer(explanation, top, terminal.glyphs))
}

/// Returns the explanation as GitHub-flavoured Markdown, with at most `top` functions per pair.
pub fn to_explanation_markdown(explanation: &Explanation, top: usize) -> String {
    markdown_of_blocks(&answer(explanation, top, Glyphs::Unicode))
}

/// Returns the explanation as one HTML file without scripts, which loads nothing from a network.
pub fn to_explanation_page(explanation: &Explanation) -> String {
    let mut page = String::new();
    write_page(&mut page, explanation).expect("a String takes every write");
    page
}

fn answer(explanation: &Explanation, top: usize, glyphs: Glyphs) -> Vec<Block<'static>> {
    let unit = explanation.unit;
    let mut blocks = Vec::new();
    for pair in &explanation.pairs {
        blocks.push(Block::heading(2, title(pair, glyphs)));
        blocks.push(Block::paragraph(verdict(pair, unit, glyphs)));
        blocks.push(about(pair, unit, glyphs));
        blocks.extend(functions(pair, unit, top, glyphs));
    }
    blocks.extend(Block::notes(notes(explanation, glyphs)));
    blocks
}

fn about(pair: &ExplainedPair, unit: ProfileUnit, glyphs: Glyphs) -> Block<'static> {
    Block::paragraph(what_was_counted(pair, unit, glyphs)).tight()
}

/// Returns the table of the functions that differ, and a sentence about the others.
fn functions(
    pair: &ExplainedPair,
    unit: ProfileUnit,
    top: usize,
    glyphs: Glyphs,
) -> Vec<Block<'static>> {
    let differ = pair.functions.iter().filter(|one| unit.differ(one.own));
    let differ: Vec<&FunctionChange> = differ.collect();
    let mut blocks = Vec::new();
    if !differ.is_empty() {
        blocks.push(Block::table(table(pair, unit, &differ, top, glyphs)));
    }
    let more = differ.get(top..).unwrap_or_default();
    let same = pair.functions.len() - differ.len();
    blocks.extend(beyond_the_table(more, same, unit, glyphs).map(Block::indented));
    blocks
}

fn table(
    pair: &ExplainedPair,
    unit: ProfileUnit,
    differ: &[&FunctionChange],
    top: usize,
    glyphs: Glyphs,
) -> Table<'static> {
    let [old, new] = pair.names.each_ref().map(String::as_str);
    let mut sides = labels(&[old, new], HEAD, glyphs).into_iter();
    let mut side = || sides.next().unwrap_or_default();
    let heads = [
        "function".to_owned(),
        side(),
        side(),
        glyphs.delta().to_owned(),
        "of all".to_owned(),
    ];
    let mut table = Table::new(Kind::Name, heads);
    table.caption = if unit.is_sampled() {
        "Samples in the functions' own code".to_owned()
    } else {
        "Instructions in the functions' own code".to_owned()
    };
    let whole = pair.totals[0].max(1);
    let mut row = |name, counts, tone| table.rows.push(row(name, counts, whole, tone, glyphs));
    for change in differ.iter().take(top) {
        row(shown(&change.function, FUNCTION, glyphs), change.own, None);
        let of_it = change.difference().unsigned_abs() as u64 / OF_THE_FUNCTION;
        let least = of_it.max(whole / OF_ALL).max(1);
        let notable = change.inlined.iter();
        let notable = notable.filter(|(_, [old, new])| old.abs_diff(*new) >= least);
        for (file, counts) in notable.take(MOST_INLINED) {
            let name = format!("{} inlined from {}", glyphs.below(), escape(file, glyphs));
            row(name, *counts, None);
        }
    }
    row("all".to_owned(), pair.totals, Some(Tone::Total));
    table
}

/// Returns a row of counts. `whole` is the total count of the baseline.
fn row(
    name: String,
    [old, new]: [u64; 2],
    whole: u64,
    tone: Option<Tone>,
    glyphs: Glyphs,
) -> Row<'static> {
    let difference = i128::from(new) - i128::from(old);
    let share = difference as f64 / whole as f64;
    let cells = [
        name,
        grouped(old.into()),
        grouped(new.into()),
        signed(difference, glyphs),
        format!("{}{:.2}%", glyphs.sign(share), 100.0 * share.abs()),
    ];
    Row::from(Vec::from(cells.map(|text| Cell::toned(text, tone))))
}

fn notes(explanation: &Explanation, glyphs: Glyphs) -> Vec<Note> {
    Note::all(Severity::Note, remarks(explanation, glyphs))
}

fn write_page(out: &mut String, explanation: &Explanation) -> fmt::Result {
    let heading = match &explanation.pairs[..] {
        [pair] => format!("Where the work of {} changed", title(pair, GLYPHS)),
        pairs => format!("Where the work of {} benchmarks changed", pairs.len()),
    };
    Head {
        version: &explanation.tool_version,
        title: &heading,
        style: FLAME,
        ..Head::default()
    }
    .write(out)?;
    write!(
        out,
        "<header><div class=\"bar\"><span class=\"mark\">deadheat</span></div><h1>{}</h1></header>\n<main>",
        Text(&heading)
    )?;
    let unit = explanation.unit;
    for pair in &explanation.pairs {
        out.write_str("<section>")?;
        if explanation.pairs.len() > 1 {
            write!(out, "<h2>{}</h2>", Text(title(pair, GLYPHS)))?;
        }
        let verdict = verdict(pair, unit, GLYPHS);
        write!(out, "<p class=\"tally\">{}</p>", Text(verdict))?;
        blocks(out, &[about(pair, unit, GLYPHS)])?;
        flame(out, pair, unit)?;
        blocks(out, &functions(pair, unit, MOST_FUNCTIONS, GLYPHS))?;
        out.write_str("</section>\n")?;
    }
    let mut notes = notes(explanation, GLYPHS);
    notes.push(Note::of(Severity::Note, HOW_TO_READ.to_owned()));
    blocks(out, Block::notes(notes).as_slice())?;
    out.write_str("</main>\n</body>\n</html>\n")
}

fn flame(out: &mut String, pair: &ExplainedPair, unit: ProfileUnit) -> fmt::Result {
    let same = pair.functions.iter().all(|one| !unit.differ(one.own));
    let Some(drawing) = flame_graph(&pair.stacks, &pair.functions, unit).filter(|_| !same) else {
        return Ok(());
    };
    let [old, new] = names(pair, GLYPHS);
    write!(
        out,
        "<figure class=\"flame\">{drawing}<figcaption>Calls of {}. Orange functions have more {} \
         in their own code than in {}, green ones fewer.</figcaption></figure>",
        Text(new),
        unit.noun(),
        Text(old)
    )
}
