//! The explanation as one HTML file without scripts: sentences, tables, and for each pair a flame
//! graph of the candidate, coloured by what it executes more or less than the baseline.

use std::fmt::{self, Write};

use deadheat_model::{ExplainedPair, Explanation, StackChange};
use inferno::flamegraph::{self, Options};

use super::answer::{notes, pair_of, title};
use crate::document::{Block, Content, Note, Severity};
use crate::names::{escape, shown};
use crate::page::{GLYPHS, STYLE, Text, blocks};

/// The looks of a flame graph on a page that is light or dark: there the colours of the frames change
/// sides, and keep their hue.
const FLAME: &str = "
.flame { margin: 1.2rem 0 0; }
.flame svg { width: 100%; height: auto; display: block; overflow: visible; }
.flame text { font: 12px ui-monospace, monospace; fill: #111; pointer-events: none; }
.flame rect { stroke: #b9c0c7; stroke-width: .6; }
.flame g:hover rect { stroke: #111; stroke-width: 1; }
.flame figcaption { color: var(--quiet); font-size: .9rem; margin-top: .4rem; }
@media (prefers-color-scheme: dark) {
  .flame svg svg { filter: invert(.88) hue-rotate(180deg); }
}
";

/// How all graphs of a page are read.
const HOW_TO_READ: &str = "The width of a function in a graph is what it executes with all it calls, and code \
     that was inlined into it lies on it under the name of its file. What only the baseline executes has no \
     width, and stands in the table. callgrind keeps who calls whom and no whole paths: where a function has several \
     callers, its cost is divided among them as their calls cost. A function shows its whole name and \
     its counts to a pointer that rests on it.";

/// Columns that the name of a side may take.
const SIDE: usize = 60;
/// Functions that a table of the page shows at most.
const MOST_FUNCTIONS: usize = 200;
/// Pixels of the graph at its own size, and of its margin on either side.
const WIDTH: usize = 1_200;
const MARGIN: usize = 10;

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
        let mut parts = pair_of(pair, MOST_FUNCTIONS, GLYPHS).into_iter();
        if let Some(Content::Paragraph(verdict, _)) = parts.next().map(|block| block.content) {
            write!(out, "<p class=\"tally\">{}</p>", Text(verdict))?;
        }
        let parts: Vec<Block<'_>> = parts.collect();
        let (about, tables) = parts.split_at(parts.len().min(1));
        blocks(out, about)?;
        flame(out, pair)?;
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
fn flame(out: &mut String, pair: &ExplainedPair) -> fmt::Result {
    let same = pair.functions.iter().all(|one| one.difference() == 0);
    let Some(drawing) = drawing(&pair.stacks).filter(|_| !same) else {
        return Ok(());
    };
    let [old, new] = pair.names.each_ref().map(|name| shown(name, SIDE, GLYPHS));
    write!(
        out,
        "<figure class=\"flame\">{drawing}<figcaption>Calls of {}. Red: more instructions of its own than \
         in {}. Blue: fewer.</figcaption></figure>",
        Text(new),
        Text(old)
    )
}

/// The graph that inferno draws of the stacks, without the surroundings that are for a file of its own:
/// a script, a search, a style.
fn drawing(stacks: &[StackChange]) -> Option<String> {
    let folded: Vec<String> = stacks.iter().map(folded).collect();
    let mut options = Options::default();
    options.no_javascript = true;
    options.deterministic = true;
    options.count_name = "instructions".to_owned();
    options.image_width = Some(WIDTH);
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, folded.iter().map(String::as_str), &mut svg).ok()?;
    let svg = String::from_utf8(svg).ok()?;
    let begin = svg.find("<svg id=\"frames\"")?;
    let frames = svg[begin..].trim_end().strip_suffix("</svg>")?;
    // What lies above the frames is empty: that was for the title and the buttons.
    let ys = frames.split(" y=\"").skip(1);
    let ys: Vec<f64> = ys
        .filter_map(|y| y.split('"').next()?.parse().ok())
        .collect();
    let top = ys.iter().copied().fold(f64::INFINITY, f64::min) - 2.0;
    let bottom = ys.iter().copied().fold(0.0, f64::max) + 8.0;
    if !top.is_finite() {
        return None;
    }
    let frames = frames.replacen("<svg id=\"frames\" x=\"10\" ", "<svg ", 1);
    let (width, height) = (WIDTH - 2 * MARGIN, bottom - top);
    Some(format!(
        "<svg viewBox=\"0 {top} {width} {height}\" role=\"img\" aria-label=\"Flame graph\">{frames}</svg>"
    ))
}

/// A line for inferno: functions from the root, and the counts of both sides.
fn folded(stack: &StackChange) -> String {
    let frames = stack.frames.iter();
    // Types of arrays hold its separator.
    let frames: Vec<String> = frames
        .map(|frame| escape(frame, GLYPHS).replace(';', ","))
        .collect();
    let [old, new] = stack.counts;
    format!("{} {old} {new}", frames.join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &[&str], counts: [u64; 2]) -> StackChange {
        StackChange {
            frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
            counts,
        }
    }

    #[test]
    fn a_graph_holds_the_functions_of_the_candidate_and_no_script() {
        let stacks = [
            stack(&["main"], [10, 12]),
            stack(&["main", "parse<[u8; 4]>", "</title><script>"], [30, 60]),
            stack(&["main", "gone"], [10, 0]),
        ];
        let drawing = drawing(&stacks).unwrap();
        assert!(
            drawing.contains("parse&lt;[u8, 4]&gt; (60 instructions"),
            "{drawing}"
        );
        assert!(
            !drawing.contains("<script") && !drawing.contains("gone"),
            "{drawing}"
        );
        assert!(!drawing.contains("onload"), "{drawing}");
        roxmltree::Document::parse(&drawing.replace("fg:", "data-")).unwrap();
    }

    #[test]
    fn there_is_no_graph_of_nothing() {
        assert_eq!(drawing(&[]), None);
        assert_eq!(drawing(&[stack(&["gone"], [5, 0])]), None);
    }
}
