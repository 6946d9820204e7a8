//! Derives the schedule of a race from its plan and seed: which contender runs in which slot of
//! which block.

use std::fmt;

use deadheat_model::{Block, ContenderId, Plan, Slot};
use rand_core::Rng;

use crate::random::{Purpose, coin, shuffle, stream};

/// The part of a race in which a launch took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The calibration run, which finds the number of calls in a sample.
    Pilot,
    /// The warm-up before the first block, whose times are discarded.
    WarmUp,
    /// A block of a replicate.
    Block {
        /// The replicate, counted from 0.
        replicate: u32,
        /// The block within the replicate, counted from 0.
        block: u32,
        /// The slot; `None` for the discarded launch that primes the block.
        slot: Option<usize>,
    },
    /// The time before or after all launches of the benchmark, when the setup and cleanup hooks
    /// run.
    Around,
}

impl Moment {
    /// Returns the moment of a slot of `block`, or of its priming launch if `slot` is `None`.
    pub(crate) fn of(block: &Block, slot: Option<usize>) -> Self {
        Self::Block {
            replicate: block.replicate,
            block: block.index,
            slot,
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Pilot => f.write_str("calibration run"),
            Moment::WarmUp => f.write_str("warm-up"),
            Moment::Block {
                replicate,
                block,
                slot: Some(slot),
            } => write!(f, "replicate {replicate}, block {block}, slot {slot}"),
            Moment::Block {
                replicate,
                block,
                slot: None,
            } => write!(f, "priming launch of replicate {replicate}, block {block}"),
            Moment::Around => f.write_str("outside the blocks"),
        }
    }
}

/// The schedule of a plan. A block depends only on the plan, its seed, the block's place and the
/// contender that ran before it.
#[derive(Clone, Copy, Debug)]
pub struct Schedule<'a> {
    plan: &'a Plan,
}

impl<'a> Schedule<'a> {
    /// Creates the schedule of `plan`.
    pub fn new(plan: &'a Plan) -> Self {
        Self { plan }
    }

    /// Returns one block of the schedule. `previous` is the contender that ran last, which decides
    /// if a discarded launch primes the block; `None` if no contender has run.
    ///
    /// A block of commands is always primed. A launch is affected by the launches before it, so
    /// their number must not depend on the random order of earlier blocks. Earlier versions did not
    /// prime a block whose first contender had run last. In races of `true` against itself, the
    /// effect of a block then correlated with that of the block two before it (0.12 to 0.15; 0.01
    /// by chance), and 36 of 300 races found a difference instead of the expected 15.
    pub fn block(
        &self,
        benchmark: usize,
        replicate: u32,
        index: u32,
        previous: Option<ContenderId>,
    ) -> Block {
        let place = [benchmark as u64, u64::from(replicate), u64::from(index)];
        let mut paddings = stream(self.plan.seed, Purpose::Padding, place);
        let mut slot = |contender| Slot {
            contender,
            padding: padding(&mut paddings),
        };
        let order = self.order(benchmark, replicate, index);
        let of = &self.plan.benchmarks[benchmark];
        let always = of.launches_commands();
        // Launches side by side follow the same contenders in every order.
        let can_be_primed = order.len() > 1 && of.side_by_side.is_none();
        let primed = can_be_primed && (always || previous != Some(order[0]));
        let prime = primed.then(|| slot(order[0]));
        let slots = order.into_iter().map(slot).collect();
        Block {
            benchmark,
            replicate,
            index,
            prime,
            slots,
        }
    }

    /// Returns the discarded launches before the first block: `warmup` rounds with the contenders
    /// in random order.
    pub fn warm_up(&self, benchmark: usize) -> Vec<Slot> {
        let mut rng = stream(self.plan.seed, Purpose::WarmUp, [benchmark as u64, 0, 0]);
        let count = self.plan.benchmarks[benchmark].contenders.len();
        let mut round: Vec<ContenderId> = (0..count).map(|id| ContenderId(id as u8)).collect();
        let mut slots = Vec::new();
        for _ in 0..self.plan.design.warmup {
            shuffle(&mut rng, &mut round);
            for contender in &round {
                slots.push(Slot {
                    contender: *contender,
                    padding: padding(&mut rng),
                });
            }
        }
        slots
    }

