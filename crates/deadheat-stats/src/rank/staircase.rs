//! Selection among all pairs of two sorted slices, without writing the pairs out.

use std::cmp::Ordering;

/// If there are at most this many entries, all of them are computed, and the wanted ones selected
/// among them.
const FEW: usize = 2_048;

/// The number of columns that are tested together. The ends of adjacent rows usually differ by
/// fewer columns.
const FEW_COLUMNS: usize = 4;

/// A column index, or the index after the last column. It has 32 bits to save memory, because each
/// row has six such indices.
type Column = u32;

/// The largest number of columns that the index can hold.
pub(super) const MOST_COLUMNS: usize = Column::MAX as usize;

/// A matrix computed from pairs, whose rows and columns both ascend: entry (i, j) =
/// `entry`(`rows[i]`, `columns[j]`).
///
/// A walk starts at the last entry of the first row and goes left if the entry is too large,
/// otherwise down. It finds the number of entries below a pivot in every row, in as many steps as
/// there are rows and columns.
pub(super) struct Staircase<'a, F> {
    /// The row values, in the order in which entries ascend.
    pub rows: &'a [f64],
    /// The column values, in the order in which entries ascend; at most [`MOST_COLUMNS`].
    pub columns: &'a [f64],
    /// True if only the entries with j ≥ i count.
    pub triangular: bool,
    /// Computes an entry from a row value and a column value. Never decreases from one row or
    /// column to the next.
    pub entry: F,
}

