//! A table before it is known where it is shown.

use deadheat_model::Verdict;

/// What stands in a column, which decides how it is set and what becomes of it
/// where there is little room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The benchmark; shortened where it must be.
    Name,
    /// Words.
    Words,
    /// A quantity.
    Number,
    /// A p-value, which the interval tells as well.
    PValue,
}

impl Kind {
    /// Whether its cells are set to the left.
    pub(super) fn to_the_left(self) -> bool {
        matches!(self, Kind::Name | Kind::Words)
    }
}

/// The colour of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// Of a verdict.
    Verdict(Verdict),
    /// Of a failure.
    Failure,
    /// Of what goes over all rows: no colour, but bold.
    Total,
}

impl Tone {
    /// Whether it is the colour of a change in one direction.
    pub(super) fn moved(self) -> bool {
        matches!(self, Tone::Verdict(Verdict::Faster | Verdict::Slower))
    }

    /// The colour as terminals number it.
    pub(super) fn code(self) -> u8 {
        match self {
            Tone::Verdict(Verdict::Faster) => 32,
            Tone::Verdict(Verdict::Slower) | Tone::Failure => 31,
            Tone::Verdict(Verdict::Equivalent) => 36,
            Tone::Verdict(Verdict::Inconclusive) => 33,
            Tone::Total => 1,
        }
    }
}

/// A cell of a row.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) tone: Option<Tone>,
}

impl Cell {
    /// A cell of this colour.
    pub(super) fn toned(text: String, tone: Option<Tone>) -> Cell {
        Cell { text, tone }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell { text, tone: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        text.to_owned().into()
    }
}

/// A column and its head.
pub(super) struct Column {
    pub(super) kind: Kind,
    pub(super) head: String,
}

/// A table: columns, and rows of as many cells.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// Adds a column to the right.
    pub(super) fn column(&mut self, kind: Kind, head: impl Into<String>) {
        let head = head.into();
        self.columns.push(Column { kind, head });
    }

    /// The heads as cells.
    pub(super) fn heads(&self) -> Vec<Cell> {
        let heads = self.columns.iter().map(|column| column.head.as_str());
        heads.map(Cell::from).collect()
    }

    /// The table without the columns of a kind.
    pub(super) fn without(&self, kind: Kind) -> Sheet {
        let kept = |index: &usize| self.columns[*index].kind != kind;
        let kept: Vec<usize> = (0..self.columns.len()).filter(kept).collect();
        let mut sheet = Sheet::default();
        for index in &kept {
            let column = &self.columns[*index];
            sheet.column(column.kind, &column.head);
        }
        let cells = |row: &Vec<Cell>| kept.iter().map(|index| row[*index].clone()).collect();
        sheet.rows = self.rows.iter().map(cells).collect();
        sheet
    }
}