    fn order(&self, benchmark: usize, replicate: u32, index: u32) -> Vec<ContenderId> {
        let seed = self.plan.seed;
        let of = &self.plan.benchmarks[benchmark];
        let index = if of.keeps_order() { 0 } else { index };
        if of.has_abba_blocks() {
            // One fair coin orders two blocks of a replicate; the second has the reverse order. A
            // fixed ABBA would be biased by a disturbance with a period of four slots. An effect
            // that slows the first sample of a block, such as a new input, is added in one block
            // and subtracted in the other. With one coin per block, this effect was most of the
            // error: for a function that counts characters with branches, blocks scattered by 12%
            // and processes of 47 blocks by 1.4%; without the effect, processes scattered by 0.6%.
            let pair = u64::from(index / 2);
            let place = [benchmark as u64, u64::from(replicate), pair];
            let heads = coin(&mut stream(seed, Purpose::Order, place));
            let swap = heads ^ (index % 2 == 1);
            let (first, second) = if swap { (1, 0) } else { (0, 1) };
            return [first, second, second, first].map(ContenderId).to_vec();
        }
        // Rows come from whole Williams squares, one after another: each square with new labels and
        // its rows in random order.
        let count = of.contenders.len();
        let mut rows = williams_rows(count);
        let orders = match of.keeps_order() {
            true => 1,
            false => u64::from(self.plan.blocks_per_replicate(benchmark)),
        };
        let row = u64::from(replicate) * orders + u64::from(index);
        let square = row / rows.len() as u64;
        let mut rng = stream(seed, Purpose::Order, [benchmark as u64, square, u64::MAX]);
        let mut labels: Vec<u8> = (0..count as u8).collect();
        shuffle(&mut rng, &mut labels);
        shuffle(&mut rng, &mut rows);
        rows[(row % rows.len() as u64) as usize]
            .iter()
            .map(|label| ContenderId(labels[usize::from(*label)]))
            .collect()
    }
}

/// Draws a padding of 0 to 4095 bytes, which moves the stack within one page.
fn padding(rng: &mut impl Rng) -> u16 {
    (rng.next_u64() >> 52) as u16
}

/// Returns the rows of a Williams design for `k` contenders: `k` rows when `k` is even, `2k` when
/// it is odd. Each row holds every contender once; over all rows every contender precedes every
/// other equally often, so the effects of one launch on the next are spread evenly.
///
/// Source: Williams 1949, *Experimental designs balanced for the estimation
/// of residual effects of treatments*.
fn williams_rows(k: usize) -> Vec<Vec<u8>> {
    // 0, 1, k−1, 2, k−2, …: neighbours differ by every amount once.
    let first: Vec<usize> = (0..k)
        .map(|place| {
            if place % 2 == 1 {
                place.div_ceil(2)
            } else {
                (k - place / 2) % k
            }
        })
        .collect();
    let shifted =
        |by: usize| -> Vec<u8> { first.iter().map(|label| ((label + by) % k) as u8).collect() };
    let mut rows: Vec<Vec<u8>> = (0..k).map(shifted).collect();
    if k % 2 == 1 && k > 1 {
        let mirrored: Vec<Vec<u8>> = rows
            .iter()
            .map(|row| row.iter().rev().copied().collect())
            .collect();
        rows.extend(mirrored);
    }
    rows
}

#[cfg(test)]
mod tests {
    use deadheat_model::{SideBySide, Workload};
    use deadheat_testing::runs::command;

    use super::*;
    use crate::contender::simulated::tests_support::plan;

    fn text(block: &Block) -> String {
        block
            .slots
            .iter()
            .map(|slot| char::from(b'A' + slot.contender.0))
            .collect()
    }

    #[test]
    fn two_contenders_run_in_abba_or_baab_order_about_equally_often() {
        let plan = plan(2, 11);
        let schedule = Schedule::new(&plan);
        let orders: Vec<String> = (0..400)
            .map(|r| text(&schedule.block(0, r, 0, None)))
            .collect();
        let abba = orders.iter().filter(|order| *order == "ABBA").count();
        let baab = orders.iter().filter(|order| *order == "BAAB").count();
        assert_eq!(abba + baab, 400);
        assert!((160..=240).contains(&abba), "{abba} of 400");
    }

