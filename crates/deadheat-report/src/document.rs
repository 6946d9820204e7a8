//! An answer as a tree: what is said and of what kind it is, before it is known where it is shown.
//!
//! The builders (`run`, `comparison`, `calibration`, `doctor`) put every fact into blocks once; the renderers
//! (`terminal`, `markdown`, and `page` for HTML) know blocks and nothing of what they say. Text in a
//! tree is escaped for terminals already (see `names`), and for no markup: that is the renderer's.
//!
//! Products build their answers of the same blocks, and render them by
//! [`Terminal`](crate::Terminal), [`markdown_of_blocks`](crate::markdown_of_blocks) and
//! [`page_of_blocks`](crate::page_of_blocks).

use deadheat_model::{Comparison, Verdict};

use crate::glyphs::Glyphs;
use crate::plot::{ForestRow, color_of};
use crate::verdict_sentence::Sentence;

/// A part of an answer, and what a medium needs to know to place it.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    pub(crate) content: Content<'a>,
    /// True where no empty line parts it from the block above in a terminal.
    pub(crate) tight: bool,
    /// True where it gets its room in a comment before other blocks.
    pub(crate) needed: bool,
    /// The noun for one of its items and for several, where a comment has no room for them.
    pub(crate) nouns: (&'static str, &'static str),
}

/// The contents of a block.
#[derive(Clone, Debug)]
pub(crate) enum Content<'a> {
    /// A title of this level; 1 is that of the whole answer.
    Heading(u8, String),
    /// The tally of verdicts, and what the run took.
    Headline(String, Option<String>),
    /// The gates of a run: whether they are open, in words, and the benchmarks that break which
    /// rule.
    Gate {
        is_open: bool,
        title: String,
        passed: Option<String>,
        broken: Vec<Broken>,
    },
    /// Sentences; in a terminal behind so many spaces.
    Paragraph(String, usize),
    /// A title behind the names of what it is about.
    Titled(Vec<String>, &'static str),
    /// Verdicts, one for each candidate.
    Verdicts(Vec<VerdictLine>),
    /// Figures in rows and columns.
    Table(Table<'a>),
    /// Doubts and other remarks.
    Notes(Vec<Note>),
    /// Words and commands behind a lead, as in a dictionary.
    Entry(Entry),
    /// Sentences that stand beside each other.
    List(Vec<String>),
    /// Facts about a thing, name by name, under a title.
    Facts(&'static str, Vec<(String, String)>),
    /// One benchmark; nothing of it is shown where its blocks show nothing.
    Section(String, Vec<Block<'a>>),
    /// Blocks that unfold behind a summary, where a medium can fold.
    Fold(String, Vec<Block<'a>>),
    /// A drawing, where a medium can draw.
    Plot(Plot<'a>),
    /// A command to type.
    Code(String),
    /// What the run took and where it is recorded; a terminal cuts no path in it.
    Closing(String),
}

/// The verdict on one candidate.
#[derive(Clone, Debug)]
pub(crate) struct VerdictLine {
    /// The benchmark, and the candidate where it has several: for lists over many benchmarks.
    pub(crate) names: Vec<String>,
    pub(crate) mark: &'static str,
    pub(crate) tone: Option<Tone>,
    pub(crate) sentence: Sentence,
    /// Sentences one needs to believe it: placement, design, noise floor, counts.
    pub(crate) details: Vec<String>,
}

/// Words and commands behind a lead.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The text in front.
    pub lead: String,
    /// The colour of the lead.
    pub tone: Tone,
    /// The width of the lead in terminal columns; all lines of the text start after it.
    pub margin: usize,
    /// Words and commands, in order.
    pub parts: Vec<Part>,
}

/// A part of an entry.
#[derive(Clone, Debug)]
pub enum Part {
    /// Prose.
    Words(String),
    /// A command to type.
    Command(String),
}

/// A rule that is broken: by which benchmark and candidate, and what excuses it.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) names: Vec<String>,
    pub(crate) rule: String,
    pub(crate) excuse: Option<String>,
}

/// The gravity of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A run fails for it, or a benchmark did.
    Alarm,
    /// It casts doubt on the result.
    Warning,
    /// It helps to read the result.
    Note,
}

/// A remark, and the benchmark it is about where it does not say so itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub(crate) severity: Severity,
    pub(crate) place: Option<String>,
    pub(crate) text: String,
}

impl Note {
    /// The remarks with the gravest first; otherwise in their order. A sort would take more code
    /// than everything else about them.
    pub(crate) fn gravest_first(notes: &[Note]) -> Vec<Note> {
        let mut ordered = Vec::with_capacity(notes.len());
        for severity in [Severity::Alarm, Severity::Warning, Severity::Note] {
            ordered.extend(notes.iter().filter(|one| one.severity == severity).cloned());
        }
        ordered
    }

    /// Remarks of one gravity.
    pub fn all(severity: Severity, texts: Vec<String>) -> Vec<Note> {
        let mut notes = Vec::with_capacity(texts.len());
        for text in texts {
            notes.push(Note::of(severity, text));
        }
        notes
    }

    /// True if it only helps to read the result.
    pub(crate) fn is_note(&self) -> bool {
        self.severity == Severity::Note
    }

    /// A remark that says itself what it is about.
    pub fn of(severity: Severity, text: String) -> Note {
        Note {
            severity,
            place: None,
            text,
        }
    }
}

/// The comparisons of a benchmark, to be drawn.
#[derive(Clone, Debug)]
pub(crate) struct Plot<'a> {
    pub(crate) group: &'a [Comparison],
    /// The labels of the contenders, the baseline first.
    pub(crate) labels: Vec<String>,
    /// True where the intervals are drawn too, which a table may have beside it.
    pub(crate) intervals: bool,
}

