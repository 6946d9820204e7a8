//! The page from top to bottom.

use std::fmt::{self, Write};

use deadheat_model::{Analysis, RunHeader};

use super::benchmark::{self, Section};
use super::facts;
use super::head;
use super::html::Attribute;
use super::overview;
use super::policy::{SCRIPTS, sources};
use crate::sentences::Source;
use crate::suite;
use crate::warnings::WarningText;

const STYLE: &str = include_str!("../../assets/page/page.css");

/// The page in one piece, see [`write_page`].
pub fn to_page(analysis: &Analysis, header: &RunHeader) -> String {
    let mut page = String::new();
    write_page(&mut page, analysis, header).expect("a String takes every write");
    page
}

/// Writes the analysis as one HTML file that needs nothing from any network:
/// an overview of the suite, and for every benchmark its verdict, its charts
/// and all figures. It fails only where `out` does.
///
/// Charts are drawn of comparisons that have [`plots`](deadheat_model::Plots);
/// without them there is a sentence instead.
pub fn write_page(out: &mut dyn Write, analysis: &Analysis, header: &RunHeader) -> fmt::Result {
    begin(out, analysis)?;
    head::write(out, analysis, header)?;
    let groups = suite::groups(&analysis.comparisons);
    let source = Source::of(analysis);
    let told: Vec<Vec<WarningText>> = groups
        .iter()
        .map(|group| benchmark::told(group, source))
        .collect();
    let shared = suite::shared_doubts(&told);
    out.write_str("<main>")?;
    overview::write(out, analysis)?;
    let remarks = head::remarks(analysis, shared.clone());
    if !remarks.is_empty() {
        out.write_str("<section class=\"remarks\" aria-labelledby=\"remarks\"><h2 id=\"remarks\">Remarks on the whole run</h2>")?;
        benchmark::notes(out, &remarks.iter().collect::<Vec<_>>())?;
        out.write_str("</section>\n")?;
    }
    if !groups.is_empty() {
        out.write_str("<div class=\"benchmarks\"><h2 class=\"unseen\">Benchmarks</h2>\n")?;
        let mut first = 0;
        for (index, group) in groups.iter().enumerate() {
            let section = Section {
                index,
                first,
                group,
                told: &told[index],
                only: groups.len() == 1,
            };
            section.write(out, analysis, &shared)?;
            first += group.len();
        }
        out.write_str("</div>")?;
    }
    out.write_str("</main>\n")?;
    facts::write(out, analysis, header)?;
    for script in SCRIPTS {
        writeln!(out, "<script>{}</script>", script.text)?;
    }
    out.write_str("</body>\n</html>\n")
}

fn begin(out: &mut dyn Write, analysis: &Analysis) -> fmt::Result {
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; \
         style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"deadheat {}\">\n\
         <title>{} · deadheat</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#overview\">To the overview</a>\n",
        sources(),
        Attribute(&analysis.tool_version),
        head::plain_title(analysis)
    )
}
