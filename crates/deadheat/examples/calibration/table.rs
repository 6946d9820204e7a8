//! The races that test the promises, and the rows that each promise is about.

use deadheat::parts::engine::Noise;

use crate::simulation::families::{
    BLOCKS, FAMILIES, Family, HARD_LAYOUT, QUIET, REPLICATES, RESTLESS, SLOW_PATH, commands,
    percent, processes,
};
use crate::simulation::race::{ALPHA, Setting};
use crate::simulation::tally::{Tally, at_most};

/// Races of a row without a difference.
const ALIKE: u32 = 4_000;
/// Races of a row with a difference, or in a design made to find one.
const DIFFERENT: u32 = 1_000;
/// Races of a row with a difference if each race has more than [`LONG`] blocks.
const OF_LONG_RACES: u32 = 400;
const LONG: u32 = 10_000;
/// Races of a design with few blocks in a replicate.
const SMALL: u32 = 20_000;

/// A row of the table: many races of one setting.
pub struct Row {
    pub name: String,
    /// True change in percent.
    pub change: f64,
    pub setting: Setting,
    pub races: u32,
}

impl Row {
    fn new(name: &str, change: f64, setting: Setting, races: u32) -> Self {
        Self {
            name: name.to_owned(),
            change,
            setting: Setting {
                effects: vec![percent(change)],
                ..setting
            },
            races,
        }
    }

    /// Returns true if a change of one margin can be found: the margin is at least four times the
    /// smallest possible standard error.
    pub fn can_find(&self) -> bool {
        4.0 * self.setting.least_error() <= self.setting.margin
    }

    /// Returns the number of false verdicts of this row.
    pub fn wrong(&self, tally: &Tally) -> u32 {
        tally.wrong(self.setting.effects[0], self.setting.margin)
    }
}

/// Rows that answer one question.
pub struct Section {
    pub title: &'static str,
    pub words: &'static str,
    pub rows: Vec<Row>,
}

/// Returns everything to measure, in the order of the page.
pub fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "Processes without a difference",
            words: "A race has at most 40 processes with 25 blocks each. The effect of the layout \
                has an sd of 0.7% for each side of a process.",
            rows: alike(processes)
                .chain(heaps(processes))
                .chain([hard(0.0)])
                .collect(),
        },
        Section {
            title: "Commands without a difference",
            words: "A race has at most 40 blocks, and each block is a replicate. Each launch has a random \
                memory layout; the effect of this layout is part of the simulated scatter.",
            rows: alike(commands).chain(heaps(commands)).collect(),
        },
        Section {
            title: "Processes that differ",
            words: "If replicates of 25 blocks cannot find a change of 1%, the replicates have as \
                many blocks as necessary.",
            rows: FAMILIES
                .iter()
                .flat_map(|family| {
                    different(family, |noise| Setting {
                        blocks_per_replicate: family.blocks,
                        ..processes(0.0, noise)
                    })
                })
                .chain([hard(-1.0), hard(-2.0)])
                .collect(),
        },
        Section {
            title: "Commands that differ",
            words: "If 40 blocks cannot find a change of 1%, the maximum number of blocks is as \
                large as necessary.",
            rows: FAMILIES
                .iter()
                .flat_map(|family| {
                    different(family, |noise| Setting {
                        max_replicates: family.replicates,
                        ..commands(0.0, noise)
                    })
                })
                .collect(),
        },
        Section {
            title: "Few blocks in a replicate",
            words: "The scatter is independent and normal, with σ .01. The margin is 0.01%, so that \
                no race ends early in a dead heat and every interim analysis happens. A race with \
                all its interim analyses is the hardest case. \
                Replicates with fewer than ten blocks have their own critical \
                values; for ten blocks, the plain formula applies.",
            rows: few_blocks(),
        },
    ]
}

fn alike(design: fn(f64, Noise) -> Setting) -> impl Iterator<Item = Row> {
    let row = move |family: &Family| Row::new(family.name, 0.0, design(0.0, family.noise), ALIKE);
    FAMILIES.iter().map(row)
}

/// Returns the rows of one family in a design that can find 1%. A row without a difference is
/// included only if the design is unusual, because the usual one has that row in another section.
fn different(family: &Family, design: impl Fn(Noise) -> Setting) -> Vec<Row> {
    let setting = design(family.noise);
    let (blocks, replicates) = (setting.blocks_per_replicate, setting.max_replicates);
    let usual = replicates == REPLICATES && [1, BLOCKS].contains(&blocks);
    let races = if blocks * replicates > LONG {
        OF_LONG_RACES
    } else {
        DIFFERENT
    };
    let mut changes = vec![-1.0, -2.0];
    if !usual {
        changes.insert(0, 0.0);
    }
    if family.noise == QUIET {
        // Exchanging the sides only changes the sign, so +1% in one family is enough.
        changes.push(1.0);
    }
    let row = |change| Row::new(family.name, change, setting.clone(), races);
    changes.into_iter().map(row).collect()
}

fn hard(change: f64) -> Row {
    let races = if change == 0.0 { ALIKE } else { DIFFERENT };
    let setting = Setting {
        noise: HARD_LAYOUT,
        ..processes(0.0, HARD_LAYOUT)
    };
    Row::new("layout sd 1.4% of the effect", change, setting, races)
}

