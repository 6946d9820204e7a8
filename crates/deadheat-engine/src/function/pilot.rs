//! Unrecorded calls: the calibration run, which finds the number of calls per sample; the warm-up;
//! and the calls before the first slot of a block.

use std::time::Instant;

use deadheat_model::Throughput;

use super::FunctionBenchmark;
use crate::clock::Gauge;

/// The minimum length of a sample in ticks of its clock.
const MIN_TICKS: f64 = 1_000.0;
/// The minimum length of a sample as a multiple of the duration of a clock reading, so that a
/// reading is below one per cent of the sample.
const MIN_READINGS: f64 = 100.0;
/// The minimum length of a sample in nanoseconds: ten times the cost of reading the CPU time and
/// the thread's usage before it. At that length, 10 % more work measured as 9.97 to 10.17 %. Longer
/// samples are disturbed more often, and they repeat a slow call on the same input, which branch
/// predictors then learn.
const MIN_NS: f64 = 5_000.0;
/// The maximum number of iterations. If a sample with this many calls is still too short, the calls
/// do nothing.
const MOST_ITERATIONS: u64 = 1 << 30;
/// The number of timings of a short call; the fastest counts.
const TRIES: usize = 3;
/// A sample longer than this, in nanoseconds, is not repeated.
const LONG_NS: f64 = 5e6;

/// The results of a calibration run.
#[derive(Clone, Debug, PartialEq)]
pub struct Pilot {
    /// The number of calls per sample, for all contenders.
    pub iterations: u64,
    /// The maximum number of calls per sample; `None` if unlimited.
    pub most_iterations: Option<u64>,
    /// The nanoseconds per call, by contender.
    pub call_ns: Vec<f64>,
    /// The wall times of trial blocks of two contenders, in nanoseconds and in ABBA order. They
    /// show how much a block scatters within a process. Slow functions have few or none.
    pub blocks_ns: Vec<[f64; 4]>,
    /// The duration of a trial block in nanoseconds, including making its input. `None` without
    /// trial blocks.
    pub block_cost_ns: Option<f64>,
    /// True if processes can skip the warm-up. This requires calls so long that the warm-up would
    /// be a single round, and that no contender's first call in this process was slower than its
    /// second by more than [`GAIN`]. False if inputs are renewed, because every block then begins
    /// with an unrecorded round anyway, and false with several threads.
    pub warm_at_once: bool,
    /// True if a contender changes its input, so that every call needs a new one.
    pub input_per_call: bool,
    /// Notes of the worker about its functions, for the user.
    pub notes: Vec<String>,
    /// The time for making an input in nanoseconds, if the worker reports it.
    pub input_ns: Option<f64>,
    /// The number of blocks per replicate that the worker suggests; `None` if it leaves the choice
    /// to deadheat.
    pub blocks: Option<u32>,
    /// The amount of work of one call, if the worker only knows it after calling.
    pub throughput: Option<Throughput>,
}

const MOST_BLOCKS: u64 = 8;
/// The total nanoseconds of samples after which no further trial block starts. Benchmarks with
/// longer blocks have no trial blocks, because a few blocks do not show the scatter.
const TRIAL_NS: f64 = 2e7;

/// Finds the number of calls that makes the sample of the fastest contender at least `least_ns`
/// long and long enough for the clock.
pub fn pilot(
    benchmark: &mut dyn FunctionBenchmark,
    seed: u64,
    least_ns: f64,
    gauge: &Gauge,
) -> Pilot {
    let clock = gauge.clock();
    let least_ns = (MIN_TICKS * clock.tick_ns())
        .max(MIN_READINGS * clock.overhead_ns())
        .max(MIN_NS)
        .max(least_ns);
    benchmark.prepare(seed);
    let limit = benchmark.most_iterations();
    let most = limit.min(MOST_ITERATIONS);
    let (call_ns, warm): (Vec<f64>, Vec<bool>) = (0..benchmark.contenders())
        .map(|contender| call_ns(benchmark, contender, least_ns, most, gauge))
        .unzip();
    let fastest = call_ns.iter().copied().fold(f64::INFINITY, f64::min);
    // A call that takes no time makes this infinite, and `as` saturates.
    let iterations = ((least_ns / fastest).ceil() as u64).clamp(1, most);
    // The comparison of the first two calls only predicts samples of one call.
    let is_one_long_round =
        iterations == 1 && least_warm_up_rounds(call_ns.iter().sum::<f64>()) == 1;
    let warm_at_once = is_one_long_round
        && !benchmark.renews_input()
        && benchmark.threads() == 1
        && warm.iter().all(|warm| *warm);
    let began = Instant::now();
    let blocks_ns = match call_ns.len() {
        2 if 2.0 * call_ns.iter().sum::<f64>() * (iterations as f64) < TRIAL_NS => {
            trial_blocks(benchmark, seed, iterations, gauge)
        }
        _ => Vec::new(),
    };
    let cost_ns = began.elapsed().as_nanos() as f64;
    let block_cost_ns = (!blocks_ns.is_empty()).then(|| cost_ns / blocks_ns.len() as f64);
    Pilot {
        iterations,
        most_iterations: (limit < u64::MAX).then_some(limit),
        call_ns,
        blocks_ns,
        block_cost_ns,
        warm_at_once,
        input_per_call: false,
        notes: Vec::new(),
        input_ns: None,
        blocks: None,
        throughput: None,
    }
}

