//! Several ways of doing one thing, measured in turns.

use deadheat_validation::prelude::*;

/// One way, and what it took in each round.
struct Way<'w> {
    name: String,
    /// True if it is deadheat's, whose times are rounded up.
    ours: bool,
    measure: Box<dyn FnMut() -> f64 + 'w>,
    values: Vec<f64>,
}

pub struct InTurns<'w> {
    ways: Vec<Way<'w>>,
}

pub struct Measured {
    ways: Vec<(String, bool, Vec<f64>)>,
}

impl<'w> InTurns<'w> {
    pub fn beside(name: &str, measure: impl FnMut() -> f64 + 'w) -> Self {
        Self { ways: Vec::new() }.and(name, false, measure)
    }

    pub fn theirs(self, name: &str, measure: impl FnMut() -> f64 + 'w) -> Self {
        self.and(name, false, measure)
    }

    pub fn ours(self, name: &str, measure: impl FnMut() -> f64 + 'w) -> Self {
        self.and(name, true, measure)
    }

    fn and(mut self, name: &str, ours: bool, measure: impl FnMut() -> f64 + 'w) -> Self {
        self.ways.push(Way {
            name: name.to_owned(),
            ours,
            measure: Box::new(measure),
            values: Vec::new(),
        });
        self
    }

    /// Lets each have its turn in every round. Who begins changes from round
    /// to round, so that none always follows the same; the first round is for
    /// what only the first needs, and does not count.
    pub fn run(mut self, rounds: usize) -> Measured {
        let count = self.ways.len();
        for round in 0..=rounds {
            for turn in 0..count {
                let way = &mut self.ways[(round + turn) % count];
                let value = (way.measure)();
                if round > 0 {
                    way.values.push(value);
                }
            }
        }
        let ways = self.ways.into_iter();
        Measured { ways: ways.map(|way| (way.name, way.ours, way.values)).collect() }
    }
}

impl Measured {
    pub fn median(&self, way: usize) -> f64 {
        median(self.ways[way].2.iter().copied())
    }

    /// The ratio of the time of one way to that of another: the median of the ratios of each round.
    pub fn ratio(&self, way: usize, beside: usize) -> f64 {
        median(self.ratios(way, beside))
    }

    fn ratios(&self, way: usize, beside: usize) -> Vec<f64> {
        let (ours, theirs) = (&self.ways[way].2, &self.ways[beside].2);
        ours.iter().zip(theirs).map(|(o, t)| o / t).collect()
    }

    pub fn table(&self, what: &str, unit: &str, digits: usize) -> String {
        let mut text = format!("| {what} | {unit} | ratio |\n| --- | --- | --- |\n");
        for (place, (name, ours, values)) in self.ways.iter().enumerate() {
            let shown = match ours {
                true => spread(values, digits),
                false => plain_spread(values, digits),
            };
            let ratio = match place {
                0 => "1".to_owned(),
                _ => plain_spread(&self.ratios(place, 0), 2),
            };
            let _ = writeln!(text, "| {name} | {shown} | {ratio} |");
        }
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn each_begins_in_turn_and_the_first_round_does_not_count() {
        let order = RefCell::new(String::new());
        let way = |name: char, value: f64| {
            let order = &order;
            move || {
                order.borrow_mut().push(name);
                value
            }
        };
        let measured = InTurns::beside("bare", way('a', 2.0))
            .theirs("theirs", way('b', 4.0))
            .ours("ours", way('c', 5.0))
            .run(2);
        assert_eq!(*order.borrow(), "abcbcacab");
        assert_eq!((measured.median(1), measured.ratio(2, 1)), (4.0, 1.25));
        let table = measured.table("what", "ns", 1);
        assert!(table.contains("| bare | 2.0 (2.0 to 2.0) | 1 |\n"));
        assert!(table.contains("| ours | 5.0 (5.0 to 5.0) | 2.50 (2.50 to 2.50) |\n"));
    }
}
