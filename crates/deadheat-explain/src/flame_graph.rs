//! A flame graph of the candidate as SVG. The width of a call is its count, including the calls
//! below it. The colour shows how the function's own count, over all its callers, differs from the
//! baseline. That difference is exact; the division of a function's cost among its callers is an
//! estimate.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use deadheat::parts::report::html::{GLYPHS, Text};
use deadheat::parts::report::{escape, shorten};

use crate::explanation::{FunctionChange, StackChange};
use crate::profile::ProfileUnit;
use crate::words::grouped;

pub(crate) const FLAME: &str = "
.flame { margin: 1.2rem 0 0; }
.flame svg { width: 100%; height: auto; display: block; overflow: visible; }
.flame text { font: 12px ui-monospace, monospace; fill: var(--ink); pointer-events: none; }
.flame rect { fill: var(--raised); stroke: var(--line); }
.flame g:hover rect { stroke: var(--ink); }
.flame figcaption { color: var(--quiet); font-size: .9rem; margin-top: .4rem; }
";

/// The width of a graph, in the units of the SVG.
const WIDTH: f64 = 1_180.0;
/// The height of a row, in the units of the SVG.
const ROW: f64 = 17.0;
/// The smallest width of a drawn function, in the units of the SVG.
const THINNEST: f64 = 0.3;
/// The width of a character, in the units of the SVG.
const CHARACTER: f64 = 7.3;
/// The smallest number of characters to which a name is shortened.
const FEWEST: usize = 3;

#[derive(Default)]
struct Node<'a> {
    /// The candidate's counts in this function and in all functions that it calls on this path.
    whole: u64,
    below: BTreeMap<&'a str, Node<'a>>,
}

impl<'a> Node<'a> {
    fn of(stacks: &'a [StackChange]) -> Self {
        let mut root = Self::default();
        for stack in stacks {
            let mut node = &mut root;
            let count = stack.counts[1];
            node.whole = node.whole.saturating_add(count);
            for frame in &stack.frames {
                node = node.below.entry(frame).or_default();
                node.whole = node.whole.saturating_add(count);
            }
        }
        root
    }
}

/// The data that drawing each function needs.
struct Drawing<'a> {
    /// The width of one count, in the units of the graph.
    scale: f64,
    functions: BTreeMap<&'a str, &'a FunctionChange>,
    /// The largest absolute difference of a function's own counts.
    largest: f64,
    /// The number of rows; the outermost functions are in the last one.
    rows: usize,
    unit: ProfileUnit,
}

/// Draws the graph. Returns `None` if the candidate has no counts.
pub(crate) fn flame_graph(
    stacks: &[StackChange],
    functions: &[FunctionChange],
    unit: ProfileUnit,
) -> Option<String> {
    let root = Node::of(stacks);
    let total = root.whole;
    if total == 0 {
        return None;
    }
    let differences = functions.iter().map(|one| one.difference().unsigned_abs());
    let mut drawing = Drawing {
        scale: WIDTH / total as f64,
        functions: functions.iter().map(|one| (&*one.function, one)).collect(),
        largest: differences.max().unwrap_or_default().max(1) as f64,
        rows: 0,
        unit,
    };
    drawing.rows = drawing.depth(&root);
    let height = drawing.rows as f64 * ROW;
    let mut svg =
        format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Flame graph\">");
    drawing
        .below(&mut svg, ("", &root), 0.0, 1)
        .expect("a String takes every write");
    svg.push_str("</svg>");
    Some(svg)
}

impl Drawing<'_> {
    /// Returns the width of a function, or `None` if it is too narrow to be drawn.
    fn width(&self, node: &Node<'_>) -> Option<f64> {
        let width = node.whole as f64 * self.scale;
        (width >= THINNEST).then_some(width)
    }

    /// Returns the number of rows above a function.
    fn depth(&self, node: &Node<'_>) -> usize {
        let drawn = node.below.values().filter(|one| self.width(one).is_some());
        drawn.map(|one| 1 + self.depth(one)).max().unwrap_or(0)
    }

    /// Draws the functions that `caller` calls in the row numbered `row` from the bottom, starting
    /// at `x`, and the functions that they call in the rows above.
    fn below(
        &self,
        out: &mut String,
        (caller, node): (&str, &Node<'_>),
        mut x: f64,
        row: usize,
    ) -> fmt::Result {
        for (name, node) in &node.below {
            let Some(width) = self.width(node) else {
                continue;
            };
            self.function(out, (caller, name), node.whole, (x, width), row)?;
            self.below(out, (name, node), x, row + 1)?;
            x += width;
        }
        Ok(())
    }

    /// Returns the own counts of a function on both sides. If `name` is a file, returns the counts
    /// of the code that was inlined from it into the caller.
    fn own(&self, caller: &str, name: &str) -> [u64; 2] {
        if let Some(function) = self.functions.get(name) {
            return function.own;
        }
        let inlined = self.functions.get(caller).map(|one| &one.inlined);
        let mut files = inlined.into_iter().flatten();
        let found = files.find(|(file, _)| file == name);
        found.map(|(_, counts)| *counts).unwrap_or_default()
    }

    fn function(
        &self,
        out: &mut String,
        (caller, name): (&str, &str),
        whole: u64,
        (x, width): (f64, f64),
        row: usize,
    ) -> fmt::Result {
        let [old, new] = self.own(caller, name);
        let name = escape(name, GLYPHS);
        let y = (self.rows - row) as f64 * ROW;
        let differ = self.unit.differ([old, new]);
        let difference = i128::from(differ) * (i128::from(new) - i128::from(old));
        let more = difference as f64 / self.largest;
        let title = format!(
            "{name}: {} {} in this call, including all that it calls; {} in its own code over all \
             calls, {}",
            grouped(whole.into()),
            self.unit.noun(),
            grouped(new.into()),
            match (difference, grouped(difference.unsigned_abs())) {
                (0, _) if old != new => "as in the baseline, apart from noise".to_owned(),
                (0, _) => "as in the baseline".to_owned(),
                (1.., by) => format!("{by} more than in the baseline"),
                (_, by) => format!("{by} fewer than in the baseline"),
            }
        );
        write!(out, "<g><title>{}</title>", Text(title))?;
        write!(
            out,
            "<rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{ROW}\"{}/>",
            colour(more)
        )?;
        let room = ((width - 6.0) / CHARACTER) as usize;
        if room >= FEWEST {
            let shown = shorten(&name, room, GLYPHS);
            let (x, y) = (x + 3.0, y + ROW - 5.0);
            write!(out, "<text x=\"{x:.2}\" y=\"{y}\">{}</text>", Text(shown))?;
        }
        out.write_str("</g>")
    }
}