    #[test]
    fn two_blocks_of_a_replicate_have_both_orders_and_a_coin_says_which_is_first() {
        let plan = plan(2, 11);
        let schedule = Schedule::new(&plan);
        let mut first = 0;
        for pair in 0..400 {
            let order = |of: u32| text(&schedule.block(0, pair / 20, pair % 20 * 2 + of, None));
            let orders = [order(0), order(1)];
            assert_ne!(orders[0], orders[1]);
            first += u32::from(orders[0] == "ABBA");
        }
        assert!((160..=240).contains(&first), "{first} of 400");
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule_and_another_seed_another() {
        let (one, same, other) = (plan(2, 5), plan(2, 5), plan(2, 6));
        let draw = |plan: &Plan| -> Vec<Block> {
            (0..20)
                .map(|r| Schedule::new(plan).block(0, r, 0, None))
                .collect()
        };
        assert_eq!(draw(&one), draw(&same));
        assert_ne!(draw(&one), draw(&other));
    }

    #[test]
    fn a_block_of_commands_is_primed_with_its_first_whoever_ran_last() {
        for count in [2, 3] {
            let mut plan = plan(count, 5);
            for contender in &mut plan.benchmarks[0].contenders {
                contender.workload = Workload::Command(Box::new(command(&["true"])));
            }
            let schedule = Schedule::new(&plan);
            for replicate in 0..20 {
                for previous in [None, Some(ContenderId(0)), Some(ContenderId(1))] {
                    let block = schedule.block(0, replicate, 0, previous);
                    let prime = block.prime.map(|slot| slot.contender);
                    assert_eq!(prime, Some(block.slots[0].contender));
                }
            }
        }
    }

    #[test]
    fn other_blocks_are_primed_only_when_another_contender_ran_last() {
        let plan = plan(2, 5);
        let schedule = Schedule::new(&plan);
        for replicate in 0..20 {
            let block = schedule.block(0, replicate, 0, Some(ContenderId(0)));
            let first = block.slots[0].contender;
            assert_eq!(
                block.prime.map(|slot| slot.contender),
                (first.0 != 0).then_some(first)
            );
            assert!(schedule.block(0, replicate, 0, None).prime.is_some());
        }
    }

    #[test]
    fn rows_of_three_contenders_are_balanced_over_each_square() {
        let plan = plan(3, 9);
        let schedule = Schedule::new(&plan);
        for square in 0..5 {
            let mut follows = [[0; 3]; 3];
            for row in 0..6 {
                let block = schedule.block(0, square * 6 + row, 0, None);
                for pair in block.slots.windows(2) {
                    follows[pair[0].contender.index()][pair[1].contender.index()] += 1;
                }
            }
            assert_eq!(follows, [[0, 2, 2], [2, 0, 2], [2, 2, 0]]);
        }
    }

    #[test]
    fn pairs_side_by_side_have_one_of_each_and_both_orders_in_two_replicates() {
        let mut plan = plan(2, 9);
        plan.benchmarks[0].side_by_side = Some(SideBySide::default());
        for contender in &mut plan.benchmarks[0].contenders {
            contender.workload = Workload::Command(Box::new(command(&["true"])));
        }
        let schedule = Schedule::new(&plan);
        let order = |replicate| {
            let block = schedule.block(0, replicate, 0, None);
            (text(&block), block.prime)
        };
        let mut first = 0;
        for pair in 0..200 {
            let orders = [order(2 * pair), order(2 * pair + 1)];
            let baseline_first = usize::from(orders[0].0 != "AB");
            assert_eq!(orders[baseline_first], ("AB".to_owned(), None));
            assert_eq!(orders[1 - baseline_first], ("BA".to_owned(), None));
            first += 1 - baseline_first;
        }
        assert!((75..=125).contains(&first), "{first} of 200");
    }

    #[test]
    fn a_contender_alone_runs_once_per_block_and_is_never_primed() {
        let plan = plan(1, 9);
        let block = Schedule::new(&plan).block(0, 3, 0, None);
        assert_eq!((block.slots.len(), block.prime), (1, None));
    }

    #[test]
    fn paddings_differ_from_launch_to_launch_and_stay_within_a_page() {
        let plan = plan(2, 5);
        let schedule = Schedule::new(&plan);
        let mut seen = std::collections::BTreeSet::new();
        for replicate in 0..50 {
            for slot in schedule.block(0, replicate, 0, None).slots {
                assert!(slot.padding < 4096);
                seen.insert(slot.padding);
            }
        }
        assert!(seen.len() > 180, "{} of 200 differ", seen.len());
    }

    #[test]
    fn every_contender_is_warmed_up_as_often_as_asked() {
        let mut plan = plan(3, 5);
        plan.design.warmup = 2;
        let slots = Schedule::new(&plan).warm_up(0);
        for id in 0..3 {
            assert_eq!(
                slots.iter().filter(|slot| slot.contender.0 == id).count(),
                2
            );
        }
    }

    #[test]
    fn every_contender_follows_every_other_equally_often() {
        for k in 2..=12 {
            let rows = williams_rows(k);
            assert_eq!(rows.len(), if k % 2 == 0 { k } else { 2 * k });
            let mut follows = vec![vec![0; k]; k];
            for row in &rows {
                for pair in row.windows(2) {
                    follows[usize::from(pair[0])][usize::from(pair[1])] += 1;
                }
            }
            let expected = if k % 2 == 0 { 1 } else { 2 };
            for (before, counts) in follows.iter().enumerate() {
                for (after, count) in counts.iter().enumerate() {
                    let wanted = if before == after { 0 } else { expected };
                    assert_eq!(*count, wanted, "k = {k}: {after} after {before}");
                }
            }
        }
    }

    #[test]
    fn every_row_holds_every_contender_once() {
        for k in 1..=12 {
            for mut row in williams_rows(k) {
                row.sort_unstable();
                assert_eq!(row, (0..k as u8).collect::<Vec<_>>());
            }
        }
    }
}