impl<F: Fn(f64, f64) -> f64> Staircase<'_, F> {
    fn entries(&self) -> usize {
        (0..self.rows.len())
            .map(|row| self.columns.len() - self.first(row))
            .sum()
    }

    fn first(&self, row: usize) -> usize {
        if self.triangular { row } else { 0 }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        (self.entry)(self.rows[row], self.columns[column])
    }

    /// Returns the middle entry, or the midpoint of the two middle ones. There must be at least one
    /// entry.
    pub(super) fn median(&self, scratch: &mut Vec<f64>) -> f64 {
        let [lower] = self.nths([self.middle()], scratch);
        self.median_from(lower)
    }

    /// The rank of the middle entry, or of the lower of the two middle ones.
    pub(super) fn middle(&self) -> usize {
        (self.entries() - 1) / 2
    }

    /// The median, given the entry of rank [`middle`](Self::middle).
    pub(super) fn median_from(&self, lower: f64) -> f64 {
        let entries = self.entries();
        if entries % 2 == 1 {
            return lower;
        }
        lower.midpoint(self.next_after(lower, entries / 2))
    }

    /// The entry of rank `k`, given that `lower` is the entry of the rank before it.
    fn next_after(&self, lower: f64, k: usize) -> f64 {
        let mut ends = vec![0; self.rows.len()];
        if self.count(&mut ends, |entry| entry <= lower) > k {
            return lower;
        }
        let beyond = ends.iter().enumerate();
        let beyond = beyond.filter(|(_, end)| **end < self.columns.len());
        beyond
            .map(|(row, &end)| self.at(row, end))
            .fold(f64::INFINITY, f64::min)
    }

    /// The entries of these ranks, counted from 0, ascending and less than the number of entries.
    /// Ranks close to each other share the first round.
    pub(super) fn nths<const RANKS: usize>(
        &self,
        ranks: [usize; RANKS],
        scratch: &mut Vec<f64>,
    ) -> [f64; RANKS] {
        let mut open = Open::all(self);
        let rows = self.rows.len();
        let mut walks = Walks {
            below: vec![0; rows],
            upto: vec![0; rows],
        };
        if let ([first, .., last], true) = (&ranks[..], open.left > self.enough()) {
            let (first, last) = (*first, *last);
            let pivots = self.bracket(&open, (first, last), scratch);
            let _ = self.narrow(&mut open, (first, last), pivots, &mut walks);
        }
        ranks.map(|k| self.nth(k, open.clone(), &mut walks, scratch))
    }

    /// If at most this many entries are open, all of them are computed, and the wanted ones
    /// selected among them. For samples of similar size, two rounds leave about as many entries as
    /// there are rows and columns; selecting among twice as many costs less than a third round.
    fn enough(&self) -> usize {
        FEW.max(2 * (self.rows.len() + self.columns.len()))
    }

    /// The `k`-th smallest entry, which must be among the open ones (those not yet excluded).
    ///
    /// Each round takes two pivots close around the wanted rank, from a sample of the open entries
    /// or by interpolation between the previous pivots. Two walks then exclude the entries outside
    /// the pivots, usually all but 1%. If the pivots miss the rank, the next pivot is the weighted
    /// median of the rows' medians, which excludes at least a quarter (Johnson & Mizoguchi 1978),
    /// so that no input takes more than O(n log n).
    fn nth(&self, k: usize, mut open: Open, walks: &mut Walks, scratch: &mut Vec<f64>) -> f64 {
        let enough = self.enough();
        let mut deceived = false;
        while open.left > enough {
            let before = open.left;
            let pivots = if deceived {
                let pivot = self.weighted_median(&open);
                (pivot, pivot)
            } else if let Some(pivots) = open.between(k, enough) {
                pivots
            } else {
                self.bracket(&open, (k, k), scratch)
            };
            if let Some(found) = self.narrow(&mut open, (k, k), pivots, walks) {
                return found;
            }
            deceived = open.left > before / 4 * 3;
        }
        scratch.clear();
        for (row, (&low, &high)) in open.low.iter().zip(&open.high).enumerate() {
            let open = &self.columns[low as usize..high as usize];
            scratch.extend(open.iter().map(|&b| (self.entry)(self.rows[row], b)));
        }
        let rank = k - open.ruled_out;
        *scratch.select_nth_unstable_by(rank, f64::total_cmp).1
    }

    /// Excludes the entries that the pivots `from` and `to` separate from the ranks `first` to
    /// `last`. If the pivots are equal and all these ranks have this value, returns it.
    fn narrow(
        &self,
        open: &mut Open,
        (first, last): (usize, usize),
        (from, to): (f64, f64),
        walks: &mut Walks,
    ) -> Option<f64> {
        let (below, upto) = self.walk_twice((from, to), walks);
        if first >= below && last < upto && from == to {
            return Some(from);
        }
        let behind = open.ruled_out + open.left;
        let (mut start, mut end) = (open.ruled_out, behind);
        if last < below {
            lower_to(&mut open.high, &walks.below, &open.low);
            (open.to, end) = (from, below);
        } else if last < upto {
            lower_to(&mut open.high, &walks.upto, &open.low);
            (open.to, end) = (to, upto);
        }
        if first >= upto {
            raise_to(&mut open.low, &walks.upto, &open.high);
            (open.from, start) = (to, upto);
        } else if first >= below {
            raise_to(&mut open.low, &walks.below, &open.high);
            (open.from, start) = (from, below);
        }
        // If a pivot equals `open.from` or `open.to`, the walk may count entries that are already
        // excluded.
        start = start.max(open.ruled_out);
        open.left = end.min(behind) - start;
        open.ruled_out = start;
        None
    }

    /// Sets `ends[i]` to the first column of row i whose entry fails `holds`, and returns the total
    /// number of entries that pass.
    pub(super) fn count(&self, ends: &mut [usize], holds: impl Fn(f64) -> bool) -> usize {
        let (mut end, mut total) = (self.columns.len(), 0);
        for (row, row_end) in ends.iter_mut().enumerate() {
            end = self.end_of_row(row, end, &holds);
            *row_end = end;
            total += end - self.first(row);
        }
        total
    }

    /// The counts of the entries below the first pivot and of those up to the second. The two walks
    /// are interleaved to hide the latency of each step.
    fn walk_twice(&self, (from, to): (f64, f64), walks: &mut Walks) -> (usize, usize) {
        let (mut below, mut upto) = (0, 0);
        let (mut end_below, mut end_upto) = (self.columns.len(), self.columns.len());
        let ends = walks.below.iter_mut().zip(&mut walks.upto);
        for (row, ends) in ends.enumerate() {
            end_below = self.end_of_row(row, end_below, |entry| entry < from);
            end_upto = self.end_of_row(row, end_upto, |entry| entry <= to);
            (*ends.0, *ends.1) = (end_below as Column, end_upto as Column);
            below += end_below - self.first(row);
            upto += end_upto - self.first(row);
        }
        (below, upto)
    }

    /// The first column of a row whose entry fails `holds`, given `end`, that of the row above.
    fn end_of_row(&self, row: usize, mut end: usize, holds: impl Fn(f64) -> bool) -> usize {
        let (a, first) = (self.rows[row], self.first(row));
        let fails = |column: &f64| !holds((self.entry)(a, *column));
        // Tests a few columns at once, because the end of a walk of single steps cannot be
        // predicted.
        while let Some(few) = self.columns[first.min(end)..end].last_chunk::<FEW_COLUMNS>() {
            let failing: usize = few.iter().map(|column| usize::from(fails(column))).sum();
            end -= failing;
            if failing < FEW_COLUMNS {
                return end;
            }
        }
        while end > first && fails(&self.columns[end - 1]) {
            end -= 1;
        }
        end.max(first)
    }

    /// Returns two entries that probably enclose the entries of these ranks. Both are order
    /// statistics of a sample of the open entries. The sample is taken at even steps, and has about
    /// as many entries as there are rows and columns.
    fn bracket(
        &self,
        open: &Open,
        (first, last): (usize, usize),
        sample: &mut Vec<f64>,
    ) -> (f64, f64) {
        let step = open.left / (self.rows.len() + self.columns.len()).max(FEW / 2) + 1;
        sample.clear();
        let mut skip = step / 2;
        for (row, (&low, &high)) in open.low.iter().zip(&open.high).enumerate() {
            let (mut column, high) = (low as usize + skip, high as usize);
            while column < high {
                sample.push(self.at(row, column));
                column += step;
            }
            skip = column - high;
        }
        let share = |k: usize| (k - open.ruled_out) as f64 / open.left as f64;
        let rank = |k: usize| (share(k) * sample.len() as f64) as usize;
        // Two standard errors for randomly drawn entries; even steps are more precise.
        let margin = (sample.len() as f64).sqrt() as usize + 1;
        let upper = (rank(last) + margin).min(sample.len() - 1);
        let lower = rank(first).saturating_sub(margin).min(upper);
        let (below, &mut to, _) = sample.select_nth_unstable_by(upper, f64::total_cmp);
        let from = if lower < upper {
            *below.select_nth_unstable_by(lower, f64::total_cmp).1
        } else {
            to
        };
        (from, to)
    }

    /// The weighted median of the rows' medians. Only the open part of a row counts, and the length
    /// of this part is the weight of its median.
    fn weighted_median(&self, open: &Open) -> f64 {
        let medians = open.low.iter().zip(&open.high).enumerate();
        let mut medians: Vec<(f64, usize)> = medians
            .filter(|(_, (low, high))| low < high)
            .map(|(row, (low, high))| {
                let middle = self.at(row, low.midpoint(*high) as usize);
                (middle, (high - low) as usize)
            })
            .collect();
        weighted_median(&mut medians)
    }
}

