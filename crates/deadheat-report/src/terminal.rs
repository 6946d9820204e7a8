//! Renders an answer as lines of limited width, with or without colours.
//!
//! Colours are added after lines are measured, because escape sequences have no width.

use std::borrow::Cow;

#[cfg(feature = "reports")]
use crate::document::Plot;
use crate::document::{
    Block, Content, Entry, Kind, Note, Part, Row, Severity, Table, Tone, VerdictLine,
};
use crate::glyphs::Glyphs;
use crate::layout::{self, Width as _};
use crate::names::{has_room, labels, shorten, shorten_apart, texts};
use crate::plot::beside;
#[cfg(feature = "reports")]
use crate::plot::{PlotContext, intervals, pictures};

const INDENT: usize = 2;

/// Minimum width, in columns, of a name, however narrow the terminal is.
const NAME_AT_LEAST: usize = 12;

/// The code of bold text in terminal escape sequences.
const BOLD: u8 = 1;
/// The code of dimmed text in terminal escape sequences.
const DIM: u8 = 2;

/// The width of a plot in columns if the width of the terminal is unlimited.
#[cfg(feature = "reports")]
const WIDEST_PICTURE: usize = 100;

/// The properties of a terminal that affect an answer.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// The width in columns; `usize::MAX` for no limit.
    pub(crate) width: usize,
    pub(crate) color: bool,
    /// The characters that the terminal can show.
    pub glyphs: Glyphs,
    /// True if names at the end of a line are never shortened, because the output is not a
    /// terminal.
    pub(crate) whole_names: bool,
}

impl Terminal {
    /// Describes a terminal of `width` columns. `color` and `unicode` say if it shows colours and
    /// Unicode.
    pub fn new(width: usize, color: bool, unicode: bool) -> Terminal {
        let glyphs = Glyphs::new(unicode);
        Terminal {
            width,
            color,
            glyphs,
            whole_names: false,
        }
    }

