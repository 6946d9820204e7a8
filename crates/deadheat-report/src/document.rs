//! The tree of blocks that represents an answer, independent of the output format.
//!
//! The builders (`run`, `comparison`, `calibration`, `doctor`) put every fact into a block once.
//! The renderers (`terminal`, `markdown`, and `page` for HTML) know only the types of blocks. Texts
//! in the tree are already escaped for terminals (see `names`); the renderers escape them for
//! markup.
//!
//! Programs of deadheat build other answers from these blocks, and render them with
//! [`Terminal`](crate::Terminal), [`markdown_of_blocks`](crate::markdown_of_blocks) and
//! [`page_of_blocks`](crate::page_of_blocks).

use deadheat_model::{Comparison, Verdict};

use crate::glyphs::Glyphs;
use crate::plot::{ForestRow, color_of};
use crate::verdict_sentence::Sentence;

/// A part of an answer, with the information that a renderer needs to place it.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    pub(crate) content: Content<'a>,
    /// True to omit the empty line above the block in a terminal.
    pub(crate) tight: bool,
    /// True if a pull-request comment, whose length is limited, must contain this block, and omits
    /// other blocks instead.
    pub(crate) needed: bool,
    /// The singular and the plural noun for the items of the block, with which a pull-request
    /// comment counts omitted items.
    pub(crate) nouns: (&'static str, &'static str),
}

