//! Turns of all tools, one after another, until all is done or time is up.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_examples::random::SplitMix64;
use deadheat_validation::kept::Kept;
use deadheat_validation::load::Load;

use crate::calibration;
use crate::observation::Observation;
use crate::programs::Programs;
use crate::rows::{Base, Row, Spread, Tool, comparisons};

/// All that is random here comes from it: the order of the tools in a turn,
/// and deadheat's seeds.
pub const SEED: u64 = 9;

/// A repeat of a row by all its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    row: usize,
    repeat: usize,
}

/// All of them, repeat by repeat, rows of a slower pace less often.
fn turns(rows: &[Row]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (row, what) in rows.iter().enumerate() {
        turns.extend((0..what.repeats).map(|repeat| Turn { row, repeat }));
    }
    turns.sort_by_key(|turn| (turn.repeat * rows[turn.row].pace, turn.row));
    turns
}

/// The seed of a turn, the same in whichever sitting it is taken.
fn seed(row: &Row, repeat: usize) -> u64 {
    let name = row.name();
    let words = name.bytes().map(u64::from);
    let mixed = words
        .chain([repeat as u64])
        .fold(SEED, |state, word| SplitMix64::new(state ^ word).bits());
    // Short enough to be typed.
    mixed >> 32
}

/// The tools of a row in the order that is drawn for a turn.
fn order(row: &Row, seed: u64) -> Vec<Tool> {
    let mut random = SplitMix64::new(seed);
    let mut tools = row.tools().to_vec();
    for last in (1..tools.len()).rev() {
        tools.swap(last, random.index_below(last + 1));
    }
    tools
}

/// Takes every turn that was not taken before.
pub fn take_all(rows: &[Row], programs: &Programs, kept: &mut Kept) {
    let mut seconds = Seconds::default();
    let mut done = BTreeSet::new();
    for observation in kept.rows().iter().filter_map(Observation::read) {
        seconds.learn(&observation);
        done.insert(observation.place());
    }
    let is_open = |turn: &Turn, tool: Tool, done: &BTreeSet<(String, usize, String)>| {
        let place = (rows[turn.row].name(), turn.repeat, tool.name().to_owned());
        !done.contains(&place)
    };
    let turns = turns(rows);
    let all = comparisons(rows);
    for (index, turn) in turns.iter().enumerate() {
        let row = &rows[turn.row];
        let seed = seed(row, turn.repeat);
        let open = order(row, seed).into_iter();
        let open: Vec<Tool> = open.filter(|tool| is_open(turn, *tool, &done)).collect();
        if open.is_empty() {
            continue;
        }
        let _load = row.loaded.then(Load::settled_on_every_core);
        for tool in open {
            if !kept.goes_on() {
                return;
            }
            let left: f64 = turns[index..]
                .iter()
                .flat_map(|turn| rows[turn.row].tools().iter().map(move |tool| (turn, *tool)))
                .filter(|(turn, tool)| is_open(turn, *tool, &done))
                .map(|(turn, tool)| seconds.expected(&rows[turn.row], tool))
                .sum();
            eprintln!(
                "{} of {all}: {}, repeat {}, {} ({} left)",
                done.len() + 1,
                row.name(),
                turn.repeat + 1,
                tool.name(),
                in_words(left)
            );
            let rounds = calibration::rounds(kept, row.base).expect("calibrated before");
            let observation = programs.compare(row, tool, turn.repeat, seed, rounds);
            seconds.learn(&observation);
            done.insert(observation.place());
            kept.add(observation.write());
        }
    }
}

fn in_words(seconds: f64) -> String {
    let minutes = (seconds / 60.0).ceil() as u64;
    match minutes {
        0..100 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// The time that comparisons take, by row and tool.
#[derive(Default)]
struct Seconds {
    known: BTreeMap<(String, String), (f64, usize)>,
}

impl Seconds {
    fn learn(&mut self, observation: &Observation) {
        let (row, _, tool) = observation.place();
        let (sum, count) = self.known.entry((row, tool)).or_default();
        *sum += observation.wall;
        *count += 1;
    }

    /// The mean so far; before the first one, what the design lets expect.
    fn expected(&self, row: &Row, tool: Tool) -> f64 {
        let key = (row.name(), tool.name().to_owned());
        if let Some((sum, count)) = self.known.get(&key) {
            return sum / *count as f64;
        }
        let calls = f64::from(row.base.executions() * 2) * row.base.ns() / 1e9;
        let calls = if row.loaded { calls * 2.0 } else { calls };
        match (tool, row.base) {
            (Tool::Traditional, _) => calls,
            (Tool::BenchDiff, _) => calls + 3.1,
            (_, Base::HundredMicroseconds) => 0.5,
            (_, Base::TwentyMilliseconds) if row.spread == Spread::None => 5.0,
            (_, Base::TwentyMilliseconds) => 25.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::all;

    #[test]
    fn rows_grow_evenly_and_the_quick_ones_are_done_first() {
        let rows = all(false);
        let turns = turns(&rows);
        assert_eq!(
            turns.len(),
            rows.iter().map(|row| row.repeats).sum::<usize>()
        );
        let mut counts = vec![0; rows.len()];
        for turn in &turns {
            assert_eq!(counts[turn.row], turn.repeat, "repeats come in order");
            counts[turn.row] += 1;
            let [short, loaded, long] = [0, 5, 15].map(|row: usize| counts[row]);
            assert!(loaded * 3 <= short + 3 || short == 100);
            assert!(long * 4 <= short + 4 || short == 100);
        }
        assert_eq!(
            (rows[5].loaded, rows[15].base),
            (true, Base::TwentyMilliseconds)
        );
    }

    #[test]
    fn a_turn_has_its_own_seed_and_order_and_keeps_them() {
        let rows = all(false);
        let seeds: BTreeSet<u64> = rows
            .iter()
            .flat_map(|row| (0..row.repeats).map(|repeat| seed(row, repeat)))
            .collect();
        let all: usize = rows.iter().map(|row| row.repeats).sum();
        assert_eq!(seeds.len(), all);
        assert_eq!(seed(&rows[0], 3), seed(&rows[0], 3));
        let mut firsts = BTreeMap::new();
        for repeat in 0..300 {
            let order = order(&rows[0], seed(&rows[0], repeat));
            assert_eq!(order.len(), 3);
            *firsts.entry(order[0].name()).or_insert(0) += 1;
        }
        assert!(
            firsts.values().all(|count| (70..130).contains(count)),
            "{firsts:?}"
        );
    }

    #[test]
    fn time_is_told_in_minutes_and_then_in_hours() {
        assert_eq!(in_words(61.0), "2 min");
        assert_eq!(in_words(7_200.0), "2 h 0 min");
    }
}
