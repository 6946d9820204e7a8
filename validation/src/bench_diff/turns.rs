//! Turns of all tools, one after another, until all is done or time is up.

use crate::calibration;
use crate::observation::Observation;
use crate::programs::Programs;
use crate::rows::{Row, Tool, comparisons};
use deadheat_validation::prelude::*;

/// All that is random here comes from it: the order of the tools in a turn,
/// and deadheat's seeds.
pub const SEED: u64 = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    row: usize,
    repeat: usize,
}

fn turns(rows: &[Row]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (row, what) in rows.iter().enumerate() {
        turns.extend((0..what.repeats).map(|repeat| Turn { row, repeat }));
    }
    turns.sort_by_key(|turn| (turn.repeat * rows[turn.row].pace, turn.row));
    turns
}

fn seed(row: &Row, repeat: usize) -> u64 {
    let name = row.name();
    let words = name.bytes().map(u64::from);
    let mixed =
        words.chain([repeat as u64]).fold(SEED, |state, word| SplitMix64::new(state ^ word).bits());
    // Short enough to be typed.
    mixed >> 32
}

fn order(row: &Row, seed: u64) -> Vec<Tool> {
    let mut random = SplitMix64::new(seed);
    let mut tools = row.tools().to_vec();
    shuffle(&mut tools, &mut random);
    tools
}

/// Takes every turn that was not taken before.
pub fn take_all(rows: &[Row], programs: &Programs, kept: &mut Kept) {
    let kept_before = kept.rows().iter().filter_map(Observation::read);
    let done: BTreeSet<_> = kept_before.map(|observation| observation.place()).collect();
    let mut progress = Progress::over(comparisons(rows).saturating_sub(done.len()));
    for Turn { row, repeat } in turns(rows) {
        let row = &rows[row];
        let seed = seed(row, repeat);
        let mut open = order(row, seed);
        open.retain(|tool| !done.contains(&(row.name(), repeat, tool.key().to_owned())));
        let _load = (row.loaded && !open.is_empty()).then(Load::settled_on_every_core);
        for tool in open {
            if !kept.goes_on() {
                return;
            }
            let rounds = calibration::rounds(kept, row.base).expect("calibrated before");
            kept.add(programs.compare(row, tool, repeat, seed, rounds).write());
            progress.made(&format!("{}, repeat {}, {}", row.name(), repeat + 1, tool.key()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{Base, all};

    #[test]
    fn rows_grow_evenly_and_the_quick_ones_are_done_first() {
        let rows = all(false);
        let turns = turns(&rows);
        assert_eq!(turns.len(), rows.iter().map(|row| row.repeats).sum::<usize>());
        let mut counts = vec![0; rows.len()];
        for turn in &turns {
            assert_eq!(counts[turn.row], turn.repeat, "repeats come in order");
            counts[turn.row] += 1;
            let [short, loaded, long] = [0, 5, 15].map(|row: usize| counts[row]);
            assert!(loaded * 3 <= short + 3 || short == 100);
            assert!(long * 4 <= short + 4 || short == 100);
        }
        assert_eq!((rows[5].loaded, rows[15].base), (true, Base::TwentyMilliseconds));
    }

    #[test]
    fn a_turn_has_its_own_seed_and_order_and_keeps_them() {
        let rows = all(false);
        let seeds: BTreeSet<u64> =
            rows.iter().flat_map(|row| (0..row.repeats).map(|repeat| seed(row, repeat))).collect();
        let all: usize = rows.iter().map(|row| row.repeats).sum();
        assert_eq!(seeds.len(), all);
        assert_eq!(seed(&rows[0], 3), seed(&rows[0], 3));
        let mut firsts = BTreeMap::new();
        for repeat in 0..300 {
            let order = order(&rows[0], seed(&rows[0], repeat));
            assert_eq!(order.len(), 3);
            *firsts.entry(order[0].key()).or_insert(0) += 1;
        }
        assert!(firsts.values().all(|count| (70..130).contains(count)), "{firsts:?}");
    }
}