#[derive(Clone, Debug)]
pub(crate) enum Content<'a> {
    /// A title with its level; level 1 is the title of the whole answer.
    Heading(u8, String),
    /// The counts of the verdicts, and the time that the run took.
    Headline(String, Option<String>),
    /// The gates of a run: whether they are open, a sentence about this, and the benchmarks that
    /// break a rule.
    Gate {
        is_open: bool,
        title: String,
        passed: Option<String>,
        broken: Vec<Broken>,
    },
    /// Sentences, and the number of spaces by which a terminal indents them.
    Paragraph(String, usize),
    /// The names of a benchmark and a candidate, followed by a title.
    Titled(Vec<String>, &'static str),
    Verdicts(Vec<VerdictLine>),
    Table(Table<'a>),
    Notes(Vec<Note>),
    /// Paragraphs and commands, indented after a short lead.
    Entry(Entry),
    List(Vec<String>),
    /// A title, and facts as pairs of name and value.
    Facts(&'static str, Vec<(String, String)>),
    /// A section: the name of a benchmark, and blocks about it. Renderers omit a section whose
    /// blocks are all empty.
    Section(String, Vec<Block<'a>>),
    /// A summary, and blocks that a format with folding hides until the reader opens them.
    Fold(String, Vec<Block<'a>>),
    Plot(Plot<'a>),
    /// A shell command for the user to copy.
    Code(String),
    /// The time that the run took, and the path of its file. A terminal never shortens this path.
    Closing(String),
}

/// The verdict on one candidate, with its names and the sentences below it.
#[derive(Clone, Debug)]
pub(crate) struct VerdictLine {
    /// The name of the benchmark, and the name of the candidate if there are several. Only lists of
    /// several benchmarks show these names.
    pub(crate) names: Vec<String>,
    pub(crate) mark: &'static str,
    pub(crate) tone: Option<Tone>,
    pub(crate) sentence: Sentence,
    /// Sentences that support the verdict: placement, design, noise floor, counts.
    pub(crate) details: Vec<String>,
}

/// Paragraphs and commands, indented after a short lead such as the title of a finding.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The lead, such as a mark and a title.
    pub lead: String,
    /// The colour of the lead.
    pub tone: Tone,
    /// The width of the lead in terminal columns; all lines of the text start after it.
    pub margin: usize,
    /// Paragraphs and commands, in order.
    pub parts: Vec<Part>,
}

/// A part of an entry.
#[derive(Clone, Debug)]
pub enum Part {
    /// A paragraph of text.
    Words(String),
    /// A shell command for the user to copy.
    Command(String),
}

/// A broken rule, with the names of the benchmark and candidate, and the excuse if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) names: Vec<String>,
    pub(crate) rule: String,
    pub(crate) excuse: Option<String>,
}

/// The severity of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A failure: the run fails for this reason, or a benchmark failed.
    Alarm,
    /// A warning: a reason to doubt the result.
    Warning,
    /// A note, which only helps to read the result.
    Note,
}

/// A remark on a result. `place` is the name of the benchmark, if the text does not contain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub(crate) severity: Severity,
    pub(crate) place: Option<String>,
    pub(crate) text: String,
}

impl Note {
    /// Returns the remarks, the most severe first; remarks of equal severity keep their order. The
    /// function does not use the standard library's stable sort, which would add more machine code
    /// than all other functions of `Note`.
    pub(crate) fn gravest_first(notes: &[Note]) -> Vec<Note> {
        let mut ordered = Vec::with_capacity(notes.len());
        for severity in [Severity::Alarm, Severity::Warning, Severity::Note] {
            ordered.extend(notes.iter().filter(|one| one.severity == severity).cloned());
        }
        ordered
    }

    /// Returns a remark of this severity for each text.
    pub fn all(severity: Severity, texts: Vec<String>) -> Vec<Note> {
        let mut notes = Vec::with_capacity(texts.len());
        for text in texts {
            notes.push(Note::of(severity, text));
        }
        notes
    }

    pub(crate) fn is_note(&self) -> bool {
        self.severity == Severity::Note
    }

    /// Creates a remark without a place; `text` must name its subject itself.
    pub fn of(severity: Severity, text: String) -> Note {
        Note {
            severity,
            place: None,
            text,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Plot<'a> {
    pub(crate) group: &'a [Comparison],
    /// The labels of the contenders, the baseline first.
    pub(crate) labels: Vec<String>,
    /// True to draw the confidence intervals too; false if a table next to the plot already draws
    /// them.
    pub(crate) intervals: bool,
}

/// The type of a table column, which decides its alignment, and how a narrow terminal shortens its
/// cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The name of a benchmark, which a narrow terminal shortens.
    Name,
    /// The name of a contender. Shortened names must stay different.
    Contender,
    /// Text, aligned to the left.
    Words,
    /// A number, aligned to the right.
    Number,
}

impl Kind {
    pub(crate) fn to_the_left(self) -> bool {
        self != Kind::Number
    }

    pub(crate) fn is_name(self) -> bool {
        matches!(self, Kind::Name | Kind::Contender)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) kind: Kind,
    pub(crate) head: String,
    /// True if a narrow terminal omits this column before it shortens others, because other columns
    /// show similar information.
    pub(crate) spare: bool,
}

/// The colour of a cell or a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The colour of a verdict.
    Verdict(Verdict),
    /// The colour of a failure.
    Failure,
    /// The style of a total over all rows: bold, without colour.
    Total,
}

impl Tone {
    /// Returns true for the colours of faster and slower verdicts.
    pub(crate) fn moved(self) -> bool {
        matches!(self, Tone::Verdict(Verdict::Faster | Verdict::Slower))
    }

    /// Returns the code of the colour in terminal escape sequences.
    pub fn code(self) -> u8 {
        match self {
            Tone::Verdict(verdict) => color_of(Some(verdict)).unwrap_or_default(),
            Tone::Failure => Tone::Verdict(Verdict::Slower).code(),
            Tone::Total => 1,
        }
    }
}

/// A cell of a table row: its text, and its colour if it has one.
#[derive(Clone, Debug)]
pub struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Option<Tone>,
}

