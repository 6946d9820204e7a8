//! Simulated contenders: their times are drawn from a noise model and advance a simulated clock. A
//! thousand races take a second and are reproducible.

use deadheat_model::{Block, BlockRecord, ContenderId, Flags, Metric, Sample, Slot};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::clock::{Clock, SimulatedClock};
use crate::error::EngineError;
use crate::random::{Purpose, below, normal, stream, unit};
use crate::session::Contenders;

/// The noise in the times of a simulated contender. All spreads are standard deviations of the
/// logarithm; 0 disables a component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Independent noise of every sample.
    pub sample: f64,
    /// The effect of memory layout, drawn once per replicate and contender.
    pub layout: f64,
    /// The step of a mean-reverting random walk with memory [`Noise::DRIFT_MEMORY`] that all
    /// samples share.
    pub drift: f64,
    /// The distance between the slowest and the fastest mode of the machine. The machine switches
    /// at random between modes of different speed.
    pub modes: f64,
    /// The number of evenly spaced modes, at least two.
    pub mode_count: u64,
    /// The mean number of samples between two mode switches; 1 draws a mode for every sample.
    pub mode_length: u64,
    /// The slowdown of a slow path that a share [`Noise::SLOW_PATH_TAKEN`] of the samples takes.
    pub slow_path: f64,
    /// The share of samples that are slowed down by a factor of 10 to 1,000.
    pub spikes: f64,
    /// The slowdown of the samples in every second slot of a block.
    pub second_position: f64,
    /// The slowdown of a sample that follows a sample of another contender.
    pub carry_over: f64,
    /// The slowdown of the first sample of a block, for example because branch predictors do not
    /// know the input yet. It decreases to a third with each further sample.
    pub learning: f64,
    /// The mean scheduling delay as a share of the time on a core. After every [`Noise::TURN_NS`]
    /// on the core, other threads run for an exponentially distributed time. Samples then also
    /// report CPU time and scheduling delay.
    pub waits: f64,
    /// The nanoseconds of a burst of load from other threads, and of the calm between two bursts. A
    /// race begins at a random point of a calm. With 0, the load never stops.
    pub burst_ns: u64,
    /// The mean steal time of a hypervisor as a share of the time on a core, taken after every
    /// [`Noise::HOST_TURN_NS`]. No metric reports it, so it counts as CPU time.
    pub steal: f64,
}

impl Noise {
    /// The share of the drift that remains at the next sample.
    pub const DRIFT_MEMORY: f64 = 0.95;

    /// The share of samples that take the slow path.
    pub const SLOW_PATH_TAKEN: f64 = 0.3;

    /// The nanoseconds on a core between two waits.
    pub const TURN_NS: f64 = 3e6;

    /// The nanoseconds on a core of the host between two interruptions by other guests.
    pub const HOST_TURN_NS: f64 = 1e7;

    /// No noise.
    pub const NONE: Noise = Noise {
        sample: 0.0,
        layout: 0.0,
        drift: 0.0,
        modes: 0.0,
        mode_count: 7,
        mode_length: 37,
        slow_path: 0.0,
        spikes: 0.0,
        second_position: 0.0,
        carry_over: 0.0,
        learning: 0.0,
        waits: 0.0,
        burst_ns: 0,
        steal: 0.0,
    };
}

/// The parameters of a simulated race: true times and noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// The true time of the baseline in nanoseconds.
    pub baseline_ns: f64,
    /// The true log-ratio of each candidate to the baseline.
    pub effects: Vec<f64>,
    /// The noise that is added to the true times.
    pub noise: Noise,
    /// The seed of the noise; the plan contains the seed of the schedule.
    pub seed: u64,
}

