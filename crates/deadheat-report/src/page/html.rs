//! Renders the blocks of an answer as HTML, and escapes texts for HTML.

use std::fmt::{self, Display, Write};

use deadheat_model::Comparison;

use crate::document::{Block, Broken, Content, Note, Part, Severity, Table, Tone, VerdictLine};
use crate::gates::breach;
use crate::glyphs::Glyphs;
use crate::names::escape;
use crate::verdict_sentence::Sentence;

/// The characters that a page can show.
pub const GLYPHS: Glyphs = Glyphs::Unicode;

const STYLE: &str = include_str!("../../assets/page/page.css");

/// The character before a text with an independent reading direction.
const ISOLATE: char = '\u{2068}';
/// The character after a text with an independent reading direction.
const END_OF_ISOLATE: char = '\u{2069}';

/// Isolates the reading direction of a label in a sentence. `label` must be escaped, so that it
/// contains no isolation characters.
pub fn isolated(label: &str) -> String {
    format!("{ISOLATE}{label}{END_OF_ISOLATE}")
}

/// A text escaped for the content of an element. Isolated labels become `<bdi>`.
pub struct Text<T>(pub T);

impl<T: AsRef<str>> Display for Text<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        harmless(f, self.0.as_ref(), ["<bdi>", "</bdi>"])
    }
}

/// A text escaped for an attribute value in double quotes.
pub struct Attribute<T>(pub T);

impl<T: AsRef<str>> Display for Attribute<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        harmless(f, self.0.as_ref(), ["", ""])
    }
}

/// Writes the text with all markup escaped, and the two isolation characters replaced by `isolate`.
fn harmless(f: &mut fmt::Formatter<'_>, text: &str, isolate: [&str; 2]) -> fmt::Result {
    let mut rest = text;
    let special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'' | ISOLATE | END_OF_ISOLATE);
    while let Some(at) = rest.find(special) {
        f.write_str(&rest[..at])?;
        let character = rest[at..].chars().next().unwrap_or_default();
        f.write_str(match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            ISOLATE => isolate[0],
            _ => isolate[1],
        })?;
        rest = &rest[at + character.len_utf8()..];
    }
    f.write_str(rest)
}

/// The head of a page and the start tag of its body. By default, the content security policy
/// forbids scripts and images.
#[derive(Default)]
pub struct Head<'a> {
    /// The version of deadheat that writes the page.
    pub version: &'a str,
    /// The title of the page.
    pub title: &'a str,
    /// The parts of the content security policy that allow scripts and images; empty strings forbid
    /// them.
    pub allows: [&'a str; 2],
    /// Styles for this page only.
    pub style: &'a str,
    /// Elements after the styles.
    pub more: &'a str,
}

impl Head<'_> {
    /// The part of the content security policy that allows images embedded in the page.
    pub const IMAGES: &'static str = " img-src data:;";

    /// Writes the page up to the start tag of its body.
    pub fn write(&self, out: &mut dyn Write) -> fmt::Result {
        let [scripts, images] = self.allows;
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';{scripts} \
             style-src 'unsafe-inline';{images} base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"deadheat {}\">\n\
             <title>{} · deadheat</title>\n<style>{STYLE}{}</style>\n{}</head>\n<body>\n",
            Attribute(self.version),
            Attribute(self.title),
            self.style,
            self.more
        )
    }
}

/// Escapes a text that deadheat did not write itself, such as a name, for use as the content of an
/// element. Invisible and direction-reversing characters are escaped as well.
pub fn foreign(text: &str) -> Text<String> {
    Text(isolated(&escape(text, GLYPHS)))
}

/// A writer that escapes JSON for a script element, so that no text can end the element.
pub(super) struct InScript<'a, W: ?Sized>(pub(super) &'a mut W);

impl<W: Write + ?Sized> Write for InScript<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Most of the data are columns of numbers, which never contain these characters.
        let bytes = text.as_bytes();
        if ![b'<', b'>', b'&', 0xe2]
            .iter()
            .any(|sign| bytes.contains(sign))
        {
            return self.0.write_str(text);
        }
        let mut rest = text;
        let hurts = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        while let Some(at) = rest.find(hurts) {
            self.0.write_str(&rest[..at])?;
            let character = rest[at..].chars().next().unwrap_or_default();
            write!(self.0, "\\u{:04x}", u32::from(character))?;
            rest = &rest[at + character.len_utf8()..];
        }
        self.0.write_str(rest)
    }
}

