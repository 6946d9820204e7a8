//! One benchmark: its verdicts, its doubts, its charts and its tables.

use std::fmt::{self, Write};

use deadheat_model::{Analysis, Comparison};

use super::charts;
use super::data;
use super::head;
use super::html::{GLYPHS, InScript, Text, isolated};
use super::tables;
use crate::names::{escape, labels};
use crate::sentences::{self, Called, Source};
use crate::suite;
use crate::units::counted;
use crate::warnings::{self, WarningText};

/// Columns a name may take: in a heading and in sentences.
const TITLE: usize = 300;
const NAME: usize = 80;

/// The comparisons of one benchmark, and where they stand.
pub(super) struct Section<'a> {
    /// Its number on the page.
    pub(super) index: usize,
    /// The number of its first comparison.
    pub(super) first: usize,
    pub(super) group: &'a [Comparison],
    /// What there is to doubt about it.
    pub(super) told: &'a [WarningText],
    /// Whether it is the only one.
    pub(super) only: bool,
}

impl Section<'_> {
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        analysis: &Analysis,
        shared: &[WarningText],
    ) -> fmt::Result {
        let (index, group) = (self.index, self.group);
        let title = head::title_of(group, Source::of(analysis), TITLE);
        write!(
            out,
            "<section class=\"benchmark\" id=\"b{index}\" data-index=\"{index}\" aria-labelledby=\"t{index}\">\
             <details name=\"benchmark\"{}><summary><h3 id=\"t{index}\">{}</h3>",
            if self.only { " open" } else { "" },
            Text(&title)
        )?;
        for comparison in group {
            head::badge(out, comparison)?;
        }
        out.write_str("</summary>")?;
        // With scripts a browser keeps this as text until it is opened, so that
        // hundreds of benchmarks cost nothing; without, it is simply there.
        out.write_str("<noscript class=\"body\">")?;
        self.body(out, analysis, shared)?;
        out.write_str("</noscript><div class=\"body\"></div>")?;
        let called = self.labels();
        for (at, comparison) in group.iter().enumerate() {
            if let Some(plots) = comparison.plots.as_deref() {
                write!(
                    out,
                    "<script type=\"application/json\" id=\"d{}\">",
                    self.first + at
                )?;
                let candidate = called.get(at + 1).map_or("", String::as_str);
                let json = data::of(comparison, plots, [&called[0], candidate]);
                write!(InScript(out), "{json}")?;
                out.write_str("</script>")?;
            }
        }
        out.write_str("</details></section>\n")
    }

    fn labels(&self) -> Vec<String> {
        labels(&suite::names(self.group), NAME, GLYPHS)
    }

    fn body(
        &self,
        out: &mut dyn Write,
        analysis: &Analysis,
        shared: &[WarningText],
    ) -> fmt::Result {
        let source = Source::of(analysis);
        let group = self.group;
        let labels: Vec<String> = self.labels().iter().map(|label| isolated(label)).collect();
        self.facts(out)?;
        if let Some(counts) = sentences::rests_on(group, source) {
            write!(out, "<p class=\"quiet\">Rests on {}.</p>", Text(counts))?;
        }
        let (known, own): (Vec<&WarningText>, Vec<&WarningText>) =
            self.told.iter().partition(|told| shared.contains(told));
        if group.len() == 1 {
            self.verdict(out, 0, &labels, source)?;
        }
        notes(out, &own)?;
        if !known.is_empty() {
            write!(
                out,
                "<details class=\"fold\"><summary>{}</summary>",
                counted(
                    known.len() as u64,
                    "remark that holds for others, too",
                    "remarks that hold for others, too"
                )
            )?;
            notes(out, &known)?;
            out.write_str("</details>")?;
        }
        tables::contenders(out, group, &labels, Source::of(analysis))?;
        for (at, comparison) in group.iter().enumerate() {
            let index = self.index;
            let data = self.first + at;
            write!(out, "<div class=\"candidate\" id=\"b{index}-{at}\">")?;
            match (group.len(), labels.get(at + 1)) {
                (2.., Some(candidate)) => {
                    write!(
                        out,
                        "<h4>{} against {}</h4>",
                        Text(candidate),
                        Text(&labels[0])
                    )?;
                    self.verdict(out, at, &labels, source)?;
                }
                _ => out.write_str("<h4>Charts</h4>")?,
            }
            if comparison.plots.is_some() {
                write!(
                    out,
                    "<p class=\"quiet\">{}</p>",
                    Text(charts::bands(comparison))
                )?;
            }
            charts::write(out, comparison, data)?;
            out.write_str("<h4>Figures</h4>")?;
            tables::figures_of(out, comparison)?;
            out.write_str("</div>")?;
        }
        Ok(())
    }

    /// What a file told of the benchmark beside its name.
    fn facts(&self, out: &mut dyn Write) -> fmt::Result {
        let first = &self.group[0];
        let label = first
            .label
            .as_ref()
            .map(|label| isolated(&escape(label, GLYPHS)));
        let threads = suite::threads_beside(first);
        let threads = threads.map(|count| counted(count.into(), "thread", "threads"));
        let parts: Vec<String> = label.into_iter().chain(threads).collect();
        if parts.is_empty() {
            return Ok(());
        }
        write!(out, "<p class=\"quiet\">{}</p>", Text(parts.join(" · ")))
    }

    fn verdict(
        &self,
        out: &mut dyn Write,
        at: usize,
        labels: &[String],
        source: Source,
    ) -> fmt::Result {
        let comparison = &self.group[at];
        let called = Called {
            baseline: &labels[0],
            candidate: comparison
                .candidate
                .as_ref()
                .and(labels.get(at + 1))
                .map(String::as_str),
            baseline_is_shown: false,
        };
        let sentence = sentences::verdict(comparison, called, source, GLYPHS);
        write!(
            out,
            "<p class=\"verdict\" data-verdict=\"{}\"><span class=\"sign\" aria-hidden=\"true\">{}</span> {}</p>",
            head::code(comparison),
            GLYPHS.mark(comparison.verdict),
            Text(sentence)
        )?;
        if let Some(placement) = sentences::placement(comparison, GLYPHS) {
            write!(out, "<p class=\"placement\">{}</p>", Text(placement))?;
        }
        if let Some(floor) = sentences::noise_floor(comparison, GLYPHS) {
            write!(out, "<p class=\"placement\">{}</p>", Text(floor))?;
        }
        if let Some(design) = sentences::design(comparison, GLYPHS) {
            write!(out, "<p class=\"placement\">{}</p>", Text(design))?;
        }
        if let Some(hit) = &comparison.gate {
            write!(out, "<p class=\"gate\">{}</p>", Text(head::gate_words(hit)))?;
        }
        Ok(())
    }
}

/// The doubts of one benchmark.
pub(super) fn told(group: &[Comparison], source: Source) -> Vec<WarningText> {
    let labels = labels(&suite::names(group), NAME, GLYPHS);
    let mut candidates: Vec<String> = labels.iter().skip(1).map(|label| isolated(label)).collect();
    candidates.resize(group.len(), String::new());
    let candidates: Vec<&str> = candidates.iter().map(String::as_str).collect();
    warnings::messages(group, &candidates, source, GLYPHS)
}

/// Doubts and information as a list.
pub(super) fn notes(out: &mut dyn Write, told: &[&WarningText]) -> fmt::Result {
    if told.is_empty() {
        return Ok(());
    }
    out.write_str("<ul class=\"notes\">")?;
    for told in told {
        let word = if told.information { "note" } else { "warning" };
        write!(
            out,
            "<li class=\"{word}\"><b>{word}</b> {}</li>",
            Text(&told.text)
        )?;
    }
    out.write_str("</ul>")
}