/// Runs blocks like those of a race, each with a different input.
fn trial_blocks(
    benchmark: &mut dyn FunctionBenchmark,
    seed: u64,
    iterations: u64,
    gauge: &Gauge,
) -> Vec<[f64; 4]> {
    let mut blocks = Vec::new();
    let mut spent_ns = 0.0;
    for index in 1..=MOST_BLOCKS {
        // Slow functions need fewer blocks.
        if spent_ns > TRIAL_NS {
            break;
        }
        benchmark.prepare(seed.wrapping_add(index));
        let renewed = benchmark.renews_input();
        let mut take = |contender| benchmark.sample(contender, iterations, gauge).wall_ns;
        for contender in primes(renewed, None, &[0, 1, 1, 0]) {
            take(contender);
        }
        let block = [take(0), take(1), take(1), take(0)];
        spent_ns += block.iter().sum::<f64>();
        blocks.push(block);
    }
    blocks
}

/// Returns the nanoseconds per call, from a batch that is long enough, and true if the first call
/// was as fast as the second.
///
/// The test of the first call uses a single pair of calls. For calls of 20 ms that scatter by 1.2% with an
/// autocorrelation of 0.83, consecutive calls differ by 0.7%. If no contender needs a warm-up, 15%
/// of the races get one anyway. If the first call of one contender is 2% slower, 7% of the races
/// lack the warm-up that they need; at 3%, 0.2% of them. More calls in the same process would not
/// help, because the noise is in the first call, and a second process would cost as much as a
/// replicate.
fn call_ns(
    benchmark: &mut dyn FunctionBenchmark,
    contender: usize,
    least_ns: f64,
    most: u64,
    gauge: &Gauge,
) -> (f64, bool) {
    let mut iterations = 1;
    let first = benchmark.sample(contender, iterations, gauge);
    let mut took = first.wall_ns;
    let mut warm = false;
    // The first call may initialise what later calls reuse. A long call is repeated only for a
    // benchmark that reuses its input: if the second call is as slow, no process needs a warm-up.
    if took < LONG_NS || !benchmark.renews_input() {
        let second = benchmark.sample(contender, iterations, gauge);
        warm = second.without_waiting_ns() >= first.without_waiting_ns() * (1.0 - GAIN);
        took = second.wall_ns;
    }
    while took < least_ns && iterations < most {
        let wanted = (iterations as f64 * least_ns * 1.2 / took.max(1.0)).ceil() as u64;
        iterations = wanted.clamp(iterations * 2, iterations * 16).min(most);
        took = benchmark.sample(contender, iterations, gauge).wall_ns;
    }
    for _ in 1..TRIES {
        if took > LONG_NS {
            break;
        }
        took = took.min(benchmark.sample(contender, iterations, gauge).wall_ns);
    }
    (took / iterations as f64, warm)
}

const MOST_ROUNDS: u64 = 50;
/// The warm-up ends after this many consecutive rounds without a gain.
const IDLE_ROUNDS: u32 = 2;
/// The share by which a round must be faster than all previous ones to count as a gain.
const GAIN: f64 = 0.01;
/// A warm-up ends after a round longer than this, in nanoseconds, because a function this long
/// warms up within its first call.
const LONG_ROUND_NS: f64 = 1e7;

/// Returns the minimum number of rounds of a warm-up whose rounds take `round_ns` nanoseconds.
pub fn least_warm_up_rounds(round_ns: f64) -> u32 {
    if round_ns > LONG_ROUND_NS {
        return 1;
    }
    // The first round always counts as a gain.
    IDLE_ROUNDS + 1
}