/// The contenders of a [`Simulation`].
#[derive(Debug)]
pub struct SimulatedContenders {
    simulation: Simulation,
    clock: SimulatedClock,
    rng: Xoshiro256PlusPlus,
    replicate: Option<u32>,
    layouts: Vec<f64>,
    walk: f64,
    mode: f64,
    /// How long the calm before the first burst of load had lasted when the race began, in
    /// nanoseconds.
    calm_ns: u64,
    previous: Option<ContenderId>,
    launched: u64,
}

impl SimulatedContenders {
    /// Creates contenders whose samples advance `clock`.
    pub fn new(simulation: Simulation, clock: SimulatedClock) -> Self {
        let mut rng = stream(simulation.seed, Purpose::Noise, [0; 3]);
        let layouts = vec![0.0; simulation.effects.len() + 1];
        // Starts in the stationary state: a random mode and a random drift.
        let mode = some_mode(&simulation.noise, &mut rng);
        let settled = (1.0 - Noise::DRIFT_MEMORY.powi(2)).sqrt();
        let walk = simulation.noise.drift / settled * normal(&mut rng);
        let calm_ns = match simulation.noise.burst_ns {
            0 => 0,
            burst_ns => below(&mut rng, burst_ns),
        };
        Self {
            simulation,
            clock,
            rng,
            replicate: None,
            layouts,
            walk,
            mode,
            calm_ns,
            previous: None,
            launched: 0,
        }
    }

    /// Returns the wall time, the CPU time and the scheduling delay of a sample, in nanoseconds.
    fn sample_ns(&mut self, contender: ContenderId, place: usize) -> [f64; 3] {
        let noise = self.simulation.noise;
        let rng = &mut self.rng;
        if below(rng, noise.mode_length.max(1)) == 0 {
            self.mode = some_mode(&noise, rng);
        }
        self.walk = Noise::DRIFT_MEMORY * self.walk + noise.drift * normal(rng);
        let truth = match contender.index() {
            0 => 0.0,
            index => self.simulation.effects[index - 1],
        };
        let mut log = truth
            + self.layouts[contender.index()]
            + self.walk
            + self.mode
            + noise.sample * normal(rng);
        if place % 2 == 1 {
            log += noise.second_position;
        }
        log += noise.learning / 3f64.powi(place as i32);
        if self.previous.is_some_and(|previous| previous != contender) {
            log += noise.carry_over;
        }
        if noise.slow_path > 0.0 && unit(rng) < Noise::SLOW_PATH_TAKEN {
            log += noise.slow_path;
        }
        if unit(rng) < noise.spikes {
            log += (10.0 * 100f64.powf(unit(rng))).ln();
        }
        self.previous = Some(contender);
        self.launched += 1;
        let mut cpu = (self.simulation.baseline_ns * log.exp()).round();
        if noise.steal > 0.0 {
            let mean_ns = noise.steal * Noise::HOST_TURN_NS;
            cpu += self.interrupted_ns(cpu, Noise::HOST_TURN_NS, mean_ns);
        }
        let waited = self.waited_ns(cpu);
        self.clock.advance((cpu + waited) as u64);
        // The thread may lose its core between the two readings, and the readings themselves take
        // CPU time.
        let also = if noise.waits > 0.0 && unit(&mut self.rng) < 0.2 {
            self.waited_ns(Noise::TURN_NS)
        } else {
            0.0
        };
        [cpu + waited, (cpu - 500.0).max(0.0), waited + also]
    }

    /// Returns the scheduling delay of a sample of `cpu` nanoseconds; 0 if the sample begins
    /// between two bursts of load.
    fn waited_ns(&mut self, cpu: f64) -> f64 {
        let noise = self.simulation.noise;
        let since_calm = self.clock.elapsed_ns() + self.calm_ns;
        let spans = since_calm.checked_div(noise.burst_ns);
        if noise.waits > 0.0 && spans.is_none_or(|spans| spans % 2 == 1) {
            self.interrupted_ns(cpu, Noise::TURN_NS, noise.waits * Noise::TURN_NS)
        } else {
            0.0
        }
    }