fn few_blocks() -> Vec<Row> {
    let mut rows = Vec::new();
    for max_replicates in [6, 11, 40] {
        for layout in [0.0, 0.007] {
            for blocks_per_replicate in [1, 2, 3, 5, 10] {
                let setting = Setting {
                    blocks_per_replicate,
                    max_replicates,
                    margin: 0.0001,
                    effects: Vec::new(),
                    noise: Noise { layout, ..QUIET },
                    ..processes(0.0, QUIET)
                };
                let name = format!("layout sd {:.1}%", 100.0 * layout);
                rows.push(Row::new(&name, 0.0, setting, SMALL));
            }
        }
    }
    rows
}

/// Returns rows with noise that no family of the specification has: samples in separate clusters.
fn heaps(design: fn(f64, Noise) -> Setting) -> [Row; 2] {
    let row = |name, noise| Row::new(name, 0.0, design(0.0, noise), ALIKE);
    [
        row("another of seven modes for every sample", RESTLESS),
        row("a slow path 100 σ away for three samples in ten", SLOW_PATH),
    ]
}

/// A promise, the rows that it is about, and the value by which each of them may break it.
pub struct Promise {
    pub words: &'static str,
    speaks_of: fn(&Row) -> bool,
    /// Returns the value observed in a row, and true if the promise is kept.
    pub seen: fn(&Row, &Tally) -> (f64, bool),
    /// True if the largest observed value is the closest to breaking the promise.
    pub at_most: bool,
    pub unit: Unit,
}

/// The unit of an observed value.
#[derive(Clone, Copy)]
pub enum Unit {
    /// A share of the races.
    Share,
    /// Replicates a race took.
    Replicates,
    /// Standard errors of a mean.
    Errors,
}

impl Promise {
    pub fn speaks_of(&self, row: &Row) -> bool {
        (self.speaks_of)(row)
    }
}

fn share(count: u32, tally: &Tally) -> f64 {
    f64::from(count) / f64::from(tally.races)
}

fn at_least(count: u32, tally: &Tally, rate: f64) -> (f64, bool) {
    let seen = share(count, tally);
    (seen, seen >= rate)
}

/// The promises at α = .05 and a margin of 1%.
pub const PROMISES: [Promise; 9] = [
    Promise {
        words: "without a true difference, at most 5% of the verdicts are faster or slower, \
                within the binomial bound",
        speaks_of: |row| row.change == 0.0,
        seen: |_, tally| few(tally.faster + tally.slower, tally),
        at_most: true,
        unit: Unit::Share,
    },
    Promise {
        words: "with a true difference, at most 5% of the verdicts are false, within the \
                binomial bound",
        speaks_of: |row| row.change != 0.0,
        seen: |row, tally| few(row.wrong(tally), tally),
        at_most: true,
        unit: Unit::Share,
    },
    Promise {
        words: "in at least 94% of the races, all intervals of all analyses contain the truth",
        speaks_of: |_| true,
        seen: |_, tally| {
            let (seen, enough) = at_least(tally.held_always, tally, 0.94);
            // With few races, .94 may be missed by chance alone.
            let missed = tally.races - tally.held_always;
            let by_chance = tally.races < DIFFERENT && missed <= at_most(tally.races, ALPHA);
            (seen, enough || by_chance)
        },
        at_most: false,
        unit: Unit::Share,
    },
    Promise {
        words: "without a true difference, at least 90% of the verdicts are equivalent, where \
                the noise allows",
        speaks_of: |row| row.change == 0.0 && row.can_find(),
        seen: |_, tally| at_least(tally.equivalent, tally, 0.90),
        at_most: false,
        unit: Unit::Share,
    },
    Promise {
        words: "a true change of −1% is called faster in at least 95% of the races",
        speaks_of: |row| row.change == -1.0 && row.can_find(),
        seen: |_, tally| at_least(tally.faster, tally, 0.95),
        at_most: false,
        unit: Unit::Share,
    },
    Promise {
        words: "a true change of +1% is called slower in at least 95% of the races",
        speaks_of: |row| row.change == 1.0 && row.can_find(),
        seen: |_, tally| at_least(tally.slower, tally, 0.95),
        at_most: false,
        unit: Unit::Share,
    },
    Promise {
        words: "a true change of −2% is called faster in at least 99% of the races",
        speaks_of: |row| row.change == -2.0 && row.can_find(),
        seen: |_, tally| at_least(tally.faster, tally, 0.99),
        at_most: false,
        unit: Unit::Share,
    },
    Promise {
        words: "with up to 40 processes, a true change of −2% takes about 11 replicates or fewer \
                on average",
        speaks_of: |row| {
            let setting = &row.setting;
            let of_processes = setting.blocks_per_replicate > 1;
            row.change == -2.0 && of_processes && row.can_find()
        },
        seen: |_, tally| (tally.replicates, tally.replicates < 11.5),
        at_most: true,
        unit: Unit::Replicates,
    },
    Promise {
        words: "without a true difference, the mean estimate is at most 4 of its standard errors \
                from zero",
        speaks_of: |row| row.change == 0.0,
        seen: |_, tally| {
            let errors = tally.mean_off.abs() / tally.mean_off_error.max(f64::MIN_POSITIVE);
            (errors, errors <= 4.0)
        },
        at_most: true,
        unit: Unit::Errors,
    },
];

fn few(count: u32, tally: &Tally) -> (f64, bool) {
    (share(count, tally), count <= at_most(tally.races, ALPHA))
}