/// Calls every contender in `order`, with a new input each round, and returns the number of rounds.
/// If a sample is a single short call, later rounds call the function more often, for at least
/// [`MIN_NS`] each, because three calls leave a function cold.
pub(crate) fn warm_up(
    benchmark: &mut dyn FunctionBenchmark,
    order: &[usize],
    mut iterations: u64,
    seed_of: impl Fn(u64) -> u64,
    gauge: &Gauge,
) -> u64 {
    let mut best = f64::INFINITY;
    let mut idle = 0;
    for round in 0..MOST_ROUNDS {
        benchmark.prepare(seed_of(round));
        let took: f64 = order
            .iter()
            .map(|contender| benchmark.sample(*contender, iterations, gauge).wall_ns)
            .sum();
        let each = took / iterations as f64;
        idle = if each < best * (1.0 - GAIN) {
            0
        } else {
            idle + 1
        };
        best = best.min(each);
        if iterations == 1 {
            let least_ns = MIN_NS * order.len() as f64;
            let wanted = (least_ns / each.max(1.0)).ceil() as u64;
            iterations = wanted.clamp(1, benchmark.most_iterations());
        }
        if took > LONG_ROUND_NS || idle == IDLE_ROUNDS {
            return round + 1;
        }
    }
    MOST_ROUNDS
}

/// Returns the contenders to run unrecorded before the slots, in order. If the input is new, these
/// are all contenders, so that no timed sample is a contender's first with this input. The
/// contender of the first slot comes last, so its timed sample follows a sample of its own, like
/// the second sample of a pair. If the input is not new, only `prime` runs, if there is one.
pub(crate) fn primes(
    renews_input: bool,
    prime: Option<usize>,
    slots: &[usize],
) -> impl Iterator<Item = usize> {
    let all: &[usize] = if renews_input { slots } else { &[] };
    let firsts = all.iter().enumerate();
    let mut everyone: Vec<usize> = firsts
        .filter(|(place, contender)| !slots[..*place].contains(contender))
        .map(|(_, contender)| *contender)
        .collect();
    everyone.reverse();
    if everyone.is_empty() {
        everyone.extend(prime);
    }
    everyone.into_iter()
}

#[cfg(test)]
mod tests {
    use std::cell::OnceCell;
    use std::hint::black_box;
    use std::rc::Rc;

    use rand_core::Rng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::clock::{Reading, SampleClock};
    use crate::function::{ByReference, Disagreement};
    use crate::random::{Purpose, stream};

    /// Calls of exactly this duration.
    struct Fixed {
        call_ns: Vec<f64>,
        most: u64,
    }

    impl FunctionBenchmark for Fixed {
        fn contenders(&self) -> usize {
            self.call_ns.len()
        }

        fn most_iterations(&self) -> u64 {
            self.most
        }

        fn prepare(&mut self, _seed: u64) {}

        fn sample(&mut self, contender: usize, iterations: u64, _gauge: &Gauge) -> Reading {
            Reading {
                wall_ns: self.call_ns[contender] * iterations as f64,
                ..Reading::default()
            }
        }

        fn check(&self) -> Result<(), Disagreement> {
            Ok(())
        }
    }

    fn found(call_ns: &[f64], most: u64) -> Pilot {
        let mut fixed = Fixed {
            call_ns: call_ns.to_vec(),
            most,
        };
        pilot(&mut fixed, 1, 0.0, &Gauge::new(SampleClock::os()))
    }

    #[test]
    fn a_sample_of_the_fastest_contender_is_long_enough() {
        for ns in [0.3, 1.0, 20.0, 999.0, 25_000.0] {
            let pilot = found(&[ns, 3.0 * ns], u64::MAX);
            let sample = ns * pilot.iterations as f64;
            assert!(sample >= MIN_NS, "{ns}: {sample}");
            assert!(pilot.iterations == 1 || sample < 1e6, "{ns}: {sample}");
        }
    }

    #[test]
    fn a_sample_may_be_asked_to_be_longer() {
        let mut fixed = Fixed {
            call_ns: vec![10.0],
            most: u64::MAX,
        };
        let gauge = Gauge::new(SampleClock::os());
        let pilot = pilot(&mut fixed, 1, 1e6, &gauge);
        assert_eq!((pilot.iterations, pilot.most_iterations), (100_000, None));
    }

    #[test]
    fn a_slow_call_is_a_sample_of_its_own() {
        assert_eq!(found(&[1e9, 2e9], u64::MAX).iterations, 1);
        assert_eq!(found(&[1e9, 2e9], u64::MAX).call_ns, [1e9, 2e9]);
    }

    #[test]
    fn calls_that_take_no_time_come_to_an_end() {
        assert_eq!(found(&[0.0, 0.0], u64::MAX).iterations, MOST_ITERATIONS);
    }