/// The entries that may still hold the wanted ranks.
#[derive(Clone)]
struct Open {
    /// The first open column of each row.
    low: Vec<Column>,
    /// The first column after the open ones, for each row.
    high: Vec<Column>,
    /// The number of open entries.
    left: usize,
    /// The number of entries that come before all open ones.
    ruled_out: usize,
    /// A lower bound of all open entries.
    from: f64,
    /// An upper bound of all open entries.
    to: f64,
}

/// The results of two walks, each with a pivot of its own.
struct Walks {
    /// The first column after the entries below the first pivot, for each row.
    below: Vec<Column>,
    /// The first column after the entries that are at most the second pivot, for each row.
    upto: Vec<Column>,
}

impl Open {
    fn all<F: Fn(f64, f64) -> f64>(stairs: &Staircase<F>) -> Self {
        let rows = stairs.rows.len();
        Self {
            low: (0..rows).map(|row| stairs.first(row) as Column).collect(),
            high: vec![stairs.columns.len() as Column; rows],
            left: stairs.entries(),
            ruled_out: 0,
            from: f64::NEG_INFINITY,
            to: f64::INFINITY,
        }
    }

    /// Returns two pivots, below and above the value that entry `k` would have if the remaining
    /// entries were spread evenly between `from` and `to`. Then a quarter of `enough` entries would
    /// lie between the pivots. `None` if `from` or `to` is infinite, or both are equal. After one
    /// round the entries are spread almost evenly: in 420 selections from 2,000 times against
    /// 2,000, entry `k` was always between the pivots.
    fn between(&self, k: usize, enough: usize) -> Option<(f64, f64)> {
        let width = self.to - self.from;
        let at = |rank: f64| {
            let place = self.from + width * (rank / self.left as f64);
            place.clamp(self.from, self.to)
        };
        let (rank, margin) = ((k - self.ruled_out) as f64, enough as f64 / 8.0);
        (width.is_finite() && width > 0.0).then(|| (at(rank - margin), at(rank + margin)))
    }
}