    /// Renders the blocks, with an empty line before each block that is not tight.
    pub fn render(&self, blocks: &[Block<'_>]) -> String {
        let mut text = String::new();
        for block in blocks {
            let shown = self.block(block);
            if !text.is_empty() && !shown.is_empty() && !block.tight {
                text.push('\n');
            }
            text += &shown;
        }
        text
    }

    fn block(&self, block: &Block<'_>) -> String {
        match &block.content {
            Content::Heading(_, title) => {
                let lines = self.wrapped("", title);
                lines
                    .lines()
                    .map(|line| self.painted(line, 1) + "\n")
                    .collect()
            }
            Content::Headline(tally, Some(effort)) => {
                self.wrapped("", &format!("{}; {effort}.", tally.trim_end_matches('.')))
            }
            Content::Headline(tally, None) => self.wrapped("", tally),
            Content::Paragraph(text, indent) => self.wrapped(&" ".repeat(*indent), text),
            Content::Titled(names, text) => {
                let names = (!names.is_empty()).then(|| format!("{}. ", names.join(", ")));
                self.wrapped("", &format!("{}{text}", names.unwrap_or_default()))
            }
            Content::Verdicts(verdicts) => texts(verdicts, &|one| self.verdict(one)).concat(),
            Content::Table(table) => self.table(table),
            Content::Notes(notes) => texts(notes, &|note| self.note(note)).concat(),
            // The notes contain the sentences about the gates.
            Content::Gate { .. } => String::new(),
            Content::Facts(title, facts) => {
                let fact = |(name, value): &(String, String)| {
                    self.wrapped("  ", &format!("{name}: {value}"))
                };
                self.wrapped("", title) + &texts(facts, &fact).concat()
            }
            Content::List(items) => texts(items, &|item| self.wrapped("", item)).concat(),
            Content::Section(title, blocks) => match self.render(blocks) {
                empty if empty.is_empty() => empty,
                shown => self.painted(&shorten(title, self.width, self.glyphs), 1) + "\n" + &shown,
            },
            Content::Fold(_, blocks) => self.render(blocks),
            #[cfg(feature = "reports")]
            Content::Plot(plot) => self.plot(plot),
            #[cfg(not(feature = "reports"))]
            Content::Plot(_) => String::new(),
            Content::Entry(entry) => self.entry(entry),
            Content::Code(command) => self.command(command, INDENT),
            Content::Closing(text) => layout::wrap_whole(&" ".repeat(INDENT), text, self.width),
        }
    }

    fn wrapped(&self, prefix: &str, text: &str) -> String {
        layout::wrap(prefix, text, self.width)
    }

    fn painted(&self, text: &str, color: u8) -> String {
        if self.color {
            format!("\u{1b}[{color}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    fn behind(&self, word: &str, color: u8, text: &str) -> String {
        let plain = self.wrapped(&format!("{word} "), text);
        plain.replacen(word, &self.painted(word, color), 1)
    }

    pub(crate) fn note(&self, note: &Note) -> String {
        let (word, color) = match note.severity {
            Severity::Alarm => ("!", 31),
            Severity::Warning => ("warning:", 33),
            Severity::Note => ("note:", 36),
        };
        match &note.place {
            Some(place) => self.behind(word, color, &format!("'{place}': {}", note.text)),
            None => self.behind(word, color, &note.text),
        }
    }

    fn entry(&self, entry: &Entry) -> String {
        let mut text = String::new();
        for (index, part) in entry.parts.iter().enumerate() {
            let lead = if index == 0 { entry.lead.as_str() } else { "" };
            let fill = " ".repeat(entry.margin.saturating_sub(lead.width()));
            text += &match part {
                Part::Words(words) => self.wrapped(&format!("{lead}{fill}"), words),
                Part::Command(command) => self.command(command, entry.margin),
            };
        }
        text.replacen(
            &entry.lead,
            &self.painted(&entry.lead, entry.tone.code()),
            1,
        )
    }

    /// Formats a command to copy. If it is too long for a line, it is broken after a pipe.
    fn command(&self, command: &str, margin: usize) -> String {
        let line = format!("{}$ {command}\n", " ".repeat(margin));
        match command.split_once(" | ") {
            Some((first, rest)) if line.chars().count() > self.width.saturating_add(1) => {
                let narrow = margin.min(self.width.saturating_sub(rest.len() + 2));
                let [margin, narrow] = [margin, narrow].map(|columns| " ".repeat(columns));
                format!("{margin}$ {first} |\n{narrow}  {rest}\n")
            }
            _ => line,
        }
    }

    /// Formats the mark of a verdict, its sentence and its details. In colour, the verdict and the
    /// size of the change are bold, and the interval is dimmed.
    fn verdict(&self, one: &VerdictLine) -> String {
        let prefix = format!("{} ", one.mark);
        let text = self.wrapped(&prefix, &one.sentence.to_string());
        let text = if self.color {
            let mark = one.tone.map_or(0, Tone::code);
            styled(
                &text,
                &[
                    (one.mark, mark),
                    (&one.sentence.strong, BOLD),
                    (&one.sentence.parenthesis(), DIM),
                ],
            )
        } else {
            text
        };
        let details = one.details.iter();
        details.fold(text, |text, detail| text + &self.wrapped("  ", detail))
    }

    /// Formats the table within the width of the terminal, with the intervals of its rows to the
    /// right if they fit. Without a width limit, no intervals are drawn.
    fn table(&self, table: &Table<'_>) -> String {
        let names: Vec<usize> = (0..table.columns.len())
            .filter(|index| table.columns[*index].kind.is_name())
            .collect();
        if names.is_empty() {
            return self.broken(table, INDENT);
        }
        let ordered;
        let table = if table.names_last {
            let mut order: Vec<usize> = (0..table.columns.len()).collect();
            order.retain(|index| !names.contains(index));
            order.extend(&names);
            ordered = table.in_order(&order);
            &ordered
        } else {
            table
        };
        let shown = self.grid(table);
        let rows: Vec<_> = table.rows.iter().map(|row| row.drawn).collect();
        if self.width == usize::MAX || rows.iter().all(Option::is_none) {
            return shown;
        }
        let plain = Terminal {
            color: false,
            ..*self
        };
        let look = (self.width, self.color);
        beside(&shown, &plain.grid(table), &rows, look, self.glyphs).unwrap_or(shown)
    }

    /// Formats the table. If it is too wide, it omits spare columns and shortens names. If that is
    /// not enough, names move to separate lines, and finally cells are broken into several lines.
    fn grid(&self, table: &Table<'_>) -> String {
        let is_name = |index: &usize| table.columns[*index].kind.is_name();
        let indent = if table.names_last { 0 } else { INDENT };
        let widths = widths(table);
        let rest = |table: &Table<'_>, widths: &[usize]| {
            let others = table.columns.iter().zip(widths);
            let others = others.filter(|(column, _)| !column.kind.is_name());
            indent + others.map(|(_, width)| layout::GAP + width).sum::<usize>()
        };
        let room = self.width.saturating_sub(rest(table, &widths));
        let name = (0..widths.len())
            .find(is_name)
            .map_or(0, |index| widths[index]);
        if room >= name || (self.whole_names && table.names_last) {
            return self.lines(table, &widths, indent);
        }
        let has_spare = table.columns.iter().any(|column| column.spare);
        if has_spare && room < name.min(table.name_at_ease) {
            return self.grid(&table.keeping(|column| !column.spare));
        }
        if room >= NAME_AT_LEAST {
            let fitted = |index| if is_name(&index) { room } else { widths[index] };
            let fitted: Vec<usize> = (0..widths.len()).map(fitted).collect();
            return self.lines(table, &fitted, indent);
        }
        let figures = table.keeping(|column| !column.kind.is_name());
        let widths = self::widths(&figures);
        if rest(&figures, &widths) <= self.width {
            return self.stacked(table, &figures, &widths, indent);
        }
        self.broken(table, indent)
    }

    fn lines(&self, table: &Table<'_>, widths: &[usize], indent: usize) -> String {
        let table = self.shortened(table, widths);
        let mut text = self.line(&table, &heads(&table), widths, indent);
        for row in &table.rows {
            text += &self.line(&table, row, widths, indent);
        }
        text
    }

    fn shortened<'t, 'a>(&self, table: &'t Table<'a>, widths: &[usize]) -> Cow<'t, Table<'a>> {
        // A table may have 50,000 rows, and usually all names fit, so the table is copied only if
        // necessary.
        let mut columns = table.columns.iter().enumerate();
        let stays = columns.all(|(index, column)| match column.kind {
            Kind::Name => table
                .rows
                .iter()
                .all(|row| has_room(&row.cells[index].text, widths[index])),
            Kind::Contender => false,
            Kind::Words | Kind::Number => true,
        });
        if stays {
            return Cow::Borrowed(table);
        }
        let mut table = table.clone();
        for (index, width) in widths.iter().enumerate() {
            let long = texts(&table.rows, &|row| row.cells[index].text.clone());
            let short = match table.columns[index].kind {
                Kind::Name => shorten_apart(&long, *width, self.glyphs),
                Kind::Contender => {
                    let long: Vec<&str> = long.iter().map(String::as_str).collect();
                    labels(&long, *width, self.glyphs)
                }
                Kind::Words | Kind::Number => continue,
            };
            for (row, text) in table.rows.iter_mut().zip(short) {
                row.cells[index].text = text;
            }
        }
        Cow::Owned(table)
    }

    /// Formats each row below a line with its name.
    fn stacked(
        &self,
        table: &Table<'_>,
        figures: &Table<'_>,
        widths: &[usize],
        indent: usize,
    ) -> String {
        let mut text = String::new();
        for (row, of) in with_heads(figures).iter().zip(with_heads(table)) {
            let cells = of.cells.iter().zip(&table.columns);
            for (name, _) in cells.filter(|(_, column)| column.kind.is_name()) {
                let room = self.width.saturating_sub(indent);
                let shown = shorten(&name.text, room, self.glyphs);
                if !name.text.is_empty() {
                    let shown = name
                        .tone
                        .map_or(shown.clone(), |tone| self.painted(&shown, tone.code()));
                    text += &format!("{}{shown}\n", " ".repeat(indent));
                }
            }
            text += &" ".repeat(layout::GAP);
            text += &self.line(figures, row, widths, indent);
        }
        text
    }

    fn line(&self, table: &Table<'_>, row: &Row<'_>, widths: &[usize], indent: usize) -> String {
        let mut line = " ".repeat(indent);
        for (index, (cell, column)) in row.cells.iter().zip(&table.columns).enumerate() {
            if index > 0 {
                line.push_str(&" ".repeat(layout::GAP));
            }
            let fill = " ".repeat(widths[index].saturating_sub(cell.text.width()));
            let shown = match cell.tone {
                Some(tone) => self.painted(&cell.text, tone.code()),
                None => cell.text.clone(),
            };
            line += &if column.kind.to_the_left() {
                shown + &fill
            } else {
                fill + &shown
            };
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }

    fn broken(&self, table: &Table<'_>, indent: usize) -> String {
        let widths: Vec<usize> = table.columns.iter().map(|_| NAME_AT_LEAST).collect();
        let table = self.shortened(table, &widths);
        let rows: Vec<Vec<String>> = (with_heads(&table).iter())
            .map(|row| texts(&row.cells, &|cell| cell.text.clone()))
            .collect();
        let sets = table.columns.iter().map(|column| column.kind.to_the_left());
        let aligned: String = sets.map(|left| if left { 'l' } else { 'r' }).collect();
        // No real table is this wide; the limit replaces `usize::MAX`.
        let width = self.width.min(usize::from(u16::MAX));
        layout::table(&rows, &aligned, indent, width)
    }

    /// Draws the intervals, unless a table shows them already, and then the other plots of each
    /// comparison. Comparisons without data have no plots; intervals need only an estimate.
    #[cfg(feature = "reports")]
    fn plot(&self, plot: &Plot<'_>) -> String {
        let scenery = |verdict| PlotContext {
            // Without a limit, a plot would have a column for every point.
            width: match self.width {
                usize::MAX => WIDEST_PICTURE,
                width => width,
            },
            indent: INDENT,
            glyphs: self.glyphs,
            color: self.color,
            verdict,
        };
        let (baseline, candidates) = (&plot.labels[0], &plot.labels[1..]);
        let mut text = if plot.intervals {
            intervals(plot.group, candidates, &scenery(None))
        } else {
            String::new()
        };
        for (comparison, candidate) in plot.group.iter().zip(candidates) {
            text += &pictures(
                comparison,
                [baseline, candidate],
                &scenery(comparison.verdict),
            );
        }
        text.trim_start_matches('\n').to_owned()
    }
}

/// Applies styles to the first parts of a wrapped text; style 0 leaves a part plain. Wrapping may
/// add line breaks within a part, so the function counts all characters except white space.
fn styled(text: &str, parts: &[(&str, u8)]) -> String {
    let letters = |part: &str| part.chars().filter(|c| !c.is_whitespace()).count();
    let mut left: Vec<(usize, u8)> = (parts.iter())
        .map(|(part, style)| (letters(part), *style))
        .filter(|(count, _)| *count > 0)
        .rev()
        .collect();
    let mut styled = String::with_capacity(text.len() + 32);
    let mut current = 0;
    for character in text.chars() {
        let is_break = character == '\n';
        let next = match left.last() {
            _ if is_break => 0,
            Some((_, style)) if !character.is_whitespace() => *style,
            Some(_) => current,
            None => 0,
        };
        if next != current {
            if current > 0 {
                styled.push_str("\u{1b}[0m");
            }
            if next > 0 {
                styled.push_str(&format!("\u{1b}[{next}m"));
            }
            current = next;
        }
        styled.push(character);
        if !character.is_whitespace()
            && let Some((count, _)) = left.last_mut()
        {
            *count -= 1;
            if *count == 0 {
                left.pop();
                if current > 0 {
                    styled.push_str("\u{1b}[0m");
                    current = 0;
                }
            }
        }
    }
    styled
}

fn heads<'a>(table: &Table<'a>) -> Row<'a> {
    texts(&table.columns, &|column| column.head.clone()).into()
}

fn with_heads<'a>(table: &Table<'a>) -> Vec<Row<'a>> {
    let mut rows = vec![heads(table)];
    rows.extend_from_slice(&table.rows);
    rows
}

fn widths(table: &Table<'_>) -> Vec<usize> {
    let width = |index: usize| {
        let cells = table.rows.iter().map(|row| row.cells[index].text.width());
        cells.fold(table.columns[index].head.width(), usize::max)
    };
    (0..table.columns.len()).map(width).collect()
}