    #[test]
    fn trial_blocks_stop_when_they_take_long_and_slow_ones_are_not_tried() {
        assert_eq!(found(&[1.0, 1.0], u64::MAX).blocks_ns.len(), 8);
        assert_eq!(found(&[1e6, 1e6], u64::MAX).blocks_ns.len(), 6);
        assert!(found(&[1e9, 1e9], u64::MAX).blocks_ns.is_empty());
        assert!(found(&[1.0], u64::MAX).blocks_ns.is_empty());
    }

    #[test]
    fn no_sample_has_more_calls_than_there_can_be_inputs() {
        assert_eq!(found(&[1.0, 1.0], 100).iterations, 100);
    }

    /// Two contenders with autocorrelated noise. The first call of each is slower by the given
    /// share of a call.
    struct Noisy {
        rng: Xoshiro256PlusPlus,
        noise: f64,
        first: [Option<f64>; 2],
        renews: bool,
        threads: u32,
        ns: f64,
    }

    const SCATTER: f64 = 0.012;
    const MEMORY: f64 = 0.83;

    impl Noisy {
        fn new(seed: u64, first: [f64; 2]) -> Self {
            Self {
                rng: stream(seed, Purpose::Input, [0; 3]),
                noise: 0.0,
                first: first.map(Some),
                renews: false,
                threads: 1,
                ns: 2e7,
            }
        }

        /// Returns an approximate draw from the standard normal distribution: the sum of twelve
        /// uniform draws.
        fn normal(&mut self) -> f64 {
            let sum: u64 = (0..12).map(|_| self.rng.next_u64() >> 16).sum();
            sum as f64 / (1_u64 << 48) as f64 - 6.0
        }
    }

    impl FunctionBenchmark for Noisy {
        fn contenders(&self) -> usize {
            2
        }

        fn threads(&self) -> u32 {
            self.threads
        }

        fn renews_input(&self) -> bool {
            self.renews
        }

        fn prepare(&mut self, _seed: u64) {
            self.noise = SCATTER * self.normal();
        }

        fn sample(&mut self, contender: usize, iterations: u64, _gauge: &Gauge) -> Reading {
            let fresh = (1.0 - MEMORY * MEMORY).sqrt() * SCATTER * self.normal();
            self.noise = MEMORY * self.noise + fresh;
            let first = self.first[contender].take();
            let slower = 1.0 + self.noise + first.unwrap_or(0.0);
            let cpu_ns = self.ns * iterations as f64 * slower;
            // The first call of each contender also waits for a core.
            let waiting_ns = if first.is_some() { 5e6 } else { 0.0 };
            Reading {
                wall_ns: cpu_ns + waiting_ns,
                cpu_ns,
                run_delay_ns: waiting_ns as u64,
                ..Reading::default()
            }
        }

        fn check(&self) -> Result<(), Disagreement> {
            Ok(())
        }
    }

    /// Returns the share of 4,000 calibration runs that find no warm-up necessary.
    fn warm_at_once(first: [f64; 2]) -> f64 {
        let gauge = Gauge::new(SampleClock::os());
        let races = 4_000;
        let warm = (0..races)
            .filter(|seed| pilot(&mut Noisy::new(*seed, first), 1, 0.0, &gauge).warm_at_once)
            .count();
        warm as f64 / races as f64
    }

    #[test]
    fn one_pair_of_calls_rarely_errs_about_what_a_warm_up_brings() {
        let share = [0.0, 0.01, 0.02, 0.03, 1.0].map(|first| {
            let one = warm_at_once([first, 0.0]);
            let both = warm_at_once([first; 2]);
            println!("first call {first}: warm {one}, {both} where both are slower");
            (one, both)
        });
        assert!((0.82..0.90).contains(&share[0].0), "{share:?}");
        assert!((0.82..0.90).contains(&share[0].1), "{share:?}");
        assert!((0.35..0.55).contains(&share[1].0), "{share:?}");
        assert!(share[2].0 < 0.10 && share[2].1 < 0.02, "{share:?}");
        assert!(share[3].0 < 0.005, "{share:?}");
        assert_eq!(share[4], (0.0, 0.0), "{share:?}");
    }

    #[test]
    fn nothing_but_long_single_calls_on_one_input_by_one_thread_is_warm_at_once() {
        let gauge = Gauge::new(SampleClock::os());
        let found = |change: fn(&mut Noisy), least_ns| {
            let warm = |seed: &u64| {
                let mut noisy = Noisy::new(*seed, [0.0; 2]);
                change(&mut noisy);
                pilot(&mut noisy, 1, least_ns, &gauge).warm_at_once
            };
            (0..40).filter(warm).count()
        };
        assert!(found(|_| {}, 0.0) > 20);
        assert_eq!(found(|noisy| noisy.renews = true, 0.0), 0);
        assert_eq!(found(|noisy| noisy.threads = 2, 0.0), 0);
        assert_eq!(found(|noisy| noisy.ns = 4e6, 0.0), 0);
        assert_eq!(found(|_| {}, 1e8), 0);
    }

