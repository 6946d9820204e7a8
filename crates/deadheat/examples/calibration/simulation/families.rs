//! The noise that real machines add to times, in the families that every promise is tested under.

use deadheat::parts::engine::Noise;
use deadheat::parts::model::Waiting;

use super::race::Setting;

/// A kind of noise, with designs that can find 1% under it.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub name: &'static str,
    pub noise: Noise,
    /// Blocks in a replicate (K) with which 40 processes find 1%.
    pub blocks: u32,
    /// Maximum number of replicates (Pmax) with which single blocks of commands find 1%.
    pub replicates: u32,
}

/// K of a race of processes, and Pmax of every race, unless a row says otherwise.
pub const BLOCKS: u32 = 25;
pub const REPLICATES: u32 = 40;

/// The effect of the memory layout of a process: standard deviation on the time of each side.
const LAYOUT: f64 = 0.007;

/// A quiet machine.
pub const QUIET: Noise = Noise {
    sample: 0.01,
    ..Noise::NONE
};

/// A busy, shared machine.
pub const NOISY: Noise = Noise {
    sample: 0.09,
    ..Noise::NONE
};

/// The families of the specification.
pub const FAMILIES: [Family; 9] = [
    Family {
        name: "independent, σ .01",
        noise: QUIET,
        blocks: 25,
        replicates: 40,
    },
    Family {
        name: "independent, σ .09",
        noise: NOISY,
        blocks: 100,
        replicates: 2_000,
    },
    Family {
        name: "independent, σ .44",
        noise: Noise {
            sample: 0.44,
            ..Noise::NONE
        },
        blocks: 2_000,
        replicates: 40_000,
    },
    Family {
        name: "AR(1) drift",
        noise: Noise {
            drift: 0.05,
            ..QUIET
        },
        blocks: 25,
        replicates: 400,
    },
    Family {
        name: "seven modes",
        noise: Noise {
            modes: 0.5,
            ..QUIET
        },
        blocks: 25,
        replicates: 64,
    },
    Family {
        name: "0.2% spikes, σ .09",
        noise: Noise {
            spikes: 0.002,
            ..NOISY
        },
        blocks: 100,
        replicates: 2_000,
    },
    Family {
        name: "2% spikes, σ .09",
        noise: Noise {
            spikes: 0.02,
            ..NOISY
        },
        blocks: 100,
        replicates: 3_000,
    },
    Family {
        name: "position and carry-over",
        noise: Noise {
            second_position: 0.03,
            carry_over: 0.02,
            ..QUIET
        },
        blocks: 25,
        replicates: 40,
    },
    Family {
        name: "all together",
        noise: Noise {
            sample: 0.03,
            drift: 0.02,
            modes: 0.2,
            spikes: 0.02,
            second_position: 0.03,
            carry_over: 0.02,
            ..Noise::NONE
        },
        blocks: 25,
        replicates: 400,
    },
];

/// The harder row of the specification: the layout changes each replicate's effect by a standard
/// deviation of 1.4%, so each side's time by 1.4%/√2.
pub const HARD_LAYOUT: Noise = Noise {
    sample: 0.005,
    layout: 0.014 / std::f64::consts::SQRT_2,
    ..Noise::NONE
};

/// Noise in which each sample has one of seven modes.
pub const RESTLESS: Noise = Noise {
    modes: 0.5,
    mode_length: 1,
    ..QUIET
};

/// Noise with modes so far apart that the scatter within one says nothing about the total.
pub const SLOW_PATH: Noise = Noise {
    slow_path: 1.0,
    ..QUIET
};

/// Returns the log-ratio of a change in percent.
pub fn percent(change: f64) -> f64 {
    (change / 100.0).ln_1p()
}

/// A race of processes: many blocks in each process, and one layout per process.
pub fn processes(effect: f64, noise: Noise) -> Setting {
    Setting {
        blocks_per_replicate: BLOCKS,
        noise: Noise {
            layout: LAYOUT,
            ..noise
        },
        ..commands(effect, noise)
    }
}

/// A race of commands: every slot is a process of its own, whose layout is part of its scatter, and
/// every replicate is a single block.
pub fn commands(effect: f64, noise: Noise) -> Setting {
    Setting {
        blocks_per_replicate: 1,
        max_replicates: REPLICATES,
        margin: 0.01,
        baseline_ns: 2e7,
        waiting: Waiting::Auto,
        effects: vec![effect],
        noise,
        open: false,
    }
}
