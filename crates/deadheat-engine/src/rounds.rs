//! The order of turns of benchmarks that race in rounds.

use deadheat_model::ContenderId;

#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) benchmark: usize,
    /// The first replicate of the benchmark in this session.
    pub(crate) first: u32,
    pub(crate) next: u32,
    /// One past the last replicate that the benchmark may run.
    pub(crate) end: u32,
    pub(crate) previous: Option<ContenderId>,
    /// The time on the run's clock at which the current replicate began, plus the time that the
    /// replicate has spent on starting processes that several benchmarks share.
    pub(crate) turn_began_ns: u64,
    /// The nanoseconds spent on the benchmark in this session.
    pub(crate) spent_ns: u64,
    /// The benchmark's own time limit for this session in nanoseconds; `None` without a limit.
    pub(crate) budget_ns: Option<u64>,
    /// True once the first replicate of the benchmark has begun.
    pub(crate) has_begun: bool,
}

impl Row {
    /// Returns the nanoseconds until the benchmark reaches its own time limit; `None` without a
    /// limit.
    pub(crate) fn left_ns(&self) -> Option<u64> {
        let budget = self.budget_ns?;
        Some(budget.saturating_sub(self.spent_ns))
    }
}

/// The benchmarks that still race. Each round runs one replicate of every benchmark.
#[derive(Debug)]
pub(crate) struct Rounds {
    open: Vec<Row>,
}

impl Rounds {
    pub(crate) fn new(rows: Vec<Row>) -> Self {
        Self { open: rows }
    }

    pub(crate) fn open(&self) -> &[Row] {
        &self.open
    }

    /// Returns the index, among the open benchmarks, of the next benchmark to race: the first with
    /// the fewest replicates. If only `left_ns` nanoseconds remain, skips benchmarks that took more
    /// than an equal share. Returns `None` if all benchmarks are done or the time is up.
    pub(crate) fn next(&self, left_ns: Option<u64>) -> Option<usize> {
        let share = left_ns.map(|left| {
            let spent: u64 = self.open.iter().map(|row| row.spent_ns).sum();
            (
                left,
                left.saturating_add(spent) / self.open.len().max(1) as u64,
            )
        });
        if share.is_some_and(|(left, _)| left == 0) {
            return None;
        }
        let has_share = |row: &Row| share.is_none_or(|(_, share)| row.spent_ns <= share);
        let places = 0..self.open.len();
        places
            .filter(|place| has_share(&self.open[*place]))
            .min_by_key(|place| self.open[*place].next)
    }

    pub(crate) fn row(&mut self, place: usize) -> &mut Row {
        &mut self.open[place]
    }

    pub(crate) fn close(&mut self, place: usize) -> Row {
        self.open.remove(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(next: &[u32]) -> Rounds {
        let row = |(benchmark, next): (usize, &u32)| Row {
            benchmark,
            next: *next,
            ..Row::default()
        };
        Rounds::new(next.iter().enumerate().map(row).collect())
    }

    /// Runs all turns and returns their benchmarks in order. `costs` are the times of one turn of
    /// each benchmark.
    fn turns(rounds: &mut Rounds, mut left_ns: Option<u64>, costs: &[u64]) -> Vec<usize> {
        let mut found = Vec::new();
        while let Some(place) = rounds.next(left_ns).filter(|_| found.len() < 100) {
            let row = rounds.row(place);
            let cost = costs[row.benchmark];
            row.next += 1;
            row.spent_ns += cost;
            found.push(row.benchmark);
            left_ns = left_ns.map(|left| left.saturating_sub(cost));
            if row.next == 4 {
                rounds.close(place);
            }
        }
        found
    }

    #[test]
    fn every_benchmark_races_a_replicate_before_the_next_round_begins() {
        let found = turns(&mut rows(&[0, 0, 0]), None, &[1, 1, 1]);
        assert_eq!(found, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn benchmarks_that_are_behind_catch_up_first() {
        let found = turns(&mut rows(&[3, 1, 2]), None, &[1, 1, 1]);
        assert_eq!(found, [1, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn one_that_takes_long_leaves_the_others_their_share_of_a_budget() {
        let found = turns(&mut rows(&[0, 0, 0]), Some(60), &[30, 2, 2]);
        assert_eq!(found, [0, 1, 2, 1, 2, 1, 2, 1, 2, 0]);
    }

    #[test]
    fn all_get_as_many_replicates_as_there_is_time_for() {
        let found = turns(&mut rows(&[0, 0]), Some(5), &[1, 1]);
        assert_eq!(found, [0, 1, 0, 1, 0]);
        assert_eq!(rows(&[0]).next(Some(0)), None);
        assert_eq!(rows(&[]).next(None), None);
    }
}