/// The contents of a column, which decide how it is set and what becomes of it where there is
/// little room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The name of a benchmark; shortened where it must be.
    Name,
    /// The name of a contender: of these no two may become alike.
    Contender,
    /// Prose.
    Words,
    /// A figure, set to the right.
    Number,
}

impl Kind {
    /// True where its cells are set to the left.
    pub(crate) fn to_the_left(self) -> bool {
        self != Kind::Number
    }

    /// True for names, which are shortened where they must be.
    pub(crate) fn is_name(self) -> bool {
        matches!(self, Kind::Name | Kind::Contender)
    }
}

/// A column and its head.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) kind: Kind,
    pub(crate) head: String,
    /// True where it goes first when there is no room: other columns tell as much.
    pub(crate) spare: bool,
}

/// The colour of a cell or a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Of a verdict.
    Verdict(Verdict),
    /// Of a failure.
    Failure,
    /// Of what goes over all rows: no colour, but bold.
    Total,
}

impl Tone {
    /// True for the colour of a change in one direction.
    pub(crate) fn moved(self) -> bool {
        matches!(self, Tone::Verdict(Verdict::Faster | Verdict::Slower))
    }

    /// The colour as terminals number it.
    pub fn code(self) -> u8 {
        match self {
            Tone::Verdict(verdict) => color_of(Some(verdict)).unwrap_or_default(),
            Tone::Failure => Tone::Verdict(Verdict::Slower).code(),
            Tone::Total => 1,
        }
    }
}

/// A cell of a row.
#[derive(Clone, Debug)]
pub struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Option<Tone>,
}

impl Cell {
    /// A cell of this colour.
    pub fn toned(text: String, tone: Option<Tone>) -> Cell {
        Cell { text, tone }
    }
}

impl<S: Into<String>> From<S> for Cell {
    fn from(text: S) -> Cell {
        Cell::toned(text.into(), None)
    }
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    pub(crate) cells: Vec<Cell>,
    /// False where it is folded away among many rows.
    pub(crate) changed: bool,
    /// The interval drawn beside it.
    pub(crate) drawn: Option<ForestRow<'a>>,
}

impl<C: Into<Cell>> From<Vec<C>> for Row<'_> {
    fn from(cells: Vec<C>) -> Self {
        Row {
            cells: cells.into_iter().map(Into::into).collect(),
            changed: true,
            drawn: None,
        }
    }
}

/// A table: columns, and rows of as many cells.
#[derive(Clone, Debug, Default)]
pub struct Table<'a> {
    /// Its name, which a page shows; elsewhere the heads say as much.
    pub caption: String,
    pub(crate) columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row<'a>>,
    /// Columns of a terminal that the longest name should have before spare columns take room.
    pub name_at_ease: usize,
    /// True where a terminal shows the names last, so that long ones push no figures away.
    pub(crate) names_last: bool,
    /// With more rows than these, those that did not change are folded away where a medium can;
    /// and how those are called.
    pub(crate) folds: Option<(usize, &'static str)>,
}

impl<'a> Table<'a> {
    /// A table whose first column is of this kind; the other columns hold numbers.
    pub fn new<S: Into<String>>(first: Kind, heads: impl IntoIterator<Item = S>) -> Self {
        let mut table = Table::default();
        for head in heads {
            let kind = [first, Kind::Number][table.columns.len().min(1)];
            table.column(kind, head);
        }
        table
    }