    #[test]
    fn a_static_that_the_first_call_fills_keeps_the_warm_up() {
        /// Uses at least 10 ms of CPU time, which the optimiser cannot shorten.
        fn work() -> u64 {
            (0..60_000_000).fold(black_box(1), |product: u64, factor| {
                product.wrapping_mul(factor | 1)
            })
        }
        let gauge = Gauge::new(SampleClock::os());
        for late in [false, true] {
            let mut benchmark = ByReference::new(|_| ()).without_renewal();
            let filled = Rc::new(OnceCell::new());
            for fills in [!late, late] {
                let filled = Rc::clone(&filled);
                benchmark.add(move |()| work() ^ if fills { *filled.get_or_init(work) } else { 0 });
            }
            let found = pilot(&mut benchmark, 1, 0.0, &gauge);
            assert_eq!((found.iterations, found.warm_at_once), (1, false));
            assert!(
                found.call_ns.iter().sum::<f64>() > LONG_ROUND_NS,
                "{found:?}"
            );
        }
    }

    /// A function that gets faster over its first calls.
    struct Warming {
        samples: u32,
        calls: u64,
        cold_samples: u32,
        ns: f64,
    }

    impl FunctionBenchmark for Warming {
        fn contenders(&self) -> usize {
            1
        }

        fn prepare(&mut self, _seed: u64) {}

        fn sample(&mut self, _contender: usize, iterations: u64, _gauge: &Gauge) -> Reading {
            self.samples += 1;
            self.calls += iterations;
            let cold = self.cold_samples.saturating_sub(self.samples);
            Reading {
                wall_ns: self.ns * iterations as f64 * (1.0 + 0.1 * f64::from(cold)),
                ..Reading::default()
            }
        }

        fn check(&self) -> Result<(), Disagreement> {
            Ok(())
        }
    }

    /// Returns the rounds and the calls of a warm-up whose samples are single calls.
    fn warmed_up(cold_samples: u32, ns: f64) -> (u64, u64) {
        let mut warming = Warming {
            samples: 0,
            calls: 0,
            cold_samples,
            ns,
        };
        let gauge = Gauge::new(SampleClock::os());
        let rounds = warm_up(&mut warming, &[0], 1, |round| round, &gauge);
        (rounds, warming.calls)
    }

    fn rounds(cold_samples: u32, ns: f64) -> u64 {
        warmed_up(cold_samples, ns).0
    }

    #[test]
    fn a_short_call_that_is_a_sample_by_itself_is_warmed_up_by_many() {
        assert_eq!(warmed_up(0, 500.0), (3, 1 + 10 + 10));
        assert_eq!(warmed_up(0, 5_000.0), (3, 3));
    }

    #[test]
    fn what_is_warm_at_once_is_called_three_times() {
        assert_eq!(rounds(0, 1_000.0), 3);
        assert_eq!(least_warm_up_rounds(1_000.0), 3);
    }

    #[test]
    fn the_warm_up_goes_on_while_it_helps() {
        assert_eq!(rounds(12, 1_000.0), 14);
    }

    #[test]
    fn a_slow_function_is_called_once() {
        for ns in [2e7, 1e9] {
            assert_eq!(rounds(0, ns), 1);
            assert_eq!(least_warm_up_rounds(ns), 1);
        }
    }

    fn primed(renews_input: bool, prime: Option<usize>, slots: &[usize]) -> Vec<usize> {
        primes(renews_input, prime, slots).collect()
    }

    #[test]
    fn on_a_new_input_everyone_runs_once_and_the_first_of_the_block_last() {
        assert_eq!(primed(true, None, &[0, 1, 1, 0]), [1, 0]);
        assert_eq!(primed(true, Some(1), &[1, 0, 0, 1]), [0, 1]);
        assert_eq!(primed(true, None, &[2, 0, 1]), [1, 0, 2]);
        assert_eq!(primed(true, None, &[0]), [0]);
    }

    #[test]
    fn on_the_same_input_only_a_change_of_contender_is_primed() {
        assert!(primed(false, None, &[0, 1, 1, 0]).is_empty());
        assert_eq!(primed(false, Some(1), &[1, 0, 0, 1]), [1]);
    }
}
