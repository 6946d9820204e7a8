//! The rows of a table in little room: runs of blocks, and columns as narrow as their numbers.

use std::collections::HashMap;

use super::super::recording::RecordedBenchmark;

/// The rows of one benchmark, in their order.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) benchmark: RecordedBenchmark,
    pub(super) stretches: Vec<Stretch>,
    /// The slots of the first row and of the last.
    pub(super) slots: (u32, u32),
    /// Of each row among those of the benchmark, in order of appearance.
    pub(super) contenders: Vec<u8>,
    pub(super) flags: Column,
    pub(super) iterations: Column,
    /// By column that may be a metric.
    pub(super) values: Vec<Column>,
    pub(super) seen: Vec<Seen>,
}

/// Blocks of a replicate that follow each other and have as many rows each; where nothing is paired,
/// one of rows of a replicate. The last of a benchmark is one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) replicate: u32,
    /// The first of the blocks.
    pub(super) block: u32,
    pub(super) blocks: u32,
    /// Of each block.
    pub(super) rows: u32,
}

impl Stretch {
    fn place(&self) -> (u32, u32) {
        (self.replicate, self.block)
    }

    fn all_rows(&self) -> usize {
        self.blocks as usize * self.rows as usize
    }

    /// Takes in what follows, if it is more of the same.
    fn takes(&mut self, next: &Stretch) -> bool {
        let follows = self.replicate == next.replicate
            && self.rows == next.rows
            && self.block.checked_add(self.blocks) == Some(next.block);
        if follows {
            self.blocks += next.blocks;
        }
        follows
    }
}

/// Cells of a column, in the rows of one benchmark.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) numbers: bool,
    pub(super) empty: bool,
}

impl Rows {
    pub(super) fn new(name: &str, columns: usize) -> Self {
        Rows {
            benchmark: RecordedBenchmark::new(name),
            stretches: Vec::new(),
            slots: (0, 0),
            contenders: Vec::new(),
            flags: Column::default(),
            iterations: Column::default(),
            values: vec![Column::default(); columns],
            seen: vec![Seen::default(); columns],
        }
    }

    /// Appends rows that are not yet there, with the slots of the first and the last; `None` where
    /// they do not lie behind all others.
    pub(super) fn extend(
        &mut self,
        stretch: Stretch,
        slots: (u32, u32),
        paired: bool,
    ) -> Option<()> {
        match self.stretches.last_mut() {
            None => self.slots.0 = slots.0,
            Some(last) if paired && (last.place(), self.slots.1) >= (stretch.place(), slots.0) => {
                return None;
            }
            Some(last) if last.place() == stretch.place() => {
                // Of more blocks than this the first would get rows of its own.
                let one = stretch.blocks == 1;
                last.rows = last.rows.checked_add(stretch.rows).filter(|_| one)?;
                self.slots.1 = slots.1;
                return Some(());
            }
            // The last is whole now.
            Some(_) if paired => self.fold(),
            Some(_) => {}
        }
        self.slots.1 = slots.1;
        self.stretches.push(stretch);
        Some(())
    }

    /// Adds the last stretch to the one before, where it is more of the same.
    fn fold(&mut self) {
        if let [.., before, last] = self.stretches.as_mut_slice()
            && before.takes(last)
        {
            self.stretches.pop();
        }
    }

    /// Gives back the room that nothing stands in.
    pub(super) fn shrink(&mut self) {
        self.stretches.shrink_to_fit();
        self.contenders.shrink_to_fit();
        let columns = self.values.iter_mut();
        let columns = columns.chain([&mut self.flags, &mut self.iterations]);
        columns.for_each(Column::shrink);
    }

    /// The number of blocks.
    pub(super) fn blocks(&self, paired: bool) -> usize {
        if paired {
            self.stretches.iter().map(|one| one.blocks as usize).sum()
        } else {
            self.contenders.len()
        }
    }