/// Formats blocks as one HTML file that contains no scripts and loads nothing from the network.
/// `version` is the version of deadheat that wrote the answer.
pub fn page_of_blocks(version: &str, title: &str, answer: &[Block<'_>]) -> String {
    let mut page = String::new();
    write_page(&mut page, version, title, answer).expect("a String takes every write");
    page
}

fn write_page(out: &mut String, version: &str, title: &str, answer: &[Block<'_>]) -> fmt::Result {
    Head {
        version,
        title,
        ..Head::default()
    }
    .write(out)?;
    write!(
        out,
        "<header><div class=\"bar\"><span class=\"mark\">deadheat</span></div><h1>{}</h1></header>\n\
         <main><section class=\"benchmark\">",
        Text(title)
    )?;
    blocks(out, answer)?;
    out.write_str("</section></main>\n</body>\n</html>\n")
}

/// Writes blocks, one below the other.
pub fn blocks(out: &mut dyn Write, blocks: &[Block<'_>]) -> fmt::Result {
    blocks
        .iter()
        .try_for_each(|block| self::block(out, &block.content))
}

fn block(out: &mut dyn Write, content: &Content<'_>) -> fmt::Result {
    match content {
        Content::Heading(level, title) => {
            let level = level + 1;
            write!(out, "<h{level}>{}</h{level}>", Text(title))
        }
        Content::Headline(tally, effort) => {
            if !tally.is_empty() {
                write!(out, "<p class=\"tally\">{}</p>", Text(tally))?;
            }
            let effort = effort.as_deref().unwrap_or_default();
            write!(out, "<p class=\"effort\">{}</p>", Text(effort))
        }
        Content::Gate {
            is_open,
            title,
            passed,
            broken,
        } => gate(out, *is_open, title, passed.as_deref(), broken),
        Content::Paragraph(text, _) | Content::Closing(text) => {
            write!(out, "<p class=\"quiet\">{}</p>", Text(text))
        }
        Content::Titled(names, title) => {
            let names: Vec<String> = names.iter().map(|name| format!("{name}: ")).collect();
            write!(out, "<h5>{}{title}</h5>", Text(names.concat()))
        }
        Content::Verdicts(verdicts) => verdicts.iter().try_for_each(|one| {
            verdict(out, "p", one)?;
            details(out, one)
        }),
        Content::Table(table) => self::table(out, table),
        Content::Notes(notes) => self::notes(out, notes),
        Content::Entry(entry) => {
            write!(out, "<p><b>{}</b>", Text(&entry.lead))?;
            for part in &entry.parts {
                match part {
                    Part::Words(words) => write!(out, " {}", Text(words))?,
                    Part::Command(command) => write!(out, " <code>{}</code>", Text(command))?,
                }
            }
            out.write_str("</p>")
        }
        Content::List(items) => {
            out.write_str("<ul>")?;
            for item in items {
                write!(out, "<li>{}</li>", Text(item))?;
            }
            out.write_str("</ul>")
        }
        Content::Facts(title, facts) => {
            write!(out, "<div><h3>{title}</h3><dl>")?;
            for (name, value) in facts {
                let [name, value] = [name, value].map(|text| foreign(text));
                write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>")?;
            }
            out.write_str("</dl></div>")
        }
        Content::Section(title, blocks) => {
            write!(out, "<section><h3>{}</h3>", Text(title))?;
            self::blocks(out, blocks)?;
            out.write_str("</section>")
        }
        Content::Fold(summary, blocks) => {
            write!(
                out,
                "<details class=\"fold\"><summary>{}</summary>",
                Text(summary)
            )?;
            self::blocks(out, blocks)?;
            out.write_str("</details>")
        }
        // Charts need data on the page, which only `Section` in `page.rs` writes.
        Content::Plot(_) => Ok(()),
        Content::Code(command) => write!(
            out,
            "<div class=\"command\"><pre tabindex=\"0\" aria-labelledby=\"again\" role=\"region\"><code id=\"command\">{}</code></pre>\
             <button type=\"button\" id=\"copy\" hidden data-copy=\"{}\">Copy</button></div>",
            Text(command),
            Attribute(command)
        ),
    }
}

fn gate(
    out: &mut dyn Write,
    is_open: bool,
    title: &str,
    passed: Option<&str>,
    broken: &[Broken],
) -> fmt::Result {
    let state = if is_open { "green" } else { "red" };
    write!(
        out,
        "<section class=\"gates\" data-gate=\"{state}\" aria-labelledby=\"gates\"><h2 id=\"gates\">{}</h2>",
        Text(title)
    )?;
    if let Some(passed) = passed {
        write!(out, "<p>{}</p>", Text(passed))?;
    }
    if !broken.is_empty() {
        out.write_str("<ul>")?;
        for hit in broken {
            let names = hit.names.join(", ");
            let breach = breach(&hit.rule, hit.excuse.as_deref().map(isolated));
            write!(out, "<li>{}: {}</li>", Text(names), Text(breach))?;
        }
        out.write_str("</ul>")?;
    }
    out.write_str("</section>")
}

/// Returns the name of the verdict in scripts and styles.
pub(super) fn code(comparison: &Comparison) -> &'static str {
    comparison.verdict.map_or("none", |verdict| verdict.name())
}

pub(super) fn verdict(out: &mut dyn Write, element: &str, one: &VerdictLine) -> fmt::Result {
    let code = match one.tone {
        Some(Tone::Verdict(verdict)) => verdict.name(),
        _ => "none",
    };
    let Sentence { strong, rest, .. } = &one.sentence;
    let quiet = one.sentence.parenthesis();
    write!(
        out,
        "<{element} class=\"verdict\" data-verdict=\"{code}\"><span class=\"sign\" aria-hidden=\"true\">{}</span> ",
        one.mark,
    )?;
    if !strong.is_empty() {
        write!(out, "<strong>{}</strong>", Text(strong))?;
    }
    if !quiet.is_empty() {
        write!(out, "<span class=\"quiet\">{}</span>", Text(quiet))?;
    }
    write!(out, "{}</{element}>", Text(rest))
}

pub(super) fn details(out: &mut dyn Write, one: &VerdictLine) -> fmt::Result {
    let mut details = one.details.iter();
    details.try_for_each(|detail| write!(out, "<p class=\"placement\">{}</p>", Text(detail)))
}

fn notes(out: &mut dyn Write, notes: &[Note]) -> fmt::Result {
    out.write_str("<ul class=\"notes\">")?;
    for note in notes {
        let word = match note.severity {
            Severity::Note => "note",
            Severity::Warning | Severity::Alarm => "warning",
        };
        write!(
            out,
            "<li class=\"{word}\"><b>{word}</b> {}</li>",
            Text(&note.text)
        )?;
    }
    out.write_str("</ul>")
}

/// Writes the beginning of a table that scrolls horizontally: its label for screen readers, the
/// caption element if there is one, and the column heads. The caller ends the table with
/// `</tbody></table></div>`.
///
/// # Errors
///
/// Returns an error if `out` does.
pub fn table_head<'h>(
    out: &mut dyn Write,
    (label, caption): (&str, &str),
    heads: impl IntoIterator<Item = &'h str>,
) -> fmt::Result {
    write!(
        out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table class=\"plain\">{caption}<thead><tr>",
        Attribute(label)
    )?;
    for head in heads {
        write!(out, "<th scope=\"col\">{}</th>", Text(head))?;
    }
    out.write_str("</tr></thead><tbody>")
}

/// Writes a table that scrolls horizontally on narrow pages. The first column contains the names of
/// the rows.
fn table(out: &mut dyn Write, table: &Table<'_>) -> fmt::Result {
    let caption = format!("<caption>{}</caption>", Text(&table.caption));
    let heads = table.columns.iter().map(|column| column.head.as_str());
    table_head(out, (&table.caption, &caption), heads)?;
    for row in &table.rows {
        out.write_str("<tr>")?;
        for (index, cell) in row.cells.iter().enumerate() {
            match index {
                0 => write!(out, "<th scope=\"row\">{}</th>", Text(&cell.text))?,
                _ => write!(out, "<td>{}</td>", Text(&cell.text))?,
            }
        }
        out.write_str("</tr>")?;
    }
    out.write_str("</tbody></table></div>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let text = Text("<script>alert('a' & \"b\")</script>").to_string();
        assert_eq!(
            text,
            "&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)&lt;/script&gt;"
        );
    }

    #[test]
    fn a_label_has_a_direction_of_its_own_and_cannot_fake_its_end() {
        let hostile = "\u{2069}x\u{202e}";
        assert_eq!(
            foreign(hostile).to_string(),
            r"<bdi>\u{2069}x\u{202e}</bdi>"
        );
        let label = isolated("מהיר");
        assert_eq!(Attribute(label).to_string(), "מהיר");
    }

    #[test]
    fn data_cannot_end_their_script() {
        let mut text = String::new();
        write!(InScript(&mut text), "a</script><!--\u{2028}&").unwrap();
        assert_eq!(text, "a\\u003c/script\\u003e\\u003c!--\\u2028\\u0026");
    }
}
