//! The work that takes 100 µs here, and 20 ms: found out once in a sitting, and the same for
//! everybody.

use deadheat_examples::busy_work::sha256;
use deadheat_validation::prelude::*;

use crate::rows::Base;

/// Efforts are multiples of this, so that 1% of them is whole.
const STEP: u32 = 100;
/// The rounds of a call by which the time of one round is found, few enough that most calls are
/// not disturbed.
const SHORT: u32 = 2_000;
const CALLS: usize = 101;

/// Keeps the rounds for every base.
pub fn make(kept: &mut Kept) {
    for base in Base::ALL {
        kept.add(found(base));
    }
}

pub fn rounds(kept: &Kept, base: Base) -> Option<u32> {
    let found = of_base(kept.of_this_sitting(), base).next()?;
    found["rounds"].as_u64()?.try_into().ok()
}

fn of_base(rows: &[Value], base: Base) -> impl Iterator<Item = &Value> {
    rows.iter().filter(move |row| row["calibrated"] == base.key())
}

pub fn told(kept: &Kept) -> String {
    let one = |base: Base| {
        let words = of_base(kept.rows(), base).filter_map(|row| {
            let (rounds, ns) = (row["rounds"].as_u64()?, row["ns"].as_f64()?);
            Some(format!("{rounds} ({:.1} µs)", ns / 1e3))
        });
        let words: Vec<String> = words.collect();
        match words.is_empty() {
            true => format!("none yet for {}", base.key()),
            false => format!("for {}: {}", base.key(), words.join(", ")),
        }
    };
    Base::ALL.map(one).join("; ")
}

fn found(base: Base) -> Value {
    let round_ns = call_ns(SHORT) / f64::from(SHORT);
    let rounds = whole(base.ns() / round_ns);
    json!({"calibrated": base.key(), "rounds": rounds, "ns": call_ns(rounds).round()})
}

/// The nearest effort of which every percentage here is whole.
fn whole(rounds: f64) -> u32 {
    (rounds / f64::from(STEP)).round().max(1.0) as u32 * STEP
}

fn call_ns(rounds: u32) -> f64 {
    median((0..CALLS).map(|_| {
        let start = Instant::now();
        black_box(sha256(rounds));
        start.elapsed().as_nanos() as f64
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_examples::busy_work::with_percent;

    #[test]
    fn efforts_are_whole_and_so_is_a_percent_of_them() {
        assert_eq!(whole(1_949.9), 1_900);
        assert_eq!(whole(3.0), 100);
        for percent in [1.0, 2.0, 5.0, 10.0] {
            with_percent(whole(617.0), percent);
        }
    }
}