impl Cell {
    /// Creates a cell with this colour; `None` for a cell without colour.
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
    /// False if a format with folding may hide this row in a long table.
    pub(crate) changed: bool,
    /// The interval that a page draws next to the row.
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

/// A table: columns, and rows with one cell for each column.
#[derive(Clone, Debug, Default)]
pub struct Table<'a> {
    /// The title of the table, which only the HTML page shows; in other formats, the column heads
    /// are enough.
    pub caption: String,
    pub(crate) columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row<'a>>,
    /// If less than this width, in columns, is left for the names in a terminal, the table omits
    /// its spare columns.
    pub name_at_ease: usize,
    /// True if a terminal shows the names last, so that long names do not push the numbers off the
    /// screen.
    pub(crate) names_last: bool,
    /// If the table has more rows than this number, formats that can fold hide the unchanged rows.
    /// The text describes the hidden rows.
    pub(crate) folds: Option<(usize, &'static str)>,
}

impl<'a> Table<'a> {
    /// Creates a table whose first column has the type `first`; the other columns contain numbers.
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

    /// Adds a spare column to the right, which a narrow terminal omits.
    pub fn spare_column(&mut self, kind: Kind, head: impl Into<String>) {
        self.column(kind, head);
        if let Some(last) = self.columns.last_mut() {
            last.spare = true;
        }
    }

    /// Lets formats that can fold hide all rows of the table if it has more than `more_than` rows.
    pub(crate) fn folded(mut self, more_than: usize) -> Table<'a> {
        self.folds = Some((more_than, ""));
        for row in &mut self.rows {
            row.changed = false;
        }
        self
    }

    pub(crate) fn keeping(&self, keeps: impl Fn(&Column) -> bool) -> Table<'a> {
        let kept: Vec<usize> = (0..self.columns.len())
            .filter(|index| keeps(&self.columns[*index]))
            .collect();
        self.in_order(&kept)
    }

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

    /// Creates a title with its level; level 1 is the title of the whole answer.
    pub fn heading(level: u8, title: String) -> Block<'a> {
        Block::of(Content::Heading(level, title))
    }

    /// Creates a paragraph.
    pub fn paragraph(text: impl Into<String>) -> Block<'a> {
        Block::of(Content::Paragraph(text.into(), 0))
    }

    /// Creates an indented paragraph, which belongs to the block above.
    pub fn indented(text: impl Into<String>) -> Block<'a> {
        Block::of(Content::Paragraph(text.into(), 2))
    }

    /// Creates a block with a table.
    pub fn table(table: Table<'a>) -> Block<'a> {
        Block::of(Content::Table(table)).called(("row", "rows"))
    }

    /// Creates the section of a benchmark. It is omitted if its blocks show nothing.
    pub fn section(name: String, blocks: Vec<Block<'a>>) -> Block<'a> {
        Block::of(Content::Section(name, blocks))
    }

    /// Creates a block of remarks; `None` if `notes` is empty.
    pub fn notes(notes: Vec<Note>) -> Option<Block<'a>> {
        (!notes.is_empty()).then(|| Block::of(Content::Notes(notes)))
    }

    /// Creates a list; `None` if it is empty.
    pub fn list(items: Vec<String>) -> Option<Block<'a>> {
        (!items.is_empty()).then(|| Block::of(Content::List(items)))
    }

    /// Creates entries one below the other, without empty lines between them.
    pub fn entries(entries: impl IntoIterator<Item = Entry>) -> Vec<Block<'a>> {
        let block = |(index, entry)| {
            let block = Block::of(Content::Entry(entry));
            if index == 0 { block } else { block.tight() }
        };
        entries.into_iter().enumerate().map(block).collect()
    }

    /// Creates a block with one verdict and the sentences that support it.
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

    /// Returns the block without an empty line above it in a terminal.
    pub fn tight(self) -> Block<'a> {
        Block {
            tight: true,
            ..self
        }
    }

    /// Marks a block that has priority in a pull-request comment, whose length is limited.
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

/// Returns the mark of a verdict and its colour.
pub fn mark_of(verdict: Option<Verdict>, glyphs: Glyphs) -> (&'static str, Option<Tone>) {
    (glyphs.mark(verdict), verdict.map(Tone::Verdict))
}