    /// Returns the nanoseconds that other threads take from a sample of `cpu` nanoseconds. The
    /// sample begins at a random point of its turn; after each turn, other threads run for an
    /// exponentially distributed time with mean `mean_ns`.
    fn interrupted_ns(&mut self, cpu: f64, turn_ns: f64, mean_ns: f64) -> f64 {
        let mut left = cpu - unit(&mut self.rng) * turn_ns;
        let mut taken = 0.0;
        while left > 0.0 {
            taken -= mean_ns * (1.0 - unit(&mut self.rng)).ln();
            left -= turn_ns;
        }
        taken.round()
    }
}

fn some_mode(noise: &Noise, rng: &mut Xoshiro256PlusPlus) -> f64 {
    noise.modes * below(rng, noise.mode_count) as f64 / (noise.mode_count - 1) as f64
}

impl Contenders for SimulatedContenders {
    fn metrics(&self) -> &[Metric] {
        if self.simulation.noise.waits > 0.0 {
            &[Metric::Wall, Metric::Cpu, Metric::RunDelay]
        } else {
            &[Metric::Wall]
        }
    }

    fn warm_up(&mut self, _benchmark: usize, slots: &[Slot]) -> Result<(), EngineError> {
        for slot in slots {
            self.sample_ns(slot.contender, 0);
        }
        Ok(())
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        if self.replicate != Some(block.replicate) {
            self.replicate = Some(block.replicate);
            for index in 0..self.layouts.len() {
                self.layouts[index] = self.simulation.noise.layout * normal(&mut self.rng);
            }
        }
        if let Some(prime) = block.prime {
            self.sample_ns(prime.contender, 0);
        }
        for (place, slot) in block.slots.iter().enumerate() {
            let sample = self.sample_ns(slot.contender, place);
            let metrics = self.metrics().len();
            record.values.extend(&sample[..metrics]);
            record.samples.push(Sample {
                contender: slot.contender,
                flags: Flags::NONE,
                exit_code: None,
                iterations: 1,
            });
        }
        Ok(())
    }

    fn launched(&mut self) -> u64 {
        std::mem::take(&mut self.launched)
    }
}

#[cfg(test)]
pub(crate) mod tests_support {
    use deadheat_model::{Benchmark, Contender, Design, Looks, Plan, Workload};

