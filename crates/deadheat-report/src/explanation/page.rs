//! The explanation as one HTML file without scripts: sentences, tables, and for each pair a flame
//! graph of the candidate, coloured by what it executes more or less than the baseline.

use std::fmt::{self, Write};

use deadheat_model::{ExplainedPair, Explanation, ProfileUnit};

use super::answer::{notes, pair_of, title};
use super::flame::flame_graph;
use crate::document::{Block, Content, Note, Severity};
use crate::names::shown;
use crate::page::{GLYPHS, STYLE, Text, blocks};

/// The looks of a flame graph.
const FLAME: &str = "
.flame { margin: 1.2rem 0 0; }
.flame svg { width: 100%; height: auto; display: block; overflow: visible; }
.flame text { font: 12px ui-monospace, monospace; fill: var(--ink); pointer-events: none; }
.flame rect { fill: var(--raised); stroke: var(--line); }
.flame g:hover rect { stroke: var(--ink); }
.flame figcaption { color: var(--quiet); font-size: .9rem; margin-top: .4rem; }
";

/// How all graphs of a page are read.
const HOW_TO_READ: &str = "The width of a function in a graph is what it executes with all it calls, and code \
     that was inlined into it lies on it under the name of its file, or of its function in samples of perf. What only the baseline executes has no \
     width, and stands in the table. Who calls whom is kept, and no whole paths: where a function has several \
     callers, its width is divided among them as their calls cost, while its colour speaks of it as a whole. A function shows its whole name and \
     its counts to a pointer that rests on it.";

/// Columns that the name of a side may take.
const SIDE: usize = 60;
/// Functions that a table of the page shows at most.
const MOST_FUNCTIONS: usize = 200;

/// The explanation as one HTML file that needs nothing from any network and runs no script.
pub fn to_explanation_page(explanation: &Explanation) -> String {
    let mut page = String::new();
    write(&mut page, explanation).expect("a String takes every write");
    page
}

fn write(out: &mut String, explanation: &Explanation) -> fmt::Result {
    let heading = match &explanation.pairs[..] {
        [pair] => format!("Where the work of {} changed", title(pair, GLYPHS)),
        pairs => format!("Where the work of {} benchmarks changed", pairs.len()),
    };
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"deadheat {}\">\n\
         <title>{} · deadheat</title>\n<style>{STYLE}{FLAME}</style>\n</head>\n<body>\n\
         <header><div class=\"bar\"><span class=\"mark\">deadheat</span></div><h1>{}</h1></header>\n<main>",
        Text(&explanation.tool_version),
        Text(&heading),
        Text(&heading)
    )?;
    for pair in &explanation.pairs {
        out.write_str("<section>")?;
        if explanation.pairs.len() > 1 {
            write!(out, "<h2>{}</h2>", Text(title(pair, GLYPHS)))?;
        }
        let mut parts = pair_of(pair, explanation.unit, MOST_FUNCTIONS, GLYPHS).into_iter();
        if let Some(Content::Paragraph(verdict, _)) = parts.next().map(|block| block.content) {
            write!(out, "<p class=\"tally\">{}</p>", Text(verdict))?;
        }
        let parts: Vec<Block<'_>> = parts.collect();
        let (about, tables) = parts.split_at(parts.len().min(1));
        blocks(out, about)?;
        flame(out, pair, explanation.unit)?;
        blocks(out, tables)?;
        out.write_str("</section>\n")?;
    }
    let mut notes = notes(explanation, GLYPHS);
    notes.push(Note::of(Severity::Note, HOW_TO_READ.to_owned()));
    let remarks = Block::notes(notes);
    blocks(out, remarks.as_slice())?;
    out.write_str("</main>\n</body>\n</html>\n")
}

/// The flame graph of a pair; nothing where both sides are the same.
fn flame(out: &mut String, pair: &ExplainedPair, unit: ProfileUnit) -> fmt::Result {
    let same = pair.functions.iter().all(|one| !unit.differ(one.own));
    let Some(drawing) = flame_graph(&pair.stacks, &pair.functions, unit).filter(|_| !same) else {
        return Ok(());
    };
    let [old, new] = pair.names.each_ref().map(|name| shown(name, SIDE, GLYPHS));
    write!(
        out,
        "<figure class=\"flame\">{drawing}<figcaption>Calls of {}. Orange: more \
         {} of its own than in {}. Green: fewer.</figcaption></figure>",
        Text(new),
        unit.noun(),
        Text(old)
    )
}