/// Returns the colour of a function for its difference, as a share of the largest difference.
/// Returns an empty text if the difference is 0; the stylesheet then decides the colour.
fn colour(more: f64) -> String {
    let side = match more {
        more if more > 0.0 => "slower",
        more if more < 0.0 => "faster",
        _ => return String::new(),
    };
    // Even the smallest difference must be visible.
    let share = 12.0 + 58.0 * more.abs().min(1.0).sqrt();
    format!(" style=\"fill:color-mix(in srgb,var(--{side}) {share:.0}%,var(--raised))\"")
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

    fn function(name: &str, own: [u64; 2]) -> FunctionChange {
        FunctionChange {
            function: name.to_owned(),
            own,
            inclusive: own,
            inlined: vec![("core/iter.rs".to_owned(), [5, 9])],
        }
    }

    /// Returns the title, left edge, width, row from the top and colour of each drawn function.
    fn drawn(
        stacks: &[StackChange],
        functions: &[FunctionChange],
    ) -> Vec<(String, f64, f64, f64, Option<String>)> {
        let svg = flame_graph(stacks, functions, ProfileUnit::Instructions).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let groups = document.descendants().filter(|node| node.has_tag_name("g"));
        groups
            .map(|group| {
                let child = |name| {
                    group
                        .children()
                        .find(|node| node.has_tag_name(name))
                        .unwrap()
                };
                let rect = child("rect");
                let number = |name| rect.attribute(name).unwrap().parse().unwrap();
                let title = child("title").text().unwrap().to_owned();
                let colour = rect.attribute("style").map(str::to_owned);
                let row: f64 = number("y");
                (title, number("x"), number("width"), row / ROW, colour)
            })
            .collect()
    }

    #[test]
    fn functions_lie_on_their_callers_and_are_as_wide_as_what_they_execute() {
        let stacks = [
            stack(&["main"], [20, 25]),
            stack(&["main", "gone"], [10, 0]),
            stack(&["main", "parse"], [30, 50]),
            stack(&["main", "sort"], [40, 25]),
        ];
        let functions = [
            function("main", [20, 25]),
            function("parse", [30, 50]),
            function("sort", [40, 25]),
        ];
        let drawn = drawn(&stacks, &functions);
        let places: Vec<(f64, f64, f64)> = drawn
            .iter()
            .map(|(_, x, width, row, _)| (*x, *width, *row))
            .collect();
        assert_eq!(
            places,
            [(0.0, 1180.0, 1.0), (0.0, 590.0, 0.0), (590.0, 295.0, 0.0)]
        );
        let colours: Vec<&str> = drawn
            .iter()
            .map(|one| one.4.as_deref().unwrap_or_default())
            .collect();
        let shares = ["--slower) 41%", "--slower) 70%", "--faster) 62%"];
        for (colour, share) in colours.iter().zip(shares) {
            assert!(colour.contains(share), "{colours:?}");
        }
        assert_eq!(
            drawn[1].0,
            "parse: 50 instructions in this call, including all that it calls; 50 in its own code \
             over all calls, 20 more than in the baseline"
        );
    }

    #[test]
    fn names_are_text_and_what_is_too_thin_is_left_out() {
        let stacks = [
            stack(&["</title><script>", "[u8; 4]"], [60_000_000, 60_000_000]),
            stack(&["</title><script>", "thin"], [1, 1]),
        ];
        let svg = flame_graph(&stacks, &[], ProfileUnit::Instructions).unwrap();
        assert!(!svg.contains("<script") && !svg.contains("thin"), "{svg}");
        assert!(svg.contains(">[u8; 4]</text>"), "{svg}");
        let drawn = drawn(&stacks, &[]);
        assert!(drawn.iter().all(|one| one.4.is_none()), "{drawn:?}");
    }

    #[test]
    fn inlined_code_has_the_colour_of_its_own_difference() {
        let stacks = [stack(&["sum", "core/iter.rs"], [5, 9])];
        let drawn = drawn(&stacks, &[function("sum", [10, 10])]);
        assert_eq!(drawn[0].4, None);
        assert!(
            drawn[1].4.as_ref().unwrap().contains("--slower"),
            "{drawn:?}"
        );
        assert!(
            drawn[1].0.ends_with("4 more than in the baseline"),
            "{drawn:?}"
        );
    }

    #[test]
    fn there_is_no_graph_of_nothing() {
        let unit = ProfileUnit::Instructions;
        assert_eq!(flame_graph(&[], &[], unit), None);
        assert_eq!(flame_graph(&[stack(&["gone"], [5, 0])], &[], unit), None);
    }
}