    pub(crate) fn plan(contenders: usize, seed: u64) -> Plan {
        Plan {
            design: Design {
                looks: Looks {
                    at: vec![6, 10],
                    levels: vec![0.02, 0.04],
                    weights: vec![0.5, 0.5],
                },
                warmup: 1,
                waiting: deadheat_model::Waiting::Keep,
                ..Design::default()
            },
            seed,
            benchmarks: vec![Benchmark {
                name: "simulated".to_owned(),
                parameters: Vec::new(),
                contenders: (0..contenders)
                    .map(|index| Contender {
                        name: format!("contender {index}"),
                        workload: Workload::Recording,
                    })
                    .collect(),
                ..Benchmark::default()
            }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ContenderId = ContenderId(0);
    const B: ContenderId = ContenderId(1);

    fn contenders(noise: Noise) -> SimulatedContenders {
        let simulation = Simulation {
            baseline_ns: 2e7,
            effects: vec![0.25],
            noise,
            seed: 5,
        };
        SimulatedContenders::new(simulation, SimulatedClock::default())
    }

    /// Returns the logarithms of the times of one block, relative to the baseline's true time.
    fn logs(
        contenders: &mut SimulatedContenders,
        replicate: u32,
        order: &[ContenderId],
    ) -> Vec<f64> {
        let slot = |contender: &ContenderId| Slot {
            contender: *contender,
            padding: 0,
        };
        let previous = contenders.previous;
        let block = Block {
            benchmark: 0,
            replicate,
            index: 0,
            prime: (previous != Some(order[0])).then(|| slot(&order[0])),
            slots: order.iter().map(slot).collect(),
        };
        let mut record = BlockRecord::default();
        contenders.run(&block, &mut record).unwrap();
        record.values.iter().map(|ns| (ns / 2e7).ln()).collect()
    }

    fn many(noise: Noise, samples: usize) -> Vec<f64> {
        let mut contenders = contenders(noise);
        let mut found = Vec::new();
        while found.len() < samples {
            found.extend(logs(&mut contenders, 0, &[A; 4]));
        }
        found
    }

    fn variance(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
    }

    #[test]
    fn without_noise_every_time_is_the_true_one() {
        let found = logs(&mut contenders(Noise::NONE), 0, &[A, B, B, A]);
        for (log, truth) in found.iter().zip([0.0, 0.25, 0.25, 0.0]) {
            assert!((log - truth).abs() < 1e-7, "{found:?}");
        }
    }

    #[test]
    fn the_scatter_of_samples_is_that_of_their_logarithm() {
        let noise = Noise {
            sample: 0.44,
            ..Noise::NONE
        };
        let sd = variance(&many(noise, 40_000)).sqrt();
        assert!((sd / 0.44 - 1.0).abs() < 0.02, "{sd}");
    }

    #[test]
    fn a_layout_is_drawn_once_for_each_side_of_a_replicate() {
        let mut contenders = contenders(Noise {
            layout: 0.007,
            ..Noise::NONE
        });
        let mut drawn = Vec::new();
        for replicate in 0..4_000 {
            let first = logs(&mut contenders, replicate, &[A, B, B, A]);
            assert_eq!(first, logs(&mut contenders, replicate, &[A, B, B, A]));
            assert_eq!((first[0], first[1]), (first[3], first[2]));
            drawn.push(first[1] - first[0]);
        }
        let sd = variance(&drawn).sqrt();
        assert!((sd / (0.007 * 2f64.sqrt()) - 1.0).abs() < 0.05, "{sd}");
    }

    #[test]
    fn the_drift_is_a_walk_with_memory_that_has_long_settled() {
        let noise = Noise {
            drift: 0.05,
            ..Noise::NONE
        };
        let found = many(noise, 100_000);
        let steps: Vec<f64> = found.windows(2).map(|w| w[1] - 0.95 * w[0]).collect();
        assert!((variance(&steps).sqrt() / 0.05 - 1.0).abs() < 0.02);
        let settled = 0.05f64.powi(2) / (1.0 - 0.95f64.powi(2));
        assert!((variance(&found) / settled - 1.0).abs() < 0.1);
        let first = |seed| {
            let mut contenders = contenders(noise);
            contenders.simulation.seed = seed;
            SimulatedContenders::new(contenders.simulation, SimulatedClock::default()).walk
        };
        let firsts: Vec<f64> = (0..4_000).map(first).collect();
        assert!((variance(&firsts) / settled - 1.0).abs() < 0.1);
    }

    #[test]
    fn the_machine_switches_between_seven_modes_in_the_middle_of_a_run() {
        let noise = Noise {
            modes: 0.6,
            ..Noise::NONE
        };
        let modes: Vec<i64> = many(noise, 37_000)
            .iter()
            .map(|log| (log * 10.0).round() as i64)
            .collect();
        for mode in 0..7 {
            let share = modes.iter().filter(|m| **m == mode).count() as f64 / 37_000.0;
            assert!((share * 7.0 - 1.0).abs() < 0.25, "{mode}: {share}");
        }
        // One in seven of the switches, which happen every 37 samples, draws the same mode again.
        let switches = modes.windows(2).filter(|w| w[0] != w[1]).count() as f64;
        assert!(
            (switches / (1_000.0 * 6.0 / 7.0) - 1.0).abs() < 0.12,
            "{switches}"
        );
        let restless = Noise {
            mode_length: 1,
            ..noise
        };
        let found = many(restless, 7_000);
        let stays = found.windows(2).filter(|w| w[0] == w[1]).count() as f64;
        assert!((stays / 1_000.0 - 1.0).abs() < 0.12, "{stays}");
    }

    #[test]
    fn spikes_hit_both_sides_alike_and_as_often_as_they_should() {
        let mut contenders = contenders(Noise {
            spikes: 0.02,
            ..Noise::NONE
        });
        let (mut hits, mut all) = ([0, 0], Vec::new());
        for _ in 0..20_000 {
            let found = logs(&mut contenders, 0, &[A, B, B, A]);
            for (log, side) in found.iter().zip([0, 1, 1, 0]) {
                let spike = log - 0.25 * side as f64;
                if spike > 1.0 {
                    hits[side] += 1;
                    all.push(spike);
                }
            }
        }
        for hits in hits {
            // 40,000 of each give an expected 800, within four binomial standard errors.
            assert!((800 - 112..800 + 112).contains(&hits), "{hits}");
        }
        let (least, most) = (10f64.ln() - 1e-6, 1_000f64.ln() + 1e-6);
        assert!(all.iter().all(|spike| (least..most).contains(spike)));
    }

    #[test]
    fn position_and_carry_over_reach_every_sample_and_priming_takes_them_from_the_first() {
        let mut contenders = contenders(Noise {
            second_position: 0.03,
            carry_over: 0.02,
            ..Noise::NONE
        });
        let places = [0.0, 0.05, 0.0, 0.05];
        for order in [[A, B, B, A], [B, A, A, B], [A, B, B, A]] {
            let found = logs(&mut contenders, 0, &order);
            for ((log, contender), added) in found.iter().zip(order).zip(places) {
                let truth = 0.25 * f64::from(contender.0);
                assert!((log - truth - added).abs() < 1e-7, "{found:?}");
            }
        }
        // The clock also contains the unrecorded samples.
        contenders.previous = Some(B);
        let before = contenders.clock.clone();
        let started = crate::clock::Clock::elapsed_ns(&before);
        contenders.sample_ns(A, 0);
        let primed = crate::clock::Clock::elapsed_ns(&before) - started;
        assert_eq!(primed, (2e7 * 0.02f64.exp()).round() as u64);
    }

    /// Returns the wall time, CPU time and scheduling delay of `samples` samples of the baseline.
    fn accounts(noise: Noise, samples: usize) -> Vec<[f64; 3]> {
        let mut contenders = contenders(noise);
        (0..samples).map(|_| contenders.sample_ns(A, 0)).collect()
    }

    #[test]
    fn others_come_in_bursts_and_not_before_the_race_has_begun() {
        let noise = Noise {
            waits: 1.0,
            burst_ns: 1_000_000_000,
            ..Noise::NONE
        };
        let waited: Vec<bool> = accounts(noise, 1_000)
            .iter()
            .map(|[wall, cpu, _]| wall - cpu > 1_000.0)
            .collect();
        assert!(!waited[0]);
        let changes = waited.windows(2).filter(|two| two[0] != two[1]).count();
        // 20 s of work; a burst of a second contains half a second of it.
        assert!((20..60).contains(&changes), "{changes}");
    }

    #[test]
    fn what_a_hypervisor_takes_is_in_no_account() {
        let noise = Noise {
            steal: 0.1,
            ..Noise::NONE
        };
        let accounts = accounts(noise, 10_000);
        assert!(accounts.iter().all(|[_, _, delay]| *delay == 0.0));
        let wall: f64 = accounts.iter().map(|[wall, ..]| wall).sum();
        let cpu: f64 = accounts.iter().map(|[_, cpu, _]| cpu).sum();
        let stolen = wall / 2e7 / 10_000.0 - 1.0;
        assert!((stolen / 0.1 - 1.0).abs() < 0.05, "{stolen}");
        assert!(wall - cpu < 1e7, "{wall} {cpu}");
    }
}
