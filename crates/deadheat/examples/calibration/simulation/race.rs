//! One simulated race, from plan to answer.

use std::time::Duration;

use deadheat::parts::analysis::{Options, PlannedRule, analyse, looks_within, planned_looks};
use deadheat::parts::engine::{
    Contenders, NeverStop, Noise, Session, SimulatedClock, SimulatedContenders, Simulation,
    Unwatched,
};
use deadheat::parts::model::{Analysis, Design, Run, RunHeader, Unrecorded, Waiting, Workload};
use deadheat_testing::runs::{self, benchmark, contenders, design};

/// The race to simulate, with its noise and its true effects.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Blocks in a replicate (K).
    pub blocks_per_replicate: u32,
    /// Maximum number of replicates (Pmax).
    pub max_replicates: u32,
    /// The smallest relative change worth acting on.
    pub margin: f64,
    /// True time of the baseline in nanoseconds.
    pub baseline_ns: f64,
    /// The treatment of the time spent waiting for a core.
    pub waiting: Waiting,
    /// True effects of the candidates, as log-ratios.
    pub effects: Vec<f64>,
    pub noise: Noise,
    /// True if the number of replicates is not set, and replicates cost little.
    pub open: bool,
}

/// α of every simulated race.
pub const ALPHA: f64 = 0.05;

impl Setting {
    /// Returns a lower bound of the standard error of the estimate at Pmax: the scatter and drift
    /// of the samples over all blocks, and the layouts over all replicates. Spikes and lasting
    /// modes increase the error further.
    pub fn least_error(&self) -> f64 {
        let noise = self.noise;
        let memory = Noise::DRIFT_MEMORY;
        let walk = noise.drift.powi(2) / (1.0 - memory.powi(2));
        // The part of a walk that ABBA does not cancel: its value at slots 2 + 3 − 1 − 4, halved.
        let left = 1.0 - 0.5 * (memory + 2.0 * memory.powi(2) - memory.powi(3));
        // If every sample has its own mode, modes are scatter: the variance of seven even steps is
        // a ninth of the square of their distance.
        let modes = match noise.mode_length {
            0 | 1 => noise.modes.powi(2) / 9.0,
            _ => 0.0,
        };
        let taken = Noise::SLOW_PATH_TAKEN;
        let slow_path = taken * (1.0 - taken) * noise.slow_path.powi(2);
        let block = noise.sample.powi(2) + modes + slow_path + walk * left;
        let replicate = block / f64::from(self.blocks_per_replicate) + 2.0 * noise.layout.powi(2);
        (replicate / f64::from(self.max_replicates)).sqrt()
    }
}

/// Runs one race through schedule, session, stopping rule and analysis.
pub fn race(setting: &Setting, seed: u64) -> (Run, Analysis) {
    race_of(setting, seed, |contenders| contenders)
}

/// Runs one race of the contenders that `dress` makes from the simulated ones.
pub fn race_of<C: Contenders>(
    setting: &Setting,
    seed: u64,
    dress: impl FnOnce(SimulatedContenders) -> C,
) -> (Run, Analysis) {
    let mut header = header(setting, seed);
    let clock = SimulatedClock::default();
    let simulation = Simulation {
        baseline_ns: setting.baseline_ns,
        effects: setting.effects.clone(),
        noise: setting.noise,
        seed,
    };
    let mut contenders = dress(SimulatedContenders::new(simulation, clock.clone()));
    header.metrics = contenders.metrics().to_vec();
    let mut run = Run::new(header.clone());
    Session {
        contenders: &mut contenders,
        clock: &clock,
        rule: &mut PlannedRule::new(&header),
        sink: &mut Unrecorded,
        watcher: &mut Unwatched,
        stop: &NeverStop,
        max_replicates: setting.max_replicates,
        budget: None,
        outlive_failures: false,
    }
    .race(&mut run)
    .expect("simulated contenders never fail");
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    let analysis = analyse(&run, options);
    (run, analysis)
}

fn header(setting: &Setting, seed: u64) -> RunHeader {
    let names = (0..=setting.effects.len()).map(|index| format!("contender {index}"));
    let contenders = contenders(names, &Workload::Recording);
    let looks = if setting.open {
        let time = Duration::from_secs(u64::from(setting.max_replicates));
        let looks = looks_within(time, 1e9, 0, ALPHA).expect("a sound level");
        looks.expect("more replicates than have to be said")
    } else {
        planned_looks(0, setting.max_replicates, ALPHA).expect("a possible plan")
    };
    let design = Design {
        margin: setting.margin,
        alpha: ALPHA,
        blocks_per_replicate: setting.blocks_per_replicate,
        warmup: 1,
        waiting: setting.waiting,
        ..design(looks)
    };
    runs::header(design, seed, vec![benchmark("simulated", contenders)])
}