    /// Adds a column to the right.
    pub fn column(&mut self, kind: Kind, head: impl Into<String>) {
        self.columns.push(Column {
            kind,
            head: head.into(),
            spare: false,
        });
    }

    /// Adds a column to the right that goes first where there is no room.
    pub fn spare_column(&mut self, kind: Kind, head: impl Into<String>) {
        self.column(kind, head);
        if let Some(last) = self.columns.last_mut() {
            last.spare = true;
        }
    }

    /// The table with all of its rows folded away where there are more than so many.
    pub(crate) fn folded(mut self, more_than: usize) -> Table<'a> {
        self.folds = Some((more_than, ""));
        for row in &mut self.rows {
            row.changed = false;
        }
        self
    }

    /// The table with such of its columns as are kept.
    pub(crate) fn keeping(&self, keeps: impl Fn(&Column) -> bool) -> Table<'a> {
        let kept: Vec<usize> = (0..self.columns.len())
            .filter(|index| keeps(&self.columns[*index]))
            .collect();
        self.in_order(&kept)
    }

    /// The table with these columns in this order.
    pub(crate) fn in_order(&self, columns: &[usize]) -> Table<'a> {
        let row = |row: &Row<'a>| Row {
            cells: columns
                .iter()
                .map(|index| row.cells[*index].clone())
                .collect(),
            ..*row
        };
        Table {
            columns: columns
                .iter()
                .map(|index| self.columns[*index].clone())
                .collect(),
            rows: self.rows.iter().map(row).collect(),
            caption: self.caption.clone(),
            ..*self
        }
    }
}

impl<'a> Block<'a> {
    pub(crate) fn of(content: Content<'a>) -> Block<'a> {
        Block {
            content,
            tight: false,
            needed: false,
            nouns: ("line", "lines"),
        }
    }

    /// A title of this level; 1 is that of the whole answer.
    pub fn heading(level: u8, title: String) -> Block<'a> {
        Block::of(Content::Heading(level, title))
    }

    /// Sentences.
    pub fn paragraph(text: impl Into<String>) -> Block<'a> {
        Block::of(Content::Paragraph(text.into(), 0))
    }

    /// A paragraph that belongs to what stands above it.
    pub fn indented(text: impl Into<String>) -> Block<'a> {
        Block::of(Content::Paragraph(text.into(), 2))
    }

    /// A table.
    pub fn table(table: Table<'a>) -> Block<'a> {
        Block::of(Content::Table(table)).called(("row", "rows"))
    }

    /// The blocks of one benchmark below its name; nothing of it is shown where they show nothing.
    pub fn section(name: String, blocks: Vec<Block<'a>>) -> Block<'a> {
        Block::of(Content::Section(name, blocks))
    }

    /// Remarks; `None` where there is none.
    pub fn notes(notes: Vec<Note>) -> Option<Block<'a>> {
        (!notes.is_empty()).then(|| Block::of(Content::Notes(notes)))
    }

    /// A list; `None` where it is empty.
    pub fn list(items: Vec<String>) -> Option<Block<'a>> {
        (!items.is_empty()).then(|| Block::of(Content::List(items)))
    }

    /// Entries one below the other.
    pub fn entries(entries: impl IntoIterator<Item = Entry>) -> Vec<Block<'a>> {
        let block = |(index, entry)| {
            let block = Block::of(Content::Entry(entry));
            if index == 0 { block } else { block.tight() }
        };
        entries.into_iter().enumerate().map(block).collect()
    }

    /// A verdict of its own, with what one needs to believe it.
    pub fn verdict(
        (mark, tone): (&'static str, Option<Tone>),
        sentence: String,
        details: Vec<String>,
    ) -> Block<'a> {
        Block::of(Content::Verdicts(vec![VerdictLine {
            names: Vec::new(),
            mark,
            tone,
            sentence: sentence.into(),
            details,
        }]))
    }

    /// The block without an empty line above it in a terminal.
    pub fn tight(self) -> Block<'a> {
        Block {
            tight: true,
            ..self
        }
    }

    /// The block, which a comment of limited length shows before others.
    pub fn needed(self) -> Block<'a> {
        Block {
            needed: true,
            ..self
        }
    }

    pub(crate) fn called(self, nouns: (&'static str, &'static str)) -> Block<'a> {
        Block { nouns, ..self }
    }
}

/// The mark of a verdict with its colour.
pub fn mark_of(verdict: Option<Verdict>, glyphs: Glyphs) -> (&'static str, Option<Tone>) {
    (glyphs.mark(verdict), verdict.map(Tone::Verdict))
}
