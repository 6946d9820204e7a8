//! A calibration as a page in Markdown.

use deadheat_model::Calibration;

use super::note::sentence_case;
use super::tables::tables;
use super::text::{heading, is_name, machine};
use super::words::{belief, doubts, sizes};
use crate::glyphs::Glyphs;
use crate::markdown::prose;

const GLYPHS: Glyphs = Glyphs::Unicode;

/// The calibration as GitHub-flavoured Markdown, from its title to what it
/// comes to.
pub fn to_calibration_markdown(calibration: &Calibration) -> String {
    let mut text = format!(
        "# Calibration of a machine\n\nWritten by `deadheat calibrate --markdown`; `docs/trust.md` \
         says how to read it.\n\n{}.\n\nMachine: {}.\n",
        prose(&heading(calibration, GLYPHS)),
        prose(&machine(calibration, GLYPHS))
    );
    let (_, sentence) = belief(calibration);
    text += &format!("\n**{}**\n", prose(&sentence));
    let sizes = sizes(calibration);
    if !sizes.is_empty() {
        text.push('\n');
    }
    for sentence in sizes {
        text += &format!("- {}\n", prose(&sentence));
    }
    for table in tables(calibration, GLYPHS) {
        let (title, after) = match table.title.split_once(": ") {
            Some((title, after)) => (title, format!("{}.", sentence_case(after))),
            None => (table.title.as_str(), String::new()),
        };
        text += &format!("\n## {}\n\n", prose(title));
        if !after.is_empty() {
            text += &format!("{}\n\n", prose(&after));
        }
        text += &row(&table.header);
        let rule = table.header.iter().map(|name| match is_name(name) {
            true => ":---|",
            false => "---:|",
        });
        text += &format!("|{}\n", rule.collect::<String>());
        for cells in &table.rows {
            text += &row(cells);
        }
        for line in &table.below {
            text += &format!("\n{}\n", prose(line));
        }
    }
    let doubts = doubts(calibration, &[], GLYPHS);
    if !doubts.is_empty() {
        text += "\n## What else there is to know\n\n";
    }
    for doubt in doubts {
        text += &format!("- {}\n", prose(&doubt));
    }
    text
}

fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| prose(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}
