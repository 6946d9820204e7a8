//! Contenders that only pretend: their times are drawn from a noise model and
//! pass on a clock that nothing else turns. With them a thousand races take
//! a second and always the same one.

use deadheat_model::{Block, BlockRecord, ContenderId, Flags, Metric, Sample, Slot};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Contenders;
use crate::clock::SimulatedClock;
use crate::error::EngineError;
use crate::random::{Purpose, below, normal, stream, unit};

/// How the times of a simulated contender scatter. All spreads are standard
/// deviations of the logarithm; 0 turns a part off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Independent scatter of every sample.
    pub sample: f64,
    /// Drawn once per replicate and contender: where its memory came to lie.
    pub layout: f64,
    /// Step of a random walk with memory 0.95 that all samples share.
    pub drift: f64,
    /// Distance between the slowest and fastest of seven modes the machine
    /// switches between every 37 samples or so.
    pub modes: f64,
    /// Share of samples slowed down by a factor of 10 to 1,000.
    pub spikes: f64,
    /// Slowdown of whatever runs second in a pair.
    pub second_position: f64,
    /// Slowdown of a sample that follows another contender's.
    pub carry_over: f64,
}

impl Noise {
    /// No noise at all.
    pub const NONE: Noise = Noise {
        sample: 0.0,
        layout: 0.0,
        drift: 0.0,
        modes: 0.0,
        spikes: 0.0,
        second_position: 0.0,
        carry_over: 0.0,
    };
}

/// A simulated race: what is true and how well it is hidden.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// True time of the baseline in nanoseconds.
    pub baseline_ns: f64,
    /// True log-ratio of each candidate to the baseline.
    pub effects: Vec<f64>,
    /// What hides the truth.
    pub noise: Noise,
    /// Seed of the noise; the schedule has its own in the plan.
    pub seed: u64,
}

/// Contenders that obey a [`Simulation`].
#[derive(Debug)]
pub struct SimulatedContenders {
    simulation: Simulation,
    clock: SimulatedClock,
    rng: Xoshiro256PlusPlus,
    replicate: Option<u32>,
    layouts: Vec<f64>,
    walk: f64,
    mode: f64,
    previous: Option<ContenderId>,
}

impl SimulatedContenders {
    /// Contenders whose time passes on `clock`.
    pub fn new(simulation: Simulation, clock: SimulatedClock) -> Self {
        let rng = stream(simulation.seed, Purpose::Noise, [0; 3]);
        let layouts = vec![0.0; simulation.effects.len() + 1];
        Self {
            simulation,
            clock,
            rng,
            replicate: None,
            layouts,
            walk: 0.0,
            mode: 0.0,
            previous: None,
        }
    }

    fn sample_ns(&mut self, contender: ContenderId, place: usize) -> f64 {
        let noise = self.simulation.noise;
        let rng = &mut self.rng;
        if below(rng, 37) == 0 {
            self.mode = noise.modes * below(rng, 7) as f64 / 6.0;
        }
        self.walk = 0.95 * self.walk + noise.drift * normal(rng);
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
        if self.previous.is_some_and(|previous| previous != contender) {
            log += noise.carry_over;
        }
        if unit(rng) < noise.spikes {
            log += (10.0 * 100f64.powf(unit(rng))).ln();
        }
        self.previous = Some(contender);
        let ns = (self.simulation.baseline_ns * log.exp()).round();
        self.clock.advance(ns as u64);
        ns
    }
}

impl Contenders for SimulatedContenders {
    fn metrics(&self) -> &[Metric] {
        &[Metric::Wall]
    }

    fn open(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
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
            record.values.push(self.sample_ns(slot.contender, place));
            record.samples.push(Sample {
                contender: slot.contender,
                flags: Flags::NONE,
                exit_code: None,
                iterations: 1,
            });
        }
        Ok(())
    }

    fn close(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests_support {
    use deadheat_model::{Benchmark, Contender, Design, Looks, Metric, Pinning, Plan, Workload};

    /// A plan of one benchmark with so many contenders.
    pub(crate) fn plan(contenders: usize, seed: u64) -> Plan {
        Plan {
            design: Design {
                margin: 0.01,
                alpha: 0.05,
                looks: Looks {
                    at: vec![6, 10],
                    levels: vec![0.02, 0.04],
                    weights: vec![0.5, 0.5],
                },
                blocks_per_replicate: 1,
                warmup: 1,
                budget: None,
                judged: Metric::Wall,
                pinning: Pinning::Inherit,
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
            }],
        }
    }
}