/// Lowers `high` to `ends`, but not below `low`.
fn lower_to(high: &mut [Column], ends: &[Column], low: &[Column]) {
    for ((high, &end), &low) in high.iter_mut().zip(ends).zip(low) {
        *high = end.clamp(low, *high);
    }
}

/// Raises `low` to `ends`, but not above `high`.
fn raise_to(low: &mut [Column], ends: &[Column], high: &[Column]) {
    for ((low, &end), &high) in low.iter_mut().zip(ends).zip(high) {
        *low = end.clamp(*low, high);
    }
}

/// A value with at most half of the weight on each side. O(n).
fn weighted_median(mut items: &mut [(f64, usize)]) -> f64 {
    let by_value = |a: &(f64, usize), b: &(f64, usize)| -> Ordering { a.0.total_cmp(&b.0) };
    let mut wanted = items.iter().map(|item| item.1).sum::<usize>() / 2;
    loop {
        let half = items.len() / 2;
        let (left, &mut (value, weight), right) = items.select_nth_unstable_by(half, by_value);
        let on_the_left: usize = left.iter().map(|item| item.1).sum();
        if wanted < on_the_left {
            items = left;
        } else if wanted < on_the_left + weight || right.is_empty() {
            return value;
        } else {
            wanted -= on_the_left + weight;
            items = right;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::rng::normal;

    fn ascending(n: usize, step: f64, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let round = |z: f64| {
            if step > 0.0 {
                (z / step).round()
            } else {
                z.powi(3)
            }
        };
        let mut values: Vec<f64> = (0..n).map(|_| round(normal(rng))).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Exact ties, heavy tails, and a rectangle far from square.
    #[test]
    fn every_rank_can_be_selected() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
        for (n, m) in [(1, 1), (3, 5), (60, 50), (200, 30), (7, 900)] {
            for step in [0.0, 0.2, 2.0] {
                let (rows, columns) = (ascending(n, step, &mut rng), ascending(m, step, &mut rng));
                let stairs = Staircase {
                    rows: &rows,
                    columns: &columns,
                    triangular: false,
                    entry: |a, b| a + b,
                };
                let sums = rows.iter().flat_map(|a| columns.iter().map(move |b| a + b));
                let mut sums: Vec<f64> = sums.collect();
                sums.sort_by(f64::total_cmp);
                for k in (0..sums.len()).step_by(1 + sums.len() / 97) {
                    assert_eq!(stairs.nths([k], &mut Vec::new()), [sums[k]], "{n} {m} {k}");
                    let ranks = [k / 2, k, k.midpoint(sums.len() - 1)];
                    let found = stairs.nths(ranks, &mut Vec::new());
                    assert_eq!(found, ranks.map(|k| sums[k]), "{n} {m} {ranks:?}");
                }
            }
        }
    }

    #[test]
    fn a_weighted_median_has_at_most_half_the_weight_on_either_side() {
        assert_eq!(weighted_median(&mut [(3.0, 1), (1.0, 1), (2.0, 1)]), 2.0);
        assert_eq!(weighted_median(&mut [(3.0, 9), (1.0, 1), (2.0, 1)]), 3.0);
        assert_eq!(weighted_median(&mut [(5.0, 2)]), 5.0);
    }
}