    /// Appends all rows of a later part.
    pub(super) fn append(&mut self, other: Rows, paired: bool) -> Option<()> {
        let known = other.benchmark.contenders();
        let known = known.map(|(name, role)| self.benchmark.contender(name, role).ok());
        let known: Vec<usize> = known.collect::<Option<_>>()?;
        for (place, stretch) in other.stretches.iter().enumerate() {
            // Within the other part all is in order.
            let first = if place == 0 { other.slots.0 } else { 0 };
            self.extend(*stretch, (first, other.slots.1), paired)?;
        }
        let contenders = other.contenders.iter();
        self.contenders
            .extend(contenders.map(|index| known[usize::from(*index)] as u8));
        self.flags.append(&other.flags);
        self.iterations.append(&other.iterations);
        for (column, other) in self.values.iter_mut().zip(&other.values) {
            column.append(other);
        }
        for (seen, other) in self.seen.iter_mut().zip(&other.seen) {
            seen.numbers |= other.numbers;
            seen.empty |= other.empty;
        }
        Some(())
    }

    /// Leaves out a last block that was cut off; `None` where another one is.
    pub(super) fn cut(&mut self) -> Option<()> {
        let last = self.stretches.len().checked_sub(1)?;
        let (mut from, mut before) = (0, 0);
        for (place, stretch) in self.stretches.iter().enumerate() {
            let contenders = &self.contenders[from..from + stretch.all_rows()];
            let missing = contenders.chunks(stretch.rows as usize).any(|block| {
                let present = block.iter().fold(0_u64, |present, one| present | 1 << one);
                self.benchmark.missing_from(present).is_some()
            });
            if place == last && (missing || stretch.rows < before) {
                self.stretches.pop();
                break;
            } else if missing {
                return None;
            }
            from += contenders.len();
            before = stretch.rows;
        }
        Some(())
    }

    /// The number of replicates, and of the blocks of that which has most.
    pub(super) fn extent(&self, paired: bool) -> (u32, u32) {
        let mut blocks_of = HashMap::new();
        for stretch in &self.stretches {
            let blocks = if paired { stretch.blocks } else { stretch.rows };
            *blocks_of.entry(stretch.replicate).or_insert(0) += blocks;
        }
        let replicates = blocks_of.len() as u32;
        (
            replicates,
            blocks_of.into_values().max().unwrap_or_default(),
        )
    }
}

/// Numbers of a column in as little room as they need.
#[derive(Clone, Debug)]
pub(super) enum Column {
    /// So many of one number.
    Same(f64, usize),
    Whole(Vec<u32>),
    Any(Vec<f64>),
}

impl Default for Column {
    fn default() -> Self {
        Column::Same(0.0, 0)
    }
}

impl Column {
    pub(super) fn push(&mut self, value: f64) {
        match self {
            Column::Any(values) => values.push(value),
            Column::Same(_, 0) => *self = Column::Same(value, 1),
            Column::Same(same, count) if same.to_bits() == value.to_bits() => *count += 1,
            Column::Whole(values) => match whole(value) {
                Some(value) => values.push(value),
                None => {
                    let wide = values.iter().map(|value| f64::from(*value));
                    *self = Column::Any(wide.chain([value]).collect());
                }
            },
            Column::Same(same, count) => {
                *self = match (whole(*same), whole(value)) {
                    (Some(same), Some(_)) => Column::Whole(vec![same; *count]),
                    _ => Column::Any(vec![*same; *count]),
                };
                self.push(value);
            }
        }
    }

    fn append(&mut self, other: &Column) {
        (0..other.len()).for_each(|row| self.push(other.at(row)));
    }

    fn shrink(&mut self) {
        match self {
            Column::Same(..) => {}
            Column::Whole(values) => values.shrink_to_fit(),
            Column::Any(values) => values.shrink_to_fit(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Column::Same(_, count) => *count,
            Column::Whole(values) => values.len(),
            Column::Any(values) => values.len(),
        }
    }

    pub(super) fn at(&self, row: usize) -> f64 {
        match self {
            Column::Same(same, _) => *same,
            Column::Whole(values) => values[row].into(),
            Column::Any(values) => values[row],
        }
    }
}

/// A number as 32 bits that stand for the same; −0 is none.
fn whole(value: f64) -> Option<u32> {
    let whole = value as u32;
    (f64::from(whole).to_bits() == value.to_bits()).then_some(whole)
}
