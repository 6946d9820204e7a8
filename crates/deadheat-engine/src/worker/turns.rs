//! The turns of one process in a block, and the baton between them.

use super::baton::{Baton, PeerGone};
use super::protocol::BlockRequest;
use super::trace::Traced;
use crate::function::{FunctionBenchmark, Gauge};

/// Takes this process's turns of a block whose input is ready, and gives back
/// the values of those that are recorded.
pub(super) fn take_turns(
    benchmark: &mut Traced<'_>,
    block: &BlockRequest,
    gauge: &Gauge,
    width: usize,
    mut baton: Option<&mut Baton>,
) -> Result<Vec<f64>, PeerGone> {
    let own = block.turns.iter().flatten().count();
    let mut values = Vec::with_capacity(own * width);
    let is_own = |place: usize| matches!(block.turns.get(place), Some(Some(_)));
    if let Some(baton) = baton.as_deref_mut().filter(|_| !is_own(0)) {
        benchmark.idle();
        baton.pass()?;
    }
    for (place, turn) in block.turns.iter().enumerate() {
        let Some(contender) = turn else { continue };
        if let Some(baton) = baton.as_deref_mut()
            && (place == 0 || !is_own(place - 1))
        {
            benchmark.idle();
            baton.take()?;
        }
        if place < block.unrecorded {
            benchmark.sample(*contender, block.unrecorded_iterations, gauge);
        } else {
            let reading = benchmark.sample(*contender, block.iterations, gauge);
            values.extend_from_slice(&reading.values()[..width]);
        }
        if let Some(baton) = baton.as_deref_mut().filter(|_| !is_own(place + 1)) {
            benchmark.idle();
            baton.pass()?;
        }
    }
    // No answer wakes anybody before the last turn is over.
    let last_is_own = matches!(block.turns.last(), Some(Some(_)));
    if let Some(baton) = baton.filter(|_| !last_is_own) {
        baton.take()?;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SampleClock;
    use crate::function::{Disagreement, Reading};
    use crate::worker::relay::Relay;
    use crate::worker::trace::set_nonblocking;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// One process and one of its contenders.
    type Turn = (usize, usize);

    /// Contenders that write down when they are called.
    struct Scribe {
        process: usize,
        calls: Arc<Mutex<Vec<(Turn, u64)>>>,
    }

    impl FunctionBenchmark for Scribe {
        fn contenders(&self) -> usize {
            3
        }

        fn threads(&self) -> u32 {
            1
        }

        fn most_iterations(&self) -> u64 {
            u64::MAX
        }

        fn renews_input(&self) -> bool {
            false
        }

        fn prepare(&mut self, _seed: u64) {}

        /// Lasts as long as its place in the order of all calls.
        fn sample(&mut self, contender: usize, iterations: u64, _gauge: &Gauge) -> Reading {
            let mut calls = self.calls.lock().unwrap();
            calls.push(((self.process, contender), iterations));
            Reading {
                wall_ns: (calls.len() - 1) as f64,
                ..Reading::default()
            }
        }

        fn check(&self) -> Result<(), Disagreement> {
            Ok(())
        }
    }

    /// What each process answers, and all calls in order.
    type Taken = (Vec<Result<Vec<f64>, PeerGone>>, Vec<(Turn, u64)>);

    /// A block of several processes.
    fn taken(order: &[Turn], unrecorded: usize, batons: Vec<Option<Baton>>) -> Taken {
        let processes = batons.len();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (told, received) = channel();
        for (process, mut baton) in batons.into_iter().enumerate() {
            let turn = |(other, contender): &Turn| (*other == process).then_some(*contender);
            let block = BlockRequest {
                seed: 7,
                iterations: 5,
                turns: order.iter().map(turn).collect(),
                unrecorded,
                unrecorded_iterations: 1,
            };
            let (told, calls) = (told.clone(), Arc::clone(&calls));
            std::thread::spawn(move || {
                let mut scribe = Scribe { process, calls };
                let (_notes, note) = std::io::pipe().unwrap();
                set_nonblocking(&note).unwrap();
                let mut traced = Traced::new(&mut scribe, &note);
                let gauge = Gauge::new(SampleClock::os());
                let values = take_turns(&mut traced, &block, &gauge, 1, baton.as_mut());
                told.send((process, values)).unwrap();
            });
        }
        let far_too_long = Duration::from_secs(60);
        let mut answers: Vec<_> = (0..processes)
            .map(|_| {
                received
                    .recv_timeout(far_too_long)
                    .expect("each waits for the other")
            })
            .collect();
        answers.sort_by_key(|(process, _)| *process);
        let calls = calls.lock().unwrap().clone();
        (
            answers.into_iter().map(|(_, values)| values).collect(),
            calls,
        )
    }

    proptest! {
        #[test]
        fn turns_are_taken_in_the_order_given(
            order in proptest::collection::vec((0..2_usize, 0..3_usize), 0..14),
            unrecorded in 0..6_usize,
        ) {
            let unrecorded = unrecorded.min(order.len());
            let batons = Baton::pair().unwrap().map(Some).into();
            let (values, calls) = taken(&order, unrecorded, batons);
            let in_order: Vec<Turn> = calls.iter().map(|(turn, _)| *turn).collect();
            prop_assert_eq!(&in_order, &order);
            for (place, (_, iterations)) in calls.iter().enumerate() {
                prop_assert_eq!(*iterations, if place < unrecorded { 1 } else { 5 });
            }
            for (process, values) in values.into_iter().enumerate() {
                let own: Vec<f64> = (unrecorded..order.len())
                    .filter(|place| order[*place].0 == process)
                    .map(|place| place as f64)
                    .collect();
                prop_assert_eq!(values, Ok(own));
            }
        }
    }

    proptest! {
        #[test]
        fn so_are_those_of_three_processes_whose_baton_is_passed_on(
            order in proptest::collection::vec((0..3_usize, 0..3_usize), 0..14),
            unrecorded in 0..6_usize,
        ) {
            let unrecorded = unrecorded.min(order.len());
            let (mut relay, batons) = Relay::between(3).unwrap();
            relay.begin(order.iter().map(|(process, _)| *process));
            let over = Arc::new(AtomicBool::new(false));
            let passing = {
                let over = Arc::clone(&over);
                std::thread::spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        relay.advance().unwrap();
                        std::thread::yield_now();
                    }
                    relay.awaited().count()
                })
            };
            let batons = batons.into_iter().map(Some).collect();
            let (values, calls) = taken(&order, unrecorded, batons);
            over.store(true, Ordering::Relaxed);
            prop_assert_eq!(passing.join().unwrap(), 0, "nobody is waited for");
            let in_order: Vec<Turn> = calls.iter().map(|(turn, _)| *turn).collect();
            prop_assert_eq!(&in_order, &order);
            prop_assert!(values.iter().all(Result::is_ok));
        }
    }

    #[test]
    fn nobody_goes_on_when_the_other_is_gone() {
        let [one, gone] = Baton::pair().unwrap();
        let [gone_too, alone] = Baton::pair().unwrap();
        drop((gone, gone_too));
        let order = [(0, 0), (1, 0), (0, 0)];
        let (values, calls) = taken(&order, 0, vec![Some(one), Some(alone)]);
        assert_eq!(values, [Err(PeerGone), Err(PeerGone)]);
        assert_eq!(calls, []);
    }
}
